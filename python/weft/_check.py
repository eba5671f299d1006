"""Checks of arguments where they are given: what was given, what is expected, and the nearest name."""

from __future__ import annotations

import difflib
import functools
import inspect
import numbers
from typing import Any, Callable, Iterable, Mapping, Sequence, TypeVar, cast

from ._library import UsageError

_F = TypeVar("_F", bound=Callable[..., Any])


def shown(value: Any) -> str:
    """A value that was given, for a message."""
    text = repr(value)
    text = text if len(text) <= 60 else text[:57] + "..."
    return text if type(value).__module__.partition(".")[0] == "weft" or value is None else "%s (%s)" % (text, type(value).__name__)


def refuse(what: str, value: Any, expected: str, hint: str = "") -> UsageError:
    text = "%s is %s: expected %s" % (what, shown(value), expected)
    return UsageError(text + ("\nhint: " + hint if hint else ""), "usage", hint=hint)


def check_type(what: str, value: Any, kind: Any, expected: str, hint: str = "") -> None:
    if not isinstance(value, kind):
        raise refuse(what, value, expected, hint)


def check_numbers(**values: Any) -> None:
    """Real numbers."""
    for name, value in values.items():
        if not isinstance(value, numbers.Real) or isinstance(value, bool):
            raise refuse(name, value, "a number")


def check_counts(**values: Any) -> None:
    """Whole numbers that are not negative; None where the default is the library's."""
    for name, value in values.items():
        if value is not None and (not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < 0):
            raise refuse(name, value, "a whole number, 0 or more")


def check_names(what: str, values: Any, expected: str) -> None:
    """A dictionary whose keys are names."""
    check_type(what, values, Mapping, "a dictionary: " + expected)
    for name in values:
        check_type("a name in " + what, name, str, "text: " + expected)


def check_list(what: str, values: Any, kinds: Any, expected: str) -> list[Any]:
    """A list of objects of some classes."""
    if isinstance(values, kinds):
        raise refuse(what, values, "a list of them: [%r]" % (values,))
    if isinstance(values, (str, Mapping)) or not isinstance(values, Iterable):
        raise refuse(what, values, "a list of " + expected)
    listed = list(values)
    for i, one in enumerate(listed):
        check_type("%s[%d]" % (what, i), one, kinds, expected)
    return listed


def check_size(what: str, values: Any, n: int, of: str) -> None:
    """The number of entries of an array."""
    if values.size != n:
        raise UsageError("%s has %d values, expected %d, %s" % (what, values.size, n, of), "usage")


def nearest(name: Any, known: Sequence[str]) -> str:
    """A hint: the nearest of the known names, and all."""
    close = difflib.get_close_matches(str(name), known, 1)
    return "%sthere are: %s" % ("did you mean %r? " % close[0] if close else "", ", ".join(known) or "none")


def with_names(function: _F) -> _F:
    """A function that says which argument may have been meant by a name that it does not have."""
    known = [name for name in inspect.signature(function).parameters if name != "self"]
    title = function.__qualname__.replace(".__init__", "")

    @functools.wraps(function)
    def checked(*arguments: Any, **named: Any) -> Any:
        for name in named:
            if name not in known:
                raise TypeError("weft.%s has no argument %r; %s" % (title, name, nearest(name, known)))
        return function(*arguments, **named)

    return cast(_F, checked)
