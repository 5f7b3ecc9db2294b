"""A formulation's theorem as HTML. Its docstring is the only source, as for `explain`.

Formulas stay the Unicode text that they are, with subscripts and superscripts set as such: they wrap on a phone, which
MathML does not, and need nothing from anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import groupby

from ...formulations import Formulation
from ..explain import GENERAL
from ..theorem import Paragraph, TheoremLine, parse
from .html import Markup, element, escaped, facts, joined

INDEX = r"(\{[^{}]*\}|[a-z0-9α-ω]+|[A-ZΔ])"
BASE = r"((?:(?<![A-Za-z])[A-Za-zα-ωΑ-ΩΣΔℓ]|max|min|[)‖²'*])(?:<su[bp]>[^<]*</su[bp]>)*)"
LOWERED = re.compile(rf"{BASE}_{INDEX}")
RAISED = re.compile(r"\^(\{[^{}]*\}|[A-Za-z0-9½*+])")


def derivation(formulation: Formulation) -> Markup:
    """Return the theorem, its parameters, and the notation."""
    theorem, notation = parse(formulation.theorem), parse(GENERAL + formulation.notation)
    name, _, words = theorem.headline.partition(" — ")
    return joined([
        element("p", element("strong", name), " — ", typeset(words)),
        *_blocks(theorem.parts),
        element("h3", "Parameters"),
        facts((element("code", key), typeset(meaning)) for key, meaning in formulation.described_parameters),
        element("h3", "Notation"),
        element("p", typeset(notation.headline)),
        *_blocks(notation.parts),
    ])  # fmt: skip


def typeset(text: str) -> Markup:
    """Typeset a line: `code` as code, subscripts, superscripts, and runs of spaces as wide spaces."""
    pieces = re.split(r"`([^`]*)`", text)
    return joined(element("code", piece) if odd % 2 else _formula(piece) for odd, piece in enumerate(pieces))


def _formula(text: str) -> Markup:
    text = escaped(text).replace("&#x27;", "'")  # a prime; nothing here is inside an attribute
    text = RAISED.sub(lambda match: f"<sup>{match[1].strip('{}')}</sup>", text)
    before = ""
    while before != text:
        before, text = text, LOWERED.sub(lambda match: f"{match[1]}<sub>{match[2].strip('{}')}</sub>", text)
    text = re.sub(r"(?<=[½¼]) ", "\u00a0", text)  # a factor stays with what it multiplies
    return Markup(re.sub(r" {2,}", "\u2003 ", text))


def _blocks(parts: Iterable[TheoremLine | Paragraph]) -> list[Markup]:
    """Return paragraphs, displayed formulas, and lists of adjacent labelled rows."""
    made: list[Markup] = []
    for labelled, some in groupby(parts, lambda part: isinstance(part, TheoremLine) and bool(part.label)):
        blocks = [block for part in some for block in _block(part)]
        made += [element("dl", *blocks, class_="theorem")] if labelled else blocks
    return made


def _block(part: TheoremLine | Paragraph) -> list[Markup]:
    if isinstance(part, Paragraph):
        return [element("p", typeset(part.opening + part.text))]
    if not part.label:
        return [element("p", typeset(line), class_="formula") for line in part.lines]
    text = ("   " if part.label in ("primal", "dual") else " ").join(part.lines)
    return [element("div", element("dt", part.label), element("dd", typeset(text)))]
