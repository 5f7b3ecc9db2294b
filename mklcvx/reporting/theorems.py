"""A formulation's theorem as HTML. Its docstring is the only source, as for `explain`.

Formulas stay the Unicode text that they are, with subscripts and superscripts set as such: they wrap on a phone, which
MathML does not, and need nothing from anywhere.
"""

from __future__ import annotations

import re

from ..explain import GENERAL
from ..formulations import Formulation
from .html import Markup, element, escaped, facts, joined

LABELLED = re.compile(r"^\s+(primal|dual|recovery|multipliers|clique|star|zhou|kcca)\s+(.*)$")
INDEX = r"(\{[^{}]*\}|[a-z0-9α-ω]+|[A-ZΔ])"
BASE = r"((?:(?<![A-Za-z])[A-Za-zα-ωΑ-ΩΣΔℓ]|max|min|[)‖²'*])(?:<su[bp]>[^<]*</su[bp]>)*)"
RAISED = re.compile(r"\^(\{[^{}]*\}|[A-Za-z0-9½*+])")


def derivation(formulation: Formulation) -> Markup:
    """The theorem, its parameters, and the notation."""
    title, _, body = formulation.theorem.strip().partition("\n")
    name, _, words = title.partition(" — ")
    return joined([
        element("p", element("strong", name), " — ", typeset(words)),
        *_blocks(body),
        element("h3", "Parameters"),
        facts((element("code", key), typeset(meaning)) for key, meaning in formulation.described_parameters),
        element("h3", "Notation"),
        *_blocks(GENERAL + formulation.notation.strip()),
    ])  # fmt: skip


def typeset(text: str) -> Markup:
    """One line: `code` as code, indices below and above, runs of spaces as wide ones."""
    pieces = re.split(r"`([^`]*)`", text)
    return joined(element("code", piece) if odd % 2 else _formula(piece) for odd, piece in enumerate(pieces))


def _formula(text: str) -> Markup:
    text = escaped(text).replace("&#x27;", "'")  # a prime; nothing here is inside an attribute
    text = RAISED.sub(lambda found: f"<sup>{_bare(found[1])}</sup>", text)
    before = ""
    while before != text:
        before, text = text, re.sub(rf"{BASE}_{INDEX}", lambda found: f"{found[1]}<sub>{_bare(found[2])}</sub>", text)
    text = re.sub(r"(?<=[½¼]) ", "\u00a0", text)  # a factor stays with what it multiplies
    return Markup(re.sub(r" {2,}", "\u2003 ", text))


def _bare(index: str) -> str:
    return index[1:-1] if index.startswith("{") else index


def _blocks(text: str) -> list[Markup]:
    """Prose as paragraphs, indented and aligned lines as formulas, labelled ones with their labels."""
    made: list[Markup] = []
    prose: list[str] = []
    for block in re.split(r"\n\s*\n", text.strip("\n")):
        lines = block.splitlines()
        if any(LABELLED.match(line) for line in lines):
            made.append(_labelled(lines))
            continue
        for line in lines:
            aligned = line.startswith(" ") or re.search(r"\S {3,}\S", line)
            if aligned:
                _flush(prose, made)
                made.append(element("p", typeset(line.strip()), class_="formula"))
            else:
                if line.startswith(("Degenerate", "Parameters", "Reference", "As a regulariser")):
                    _flush(prose, made)
                prose.append(line.strip())
        _flush(prose, made)
    return made


def _flush(prose: list[str], made: list[Markup]) -> None:
    if prose:
        made.append(element("p", typeset(" ".join(prose))))
        prose.clear()


def _labelled(lines: list[str]) -> Markup:
    rows: list[tuple[str, list[str]]] = []
    for line in lines:
        found = LABELLED.match(line)
        if found:
            rows.append((found[1], [found[2]]))
        elif rows:
            rows[-1][1].append(line.strip())
    pairs = [
        element("div", element("dt", label), element("dd", typeset(_together(label, texts))))
        for label, texts in rows
    ]  # fmt: skip
    return element("dl", *pairs, class_="theorem")


def _together(label: str, texts: list[str]) -> str:
    return ("   " if label in ("primal", "dual") else " ").join(texts)
