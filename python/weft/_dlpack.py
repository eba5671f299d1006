"""Exchange of arrays without copies: DLPack capsules and __cuda_array_interface__."""

from __future__ import annotations

import ctypes
from ctypes import (CFUNCTYPE, POINTER, Structure, c_char_p, c_int32, c_int64, c_uint8, c_uint16, c_uint64, c_void_p)
from typing import Any, NamedTuple, Optional

CPU, CUDA = 1, 2
_CODES = {"i": 0, "u": 1, "f": 2}


class _Tensor(Structure):
    _fields_ = [("data", c_void_p), ("device_type", c_int32), ("device_id", c_int32), ("ndim", c_int32),
                ("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16), ("shape", POINTER(c_int64)),
                ("strides", POINTER(c_int64)), ("byte_offset", c_uint64)]


class _Managed(Structure):
    pass


_DELETER = CFUNCTYPE(None, c_void_p)
_Managed._fields_ = [("tensor", _Tensor), ("context", c_void_p), ("deleter", _DELETER)]

_python = ctypes.pythonapi
_new = _python.PyCapsule_New
_new.restype, _new.argtypes = ctypes.py_object, [c_void_p, c_char_p, c_void_p]
_is_valid = _python.PyCapsule_IsValid
_is_valid.restype, _is_valid.argtypes = ctypes.c_int, [ctypes.py_object, c_char_p]
_get = _python.PyCapsule_GetPointer
_get.restype, _get.argtypes = c_void_p, [ctypes.py_object, c_char_p]
_rename = _python.PyCapsule_SetName
_rename.restype, _rename.argtypes = ctypes.c_int, [ctypes.py_object, c_char_p]

# The same functions for a destructor, which gets an address instead of an object.
_raw = ctypes.PyDLL(None)
_raw_is_valid = _raw["PyCapsule_IsValid"]
_raw_is_valid.restype, _raw_is_valid.argtypes = ctypes.c_int, [c_void_p, c_char_p]
_raw_get = _raw["PyCapsule_GetPointer"]
_raw_get.restype, _raw_get.argtypes = c_void_p, [c_void_p, c_char_p]

_NAME, _USED = b"dltensor", b"used_dltensor"
# What consumers hold: address of the structure -> everything that must live as long.
_exported: dict[int, tuple[Any, ...]] = {}


def _forget(address: int) -> None:
    _exported.pop(address, None)


def _forget_untaken(capsule_address: int) -> None:
    if _raw_is_valid(capsule_address, _NAME):  # nobody took the tensor
        _exported.pop(_raw_get(capsule_address, _NAME), None)


_delete, _capsule_freed = _DELETER(_forget), CFUNCTYPE(None, c_void_p)(_forget_untaken)


def capsule(address: int, shape: tuple[int, ...], dtype: str, device: int, number: int, owner: Any) -> Any:
    """A DLPack capsule of an array in C order. The owner lives until the consumer is done."""
    sizes = (c_int64 * max(len(shape), 1))(*shape)
    kind = dtype.rstrip("0123456789")
    code = _CODES["u" if kind == "uint" else kind[0]]
    managed = _Managed(_Tensor(address, device, number, len(shape), code, int(dtype[len(kind):]), 1, sizes, None, 0), None, _delete)
    key = ctypes.addressof(managed)
    _exported[key] = (managed, sizes, owner)
    return _new(key, _NAME, ctypes.cast(_capsule_freed, c_void_p))


class View(NamedTuple):
    """An array of another package on a GPU. Strides are in bytes."""

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    name: str
    owner: Any

    def is_contiguous(self) -> bool:
        """In C order, without gaps."""
        return self.strides == _strides(self.shape, self.unit)

    @property
    def unit(self) -> int:
        """Bytes of an element."""
        return 1 if self.name == "bool" else int(self.name.lstrip("abcdefghijklmnopqrstuvwxyz")) // 8


class _Taken:
    """A tensor taken from a capsule; its producer is notified when it is no longer used."""

    def __init__(self, managed: Any) -> None:
        self.managed = managed

    def __del__(self, addressof: Any = ctypes.addressof) -> None:
        if self.managed.contents.deleter:
            self.managed.contents.deleter(addressof(self.managed.contents))


def _strides(shape: tuple[int, ...], unit: int) -> tuple[int, ...]:
    strides = []
    for size in reversed(shape):
        strides.append(unit)
        unit *= size
    return tuple(reversed(strides))


def _plain_strides(shape: tuple[int, ...], strides: Any, unit: int) -> tuple[int, ...]:
    """Strides as in C order where an axis has one element, whose stride says nothing."""
    plain = _strides(shape, unit)
    return plain if strides is None else tuple(q if n == 1 else s for n, s, q in zip(shape, strides, plain))


def _synchronize() -> None:
    """Wait for all streams of the current context: their work may still write what is handed over."""
    ctypes.CDLL("libcuda.so.1").cuCtxSynchronize()


def gpu_of(values: Any) -> Optional[int]:
    """The number of the GPU that holds an array of another package; None for all other values."""
    if hasattr(values, "__dlpack_device__"):
        kind, number = values.__dlpack_device__()
        return int(number) if kind == CUDA else None
    return 0 if hasattr(values, "__cuda_array_interface__") else None


def cuda_view(values: Any) -> Optional[View]:
    """A view of values that are on a GPU, ready to be read; None where their type or package allows none."""
    interface = getattr(values, "__cuda_array_interface__", None)
    if interface is not None and not interface["data"][1]:
        kind, unit = interface["typestr"][1], int(interface["typestr"][2:])
        kinds = {"f": "float%d" % (8 * unit), "i": "int%d" % (8 * unit), "u": "uint%d" % (8 * unit), "b": "bool"}
        shape = tuple(interface["shape"])
        if kind not in kinds:
            return None
        _synchronize()
        return View(interface["data"][0] or 0, shape, _plain_strides(shape, interface.get("strides"), unit), kinds[kind], values)
    if not hasattr(values, "__dlpack__"):
        return None
    capsule_ = values.__dlpack__(stream=1)  # also what must not be written, such as arrays of JAX
    if not _is_valid(capsule_, _NAME):
        return None
    managed = ctypes.cast(_get(capsule_, _NAME), POINTER(_Managed))
    _rename(capsule_, _USED)
    taken = _Taken(managed)
    tensor = managed.contents.tensor
    names: dict[Any, str] = {0: "int%d" % tensor.bits, 1: "uint%d" % tensor.bits, 2: "float%d" % tensor.bits, 6: "bool"}
    if tensor.lanes != 1 or tensor.code not in names:
        return None
    unit = tensor.bits // 8
    shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
    strides = tuple(unit * tensor.strides[i] for i in range(tensor.ndim)) if tensor.strides else None
    _synchronize()
    return View((tensor.data or 0) + tensor.byte_offset, shape, _plain_strides(shape, strides, unit), names[tensor.code], taken)
