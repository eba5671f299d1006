"""Solutions as functions that JAX differentiates in reverse, also inside jit.

    import jax, weft, weft.jax

    jax.config.update("jax_enable_x64", True)
    solve = weft.jax.solver(problem)
    jax.grad(lambda k: ((solve(k=k) - data)**2).sum())(k)
"""

from __future__ import annotations

from typing import Any

import jax
import numpy

from ._differentiable import Solve
from .problem import Problem


def solver(problem: Problem) -> Any:
    """A function of arrays, by the names of coefficients and constants of a form file's problem, that gives u.

    Arrays of coefficients have the shape of their nodes, of constants that of the constant; derivatives are by these entries. Inputs that
    are not named keep the values that the problem has. Calls are made on the host, by jax.pure_callback.
    """
    solve = Solve(problem)
    shape = problem.space.shape if len(problem.spaces) == 1 else (problem.n_dofs,)

    def taken(arrays: Any) -> dict[str, numpy.ndarray]:
        return {name: numpy.asarray(one, dtype="float64") for name, one in arrays.items()}

    def run(arrays: Any) -> Any:
        kind = next(iter(arrays.values())).dtype
        return jax.pure_callback(lambda given: solve(taken(given)).astype(kind), jax.ShapeDtypeStruct(shape, kind), arrays)

    @jax.custom_vjp
    def solution(arrays: Any) -> Any:
        return run(arrays)

    def forward(arrays: Any) -> Any:
        return run(arrays), arrays

    def backward(arrays: Any, cotangent: Any) -> Any:
        def made(given: Any, w: Any) -> Any:
            values = taken(given)
            found = solve.pull_back(values, numpy.asarray(w, dtype="float64"))
            return {name: found[name].astype(given[name].dtype) for name in values}

        shapes = {name: jax.ShapeDtypeStruct(one.shape, one.dtype) for name, one in arrays.items()}
        return (jax.pure_callback(made, shapes, arrays, cotangent),)

    solution.defvjp(forward, backward)

    def call(**arrays: Any) -> Any:
        return solution({name: jax.numpy.asarray(one) for name, one in arrays.items()})

    return call
