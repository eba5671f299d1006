"""The search for the fastest values of the parameters of functions."""

from __future__ import annotations

import ctypes
import json
from ctypes import byref
from typing import Any, Mapping, NamedTuple, Optional

from . import _structures as s
from ._library import UsageError, encode, lib
from .device import Device
from .script import _expressions, _parameters, _take_text, _text_of


class Tuned(NamedTuple):
    """What a search has found for a call."""

    call: str                   # "smooth(real[8])"
    setting: dict[str, int]     # the fastest values of its tuned parameters
    standard: dict[str, int]    # those without a search
    seconds: float              # of one run of the call alone, with lists of its own
    standard_seconds: float
    n_settings: int             # of the `tune` lines of the function,
    n_allowed: int              # and those that its `where` lines leave


def _values(text: str) -> dict[str, int]:
    return {name: int(value) for name, value in (part.split(" = ") for part in text.split(", "))}


def tune(device: Device, target: Any, sizes: Optional[Mapping[str, int]] = None, elements: int = 0, single: bool = False,
         seconds: float = 60, expressions: Optional[Mapping[str, Any]] = None,
         parameters: Optional[Mapping[str, int]] = None) -> list[Tuned]:
    """Search the tuned parameters of functions (`//@ tune` lines) for their fastest values, and store them.

    target    the name of a function, or a script as weft.Script takes it, whose calls are tuned one by one
    sizes     of a function: those in its signature, and perhaps parameters
    elements  of index sets; 0: 10^6
    seconds   to search in, for each call

    Scripts that are compiled afterwards use them: for this device, precision, sizes of the call and class of numbers of
    elements, as long as the text of the function is the same. Other settings must not give other results: InputError.
    """
    library = device._functions.pointer
    if isinstance(target, str) and target.isidentifier() and lib.weft_is_tuned(library, encode(target)):
        text = ", ".join("%s = %d" % row for row in (sizes or {}).items())
        target = _take_text(lib.weft_tune_text, library, encode(target), encode(text))
    elif sizes:
        raise UsageError("sizes are for a function with tuned parameters, and %r is not the name of one" % target, "usage")
    name, source = _text_of(target)
    fragment = s.weft_fragment(encode(name), encode(source))
    formulas, n_formulas = _expressions(expressions)
    numbers, n_numbers = _parameters(parameters)
    options = s.weft_compile_options(expressions=formulas, n_expressions=n_formulas, parameters=numbers, n_parameters=n_numbers)
    script = s.weft_search_script(library, ctypes.pointer(fragment), 1, ctypes.pointer(options))
    how = s.weft_tune_options(seconds=seconds, elements=elements, single=single)
    found = json.loads(_take_text(lib.weft_tune_and_store, device._pointer, byref(script), byref(how)))
    device._tuned = device._stored()
    return [Tuned(one["call"], _values(one["setting"]), _values(one["standard"]), one["seconds"], one["standard_seconds"],
                  one["n_settings"], one["n_allowed"]) for one in found]
