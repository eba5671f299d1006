#!/bin/bash
# labels: quick
# Results of all apps as the system's VTK reads them (9.1 in Debian 12, 9.3 and later elsewhere):
# values against exact solutions that linear elements have at every node, groups of cells against
# where the geometry puts them. Tolerances: solves to 1e-12, values of the order 1, so 1e-7.
set -euo pipefail
python=/usr/bin/python3
if ! "$python" -c 'import vtk; vtk.vtkHDFReader' 2>/dev/null; then
    echo "skipped: no Python package vtk with vtkHDFReader (install python3-vtk9)"
    exit 77
fi
if [ ! -x "$WEFT_BUILD/weft-gmsh" ]; then
    echo "skipped: weft-gmsh is not built (libgmsh-dev is missing)"
    exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export WEFT_DEVICE=host:1
cat >strip.geo <<'GEO'
Point(1) = {0, 0, 0, 0.3}; Point(2) = {1, 0, 0, 0.3}; Point(3) = {2, 0, 0, 0.3};
Point(4) = {2, 1, 0, 0.3}; Point(5) = {1, 1, 0, 0.3}; Point(6) = {0, 1, 0, 0.3};
Line(1) = {1, 2}; Line(2) = {2, 3}; Line(3) = {3, 4}; Line(4) = {4, 5};
Line(5) = {5, 6}; Line(6) = {6, 1}; Line(7) = {2, 5};
Curve Loop(1) = {1, 7, 5, 6}; Plane Surface(1) = {1};
Curve Loop(2) = {2, 3, 4, -7}; Plane Surface(2) = {2};
Physical Surface("west") = {1}; Physical Surface("east/side") = {2};
Physical Surface("a <b> & c") = {1, 2}; Physical Curve("left") = {6};
GEO
linear=(--source 0 --dirichlet 'boundary=x+2*y' --tolerance 1e-12 --quiet)
"$WEFT_BUILD/poisson" --mesh strip.geo "${linear[@]}" --output p.vtkhdf
"$WEFT_BUILD/poisson" --mesh strip.geo "${linear[@]}" --output p.vtu
# the mesh of a result: its groups are still there
"$WEFT_BUILD/poisson" --mesh p.vtkhdf --refine 1 "${linear[@]}" --output again.vtkhdf
"$WEFT_BUILD/solve" elasticity.weft --mesh strip.geo --define poisson=0.25 --dirichlet 'boundary=0.1*x,0.2*y' \
    --tolerance 1e-12 --quiet --output e.vtkhdf
moving=(--mesh strip.geo --velocity 1,0 --diffusivity 0.01 --initial 'x+2*y' --dirichlet 'boundary=x-t+2*y'
    --dt 0.01 --tolerance 1e-12 --quiet)
"$WEFT_BUILD/advection_diffusion" "${moving[@]}" --steps 4 --output-every 2 --output a.pvd --checkpoint c.vtkhdf
"$WEFT_BUILD/advection_diffusion" "${moving[@]}" --steps 6 --output-every 2 --output a.pvd --restart c.vtkhdf
"$WEFT_BUILD/advection_diffusion" "${moving[@]}" --steps 6 --output-every 2 --output a.vtkhdf
# series of a vector of degree 2 on triangles and of a function of degree 3 on quadrilaterals, by implicit Euler, which
# has no error for what is linear in t
cat >vector.py <<'END'
from basix.ufl import element
from ufl import *
mesh = Mesh(element("Lagrange", "triangle", 1, shape=(2,)))
V = FunctionSpace(mesh, element("Lagrange", "triangle", 2, shape=(2,)))
u, v, u_old = TrialFunction(V), TestFunction(V), Coefficient(V)
dt, t = Constant(mesh), Constant(mesh)
a = inner(u, v)*dx + dt*inner(grad(u), grad(v))*dx
L = inner(u_old - dt*as_vector((1, 1)), v)*dx
END
cat >cubic.py <<'END'
from basix.ufl import element
from ufl import *
mesh = Mesh(element("Lagrange", "quadrilateral", 1, shape=(2,)))
V = FunctionSpace(mesh, element("Lagrange", "quadrilateral", 3))
u, v, u_old = TrialFunction(V), TestFunction(V), Coefficient(V)
dt, t = Constant(mesh), Constant(mesh)
x = SpatialCoordinate(mesh)
a = u*v*dx + dt*inner(grad(u), grad(v))*dx
L = (u_old + dt*(x[1]**2 - 6*x[0] - 2*t))*v*dx
END
for name in v.pvd v.vtkhdf; do
    "$WEFT_BUILD/solve" vector.py --mesh strip.geo --time 0.1,0.3 --initial 'x^2,x*y' --dirichlet 'boundary=x^2+t,x*y-t' \
        --tolerance 1e-12 --quiet --output $name --output-every 1
done
for name in q.pvd q.vtkhdf; do
    "$WEFT_BUILD/solve" cubic.py --mesh quads:4 --time 0.1,0.3 --initial 'x^3' --dirichlet 'boundary=x^3+y^2*t' \
        --tolerance 1e-12 --quiet --output $name --output-every 1
done
# derived fields: at the nodes of degree 3, and of a mixed function at the nodes that its parts share
cat >cubic.ufl <<'END'
V = FiniteElement("Q", quadrilateral, 3)
u, v, f = TrialFunction(V), TestFunction(V), Coefficient(V)
a, L = u*v*dx, f*v*dx
END
cat >mixed.ufl <<'END'
W = MixedElement(VectorElement("P", triangle, 1), FiniteElement("DG", triangle, 2))
(u, p), (v, q) = TrialFunctions(W), TestFunctions(W)
f = Coefficient(W)
g, r = split(f)
a = inner(u, v)*dx + p*q*dx
L = inner(g, v)*dx + r*q*dx
END
"$WEFT_BUILD/solve" cubic.ufl --mesh quads:4 --input 'f=x^3+y' --dirichlet 'boundary=x^3+y' --tolerance 1e-13 --quiet \
    --derive 'g=grad(u)' --projection consistent --output dq.vtu
"$WEFT_BUILD/solve" mixed.ufl --mesh square:3 --input 'f=x,y,x*y' --dirichlet 'left=0,y,free' --method minres \
    --tolerance 1e-13 --quiet --derive 'g=grad(u)[0]' --projection lumped --output dm.vtu
"$python" - <<'END'
import xml.etree.ElementTree as tree
import vtk
from vtk.util.numpy_support import vtk_to_numpy as numbers

complaints = []


def reader_of(path):
    reader = vtk.vtkHDFReader() if path.endswith("hdf") else vtk.vtkXMLUnstructuredGridReader()
    reader.AddObserver("ErrorEvent", lambda *_: complaints.append(path))
    if path not in ("a.vtkhdf", "v.vtkhdf", "q.vtkhdf"):
        reader.AddObserver("WarningEvent", lambda *_: complaints.append(path))
    assert reader.CanReadFile(path), path
    reader.SetFileName(path)
    return reader


def check(grid, name, exact, path):
    x = numbers(grid.GetPoints().GetData())
    cells = grid.GetNumberOfCells()
    assert cells >= 40 and (numbers(grid.GetCellTypesArray()) == vtk.VTK_TRIANGLE).all(), path
    wanted = exact(x[:, 0], x[:, 1])
    field = numbers(grid.GetPointData().GetArray(name))
    for k, column in enumerate(wanted):
        values = field[:, k] if field.ndim == 2 else field
        assert abs(values - column).max() < 1e-7, (path, name, abs(values - column).max())
    centres = vtk.vtkCellCenters()
    centres.SetInputData(grid)
    centres.Update()
    at = numbers(centres.GetOutput().GetPoints().GetData())[:, 0]
    data = grid.GetCellData()
    groups = {"west": at < 1, "east_side": at > 1, "a <b> & c": at > -1}
    assert {data.GetArrayName(i) for i in range(data.GetNumberOfArrays())} == set(groups), path
    for group, members in groups.items():
        assert (numbers(data.GetArray(group)) == members).all(), (path, group)


def read(path):
    reader = reader_of(path)
    reader.Update()
    return reader.GetOutput()


for path in "p.vtkhdf", "p.vtu", "again.vtkhdf":
    check(read(path), "u", lambda x, y: [x + 2 * y], path)
check(read("e.vtkhdf"), "u", lambda x, y: [0.1 * x, 0.2 * y], "e.vtkhdf")
check(read("c.vtkhdf"), "T", lambda x, y: [x - 0.04 + 2 * y], "c.vtkhdf")
steps = tree.parse("a.pvd").getroot().findall("Collection/DataSet")
assert len(steps) == 4
for i, step in enumerate(steps):
    t = float(step.get("timestep"))
    assert abs(t - 0.02 * i) < 1e-12
    check(read(step.get("file")), "T", lambda x, y: [x - t + 2 * y], step.get("file"))



def check_nodes(grid, exact, kind, t, path):
    x = numbers(grid.GetPoints().GetData())
    assert (numbers(grid.GetCellTypesArray()) == kind).all(), path
    wanted = exact(x[:, 0], x[:, 1], t)
    field = numbers(grid.GetPointData().GetArray("u"))
    field = field.reshape(len(x), -1)
    assert field.shape[1] == len(wanted), path
    for k, column in enumerate(wanted):
        assert abs(field[:, k] - column).max() < 1e-7, (path, t, k, abs(field[:, k] - column).max())


higher = {
    "v": (lambda x, y, t: [x**2 + t, x * y - t, 0 * x], vtk.VTK_LAGRANGE_TRIANGLE),
    "q": (lambda x, y, t: [x**3 + y**2 * t], vtk.VTK_LAGRANGE_QUADRILATERAL),
}
for name, (exact, kind) in higher.items():
    steps = tree.parse(name + ".pvd").getroot().findall("Collection/DataSet")
    assert len(steps) == 4
    for i, step in enumerate(steps):
        t = float(step.get("timestep"))
        assert abs(t - 0.1 * i) < 1e-12
        check_nodes(read(step.get("file")), exact, kind, t, step.get("file"))


def check_derived(path, name, wanted):
    grid = read(path)
    x = numbers(grid.GetPoints().GetData())
    field = numbers(grid.GetPointData().GetArray(name)).reshape(len(x), -1)
    for k, column in enumerate(wanted(x[:, 0], x[:, 1])):
        assert abs(field[:, k] - column).max() < 1e-7, (path, k, abs(field[:, k] - column).max())


check_derived("dq.vtu", "g", lambda x, y: [3 * x**2, 1 + 0 * x, 0 * x])
check_derived("dm.vtu", "g", lambda x, y: [1 + 0 * x, 0 * x, 0 * x])
check_derived("dm.vtu", "u_1", lambda x, y: [x * y])
version = vtk.vtkVersion().GetVTKVersion()
reader = reader_of("a.vtkhdf")
if hasattr(reader, "SetStep"):  # series in VTKHDF: VTK 9.3
    reader.UpdateInformation()
    key = vtk.vtkStreamingDemandDrivenPipeline.TIME_STEPS()
    times = reader.GetOutputInformation(0).Get(key)
    assert len(times) == 4
    for i, t in enumerate(times):
        assert abs(t - 0.02 * i) < 1e-12
        reader.UpdateTimeStep(t)
        check(reader.GetOutputDataObject(0), "T", lambda x, y: [x - t + 2 * y], "a.vtkhdf")
    for name, (exact, kind) in higher.items():
        reader = reader_of(name + ".vtkhdf")
        reader.UpdateInformation()
        times = reader.GetOutputInformation(0).Get(key)
        assert len(times) == 4
        for t in times:
            reader.UpdateTimeStep(t)
            check_nodes(reader.GetOutputDataObject(0), exact, kind, t, name + ".vtkhdf")
else:
    print("VTK", version, "does not know series in VTKHDF: the .pvd alone was read")
assert not complaints, complaints
print("results of all apps are in VTK", version, "what they should be")
END
