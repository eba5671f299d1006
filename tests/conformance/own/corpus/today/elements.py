"""Vectors, tensors, symmetric tensors, bubbles and quadrature elements; several forms of one loop."""
import basix.ufl as elements
from ufl import Coefficient, FunctionSpace, Mesh, TestFunction, TrialFunction, as_matrix, as_vector, dx, inner, split

cell, gdim = "tetrahedron", 3
P2 = elements.element("P", cell, 2)
mesh = Mesh(elements.element("P", cell, 1, shape=(gdim,)))
symmetric = elements.element("DG", cell, 1, shape=(3, 3), symmetry=True)
bubble = elements.enriched_element([elements.element("P", cell, 1), elements.element("Bubble", cell, 4)])
points = elements.quadrature_element(cell, degree=2)
nested = elements.mixed_element([elements.mixed_element([P2, P2]), elements.blocked_element(P2, shape=(3,))])

S = TrialFunction(FunctionSpace(mesh, symmetric))
R = TestFunction(FunctionSpace(mesh, symmetric))
b = TestFunction(FunctionSpace(mesh, bubble))
q = Coefficient(FunctionSpace(mesh, points))
pair, vector = split(Coefficient(FunctionSpace(mesh, nested)))
first, second = split(pair)
unit = elements.real_element(cell)
scale = Coefficient(FunctionSpace(mesh, unit))

a = inner(S, R) * dx
L = scale * inner(as_matrix([[first, 0, 0], [0, second, 0], [0, 0, vector[2]]]), R) * dx
M = scale * q * dx
forms = [a, L, M, inner(as_vector((first, second, 0)), vector) * b * dx, q**2 * b * dx]
