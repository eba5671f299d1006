"""Functions in mixed spaces: several spaces whose dofs stand one after another."""

from __future__ import annotations

from ctypes import c_void_p
from typing import Any, Optional, Sequence

from ._library import UsageError, lib
from ._show import About, Shown
from .conditions import Neumann
from .device import Array
from .operator import Conditions, Space


class MixedSpace(Shown):
    """The product of spaces over one mesh, such as velocity and pressure. Vectors have the dofs of the first space, then those
    of the second, and so on.

        W = weft.MixedSpace(weft.Space(mesh, device, 2, degree=2), weft.Space(mesh, device))
        velocity, pressure = W.split(solution.x)
    """

    components = 1

    def __init__(self, *spaces: Space) -> None:
        if len(spaces) < 2:
            raise UsageError("a mixed space has two spaces or more", "usage")
        if any(part.mesh is not spaces[0].mesh or part.device is not spaces[0].device for part in spaces):
            raise UsageError("the parts of a mixed space are on one mesh and one device", "usage")
        self.spaces, self.mesh, self.device = spaces, spaces[0].mesh, spaces[0].device
        self._handle, self._context = spaces[0]._handle, spaces[0]._context
        self._handles = [part._handle for part in spaces]
        self._pointers = (c_void_p * len(spaces))(*[part._handle.pointer for part in spaces])

    def _about(self) -> About:
        return About("%d spaces, %d dofs" % (len(self.spaces), self.n_dofs), [("mesh", self.mesh), *[
            ("space %d" % i, one) for i, one in enumerate(self.spaces)]])

    @property
    def n_dofs(self) -> int:
        return sum(part.n_dofs for part in self.spaces)

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.n_dofs,)

    def zeros(self) -> Array:
        return self.device.zeros(self.shape)

    @property
    def first_dofs(self) -> list[int]:
        """The first dof of each part."""
        return [sum(part.n_dofs for part in self.spaces[:i]) for i in range(len(self.spaces))]

    def split(self, u: Any) -> list[Any]:
        """The parts of a function as numpy arrays [nodes] or [nodes, components]; on the host views of u."""
        values = u.numpy() if isinstance(u, Array) else u
        if values.shape != self.shape:
            raise UsageError("the function has the shape %r, expected %r" % (values.shape, self.shape), "usage")
        return [values[first:first + part.n_dofs].reshape(part.shape) for first, part in zip(self.first_dofs, self.spaces)]

    def join(self, parts: Sequence[Any]) -> Array:
        """The function with these parts, arrays in the shapes of split."""
        if len(parts) != len(self.spaces):
            raise UsageError("%d parts are given, expected %d" % (len(parts), len(self.spaces)), "usage")
        out = self.zeros()
        values = out.numpy()
        for part, piece in zip(self.split(values), parts):
            part[...] = piece.numpy() if isinstance(piece, Array) else piece
        if not out._is_view:
            out.set(values)
        return out


class MixedConditions(Shown):
    """Conditions of the parts of a mixed space, and natural ones elsewhere.

    parts  for each space a list of weft.Dirichlet, weft.Neumann and weft.Robin, or None
    """

    def __init__(self, space: MixedSpace, parts: Sequence[Optional[Sequence[Any]]]) -> None:
        import numpy

        if len(parts) != len(space.spaces):
            raise UsageError("conditions on %d parts are given, expected %d" % (len(parts), len(space.spaces)), "usage")
        natural = [Neumann("boundary", 0)]
        self.space = space
        self.parts = [Conditions(one, rows or natural, (first, space.n_dofs))
                      for one, rows, first in zip(space.spaces, parts, space.first_dofs)]
        for part in self.parts[1:]:
            self.parts[0]._handle.use(part._handle)
            lib.weft_bc_join(self.parts[0]._handle.pointer, part._handle.pointer)
        self.constrained = numpy.concatenate([first + part.constrained for first, part in
                                              zip(space.first_dofs, self.parts)]).astype("int32")

    def _about(self) -> About:
        return About("%d of %d dofs constrained" % (len(self.constrained), self.space.n_dofs),
                     [("space %d" % i, one) for i, one in enumerate(self.parts)])

    def guess(self) -> Array:
        return self.space.join([part.guess() for part in self.parts])

    def load(self, degree: int = 4) -> Array:
        """The terms of Neumann and Robin conditions of all parts."""
        return self.parts[0]._add_load(self.space.zeros(), None, degree)
