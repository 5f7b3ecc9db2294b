"""Regression on data that scikit-learn bundles: certified MKL against KernelRidge, SVR and himalaya, by nested folds.

Diabetes (Efron et al. 2004: 442 patients, ten features, progression of the disease after a year), with kernels by
groups of features; linnerud (20 men, three exercises, three measures of the body), with kernels by exercise, whose
weights all targets share.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import numpy as np
from sklearn.datasets import load_diabetes, load_linnerud
from sklearn.model_selection import KFold

from _harness import Cell, Experiment, Setting
from _views import FeatureViews, Rows, View, gaussians
from mklcvx.problem.kernels import Linear
from regression_contest import Contestant, Split, contest, inner_folds
from regression_machines import (
    FORMULATIONS,
    LOSSES,
    ROUGH,
    SEARCHES,
    TOLERANCE,
    himalaya,
    himalaya_is_installed,
    mean,
    multiple,
    named,
    ridge,
    roughly,
    support_vectors,
)
from regression_report import report

PRICES = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
MORE_PRICES = (*PRICES, 10.0, 30.0, 100.0)  # for single kernels, some of which are wide
# In standard deviations of the targets.
LOSS_GRIDS: dict[str, dict[str, tuple[float, ...]]] = {
    "squared": {},
    "epsilon_insensitive": {"epsilon": (0.1, 0.4)},
    "huber": {"delta": (0.5, 1.0)},
}
WIDTHS, WHOLE_WIDTHS = (0.25, 1.0), (0.0625, 0.25, 1.0)
DIABETES_GROUPS = {
    "age, sex": [0, 1],
    "body mass": [2],
    "blood pressure": [3],
    "cholesterol": [4, 5, 6, 7],
    "triglycerides": [8],
    "glucose": [9],
}
OUTER = 5
WHO = ("mklcvx", "scikit-learn", "himalaya")


def repeats(setting: Setting) -> dict[str, int]:
    return setting.choose({"linnerud": 1}, {"diabetes": 2, "linnerud": 3}, {"diabetes": 10, "linnerud": 20})


def inner(setting: Setting) -> int:
    return setting.choose(2, 3, 5)


def prices(setting: Setting, who: str = "mklcvx") -> tuple[float, ...]:
    return setting.choose((0.01, 0.1), *2 * [PRICES if who == "mklcvx" else MORE_PRICES])


def cells(setting: Setting) -> list[Cell]:
    outer = range(setting.choose(2, OUTER, OUTER))
    return [
        {"data": name, "repeat": repeat, "fold": fold, "who": who}
        for name, count in repeats(setting).items()
        for repeat in range(count)
        for fold in outer
        for who in WHO
    ]


# ---------------------------------------------------------------------------------------------------------------- data
def data_of(name: str) -> FeatureViews:
    """Linear and Gaussian kernels on every group, and on all features together, centred."""
    if name == "diabetes":
        x, y = load_diabetes(return_X_y=True, scaled=False)
        groups = DIABETES_GROUPS
    else:
        found = load_linnerud()
        x, y = found.data, found.target
        groups = {exercise.lower(): [j] for j, exercise in enumerate(found.feature_names)}
    views: list[View] = [(group, columns, [Linear(), *gaussians(*WIDTHS)]) for group, columns in groups.items()]
    views.append(("all features", list(range(x.shape[1])), [Linear(), *gaussians(*WHOLE_WIDTHS)]))
    return FeatureViews(x, y.reshape(len(x), -1), views, centred=True)


def outer_split(cell: Cell, setting: Setting, samples: int) -> tuple[Rows, Rows]:
    """Training and test samples, by data set, repeat and fold alone."""
    seed = int(setting.rng("regression", cell["data"], cell["repeat"]).integers(2**31))
    return list(KFold(OUTER, shuffle=True, random_state=seed).split(np.zeros(samples)))[cell["fold"]]


# ------------------------------------------------------------------------------------------------------------- running
def run(cell: Cell, setting: Setting) -> dict[str, Any]:
    data = data_of(cell["data"])
    train, test = outer_split(cell, setting, len(data.features))
    folds = inner_folds(inner(setting), cell["repeat"])
    rows = contest(contestants(cell, setting, data, folds), data, train, test, folds)
    found: dict[str, Any] = {"rows": rows, "test": len(test), "train": len(train)}
    if cell["who"] == "himalaya":
        found["version"] = version("himalaya")
    if cell["who"] == "mklcvx":
        chosen = {row["method"]: row["parameters"][0] for row in rows}
        split = Split.of(data, train, test)
        found["rough"] = [line for loss in LOSSES for line in roughly(split, "l1", loss, chosen[named("l1", loss)])]
    return found


def contestants(cell: Cell, setting: Setting, data: FeatureViews, folds: KFold) -> list[Contestant]:
    grids = {loss: {**LOSS_GRIDS[loss], "C": prices(setting, cell["who"])} for loss in LOSSES}
    if cell["who"] == "mklcvx":
        made = [multiple(formulation, loss, grids[loss]) for loss in LOSSES for formulation in FORMULATIONS]
        if data.targets.shape[1] > 1:
            made += [multiple(formulation, "squared", grids["squared"], joint=False) for formulation in FORMULATIONS]
        return made
    if cell["who"] == "scikit-learn":
        whole = [m for m, group in enumerate(data.groups) if group == data.groups[-1]]
        return [mean(), ridge(whole, grids["squared"]), support_vectors(whole, grids["epsilon_insensitive"])]
    return [himalaya(name, prices(setting, cell["who"]), folds, cell["repeat"]) for name in SEARCHES]


def protocol(setting: Setting) -> dict[str, Any]:
    return {
        "prices": {who: prices(setting, who) for who in WHO},
        "losses": LOSS_GRIDS,
        "formulations": FORMULATIONS,
        "widths": [WIDTHS, WHOLE_WIDTHS],
        "groups": DIABETES_GROUPS,
        "folds": [OUTER, inner(setting)],
        "tolerances": [TOLERANCE, *ROUGH],
        "searches": SEARCHES,
    }


EXPERIMENT = Experiment(
    "regression",
    "Regression: certified MKL, KernelRidge, SVR and himalaya on diabetes and linnerud",
    cells,
    run,
    report,
    protocol,
    left_out=lambda cell: cell["who"] == "himalaya" and not himalaya_is_installed(),
)
