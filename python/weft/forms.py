"""UFL form files, read and compiled without the package ufl."""

from __future__ import annotations

import os
from ctypes import byref
from typing import Any

from . import _structures as s
from ._library import Handle, encode, lib
from .device import Device
from .script import _take_text


class FormFile:
    """The forms of a UFL file, which weft.Form takes in the place of a script.

    source  a path that ends in .ufl (legacy UFL) or .py (UFL and Basix), or the text of such a file
    name    for text: its ending says which of the two it is; messages name it

    The script of a problem has K for the form a (or J), and b for L (or the residual r for F).
    """

    def __init__(self, source: Any, name: str = "forms.py") -> None:
        self._handle = Handle("ufl")
        path = os.fspath(source) if isinstance(source, os.PathLike) else str(source)
        if "\n" not in path and path.endswith((".ufl", ".py")):
            lib.weft_ufl_read(encode(path), None, byref(self._handle.pointer))
        else:
            text = path.encode()
            lib.weft_ufl_read_text(encode(name), text, len(text), None, byref(self._handle.pointer))

    @property
    def forms(self) -> dict[str, int]:
        """The forms: name -> number of arguments (2: a matrix, 1: a vector, 0: a number)."""
        info = s.weft_ufl_form_info()
        found = {}
        for i in range(lib.weft_ufl_n_forms(self._handle.pointer)):
            lib.weft_ufl_form(self._handle.pointer, i, byref(info))
            found[info.name.decode()] = info.rank
        return found

    @property
    def script(self) -> str:
        """The script of the problem. Raises UnsupportedError, with the line, for what is not compiled to scripts."""
        return _take_text(lib.weft_ufl_script, self._handle.pointer)

    @property
    def kernels(self) -> str:
        """The elementary functions of all integrals, as text of a kernel file."""
        return _take_text(lib.weft_ufl_print_kernels, self._handle.pointer, None)

    def _add_to(self, device: Device) -> None:
        lib.weft_ufl_add_functions(self._handle.pointer, device._functions.pointer)
        device._form_files.append(self)  # its tables are read when scripts are compiled
