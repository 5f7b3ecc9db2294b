"""HTML elements and numbers. Text is escaped unless it is `Markup`, which `element` returns."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Mapping, Sequence

VOID = frozenset({"meta", "br", "hr"})


class Markup(str):
    """A string of HTML, which is not escaped again."""

    __slots__ = ()


def escaped(text: object) -> Markup:
    """Escape text for HTML, and replace control characters."""
    if isinstance(text, Markup):
        return text
    printable = "".join(c if c.isprintable() or c == "\n" else "�" for c in str(text))
    return Markup(html.escape(printable))


def joined(children: Iterable[object], between: str = "") -> Markup:
    return Markup(between.join(escaped(child) for child in children if child is not None))


def element(name: str, /, *children: object, **attributes: str) -> Markup:
    """Return <name attributes>children</name>; write `class_` for the attribute class."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{html.escape(str(value))}"' for key, value in attributes.items()
    )
    return Markup(f"<{name}{written}>" if name in VOID else f"<{name}{written}>{joined(children)}</{name}>")


def table(head: Sequence[str], rows: Iterable[Sequence[object]], numbers: Iterable[int] = ()) -> Markup:
    """Return a table; the columns in `numbers` are right-aligned.

    A wide table scrolls horizontally. On a phone, rows of more than three cells become lists of labelled cells.
    """
    right = set(numbers)

    def cells(row: Sequence[object], kind: str) -> Markup:
        looks = [{"class_": "n"} if j in right else {} for j in range(len(head))]
        names = [{"data_label": name} if kind == "td" and j else {} for j, name in enumerate(head)]
        parts = zip(row, looks, names, strict=True)
        return joined(element(kind, element("span", cell), **look, **name) for cell, look, name in parts)

    body = joined(element("tr", cells(row, "td")) for row in rows)
    inner = element("thead", element("tr", cells(head, "th"))), element("tbody", body)
    return element("div", element("table", *inner), class_="wide stack" if len(head) > 3 else "wide")


def facts(pairs: Iterable[tuple[object, object]]) -> Markup:
    """Return a list of names and values."""
    return element("dl", *(element("div", element("dt", name), element("dd", value)) for name, value in pairs))


def section(identifier: str, title: str, *children: object) -> Markup:
    return element("section", element("h2", title), *children, id=identifier)


def figure(drawing: Markup, caption: object) -> Markup:
    return element("figure", drawing, element("figcaption", caption))


def paragraph(*children: object) -> Markup:
    return element("p", *children)


# ------------------------------------------------------------------------------------------- numbers and parameters
def value(number: float) -> str:
    return f"{number:.12g}".replace("-", "−")


def short(number: float) -> str:
    return f"{number:.6g}".replace("-", "−")


def power(number: float) -> Markup:
    """Format a number with two digits, and with a power of ten outside [0.01, 100); 0 if it is not positive."""
    if number <= 0:
        return Markup("0")
    if 0.01 <= number < 100:
        return Markup(f"{number:.2g}")
    if math.isinf(number):
        return Markup("∞")
    digits, exponent = f"{number:.1e}".split("e")
    ten = Markup(f"10{element('sup', str(int(exponent)).replace('-', '−'))}")
    return ten if digits == "1.0" else Markup(f"{digits}·{ten}")


def settings(parameters: Mapping[str, object]) -> str:
    """Format parameters as "name = value"; booleans are yes or no."""
    texts = {True: "yes", False: "no"}
    shown = {
        name: texts[given] if isinstance(given, bool) else short(given) if isinstance(given, int | float) else given
        for name, given in parameters.items()
    }
    return ", ".join(f"{name} = {text}" for name, text in shown.items())
