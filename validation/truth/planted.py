"""The cells of problems whose optimum is planted, what came of each, and their page.

A cell is named by what it is, such as `planted/l1/huber/bias/2/7`: formulation, loss (or how labels make a hypergraph),
with or without bias, outputs, and a number. Its problem depends on that name alone.
"""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from comparing import answered, excess
from grid import named_number
from page import NOTABLE, Pair, table
from planted_graphs import graphs
from planted_losses import FREE_MARGIN, LABELLED, REAL
from planted_outputs import classes, labels
from planted_penalties import PLANS
from planted_values import Planted, Unplanted
from planting import real, single

OF_CLASSES = ("sum", "average", "l1")
DRAWS = 500
EXPANSIONS = ("clique", "star", "zhou", "kcca")
HEAD = """# Certified intervals against planted optima

`make truth` writes this page, too. Multipliers, prices, margins and weights are chosen first, each pair of a margin and
a multiplier on the graph of the loss's subgradient, then kernels and targets for which they are optimal. That they are
is not taken for granted: the primal and the dual value at the planted point are evaluated from the doubles that the
package is given, in rational numbers, or in balls of 300 bits where there are exponentials, roots or logarithms. The
optimum lies between them, and they are the same, or less than 1e-18 of the value apart. An interval *excludes* the
optimum if it lies beside both by any amount.
"""


@dataclass(frozen=True)
class PlantedCell:
    formulation: str
    loss: str
    bias: str
    outputs: int
    number: int

    task = "solve"

    @property
    def name(self) -> str:
        return "/".join(str(part) for part in ("planted", *vars(self).values()))

    @property
    def label(self) -> str:
        return f"planted/{self.formulation}/{self.loss}"

    @property
    def kind(self) -> str:
        if self.formulation.startswith(("hypergraph", "ml_")):
            return "hypergraphs" if self.formulation.startswith("h") else "labels"
        return "one output" if self.outputs == 1 else "several outputs" if self.loss in REAL else "classes"


def planted_cells() -> list[PlantedCell]:
    return [PlantedCell(*kind, number) for kind, repeats in _kinds() for number in range(repeats)]


def _kinds() -> Iterator[tuple[tuple[str, str, str, int], int]]:
    biases = ("bias", "none")
    for name, loss, bias in itertools.product(PLANS, LABELLED, biases):
        if not (name == "group_lasso" and loss in FREE_MARGIN) and not (loss == "one_class" and bias == "bias"):
            yield (name, loss, bias, 1), 20
    for name, loss, bias, outputs in itertools.product(PLANS, REAL, biases, (1, 2, 3, 4)):
        if loss != "nu_svr" or outputs == 1:
            yield (name, loss, bias, outputs), 13
    for name, loss, bias, outputs in itertools.product(OF_CLASSES, ("crammer_singer", "softmax"), biases, (2, 4)):
        yield (name, loss, bias, outputs), 30
    for name, outputs in itertools.product(("ml_sum", "ml_minimax"), (2, 3)):
        yield (name, "hinge", "none", outputs), 80
    for name, expansion in itertools.product(("hypergraph", "hypergraph_smooth"), EXPANSIONS):
        yield (name, expansion, "none", 1), 60


def planted(cell: PlantedCell) -> Planted:
    rng, bias = np.random.default_rng(named_number(cell.name)), cell.bias == "bias"
    for _ in range(DRAWS):
        try:
            if cell.kind == "hypergraphs":
                return graphs(rng, cell.formulation, cell.loss)
            if cell.kind == "labels":
                return labels(rng, cell.formulation, cell.outputs)
            if cell.kind == "classes":
                return classes(rng, cell.formulation, cell.loss, bias, cell.outputs)
            if cell.loss in LABELLED:
                return single(rng, cell.formulation, cell.loss, bias)
            return real(rng, cell.formulation, cell.loss, bias, cell.outputs)
        except Unplanted:
            continue
    raise Unplanted(f"{cell.name}: nothing could be planted")


def compared(cell: PlantedCell) -> dict[str, Any]:
    """What came of a cell, as for the others."""
    problem = planted(cell)
    started = time.perf_counter()
    found = answered(cell, problem.given, problem.parameters)
    found["seconds"] = round(time.perf_counter() - started, 4)
    lower, upper = found.pop("interval", (-np.inf, np.inf))
    if found["status"] == "refused":
        found["status"] = "raised"
    beside = excess(lower, upper, problem.known)
    kind = "exact" if problem.known.lower == problem.known.upper else "enclosed"
    return {**found, "truth": kind, **({} if beside is None else {"excluded": float(f"{beside:.3g}")})}


def page(pairs: Sequence[Pair], asked: int) -> str:
    parts = [HEAD, summary(pairs, asked)]
    for title, key in {
        "By kind": lambda cell: (cell.kind,),
        "By loss": lambda cell: (cell.loss if cell.kind != "hypergraphs" else "hypergraphs",),
        "By formulation": lambda cell: (cell.formulation,),
    }.items():
        parts.append(f"## {title}\n\n" + table(pairs, key, (title[3:],)))
    every = table(pairs, lambda c: (c.formulation, c.loss, str(c.outputs)), ("formulation", "loss", "outputs"))
    return "\n\n".join(part.rstrip() for part in (*parts, "## Everything\n\n" + every)) + "\n"


def summary(pairs: Sequence[Pair], asked: int) -> str:
    rows = [row for _, row in pairs]
    excluded, kinds = [row["excluded"] for row in rows if "excluded" in row], Counter(row["truth"] for row in rows)
    return "\n".join([
        f"- comparisons: {len(pairs)} of {asked}; with one exact number {kinds['exact']}, with an enclosure of it "
        f"{kinds['enclosed']}",
        f"- certified: {sum(row['status'] == 'certified' for row in rows)}",
        f"- intervals that exclude the optimum, certified or not: **{len(excluded)}**, "
        f"{sum(size > NOTABLE for size in excluded)} of them by more than {NOTABLE:g} of it, "
        f"by {max(excluded, default=0.0):.1e} at most",
        f"- exceptions: **{sum(row['status'] == 'raised' for row in rows)}**",
    ])  # fmt: skip
