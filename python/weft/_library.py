"""Finds libweft and declares its functions; turns statuses into exceptions."""

from __future__ import annotations

import ctypes
import os
from ctypes import POINTER, byref, c_bool, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_void_p
from typing import Any, Optional

from . import _structures as s

INTERFACE = "0.1"


class Error(Exception):
    """What went wrong in Weft. The text has the place, the line with a caret, and advice, where they are known.

    status       name of the status, e.g. "syntax"
    file         where: script, formula or file; "" where it is not known
    line, column  from 1; 0 where they are not known
    hint         what to do about it; may be ""
    """

    def __init__(self, text: str, status: str = "internal", file: str = "", line: int = 0, column: int = 0,
                 hint: str = "") -> None:
        super().__init__(text)
        self.status, self.file, self.line, self.column, self.hint = status, file, line, column, hint


class UsageError(Error, ValueError):
    """A wrong argument, option or call."""


class InputError(Error, ValueError):
    """The user's file or data are invalid."""


class ScriptError(Error, ValueError):
    """A script or formula that does not parse, has a type error, or whose sizes do not agree."""


class FileError(Error, OSError):
    """A file cannot be read or written."""

    def __str__(self) -> str:
        return str(self.args[0])


class UnsupportedError(Error, NotImplementedError):
    """Valid, but this build or device cannot do it."""


class OutOfMemoryError(Error, MemoryError):
    """Out of memory, on the host or on the device."""


class DeviceError(Error, RuntimeError):
    """The device or its compiler failed or is missing."""


# By weft_status.
_CLASSES = [Error, UsageError, InputError, ScriptError, ScriptError, ScriptError, FileError, UnsupportedError,
            OutOfMemoryError, DeviceError, DeviceError, Error]


def _candidates() -> list[str]:
    here = os.path.dirname(os.path.abspath(__file__))
    name = "libweft.so." + INTERFACE
    return [os.path.join(here, name), os.path.join(here, "..", "..", "build", name), name]


def _open() -> ctypes.CDLL:
    chosen = os.environ.get("WEFT_LIBRARY")
    reasons = []
    for path in [chosen] if chosen else _candidates():
        if os.path.isabs(path) and not os.path.exists(path):
            reasons.append(path + ": no such file")
            continue
        try:
            return ctypes.CDLL(path)
        except OSError as error:
            reasons.append(str(error))
    raise ImportError("libweft cannot be loaded. Build Weft with ./run, then install the package again, or name the "
                      "library in $WEFT_LIBRARY. Tried:\n  " + "\n  ".join(reasons))


_lib = _open()

_P = c_void_p
_ERROR = POINTER(s.weft_error)
# The mesh reader that a wheel brings.
_gmsh = os.path.join(os.path.dirname(os.path.abspath(__file__)), "weft-gmsh")
if "WEFT_GMSH" not in os.environ:
    for _path in (_gmsh, os.path.join(os.path.dirname(_gmsh), "..", "..", "build", "weft-gmsh")):
        if os.access(_path, os.X_OK):
            os.environ["WEFT_GMSH"] = _path
            break

# Functions that return a status and take a weft_error at the end: their other arguments.
_STATUS: dict[str, list[Any]] = {
    "weft_device_open": [c_char_p, POINTER(s.weft_device_options), POINTER(_P)],
    "weft_device_wait": [_P],
    "weft_memory_make": [_P, c_size_t, POINTER(_P)],
    "weft_memory_borrow": [_P, _P, c_size_t, POINTER(_P)],
    "weft_memory_write": [_P, c_size_t, _P, c_size_t],
    "weft_memory_read": [_P, c_size_t, _P, c_size_t],
    "weft_memory_copy": [_P, _P, c_size_t],
    "weft_memory_zero": [_P],
    "weft_fem_library_make": [POINTER(_P)],
    "weft_library_add_text": [_P, c_char_p, c_char_p],
    "weft_library_add_directory": [_P, c_char_p],
    "weft_mesh_read_with": [c_char_p, POINTER(s.weft_mesh_options), POINTER(s.weft_monitor),
                            POINTER(POINTER(s.weft_mesh))],
    "weft_mesh_make": [POINTER(s.weft_mesh_data), c_char_p, POINTER(s.weft_monitor), POINTER(POINTER(s.weft_mesh))],
    "weft_mesh_refine": [_P, POINTER(s.weft_mesh), c_int, POINTER(s.weft_monitor), POINTER(POINTER(s.weft_mesh))],
    "weft_mesh_order": [_P, POINTER(s.weft_mesh), c_int, c_int64, POINTER(s.weft_monitor), _P],
    "weft_mesh_group": [POINTER(s.weft_mesh), c_char_p, POINTER(c_int)],
    "weft_mesh_place": [POINTER(s.weft_mesh), c_char_p, POINTER(c_int)],
    "weft_mesh_group_nodes": [POINTER(s.weft_mesh), c_int, POINTER(POINTER(c_int32)), POINTER(c_int64)],
    "weft_mesh_group_facets": [POINTER(s.weft_mesh), c_int, POINTER(POINTER(c_int32)), POINTER(c_int64)],
    "weft_hierarchy_make": [_P, POINTER(POINTER(s.weft_mesh)), POINTER(s.weft_hierarchy_options),
                            POINTER(s.weft_monitor), POINTER(POINTER(s.weft_hierarchy))],
    "weft_connectivity_make": [_P, _P, c_int64, c_int, c_int64, POINTER(_P)],
    "weft_compile": [_P, POINTER(s.weft_limits), POINTER(s.weft_fragment), c_int, POINTER(s.weft_compile_options),
                     POINTER(_P)],
    "weft_compilation_print": [_P, c_char_p, c_char_p, POINTER(s.weft_text)],
    "weft_compilation_explain": [_P, POINTER(s.weft_text)],
    "weft_program_make": [_P, _P, POINTER(_P)],
    "weft_program_size": [_P, c_char_p, c_int64],
    "weft_program_bind": [_P, c_char_p, _P],
    "weft_program_bind_connectivity": [_P, c_char_p, _P],
    "weft_program_run": [_P],
    "weft_data_make": [_P, POINTER(s.weft_mesh), POINTER(_P)],
    "weft_space_make": [_P, POINTER(s.weft_mesh), s.weft_element_kind, c_int, POINTER(_P)],
    "weft_space_evaluate": [POINTER(s.weft_context), _P, c_char_p, c_char_p, _P, _P],
    "weft_space_errors": [POINTER(s.weft_context), _P, _P, c_char_p, c_char_p, POINTER(c_double)],
    "weft_bc_make": [POINTER(s.weft_context), _P, POINTER(s.weft_condition), c_int, POINTER(_P)],
    "weft_bc_load_make": [_P, c_char_p, c_char_p, c_int, _P, _P],
    "weft_bc_find_free": [_P, c_int, POINTER(c_bool)],
    "weft_bc_operator_make": [_P, c_int, POINTER(s.weft_form), POINTER(_P)],
    "weft_form_run": [POINTER(s.weft_context), POINTER(s.weft_form), POINTER(s.weft_form_outputs)],
    "weft_form_asymmetry": [POINTER(s.weft_context), POINTER(s.weft_form), POINTER(c_double)],
    "weft_assembly_find": [c_char_p, POINTER(c_int)],
    "weft_operator_make": [POINTER(s.weft_context), c_int, POINTER(s.weft_form), c_int, POINTER(_P)],
    "weft_operator_assemble": [_P],
    "weft_operator_apply": [_P, _P, _P],
    "weft_operator_diagonal": [_P, _P],
    "weft_operator_matrix": [_P, POINTER(_P)],
    "weft_preconditioner_find": [c_char_p, POINTER(c_int)],
    "weft_preconditioner_make": [POINTER(s.weft_context), c_int, POINTER(s.weft_preconditioner_problem), POINTER(_P)],
    "weft_preconditioner_update": [_P],
    "weft_solver_make": [POINTER(s.weft_context), _P, POINTER(_P)],
    "weft_solver_solve": [_P, _P, _P, POINTER(s.weft_cg_options), POINTER(s.weft_cg_result)],
    "weft_result_write": [c_char_p, POINTER(s.weft_mesh), POINTER(s.weft_field), c_int],
    "weft_advection_diffusion_make": [POINTER(s.weft_context), POINTER(s.weft_advection_diffusion_problem),
                                      POINTER(_P)],
    "weft_ufl_degrees_find": [c_char_p, POINTER(c_int)],
    "weft_ufl_read": [c_char_p, POINTER(s.weft_ufl_options), POINTER(_P)],
    "weft_ufl_read_text": [c_char_p, c_char_p, c_size_t, POINTER(s.weft_ufl_options), POINTER(_P)],
    "weft_ufl_script": [_P, POINTER(s.weft_text)],
    "weft_ufl_print_kernels": [_P, c_char_p, POINTER(s.weft_text)],
    "weft_ufl_add_functions": [_P, _P],
    "weft_ufl_problem_of": [_P, POINTER(POINTER(s.weft_ufl_problem))],
    "weft_entity_dofs_make": [POINTER(_P), c_int, c_bool, c_int, c_int, POINTER(s.weft_entity_dofs)],
    "weft_space_measure_errors": [POINTER(s.weft_context), _P, _P, c_int, c_char_p, c_char_p, POINTER(c_double)],
    "weft_advection_diffusion_run": [_P, c_int64, POINTER(s.weft_step_state)],
}
# Others: arguments and result.
_OTHER: dict[str, tuple[list[Any], Any]] = {
    "weft_version": ([], c_char_p),
    "weft_status_name": ([c_int], c_char_p),
    "weft_error_text": ([_ERROR, c_char_p, c_size_t], c_size_t),
    "weft_array_make": ([c_size_t, c_size_t], _P),
    "weft_text_free": ([POINTER(s.weft_text)], None),
    "weft_device_options_default": ([POINTER(s.weft_monitor)], s.weft_device_options),
    "weft_device_limits": ([_P], POINTER(s.weft_limits)),
    "weft_device_bytes": ([_P], c_size_t),
    "weft_memory_address": ([_P], _P),
    "weft_memory_host": ([_P], _P),
    "weft_memory_bytes": ([_P], c_size_t),
    "weft_fem_script": ([c_char_p], c_char_p),
    "weft_compilation_names": ([_P], c_int),
    "weft_compilation_name": ([_P, c_int, POINTER(s.weft_name_info)], None),
    "weft_compilation_kernels": ([_P], c_int),
    "weft_program_lanes": ([_P], c_int),
    "weft_program_result": ([_P, c_char_p], _P),
    "weft_space_cells": ([_P], _P),
    "weft_space_coordinates": ([_P], _P),
    "weft_space_dofs": ([_P], c_int64),
    "weft_space_nodes": ([_P], c_int64),
    "weft_bc_constrained": ([_P, POINTER(c_int64)], POINTER(c_int32)),
    "weft_bc_set": ([_P, c_double, _P], None),
    "weft_assembly_name": ([c_int], c_char_p),
    "weft_operator_pattern": ([_P], POINTER(s.weft_pattern)),
    "weft_operator_dofs": ([_P], c_int64),
    "weft_method_count": ([], c_int),
    "weft_method_about": ([c_int], POINTER(s.weft_method_info)),
    "weft_preconditioner_count": ([], c_int),
    "weft_preconditioner_about": ([c_int], POINTER(s.weft_preconditioner_info)),
    "weft_cg_outcome_name": ([c_int], c_char_p),
    "weft_cg_iterations_limit": ([c_int, c_int64, c_double], c_int),
    "weft_step_outcome_name": ([c_int], c_char_p),
    "weft_advection_diffusion_field": ([_P], _P),
    "weft_ufl_n_forms": ([_P], c_int),
    "weft_entity_dofs_free": ([POINTER(s.weft_entity_dofs)], None),
    "weft_bc_forms": ([_P, POINTER(POINTER(s.weft_form))], c_int),
    "weft_ufl_form": ([_P, c_int, POINTER(s.weft_ufl_form_info)], None),
    "weft_mesh_free": ([POINTER(POINTER(s.weft_mesh))], None),
    "weft_hierarchy_free": ([POINTER(POINTER(s.weft_hierarchy))], None),
}
for _object in ("data", "device", "memory", "library", "compilation", "program", "connectivity", "space", "bc", "operator",
                "preconditioner", "solver", "advection_diffusion", "ufl"):
    _OTHER["weft_%s_free" % _object] = ([POINTER(_P)], None)

for _name, _arguments in _STATUS.items():
    _function = getattr(_lib, _name)
    _function.argtypes, _function.restype = _arguments + [_ERROR], c_int
for _name, (_arguments, _result) in _OTHER.items():
    _function = getattr(_lib, _name)
    _function.argtypes, _function.restype = _arguments, _result

version: str = _lib.weft_version().decode()
if not version.startswith(INTERFACE + "."):
    raise ImportError("this package is for libweft %s, and the library found is %s" % (INTERFACE, version))

# free() of the C library, for arrays that Weft hands over.
free = ctypes.CDLL(None).free
free.argtypes, free.restype = [c_void_p], None


def raise_error(error: s.weft_error) -> None:
    """Raise the exception for a weft_error."""
    size = lib.weft_error_text(byref(error), None, 0) + 1
    text = ctypes.create_string_buffer(size)
    lib.weft_error_text(byref(error), text, size)
    status = error.status if 0 <= error.status < len(_CLASSES) else len(_CLASSES) - 1
    raise _CLASSES[status](text.value.decode(errors="replace"), lib.weft_status_name(status).decode(),
                           error.file.decode(errors="replace"), error.line, error.column,
                           error.hint.decode(errors="replace"))


class _Library:
    """The functions of libweft. Those that return a status raise an exception instead."""

    def __init__(self) -> None:
        for name in _OTHER:
            setattr(self, name, getattr(_lib, name))
        for name in _STATUS:
            setattr(self, name, self._checked(getattr(_lib, name)))

    @staticmethod
    def _checked(function: Any) -> Any:
        def call(*arguments: Any) -> None:
            error = s.weft_error()
            if function(*arguments, byref(error)) != 0:
                raise_error(error)
        return call


lib: Any = _Library()


class Handle:
    """Owns an object of the library, and keeps alive what the object borrows."""

    def __init__(self, kind: str, *borrowed: Any) -> None:
        self.pointer = c_void_p()
        self._free = getattr(lib, "weft_%s_free" % kind)
        self._borrowed: Optional[tuple[Any, ...]] = borrowed

    def __del__(self, byref: Any = byref) -> None:
        if self.pointer:
            self._free(byref(self.pointer))
        self._borrowed = None


def encode(text: Optional[str]) -> Optional[bytes]:
    """Text for the library; None stays None. Text with a zero byte is refused: it would be cut there."""
    if text is None:
        return None
    data = text.encode()
    if b"\0" in data:
        raise UsageError("text with a zero character: %r" % text, "usage")
    return data
