"""Ranks: threads of this process, or processes of MPI, that solve one problem together (docs/ranks.md)."""

from __future__ import annotations

import atexit
import sys
import threading
import time
from ctypes import POINTER, byref, c_double, c_void_p, create_string_buffer
from dataclasses import dataclass
from typing import Any, Callable, Optional, Sequence

from . import _structures as s
from ._library import DeviceError, Handle, UnsupportedError, UsageError, encode, error_of, free, lib, raise_error
from .device import Device
from .mesh import Mesh
from .progress import progress

Work = Callable[[int], Any]


def _usage(text: str, hint: str) -> UsageError:
    return UsageError("%s\nhint: %s" % (text, hint), "usage", hint=hint)


# ---- communicators of MPI ----------------------------------------------------------------------

# By the identity of the communicator, None of all processes: it, its number, and ours. They stay until the end of the process,
# as all ranks must free them together.
_connected: dict[Optional[int], tuple[Any, int, Handle]] = {}


def _end() -> None:
    for _, _, comm in _connected.values():
        lib.weft_comm_free(byref(comm.pointer))  # leaves NULL, which is not freed again
    _connected.clear()


def _abort_on_error() -> None:
    """An exception that nobody catches ends all processes: others would wait for this one for ever."""
    show = sys.excepthook

    def hook(kind: Any, error: Any, trace: Any) -> None:
        show(kind, error, trace)
        sys.stderr.flush()
        for _, _, comm in list(_connected.values()):
            lib.weft_comm_abandon(comm.pointer, byref(error_of(error)))

    sys.excepthook = hook


def _connect(comm: Any) -> Handle:
    """Our communicator for one of mpi4py; None: of all processes."""
    if comm is not None and not hasattr(comm, "py2f"):
        raise _usage("comm is %r, which is not a communicator" % (comm,), "give one of mpi4py, such as MPI.COMM_WORLD")
    key, number, given = (None if comm is None else id(comm)), 0, None
    if comm is not None:
        from mpi4py import MPI  # type: ignore[import-not-found,unused-ignore]

        number = comm.py2f()
        given = s.weft_mpi_given(number, encode(MPI.Get_library_version().rstrip("\0")))
    known = _connected.get(key)
    if known is None or known[1] != number:
        made = Handle("comm")
        lib.make_calls_here()
        lib.weft_comm_mpi_make(byref(given) if given else None, byref(lib.monitor), byref(made.pointer))
        if not _connected:
            atexit.register(_end)
            _abort_on_error()
        _connected[key] = known = (comm, number, made)
    return known[2]


# ---- ranks -------------------------------------------------------------------------------------


@dataclass
class Share:
    """What a rank has of a mesh: its share of the nodes, and the predicted seconds of an iteration of CG, with it and of the device alone."""

    device: str
    share: float
    seconds: float
    alone: float


class Ranks:
    """The ranks of a problem that are in this process: all of them, which are threads, or one of MPI.

    n        their number, also of those in other processes
    rank     the number of the first one here
    devices  of those that are here
    """

    def __init__(self, n_threads: int, comm: Optional[Handle], asked: Optional[str], device: Optional[Device],
                 shares: Optional[Sequence[float]]) -> None:
        self._n_threads, self._asked, self._given = n_threads, asked, shares
        self.shares: list[Share] = []
        self.comms = [comm] if comm else self._threads(n_threads)
        first = self.comms[0].pointer
        self.n, self.rank = lib.weft_comm_size(first), lib.weft_comm_rank(first)
        names = [self._start(one) for one in self.comms]
        self.devices = [device or Device(name) for name in names]

    def _restart(self) -> None:
        """Communicators in place of those that were abandoned, which are of no more use."""
        self.comms = self._threads(self._n_threads)
        for one in self.comms:
            self._start(one)

    @staticmethod
    def _threads(n: int) -> list[Handle]:
        made, pointers = [Handle("comm") for _ in range(n)], (c_void_p * n)()
        lib.weft_comm_threads_make(n, pointers)
        for one, pointer in zip(made, pointers):
            one.pointer.value = pointer
        return made

    def _start(self, comm: Handle) -> str:
        """Tell a communicator the shares of ranks, and which devices they have. Returns the name of this one's."""
        name = create_string_buffer(64)
        if self._given is not None:
            lib.weft_comm_share_out(comm.pointer, (c_double * len(self._given))(*self._given), len(self._given))
        lib.weft_comm_device(comm.pointer, encode(self._asked), name, len(name))
        return name.value.decode()

    def divide(self, i: int, whole: Optional[Handle], mesh: Mesh) -> None:
        """Choose the shares of ranks whose devices differ. All ranks call it."""
        context, made = s.weft_context.from_buffer_copy(self.devices[i]._context), POINTER(s.weft_rank_share)()
        context.comm = self.comms[i].pointer.value
        lib.weft_problem_share_out(byref(context), whole.pointer if whole else None, mesh._mesh, byref(made))
        if i == 0:
            self.shares = [Share(one.device.decode(), one.share, one.seconds, one.alone)
                           for one in (made[:self.n] if made else [])]
        free(made)

    @property
    def is_first(self) -> bool:
        return self.rank == 0

    def run(self, work: Work) -> list[Any]:
        """work(i) of each rank i that is here, at once: all ranks make the same calls. Raises the error of the one that failed."""
        if len(self.comms) == 1:
            return [work(0)]
        results: list[Any] = [None] * len(self.comms)
        errors: list[Optional[BaseException]] = [None] * len(self.comms)

        def one(i: int) -> None:
            try:
                results[i] = work(i)
            except BaseException as error:
                errors[i] = error
                lib.weft_comm_abandon(self.comms[i].pointer, byref(error_of(error)))

        threads = [threading.Thread(target=one, args=(i,), daemon=True) for i in range(len(self.comms))]
        for thread in threads:
            thread.start()
        began = time.monotonic()
        try:
            for thread in threads:
                while thread.is_alive():
                    thread.join(0.1)
                    progress.tick(began)
        except BaseException as error:  # Ctrl-C
            lib.weft_comm_abandon(self.comms[0].pointer, byref(error_of(error)))
            for thread in threads:
                thread.join()
            self._restart()
            raise
        finally:
            progress.clear()
        failed = [error for error in errors if error is not None]
        if failed:
            self._restart()
            raise next((error for error in failed if not _is_of_another(error)), failed[0])
        return results

    def agree(self, i: int, work: Callable[[], Any]) -> Any:
        """work() of rank i, where all raise the error of the first that failed."""
        error, result = s.weft_error(), None
        try:
            result = work()
        except Exception as found:
            error = error_of(found)
            own = found
            if lib.weft_comm_agree(self.comms[i].pointer, error.status, byref(error)) and error.message == error_of(own).message:
                raise
            raise_error(error)
        if lib.weft_comm_agree(self.comms[i].pointer, 0, byref(error)):
            raise_error(error)
        return result


def _is_of_another(error: BaseException) -> bool:
    """Whether another rank's failure ended this one."""
    return isinstance(error, DeviceError) and str(error).startswith("rank ")


def ranks_of(ranks: Optional[int], devices: Optional[Sequence[str]], comm: Any, device: Optional[Device],
             shares: Optional[Sequence[float]]) -> Optional[Ranks]:
    """The ranks that arguments of Problem, or mpirun, ask for; None: there are none."""
    started = lib.weft_processes_find()
    is_process = comm is not None or started.size > 1
    if isinstance(devices, str):
        raise _usage("devices is %r" % devices, 'give a list of names, such as ["cuda:0", "cuda:1"]')
    if ranks is not None and (isinstance(ranks, bool) or not isinstance(ranks, int) or ranks < 1):
        raise _usage("ranks is %r, expected a number of threads, 1 or more" % (ranks,), "leave it out for a problem without ranks")
    if ranks is not None and is_process:
        raise _usage("ranks=%d are threads of one process, and %s" % (
            ranks, "comm has processes" if comm is not None else "each of the %d processes (%s) is a rank"
            % (started.size, started.variable.decode())), "leave out ranks, or %s" % ("comm" if comm is not None else "mpirun"))
    asked = ",".join(devices) if devices else None
    if not is_process and ranks is None and not devices:
        if shares is not None:
            raise _usage("shares are those of ranks", 'add ranks=%d, or devices=["host", "cuda:0"]' % len(shares))
        return None
    n_threads = ranks if ranks is not None else len(devices or ())
    if device is not None and (devices or not is_process):
        raise _usage("device is for a problem without ranks, or of one process of several",
                     'name those of ranks: devices=["cuda:0", "cuda:1"]')
    lib.weft_comm_devices_check(encode(asked), 0 if is_process else n_threads)
    return Ranks(n_threads, _connect(comm) if is_process else None, asked, device, shares)


# ---- the parts of a problem --------------------------------------------------------------------


class Part:
    """The part of a problem that a rank has.

    handle  of the library; whole: that on the whole mesh, of the first rank; None on others
    """

    def __init__(self, comm: Handle, whole: Optional[Handle], mesh: Mesh) -> None:
        self.comm, self.whole, pointer = comm, whole, POINTER(s.weft_mesh)()
        lib.weft_problem_take_part(comm.pointer, whole.pointer if whole else None, mesh._mesh, byref(pointer))
        self.mesh = mesh._part(pointer)
        self.handle: Any = None

    @property
    def shown(self) -> Handle:
        """The problem that has the results."""
        return self.whole or self.handle

    def join(self, handle: Handle) -> None:
        self.handle = handle
        handle.use(*([self.whole] if self.whole else []))
        lib.weft_problem_join(handle.pointer, self.whole.pointer if self.whole else None)

    def collect(self) -> None:
        """u of the whole, on the first rank. All ranks call it."""
        lib.weft_problem_collect(self.handle.pointer, self.whole.pointer if self.whole else None)

    def spread(self) -> None:
        """The reverse, for the start. All ranks call it."""
        lib.weft_problem_spread(self.handle.pointer, self.whole.pointer if self.whole else None)


def own_values(part: Mesh, whole: Mesh, name: str, entities: Optional[str], values: Any) -> Any:
    """Those of an array over the "cells" or the "nodes" of the whole mesh that a part has."""
    import numpy

    plain, is_cells = numpy.asarray(values), entities == "cells"
    n = {"cells": whole.n_cells, "nodes": whole.n_nodes, None: None}[entities]
    if n is None:
        raise UnsupportedError("%s is given by an array over other entries than nodes or cells of the mesh, which is not divided "
                               "among ranks yet\nhint: give a formula" % name, "unsupported")
    if len(plain) != n:
        raise UsageError("the values of %s are %d, and the mesh has %d %s" % (name, len(plain), n, entities), "usage")
    return plain[part._numbers_in_whole(is_cells)]
