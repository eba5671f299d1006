"""How a problem was solved: what was chosen and why, and how the iteration went."""

from __future__ import annotations

from ctypes import byref, c_int
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Mapping, NamedTuple, Optional

from . import _structures as s
from ._library import Handle, lib
from ._show import About, Pickled, some
from .mesh import _view

if TYPE_CHECKING:
    import numpy

JACOBI, NO_PRECONDITIONER = -1, -2  # of fem/weft_problem.h


class NewtonIteration(NamedTuple):
    """An iteration of Newton's method: the residual at free dofs, relative to scale, and how the next step was solved."""

    step: int
    iteration: int
    residual: float
    scale: float
    damping: float
    method: str
    linear_iterations: int


def convergence(history: Any) -> list[list[tuple[Any, ...]]]:
    """A table of residuals, if there are any."""
    rows = [(i, "%.2e" % one) for i, one in enumerate(history)]
    return [[("iteration", "residual"), *some(rows)]] if rows else []


@dataclass(eq=False, repr=False)
class Newton(Pickled):
    """What Newton's method did. `outcome` is that of the last load step."""

    converged: bool
    to_rounding: bool
    outcome: str
    iterations: tuple[NewtonIteration, ...]

    @property
    def n_iterations(self) -> int:
        """The number of systems that were solved."""
        return sum(one.linear_iterations > 0 for one in self.iterations)

    def _about(self) -> About:
        return About(self.outcome + (" to rounding" if self.to_rounding else ""), (), [[
            ("load step", "iteration", "residual", "damping", "iterations", "method"), *some([
                (one.step, one.iteration, "%.2e" % one.residual, one.damping, one.linear_iterations, one.method)
                for one in self.iterations])]])

    def _text(self) -> str:
        lines = ["Newton(" + self._about().summary]
        lines += ["  load step %d, iteration %d: residual %.2e, %d iterations of %s%s" % (
            one.step, one.iteration, one.residual, one.linear_iterations, one.method,
            "" if one.damping == 1 else ", damped by %g" % one.damping) for one in self.iterations]
        return "\n".join(lines) + ")"


@dataclass(eq=False, repr=False)
class Report(Pickled):
    """How a problem was solved.

    converged   to the tolerance, or as far as rounding allows; of a nonlinear problem Newton's method
    outcome     in words
    iterations  of the linear systems, all together
    residual    relative, at the end
    reasons     why "method" and "preconditioner" were chosen
    asymmetry   |K - K^T| / |K|
    bytes       of the device's memory, as estimated; 0: there is no estimate
    history     relative residuals of the last linear system
    newton      None: the problem is linear
    dependent   dofs that constraints express by others
    free_modes  motions that nothing fixes, without which u is; held_modes: of these, those that weak terms hold
    """

    converged: bool
    outcome: str
    iterations: int
    residual: float
    method: str
    assembly: str
    preconditioner: str
    reasons: Mapping[str, str]
    asymmetry: float
    bytes: int
    history: numpy.ndarray
    newton: Optional[Newton]
    dependent: int
    free_modes: int
    held_modes: int

    def _about(self) -> About:
        return About("%s, %d iterations, residual %.2e" % (self.outcome, self.iterations, self.residual), [
            ("method", "%s: %s" % (self.method, self.reasons["method"] or "as requested")),
            ("preconditioner", "%s: %s" % (self.preconditioner, self.reasons["preconditioner"] or "as requested")),
            ("assembly", self.assembly), ("memory", "%.1f MB" % (self.bytes * 1e-6) if self.bytes else "not estimated")],
            list(self.newton._about().tables) if self.newton else convergence(self.history))

    def _text(self) -> str:
        about = self._about()
        lines = ["Report(" + about.summary] + ["  %-15s %s" % row for row in about.rows[:3]]
        return "\n".join(lines + (["  %s" % repr(self.newton).replace("\n", "\n  ")] if self.newton else [])) + ")"


class NotConverged(RuntimeError):
    """The iteration did not converge; `solution` has what it reached."""

    def __init__(self, text: str, solution: Any) -> None:
        super().__init__(text)
        self.solution = solution

    def __reduce__(self) -> Any:
        return type(self), (self.args[0], self.solution)


def method_name(number: int) -> str:
    return lib.weft_method_about(number).contents.name.decode()


def preconditioner_name(number: int) -> str:
    if number < 0:
        return "jacobi" if number == JACOBI else "none"
    return lib.weft_preconditioner_about(number).contents.name.decode()


def _newton(report: s.weft_problem_newton_report) -> Newton:
    rows = [report.iterations[i] for i in range(report.n)]
    return Newton(report.converged, report.to_rounding, lib.weft_newton_outcome_name(report.outcome).decode(), tuple(
        NewtonIteration(row.step, row.iteration, row.residual, row.scale, row.damping, method_name(row.method),
                        row.linear_iterations) for row in rows))


def history_of(result: s.weft_cg_result) -> numpy.ndarray:
    """A copy of the residuals, which belong to the library."""
    import numpy

    return numpy.array(_view(result.history, (result.iterations + 1,) if result.history else (0,), "float64", None))


def take(report: s.weft_problem_report, problem: Handle) -> Report:
    """The report, copied: the library's is overwritten by the next solve."""
    choice, result = report.choice.contents, report.result.contents
    newton = _newton(report.newton.contents) if report.newton else None
    held = c_int()
    free_modes = lib.weft_problem_free_modes(problem.pointer, byref(held))
    outcome = newton.outcome if newton else lib.weft_cg_outcome_name(result.outcome).decode()
    iterations = sum(one.linear_iterations for one in newton.iterations) if newton else result.iterations
    residual = newton.iterations[-1].residual if newton and newton.iterations else result.residual
    return Report(
        newton.converged if newton else result.outcome == 0, outcome, iterations, residual, method_name(choice.method),
        lib.weft_assembly_name(choice.assembly).decode(), preconditioner_name(choice.preconditioner),
        {"method": choice.method_reason.decode(), "preconditioner": choice.preconditioner_reason.decode()},
        report.asymmetry, choice.bytes, history_of(result), newton, lib.weft_problem_dependent(problem.pointer), free_modes,
        held.value)
