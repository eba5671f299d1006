"""Devices, and arrays in their memory, which other packages can use without a copy."""

from __future__ import annotations

import ctypes
import math
import numbers
from ctypes import byref, c_void_p
from typing import TYPE_CHECKING, Any, Callable, Optional, Sequence, Union

from . import _dlpack
from . import _structures as s
from ._arithmetic import Arithmetic, real
from ._check import check_type, refuse
from ._library import Borrowed, Handle, UsageError, buffer_of, encode, lib
from ._show import About, Shown
from .progress import monitor_of

if TYPE_CHECKING:
    import numpy

    NumpyArray = numpy.ndarray[Any, numpy.dtype[Any]]  # also where a method is called numpy

_TYPES = {"float64": 8, "float32": 4, "int32": 4, "int64": 8, "uint32": 4}


class Device(Shown):
    """A device: the host's processors, an NVIDIA GPU, or the null device, which checks and computes nothing.

    name  "auto", "host", "host:THREADS", "cuda", "cuda:NUMBER", "null", ...
    log   called with a level ("error", "warning", "info" or "debug") and a message; None: warnings are weft.WeftWarning, and other
          messages go to logging.getLogger("weft")
    plan  "fused", or "unfused": one kernel for each call of a function
    """

    types = tuple(_TYPES)  # of the elements of arrays

    def __init__(self, name: str = "auto", log: Optional[Callable[[str, str], None]] = None, plan: str = "fused") -> None:
        check_type("the name of a device", name, str, "\"auto\", \"host\", \"cuda\", ...")
        if plan not in ("fused", "unfused"):
            raise UsageError("plan is %r, expected 'fused' or 'unfused'" % plan, "usage")
        self._log = log
        if log is not None and not callable(log):
            raise UsageError("log is %r: expected a function of a level and a message" % (log,), "usage")
        self._monitor = monitor_of(self) if log is not None else lib.monitor
        options = s.weft_device_options(monitor=ctypes.pointer(self._monitor))
        lib.weft_device_options_from_environment(byref(options))
        self._handle = Handle("device", self._monitor)
        lib.weft_device_open(encode(name), byref(options), byref(self._handle.pointer))
        self._added: list[tuple[str, str]] = []
        self._functions = self._library()
        self._handle.use(self._functions)
        self._tuned = self._stored()
        self._gemm: Optional[Handle] = None
        self._context = s.weft_context(
            device=self._handle.pointer, library=self._functions.pointer, plan=int(plan == "unfused"),
            monitor=ctypes.pointer(self._monitor))

    @property
    def _pointer(self) -> c_void_p:
        return self._handle.pointer

    @property
    def limits(self) -> s.weft_limits:
        """Properties of the device: name, threads, memory_bytes, bandwidth, ..."""
        return lib.weft_device_limits(self._pointer).contents

    @property
    def name(self) -> str:
        return self.limits.name.decode()

    @property
    def is_cuda(self) -> bool:
        return self.limits.kind == 2

    @property
    def bytes(self) -> int:
        """Bytes of the device's memory in use by arrays of Weft."""
        return lib.weft_device_bytes(self._pointer)

    def _about(self) -> About:
        limits = self.limits
        return About(repr(self.name), [
            ("threads", limits.threads) if limits.threads else ("multiprocessors", limits.multiprocessors),
            ("memory", "%.1f GB" % (limits.memory_bytes * 1e-9)), ("memory bandwidth", "%.0f GB/s" % (limits.bandwidth * 1e-9)),
            ("used by arrays", "%.1f MB" % (self.bytes * 1e-6)), ("plans", ("fused", "unfused")[self._context.plan])])

    def add_functions(self, text: str, name: str = "functions") -> None:
        """Add elementary functions, in the text of a kernel file, for the scripts compiled afterwards."""
        lib.weft_library_add_text(self._functions.pointer, encode(name), encode(text))
        self._added.append((name, text))

    def _library(self) -> Handle:
        """The functions of the device in a library of its own, for a form file: those of others have the same names."""
        library = Handle("library")
        lib.weft_fem_library_make(byref(library.pointer))
        for name, text in self._added:
            lib.weft_library_add_text(library.pointer, encode(name), encode(text))
        return library

    def _products(self) -> Handle:
        """The kernels of dense products, which are made when first used."""
        if self._gemm is None:
            self._gemm = Handle("gemm_kernels", self._handle)
            lib.weft_gemm_kernels_make(self._pointer, byref(self._gemm.pointer))
        return self._gemm

    def _stored(self) -> Handle:
        """What searches have found for the parameters of functions; weft.tune repeats the search."""
        tuned = Handle("tuned", self._handle)
        lib.weft_tuned_open(self._pointer, byref(tuned.pointer))
        return tuned

    def wait(self) -> None:
        """Wait for all work of the device, and raise its errors."""
        lib.weft_device_wait(self._pointer)

    def zeros(self, shape: Union[int, Sequence[int]], dtype: Any = "float64") -> Array:
        """An array of zeros on the device."""
        sizes = (shape,) if not isinstance(shape, (tuple, list)) else tuple(shape)
        if not all(isinstance(n, numbers.Integral) for n in sizes):
            raise refuse("the shape", shape, "a whole number, or several")
        shape = tuple(int(n) for n in sizes)
        name = _type_name(dtype)
        handle = Handle("memory", self._handle)
        lib.weft_memory_make(self._pointer, _bytes(shape, name), byref(handle.pointer))
        return Array(self, handle, shape, name)

    def asarray(self, values: Any, dtype: Any = "float64") -> Array:
        """The values as an array on the device.

        Not copied: an Array of this device; on the host a contiguous numpy array, or what gives one through DLPack;
        on a GPU a contiguous array of that GPU, of any package that has __cuda_array_interface__ or DLPack, such as
        CuPy, PyTorch or JAX. The result then shares their memory; arrays of JAX must not be written. Everything else is
        copied.
        """
        if isinstance(values, Array) and values.device is self and values._type == dtype:
            return values
        name = _type_name(dtype)
        import numpy

        view = self._gpu_view(values)
        if view is not None and view.name == name and view.is_contiguous() and view.address:
            return self._borrow(view.address, view.shape, name, (values, view.owner))
        values = self._read(view) if view is not None else self.to_numpy(values)
        plain = numpy.ascontiguousarray(real(values, "an array"), dtype=name)
        # Address 0 and arrays without elements cannot be borrowed.
        if not self.is_cuda and not self.limits.records_only and plain.size > 0 and plain.flags.aligned:
            if plain.flags.writeable or plain is not values:
                return self._borrow(plain.ctypes.data, plain.shape, name, plain)
        array = self.zeros(plain.shape, name)
        array.set(plain)
        return array

    def _gpu_view(self, values: Any) -> Optional[_dlpack.View]:
        """A view of an array of another package on this GPU; None for what is on the host."""
        gpu = _dlpack.gpu_of(values)
        if gpu is None or isinstance(values, Array):
            return None
        if not self.is_cuda or gpu != _ordinal(self.name):
            raise UsageError("the array is on GPU %d and the device is %s; copy the array to the host first" % (gpu, self.name), "usage")
        view = _dlpack.cuda_view(values)
        if view is None:
            raise UsageError("arrays of this type on a GPU are not supported: %s" % getattr(values, "dtype", type(values)), "usage")
        return view

    def to_numpy(self, values: Any) -> numpy.ndarray:
        """The values as a numpy array, copied from a GPU where they are there."""
        import numpy

        if callable(values) or isinstance(values, (str, bytes, dict, set)):
            raise UsageError("%r is not an array of numbers" % (values,), "usage")
        view = self._gpu_view(values)
        if view is not None:
            return self._read(view)
        # numpy.from_dlpack gives arrays that must not be written, which asarray() would copy.
        if hasattr(values, "__dlpack__") and not hasattr(values, "__array__"):
            return numpy.from_dlpack(values)
        try:
            return numpy.asarray(values)
        except ValueError as error:  # lists of different lengths
            raise UsageError("%s\nhint: give rows of one length" % error, "usage") from None

    def _read(self, view: _dlpack.View) -> numpy.ndarray:
        """Copy a view, with any strides, to the host."""
        import numpy

        if 0 in view.shape:
            return numpy.empty(view.shape, view.name)
        ends = [(n - 1) * stride for n, stride in zip(view.shape, view.strides)]
        low, high = sum(min(e, 0) for e in ends), sum(max(e, 0) for e in ends) + view.unit
        buffer = numpy.empty(high - low, "uint8")
        memory = Handle("memory", self._handle, view.owner)
        lib.weft_memory_borrow(self._pointer, c_void_p(view.address + low), buffer.nbytes, byref(memory.pointer))
        lib.weft_memory_read(memory.pointer, 0, buffer.ctypes.data, buffer.nbytes)
        return numpy.ndarray(view.shape, view.name, buffer, -low, view.strides)

    def _borrow(self, address: int, shape: Sequence[int], name: str, owner: Any) -> Array:
        handle = Handle("memory", self._handle, owner)
        lib.weft_memory_borrow(self._pointer, c_void_p(address), _bytes(shape, name), byref(handle.pointer))
        return Array(self, handle, tuple(shape), name)


def _ordinal(name: str) -> int:
    digits = name.split(":")[1] if name.startswith("cuda:") else "0"  # "cuda:0: NVIDIA H200, ..."
    return int(digits) if digits.strip().isdigit() else 0


def _type_name(dtype: Any) -> str:
    if isinstance(dtype, str) and dtype in _TYPES:
        return dtype
    import numpy

    try:
        name = numpy.dtype(dtype).name
    except TypeError:
        name = str(dtype)
    if name not in _TYPES:
        raise UsageError("arrays of %s are not supported; expected %s" % (name, ", ".join(_TYPES)), "usage")
    return name


def _bytes(shape: Sequence[int], name: str) -> int:
    if min(shape, default=0) < 0:
        raise UsageError("a negative size in %r" % (tuple(shape),), "usage")
    return _TYPES[name] * math.prod(shape)


class Array(Arithmetic, Shown):
    """An array in the memory of a device, in C order.

    On the host, numpy() and numpy.asarray() are views of the same memory. Other packages take it without a copy
    through DLPack (`torch.from_dlpack(a)`, `cupy.from_dlpack(a)`), on a GPU also through __cuda_array_interface__.
    """

    def __init__(self, device: Device, handle: Union[Handle, Borrowed], shape: tuple[int, ...], dtype: str) -> None:
        self.device, self.shape, self._type = device, shape, dtype
        self._handle = handle

    @property
    def _pointer(self) -> c_void_p:
        return self._handle.pointer

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.size * _TYPES[self._type]

    def _about(self) -> About:
        import numpy

        is_shown = self._is_view or self.size <= 1000 and not self.device.limits.records_only
        values = numpy.array2string(self.numpy(), threshold=6, edgeitems=3, separator=", ") if is_shown else "..."
        where = "%r, %s, on %r" % (self.shape, self._type, self.device.name)
        return About("%s, %s" % (values, where), [("shape", self.shape), ("type", self._type), ("device", self.device.name),
                                                  ("values", values)])

    @property
    def dtype(self) -> numpy.dtype[Any]:
        """The type of the elements, as numpy has it."""
        import numpy

        return numpy.dtype(self._type)

    @property
    def _is_view(self) -> bool:
        return bool(lib.weft_memory_host(self._pointer))

    def _address(self) -> int:
        return lib.weft_memory_address(self._pointer) or 0

    def numpy(self) -> NumpyArray:
        """On the host a view of the same memory, which keeps it alive; from a GPU a copy."""
        import numpy

        host = lib.weft_memory_host(self._pointer)
        if host and self.size > 0:
            buffer = buffer_of(host, self.nbytes, self._handle.owner)  # the view's base: the memory lives as long as the view
            return numpy.frombuffer(buffer, dtype=self._type).reshape(self.shape)
        values = numpy.empty(self.shape, dtype=self._type)
        if self.size > 0:
            lib.weft_memory_read(self._pointer, 0, values.ctypes.data, self.nbytes)
        return values

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> NumpyArray:
        values = self.numpy()
        if copy is False and (not self._is_view or dtype not in (None, values.dtype)):
            raise ValueError("an array of another type, or on a GPU, is not had without a copy")
        return values.astype(dtype or values.dtype, copy=bool(copy) and self._is_view)

    def set(self, values: Any) -> None:
        """Copy values of the same shape, or one number, into the array."""
        import numpy

        given = real(self.device.to_numpy(values), "values")
        try:
            plain = numpy.ascontiguousarray(numpy.broadcast_to(given, self.shape), dtype=self._type)
        except ValueError:
            raise UsageError("values of the shape %r, expected %r or one number" % (given.shape, self.shape), "usage") from None
        if self.size > 0:
            lib.weft_memory_write(self._pointer, 0, plain.ctypes.data, self.nbytes)

    def copy(self) -> Array:
        """A copy on the same device."""
        other = self.device.zeros(self.shape, self._type)
        lib.weft_memory_copy(other._pointer, self._pointer, self.nbytes)
        return other

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> Array:
        return self.copy()

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Pickled, an array is one of numpy: other processes have other devices."""
        import numpy

        return numpy.array, (self.numpy(),)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if not self.device.is_cuda:
            raise AttributeError("__cuda_array_interface__: the array is not on a GPU")
        self.device.wait()
        kind = "f" if self._type.startswith("float") else "u" if self._type.startswith("u") else "i"
        return {"shape": self.shape, "typestr": "<%s%d" % (kind, _TYPES[self._type]),
                "data": (self._address(), False), "version": 3, "strides": None}

    def __dlpack_device__(self) -> tuple[int, int]:
        return (_dlpack.CUDA, _ordinal(self.device.name)) if self.device.is_cuda else (_dlpack.CPU, 0)

    def __dlpack__(self, stream: Any = None, **options: Any) -> Any:
        if self.device.limits.records_only:
            raise UsageError("the null device holds no data", "usage")
        self.device.wait()
        kind, number = self.__dlpack_device__()
        return _dlpack.capsule(self._address(), self.shape, self._type, kind, number, self._handle.owner)
