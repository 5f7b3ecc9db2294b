"""A parser of formulations' docstrings, the only source of what the terminal, LaTeX and the site say about them.

A theorem has a headline, rows (`primal`, `dual`, `recovery`, `multipliers`), and paragraphs of prose, which a label may
open ("From one to the other.", "Degenerate cases:"). A family's notation is written alike, with rows of its own.
"""

from __future__ import annotations

import re
from typing import NamedTuple

LABELS = (
    "From one to the other.", "As a regulariser on weights:", "Both losses:", "Parameters:", "Degenerate cases:",
    "Reference:",
)  # fmt: skip
ROWS = ("primal", "dual", "recovery", "multipliers", "loss c", "loss nu", "clique", "star", "zhou", "kcca")
ROW = re.compile(rf"    (?! )(?:({'|'.join(ROWS)})\s+)?(.*)$")


class Row(NamedTuple):
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
    parts: tuple[Row | Paragraph, ...]

    def rows(self, *labels: str) -> list[Row]:
        return [part for part in self.parts if isinstance(part, Row) and part.label in labels]

    @property
    def derivation(self) -> list[Row | Paragraph]:
        """The parts between the dual and the recovery: how one problem is derived from the other."""
        kinds = [part.label if isinstance(part, Row) else None for part in self.parts]
        return list(self.parts[kinds.index("dual") + 1 : kinds.index("recovery")])

    def paragraph(self, label: str) -> str:
        """The text of the paragraph with that label; empty if there is none."""
        return next((part.text for part in self.parts if isinstance(part, Paragraph) and part.label == label), "")


def parse(docstring: str) -> Theorem:
    headline, *blocks = re.split(r"\n\s*\n", docstring.strip())
    parts: list[Row | Paragraph] = []
    for block in blocks:
        lines = block.splitlines()
        parts += _rows(lines) if lines[0].startswith("    ") else _paragraphs(lines)
    return Theorem(" ".join(headline.split()), tuple(parts))


def _rows(lines: list[str]) -> list[Row]:
    rows: list[Row] = []
    for line in lines:
        match = ROW.match(line)
        if match:
            rows.append(Row(match[1] or "", (match[2].strip(),)))
        else:
            rows[-1] = Row(rows[-1].label, (*rows[-1].lines, line.strip()))
    return rows


def _paragraphs(lines: list[str]) -> list[Paragraph]:
    found: list[Paragraph] = []
    for line in lines:
        label = next((label for label in LABELS if line.startswith(label)), None)
        if label is not None:
            found.append(Paragraph(label[:-1], line.removeprefix(label).strip()))
        elif found:
            found[-1] = Paragraph(found[-1].label, f"{found[-1].text} {line.strip()}")
        else:
            found.append(Paragraph("", line.strip()))
    return found
