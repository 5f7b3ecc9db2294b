"""Govindaraj 2009, section 6: Li-MKL and CKL against L1-MKL and the sum of kernels, on synthetic kernels and digits.

Three kinds of cells: `redundancy` (Fig. 1), `kernels` (Figs 3 and 11: the ratio of accuracies against the number of
kernels, and the accuracy at every C), `sizes` (Fig. 16: accuracy against training size on grouped kernels).
"""

from __future__ import annotations

from typing import Any

import govindaraj_redundancy as synthetic
import govindaraj_regions as regions
from _harness import Cell, Experiment, Setting
from govindaraj_report import report


def parts(setting: Setting) -> tuple[int, ...]:
    """Numbers of disjoint sets of features, divisors of l."""
    return setting.choose((1, 6), (1, 3, 6, 10, 30), (1, 2, 3, 5, 6, 10, 15, 30))


def size(setting: Setting) -> synthetic.Size:
    return setting.choose(synthetic.Size(6, 90, 4, 200), synthetic.Size(), synthetic.Size())


def counts(setting: Setting) -> tuple[int, ...]:
    return setting.choose((6,), (3, 6, 12, 27, 54), (3, 6, 9, 12, 18, 27, 36, 45, 54))


def training(setting: Setting) -> tuple[int, ...]:
    return setting.choose((6,), (6, 12, 24, 40), (6, 9, 12, 15, 18, 24, 30, 40))


def cells(setting: Setting) -> list[Cell]:
    spreads = setting.choose(synthetic.SPREADS[:1], synthetic.SPREADS, synthetic.SPREADS)
    made: list[Cell] = [
        {"part": "redundancy", "spread": spread, "parts": p, "split": split}
        for split in range(setting.choose(3, 15, 50))
        for spread in spreads
        for p in parts(setting)
    ]
    for part, splits in (("kernels", setting.choose(1, 10, 20)), ("sizes", setting.choose(1, 10, 20))):
        made += [{"part": part, "split": split} for split in range(splits)]
    return made


def run(cell: Cell, setting: Setting) -> dict[str, Any]:
    rng = setting.rng(*cell.values())
    if cell["part"] == "redundancy":
        return {"rows": synthetic.redundancy(size(setting), cell["spread"], cell["parts"], rng)}
    if cell["part"] == "kernels":
        return {"rows": regions.numbers_of_kernels(counts(setting), regions.prices(setting), rng)}
    classes = setting.choose(regions.FIVE[:3], regions.FIVE, regions.FIVE)
    return {"rows": regions.training_sizes(classes, training(setting), regions.prices(setting), rng)}


def protocol(setting: Setting) -> dict[str, Any]:
    return {
        "synthetic": [*size(setting), synthetic.DISTANCE, synthetic.PRICES, synthetic.TOLERANCE],
        "digits": [counts(setting), training(setting), regions.prices(setting), regions.FOUR, regions.FIVE],
    }


TITLE = "Redundant, many and grouped kernels: Li-MKL and CKL against L1-MKL (Govindaraj 2009, section 6)"
EXPERIMENT = Experiment("govindaraj", TITLE, cells, run, report, protocol)
