"""The program that looks at a scene: which things there are, where, what they are like."""

LOOK = '''
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


def separate(views: list[View]) -> list[Region]:
    """Each thing once: views that show it whole first, then the larger ones."""
    seen: list[tuple[bool, int, Region]] = []
    for view in views:
        for region in find_regions(view):
            if region.ok and region.pixels >= 40:
                seen.append((region.clipped, -region.pixels, region))
    seen.sort(key=lambda item: (item[0], item[1]))
    kept: list[Region] = []
    for item in seen:
        region = item[2]
        if all(abs(region.x - other.x) + abs(region.y - other.y) > 0.04 for other in kept):
            kept.append(region)
    return kept


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
regions: list[Region] = []
shapes: list[Shape] = []
looks: list[Look] = []
for region in separate(views[1:]):
    shape = measure_region(region)
    near = [s for s in shapes if abs(s.x - shape.x) < 0.5 * min(s.length, shape.length)
            and abs(s.y - shape.y) < 0.5 * min(s.length, shape.length)]
    if shape.ok and not near:
        regions.append(region)
        shapes.append(shape)
        looks.append(describe_region(region))
go_home()
{"regions": [{"x": s.x, "y": s.y, "top": s.top, "height": s.height, "length": s.length, "width": s.width,
              "yaw": s.yaw, "radius": s.radius, "hollow": s.hollow, "handle": s.handle.ok,
              "clipped": r.clipped, "lab": k.lab, "spread": k.spread, "hues": k.hues}
             for r, s, k in zip(regions, shapes, looks)],
 "right": rightwards(views[0])}
'''
