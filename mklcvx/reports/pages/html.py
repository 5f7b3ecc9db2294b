"""HTML that cannot be broken by what is in it: every text is escaped unless it was made by `element`."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

VOID = frozenset({"meta", "br", "hr"})


class Markup(str):
    """Markup already: not to be escaped again."""

    __slots__ = ()


def escaped(text: Any) -> Markup:
    """Any text, from any file, as text: without control characters, which no page may have."""
    if isinstance(text, Markup):
        return text
    printable = "".join(c if c.isprintable() or c == "\n" else "�" for c in str(text))
    return Markup(html.escape(printable))


def joined(children: Iterable[Any], between: str = "") -> Markup:
    return Markup(between.join(escaped(child) for child in children if child is not None))


def element(name: str, /, *children: Any, **attributes: str) -> Markup:
    """<name attributes>children</name>; a trailing underscore keeps Python's own words apart (class_)."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{html.escape(str(value))}"' for key, value in attributes.items()
    )
    return Markup(f"<{name}{written}>" if name in VOID else f"<{name}{written}>{joined(children)}</{name}>")


def table(head: Sequence[str], rows: Iterable[Sequence[Any]], numbers: Iterable[int] = ()) -> Markup:
    """A table that scrolls by itself where it is too wide; `numbers` are the columns set to the right. On a phone, rows
    of more than three cells become lists, every cell with the name of its column."""
    right = set(numbers)

    def cells(row: Sequence[Any], kind: str) -> Markup:
        looks = [{"class_": "n"} if j in right else {} for j in range(len(head))]
        names = [{"data_label": name} if kind == "td" and j else {} for j, name in enumerate(head)]
        parts = zip(row, looks, names, strict=True)
        return joined(element(kind, element("span", cell), **look, **name) for cell, look, name in parts)

    body = joined(element("tr", cells(row, "td")) for row in rows)
    inner = element("thead", element("tr", cells(head, "th"))), element("tbody", body)
    return element("div", element("table", *inner), class_="wide stack" if len(head) > 3 else "wide")


def facts(pairs: Iterable[tuple[Any, Any]]) -> Markup:
    """Names and values, one pair a line."""
    return element("dl", *(element("div", element("dt", name), element("dd", value)) for name, value in pairs))


def section(identifier: str, title: str, *children: Any) -> Markup:
    return element("section", element("h2", title), *children, id=identifier)


def figure(drawing: Markup, caption: Any) -> Markup:
    return element("figure", drawing, element("figcaption", caption))


def paragraph(*children: Any) -> Markup:
    return element("p", *children)


# ------------------------------------------------------------------------------------------- numbers and parameters
def value(number: float) -> str:
    return f"{number:.12g}".replace("-", "−")


def short(number: float) -> str:
    return f"{number:.6g}".replace("-", "−")


def power(number: float) -> Markup:
    """Two digits, and a power of ten where the number is far from one; zero, and below it, is 0."""
    if number <= 0:
        return Markup("0")
    if 0.01 <= number < 100:
        return Markup(f"{number:.2g}")
    if math.isinf(number):
        return Markup("∞")
    digits, exponent = f"{number:.1e}".split("e")
    ten = Markup(f"10{element('sup', str(int(exponent)).replace('-', '−'))}")
    return ten if digits == "1.0" else Markup(f"{digits}·{ten}")


def settings(parameters: Mapping[str, Any]) -> str:
    """Numbers with their values, words as they are, flags as yes and no."""
    texts = {True: "yes", False: "no"}
    shown = {
        name: texts[given] if isinstance(given, bool) else short(given) if isinstance(given, int | float) else given
        for name, given in parameters.items()
    }
    return ", ".join(f"{name} = {text}" for name, text in shown.items())
