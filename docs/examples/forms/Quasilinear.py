# -div((1 + u^2) grad u) = f in the plane, for solve --nonlinear; the tangent is derived
from basix.ufl import element
from ufl import Coefficient, FunctionSpace, Mesh, TestFunction, dx, grad, inner

mesh = Mesh(element("Lagrange", "triangle", 1, shape=(2,)))
V = FunctionSpace(mesh, element("Lagrange", "triangle", 1))
u, f, v = Coefficient(V), Coefficient(V), TestFunction(V)

F = (1 + u**2)*inner(grad(u), grad(v))*dx - f*v*dx
