#!/bin/bash
# labels: quick
# Results of degree 1 to 5 through VTK's readers and cells: at points inside each cell, VTK's interpolation of a
# polynomial of the degree and of the coordinates is exact, which a node in another place of a cell would spoil.
set -euo pipefail
python=/usr/bin/python3
if ! "$python" -c 'import vtk; vtk.vtkHDFReader' 2>/dev/null; then
    echo "skipped: no Python package vtk with vtkHDFReader (install python3-vtk9)"
    exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for mesh in interval:3 square:2 cube:1 quads:2 hexes:1; do
    for degree in 1 2 3 4 5; do
        "$WEFT_BUILD/tests/unit_fem_space_write" $mesh P $degree "$folder/${mesh}_P_$degree.vtu"
        "$WEFT_BUILD/tests/unit_fem_space_write" $mesh P $degree "$folder/${mesh}_P_$degree.vtkhdf"
    done
    "$WEFT_BUILD/tests/unit_fem_space_write" $mesh DG 3 "$folder/${mesh}_DG_3.vtkhdf"
done
"$python" - "$folder"/* <<'END'
import sys
import vtk

CORNERS = {"interval": 2, "square": 3, "cube": 4, "quads": 4, "hexes": 8}
PLACES = [(0.2, 0.3, 0.4), (0.11, 0.5, 0.23), (0.35, 0.05, 0.15)]  # inside simplices too
for path in sys.argv[1:]:
    mesh, family, degree = path.split("/")[-1].rsplit(".", 1)[0].split("_")
    shape, degree = mesh.split(":")[0], int(degree)
    reader = vtk.vtkHDFReader() if path.endswith("hdf") else vtk.vtkXMLUnstructuredGridReader()
    reader.SetFileName(path)
    reader.Update()
    grid = reader.GetOutput()
    assert grid.GetNumberOfCells() > 0, path
    u = grid.GetPointData().GetArray("u")
    place = grid.GetPointData().GetArray("place")
    dimension = {"interval": 1, "square": 2, "quads": 2}.get(shape, 3)
    for c in range(grid.GetNumberOfCells()):
        cell = grid.GetCell(c)
        assert cell.GetCellDimension() == dimension, path
        assert cell.GetNumberOfPoints() == cell.GetPointIds().GetNumberOfIds()
        n = cell.GetNumberOfPoints()
        for local in PLACES:
            local = tuple(v if k < dimension else 0 for k, v in enumerate(local))
            x, weights = [0.0] * 3, [0.0] * n
            cell.EvaluateLocation(vtk.reference(0), local, x, weights)
            # straight cells: the place is that of the corners' map
            corners = [cell.GetPoints().GetPoint(i) for i in range(CORNERS[shape])]
            if shape in ("quads", "hexes"):
                low = [min(p[k] for p in corners) for k in range(3)]
                high = [max(p[k] for p in corners) for k in range(3)]
                wanted = [l + (h - l) * t for l, h, t in zip(low, high, local)]
            else:
                wanted = [corners[0][k] + sum(t * (p[k] - corners[0][k]) for t, p in zip(local, corners[1:]))
                          for k in range(3)]
            ids = [cell.GetPointId(i) for i in range(n)]
            value = sum(w * u.GetValue(i) for w, i in zip(weights, ids))
            told = [sum(w * place.GetComponent(i, k) for w, i in zip(weights, ids)) for k in range(3)]
            exact = (0.3 + x[0] - x[1] / 2 + x[2] / 4) ** degree
            assert max(abs(a - b) for a, b in zip(x, wanted)) < 1e-12, (path, c, x, wanted)
            assert max(abs(a - b) for a, b in zip(x, told)) < 1e-12, (path, c, x, told)
            assert abs(value - exact) < 1e-11, (path, c, value, exact)
print(len(sys.argv) - 1, "files read by VTK", vtk.vtkVersion().GetVTKVersion(), "as they were written")
END
