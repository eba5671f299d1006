"""Constraints between values of u, and loads at points, in weft.Problem, against exact solutions."""

import math
import os
import unittest

import numpy

import weft
from test_problem_object import HEAT, POISSON, QUASILINEAR, STOKES, forms

DEVICE = os.environ.get("WEFT_TEST_DEVICE", "host:2")
# Plane strain, or space: Young's modulus 2 and Poisson's ratio 0.25, so that lambda = mu = 0.8.
ELASTICITY = """
e = VectorElement("Lagrange", {cell}, {degree})
u, v = TrialFunction(e), TestFunction(e)
def eps(w):
    return 0.5*(grad(w) + grad(w).T)
a = (2*0.8*inner(eps(u), eps(v)) + 0.8*div(u)*div(v))*dx
"""


class Constraints(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.device = weft.Device(DEVICE)

    def solved(self, text, mesh, conditions, cell="triangle", degree=1, **options):
        problem = weft.Problem(weft.Mesh(mesh), forms(text, cell, degree), conditions=conditions, device=self.device,
                               tolerance=1e-12, **options)
        problem.solve()
        return problem

    def test_periodic(self):
        wave = "sin(2*pi*x)*cos(2*pi*y)"
        errors = []
        for n in (8, 16):
            problem = self.solved(POISSON, "square:%d" % n, [weft.Periodic("left", "right"), weft.Periodic("bottom", "top")],
                                  degree=2, values={"k": 1, "f": "8*pi^2*" + wave})
            self.assertGreater(problem.report.dependent, 0)
            errors.append(problem.errors(wave)[0])
        self.assertGreater(math.log2(errors[0] / errors[1]), 2.8)

    def test_a_channel(self):
        """Between a wall and a plane of symmetry with the force 1: u = (2 y - y^2)/2, and p as at a point."""
        for plane in (weft.Symmetry("top"), weft.Dirichlet("top", (None, 0, None))):
            problem = self.solved(STOKES, "square:4", [weft.Periodic("left", "right"), weft.Dirichlet("bottom", (0, 0, None)),
                                                       plane, weft.PointValue((0.5, 0.5), (None, None, 2))],
                                  values={"f": (1, 0)})
            self.assertLess(max(problem.errors(("(2*y - y^2)/2", "0*x", "2 + 0*x"))), 1e-7)

    def test_a_tie(self):
        """A perfect conductor takes a heat of 3/2 in all: u = 3/2 x."""
        for degree in (1, 2):
            problem = self.solved(POISSON, "square:4", [weft.Dirichlet("left"), weft.Neumann("right", "1 + y"),
                                                        weft.Tie("right")], degree=degree, values={"k": 1, "f": 0})
            numpy.testing.assert_allclose(problem.values, 1.5 * problem.space.points[:, 0], atol=1e-9)

    def test_loads_at_points(self):
        """-u'' = 2 at x = 0.3, with u = 1 at x = 0.6: u is linear between these points, and nodes have it exactly."""
        problem = self.solved(POISSON, "interval:20", [weft.Dirichlet("left", 0), weft.PointLoad(0.3, 2), weft.PointValue(0.6, 1)],
                              cell="interval", values={"k": 1, "f": 0})
        x = problem.space.points[:, 0]
        slope = (1 + 2 * 0.3) / 0.6  # at the left end, and 2 less after 0.3
        exact = numpy.where(x < 0.3, slope * x, numpy.where(x < 0.6, slope * x - 2 * (x - 0.3), 1))
        numpy.testing.assert_allclose(problem.values, exact, atol=1e-9)

    def test_planes_of_symmetry(self):
        """A block that is pulled by the traction 1 along x: u = (x, -y/4, -z/4)/2 in space."""
        problem = self.solved(ELASTICITY, "cube:2", [weft.Symmetry(side) for side in ("left", "front", "bottom")]
                              + [weft.Neumann("right", (1, 0, 0))], cell="tetrahedron")
        numpy.testing.assert_allclose(problem.values, problem.space.points * [0.5, -0.125, -0.125], atol=1e-9)

    def test_a_body_that_floats(self):
        """Pulled at both ends: e_x = (1 - nu^2)/E, e_y = -nu (1 + nu)/E, and no translation or rotation."""
        problem = self.solved(ELASTICITY, "square:4", [weft.Neumann("left", (-1, 0)), weft.Neumann("right", (1, 0))])
        self.assertEqual((problem.report.free_modes, problem.report.held_modes), (3, 0))
        strain = [(1 - 0.25 ** 2) / 2, -0.25 * 1.25 / 2]
        numpy.testing.assert_allclose(problem.values, (problem.space.points - 0.5) * strain, atol=1e-9)
        with self.assertRaisesRegex(weft.InputError, "mode|balance|work"):
            self.solved(ELASTICITY, "square:4", [weft.Neumann("right", (1, 0))])

    def test_newton(self):
        """u = 1 + x along x, periodic across, where (1 + u^2) u' has the flux 5 at x = 1; loads at points add to it."""
        problem = self.solved(QUASILINEAR, "square:4", [weft.Dirichlet("left", 1), weft.Neumann("right", 5),
                                                        weft.Periodic("bottom", "top")], values={"f": "-2*(1 + x)"})
        self.assertLess(problem.errors("1 + x")[0], 1e-8)

    def test_time(self):
        """u = t at a point and everywhere: du/dt = 1."""
        problem = weft.Problem(weft.Mesh("square:4"), forms(HEAT), values={"k": 1, "f": 1}, device=self.device, tolerance=1e-12,
                               conditions=[weft.PointValue((0.3, 0.4), "t"), weft.Tie("right"), weft.Periodic("bottom", "top")])
        for step in problem.steps(dt=0.1, end=0.3, initial=0):
            numpy.testing.assert_allclose(step.values, step.t, atol=1e-8)

    def test_refusals(self):
        given = {"values": {"k": 1, "f": 0}}
        for kind, pattern, conditions in (
                (weft.InputError, r"PointValue\(\(0, 0.5\)\)[\s\S]*contradicts other conditions at \(0, 0.5\)",
                 [weft.Dirichlet("left", 1), weft.PointValue((0, 0.5), 2)]),
                (weft.UsageError, "has 1 coordinates, and the mesh has 2", [weft.PointValue(0.5, 2)]),
                (weft.UsageError, "has 2 values, and u has 1", [weft.PointLoad((0, 0.5), (1, 2))]),
                (weft.InputError, "nowhere", [weft.Periodic("left", "nowhere")]),
                (weft.InputError, "nowhere", [weft.Tie("nowhere")]),
                (weft.InputError, r"PointValue\(\(3, 4\)\)", [weft.PointValue((3, 4), 1)])):
            with self.assertRaisesRegex(kind, pattern):
                self.solved(POISSON, "square:4", conditions, **given)
        with self.assertRaisesRegex(weft.UsageError, "two groups, or none"):
            weft.Periodic("left")


if __name__ == "__main__":
    unittest.main()
