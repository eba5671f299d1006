"""What weft.Problem tells about its solution, where it is known: -div(3 grad u) = 2 with u = 0 at x = 0 and 1 has
u = x (1 - x)/3, which is in P2."""

import math
import os
import tempfile
import unittest

import numpy

import weft
from test_problem_object import HEAT, POISSON, STOKES, forms

DEVICE = os.environ.get("WEFT_TEST_DEVICE", "host:2")
ENDS = [weft.Dirichlet("left", 0), weft.Dirichlet("right", 0)]


class Results(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.device = weft.Device(DEVICE)

    def problem(self, text=POISSON, degree=2, mesh="square:4", **options):
        given = {"values": {"k": 3, "f": 2}, "conditions": ENDS, **options}
        return weft.Problem(weft.Mesh(mesh), forms(text, degree=degree), device=self.device, tolerance=1e-12, **given)

    def test_integrals_and_points(self):
        problem = self.problem()
        problem.solve()
        self.assertAlmostEqual(problem.integrals(), 1 / 18, 10)
        self.assertAlmostEqual(problem.energy, 1 / 18, 10)
        self.assertAlmostEqual(problem.integral("u"), 1 / 18, 10)
        self.assertAlmostEqual(problem.integral("u^2 + x"), 1 / 270 + 1 / 2, 10)
        self.assertAlmostEqual(problem.integral("dot(-3*grad(u), normal)", "left"), 1, 9)
        numpy.testing.assert_allclose(problem.integral("grad(u)", "right"), [-1 / 3, 0], atol=1e-9)
        numpy.testing.assert_allclose(problem.probe([[0.5, 0.3], [0.3, 0.77]]), [1 / 12, 0.07], atol=1e-10)
        self.assertTrue(numpy.isnan(problem.probe([[7, 7]])).all())
        most = problem.extrema("u")
        self.assertAlmostEqual(most.greatest, 1 / 12, 10)
        self.assertAlmostEqual(most.least, 0, 10)
        self.assertEqual(most.greatest_at[0], 0.5)
        self.assertLess(max(problem.errors("x*(1 - x)/3")), 1e-9)

    def test_reactions(self):
        problem = self.problem()
        problem.solve()
        balance = problem.reactions()
        self.assertEqual(sorted(balance.reactions), ["left", "right"])
        for reaction in balance.reactions.values():
            self.assertAlmostEqual(reaction, -1, 9)  # half of the load each
        self.assertAlmostEqual(balance.loads, 2, 9)
        self.assertAlmostEqual(balance.sum, 0, 9)
        robin = self.problem(conditions=[weft.Dirichlet("left", 0), weft.Robin("right", 2, 1)])
        robin.solve()
        self.assertAlmostEqual(robin.reactions().sum, 0, 9)
        # 3 u' + 2 u = 1 at x = 1, with u = c x - x^2/3: 3 c - 2 + 2 c - 2/3 = 1, and 1 - 2 u(1) flows in there
        c = 11 / 15
        self.assertAlmostEqual(robin.reactions().exchange["right"], 1 - 2 * (c - 1 / 3), 9)
        self.assertAlmostEqual(robin.reactions().reactions["left"], -3 * c, 9)

    def test_quantities_by_name(self):
        problem = self.problem()
        problem.define(flux="-3*grad(u)", size="hypot(flux[0], flux[1])")
        problem.solve()
        centres = problem.mesh.points[problem.mesh.cells].mean(axis=1)
        flux = problem.derived("flux")
        numpy.testing.assert_allclose(flux[:, 0], 2 * centres[:, 0] - 1, atol=1e-9)
        numpy.testing.assert_allclose(problem.derived("size"), abs(2 * centres[:, 0] - 1), atol=1e-9)
        numpy.testing.assert_allclose(problem.derived("flux", "consistent")[:, 0], 2 * problem.space.points[:, 0] - 1, atol=1e-7)
        self.assertAlmostEqual(problem.integral("flux[0]*x"), 1 / 6, 9)
        with tempfile.TemporaryDirectory() as folder:
            for projection in ("none", "consistent"):
                path = os.path.join(folder, projection + ".vtu")
                problem.write(path, projection)
                with open(path, "rb") as file:
                    text = file.read()
                self.assertTrue(b'Name="flux"' in text and b'Name="size"' in text and b'Name="u"' in text)
            linear = self.problem(degree=1)
            linear.define(flux="-3*grad(u)")
            linear.solve()
            path = os.path.join(folder, "linear.vtkhdf")
            linear.write(path)
            mesh = weft.Mesh(path)
            x = mesh.points[:, 0]
            numpy.testing.assert_allclose(weft.Space(mesh, self.device).interpolate("field(%s, u)" % path).numpy(),
                                          x * (1 - x) / 3, atol=1e-9)

    def test_after_other_solves(self):
        """What was compiled for a solution is of the next one too, and gone where there is none."""
        problem = self.problem()
        with self.assertRaisesRegex(weft.UsageError, "no solution yet"):
            problem.integral("u")
        for load in (2, 4):
            problem.set(f=load)
            with self.assertRaisesRegex(weft.UsageError, "no solution yet"):
                problem.integrals()
            problem.solve()
            self.assertAlmostEqual(problem.integral("u"), load / 36, 9)
            problem.solve()
            self.assertAlmostEqual(problem.integral("u"), load / 36, 9)
            self.assertAlmostEqual(problem.extrema("u").greatest, load / 24, 9)
        del problem

    def test_in_time(self):
        """u = (1 + t) x: its integral is (1 + t)/2, and what flows in at x = 1 without what leaves is stored."""
        problem = weft.Problem(weft.Mesh("square:4"), forms(HEAT), {"k": 1, "f": "x"}, device=self.device, tolerance=1e-12,
                               conditions=[weft.Dirichlet("left", 0), weft.Dirichlet("right", "1 + t")])
        for step in problem.steps(dt=0.1, end=0.4, initial="x"):
            self.assertAlmostEqual(problem.t, step.t)
            self.assertAlmostEqual(problem.integrals(), (1 + step.t) / 2, 8)
            self.assertAlmostEqual(problem.integral("u - t*x"), 0.5, 8)
            self.assertLess(max(problem.errors("(1 + t)*x")), 1e-8)
            balance = problem.reactions()
            self.assertAlmostEqual(balance.storage, 0.5, 7)
            self.assertAlmostEqual(balance.loads, 0.5, 7)
            self.assertAlmostEqual(balance.sum, 0, 7)
        with self.assertRaises(weft.UsageError):
            problem.energy

    def test_integrations_that_take_turns(self):
        """u = (1 + t) x from the start, and u = c x with other values: results are of the last step that was made."""
        problem = weft.Problem(weft.Mesh("square:4"), forms(HEAT), {"k": 1, "f": "x"}, device=self.device, tolerance=1e-12,
                               conditions=[weft.Dirichlet("left", 0), weft.Dirichlet("right", "1 + t")])
        slow, fast = (problem.steps(dt=dt, end=1, initial="x") for dt in (0.1, 0.2))
        for steps, t in ((slow, 0.1), (fast, 0.2), (slow, 0.2), (fast, 0.4), (slow, 0.3)):
            next(steps)
            self.assertAlmostEqual(problem.t, t)
            self.assertAlmostEqual(problem.integral("u"), (1 + t) / 2, 8)
            self.assertAlmostEqual(problem.integral("t"), t, 8)
            self.assertAlmostEqual(problem.reactions().storage, 0.5, 7)

    def test_mixed(self):
        """u = (y (1 - y), 0), p = x - 1, between two plates."""
        problem = self.problem(STOKES, values={"f": (3, 0)}, conditions=[
            weft.Dirichlet(side, ("y*(1 - y)", 0, None)) for side in ("left", "top", "bottom")])
        problem.solve()
        numpy.testing.assert_allclose(problem.integrals(), [1 / 6, 0, -0.5], atol=1e-7)
        numpy.testing.assert_allclose(problem.probe([[0.3, 0.4]]), [[0.24, 0, -0.7]], atol=1e-7)
        self.assertAlmostEqual(problem.integral("u[0]", "left"), 1 / 6, 7)
        whole = problem.reactions()
        # the force 3 on the area 1 is what the walls and the inlet hold
        self.assertEqual(sorted(whole.reactions), ["bottom", "left", "top"])
        for name in ("top", "bottom"):
            self.assertEqual(whole.reactions[name].shape, (3,))
            self.assertTrue(math.isnan(whole.reactions[name][2]))
        self.assertAlmostEqual(sum(one[0] for one in whole.reactions.values()), -3, 6)
        numpy.testing.assert_allclose(whole.sum[:2], 0, atol=1e-6)
        one_by_one = self.problem(STOKES, values={"f": (3, 0)}, conditions=[
            condition for side in ("left", "top", "bottom")
            for condition in (weft.Dirichlet(side, "y*(1 - y)", 0), weft.Dirichlet(side, 0, 1))])
        one_by_one.solve()
        for name, values in one_by_one.reactions().reactions.items():
            numpy.testing.assert_allclose(values, whole.reactions[name], atol=1e-6)

    def test_refusals(self):
        problem = self.problem()
        problem.define(flux="-3*grad(u)")
        problem.solve()
        for kind, pattern, call in (
                (weft.ScriptError, r"integral:1:\d+: error[\s\S]*\^", lambda: problem.integral("u + sin(q)")),
                (weft.InputError, "nowhere", lambda: problem.integral("u", "nowhere")),
                (weft.UsageError, "no quantity is called 'heat'; there are: flux", lambda: problem.derived("heat")),
                (weft.UsageError, "projection is 'mean'", lambda: problem.derived("flux", "mean")),
                (weft.UsageError, "2 formulas are given, expected 1", lambda: problem.errors((0, 1)))):
            with self.assertRaisesRegex(kind, pattern):
                call()


if __name__ == "__main__":
    unittest.main()
