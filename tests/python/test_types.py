"""The annotations of the package, by mypy where it is installed: the package, a program with all of its kinds of calls, and wrong ones."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

PACKAGE = os.path.join(os.environ["WEFT_SOURCE"], "python", "weft")
MYPY = [sys.executable, "-m", "mypy"] if importlib.util.find_spec("mypy") else [shutil.which("mypy")]
RIGHT = '''
import numpy as np
import weft

def heat(name: str) -> float:
    device = weft.Device("host", log=lambda level, text: None)
    mesh = weft.Mesh(name, refine=1, device=device)
    problem = weft.Problem(mesh, "heat.py", {"k": 1, "f": np.zeros(3)}, device=device, tolerance=1e-10, conditions=[
        weft.Dirichlet("left", (0, None)), weft.Periodic("top", "bottom"), weft.PointLoad((0.5, 0.5), 1)])
    report: weft.Report = problem.solve(must_converge=False)
    u: weft.Array = problem.u
    v = np.sin(u) + 2 * u - u @ u
    u += 1
    u[1:3] = u[u > 0] = 0
    total = float(v[0]) + sum(float(one) for one in u) + float(problem.integral("u", "left"))
    with problem.steps(dt=0.1, end=1, output="u.pvd") as steps:
        for step in steps:
            total += float(step.values.max()) + step.t
    if report.newton is not None:
        total += report.newton.n_iterations
    picture: str = problem.plot(path="u.png")
    weft.show_progress(lambda text, share: print(picture, text, share))
    return total

def own() -> int:
    mesh = weft.Mesh("square:4")
    space = weft.Space(mesh, degree=2)
    W = weft.MixedSpace(space, weft.Space(mesh))
    conditions = weft.MixedConditions(W, [[weft.Robin("left", 1)], None])
    solution = weft.Operator(weft.Form(W, weft.FormFile("a.py")), conditions).solve(W.zeros())
    parts = W.split(solution.x)
    return solution.iterations + len(parts) + weft.Problem(mesh, "drum.ufl").eigenvalues(3, near=2.0).rigid_modes
'''
WRONG = '''
import weft

problem = weft.Problem("square:4", "diffusion")
problem.solve(initials=3)
problem.steps(dt="1", end=2)
weft.Dirichlet(3, 0)
weft.Problem(weft.Mesh("square:4"), "diffusion", conditions=["left"])
n: int = weft.Mesh("square:4").points
'''


@unittest.skipUnless(MYPY[0], "mypy is not installed")
class Types(unittest.TestCase):
    def check(self, *files):
        with tempfile.TemporaryDirectory() as cache:
            # What ctypes returns is Any.
            done = subprocess.run([*MYPY, "--strict", "--no-warn-return-any", "--cache-dir", cache, *files], capture_output=True, text=True,
                                  env={**os.environ, "MYPYPATH": os.path.dirname(PACKAGE)})
        return done.stdout

    def program(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "program.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            own = [os.path.join(PACKAGE, name) for name in sorted(os.listdir(PACKAGE))
                   if name.endswith(".py") and name not in ("torch.py", "jax.py")]
            return self.check(path, *own)

    def test_right(self):
        self.assertRegex(self.program(RIGHT), r"^Success: no issues found")

    def test_wrong(self):
        found = re.findall(r"program.py:(\d+): error:", self.program(WRONG))
        self.assertEqual(sorted({int(line) for line in found}), [4, 5, 6, 7, 8, 9])


if __name__ == "__main__":
    unittest.main()
