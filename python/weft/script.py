"""Scripts that are compiled, fused and run on a device."""

from __future__ import annotations

import ctypes
import math
import os
from ctypes import byref
from typing import TYPE_CHECKING, Any, Mapping, Optional

from . import _structures as s
from ._check import check_type
from ._library import Borrowed, FileError, Handle, UsageError, encode, lib
from ._show import About, Shown, named
from .device import Array, Device

if TYPE_CHECKING:
    import numpy

_KINDS = ("index", "connectivity", "input", "parameter", "expression", "value", "operator")


def _text_of(script: Any) -> tuple[str, str]:
    """Name and text of a script: given as a path that ends in .weft, as a shipped script's name, or as text."""
    if isinstance(script, os.PathLike) or (isinstance(script, str) and script.endswith(".weft")):
        path = os.fspath(script)
        if not os.path.exists(path):
            shipped = lib.weft_fem_script(encode(path))
            if shipped is not None:
                return path, shipped.decode()
            raise FileError("%s: there is no such file, and no script of this name is shipped with Weft" % path, "io", path)
        with open(path, encoding="utf-8") as file:
            return path, file.read()
    check_type("a script", script, str, "its text, a path that ends in .weft, or the name of one that is shipped with Weft")
    return "script", script


def _bindings(kind: Any, values: Optional[Mapping[str, Any]], convert: Any) -> tuple[Any, int]:
    rows = [kind(encode(name), *convert(value, name)) for name, value in (values or {}).items()]
    return (kind * max(len(rows), 1))(*rows), len(rows)


def _expressions(values: Optional[Mapping[str, Any]]) -> tuple[Any, int]:
    return _bindings(s.weft_expression, values, lambda value, name: (encode(str(value)), encode(name)))


def _parameters(values: Optional[Mapping[str, int]]) -> tuple[Any, int]:
    return _bindings(s.weft_parameter, values, lambda value, name: (int(value),))


def _take_text(function: Any, *arguments: Any) -> str:
    text = s.weft_text()
    try:
        function(*arguments, byref(text))
        return (text.data or b"").decode(errors="replace")
    finally:
        lib.weft_text_free(byref(text))


def kinds(name: str, text: str) -> dict[str, str]:
    """The kind of each name of a script that is not compiled yet, outside of its loops."""
    handle, found, one = Handle("outline"), {}, s.weft_outline_name()
    fragment = s.weft_fragment(encode(name), encode(text))
    lib.weft_outline_make(byref(fragment), 1, byref(handle.pointer))
    for i in range(lib.weft_outline_names(handle.pointer)):
        lib.weft_outline_describe(handle.pointer, i, byref(one))
        if not one.in_loop:
            found[one.name.decode()] = _KINDS[one.kind]
    return found


class Script(Shown):
    """A compiled script.

    script       text, a path that ends in .weft, or the name of a shipped script
    expressions  name -> formula in x, y, z, t and what the script passes
    parameters   name -> integer
    elements     expected size of the index sets, for the choice of a plan
    library      of a form file, instead of the device's functions
    """

    def __init__(self, device: Device, script: Any, expressions: Optional[Mapping[str, Any]] = None,
                 parameters: Optional[Mapping[str, int]] = None, single: bool = False, elements: int = 0,
                 library: Optional[Handle] = None) -> None:
        check_type("device", device, Device, "a weft.Device")
        name, text = _text_of(script)
        self.device, self.single, self.name = device, single, name
        fragment = s.weft_fragment(encode(name), encode(text))
        formulas, n_formulas = _expressions(expressions)
        numbers, n_numbers = _parameters(parameters)
        options = s.weft_compile_options(
            plan=device._context.plan, single=single, expressions=formulas, n_expressions=n_formulas,
            parameters=numbers, n_parameters=n_numbers, elements=elements,
            tuned=lib.weft_tuned_source_of(device._tuned.pointer))
        self._handle = Handle("compilation", device._handle, device._tuned)
        lib.weft_compile((library or device._functions).pointer, ctypes.pointer(device.limits), byref(fragment), 1, byref(options),
                         byref(self._handle.pointer))

    def _about(self) -> About:
        names = self.names
        rows = [(name, "%s%s" % (row["kind"], ", returned" if row["returned"] else ""), row["over"] or "",
                 row["shape"] or row["width"] or "") for name, row in names.items() if row["returned"] or row["kind"] != "value"]
        returned = named(name for name, row in names.items() if row["returned"])
        return About("%s, %d kernel%s, returns %s" % (self.name, self.n_kernels, "s"[:self.n_kernels != 1], returned),
                     [("device", self.device.name)], [[("name", "kind", "over", "shape"), *rows]])

    @property
    def names(self) -> dict[str, dict[str, Any]]:
        """What the script declares and computes: name -> kind, over (index set), shape, returned."""
        found = {}
        info = s.weft_name_info()
        for i in range(lib.weft_compilation_names(self._handle.pointer)):
            lib.weft_compilation_name(self._handle.pointer, i, byref(info))
            found[info.name.decode()] = {
                "kind": _KINDS[info.kind], "over": info.over.decode() if info.over else None,
                "to": info.to.decode() if info.to else None, "width": info.width,
                "shape": tuple(info.sizes[:info.rank]) if info.rank >= 0 else None, "returned": info.returned}
        return found

    @property
    def n_kernels(self) -> int:
        return lib.weft_compilation_kernels(self._handle.pointer)

    def print(self, stage: str = "plan", format: str = "text") -> str:
        """A stage as text: tokens, script, graph, fusions, implementations, cover, plan or source."""
        return _take_text(lib.weft_compilation_print, self._handle.pointer, encode(stage), encode(format))

    def explain(self) -> str:
        """Which calls are fused, and why others are not."""
        return _take_text(lib.weft_compilation_explain, self._handle.pointer)

    def program(self, **bindings: Any) -> Program:
        """A program on the device; see Program.bind for the bindings."""
        program = Program(self)
        program.bind(**bindings)
        return program


class Program(Shown):
    """A script made ready to run; it may run again and again, with other arrays."""

    def __init__(self, script: Script) -> None:
        self.script, self.device = script, script.device
        self._handle = Handle("program", script._handle)
        self._bound: dict[str, Any] = {}
        self._sizes: dict[str, int] = {}
        self._names = script.names
        lib.weft_program_make(self.device._pointer, script._handle.pointer, byref(self._handle.pointer))

    def _about(self) -> About:
        wanted = [name for name, row in self._names.items() if row["kind"] in ("input", "connectivity") and name not in self._bound]
        return About("%s, %s" % (self.script.name, "ready" if not wanted else "%s not bound" % named(wanted)),
                     [("device", self.device.name), *[(name, "%d elements" % n) for name, n in self._sizes.items()]])

    def bind(self, **bindings: Any) -> None:
        """Bind inputs and results to arrays, connectivities to index arrays, and index sets to sizes.

        input or value   an array [elements, components...]; over an index set that is not plain it is interleaved
                         for the device, which copies it. Everything else is bound without a copy, if Device.asarray
                         does not copy, and a result is then written in place.
        connectivity     (numpy array [elements, width] of int32, size of the target set)
        index set        its number of elements
        """
        # Sizes first: a list over an index set without one gives it.
        sizes = ("index", "connectivity")
        for name in sorted(bindings, key=lambda name: self._names.get(name, {}).get("kind") not in sizes):
            value, known = bindings[name], self._names.get(name)
            if known is None or known["kind"] == "value":
                self._bind_list(name, known, value)
            elif known["kind"] == "connectivity":
                self._bind_connectivity(name, known, value)
            elif known["kind"] == "index":
                self._size(name, int(value))
            elif known["kind"] == "input":
                self._bind_list(name, known, value)
            else:
                raise UsageError("%s is a %s: give it to Script" % (name, known["kind"]), "usage")

    def _size(self, index_set: str, size: int) -> None:
        lib.weft_program_size(self._handle.pointer, encode(index_set), size)
        self._sizes[index_set] = size

    def _bind_connectivity(self, name: str, known: dict[str, Any], value: Any) -> None:
        import numpy

        if not isinstance(value, tuple) or len(value) != 2:
            raise UsageError("connectivity %s: expected (indices, number of %s)" % (name, known["to"]), "usage")
        indices = numpy.ascontiguousarray(value[0], dtype="int32")
        if indices.ndim != 2:
            raise UsageError("connectivity %s: indices of shape %s, expected [%s, %d]"
                             % (name, indices.shape, known["over"], known["width"]), "usage")
        handle = Handle("connectivity", self.device._handle, indices)
        lib.weft_connectivity_make(self.device._pointer, indices.ctypes.data, len(indices), indices.shape[1],
                                   int(value[1]), byref(handle.pointer))
        lib.weft_program_bind_connectivity(self._handle.pointer, encode(name), handle.pointer)
        self._bound[name] = handle
        self._sizes[known["over"]], self._sizes[known["to"]] = len(indices), int(value[1])

    def _is_interleaved(self, known: Optional[dict[str, Any]]) -> bool:
        if known is None or known["over"] is None:
            return False
        targets = {row["to"] for row in self._names.values() if row["kind"] == "connectivity"}
        return known["over"] not in targets and not self._is_plain(known["over"])

    def _is_plain(self, index_set: str) -> bool:
        import re

        text = self.script.print("script")
        return re.search(r"\b%s\s+plain\b" % re.escape(index_set), text) is not None

    def _bind_list(self, name: str, known: Optional[dict[str, Any]], value: Any) -> None:
        import numpy

        real = "float32" if self.script.single else "float64"
        if known and known["kind"] == "input" and self._is_interleaved(known):
            lanes = lib.weft_program_lanes(self._handle.pointer)
            array = _interleave(self.device, value, _count(known["shape"]), lanes, real)
        else:
            array = self.device.asarray(value, real)
        over = known["over"] if known and known["kind"] == "input" else None
        shape = value.shape if hasattr(value, "shape") else numpy.shape(value)
        if shape and known and over in self._names and over not in self._sizes:
            self._size(over, _count(shape) // _count(known["shape"]))
        lib.weft_program_bind(self._handle.pointer, encode(name), array._pointer)
        self._bound[name] = array

    def run(self) -> Program:
        """Run once. Returns itself."""
        self._handle.repeat("weft_program_run")
        return self

    def __getitem__(self, name: str) -> numpy.ndarray:
        """A returned value after a run, [elements, components...]. On the host a list over a plain set is a view of
        the program's own memory, which the next run overwrites."""
        known = self._names.get(name)
        memory = lib.weft_program_result(self._handle.pointer, encode(name))
        if known is None or not memory:
            returned = ", ".join(key for key, row in self._names.items() if row["returned"])
            raise KeyError("%s is not a returned value of the script; these are: %s" % (name, returned or "none"))
        shape = known["shape"] or ()
        n = _count(shape)
        real = "float32" if self.script.single else "float64"
        nbytes = lib.weft_memory_bytes(memory)
        bound = [self._bound[name]._handle] if name in self._bound else []
        array = Array(self.device, Borrowed(memory, self._handle, *bound), (nbytes // (4 if self.script.single else 8),), real)
        values = array.numpy()
        if known["over"] is None:
            return values[:n].reshape(shape)
        elements = self._sizes.get(known["over"], len(values) // n)
        if n > 1 and self._is_interleaved(known):
            blocks = values.reshape(-1, n, lib.weft_program_lanes(self._handle.pointer))
            return blocks.swapaxes(1, 2).reshape(-1, n)[:elements].reshape((elements,) + shape)
        return values[:elements * n].reshape((elements,) + shape)


def _interleave(device: Device, value: Any, n: int, lanes: int, real: str) -> Array:
    """[elements, n] as [block, n, lane], where spare lanes of the last block repeat the last element. What is in
    this layout already, with one component and whole blocks, is returned as it is."""
    import numpy

    if isinstance(value, Array) and value.device is device and n == 1 and value.size % lanes == 0:
        if value._address() % 64 == 0:
            return value
    plain = numpy.asarray(device.to_numpy(value), dtype=real).reshape(-1, n)
    spare = -len(plain) % lanes
    if len(plain) and (n > 1 or spare):
        plain = numpy.concatenate([plain, numpy.repeat(plain[-1:], spare, axis=0)])
        plain = numpy.ascontiguousarray(plain.reshape(-1, lanes, n).swapaxes(1, 2))
    array = device.zeros(plain.size, real)  # memory of Weft's own, which is aligned as blocks of lanes must be
    array.set(plain.reshape(-1))
    return array


def _count(shape: Any) -> int:
    return math.prod(shape or ())
