"""Families of vectors with continuous tangential or normal components, over cells and facets."""

import basix.ufl
import ufl

forms = []
for name, degrees in (("N1curl", (1, 3, 2)), ("N2curl", (2, 1)), ("RT", (3, 1)), ("BDM", (2, 1))):
    for cell, d, k in zip(("triangle", "tetrahedron", "tetrahedron"), (2, 3, 3), degrees):
        mesh = ufl.Mesh(basix.ufl.element("P", cell, 1, shape=(d,)))
        n = ufl.FacetNormal(mesh)
        V = ufl.FunctionSpace(mesh, basix.ufl.element(name, cell, k))
        u, v, w = ufl.TrialFunction(V), ufl.TestFunction(V), ufl.Coefficient(V)
        D = ufl.curl if "curl" in name else ufl.div
        if k < 3:
            forms.append(ufl.inner(D(u), D(v)) * ufl.dx + ufl.inner(u, v) * ufl.dx)
        forms.append(ufl.inner(ufl.dot(w, w) * w, v) * ufl.dx)
        if k < 2:
            forms.append(ufl.dot(u, n) * ufl.dot(v, n) * ufl.ds)
        forms.append(ufl.inner(ufl.jump(w), ufl.avg(v)) * ufl.dS)
