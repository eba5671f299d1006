"""What a problem tells about its solution."""

from __future__ import annotations

import os
from ctypes import byref, c_char_p, c_double
from typing import TYPE_CHECKING, Any, Callable, Mapping, Optional, Sequence, Union

from ._check import check_type
from ._library import Handle, UsageError, encode, lib
from .conditions import Number, check_text
from .derived import EXTREMA, INTEGRAL, Balance, Extrema, Quantities, Value, balance, by_component, evaluate
from .plot import draw

if TYPE_CHECKING:
    import numpy

    from .mesh import Mesh
    from .operator import _Context
    from .ranks import Part, Ranks
    from .steps import Steps


class Results:
    """The results of the last solve or step of a problem.

    Formulas may use u, grad(u), x, y, z, t, on facets normal, the names of the forms, and those of define()
    (docs/derived-results.md).
    """

    mesh: Mesh
    _ranks: Optional[Ranks]
    _each: Callable[[Callable[[Optional[Part]], Any]], list[Any]]
    _context: _Context

    spaces: Any
    def __init__(self) -> None:
        self._of: Optional[Handle] = None  # whose u is the solution
        self._of_steps: Optional[Steps] = None  # which made it
        self._defined: dict[str, str] = {}
        self._quantities: dict[Any, Quantities] = {}  # that are compiled, for this solution or steps

    def _forget(self) -> None:
        """Before u is another one. What is compiled for its memory is freed before that."""
        self._of = self._of_steps = None
        self._quantities.clear()

    def _solved(self, handle: Handle, steps: Optional[Steps] = None) -> None:
        """u of a problem of the library is the solution, as after a step: several integrations may take turns."""
        if handle is not self._of:
            self._forget()
        self._of, self._of_steps = handle, steps

    @property
    def _is_first(self) -> bool:
        """Whether this process has the solution."""
        return self._ranks is None or self._ranks.is_first

    def _check_first(self) -> None:
        if self._ranks is not None and not self._ranks.is_first:
            raise UsageError("the solution is on the first rank, and this process is rank %d of %d\nhint: read it where "
                             "problem.rank == 0; mpi4py's comm.bcast(...) gives it to others" % (self._ranks.rank, self._ranks.n),
                             "usage")

    def _solution(self) -> Handle:
        self._check_first()
        if self._of is None:
            raise UsageError("there is no solution yet: call solve() or steps() first", "usage")
        return self._of

    @property
    def t(self) -> float:
        """The time of the last step; 0 of a stationary problem."""
        return self._of_steps.t if self._of_steps is not None else 0.0

    def errors(self, exact: Union[Number, Sequence[Number]]) -> tuple[float, float]:
        """The errors of u against formulas, one for each component, also in t: in the L2 norm, and of the gradient."""
        handle, n = self._solution(), lib.weft_problem_components(self._solution().pointer)
        formulas = list(exact) if isinstance(exact, (list, tuple)) else [exact]
        if len(formulas) != n:
            raise UsageError("%d formulas are given, expected %d" % (len(formulas), n), "usage")
        for one in formulas:
            check_text("a formula", one)
        texts = (c_char_p * n)(*[encode(str(one)) for one in formulas])
        errors = (c_double * n)(), (c_double * n)()
        lib.weft_problem_errors(handle.pointer, texts, b"exact", self.t, *errors)
        l2, h1 = (sum(one ** 2 for one in of_all) ** 0.5 for of_all in errors)
        return l2, h1

    def integrals(self) -> Value:
        """The integral of u over the mesh, of each component."""
        handle, n = self._solution(), lib.weft_problem_components(self._solution().pointer)
        out = (c_double * n)()
        lib.weft_problem_integrals(handle.pointer, out)
        return by_component(out, n)

    @property
    def energy(self) -> float:
        """u.(A u)/2 of a linear problem, without what Robin conditions add to A."""
        out = c_double()
        lib.weft_problem_energy(self._solution().pointer, byref(out))
        return out.value

    def sum(self, name: str) -> float:
        """The sum over the cells of a value of a script, with one number for each cell, such as an energy."""
        out = c_double()
        lib.weft_problem_sum(self._solution().pointer, encode(name), byref(out))
        return out.value

    def probe(self, points: Any) -> numpy.ndarray:
        """u at points [n, dimension]: [n], or [n, components]; NaN outside of the mesh."""
        return evaluate(self._solution(), self._context, self.mesh, points)

    def define(self, **formulas: str) -> None:
        """Name quantities, such as flux="-k*grad(u)", for the formulas of others, derived() and write()."""
        for name, formula in formulas.items():
            check_type(name, formula, str, "a formula as text")
        self._defined.update(formulas)
        self._quantities.clear()

    def _run(self, projection: str = "none", kind: Optional[int] = None, text: str = "", group: Optional[str] = None) -> Quantities:
        check_type("the formula", text, str, "text, such as \"dot(grad(u), normal)\"")
        key, handle = (projection, kind, text, group), self._solution()
        if key not in self._quantities:
            self._quantities[key] = Quantities(handle, self._defined, projection, kind, text, group)
        self._quantities[key].run(self.t)
        return self._quantities[key]

    def derived(self, name: str, projection: str = "none") -> numpy.ndarray:
        """A quantity of define(), [cells] or [cells, components]; with a projection, "lumped" or "consistent", at the nodes
        of `space`."""
        if name not in self._defined:
            raise UsageError("no quantity is called %r; there are: %s" % (name, ", ".join(self._defined) or "none"), "usage")
        return self._fields(projection)[name][1]

    def _fields(self, projection: str) -> Mapping[str, tuple[bool, numpy.ndarray]]:
        n_nodes = lib.weft_space_nodes(self.spaces[0]._handle.pointer)
        return self._run(projection).fields(self.mesh.n_cells, n_nodes)

    def integral(self, formula: str, group: Optional[str] = None) -> Value:
        """The integral of a formula over the mesh, or a group of cells or facets."""
        value = self._run(kind=INTEGRAL, text=formula, group=group).value()
        return by_component(value.integral, value.n_components)

    def extrema(self, formula: str, group: Optional[str] = None) -> Extrema:
        """The least and the greatest value of a formula at the nodes of the mesh, or of a group."""
        value, d = self._run(kind=EXTREMA, text=formula, group=group).value(), self.mesh.dimension
        return Extrema(value.least, value.greatest, tuple(value.least_at[:d]), tuple(value.greatest_at[:d]))

    def reactions(self) -> Optional[Balance]:
        """The reactions of Dirichlet groups and constraints, and the balance with loads and exchange; of the last step. Of processes
        of MPI all call it, and others than the first get None."""
        if self._of_steps is not None:
            made = self._of_steps._balances()[0]
            if made is None and self._is_first:
                raise UsageError("no step has been made, which reactions are of", "usage")
            return made
        return balance(self._solution()) if self._is_first else None

    def plot(self, name: Optional[str] = None, path: Any = None, warp: float = 0, edges: bool = False,
             component: Optional[int] = None, **options: Any) -> Any:
        """Show u, or a quantity of define(), by pyvista (pip install weft[plot]); the arguments are those of Mesh.plot."""
        self._solution()
        return draw(self.write, name, path, self.mesh.dimension, warp, edges, component, **options)

    def write(self, path: Any, projection: str = "none") -> None:
        """Write the mesh, u and the quantities of define() for ParaView, .vtkhdf or .vtu. The functions of a mixed problem
        are u_0, u_1, ..., shown at the nodes of the highest degree. The first rank writes, others do nothing."""
        check_type("the path", path, (str, os.PathLike), "a name that ends in .vtkhdf or .vtu")
        if not self._is_first:
            return
        handle, derived = self._solution(), self._run(projection) if self._defined else None
        lib.weft_problem_write(handle.pointer, encode(str(path)), derived.pointer if derived else None, None)
