"""Draw the nodal field u of a 2D result file as an SVG: the picture of README.md.

usage: /usr/bin/python3 docs/draw_solution.py RESULT.vtkhdf OUT.svg      (needs Debian's python3-vtk9)
"""
import sys

import vtk

SIZE, MARGIN = 460, 10
COLOURS = [(68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37)]


def colour(value):
    """Piecewise linear between COLOURS, value in [0, 1], as #rrggbb."""
    at = min(max(value, 0.0), 1.0) * (len(COLOURS) - 1)
    low = min(int(at), len(COLOURS) - 2)
    mixed = [round(a + (b - a) * (at - low)) for a, b in zip(COLOURS[low], COLOURS[low + 1])]
    return "#%02x%02x%02x" % tuple(mixed)


reader = vtk.vtkHDFReader()
reader.SetFileName(sys.argv[1])
reader.Update()
grid = reader.GetOutput()
field = grid.GetPointData().GetArray("u")
low, high = field.GetRange()
bounds = grid.GetBounds()
scale = (SIZE - 2 * MARGIN) / max(bounds[1] - bounds[0], bounds[3] - bounds[2])
lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SIZE + 90} {SIZE}" font-family="sans-serif" '
         'font-size="13" stroke="#ffffff" stroke-width="0.4" stroke-linejoin="round">']
for c in range(grid.GetNumberOfCells()):
    ids = grid.GetCell(c).GetPointIds()
    nodes = [ids.GetId(i) for i in range(ids.GetNumberOfIds())]
    mean = sum(field.GetValue(n) for n in nodes) / len(nodes)
    corners = []
    for n in nodes:
        x, y, _ = grid.GetPoint(n)
        corners.append(f"{MARGIN + scale * (x - bounds[0]):.1f},{SIZE - MARGIN - scale * (y - bounds[2]):.1f}")
    lines.append(f'<path fill="{colour((mean - low) / (high - low))}" d="M{" ".join(corners)}z"/>')
for i in range(64):
    y = SIZE - MARGIN - (i + 1) * (SIZE - 2 * MARGIN) / 64
    lines.append(f'<rect x="{SIZE + 10}" y="{y:.1f}" width="18" height="{(SIZE - 2 * MARGIN) / 64 + 0.5:.1f}" '
                 f'stroke="none" fill="{colour((i + 0.5) / 64)}"/>')
for value, y in ((high, MARGIN + 10), (low, SIZE - MARGIN)):
    lines.append(f'<text x="{SIZE + 34}" y="{y}" stroke="none" fill="#444444">{value:.2f}</text>')
lines.append("</svg>")
with open(sys.argv[2], "w", encoding="utf-8") as out:
    out.write("\n".join(lines) + "\n")
