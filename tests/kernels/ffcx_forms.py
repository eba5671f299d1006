# Forms whose element tensors tests/kernels/test_ffcx.c compares with those of Weft's element functions:
# linear Lagrange elements on triangles (_2) and tetrahedra (_3). Read by FFCx, which wants plain names here.
from ufl import Coefficient, Constant, FunctionSpace, Mesh, TestFunction, TrialFunction, ds, dot, dx, grad

try:  # elements are in Basix since UFL 2023.2
    from basix.ufl import element

    def lagrange(cell, dimension=None):
        return element("Lagrange", cell, 1, shape=() if dimension is None else (dimension,))
except ImportError:
    from ufl import FiniteElement, VectorElement

    def lagrange(cell, dimension=None):
        return FiniteElement("Lagrange", cell, 1) if dimension is None else VectorElement("Lagrange", cell, 1)


def linear(cell, dimension):
    space = FunctionSpace(Mesh(lagrange(cell, dimension)), lagrange(cell))
    return space, TrialFunction(space), TestFunction(space), Coefficient(space)


space, u, v, f = linear("triangle", 2)
D = Constant(space.ufl_domain(), shape=(2, 2))
stiffness_2 = dot(grad(v), grad(u)) * dx
tensor_2 = dot(grad(v), dot(D, grad(u))) * dx
mass_2 = u * v * dx
load_2 = f * v * dx
facet_mass_2 = u * v * ds
facet_load_2 = f * v * ds

space, u, v, f = linear("tetrahedron", 3)
D = Constant(space.ufl_domain(), shape=(3, 3))
stiffness_3 = dot(grad(v), grad(u)) * dx
tensor_3 = dot(grad(v), dot(D, grad(u))) * dx
mass_3 = u * v * dx
load_3 = f * v * dx
facet_mass_3 = u * v * ds
facet_load_3 = f * v * ds

forms = [stiffness_2, tensor_2, mass_2, load_2, facet_mass_2, facet_load_2,
         stiffness_3, tensor_3, mass_3, load_3, facet_mass_3, facet_load_3]
