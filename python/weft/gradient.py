"""Derivatives of a functional of the solution with respect to what a problem is given."""

from __future__ import annotations

from ctypes import POINTER, byref, c_char_p, c_double, c_void_p, pointer
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Optional, Sequence, Union

from . import _structures as s
from ._library import Handle, UsageError, encode, lib
from ._show import About, Pickled
from .report import NotConverged

if TYPE_CHECKING:
    import numpy

    from .problem import Problem

NORMS = ("L2", "l2")


class Gradient(Pickled, Mapping[Optional[str], Any]):
    """J of a solution and its derivatives, by the adjoint problem (docs/gradients.md).

        gradient = problem.gradient("J", wrt=["k", "c"])
        gradient.value, gradient["k"], gradient["c"]

    `adjoint` is the adjoint state, in the shape of the solution. The gradient is that of the solution when it was computed: problem.gradient() after another solve computes another one.
    """

    def __init__(self, problem: Problem, handle: Handle, functional: str, controls: Sequence[Optional[str]], norm: str) -> None:
        self.functional, self.norm = functional, norm
        self.value: float = lib.weft_gradient_value(handle.pointer)
        _check_adjoint(handle)
        n = problem.n_dofs
        adjoint = lib.weft_gradient_adjoint(handle.pointer)
        self.adjoint = _copied(adjoint, n).reshape(problem.u.shape)
        self.derivatives = {control: _of(handle, control, norm) for control in controls}

    def __getitem__(self, control: Optional[str]) -> Any:
        if control not in self.derivatives:
            raise KeyError("%r is not among the controls of this gradient: %s" % (control, ", ".join(map(repr, self.derivatives))))
        return self.derivatives[control]

    def __iter__(self) -> Iterator[Optional[str]]:
        return iter(self.derivatives)

    def __len__(self) -> int:
        return len(self.derivatives)

    def _about(self) -> About:
        rows = [("d/d%s" % name, value if isinstance(value, float) else value.shape) for name, value in self.derivatives.items()]
        return About("%s = %.6g%s" % (self.functional, self.value, "".join(
            ", %s %s" % (name, "float" if isinstance(value, float) else value) for name, value in rows)), [("norm", self.norm), *rows])


def _check(what: str, outcome: int) -> None:
    """Refuse what follows from a system that was not solved."""
    if outcome != 0:
        raise NotConverged("%s did not converge: %s; raise max_iterations, or choose another preconditioner"
                           % (what, lib.weft_cg_outcome_name(outcome).decode()), None)


def _check_adjoint(handle: Handle) -> None:
    _check("the adjoint problem", lib.weft_gradient_report(handle.pointer).contents.result.contents.outcome)


def _copied(pointer: Any, n: int) -> numpy.ndarray:
    import numpy

    return numpy.ctypeslib.as_array(pointer, shape=(n,)).copy() if n else numpy.zeros(0)


def _of(handle: Handle, control: Optional[str], norm: str) -> Any:
    """A number or a vector of a constant; of a function an array over the nodes of its space, in its shape."""
    import numpy

    of, spaces = s.weft_gradient_of(), POINTER(c_void_p)()
    take = lib.weft_gradient_project if norm == "L2" else lib.weft_gradient_control
    take(handle.pointer, encode(control), byref(of))
    if of.n_numbers:
        numbers = [of.numbers[i] for i in range(of.n_numbers)]
        return numbers[0] if len(numbers) == 1 else numpy.array(numbers)
    _check("the projection of the derivative with respect to %s" % (control or "u"), of.outcome)
    values = _copied(of.gradient if norm == "L2" else of.derivative, of.n)
    if lib.weft_problem_spaces(of.problem, byref(spaces)) > 1 or control in (None, "u", "initial"):
        return values
    components = lib.weft_problem_components(of.problem)
    return values.reshape(-1, components) if components > 1 else values


class Gradients:
    """The library's gradients of the functionals of a problem, which are computed again after other solves."""

    def __init__(self, problem: Problem, handle: Handle, binding: s.weft_bind_options, transient: Optional[Handle] = None) -> None:
        self._problem, self._handle, self._binding, self._transient = problem, handle, binding, transient
        self._made: dict[Any, tuple[Handle, Any]] = {}

    def _of(self, functional: Optional[str], controls: Sequence[Optional[str]], over_time: bool = False) -> Handle:
        made, of = self._made.get((functional, over_time), (None, None))
        if made is None:
            options = s.weft_gradient_options(functional=encode(functional), bind=pointer(self._binding),
                                              solve=pointer(self._problem._options), over_time=over_time)
            if self._transient:
                options.transient, options.n_controls = self._transient.pointer, len(controls)
                options.controls = (c_char_p * (len(controls) + 1))(*map(encode, controls))
            made = Handle("gradient", *filter(None, (self._transient,)), self._handle, options, self._binding, self._problem._options)
            lib.weft_gradient_make(self._handle.pointer, byref(options), byref(made.pointer))
        elif of is not self._problem.u:
            lib.weft_gradient_update(made.pointer)
        self._made[functional, over_time] = made, self._problem.u
        return made

    def take(self, functional: str, wrt: Union[str, None, Sequence[Optional[str]]], norm: str, over_time: bool) -> Gradient:
        if norm not in NORMS:
            raise UsageError("norm is %r: expected 'L2' or 'l2'" % (norm,), "usage")
        controls = [wrt] if wrt is None or isinstance(wrt, str) else list(wrt)
        if over_time and not self._transient:
            raise UsageError("over_time is for steps in time, and the problem is stationary", "usage")
        return Gradient(self._problem, self._of(functional, controls, over_time), functional, controls, norm)

    def pull_back(self, cotangent: Any, wrt: Sequence[Optional[str]]) -> dict[Optional[str], Any]:
        import numpy

        handle = self._of(None, ())
        values = numpy.ascontiguousarray(cotangent, dtype="float64").reshape(-1)
        if len(values) != self._problem.n_dofs:
            raise UsageError("the cotangent has %d values, expected %d" % (len(values), self._problem.n_dofs), "usage")
        lib.weft_gradient_pull_back(handle.pointer, values.ctypes.data_as(POINTER(c_double)))
        _check_adjoint(handle)
        return {control: _of(handle, control, "l2") for control in wrt}
