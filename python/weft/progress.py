"""What the library tells while it works: progress, messages for `logging`, and warnings."""

from __future__ import annotations

import atexit
import itertools
import logging
import os
import shutil
import sys
import time
import warnings
import weakref
from collections import deque
from typing import Any, Callable, Optional, Union

from . import _structures as s

LEVELS = ("error", "warning", "info", "debug")
_AFTER = 0.5  # seconds after which a call shows its progress
logger = logging.getLogger("weft")
logger.addHandler(logging.NullHandler())


class WeftWarning(UserWarning):
    """What the library warns of. Its other messages go to logging.getLogger("weft")."""


_warnings: deque[str] = deque()  # until the call that they belong to returns, in the thread of its caller


def warn_pending() -> None:
    """Issue the warnings of a call where the package was called."""
    frame, level = sys._getframe(), 0
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "weft":
        frame, level = frame.f_back, level + 1
    while _warnings:
        warnings.warn(_warnings.popleft(), WeftWarning, stacklevel=level + 1)


# Devices with a log of their own, by the user of their monitor. The library's objects do not keep a device alive: its log may lead
# back to them.
_with_log: Any = weakref.WeakValueDictionary()


def _log(user: Optional[int], level: int, message: bytes) -> None:
    text = message.decode(errors="replace")
    if user:
        getattr(_with_log.get(user), "_log", lambda *of_none: None)(LEVELS[level], text)
    elif LEVELS[level] == "warning":
        _warnings.append(text)
    else:
        logger.log(getattr(logging, LEVELS[level].upper()), "%s", text)


# ---- where progress is shown -----------------------------------------------------------------------


class _Terminal:
    """A line below the one that the program writes, which stays as it is."""

    def show(self, text: str, share: Optional[float]) -> None:
        text = text[:shutil.get_terminal_size().columns - 1]
        # scroll if need be; save, write, restore
        print("\033D\033[A\0337\033[B\r%s\033[K\0338" % text, end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        print("\033[J", end="", file=sys.stderr, flush=True)


class _Notebook:
    """An output of the cell, which is emptied at the end."""

    def __init__(self, shell: Any) -> None:
        self._shell, self._cell = shell, -1
        self._handle: Any = None

    def show(self, text: str, share: Optional[float]) -> None:
        from IPython.display import display  # type: ignore[import-not-found,unused-ignore]

        if self._cell == self._shell.execution_count:
            self._handle.update({"text/plain": text}, raw=True)
        else:
            self._cell, self._handle = self._shell.execution_count, display({"text/plain": text}, raw=True, display_id=True)

    def clear(self) -> None:
        self._handle.update({"text/plain": ""}, raw=True)


class _Lines:
    """Lines of a file, one a second, or a function of the user."""

    def __init__(self, function: Any = None) -> None:
        self._at, self._function = 0.0, function

    def show(self, text: str, share: Optional[float]) -> None:
        if self._function:
            self._function(text, share)
        elif time.monotonic() - self._at >= 1:
            self._at = time.monotonic()
            print(text, file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Lines stay."""


def _found() -> Any:
    """A terminal or a notebook, if there is one."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if type(shell).__name__ == "ZMQInteractiveShell":
        return _Notebook(shell)
    is_terminal = sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"
    return _Terminal() if is_terminal else None


# ---- progress --------------------------------------------------------------------------------------

monitor = s.weft_monitor()  # of devices without a log, and of meshes
_numbers = itertools.count(1)
_monitors: Any = weakref.WeakValueDictionary({0: monitor})  # by their user


def monitor_of(device: Any) -> s.weft_monitor:
    """Of a device with a log of its own."""
    one = s.weft_monitor(_logged, monitor.progress, next(_numbers), monitor.cancelled)
    _monitors[one.user], _with_log[one.user] = one, device
    return one


class _Progress:
    """Shows what the calls of the main thread, and perhaps the steps that they make, have done."""

    def __init__(self) -> None:
        self.display: Any = None
        self._now: tuple[str, float, float] = ("", 0.0, 0.0)
        self._is_shown = False
        self._step = ""  # that is being made

    def note(self, user: int, phase: bytes, done: float, total: float) -> None:
        self._now = phase.decode(errors="replace"), done, total

    def tick(self, began: float) -> None:
        """While a call runs that began then."""
        phase, done, total = self._now
        if self.display is not None and time.monotonic() - began > _AFTER and (phase or self._step):
            self.show("; ".join(text for text in (self._step, phase) if text), done, total)

    def show(self, text: str, done: float, total: float) -> None:
        share = min(max(done / total, 0.0), 1.0) if total > 0 else None
        bar = "" if share is None else "  [%-20s] %2.0f%%" % ("#" * int(20 * share), 100 * share)
        self._is_shown = True
        self.display.show("weft: %s%s" % (text, bar), share)

    def begin_step(self, text: str) -> None:
        self.clear()
        self._step = text

    def end_step(self, began: float, done: float, total: float) -> None:
        """A step has been made, of steps that began then. The text stays until the next call."""
        passed = time.monotonic() - began
        if self.display is not None and passed > _AFTER and 0 < done < total:
            self.show("%s, %.0f s left" % (self._step, passed / done * (total - done)), done, total)
        self._step = ""

    def clear(self) -> None:
        """When a call returns."""
        self._now = ("", 0.0, 0.0)
        if self._is_shown:
            self._is_shown = False
            self.display.clear()


progress = _Progress()
_note = s.PROGRESS(progress.note)


def show_progress(how: Union[bool, None, Callable[[str, Optional[float]], Any]] = None) -> None:
    """Show what calls and time steps that take long have done.

    how  None, the default: in terminals and notebooks; True: also where the output goes into a file, as lines; False: nowhere; or a
         function, which gets a text and the share that is done, None where it is not known
    """
    if how is not None and not isinstance(how, bool) and not callable(how):
        raise TypeError("show_progress takes True, False, None or a function, not %r" % (how,))
    progress.clear()
    progress.display = _Lines(how) if callable(how) else None if how is False else _found() or (_Lines() if how else None)
    for one in list(_monitors.values()):
        one.progress = _note if progress.display is not None else s.PROGRESS()


monitor.log = _logged = s.LOG(_log)
show_progress()


@atexit.register
def _end() -> None:
    for one in list(_monitors.values()):  # threads of the library may still run when functions of Python can no longer be called
        one.log, one.progress = s.LOG(), s.PROGRESS()
