"""Meshes, scripts, operators, solves and time steps, against exact solutions and numpy."""

import math
import os
import tempfile
import types
import unittest

import numpy

import weft

try:
    import scipy.sparse
    import scipy.sparse.linalg
except ImportError:
    scipy = None

DEVICE = os.environ.get("WEFT_TEST_DEVICE", "host:2")
SINES = "sin(pi*x)*sin(pi*y)"


class Problems(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.device = weft.Device(DEVICE)

    def poisson(self, mesh, **solve):
        space = weft.Space(mesh, self.device)
        conditions = weft.Conditions(space)
        A = weft.Operator(weft.Form(space, "poisson.weft"), conditions)
        return space, A, A.solve(conditions.load("2*pi^2*" + SINES), tolerance=1e-10, **solve)

    def test_direct_solver(self):
        """Stokes' equations with an open pressure, in whose spaces the solution is, and Poisson's."""
        os.environ.pop("WEFT_UMFPACK", None)  # other tests hide it
        forms = weft.FormFile("""
W = VectorElement("P", triangle, 2)*FiniteElement("P", triangle, 1)
(u, p), (v, q), f = TrialFunctions(W), TestFunctions(W), Constant(triangle)
a = inner(grad(u), grad(v))*dx - p*div(v)*dx + q*div(u)*dx
L = f*q*dx
""", name="stokes.ufl")
        problem = weft.Problem(weft.Mesh("square:6"), forms, device=self.device, tolerance=1e-12, values={"f": 0},
                               preconditioner="lu", conditions=[weft.Dirichlet("boundary", ("y^2", "x^2", None))])
        try:
            report = problem.solve()
        except weft.Error as error:
            if "is not found" in str(error) or "runs on the host" in str(error):
                self.skipTest(str(error))
            raise
        self.assertEqual((report.method, report.preconditioner), ("gmres", "lu"))
        self.assertLessEqual(report.iterations, 3)
        self.assertLess(max(problem.errors(("y^2", "x^2", "2*x + 2*y - 2"))), 1e-7)
        space, A, solution = self.poisson(weft.Mesh("square:16"), preconditioner="lu")
        self.assertLessEqual(solution.iterations, 3)
        with self.assertRaisesRegex(weft.Error, "MINRES needs a positive definite preconditioner, which lu is not"):
            self.poisson(weft.Mesh("square:4"), preconditioner="lu", method="minres")

    def test_orders_of_poisson(self):
        errors = []
        for n in (16, 32):
            space, _, solution = self.poisson(weft.Mesh("square:%d" % n))
            self.assertTrue(solution.converged)
            self.assertEqual(len(solution.history), solution.iterations + 1)
            errors.append(space.errors(solution.x, SINES))
        # P1: order 2 in L2, 1 for the gradient
        self.assertGreater(math.log2(errors[0][0] / errors[1][0]), 1.9)
        self.assertGreater(math.log2(errors[0][1] / errors[1][1]), 0.95)

    def test_multigrid_takes_few_iterations(self):
        mesh = weft.Mesh("square:8", refine=4, order=True, device=self.device)
        self.assertEqual(mesh.n_nodes, 129 ** 2)
        _, _, by_levels = self.poisson(mesh, preconditioner="multigrid")
        _, _, by_jacobi = self.poisson(mesh)
        self.assertLess(by_levels.iterations, 14)
        self.assertGreater(by_jacobi.iterations, 100)
        numpy.testing.assert_allclose(by_levels.x.numpy(), by_jacobi.x.numpy(), atol=1e-8)

    def test_conditions_of_each_kind(self):
        # u = sin(x) cos(y): docs/examples/poisson.c
        space = weft.Space(weft.Mesh("square:32"), self.device)
        conditions = weft.Conditions(space, [
            weft.Dirichlet("left", 0), weft.Robin("right", 1, "(cos(1) + sin(1))*cos(y)"),
            weft.Neumann("top", "-sin(1)*sin(x)")])
        A = weft.Operator(weft.Form(space, "poisson.weft"), conditions)
        solution = A.solve(conditions.load("2*sin(x)*cos(y)"))
        # |u - u_h| <= C h^2 |u|_2, with h = 1/32 about 1e-4
        self.assertLess(space.errors(solution.x, "sin(x)*cos(y)")[0], 3e-4)
        self.assertEqual(list(conditions.constrained), list(space.mesh.nodes("left")))

    def test_formulas_by_group(self):
        # between u = 1 and u = 0, a wall of k = 50 up to x = 1/2 and 0.02 beyond: the flux is q = 1/(0.5/50 + 0.5/0.02)
        square = weft.Mesh("square:16")
        steel = square.points[square.cells].mean(axis=1)[:, 0] < 0.5
        sides = {name: square.facets(name) for name in ("left", "right")}
        mesh = weft.Mesh.from_arrays(square.points, square.cells, sides,
                                     {"steel": numpy.flatnonzero(steel), "air": numpy.flatnonzero(~steel)})
        space = weft.Space(mesh, self.device)
        conditions = weft.Conditions(space, [weft.Dirichlet("left", 1), weft.Dirichlet("right", 0)])
        x, q = mesh.points[:, 0], 1 / (0.5 / 50 + 0.5 / 0.02)
        exact = numpy.where(x <= 0.5, 1 - q * x / 50, q * (1 - x) / 0.02)
        for formula in ("@steel=50; @air=0.02", "0.02; @steel=50+0*x"):
            A = weft.Operator(weft.Form(space, "poisson_diffusivity.weft", expressions={"diffusivity": formula}), conditions)
            numpy.testing.assert_allclose(A.solve(conditions.load(), tolerance=1e-12).x.numpy(), exact, atol=1e-9)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "k.vtkhdf")
            mesh.write(path, {"k": numpy.where(steel, 50, 0.02)})
            A = weft.Operator(weft.Form(space, "poisson_diffusivity.weft",
                                        expressions={"diffusivity": "field(%s, k)" % path}), conditions)
            numpy.testing.assert_allclose(A.solve(conditions.load(), tolerance=1e-12).x.numpy(), exact, atol=1e-9)
        self.assertEqual(space.interpolate("1; @right=7").numpy().max(), 7)
        with self.assertRaisesRegex(weft.InputError, "no value in the group `air`"):
            weft.Operator(weft.Form(space, "poisson_diffusivity.weft", expressions={"diffusivity": "@steel=50"}), conditions)

    def test_pure_neumann(self):
        space = weft.Space(weft.Mesh("square:16"), self.device)
        conditions = weft.Conditions(space, [weft.Neumann("left", -1), weft.Neumann("right", 1)])
        self.assertTrue(conditions.is_free())
        A = weft.Operator(weft.Form(space, "poisson.weft"), conditions)
        u = A.solve(conditions.load()).x.numpy()
        numpy.testing.assert_allclose(u - u.mean(), space.mesh.points[:, 0] - 0.5, atol=1e-6)

    def test_a_form_that_is_not_symmetric(self):
        # -u'' + 10 u' = 0 in x: u = (exp(10 x) - 1) / (exp(10) - 1)
        space = weft.Space(weft.Mesh("square:64"), self.device)
        path = os.path.join(os.environ["WEFT_SOURCE"], "docs/examples/convection.weft")
        w = numpy.tile([10.0, 0.0], (space.mesh.n_cells, 1))
        form = weft.Form(space, path, inputs={"velocity": w, "k": 1.0})
        self.assertGreater(form.asymmetry(), 1e-3)
        conditions = weft.Conditions(space, [weft.Dirichlet("left", 0), weft.Dirichlet("right", 1)])
        solution = weft.Operator(form, conditions).solve(conditions.load(), tolerance=1e-10)
        self.assertEqual(solution.method, "gmres")
        self.assertIn("not symmetric", solution.reason)
        x = space.mesh.points[:, 0]
        exact = numpy.expm1(10 * x) / math.expm1(10)
        self.assertLess(abs(solution.x.numpy() - exact).max(), 5e-3)
        for wrong in (dict(method="steepest"), dict(preconditioner="jacoby"), dict(preconditioner="auto")):
            with self.assertRaises(weft.UsageError):
                weft.Operator(form, conditions).solve(conditions.load(), **wrong)

    def test_spaces_of_other_degrees(self):
        mesh = weft.Mesh("square:2")  # 9 vertices, 16 edges, 8 cells
        for degree, n in ((1, 9), (2, 25), (3, 49)):
            self.assertEqual(weft.Space(mesh, self.device, degree=degree).n_dofs, n)
        self.assertEqual(weft.Space(mesh, self.device, degree=0, family="discontinuous").n_dofs, 8)
        with self.assertRaisesRegex(weft.UnsupportedError, "degree 0"):
            weft.Space(mesh, self.device, degree=0)

    def test_forms_of_ufl(self):
        text = """
e = FiniteElement("Lagrange", triangle, 1)
u, v, f = TrialFunction(e), TestFunction(e), Coefficient(e)
kappa = Constant(triangle)
a = kappa*inner(grad(u), grad(v))*dx
L = f*v*dx
"""
        forms = weft.FormFile(text, name="Poisson.ufl")
        self.assertEqual(forms.forms, {"a": 2, "L": 1})
        self.assertIn("ufl_a_0", forms.kernels)
        space = weft.Space(weft.Mesh("square:32"), self.device)
        conditions = weft.Conditions(space)
        f = space.interpolate("4*pi^2*" + SINES)
        form = weft.Form(space, forms, inputs={"kappa": 2.0, "f": f})
        solution = weft.Operator(form, conditions).solve(form.vector(), tolerance=1e-10)
        # |u - u_h| is about 2e-3 at h = 1/32, of order 2
        self.assertLess(space.errors(solution.x, SINES)[0], 4e-3)
        with self.assertRaisesRegex(weft.ScriptError, "Poisson.ufl:1:5"):
            weft.FormFile("a = u*dx", name="Poisson.ufl")
        with self.assertRaises(weft.FileError):
            weft.FormFile("nowhere.ufl")

    def test_forms_that_state_their_problem(self):
        figure = """
P = FiniteElement("Lagrange", triangle, 1)
v=TestFunction(P)
u=TrialFunction(P)
f=Function(P, sin(x[0])+cos(x[1]))
A=dot(grad(v),grad(u))*dx
RHS=v*f*dx
P = solve(A,RHS)
"""
        mesh, forms = weft.Mesh("square:8"), weft.FormFile(figure, name="figure6.ufl")
        self.assertEqual(forms.forms, {"A": 2, "RHS": 1})
        zero = [weft.Dirichlet("boundary", 0)]
        problem = weft.Problem(mesh, forms, conditions=zero, device=self.device, tolerance=1e-12)
        problem.solve()
        space = weft.Space(mesh, self.device)
        load = weft.Form(space, forms).vector().numpy()
        # The integral of f at the nodes, and that of the solution, by scikit-fem
        self.assertAlmostEqual(load.sum(), 1.29947400752, 10)
        mass = weft.FormFile("""
e = FiniteElement("Lagrange", triangle, 1)
u, v, w = TrialFunction(e), TestFunction(e), Function(VectorElement(e), as_vector([1, atan2(x[0], 1)]))
P = solve(u*v*dx, w[0]*v*dx)
""", name="mass.ufl")
        weights = weft.Form(space, mass).vector().numpy()
        self.assertAlmostEqual(weights @ problem.values, 0.0441454814941, 9)
        other = weft.Problem(mesh, forms, {"f": 1}, conditions=zero, device=self.device, tolerance=1e-12)
        other.solve()
        self.assertAlmostEqual(weights @ other.values, 0.0334230310777, 9)

    def test_curved_cells(self):
        """A unit square whose right side bulges by 1/10: its area is 1 + 2/3/10 for forms with curved cells, others are refused."""
        lines = ["$MeshFormat", "2.2 0 8", "$EndMeshFormat", "$Nodes", "9"]
        places = [(0, 0), (1, 0), (1, 1), (0, 1), (.5, 0), (1.1, .5), (.5, 1), (0, .5), (.5, .5)]
        lines += ["%d %g %g 0" % (i + 1, *place) for i, place in enumerate(places)]
        lines += ["$EndNodes", "$Elements", "2", "1 9 2 1 1 1 2 3 5 6 9", "2 9 2 1 1 1 3 4 9 7 8", "$EndElements", ""]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "bulge.msh")
            with open(path, "w") as file:
                file.write("\n".join(lines))
            space = weft.Space(weft.Mesh(path), self.device)

        def form(degree):
            return weft.Form(space, weft.FormFile("""
V = FunctionSpace(Mesh(VectorElement("Lagrange", triangle, %d)), FiniteElement("Lagrange", triangle, 1))
u, v = TrialFunction(V), TestFunction(V)
a, L = u*v*dx, v*dx
""" % degree, name="area.ufl"))

        self.assertAlmostEqual(form(2).vector().numpy().sum(), 1 + 2 / 30, 12)
        for straight in (lambda: form(1), lambda: weft.Form(space, "poisson.weft")):
            with self.assertRaisesRegex(weft.InputError, "straight cells"):
                straight()

    def test_forms_of_several_names(self):
        """The load L is found under each of its names: its sum is the area of the square, 1."""
        text = """
e = FiniteElement("Lagrange", triangle, 1)
u, v = TrialFunction(e), TestFunction(e)
a = inner(grad(u), grad(v))*dx
F = v*dx
"""
        space = weft.Space(weft.Mesh("square:4"), self.device)
        for more in ("L = F", "L = F\nforms = [F, a]"):
            forms = weft.FormFile(text + more + "\n", name="Poisson.ufl")
            self.assertEqual(forms.forms, {"a": 2, "L": 1})
            self.assertAlmostEqual(weft.Form(space, forms).vector().numpy().sum(), 1, places=12)
        with self.assertRaisesRegex(weft.UsageError, "no linear form L"):
            weft.Form(space, weft.FormFile(text, name="Poisson.ufl")).vector()

    def test_measures_of_forms(self):
        """ds(0) is a group of that name, or a given one, but never a group without a number."""
        forms = weft.FormFile("""
e = FiniteElement("Lagrange", triangle, 1)
u, v = TrialFunction(e), TestFunction(e)
a, L = u*v*dx, v*ds(0)
""", name="flux.ufl")
        square = weft.Mesh("square:4")
        sides = {name: square.facets(name) for name in ("left", "top")}
        space = weft.Space(weft.Mesh.from_arrays(square.points, square.cells, sides), self.device)
        with self.assertRaisesRegex(weft.InputError, r"no group for ds\(0\)"):
            weft.Form(space, forms)
        with self.assertRaisesRegex(weft.UsageError, r"no integral has the measure ds\(1\)"):
            weft.Form(space, forms, measures={"ds(1)": "left", "ds(0)": "top"})
        for mesh, measures in ((space.mesh, {"ds(0)": "top"}),
                               (weft.Mesh.from_arrays(square.points, square.cells, {"0": sides["top"]}), {})):
            load = weft.Form(weft.Space(mesh, self.device), forms, measures=measures).vector().numpy()
            self.assertAlmostEqual(load.sum(), 1, 12)
            self.assertAlmostEqual(load[mesh.points[:, 1] == 1].sum(), 1, 12)

    def test_degrees_of_forms(self):
        """p in P1 of P2 x P1 has degree 2 in UFL 2026.1, and 1 in 2026.2."""
        text = """
W = FiniteElement("P", triangle, 2)*FiniteElement("P", triangle, 1)
(u, p), (v, q) = TrialFunctions(W), TestFunctions(W)
a = sin(SpatialCoordinate(triangle)[0])*p*q*dx%s
"""
        kernels = weft.FormFile(text % "", degrees="main", name="mass.ufl").kernels
        self.assertEqual(kernels, weft.FormFile(text % "(degree=5)", name="mass.ufl").kernels)
        self.assertEqual(weft.FormFile(text % "", name="mass.ufl").kernels,
                         weft.FormFile(text % "(degree=7)", name="mass.ufl").kernels)
        with self.assertRaisesRegex(weft.UsageError, "2026.2 or main"):
            weft.FormFile(text % "", degrees="2025")

    def stokes(self, sign="-"):
        mesh = weft.Mesh("square:12")
        W = weft.MixedSpace(weft.Space(mesh, self.device, 2, degree=2), weft.Space(mesh, self.device))
        forms = weft.FormFile("""
W = VectorElement("P", triangle, 2)*FiniteElement("P", triangle, 1)
(u, p), (v, q), f = TrialFunctions(W), TestFunctions(W), Constant(triangle)
a = inner(grad(u), grad(v))*dx - p*div(v)*dx %s q*div(u)*dx
L = f*q*dx
""" % sign, name="Stokes.ufl")
        conditions = weft.MixedConditions(W, [[weft.Dirichlet("boundary", "y^2", 0), weft.Dirichlet("boundary", "x^2", 1)],
                                              [weft.Dirichlet("left", "2*x + 2*y - 2")]])
        form = weft.Form(W, forms, inputs={"f": 0.0})
        return W, form, weft.Operator(form, conditions)

    def test_mixed_spaces(self):
        """u = (y^2, x^2), p = 2 x + 2 y - 2 is in the space: a residual of 1e-11 times a condition number below 1e5."""
        for sign in "-+":
            W, form, A = self.stokes(sign)
            self.assertEqual(A.shape, (W.n_dofs, W.n_dofs))
            solution = A.solve(form.vector(), preconditioner="block", tolerance=1e-11)
            self.assertLess(solution.iterations, 200)  # Jacobi's takes more than 1000
            self.assertEqual(solution.method, "minres" if sign == "-" else "gmres")
            velocity, pressure = W.split(solution.x)
            at, x = W.spaces[0].points, W.spaces[1].points
            numpy.testing.assert_allclose(velocity, at[:, ::-1] ** 2, atol=1e-6)
            numpy.testing.assert_allclose(pressure, 2 * x.sum(axis=1) - 2, atol=1e-6)
            numpy.testing.assert_array_equal(W.join([velocity, pressure]).numpy(), solution.x.numpy())

    def test_fluxes_of_mixed_spaces(self):
        """u = (y^2, x^2), p = 2 x + 2 y, held by its fluxes du/dn - p n: a residual of 1e-11 times a condition number below 1e5."""
        W, form, _ = self.stokes()
        conditions = weft.MixedConditions(W, [[
            weft.Dirichlet("left", "y^2", 0), weft.Dirichlet("left", 0, 1), weft.Dirichlet("bottom", 0, 0),
            weft.Dirichlet("bottom", "x^2", 1), weft.Neumann("right", "-2 - 2*y", 0), weft.Neumann("right", 2, 1),
            weft.Robin("top", "1 + y", "2 + 2*y^2", 0), weft.Robin("top", 3, "3*x^2 - 2*x - 2", 1)], None])
        b = form.vector()
        b.set(b.numpy() + conditions.load().numpy())
        solution = weft.Operator(form, conditions).solve(b, preconditioner="block", tolerance=1e-11)
        velocity, pressure = W.split(solution.x)
        at, x = W.spaces[0].points, W.spaces[1].points
        numpy.testing.assert_allclose(velocity, at[:, ::-1] ** 2, atol=1e-6)
        numpy.testing.assert_allclose(pressure, 2 * x.sum(axis=1), atol=1e-5)

    def test_errors_of_mixed_spaces(self):
        W, form, A = self.stokes()
        mesh = W.mesh
        other = weft.Space(weft.Mesh("square:2"), self.device)
        forms = weft.FormFile("""
W = FiniteElement("P", triangle, 1)*FiniteElement("P", triangle, 1)
(u, p), (v, q) = TrialFunctions(W), TestFunctions(W)
a = (u*v + p*q)*dx
""", name="mass.ufl")
        for call in (lambda: weft.MixedSpace(other), lambda: weft.MixedSpace(W.spaces[0], other),
                     lambda: weft.Form(W, forms), lambda: weft.Form(weft.Space(mesh, self.device), forms),
                     lambda: weft.MixedConditions(W, [None]), lambda: W.join([numpy.zeros(3)]),
                     lambda: W.split(numpy.zeros(3))):
            with self.assertRaises(weft.UsageError):
                call()

    def test_forms_of_higher_degree(self):
        """u = 1 + x^2 + 2 y^2 is in P2 and Q2: a Robin condition at x = 1, a flux at y = 0, coefficients in other spaces."""
        exact = "1 + x^2 + 2*y^2"
        for cell, mesh in (("triangle", "square:4"), ("quadrilateral", "quads:3")):
            forms = weft.FormFile("""
V = FiniteElement("P", %s, 2)
u, v = TrialFunction(V), TestFunction(V)
f = Coefficient(FiniteElement("DG", V.cell(), 0))
g = Coefficient(V)
n = FacetNormal(V.cell())
a = inner(grad(u), grad(v))*dx + 3*u*v*ds(2)
L = f*v*dx + (3*g + dot(grad(g), n))*v*ds(2) + dot(grad(g), n)*v*ds(9)
""" % cell, name="Robin.ufl")
            mesh = weft.Mesh(mesh)
            space = weft.Space(mesh, self.device, degree=2)
            constants = weft.Space(mesh, self.device, degree=0, family="discontinuous")
            form = weft.Form(space, forms, inputs={"f": constants.interpolate("-6"), "g": space.interpolate(exact)},
                             measures={"ds(9)": "bottom"})
            conditions = weft.Conditions(space, [weft.Dirichlet("left", exact), weft.Dirichlet("top", exact)])
            for assembly in "csr", "matrix-free":
                solution = weft.Operator(form, conditions, assembly=assembly).solve(form.vector(), tolerance=1e-12)
                self.assertLess(max(space.errors(solution.x, exact)), 1e-8)
            with self.assertRaisesRegex(weft.UsageError, "degree=2"):
                weft.Form(weft.Space(mesh, self.device), forms)
            with self.assertRaisesRegex(weft.InputError, "no group for ds"):
                weft.Form(space, forms)

    def test_not_converged(self):
        with self.assertRaisesRegex(weft.NotConverged, "after 3 iterations") as caught:
            self.poisson(weft.Mesh("square:32"), max_iterations=3)
        self.assertEqual(caught.exception.solution.iterations, 3)
        _, _, solution = self.poisson(weft.Mesh("square:32"), max_iterations=3, must_converge=False)
        self.assertFalse(solution.converged)

    def test_matrices_of_scipy(self):
        if scipy is None:
            self.skipTest("scipy is missing")
        space, A, solution = self.poisson(weft.Mesh("square:20"))
        M = A.to_scipy()
        v = numpy.random.default_rng(1).random(space.mesh.n_nodes)
        numpy.testing.assert_allclose(M @ v, (A @ v).numpy(), atol=1e-13)
        numpy.testing.assert_allclose(A.diagonal().numpy(), M.diagonal(), atol=1e-13)
        numpy.testing.assert_allclose(A.to_linear_operator() @ v, M @ v, atol=1e-13)
        free = numpy.setdiff1d(numpy.arange(len(v)), A.conditions.constrained)
        b = A.conditions.load("2*pi^2*" + SINES).numpy()
        direct = scipy.sparse.linalg.spsolve(M[free][:, free].tocsc(), b[free])
        numpy.testing.assert_allclose(solution.x.numpy()[free], direct, atol=1e-9)

    def test_elasticity_has_rigid_body_modes(self):
        space = weft.Space(weft.Mesh("cube:3"), self.device, components=3)
        path = os.path.join(os.environ["WEFT_SOURCE"], "fem/scripts/elasticity.weft")
        A = weft.Operator(weft.Form(space, path, expressions={"young": 2, "poisson": 0.3}))
        x = space.mesh.points
        rotation = numpy.stack([-x[:, 1], x[:, 0], 0 * x[:, 0]], axis=1)
        self.assertLess(abs((A @ rotation).numpy()).max(), 1e-12)
        self.assertGreater(abs((A @ x).numpy()).max(), 1e-3)

    def test_scripts(self):
        text = """
            index cells, nodes;
            connectivity dofs : cells -> nodes[3];
            input x : real[2] over nodes;
            J = jacobian(x[dofs]);
            area = 0.5*det(J);
            return area, J;
        """
        mesh = weft.Mesh("square:7")
        script = weft.Script(self.device, text)
        program = script.program(x=mesh.points.copy(), dofs=(mesh.cells, mesh.n_nodes)).run()
        numpy.testing.assert_allclose(program["area"], 1 / 98, rtol=1e-12)
        p = mesh.points[mesh.cells]
        edges = numpy.stack([p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]], axis=1)
        found = program["J"]
        self.assertEqual(found.shape, (98, 2, 2))
        close = numpy.allclose(found, edges) or numpy.allclose(found, numpy.swapaxes(edges, 1, 2))
        self.assertTrue(close)
        self.assertIn("kernel", script.print("plan"))
        self.assertEqual(script.names["dofs"]["to"], "nodes")
        with self.assertRaisesRegex(weft.ScriptError, "'K' has no value here") as caught:
            weft.Script(self.device, "y = 2*K;\nreturn y;")
        self.assertEqual((caught.exception.line, caught.exception.column), (1, 7))
        with self.assertRaisesRegex(KeyError, "area"):
            program["volume"]
        with self.assertRaises(weft.UsageError):
            program.bind(z=numpy.zeros(3))

    def test_native_bodies(self):
        """Functions of one's own in C for the host and in CUDA for a GPU, which runs the latter by 32 threads."""
        self.device.add_functions("""
            //@ function  twice(x: real[n]) -> y: real[n]
            //@ kind      map
            //@ flops     n
            //@ source    y = 2 x
            //@ threads   1
            for (int i = 0; i < n; ++i)
                y(i) = 2*x(i);
            //@ body      c
            //@ threads   1
            //@ compute
            for (int i = 0; i < n; ++i)
                y(i) = x(i) + x(i);
            //@ body      cuda
            //@ threads   32   x(t::32) y(t::32)
            //@ compute
            for (int i = t; i < n; i += 32)
                y(i) = x(i) + x(i);
            """)
        text = "index cells plain; input x : real[64] over cells; y = twice(x); z = twice(y); return z;"
        script = weft.Script(self.device, text)
        x = numpy.arange(64.0 * 11).reshape(11, 64)
        numpy.testing.assert_array_equal(numpy.asarray(script.program(x=x).run()["z"]), 4 * x)
        self.assertEqual(script.n_kernels, 1)
        if not self.device.is_cuda:
            self.assertIn("1 thread in c", script.print("plan"))

    def test_results_are_written_in_place(self):
        values = numpy.arange(100000.0)
        out = self.device.zeros(len(values))
        script = weft.Script(self.device, "index n plain; input a : real over n; y = 2*a + 1; return y;")
        program = script.program(a=values, n=len(values), y=out).run()
        numpy.testing.assert_array_equal(out.numpy(), 2 * values + 1)
        values[7] = 0.5
        if not self.device.is_cuda:
            program.run()
            self.assertEqual(out.numpy()[7], 2)

    def test_plans_by_measurement(self):
        """tune=N stores the fastest plan of each script, and later problems take it."""
        with tempfile.TemporaryDirectory() as folder:
            before, os.environ["XDG_CACHE_HOME"] = os.environ.get("XDG_CACHE_HOME"), folder
            try:
                for tune, words in ((2, "covers measured"), (0, "the cover that a search found best is remembered")):
                    said = []
                    device = weft.Device("host:1", log=lambda level, message: said.append(message))
                    problem = weft.Problem(weft.Mesh("square:24"), "diffusion", tune=tune, device=device)
                    problem.solve()
                    # the integral of the solution of -laplace u = 1
                    self.assertAlmostEqual(problem.integrals(), 0.0351, 3)
                    if not any("busy" in one for one in said):
                        self.assertTrue(any(words in one for one in said), said)
            finally:
                if before is None:
                    del os.environ["XDG_CACHE_HOME"]
                else:
                    os.environ["XDG_CACHE_HOME"] = before

    def test_dense_products(self):
        rng = numpy.random.default_rng(1)
        a, b, c = rng.random((7, 5)), rng.random((5, 9)), rng.random((7, 9))
        batch = rng.random((4, 5, 9))
        near = numpy.testing.assert_allclose
        near(weft.matmul(self.device, a, b), a @ b, rtol=1e-12)
        near(weft.matmul(self.device, a.T.copy(), b, transpose_a=True), a @ b, rtol=1e-12)
        near(weft.matmul(self.device, a, b.T.copy(), transpose_b=True), a @ b, rtol=1e-12)
        near(weft.matmul(self.device, a.T.copy(), b.T.copy(), transpose_a=True, transpose_b=True), a @ b, rtol=1e-12)
        near(weft.matmul(self.device, a, batch), a @ batch, rtol=1e-12)
        near(weft.matmul(self.device, batch, c.T.copy()), batch @ c.T, rtol=1e-12)
        near(weft.matmul(self.device, a.astype("float32"), b.astype("float32")), a @ b, rtol=1e-5)
        out = self.device.asarray(c.copy())
        self.assertIs(weft.matmul(self.device, a, b, out=out, alpha=2.0, beta=-3.0), out)
        near(out, 2*(a @ b) - 3*c, rtol=1e-11, atol=1e-11)
        self.assertEqual(weft.matmul(self.device, numpy.zeros((3, 0)), numpy.zeros((0, 2))).numpy().tolist(), [[0, 0]] * 3)
        with self.assertRaisesRegex(weft.UsageError, r"the shapes \(7, 5\) and \(7, 5\) do not fit"):
            weft.matmul(self.device, a, a)
        with self.assertRaisesRegex(weft.UsageError, "float32 or float64, not int32"):
            weft.matmul(self.device, a, b, dtype="int32")
        with self.assertRaisesRegex(weft.UsageError, "out is float64"):
            weft.matmul(self.device, a, b, out=self.device.zeros((9, 7)))
        with self.assertRaisesRegex(weft.UsageError, "matrices or batches"):
            weft.matmul(self.device, a, b[0])

    def test_tuned_parameters(self):
        """A function whose time is that of its parameter: the least is found, used, and gives the same."""
        kernel = """
//@ function  wave(x: real[n]) -> y: real[n]
//@ kind      map
//@ tune      work = 80, 1, 40
//@ where     work <= 60 * n
//@ flops     4*n*work
//@ source    none: y = x, in a time that work determines
//@ threads   1
for (int i = 0; i < n; ++i) {
    real s = x(i);
    for (int j = 0; j < work; ++j)
        s = sqrt(s * s + 1);
    y(i) = s - s + x(i);
}
"""
        with tempfile.TemporaryDirectory() as folder:
            before, os.environ["XDG_CACHE_HOME"] = os.environ.get("XDG_CACHE_HOME"), folder
            try:
                device = weft.Device("host:1")
                device.add_functions(kernel)
                text = "index cells;\ninput x : real[2] over cells;\ny = wave(x);\nreturn y;\n"
                self.assertIn("not tuned", weft.Script(device, text, elements=20000).explain())
                one, = weft.tune(device, "wave", sizes={"n": 2}, elements=20000)
                self.assertEqual((one.setting, one.standard), ({"work": 1}, {"work": 80}))
                self.assertEqual((one.call, one.n_settings, one.n_allowed), ("wave(real[2])", 3, 3))
                self.assertLess(one.seconds, one.standard_seconds)
                script = weft.Script(device, text, elements=20000)
                self.assertIn("found by weft tune", script.explain())
                x = numpy.arange(20000.0).reshape(-1, 2)
                numpy.testing.assert_array_equal(script.program(x=x).run()["y"], x)
                # of a script, for another call: the default is not allowed
                small = text.replace("real[2]", "real[1]")
                one, = weft.tune(device, small, elements=20000)
                self.assertEqual((one.setting, one.n_allowed), ({"work": 1}, 2))
                self.assertEqual(weft.tune(device, text.replace("wave(x)", "2*x")), [])
                with self.assertRaisesRegex(weft.UsageError, "sizes are for a function"):
                    weft.tune(device, "mmul", sizes={"n": 2})
            finally:
                if before is None:
                    del os.environ["XDG_CACHE_HOME"]
                else:
                    os.environ["XDG_CACHE_HOME"] = before

    def test_the_first_list_gives_the_size(self):
        # Whatever the order: sizes and connectivities that are given come before the lists.
        script = weft.Script(self.device, """
index cells, nodes;
connectivity dofs : cells -> nodes[2];
input x : real over nodes;
input h : real[3] over cells;
d = x[dofs];
s = svmul(h, 2.0);
return d, s;""")
        heights = numpy.arange(15.0).reshape(5, 3)
        points, pairs = numpy.arange(6.0) ** 2, numpy.array([[i, i + 1] for i in range(5)], dtype="int32")
        program = script.program(h=heights, x=points, dofs=(pairs, 6)).run()
        numpy.testing.assert_array_equal(program["s"], 2 * heights)
        plain = weft.Script(self.device, "index n; input a : real[3] over n; y = svmul(a, 2.0); return y;")
        numpy.testing.assert_array_equal(plain.program(a=heights).run()["y"], 2 * heights)

    def test_parameters_that_begin_with_d(self):
        """Only a script that declares d gets the dimension of the mesh."""
        text = weft._library.lib.weft_fem_script(b"poisson_diffusivity.weft").decode()
        for of_dimension, plain in (("d = 2, degree", "degree"), ("d + 1", "3"), ("real[d]", "real[2]"), ("d = d", "d = 2")):
            self.assertIn(of_dimension, text)
            text = text.replace(of_dimension, plain)
        self.assertLess(weft.Form(weft.Space(weft.Mesh("square:4"), self.device), text).asymmetry(), 1e-12)

    def test_advection_diffusion(self):
        # A cosine decays by exp(-pi^2 mu t) where nothing flows through the sides.
        run = weft.AdvectionDiffusion(weft.Mesh("square:32"), dt=0.01, diffusivity=0.1, initial="cos(pi*x)",
                                      device=self.device)
        T = run.run(50).numpy()
        self.assertAlmostEqual(run.t, 0.5, places=12)
        exact = numpy.cos(math.pi * run.mesh.points[:, 0]) * math.exp(-math.pi ** 2 * 0.05)
        self.assertLess(abs(T - exact).max(), 2e-3)
        with self.assertRaisesRegex(weft.UsageError, "components of the velocity"):
            weft.AdvectionDiffusion(weft.Mesh("square:4"), dt=0.1, velocity=("1",), device=self.device)
        for wrong, expected in ((dict(splitting="none"), "'lie' or 'strang'"), (dict(scheme="none"), "'rk4' or 'rk3'")):
            with self.assertRaisesRegex(weft.UsageError, "is 'none', expected %s" % expected):
                weft.AdvectionDiffusion(weft.Mesh("square:4"), dt=0.1, diffusivity=1, device=self.device, **wrong)

    def test_transport_in_time(self):
        # A body whose boundary is kept at 2 becomes 2; the t of sqrt is not the time.
        run = weft.AdvectionDiffusion(weft.Mesh("square:4"), dt=10, diffusivity=1, dirichlet={"boundary": "sqrt(4)"},
                                      theta=1, device=self.device)
        self.assertLess(abs(run.run(5).numpy() - 2).max(), 1e-6)
        # dT/dt + t dT/dx = 0 has the solution x - t^2/2, which is linear in each step.
        run = weft.AdvectionDiffusion(weft.Mesh("square:4"), dt=0.1, velocity=("t", 0), initial="x", device=self.device)
        T = run.run(4).numpy()
        self.assertLess(abs(T - (run.mesh.points[:, 0] - 0.08)).max(), 1e-8)

    def test_meshes_of_arrays(self):
        points = [[0, 0], [1, 0], [1, 1], [0, 1]]
        mesh = weft.Mesh.from_arrays(points, [[0, 1, 2], [0, 3, 2]], facet_groups={"bottom": [[0, 1]]},
                                     cell_groups={"half": [1]}, point_groups={"corner": [2, 0]})
        self.assertEqual((mesh.dimension, mesh.n_nodes, mesh.n_cells), (2, 4, 2))
        self.assertEqual(mesh.groups, {"bottom": 1, "half": 2, "corner": 0})
        self.assertEqual(list(mesh.nodes("corner")), [0, 2])
        self.assertEqual(list(mesh.cell_group("half")), [1])
        self.assertEqual(sorted(mesh.nodes("bottom")), [0, 1])
        self.assertEqual(len(mesh.facets()), 4)
        numpy.testing.assert_array_equal(mesh.points, points)
        self.assertFalse(mesh.points.flags.writeable)
        with self.assertRaisesRegex(weft.InputError, "node 10"):
            weft.Mesh.from_arrays(points, [[0, 1, 2], [0, 3, 2]], point_groups={"nowhere": [9]})
        for bad, message in ((([[0, 0]], [[0, 1, 2]]), "do not exist"), ((points, [[0, 1, 5]]), "do not exist"),
                             ((points, [[0, 1, 2.5]]), "integers"), ((points, [[0, 1]]), r"\[cells, d \+ 1\]"),
                             (([[0, 0], [1, 0], [2, 0]], [[0, 1, 2]]), "volume|area")):
            with self.assertRaisesRegex(weft.InputError, message):
                weft.Mesh.from_arrays(*bad)
        with self.assertRaisesRegex(weft.InputError, "half"):
            mesh.cell_group("halve")
        with self.assertRaisesRegex(weft.FileError, "nowhere"):
            weft.Mesh("nowhere.vtkhdf")

    def test_meshio(self):
        block = types.SimpleNamespace
        m = block(points=numpy.array([[0, 0, 0], [1, 0, 0], [0, 1, 0.0]]),
                  cells=[block(type="line", data=numpy.array([[0, 1], [1, 2]])),
                         block(type="triangle", data=numpy.array([[0, 1, 2]]))],
                  cell_data={"gmsh:physical": [numpy.array([7, 8]), numpy.array([9])]},
                  field_data={"floor": numpy.array([7, 1]), "metal": numpy.array([9, 2])})
        mesh = weft.Mesh.from_meshio(m)
        self.assertEqual(mesh.groups, {"floor": 1, "8": 1, "metal": 2})
        self.assertEqual(sorted(mesh.nodes("floor")), [0, 1])
        self.assertEqual(list(mesh.cell_group("metal")), [0])

    def test_dolfinx(self):
        # two triangles, as dolfinx keeps them: the topology numbers the vertices 0 1 2 3 as the geometry's nodes 2 0 3 1
        block = types.SimpleNamespace
        tables = {(2, 0): [0, 1, 2, 1, 3, 2], (1, 0): [0, 1, 1, 2, 0, 2, 1, 3, 2, 3]}
        topology = block(dim=2, create_connectivity=lambda a, b: None,
                         connectivity=lambda a, b: block(array=numpy.array(tables[a, b], "int32")))
        geometry = block(x=numpy.array([[1, 0, 0], [1, 1, 0], [0, 0, 0], [0, 1, 0.0]]),
                         dofmap=numpy.array([[2, 0, 3], [0, 1, 3]], "int32"))
        facets = block(dim=1, indices=numpy.array([0, 3]), values=numpy.array([5, 6]))
        cells = block(dim=2, indices=numpy.array([0, 1]), values=numpy.array([1, 5]))
        mesh = weft.Mesh.from_dolfinx(block(topology=topology, geometry=geometry), facets, cells, names={1: "lower", 6: "right"})
        self.assertEqual(mesh.groups, {"5": 2, "right": 1, "lower": 2})
        numpy.testing.assert_array_equal(mesh.points[mesh.nodes("right")][:, 0], 1)
        numpy.testing.assert_array_equal(mesh.points[mesh.cells[mesh.cell_group("lower")[0]]].sum(axis=0), [1, 1])
        with self.assertRaisesRegex(weft.InputError, "dimension 0"):
            weft.Mesh.from_dolfinx(block(topology=topology, geometry=geometry), block(dim=0))

    def test_files(self):
        mesh = weft.Mesh("square:6")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "u.vtkhdf")
            mesh.write(path, {"u": mesh.points[:, 0], "area": numpy.ones(mesh.n_cells), "x": mesh.points})
            again = weft.Mesh(path)
            numpy.testing.assert_array_equal(again.points, mesh.points)
            numpy.testing.assert_array_equal(again.cells, mesh.cells)
            self.assertEqual(again.groups, mesh.groups)
            with self.assertRaisesRegex(weft.UsageError, "49 nodes or 72 cells"):
                mesh.write(path, {"u": [1, 2, 3]})
            with self.assertRaises(OSError):
                mesh.write(os.path.join(folder, "no", "u.vtkhdf"))

    def test_messages(self):
        messages = []
        device = weft.Device("host:1", log=lambda level, text: messages.append((level, text)))
        self.assertIn(("debug", "device " + device.name), messages)

    def test_texts_with_zero_characters(self):
        with self.assertRaisesRegex(weft.UsageError, "zero character"):
            weft.Mesh("square:4\0.geo")

    def test_errors_in_formulas_have_a_caret(self):
        space = weft.Space(weft.Mesh("square:2"), self.device)
        with self.assertRaises(weft.ScriptError) as caught:
            space.interpolate("1 + sin(x")
        self.assertIn("^", str(caught.exception))
        with self.assertRaisesRegex(weft.InputError, "left"):
            weft.Conditions(space, [weft.Dirichlet("lef")])


if __name__ == "__main__":
    unittest.main()
