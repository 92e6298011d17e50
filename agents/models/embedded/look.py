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
    x = 0.5 * (min(xs) + max(xs)) - BACK
    step = (max(ys) - min(ys)) / columns
    return [Point(x, min(ys) + (k + 0.5) * step, space.table) for k in range(columns)]


def scan(height: float, columns: int) -> list[View]:
    """The scene camera's view, then views straight down."""
    views = [capture("scene")]
    for spot in spots(views[0], columns):
        if move_to(compile_view(spot, height), speed=1.0, tolerance=0.02).ok:
            views.append(capture("wrist"))
    return views


Node = tuple[int, int]  # number of the view, number of the region in it


def links(views: list[View], seen: list[list[Region]]) -> dict[Node, list[Node]]:
    """For each region what shows the same in the other views."""
    found: dict[Node, list[Node]] = {}
    for i in range(len(views)):
        for k, region in enumerate(seen[i]):
            found[(i, k)] = []
            for j in range(len(views)):
                other = segment(views[j], region) if j != i else region
                if j != i and other.ok and other in seen[j]:
                    found[(i, k)].append((j, seen[j].index(other)))
    return found


def jumbled(seen: list[list[Region]], same: dict[Node, list[Node]]) -> list[Node]:
    """Regions that show as one what several other views show as more than one thing."""
    # for each region, by view, what is a part of it there
    parts: dict[Node, list[list[int]]] = {
        node: [[k for k in range(len(seen[j])) if node in same[(j, k)]] for j in range(len(seen))]
        for node in same
    }
    found: list[Node] = []
    for node in same:
        apart, together = 0, 1
        for j in range(len(seen)):
            sizes = sorted([seen[j][k].pixels for k in parts[node][j]])
            whole = [k for k in parts[node][j] if not seen[j][k].clipped]
            if len(sizes) > 1 and whole and sizes[-2] >= 0.05 * sizes[-1]:
                apart += 1
                together += sum([1 for i, k in same[node] if i != j and len(
                    [m for m in parts[node][j] if (i, k) in same[(j, m)]]) > 1])
        if apart > 0 and apart >= together:
            found.append(node)
    return found


def things(views: list[View]) -> list[list[tuple[int, Region]]]:
    """The regions of each thing with the number of their view, the best first: those that show it whole,
    or more of it."""
    seen = [[r for r in find_regions(view) if r.ok and r.pixels >= 40] for view in views]
    same = links(views, seen)
    wrong = jumbled(seen, same)
    names = {node: n for n, node in enumerate(same) if node not in wrong}
    for node in same:
        for other in same[node]:
            if node in names and other in names:
                a, b = names[node], names[other]
                names = {key: a if n == b else n for key, n in names.items()}
    found: list[list[tuple[int, Region]]] = []
    for name in sorted(set(names.values())):
        group = [(i, seen[i][k]) for i, k in names if names[(i, k)] == name]
        most = max([region.pixels for i, region in group])
        group.sort(key=lambda item: (item[1].pixels < 0.4 * most, item[0] == 0, item[1].clipped,
                                     -item[1].pixels))
        found.append(group)
    return found


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


def fill_in(views: list[View], height: float, most: int) -> list[View]:
    """More views: from above what none shows whole, the largest first."""
    more: list[View] = []
    cut = [group for group in things(views) if all([region.clipped for i, region in group])]
    cut.sort(key=lambda group: -sum([region.pixels for i, region in group]))
    for group in cut[:most]:
        shape = measure_region([region for i, region in group])
        for distance in (height, 0.75 * height):
            if move_to(compile_view(Point(shape.x, shape.y, shape.top), distance), speed=1.0,
                       tolerance=0.03).ok:
                more.append(capture("wrist"))
                break
    return more


views = scan(HEIGHT, COLUMNS)
views = views + fill_in(views, HEIGHT, 2)
found: list[tuple[Shape, list[tuple[int, Region]]]] = []
for group in things(views):
    above = [region for i, region in group if i > 0]
    shape = measure_region(above[0] if above and not above[0].clipped else [region for i, region in group])
    if shape.ok:
        found.append((shape, group))
found.sort(key=lambda item: -item[0].length * item[0].width)
kept: list[tuple[Shape, list[tuple[int, Region]]]] = []
for k, item in enumerate(found):
    # what was seen whole and apart more than once is a thing of its own, though it may touch another
    sure = item[0].width > THIN and len([1 for i, region in item[1] if not region.clipped]) > 1
    if sure or not any([within(item[0], other[0]) for other in found[:k]]):
        kept.append(item)
regions: list[Region] = [group[0][1] for shape, group in kept]
shapes: list[Shape] = [shape for shape, group in kept]
looks: list[Look] = [describe_region(region) for region in regions]
go_home()
{"regions": [{"x": s.x, "y": s.y, "top": s.top, "height": s.height, "length": s.length, "width": s.width,
              "yaw": s.yaw, "radius": s.radius, "hollow": s.hollow, "handle": s.handle.ok,
              "clipped": r.clipped, "lab": k.lab, "spread": k.spread, "hues": k.hues}
             for r, s, k in zip(regions, shapes, looks)],
 "right": rightwards(views[0])}
'''
