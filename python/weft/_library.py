"""Finds libweft and declares its functions; turns statuses into exceptions."""
# Decision: docs/decisions/0050-python-calls-through-ctypes.md

from __future__ import annotations

import _thread
import ctypes
import os
import sys
import threading
import time
from ctypes import POINTER, byref, c_bool, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_void_p
from typing import Any, Optional

from . import _structures as s

INTERFACE = "0.1"
INTERFACE_VERSION = 1  # WEFT_INTERFACE_VERSION of forms/weft_interface.h


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
            OutOfMemoryError, DeviceError, DeviceError, Error, Error]


def _candidates() -> list[str]:
    here = os.path.dirname(os.path.abspath(__file__))
    name = "libweft.so." + INTERFACE
    return [os.path.join(here, "prefix", "lib", name), os.path.join(here, name),
            os.path.join(here, "..", "..", "build", name), name]


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


def _check_interface(library: ctypes.CDLL) -> None:
    """Refuse a library whose functions or structures are not those that are declared here: it would read and write
    other memory than was meant."""
    found = str(library._name)
    advice = "The package and the library must come from one version of Weft: build and install both again, or name " \
             "another library in $WEFT_LIBRARY."
    try:
        library.weft_interface_version.argtypes, library.weft_interface_version.restype = [], c_int
        interface = library.weft_interface_version()
    except AttributeError:
        raise ImportError("%s has no weft_interface_version: it is older than this package, which is for version %d of "
                          "the interface. %s" % (found, INTERFACE_VERSION, advice)) from None
    if interface != INTERFACE_VERSION:
        raise ImportError("%s has version %d of the interface, and this package is for version %d. %s"
                          % (found, interface, INTERFACE_VERSION, advice))
    n = c_size_t()
    library.weft_interface_sizes.argtypes = [POINTER(c_size_t)]
    library.weft_interface_sizes.restype = POINTER(s.weft_interface_size)
    rows = library.weft_interface_sizes(byref(n))
    sizes = {rows[i].name.decode(): rows[i].size for i in range(n.value)}
    for name, structure in vars(s).items():
        if name.startswith("weft_") and sizes.get(name) != ctypes.sizeof(structure):
            raise ImportError("%s and this package differ in %s, although both have version %d of the interface: it has "
                              "%s bytes in the library and %d in the package. %s"
                              % (found, name, interface, sizes.get(name, "no"), ctypes.sizeof(structure), advice))


_lib = _open()
_check_interface(_lib)

_P = c_void_p
_ERROR = POINTER(s.weft_error)
# The mesh reader that a wheel brings.
if "WEFT_GMSH" not in os.environ:
    for _path in (os.path.join(os.path.dirname(os.path.abspath(__file__)), *_names)
                  for _names in (("prefix", "bin", "weft-gmsh"), ("weft-gmsh",), ("..", "..", "build", "weft-gmsh"))):
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
    "weft_gemm_kernels_make": [_P, POINTER(_P)],
    "weft_gemm": [_P, POINTER(s.weft_gemm_product)],
    "weft_gemm_batched": [_P, POINTER(s.weft_gemm_product), c_int64],
    "weft_context_tune": [POINTER(s.weft_context), c_int, c_int64],
    "weft_tuned_open": [_P, POINTER(_P)],
    "weft_tune_and_store": [_P, POINTER(s.weft_search_script), POINTER(s.weft_tune_options), POINTER(s.weft_text)],
    "weft_tune_text": [_P, c_char_p, c_char_p, POINTER(s.weft_text)],
    "weft_outline_make": [POINTER(s.weft_fragment), c_int, POINTER(_P)],
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
    "weft_bc_make_in": [POINTER(s.weft_context), _P, POINTER(s.weft_bc_place), POINTER(s.weft_condition), c_int, POINTER(_P)],
    "weft_bc_join": [_P, _P],
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
    "weft_ufl_read_shipped": [c_char_p, c_int, c_int, c_char_p, POINTER(s.weft_ufl_options), POINTER(_P)],
    "weft_ufl_script": [_P, POINTER(s.weft_text)],
    "weft_ufl_print_kernels": [_P, c_char_p, POINTER(s.weft_text)],
    "weft_ufl_add_functions": [_P, _P],
    "weft_ufl_problem_of": [_P, POINTER(POINTER(s.weft_ufl_problem))],
    "weft_ufl_problem_in_time": [_P, c_char_p, POINTER(POINTER(s.weft_ufl_problem))],
    "weft_ufl_bind": [_P, POINTER(s.weft_mesh), _P, POINTER(s.weft_bind_options), _P],
    "weft_ufl_find_groups": [POINTER(s.weft_ufl_problem), POINTER(s.weft_mesh), POINTER(s.weft_bind_options), POINTER(c_int)],
    "weft_script_bind": [c_char_p, POINTER(s.weft_mesh), POINTER(s.weft_bind_options), _P],
    "weft_problem_eigenvalues": [_P, POINTER(s.weft_problem_options), POINTER(s.weft_eigen_options), POINTER(_P)],
    "weft_problem_write_eigenvectors": [_P, _P, c_char_p, c_char_p, c_bool],
    "weft_gradient_make": [_P, POINTER(s.weft_gradient_options), POINTER(_P)],
    "weft_gradient_update": [_P],
    "weft_gradient_pull_back": [_P, POINTER(c_double)],
    "weft_gradient_project": [_P, c_char_p, POINTER(s.weft_gradient_of)],
    "weft_gradient_control": [_P, c_char_p, POINTER(s.weft_gradient_of)],
    "weft_comm_threads_make": [c_int, POINTER(_P)],
    "weft_comm_mpi_make": [POINTER(s.weft_mpi_given), POINTER(s.weft_monitor), POINTER(_P)],
    "weft_comm_devices_check": [c_char_p, c_int],
    "weft_problem_take_part": [_P, _P, POINTER(s.weft_mesh), POINTER(POINTER(s.weft_mesh))],
    "weft_problem_collect": [_P, _P],
    "weft_problem_spread": [_P, _P],
    "weft_problem_start": [POINTER(s.weft_context), POINTER(s.weft_problem_options), POINTER(_P)],
    "weft_problem_condition": [_P, POINTER(s.weft_condition)],
    "weft_problem_constraint": [_P, POINTER(s.weft_constraint)],
    "weft_problem_point_load": [_P, POINTER(s.weft_point_load)],
    "weft_problem_set_initial": [_P, c_char_p, c_char_p],
    "weft_problem_set_values": [_P, POINTER(c_double)],
    "weft_problem_solve": [_P, POINTER(s.weft_problem_options), POINTER(s.weft_problem_report)],
    "weft_problem_solve_nonlinear": [_P, POINTER(s.weft_problem_options), POINTER(s.weft_newton_options),
                                     POINTER(s.weft_problem_report)],
    "weft_problem_integrals": [_P, POINTER(c_double)],
    "weft_problem_errors": [_P, POINTER(c_char_p), c_char_p, c_double, POINTER(c_double), POINTER(c_double)],
    "weft_problem_write": [_P, c_char_p, _P, c_char_p],
    "weft_problem_energy": [_P, POINTER(c_double)],
    "weft_probes_make": [POINTER(s.weft_context), POINTER(s.weft_mesh), POINTER(c_double), c_int64, POINTER(_P)],
    "weft_problem_evaluate": [_P, _P, POINTER(c_double)],
    "weft_problem_derive": [_P, POINTER(s.weft_derived_quantity), c_int, POINTER(s.weft_derive_problem), POINTER(_P)],
    "weft_derive_run": [_P, c_double],
    "weft_problem_reactions": [_P, POINTER(s.weft_problem_balance)],
    "weft_problem_reactions_in_time": [_P, _P, POINTER(s.weft_problem_balance)],
    "weft_problem_sum": [_P, c_char_p, POINTER(c_double)],
    "weft_problem_resume_choices": [c_char_p, POINTER(s.weft_problem_options)],
    "weft_problem_files_make": [_P, _P, POINTER(s.weft_problem_files_options), POINTER(s.weft_transient_state), POINTER(_P)],
    "weft_problem_files_begin": [_P],
    "weft_problem_files_after": [_P],
    "weft_problem_files_end": [_P],
    "weft_problem_pull": [_P, POINTER(POINTER(c_double))],
    "weft_problem_in_time": [_P, POINTER(s.weft_problem_options), POINTER(s.weft_transient_problem), POINTER(_P)],
    "weft_time_scheme_find": [c_char_p, POINTER(c_int)],
    "weft_transient_step": [_P, c_double, POINTER(s.weft_transient_state)],
    "weft_transient_advance": [_P, c_double, POINTER(s.weft_transient_state)],
    "weft_entity_dofs_make": [POINTER(_P), c_int, c_bool, c_int, c_int, POINTER(s.weft_entity_dofs)],
    "weft_advection_diffusion_run": [_P, c_int64, POINTER(s.weft_step_state)],
}
# Others: arguments and result.
_OTHER: dict[str, tuple[list[Any], Any]] = {
    "weft_version": ([], c_char_p),
    "weft_status_name": ([c_int], c_char_p),
    "weft_error_text": ([_ERROR, c_char_p, c_size_t], c_size_t),
    "weft_array_make": ([c_size_t, c_size_t], _P),
    "weft_text_free": ([POINTER(s.weft_text)], None),
    "weft_device_options_from_environment": ([POINTER(s.weft_device_options)], None),
    "weft_device_limits": ([_P], POINTER(s.weft_limits)),
    "weft_device_bytes": ([_P], c_size_t),
    "weft_memory_address": ([_P], _P),
    "weft_memory_host": ([_P], _P),
    "weft_memory_bytes": ([_P], c_size_t),
    "weft_fem_script": ([c_char_p], c_char_p),
    "weft_tuned_source_of": ([_P], _P),
    "weft_is_tuned": ([_P, c_char_p], c_bool),
    "weft_outline_names": ([_P], c_int),
    "weft_outline_describe": ([_P, c_int, POINTER(s.weft_outline_name)], None),
    "weft_compilation_names": ([_P], c_int),
    "weft_compilation_name": ([_P, c_int, POINTER(s.weft_name_info)], None),
    "weft_compilation_kernels": ([_P], c_int),
    "weft_program_lanes": ([_P], c_int),
    "weft_program_result": ([_P, c_char_p], _P),
    "weft_space_cells": ([_P], _P),
    "weft_space_coordinates": ([_P], _P),
    "weft_space_data_points": ([_P], _P),
    "weft_space_dofs": ([_P], c_int64),
    "weft_space_nodes": ([_P], c_int64),
    "weft_family_find": ([c_char_p, POINTER(c_int)], c_bool),
    "weft_family_about": ([c_int], POINTER(s.weft_family_info)),
    "weft_space_components": ([_P], c_int),
    "weft_problem_spaces": ([_P, POINTER(POINTER(_P))], c_int),
    "weft_problem_dofs": ([_P], c_int64),
    "weft_problem_u": ([_P], _P),
    "weft_problem_components": ([_P], c_int),
    "weft_problem_files_before": ([_P], c_double),
    "weft_problem_balance_clear": ([POINTER(s.weft_problem_balance)], None),
    "weft_derive_fields": ([_P, POINTER(POINTER(s.weft_field))], c_int),
    "weft_derive_values": ([_P, POINTER(POINTER(s.weft_derived_value))], c_int),
    "weft_processes_find": ([], s.weft_processes),
    "weft_comm_rank": ([_P], c_int),
    "weft_comm_size": ([_P], c_int),
    "weft_comm_device": ([_P, c_char_p, c_char_p, c_size_t], None),
    "weft_comm_agree": ([_P, c_int, _ERROR], c_int),
    "weft_comm_abandon": ([_P, _ERROR], None),
    "weft_problem_join": ([_P, _P], None),
    "weft_part_numbers": ([POINTER(s.weft_mesh), c_bool], POINTER(c_int32)),
    "weft_problem_dependent": ([_P], c_int64),
    "weft_problem_free_modes": ([_P, POINTER(c_int)], c_int),
    "weft_problem_set_hierarchy": ([_P, _P], None),
    "weft_newton_outcome_name": ([c_int], c_char_p),
    "weft_bc_constrained": ([_P, POINTER(c_int64)], POINTER(c_int32)),
    "weft_bc_set": ([_P, c_double, _P], None),
    "weft_assembly_name": ([c_int], c_char_p),
    "weft_operator_pattern": ([_P], POINTER(s.weft_pattern)),
    "weft_operator_dofs": ([_P], c_int64),
    "weft_method_count": ([], c_int),
    "weft_method_about": ([c_int], POINTER(s.weft_method_info)),
    "weft_preconditioner_count": ([], c_int),
    "weft_preconditioner_about": ([c_int], POINTER(s.weft_preconditioner_info)),
    "weft_time_scheme_count": ([], c_int),
    "weft_time_scheme_about": ([c_int], POINTER(s.weft_time_scheme_info)),
    "weft_time_scheme_default": ([], c_int),
    "weft_splitting_about": ([c_int], POINTER(s.weft_step_scheme_info)),
    "weft_runge_kutta_about": ([c_int], POINTER(s.weft_step_scheme_info)),
    "weft_method_choose": ([c_double, c_bool, POINTER(s.weft_problem_choice)], None),
    "weft_cg_outcome_name": ([c_int], c_char_p),
    "weft_cg_iterations_limit": ([c_int, c_int64, c_double], c_int),
    "weft_step_outcome_name": ([c_int], c_char_p),
    "weft_advection_diffusion_field": ([_P], _P),
    "weft_ufl_n_forms": ([_P], c_int),
    "weft_ufl_is_shipped": ([c_char_p], c_bool),
    "weft_eigen_reported": ([_P], POINTER(s.weft_eigen_report)),
    "weft_eigen_outcome_name": ([c_int], c_char_p),
    "weft_gradient_value": ([_P], c_double),
    "weft_gradient_adjoint": ([_P], POINTER(c_double)),
    "weft_gradient_report": ([_P], POINTER(s.weft_problem_report)),
    "weft_problem_advice": ([_P, c_char_p], c_char_p),
    "weft_entity_dofs_free": ([POINTER(s.weft_entity_dofs)], None),
    "weft_bc_forms": ([_P, POINTER(POINTER(s.weft_form))], c_int),
    "weft_ufl_form": ([_P, c_int, POINTER(s.weft_ufl_form_info)], None),
    "weft_context_tune_free": ([POINTER(s.weft_context)], None),
    "weft_mesh_free": ([POINTER(POINTER(s.weft_mesh))], None),
    "weft_hierarchy_free": ([POINTER(POINTER(s.weft_hierarchy))], None),
}
for _object in ("comm", "data", "device", "memory", "library", "outline", "compilation", "program", "connectivity", "space", "bc", "operator",
                "preconditioner", "solver", "advection_diffusion", "ufl", "problem", "eigen", "gradient", "transient", "problem_files", "probes", "derive",
                "tuned", "gemm_kernels"):
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
    made = _CLASSES[status](text.value.decode(errors="replace"), lib.weft_status_name(status).decode(),
                            error.file.decode(errors="replace"), error.line, error.column,
                            error.hint.decode(errors="replace"))
    made._error = s.weft_error.from_buffer_copy(error)
    raise made


def error_of(found: BaseException) -> s.weft_error:
    """The weft_error of an exception, for other ranks."""
    own = getattr(found, "_error", None)
    if own is not None:
        return s.weft_error.from_buffer_copy(own)
    status = next((i for i, kind in enumerate(_CLASSES) if i > 0 and type(found) is kind), len(_CLASSES) - 1)
    text = str(found) if isinstance(found, Error) else "%s: %s" % (type(found).__name__, found)
    return s.weft_error(status=status, message=text.encode()[:1000])


# Functions that are over at once; all others with a status may take long, so that Ctrl-C must end the wait.
_BRIEF = {"weft_memory_make", "weft_memory_borrow", "weft_memory_write", "weft_memory_read", "weft_memory_copy",
          "weft_memory_zero", "weft_library_add_text", "weft_mesh_group", "weft_mesh_place", "weft_program_size",
          "weft_program_bind", "weft_assembly_find", "weft_ufl_degrees_find",
          "weft_ufl_add_functions", "weft_ufl_problem_of", "weft_bc_find_free", "weft_problem_start",
          "weft_problem_condition", "weft_problem_constraint", "weft_problem_point_load", "weft_problem_set_values", "weft_time_scheme_find"}
# Functions of one object that run many times: see Handle.repeat.
_REPEATED = ("weft_operator_apply", "weft_program_run")


class _Caller:
    """Calls functions so that Ctrl-C, and whatever else a handler of signals raises, is raised in the caller at once.

    Handlers run in the main thread, and not before a C function has returned. The main thread therefore waits for a
    thread that makes the call. A call that it no longer waits for is cancelled, which ends loops and compilers, and the
    next one waits for it. The frames of its callers, whose arrays it uses, are kept until then, also while the
    interpreter ends.

    cancelled  the thread that makes such a call; see weft_monitor
    """

    def __init__(self) -> None:
        self.cancelled = c_int()
        self._start()
        os.register_at_fork(after_in_child=self._start)

    def _start(self) -> None:
        self._busy, self.cancelled.value, self.is_direct = _thread.allocate_lock(), 0, False

    def call_brief(self, function: Any, arguments: tuple[Any, ...]) -> int:
        """Call a function that is over at once."""
        while threading.current_thread() is threading.main_thread() and self._busy.locked():
            time.sleep(0.001)
        return function(*arguments)

    def call(self, function: Any, arguments: tuple[Any, ...]) -> int:
        if self.is_direct or threading.current_thread() is not threading.main_thread():
            return function(*arguments)
        result: list[Any] = []  # the status, or what ctypes raises for wrong arguments
        frames: list[Any] = []  # of callers who no longer wait
        thread: list[int] = []
        busy, ended = self._busy, _thread.allocate_lock()

        def work() -> None:
            with busy:
                thread.append(_thread.get_native_id())
                self.cancelled.value = 0
                try:
                    result.append(None if frames else function(*arguments))
                except BaseException as error:
                    result.append(error)
            frames.clear()
            ended.release()

        ended.acquire()
        try:
            try:
                _thread.start_new_thread(work, ())
            except RuntimeError:  # there is none to be had, as when the interpreter ends
                return function(*arguments)
            while not ended.acquire(timeout=0.1):  # a signal that another thread has taken does not end the wait
                pass
        except BaseException:
            frames.append(sys._getframe())
            if thread and ended.locked():
                self.cancelled.value = thread[0]
            raise
        if isinstance(result[0], BaseException):
            raise result[0]
        return result[0]


class _Library:
    """The functions of libweft. Those that return a status raise an exception instead."""

    def __init__(self) -> None:
        for name in _OTHER:
            setattr(self, name, getattr(_lib, name))
        caller = self._caller = _Caller()
        self.monitor = s.weft_monitor(cancelled=ctypes.pointer(caller.cancelled))
        for name in _STATUS:
            setattr(self, name, self._checked(getattr(_lib, name), caller.call_brief if name in _BRIEF else caller.call))
        self.brief = {name: self._checked(getattr(_lib, name), caller.call_brief) for name in _REPEATED}

    def make_calls_here(self) -> None:
        """Make calls from now on in the thread that makes them: MPI may allow no other one."""
        self._caller.is_direct = True

    @staticmethod
    def _checked(function: Any, call: Any) -> Any:
        def checked(*arguments: Any) -> None:
            error = s.weft_error()
            if call(function, (*arguments, byref(error))) != 0:
                raise_error(error)
        return checked


lib: Any = _Library()


class Owner:
    """Frees an object of the library when its last user is gone: holders of this owner, and owners of what borrows from
    the object, which stand in their `uses`.

    The collector ends the objects of a cycle in any order, and those that it does not track when the last reference goes.
    Owners are not tracked, so `uses` must not lead back to what holds the owner: it has owners and plain data only.
    A forked child frees nothing: the threads of the device are not there.
    """

    __slots__ = ("target", "free", "uses", "process")

    def __init__(self, target: Any, free: Any, uses: list[Any]) -> None:
        self.target, self.free, self.uses, self.process = target, free, uses, os.getpid()
        _untrack(self)

    # Names of the module are gone when the last owners end with the interpreter.
    def __del__(self, byref: Any = byref, getpid: Any = os.getpid) -> None:
        if self.target and self.process == getpid():
            self.free(byref(self.target))


_untrack = ctypes.pythonapi.PyObject_GC_UnTrack
_untrack.argtypes, _untrack.restype = [ctypes.py_object], None
# Of handles that a forked child may use: they need no threads of a device.
_SHARED = ("library", "memory", "mesh", "hierarchy", "ufl")


class Handle:
    """An object of the library, with its owner.

    uses   what the object borrows: handles, and plain data that does not lead back to the handle
    value  the structure or typed pointer that is freed; None: a pointer
    """

    def __init__(self, kind: str, *uses: Any, value: Any = None) -> None:
        self._value = c_void_p() if value is None else value
        self._process = None if kind in _SHARED else os.getpid()
        self._is_brief = False
        self.owner: Any = Owner(self._value, getattr(lib, "weft_%s_free" % kind), [])
        self.use(*uses)

    @property
    def pointer(self) -> Any:
        """The object, for calls. Raises UsageError in a forked child, where calls would wait for threads that are not there."""
        if self._process is not None and self._process != os.getpid():
            raise UsageError("this object was made by process %d, of which this one is a fork, and a fork has none of the "
                             "threads of a device: make a weft.Device and what is on it in each process, or start "
                             "processes by 'spawn'" % self._process, "usage")
        return self._value

    def repeat(self, name: str, *arguments: Any) -> None:
        """Call a function that runs many times for the object: without another thread, which costs some microseconds,
        once it is known to be brief."""
        began = time.perf_counter()
        (lib.brief[name] if self._is_brief else getattr(lib, name))(self.pointer, *arguments)
        self._is_brief = time.perf_counter() - began < 0.01

    def use(self, *uses: Any) -> None:
        """Keep alive what the object borrows from now on."""
        self.owner.uses += [one.owner if isinstance(one, (Handle, Borrowed)) else one for one in uses]


class Borrowed:
    """An object that belongs to others, which it keeps alive: to the handle `lender`, and perhaps to more."""

    def __init__(self, pointer: Any, lender: Handle, *others: Handle) -> None:
        self.pointer = c_void_p(pointer)
        self.owner = [one.owner for one in (lender, *others)]


def encode(text: Optional[str]) -> Optional[bytes]:
    """Text for the library; None stays None. Text with a zero byte is refused: it would be cut there."""
    if text is None:
        return None
    data = text.encode()
    if b"\0" in data:
        raise UsageError("text with a zero character: %r" % text, "usage")
    return data
