"""Problem.gradient: against the optimality system of a problem with a known solution, against differences of J after other solves,
and for what is refused. tests/unit/forms/bind/test_gradient.c has the elements, conditions and kinds of control."""

import math
import os
import unittest

import numpy

import weft

DEVICE = os.environ.get("WEFT_TEST_DEVICE", "host:2")
SINES = "sin(pi*x)*sin(pi*y)"
# The mother problem: the control f for which 1/2 |u - d|^2 + alpha/2 |f|^2 is least.
MOTHER = """
V = FiniteElement("Lagrange", triangle, 1)
u, v = TrialFunction(V), TestFunction(V)
f, d, alpha = Coefficient(V), Coefficient(V), Constant(triangle)
unknown = Coefficient(V)
a, L = inner(grad(u), grad(v))*dx, f*v*dx
J = 0.5*(unknown - d)**2*dx + 0.5*alpha*f**2*dx
M = unknown*dx
"""
ALPHA = 1e-6
CONTROLS = """
V = FiniteElement("Lagrange", {cell}, {degree})
u, v = Coefficient(V), TestFunction(V)
k, w, c = Coefficient(V), Coefficient(FiniteElement("DG", {cell}, 0)), VectorConstant({cell})
F = (k + u**2)*inner(grad(u), grad(v))*dx + w*u*v*dx - (1 + dot(c, c))*v*dx
T = (u - k)**2*dx + w*inner(grad(u), grad(u))*dx
"""


def forms(text, **values):
    return weft.FormFile(text.format(**values) if values else text, name="test.ufl")


class Gradients(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.device = weft.Device(DEVICE)

    def problem(self, text, mesh, values, **options):
        return weft.Problem(weft.Mesh(mesh), forms(text), values=values, device=self.device, tolerance=1e-13,
                            conditions=[weft.Dirichlet("boundary", 0)], **options)

    def test_mother_problem(self):
        """f = sin sin / (1 + 4 alpha pi^4), with d = sin sin / (2 pi^2), by conjugate gradients: the gradient is affine in f, and
        that of d = 0 is the product with the Hessian. Errors fall as h^2."""
        errors = []
        for n in (16, 32, 64):
            f = [self.device.zeros((n + 1)**2) for _ in range(2)]
            problems = [self.problem(MOTHER, "square:%d" % n, {"f": one, "d": d, "alpha": ALPHA})
                        for one, d in zip(f, ("%s/(2*pi^2)" % SINES, 0))]

            def gradient(which, values):
                f[which].set(values)
                problems[which].solve()
                return problems[which].gradient("J", wrt="f", norm="l2")["f"]

            x, y = problems[0].mesh.points.T
            control, r = numpy.zeros(len(x)), -gradient(0, numpy.zeros(len(x)))
            p, size, first = r.copy(), r @ r, r @ r
            for _ in range(100):
                product = gradient(1, p)
                step = size/(p @ product)
                control, r = control + step*p, r - step*product
                size, before = r @ r, size
                if size < 1e-18*first:
                    break
                p = r + size/before*p
            self.assertLess(size, 1e-18*first)
            exact = numpy.sin(math.pi*x)*numpy.sin(math.pi*y)/(1 + 4*ALPHA*math.pi**4)
            errors.append(numpy.linalg.norm(control - exact)/n)
        for coarse, fine in zip(errors, errors[1:]):
            self.assertGreater(math.log2(coarse/fine), 1.9, errors)
            self.assertLess(math.log2(coarse/fine), 2.2, errors)

    def test_against_differences(self):
        for cell, mesh, degree in (("triangle", "square:4", 2), ("hexahedron", "hexes:2", 1)):
            dimension = {"triangle": 2, "hexahedron": 3}[cell]
            values = {"k": 1.0, "w": "1 + x", "c": (0.5,)*dimension}
            problem = self.problem(CONTROLS.format(cell=cell, degree=degree), mesh, values)
            problem.solve(newton_tolerance=1e-12)
            made = problem.gradient("T", wrt=["k", "w", "c"], norm="l2")
            self.assertEqual(made["c"].shape, (dimension,))
            self.assertEqual(made["k"].shape, (problem.n_dofs,))
            self.assertEqual(made["w"].shape, (problem.mesh.n_cells,))
            h = 1e-4
            for name, direction, derivative in (("k", lambda s: 1 + s*h, made["k"].sum()),
                                                ("w", lambda s: "1 + x + %r" % (s*h), made["w"].sum()),
                                                ("c", lambda s: (0.5 + s*h,)*dimension, made["c"].sum())):
                J = []
                for sign in (1, -1):
                    moved = self.problem(CONTROLS.format(cell=cell, degree=degree), mesh, dict(values, **{name: direction(sign)}))
                    moved.solve(newton_tolerance=1e-12)
                    J.append(moved.gradient("T").value)
                self.assertAlmostEqual((J[0] - J[1])/(2*h)/derivative, 1, delta=1e-5, msg="%s of %s" % (name, cell))

    def test_values_and_norms(self):
        """J is that of the present solution; (g, q) = dJ q, so that the sums of both norms agree for q = 1."""
        problem = self.problem(MOTHER, "square:8", {"f": 1, "d": 0, "alpha": 2})
        problem.solve()
        made = problem.gradient("J", wrt=["alpha", "f"])
        self.assertAlmostEqual(made["alpha"], 0.5, delta=1e-12)
        self.assertAlmostEqual(problem.gradient("M").value, problem.integrals(), delta=1e-12)
        self.assertEqual(list(made), ["alpha", "f"])
        self.assertEqual(made.adjoint.shape, problem.values.shape)
        self.assertIn("J = ", repr(made))
        self.assertRaisesRegex(KeyError, "'d' is not among the controls", lambda: made["d"])
        again = problem.gradient("J", wrt=["alpha", "f"])
        self.assertTrue(numpy.array_equal(again["f"], made["f"]))
        problem.set(f=2)
        problem.solve()
        self.assertAlmostEqual(problem.gradient("J").value/made.value, 4, delta=1e-9)

    def test_lists_that_functionals_read(self):
        """Arrays are those of the formulas also where the problem itself does not read them."""
        text = MOTHER + "e = Coefficient(FiniteElement('DG', triangle, 0))\nD = e*unknown*dx\nK = e*d*ds + d*dx\n"
        mesh = weft.Mesh("square:4")
        x, y = mesh.points.T
        given = {"f": "1", "alpha": 2, "d": "x+2*y", "e": 3}
        found = []
        for values in (given, dict(given, d=self.device.asarray(x + 2*y)), dict(given, d=x + 2*y)):
            problem = self.problem(text, "square:4", values)
            problem.solve()
            found.append((problem.gradient("J").value, problem.gradient("K").value))
        self.assertEqual(found[1], found[0])
        self.assertEqual(found[2], found[0])
        self.assertAlmostEqual(found[0][1], 3*6 + 1.5, delta=1e-12)
        problem = self.problem(text, "square:4", dict(given, e=numpy.ones(32)))
        problem.solve()
        self.assertRaisesRegex(weft.UnsupportedError, "'e' is a list over the cells", lambda: problem.gradient("D"))
        self.assertAlmostEqual(problem.gradient("K").value, 6 + 1.5, delta=1e-12)
        problem = self.problem(text, "square:4", dict(given, d=numpy.ones(3)))
        problem.solve()
        self.assertRaisesRegex(weft.UsageError, "does not have 25 values", lambda: problem.gradient("J"))

    def test_taylor(self):
        """|J(m + h q) - J(m) - h dJ q| falls as h^2, for q = 1 and each kind of control."""
        given = {"k": 1.0, "w": 1.0, "c": (0.5, 0.5)}
        text = CONTROLS.format(cell="triangle", degree=1)

        def solved(values):
            problem = self.problem(text, "square:4", values)
            problem.solve(newton_tolerance=1e-13)
            return problem

        first = solved(given).gradient("T", wrt=list(given), norm="l2")
        for name, value in given.items():
            slope, remainders = numpy.sum(first[name]), []
            for h in [0.2*0.5**k for k in range(5)]:
                moved = tuple(one + h for one in value) if isinstance(value, tuple) else value + h
                remainders.append(abs(solved(dict(given, **{name: moved})).gradient("T").value - first.value - h*slope))
            for coarse, fine in zip(remainders[1:], remainders[2:]):
                self.assertGreater(math.log2(coarse/fine), 1.9, "%s: %r" % (name, remainders))

    def difference(self, text, values, control, moved, conditions):
        """The derivative in the direction 1 of every entry, over that by differences of J."""
        def make(values):
            problem = weft.Problem(weft.Mesh("square:4"), forms(text), values=values, device=self.device, tolerance=1e-12,
                                   conditions=conditions)
            problem.solve()
            return problem

        derivative = numpy.sum(make(values).gradient("J", wrt=control, norm="l2")[control])
        J = [make(dict(values, **{control: moved(h)})).gradient("J").value for h in (1e-4, -1e-4)]
        return derivative*2e-4/(J[0] - J[1])

    def test_constraints_and_spaces(self):
        """Robin conditions, periodic sides, ties, loads at points; tensors, symmetric ones, mixed controls, Real."""
        scalar = """
V = FiniteElement("Lagrange", triangle, 1)
u, v, unknown = TrialFunction(V), TestFunction(V), Coefficient(V)
k, f, d = Coefficient(V), Coefficient(V), Coefficient(V)
a, L = k*inner(grad(u), grad(v))*dx, f*v*dx
J = (unknown-d)**2*dx + unknown*k*ds
"""
        given = {"k": 1.0, "f": "x", "d": "y"}
        for conditions in ([weft.Dirichlet("left", 1), weft.Robin("top", "1+x", 2), weft.Neumann("right", "y")],
                           [weft.Periodic("left", "right"), weft.Dirichlet("top", "x*(1-x)")],
                           [weft.Tie("right"), weft.Dirichlet("left", 1), weft.PointLoad((0.3, 0.3), 1.0)]):
            self.assertAlmostEqual(self.difference(scalar, given, "k", lambda h: 1 + h, conditions), 1, delta=1e-6)
        held = [weft.Dirichlet("boundary", 0)]
        space = "V = FiniteElement('Lagrange', triangle, 1)\nu, v, unknown = TrialFunction(V), TestFunction(V), Coefficient(V)\n"
        tensor = space + "D = Coefficient(TensorElement('Lagrange', triangle, 1%s))\n" \
            "a, L, J = inner(dot(D, grad(u)), grad(v))*dx, v*dx, unknown**2*dx\n"
        for option, entries in (("", (2, 0.1, 0.2, 3)), (", symmetry=True", (2, 0.1, 3))):
            self.assertAlmostEqual(self.difference(tensor % option, {"D": entries}, "D",
                                                   lambda h: tuple(one + h for one in entries), held), 1, delta=1e-6)
        mixed = space + "c = Coefficient(FiniteElement('Lagrange', triangle, 1)*FiniteElement('DG', triangle, 0))\nk, s = split(c)\n" \
            "a, L, J = k*inner(grad(u), grad(v))*dx, s*v*dx, unknown**2*dx\n"
        self.assertAlmostEqual(self.difference(mixed, {"c": (1, 2)}, "c", lambda h: (1 + h, 2 + h), held), 1, delta=1e-6)
        real = space + "k = Coefficient(FiniteElement('Real', triangle, 0))\n" \
            "a, L, J = k*inner(grad(u), grad(v))*dx + k*k*u*v*ds, v*dx, unknown**2*ds\n"
        self.assertAlmostEqual(self.difference(real, {"k": 1.5}, "k", lambda h: 1.5 + h, []), 1, delta=1e-6)

    def test_what_nothing_fixes(self):
        """The pressure of an enclosed flow: J may depend on it, but not on the constant that can be added to it."""
        flow = """
V = VectorElement("Lagrange", triangle, 2)*FiniteElement("Lagrange", triangle, 1)
(u, p), (v, q), unknown = TrialFunctions(V), TestFunctions(V), Coefficient(V)
w, r = split(unknown)
P = FiniteElement("Lagrange", triangle, 1)
m, f, d = Coefficient(P), Coefficient(VectorElement("Lagrange", triangle, 1)), Coefficient(P)
a, L = m*inner(grad(u), grad(v))*dx - p*div(v)*dx - q*div(u)*dx, dot(f, v)*dx
J = inner(w, w)*dx + %s*dx
"""
        given = {"m": "1+x", "f": ("x*y", "sin(3*x)"), "d": "1+x"}
        held = [weft.Dirichlet("boundary", (0, 0, None))]
        self.assertAlmostEqual(self.difference(flow % "r*(d - 1.5)", given, "m", lambda h: "1+x+%r" % h, held), 1, delta=1e-4)
        with self.assertRaisesRegex(weft.UnsupportedError, "depends on a constant, or a motion, of u that nothing fixes"):
            self.difference(flow % "(r - d)**2", given, "m", lambda h: "1+x+%r" % h, held)

    def test_lists_over_cells(self):
        """Such a list has the layout of the problem that it was given to: others are refused, not misread."""
        text = """
V = FiniteElement("Lagrange", triangle, 1)
u, v, unknown = TrialFunction(V), TestFunction(V), Coefficient(V)
b = Coefficient(VectorElement("DG", triangle, 0))
a, L = inner(grad(u), grad(v))*dx + dot(b, grad(u))*v*dx, v*dx
J, K = unknown**2*dx, unknown**2*ds
"""
        random = numpy.random.default_rng(1)
        values, direction = 1 + random.random((32, 2)), random.random((32, 2))

        def solved(b):
            problem = self.problem(text, "square:4", {"b": b})
            problem.solve()
            return problem

        first = solved(values)
        J = [solved(values + h*direction).gradient("J").value for h in (1e-5, -1e-5)]
        self.assertAlmostEqual((first.gradient("J", wrt="b", norm="l2")["b"]*direction).sum()*2e-5/(J[0] - J[1]), 1, delta=1e-5)
        self.assertRaisesRegex(weft.UnsupportedError, "'b' is a list over the cells", lambda: first.gradient("K"))

    def test_refusals(self):
        problem = self.problem(MOTHER, "square:4", {"f": 1, "d": 0, "alpha": 2})
        self.assertRaisesRegex(weft.UsageError, "call solve", lambda: problem.gradient("J"))
        problem.solve()
        self.assertRaisesRegex(weft.UsageError, "no functional K.*functionals are: J, M|no functional K", lambda: problem.gradient("K"))
        self.assertRaisesRegex(weft.UsageError, "L is not a functional", lambda: problem.gradient("L"))
        self.assertRaisesRegex(weft.UsageError, "no coefficient or constant nu", lambda: problem.gradient("J", wrt="nu"))
        self.assertRaisesRegex(weft.UsageError, "expected 'L2' or 'l2'", lambda: problem.gradient("J", norm="H1"))
        script = weft.Problem(weft.Mesh("square:4"), "poisson_diffusivity", device=self.device)
        script.solve()
        self.assertRaisesRegex(weft.UsageError, "is a script", lambda: script.gradient("J"))
        robin = weft.Problem(weft.Mesh("square:4"), forms(MOTHER), {"f": 1, "d": 0, "alpha": 2}, device=self.device,
                             conditions=[weft.Dirichlet("left", 0), weft.Robin("right", 1, 2)])
        robin.solve()
        self.assertRaisesRegex(weft.UnsupportedError, "beside Robin conditions", lambda: robin.gradient("J", wrt=None))
        slow = weft.Problem(weft.Mesh("square:8"), forms(MOTHER), {"f": "x*y", "d": 0, "alpha": 2}, device=self.device, max_iterations=1,
                            preconditioner="jacobi", conditions=[weft.Dirichlet("boundary", 0)])
        slow.solve(must_converge=False)
        self.assertRaisesRegex(weft.InputError, "has not converged", lambda: slow.gradient("J"))
        slow.set(f=0, d="x*y")  # u = 0 takes no iteration, its adjoint state some
        slow.solve()
        self.assertRaisesRegex(weft.NotConverged, "the adjoint problem did not converge", lambda: slow.gradient("J", wrt="f"))
        self.assertRaisesRegex(weft.NotConverged, "the adjoint problem did not converge",
                               lambda: slow.pull_back(numpy.arange(81.0), wrt=["f"]))


if __name__ == "__main__":
    unittest.main()
