"""Rollouts that go on from a kept place equal those played from the start, to the bit."""

import gc
import weakref
from dataclasses import replace

import pytest

from skill2real.backends.sim.rollout import Player, Rollout

pytestmark = pytest.mark.sim

LOOK = """
go_home()
views = [capture("scene"), capture("wrist")]
place = describe_workspace()
front = compile_pose(Point(0.45, 0.0, place.table + 0.35))
move_to(front)
views.append(capture("wrist"))
regions = [region for region in find_regions(views[0]) if region.ok]
shapes = [measure_region([region, segment(views[2], region)]) for region in regions]
known = {"shapes": [shape for shape in shapes if shape.ok and shape.height < 0.15]}
def nearest(x: float, y: float) -> Shape:
    return sorted(known["shapes"], key=lambda s: (s.x - x) ** 2 + (s.y - y) ** 2)[0]
len(known["shapes"])
"""
GRASP = """
shape = nearest(0.5, {y})
plan = compile_grasp(shape)
if plan.ok:
    set_gripper(plan.opening)
    move_to([plan.start, plan.pose])
    robot = set_gripper(0.0)
    print(robot.holding, robot.force)
    move_to(plan.start)
seen = capture("wrist")
[region.x for region in find_regions(seen)]
"""
SHAKE = """
read_robot()
move_to(offset_pose(front, dx=0.05, dz=-0.1))
set_gripper(0.08)
last = capture("scene")
(known["shapes"][0].x, measure_point(last, 128, 128).ok, segment(views[0], shape).x)
"""
LEFT, RIGHT = GRASP.format(y=-0.15), GRASP.format(y=0.2)


def lasting(played):
    """All of an answer that is the same each time."""
    result = played.result
    calls = [(call.operation, call.arguments, call.result) for call in result.calls]
    ended = (result.printed, result.value, result.error, result.rejected, result.unread_failures)
    digests = (played.start_digest, played.end_digest, played.operations, played.pictures)
    return calls, ended, digests, played.outcome


def started(task):
    suite, number, state = task
    return Rollout(suite, (number,), state, (LOOK,), False)


def followed(look, *sources):
    return replace(look, sources=(LOOK, *sources), finish=True)


@pytest.fixture(scope="module")
def plain():
    return Player(1, forks=0)


@pytest.mark.parametrize("task", [("libero_90", 46, 1), ("libero_90", 6, 2)])
def test_from_a_fork_as_from_the_start(task, plain, monkeypatch):
    look = started(task)
    two, three = followed(look, RIGHT), followed(look, LEFT, SHAKE)
    wanted = [lasting(plain.play(rollout)) for rollout in (two, three)]
    assert wanted[0][1][2] == wanted[1][1][2] == ""
    assert wanted[0][3]["record"]["captures"]
    assert wanted[0][3]["record"]["grips"]

    player = Player(1)
    player.play(followed(look, LEFT))
    begun = []
    begin = player._begun
    monkeypatch.setattr(player, "_begun", lambda rollout: begun.append(rollout) or begin(rollout))
    assert lasting(player.play(two)) == wanted[0]
    assert lasting(player.play(three)) == wanted[1]
    assert not begun  # all went on from where the look had ended
    suite, number, state = task
    player.play(Rollout(suite, (number + 1,), state + 1, (LOOK, LEFT), True))
    assert len(begun) == 1
    assert lasting(player.play(two)) == wanted[0]
    assert lasting(player.play(three)) == wanted[1]
    assert lasting(player.play(followed(look, LEFT, SHAKE, SHAKE))) == lasting(
        plain.play(followed(look, LEFT, SHAKE, SHAKE))
    )
    assert len(begun) == 1


def test_what_cannot_be_forked_is_played(plain, monkeypatch):
    look = Rollout("libero_90", (46,), 1, ("go_home()\n1 // 0", "capture()"), True)
    wanted = lasting(plain.play(look))
    player = Player(1)
    assert lasting(player.play(look)) == lasting(player.play(look)) == wanted
    assert not player._forks


def test_forks_are_bounded_and_go_with_their_scene():
    player = Player(1, forks=2)
    for number in range(3):
        player.play(Rollout("libero_90", (46,), 1, (f"go_home()\n{number}",), False))
    assert [sources for *_, sources in player._forks] == [("go_home()\n1",), ("go_home()\n2",)]
    scene = weakref.ref(next(iter(player._forks.values())).world.scene)
    player.play(Rollout("libero_90", (6,), 1, ("go_home()",), False))
    assert [parts for _, parts, *_ in player._forks] == [(6,)]
    gc.collect()
    assert scene() is None
