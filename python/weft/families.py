"""The families of elements, by the table of the library."""

from ctypes import byref, c_int

from ._library import UsageError, encode, lib

_SHORT = {"lagrange": "Lagrange", "discontinuous": "Discontinuous Lagrange"}


def family_number(name: str) -> int:
    number = c_int()
    if not isinstance(name, str) or not lib.weft_family_find(encode(_SHORT.get(name, name)), byref(number)):
        raise UsageError("family is %r, expected 'lagrange', 'discontinuous' or UFL's name of another" % (name,), "usage")
    return number.value


def family_name(number: int) -> str:
    name = lib.weft_family_about(number).contents.names[0].decode()
    return next((short for short, long in _SHORT.items() if long == name), name)
