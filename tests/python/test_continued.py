"""Series of results and checkpoints of Problem.steps: a run that continues from a checkpoint has the bits of one that was not
interrupted, also where `solve` wrote the checkpoint, or reads it; what cannot be continued is refused, with its messages."""

import os
import re
import subprocess
import tempfile
import unittest
import unittest.mock

import numpy

import weft
from test_problem_object import HEAT, STOKES, forms

BUILD, DEVICE = os.environ["WEFT_BUILD"], os.environ.get("WEFT_TEST_DEVICE", "host:2")
HAS_PROGRAMS = os.access(os.path.join(BUILD, "solve"), os.X_OK)
WAVES = "1 + x*y"
BURGERS = """
e = FiniteElement("P", triangle, 1)
u, v, u_old = TrialFunction(e), TestFunction(e), Coefficient(e)
dt, t = Constant(triangle), Constant(triangle)
a = u*v*dx + dt*0.1*inner(grad(u), grad(v))*dx + dt*u_old*u.dx(0)*v*dx
L = u_old*v*dx + dt*5*v*dx
"""
VECTOR = """
e = VectorElement("P", triangle, 2)
u, v, f, k = TrialFunction(e), TestFunction(e), VectorConstant(triangle), Constant(triangle)
m = inner(u, v)*dx
a = k*inner(grad(u), grad(v))*dx
L = inner(f, v)*dx + v[0]*ds(1)
"""
# The options of `solve`, and the same problems.
CASES = {
    "script": (["heat.weft", "--define", "source=t", "--define", "conductivity=1+x*t", "--dirichlet", "left=t",
                "--robin", "right=2,sin(t)", "--initial", WAVES],
               dict(forms="heat", values={"source": "t", "conductivity": "1+x*t"},
                    conditions=[weft.Dirichlet("left", "t"), weft.Robin("right", 2, "sin(t)")])),
    "tied": (["heat.weft", "--tie", "top", "--periodic", "left=right", "--point-value", "0.5,0.5=1", "--point-load",
              "0.25,0.5=2", "--initial", WAVES],
             dict(forms="heat", conditions=[weft.Tie("top"), weft.Periodic("left", "right"), weft.PointValue((0.5, 0.5), 1),
                                            weft.PointLoad((0.25, 0.5), 2)])),
    "nonlinear": (["heat_nonlinear.weft", "--nonlinear", "--define", "conductivity=0.5+0.1*u", "--dirichlet", "left=1+t",
                   "--initial", WAVES],
                  dict(forms="heat_nonlinear", values={"conductivity": "0.5+0.1*u"},
                       conditions=[weft.Dirichlet("left", "1+t")])),
    "vector": (["vector.ufl", "--input", "k=2", "--input", "f=1,-1", "--measure", "ds(1)=top", "--dirichlet",
                "left=t,free", "--dirichlet", "bottom=free,0", "--initial", "x,y"],
               dict(forms="vector.ufl", values={"k": 2, "f": "1,-1"}, measures={"ds(1)": "top"},
                    conditions=[weft.Dirichlet("left", ("t", None)), weft.Dirichlet("bottom", (None, 0))], initial="x,y")),
    "own scheme": (["burgers.ufl", "--initial", WAVES], dict(forms="burgers.ufl")),
}
SCHEMES = ({}, {"scheme": "bdf2"}, {"scheme": "sdirk3"}, {"tolerance": 1e-3})


class Continued(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.device, cls.mesh = weft.Device(DEVICE), weft.Mesh("square:8")

    def setUp(self):
        self.before, self.folder = os.getcwd(), tempfile.TemporaryDirectory()
        os.chdir(self.folder.name)
        for name, text in (("burgers.ufl", BURGERS), ("vector.ufl", VECTOR)):
            with open(name, "w", encoding="utf-8") as file:
                file.write(text)

    def tearDown(self):
        os.chdir(self.before)
        self.folder.cleanup()

    def steps(self, case, end, mesh=None, initial=WAVES, dt=0.05, **more):
        """The last u, of a problem of its own."""
        options = {"initial": initial, **CASES[case][1]}
        initial, of_forms = options.pop("initial"), options.pop("forms")
        problem = weft.Problem(mesh or self.mesh, of_forms, device=self.device, **options)
        for _ in problem.steps(dt=dt, end=end, initial=initial, **more):
            pass
        return problem.values.copy()

    def solve(self, case, end, *more):
        done = subprocess.run([os.path.join(BUILD, "solve"), *CASES[case][0], "--mesh", "square:8", "--time", "0.05,%g" % end,
                               "--device", DEVICE, *more], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def series(self, name):
        """The times of a .pvd series, and the values of u as the files have them."""
        with open(name, encoding="utf-8") as file:
            rows = re.findall(r'timestep="([^"]*)"[^>]*file="([^"]*)"', file.read())
        values = []
        for _, path in rows:
            with open(path, encoding="utf-8") as file:
                values.append(re.search(r'Name="u"[^>]*>([^<]*)<', file.read())[1].strip())
        return [float(t) for t, _ in rows], values

    def test_schemes(self):
        """Interrupted after 4 of 8 steps, by the end or by close(): u and the series are those of one run."""
        for scheme in SCHEMES:
            with self.subTest(scheme=scheme):
                files = {"output_interval": 0.1, "overwrite": True, **scheme}
                whole = self.steps("script", 0.4, output="whole.pvd", checkpoint="whole.vtkhdf", checkpoint_every=4, **files)
                if "tolerance" in scheme:  # it counts until the end, and the steps have other lengths
                    problem = weft.Problem(self.mesh, device=self.device, **CASES["script"][1])
                    with problem.steps(dt=0.05, end=0.4, initial=WAVES, output="half.pvd", checkpoint="half.vtkhdf",
                                       **files) as steps:
                        for step in steps:
                            if step.step == 4:
                                break
                else:
                    self.steps("script", 0.2, output="half.pvd", checkpoint="half.vtkhdf", **files)
                files["overwrite"] = False
                half = self.steps("script", 0.4, output="half.pvd", checkpoint="half.vtkhdf", checkpoint_every=4,
                                  resume="half.vtkhdf", **files)
                self.assertTrue(numpy.array_equal(whole, half), abs(whole - half).max())
                numpy.testing.assert_allclose(self.series("half.pvd")[0], [0, 0.1, 0.2, 0.3, 0.4], rtol=1e-9)
                self.assertEqual(self.series("half.pvd"), self.series("whole.pvd"))

    @unittest.skipUnless(HAS_PROGRAMS, "this build has no programs")
    def test_programs(self):
        """Either half by `solve`, and the other in Python."""
        for case in CASES:
            with self.subTest(case):
                every = ("--checkpoint-every", "4", "--output-every", "2", "--overwrite")
                self.solve(case, 0.4, "--checkpoint", "whole.vtkhdf", "--output", "whole.pvd", *every)
                whole = self.steps(case, 0.4, resume="whole.vtkhdf")  # no step is left
                self.solve(case, 0.2, "--checkpoint", "half.vtkhdf", "--output", "half.pvd", *every)
                found = self.steps(case, 0.4, resume="half.vtkhdf", output="half.pvd", output_every=2)
                self.assertTrue(numpy.array_equal(found, whole), abs(found - whole).max())
                self.assertEqual(self.series("half.pvd"), self.series("whole.pvd"))
                self.assertEqual(len(self.series("half.pvd")[0]), 5)
                self.steps(case, 0.2, checkpoint="python.vtkhdf", output="python.pvd", output_every=2, overwrite=True)
                self.solve(case, 0.4, "--resume", "python.vtkhdf", "--checkpoint", "end.vtkhdf", "--output", "python.pvd",
                           "--output-every", "2")
                found = self.steps(case, 0.4, resume="end.vtkhdf")
                self.assertTrue(numpy.array_equal(found, whole), abs(found - whole).max())
                self.assertEqual(self.series("python.pvd"), self.series("whole.pvd"))

    def test_values(self):
        """du/dt = 1 from u = 0 without a flux: u = t, at the steps that are asked for, in one file."""
        values = {"k": 1, "f": 1}
        problem = weft.Problem(self.mesh, forms(HEAT), values, device=self.device)
        for _ in problem.steps(dt=0.1, end=0.5, output="u.vtkhdf", output_every=2):
            pass
        numpy.testing.assert_allclose(problem.values, 0.5, rtol=1e-7)
        with open("u.vtkhdf", "rb") as file:
            content = file.read()
        for t, is_there in ((0.2, True), (0.4, True), (0.5, True), (0.3, False)):
            near = [one for one in numpy.frombuffer(content[:len(content) // 8 * 8], dtype="<f8") if abs(one - t) < 1e-7]
            self.assertEqual(len(near) >= self.mesh.n_nodes, is_there, t)
        with self.assertRaisesRegex(weft.UsageError, "u.vtkhdf exists, and it is kept"):
            problem.steps(dt=0.1, end=0.5, output="u.vtkhdf")
        problem.steps(dt=0.1, end=0.5, output="u.vtkhdf", overwrite=True)

    def test_mixed(self):
        """Flow from rest: functions of different degrees in one series, and a pressure up to a constant."""
        def run(end, **files):
            problem = weft.Problem(weft.Mesh("square:4"), forms(STOKES), {"f": "1,-2"}, device=self.device,
                                   conditions=[weft.Dirichlet("boundary", (0, 0, None))])
            for _ in problem.steps(dt=0.1, end=end, **files):
                pass
            return problem.values.copy()
        whole = run(0.4, checkpoint="whole.vtkhdf", checkpoint_every=2, output="whole.pvd", output_every=1)
        run(0.2, checkpoint="half.vtkhdf", output="half.pvd", output_every=1)
        half = run(0.4, resume="half.vtkhdf", output="half.pvd", output_every=1)
        self.assertTrue(numpy.array_equal(whole, half), abs(whole - half).max())
        for step in sorted(os.listdir("whole_steps")):
            with open("whole_steps/" + step, "rb") as a, open("half_steps/" + step, "rb") as b:
                self.assertTrue(a.read() == b.read(), step)

    def test_arrays(self):
        """Values in arrays are part of the problem: those with others are refused."""
        def run(end, k, initial, **files):
            problem = weft.Problem(self.mesh, forms(HEAT), {"k": 1, "f": k}, device=self.device,
                                   assembly="csr")  # else by the number of steps
            for _ in problem.steps(dt=0.1, end=end, initial=initial, **files):
                pass
            return problem.values.copy()
        k, start = numpy.linspace(0, 1, self.mesh.n_nodes), numpy.ones(self.mesh.n_nodes)
        whole = run(0.4, k, start, checkpoint="whole.vtkhdf", checkpoint_every=2)
        run(0.2, k, start, checkpoint="half.vtkhdf")
        self.assertTrue(numpy.array_equal(run(0.4, k.copy(), start.copy(), resume="half.vtkhdf"), whole))
        for other in ((k + 1e-9, start), (k, start + 1e-9)):
            with self.assertRaisesRegex(weft.InputError, "the checkpoint of another problem.*values"):
                run(0.4, *other, resume="half.vtkhdf")

    def test_refusals(self):
        self.steps("script", 0.2, checkpoint="c.vtkhdf", output="c.pvd")
        problems = {
            "the checkpoint of another mesh": dict(mesh=weft.Mesh("square:9")),
            r"another problem: it was written with --dt 0.05\d*; this run has --dt 0.1\d*": dict(dt=0.1),
            "another problem: it was written with --scheme .*; this run has --scheme theta": dict(scheme="theta"),
            "it was written with --initial '1 [+] x[*]y'; this run has --initial '2'": dict(initial=2),
        }
        for message, other in problems.items():
            with self.assertRaisesRegex(weft.InputError, message):
                self.steps("script", 0.4, resume="c.vtkhdf", **other)
        with self.assertRaisesRegex(weft.InputError, "this run has .*--tie 'top'"):
            self.steps("tied", 0.4, resume="c.vtkhdf")
        usage = {
            "the checkpoint was written at t = 0.2, and the run ends at t = 0.1": dict(end=0.1, resume="c.vtkhdf"),
            "--checkpoint .*c.vtu: it is a VTKHDF file": dict(checkpoint="c.vtu"),
            "--output would write over the file of --checkpoint, .*d.vtkhdf": dict(output="d.vtkhdf", checkpoint="./d.vtkhdf"),
            "--output would write over the file of --resume": dict(output="c.vtkhdf", resume="c.vtkhdf", overwrite=True),
            "a time series ends in .pvd or .vtkhdf": dict(output="c.csv"),
            "c.pvd exists, and it is kept": dict(output="c.pvd"),
            "not where: give checkpoint": dict(checkpoint_every=2),
            "not where: give output": dict(output_every=2),
            "with a tolerance in time the number of steps is not known": dict(output="d.pvd", output_every=2, tolerance=1e-3),
            "expected 0, for none, or more": dict(output="d.pvd", output_every=-1),
            "outputs are too many": dict(output="d.pvd", output_interval=1e-12),
        }
        for message, files in usage.items():
            with self.assertRaisesRegex(weft.UsageError, message):
                self.steps("script", **{"end": 0.4, **files})
        with open("text.vtkhdf", "w", encoding="utf-8") as file:
            file.write("text")
        with self.assertRaisesRegex(weft.InputError, "this checkpoint is incomplete"):
            self.steps("script", 0.4, resume="text.vtkhdf")
        self.assertFalse(os.path.exists("d.pvd") or os.path.exists("d.vtkhdf"))

    def test_interrupted(self):
        """An exception in the loop leaves the state of the last step; nothing is written after close()."""
        problem = weft.Problem(self.mesh, device=self.device, **CASES["script"][1])
        with self.assertRaises(ZeroDivisionError):
            with problem.steps(dt=0.05, end=0.4, initial=WAVES, checkpoint="c.vtkhdf", output="c.pvd", output_every=1) as steps:
                for step in steps:
                    1 / (step.step - 3)
        self.assertEqual(len(self.series("c.pvd")[0]), 4)
        next(steps)
        self.assertEqual(len(self.series("c.pvd")[0]), 4)
        steps = problem.steps(dt=0.05, end=0.4, initial=WAVES, resume="c.vtkhdf")
        self.assertEqual((steps.state.step, round(steps.t, 12), round(problem.t, 12)), (3, 0.15, 0.15))
        self.assertTrue(numpy.array_equal(problem.values, step.values))

    def test_ctrl_c(self):
        """The checkpoint is of the step before that which was interrupted."""
        problem = weft.Problem(self.mesh, device=self.device, **CASES["script"][1])
        with self.assertRaises(KeyboardInterrupt):
            with problem.steps(dt=0.05, end=0.4, initial=WAVES, checkpoint="c.vtkhdf", checkpoint_every=2) as steps:
                next(steps), next(steps), next(steps)
                with unittest.mock.patch("weft.steps.lib.weft_transient_step", side_effect=KeyboardInterrupt):
                    next(steps)
        self.assertEqual(problem.steps(dt=0.05, end=0.4, initial=WAVES, resume="c.vtkhdf").state.step, 3)

    def test_adapted(self):
        """A preconditioner that is adapted to matrices which change is set up again after a checkpoint, in either run."""
        def run(end, **files):
            problem = weft.Problem(weft.Mesh("square:24"), "heat", {"conductivity": "1 + 20*t*x", "source": "sin(9*y)"},
                                   device=self.device, conditions=[weft.Dirichlet("left", "t")], preconditioner="aggregation")
            for _ in problem.steps(dt=0.05, end=end, initial=WAVES, **files):
                pass
            return problem.values.copy()
        whole = run(0.4, checkpoint="whole.vtkhdf", checkpoint_every=4)
        run(0.2, checkpoint="half.vtkhdf")
        half = run(0.4, resume="half.vtkhdf")
        self.assertTrue(numpy.array_equal(whole, half), abs(whole - half).max())

    def test_folder(self):
        """Files are where they were when the steps began, after a change of the folder too."""
        problem = weft.Problem(self.mesh, forms(HEAT), {"k": 1, "f": 1}, device=self.device)
        with problem.steps(dt=0.1, end=0.5, output="u.pvd", output_every=1, checkpoint="c.vtkhdf") as steps:
            next(steps)
            os.mkdir("other")
            os.chdir("other")
            next(steps)
        self.assertEqual(os.listdir(), [])
        os.chdir("..")
        self.assertEqual(len(self.series("u.pvd")[0]), 3)
        self.assertTrue(os.path.exists("c.vtkhdf"))

    def test_starts(self):
        """du/dt = 1 from u = 0 at t = 1: outputs by time count from there, and the start is part of the problem."""
        problem = weft.Problem(self.mesh, forms(HEAT), {"k": 1, "f": 1}, device=self.device)
        for _ in problem.steps(dt=0.1, start=1, end=1.5, output="u.pvd", output_interval=0.25, checkpoint="c.vtkhdf"):
            pass
        numpy.testing.assert_allclose(self.series("u.pvd")[0], [1, 1.25, 1.5], rtol=1e-12)
        for _ in problem.steps(dt=0.1, start=1, end=2, output="u.pvd", output_interval=0.25, resume="c.vtkhdf"):
            pass
        numpy.testing.assert_allclose(problem.values, 1, rtol=1e-7)
        numpy.testing.assert_allclose(self.series("u.pvd")[0], [1, 1.25, 1.5, 1.75, 2], rtol=1e-12)
        with self.assertRaisesRegex(weft.InputError, "it was written with --start 1"):
            problem.steps(dt=0.1, end=2, resume="c.vtkhdf")

    def test_null(self):
        """The null device computes nothing, and writes nothing."""
        problem = weft.Problem(self.mesh, forms(HEAT), {"k": 1, "f": 1}, device=weft.Device("null"))
        problem.steps(dt=0.1, end=0.5, output="u.vtkhdf", checkpoint="c.vtkhdf").close()
        self.assertEqual(sorted(os.listdir()), ["burgers.ufl", "vector.ufl"])


class Sums(unittest.TestCase):
    def test_energy(self):
        """A stretch by 1.5 of a solid that may contract: E_xx = (1.5^2 - 1)/2, and W = M E_xx^2/2 with M = 4 mu (lambda + mu)/
        (lambda + 2 mu) in plane strain, as tests/solve/test_solids.c."""
        device = weft.Device(DEVICE)
        problem = weft.Problem(weft.Mesh("square:4"), "kirchhoff", {"poisson": 0.25}, device=device, tolerance=1e-12,
                               conditions=[weft.Dirichlet("left", (0, None)), weft.Dirichlet("bottom", (None, 0)),
                                           weft.Dirichlet("right", (0.5, None))])
        with self.assertRaisesRegex(weft.UsageError, "no solution yet"):
            problem.sum("W")
        problem.solve(newton_tolerance=1e-12)
        self.assertAlmostEqual(problem.sum("W"), 4 * 0.4 * 0.8 / 1.2 * 0.625**2 / 2, 10)
        for name in ("J", "K", "r", "lambda_", "dofs"):  # a matrix, what is summed over nodes, nothing, no value
            with self.assertRaises(weft.Error):
                problem.sum(name)
        with self.assertRaisesRegex(weft.InputError, "'J' is not a real over cells"):
            problem.sum("J")
        file = weft.Problem(weft.Mesh("square:2"), forms(HEAT), {"k": 1, "f": 0}, device=device,
                            conditions=[weft.Dirichlet("left", 1)])
        file.solve()
        with self.assertRaisesRegex(weft.UsageError, "a sum is of a value of a script"):
            file.sum("A")

    def test_in_time(self):
        """Of a value that depends on u, after steps: du/dt = 1 from u = 0, whose integral is t."""
        problem = weft.Problem(weft.Mesh("square:4"), """
            parameter d = 2;
            index cells, nodes;
            connectivity dofs : cells -> nodes[d + 1];
            input x : real[d] over nodes;
            input u : real over nodes;
            expression one(x, y, z) = 1;
            X = x[dofs];
            J = jacobian(X);
            P = quadrature_points(X, degree = 2);
            U = u[dofs];
            content = measure(J)*(U[0] + U[1] + U[2])/3;
            K = dshape_dot_dshape(tform_dshape(J), J);
            M = quadrature_shape_shape(one(P), J, degree = 2);
            r[dofs] += mvmul(K, U) - quadrature_load(one(P), J, degree = 2);
            return K, M, r;
            """, device=weft.Device(DEVICE), conditions=[weft.Neumann("boundary", 0)])
        for step in problem.steps(dt=0.1, end=0.3):
            self.assertAlmostEqual(problem.sum("content"), step.t, 8)


if __name__ == "__main__":
    unittest.main()
