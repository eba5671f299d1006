"""Options of linear solvers by their names."""

from __future__ import annotations

import difflib
from ctypes import byref, c_int
from typing import Any, Dict, List, Optional, Sequence

from . import _structures as s
from ._library import UsageError, encode, lib

# Of fem/weft_problem.h.
AUTO, NO_PRECONDITIONER, JACOBI = -3, -2, -1
_PRECONDITIONERS = {"auto": AUTO, "none": NO_PRECONDITIONER, "jacobi": JACOBI}


def nearest(name: str, known: Sequence[str]) -> str:
    """A hint: the nearest of the known names, and all."""
    close = difflib.get_close_matches(name, known, 1)
    return "%sthere are: %s" % ("did you mean %r? " % close[0] if close else "", ", ".join(known) or "none")


def method_number(name: str) -> int:
    names = [lib.weft_method_about(i).contents.name.decode() for i in range(lib.weft_method_count())]
    if name == "auto":
        return AUTO
    if name not in names:
        raise UsageError("no method is called %r; %s" % (name, nearest(name, ["auto", *names])), "usage")
    return names.index(name)


def preconditioner_number(name: str) -> int:
    if name in _PRECONDITIONERS:
        return _PRECONDITIONERS[name]
    names = [lib.weft_preconditioner_about(i).contents.name.decode() for i in range(lib.weft_preconditioner_count())]
    if name not in names:
        raise UsageError("no preconditioner is called %r; %s" % (name, nearest(name, [*_PRECONDITIONERS, *names])), "usage")
    return names.index(name)


def time_schemes() -> Dict[str, str]:
    """The time integration schemes of Problem.steps, by name, with a few words on each."""
    rows = [lib.weft_time_scheme_about(i).contents for i in range(lib.weft_time_scheme_count())]
    return {row.name.decode(): row.help.decode() for row in rows}


def step_scheme_number(what: str, about: Any, name: str) -> int:
    """Of a splitting or an explicit scheme of advection-diffusion steps."""
    names: List[str] = []
    while about(len(names)):
        names.append(about(len(names)).contents.name.decode())
    if name not in names:
        raise UsageError("%s is %r, expected %s" % (what, name, " or ".join(map(repr, names))), "usage")
    return names.index(name)


def assembly_number(name: str) -> int:
    number = c_int(AUTO)
    if name != "auto":
        lib.weft_assembly_find(encode(name), byref(number))
    return number.value


def solver_options(method: str, preconditioner: str, assembly: str, tolerance: float, max_iterations: Optional[int],
                   restart: int, smoother_degree: int, until: str, tune: int,
                   petsc_options: Optional[str]) -> s.weft_problem_options:
    if until not in ("tolerance", "discretisation"):
        raise UsageError("until is %r, expected 'tolerance' or 'discretisation'" % until, "usage")
    if tolerance < 0 or restart < 0 or smoother_degree not in range(7) or (max_iterations or 0) < 0:
        raise UsageError("tolerance, max_iterations and restart are at least 0, and smoother_degree is 1 to 6, or 0 for the "
                         "preconditioner's own", "usage")
    return s.weft_problem_options(
        method=method_number(method), assembly=assembly_number(assembly),
        preconditioner=preconditioner_number(preconditioner), earlier=AUTO, smoother_degree=smoother_degree,
        restart=restart, tolerance=tolerance, until_discretisation=until == "discretisation",
        max_iterations=-1 if max_iterations is None else max_iterations, tune=tune,
        petsc_options=encode(petsc_options) if petsc_options else None)
