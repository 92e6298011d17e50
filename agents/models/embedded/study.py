"""Program text that studies a region of the look from several sides, for its parts."""

STUDY = '''
import math


def look_from(shape: Shape, direction: Vec, others: list[Shape]) -> list[View]:
    """What the wrist camera sees of a thing along a direction; nothing where the hand has no way there."""
    reach = 0.5 * math.hypot(shape.length, shape.width)
    pose = compile_view(Point(shape.x, shape.y, shape.bottom + 0.5 * shape.height), reach + 0.3, direction)
    near = [s.top for s in others if math.hypot(s.x - pose.x, s.y - pose.y) < 0.5 * s.length + 0.14]
    if not pose.ok or pose.z < max([describe_workspace().table + 0.06] + [top + 0.04 for top in near]):
        return []
    high = max([s.top for s in others]) + 0.2
    now = read_robot().pose
    up = offset_pose(now, dz=max(0.0, high - now.z))
    over = offset_pose(pose, dz=max(0.0, high - pose.z))
    if move_to([up, over, pose], speed=1.0, tolerance=0.03).ok or move_to(pose, tolerance=0.05).ok:
        return [capture("wrist")]
    return []


def seen_in(views: list[View], region: Region, shape: Shape) -> list[Region]:
    """The thing in each view that shows it."""
    found = [segment(view, shape) for view in views]
    return [region] + [r for r in found if r.ok]


def study(region: Region, shape: Shape) -> Shape:
    """Measures a thing from above and from its sides too."""
    whole = measure_region(seen_in(views, region, shape))
    sides: list[View] = []
    for direction in DIRECTIONS:
        if len(sides) < 4:
            sides += look_from(whole, direction, shapes + [whole])
            if len(sides) == 1:
                whole = measure_region(seen_in(views + sides, region, whole))
    go_home()
    return measure_region(seen_in(views + sides, region, whole))


def listed(shape: Shape) -> list[dict[str, object]]:
    """Its parts, as far as words can say."""
    return [{"kind": p.kind, "x": p.x, "y": p.y, "z": p.z, "outward": p.outward, "axis": p.axis,
             "length": p.length, "width": p.width, "depth": p.depth, "rise": p.rise, "along": p.along,
             "hinge": [p.hinge.x, p.hinge.y, p.hinge.z] if p.hinge.ok else None} for p in shape.parts]
'''

# From above, then at each side, steep enough for the hand to stay over things.
DIRECTIONS = ((0.0, 0.0, -1.0), (0.0, 1.0, -0.7), (0.0, -1.0, -0.7), (1.0, 0.0, -0.7), (-1.0, 0.0, -0.7))


def study(region: int) -> str:
    """The program for one region of the look. Keeps `studied<region>`: its Shape with parts."""
    name = f"studied{region}"
    return (
        f"DIRECTIONS: list[Vec] = {list(DIRECTIONS)!r}\n{STUDY}\n\n"
        f"{name} = study(regions[{region}], shapes[{region}])\n"
        f'{{"parts": {{"{region}": listed({name})}}}}\n'
    )
