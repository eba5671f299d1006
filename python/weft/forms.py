"""UFL form files, read and compiled without the package ufl."""

from __future__ import annotations

import os
from ctypes import POINTER, byref, c_int
from functools import partial
from typing import Any, Iterable, Mapping, Optional

from . import _structures as s
from ._check import check_type
from ._library import Handle, UsageError, encode, lib
from ._show import About, Shown, named
from .device import Device
from .families import family_name
from .script import _take_text

_TRIANGLE, _TETRAHEDRON = 2, 3  # of weft_cell_type


def measure_rows(measures: Mapping[str, str]) -> Any:
    """"ds(2)" -> name of a group, for the library."""
    rows = [s.weft_bind_measure(encode(measure), encode(group), b"measures") for measure, group in measures.items()]
    return (s.weft_bind_measure * max(len(rows), 1))(*rows)


def components(formulas: str) -> list[str]:
    """The formulas of "sin(x), atan2(y, x)": commas inside brackets do not separate them."""
    parts, depth = [""], 0
    for letter in formulas:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def _options(degrees: str) -> s.weft_ufl_options:
    number = c_int()
    lib.weft_ufl_degrees_find(encode(degrees), byref(number))
    return s.weft_ufl_options(degrees=number.value)


class FormFile(Shown):
    """The forms of a UFL file, which weft.Form takes in the place of a script.

    source  a path that ends in .ufl (legacy UFL) or .py (UFL and Basix), or the text of such a file
    name    for text: its ending says which of the two it is; messages name it
    degrees "2026.1" or "2026.2", or "main" for the latter: the version of UFL whose degrees the quadrature rules have

    The script of a problem has K for the form a (or J), and b for L (or the residual r for F). Forms are of one function in a
    Lagrange element of any degree, continuous or discontinuous, on any cells; each measure has a script of its own.
    """

    def __init__(self, source: Any, name: str = "forms.py", degrees: str = "2026.1") -> None:
        check_type("the source of a FormFile", source, (str, os.PathLike), "the path of a form file, or its text")
        self._handle = Handle("ufl")
        options = _options(degrees)
        self.name, self._again = name, partial(FormFile, source, name, degrees)
        path = os.fspath(source) if isinstance(source, os.PathLike) else str(source)
        if "\n" not in path and path.endswith((".ufl", ".py")):
            self.name = path
            lib.weft_ufl_read(encode(path), byref(options), byref(self._handle.pointer))
        else:
            text = path.encode()
            lib.weft_ufl_read_text(encode(name), text, len(text), byref(options), byref(self._handle.pointer))

    @classmethod
    def shipped(cls, name: str, mesh: Any, degree: int = 1, given: Iterable[str] = (), degrees: str = "2026.1") -> FormFile:
        """A form file that is shipped with Weft, such as "elasticity.ufl", for the cells of a mesh.

        degree  of the elements
        given   the inputs that will have values; the others keep those of the file
        """
        self = cls.__new__(cls)
        self._handle, self.name = Handle("ufl"), name
        self._again = partial(cls.shipped, name, mesh, degree, given, degrees)
        cell = mesh._mesh.contents.cell or (_TRIANGLE if mesh.dimension == 2 else _TETRAHEDRON)
        lib.weft_ufl_read_shipped(encode(name), cell, degree, encode(" ".join(given)), byref(_options(degrees)),
                                  byref(self._handle.pointer))
        return self

    def _about(self) -> About:
        kinds = ("number", "vector", "matrix")
        return About("%r, forms %s" % (self.name, named(self.forms)), [(name, kinds[min(n, 2)]) for name, n in self.forms.items()])

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self._again.func, self._again.args  # read again

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

    def _problem(self) -> s.weft_ufl_problem:
        found = POINTER(s.weft_ufl_problem)()
        lib.weft_ufl_problem_of(self._handle.pointer, byref(found))
        return found.contents

    def _problem_in_time(self, mass: Optional[str]) -> s.weft_ufl_problem:
        found = POINTER(s.weft_ufl_problem)()
        lib.weft_ufl_problem_in_time(self._handle.pointer, encode(mass), byref(found))
        return found.contents

    def _is_straight(self) -> bool:
        """Whether cells are given by their vertices alone."""
        problem = self._problem()
        return problem.sets[problem.geometry].sub[0].degree < 2

    def _check(self, problem: s.weft_ufl_problem, space: Any) -> None:
        """Refuse spaces in which the forms are not."""
        parts = getattr(space, "spaces", None)
        wanted = problem.sets[0]
        if wanted.flat or parts:
            subs = [(sub.family, sub.degree, sub.components) for sub in wanted.sub[:wanted.n]]
            if not wanted.flat or not parts or subs != [(one._family, one.degree, one.components) for one in parts]:
                raise UsageError("%s: the forms are for %s" % (self.name, ", ".join(
                    "family %r, degree %d, %d components" % (family_name(family), degree, components)
                    for family, degree, components in subs) if wanted.flat else "one Space"), "usage")
            return
        sub = wanted.sub[0]
        if (sub.family, sub.degree, problem.components) != (space._family, space.degree, space.components):
            raise UsageError("%s: the forms are for Space(mesh, components=%d, degree=%d, family=%r)" % (
                self.name, problem.components, sub.degree, family_name(sub.family)), "usage")

    def _groups(self, problem: s.weft_ufl_problem, mesh: Any, measures: Mapping[str, str]) -> list[int]:
        """The groups of the parts, -1: everywhere."""
        rows = measure_rows(measures)
        options = s.weft_bind_options(file=encode(self.name), measures=rows, n_measures=len(measures))
        groups = (c_int * problem.n_parts)()
        lib.weft_ufl_find_groups(byref(problem), mesh._mesh, byref(options), groups)
        return list(groups)

    def _library(self, device: Device) -> Handle:
        """The functions of the device and of the file."""
        library = device._library()
        lib.weft_ufl_add_functions(self._handle.pointer, library.pointer)
        library.use(self._handle)  # its tables are read when scripts are compiled
        return library
