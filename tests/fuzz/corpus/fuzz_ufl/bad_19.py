import ufl
from dolfinx import fem, mesh
