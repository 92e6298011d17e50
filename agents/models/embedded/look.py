"""The program that looks at a scene: which things there are, where, what they are like."""

LOOK = '''
import math

EDGE = 0.025  # a bar or a handle stands out of the outline that is seen from above by so much
THIN = 0.035


def spots(view: View, columns: int) -> list[Point]:
    """Places over the table, side by side, from which everything that the scene camera sees is seen from
    above."""
    space = describe_workspace()
    seen = [r for r in find_regions(view) if r.ok and not r.clipped]
    xs = [r.x for r in seen] + ([] if seen else [space.x[0], space.x[1]])
    ys = [r.y for r in seen] + ([] if seen else [space.y[0], space.y[1]])
    x = 0.5 * (min(xs) + max(xs))
    step = (max(ys) - min(ys)) / columns
    return [Point(x, min(ys) + (k + 0.5) * step, space.table) for k in range(columns)]


def scan(height: float, columns: int) -> list[View]:
    """The scene camera's view, then views straight down."""
    views = [capture("scene")]
    for spot in spots(views[0], columns):
        if move_to(compile_view(spot, height), speed=1.0, tolerance=0.02).ok:
            views.append(capture("wrist"))
    return views


def key(k: int, region: Region) -> tuple[int, int, int, int]:
    """The same for the same region of the view number k."""
    return (k, region.box.u0, region.box.v0, region.pixels)


def separate(views: list[View]) -> list[list[Region]]:
    """Each thing once, with its regions in all views: the largest that shows it whole first."""
    seen: list[tuple[bool, int, int, Region]] = []
    for k, view in enumerate(views):
        for region in find_regions(view):
            if region.ok and region.pixels >= 40:
                seen.append((region.clipped, -region.pixels, k, region))
    seen.sort(key=lambda item: (item[0], item[1]))
    owner: dict[tuple[int, int, int, int], list[Region]] = {}
    things: list[list[Region]] = []
    for clipped, less, k, region in seen:
        if key(k, region) in owner:
            continue
        group = [region]
        for j, view in enumerate(views):
            again = segment(view, region)
            if j == k or not again.ok:
                continue
            known = owner.get(key(j, again))
            if known is None and (clipped or again.pixels < 1.6 * region.pixels):
                # what is much larger is what it stands on, seen as one with it
                owner[key(j, again)] = group
                group.append(again)
            elif known is not None and known is not group:
                same = clipped and again.pixels > 0.5 * region.pixels
                if same or within(measure_region(region), measure_region(again)):
                    if clipped:
                        known.extend(group)
                    group = known
        owner[key(k, region)] = group
        if not any([group is other for other in things]):
            things.append(group)
    return things


def fill_in(views: list[View], height: float, most: int) -> list[View]:
    """More views: from above what no view shows whole, the largest first."""
    more: list[View] = []
    cut = [group for group in separate(views) if group[0].clipped]
    cut.sort(key=lambda group: -sum([region.pixels for region in group]))
    for group in cut[:most]:
        shape = measure_region(group)
        for distance in (height, 0.75 * height):
            if move_to(compile_view(Point(shape.x, shape.y, shape.top), distance), speed=1.0,
                       tolerance=0.03).ok:
                more.append(capture("wrist"))
                break
    return more


def within(small: Shape, large: Shape) -> bool:
    """Whether a thing is a piece of another: stands on the same ground, inside its outline."""
    if small.bottom > large.bottom + 0.01 or small.top > large.top + 0.02:
        return False
    count = 0
    for i in range(5):
        for j in range(5):
            along, across = 0.22 * (i - 2) * small.length, 0.22 * (j - 2) * small.width
            x = small.x + along * math.cos(small.yaw) - across * math.sin(small.yaw) - large.x
            y = small.y + along * math.sin(small.yaw) + across * math.cos(small.yaw) - large.y
            u = x * math.cos(large.yaw) + y * math.sin(large.yaw)
            v = y * math.cos(large.yaw) - x * math.sin(large.yaw)
            count += 1 if abs(u) < 0.5 * large.length + EDGE and abs(v) < 0.5 * large.width + EDGE else 0
    return count > 12


def rightwards(view: View) -> tuple[float, float]:
    """Direction (x, y) on the table that a picture shows as right: fitted over the table's points in it, row
    by row, so that things standing about do not matter."""
    table = describe_workspace().table
    rows: list[list[tuple[int, Point]]] = []
    for v in range(view.height // 4, view.height, view.height // 5):
        row = [(u, measure_point(view, u, v)) for u in range(view.width // 14, view.width, view.width // 7)]
        rows.append([(u, p) for u, p in row if p.ok])
    flat = [[(u, p) for u, p in row if abs(p.z - table) < 0.01] for row in rows]
    dx, dy = 0.0, 0.0
    for row in (flat if max([len(row) for row in flat]) > 2 else rows):
        middle = sum([u for u, p in row]) / max(1, len(row))
        dx += sum([(u - middle) * p.x for u, p in row])
        dy += sum([(u - middle) * p.y for u, p in row])
    size = max(1e-9, abs(dx), abs(dy))
    return dx / size, dy / size


views = scan(HEIGHT, COLUMNS)
close = views[1:]
for most in (3, 2):
    close = close + fill_in(close, HEIGHT, most)
found: list[tuple[Shape, Region, bool]] = []
for group in separate(close):
    # what was seen whole and apart more than once is a thing of its own, though it may touch another
    sure = not group[0].clipped and len(group) > 1
    shape = measure_region(group if group[0].clipped else group[0])
    if shape.ok:
        found.append((shape, group[0], sure and shape.width > THIN))
found.sort(key=lambda item: -item[0].length * item[0].width)
kept: list[tuple[Shape, Region]] = []
for k, item in enumerate(found):
    if item[2] or not any([within(item[0], other[0]) for other in found[:k]]):
        kept.append((item[0], item[1]))
kept.sort(key=lambda item: (item[1].clipped, -item[1].pixels))
regions: list[Region] = [region for shape, region in kept]
shapes: list[Shape] = [shape for shape, region in kept]
looks: list[Look] = [describe_region(region) for region in regions]
go_home()
{"regions": [{"x": s.x, "y": s.y, "top": s.top, "height": s.height, "length": s.length, "width": s.width,
              "yaw": s.yaw, "radius": s.radius, "hollow": s.hollow, "handle": s.handle.ok,
              "clipped": r.clipped, "lab": k.lab, "spread": k.spread, "hues": k.hues}
             for r, s, k in zip(regions, shapes, looks)],
 "right": rightwards(views[0])}
'''
