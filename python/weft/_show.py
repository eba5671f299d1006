"""How objects are shown: in a line or a few, and in notebooks as tables. Objects that are half made or no longer usable say so."""

from __future__ import annotations

from html import escape
from typing import Any, Iterable, NamedTuple, Sequence

_MOST = 10  # rows of a table


class About(NamedTuple):
    """What an object says of itself: a summary, rows of names and values, and tables, the first row of each of which is its head."""

    summary: str
    rows: Sequence[tuple[str, Any]] = ()
    tables: Sequence[Sequence[Sequence[Any]]] = ()


def named(items: Iterable[str]) -> str:
    """A list of names, of which there may be none or many."""
    listed = list(items)
    return ", ".join(listed[:_MOST]) + (", and %d more" % (len(listed) - _MOST) if len(listed) > _MOST else "") or "none"


def some(rows: Sequence[Any]) -> list[Any]:
    """Rows from the first to the last, so many as a table has."""
    n = len(rows)
    return list(rows) if n <= _MOST else [rows[round(i * (n - 1) / (_MOST - 1))] for i in range(_MOST)]


def _about(one: Any) -> About:
    try:
        if not getattr(getattr(one, "_handle", None), "_value", True):
            return About("not made")  # the library would read at address 0
        made: About = one._about()
        return made
    except Exception as error:
        return About("not usable: %s" % (str(error).splitlines() or [type(error).__name__])[0])


def _cell(value: Any) -> str:
    return escape("%.4g" % value if isinstance(value, float) else str(value))


def _html(title: str, about: About) -> str:
    parts = ["<div><strong>weft.%s</strong> %s" % (escape(title), escape(about.summary))]
    if about.rows:
        rows = "".join("<tr><th style='text-align: left'>%s</th><td style='text-align: left'>%s</td></tr>" % (
            escape(name), _cell(value)) for name, value in about.rows)
        parts.append("<table>%s</table>" % rows)
    for head, *rest in about.tables:
        rows = "".join("<tr>%s</tr>" % "".join("<td>%s</td>" % _cell(one) for one in row) for row in rest)
        parts.append("<table><thead><tr>%s</tr></thead><tbody>%s</tbody></table>" % (
            "".join("<th>%s</th>" % escape(one) for one in head), rows))
    return "".join(parts) + "</div>"


def text_of(one: Any) -> str:
    try:
        return str(one._text())  # of classes that have a longer one
    except Exception:
        pass
    return "weft.%s(%s)" % (type(one).__name__, _about(one).summary)


def html_of(one: Any) -> str:
    return _html(type(one).__name__, _about(one))


def html_of_tuple(one: Any) -> str:
    return _html(type(one).__name__, About("", list(zip(one._fields, one))))


class Shown:
    """A class whose objects say what they are, by _about()."""

    __repr__, _repr_html_ = text_of, html_of

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("a weft.%s is not pickled or copied: it has memory and threads of this process. Pickle what it is made of, "
                        "reports, and arrays, which become numpy's" % type(self).__name__)


class Pickled(Shown):
    """One that holds plain values and arrays, which are pickled; others are left out."""

    def __reduce_ex__(self, protocol: Any) -> Any:
        state = {name: value for name, value in self.__dict__.items() if not name.startswith("_")}
        return _restored, (type(self), state)


def _restored(kind: Any, state: dict[str, Any]) -> Any:
    made = kind.__new__(kind)
    made.__dict__.update(state)
    return made
