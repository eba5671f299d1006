"""What weft.torch and weft.jax share: a solution as a function of arrays, and its pull-back."""

from __future__ import annotations

from typing import Any, Mapping

from ._library import UsageError
from .problem import Problem


class Solve:
    """The solution of a problem as a function of some of its inputs.

    Arrays of functions stay where they are between calls, so that nothing is bound or compiled again; numbers, which are constants, bind
    the problem again where they change.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._arrays: dict[str, Any] = {}
        self._numbers: dict[str, tuple[float, ...]] = {}
        self._solved: Any = None

    def __call__(self, values: Mapping[str, Any]) -> Any:
        """u for these values, numpy arrays: of no or one short axis for constants, else over the entries of the coefficient."""
        problem = self._problem
        constants = {name for name, one in problem._binding._stationary.items() if one.over is None}
        unknown = [name for name in values if name not in problem._binding._stationary]
        if unknown:
            raise UsageError("the problem has no input %s: it has %s" % (unknown[0], ", ".join(problem._binding._stationary)), "usage")
        fresh: dict[str, Any] = {}
        for name, value in values.items():
            if name in constants:
                numbers = tuple(float(one) for one in value.reshape(-1))
                if self._numbers.get(name) != numbers:
                    fresh[name] = numbers if len(numbers) > 1 else numbers[0]
                self._numbers[name] = numbers
            elif name in self._arrays and self._arrays[name].shape == value.shape and problem._binding._stationary[name].over != "cells":
                self._arrays[name].set(value)
            else:
                fresh[name] = self._arrays[name] = problem.device.asarray(value.copy())
        if fresh:
            problem.set(**fresh)
        problem.solve()
        self._solved = {name: value.copy() for name, value in values.items()}
        return problem.u.numpy().copy()

    def pull_back(self, values: Mapping[str, Any], cotangent: Any) -> dict[str, Any]:
        """The derivatives with respect to the values, in their shapes. Solved again if other values were solved with since."""
        import numpy

        if self._solved is None or any(not numpy.array_equal(self._solved.get(name), value) for name, value in values.items()):
            self(values)
        made: Mapping[Any, Any] = self._problem.pull_back(cotangent, list(values))
        return {name: numpy.asarray(one, dtype="float64").reshape(values[name].shape) for name, one in made.items()}
