"""Program text of the move on a part of a thing: touch it in some style, move it along or about what was
measured of it, leave it again.

Directions are made from the part alone: outward, along its axis, up in its face, about its hinge.
"""

WORK = '''
import math
from typing import Literal


def mixed(a: Vec, k: float, b: Vec = (0.0, 0.0, 0.0), m: float = 1.0) -> Vec:
    """k a + m b."""
    return (k * a[0] + m * b[0], k * a[1] + m * b[1], k * a[2] + m * b[2])


def dotted(a: Vec, b: Vec) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def crossed(a: Vec, b: Vec) -> Vec:
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def unit_of(a: Vec) -> Vec:
    size = math.sqrt(dotted(a, a))
    return mixed(a, 1.0 / size) if size > 1e-6 else (0.0, 0.0, 1.0)


def shifted(pose: Pose, by: Vec) -> Pose:
    return offset_pose(pose, dx=by[0], dy=by[1], dz=by[2])


def upright(part: Part) -> Vec:
    """Up, in the part's face; towards the robot where the face itself looks up."""
    o = part.outward
    if abs(o[2]) > 0.8:
        return unit_of((-part.x, -part.y, 0.0))
    return unit_of(mixed(o, -o[2], (0.0, 0.0, 1.0)))


def hinge_line(part: Part, shape: Shape) -> tuple[Point, Vec]:
    """A point of the hinge, and the axis about which a right-handed turn moves the part outward. Where
    none was measured: the far edge of the face that the part stands on."""
    hinge = part.hinge
    if not hinge.ok:
        side = unit_of(crossed((0.0, 0.0, 1.0), part.outward))
        toward = (shape.x - part.x) * side[0] + (shape.y - part.y) * side[1]
        reach = abs(toward) + 0.5 * max(shape.length, shape.width)
        off = 0.5 * min(part.width, part.depth) - part.depth
        go = mixed(part.outward, off, side, reach if toward >= 0.0 else -reach)
        hinge = Point(part.x + go[0], part.y + go[1], part.z)
    arm = (part.x - hinge.x, part.y - hinge.y, part.z - hinge.z)
    return hinge, unit_of(crossed(arm, part.outward))


def lengthwise(part: Part) -> Vec:
    """The part's axis: away from a measured hinge, else to the right as seen facing it, or up."""
    o, a = part.outward, part.axis
    off = (part.x - part.hinge.x, part.y - part.hinge.y, part.z - part.hinge.z) if part.hinge.ok else a
    view = (part.x, part.y, 0.0) if abs(o[2]) > 0.8 else mixed(o, -1.0)
    right = unit_of(crossed(view, (0.0, 0.0, 1.0)))
    along = dotted(a, off) if part.hinge.ok else dotted(a, right)
    if abs(along) < 0.01 or (not part.hinge.ok and abs(along) < 0.3):
        along = dotted(a, upright(part))
    return a if along >= 0.0 else mixed(a, -1.0)


def touches(part: Part, style: str, tilt: float, lateral: float) -> list[Pose]:
    """Clear of the part, then at it; and the same with the hand turned half round."""
    o, e = part.outward, upright(part)
    lean = unit_of(mixed(o, -math.cos(tilt), e, -math.sin(tilt)))
    drop = unit_of(mixed(e, -math.cos(tilt), o, -math.sin(tilt)))
    axis = lengthwise(part)
    core = mixed(axis, 0.5 * part.length * lateral, (part.x, part.y, part.z))
    bump = part.kind == "bump"
    thick = 0.5 * min(part.width, part.depth)
    share = abs(dotted(axis, e))
    edge = mixed(e, 0.5 * (share * part.length + (1.0 - share) * part.width), core)
    approach, closing, at = lean, crossed(e, o), core
    if style == "bar":
        closing, at = crossed(axis, lean), mixed(lean, 0.01, core)
    elif style == "front":
        at = mixed(o, thick if bump else 0.0, core)
    elif style == "top":
        approach, closing, at = drop, o, mixed(e, -0.02, edge)
    elif style == "hook" and bump:
        corner = mixed(o, -thick, mixed(e, thick, core))
        below = mixed(o, math.sin(tilt), e, -math.cos(tilt))
        at = mixed(mixed(below, -0.0095, mixed(lean, 0.012, corner)), 1.0, mixed(o, 0.01, e, 0.014))
    elif style == "hook":
        approach, at = drop, mixed(o, -0.035, mixed(e, -0.03, edge))
    else:
        aside, closing = unit_of(crossed(axis, o)), axis
        at = mixed(aside, (0.5 * part.width + 0.012) * (1.0 if style == "beside+" else -1.0), core)
    pose = compile_pose(Point(at[0], at[1], at[2]), approach, closing)
    turned = compile_pose(Point(at[0], at[1], at[2]), approach, mixed(closing, -1.0))
    return [shifted(pose, mixed(approach, -0.1)), pose, shifted(turned, mixed(approach, -0.1)), turned]


def arrive(start: Pose) -> Robot:
    """From above to where the hand is clear of the part."""
    high = describe_workspace().table + 0.3
    return move_to([offset_pose(start, dz=max(0.0, high - start.z)), start], speed=0.5, tolerance=0.02)


def reached(ways: list[Pose]) -> tuple[bool, Pose]:
    """Clear of a place, the one way round or the other; and the place."""
    there = arrive(ways[0])
    if there.reason == "unreachable":
        return arrive(ways[2]).ok, ways[3]
    return there.ok, ways[1]


def about_line(pose: Pose, line: tuple[Point, Vec], angle: float, turning: bool) -> list[Pose]:
    """Poses of a turn about a line; the hand turns along, or keeps its direction."""
    steps = max(2, math.ceil(abs(angle) / 0.2))
    turns = [angle * (k + 1) / steps for k in range(steps)]
    arc = [offset_pose(pose, turn=a, axis=line[1], about=line[0]) for a in turns]
    return arc if turning else [offset_pose(p, turn=-a, axis=line[1]) for p, a in zip(arc, turns)]


def farthest(ways: list[list[Pose]], speed: float) -> Robot:
    """Along the first way, else another one; as far as the arm can reach."""
    done = read_robot()
    for count in range(len(ways[0]), 0, -1):
        for way in ways:
            done = move_to(way[:count], speed=speed, force=60.0, tolerance=0.03)
            if done.reason != "unreachable":
                return done
    return done


def drop_behind(part: Part) -> None:
    """Touch the face over the part, back off, go down behind the part until it is felt."""
    o, e = part.outward, upright(part)
    if move_until_contact(mixed(o, -1.0), 0.03, speed=0.03, force=5.0).ok:
        move_to(shifted(read_robot().pose, mixed(o, 0.0015)), speed=0.03)
    move_until_contact(mixed(e, -1.0), 0.03, speed=0.03, force=6.0)


def push_behind(part: Part, shape: Shape, turned: float, angle: float) -> Robot:
    """Go on opening what has been turned about its hinge a little: from behind its free edge."""
    line, o = hinge_line(part, shape), part.outward
    arm = (part.x - line[0].x, part.y - line[0].y, part.z - line[0].z)
    at = mixed(mixed(o, -dotted(arm, o), arm), 0.85, o, -0.035)
    place = Point(line[0].x + at[0], line[0].y + at[1], shape.top - 0.03)
    inside = offset_pose(compile_pose(place, closing=arm), turn=0.6 * turned, axis=line[1], about=line[0])
    away = unit_of((inside.x, inside.y, 0.0))
    lean = unit_of(mixed(away, 0.5, (0.0, 0.0, -1.0)))
    along = inside.closing
    first = compile_pose(Point(inside.x, inside.y, inside.z), lean, along)
    other = compile_pose(Point(inside.x, inside.y, inside.z), lean, mixed(along, -1.0))
    set_gripper(0.0)
    behind = reached([first, first, other, other])[1]
    return farthest([about_line(behind, line, angle - 0.6 * turned, False)], 0.12)


def push_shut(part: Part, shape: Shape, turned: float, angle: float) -> Robot:
    """Go on closing what has been turned about its hinge: from in front, near its free edge, until it
    stops."""
    line = hinge_line(part, shape)
    ways = touches(part, "front", 0.5, 0.4 if part.hinge.ok else 0.0)
    set_gripper(0.0)
    free, pose = reached([offset_pose(p, turn=-turned, axis=line[1], about=line[0]) for p in ways])
    if not free:
        return read_robot()
    move_to(pose, speed=0.1, force=25.0)
    here = read_robot().pose
    return farthest([about_line(here, line, turned - angle, t) for t in (True, False)], 0.12)


def angle_at(hinge: Point, pose: Pose) -> float:
    return math.atan2(pose.y - hinge.y, pose.x - hinge.x)


def work(part: Part, shape: Shape, style: Literal["bar", "front", "hook", "beside+", "beside-", "top"],
         motion: Literal["pull", "push", "twist+", "twist-", "swing+", "swing-"], tilt: float, length: float,
         lateral: float) -> Robot:
    """Move a part of a thing. tilt: of the hand from the part's normal (hook and top on panels: from
    straight down). length: metres, or radians for twist and swing. lateral: where along the part, as a share
    of half its length."""
    wide, grips = describe_workspace().max_width, style == "bar" or style == "top"
    set_gripper(min(wide, part.width + 0.024) if style == "bar" else wide if grips else 0.0)
    pose = read_robot().pose
    for more in (0.0, 0.4, -0.4, 0.8):  # what is in the way of the hand may leave room at another tilt
        free, pose = reached(touches(part, style, min(max(tilt + more, 0.0), 1.4), lateral))
        if free:
            break
        go_home()
    move_to(pose, speed=0.1, force=25.0, tolerance=0.006)
    if grips:
        set_gripper(0.0, force=40.0)
    elif style == "hook" and part.kind == "bump":
        drop_behind(part)
    here, o = read_robot().pose, part.outward
    line, sign = hinge_line(part, shape), -1.0 if motion[-1] == "-" else 1.0
    if motion[:5] == "swing":
        done = farthest([about_line(here, line, sign * length, t) for t in (True, False)], 0.12)
    elif motion[:5] == "twist":
        centre = Point(here.x, here.y, here.z) if grips else Point(part.x, part.y, part.z)
        done = farthest([about_line(here, (centre, o), sign * length, True)], 0.04)
    else:
        go = o if motion == "pull" else mixed(o, -1.0)
        steps = max(2, math.ceil(length / 0.05))
        done = farthest([[shifted(here, mixed(go, length * (k + 1) / steps)) for k in range(steps)]], 0.12)
    now = read_robot().pose
    if grips:
        set_gripper(wide)
    leave = mixed(o, 0.05) if motion == "push" and style == "front" else mixed(now.approach, -0.08)
    move_to(shifted(now, leave), speed=0.2, force=60.0, tolerance=0.03)
    move_to(offset_pose(read_robot().pose, dz=0.12), speed=0.4, tolerance=0.03)
    turned = abs(angle_at(line[0], now) - angle_at(line[0], here))
    turned = min(turned, 2.0 * math.pi - turned)
    if motion[:5] != "swing" or turned < 0.15 or turned > length - 0.1:
        return done
    if motion == "swing-":
        done = push_shut(part, shape, turned, length)
    elif style == "bar":
        done = push_behind(part, shape, turned, length)
    move_to(offset_pose(read_robot().pose, dz=0.12), speed=0.4, tolerance=0.03)
    return done
'''
