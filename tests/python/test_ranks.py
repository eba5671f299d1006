"""weft.Problem on ranks that are threads: the bits of `solve --ranks`, for a script, a form file, Newton's method and steps in
time, whatever the number of ranks; mistakes are exceptions, after which the next problem is solved."""

import json
import os
import subprocess
import tempfile
import unittest

import numpy

import weft

BUILD = os.environ["WEFT_BUILD"]
RANKS = (1, 2, 3, 7)
POINTS = [(0.11, 0.23), (0.5, 0.47), (0.83, 0.71), (0.91, 0.12)]
PROBES = [word for x, y in POINTS for word in ("--probe", "%r,%r" % (x, y))]
FORM = """
e = FiniteElement("Lagrange", triangle, 2)
u, v = TrialFunction(e), TestFunction(e)
k = Coefficient(FiniteElement("DG", triangle, 0))
f = Coefficient(FiniteElement("Lagrange", triangle, 1))
a = k*inner(grad(u), grad(v))*dx + u*v*ds(1)
L = f*v*dx
"""
QUASILINEAR = """
e = FiniteElement("Lagrange", triangle, 1)
u, v = Coefficient(e), TestFunction(e)
F = (1 + u**2)*inner(grad(u), grad(v))*dx - 10*v*dx
"""
JUMPS = """
e = FiniteElement("DG", triangle, 1)
u, v = TrialFunction(e), TestFunction(e)
a = u*v*dx + inner(grad(u), grad(v))*dx + 100*jump(u)*jump(v)*dS
L = v*dx + dot(jump(v, FacetNormal(triangle)), as_vector([1, 2]))*dS
"""
STOKES = """
W = VectorElement("P", triangle, 2)*FiniteElement("P", triangle, 1)
(u, p), (v, q), f = TrialFunctions(W), TestFunctions(W), Coefficient(VectorElement("P", triangle, 2))
a = inner(grad(u), grad(v))*dx - p*div(v)*dx - q*div(u)*dx
L = inner(f, v)*dx
"""
HEAT = """
e = FiniteElement("Lagrange", triangle, 1)
u, v, f = TrialFunction(e), TestFunction(e), Coefficient(e)
m = u*v*dx
a = inner(grad(u), grad(v))*dx
L = f*v*dx
"""


class Ranks(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.mesh = weft.Mesh("square:12")

    def path(self, name, text=None):
        path = os.path.join(self.folder.name, name)
        if text is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        return path

    def run_solve(self, *words):
        """What `solve --ranks 3` reports."""
        subprocess.run([os.path.join(BUILD, "solve"), *words, *PROBES, "--quiet", "--ranks", "3", "--json", self.path("solve.json")],
                       check=True, cwd=self.folder.name)
        with open(self.path("solve.json"), encoding="utf-8") as file:
            return json.load(file)

    def check(self, work, *words):
        """work(ranks) gives a problem with a solution: all have the same bits, and those of `solve`."""
        found = [work(n) for n in RANKS]
        for n, problem in zip(RANKS, found):
            self.assertEqual(problem.n_ranks, n)
            self.assertEqual(problem.values.tobytes(), found[0].values.tobytes(), n)
            self.assertEqual(problem.integrals(), found[0].integrals())
        whole = work(None)
        self.assertEqual(whole.n_ranks, 0)
        numpy.testing.assert_allclose(found[0].values, whole.values, rtol=0, atol=2e-6 * abs(whole.values).max())
        report = self.run_solve(*words)
        probes = numpy.reshape([one["u"] for one in report["probes"]], -1)
        self.assertEqual(list(found[0].probe(POINTS).reshape(-1)), list(probes))
        return found[0], report

    def test_script(self):
        def work(n):
            problem = weft.Problem(self.mesh, "diffusion", {"diffusivity": "1 + x"}, ranks=n,
                                   conditions=[weft.Dirichlet("left", "y"), weft.Robin("right", 1, 2)])
            problem.solve()
            return problem
        one, report = self.check(work, "diffusion.weft", "--mesh", "square:12", "--define", "diffusivity=1 + x", "--dirichlet",
                                 "left=y", "--robin", "right=1,2", "--reactions")
        self.assertEqual(one.report.iterations, report["iterations"])
        self.assertEqual(one.report.residual, report["residual"])
        self.assertEqual(one.energy, report["energy"])
        self.assertEqual(one.reactions().sum, report["balance"])
        one.write(self.path("u.vtkhdf"))
        self.assertGreater(os.path.getsize(self.path("u.vtkhdf")), 1000)

    def test_form_file_with_arrays(self):
        """Coefficients over cells and nodes, as formulas for `solve`, and as arrays over the whole mesh."""
        centres = self.mesh.points[self.mesh.cells].mean(axis=1)
        arrays = {"k": 1 + (centres[:, 0] > 0.5), "f": 3 - self.mesh.points[:, 1]}

        def work(n, values=None):
            problem = weft.Problem(self.mesh, self.path("form.ufl", FORM), values or arrays, {"ds(1)": "top"}, ranks=n,
                                   conditions=[weft.Dirichlet("left", "y^2")])
            problem.solve()
            return problem
        one, _ = self.check(work, self.path("form.ufl", FORM), "--mesh", "square:12", "--input", "k=select(x > 0.5, 2, 1)", "--input",
                            "f=3 - y", "--measure", "ds(1)=top", "--dirichlet", "left=y^2")
        one.set(k=1.0)
        one.solve()
        self.assertEqual(one.values.tobytes(), work(2, {"k": 1, "f": "3 - y"}).values.tobytes())
        with self.assertRaisesRegex(weft.UsageError, "the list of the input 'f' does not have 169 values"):
            work(2, {"k": 1, "f": numpy.ones(17)})
        with self.assertRaisesRegex(weft.UnsupportedError, "g is given by an array over other entries[^|]*hint: give a formula"):
            weft.Problem(self.mesh, weft.FormFile(FORM.replace('f = ', 'g = ').replace('f*', 'g*').replace(
                'Coefficient(FiniteElement("Lagrange", triangle, 1))', "Coefficient(e)"), name="g.ufl"), {"k": 1, "g": numpy.ones(625)}, ranks=2)

    def test_coefficients_at_shared_nodes(self):
        """A node has the place, and the value by group, that the last of its cells gives it, which the part of a rank may lack."""
        left = numpy.flatnonzero(self.mesh.points[self.mesh.cells].mean(axis=1)[:, 0] < 0.4)
        mesh = weft.Mesh.from_arrays(self.mesh.points, self.mesh.cells, {"side": self.mesh.facets("right"), "edge": self.mesh.facets("left")}, {"some": left[::2]})
        for degree, f in ((1, "1; @some=5"), (2, "1; @some=5"), (2, "y")):
            text = FORM.replace('Coefficient(FiniteElement("Lagrange", triangle, 1))', "Coefficient(e)").replace(
                "triangle, 2", "triangle, %d" % degree)
            problems = [weft.Problem(mesh, weft.FormFile(text, name="f.ufl"), {"k": 1, "f": f}, {"ds(1)": "side"}, ranks=n,
                                     conditions=[weft.Dirichlet("edge", "y; @some=2 + y")]) for n in RANKS]
            for problem in problems:
                problem.solve()
                self.assertEqual(problem.values.tobytes(), problems[0].values.tobytes(), (degree, f, problem.n_ranks))

        for n in RANKS[1:]:
            one, other = (weft.Problem(mesh, weft.FormFile(HEAT, name="heat.ufl"), {"f": "t; @some=5*t"}, ranks=k) for k in (1, n))
            for a, b in zip(one.steps(dt=0.05, end=0.1), other.steps(dt=0.05, end=0.1)):
                self.assertEqual(a.values.tobytes(), b.values.tobytes(), n)

    def test_flow(self):
        def work(n):
            problem = weft.Problem(self.mesh, weft.FormFile(STOKES, name="s.ufl"), {"f": ("y", "-x^2")}, ranks=n,
                                   conditions=[weft.Dirichlet("boundary", (0, 0, None))])
            problem.solve()
            return problem
        one, two = work(1), work(3)
        self.assertEqual(one.values.tobytes(), two.values.tobytes())
        self.assertEqual([part.shape for part in two.fields], [(625, 2), (169,)])

    def test_integrals_between_cells(self):
        def work(n):
            problem = weft.Problem(self.mesh, weft.FormFile(JUMPS, name="jumps.ufl"), ranks=n, method="cg", preconditioner="jacobi")
            problem.solve()
            return problem
        self.check(work, self.path("jumps.ufl", JUMPS), "--mesh", "square:12", "--method", "cg", "--preconditioner", "jacobi")

    def test_newton(self):
        def work(n):
            problem = weft.Problem(self.mesh, weft.FormFile(QUASILINEAR, name="q.ufl"), ranks=n,
                                   conditions=[weft.Dirichlet("boundary", 0)])
            problem.solve(initial="x*(1 - x)")
            return problem
        one, report = self.check(work, self.path("q.ufl", QUASILINEAR), "--nonlinear", "--mesh", "square:12", "--dirichlet",
                                 "boundary=0", "--initial", "x*(1 - x)")
        self.assertEqual(one.report.newton.n_iterations, sum(i["cg_iterations"] > 0 for i in report["newton"]))
        again = work(3)
        again.solve(initial=again.values)  # it is solved
        self.assertLess(again.report.newton.n_iterations, 2)

    def test_steps_and_files(self):
        options = dict(dt=0.02, end=0.1, initial="sin(pi*x)", checkpoint_every=2)

        def work(n, resume=None, **more):
            problem = weft.Problem(self.mesh, weft.FormFile(HEAT, name="heat.ufl"), {"f": "x*t"}, ranks=n,
                                   conditions=[weft.Dirichlet("left", 0)])
            name = "%s.vtkhdf" % n
            for step in problem.steps(**{**options, **more}, checkpoint=self.path(name), output=self.path("u-" + name),
                                      output_every=2, resume=resume, overwrite=True):
                self.assertEqual(step.values.tobytes(), problem.values.tobytes())
            self.assertIsNotNone(problem.reactions())
            return problem
        one, _ = self.check(work, self.path("heat.ufl", HEAT), "--mesh", "square:12", "--input", "f=x*t", "--dirichlet", "left=0",
                            "--time", "0.02,0.1", "--initial", "sin(pi*x)", "--checkpoint", self.path("s.vtkhdf"),
                            "--checkpoint-every", "2")
        work(3, end=0.04)
        os.rename(self.path("3.vtkhdf"), self.path("half.vtkhdf"))
        self.assertEqual(work(2, resume=self.path("half.vtkhdf")).values.tobytes(), one.values.tobytes())
        start = numpy.sin(numpy.pi * self.mesh.points[:, 0])
        self.assertEqual(work(2, initial=start).values.tobytes(), work(3, initial=start).values.tobytes())

    def test_constraints(self):
        """A body that floats, with periodic sides."""
        def work(n):
            problem = weft.Problem(self.mesh, "diffusion", {"source": "sin(2*pi*x)"}, ranks=n, conditions=[
                weft.Periodic("left", "right"), weft.PointLoad((0.5, 0.5), 1), weft.PointLoad((0.25, 0.5), -1)])
            problem.solve()
            return problem
        one, _ = self.check(work, "diffusion.weft", "--mesh", "square:12", "--define", "source=sin(2*pi*x)", "--periodic",
                            "left=right", "--point-load", "0.5,0.5=1", "--point-load", "0.25,0.5=-1")
        self.assertEqual((one.report.free_modes, one.report.dependent), (1, 13))
        self.assertRaisesRegex(weft.UnsupportedError, "gradients are not computed on several ranks", one.gradient)

    # ---- mistakes ---------------------------------------------------------------------------

    def test_shares(self):
        """Parts of other sizes have the same bits, and are reported."""
        def solve(**options):
            problem = weft.Problem(self.mesh, "diffusion", {"diffusivity": "1 + x"}, conditions=[weft.Dirichlet("left", "y")], **options)
            problem.solve()
            return problem
        equal, given, predicted = solve(ranks=2), solve(ranks=2, shares=[0.1, 0.9]), solve(devices=["host:2", "host:4"])
        self.assertEqual(equal.shares, [])
        self.assertEqual([one.share for one in given.shares], [0.1, 0.9])
        self.assertEqual(equal.values.tobytes(), given.values.tobytes())
        self.assertEqual(equal.values.tobytes(), predicted.values.tobytes())
        self.assertAlmostEqual(sum(one.share for one in predicted.shares), 1)
        self.assertAlmostEqual(predicted.shares[0].seconds / predicted.shares[1].seconds, 1)
        self.assertIn("4 threads", predicted.shares[1].device)

    def test_predicted_shares(self):
        """As many nodes take longer where rows have 27 entries than where they have 15."""
        seconds = []
        for name, cell in ("cube:12", "tetrahedron"), ("hexes:12", "hexahedron"):
            text = "V = FiniteElement('Lagrange', %s, 1)\nu, v = TrialFunction(V), TestFunction(V)\n" % cell
            form = weft.FormFile(text + "a, L = inner(grad(u), grad(v))*dx, v*dx\n", name="diffusion.ufl")
            problem = weft.Problem(weft.Mesh(name), form, ranks=2, shares=[0.5, 0.5], tolerance=1e-2,
                                   assembly="csr", conditions=[weft.Dirichlet("left", 1)])
            problem.solve()
            seconds.append(problem.shares[0].seconds)
        self.assertLess(1.05 * seconds[0], seconds[1])

    def test_mistakes(self):
        def make(forms="diffusion", **options):
            return weft.Problem(self.mesh, forms, conditions=[weft.Dirichlet("boundary", 0)], **options)
        for options, message in (
                (dict(ranks=0), "ranks is 0, expected a number of threads.*hint: leave it out"),
                (dict(ranks=-2), "ranks is -2"), (dict(ranks=True), "ranks is True"), (dict(ranks="2"), "ranks is '2'"),
                (dict(ranks=5000), "5000 ranks: there can be 1 to 4096"),
                (dict(ranks=2, device=weft.Device("host:1")), "device is for a problem without ranks.*hint: name those of ranks"),
                (dict(devices="cuda:0"), "devices is 'cuda:0'.*hint: give a list"),
                (dict(ranks=3, devices=["cuda:0", "cuda:1"]), "2 devices for 3 ranks.*hint: "),
                (dict(devices=["host", "host"]), "the host is there twice.*hint: say how many threads each has"),
                (dict(devices=["cuda:0", "null"]), "lists of devices besides GPUs and the host are not computed"),
                (dict(shares=[0.5, 0.5]), "shares are those of ranks.*hint: add ranks=2"),
                (dict(ranks=2, shares=[0.5, 0.6]), "the shares add up to 1.1, expected 1"),
                (dict(ranks=2, shares=[1]), "1 share for 2 ranks"),
                (dict(comm=3), "comm is 3, which is not a communicator.*hint: give one of mpi4py"),
                (dict(ranks=2, comm=object()), "ranks=2 are threads of one process, and comm has processes"),
                (dict(ranks=2, tune=1), "measured plans are not computed on several ranks")):
            with self.subTest(**options), self.assertRaisesRegex(weft.Error, "(?s)" + message):
                make(**options)
        with self.assertRaisesRegex(weft.InputError, "square:1 has 4 nodes, fewer than the 5 ranks"):
            weft.Problem(weft.Mesh("square:1"), "diffusion", ranks=5)
        with self.assertRaisesRegex(weft.InputError, "no group.*'nowhere'|nowhere"):
            weft.Problem(self.mesh, "diffusion", ranks=3, conditions=[weft.Dirichlet("nowhere", 0)]).solve()
        with self.assertRaisesRegex(weft.ScriptError, "sinn"):
            weft.Problem(self.mesh, "diffusion", {"source": "sinn(x)"}, ranks=3).solve()

    def test_after_a_failure(self):
        """The next solve has ranks of its own."""
        problem = weft.Problem(self.mesh, "diffusion", ranks=3, conditions=[weft.Dirichlet("left", "1/x")])
        with self.assertRaises(weft.InputError):
            problem.solve()
        self.assertRaises(weft.InputError, problem.solve)
        good = weft.Problem(self.mesh, "diffusion", ranks=3, max_iterations=3, conditions=[weft.Dirichlet("left", "y")])
        with self.assertRaisesRegex(weft.NotConverged, "after 3 iterations"):
            good.solve()
        self.assertEqual(good.solve(must_converge=False).iterations, 3)


if __name__ == "__main__":
    unittest.main()
