"""Eigenvalues of a problem with a mass."""

from __future__ import annotations

import os
from ctypes import byref
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Optional

from . import _structures as s
from ._library import Handle, UsageError, encode, lib
from ._show import About, Pickled, some
from .report import NotConverged

if TYPE_CHECKING:
    import numpy

_LENGTHS = ("mass", "component")
_NEAR, _LARGEST, _BUCKLING = 1, 2, 3  # of weft_eigen_which


@dataclass(eq=False, repr=False)
class Eigenvalues(Pickled):
    """Eigenvalues l of a(u, v) = l m(u, v), with their functions u.

    values          ascending
    vectors         [n, nodes] or [n, nodes, components]; the largest component of each is positive
    residuals       |K u - l M u| in the norm of D^-1, D the diagonal of K, over sqrt(max(|l|, |l - near|)) |u|_M
    errors          estimates of what the values differ by from those of the same matrices
    multiplicities  of each value: how many of them are one
    rigid_modes     motions, or constants, that nothing holds: their values are 0, and are not among the others
    participations  [n, directions] u.M r/u.M u, r the motion of all in a direction: 1 in one component; [n, 0] of buckling and vector elements
    effective_masses  [n, directions] (u.M r)^2/u.M u, of which all vectors' add up to total_masses but for what moves with prescribed values
    total_masses    [directions] r.M r
    next            the one that would be found next, after the last or before the first; NaN: not known
    is_cut          next is one with the last, or the first, of which there are more than were asked for
    method          "LOBPCG" or "Lanczos", for the reason
    """

    values: numpy.ndarray
    vectors: numpy.ndarray
    residuals: numpy.ndarray
    errors: numpy.ndarray
    multiplicities: list[int]
    rigid_modes: int
    next: float
    is_cut: bool
    participations: numpy.ndarray
    effective_masses: numpy.ndarray
    total_masses: numpy.ndarray
    converged: bool
    outcome: str
    iterations: int
    columns: int
    applications: int
    method: str
    reason: str
    _problem: Handle = field(repr=False)
    _handle: Handle = field(repr=False)

    @property
    def frequencies(self) -> numpy.ndarray:
        """sqrt(l)/(2 pi), of a vibration."""
        import numpy

        return numpy.sqrt(numpy.maximum(self.values, 0))/(2*numpy.pi)

    def __len__(self) -> int:
        return len(self.values)

    def _about(self) -> About:
        rows = [(i + 1, "%.8g" % value, "%.1e" % self.errors[i], "%.1e" % self.residuals[i], self.multiplicities[i])
                for i, value in enumerate(self.values)]
        return About("%s, %d values%s, %d iterations of %s" % (
            self.outcome, len(rows), " from %.6g to %.6g" % (self.values[0], self.values[-1]) if rows else "", self.iterations,
            self.method), [("reason", self.reason), ("rigid modes", self.rigid_modes)],
            [[("", "value", "error", "residual", "multiplicity"), *some(rows)]])

    def write(self, path: Any, statement: Optional[str] = None) -> None:
        """Write all eigenvectors as the steps of a series, .pvd or .vtkhdf, whose times are their numbers from 1."""
        if not hasattr(self, "_handle"):
            raise UsageError("eigenvalues that were pickled have no mesh to write: write them before", "usage")
        lib.weft_problem_write_eigenvectors(self._problem.pointer, self._handle.pointer, encode(os.path.abspath(path)),
                                            encode(statement), True)


def wanted(n: int, near: Optional[float], largest: bool, buckling: bool, columns: int, normalise: str) -> s.weft_eigen_options:
    """What Problem.eigenvalues is asked for."""
    if normalise not in _LENGTHS:
        raise UsageError("normalise is %r: expected 'mass' or 'component'" % (normalise,), "usage")
    if (near is not None) + bool(largest) + bool(buckling) > 1:
        raise UsageError("near, largest and buckling exclude each other", "usage")
    which = _NEAR if near is not None else _LARGEST if largest else _BUCKLING if buckling else 0
    return s.weft_eigen_options(n=n, which=which, shift=near or 0, n_columns=columns, length=_LENGTHS.index(normalise))


def find_eigenvalues(problem: Handle, options: s.weft_problem_options, which: s.weft_eigen_options, must_converge: bool) -> Eigenvalues:
    """The eigenvalues of a problem that was bound with a mass."""
    import numpy

    handle = Handle("eigen", problem, options)
    lib.weft_problem_eigenvalues(problem.pointer, byref(options), byref(which), byref(handle.pointer))
    found = lib.weft_eigen_reported(handle.pointer).contents

    def copied(pointer: Any, size: int) -> numpy.ndarray:
        return numpy.ctypeslib.as_array(pointer, shape=(size,)).copy() if size else numpy.zeros(0)

    clusters = found.clusters[:found.n]
    components = lib.weft_problem_components(problem.pointer)
    vectors = copied(found.vectors, found.n*found.n_dofs)
    outcome = lib.weft_eigen_outcome_name(found.outcome).decode()
    each = found.n*found.n_directions
    result = Eigenvalues(
        values=copied(found.values, found.n), residuals=copied(found.residuals, found.n), errors=copied(found.errors, found.n),
        vectors=vectors.reshape((found.n, -1, components) if components > 1 else (found.n, -1)),
        multiplicities=[clusters.count(one) for one in clusters], rigid_modes=found.n_rigid, next=found.next,
        participations=copied(found.participations, each).reshape(found.n, -1 if each else 0),
        effective_masses=copied(found.effective_masses, each).reshape(found.n, -1 if each else 0),
        total_masses=copied(found.total_masses, found.n_directions),
        is_cut=found.cut >= 0, converged=found.outcome == 0, outcome=outcome, iterations=found.iterations, columns=found.n_columns,
        applications=found.applications, method=found.method.decode(), reason=found.reason.decode(), _problem=problem, _handle=handle)
    if must_converge and not result.converged:
        raise NotConverged("the eigenvalues did not converge: %s after %d iterations; raise max_iterations, or choose another "
                           "preconditioner" % (outcome, found.iterations), None)
    return result
