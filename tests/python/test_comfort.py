"""What an interactive user meets: how objects are shown and pickled, progress, messages, warnings, Ctrl-C, pictures."""

import _thread
import copy
import html.parser
import io
import logging
import os
import pickle
import re
import sys
import tempfile
import time
import types
import unittest
import warnings
from unittest import mock

import numpy

import weft
from test_problem_object import HEAT, QUASILINEAR, forms
from weft import _structures, progress

DEVICE = os.environ.get("WEFT_TEST_DEVICE", "host:2")
WAVES = "sin(pi*x)*sin(pi*y)"
SOUND = HEAT.replace("L = f*v*dx", "L = f*v*dx\nunknown = Coefficient(e)\nJ = unknown*dx")

EULER = """
e = FiniteElement("Lagrange", {cell}, {degree})
u, v, u_old, dt = Coefficient(e), TestFunction(e), Coefficient(e), Constant({cell})
F = (u - u_old)/dt*v*dx + (1 + u**2)*inner(grad(u), grad(v))*dx
"""


def make(device):
    """An object of each class that has some, by the name of its class."""
    mesh = weft.Mesh("square:4")
    space = weft.Space(mesh, device)
    conditions = weft.Conditions(space, [weft.Dirichlet("left", "x"), weft.Robin("right", 1, "y")])
    form = weft.Form(space, "poisson.weft")
    operator = weft.Operator(form, conditions)
    solution = operator.solve(conditions.load("1"))
    mixed = weft.MixedSpace(weft.Space(mesh, device, 2), space)
    parts = weft.MixedConditions(mixed, [[weft.Dirichlet("left", 1, 0)], None])
    file = forms(SOUND)
    problem = weft.Problem(mesh, file, {"k": 1, "f": "select(x < 0.5, 1, 0)"}, conditions=[weft.Dirichlet("boundary", 0)], device=device)
    report = problem.solve()
    balance, extrema, gradient = problem.reactions(), problem.extrema("u"), problem.gradient("J", "f")
    found = problem.eigenvalues(2)
    curved = weft.Problem(mesh, forms(QUASILINEAR), {"f": "-2*(1 + x)"}, device=device,
                          conditions=[weft.Dirichlet("left", 1), weft.Dirichlet("right", 2)])
    newton = curved.solve(initial="1 + x^2").newton
    steps = problem.steps(dt=0.1, end=0.2, initial=WAVES)
    step = next(steps)
    run = weft.AdvectionDiffusion(mesh, 0.1, diffusivity=1, initial="x", device=device)
    run.run(2)
    script = weft.Script(device, "index n plain; input x : real over n; y = 2*x; return y;")
    program = script.program(n=3)
    return [device, mesh, space, conditions, form, operator, solution, mixed, parts, file, problem, report, balance, extrema, gradient,
            found, newton, newton.iterations[0], steps, step, run, script, program, solution.x, weft.Dirichlet("left", 0),
            weft.Periodic("left", "right"), weft.PointLoad((0.5, 0.5), 1), weft.Tuned("f", {}, {}, 1.0, 1.0, 1, 1)]


class Tags(html.parser.HTMLParser):
    """Open and closed tags match, and text has none."""

    def __init__(self, text):
        super().__init__()
        self.open, self.text = [], ""
        self.feed(text)
        assert not self.open, text

    def handle_starttag(self, tag, attributes):
        assert tag in ("div", "strong", "table", "thead", "tbody", "tr", "th", "td"), tag
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data + " "


class Cut:
    """Ctrl-C while the library is in an iteration, of this number from now on."""

    def __init__(self, device, at):
        self.device, self.left, self.sent = device, at, None
        self.hook = _structures.PROGRESS(self.note)

    def note(self, user, phase, done, total):
        self.left -= phase.startswith((b"solve", b"newton"))
        if self.left == 0 and self.sent is None:
            self.sent = time.perf_counter()
            _thread.interrupt_main()
            time.sleep(0.3)

    def run(self, call):
        """The seconds from Ctrl-C to KeyboardInterrupt."""
        self.device._monitor.progress = self.hook
        try:
            call()
        except KeyboardInterrupt:
            return time.perf_counter() - self.sent
        finally:
            self.device._monitor.progress = _structures.PROGRESS()
        raise AssertionError("the call has ended")


class Comfort(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.messages = []
        cls.device = weft.Device(DEVICE, log=lambda level, text: cls.messages.append(text))
        cls.objects = make(cls.device)

    # ---- how objects are shown ----------------------------------------------------------------

    def test_every_class_is_shown(self):
        shown = {type(one).__name__ for one in self.objects}
        classes = {name for name in weft.__all__ if isinstance(getattr(weft, name), type)
                   and not issubclass(getattr(weft, name), Exception)}
        self.assertEqual(classes - shown, set())
        for one in self.objects:
            text, tags = repr(one), Tags(one._repr_html_())
            self.assertNotIn("not usable", text + tags.text)
            self.assertNotIn(" object at 0x", text + tags.text)
            self.assertLess(len(text), 1000)

    def test_what_is_shown(self):
        of = {type(one).__name__: one for one in self.objects}
        self.assertEqual(repr(of["Mesh"]), "weft.Mesh(2D, 25 nodes, 32 cells, groups left, right, bottom, top)")
        self.assertEqual(repr(of["Condition"]), "Dirichlet('left', 0)")
        self.assertEqual(repr(of["Array"][:0]), "array([], dtype=float64)")
        self.assertEqual(repr(of["Operator"]), "weft.Operator(25 x 25, csr, of poisson.weft)")
        self.assertRegex(repr(of["Problem"]), r"^weft.Problem\(test.ufl on weft.Mesh\(.*\), 25 dofs, t = 0.1\)$")
        self.assertRegex(repr(of["Eigenvalues"]), r"^weft.Eigenvalues\(converged, 2 values from 2\d\.\d+ to ")  # 2 pi^2, from above
        problem = Tags(of["Problem"]._repr_html_()).text
        self.assertIn("x < 0.5", problem)  # escaped
        self.assertRegex(problem, r"condition +Dirichlet\('boundary', 0\)")
        self.assertRegex(Tags(of["Report"]._repr_html_()).text, r"iteration +residual +0 +1.00e\+00 .* \d+ +\d\.\d\de-\d\d")
        self.assertRegex(Tags(of["Newton"]._repr_html_()).text, r"load step +iteration +residual .* 1 +0 +\d")

    def test_objects_that_are_not_made(self):
        for name in weft.__all__:
            kind = getattr(weft, name)
            if isinstance(kind, type) and not issubclass(kind, (Exception, tuple)):
                one = kind.__new__(kind)
                self.assertTrue(repr(one).startswith("weft.%s(not usable: " % name), repr(one))
                Tags(one._repr_html_())
        space = weft.Space.__new__(weft.Space)
        space._handle = weft._library.Handle("space")  # as where the library has refused to make it
        self.assertEqual(repr(space), "weft.Space(not made)")

    # ---- pickling -----------------------------------------------------------------------------

    def test_pickling(self):
        kept = {"Report", "Newton", "NewtonIteration", "Balance", "Extrema", "Eigenvalues", "Gradient", "Step", "FormFile", "Mesh",
                "Condition", "Constraint", "PointLoad", "Tuned"}
        for one in self.objects:
            name = type(one).__name__
            if name in kept:
                self.assertEqual(repr(pickle.loads(pickle.dumps(one))), repr(one))
            elif name not in ("Array", "Solution"):
                with self.assertRaisesRegex(TypeError, "a weft.%s is not pickled or copied: .*arrays, which become numpy's" % name):
                    pickle.dumps(one)
        of = {type(one).__name__: one for one in self.objects}
        for name, value in (("Array", lambda one: one), ("Solution", lambda one: one.x), ("Step", lambda one: one.values)):
            found = value(pickle.loads(pickle.dumps(of[name])))
            self.assertIs(type(found), numpy.ndarray)
            numpy.testing.assert_array_equal(found, value(of[name]))
        numpy.testing.assert_array_equal(pickle.loads(pickle.dumps(of["Gradient"]))["f"], of["Gradient"]["f"])
        self.assertIsInstance(copy.deepcopy(of["Array"]), weft.Array)
        with self.assertRaisesRegex(weft.UsageError, "eigenvalues that were pickled have no mesh"):
            pickle.loads(pickle.dumps(of["Eigenvalues"])).write("e.pvd")

    def test_pickled_meshes_and_errors(self):
        square = weft.Mesh("square:2", refine=1)
        given = weft.Mesh.from_arrays(square.points, square.cells, {"side": square.facets("left")}, {"all": range(square.n_cells)},
                                      {"corner": [0]})
        for mesh in (square, given):
            found = pickle.loads(pickle.dumps(mesh))
            numpy.testing.assert_array_equal(found.points, mesh.points)
            numpy.testing.assert_array_equal(found.cells, mesh.cells)
            self.assertEqual(found.groups, mesh.groups)
        with self.assertRaisesRegex(TypeError, "a weft.Mesh is not pickled"):
            pickle.dumps(weft.Mesh.from_arrays(square.points, square.cells, refine=1))
        with self.assertRaises(weft.ScriptError) as caught:
            weft.Script(self.device, "y = 2*z;\nreturn y;")
        found = pickle.loads(pickle.dumps(caught.exception))
        self.assertEqual((str(found), found.line, found.hint), (str(caught.exception), 1, caught.exception.hint))
        with self.assertRaises(weft.FileError) as caught:
            weft.FormFile("none.ufl")
        self.assertEqual(str(pickle.loads(pickle.dumps(caught.exception))), str(caught.exception))
        with self.assertRaises(weft.NotConverged) as caught:
            weft.Problem(weft.Mesh("square:8"), "diffusion", device=self.device, max_iterations=1, preconditioner="jacobi").solve()
        found = pickle.loads(pickle.dumps(caught.exception))
        self.assertEqual((str(found), found.solution.iterations), (str(caught.exception), 1))

    def test_cells_of_every_mesh(self):
        """The corners of a cell of unit meshes are 0 or 1/n apart; facets on the left have x = 0."""
        for name, corners, of_facet in (("interval:2", 2, 1), ("quads:2", 4, 2), ("hexes:2", 8, 4), ("square:2", 3, 2), ("cube:2", 4, 3)):
            mesh = weft.Mesh(name)
            self.assertEqual((mesh.cells.shape, mesh.facets("left").shape[1]), ((mesh.n_cells, corners), of_facet))
            places = mesh.points[mesh.cells]
            self.assertTrue((abs(places.max(axis=1) - places.min(axis=1) - 0.5) < 1e-12).all(), name)
            self.assertEqual(abs(mesh.points[mesh.facets("left")][..., 0]).max(), 0)

    # ---- messages -----------------------------------------------------------------------------

    def test_warnings_and_messages(self):
        device = weft.Device("host:1")
        problem = weft.Problem(weft.Mesh("square:4"), "poisson", device=device)
        with self.assertLogs("weft", logging.DEBUG) as logged, self.assertWarnsRegex(weft.WeftWarning, "has no vector b") as warned:
            problem.solve()
        self.assertTrue(any(one.levelno == logging.INFO and "memory: " in one.getMessage() for one in logged.records))
        self.assertEqual(warned.filename, __file__)
        with warnings.catch_warnings():
            warnings.simplefilter("error", weft.WeftWarning)
            with self.assertRaisesRegex(weft.WeftWarning, "has no vector b"):
                problem.solve()
        self.assertTrue((problem.values == 0).all())  # it was solved
        self.assertTrue(any("memory: " in text for text in self.messages))  # a log of one's own gets all

    def test_a_build_has_no_folder_of_kernels(self):
        """`weft` beside the library is a program there."""
        with mock.patch.dict(os.environ), warnings.catch_warnings(), tempfile.TemporaryDirectory() as cache:
            os.environ.pop("WEFT_SHIPPED", None)
            os.environ["XDG_CACHE_HOME"] = cache  # so that kernels are looked for
            warnings.simplefilter("error")
            weft.Space(weft.Mesh("square:1"), weft.Device("host:1")).interpolate("x + 2*y")  # by a kernel

    # ---- progress -----------------------------------------------------------------------------

    def slow(self):
        """A problem whose solve takes a quarter of a second, in which kernels have been compiled."""
        device = weft.Device("host:1", log=lambda level, text: time.sleep(0.25) if text.startswith("cg_residual.weft: ") else None)
        return weft.Problem(weft.Mesh("square:4"), "diffusion", device=device)

    def test_progress(self):
        told = []
        with mock.patch.object(progress, "_AFTER", 0):
            weft.show_progress(lambda text, share: told.append((text, share)))
            try:
                self.slow().solve()
                problem = weft.Problem(weft.Mesh("square:4"), forms(HEAT), {"k": 1, "f": 0}, device=self.device)
                for _ in problem.steps(dt=0.1, end=0.3, initial=WAVES):
                    pass
            finally:
                weft.show_progress()
        texts = [text for text, _ in told]
        self.assertTrue(any(text.startswith(("weft: compiling kernel", "weft: solve")) for text in texts), texts)
        self.assertTrue(any(re.match(r"weft: step 2, t = 0.1 of 0.3, 0 s left  \[#{13} {7}\] 67%", text) for text in texts), texts)
        with self.assertRaisesRegex(TypeError, "show_progress takes True, False, None or a function, not 3"):
            weft.show_progress(3)

    def test_where_progress_is_shown(self):
        out = io.StringIO()
        with mock.patch.object(sys, "stderr", out):
            weft.show_progress()
            self.assertIsNone(progress.progress.display)  # into a file: silent
            weft.show_progress(True)
            progress.progress.display.show("weft: text", None)
            self.assertEqual(out.getvalue(), "weft: text\n")
            out.isatty = lambda: True
            with mock.patch.dict(os.environ, TERM="xterm", COLUMNS="20"):
                weft.show_progress()
                progress.progress.show("x" * 30, 0, 0)
                progress.progress.clear()
        weft.show_progress()
        self.assertIn("weft: %s\033[K" % ("x" * 13), out.getvalue())
        self.assertTrue(out.getvalue().endswith("\033[J"))

    # ---- Ctrl-C -------------------------------------------------------------------------------

    def test_steps_go_on_after_control_c(self):
        """Steps that are interrupted in an iteration and made again are those of a run that was not, with their files."""
        heat = dict(forms=forms(HEAT), values={"k": 1, "f": "t"}, tolerance=1e-12,
                    conditions=[weft.Dirichlet("left", "t"), weft.Dirichlet("right", 0)])
        for given, options in ((heat, {"scheme": "theta"}), (heat, {"scheme": "sdirk3", "tolerance": 1e-2}), (dict(forms=forms(EULER)), {})):
            with tempfile.TemporaryDirectory() as folder, self.subTest(options):
                problem = weft.Problem(weft.Mesh("square:16"), device=self.device, **given)
                how = dict(dt=0.05, end=0.2, initial=WAVES, **options)
                expected = [step.values.copy() for step in problem.steps(**how)]
                state = os.path.join(folder, "state.vtkhdf")
                steps = problem.steps(checkpoint=state, output=os.path.join(folder, "u.pvd"), **how)
                found = [next(steps).values.copy()]
                before = steps.t
                with steps:
                    late = Cut(self.device, 2).run(lambda: next(steps))
                    self.assertEqual(steps.t, before)
                    found += [step.values.copy() for step in steps]
                self.assertLess(late, 1)  # a fifth of a second, on a machine with other work
                self.assertEqual(len(found), len(expected))
                for one, other in zip(found, expected):
                    numpy.testing.assert_allclose(one, other, atol=1e-9)
                cut = problem.steps(checkpoint=state, **how)
                with cut:  # the checkpoint is that of the last step
                    next(cut)
                    Cut(self.device, 2).run(lambda: next(cut))
                resumed = problem.steps(resume=state, **how)
                self.assertEqual(resumed.t, before)
                numpy.testing.assert_allclose(problem.values, expected[0], atol=1e-9)
                numpy.testing.assert_allclose([step.values for step in resumed][-1], expected[-1], atol=1e-9)

    def test_solves_go_on_after_control_c(self):
        """Newton's method starts where the call that was interrupted has started."""
        problem = weft.Problem(weft.Mesh("square:16"), forms(QUASILINEAR), {"f": "-2*(1 + x)"}, device=self.device,
                               conditions=[weft.Dirichlet("left", 1), weft.Dirichlet("right", 2)])
        n = problem.solve().newton.n_iterations
        first = problem.u
        exact = 1 + problem.space.points[:, 0]
        problem.set(f="-2*(1 + x)")
        Cut(self.device, 3).run(problem.solve)
        numpy.testing.assert_allclose(first.numpy(), exact, atol=1e-8)
        self.assertIs(problem.u, first)
        self.assertEqual(problem.solve().newton.n_iterations, n)
        numpy.testing.assert_allclose(problem.values, exact, atol=1e-8)

    def test_interrupted_advection_diffusion_is_refused(self):
        run = weft.AdvectionDiffusion(weft.Mesh("square:4"), 0.1, diffusivity=1, initial="x", device=self.device)
        run.run(1)
        with mock.patch("weft.operator.lib.weft_advection_diffusion_run", side_effect=KeyboardInterrupt):
            with self.assertRaises(KeyboardInterrupt):
                run.run(1)
        with self.assertRaisesRegex(weft.UsageError, "the steps were interrupted, and the field is not defined"):
            run.run(1)

    # ---- pictures -----------------------------------------------------------------------------

    def test_plot(self):
        """With a module in the place of pyvista, which notes what it is told."""
        told = []

        class Data:
            point_data, cell_data = {"u": numpy.zeros(3), "v": numpy.zeros((3, 2))}, {"flux": numpy.zeros(1)}

            def warp_by_scalar(self, name, factor, normal):
                told.append(("warp", name, factor))
                return self

        class Plotter:
            def __init__(self, off_screen):
                told.append(off_screen)

            def __getattr__(self, name):
                return lambda *arguments, **options: told.append((name, options.get("scalars", arguments[:1])))

        def read(path):
            with open(path, "rb") as file:
                told.append(b'Name="u"' in file.read())
            return Data()

        of = {type(one).__name__: one for one in self.objects}
        with mock.patch.dict(sys.modules, pyvista=types.SimpleNamespace(read=read, Plotter=Plotter)):
            self.assertIsInstance(of["Problem"].plot(), Plotter)
            self.assertEqual(told, [True, None, ("add_mesh", "u"), ("view_xy", ())])
            told.clear()
            self.assertEqual(of["Solution"].plot(path="u.png", warp=2), "u.png")
            self.assertEqual(told, [True, ("warp", "u", 2), True, ("add_mesh", "u"), ("screenshot", ("u.png",)), ("close", ())])
            of["Mesh"].plot({"u": numpy.zeros(25)}, name="flux")
            with self.assertRaisesRegex(weft.UsageError, "no field is called 'flx'; did you mean 'flux'?"):
                of["Problem"].plot("flx")
        with self.assertRaisesRegex(weft.UnsupportedError, "plot.. of a Space is for continuous functions with values at the vertices"):
            quadratic = weft.Space(of["Mesh"], self.device, degree=2)
            quadratic.plot(quadratic.zeros())
        with self.assertRaisesRegex(weft.UsageError, "there is no solution yet"):
            weft.Problem(of["Mesh"], "diffusion", device=self.device).plot()
        with mock.patch.dict(sys.modules, pyvista=None), self.assertRaisesRegex(ImportError, r"needs the package pyvista(.|\n)*pip install "
                                                                                              r"weft\[plot\]"):
            of["Problem"].plot()


if __name__ == "__main__":
    unittest.main()
