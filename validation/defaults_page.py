"""The page of `defaults.py`: what was measured, in tables, and what follows from it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import wilcoxon

from shared.tables import table

Array = NDArray[np.float64]
Results = Mapping[Any, Mapping[str, Any]]
CHOSEN, FORMULATIONS = "diagonal", ("average", "l1", "lp")
ONE = 1.0  # the C that the estimators take, in units of the kernels

CHOICE = """\
**Chosen: `normalise="diagonal"` for all estimators, without centring but in `TwoStageMKL`, whose formulations are about
centred kernels; C = 1 in units of the kernels (`C="scale"`).**

- Kernels of unlike size must be scaled: where Gaussians stand beside polynomials, kernels as they are lose several
  points of accuracy with every formulation, the average included, whatever C is.
- Unit mean diagonal, cosine and unit diagonal after centring (which is unit variance) differ by a point at most on
  average, and with `l1` and `lp` not significantly; the average of Gaussians gains by centring. Cosine needs k(x, x) of
  new samples, which precomputed stacks do not have. Unit mean diagonal leaves Gaussians, the default bank, as they are.
- Unit variance without centring leaves wide kernels large, and C = 1 too small for them.
- Unit trace is unit mean diagonal divided by n: with C = 1 as a number most fits predict one class for all samples. In
  units of the kernels C = 1 is about a point below the best C at most, and 0.1 is too small.
"""
SCALING = f"""\
Mean accuracy over the data sets, at each C in units of the kernels, and at the best C of each data set; and
at C = 1 the worst loss of a data set against the best way to scale, on how many data sets a way is better or
worse than `{CHOSEN}`, and Wilcoxon's p."""


def page(results: Results, prices: Sequence[float], about: str) -> str:
    """All tables that the results allow."""
    lines = ["# What the estimators do unless they are told otherwise", "", about.strip(), "", CHOICE]
    for part, made in (("default", _default), ("scaling", _scaling), ("regression", _regression)):
        mine = {cell: result for cell, result in results.items() if cell.part == part}
        lines += made(mine, prices) if mine else []
    for part, title in (("stages", "`TwoStageMKL`"), ("embedding", "`HypergraphEmbedding` and linear machines in it")):
        mine = {cell: result for cell, result in results.items() if cell.part == part}
        lines += _labelled(mine, title) if mine else []
    return "\n".join(lines).rstrip() + "\n"


def _by_data(results: Results, value: Callable[[Any], Any]) -> dict[str, dict[str, list[Any]]]:
    """Values of every key, for every data set: one for each split."""
    found: dict[str, dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
    for cell, result in results.items():
        for key, one in result.items():
            found[key][cell.data].append(value(one))
    return found


def _default(results: Results, prices: Sequence[float]) -> list[str]:
    found, rows, below = _by_data(results, float), [], []
    for name in found["default"]:
        own, even = np.array(found["default"][name]), np.array(found["average"][name])
        spread = float(np.std(even, ddof=1)) if len(even) > 1 else 0.0
        behind = float(even.mean() - own.mean())
        below += [name] if behind > spread else []
        rows.append((name, f"{own.mean():.3f}", f"{even.mean():.3f}", f"{spread:.3f}", f"{-behind:+.3f}"))
    splits = max(len(values) for values in found["default"].values())
    said = ", ".join(below) if below else "none of them"
    lines = ["## The default estimator and the average kernel", ""]
    lines += [f'`MKLClassifier()` and `MKLClassifier("average")`, accuracy of {splits} splits. Below the average by']
    lines += [f"more than one standard deviation of its splits: {said}.", ""]
    return [*lines, *table(("data", "default", "average", "deviation", "difference"), rows), ""]


def _scaling(results: Results, prices: Sequence[float]) -> list[str]:
    lines = ["## How to scale kernels", "", SCALING, ""]
    traced = [one for result in results.values() for key, one in result.items() if key.startswith("trace, number")]
    alone = sum(one[0][1] == 1 for one in traced)
    lines += [f"With unit traces and C = 1 as a number, {alone} of {len(traced)} fits predict one class for all.", ""]
    for bank in dict.fromkeys(cell.bank for cell in results):
        mine = {cell: result for cell, result in results.items() if cell.bank == bank}
        lines += [f"Bank: {bank}, {len({cell.data for cell in mine})} data sets.", ""]
        lines += _ways(_by_data(mine, lambda rows: [row[0] for row in rows]), prices)
    return lines


def _ways(found: dict[str, dict[str, list[Any]]], prices: Sequence[float]) -> Iterator[str]:
    means = {key: np.array([np.mean(splits, axis=0) for splits in sets.values()]) for key, sets in found.items()}
    ways = {key: values for key, values in means.items() if values.shape[1] == len(prices)}
    usual, rows = prices.index(ONE), []
    for key, values in ways.items():
        way, formulation = key.split(" | ")
        others = [other for name, other in ways.items() if name.endswith(f"| {formulation}")]
        same = [other for other in others if len(other) == len(values)]
        worst = (np.max([other[:, usual] for other in same], axis=0) - values[:, usual]).max()
        number = means.get(f"number | {formulation}") if way == "none" else None
        chosen = ways[f"{CHOSEN} | {formulation}"]
        row = [formulation, way, *(f"{value:.3f}" for value in values.mean(axis=0))]
        row += [f"{values.max(axis=1).mean():.3f}", f"{worst:.3f}", _compared(values[:, usual], chosen[:, usual])]
        row.append("" if number is None else f"{number.mean():.3f}")
        rows.append(row)
    for formulation in dict.fromkeys(key.split(" | ")[1] for key in ways):
        traced = means.get(f"trace, number | {formulation}")
        if traced is not None:
            rows.append([formulation, "trace", *[""] * (len(prices) + 3), f"{traced.mean():.3f}"])
    rows.sort(key=lambda row: FORMULATIONS.index(row[0]))
    head = ["formulation", "scaled", *(f"C = {price:g}" for price in prices), "best C", "worst loss"]
    head += [f"better, worse than {CHOSEN}, p", "C = 1 as a number"]
    yield from (*table(head, rows), "")


def _compared(values: Array, chosen: Array) -> str:
    """How many data sets are better, how many worse than with the chosen way, and Wilcoxon's p."""
    if len(values) != len(chosen) or np.array_equal(values, chosen):
        return ""
    better, worse = int((values > chosen).sum()), int((values < chosen).sum())
    return f"{better}, {worse}, {wilcoxon(values, chosen, method='approx').pvalue:.2f}"


def _regression(results: Results, prices: Sequence[float]) -> list[str]:
    about = "R² of `MKLRegressor` on diabetes, with its default price; mean and deviation of splits."
    lines, rows = ["## Regression", "", about, ""], []
    banks = [*dict.fromkeys(cell.bank for cell in results)]
    found = {bank: _by_data({c: r for c, r in results.items() if c.bank == bank}, float) for bank in banks}
    for key in found[banks[0]]:
        way, formulation = key.split(" | ")
        values = [np.array(found[bank][key]["diabetes"]) for bank in banks]
        rows.append((formulation, way, *(f"{one.mean():.3f} ± {one.std():.3f}" for one in values)))
    rows.sort(key=lambda row: FORMULATIONS.index(row[0]))
    return [*lines, *table(("formulation", "scaled", *banks), rows), ""]


def _labelled(results: Results, title: str) -> list[str]:
    found = _by_data(results, float)
    sets = [*dict.fromkeys(cell.data for cell in results)]
    rows = [(way, *(f"{np.mean(values[name]):.3f}" for name in sets)) for way, values in found.items()]
    return [f"## {title}", "", "Accuracy; macro F1 of emotions.", "", *table(("scaled", *sets), rows), ""]
