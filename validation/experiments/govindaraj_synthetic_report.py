"""Fig. 1 of Govindaraj 2009: the ratio of accuracies against ρ, in tables and as findings."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from _findings import LEVEL, Finding, probability
from _harness import Row
from _reporting import Table

Array = NDArray[np.float64]
FLOOR = 1e-4  # where the grid of `validation/claims` ends
RIVALS = {"l1": "L1", "sum": "the sum"}


def chosen(row: Row, method: str, floor: float) -> float:
    """The test accuracy at the C that is best on validation samples, the middle one of equals."""
    own = [one for one in row["rows"] if one["method"] == method and one["C"] >= 0.99 * floor]
    best = max(one["validation"] for one in own)
    equal = [one for one in own if one["validation"] == best]
    return float(equal[(len(equal) - 1) // 2]["test"])


def accuracies(rows: list[Row], spread: str, parts: int, method: str, floor: float = 0.0) -> Array:
    own = [row for row in rows if row.cell["spread"] == spread and row.cell["parts"] == parts]
    return np.array([chosen(row, method, floor) for row in own])


def spreads(rows: list[Row]) -> list[str]:
    return list(dict.fromkeys(row.cell["spread"] for row in rows))


def all_parts(rows: list[Row]) -> list[int]:
    return sorted({row.cell["parts"] for row in rows})


def redundancy_table(rows: list[Row]) -> Table:
    made, most = [], max(all_parts(rows))
    for spread in spreads(rows):
        for parts in all_parts(rows):
            l1, li, total = (accuracies(rows, spread, parts, method) for method in ("l1", "li", "sum"))
            narrow = accuracies(rows, spread, parts, "li", FLOOR) / accuracies(rows, spread, parts, "l1", FLOOR)
            ratios = [value for ratio in (li / l1, li / total) for value in (ratio.mean(), ratio.std(ddof=1))]
            means = [float(np.mean(values)) for values in (l1, li, total)]
            made.append([spread, parts, parts / most, *means, *map(float, ratios), float(narrow.mean())])
    columns = ["means differ in", "p", "ρ", "L1", "Li", "sum", "Li/L1", "±", "Li/sum", "±", f"Li/L1, C ≥ {FLOOR:g}"]
    note = "Printed: about 1 near ρ = 0; near ρ = 1 up to 1.08 (L1) and 1.02 (sum). ± is the deviation over data sets."
    return Table("redundancy", "Fig. 1: accuracies and their ratios against redundancy", columns, made, note)


class Trend(NamedTuple):
    """From ρ = 1/l to ρ = 1: the rise of the mean ratio, and Spearman's correlation with its one-sided p."""

    rise: float
    correlation: float
    p: float

    @property
    def holds(self) -> bool:
        return self.correlation > 0 and self.p < LEVEL


def trend(rows: list[Row], spread: str, rival: str, floor: float) -> Trend:
    parts = all_parts(rows)
    ratios = [accuracies(rows, spread, p, "li", floor) / accuracies(rows, spread, p, rival, floor) for p in parts]
    at = np.repeat(parts, [len(values) for values in ratios])
    found = stats.spearmanr(at, np.concatenate(ratios), alternative="greater")
    return Trend(float(ratios[-1].mean() - ratios[0].mean()), float(found.statistic), float(found.pvalue))


def trend_table(rows: list[Row]) -> Table:
    made = []
    for spread in spreads(rows):
        for rival, told in RIVALS.items():
            for floor in (0.0, FLOOR):
                found = trend(rows, spread, rival, floor)
                grid = "all" if floor == 0 else f"C ≥ {floor:g}"
                made.append(
                    [spread, f"Li/{told}", grid, *found[:2], probability(found.p), "yes" if found.holds else "no"]
                )
    columns = ["means differ in", "ratio", "C", "rise", "Spearman", "one-sided p", "rises"]
    return Table("trends", "Does the ratio rise with ρ?", columns, made)


def of_redundancy(rows: list[Row]) -> list[Finding]:
    findings = []
    for rival, beside in RIVALS.items():
        trends = {spread: trend(rows, spread, rival, 0.0) for spread in spreads(rows)}
        kept = [spread for spread, found in trends.items() if found.holds]
        holds: bool | str = len(kept) == len(trends) or (f"holds only for {' and '.join(kept)}" if kept else False)
        told = ", ".join(
            f"{spread}: rise {found.rise:+.3f}, {probability(found.p)}" for spread, found in trends.items()
        )
        narrow = [spread for spread in trends if trend(rows, spread, rival, FLOOR).holds]
        evidence = f"{told}; with C ≥ {FLOOR:g}, the claims' grid, it rises for {' and '.join(narrow) or 'none'}"
        findings.append(
            Finding(f"the less redundant the kernels, the larger Li-MKL's accuracy beside {beside}", holds, evidence)
        )
    return findings
