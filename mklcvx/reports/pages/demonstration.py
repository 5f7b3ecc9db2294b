"""The report of the demonstration: every formulation in two tables, one of them in full, and a wrong answer caught."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ... import formulations
from ...certificate.solution import Solution
from ...problem.instance import Instance
from ...verification.judge import Report
from . import judgement, sections, solved
from .html import Markup, element, paragraph, section, table
from .numbers import power, value
from .page import badge, page

TIME_LIMIT = 2.0  # seconds for each solver that is compared
FULL = "l1"


class Gallery(NamedTuple):
    """Many formulations on one data set; `scores` say in words how each does on held-out samples."""

    identifier: str
    title: str
    score: str
    solutions: Sequence[Solution]
    scores: Sequence[str]
    about: str


def demo_page(galleries: Sequence[Gallery], instance: Instance, caught: Report) -> str:
    """`instance` is the first gallery's; its L1-MKL is reported in full."""
    everything = [solution for gallery in galleries for solution in gallery.solutions]
    full = next(one for one in everything if one.formulation == FULL)
    runs = solved.runs_of(instance, FULL, full.parameters, solved.chosen_solvers(FULL, None), TIME_LIMIT)
    made = [
        *(_gallery(gallery) for gallery in galleries),
        *solved.about(instance, full, runs, 1e-8, "breast cancer, as in the first table"),
        judgement.verdict(caught, "The answer with its weights scaled to length one", "A wrong answer, caught"),
        sections.derived(FULL),
    ]
    done = sum(one.certified for one in everything)
    kind = badge(f"{done} of {len(everything)} certified", "good" if done == len(everything) else "bad")
    subtitle = f"Every formulation on two real data sets; then {FULL} in full, and an answer that is wrong."
    return page("mklcvx: the demonstration", subtitle, kind, made)


def _gallery(gallery: Gallery) -> Markup:
    head = ["formulation", "what it is", "optimum", "certified gap", "kernels", "weights", gallery.score]
    rows = [_row(*pair) for pair in zip(gallery.solutions, gallery.scores, strict=True)]
    listed = table(head, rows, numbers=(2, 3, 4, 6))
    return section(gallery.identifier, gallery.title, paragraph(gallery.about), listed)


def _row(one: Solution, score: str) -> list[object]:
    gap = power(one.certificate.relative_gap)
    used = f"{len(one.used())}/{len(one.weights)}"
    title = formulations.get(one.formulation).title
    return [element("code", one.formulation), title, value(one.objective), gap, used, _bars(one.weights), score]


def _bars(weights: np.ndarray) -> Markup:
    """One thin bar per kernel, as high as its weight."""
    heights = np.nan_to_num(weights) / max(float(np.nanmax(weights, initial=0.0)), np.finfo(float).tiny)
    bars = [
        Markup(f'<rect x="{4 * m}" y="{20 - 20 * h:.2f}" width="3" height="{20 * h:.2f}"/>')
        for m, h in enumerate(np.clip(heights, 0.0, 1.0))
    ]
    return element("svg", *bars, viewBox=f"0 0 {4 * len(bars)} 20", class_="spark", role="img", aria_label="weights")
