"""Result files of functions in several spaces."""

from __future__ import annotations

from ctypes import POINTER, c_double, c_int32, cast
from typing import TYPE_CHECKING, Any, Sequence

from . import _structures as s
from ._library import encode, lib

if TYPE_CHECKING:
    import numpy

    from .operator import Space


def _at_nodes(space: Space, values: numpy.ndarray, shown: Space) -> numpy.ndarray:
    """The values of a function at the nodes of another space."""
    import numpy

    if shown is space:
        return values
    there = numpy.zeros((lib.weft_space_nodes(shown._handle.pointer), space.components))
    lib.weft_space_interpolate(space._handle.pointer, values.ctypes.data, space.components, shown._handle.pointer,
                               there.ctypes.data)
    return there


def _on_cells(space: Space, values: numpy.ndarray) -> numpy.ndarray:
    """The values of a function that is constant in each cell."""
    import numpy

    nodes = cast(lib.weft_space_cell_nodes(space._handle.pointer), POINTER(c_int32 * space.mesh.n_cells)).contents
    return values[numpy.array(nodes)]


def _shown(spaces: Sequence[Space]) -> Space:
    """The space at whose nodes all functions are shown: of the highest degree, discontinuous if one of them is."""
    from .operator import Space

    if len(spaces) == 1 and spaces[0].degree > 0:
        return spaces[0]
    varying = [space for space in spaces if space.degree > 0]
    family = "discontinuous" if any(space.family != "lagrange" for space in varying) else "lagrange"
    return Space(spaces[0].mesh, spaces[0].device, 1, max([1, *(space.degree for space in varying)]), family)


def write(path: Any, names: Sequence[str], spaces: Sequence[Space], fields: Sequence[numpy.ndarray]) -> None:
    """Write functions of spaces on one mesh for ParaView, whose vectors have three components."""
    import numpy

    shown, kept, rows = _shown(spaces), [], []
    for name, space, values in zip(names, spaces, fields):
        values = numpy.ascontiguousarray(values).reshape(-1, space.components)
        values = _on_cells(space, values) if space.degree == 0 else _at_nodes(space, values, shown)
        if space.components == 2:
            values = numpy.concatenate([values, numpy.zeros((len(values), 1))], axis=1)
        kept.append(numpy.ascontiguousarray(values))
        rows.append(s.weft_field(encode(name), space.degree == 0, kept[-1].shape[1],
                                 kept[-1].ctypes.data_as(POINTER(c_double))))
    lib.weft_space_write(encode(str(path)), shown._handle.pointer, (s.weft_field * len(rows))(*rows), len(rows))
