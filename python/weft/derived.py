"""What follows from a solution: quantities of formulas, values at points, reactions."""

from __future__ import annotations

import math
from ctypes import POINTER, byref, c_double
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Mapping, NamedTuple, Optional, Union

from . import _structures as s
from ._check import refuse
from ._library import Handle, UsageError, encode, lib
from ._show import About, Pickled
from .mesh import _view

if TYPE_CHECKING:
    import numpy

_FIELD, INTEGRAL, EXTREMA = range(3)  # of weft_derive_kind
_PROJECTIONS = ("none", "lumped", "consistent")
Value = Union[float, Any]  # one number, or an array with one for each component


class Extrema(NamedTuple):
    """The least and the greatest value, and where they are."""

    least: float
    greatest: float
    least_at: tuple[float, ...]
    greatest_at: tuple[float, ...]


@dataclass(eq=False, repr=False)
class Balance(Pickled):
    """What flows into u, or the forces on it: sums over the dofs of a component, which add up to `sum`, 0 but for what the
    solver leaves: reactions + loads + exchange - equation - storage.

    reactions  of Dirichlet groups and of constraints, by name; NaN for components that have no condition there
    exchange   of Robin conditions, and of boundary terms of the forms
    loads      sources, fluxes and loads at points; None where they are part of `equation`
    equation   what the terms of the equation take up: 0 for -div(k grad u)
    storage    in time: the derivative of the content
    """

    reactions: dict[str, Value]
    exchange: dict[str, Value]
    loads: Optional[Value]
    equation: Value
    storage: Value
    sum: Value

    def _about(self) -> About:
        rows = [("reaction of " + name, value) for name, value in self.reactions.items()] + [
            ("exchange of " + name, value) for name, value in self.exchange.items()] + [
            (name, getattr(self, name)) for name in ("loads", "equation", "storage", "sum")]
        return About(", ".join("%s %s" % (name, "%.6g" % value if isinstance(value, float) else value) for name, value in rows), rows)


def by_component(values: Any, n: int) -> Value:
    import numpy

    return values[0] if n == 1 else numpy.array(values[:n])


def _flows(flows: s.weft_flows, n: int) -> dict[str, Value]:
    found: dict[str, list[float]] = {}
    for flow in flows.list[:flows.n]:  # of one group there are several, if its components have conditions of their own
        sums = found.setdefault(flow.name.decode(), [math.nan] * n)
        for k in range(n):
            if not flow.is_free[k]:
                sums[k] = flow.sums[k] + (0 if math.isnan(sums[k]) else sums[k])
    return {name: by_component(sums, n) for name, sums in found.items()}


def balance(problem: Handle, transient: Optional[Handle] = None) -> Optional[Balance]:
    """The balance of a solution, or of the last step; None before the first one, and of other ranks than the first."""
    made, n = s.weft_problem_balance(), lib.weft_problem_components(problem.pointer)
    try:
        if transient is None:
            lib.weft_problem_reactions(problem.pointer, byref(made))
        else:
            lib.weft_problem_reactions_in_time(problem.pointer, transient.pointer, byref(made))
        return None if not made.is_made else Balance(
            _flows(made.reactions, n), _flows(made.exchange, n), None if made.loads_reason else by_component(made.loads, n),
            by_component(made.equation, n), by_component(made.storage, n), by_component(made.sums, n))
    finally:
        lib.weft_problem_balance_clear(byref(made))


def evaluate(problem: Handle, context: Any, mesh: Any, points: Any) -> numpy.ndarray:
    """u at points, [n] or [n, components]; NaN outside of the mesh."""
    import numpy

    try:
        at = numpy.ascontiguousarray(points, dtype="float64")
    except (TypeError, ValueError):
        raise refuse("points", points, "their coordinates, [n, %d]" % mesh.dimension) from None
    if at.ndim not in (1, 2) or at.size % mesh.dimension or at.ndim == 2 and at.shape[1] != mesh.dimension:
        raise UsageError("points have the shape %r, expected [n, %d]: the mesh has %d dimensions"
                         % (at.shape, mesh.dimension, mesh.dimension), "usage")
    at = at.reshape(-1, mesh.dimension)
    probes = Handle("probes", *context.uses, mesh._handle)
    lib.weft_probes_make(context.pointer, mesh._mesh, at.ctypes.data_as(POINTER(c_double)), len(at), byref(probes.pointer))
    out = numpy.empty((len(at), lib.weft_problem_components(problem.pointer)))
    lib.weft_problem_evaluate(problem.pointer, probes.pointer, out.ctypes.data_as(POINTER(c_double)))
    return out[:, 0] if out.shape[1] == 1 else out


class Quantities:
    """Formulas of a solution: those that are defined by name, and one integral or extrema.

    defined  name -> formula; later formulas may use the names
    """

    def __init__(self, problem: Handle, defined: Mapping[str, str], projection: str = "none", kind: Optional[int] = None,
                 text: str = "", group: Optional[str] = None) -> None:
        if projection not in _PROJECTIONS:
            raise UsageError("projection is %r, expected one of %s" % (projection, ", ".join(_PROJECTIONS)), "usage")
        rows = [s.weft_derived_quantity(_FIELD, encode(name), None, encode(formula), encode(name)) for name, formula in defined.items()]
        if kind is not None:
            origin = b"integral" if kind == INTEGRAL else b"extrema"
            rows.append(s.weft_derived_quantity(kind, origin, encode(group), encode(text), origin))
        list_ = (s.weft_derived_quantity * max(len(rows), 1))(*rows)
        settings = s.weft_derive_problem(projection=_PROJECTIONS.index(projection))
        self._names, self._handle = list(defined), Handle("derive", problem, list_, settings)
        lib.weft_problem_derive(problem.pointer, list_, len(rows), byref(settings), byref(self._handle.pointer))

    @property
    def pointer(self) -> Any:
        return self._handle.pointer

    def run(self, t: float) -> None:
        lib.weft_derive_run(self._handle.pointer, t)

    def value(self) -> s.weft_derived_value:
        """The integral or the extrema."""
        values = POINTER(s.weft_derived_value)()
        lib.weft_derive_values(self._handle.pointer, byref(values))
        return values[0]

    def fields(self, n_cells: int, n_nodes: int) -> dict[str, tuple[bool, numpy.ndarray]]:
        """The quantities that are defined: whether they are on cells, and their values, [n] or [n, components]."""
        import numpy

        fields, found = POINTER(s.weft_field)(), {}
        for i in range(lib.weft_derive_fields(self._handle.pointer, byref(fields))):
            one = fields[i]
            shape = (n_cells if one.on_cells else n_nodes,) + ((one.n_components,) if one.n_components > 1 else ())
            found[one.name.decode()] = (one.on_cells, numpy.array(_view(one.values, shape, "float64", None)))
        return found
