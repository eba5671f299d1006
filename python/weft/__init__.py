"""Weft: finite-element assembly with a fusion backend.

    import weft

    device = weft.Device()                      # a GPU where there is one, else the host
    mesh = weft.Mesh("square:64")
    space = weft.Space(mesh, device)
    conditions = weft.Conditions(space, [weft.Dirichlet("boundary", 0)])
    A = weft.Operator(weft.Form(space, "poisson.weft"), conditions)
    u = A.solve(conditions.load("2*pi^2*sin(pi*x)*sin(pi*y)")).x
    mesh.write("u.vtkhdf", {"u": u})

Arrays stay on the device, and numpy, CuPy, PyTorch and JAX use them without a copy.
"""

from ._library import (DeviceError, Error, FileError, InputError, OutOfMemoryError, ScriptError, UnsupportedError,
                       UsageError, version as __version__)
from ._show import html_of_tuple as _html_of_tuple
from .conditions import (Condition, Constraint, Dirichlet, Neumann, Periodic, PointLoad, PointValue, Robin, Symmetry, Tie)
from .dense import matmul
from .derived import Balance, Extrema
from .device import Array, Device
from .eigenvalues import Eigenvalues
from .forms import FormFile
from .gradient import Gradient
from .mesh import Mesh
from .mixed import MixedConditions, MixedSpace
from .operator import AdvectionDiffusion, Conditions, Form, Operator, Solution, Space
from .options import time_schemes
from .problem import Problem
from .progress import WeftWarning, show_progress
from .report import Newton, NewtonIteration, NotConverged, Report
from .script import Program, Script
from .steps import Step, Steps
from .tuning import Tuned, tune

__all__ = ["AdvectionDiffusion", "Array", "Balance", "Condition", "Conditions", "Constraint", "Device", "DeviceError",
           "Dirichlet", "Eigenvalues", "Error", "Extrema", "FileError", "Form", "FormFile", "Gradient", "InputError", "Mesh", "MixedConditions",
           "MixedSpace", "Neumann", "Newton", "NewtonIteration", "NotConverged", "Operator", "OutOfMemoryError",
           "Periodic", "PointLoad", "PointValue", "Problem", "Program", "Report", "Robin", "Script", "ScriptError",
           "Solution", "Space", "Step", "Steps", "Symmetry", "Tie", "Tuned", "UnsupportedError", "UsageError", "WeftWarning",
           "__version__", "matmul", "show_progress", "time_schemes", "tune"]

for _kind in (Condition, Constraint, Extrema, NewtonIteration, PointLoad, Tuned):
    setattr(_kind, "_repr_html_", _html_of_tuple)
