"""numpy's indexing, operators and functions for arrays in the memory of a device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Iterator

from ._library import UsageError

if TYPE_CHECKING:
    from numpy.lib.mixins import NDArrayOperatorsMixin as _Operators

    from .device import Device
else:
    class _Operators:
        """Without numpy, which is imported when it is used."""


def real(values: Any, what: str) -> Any:
    """Values that are real numbers, else UsageError: their conversion would leave something out."""
    kind = getattr(getattr(values, "dtype", None), "kind", "f")
    if kind not in "fiub":
        raise UsageError("%s of %s, expected real numbers%s" % (what, values.dtype, "; values.real are those of complex ones"
                                                                if kind == "c" else ""), "usage")
    return values


_BINARY = {"add": "add", "sub": "subtract", "mul": "multiply", "truediv": "true_divide", "floordiv": "floor_divide",
           "mod": "remainder", "pow": "power", "matmul": "matmul"}
_COMPARISONS = {"lt": "less", "le": "less_equal", "eq": "equal", "ne": "not_equal", "gt": "greater", "ge": "greater_equal"}
_OTHERS = ("T all any argmax argmin argsort astype clip cumsum dot flatten item max mean min ndim nonzero prod ravel reshape round std sum "
           "tolist transpose var").split()
_UNARY = {"neg": "negative", "pos": "positive", "abs": "absolute"}


class Arithmetic(_Operators):
    """What numpy does with an array. It computes on the host: there the memory is used where it is; arrays on a GPU are copied there
    and back, for which CuPy and PyTorch, who take them without a copy, are faster.

    `a[...]` is a view on the host. Of an array on a GPU it is a copy that must not be written, and `a[...] = values` writes into the
    array on every device.
    """

    device: Device
    shape: tuple[int, ...]
    numpy: Callable[[], Any]
    set: Callable[[Any], None]
    _is_view: Any  # whether numpy() is a view of the array
    __hash__ = None  # type: ignore[assignment]

    def __getattr__(self, name: str) -> Any:
        """What numpy's arrays have besides."""
        if name in _OTHERS:
            return len(self.shape) if name == "ndim" else getattr(self[...], name)
        raise AttributeError("weft.Array has no %r" % name)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("an array without axes has no length")
        return self.shape[0]

    def __bool__(self) -> bool:
        return bool(self.numpy())

    def __float__(self) -> float:
        return float(self.numpy().item())

    def __iter__(self) -> Iterator[Any]:
        return iter(self[...])

    def __getitem__(self, key: Any) -> Any:
        values = self.numpy()[self._key(key)]
        if hasattr(values, "flags") and not self._is_view and values.ndim > 0:
            values.flags.writeable = False
        return values

    def __setitem__(self, key: Any, values: Any) -> None:
        all_values = self.numpy()
        all_values[self._key(key)] = real(self.device.to_numpy(values), "values")
        if not self._is_view:
            self.set(all_values)

    def _key(self, key: Any) -> Any:
        """An index, in which arrays of other devices are on the host."""
        if isinstance(key, tuple):
            return tuple(self._key(one) for one in key)
        return self.device.to_numpy(key) if hasattr(key, "__dlpack__") else key

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = (), **options: Any) -> Any:
        targets = [one for one in (out if isinstance(out, tuple) else (out,)) if isinstance(one, Arithmetic)]
        if method == "at" and isinstance(inputs[0], Arithmetic):
            targets = [inputs[0]]
        kept = {id(one): one.numpy() for one in targets}  # of arrays on a GPU a copy, which is written back
        plain = [kept.get(id(one), one.numpy()) if isinstance(one, Arithmetic) else self.device.to_numpy(one)
                 if hasattr(one, "__dlpack__") else one for one in inputs]
        if out:
            options["out"] = tuple(kept.get(id(one), one) for one in out)
        found = getattr(ufunc, method)(*plain, **options)
        for one in targets:
            if not one._is_view:
                one.set(kept[id(one)])
        if method == "at" or out:
            return out[0] if len(out) == 1 else out or None
        return tuple(map(self._wrapped, found)) if isinstance(found, tuple) else self._wrapped(found)

    def _wrapped(self, found: Any) -> Any:
        """A result of a type that devices have as an array on this device; others, such as truth values, are numpy's."""
        is_held = getattr(found, "ndim", 0) > 0 and found.dtype.name in self.device.types
        return self.device.asarray(found, found.dtype.name) if is_held else found


def _operator(ufunc: str, swapped: bool = False, in_place: bool = False) -> Any:
    def operator(self: Arithmetic, *others: Any) -> Any:
        import numpy

        if not all(isinstance(one, (complex, float, int, list, tuple)) or hasattr(one, "__dlpack__")
                   or getattr(one, "__array_ufunc__", None) for one in others):
            return NotImplemented  # such as matrices of scipy, who know what to do with an array
        arguments = (*others, self) if swapped else (self, *others)
        return getattr(numpy, ufunc)(*arguments, **({"out": (self,)} if in_place else {}))

    return operator


for _name, _ufunc in _BINARY.items():
    setattr(Arithmetic, "__%s__" % _name, _operator(_ufunc))
    setattr(Arithmetic, "__r%s__" % _name, _operator(_ufunc, swapped=True))
    setattr(Arithmetic, "__i%s__" % _name, _operator(_ufunc, in_place=True))
for _name, _ufunc in {**_COMPARISONS, **_UNARY}.items():
    setattr(Arithmetic, "__%s__" % _name, _operator(_ufunc))
