"""Program text over the 18 operations: how to look, and the moves that skills fill with values.

A move is what a memory entry carries as its template. Its defaults are naive; what works is learned.
"""

PICK = '''
from typing import Literal

# straight down first, then slanted towards each side
SLANTS = [(0.0, 0.0, -1.0), (0.25, 0.0, -1.0), (-0.25, 0.0, -1.0), (0.0, 0.25, -1.0), (0.0, -0.25, -1.0)]


def across(pose: Pose) -> Robot:
    """Goes up first, across, and down last: what stands beside either place is not touched."""
    here = read_robot().pose
    high = max(here.z, pose.z)
    over = offset_pose(pose, dz=high - pose.z)
    there = move_to([offset_pose(here, dz=high - here.z), over, pose], speed=0.8, tolerance=0.02)
    return move_to(pose, speed=0.8, tolerance=0.02) if there.reason == "unreachable" else there


def rise(pose: Pose) -> Robot:
    """Goes up from a place, as far as the arm reaches."""
    risen = read_robot()
    for height in (0.22, 0.12, 0.06):
        risen = move_to(offset_pose(pose, dz=height), speed=0.5, tolerance=0.03)
        if risen.reason != "unreachable":
            break
    return risen


def away(region: Region, shape: Shape) -> float:
    """How far what was found is from where a thing should be, in all. Of one that was cut off there may be
    more above: half as far."""
    higher = region.top - shape.top
    return abs(region.x - shape.x) + abs(region.y - shape.y) + max(-higher, 0.5 * higher)


def closely(region: Region, shape: Shape) -> Shape:
    """A thing measured again from close by: from above or, where that is out of reach, slanting. As it was
    where it is not found."""
    for slant in ((0.0, 0.0, -1.0), (0.5, 0.0, -1.0), (-0.5, 0.0, -1.0)):
        if not across(compile_view(Point(shape.x, shape.y, shape.top), 0.25, slant)).ok:
            continue
        view = capture("wrist")
        found = segment(view, region)
        if not found.ok or region.clipped or away(found, shape) > 0.06:
            # seen from afar at the edge of a picture, its place may be some centimetres off
            near = [r for r in find_regions(view) if r.ok and away(r, shape) < 0.08]
            near.sort(key=lambda r: -r.pixels)
            found = near[0] if near else found
        again = measure_region(found)
        return again if again.ok and away(found, shape) < 0.08 else shape
    return shape


def free_grasp(shape: Shape, style: Literal["centre", "rim", "handle"], depth: float, rank: int) -> Plan:
    """A grasp for which there is room: less deep or slanted where the one that is wanted has none."""
    plan = compile_grasp(shape, style, depth, rank=rank)
    for share in (1.0, 0.5):
        for slant in SLANTS:
            if not plan.ok:
                plan = compile_grasp(shape, style, share * depth, slant)
    return plan


def pick(region: Region, shape: Shape, style: Literal["centre", "rim", "handle"], depth: float,
         near: bool, tries: int = 1) -> tuple[Shape, Plan]:
    """Grasp a thing and lift it. near: measure it again from close by first. tries: how often in all, while
    nothing is held; from the second on measured again, and another grasp."""
    plan = compile_grasp(shape, style, depth)
    for k in range(tries):
        set_gripper(describe_workspace().max_width)
        before = shape
        if near or k > 0:
            shape = closely(region, before)
        plan = free_grasp(shape, style, depth, k)
        if not plan.ok and near:
            shape, plan = before, free_grasp(before, style, depth, k)
        if across(plan.start).ok:
            set_gripper(plan.opening)
            move_to(plan.pose, speed=0.25, tolerance=0.004)
            set_gripper(0.0)
        if rise(plan.pose).holding:
            break
    return shape, plan
'''

ROOM = '''
def room(region: Region, shape: Shape, spot: Point) -> Point:
    """Where there is room on or in a target now: looked at from above, before the hand is full. Else the
    spot given."""
    if not move_to(compile_view(shape, 0.45), speed=0.8, tolerance=0.02).ok:
        return spot
    view = capture("wrist")
    found = segment(view, region)
    if not found.ok or found.clipped or region.clipped:
        # of a tall thing only a side may have been seen so far: it is the largest that is here
        near = [r for r in find_regions(view) if r.ok and r.top > shape.top - 0.02
                and abs(r.x - shape.x) < 0.15 and abs(r.y - shape.y) < 0.15]
        near.sort(key=lambda r: -r.pixels)
        found = near[0] if near else found
    support = measure_support(view, found)
    return Point(support.x, support.y, support.height) if support.ok else spot
'''

PUT = '''
def put(spot: Point, held: Shape, plan: Plan, clearance: float, carry: bool,
        yaw: float | None = None) -> Robot:
    """Let go of the held thing above a spot. carry: take the offset of the grasp into account. yaw: turn
    its length to this direction, where that can be reached."""
    place = compile_place(spot, held, plan, clearance, yaw)
    if not place.ok:
        place = compile_place(spot, held, plan, clearance)
    pose = place.pose
    if not carry:
        pose = compile_pose(Point(spot.x, spot.y, pose.z), closing=plan.pose.closing)
    here = read_robot().pose
    high = max(here.z, place.start.z)
    over = offset_pose(pose, dz=high - pose.z)
    way = [offset_pose(here, dz=high - here.z), over, pose]
    if move_to(way, speed=0.5, tolerance=0.02).reason == "unreachable":
        move_to([offset_pose(pose, dz=0.12), pose], speed=0.5, tolerance=0.02)
    done = set_gripper(place.opening if place.ok else describe_workspace().max_width)
    rise(read_robot().pose)
    return done
'''

BESIDE = '''
import math


def extent(shape: Shape, dx: float, dy: float) -> float:
    """How far a thing reaches in all along a horizontal direction."""
    along = abs(dx * math.cos(shape.yaw) + dy * math.sin(shape.yaw))
    return along * shape.length + math.sqrt(max(0.0, 1.0 - along * along)) * shape.width


def beside(shape: Shape, held: Shape, dx: float, dy: float) -> Point:
    """Next to a target: its middle, shifted by half of what both extend that way and a finger's width."""
    step = 0.5 * (extent(shape, dx, dy) + extent(held, dx, dy)) + 0.02
    return Point(shape.x + dx * step, shape.y + dy * step, shape.bottom)
'''
