"""Numbers and parameters as words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from .html import Markup, element


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
    shown = []
    for name, given in parameters.items():
        text = {True: "yes", False: "no"}[given] if isinstance(given, bool) else given
        shown.append(f"{name} = {short(text) if isinstance(text, int | float) else text}")
    return ", ".join(shown)
