"""Finds libweft and declares its functions; turns statuses into exceptions."""
# Decision: docs/decisions/0050-python-calls-through-ctypes.md

from __future__ import annotations

import _thread
import ctypes
import os
import re
import sys
import threading
import time
from ctypes import POINTER, byref, c_int, c_size_t, c_void_p
from typing import Any, Optional

from . import _structures as s
from .progress import _warnings, monitor, progress, warn_pending

INTERFACE = "0.1"
INTERFACE_VERSION = 1  # WEFT_INTERFACE_VERSION of forms/weft_interface.h


class Error(Exception):
    """What went wrong in Weft. The text has the place, the line with a caret, and advice, where they are known.

    status       name of the status, e.g. "syntax"
    file         where: script, formula or file; "" where it is not known
    line, column  from 1; 0 where they are not known
    hint         what to do about it; may be ""
    """

    _error: Any = None  # of the library

    def __init__(self, text: str, status: str = "internal", file: str = "", line: int = 0, column: int = 0, hint: str = "") -> None:
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
    return [os.path.join(here, "prefix", "lib", name), os.path.join(here, name), os.path.join(here, "..", "..", "build", name), name]


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

# The mesh reader that a wheel brings.
if "WEFT_GMSH" not in os.environ:
    for _path in (os.path.join(os.path.dirname(os.path.abspath(__file__)), *_names)
                  for _names in (("prefix", "bin", "weft-gmsh"), ("weft-gmsh",), ("..", "..", "build", "weft-gmsh"))):
        if os.access(_path, os.X_OK):
            os.environ["WEFT_GMSH"] = _path
            break

# The functions: the result, names, and their arguments. Those that return a status take a weft_error at the end, too.
_TABLE = """
status: weft_device_open(text, weft_device_options*, address*)
status: weft_device_wait, weft_memory_zero, weft_program_run, weft_operator_assemble, weft_preconditioner_update, weft_gradient_update,
    weft_problem_files_begin, weft_problem_files_after, weft_problem_files_end(address)
status: weft_memory_make(address, size, address*)
status: weft_memory_borrow(address, address, size, address*)
status: weft_memory_write, weft_memory_read(address, size, address, size)
status: weft_memory_copy(address, address, size)
status: weft_fem_library_make(address*)
status: weft_library_add_text, weft_problem_set_initial(address, text, text)
status: weft_mesh_read_with(text, weft_mesh_options*, weft_monitor*, weft_mesh**)
status: weft_mesh_make(weft_mesh_data*, text, weft_monitor*, weft_mesh**)
status: weft_mesh_order(address, weft_mesh*, int, int64, weft_monitor*, address)
status: weft_mesh_group, weft_mesh_place(weft_mesh*, text, int*)
status: weft_mesh_group_nodes, weft_mesh_group_facets(weft_mesh*, int, int**, int64*)
status: weft_hierarchy_make(address, weft_mesh**, weft_hierarchy_options*, weft_monitor*, weft_hierarchy**)
status: weft_connectivity_make(address, address, int64, int, int64, address*)
status: weft_compile(address, weft_limits*, weft_fragment*, int, weft_compile_options*, address*)
status: weft_gemm_kernels_make, weft_tuned_open, weft_operator_matrix(address, address*)
status: weft_gemm(address, weft_gemm_product*)
status: weft_gemm_batched(address, weft_gemm_product*, int64)
status: weft_context_tune(weft_context*, int, int64)
status: weft_tune_and_store(address, weft_search_script*, weft_tune_options*, weft_text*)
status: weft_tune_text, weft_compilation_print(address, text, text, weft_text*)
status: weft_outline_make(weft_fragment*, int, address*)
status: weft_compilation_explain, weft_ufl_script(address, weft_text*)
status: weft_program_make(address, address, address*)
status: weft_program_size(address, text, int64)
status: weft_program_bind, weft_program_bind_connectivity(address, text, address)
status: weft_data_make(address, weft_mesh*, address*)
status: weft_space_make(address, weft_mesh*, weft_element_kind, int, address*)
status: weft_space_evaluate(weft_context*, address, text, text, address, address)
status: weft_space_errors(weft_context*, address, address, text, text, double*)
status: weft_bc_make_in(weft_context*, address, weft_bc_place*, weft_condition*, int, address*)
status: weft_bc_join, weft_operator_diagonal, weft_ufl_add_functions, weft_problem_collect, weft_problem_spread(address, address)
status: weft_bc_load_make(address, text, text, int, address, address)
status: weft_bc_find_free(address, int, bool*)
status: weft_form_run(weft_context*, weft_form*, weft_form_outputs*)
status: weft_form_asymmetry(weft_context*, weft_form*, double*)
status: weft_assembly_find, weft_ufl_degrees_find, weft_time_scheme_find(text, int*)
status: weft_operator_make(weft_context*, int, weft_form*, int, address*)
status: weft_operator_apply(address, address, address)
status: weft_preconditioner_make(weft_context*, int, weft_preconditioner_problem*, address*)
status: weft_solver_make(weft_context*, address, address*)
status: weft_solver_solve(address, address, address, weft_cg_options*, weft_cg_result*)
status: weft_result_write(text, weft_mesh*, weft_field*, int)
status: weft_advection_diffusion_make(weft_context*, weft_advection_diffusion_problem*, address*)
status: weft_ufl_read(text, weft_ufl_options*, address*)
status: weft_ufl_read_text(text, text, size, weft_ufl_options*, address*)
status: weft_ufl_read_shipped(text, int, int, text, weft_ufl_options*, address*)
status: weft_ufl_print_kernels(address, text, weft_text*)
status: weft_ufl_problem_of(address, weft_ufl_problem**)
status: weft_ufl_problem_in_time(address, text, weft_ufl_problem**)
status: weft_ufl_bind(address, weft_mesh*, address, weft_bind_options*, address)
status: weft_ufl_find_groups(weft_ufl_problem*, weft_mesh*, weft_bind_options*, int*)
status: weft_script_bind(text, weft_mesh*, weft_bind_options*, address)
status: weft_problem_eigenvalues(address, weft_problem_options*, weft_eigen_options*, address*)
status: weft_problem_write_eigenvectors(address, address, text, text, bool)
status: weft_gradient_make(address, weft_gradient_options*, address*)
status: weft_gradient_pull_back, weft_problem_set_values, weft_problem_integrals, weft_problem_energy(address, double*)
status: weft_gradient_project, weft_gradient_control(address, text, weft_gradient_of*)
status: weft_comm_threads_make(int, address*)
status: weft_comm_mpi_make(weft_mpi_given*, weft_monitor*, address*)
status: weft_comm_devices_check(text, int)
status: weft_comm_share_out(address, double*, int)
status: weft_problem_share_out(weft_context*, address, weft_mesh*, weft_rank_share**)
status: weft_problem_take_part(address, address, weft_mesh*, weft_mesh**)
status: weft_problem_start(weft_context*, weft_problem_options*, address*)
status: weft_problem_condition(address, weft_condition*)
status: weft_problem_constraint(address, weft_constraint*)
status: weft_problem_point_load(address, weft_point_load*)
status: weft_problem_solve(address, weft_problem_options*, weft_problem_report*)
status: weft_problem_solve_nonlinear(address, weft_problem_options*, weft_newton_options*, weft_problem_report*)
status: weft_problem_errors(address, text*, text, double, double*, double*)
status: weft_problem_write(address, text, address, text)
status: weft_probes_make(weft_context*, weft_mesh*, double*, int64, address*)
status: weft_problem_evaluate(address, address, double*)
status: weft_problem_derive(address, weft_derived_quantity*, int, weft_derive_problem*, address*)
status: weft_derive_run(address, double)
status: weft_problem_reactions(address, weft_problem_balance*)
status: weft_problem_reactions_in_time(address, address, weft_problem_balance*)
status: weft_problem_sum(address, text, double*)
status: weft_problem_resume_choices(text, weft_problem_options*)
status: weft_problem_files_make(address, address, weft_problem_files_options*, weft_transient_state*, address*)
status: weft_problem_pull(address, double**)
status: weft_problem_in_time(address, weft_problem_options*, weft_transient_problem*, address*)
status: weft_transient_step, weft_transient_advance(address, double, weft_transient_state*)
status: weft_entity_dofs_make(address*, int, bool, int, int, weft_entity_dofs*)
status: weft_advection_diffusion_run(address, int64, weft_step_state*)
text: weft_version()
text: weft_status_name, weft_newton_outcome_name, weft_assembly_name, weft_cg_outcome_name, weft_step_outcome_name,
    weft_eigen_outcome_name(int)
size: weft_error_text(weft_error*, text, size)
address: weft_array_make(size, size)
void: weft_text_free(weft_text*)
void: weft_device_options_from_environment(weft_device_options*)
weft_limits*: weft_device_limits(address)
size: weft_device_bytes, weft_memory_bytes(address)
address: weft_memory_address, weft_memory_host, weft_tuned_source_of, weft_space_cells, weft_space_coordinates, weft_space_data_points,
    weft_problem_u, weft_advection_diffusion_field(address)
text: weft_fem_script(text)
bool: weft_is_tuned(address, text)
int: weft_outline_names, weft_compilation_names, weft_compilation_kernels, weft_program_lanes, weft_space_components,
    weft_problem_components, weft_comm_rank, weft_comm_size, weft_ufl_n_forms(address)
void: weft_outline_describe(address, int, weft_outline_name*)
void: weft_compilation_name(address, int, weft_name_info*)
address: weft_program_result(address, text)
int64: weft_space_dofs, weft_space_nodes, weft_problem_dofs, weft_problem_dependent, weft_operator_dofs(address)
bool: weft_family_find(text, int*)
weft_family_info*: weft_family_about(int)
int: weft_problem_spaces(address, address**)
double: weft_problem_files_before, weft_gradient_value(address)
void: weft_problem_balance_clear(weft_problem_balance*)
int: weft_derive_fields(address, weft_field**)
int: weft_derive_values(address, weft_derived_value**)
weft_processes: weft_processes_find()
void: weft_comm_device(address, text, text, size)
int: weft_comm_agree(address, int, weft_error*)
void: weft_comm_abandon(address, weft_error*)
void: weft_problem_join, weft_problem_set_hierarchy(address, address)
int*: weft_part_numbers(weft_mesh*, bool)
int: weft_problem_free_modes(address, int*)
int*: weft_bc_constrained(address, int64*)
void: weft_bc_set(address, double, address)
weft_pattern*: weft_operator_pattern(address)
int: weft_method_count, weft_preconditioner_count, weft_time_scheme_count, weft_time_scheme_default()
weft_method_info*: weft_method_about(int)
weft_preconditioner_info*: weft_preconditioner_about(int)
weft_time_scheme_info*: weft_time_scheme_about(int)
weft_step_scheme_info*: weft_splitting_about, weft_runge_kutta_about(int)
void: weft_method_choose(double, bool, weft_problem_choice*)
int: weft_cg_iterations_limit(int, int64, double)
bool: weft_ufl_is_shipped(text)
weft_eigen_report*: weft_eigen_reported(address)
double*: weft_gradient_adjoint(address)
weft_problem_report*: weft_gradient_report(address)
text: weft_problem_advice(address, text)
void: weft_entity_dofs_free(weft_entity_dofs*)
int: weft_bc_forms(address, weft_form**)
void: weft_ufl_form(address, int, weft_ufl_form_info*)
void: weft_context_tune_free(weft_context*)
int: weft_mesh_cell_vertices, weft_mesh_facet_vertices(weft_mesh*)
void: weft_mesh_free(weft_mesh**)
void: weft_hierarchy_free(weft_hierarchy**)
"""
_STATUS: dict[str, list[Any]] = {}
_OTHER: dict[str, tuple[list[Any], Any]] = {}  # arguments and result
for _row in _TABLE.strip().replace("\n    ", " ").split("\n"):
    _result, _listed, _given = re.fullmatch(r"(.+?): (.+)\((.*)\)", _row).groups()  # type: ignore[union-attr]
    _arguments = [s.type_of(one) for one in _given.split(", ")] if _given else []
    for _name in _listed.split(", "):
        if _result == "status":
            _STATUS[_name] = _arguments
        else:
            _OTHER[_name] = _arguments, s.type_of(_result)
for _object in ("comm", "data", "device", "memory", "library", "outline", "compilation", "program", "connectivity", "space", "bc", "operator",
                "preconditioner", "solver", "advection_diffusion", "ufl", "problem", "eigen", "gradient", "transient", "problem_files", "probes", "derive",
                "tuned", "gemm_kernels"):
    _OTHER["weft_%s_free" % _object] = ([POINTER(c_void_p)], None)

for _name, _arguments in _STATUS.items():
    _function = getattr(_lib, _name)
    _function.argtypes, _function.restype = _arguments + [POINTER(s.weft_error)], c_int
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

    def finish(self) -> None:
        """Wait for a call that was cancelled: what it has made is known then."""
        if threading.current_thread() is threading.main_thread():
            with self._busy:
                pass

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
        began = time.monotonic()
        try:
            try:
                _thread.start_new_thread(work, ())
            except RuntimeError:  # there is none to be had, as when the interpreter ends
                return function(*arguments)
            while not ended.acquire(timeout=0.1):  # a signal that another thread has taken does not end the wait
                progress.tick(began)
        except BaseException:
            frames.append(sys._getframe())
            if thread and ended.locked():
                self.cancelled.value = thread[0]
            raise
        finally:
            progress.clear()
        if isinstance(result[0], BaseException):
            raise result[0]
        return result[0]


class _Library:
    """The functions of libweft. Those that return a status raise an exception instead."""

    def __init__(self) -> None:
        for name in _OTHER:
            setattr(self, name, getattr(_lib, name))
        caller = self._caller = _Caller()
        self.finish = caller.finish
        self.monitor = monitor
        monitor.cancelled = ctypes.pointer(caller.cancelled)
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
            status = call(function, (*arguments, byref(error)))
            if _warnings:
                warn_pending()
            if status != 0:
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


def buffer_of(address: int, n_bytes: int, owner: Any) -> Any:
    """Memory of the library for numpy.frombuffer. What is made of it keeps the owner alive."""
    buffer: Any = (ctypes.c_char * n_bytes).from_address(address)
    buffer._owner = owner
    return buffer


def encode(text: Optional[str]) -> Optional[bytes]:
    """Text for the library; None stays None. Text with a zero byte is refused: it would be cut there."""
    if text is None:
        return None
    data = text.encode()
    if b"\0" in data:
        raise UsageError("text with a zero character: %r" % text, "usage")
    return data
