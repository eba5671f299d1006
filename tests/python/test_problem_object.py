"""weft.Problem: form files solved once, by Newton's method and in time, against exact solutions."""

import math
import os
import re
import tempfile
import unittest

import numpy

import weft

DEVICE = os.environ.get("WEFT_TEST_DEVICE", "host:2")
SINES = "sin(pi*x)*sin(pi*y)"
MESHES = {"triangle": "square:4", "quadrilateral": "quads:4", "tetrahedron": "cube:2", "hexahedron": "hexes:2",
          "interval": "interval:8"}
POISSON = """
e = FiniteElement("Lagrange", {cell}, {degree})
u, v = TrialFunction(e), TestFunction(e)
k, f = Coefficient(FiniteElement("DG", {cell}, 0)), Coefficient(e)
a = k*inner(grad(u), grad(v))*dx
L = f*v*dx
"""
# -div((1 + u^2) grad u) = f
QUASILINEAR = """
e = FiniteElement("Lagrange", {cell}, {degree})
u, v = Coefficient(e), TestFunction(e)
f = Coefficient(e)
F = (1 + u**2)*inner(grad(u), grad(v))*dx - f*v*dx
"""
HEAT = """
e = FiniteElement("Lagrange", {cell}, {degree})
u, v = TrialFunction(e), TestFunction(e)
f, k = Coefficient(e), Constant({cell})
m = u*v*dx
a = k*inner(grad(u), grad(v))*dx
L = f*v*dx
"""
STOKES = """
W = VectorElement("P", triangle, 2)*FiniteElement("P", triangle, 1)
(u, p), (v, q), f = TrialFunctions(W), TestFunctions(W), VectorConstant(triangle)
m = inner(u, v)*dx
a = inner(grad(u), grad(v))*dx - p*div(v)*dx - q*div(u)*dx
L = inner(f, v)*dx
"""


def forms(text, cell="triangle", degree=1):
    return weft.FormFile(text.format(cell=cell, degree=degree), name="test.ufl")


class Problems(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.device = weft.Device(DEVICE)

    def problem(self, text, mesh="square:4", cell="triangle", degree=1, **options):
        mesh = weft.Mesh(mesh) if isinstance(mesh, str) else mesh
        return weft.Problem(mesh, forms(text, cell, degree), device=self.device, **options)

    # ---- linear -----------------------------------------------------------------------------

    def test_polynomials_on_every_cell(self):
        """u = x^2 + x is in P2 and Q2: 3 du/dx = 9 at x = 1, where du/dx = 3, and with 2 u there 9 + 4 = 13."""
        exact = "x^2 + x"
        for cell, mesh in MESHES.items():
            ends = [weft.Dirichlet("left", 0)]
            for more in (weft.Neumann("right", 9), weft.Robin("right", 2, 13), weft.Dirichlet("right", exact)):
                problem = self.problem(POISSON, mesh, cell, 2, values={"k": 3, "f": "-6"}, conditions=ends + [more],
                                       tolerance=1e-12)
                report = problem.solve()
                self.assertTrue(report.converged)
                self.assertLess(max(problem.errors(exact)), 1e-8, (cell, more))
                numpy.testing.assert_allclose(problem.values, problem.space.points[:, 0] ** 2 + problem.space.points[:, 0],
                                              atol=1e-8)

    def test_orders(self):
        for degree in (1, 2, 3):
            errors = []
            for n in (8, 16):
                problem = self.problem(POISSON, "square:%d" % n, degree=degree, tolerance=1e-11,
                                       values={"k": 1, "f": "2*pi^2*" + SINES}, conditions=[weft.Dirichlet("boundary")])
                problem.solve()
                errors.append(problem.errors(SINES))
            self.assertGreater(math.log2(errors[0][0] / errors[1][0]), degree + 0.8)
            self.assertGreater(math.log2(errors[0][1] / errors[1][1]), degree - 0.1)

    def test_values_by_group_and_of_arrays(self):
        """A wall of k = 50 up to x = 1/2 and 0.02 beyond, between u = 1 and u = 0: k u' is constant."""
        square = weft.Mesh("square:8")
        steel = square.points[square.cells].mean(axis=1)[:, 0] < 0.5
        mesh = weft.Mesh.from_arrays(square.points, square.cells, {name: square.facets(name) for name in ("left", "right")},
                                     {"steel": numpy.flatnonzero(steel), "air": numpy.flatnonzero(~steel)})
        x, q = mesh.points[:, 0], 1 / (0.5 / 50 + 0.5 / 0.02)
        exact = numpy.where(x <= 0.5, 1 - q * x / 50, q * (1 - x) / 0.02)
        k = numpy.where(steel, 50, 0.02)
        for values in ("@steel=50; @air=1/50", "0.02; @steel=50", k, k.astype("float32").astype("float64")):
            problem = self.problem(POISSON, mesh, values={"k": values, "f": numpy.zeros(mesh.n_nodes)}, tolerance=1e-12,
                                   conditions=[weft.Dirichlet("left", 1), weft.Dirichlet("right", 0)])
            problem.solve()
            numpy.testing.assert_allclose(problem.values, exact, atol=1e-7)
        with self.assertRaisesRegex(weft.UsageError, r"'k' does not have \d+ values|k have the shape"):
            self.problem(POISSON, mesh, values={"k": k[:-20], "f": 0})
        with self.assertRaisesRegex(weft.UsageError, r"values of f have the shape \(81, 2\), expected \[entries, 1\]"):
            self.problem(POISSON, mesh, values={"k": k, "f": numpy.zeros((mesh.n_nodes, 2))})

    def test_values_that_change(self):
        """-u'' = f with u = 0 at the ends: u = f x (1 - x)/2, which nodes of P1 in an interval have exactly."""
        f = self.device.zeros(17)
        problem = self.problem(POISSON, "interval:16", "interval", values={"k": 1, "f": f}, tolerance=1e-12,
                               conditions=[weft.Dirichlet("boundary", 0)])
        x = problem.mesh.points[:, 0]
        kept = []
        for value in (1, 2):
            f.set(value)
            problem.solve()
            kept.append(problem.u)
        problem.set(k="4", f=2.0)
        problem.solve()
        for u, factor in zip(kept + [problem.u], (1, 2, 0.5)):  # solutions of earlier solves are still there
            numpy.testing.assert_allclose(u.numpy(), factor * x * (1 - x) / 2, atol=1e-9)

    def test_shipped_form_file(self):
        """A bar on rollers of any cells, pulled by 3 at its right side: u = 3 x (1 - nu^2)/E, v = -3 y nu (1 + nu)/E in plane
        strain."""
        rollers = [weft.Dirichlet("left", (0, None)), weft.Dirichlet("bottom", (None, 0))]
        for name, degree in (("square:2", None), ("quads:2", 2)):
            problem = weft.Problem(weft.Mesh(name), "elasticity.ufl", degree=degree, device=self.device,
                                   values={"young": 2, "poisson": 0.25, "traction": (3, 0)}, measures={"ds(1)": "right"},
                                   conditions=rollers, tolerance=1e-13)
            problem.solve()
            x = problem.space.points
            self.assertEqual(len(x), 9 if degree is None else 25)
            numpy.testing.assert_allclose(problem.values[:, 0], 1.5 * x[:, 0] * (1 - 0.0625), atol=1e-10)
            numpy.testing.assert_allclose(problem.values[:, 1], -1.5 * x[:, 1] * 0.25 * 1.25, atol=1e-10)
        with self.assertRaisesRegex(weft.UsageError, "degree is for form files that are shipped"):
            weft.Problem(weft.Mesh("square:2"), "diffusion", degree=2, device=self.device)
        with self.assertRaisesRegex(weft.UsageError, "no form file 'nothing.ufl' is shipped"):
            weft.FormFile.shipped("nothing.ufl", weft.Mesh("square:2"))

    def test_measures(self):
        """A flux of 3 through the right side: u = 3 x."""
        text = POISSON.replace("L = f*v*dx", "L = f*v*ds(7)")
        given = dict(values={"k": 1, "f": 3}, conditions=[weft.Dirichlet("left", 0)], tolerance=1e-12)
        problem = self.problem(text, measures={"ds(7)": "right"}, **given)
        problem.solve()
        numpy.testing.assert_allclose(problem.values, 3 * problem.space.points[:, 0], atol=1e-9)
        with self.assertRaisesRegex(weft.InputError, r"no group for ds\(7\)"):
            self.problem(text, **given)
        with self.assertRaisesRegex(weft.UsageError, r"no integral has the measure ds\(8\)"):
            self.problem(text, measures={"ds(8)": "right", "ds(7)": "right"}, **given)

    def test_what_is_chosen(self):
        given = dict(values={"k": 1, "f": 1}, conditions=[weft.Dirichlet("boundary")])
        mesh = weft.Mesh("square:4", refine=3)
        expected = self.problem(POISSON, mesh, tolerance=1e-11, **given)
        expected.solve()
        for name in ("multigrid", "aggregation", "chebyshev", "none"):
            problem = self.problem(POISSON, mesh, preconditioner=name, method="cg", assembly="csr", tolerance=1e-11, **given)
            report = problem.solve()
            self.assertEqual((report.method, report.preconditioner, report.assembly), ("cg", name, "csr"))
            numpy.testing.assert_allclose(problem.values, expected.values, atol=1e-8)
            self.assertEqual(len(report.history), report.iterations + 1)
            self.assertIn("cg", repr(report))
        drift = POISSON.replace("*dx\nL", "*dx + u.dx(0)*v*dx\nL")
        report = self.problem(drift, mesh, **given).solve()
        self.assertEqual(report.method, "gmres")
        self.assertGreater(report.asymmetry, 1e-3)
        self.assertIn("symmetric", report.reasons["method"])
        with self.assertRaisesRegex(weft.Error, "symmetric"):
            self.problem(drift, mesh, method="cg", **given).solve()

    # ---- Newton's method --------------------------------------------------------------------

    def test_newton(self):
        """u = 1 + x is in every space: with (1 + u^2) u' the load is -2 u."""
        for cell, mesh in MESHES.items():
            for degree in (1, 2):
                problem = self.problem(QUASILINEAR, mesh, cell, degree, values={"f": "-2*(1 + x)"},
                                       conditions=[weft.Dirichlet("left", 1), weft.Dirichlet("right", 2)])
                self.assertTrue(problem.is_nonlinear)
                report = problem.solve()
                self.assertTrue(report.converged and report.newton.converged)
                self.assertLess(max(problem.errors("1 + x")), 1e-8)
                self.assertLess(report.newton.n_iterations, 12)
                self.assertLess(report.residual, 1e-8)

    def test_newton_from_a_start_and_in_load_steps(self):
        given = dict(values={"f": "-2*(1 + x)"}, conditions=[weft.Dirichlet("left", 1), weft.Dirichlet("right", 2)])
        problem = self.problem(QUASILINEAR, **given)
        problem.solve(load_steps=3)
        self.assertEqual({one.step for one in problem.report.newton.iterations}, {1, 2, 3})
        u = problem.u
        for start in ("1 + x", u, u.numpy().copy(), None):  # None: the solve before
            first = problem.solve(initial=start).newton.iterations[0]
            self.assertLess(first.residual, 1e-8)
        self.assertGreater(problem.solve(initial=0).newton.iterations[0].residual, 1e-3)
        with self.assertRaisesRegex(weft.NotConverged, "Newton's method did not converge: max_iterations.*; take more load_steps or newton_iterations") as caught:
            problem.solve(initial="3*x*y", newton_iterations=1)
        self.assertEqual(caught.exception.solution.newton.n_iterations, 1)
        self.assertFalse(problem.solve(initial="3*x*y", newton_iterations=1, must_converge=False).converged)
        with self.assertRaisesRegex(weft.UsageError, "out of range"):
            problem.solve(load_steps=0)
        with self.assertRaisesRegex(weft.UsageError, "3 values, expected 25"):
            problem.solve(initial=[0.0, numpy.zeros(3)][1])
        linear = self.problem(POISSON, values={"k": 1, "f": 1}, conditions=[weft.Dirichlet("left")])
        for wrong in (dict(initial=1), dict(load_steps=2)):
            with self.assertRaisesRegex(weft.UsageError, "the problem is linear"):
                linear.solve(**wrong)

    # ---- time -------------------------------------------------------------------------------

    def test_orders_in_time(self):
        """u = x exp(-t) is in the space at each time: what is wrong is of the order of the scheme."""
        for scheme, theta, order in (("bdf2", 0, 2), ("sdirk2", 0, 2), ("theta", 0, 2), ("theta", 1, 1),
                                     ("sdirk3", 0, 2.8)):
            errors = []
            for dt in (0.1, 0.05):
                problem = self.problem(HEAT, degree=2, tolerance=1e-12, values={"k": 1, "f": "-x*exp(-t)"}, conditions=[
                    weft.Dirichlet("left", 0), weft.Neumann("right", "exp(-t)")])
                for step in problem.steps(dt=dt, end=1, initial="x", scheme=scheme, theta=theta):
                    pass
                self.assertAlmostEqual(step.t, 1, places=12)
                self.assertEqual(step.step, round(1 / dt))
                errors.append(abs(step.values - problem.space.points[:, 0] * math.exp(-1)).max())
            self.assertGreater(math.log2(errors[0] / errors[1]), order - 0.2, (scheme, theta))
            self.assertLess(errors[1], 5e-3)

    def test_decay(self):
        """A mode decays by exp(-2 pi^2 k t), up to h^2 and dt^2."""
        problem = self.problem(HEAT, "square:32", values={"k": 0.1, "f": 0}, conditions=[weft.Dirichlet("boundary", 0)])
        steps = problem.steps(dt=0.01, end=0.255, initial=SINES)
        self.assertEqual(steps.t, 0)
        at = [(step.t, step.u) for step in steps]
        self.assertEqual(len(at), 26)
        self.assertAlmostEqual(at[-1][0], 0.255, places=12)
        x = problem.space.points
        start = numpy.sin(math.pi * x[:, 0]) * numpy.sin(math.pi * x[:, 1])
        for t, u in at:  # each step has an array of its own
            self.assertLess(abs(u.numpy() - start * math.exp(-0.2 * math.pi ** 2 * t)).max(), 2e-3)
        with self.assertRaises(StopIteration):
            problem.step()
        again = problem.steps(dt=0.01, end=0.02, initial=start)  # of an array; another integration
        first = problem.step()
        self.assertAlmostEqual(again.t, 0.01, places=14)
        numpy.testing.assert_allclose(first.values, at[0][1].numpy(), atol=1e-12)
        numpy.testing.assert_allclose(problem.values, first.values)

    def test_controlled_steps(self):
        problem = self.problem(HEAT, "interval:16", "interval", 2, values={"k": 1, "f": 0}, tolerance=1e-11,
                               conditions=[weft.Dirichlet("boundary", 0)])
        errors, numbers = [], []
        for tolerance in (1e-2, 1e-4):
            steps = problem.steps(dt=1e-3, end=0.2, initial="sin(pi*x)", tolerance=tolerance)
            for step in steps:
                self.assertGreaterEqual(step.dt, 0)
            exact = numpy.sin(math.pi * problem.space.points[:, 0]) * math.exp(-math.pi ** 2 * 0.2)
            errors.append(abs(step.values - exact).max())
            numbers.append(step.step)
            self.assertAlmostEqual(step.t, 0.2, places=12)
        self.assertLess(errors[0], 1e-2)
        self.assertLess(errors[1], 2e-4)
        self.assertGreater(numbers[1], numbers[0])

    def test_nonlinear_in_time(self):
        """du/dt - (u u')' + u'^2 = f with u = (1 + t) x: f = x."""
        text = """
e = FiniteElement("Lagrange", triangle, 1)
u, v, w, f = Coefficient(e), TestFunction(e), TrialFunction(e), Coefficient(e)
mass = w*v*dx
F = u*inner(grad(u), grad(v))*dx + inner(grad(u), grad(u))*v*dx - f*v*dx
"""
        problem = self.problem(text, values={"f": "x"}, mass="mass", conditions=[
            weft.Dirichlet("left", 0), weft.Dirichlet("right", "1 + t")])
        for step in problem.steps(dt=0.1, end=0.5, initial="x"):
            numpy.testing.assert_allclose(step.values, (1 + step.t) * problem.space.points[:, 0], atol=1e-7)
            self.assertGreater(step.newton, 0)

    def test_stationary_and_in_time(self):
        """The same file: the steady state, which a long integration reaches."""
        problem = self.problem(HEAT, values={"k": 2, "f": 4}, tolerance=1e-11,
                               conditions=[weft.Dirichlet("left", 0), weft.Dirichlet("right", 0)])
        problem.solve()
        steady = problem.u
        for step in problem.steps(dt=1, end=20, scheme="theta", theta=1):
            pass
        numpy.testing.assert_allclose(step.values, steady.numpy(), atol=1e-7)
        problem.solve()
        numpy.testing.assert_allclose(problem.values, steady.numpy(), atol=1e-8)

    def test_coefficients_of_the_mass(self):
        """What only the mass reads is no part of the stationary problem: 2 du/dt + u = 0 has u = exp(-t/2)."""
        text = """
e = FiniteElement("Lagrange", interval, 1)
u, v, rho = TrialFunction(e), TestFunction(e), Constant(interval)
m = rho*u*v*dx
a = u*v*dx
L = v*dx
"""
        problem = self.problem(text, "interval:3", "interval", values={"rho": 2})
        for step in problem.steps(dt=0.05, end=1, initial=0):
            self.assertLess(abs(step.values - (1 - math.exp(-step.t / 2))).max(), 1e-4)
        problem.solve()
        numpy.testing.assert_allclose(problem.values, 1, atol=1e-8)

    # ---- scripts ----------------------------------------------------------------------------

    def test_scripts(self):
        """The load 4 of -u'' = 4 between u = 0 at both ends: u = 2 x (1 - x); k = 2 halves it. Nodes of P1 have it."""
        ends = [weft.Dirichlet("left", 0), weft.Dirichlet("right", 0)]
        x = weft.Mesh("square:8").points[:, 0]
        for name in ("diffusion", "diffusion.weft", weft._library.lib.weft_fem_script(b"diffusion.weft").decode()):
            problem = weft.Problem(weft.Mesh("square:8"), name, {"source": 4, "diffusivity": "2 + 0*x"}, conditions=ends,
                                   device=self.device, tolerance=1e-12)
            problem.solve()
            numpy.testing.assert_allclose(problem.values, x * (1 - x), atol=1e-9)
            self.assertEqual(problem.space.degree, 1)
        zero = weft.Problem(weft.Mesh("square:8"), "diffusion", {"source": 1}, device=self.device)
        zero.solve()  # of scripts u = 0 on the whole boundary, if nothing else is said
        self.assertEqual(abs(zero.values[zero.mesh.nodes()]).max(), 0)
        self.assertGreater(zero.values.max(), 0.05)

    def test_scripts_with_inputs(self):
        """-u'' + w u' = 0 between 0 and 1: u = (exp(w x) - 1)/(exp(w) - 1), also of arrays over cells."""
        path = os.path.join(os.environ["WEFT_SOURCE"], "docs/examples/convection.weft")
        mesh = weft.Mesh("square:64")
        x = mesh.points[:, 0]
        for velocity in ("4, 0", (4, 0), numpy.tile([4.0, 0.0], (mesh.n_cells, 1))):
            problem = weft.Problem(mesh, path, {"velocity": velocity, "k": 1, "source": 0}, device=self.device, tolerance=1e-10,
                                   conditions=[weft.Dirichlet("left", 0), weft.Dirichlet("right", 1)])
            self.assertEqual(problem.solve().method, "gmres")
            self.assertLess(abs(problem.values - numpy.expm1(4 * x) / math.expm1(4)).max(), 1e-3)
        with self.assertRaisesRegex(weft.UsageError, r"shape \(8192, 3\), expected \[entries, 2\]"):
            weft.Problem(mesh, path, {"velocity": numpy.zeros((8192, 3)), "k": 1}, device=self.device)

    def test_scripts_by_newton_and_in_time(self):
        """Pulling a block of kirchhoff.weft slightly is linear elasticity; heat.weft decays as the mode does."""
        block = weft.Problem(weft.Mesh("square:4"), "kirchhoff", {"young": 2, "poisson": 0.25}, device=self.device, conditions=[
            weft.Symmetry("left"), weft.Symmetry("bottom"), weft.Neumann("right", (1e-6, 0))])
        self.assertTrue(block.is_nonlinear and block.solve().newton.converged)
        strain = numpy.array([(1 - 0.25 ** 2) / 2, -0.25 * 1.25 / 2]) * 1e-6
        numpy.testing.assert_allclose(block.values, block.space.points * strain, atol=1e-11)
        heat = weft.Problem(weft.Mesh("square:32"), "heat", {"conductivity": "0.1 + 0*t"}, device=self.device,
                            conditions=[weft.Dirichlet("boundary", 0)])
        for step in heat.steps(dt=0.01, end=0.1, initial=SINES):
            pass
        self.assertLess(abs(step.values.max() - math.exp(-0.02 * math.pi ** 2)), 2e-3)

    def test_schemes_of_the_forms(self):
        """Implicit Euler for du/dt = -u, written out: u = (1 + dt)^-n."""
        text = """
e = FiniteElement("Lagrange", triangle, 1)
u, v, before, dt = TrialFunction(e), TestFunction(e), Coefficient(e), Constant(triangle)
a, L = (1 + dt)*u*v*dx, before*v*dx
"""
        problem = self.problem(text, previous="before", tolerance=1e-13)
        for step in problem.steps(dt=0.1, end=0.5, initial=1):
            numpy.testing.assert_allclose(step.values, 1.1 ** -step.step, atol=1e-10)
        with self.assertRaisesRegex(weft.UsageError, "tolerance in time is for masses"):
            problem.steps(dt=0.1, end=0.5, tolerance=1e-3)
        with self.assertRaisesRegex(weft.UsageError, "take no other one"):
            problem.steps(dt=0.1, end=0.5, scheme="bdf2")

    def test_a_mass_in_a_block(self):
        """What a script computes is found where it stands in a block of directives, too."""
        text = weft._library.lib.weft_fem_script(b"heat.weft").decode()
        block = re.sub(r"(M = [^;]*;)", r"fuse { \1 }", text)
        self.assertNotEqual(block, text)
        heat = weft.Problem(weft.Mesh("square:4"), block, device=self.device, conditions=[weft.Dirichlet("left")])
        for step in heat.steps(dt=0.5, end=1, initial=0):
            self.assertEqual(abs(step.values).max(), 0)

    def test_refusals_of_scripts(self):
        mesh, ends = weft.Mesh("square:4"), [weft.Dirichlet("left")]
        for kind, pattern, script, options in (
                (weft.UsageError, "'poison' is neither a form file", "poison", {}),
                (OSError, "nowhere.weft", "nowhere.weft", {}),
                (weft.UsageError, r"'sauce'", "diffusion", dict(values={"sauce": 1})),
                (weft.UsageError, "measures are of form files", "diffusion", dict(measures={"ds(1)": "left"})),
                (weft.UsageError, "parameters is for scripts", forms(POISSON),
                 dict(parameters={"p": 1})),
                (weft.ScriptError, r"source:1:\d+: error", "diffusion", dict(values={"source": "sin(x"})),
                (weft.InputError, "the matrix is 'Q'", "diffusion", dict(matrix="Q"))):
            with self.assertRaisesRegex(kind, pattern):
                weft.Problem(mesh, script, conditions=ends, device=self.device, **options).solve()

    # ---- mixed spaces -----------------------------------------------------------------------

    def test_mixed(self):
        """Between two plates with a force 3 along them: u = (y (1 - y), 0), p' = 1, p = 0 at the outlet."""
        problem = self.problem(STOKES, values={"f": (3, 0)}, tolerance=1e-12, conditions=[
            weft.Dirichlet(side, ("y*(1 - y)", 0, None)) for side in ("left", "top", "bottom")])
        problem.solve()
        velocity, pressure = problem.fields
        at, x = (space.points for space in problem.spaces)
        self.assertEqual(velocity.shape, (81, 2))
        self.assertEqual(problem.u.shape, (81 * 2 + 25,))
        numpy.testing.assert_allclose(velocity[:, 0], at[:, 1] * (1 - at[:, 1]), atol=1e-8)
        numpy.testing.assert_allclose(velocity[:, 1], 0, atol=1e-8)
        numpy.testing.assert_allclose(pressure, x[:, 0] - 1, atol=1e-7)
        self.assertLess(max(problem.errors(("y*(1 - y)", 0, "x - 1"))), 1e-7)

    def test_enclosed_in_time(self):
        """A fluid at rest under a force: p = 3 x with the mean 0, also after steps that start from another."""
        problem = self.problem(STOKES, values={"f": (3, 0)}, conditions=[weft.Dirichlet("boundary", (0, 0, None))],
                               tolerance=1e-12)
        problem.solve()
        pressures = [problem.fields[1]]
        pressures += [step.fields[1] for step in problem.steps(dt=0.1, end=0.3, initial="0, 0, 7")]
        self.assertEqual(len(pressures), 4)
        for pressure in pressures:
            numpy.testing.assert_allclose(pressure, 3 * (problem.spaces[1].points[:, 0] - 0.5), atol=1e-6)

    # ---- results and errors -----------------------------------------------------------------

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "u.vtkhdf")
            linear = self.problem(POISSON, values={"k": 1, "f": 1}, conditions=[weft.Dirichlet("left")])
            linear.solve()
            linear.write(path)
            again = self.problem(POISSON, weft.Mesh(path), values={"k": 1, "f": "field(%s, u)" % path},
                                 conditions=[weft.Dirichlet("left")])
            given = self.problem(POISSON, values={"k": 1, "f": linear.u}, conditions=[weft.Dirichlet("left")])
            for problem in (again, given):
                problem.solve()
            numpy.testing.assert_allclose(again.values, given.values, atol=1e-9)
            mixed = self.problem(STOKES, values={"f": (3, 0)}, conditions=[weft.Dirichlet("boundary", (0, 0, None))])
            mixed.solve()
            for name in ("mixed.vtkhdf", "mixed.vtu"):
                mixed.write(os.path.join(folder, name))
                self.assertGreater(os.path.getsize(os.path.join(folder, name)), 1000)
            text = """
e, f = FiniteElement("DG", triangle, 0), Coefficient(FiniteElement("DG", triangle, 0))
u, v = TrialFunction(e), TestFunction(e)
a, L = u*v*dx, f*v*dx
"""
            constant = self.problem(text, values={"f": "x"})
            constant.solve()
            constant.write(path)
            cells = constant.mesh.points[constant.mesh.cells].mean(axis=1)[:, 0]
            read = self.problem(text, weft.Mesh(path), values={"f": "field(%s, u)" % path})
            read.solve()
            for problem in (constant, read):
                numpy.testing.assert_allclose(problem.values, cells, atol=1e-7)
            with open(os.path.join(folder, "mixed.vtu"), "rb") as file:
                text = file.read()
            self.assertTrue(b'"u_0"' in text and b'"u_1"' in text)

    def test_file_of_an_enriched_function(self):
        """P1 with bubbles: the projection of x, which the file has, is x."""
        text = """
e = EnrichedElement(FiniteElement("Lagrange", triangle, 1), FiniteElement("Bubble", triangle, 3))
p = FiniteElement("Lagrange", triangle, {degree})
u, v, f = TrialFunction({of}), TestFunction({of}), Coefficient(p)
a, L = u*v*dx, f*v*dx
"""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "u.vtkhdf")
            enriched = weft.Problem(weft.Mesh("square:3"), weft.FormFile(text.format(degree=1, of="e"), "f.ufl"),
                                    values={"f": "x"}, device=self.device, tolerance=1e-12)
            enriched.solve()
            enriched.write(path)
            plain = weft.Problem(weft.Mesh(path), weft.FormFile(text.format(degree=1, of="p"), "f.ufl"),
                                 values={"f": "field(%s, u_0)" % path}, device=self.device, tolerance=1e-12)
            plain.solve()
            numpy.testing.assert_allclose(plain.values.ravel(), plain.space.points[:, 0], atol=1e-9)

    def test_two_files_on_one_device(self):
        """Their functions have the same names, and each problem has its own."""
        given = dict(values={"k": 1, "f": 0}, tolerance=1e-12,
                     conditions=[weft.Dirichlet("left", 0), weft.Dirichlet("right", 1)])
        one = self.problem(POISSON, "square:16", **given)
        other = self.problem(POISSON.replace("*dx\nL", "*dx + u*v*dx\nL"), "square:16", **given)
        one.solve()
        other.solve()
        x = one.space.points[:, 0]
        numpy.testing.assert_allclose(one.values, x, atol=1e-9)
        self.assertLess(abs(other.values - numpy.sinh(x) / math.sinh(1)).max(), 1e-3)
        space, n = weft.Space(weft.Mesh("square:4"), self.device), 25
        two = [weft.Form(space, forms(text), inputs={"k": numpy.ones(32), "f": numpy.zeros(n)})
               for text in (POISSON, POISSON.replace("*dx\nL", "*dx + u*v*dx\nL"))]
        sums = [float((weft.Operator(form) @ numpy.ones(n)).numpy().sum()) for form in two]
        self.assertAlmostEqual(sums[0], 0, places=12)  # of K 1
        self.assertAlmostEqual(sums[1], 1, places=12)  # of M 1, the area

    def test_refusals(self):
        given = dict(values={"k": 1, "f": 1}, conditions=[weft.Dirichlet("left")])

        def refuses(kind, pattern, text=POISSON, **changes):
            with self.assertRaisesRegex(kind, pattern):
                self.problem(text, **{**given, **changes}).solve()

        refuses(weft.UsageError, r"no coefficient or constant 'ff'[\s\S]*did you mean 'f'", values={"k": 1, "ff": 1})
        refuses(weft.UsageError, "'f' has no values", values={"k": 1})
        refuses(weft.ScriptError, r"f:1:\d+: error[\s\S]*\^", values={"k": 1, "f": "sin(x"})
        refuses(weft.InputError, "left", conditions=[weft.Dirichlet("lef")])
        refuses(weft.InputError, "nothing fixes", conditions=[])
        refuses(weft.InputError, "are for triangles, and the mesh has quadrilaterals", mesh="quads:2")
        refuses(weft.UsageError, "no method is called 'cgs'; did you mean 'cg'", method="cgs")
        refuses(weft.UsageError, "no preconditioner is called 'mulitgrid'; did you mean 'multigrid'",
                preconditioner="mulitgrid")
        refuses(weft.UsageError, "did you mean 'csr'", assembly="csrr")
        refuses(weft.UsageError, "until", until="never")
        refuses(weft.UsageError, "tolerance", tolerance=-1)
        refuses(weft.UsageError, "2 values, and u has 1 components", conditions=[weft.Dirichlet("left", (0, 1))])
        refuses(weft.UsageError, "on component 1, and u has the components 0 to 0",
                conditions=[weft.Dirichlet("left", 0, 1)])
        refuses(weft.UsageError, "1 value, and u has 3 components", STOKES, values={"f": (1, 0)})
        refuses(weft.NotConverged, "cg did not converge: max_iterations after 2 iterations.*; raise max_iterations or tolerance", max_iterations=2,
                preconditioner="jacobi", method="cg", mesh="square:16")
        with self.assertRaises(weft.FileError):
            weft.Problem(weft.Mesh("square:2"), "nowhere.ufl", device=self.device)
        problem = self.problem(POISSON, **given)
        with self.assertRaisesRegex(weft.UsageError, "no solution yet"):
            problem.u
        with self.assertRaisesRegex(weft.UsageError, "no steps have begun"):
            problem.step()
        with self.assertRaisesRegex(weft.InputError, "in time a form file has a mass"):
            problem.steps(dt=1, end=2)
        heat = self.problem(HEAT, values={"k": 1, "f": 1}, conditions=[weft.Dirichlet("left")])
        with self.assertRaisesRegex(weft.UsageError, "did you mean bdf2"):
            heat.steps(dt=1, end=2, scheme="bfd2")
        with self.assertRaisesRegex(weft.UsageError, "expected dt > 0"):
            heat.steps(dt=0, end=2)
        for theta in (-1, 1.5, math.nan):
            with self.assertRaisesRegex(weft.UsageError, "expected a number above 0, at most 1"):
                heat.steps(dt=1, end=2, scheme="theta", theta=theta)
            heat = self.problem(HEAT, values={"k": 1, "f": 1}, conditions=[weft.Dirichlet("left")])
        with self.assertRaisesRegex(weft.UsageError, "theta is for the theta scheme"):
            heat.steps(dt=1, end=2, theta=1)
        for scheme in weft.time_schemes():
            with self.assertRaisesRegex(weft.UsageError, "or %s|%s[, ]" % (scheme, scheme)):
                heat.steps(dt=1, end=2, scheme=scheme + "?")


if __name__ == "__main__":
    unittest.main()
