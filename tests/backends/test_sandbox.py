"""Programs in the sandbox: what is refused, what is recorded, what survives, and what is said about
failures."""

import dataclasses
import json
import os
import time

import pytest
from scripted import Scripted

from skill2real.backends import api
from skill2real.backends.checking import Checker
from skill2real.backends.errors import OperationFault, StopProgram
from skill2real.backends.sandbox import Limits, Sandbox

PICK = """
view = capture()
regions = find_regions(view)
shape = measure_region(regions)
plan = compile_grasp(shape)
arrived = move_to([plan.start, plan.pose], speed=0.1)
if arrived.ok:
    set_gripper(0.0)
print("holding", arrived.holding)
arrived.done
"""


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox(Limits(compute=0.3)) as opened:
        yield opened


@pytest.fixture
def session(sandbox):
    with sandbox.session() as opened:
        yield opened


def run(session, source, operations=None):
    return session.run(source, operations or Scripted())


# What comes back ----------------------------------------------------------------------------------


def test_program_runs_and_every_operation_is_recorded(session):
    result = run(session, PICK)
    assert (result.error, result.rejected, result.unread_failures) == ("", None, ())
    assert (result.printed, result.value) == ("holding False\n", 1)
    assert [call.operation for call in result.calls] == [
        "capture",
        "find_regions",
        "measure_region",
        "compile_grasp",
        "move_to",
        "set_gripper",
    ]
    assert all(call.seconds >= 0 for call in result.calls)


def test_trace_names_handles_and_shows_where_they_are(session):
    calls = {call.operation: call for call in run(session, PICK).calls}
    assert [region["id"] for region in calls["find_regions"].result] == ["region1", "region2", "region3"]
    assert calls["find_regions"].arguments == {"view": {"id": "view1", "camera": "scene"}}
    assert calls["measure_region"].arguments["region"][1] == {"id": "region2", "x": 0.1, "y": 0.0, "top": 0.5}
    targets = calls["move_to"].arguments["target"]
    assert [target["id"] for target in targets] == ["plan1.start", "plan1.pose"]
    assert calls["move_to"].arguments["speed"] == 0.1
    assert calls["set_gripper"].result["width"] == 0.0


def test_ids_count_on_through_the_episode(session):
    run(session, "view = capture()\n1 / 0")
    assert run(session, "capture('wrist')").calls[0].result["id"] == "view2"


def test_results_are_json_with_full_floats_and_no_host_fields(session):
    result = run(session, "r = find_regions(capture())[1]\n[r, describe_region(r), describe_workspace()]")
    text = json.dumps(dataclasses.asdict(result), allow_nan=False)
    assert "_host" not in text
    assert result.value[0]["x"] == 0.1
    assert result.value[1]["hues"] == [1 / 12] * 12
    assert set(result.value[0]) == set(api.public_fields(api.Region))


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("x = 1", None),
        ("(1, [2.5, 'a'], None, True)", [1, [2.5, "a"], None, True]),
        ("{'b', 'a', 'c'}", ["a", "b", "c"]),
        ("{1: float('inf'), (1, 2): float('nan')}", {"1": None, "(1, 2)": None}),
        ("2 ** 80", str(2**80)),
        ("'\\ud800'", "\ufffd"),
        ("Box(1, 2, 3, 4)", {"u0": 1, "v0": 2, "u1": 3, "v1": 4}),
        ("x = [1]\nx.append(x[0])\nx", [1, 1]),
        ("class A:\n    def __init__(self) -> None:\n        self.n = 3\nA()", {"n": 3}),
        ("[capture(), len]", None),
    ],
)
def test_value_is_jsonable(session, source, value):
    result = run(session, source)
    assert result.rejected is None
    json.dumps(result.value, allow_nan=False)
    if value is not None:
        assert result.value == value


def test_a_value_too_large_to_show_is_cut(session):
    result = run(session, "[i for i in range(200_000)]")
    assert isinstance(result.value, str)
    assert "cut" in result.value
    assert len(result.value) < 250_000


def test_same_program_and_results_give_the_same_trace(sandbox):
    source = PICK + "\nimport random\nprint(random.random(), hash('a'), {'b', 'a', 'c'})\n[random.random()]"

    def trace():
        with sandbox.session() as session:
            result = run(session, source)
        calls = [dataclasses.replace(call, seconds=0.0) for call in result.calls]
        return dataclasses.replace(result, seconds=0.0, calls=tuple(calls))

    first = trace()
    assert first.error == ""
    assert trace() == first
    with Sandbox() as other, other.session() as session:
        again = run(session, source)
    assert (again.printed, again.value) == (first.printed, first.value)


# What is refused before anything moves ------------------------------------------------------------


@pytest.mark.parametrize(
    ("stage", "source", "said"),
    [
        ("syntax", "move_to(", "line 1"),
        ("syntax", "x = 1\nif x\n  pass", "line 2"),
        ("syntax", "def f() -> int:\n    yield 1", "line 2: yield"),
        ("syntax", "x = 1\ndel x", "line 2: del"),
        ("syntax", "async def f() -> None:\n    pass", "async"),
        ("syntax", "return 3", "return"),
        ("types", "go_home()\nmove_to(capture())", "line 2"),
        ("types", "capture().colour", "colour"),
        ("types", "set_gripper('wide')", "float"),
        ("types", "set_gripper()", "width"),
        ("types", "read_robot().width = 3.0", "read-only"),
        ("types", "compile_grasp(measure_region(find_regions(capture())), 'sideways')", "sideways"),
        ("types", "fly_away()", "fly_away"),
        ("types", "def f(a):\n    return a\nf(1)", "annotate the parameters of f: a"),
        ("types", "set_gripper(8.0)", "SI units"),
        ("types", "move_until_contact((0.0, 0.0, -1.0), distance=12.0)", "SI units"),
        ("types", "move_until_contact(direction=(0.0, 0.0, 0.0), distance=0.1)", "no direction"),
        ("types", "x: int = 'a'  # type: ignore", "cannot be switched off"),
        ("types", "import numpy", "numpy"),
        ("limits", "x = 1\n" * 10_000, "characters"),
    ],
)
def test_mistakes_are_refused_before_anything_moves(session, stage, source, said):
    operations = Scripted()
    result = run(session, source, operations)
    assert result.rejected is not None
    assert result.rejected.stage == stage
    assert said in result.rejected.message
    assert (result.calls, operations.moves) == ((), 0)


def test_a_refused_program_changes_nothing(session):
    run(session, "x = 5")
    assert run(session, "x = 6\nfly_away()").rejected
    assert run(session, "x").value == 5


def test_check_refuses_without_running(sandbox):
    assert sandbox.check(PICK) is None
    assert sandbox.check("go_home()\nfly_away()").message == "line 2: Name `fly_away` used when not defined"


def test_a_checker_that_ran_out_of_memory_is_replaced(sandbox):
    large = "\n".join(f"def f{n}(a: float) -> float:\n    return a * {n}" for n in range(6_000))
    checker = Checker(sandbox._pool, memory=4 * 2**20)
    try:
        assert checker.check(large).stage == "limits"
        assert checker.check("x = 1") is None
        assert checker.check("x: str = 1").stage == "types"
    finally:
        checker.close()


def test_line_numbers_count_from_this_program_whatever_came_before(session):
    run(session, "a = '''one\ntwo\nthree'''\nb = 2")
    run(session, "raise ValueError('x')")
    assert run(session, "\n\nfly_away()").rejected.message.startswith("line 3: ")
    assert run(session, "\n1 / 0").error == "line 2: ZeroDivisionError: division by zero"


# Names and types from program to program ----------------------------------------------------------


def test_look_then_act(session):
    run(session, "view = capture()\nregions = find_regions(view)")
    result = run(session, "move_to(compile_pose(measure_region(regions[0])))")
    assert result.calls[0].arguments == {"region": {"id": "region1", "x": 0.0, "y": 0.0, "top": 0.5}}
    assert result.value["ok"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("n = 5", "n = n + 1\nn"),
        ("best = None", "best = read_robot()\nbest.ok"),
        ("for i in range(3):\n    pass", "for i in find_regions(capture()):\n    print(i.x)"),
        ("xs = [1]", "xs = ['a']\nxs"),
        ("def f(a: int) -> int:\n    return a", "def f(a: str) -> str:\n    return a\nf('a')"),
        ("x = 1\n1 / 0", "x"),
        ("x = 1\nraise ValueError('no')", "x"),
    ],
)
def test_names_can_be_used_and_bound_again(session, first, second):
    assert run(session, first).rejected is None
    result = run(session, second)
    assert (result.rejected, result.error) == (None, "")


def test_types_of_earlier_names_are_checked(session):
    run(session, "view = capture()\ndef f(a: int) -> int:\n    return a")
    assert "Shape" in run(session, "compile_grasp(view)").rejected.message
    assert run(session, "f('a')").rejected
    run(session, "raise ValueError('no')")
    assert run(session, "compile_grasp(view)").rejected, (
        "what follows a program that broke off is checked as well"
    )


def test_operations_can_be_passed_around_and_types_asked_for(session):
    source = (
        "looks = [f(capture()) for f in (find_regions,)]\n(len(looks[0]), isinstance(looks[0][0], Region))"
    )
    assert run(session, source).value == [3, True]


def test_the_host_gets_its_own_objects_back(session):
    seen = []
    shown = api.Region(x=0.5, _host=object())

    def describe(region):
        seen.append(region)
        return api.Look()

    operations = Scripted(segment=lambda view, where: shown, describe_region=describe)
    run(session, "r = segment(capture(), Box(0, 0, 9, 9))\nxs = {'a': [r]}", operations)
    run(session, "describe_region(xs['a'][0])", operations)
    assert seen[0] is shown


# Failures -----------------------------------------------------------------------------------------


def test_failures_never_looked_at_are_named(session):
    result = run(session, "go_home()\nmove_until_contact((0.0, 0.0, -1.0), 0.1)\nset_gripper(0.0)")
    assert result.unread_failures == ("move_until_contact in line 2: no_contact",)
    assert result.calls[1].result == {"id": "robot2", "ok": False, "reason": "no_contact"}


@pytest.mark.parametrize(
    "look",
    [
        "r.ok",
        "print(r.reason)",
        "if not r.ok:\n    go_home()",
        "assert r.ok",
        "match r:\n    case Robot(ok=True):\n        pass",
        "[x for x in [r] if x.ok]",
        "{'result': [r]}",
    ],
)
def test_a_look_counts(session, look):
    assert run(session, f"r = move_until_contact((0.0, 0.0, -1.0), 0.1)\n{look}").unread_failures == ()


@pytest.mark.parametrize("look", ["r.width", "print(r)", "str(r)", "r == r", "move_to(r.pose)\nNone"])
def test_other_uses_do_not_count(session, look):
    result = run(session, f"r = move_until_contact((0.0, 0.0, -1.0), 0.1)\n{look}\nNone")
    assert "move_until_contact in line 1: no_contact" in result.unread_failures


def test_looking_at_what_a_failure_led_to_counts_for_it(session):
    chain = "shape = measure_region(find_regions(capture('left')))\nplan = compile_grasp(shape)\n"
    assert len(run(session, chain).unread_failures) == 4
    assert run(session, chain + "plan.ok").unread_failures == ()


def test_a_failure_can_be_looked_at_one_program_later(session):
    assert run(session, "r = move_until_contact((0.0, 0.0, -1.0), 0.1)").unread_failures
    result = run(session, "(r.ok, r.reason)")
    assert (result.value, result.unread_failures) == ([False, "no_contact"], ())


def test_printed_failures_show_their_reason(session):
    assert "failed='not_found'" in run(session, "print(capture('left'))").printed


def test_values_that_slip_through_the_types_never_reach_an_operation(session):
    operations = Scripted(set_gripper=lambda **arguments: pytest.fail("reached"))
    source = "import json\nx = json.loads('[80.0, \"a\", null]')\n[set_gripper(v).reason for v in x]"
    result = run(session, source, operations)
    assert result.value == ["bad_argument"] * 3
    assert result.calls[0].arguments == {"width": 80.0}
    assert "SI units" in result.calls[0].result["detail"]


def test_points_outside_any_cell_are_failed(session):
    result = run(session, "move_to(compile_pose(Point(40.0, 20.0, 10.0))).reason")
    assert result.value == "bad_argument"


def test_numbers_that_are_not_finite_are_failures(session):
    assert run(session, "p = measure_point(capture(), 3, 4)\n(p.ok, p.reason)").value == [False, "no_depth"]


def test_errors_say_where(session):
    result = run(session, "def f(n: int) -> float:\n    return 1 / n\ngo_home()\nf(0)")
    assert result.error == "line 2, called from line 4: ZeroDivisionError: division by zero"
    assert [call.operation for call in result.calls] == ["go_home"]


# The host's side ----------------------------------------------------------------------------------


def test_an_operation_that_raises_is_the_hosts_fault_and_keeps_the_trace(session):
    def broken(arm=""):
        raise OSError("cable")

    with pytest.raises(OperationFault, match="read_robot") as caught:
        run(
            session,
            "go_home()\ntry:\n    read_robot()\nexcept BaseException:\n    go_home()",
            Scripted(read_robot=broken),
        )
    assert isinstance(caught.value.__cause__, OSError)
    assert [call.operation for call in caught.value.result.calls] == ["go_home"]
    assert run(session, "1 + 1").value == 2


def test_an_operation_can_stop_the_program_for_good(session):
    def stopped(**arguments):
        raise StopProgram("protective stop")

    operations = Scripted(move_to=stopped)
    source = "p = read_robot().pose\ntry:\n    move_to(p)\nexcept BaseException:\n    pass\ngo_home()"
    result = run(session, source, operations)
    assert result.error.startswith("stopped: protective stop")
    assert operations.moves == 0


def test_interpreter_killed_in_mid_program(session):
    def kill(arm=""):
        os.kill(session.worker_pid, 9)
        return api.Robot()

    result = run(session, "go_home()\nread_robot()\ngo_home()", Scripted(read_robot=kill))
    assert "interpreter died" in result.error
    assert [call.operation for call in result.calls] == ["go_home", "read_robot"]
    assert run(session, "1 + 1").value == 2


def test_wall_clock_deadline_counts_operations(sandbox):
    def slow(arm=""):
        time.sleep(0.05)
        return api.Robot()

    limits = dataclasses.replace(sandbox.limits, seconds=0.2)
    with Sandbox(limits) as strict, strict.session() as session:
        result = run(session, "while True:\n    read_robot()", Scripted(read_robot=slow))
        assert result.error.startswith("limit: more than 0.2 s")
        assert 1 <= len(result.calls) <= 10


def test_several_sessions_at_once():
    with Sandbox(workers=2) as sandbox, sandbox.session() as one, sandbox.session() as two:
        run(one, "x = 1")
        run(two, "x = 2")
        assert (run(one, "x").value, run(two, "x").value) == (1, 2)
