"""Steps in time of a problem."""

from __future__ import annotations

from ctypes import byref
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from . import _structures as s
from ._library import Handle, UsageError, lib
from .report import NotConverged

if TYPE_CHECKING:
    import numpy

    from .device import Array
    from .problem import Problem

# Of weft_transient_outcome.
_OUTCOMES = ("done", "a linear system was not solved", "Newton's method did not converge",
             "no step is short enough for the tolerance")


@dataclass(eq=False)
class Step:
    """The solution after a step. Later steps do not change its arrays.

    t, dt       the time, and the length of the step
    step        steps since the start
    iterations  of linear solvers in the step
    newton      iterations of Newton's method in the step
    error       of steps with a tolerance: their estimate, relative to u
    """

    t: float
    dt: float
    step: int
    u: Array
    iterations: int
    newton: int
    error: float
    outcome: str
    _problem: Problem = field(repr=False)

    @property
    def values(self) -> numpy.ndarray:
        """u as a numpy array, on the host without a copy."""
        return self.u.numpy()

    @property
    def fields(self) -> list[numpy.ndarray]:
        """The functions of a mixed problem."""
        return self._problem.split(self.u)


class Steps:
    """An iterator over the steps from the start of a problem to the end; `state` has what they took together."""

    def __init__(self, problem: Problem, handle: Handle, settings: s.weft_transient_problem, must_converge: bool) -> None:
        self._problem, self._settings, self._must_converge = problem, settings, must_converge
        self._of = handle
        self._handle = Handle("transient", handle, settings)
        lib.weft_problem_in_time(handle.pointer, byref(problem._options), byref(settings), byref(self._handle.pointer))
        self.state = s.weft_transient_state(t=settings.start)
        problem._take_step(handle, self)

    @property
    def t(self) -> float:
        """The time."""
        return self.state.t

    def __iter__(self) -> Steps:
        return self

    def __next__(self) -> Step:
        end, dt = self._settings.end, self._settings.dt
        left = end - self.state.t
        if abs(left) <= 1e-9 * dt or self.state.outcome != 0:
            raise StopIteration
        if self._settings.tolerance > 0:
            return self.advance(end)
        return self.step(left if left < dt * (1 - 1e-9) else dt)

    def step(self, dt: float) -> Step:
        """Make one step of this length."""
        lib.weft_transient_step(self._handle.pointer, dt, byref(self.state))
        return self._made()

    def advance(self, until: float) -> Step:
        """With a tolerance: make one step of a length that the error allows, which does not end after `until`."""
        if not self._settings.tolerance > 0:
            raise UsageError("advance is for steps with a tolerance", "usage")
        lib.weft_transient_advance(self._handle.pointer, until, byref(self.state))
        return self._made()

    def _made(self) -> Step:
        state = self.state
        u = self._problem._take_step(self._of, self)
        outcome = _OUTCOMES[state.outcome]
        if state.outcome == 1:
            outcome += ": " + lib.weft_cg_outcome_name(state.solver).decode()
        made = Step(state.t, state.dt, state.step, u, state.iterations, state.newton, state.error, outcome, self._problem)
        if state.outcome != 0 and self._must_converge:
            raise NotConverged("the step after t = %g was not made: %s" % (state.t, outcome), made)
        return made
