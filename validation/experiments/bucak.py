"""Bucak et al. 2010, Table 1, in kind: precision and cost of kernels shared by all classes, on digits and emotions."""

from __future__ import annotations

from typing import Any

import numpy as np

from _harness import Cell, Experiment, Setting
from bucak_contest import CONTESTANTS, FOLDS, contest
from bucak_learning import GAP, MOVED
from bucak_report import report
from label_views import LabelViews, digit_classes, emotions

PRICES = (0.1, 1.0, 10.0)
# Classes, and samples of each digit for training and test; with 30, as Caltech-101 there, most areas exceed 0.99.
DIGITS = {"digits": (10, 15, 15), "digits, 55 classes": (55, 15, 15), "digits, quick": (4, 6, 6)}


def prices(setting: Setting) -> tuple[float, ...]:
    return setting.choose((10.0,), PRICES, (0.01, 0.1, 1.0, 10.0, 100.0))


def cells(setting: Setting) -> list[Cell]:
    splits = setting.choose({"digits, quick": 1}, {"digits": 10, "emotions": 10, "digits, 55 classes": 5}, {})
    splits = splits or {"digits": 20, "emotions": 20, "digits, 55 classes": 20}
    return [{"data": name, "split": split} for name, count in splits.items() for split in range(count)]


def run(cell: Cell, setting: Setting) -> dict[str, Any]:
    rng = setting.rng("bucak", cell["data"], cell["split"])
    if cell["data"] == "emotions":
        data = emotions(setting, centred=True)
        order = rng.permutation(len(data.labels))
        return contest(data, order[: len(order) // 2], order[len(order) // 2 :], prices(setting))
    classes, train, test = DIGITS[cell["data"]]
    data = digit_classes(setting, classes)
    members = [rng.permutation(rows) for rows in by_digit(data)]
    first, second = ([m[a:b] for m in members] for a, b in ((0, train), (train, train + test)))
    return contest(data, np.concatenate(first), np.concatenate(second), prices(setting))


def by_digit(data: LabelViews) -> list[Any]:
    """The samples of each digit; the first ten classes are the digits."""
    return [np.flatnonzero(column) for column in data.labels[:, :10].T]


def protocol(setting: Setting) -> dict[str, Any]:
    rivals = [[c.name, c.formulation, c.solver, c.varied, c.steps] for c in CONTESTANTS]
    return {"prices": prices(setting), "digits": DIGITS, "contest": [FOLDS, GAP, MOVED], "contestants": rivals}


def needs(setting: Setting) -> tuple[str, ...]:
    return setting.choose((), ("emotions",), ("emotions",))


TITLE = "One kernel combination for all classes: precision and cost (Bucak et al. 2010, Table 1, in kind)"
EXPERIMENT = Experiment("bucak", TITLE, cells, run, report, protocol, needs)
