"""Draw a nodal field of a result file as a small SVG: bands of equal values in the plane, the visible surface in space.

usage: /usr/bin/python3 docs/draw_solution.py RESULT.vtkhdf OUT.svg [FIELD [DEFORM [PART]]]      (needs Debian's python3-vtk9)

FIELD is a name (default u), of vectors the length; name[K] is a component. DEFORM moves the nodes by DEFORM*u (default 0). PART,
0 to 1, shows that part of the width from the lower left.
"""
import math
import sys

SIZE, MARGIN, BANDS = 4600, 60, 14
TOP = 260  # height above the picture, for what it shows
COLOURS = [(68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37)]
VIEW = [(0.87, 0.50, 0.0), (-0.25, 0.43, 0.87), (0.43, -0.75, 0.50)]  # in space: right, up, to the viewer


def colour(value, light=1.0):
    """Piecewise linear between COLOURS, value in [0, 1], as #rrggbb."""
    at = min(max(value, 0.0), 1.0) * (len(COLOURS) - 1)
    low = min(int(at), len(COLOURS) - 2)
    mixed = [round(light * (a + (b - a) * (at - low))) for a, b in zip(COLOURS[low], COLOURS[low + 1])]
    return "#%02x%02x%02x" % tuple(mixed)


def read(path, name, deform):
    """Points in space, cells as lists of nodes, and the values of a field at nodes."""
    import vtk

    reader = vtk.vtkHDFReader() if path.endswith(".vtkhdf") else vtk.vtkXMLUnstructuredGridReader()
    reader.SetFileName(path)
    reader.Update()
    grid = reader.GetOutput()
    if grid.GetCell(0).GetNumberOfPoints() > 4:  # curves within cells: divided into straight ones
        divide = vtk.vtkDataSetSurfaceFilter()
        divide.SetInputData(grid)
        divide.SetNonlinearSubdivisionLevel(2)
        merge = vtk.vtkCleanPolyData()
        merge.SetInputConnection(divide.GetOutputPort())
        merge.SetTolerance(1e-9)
        merge.Update()
        grid = merge.GetOutput()
    name, _, component = name.partition("[")
    field = grid.GetPointData().GetArray(name)
    if field is None:
        sys.exit(f"{path} has no values of {name} at nodes")
    nodes = range(grid.GetNumberOfPoints())
    points = [list(grid.GetPoint(i)) for i in nodes]
    if deform:
        moved = grid.GetPointData().GetArray("u")
        points = [[x + deform * d for x, d in zip(p, moved.GetTuple(i))] for i, p in enumerate(points)]
    if component:
        values = [field.GetTuple(i)[int(component[:-1])] for i in nodes]
    else:
        values = [math.hypot(*t) if len(t) > 1 else t[0] for t in map(field.GetTuple, nodes)]
    cells = []
    for c in range(grid.GetNumberOfCells()):
        ids = grid.GetCell(c).GetPointIds()
        cells.append([ids.GetId(i) for i in range(ids.GetNumberOfIds())])
    return points, cells, values


def loops(edges):
    """Closed lists of vertices from directed edges, those of two neighbours removed."""
    following = {}
    for a, b in edges:
        if a in following.get(b, ()):
            following[b].remove(a)
        else:
            following.setdefault(a, []).append(b)
    result = []
    for start in list(following):
        while following[start]:
            loop, at = [], start
            while following.get(at):
                loop.append(at)
                at = following[at].pop()
            result.append(loop)
    return result


def above(triangles, values, level):
    """The loops around the part of a plane mesh where the field is at least level. A vertex is (node, node, 0), or
    (low, high, t): the point at t between two nodes."""
    def cut(i, j):
        i, j = min(i, j), max(i, j)
        return i, j, (level - values[i]) / (values[j] - values[i])

    edges = []
    for triangle in triangles:
        polygon = []
        for i, j in zip(triangle, triangle[1:] + triangle[:1]):
            if values[i] >= level:
                polygon.append((i, i, 0.0))
            if (values[i] >= level) != (values[j] >= level):
                polygon.append(cut(i, j))
        edges += zip(polygon, polygon[1:] + polygon[:1])
    return loops(edges)


def path(loop):
    """A loop of pixels as relative moves, without the points on straight lines."""
    points = [p for p, q in zip(loop, loop[-1:] + loop[:-1]) if p != q]
    corners = []
    for i, (x, y) in enumerate(points):
        (px, py), (nx, ny) = corners[-1] if corners else points[i - 1], points[(i + 1) % len(points)]
        if (x - px) * (ny - y) != (y - py) * (nx - x):
            corners.append((x, y))
    if len(corners) < 3:
        return ""
    moves = [(x - px, y - py) for (x, y), (px, py) in zip(corners[1:], corners)]
    return "M%d %dl" % corners[0] + " ".join("%d %d" % m for m in moves).replace(" -", "-") + "z"


def draw_plane(points, cells, values, scale, levels):
    """Bands, each painted over those below it, and the boundary."""
    def pixels(loop):
        return [scale([points[i][k] + t * (points[j][k] - points[i][k]) for k in (0, 1)]) for i, j, t in loop]

    lines = []
    for k, level in enumerate(levels):
        text = "".join(path(pixels(loop)) for loop in above(cells, values, level))
        lines.append(f'<path fill="{colour((k + 0.5) / len(levels))}" d="{text}"/>')
    boundary = loops([edge for c in cells for edge in zip(c, c[1:] + c[:1])])
    text = "".join(path(pixels([(i, i, 0.0) for i in loop])) for loop in boundary)
    lines.append(f'<path fill="none" stroke="#444444" stroke-width="12" d="{text}"/>')
    return lines


def surface(cells):
    """The facets of exactly one tetrahedron, counterclockwise from outside."""
    facets = {}
    for a, b, c, d in cells:
        for facet in ((a, c, b), (a, b, d), (b, c, d), (a, d, c)):
            facets.setdefault(tuple(sorted(facet)), []).append(facet)
    return [f[0] for f in facets.values() if len(f) == 1]


def draw_space(rotated, cells, values, scale, levels):
    """The facets that face the viewer, from back to front; a facet has one colour."""
    shown = []
    for facet in surface(cells):
        p, q, r = (rotated[i] for i in facet)
        a, b = [[v - u for u, v in zip(p, s)] for s in (q, r)]
        normal = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
        if normal[2] > 0:
            light = 0.72 + 0.28 * (0.3 * normal[0] + 0.5 * normal[1] + 0.8 * normal[2]) / math.hypot(*normal)
            mean = sum(values[i] for i in facet) / 3
            band = max(k for k, level in enumerate(levels) if k == 0 or mean >= level)
            outline = path([scale(s) for s in (p, q, r)])
            shown.append((p[2] + q[2] + r[2], colour((band + 0.5) / len(levels), min(light, 1)), outline))
    shown.sort(key=lambda s: s[0])
    return ['<g stroke-linejoin="round" stroke-width="8" stroke="#00000030">'] + [
        f'<path fill="{fill}" d="{outline}"/>' for _, fill, outline in shown if outline] + ["</g>"]


def draw(source, out, name="u", deform=0.0, part=1.0, label=""):
    points, cells, values = read(source, name, deform)
    space = len(cells[0]) == 4
    if space:
        points = [[sum(a * b for a, b in zip(p, axis)) for axis in VIEW] for p in points]
    lowest, highest = min(values), max(values)
    levels = [lowest + k * (highest - lowest) / BANDS for k in range(BANDS)]
    box = [(min(p[k] for p in points), max(p[k] for p in points)) for k in (0, 1)]
    if part < 1:
        side = part * (box[0][1] - box[0][0])
        box = [(low, low + side) for low, _ in box]
    unit = (SIZE - 2 * MARGIN) / max(high - low for low, high in box)
    width, height = (round(2 * MARGIN + unit * (high - low)) for low, high in box)
    bar = max(height, 1600)

    def scale(p):
        return (round(MARGIN + unit * (p[0] - box[0][0])), round((bar + height) / 2 - MARGIN - unit * (p[1] - box[1][0])))

    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 {-TOP} {width + 1000} {bar + TOP}" '
             f'width="{(width + 1000) // 10}" font-family="sans-serif" font-size="150" fill="#444444">',
             f'<rect y="{-TOP}" width="{width + 1000}" height="{bar + TOP}" fill="#ffffff"/>',
             f'<text x="{MARGIN}" y="-80">{label or name}</text>']
    lines.append(f'<svg width="{width}" height="{bar}">')
    lines += (draw_space if space else draw_plane)(points, cells, values, scale, levels) + ["</svg>"]
    step = (bar - 2 * MARGIN) / BANDS
    for k in range(BANDS):
        lines.append(f'<rect x="{width + 100}" y="{bar - MARGIN - (k + 1) * step:.0f}" width="180" '
                     f'height="{step + 1:.0f}" fill="{colour((k + 0.5) / BANDS)}"/>')
    for value, y in ((highest, MARGIN + 120), (lowest, bar - MARGIN)):
        value = 0.0 if abs(value) < 1e-9 * (highest - lowest) else value
        lines.append(f'<text x="{width + 330}" y="{y}">{value:.3g}</text>')
    with open(out, "w", encoding="utf-8") as file:
        file.write("\n".join(lines + ["</svg>"]) + "\n")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    draw(sys.argv[1], sys.argv[2], *sys.argv[3:4], *map(float, sys.argv[4:6]))
