"""Two arms at one thing: the texts of the moves, the spaces of their variants, and the words that ask for
them."""

import math
from itertools import product

from ...grammar import Clause
from .variants import Variant

ARMS = frozenset(("arm", "arms", "hand", "hands"))  # of the robot itself, so never things to look for
HAND_OVER_VERB = "hand over"

CLEAR = """
for arm in describe_workspace().arms:
    move_to(offset_pose(read_robot(arm).pose, dz=0.3), speed=0.8, tolerance=0.03)
"""

BOTH = '''
import math


def whole(region: Region, shape: Shape) -> Shape:
    """A large thing measured at once from where the scene camera stands and from straight above it."""
    afar = segment(capture("scene"), region)
    found = afar if afar.ok else region
    move_to(compile_view(found, 0.45), speed=0.6, tolerance=0.02)
    above = segment(capture("wrist"), found)
    go_home()
    again = measure_region([r for r in (afar, above) if r.ok])
    return again if again.ok else shape


def lift_both(region: Region, shape: Shape, ends: str, inset: float, depth: float) -> Robot:
    """Both hands close on the two ends of a thing, along the line between them, and lift together. ends: of
    its length or its width. inset: from the very end. depth: below its top."""
    shape = whole(region, shape)
    first, second = describe_workspace().arms[:2]
    for arm in (first, second):
        set_gripper(describe_workspace().max_width, arm=arm)
    yaw = shape.yaw + (0.0 if ends == "length" else 0.5 * math.pi)
    half = 0.5 * (shape.length if ends == "length" else shape.width) - inset
    c, s = math.cos(yaw), math.sin(yaw)
    side = -1.0 if c > 0.0 else 1.0
    near = Point(shape.x + side * c * half, shape.y + side * s * half, shape.top - depth)
    far = Point(shape.x - side * c * half, shape.y - side * s * half, shape.top - depth)
    a = compile_pose(near, closing=(c, s, 0.0), arm=first)
    b = compile_pose(far, closing=(c, s, 0.0), arm=second)
    for turn_a, turn_b in ((0.0, 0.0), (math.pi, 0.0), (0.0, math.pi), (math.pi, math.pi)):
        pa, pb = offset_pose(a, turn=turn_a), offset_pose(b, turn=turn_b)
        if move_to(offset_pose(pa, dz=0.1), also=offset_pose(pb, dz=0.1), speed=0.4, tolerance=0.02).ok:
            break
    now_a, now_b = offset_pose(read_robot(first).pose, dz=-0.1), offset_pose(read_robot(second).pose, dz=-0.1)
    move_to(now_a, also=now_b, speed=0.1)
    set_gripper(0.0, force=60.0, arm=first)
    set_gripper(0.0, force=60.0, arm=second)
    return move_to(offset_pose(now_a, dz=0.18), also=offset_pose(now_b, dz=0.18), speed=0.15, tolerance=0.02)
'''

BOTHS: tuple[Variant, ...] = tuple(
    {"ends": ends, "inset": inset, "depth": depth}
    for inset, depth, ends in product((0.03, 0.012, 0.0), (0.005, 0.02, 0.035), ("length", "width"))
)
NAIVE_BOTH = BOTHS[0]

HAND_OVER = '''
import math


def axis(region: Region, shape: Shape) -> tuple[Point, float, float]:
    """Middle of the lighter end of a long thing, and the direction from it to the heavy end. Around a thing
    with a head, the smallest rectangle lies askew: its light end is on the side to which the mass leans."""
    c, s = math.cos(shape.yaw), math.sin(shape.yaw)
    gx, gy = region.x - shape.x, region.y - shape.y
    if gx * c + gy * s < 0.0:
        c, s = -c, -s
    lean = max(-0.4 * shape.width, min(0.4 * shape.width, 2.0 * (gy * c - gx * s)))
    half = 0.5 * shape.length
    tip = Point(shape.x - half * c - lean * s, shape.y - half * s + lean * c, shape.bottom)
    away = math.hypot(region.x - tip.x, region.y - tip.y)
    return tip, (region.x - tip.x) / away, (region.y - tip.y) / away


def take(region: Region, shape: Shape, end: float, inset: float) -> float:
    """The first arm closes across a long thing, `inset` from one of its ends, and lifts it. end: 1 at the
    heavy end, -1 at the other. Gives the side (1 or -1) of the tool's own y axis on which the rest hangs."""
    first = describe_workspace().arms[0]
    set_gripper(describe_workspace().max_width, arm=first)
    if move_to(compile_view(shape, 0.35), speed=0.6, tolerance=0.02).ok:
        again = segment(capture("wrist"), region)
        if again.ok:
            region, shape = again, measure_region(again)
    tip, c, s = axis(region, shape)
    reach = shape.length - inset if end > 0.0 else inset
    grip = compile_pose(Point(tip.x + c * reach, tip.y + s * reach, shape.bottom + 0.4 * shape.height),
                        closing=(-s, c, 0.0), arm=first)
    c, s = end * c, end * s
    if not move_to(offset_pose(grip, dz=0.1), speed=0.5, tolerance=0.02).ok:
        grip = offset_pose(grip, turn=math.pi)
        move_to(offset_pose(grip, dz=0.1), speed=0.5, tolerance=0.02)
    move_to(grip, speed=0.15, tolerance=0.006)
    set_gripper(0.0, force=60.0, arm=first)
    move_to(offset_pose(grip, dz=0.2), speed=0.3, tolerance=0.02)
    closing = read_robot(first).pose.closing
    return 1.0 if c * closing[1] - s * closing[0] < 0.0 else -1.0


def hand_over(side: float, apart: float, tilt: float, height: float) -> Robot:
    """The arms meet half way between them; the second closes `apart` from the first, which lets go and
    withdraws. side: as `take` gives it. tilt: of the hands from pointing down. height: over the table."""
    space = describe_workspace()
    first, second = space.arms[:2]
    set_gripper(space.max_width, arm=second)
    x, z = 0.5 * (space.x[0] + space.x[1]), space.table + height
    c, s = math.cos(tilt), math.sin(tilt)
    y = 0.0
    for sign in (1.0, -1.0):
        closing = (sign * c, 0.0, sign * s)
        meet = compile_pose(Point(x, 0.0, z), approach=(s, 0.0, -c), closing=closing, arm=first)
        if move_to(meet, speed=0.3, tolerance=0.02).ok:
            y = -sign * side * apart
            break
    for sign in (1.0, -1.0):
        closing = (-sign * c, 0.0, sign * s)
        pose = compile_pose(Point(x, y, z), approach=(-s, 0.0, -c), closing=closing, arm=second)
        if move_to(offset_pose(pose, dz=-0.15, frame="tool"), speed=0.5, tolerance=0.02).ok:
            move_to(pose, speed=0.15, tolerance=0.01)
            break
    if set_gripper(0.0, force=60.0, arm=second).holding:
        set_gripper(space.max_width, arm=first)
        move_to(offset_pose(read_robot(first).pose, dz=-0.15, frame="tool"), speed=0.3, tolerance=0.02)
    return move_to(offset_pose(read_robot(second).pose, dz=0.05), speed=0.2, tolerance=0.02)
'''

# end, inset: of taking; apart, tilt, height: of giving. The first is what is done naively.
HANDOVERS: tuple[Variant, ...] = tuple(
    {"end": end, "inset": inset, "apart": apart, "tilt": tilt, "height": height}
    for tilt, inset, apart, end, height in product(
        (0.0, 0.8, 1.2), (0.02, 0.045, 0.07), (0.05, 0.08, 0.11), (-1.0, 1.0), (0.25, 0.4)
    )
)
NAIVE_HANDOVER = HANDOVERS[0]


def for_both(clause: Clause) -> bool:
    """Whether a clause asks for both arms: "lift … with both arms"."""
    return clause.relation == "with" and clause.target is not None and clause.target.noun in ARMS


def hands_over(clause: Clause) -> bool:
    """Whether a clause asks for a handover."""
    return clause.verb == HAND_OVER_VERB


def both_lines(number: int, region: int, variant: Variant) -> list[str]:
    """The line of a program that lifts a region with both arms, for the clause of this number."""
    return [f"robot{number} = lift_both(regions[{region}], shapes[{region}], {_settings(variant)})"]


def hand_over_lines(number: int, region: int, variant: Variant) -> list[str]:
    """The lines of a program that takes a region with the first arm and gives it to the second."""
    taking = {name: variant[name] for name in ("end", "inset")}
    giving = {name: variant[name] for name in ("apart", "tilt", "height")}
    return [
        f"side{number} = take(regions[{region}], shapes[{region}], {_settings(taking)})",
        f"robot{number} = hand_over(side{number}, {_settings(giving)})",
    ]


def both_words(noun: str, variant: Variant) -> str:
    """What an entry says."""
    inset = f"{variant['inset'] * 1000:.0f} mm from" if variant["inset"] else "at"
    return (
        f'To lift the "{noun}" with both arms: each hand closes {inset} one end of its {variant["ends"]}, '
        f"the fingers along the line between them and {variant['depth'] * 1000:.0f} mm below its top; then "
        "both rise together."
    )


def hand_over_words(noun: str, variant: Variant) -> str:
    """What an entry says."""
    end, tilt = "heavy" if variant["end"] > 0 else "light", math.degrees(variant["tilt"])
    return (
        f'To hand over the "{noun}": the first hand closes across it {variant["inset"] * 100:.1f} cm from '
        f"its {end} end; half way between the arms, {variant['height'] * 100:.0f} cm over the table, the "
        f"hands tilted {tilt:.0f}°, the second closes {variant['apart'] * 100:.0f} cm along it; then the "
        "first lets go and withdraws."
    )


def _settings(variant: Variant) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in variant.items())
