"""Gradients of problems in time: against dense algebra of numpy, which is differentiated by complex steps; by Taylor remainders of J;
of steps that are stored and made again; and what is refused."""

import math
import os
import unittest

import numpy

import weft

DEVICE = os.environ.get("WEFT_TEST_DEVICE", "host:2")
HEAT = """
V = FiniteElement("Lagrange", triangle, 1)
u, v, unknown = TrialFunction(V), TestFunction(V), Coefficient(V)
k, f = Constant(triangle), Coefficient(V)
m, a, L = u*v*dx, k*inner(grad(u), grad(v))*dx, f*v*dx
J = unknown**2*dx
"""
SPACE = """
V = {element}
u, v, unknown = TrialFunction(V), TestFunction(V), Coefficient(V)
P = FiniteElement("Lagrange", {cell}, 1)
"""
H = [0.04*0.5**i for i in range(5)]


class Example:
    """A form file in which the initial value and the values of controls, and of Dirichlet conditions, are moved by h times 1, -2, 3, ...:
    in directions that are constant, so that the slope is the sum of derivatives. Controls with a mark * stay."""

    def __init__(self, name, element, cell, mesh, text, values, conditions=(), initial="x", over_time=False, **options):
        self.name, self.mesh, self.text = name, mesh, SPACE.format(element=element, cell=cell) + text
        self.values, self.conditions, self.initial, self.over_time, self.options = values, conditions, initial, over_time, options
        held = any(kind is weft.Dirichlet for kind, _, _ in conditions)
        controls = [*values, "initial"] + [None]*held
        self.weights = {control: (i + 1)*(-1)**i for i, control in enumerate(controls)}

    def moved(self, text, control, h):
        return ", ".join("%s + %r" % (one, h*self.weights[control]) for one in text.split(";"))

    def problem(self, device, h=0.0):
        conditions = [kind(group, self.moved(value, None, h) if kind is weft.Dirichlet else value) for kind, group, value in self.conditions]
        values = {name: tuple(self.moved(text, name, h).split(", ")) if ";" in text else self.moved(text, name, h)
                  for name, text in self.values.items()}
        return weft.Problem(weft.Mesh(self.mesh), weft.FormFile(self.text, name="test.ufl"), device=device, tolerance=1e-13,
                            values=values, conditions=conditions)

    def gradient(self, device, h=0.0, wrt=(), checkpoints=100):
        problem = self.problem(device, h)
        options = dict(self.options, newton_tolerance=1e-12) if problem.is_nonlinear else self.options
        for _ in problem.steps(dt=0.2, end=0.5, initial=self.moved(self.initial, "initial", h), checkpoints=checkpoints, **options):
            pass
        return problem.gradient("J", wrt=wrt, norm="l2", over_time=self.over_time)


LAGRANGE = 'FiniteElement("Lagrange", %s, %d)'
EXAMPLES = [
    Example("t", LAGRANGE % ("triangle", 2), "triangle", "square:3", """
k, f, t, c = Coefficient(P), Coefficient(V), Constant(triangle), Constant(triangle)
m, a, L = u*v*dx, (1+t)*k**2*inner(grad(u), grad(v))*dx, t*f*v*dx + c*v*ds
J = (unknown-t)**2*dx
""", {"k": "0.5+0.1*x*t", "f": "1+x*sin(t)", "c": "0.5+t"}, [(weft.Dirichlet, "left", "1+y*t")]),
    Example("nonlinear", LAGRANGE % ("quadrilateral", 1), "quadrilateral", "quads:3", """
k, f, e = Coefficient(V), Coefficient(V), Coefficient(FiniteElement("DG", quadrilateral, 0))
m = (1+k)*u*v*dx
F = (k+unknown**2)*inner(grad(unknown), grad(v))*dx + e*unknown.dx(0)*v*dx - f*v*dx
J = unknown**4*dx
""", {"k": "0.5+0.05*x", "f": "1+x", "e": "0.5"}, [(weft.Dirichlet, "left", "1+y"), (weft.Neumann, "right", "1")], "1+x", True, scheme="sdirk3"),
    Example("vector", 'VectorElement("Lagrange", tetrahedron, 1)', "tetrahedron", "cube:2", """
g, r = VectorConstant(tetrahedron), Coefficient(P)
m, a, L = r*dot(u, v)*dx, inner(sym(grad(u)), sym(grad(v)))*dx + r*dot(u, v)*ds, dot(g, v)*dx
J = dot(unknown, unknown)**2*ds
""", {"g": "1;2;t", "r": "2+x"}, (), "x;y;1", scheme="bdf2"),
    Example("upwind", 'FiniteElement("DG", triangle, 1)', "triangle", "square:3", """
b, n = Coefficient(VectorElement("Lagrange", triangle, 1)), FacetNormal(triangle)
c, bn = Constant(triangle), (dot(b, n)+sqrt(dot(b, n)**2+0.1))/2
m = c*u*v*dx
a = -u*dot(b, grad(v))*dx + dot(jump(v), bn('+')*u('+')-bn('-')*u('-'))*dS + v*bn*u*ds
J = unknown**2*dx
""", {"b": "1;0.3", "c": "2"}, (), "sin(x)", scheme="sdirk2"),
    Example("mixed", LAGRANGE % ("triangle", 2) + "*" + LAGRANGE % ("triangle", 1), "triangle", "square:3", """
(u, p), (v, q) = TrialFunctions(V), TestFunctions(V)
k, f = Constant(triangle), Coefficient(P)
m, a, L = (u*v + p*q)*dx, k*inner(grad(u), grad(v))*dx + p*v*dx - k*u*q*dx + k*p*q*dx, f*v*dx
J = dot(unknown, unknown)**2*dx
""", {"k": "0.3", "f": "1+x*t"}, (), "sin(x);y", True, theta=0.7, scheme="theta"),
]


def slope(example, gradient):
    return sum(weight*numpy.sum(gradient[control]) for control, weight in example.weights.items())


class GradientsInTime(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.device = weft.Device(DEVICE)

    def test_taylor(self):
        """|J(m + h q) - J(m) - h dJ q| falls as h^2. Observed orders tend to 2, which a wrong slope would make 1."""
        for example in EXAMPLES:
            first = example.gradient(self.device, wrt=list(example.weights))
            rest = [abs(example.gradient(self.device, h).value - first.value - h*slope(example, first)) for h in H]
            for coarse, fine in list(zip(rest, rest[1:]))[1:]:
                self.assertGreater(math.log2(coarse/fine), 1.9, "%s: %r" % (example.name, rest))

    def test_checkpoints(self):
        """Steps that are made again are those before, bitwise."""
        for example in EXAMPLES[:3]:
            first = example.gradient(self.device, wrt=list(example.weights))
            again = example.gradient(self.device, wrt=list(example.weights), checkpoints=1)
            self.assertEqual(first.value, again.value)
            for control in first:
                self.assertTrue(numpy.array_equal(first[control], again[control]), "%s, %s" % (example.name, control))

    def dense(self, mesh, k, f, initial, dt, theta):
        """J at the end and its derivatives: with numpy, for P1 on triangles and Dirichlet values of 1 at x = 0."""
        points, cells = mesh.points, mesh.cells
        M, K = numpy.zeros((2, len(points), len(points)))
        for cell in cells:
            p = points[cell]
            area = abs(numpy.linalg.det(p[1:] - p[0]))/2
            slopes = numpy.linalg.inv(numpy.column_stack([numpy.ones(3), p]))[1:]
            M[numpy.ix_(cell, cell)] += area/12*(1 + numpy.eye(3))
            K[numpy.ix_(cell, cell)] += area*slopes.T @ slopes
        free = points[:, 0] > 1e-9
        fixed = ~free

        def J(k, f, initial, held):
            u = initial + 0j
            u[fixed] = held[fixed]
            for _ in range(4):
                A, B = M/dt + theta*k*K, M/dt - (1 - theta)*k*K
                right = B @ u + M @ f - A[:, fixed] @ held[fixed]
                u = held + 0j
                u[free] = numpy.linalg.solve(A[numpy.ix_(free, free)], right[free])
            return u @ M @ u

        n, h, held = len(points), 1e-30, numpy.where(fixed, 1.0, 0.0)
        steps = 1j*h*numpy.eye(n)
        return {"value": J(k, f, initial, held).real, "k": J(k + 1j*h, f, initial, held).imag/h,
                "f": numpy.array([J(k, f + one, initial, held).imag/h for one in steps]),
                "initial": numpy.array([J(k, f, initial + one, held).imag/h for one in steps]),
                None: numpy.array([J(k, f, initial, held + one).imag/h if is_fixed else 0 for one, is_fixed in zip(steps, fixed)])}

    def test_against_dense_algebra(self):
        mesh = weft.Mesh("square:3")
        x, y = mesh.points.T
        for scheme, theta in (("theta", 0.5), ("theta", 1), ("theta", 0.8)):
            problem = weft.Problem(mesh, weft.FormFile(HEAT, name="test.ufl"), device=self.device, tolerance=1e-14,
                                   values={"k": 0.3, "f": self.device.asarray(1 + x*y)}, conditions=[weft.Dirichlet("left", 1)])
            for _ in problem.steps(dt=0.1, end=0.4, scheme=scheme, theta=theta, initial=x + y, checkpoints=2):
                pass
            expected = self.dense(mesh, 0.3, 1 + x*y, x + y, 0.1, theta)
            made = problem.gradient("J", wrt=["k", "f", "initial", None], norm="l2")
            self.assertAlmostEqual(made.value/expected["value"], 1, delta=1e-9)
            for control in made:
                error = numpy.abs(made[control] - expected[control]).max()/numpy.abs(expected[control]).max()
                self.assertLess(error, 1e-8, "%s of theta %g" % (control, theta))

    def test_gradient_in_l2_and_later_controls(self):
        """(g, q) = dJ q: sums of g with the mass are those of the derivatives; a control that is asked for later has the same."""
        example = EXAMPLES[0]
        problem = example.problem(self.device)
        for _ in problem.steps(dt=0.2, end=0.5, initial=example.initial, checkpoints=3):
            pass
        l2 = problem.gradient("J", wrt=["f", "initial"], norm="l2")
        later = problem.gradient("J", wrt=["c", "f", "k"], norm="L2")
        self.assertTrue(numpy.array_equal(later["c"], problem.gradient("J", wrt="c")["c"]))
        text = SPACE.format(element=LAGRANGE % ("triangle", 2), cell="triangle") + "g = Coefficient(V)\na, L, J = u*v*dx, v*dx, g*dx\n"
        of = weft.Problem(weft.Mesh(example.mesh), weft.FormFile(text, name="test.ufl"), {"g": self.device.asarray(later["f"])}, device=self.device)
        of.solve()
        self.assertAlmostEqual(of.gradient("J").value/l2["f"].sum(), 1, delta=1e-7)

    def test_refusals(self):
        text, values = HEAT, {"k": 1, "f": "x"}

        def made(text=text, checkpoints=5, steps={}, values=values, **options):
            problem = weft.Problem(weft.Mesh("square:2"), weft.FormFile(text, name="test.ufl"), values, device=self.device, **options)
            for _ in problem.steps(dt=0.5, end=1, checkpoints=checkpoints, **steps):
                pass
            return problem

        self.assertRaisesRegex(weft.UsageError, "steps\\(..., checkpoints=100\\)", lambda: made(checkpoints=0).gradient("J"))
        self.assertRaisesRegex(weft.UnsupportedError, "chosen by a tolerance are not recorded", lambda: made(steps={"tolerance": 1e-2}))
        for conditions, what in (([weft.Robin("left", 1, 2)], "Robin conditions"), ([weft.Periodic("left", "right")], "constraints")):
            self.assertRaisesRegex(weft.UnsupportedError, "not computed with " + what, lambda: made(conditions=conditions).gradient("J"))
        self.assertRaisesRegex(weft.UnsupportedError, "not pulled back through steps", lambda: made().pull_back(numpy.ones(9), ["f"]))
        own = HEAT.replace("m, a, L", "u_old, dt = Coefficient(V), Constant(triangle)\na, L").replace(
            "u*v*dx, k*inner(grad(u), grad(v))*dx, f*v*dx", "u*v*dx + dt*k*inner(grad(u), grad(v))*dx, (u_old + dt*f)*v*dx")
        self.assertRaisesRegex(weft.UnsupportedError, "whose scheme the forms have", lambda: made(own).gradient("J"))
        stationary = weft.Problem(weft.Mesh("square:2"), weft.FormFile(HEAT, name="test.ufl"), values, device=self.device,
                                  conditions=[weft.Dirichlet("left", 0)])
        stationary.solve()
        self.assertRaisesRegex(weft.UsageError, "no coefficient or constant initial", lambda: stationary.gradient("J", wrt="initial"))
        self.assertRaisesRegex(weft.UsageError, "over_time is for steps", lambda: stationary.gradient("J", over_time=True))


if __name__ == "__main__":
    unittest.main()
