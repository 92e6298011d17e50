"""Wiping: the text of the move, the space of its variants, and the words that ask for it.

What is to be wiped off lies flat on the table and differs from it in colour; the tool is rubbed back and
forth over each such patch, pressed down, and the table is looked at again.
"""

from itertools import product

from .variants import Variant

VERB = "wipe"

WIPE = '''
import math


def rub(shape: Shape, press: float, speed: float, step: float, beyond: float) -> None:
    """Back and forth along a flat patch, the broad side of the tool across, in strips `step` apart, and
    `beyond` its ends."""
    c, s = math.cos(shape.yaw), math.sin(shape.yaw)
    half, room = 0.5 * shape.length + beyond, max(0.0, 0.5 * shape.width + beyond - 0.5 * step)
    strips = 1 + math.ceil(2.0 * room / step)
    for k in range(strips):
        off = 2.0 * room * k / (strips - 1) - room if strips > 1 else 0.0
        places = [
            Point(shape.x + c * h - s * off, shape.y + s * h + c * off, shape.top)
            for h in ((half, -half) if k % 2 else (-half, half))
        ]
        ends = [compile_pose(place, closing=(-s, c, 0.0)) for place in places]
        if move_to(offset_pose(ends[0], dz=0.04), speed=0.6, tolerance=0.02).ok:
            move_until_contact((0.0, 0.0, -1.0), 0.08, force=4.0)
            move_to(ends, speed=speed, press=press, tolerance=0.03)
    move_to(offset_pose(read_robot().pose, dz=0.1), speed=0.5, tolerance=0.03)


def wipe(press: float, speed: float, step: float, beyond: float, turns: int) -> int:
    """Wipes what is seen on the table, up to `turns` times; how many patches are left."""
    patches = find_regions(capture("scene"), above=0.0)
    for turn in range(turns):
        for patch in patches:
            shape = measure_region(patch)
            if shape.ok:
                rub(shape, press, speed, step, beyond)
        go_home()
        patches = find_regions(capture("scene"), above=0.0)
    return len(patches)
'''

# Newtons, m/s, metres. The first is what is done naively.
WIPES: tuple[Variant, ...] = tuple(
    {"press": press, "speed": speed, "step": step, "beyond": beyond, "turns": turns}
    for press, speed, step, beyond, turns in product(
        (5.0, 15.0, 30.0), (0.4, 0.15), (0.12, 0.09), (0.0, 0.03), (1, 3, 5)
    )
)
NAIVE_WIPE = WIPES[0]


def wipe_words(noun: str, variant: Variant) -> str:
    """What an entry says."""
    beyond = f" and {variant['beyond'] * 100:.0f} cm past its ends" if variant["beyond"] else ""
    return (
        f'To wipe off "{noun}": look for patches on the table; rub back and forth along each{beyond}, '
        f"pressing with {variant['press']:.0f} N, at {variant['speed'] * 100:.0f} cm/s, in strips "
        f"{variant['step'] * 100:.0f} cm apart; look again, up to {variant['turns']} times in all."
    )


def wipe_lines(number: int, region: int, variant: Variant) -> list[str]:
    """The line of a program that wipes, for the clause of this number; it is done to no region."""
    return [f"left{number} = wipe({', '.join(f'{name}={value!r}' for name, value in variant.items())})"]
