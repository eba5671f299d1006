"""Wrong uses, and what the package says about each: what was given, what was expected, and the nearest name."""

import os
import re
import unittest

import numpy

import weft
from test_problem_object import HEAT, forms

DEVICE = os.environ.get("WEFT_TEST_DEVICE", "host:2")
ENDS = [weft.Dirichlet("boundary", 0)]


def zero(x):
    return 0


# A call of w, which has what is made in setUpClass, the exception, and a pattern of its text.
WRONG = [
    # conditions
    (lambda w: w.problem(conditions=ENDS[0]), weft.UsageError, r"conditions is Dirichlet\('boundary', 0\): expected a list of them: \["),
    (lambda w: w.problem(conditions={"left": 0}), weft.UsageError, r"conditions is {'left': 0} \(dict\): expected a list of weft.Dirichlet"),
    (lambda w: w.problem(conditions=["left"]), weft.UsageError, r"conditions\[0\] is 'left' \(str\): expected weft.Dirichlet, weft.Neumann"),
    (lambda w: w.problem(conditions=w.conditions), weft.UsageError, r"conditions is weft.Conditions\(16 of 25 .*: expected a list"),
    (lambda w: w.problem(conditions=[zero]), weft.UsageError, r"conditions\[0\] is <function zero.*> \(function\): expected weft.Dirichlet"),
    (lambda w: w.problem(conditions=[weft.Dirichlet("lft", 0)]), weft.InputError, r"no group `lft`; it has left.*\n.*did you mean `left`"),
    (lambda w: w.problem(conditions=[weft.Periodic("left", "rihgt")]), weft.InputError, r"no group `rihgt`(.|\n)*did you mean `right`"),
    (lambda w: w.problem(conditions=[weft.PointLoad((0.5,), 1)]), weft.UsageError, r"PointLoad.* has 1 coordinates, and the mesh has 2"),
    (lambda w: weft.Dirichlet("left", zero), weft.UsageError, r"value of Dirichlet\('left'\) is <function(.|\n)*hint: write it as text"),
    (lambda w: weft.Dirichlet("left", numpy.zeros(3)), weft.UsageError, r"value of Dirichlet\('left'\) is array\(.*expected a number, or a f"),
    (lambda w: weft.Dirichlet(0, "left"), weft.UsageError, r'group of Dirichlet is 0 \(int\): .*Dirichlet\("left", 0\)'),
    (lambda w: weft.Neumann(None, 1), weft.UsageError, r"group of Neumann is None: expected its name"),
    (lambda w: weft.Robin("left", 1, zero), weft.UsageError, r"value of Robin\('left'\) is <function zero"),
    (lambda w: weft.Periodic("left"), weft.UsageError, r"Periodic has two groups"),
    (lambda w: weft.Conditions(w.space, ENDS[0]), weft.UsageError, r"conditions is Dirichlet.*: expected a list of them"),
    (lambda w: weft.Conditions(w.mesh, ENDS), weft.UsageError, r"space is weft.Mesh\(.*: expected a weft.Space"),
    # values
    (lambda w: w.problem(values={"k": 1, "f": zero}), weft.UsageError, r"value of f is <function(.|\n)*a formula is text, such as"),
    (lambda w: w.problem(values={"k": 1, "f": None}), weft.UsageError, r"value of f is None: expected a number, a formula in x, y, z"),
    (lambda w: w.problem(values={"k": 1, "f": True}), weft.UsageError, r"value of f is True \(bool\): expected a number"),
    (lambda w: w.problem(values=[1, 2]), weft.UsageError, r"values is \[1, 2\] \(list\): expected a dictionary: name ->"),
    (lambda w: w.problem(values={"k": 1, "g": 1}), weft.UsageError, r"no coefficient or constant 'g'\nhint: they contain k, f"),
    (lambda w: w.problem(values={"k": 1}), weft.UsageError, r"the coefficient or constant 'f' has no values"),
    (lambda w: w.problem(values={"k": 1, "f": numpy.zeros(7)}), weft.UsageError, r"the list of the input 'f' does not have 25 values"),
    (lambda w: w.problem(values={"k": 1, "f": 1j * numpy.ones(25)}), weft.UsageError, r"values of f of complex128, .*; values.real are"),
    (lambda w: w.problem(values={"k": 1, "f": numpy.array(["a"] * 25)}), weft.UsageError, r"values of f of <U1, expected real numbers"),
    (lambda w: w.problem(values={"k": 1, "f": "sinn(x)"}), weft.ScriptError, r"f:1:1: .* 'sinn' (.|\n)*sinn\(x\)\n    \^\n.*mean 'sin'"),
    (lambda w: w.problem(values={"k": 1, "f": "x**2"}), weft.ScriptError, r"x\*\*2\n     \^\nhint: a power is written with \^: x\^2"),
    (lambda w: w.problem().set(k=zero), weft.UsageError, r"value of k is <function zero"),
    # what a problem is made of
    (lambda w: weft.Problem("square:4", w.file), weft.UsageError, r"mesh is 'square:4' \(str\): .*\nhint: weft.Mesh\('square:4'\)"),
    (lambda w: weft.Problem(w.mesh, zero), weft.UsageError, r"forms is <function zero.*: expected a weft.FormFile, the path"),
    (lambda w: weft.Problem(w.mesh, "difusion"), weft.UsageError, r"'difusion' is neither a form file"),
    (lambda w: w.problem(device="host"), weft.UsageError, r"device is 'host' \(str\): .*\nhint: weft.Device\('host'\)"),
    (lambda w: w.problem(toleranc=1), TypeError, r"weft.Problem has no argument 'toleranc'; did you mean 'tolerance'\?"),
    (lambda w: w.problem(tolerance="1e-8"), weft.UsageError, r"tolerance is '1e-8' \(str\): expected a number"),
    (lambda w: w.problem(tolerance=float("nan")), weft.UsageError, r"tolerance is at least 0"),
    (lambda w: w.problem(max_iterations=1e3), weft.UsageError, r"max_iterations is 1000.0 \(float\): expected a whole number"),
    (lambda w: w.problem(method="gmrse"), weft.UsageError, r"no method is called 'gmrse'; did you mean 'gmres'\?"),
    (lambda w: w.problem(preconditioner=None), weft.UsageError, r"no preconditioner is called None; did you mean 'none'\?"),
    (lambda w: w.problem(assembly="matrix-fre"), weft.UsageError, r"no assembly 'matrix-fre'\nhint: did you mean 'matrix-free'"),
    (lambda w: w.problem(measures={"ds(1)": "left"}), weft.UsageError, r"no integral has the measure ds\(1\)"),
    (lambda w: weft.FormFile(3), weft.UsageError, r"source of a FormFile is 3 \(int\): expected the path of a form file, or its text"),
    # what it is asked
    (lambda w: w.solved.solve(initial=1), weft.UsageError, r"initial is for Newton's method, and the problem is linear"),
    (lambda w: w.solved.solve(newton_iteration=1), TypeError, r"weft.Problem.solve has no argument .*did you mean 'newton_iterations'"),
    (lambda w: w.problem().steps(dt=0.1, end="1"), weft.UsageError, r"end is '1' \(str\): expected a number"),
    (lambda w: w.problem().steps(dt=0.1, end=1, initial=zero), weft.UsageError, r"initial is <function(.|\n)*write the formula as text"),
    (lambda w: w.problem().steps(dt=0.1, end=1, initial=numpy.zeros(3)), weft.UsageError, r"initial has 3 values, expected 25"),
    (lambda w: w.problem().steps(dt=0.1, end=1, scheme="sdrik2"), weft.UsageError, r"'sdrik2'\nhint: did you mean sdirk2"),
    (lambda w: w.problem().values, weft.UsageError, r"there is no solution yet: call solve"),
    (lambda w: w.solved.probe([[0.1, 0.2, 0.3]]), weft.UsageError, r"points have the shape \(1, 3\), expected \[n, 2\]"),
    (lambda w: w.solved.probe("centre"), weft.UsageError, r"points is 'centre' \(str\): expected their coordinates"),
    (lambda w: w.solved.integral(zero), weft.UsageError, r"the formula is <function zero.*: expected text"),
    (lambda w: w.solved.integral("u", "lft"), weft.Error, r"lft(.|\n)*left"),
    (lambda w: w.solved.errors(zero), weft.UsageError, r"a formula is <function zero"),
    (lambda w: w.solved.define(flux=zero), weft.UsageError, r"flux is <function zero.*: expected a formula as text"),
    (lambda w: w.solved.derived("flux"), weft.UsageError, r"no quantity is called 'flux'; there are: none"),
    (lambda w: w.solved.write(None), weft.UsageError, r"the path is None: expected a name that ends in .vtkhdf or .vtu"),
    (lambda w: w.solved.eigenvalues("3"), weft.UsageError, r"n is '3' \(str\): expected a whole number"),
    # meshes, spaces and operators
    (lambda w: weft.Mesh(4), weft.UsageError, r"name of a mesh is 4 \(int\): expected a file, or square:N"),
    (lambda w: weft.Mesh("square:4", refine=1.5), weft.UsageError, r"refine is 1.5 \(float\): expected a whole number"),
    (lambda w: weft.Mesh("square:4", refin=1), TypeError, r"weft.Mesh has no argument 'refin'; did you mean 'refine'\?"),
    (lambda w: w.mesh.nodes("lft"), weft.InputError, r"no group `lft`(.|\n)*did you mean `left`"),
    (lambda w: w.mesh.write("m.vtu", [1]), weft.UsageError, r"fields is \[1\] \(list\): expected a dictionary: name -> array"),
    (lambda w: weft.Space("square:3"), weft.UsageError, r"mesh is 'square:3' \(str\): expected a weft.Mesh"),
    (lambda w: weft.Space(w.mesh, w.device, degree="2"), weft.UsageError, r"degree is '2' \(str\): expected a whole number"),
    (lambda w: w.space.interpolate(zero), weft.UsageError, r"the formula is <function zero(.|\n)*hint: write it as text"),
    (lambda w: weft.Form(w.mesh, "poisson.weft"), weft.UsageError, r"space is weft.Mesh\(.*: expected a weft.Space or a weft.MixedSpace"),
    (lambda w: weft.Form(w.space, "poison.weft"), weft.FileError, r"poison.weft: there is no such file, and no script of this name is"),
    (lambda w: weft.Operator("poisson.weft"), weft.UsageError, r"form is 'poisson.weft'.*\nhint: weft.Form\(space, 'poisson.weft'\)"),
    (lambda w: weft.Operator(w.form, ENDS), weft.UsageError, r"conditions is \[.*\] \(list\): expected a weft.Conditions(.|\n)*space, \["),
    (lambda w: w.operator @ numpy.ones(7), weft.UsageError, r"v has 7 values, expected 25, the dofs of the space"),
    (lambda w: w.operator @ (1j * numpy.ones(25)), weft.UsageError, r"complex128, expected real numbers"),
    (lambda w: w.operator.solve("1"), weft.UsageError, r"'1' is not an array of numbers"),
    (lambda w: w.operator.solve(numpy.ones(25), x=numpy.ones(25)), weft.UsageError, r"x is array.* \(ndarray\): expected a weft.Array of"),
    # arrays, devices and scripts
    (lambda w: w.device.asarray([[1], [1, 2]]), weft.UsageError, r"hint: give rows of one length"),
    (lambda w: w.device.asarray(zero), weft.UsageError, r"<function zero.*> is not an array of numbers"),
    (lambda w: w.device.zeros(3.5), weft.UsageError, r"the shape is 3.5 \(float\): expected a whole number, or several"),
    (lambda w: w.device.zeros(3).set([1, 2]), weft.UsageError, r"values of the shape \(2,\), expected \(3,\) or one number"),
    (lambda w: weft.Device("host", log="info"), weft.UsageError, r"log is 'info': expected a function"),
    (lambda w: weft.Script("host", "y = 1;"), weft.UsageError, r"device is 'host' \(str\): expected a weft.Device"),
    (lambda w: weft.Script(w.device, 3), weft.UsageError, r"a script is 3 \(int\): expected its text"),
]


class WrongUses(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.device, cls.mesh, cls.file = weft.Device(DEVICE), weft.Mesh("square:4"), forms(HEAT)
        cls.space = weft.Space(cls.mesh, cls.device)
        cls.conditions, cls.form = weft.Conditions(cls.space, ENDS), weft.Form(cls.space, "poisson.weft")
        cls.operator = weft.Operator(cls.form, cls.conditions)
        cls.solved = cls.problem()
        cls.solved.solve()

    @classmethod
    def problem(cls, **options):
        return weft.Problem(cls.mesh, cls.file, **{"values": {"k": 1, "f": 1}, "conditions": ENDS, "device": cls.device, **options})

    def test_messages(self):
        self.assertGreater(len(WRONG), 70)
        for call, kind, pattern in WRONG:
            with self.subTest(pattern):
                with self.assertRaises(kind) as caught:
                    call(self)
                self.assertIsNotNone(re.search(pattern, str(caught.exception)), str(caught.exception))

    def test_conditions_of_a_generator(self):
        self.assertEqual(len(self.problem(conditions=(one for one in ENDS))._conditions), 1)

    def test_a_problem_is_the_same_after_a_wrong_name(self):
        problem = self.problem()
        problem.solve()
        expected = problem.values.copy()
        problem.set(kk=2, f=2)
        with self.assertRaisesRegex(weft.UsageError, "no coefficient or constant 'kk'\nhint: did you mean 'k'"):
            problem.solve()
        problem.solve()
        numpy.testing.assert_array_equal(problem.values, expected)


if __name__ == "__main__":
    unittest.main()
