"""A parser of formulations' and losses' docstrings, the only source of what terminal, LaTeX and site say about them.

A theorem has a headline, rows (`primal`, `dual`, `recovery`, `multipliers`), and paragraphs of prose, which a label may
open ("From one to the other.", "Degenerate cases:"). A loss states its value and its gain in rows without a label, and
has rows of its own (`subgradient`, `bounds`, `least bias`); so has a family's notation.
"""

from __future__ import annotations

import re
from typing import NamedTuple

LABELS = (
    "From one to the other.", "As a regulariser on weights:", "Losses:", "Targets:", "Parameters:",
    "Degenerate cases:", "Reference:",
)  # fmt: skip
OF_LOSSES = (
    "subgradient", "gradient", "bounds", "curvature", "Fenchel–Young", "least bias", "threshold", "least width",
)  # fmt: skip
ROWS = ("primal", "dual", "recovery", "multipliers", "loss c", "loss nu", "clique", "star", "zhou", "kcca", *OF_LOSSES)
ROW = re.compile(rf"    (?! )(?:({'|'.join(ROWS)})\s+)?(.*)$")


class TheoremLine(NamedTuple):
    """A line of an indented block and the lines that continue it; a displayed formula has no label."""

    label: str
    lines: tuple[str, ...]


class Paragraph(NamedTuple):
    """Prose on one line; `label` is empty or one of LABELS without its punctuation."""

    label: str
    text: str

    @property
    def opening(self) -> str:
        """The label as it was written, followed by a space; empty if there is none."""
        return next((f"{label} " for label in LABELS if label[:-1] == self.label), "")


class Theorem(NamedTuple):
    headline: str
    parts: tuple[TheoremLine | Paragraph, ...]

    def rows(self, *labels: str) -> list[TheoremLine]:
        return [part for part in self.parts if isinstance(part, TheoremLine) and part.label in labels]

    @property
    def statement(self) -> list[TheoremLine | Paragraph]:
        """The parts before the derivation: primal and dual, or a loss and its gain."""
        return list(self.parts[: self._derived[0]])

    @property
    def derivation(self) -> list[TheoremLine | Paragraph]:
        """The parts that lead from one side to the other, up to the recovery or the subgradient."""
        return list(self.parts[slice(*self._derived)])

    @property
    def consequences(self) -> list[TheoremLine]:
        """The rows that follow the derivation: recovery and multipliers, or what a loss does to α and b."""
        return [part for part in self.parts[self._derived[1] :] if isinstance(part, TheoremLine)]

    @property
    def _derived(self) -> tuple[int, int]:
        """Where the derivation begins, behind rows with a label if there are any, and where it ends."""
        said = next(place for place, part in enumerate(self.parts) if part.label == LABELS[0][:-1])
        rows = [place for place, part in enumerate(self.parts) if isinstance(part, TheoremLine) and part.label]
        before = [place for place in rows if place < said]
        return (before[-1] + 1 if before else said), next(place for place in rows if place > said)

    def paragraph(self, label: str) -> str:
        """The text of the paragraph with that label; empty if there is none."""
        return next((part.text for part in self.parts if isinstance(part, Paragraph) and part.label == label), "")


def parse(docstring: str) -> Theorem:
    headline, *blocks = re.split(r"\n\s*\n", docstring.strip())
    parts: list[TheoremLine | Paragraph] = []
    for block in blocks:
        lines = block.splitlines()
        parts += _rows(lines) if lines[0].startswith("    ") else _paragraphs(lines)
    return Theorem(" ".join(headline.split()), tuple(parts))


def _rows(lines: list[str]) -> list[TheoremLine]:
    rows: list[TheoremLine] = []
    for line in lines:
        match = ROW.match(line)
        if match:
            rows.append(TheoremLine(match[1] or "", (match[2].strip(),)))
        else:
            rows[-1] = TheoremLine(rows[-1].label, (*rows[-1].lines, line.strip()))
    return rows


def _paragraphs(lines: list[str]) -> list[Paragraph]:
    paragraphs: list[Paragraph] = []
    for line in lines:
        label = next((label for label in LABELS if line.startswith(label)), None)
        if label is not None:
            paragraphs.append(Paragraph(label[:-1], line.removeprefix(label).strip()))
        elif paragraphs:
            paragraphs[-1] = Paragraph(paragraphs[-1].label, f"{paragraphs[-1].text} {line.strip()}")
        else:
            paragraphs.append(Paragraph("", line.strip()))
    return paragraphs
