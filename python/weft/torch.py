"""Solutions as functions that PyTorch differentiates.

    import torch, weft, weft.torch

    solve = weft.torch.solver(problem)
    k = torch.ones(problem.mesh.n_nodes, dtype=torch.float64, requires_grad=True)
    u = solve(k=k)
    ((u - data)**2).sum().backward()
    k.grad
"""

from __future__ import annotations

from typing import Any

import torch

from ._differentiable import Solve
from .problem import Problem


class _Solution(torch.autograd.Function):
    @staticmethod
    def forward(context: Any, solve: Solve, names: tuple[str, ...], *tensors: torch.Tensor) -> torch.Tensor:
        values = {name: one.detach().to("cpu", torch.float64).numpy() for name, one in zip(names, tensors)}
        context.solve, context.values, context.tensors = solve, values, tensors
        return torch.from_numpy(solve(values)).to(tensors[0].device, tensors[0].dtype)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(context: Any, cotangent: torch.Tensor) -> Any:
        made = context.solve.pull_back(context.values, cotangent.detach().to("cpu", torch.float64).numpy())
        return (None, None) + tuple(torch.from_numpy(made[name]).to(one.device, one.dtype)
                                    for name, one in zip(context.values, context.tensors))


def solver(problem: Problem) -> Any:
    """A function of tensors, by the names of coefficients and constants of a form file's problem, that gives u.

    Tensors of coefficients have the shape of their nodes, of constants that of the constant; derivatives are by these entries. Inputs that
    are not named keep the values that the problem has. u has the type and the device of the first tensor.
    """
    solve = Solve(problem)

    def call(**tensors: torch.Tensor) -> torch.Tensor:
        return _Solution.apply(solve, tuple(tensors), *tensors.values())  # type: ignore[no-any-return, no-untyped-call]

    return call
