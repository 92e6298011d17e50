"""The contract: 18 operations, a stub that hides the host's fields, and a hash over its meaning only."""

import ast
import inspect
from dataclasses import fields
from typing import get_args

import pytest

from skill2real.backends import api
from skill2real.backends.arguments import (
    RANGES,
    BadArgument,
    bind,
    check_range,
    failure,
    first_failure,
    signature,
    tidy,
)
from skill2real.backends.stub import fingerprint, render_stub

KINDS = get_args(api.Result)
SOURCE = inspect.getsource(api)

# A changed contract is a new version: bundles of another hash are refused everywhere. Change both together.
CONTRACT = ("1.1", "3a0f662292db3f23e4059621065d9dbe54c171b6b31c6405aba6a068593b1e8e")


def test_contract_is_the_published_one():
    assert (api.API_VERSION, api.API_HASH) == CONTRACT


def test_there_are_18_operations_in_five_groups():
    assert len(api.OPERATIONS) == len(set(api.OPERATIONS)) == 18
    methods = [
        name for name, item in vars(api.Operations).items() if inspect.isfunction(item) and name[0] != "_"
    ]
    assert tuple(name for name in methods if name in api.OPERATIONS) == api.OPERATIONS
    assert list(api.GROUPS) == ["observe", "perceive", "measure", "compile", "act"]


def test_stub_has_every_operation_and_type_and_nothing_of_the_host():
    tree = ast.parse(api.STUB)
    functions = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    classes = [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
    assert tuple(functions) == api.OPERATIONS
    assert set(classes) == {kind.__name__ for kind in KINDS} | {"Box"}
    assert "_host" not in api.STUB
    assert "self, operation" not in api.STUB


def test_programs_can_construct_boxes_and_points_only():
    made = {
        node.name
        for node in ast.parse(api.STUB).body
        if isinstance(node, ast.ClassDef) and any(isinstance(item, ast.FunctionDef) for item in node.body)
    }
    assert made == {"Box", "Point"}


def test_stub_is_short_enough_for_a_prompt():
    assert len(api.STUB) / 4 < 2300


def test_text_for_models_contains_the_stub_and_the_version():
    assert api.STUB in api.API_TEXT
    assert api.API_VERSION in api.API_TEXT


def test_hash_ignores_layout():
    assert fingerprint(ast.unparse(ast.parse(api.STUB))) == api.API_HASH
    assert fingerprint(api.STUB.replace("\n\n", "\n\n\n# a comment\n")) == api.API_HASH
    reflowed = api.STUB.replace("Shift, then turn", "Shift,\n    then turn")
    assert reflowed != api.STUB
    assert fingerprint(reflowed) == api.API_HASH


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("def set_gripper", "def move_gripper"),
        ("width: float, force: float = 20.0", "width: float, force: float = 21.0"),
        ("u: int, v: int", "u: float, v: int"),
        ("clipped: bool", "clipped: int"),
        ("'slipped'", "'slid'"),
        ("right-handed", "left-handed"),
        ("rank: next best ones", "rank: next worst ones"),
    ],
)
def test_hash_changes_with_meaning(old, new):
    changed = api.STUB.replace(old, new, 1)
    assert changed != api.STUB
    assert fingerprint(changed) != api.API_HASH


def test_host_only_changes_of_the_source_leave_the_contract_alone():
    changed = SOURCE.replace("_host: Any", "_secret: Any")
    assert changed != SOURCE
    assert render_stub(changed, api.GROUPS) == api.STUB


def test_groups_that_miss_an_operation_are_refused():
    with pytest.raises(ValueError, match="differ"):
        render_stub(SOURCE, {**api.GROUPS, "act": api.GROUPS["act"][:-1]})


@pytest.mark.parametrize("kind", KINDS)
def test_every_type_can_fail_for_every_reason(kind):
    for reason in api.REASONS[1:]:
        result = api.failed(kind, reason)
        assert type(result) is kind
        assert (result.ok, result.reason) == (False, reason)
    with pytest.raises(ValueError, match="not_found"):
        api.failed(kind, "")
    assert "_host" not in api.public_fields(kind)
    assert api.public_fields(kind)[0] in ("ok", "x")


def test_poses_inside_a_failed_result_are_failed():
    assert api.failed(api.Robot, "blocked").pose.reason == "blocked"
    plan = api.failed(api.Plan, "too_wide")
    assert not plan.start.ok
    assert not plan.pose.ok


def test_host_fields_count_neither_for_equality_nor_for_text():
    assert api.Region(x=1.0, _host=1) == api.Region(x=1.0, _host=2)
    assert "host" not in repr(api.Region(_host=1))


@pytest.mark.parametrize("operation", api.OPERATIONS)
def test_signatures_resolve(operation):
    for parameter in signature(operation).parameters.values():
        assert not isinstance(parameter.annotation, str)
        if parameter.default is not inspect.Parameter.empty:
            check_range(operation, parameter.name, parameter.default)
    assert isinstance(failure(operation, "stopped"), (list, *KINDS))


def test_every_range_belongs_to_a_parameter_or_a_coordinate():
    named = {name for operation in api.OPERATIONS for name in signature(operation).parameters}
    assert set(RANGES) - {"x", "y", "z"} <= named


@pytest.mark.parametrize(
    ("operation", "args", "kwargs", "said"),
    [
        ("set_gripper", (), {}, "missing"),
        ("set_gripper", (8.0,), {}, "SI units"),
        ("set_gripper", (True,), {}, "not float"),
        ("set_gripper", ("0.1",), {}, "not float"),
        ("set_gripper", (float("nan"),), {}, "not a finite"),
        ("set_gripper", (10**400,), {}, "not a finite"),
        ("set_gripper", (0.1,), {"speed": 1}, "speed"),
        ("measure_point", (api.View(), 1.5, 2), {}, "not int"),
        ("move_to", ([1],), {}, "Pose"),
        ("move_until_contact", ((0.0, 0.0, 0.0), 0.1), {}, "no direction"),
        ("move_until_contact", ((0.0, 1.0), 0.1), {}, "not tuple"),
        ("compile_grasp", (api.Shape(), "sideways"), {}, "not Literal"),
        ("find_regions", (api.Region(),), {}, "View"),
    ],
)
def test_bad_arguments_are_named(operation, args, kwargs, said):
    with pytest.raises(BadArgument, match=said) as caught:
        bind(operation, args, kwargs)
    assert operation in str(caught.value)


def test_arguments_are_bound_with_defaults_and_plain_numbers():
    bound = bind("move_until_contact", ([0, 0, -1], 1), {})
    assert bound == {"direction": (0.0, 0.0, -1.0), "distance": 1.0, "speed": 0.05, "force": 8.0, "arm": ""}
    assert type(bound["distance"]) is float


def test_handles_stay_the_same_objects():
    region = api.Region(_host=object())
    assert bind("measure_region", ([region],), {})["region"][0] is region
    assert tidy("segment", region) is region


def test_results_get_plain_numbers_and_keep_their_host_field():
    import numpy as np

    told = tidy(
        "segment", api.Region(pixels=np.int32(3), top=np.float32(0.5), ok=np.bool_(True), _host="kept")
    )
    assert [type(told.pixels), type(told.top), type(told.ok)] == [int, float, bool]
    assert told._host == "kept"
    assert tidy("describe_region", api.Look(hues=np.ones(12))).hues == [1.0] * 12


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_numbers_that_are_not_finite_become_failures(bad):
    assert tidy("measure_point", api.Point(0.0, 0.0, bad)).reason == "no_depth"
    assert tidy("compile_grasp", api.Plan(pose=api.Pose(approach=(0.0, bad, 0.0)))).reason == "unreachable"
    assert [r.ok for r in tidy("find_regions", [api.Region(x=0.0), api.Region(x=bad)])] == [True, False]


@pytest.mark.parametrize("wrong", [None, 3, api.Region(), [api.View()]])
def test_results_of_another_type_are_the_hosts_fault(wrong):
    with pytest.raises(TypeError, match="capture returned"):
        tidy("capture", wrong)


def test_first_failure_looks_into_lists():
    good, bad = api.Pose(), api.failed(api.Pose, "unreachable")
    assert first_failure({"target": [good, bad], "speed": 0.1}) == "unreachable"
    assert first_failure({"target": [good], "also": None}) == ""


def test_only_boxes_and_points_have_fields_without_default():
    from dataclasses import MISSING

    for kind in (*KINDS, api.Box):
        needed = [f.name for f in fields(kind) if f.default is MISSING and f.default_factory is MISSING]
        assert bool(needed) == (kind in (api.Box, api.Point))
