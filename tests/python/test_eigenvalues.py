"""Problem.eigenvalues: against scipy's dense solver for matrices that numpy assembles, with random stiffness and density, cells without
mass and free bodies; a cantilever against the theory of beams; results, files, and what is refused."""

import math
import os
import tempfile
import unittest

import numpy
import scipy.linalg

import weft

DEVICE = os.environ.get("WEFT_TEST_DEVICE", "host:2")
DRUM = """
V = FiniteElement("Lagrange", triangle, 1)
u, v = TrialFunction(V), TestFunction(V)
D = FiniteElement("DG", triangle, 0)
k, rho = Coefficient(D), Coefficient(D)
a = k*inner(grad(u), grad(v))*dx(degree=0)
m = rho*u*v*dx(degree=2)
"""
SOLID = """
V = VectorElement("Lagrange", triangle, {degree})
u, v = TrialFunction(V), TestFunction(V)
E, nu = 100.0, 0.25
mu, lmbda = E/(2*(1 + nu)), E*nu/(1 - nu**2)
a = (2*mu*inner(sym(grad(u)), sym(grad(v))) + lmbda*div(u)*div(v))*dx
m = 2*inner(u, v)*dx
"""


THICK = """
V = VectorElement("Q", hexahedron, 2)
u, v = TrialFunction(V), TestFunction(V)
E, nu, rho = 200e9, 0.3, 8000
mu, lmbda = E/(2*(1 + nu)), E*nu/((1 + nu)*(1 - 2*nu))
a = (2*mu*inner(sym(grad(u)), sym(grad(v))) + lmbda*div(u)*div(v))*dx
m = rho*inner(u, v)*dx
"""
PLATE = """
Point(1) = {0, 0, 0}; Point(2) = {10, 0, 0}; Point(3) = {10, 10, 0}; Point(4) = {0, 10, 0};
Line(1) = {1, 2}; Line(2) = {2, 3}; Line(3) = {3, 4}; Line(4) = {4, 1};
Curve Loop(1) = {1, 2, 3, 4}; Plane Surface(1) = {1};
Transfinite Curve {1, 2, 3, 4} = 5; Transfinite Surface {1}; Recombine Surface {1};
out[] = Extrude {0, 0, 1} { Surface{1}; Layers{1}; Recombine; };
Physical Volume("plate") = {out[1]};
"""


def forms(text, **values):
    return weft.FormFile(text.format(**values) if values else text, name="test.ufl")


def matrices(mesh, k, rho):
    """Stiffness and mass of linear triangles."""
    x, cells = mesh.points, mesh.cells
    n = len(x)
    K, M = numpy.zeros((n, n)), numpy.zeros((n, n))
    for c, nodes in enumerate(cells):
        edges = numpy.array([x[nodes[1]] - x[nodes[0]], x[nodes[2]] - x[nodes[0]]])
        area = abs(numpy.linalg.det(edges))/2
        inner = numpy.linalg.inv(edges)
        slopes = numpy.array([-inner[:, 0] - inner[:, 1], inner[:, 0], inner[:, 1]])
        K[numpy.ix_(nodes, nodes)] += k[c]*area*slopes @ slopes.T
        M[numpy.ix_(nodes, nodes)] += rho[c]*area/12*(numpy.ones((3, 3)) + numpy.eye(3))
    return K, M


class Eigenvalues(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.device = weft.Device(DEVICE)

    def compare(self, size, conditions, preconditioner, massless=False):
        mesh = weft.Mesh("square:%d" % size)
        random = numpy.random.default_rng(size)
        n_cells = len(mesh.cells)
        k, rho = random.uniform(0.1, 2, n_cells), random.uniform(0.5, 3, n_cells)
        if massless:
            rho *= random.uniform(size=n_cells) < 0.5
        K, M = matrices(mesh, k, rho)
        free = numpy.arange(len(K))
        if conditions:
            x = mesh.points
            free = numpy.flatnonzero(numpy.minimum(x.min(axis=1), 1 - x.max(axis=1)) > 1e-9)
        problem = weft.Problem(mesh, forms(DRUM), values={"k": k, "rho": rho}, device=self.device,
                               conditions=conditions, preconditioner=preconditioner)
        found = problem.eigenvalues(8)
        whole = M
        K, M = K[numpy.ix_(free, free)], M[numpy.ix_(free, free)]
        if conditions:  # also where M is singular: the largest of M x = x/l K x
            expected = 1/scipy.linalg.eigh(M, K, eigvals_only=True)[::-1][:9]
        else:
            expected = scipy.linalg.eigh(K, M, eigvals_only=True)[1:10]
        numpy.testing.assert_allclose(found.values, expected[:8], rtol=1e-9)
        if not math.isnan(found.next):
            self.assertLess(abs(found.next/expected[8] - 1), 1e-2)
        self.assertEqual(found.rigid_modes, 0 if conditions else 1)
        X = found.vectors[:, free]
        numpy.testing.assert_allclose(X @ M @ X.T, numpy.eye(8), atol=1e-8)
        numpy.testing.assert_allclose(X @ K @ X.T, numpy.diag(found.values), atol=1e-6*found.values[-1])
        full = numpy.zeros((8, len(whole)))
        full[:, free] = X
        move = full @ whole.sum(axis=1)
        numpy.testing.assert_allclose(found.participations[:, 0], move, atol=1e-8)
        numpy.testing.assert_allclose(found.effective_masses[:, 0], move**2, atol=1e-8)
        numpy.testing.assert_allclose(found.total_masses, [whole.sum()], rtol=1e-10)
        return found

    def test_random(self):
        held = [weft.Dirichlet("boundary", 0)]
        for preconditioner in ("auto", "jacobi"):
            for size in (5, 20):  # as a whole, and by the iteration
                with self.subTest(preconditioner=preconditioner, size=size):
                    self.compare(size, held, preconditioner)
                    self.compare(size, held, preconditioner, massless=True)
                    self.compare(size, [], preconditioner)

    def test_buckling(self):
        """A mass of both signs, and of one: the values nearest to 0."""
        mesh = weft.Mesh("square:16")
        random = numpy.random.default_rng(4)
        n_cells = len(mesh.cells)
        x = mesh.points
        free = numpy.flatnonzero(numpy.minimum(x.min(axis=1), 1 - x.max(axis=1)) > 1e-9)
        for least in (-1.0, 0.2, -3.0):
            with self.subTest(least=least):
                k, rho = random.uniform(0.1, 2, n_cells), random.uniform(least, least + 1.5, n_cells)
                K, M = (A[numpy.ix_(free, free)] for A in matrices(mesh, k, rho))
                problem = weft.Problem(mesh, forms(DRUM), values={"k": k, "rho": rho}, device=self.device,
                                       conditions=[weft.Dirichlet("boundary", 0)])
                try:
                    found = problem.eigenvalues(7, buckling=True)
                except weft.UnsupportedError as error:
                    self.skipTest(str(error))
                mu = scipy.linalg.eigh(M, K, eigvals_only=True)
                expected = 1/mu[numpy.argsort(-abs(mu))][:8]
                numpy.testing.assert_allclose(found.values, sorted(expected[:7]), rtol=1e-9)
                X = found.vectors[:, free]
                for u, value in zip(X, found.values):
                    self.assertLess(numpy.linalg.norm(K @ u - value*M @ u), 1e-6*numpy.linalg.norm(K @ u))
                numpy.testing.assert_allclose(abs(X).max(axis=1), 1, rtol=1e-12)

    def test_factors(self):
        """Lanczos' method: the smallest, and those near a shift of a matrix that is not definite."""
        for name in ("WEFT_UMFPACK", "WEFT_MUMPS"):  # other tests hide them
            os.environ.pop(name, None)
        held = [weft.Dirichlet("boundary", 0)]
        try:
            found = self.compare(20, held, "lu", massless=True)
        except weft.UnsupportedError as error:
            self.skipTest(str(error))
        if found.method != "Lanczos":
            self.skipTest(found.reason)
        self.compare(5, held, "lu", massless=True)
        self.compare(20, [], "lu")
        self.assertEqual(self.compare(20, held, "auto").method, "Lanczos")
        mesh = weft.Mesh("square:20")
        k, rho = numpy.ones(800), numpy.random.default_rng(3).uniform(0.5, 3, 800)
        K, M = matrices(mesh, k, rho)
        text = DRUM.replace("dx(degree=0)", "dx(degree=0) - 200*u*v*dx(degree=2)")
        K -= 200*matrices(mesh, k, k)[1]
        all_values = scipy.linalg.eigh(K, M, eigvals_only=True)
        problem = weft.Problem(mesh, forms(text), values={"k": 1, "rho": rho}, device=self.device)
        for shift in (-31.0, 5.5):
            expected = sorted(all_values[numpy.argsort(abs(all_values - shift))[:9]])
            found = problem.eigenvalues(9, near=shift)
            numpy.testing.assert_allclose(found.values, expected, rtol=1e-8)
            self.assertLess(max(found.residuals), 1e-7)
        with self.assertRaisesRegex(weft.InputError, "the factors of K - s M are wrong|singular"):
            problem.eigenvalues(3, near=all_values[10])
        with self.assertRaisesRegex(weft.Error, "is not positive definite"):
            problem.eigenvalues(3)

    def test_largest(self):
        mesh = weft.Mesh("square:12")
        K, M = matrices(mesh, numpy.ones(288), 2*numpy.ones(288))
        found = weft.Problem(mesh, forms(DRUM), values={"k": 1, "rho": 2}, device=self.device).eigenvalues(4, largest=True)
        numpy.testing.assert_allclose(found.values, scipy.linalg.eigh(K, M, eigvals_only=True)[-4:], rtol=1e-9)

    def test_cantilever(self):
        """w'''' = (2 pi f)^2 rho A/(E I) w, f_k = b_k^2/(2 pi) sqrt(E I/(rho A))/L^2; a beam of 1 by 40, whose shear and turning inertia
        lower the second value by 0.8 %."""
        mesh = weft.Mesh.from_arrays(numpy.array([[40.0*i/40, j/2 - 0.5] for j in range(3) for i in range(41)]), numpy.array(
            [c for j in range(2) for i in range(40) for a in [41*j + i] for c in ([a, a + 1, a + 42], [a, a + 42, a + 41])]))
        held = [weft.PointValue((0, y), (0, 0)) for y in (-0.5, -0.25, 0, 0.25, 0.5)]
        found = weft.Problem(mesh, forms(SOLID, degree=2), device=self.device, conditions=held).eigenvalues(3)
        theory = [b**2/(2*math.pi)*math.sqrt(100/12/2)/40**2 for b in (1.875104, 4.694091, 7.854757)]
        for k, (f, expected) in enumerate(zip(found.frequencies, theory)):
            self.assertLess(abs(f/expected - 1), (0.005, 0.01, 0.025)[k], (f, expected))

    def test_l_shape(self):
        """The square of side 2 without a quarter, with cells that are smaller towards the corner, in elements of degree 2; the third value
        is 2 pi^2, others are known from Trefethen and Betcke 2006."""
        n = 16
        s = [(i - n)*abs(i - n)/n**2 for i in range(2*n + 1)]
        number, points, cells = {}, [], []
        for i in range(2*n):
            for j in range(2*n):
                if i >= n and j < n:
                    continue
                corners = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)]
                for corner in corners:
                    if corner not in number:
                        number[corner] = len(points)
                        points.append((s[corner[0]], s[corner[1]]))
                a, b, c, d = (number[corner] for corner in corners)
                cells += [(a, b, c), (a, c, d)]
        text = DRUM.replace('"Lagrange", triangle, 1', '"Lagrange", triangle, 2').replace("degree=0", "degree=2").replace("*dx(degree=2)\n", "*dx\n")
        found = weft.Problem(weft.Mesh.from_arrays(points, cells), forms(text), values={"k": 1, "rho": 1}, device=self.device,
                             conditions=[weft.Dirichlet("boundary", 0)]).eigenvalues(4)
        for value, expected in zip(found.values, (9.6397238440219, 15.1972519, 2*math.pi**2, 29.5214811)):
            self.assertLess(abs(value/expected - 1), 2e-4, (value, expected))

    def test_thick_plate(self):
        """NAFEMS FV52, a plate of 10 m x 10 m x 1 m whose lower edges cannot move across it, in 4 x 4 quadratic hexahedra: three motions are
        free; expected values in Hz by scikit-fem 12.0.2 for the same cells and conditions."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "plate.geo")
            with open(path, "w", encoding="utf-8") as file:
                file.write(PLATE)
            try:
                mesh = weft.Mesh(path)
            except weft.Error as error:
                self.skipTest(str(error))
        ends, steps = (0.0, 10.0), [10*i/8 for i in range(9)]
        edges = {(x, y) for x in steps for y in ends} | {(x, y) for x in ends for y in steps}
        held = [weft.PointValue((x, y, 0.0), (None, None, 0)) for x, y in sorted(edges)]
        found = weft.Problem(mesh, forms(THICK), device=self.device, conditions=held).eigenvalues(7)
        self.assertEqual((found.rigid_modes, found.multiplicities), (3, [1, 2, 2, 1, 1, 2, 2]))
        numpy.testing.assert_allclose(found.frequencies, [44.671, 110.004, 110.004, 166.211, 193.893, 206.616, 206.616], atol=1e-3)

    def test_result(self):
        mesh = weft.Mesh("square:16")
        problem = weft.Problem(mesh, forms(SOLID, degree=1), device=self.device, preconditioner="aggregation")
        found = problem.eigenvalues(4, columns=9, normalise="component")
        self.assertEqual((found.rigid_modes, found.vectors.shape, found.columns), (3, (4, 17**2, 2), 9))
        numpy.testing.assert_allclose(found.vectors.max(axis=(1, 2)), 1, rtol=1e-5)
        numpy.testing.assert_allclose(found.frequencies, numpy.sqrt(found.values)/(2*math.pi))
        numpy.testing.assert_array_equal(problem.eigenvalues(4, columns=9, normalise="component").vectors, found.vectors)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "modes.pvd")
            found.write(path)
            self.assertEqual(len(os.listdir(os.path.join(folder, "modes_steps"))), 4)

    def test_refused(self):
        mesh = weft.Mesh("square:16")
        one = {"k": 1, "rho": 1}
        for values, text, conditions, options, message in (
                ({"k": 1}, DRUM.replace("m =", "q ="), 0, {}, "no bilinear form m"), (one, DRUM, 1, {}, "values other than 0"),
                ({"k": 1, "rho": -1}, DRUM, 0, {}, "not positive semidefinite"),
                (one, DRUM, 0, {"ranks": 2}, "on several ranks")):
            problem = weft.Problem(mesh, forms(text), values=values, device=None if options else self.device,
                                   conditions=[weft.Dirichlet("boundary", conditions)], **options)
            with self.assertRaisesRegex(weft.Error, message):
                problem.eigenvalues(3)
        limited = weft.Problem(mesh, forms(DRUM), values=one, device=self.device, max_iterations=2, preconditioner="aggregation")
        with self.assertRaisesRegex(weft.NotConverged, "iteration limit reached after 2 iterations"):
            limited.eigenvalues(3)
        self.assertFalse(limited.eigenvalues(3, must_converge=False).converged)


if __name__ == "__main__":
    unittest.main()
