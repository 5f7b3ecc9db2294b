"""What the estimators should do unless they are told otherwise: how to scale kernels, and in which units C is given.

    python validation/defaults.py [--data FOLDER] [--journal FILE] [--splits K] [--only NAME...] [-o FILE]

Ten data sets of the papers' tables (CSV files in FOLDER, or in the one that MKLCVX_DATA names; left out without) and
those that scikit-learn bundles, two banks of kernels on standardised features, random splits into at most 150
training and 400 test samples. Kernels are scaled in several ways, as they are or centred, and combined by `average`,
`l1` and `lp`; several classes are told apart one against the rest. C is in units of the kernels: the number times
1/(mean k(x, x) of all kernels), so that a common factor of the kernels changes nothing. Solved to a relative gap of
1e-4. The estimators of regression, of two stages and of hypergraphs are tried on less.

A journal keeps what is done, so that an interrupted run goes on where it ended.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_diabetes
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import mklcvx
from defaults_page import page
from mklcvx import HypergraphEmbedding, Instance, MKLClassifier, MKLRegressor, TwoStageMKL
from mklcvx.estimators.bank import FittedBank
from mklcvx.estimators.columns import Table
from mklcvx.problem.preprocessing import Preprocessing
from shared.datasets import BUNDLED, VARIABLE, load
from shared.running import completed, put

Array = NDArray[np.float64]

PAPERS = (
    "heart", "pima", "australian", "ionosphere", "sonar", "liver", "vertebral", "banana", "flaresolar", "ringnorm",
)  # fmt: skip
MIXED = ["gaussians", "linear", {"kernel": "polynomial", "degree": 2}, {"kernel": "polynomial", "degree": 3}]
BANKS: dict[str, Any] = {"gaussians": "gaussians", "mixed": MIXED}
STEPS: dict[str, tuple[bool, str | None]] = {
    "none": (False, None), "diagonal": (False, "diagonal"), "cosine": (False, "cosine"),
    "variance": (False, "variance"), "centred, none": (True, None), "centred, diagonal": (True, "diagonal"),
    "centred, cosine": (True, "cosine"),
}  # fmt: skip
FORMULATIONS: dict[str, dict[str, Any]] = {"average": {}, "l1": {}, "lp": {"p": 1.5}}
PRICES = (0.1, 1.0, 10.0, 100.0)
TRAIN, TEST, TOLERANCE = 150, 400, 1e-4


class Cell(NamedTuple):
    part: str
    data: str
    bank: str
    split: int


def cells(papers: bool, splits: int, only: Sequence[str] | None) -> list[Cell]:
    sets = [*(PAPERS if papers else ()), *BUNDLED]
    found = [Cell("scaling", name, bank, k) for name in sets for bank in BANKS for k in range(splits)]
    found += [Cell("default", name, "gaussians", k) for name in sets for k in range(2 * splits)]
    found += [Cell("regression", "diabetes", bank, k) for bank in BANKS for k in range(splits)]
    labelled = ["wine", "vertebral", "emotions"] if papers else ["wine"]
    found += [
        Cell(part, name, "mixed", k) for part in ("stages", "embedding") for name in labelled for k in range(splits)
    ]
    return [cell for cell in found if not only or cell.data in only or cell.part in only]


# ------------------------------------------------------------------------------------------------------------- samples
class Samples(NamedTuple):
    X: Array
    y: NDArray[Any]
    test_X: Array
    test_y: NDArray[Any]


def drawn(X: Array, y: NDArray[Any], split: int, classes: bool = True) -> Samples:
    """A random split, with standardised features; without those that are constant in training."""
    rows = np.arange(len(y))
    train, test = min(TRAIN, 2 * len(y) // 3), min(TEST, len(y) - min(TRAIN, 2 * len(y) // 3))
    sizes = {"train_size": train, "test_size": test, "random_state": split, "stratify": y if classes else None}
    chosen, held = train_test_split(rows, **sizes)
    used = np.ptp(X[chosen], axis=0) > 0
    scaler = StandardScaler().fit(X[chosen][:, used])
    return Samples(scaler.transform(X[chosen][:, used]), y[chosen], scaler.transform(X[held][:, used]), y[held])


def samples_of(cell: Cell, folder: Path | None) -> Samples:
    data = load(cell.data, folder)
    if data.classes is None:
        return drawn(data.X, data.labels, cell.split, classes=False)
    return drawn(data.X, data.classes, cell.split)


# ------------------------------------------------------------------------------------------------------------- cells
def scaling(cell: Cell, folder: Path | None) -> dict[str, Any]:
    """Accuracies for every way of scaling, every formulation and every C; of C = 1 as a number, too."""
    given = samples_of(cell, folder)
    bank = FittedBank(BANKS[cell.bank])
    bank.fit(Table(given.X, given.X), None, None)
    train, test, diagonal = bank.stack(len(given.X)), bank.cross(given.test_X).formed(), bank.diagonal(given.test_X)
    y, test_y, found = given.y, given.test_y, {}
    for name, (centre, normalise) in STEPS.items():
        steps = Preprocessing.from_options(centre, normalise).fit(train)
        kernels, new = steps.train(train), steps.test(test, diagonal)
        unit = 1 / float(np.einsum("mii->m", kernels).mean() / kernels.shape[1])
        for formulation, own in FORMULATIONS.items():
            prices = [unit * price for price in PRICES]
            found[f"{name} | {formulation}"] = accuracies(kernels, new, y, test_y, formulation, own, prices)
            if name == "none":
                found[f"number | {formulation}"] = accuracies(kernels, new, y, test_y, formulation, own, [1.0])
                traces = np.maximum(np.einsum("mii->m", kernels), np.finfo(float).tiny)[:, None, None]
                one = accuracies(kernels / traces, new / traces, y, test_y, formulation, own, [1.0])
                found[f"trace, number | {formulation}"] = one
    return found


def accuracies(
    kernels: Array, new: Array, y: NDArray[Any], test_y: NDArray[Any], formulation: str, own: dict[str, Any],
    prices: list[float],
) -> list[list[float]]:  # fmt: skip
    """Accuracy on the test samples, and the number of classes predicted there, for every C."""
    classes = np.unique(y)
    if formulation == "average":
        formulation, kernels, new = "svm", kernels.mean(axis=0)[None], new.mean(axis=0)[None]
    machines = classes[1:] if len(classes) == 2 else classes
    values = []
    for positive in machines:
        instance = Instance(kernels, np.where(y == positive, 1.0, -1.0))
        grid = {**{name: [value] for name, value in own.items()}, "C": prices}
        path = mklcvx.solve_path(instance, formulation, grid, tol=TOLERANCE, solver="interior")
        values.append([solution.decision_function(new) for solution in path.solutions])
    found = []
    for each in zip(*values, strict=True):
        chosen = (each[0] > 0).astype(int) if len(classes) == 2 else np.argmax(each, axis=0)
        found.append([float(np.mean(classes[chosen] == test_y)), len(np.unique(chosen))])
    return found


def default(cell: Cell, folder: Path | None) -> dict[str, Any]:
    """The estimator as it is without a word, and the average of the same kernels; their defaults are the package's."""
    given = samples_of(cell, folder)
    models = {"default": MKLClassifier(), "average": MKLClassifier("average")}
    return {name: one.fit(given.X, given.y).score(given.test_X, given.test_y) for name, one in models.items()}


def regression(cell: Cell, folder: Path | None) -> dict[str, Any]:
    """R² on the test samples of a standardised response."""
    X, y = load_diabetes(return_X_y=True)
    given = drawn(X, (y - y.mean()) / y.std(), cell.split, classes=False)
    found = {}
    warnings.simplefilter("ignore", UserWarning)  # what is tried is what the warnings are about
    for name, (centre, normalise) in STEPS.items():
        for formulation, own in FORMULATIONS.items():
            model = MKLRegressor(formulation, BANKS[cell.bank], centre=centre, normalise=normalise, **own)
            found[f"{name} | {formulation}"] = model.fit(given.X, given.y).score(given.test_X, given.test_y)
    return found


def stages(cell: Cell, folder: Path | None) -> dict[str, Any]:
    """Accuracy, or macro F1 of label sets, of the classifier of two stages."""
    return labelled(cell, folder, lambda **given: TwoStageMKL("alignment", MIXED, **given))


def embedding(cell: Cell, folder: Path | None) -> dict[str, Any]:
    """The same of support vector machines in the embedding."""
    return labelled(cell, folder, lambda **given: HypergraphEmbedding(kernels=MIXED, **given))


def labelled(cell: Cell, folder: Path | None, made: Callable[..., Any]) -> dict[str, Any]:
    given, found = samples_of(cell, folder), {}
    warnings.simplefilter("ignore", UserWarning)  # what is tried is what the warnings are about
    for name, (centre, normalise) in {**STEPS, "trace": (False, "trace"), "centred, trace": (True, "trace")}.items():
        model = made(centre=centre, normalise=normalise).fit(given.X, given.y)
        found[name] = judged(model, given)
    return found


def judged(model: Any, given: Samples) -> float:
    if not model.embeds:
        predicted = model.predict(given.test_X)
    else:
        Z, new = model.transform(given.X), model.transform(given.test_X)
        columns = given.y.reshape(len(given.y), -1)
        size = float(np.mean(Z**2) * Z.shape[1]) or 1.0
        machines = [SVC(kernel="linear", C=10 / size).fit(Z, column) for column in columns.T]
        predicted = np.column_stack([one.predict(new) for one in machines]).reshape(given.test_y.shape)
    if given.test_y.ndim == 2:
        return float(f1_score(given.test_y, predicted, average="macro", zero_division=0))
    return float(np.mean(predicted == given.test_y))


PARTS: dict[str, Callable[[Cell, Path | None], dict[str, Any]]] = {
    "scaling": scaling, "default": default, "regression": regression, "stages": stages,
    "embedding": embedding,
}  # fmt: skip


# ------------------------------------------------------------------------------------------------------------- running
def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, help="write the page here; printed unless given")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="CSV files of the papers' data sets")
    parser.add_argument("--journal", type=Path, help="file of results, to go on with an interrupted run")
    parser.add_argument("--splits", type=int, default=5, metavar="K", help="random splits of each data set")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these data sets or parts alone")
    asked = parser.parse_args(arguments)
    chosen = cells(asked.data is not None or VARIABLE in os.environ, asked.splits, asked.only)
    found = dict(completed(chosen, lambda cell: PARTS[cell.part](cell, asked.data), asked.journal))
    text = page(found, PRICES, (__doc__ or "").split("\n\n")[2])
    put(text, asked.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
