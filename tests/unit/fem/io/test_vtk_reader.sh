#!/bin/bash
# labels: quick
# Result files through VTK's own reader: counts, types, points, and fields against their formulas.
set -euo pipefail
python=/usr/bin/python3
if ! "$python" -c 'import vtk; vtk.vtkHDFReader' 2>/dev/null; then
    echo "skipped: no Python package vtk with vtkHDFReader (install python3-vtk9)"
    exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for mesh in square:7 cube:5 square:120; do
    "$WEFT_BUILD/tests/unit_fem_io_vtkhdf" $mesh "$folder/$mesh.vtkhdf"
    "$python" - "$folder/$mesh.vtkhdf" $mesh <<'END'
import sys
import vtk
from vtk.util.numpy_support import vtk_to_numpy as numbers

path, mesh = sys.argv[1:]
shape, n = mesh.split(":")
n, d = int(n), 2 if shape == "square" else 3
reader = vtk.vtkHDFReader()
assert reader.CanReadFile(path), "VTK does not take it for one of its files"
reader.SetFileName(path)
reader.Update()
grid = reader.GetOutput()
assert isinstance(grid, vtk.vtkUnstructuredGrid), grid
n_cells = 2 * n**2 if d == 2 else 6 * n**3
assert grid.GetNumberOfPoints() == (n + 1) ** d
assert grid.GetNumberOfCells() == n_cells
types = numbers(grid.GetCellTypesArray())
assert (types == (vtk.VTK_TRIANGLE if d == 2 else vtk.VTK_TETRA)).all()

x = numbers(grid.GetPoints().GetData())
i = (x * n).round()
assert abs(x - i / n).max() <= 1e-14, "points are off the lattice"
assert len({tuple(row) for row in i}) == (n + 1) ** d

u = numbers(grid.GetPointData().GetArray("u"))
assert abs(u - x @ [1, 2, 4]).max() <= 1e-13
assert (numbers(grid.GetPointData().GetArray("v")) == x).all()
number = numbers(grid.GetCellData().GetArray("number"))
assert (number == range(n_cells)).all()

size = vtk.vtkMeshQuality()
size.SetInputData(grid)
size.SetTriangleQualityMeasureToArea()
size.SetTetQualityMeasureToVolume()
size.Update()
measure = numbers(size.GetOutput().GetCellData().GetArray("Quality"))
wanted = 1 / n_cells
assert abs(measure / wanted - 1).max() <= 1e-12, "VTK sees other volumes, or inverted cells"
print(mesh, "read by VTK", vtk.vtkVersion().GetVTKVersion(), "as it was written")
END
done
