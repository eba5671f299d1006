"""Objects end in any order, also with the interpreter, in cycles and in forked children; signals end long calls at once.

What would crash runs as a program of its own, whose exit status counts.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

# Each class of the package, and views of other packages on its memory. Returns name -> object.
MAKE = '''
import ctypes
import gc
import os
import random
import sys
import numpy
import weft

FORMS = """
e = FiniteElement("Lagrange", triangle, 2)
u, v, f = TrialFunction(e), TestFunction(e), Coefficient(FiniteElement("Lagrange", triangle, 1))
a = inner(grad(u), grad(v))*dx + u*v*ds
L = f*v*dx
"""

def make():
    device = weft.Device("host:2", log=lambda level, message: None)
    mesh = weft.Mesh("square:4", refine=1, order=True, device=device)
    plain = weft.Mesh.from_arrays(mesh.points, mesh.cells)
    space = weft.Space(mesh, device)
    conditions = weft.Conditions(space, [weft.Dirichlet("left", "x"), weft.Robin("right", 1, "y")])
    load = conditions.load("1")
    form = weft.Form(space, "poisson.weft")
    operator = weft.Operator(form, conditions)
    solution = operator.solve(load, preconditioner="multigrid")
    quadratic = weft.Space(plain, device, degree=2)
    file = weft.FormFile(FORMS, name="forms.ufl")
    of_file = weft.Form(quadratic, file, inputs={"f": weft.Space(plain, device).interpolate("x")})
    own = weft.Operator(of_file)
    own_solution = own.solve(of_file.vector())
    velocity = weft.Space(mesh, device, 2)
    mixed = weft.MixedSpace(velocity, space)
    parts = weft.MixedConditions(mixed, [[weft.Dirichlet("left", 1, 0)], None])
    run = weft.AdvectionDiffusion(plain, 0.1, diffusivity=1, initial="x", device=device)
    run.run(2)
    problem = weft.Problem(plain, weft.FormFile(FORMS + "m = u*v*dx", name="forms.ufl"), values={"f": space.interpolate("x")},
                           conditions=[weft.Dirichlet("boundary", 0)], device=device)
    report = problem.solve()
    of_problem, spaces = problem.u, problem.spaces
    steps = problem.steps(dt=0.1, end=0.2, initial="x")
    step = next(steps)
    step_values = step.values
    assert abs(problem.integral("u") - problem.integrals()) < 1e-9 and problem.probe([[0.5, 0.5]]).shape == (1,)
    problem.reactions()
    script = weft.Script(device, "index n plain; input x : real over n; y = 2*x; return y;")
    x = device.zeros(1000)
    program = script.program(n=1000, x=x).run()
    mixed_guess, field, values, numpy_view = parts.guess(), run.T, program["y"], solution.x.numpy()
    points, borrowed = mesh.points, device.asarray(numpy_view)
    return {name: value for name, value in locals().items() if name not in ("load", "values")}
'''

ORDERS = MAKE + '''
for seed in range(12):
    found, order = make(), random.Random(seed)
    device = found.pop("device")
    names = sorted(found)
    order.shuffle(names)
    for name in names:
        view = found["numpy_view"].copy() if "numpy_view" in found else None
        del found[name]
        gc.collect()
        if "numpy_view" in found:
            assert (found["numpy_view"] == view).all()
    assert device.bytes == 0, device.bytes  # the last users have freed everything
    del device
print("done")
'''

# The collector ends the objects of a cycle in the order in which it has found them, which tracking them again changes.
CYCLES = MAKE + '''
track, untrack = ctypes.pythonapi.PyObject_GC_Track, ctypes.pythonapi.PyObject_GC_UnTrack
track.argtypes = untrack.argtypes = [ctypes.py_object]

class Node:
    def __del__(self):
        # Nothing may be freed before those who use it: the solution is still there, whatever has been ended before.
        assert numpy.isfinite(self.view).all() and self.found["operator"].apply(self.view).numpy().any()
        ended.append(self)

ended = []
for seed in range(12):
    found, order, node = make(), random.Random(seed), Node()
    device = weft.Device("host:2")
    other = device.zeros(8)
    node.found, node.view = found, found["numpy_view"]
    for value in list(found.values()) + [other, device]:
        if hasattr(value, "__dict__"):
            value.cycle = node
    node.more = other, device
    gc.disable()
    mine = [one for one in gc.get_objects() if type(one).__module__.startswith("weft") or one is node]
    assert len(mine) > 50
    order.shuffle(mine)
    for one in mine:
        untrack(one)
        track(one)
    del one, mine, found, node, value, other, device
    gc.enable()
    gc.collect()
    assert len(ended) == seed + 1, len(ended)
    ended[-1].__dict__.clear()
print("done")
'''

# A caught exception holds the frames of its traceback.
EXCEPTION = MAKE + '''
def keep():
    found = make()
    device, space, operator = found["device"], found["space"], found["operator"]
    try:
        operator.solve([1.0, 2.0])
    except weft.UsageError as error:
        kept = error

for k in range(3):
    keep()
    gc.collect()
print("done")
'''

AT_EXIT = '''
import numpy
import weft

device = weft.Device("host:2")
mesh = weft.Mesh("square:8")
space = weft.Space(mesh, device)
conditions = weft.Conditions(space, [])
operator = weft.Operator(weft.Form(space, "poisson.weft"), conditions)

def total(f):
    return numpy.asarray(conditions.load(f)).sum()

assert abs(total("1") - 1) < 1e-12
solution = operator.solve(conditions.load("1"))
print("done")
'''

FORKED = MAKE + '''
found = make()
device, view = found["device"], found["numpy_view"].copy()
child = os.fork()
if child == 0:
    assert (found["solution"].x.numpy() == view).all()
    for use in (lambda: found["operator"].solve(view), lambda: found["program"].run(), lambda: device.zeros(3),
                lambda: found["space"].interpolate("x"), lambda: weft.Mesh("square:3", refine=1, device=device)):
        try:
            use()
        except weft.UsageError as error:
            assert "fork" in str(error), error
        else:
            os._exit(3)
    own = weft.Space(found["mesh"], weft.Device("host"))
    assert own.interpolate("1").numpy().sum() == own.n_dofs
    found.clear()
    gc.collect()
    sys.exit(7)
how = os.waitpid(child, 0)[1]
assert os.WEXITSTATUS(how) == 7, how
found["operator"].apply(view)
print("done")
'''

POOL = '''
import multiprocessing
import weft

def solve(k):
    own = weft.Conditions(space, [weft.Dirichlet("left", 0), weft.Dirichlet("right", k)])
    return weft.Operator(weft.Form(space, "poisson.weft"), own).solve(own.load("0")).iterations

device = weft.Device("host")
mesh = weft.Mesh("square:16")
space = weft.Space(mesh, device)
expected = [solve(k) for k in (1, 2, 3)]

def start():
    global device, space
    device = weft.Device("host")
    space = weft.Space(mesh, device)

if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2, initializer=start) as pool:
        assert pool.map_async(solve, [1, 2, 3]).get(60) == expected
    print("done")
'''

# Ctrl-C in what would take a minute and more. After that the device is usable again.
SIGNAL = '''
import gc
import signal
import threading
import time
import numpy
import weft

device = weft.Device("host:2")
%s
threading.Timer(1, lambda: (sent.append(time.perf_counter()), signal.raise_signal(signal.SIGINT))).start()
sent = []
try:
    wait()
except KeyboardInterrupt:
    late = time.perf_counter() - sent[0]
else:
    raise SystemExit("the call has ended")
gc.collect()
began = time.perf_counter()
assert weft.Space(weft.Mesh("square:4"), device).interpolate("1").numpy().sum() == 25
assert time.perf_counter() - began < 20, "the call was not cancelled"
print("late", late)
'''
STEPS = '''
run = weft.AdvectionDiffusion(weft.Mesh("square:8"), 1e-6, diffusivity=1, device=device)
wait = lambda: run.run(10**8)
'''
LOOP = '''
program = weft.Script(device, """
index n plain;
input x : real over n;
input t : real;
repeat at most 1000000000 while (t < 1e30) {
    update t = t + dot(x, x);
}
""").program(n=100, x=numpy.ones(100), t=numpy.zeros(1))
wait = program.run
'''
SOLVE = '''
space = weft.Space(weft.Mesh("square:1200"), device)
conditions = weft.Conditions(space)
A = weft.Operator(weft.Form(space, "poisson.weft"), conditions)
wait = lambda: A.solve(conditions.load("1"), method="gmres", restart=2, max_iterations=10**6)
'''
PROBLEM = '''
problem = weft.Problem(weft.Mesh("square:400"), "diffusion", method="gmres", restart=2, preconditioner="jacobi", tolerance=0,
                       max_iterations=10**6, device=device)
wait = problem.solve
'''
COMPILE = '''
wait = lambda: weft.Script(device, "index n plain; input x : real over n; y = 2*x; return y;").program()
'''


MESH = '''
with open("part.geo", "w") as file:
    file.write("Point(1) = {0, 0, 0};")
wait = lambda: weft.Mesh("part.geo")
'''


class Lifetimes(unittest.TestCase):
    maxDiff = None

    def run_program(self, text, **environment):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "program.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            done = subprocess.run([sys.executable, path], cwd=folder, capture_output=True, text=True, timeout=300,
                                  env={**os.environ, "PYTHONWARNINGS": "ignore::DeprecationWarning", **environment})
            self.assertEqual(done.stderr, "")
            self.assertEqual(done.returncode, 0, done.stdout)
            return done.stdout

    def check(self, text):
        self.assertEqual(self.run_program(text), "done\n")

    def test_every_order_of_deletion(self):
        self.check(ORDERS)

    def test_cycles_in_every_order_of_collection(self):
        self.check(CYCLES)

    def test_caught_exceptions(self):
        self.check(EXCEPTION)

    def test_end_of_a_program_with_a_function(self):
        self.check(AT_EXIT)

    def test_a_forked_child_frees_nothing(self):
        self.check(FORKED)

    def test_a_pool_of_processes(self):
        self.check(POOL)

    def interrupt(self, text, **environment):
        late = float(self.run_program(SIGNAL % text, **environment).split()[-1])
        self.assertLess(late, 1)  # a fifth of a second, on a machine with other work

    def test_control_c_in_time_steps(self):
        self.interrupt(STEPS)

    def test_control_c_in_a_loop_of_a_script(self):
        self.interrupt(LOOP)

    def test_control_c_in_a_solve(self):
        self.interrupt(SOLVE)

    def test_control_c_in_a_problem(self):
        self.interrupt(PROBLEM)

    def test_control_c_while_compiling(self):
        with tempfile.TemporaryDirectory() as folder:
            compiler = os.path.join(folder, "cc")
            with open(compiler, "w", encoding="utf-8") as file:
                file.write('#!/bin/sh\ncase "$*" in *-shared*) mkdir "$0.first" 2>/dev/null && sleep 100;; esac\n'
                           'exec cc "$@"\n')
            os.chmod(compiler, 0o755)
            self.interrupt(COMPILE, CC=compiler, WEFT_CACHE="off")

    def test_control_c_while_a_mesh_is_made(self):
        with tempfile.TemporaryDirectory() as folder:
            gmsh = os.path.join(folder, "gmsh")
            with open(gmsh, "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\nsleep 100\n")
            os.chmod(gmsh, 0o755)
            self.interrupt(MESH, WEFT_GMSH=gmsh)

    def test_the_end_of_a_program_in_a_long_call(self):
        """A program that does not catch KeyboardInterrupt ends at once, by the signal."""
        text = ("import weft\nprint('begun', flush=True)\n"
                "weft.AdvectionDiffusion(weft.Mesh('square:8'), 1e-6, diffusivity=1).run(10**8)\n")
        with subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
            program.stdout.readline()
            time.sleep(1.5)
            program.send_signal(signal.SIGINT)
            _, errors = program.communicate(timeout=10)
        self.assertEqual(program.returncode, -signal.SIGINT)
        self.assertIn(b"KeyboardInterrupt", errors)


if __name__ == "__main__":
    unittest.main()
