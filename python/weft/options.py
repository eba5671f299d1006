"""Options of linear solvers by their names."""

from __future__ import annotations

from ctypes import byref, c_int
from typing import Any, Dict, List, Optional

from . import _structures as s
from ._check import check_counts, check_numbers, check_type, nearest
from ._library import UsageError, encode, lib

# Of fem/weft_problem.h.
AUTO, NO_PRECONDITIONER, JACOBI = -3, -2, -1
_PRECONDITIONERS = {"auto": AUTO, "none": NO_PRECONDITIONER, "jacobi": JACOBI}


def method_number(name: str) -> int:
    names = [lib.weft_method_about(i).contents.name.decode() for i in range(lib.weft_method_count())]
    if name == "auto":
        return AUTO
    if name not in names:
        raise UsageError("no method is called %r; %s" % (name, nearest(name, ["auto", *names])), "usage")
    return names.index(name)


def preconditioner_number(name: str) -> int:
    if isinstance(name, str) and name in _PRECONDITIONERS:
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
    check_type("assembly", name, str, "text")
    if name != "auto":
        lib.weft_assembly_find(encode(name), byref(number))
    return number.value


def solver_options(method: str, preconditioner: str, assembly: str, tolerance: float, max_iterations: Optional[int],
                   restart: int, smoother_degree: int, until: str, tune: int,
                   petsc_options: Optional[str]) -> s.weft_problem_options:
    check_numbers(tolerance=tolerance)
    check_counts(max_iterations=max_iterations, restart=restart, smoother_degree=smoother_degree, tune=tune)
    check_type("petsc_options", petsc_options, (str, type(None)), "text in PETSc's syntax, or None")
    if until not in ("tolerance", "discretisation"):
        raise UsageError("until is %r, expected 'tolerance' or 'discretisation'" % until, "usage")
    if not tolerance >= 0 or smoother_degree not in range(7):
        raise UsageError("tolerance is at least 0, and smoother_degree is 1 to 6, or 0 for the preconditioner's own", "usage")
    return s.weft_problem_options(
        method=method_number(method), assembly=assembly_number(assembly),
        preconditioner=preconditioner_number(preconditioner), earlier=AUTO, smoother_degree=smoother_degree,
        restart=restart, tolerance=tolerance, until_discretisation=until == "discretisation",
        max_iterations=-1 if max_iterations is None else max_iterations, tune=tune,
        petsc_options=encode(petsc_options) if petsc_options else None)
