"""Exchange of arrays without copies: DLPack capsules and __cuda_array_interface__."""

from __future__ import annotations

import ctypes
from ctypes import (CFUNCTYPE, POINTER, Structure, c_char_p, c_int32, c_int64, c_uint8, c_uint16, c_uint64,
                    c_void_p)
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


@_DELETER
def _delete(address: int) -> None:
    _exported.pop(address, None)


@CFUNCTYPE(None, c_void_p)
def _capsule_freed(capsule_address: int) -> None:
    if _raw_is_valid(capsule_address, _NAME):  # nobody took the tensor
        _exported.pop(_raw_get(capsule_address, _NAME), None)


def capsule(address: int, shape: tuple[int, ...], dtype: str, device: int, number: int, owner: Any) -> Any:
    """A DLPack capsule of an array in C order. The owner lives until the consumer is done."""
    sizes = (c_int64 * max(len(shape), 1))(*shape)
    kind = dtype.rstrip("0123456789")
    code = _CODES["u" if kind == "uint" else kind[0]]
    managed = _Managed(_Tensor(address, device, number, len(shape), code, int(dtype[len(kind):]), 1, sizes, None, 0),
                       None, _delete)
    key = ctypes.addressof(managed)
    _exported[key] = (managed, sizes, owner)
    return _new(key, _NAME, ctypes.cast(_capsule_freed, c_void_p))


class View(NamedTuple):
    """An array of another package: in C order, on a GPU."""

    address: int
    shape: tuple[int, ...]
    name: str
    owner: Any


class _Taken:
    """A tensor taken from a capsule; its producer is notified when it is no longer used."""

    def __init__(self, managed: Any) -> None:
        self.managed = managed

    def __del__(self) -> None:
        if self.managed.contents.deleter:
            self.managed.contents.deleter(ctypes.addressof(self.managed.contents))


def _contiguous(shape: tuple[int, ...], strides: Optional[tuple[int, ...]], unit: int) -> bool:
    expected = unit
    for size, stride in reversed(list(zip(shape, strides or ()))):
        if size > 1 and stride != expected:
            return False
        expected *= size
    return True


def _synchronize() -> None:
    """Wait for all streams of the current context: their work may still write what is handed over."""
    ctypes.CDLL("libcuda.so.1").cuCtxSynchronize()


def cuda_view(values: Any) -> Optional[View]:
    """A view of values that are in C order on a GPU, ready to be read; None for all others."""
    interface = getattr(values, "__cuda_array_interface__", None)
    if interface is not None:
        type_text = interface["typestr"]
        name = {"f": "float", "i": "int", "u": "uint"}.get(type_text[1], "other") + str(8 * int(type_text[2:]))
        shape = tuple(interface["shape"])
        address, read_only = interface["data"]
        if read_only or not address or not _contiguous(shape, interface.get("strides"), int(type_text[2:])):
            return None
        _synchronize()
        return View(address, shape, name, values)
    if not hasattr(values, "__dlpack_device__") or values.__dlpack_device__()[0] != CUDA:
        return None
    capsule_ = values.__dlpack__(stream=1)
    if not _is_valid(capsule_, _NAME):
        return None
    managed = ctypes.cast(_get(capsule_, _NAME), POINTER(_Managed))
    _rename(capsule_, _USED)
    taken = _Taken(managed)
    tensor = managed.contents.tensor
    shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
    strides = tuple(tensor.strides[i] for i in range(tensor.ndim)) if tensor.strides else None
    names = {0: "int", 1: "uint", 2: "float"}
    if tensor.lanes != 1 or tensor.code not in names or not tensor.data or not _contiguous(shape, strides, 1):
        return None
    _synchronize()
    return View(tensor.data + tensor.byte_offset, shape, names[tensor.code] + str(tensor.bits), taken)
