"""Steps in time of a problem."""

from __future__ import annotations

import os
import time
from collections import deque
from ctypes import byref
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Callable, NamedTuple, Optional

from . import _structures as s
from ._library import Error, Handle, UsageError, encode, lib
from ._show import About, Pickled, Shown
from .derived import balance
from .progress import progress
from .report import NotConverged

if TYPE_CHECKING:
    import numpy

    from .device import Array
    from .problem import Problem
    from .ranks import Part

# Of weft_transient_outcome.
_OUTCOMES = ("done", "a linear system was not solved", "Newton's method did not converge", "no step is short enough for the tolerance")


@dataclass(eq=False, repr=False)
class Step(Pickled):
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
    u: Optional[Array]
    iterations: int
    newton: int
    error: float
    outcome: str
    _problem: Problem = field(repr=False)

    def _about(self) -> About:
        error = ", error %.1e" % self.error if self.error > 0 else ""
        return About("step %d, t = %.6g, %s, %d iterations%s" % (self.step, self.t, self.outcome, self.iterations, error), [
            ("dt", self.dt), ("iterations of Newton's method", self.newton), ("u", self.u.shape if self.u is not None else "elsewhere")])

    @property
    def values(self) -> numpy.ndarray:
        """u as a numpy array, on the host without a copy."""
        if not hasattr(self, "_problem"):  # it was pickled, with an array of numpy
            return self.u  # type: ignore[return-value]
        self._problem._check_first()
        assert self.u is not None
        return self.u.numpy()

    @property
    def fields(self) -> list[numpy.ndarray]:
        """The functions of a mixed problem."""
        if not hasattr(self, "_problem"):
            raise UsageError("a step that was pickled has values, but not the spaces of a mixed problem", "usage")
        return self._problem.split(self.values)


def file_options(output: Any, output_every: int, output_interval: float, overwrite: bool, checkpoint: Any,
                 checkpoint_every: int, resume: Any) -> s.weft_problem_files_options:
    """The files of Problem.steps."""
    if (output_every or output_interval or overwrite) and output is None:
        raise UsageError("output_every, output_interval and overwrite say when and how to write, but not where: give output, "
                         "a name that ends in .pvd or .vtkhdf", "usage")
    if checkpoint_every and checkpoint is None:
        raise UsageError("checkpoint_every says when to write, but not where: give checkpoint, a name that ends in .vtkhdf", "usage")
    if not (0 <= output_every < 2**31 and 0 <= checkpoint_every < 2**31 and output_interval >= 0):
        raise UsageError("output_every is %r, output_interval %r and checkpoint_every %r: expected 0, for none, or more"
                         % (output_every, output_interval, checkpoint_every), "usage")
    # absolute: the present folder may be another one when they are written
    names = [None if path is None else encode(os.path.abspath(path)) for path in (output, checkpoint, resume)]
    return s.weft_problem_files_options(
        output=names[0], output_every=output_every, output_interval=output_interval, overwrite=overwrite,
        checkpoint=names[1], checkpoint_every=checkpoint_every, resume=names[2])


class _Integration(NamedTuple):
    """Of one rank, or of a problem without ranks: what makes its steps, and its files."""

    part: Optional[Part]
    shown: Handle
    transient: Handle
    files: Handle
    state: s.weft_transient_state


class Steps(Shown):
    """An iterator over the steps from the start of a problem to the end; `state` has what they took together.

    Files are complete when the last step has been made. A loop that may end before leaves them complete where it is in a
    `with` statement, or calls close():

        with problem.steps(dt=0.01, end=1, output="u.vtkhdf", output_every=10, checkpoint="u-state.vtkhdf") as steps:
            for step in steps:
                if step.values.max() < 1e-3:
                    break
    """

    def __init__(self, problem: Problem, handle: Handle, settings: s.weft_transient_problem,
                 files: s.weft_problem_files_options, must_converge: bool) -> None:
        self._problem, self._settings, self._must_converge = problem, settings, must_converge
        self._of, self._is_broken, self._is_lost, self._began = handle, False, False, time.monotonic()
        self._options = s.weft_problem_options.from_buffer_copy(problem._options)
        lib.weft_problem_resume_choices(files.resume, byref(self._options))
        self._all: list[_Integration] = problem._each(lambda part: self._start(part, files))
        self.state = self._all[0].state
        self._n_made = self.state.step
        self._made_steps: deque[tuple[Any, ...]] = deque(maxlen=10)
        self._each(lambda one: one.part.collect() if one.part else None)
        problem._take_step(handle, self)
        self._each(lambda one: lib.weft_problem_files_begin(one.files.pointer))

    def _start(self, part: Optional[Part], files: s.weft_problem_files_options) -> _Integration:
        """The integration of a rank. All ranks call it."""
        of, shown = (part.handle, part.shown) if part else (self._of, self._of)
        state, own = s.weft_transient_state(t=self._settings.start), s.weft_problem_files_options.from_buffer_copy(files)
        if part and not part.whole:
            own.output = None  # which the first rank writes
        transient = Handle("transient", of, self._settings, self._options)
        lib.weft_problem_in_time(of.pointer, byref(self._options), byref(self._settings), byref(transient.pointer))
        made = Handle("problem_files", transient, shown, own, state, files)  # files has the names
        lib.weft_problem_files_make(shown.pointer, transient.pointer, byref(own), byref(state), byref(made.pointer))
        return _Integration(part, shown, transient, made, state)

    def _each(self, work: Callable[[_Integration], Any]) -> list[Any]:
        """work() of the integration of each rank that is here."""
        ranks = self._problem._ranks
        return ranks.run(lambda i: work(self._all[i])) if ranks else [work(self._all[0])]

    def _before(self) -> float:
        """The time after which the next step must not end."""
        return [lib.weft_problem_files_before(one.files.pointer) for one in self._all][0]

    def _balances(self) -> list[Any]:
        return self._each(lambda one: balance(one.shown, one.transient))

    @property
    def t(self) -> float:
        """The time."""
        return self.state.t

    def _about(self) -> About:
        state = self.state
        return About("step %d, t = %.6g of %.6g, %s" % (state.step, state.t, self._settings.end, _OUTCOMES[state.outcome]), [
            ("problem", self._problem), ("iterations", state.all_iterations), ("iterations of Newton's method", state.all_newton),
            ("rejected steps", state.n_rejected)],
            [[("step", "t", "dt", "iterations", "error"), *self._made_steps]] if self._made_steps else [])

    def __iter__(self) -> Steps:
        return self

    def __next__(self) -> Step:
        if self._is_at_end() or self.state.outcome != 0:
            self.close()
            raise StopIteration
        dt, until = self._settings.dt, self._before()
        left = until - self.state.t
        if self._settings.tolerance > 0:
            return self._make(lib.weft_transient_advance, until)
        return self._make(lib.weft_transient_step, left if left < dt * (1 - 1e-9) else dt)

    def _is_at_end(self) -> bool:
        return abs(self._settings.end - self.state.t) <= 1e-9 * self._settings.dt

    def step(self, dt: float) -> Step:
        """Make one step of this length."""
        self._before()
        return self._make(lib.weft_transient_step, dt)

    def advance(self, until: float) -> Step:
        """With a tolerance: make one step of a length that the error allows, which does not end after `until`."""
        if not self._settings.tolerance > 0:
            raise UsageError("advance is for steps with a tolerance", "usage")
        return self._make(lib.weft_transient_advance, min(until, self._before()))

    def close(self) -> None:
        """Write the checkpoint of the present state, and close the series of results. Nothing is written for later steps."""
        lib.finish()
        progress.clear()
        if not self._is_broken:
            self._each(lambda one: lib.weft_problem_files_end(one.files.pointer))

    def __enter__(self) -> Steps:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()

    def _make(self, function: Any, value: float) -> Step:
        def make(one: _Integration) -> None:
            function(one.transient.pointer, value, byref(one.state))
            if one.part and one.state.outcome == 0:
                one.part.collect()

        lib.finish()
        state, start, end = self.state, self._settings.start, self._settings.end
        progress.begin_step("step %d, t = %.4g of %.4g" % (state.step + 1, state.t, end))
        if state.step == self._n_made:  # else one whose call was interrupted has been made after all
            self._run(make)
        self._n_made = state.step
        if state.outcome == 0:
            self._each(lambda one: lib.weft_problem_files_after(one.files.pointer))
        if state.outcome != 0 or self._is_at_end():
            self.close()
        made = self._made()
        progress.end_step(self._began, state.t - start, end - start)
        return made

    def _run(self, make: Callable[[_Integration], Any]) -> None:
        """Make a step. After Ctrl-C the state is that before it, and the next step is made again; on ranks it is lost."""
        if self._is_lost:
            raise UsageError("a step on several ranks was interrupted, after which they have no common state: call steps() again", "usage")
        self._is_broken = True
        try:
            self._each(make)
            self._is_broken = False
        except BaseException as error:
            if not isinstance(error, Error):  # but a signal
                self._is_broken = self._is_lost = self._problem._ranks is not None
            raise

    def _made(self) -> Step:
        state = self.state
        u = self._problem._take_step(self._of, self)
        outcome = _OUTCOMES[state.outcome]
        if state.outcome == 1:
            outcome += ": " + lib.weft_cg_outcome_name(state.solver).decode()
        self._made_steps.append((state.step, state.t, state.dt, state.iterations, state.error))
        made = Step(state.t, state.dt, state.step, u, state.iterations, state.newton, state.error, outcome, self._problem)
        if state.outcome != 0 and self._must_converge:
            raise NotConverged("the step after t = %g was not made: %s" % (state.t, outcome), made)
        return made
