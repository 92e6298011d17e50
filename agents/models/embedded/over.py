"""Putting a thing with an opening down over a target that is narrower than the thing: the text of the move
and its releases."""

from typing import Any

from .variants import Variant

NARROW = 0.5  # share of a thing's width: a narrower target can go through it

OVER = '''
import math


def put_over(shape: Shape, held: Shape, plan: Plan, clearance: float, turn: bool) -> Robot:
    """Lower the held thing over a target, its middle around the target's, and let go. clearance: of its
    bottom from the target's top, so below zero. turn: its sides along those of the target, whichever way is
    easier to reach."""
    spot = Point(shape.x, shape.y, shape.top)
    place = compile_place(spot, held, plan, clearance)
    if turn:
        ways = [compile_place(spot, held, plan, clearance, shape.yaw + k * 0.5 * math.pi) for k in range(4)]
        ways = [way for way in ways if way.ok]
        ways.sort(key=lambda way: -way.score)
        place = ways[0] if ways else place
    here = read_robot().pose
    over = offset_pose(place.pose, dz=0.12)
    if move_to([offset_pose(here, dz=max(0.0, over.z - here.z)), over], speed=0.4, tolerance=0.003).ok:
        move_to(place.pose, speed=0.1, force=25.0, tolerance=0.006)
    done = set_gripper(describe_workspace().max_width)
    move_to(offset_pose(read_robot().pose, dz=0.15), speed=0.5, tolerance=0.03)
    return done
'''

OVERS: tuple[Variant, ...] = tuple(
    {"clearance": clearance, "reference": "over", "carry": True, "turn": turn, "dx": 0.0, "dy": 0.0}
    for clearance in (-0.02, -0.045)
    for turn in (False, True)
)


def narrow(target: dict[str, Any], thing: dict[str, Any]) -> bool:
    """Whether a target (a region of the look) is so narrow that a thing can only go over it."""
    return bool(target["length"] < NARROW * thing["width"])


def over_line(number: int, target: int, variant: Variant) -> str:
    """The line of a program that puts what is held for this clause over a region."""
    return (
        f"put_over(shapes[{target}], held{number}, plan{number}, clearance={variant['clearance']}, "
        f"turn={variant['turn']})"
    )


def over_words(relation: str, noun: str, variant: Variant) -> str:
    """What an entry says."""
    turned = ", its sides along those of the target" if variant["turn"] else ""
    return (
        f'To put a thing {relation} the "{noun}", which is narrower than the thing: lower it over the '
        f"target{turned}, until its bottom is {-variant['clearance'] * 100:.1f} cm below the target's top; "
        "then let go."
    )
