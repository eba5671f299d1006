"""Result files of functions in several spaces, and of quantities that are derived from them."""

from __future__ import annotations

from ctypes import POINTER, c_double, c_int32, cast
from typing import TYPE_CHECKING, Any, Mapping, Sequence

from . import _structures as s
from ._library import encode, lib
from .families import is_continuous

if TYPE_CHECKING:
    import numpy

    from .operator import Space


def _at_nodes(space: Space, values: numpy.ndarray, shown: Space) -> numpy.ndarray:
    """The values of a function at the nodes of another space."""
    import numpy

    if shown is space:
        return values
    there = numpy.zeros((lib.weft_space_nodes(shown._handle.pointer), values.shape[1]))
    lib.weft_space_interpolate(space._handle.pointer, values.ctypes.data, values.shape[1], shown._handle.pointer,
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
    family = "lagrange" if all(is_continuous(space._family) for space in varying) else "discontinuous"
    return Space(spaces[0].mesh, spaces[0].device, 1, max([1, *(space.degree for space in varying)]), family)


def _three(values: numpy.ndarray) -> numpy.ndarray:
    """Vectors and matrices of the plane with zeros, since ParaView's are of space."""
    import numpy

    n, c = values.shape
    if c == 2:
        return numpy.concatenate([values, numpy.zeros((n, 1))], axis=1)
    if c == 4:
        whole = numpy.zeros((n, 3, 3))
        whole[:, :2, :2] = values.reshape(n, 2, 2)
        return whole.reshape(n, 9)
    return values


def write(path: Any, functions: Sequence[tuple[str, Space, numpy.ndarray]],
          derived: Mapping[str, tuple[bool, numpy.ndarray]]) -> None:
    """Write functions of spaces on one mesh for ParaView, and quantities on cells, or at the nodes of the first space."""
    import numpy

    first = functions[0][1]
    shown, kept, rows = _shown([space for _, space, _ in functions]), [], []

    def add(name: str, on_cells: bool, values: numpy.ndarray) -> None:
        kept.append(numpy.ascontiguousarray(_three(values), dtype="float64"))
        rows.append(s.weft_field(encode(name), on_cells, kept[-1].shape[1], kept[-1].ctypes.data_as(POINTER(c_double))))

    for name, space, values in functions:
        values = numpy.ascontiguousarray(values).reshape(-1, space.components)
        add(name, space.degree == 0, _on_cells(space, values) if space.degree == 0 else _at_nodes(space, values, shown))
    for name, (on_cells, values) in derived.items():
        values = numpy.ascontiguousarray(values).reshape(len(values), -1)
        add(name, on_cells, values if on_cells else _at_nodes(first, values, shown))
    lib.weft_space_write(encode(str(path)), shown._handle.pointer, (s.weft_field * len(rows))(*rows), len(rows))
