"""What a problem is made of: a form file or a script, with what is given for its names."""

from __future__ import annotations

import math
import os
import re
from copy import copy
from ctypes import byref
from typing import Any, Iterable, Mapping, NamedTuple, Optional

from . import _structures as s
from ._arithmetic import real
from ._check import check_names, check_type, refuse
from ._library import Handle, InputError, UsageError, encode, lib
from .conditions import check_text
from .device import Array, Device
from .families import family_name
from .forms import FormFile, measure_rows
from .mesh import Mesh
from .ranks import own_values
from .script import _expressions, _interleave, _parameters, _text_of, kinds

_PREFIX = "coefficient_"  # of names that a script has for something else
_INPUT = re.compile(r"\binput\s+(\w+)\s*:\s*real(?:\s*\[([^\]]*)\])?(?:\s+over\s+(\w+))?")
_COMMENT = re.compile(r"#.*")


def formula(value: Any) -> str:
    """Text of a number, of a formula, or of several, one for each component."""
    if isinstance(value, (list, tuple)):
        return ", ".join(formula(one) for one in value)
    check_text("a value", value)
    if isinstance(value, str):
        return value
    return repr(float(value)) if isinstance(value, float) else str(value)


def is_formula(value: Any) -> bool:
    """Whether a value is given by formulas rather than by an array."""
    if isinstance(value, (list, tuple)):
        return all(is_formula(one) for one in value)
    return isinstance(value, (str, int, float)) or getattr(value, "shape", None) == ()


def check_values(values: Any) -> dict[str, Any]:
    """What a problem is given for its inputs, by name."""
    check_names("values", values, "name -> number, formula or array, such as {\"k\": 1}")
    for name, value in values.items():
        if value is None or callable(value) or isinstance(value, (bool, dict, set, bytes)):
            hint = "a formula is text, such as \"sin(pi*x)\"; or give its values at space.points" if callable(value) else ""
            raise refuse("the value of " + name, value, "a number, a formula in x, y, z and t, or an array", hint)
    return dict(values)


class Input(NamedTuple):
    """What an input stands over, None for one number or vector, and its components, None where the text leaves them open."""

    over: Optional[str]
    components: Optional[int]

    def array(self, device: Device, name: str, values: Any) -> Array:
        """The values on the device, in the order in which forms read them."""
        shape = getattr(real(values, "the values of " + name), "shape", (-1,))
        n = math.prod(shape[1:])
        if len(shape) > 1 and self.components is not None and n != self.components:
            raise UsageError("the values of %s have the shape %r, expected [entries, %d]"
                             % (name, tuple(shape), self.components), "usage")
        if self.over == "cells":
            return _interleave(device, values, self.components or n, device.limits.lanes_double, "float64")
        return device.asarray(values)


def declared(text: str, numbers: Mapping[str, int]) -> dict[str, Input]:
    """The inputs that a script declares. Their shapes are numbers, or names of parameters."""
    found = {}
    for name, shape, over in _INPUT.findall(_COMMENT.sub("", text)):
        components: Optional[int] = 1
        for size in shape.split(",") if shape else ():
            n = int(size) if size.strip().isdigit() else numbers.get(size.strip())
            components = components * n if components is not None and n is not None else None
        found[name[len(_PREFIX):] if name.startswith(_PREFIX) else name] = Input(over or None, components)
    return found


class Binding:
    """Forms that can be bound to a mesh.

    values       of inputs and expressions, by name
    is_in_time   they have a mass or a scheme of their own, so that they may be of a problem in time
    bound        of a form file: what the last problem was bound with
    """

    bound: Optional[s.weft_bind_options] = None

    name = "forms"
    _stationary: dict[str, Input] = {}  # the inputs of a form file
    is_in_time = is_nonlinear = has_mass = False

    def __init__(self, device: Device, mesh: Mesh, mass: Optional[str], previous: Optional[str]) -> None:
        self.device, self.mesh, self.mass, self.previous = device, mesh, mass, previous
        self.whole = mesh

    def of_part(self, device: Device, part: Mesh) -> Binding:
        """The same forms on the part of a rank."""
        other = copy(self)
        other.device, other.mesh = device, part
        return other

    def _entities(self, over: str) -> Optional[str]:
        """Whether an index set is that of the "cells" or of the "nodes" of the mesh; None: of neither."""
        return over if over in ("cells", "nodes") else None

    def library(self) -> Optional[Handle]:
        """The library of the functions that the forms call; None: the device's."""
        return None

    def element(self, i: int) -> tuple[int, int]:
        """Family and degree of function i of u."""
        raise NotImplementedError

    def bind(self, handle: Handle, library: Optional[Handle], values: Mapping[str, Any], measures: Mapping[str, str],
             in_time: bool, of_pencil: bool = False) -> None:
        """Make spaces, inputs and forms of a problem.

        of_pencil  with a mass beside the matrix, for eigenvalues
        """
        raise NotImplementedError

    def _options(self, handle: Handle, inputs: Mapping[str, Input], values: Mapping[str, Any], in_time: bool,
                 of_pencil: bool, **more: Any) -> s.weft_bind_options:
        rows = []
        for name, value in values.items():
            source = s.weft_input_source(origin=encode(name))
            if is_formula(value):
                source.text = encode(formula(value))
            else:
                one = inputs.get(name, Input(None, None))  # functionals may read others
                if self.mesh is not self.whole and one.over:
                    value = own_values(self.mesh, self.whole, name, self._entities(one.over), value)
                array = one.array(self.device, name, value)
                source.memory = array._pointer
                handle.use(array._handle)
            rows.append(s.weft_problem_value(encode(name), source))
        options = s.weft_bind_options(
            values=(s.weft_problem_value * max(len(rows), 1))(*rows), n_values=len(rows), in_time=in_time, has_mass=of_pencil,
            mass=encode(self.mass) if in_time or of_pencil else None, previous=encode(self.previous), **more)
        handle.use(options)
        return options


class OfFile(Binding):
    """The problem of a form file."""

    def __init__(self, file: FormFile, *more: Any) -> None:
        super().__init__(*more)
        self.file, self.name = file, file.name
        self._stationary = declared(self._text(False), {})
        self.has_mass = bool(file._problem_in_time(self.mass).mass)
        self.is_in_time = self.has_mass or (self.previous or "u_old") in self._stationary
        self.is_nonlinear = file._problem().nonlinear

    def _text(self, in_time: bool) -> str:
        problem = self.file._problem_in_time(self.mass) if in_time else self.file._problem()
        return "\n".join(part.script.decode() for part in problem.parts[:problem.n_parts])

    def of_part(self, device: Device, part: Mesh) -> Binding:
        other = super().of_part(device, part)
        assert isinstance(other, OfFile)
        other.file = self.file._again()  # ranks read it at once
        return other

    def _entities(self, over: str) -> Optional[str]:
        known = {("discontinuous", 0): "cells", ("lagrange", 1): "nodes"}
        for problem in [self.file._problem()] + ([self.file._problem_in_time(self.mass)] if self.has_mass else []):
            for one in problem.sets[:problem.n_sets]:
                if one.nodes == over.encode():
                    return known.get((family_name(one.sub[0].family), one.sub[0].degree)) if one.n == 1 else None
        return super()._entities(over)

    def library(self) -> Handle:
        library = self.device._library()
        library.use(self.file._handle)  # its tables are read when scripts are compiled
        return library

    def element(self, i: int) -> tuple[int, int]:
        sub = self.file._problem().sets[0].sub[i]
        return sub.family, sub.degree

    def bind(self, handle: Handle, library: Optional[Handle], values: Mapping[str, Any], measures: Mapping[str, str],
             in_time: bool, of_pencil: bool = False) -> None:
        if self.mesh._mesh.contents.curve and self.file._is_straight():
            raise InputError("the form is for straight cells, and those of the mesh are curved: write it on a Mesh whose "
                             "coordinate element has degree 2, or give a mesh of straight cells", "input")
        of_mass = declared(self._text(True), {}) if self.has_mass else {}
        inputs = of_mass if (in_time or of_pencil) and of_mass else self._stationary
        values = {name: value for name, value in values.items() if name in inputs or name not in of_mass}
        options = self._options(handle, inputs, values, in_time, of_pencil, measures=measure_rows(measures), n_measures=len(measures))
        handle.use(self.file._handle)
        self.bound = options
        assert library is not None
        lib.weft_ufl_bind(self.file._handle.pointer, self.mesh._mesh, library.pointer, byref(options), handle.pointer)


class OfScript(Binding):
    """The problem of a script with a local matrix, for functions of degree 1."""

    def __init__(self, script: Any, parameters: Mapping[str, int], matrix: Optional[str], vector: Optional[str],
                 nonlinear: Optional[bool], *more: Any) -> None:
        super().__init__(*more)
        name = os.fspath(script) if isinstance(script, os.PathLike) else str(script)
        if "\n" not in name and not name.endswith(".weft"):
            if lib.weft_fem_script(encode(name + ".weft")) is None:
                raise UsageError("%r is neither a form file (.ufl, .py), nor a script (.weft), nor one that is shipped with "
                                 "Weft" % name, "usage")
            name += ".weft"
        self.name, self.text = _text_of(name)
        self.parameters, self.matrix, self.vector = dict(parameters), matrix, vector
        self._inputs = declared(self.text, {"d": self.mesh.dimension, **self.parameters})
        self._kinds = kinds(self.name, self.text)
        self.is_nonlinear = nonlinear if nonlinear is not None else "u" in self._inputs and self._makes("r")
        self.has_mass = self._makes(self.mass or "M")
        self.is_in_time = self.has_mass or (self.previous or "u_old") in self._inputs

    def _makes(self, name: str) -> bool:
        """Whether the script computes a value of this name."""
        return self._kinds.get(name) == "value"

    def element(self, i: int) -> tuple[int, int]:
        return 0, 1

    def bind(self, handle: Handle, library: Optional[Handle], values: Mapping[str, Any], measures: Mapping[str, str],
             in_time: bool, of_pencil: bool = False) -> None:
        if measures:
            raise UsageError("measures are of form files, and %s is a script" % self.name, "usage")
        bodies = {name: formula(value) for name, value in values.items() if self._kinds.get(name) == "expression"}
        expressions, n_expressions = _expressions(bodies)
        parameters, n_parameters = _parameters(self.parameters)
        options = self._options(
            handle, self._inputs, {name: value for name, value in values.items() if name not in bodies}, in_time,
            of_pencil, file=encode(self.name), expressions=expressions, n_expressions=n_expressions, parameters=parameters,
            n_parameters=n_parameters, matrix=encode(self.matrix), vector=encode(self.vector), nonlinear=self.is_nonlinear)
        lib.weft_script_bind(encode(self.text), self.mesh._mesh, byref(options), handle.pointer)


def binding_of(forms: Any, of_script: Mapping[str, Any], shipped: Optional[int], values: Iterable[str], *more: Any) -> Binding:
    """The binding of a form file or a script, which is given as an object, by its path or name, or as its text.

    of_script  parameters, matrix, vector and nonlinear
    shipped    degree of a form file that is shipped with Weft; None: 1
    values     names that have values
    """
    check_type("forms", forms, (str, os.PathLike, FormFile), "a weft.FormFile, the path of a form file or a script, its text, or the "
               "name of one that is shipped with Weft")
    text = os.fspath(forms) if isinstance(forms, os.PathLike) else forms
    is_text = isinstance(text, str) and "\n" in text
    is_shipped = isinstance(text, str) and not is_text and lib.weft_ufl_is_shipped(encode(text)) and not os.path.exists(text)
    if is_shipped:
        forms = FormFile.shipped(text, more[1], shipped or 1, values)
    elif shipped is not None:
        raise UsageError("degree is for form files that are shipped with Weft, such as elasticity.ufl", "usage")
    if not isinstance(forms, FormFile) and not (
            re.search(r"^\s*index\s", text, re.MULTILINE) if is_text else not str(text).endswith((".ufl", ".py"))):
        forms = FormFile(forms)
    if not isinstance(forms, FormFile):
        return OfScript(forms, of_script["parameters"] or {}, of_script["matrix"], of_script["vector"], of_script["nonlinear"], *more)
    given = [name for name, value in of_script.items() if value]
    if given:
        raise UsageError("%s is for scripts, and %s is a form file" % (given[0], forms.name), "usage")
    return OfFile(forms, *more)
