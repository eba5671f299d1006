"""Values at quadrature points, sizes and vectors of cells, Bessel functions, and a form of a trial function alone."""
import basix.ufl
from ufl import (CellVolume, Circumradius, Coefficient, FacetArea, FunctionSpace, Jacobian, JacobianDeterminant,
                 JacobianInverse, MaxCellEdgeLength, MaxFacetEdgeLength, Measure, Mesh, MinCellEdgeLength,
                 MinFacetEdgeLength, SpatialCoordinate, TestFunction, TrialFunction, bessel_J, bessel_Y, ds, dx, grad,
                 inner, tr)
from ufl.geometry import CellDiameter

forms = []
for name, degree in [("interval", 3), ("triangle", 2), ("triangle", 5), ("quadrilateral", 3), ("tetrahedron", 2),
                     ("hexahedron", 2)]:
    d = 1 if name == "interval" else 2 if name in ("triangle", "quadrilateral") else 3
    mesh = Mesh(basix.ufl.element("P", name, 1, shape=(d,)))
    V = FunctionSpace(mesh, basix.ufl.element("P", name, 2 if d < 3 else 1))
    Q = FunctionSpace(mesh, basix.ufl.quadrature_element(name, degree=degree))
    S = FunctionSpace(mesh, basix.ufl.quadrature_element(name, value_shape=(d,), degree=degree))
    u, v, q, s = TrialFunction(V), TestFunction(V), Coefficient(Q), Coefficient(S)
    points = dx(metadata={"quadrature_degree": degree})
    forms.append(q * inner(grad(u), grad(v)) * points)
    forms.append((inner(s, grad(v)) + q**2 * v) * points)
    forms.append(tr(Jacobian(mesh)) * JacobianDeterminant(mesh) * JacobianInverse(mesh)[0, 0] * u * dx(degree=2))
    if name in ("triangle", "tetrahedron"):
        h = CellDiameter(mesh) + MaxCellEdgeLength(mesh) - 2 * MinCellEdgeLength(mesh)
        forms.append((CellVolume(mesh) * h + Circumradius(mesh)) * v * dx(degree=2) + FacetArea(mesh) * v * ds(degree=2))
    if name == "tetrahedron":
        forms.append((MaxFacetEdgeLength(mesh) - 2 * MinFacetEdgeLength(mesh)) * v * ds(degree=2))
    if name == "quadrilateral":
        forms.append(CellDiameter(mesh) * v * dx(degree=2))
    w = Coefficient(V)
    forms.append((bessel_J(0, w) + bessel_J(2, w) + bessel_Y(1, 2 + w)) * v * dx(degree=1))
