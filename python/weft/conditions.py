"""Conditions on functions, constraints between their values, and loads at points."""

from __future__ import annotations

import numbers
from ctypes import byref, c_double, c_int
from typing import Any, NamedTuple, Optional, Sequence, Union

from . import _structures as s
from ._check import check_type, refuse
from ._library import UsageError, encode, lib

Number = Union[int, float, str]
Values = Union[Number, None, Sequence[Optional[Number]]]
Place = Union[str, Number, Sequence[float]]

_KINDS = ("Dirichlet", "Neumann", "Robin")
_PERIODIC, _TIE, _SYMMETRY, _POINT = range(4)  # of fem/weft_problem_constraints.h
_ALL_COMPONENTS = -1


def check_text(what: str, value: Any) -> None:
    """A number, a formula, or one for each component."""
    for one in value if isinstance(value, (list, tuple)) else [value]:
        if one is not None and not isinstance(one, (str, numbers.Real)) and getattr(one, "shape", None) != ():
            raise refuse(what, one, "a number, or a formula in x, y, z and t", "write it as text, such as \"sin(pi*x)\""
                         if callable(one) else "")


class Condition(NamedTuple):
    kind: int
    group: str
    value: Values
    alpha: Optional[Number]
    component: Optional[int]

    def __repr__(self) -> str:
        more = [self.value] if self.alpha is None else [self.alpha, self.value]
        return "%s(%s%s)" % (_KINDS[self.kind], ", ".join(map(repr, [self.group, *more])),
                             "" if self.component is None else ", component=%d" % self.component)


def _condition(kind: int, group: str, value: Values, *more: Any) -> Condition:
    name = _KINDS[kind]
    check_type("the group of " + name, group, str, "its name, and then the value: %s(\"left\", %s0)" % (name, "2, " if kind == 2 else ""))
    check_text("the value of %s(%r)" % (name, group), value)
    return Condition(kind, group, value, *more)


def Dirichlet(group: str, value: Values = 0, component: Optional[int] = None) -> Condition:
    """u = value on a group of facets, or of points; "boundary" is the whole boundary.

    value      a formula in x, y, z, in time also t; for several components a tuple, with None for those that are free
    component  the one that the condition is on, if there are several, and value is not for all
    """
    return _condition(0, group, value, None, component)


def Neumann(group: str, value: Values, component: Optional[int] = None) -> Condition:
    """flux = value, where the flux is k du/dn, or a component of the traction."""
    return _condition(1, group, value, None, component)


def Robin(group: str, alpha: Number, value: Values = 0, component: Optional[int] = None) -> Condition:
    """flux + alpha u = value."""
    return _condition(2, group, value, alpha, component)


class Constraint(NamedTuple):
    kind: int
    group: Optional[str]
    other: Optional[str]
    place: Optional[Place]
    value: Values
    component: Optional[int]
    origin: str

    def __repr__(self) -> str:
        return self.origin if self.value is None else "%s, %r)" % (self.origin[:-1], self.value)


def Periodic(left: Optional[str] = None, right: Optional[str] = None) -> Constraint:
    """u on one group of facets is u at the same place of the other one; without groups, at nodes that the mesh file declares
    to be images of each other, by Gmsh's Periodic."""
    if (left is None) != (right is None):
        raise UsageError("Periodic has two groups, or none for those of the mesh file", "usage")
    return Constraint(_PERIODIC, left, right, None, None, None, "Periodic(%s)" % ("" if left is None else "%r, %r" % (left, right)))


def Tie(group: str, component: Optional[int] = None) -> Constraint:
    """A component, or each, is equal at all nodes of a group; its value is not given."""
    return Constraint(_TIE, group, None, None, None, component, "Tie(%r)" % group)


def Symmetry(group: str) -> Constraint:
    """The normal component is 0 on a group, in any direction: a symmetry plane, or a sliding support."""
    return Constraint(_SYMMETRY, group, None, None, None, None, "Symmetry(%r)" % group)


def PointValue(place: Place, value: Values, component: Optional[int] = None) -> Constraint:
    """u has a value at a point, which need not be a node, or at those of a group of points.

    value  a formula; for several components a tuple, with None for those that are free
    """
    check_text("the value of PointValue", value)
    return Constraint(_POINT, None, None, place, value, component, "PointValue(%r)" % (place,))


class PointLoad(NamedTuple):
    """A concentrated source, or force, at a point, or at each of a group of points."""

    place: Place
    value: Values
    component: Optional[int] = None

    @property
    def origin(self) -> str:
        return "PointLoad(%r)" % (self.place,)

    def __repr__(self) -> str:
        return "PointLoad(%r, %r)" % (self.place, self.value)


def _by_component(values: Values, component: Optional[int], components: int, where: str) -> list[tuple[int, Number]]:
    """The values that are given, with their components."""
    listed: list[Any] = list(values) if isinstance(values, (list, tuple)) else [values]
    if component is None and len(listed) != components:
        raise UsageError("%s has %d value%s, and u has %d components: give a tuple with one for each, None for those that are "
                         "free, or component=" % (where, len(listed), "" if len(listed) == 1 else "s", components), "usage")
    if component is not None and (len(listed) != 1 or not 0 <= component < components):
        raise UsageError("%s is on component %d, and u has the components 0 to %d: expected one value for one of them"
                         % (where, component, components - 1), "usage")
    return [(component or k, value) for k, value in enumerate(listed) if value is not None]


def condition_rows(conditions: Sequence[Condition], components: int) -> list[s.weft_condition]:
    """The conditions on functions with so many components, one row for each component."""
    rows = []
    for c in conditions:
        where = "%s(%r)" % (_KINDS[c.kind], c.group)
        alpha = encode(str(c.alpha)) if c.alpha is not None else None
        origin = encode(where)  # of all components: reactions are by origin
        rows += [s.weft_condition(c.kind, encode(c.group), encode(str(value)), alpha, origin, k)
                 for k, value in _by_component(c.value, c.component, components, where)]
    return rows


def check_groups(mesh: Any, listed: Sequence[Any]) -> None:
    """Refuse groups that a mesh does not have; the message has the nearest name."""
    for one in listed:
        names = [one.group] if isinstance(one, Condition) else [one.place] if isinstance(one, PointLoad) else [
            one.group, one.other, one.place]
        for name in names:
            if isinstance(name, str):
                lib.weft_mesh_place(mesh._mesh, encode(name), byref(c_int()))


def _at(place: Place, dimension: int, where: str) -> dict[str, Any]:
    """A group of points, or coordinates."""
    if isinstance(place, str):
        return {"group": encode(place)}
    listed: Any = place
    point = [float(x) for x in (listed if isinstance(place, (list, tuple)) or hasattr(place, "__len__") else [listed])]
    if len(point) != dimension:
        raise UsageError("%s has %d coordinates, and the mesh has %d dimensions" % (where, len(point), dimension), "usage")
    return {"point": (c_double * 3)(*point)}


def constraint_rows(one: Any, components: int, dimension: int) -> list[Any]:
    """A constraint or a load at points, as rows of the library."""
    origin = encode(one.origin)
    if isinstance(one, PointLoad):
        return [s.weft_point_load(**_at(one.place, dimension, one.origin), component=k, value=encode(str(value)), origin=origin)
                for k, value in _by_component(one.value, one.component, components, one.origin)]
    if one.kind == _POINT:
        return [s.weft_constraint(kind=_POINT, **_at(one.place, dimension, one.origin), component=k, value=encode(str(value)),
                                  origin=origin)
                for k, value in _by_component(one.value, one.component, components, one.origin)]
    return [s.weft_constraint(kind=one.kind, group=encode(one.group), other=encode(one.other), origin=origin,
                              component=_ALL_COMPONENTS if one.component is None else one.component)]
