"""What the estimators should do unless they are told otherwise: how to scale kernels, and in which units C is given.

    python validation/defaults.py [--data FOLDER] [--journal FILE] [--splits K] [--only NAME...] [-o FILE]

Ten data sets of the papers' tables (CSV files in FOLDER, or in the one that MKLCVX_DATA names; left out without) and
those that scikit-learn bundles, two banks of kernels on standardised features, random splits into at most 150
training and 400 test samples. Kernels are scaled in several ways, as they are or centred, and combined by `average`,
`l1` and `lp`; several classes are told apart one against the rest. C is in units of the kernels: the number times
1/(mean k(x, x) of all kernels), so that a common factor of the kernels changes nothing. Solved to a relative gap of
1e-4. The estimators of regression, of two stages and of hypergraphs, and the zoo's kernels, are tried on less.

A journal keeps what is done, so that an interrupted run goes on where it ended.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from sklearn.datasets import load_diabetes
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import mklcvx
from defaults_page import page
from mklcvx import HypergraphEmbedding, InputError, Instance, MKLClassifier, MKLRegressor, TwoStageMKL, zoo
from mklcvx.estimators.bank import FittedBank
from mklcvx.estimators.columns import Table
from mklcvx.io.journals import add_line, records
from mklcvx.io.writing import write_text
from mklcvx.problem.low_rank import dense
from mklcvx.problem.preprocessing import Preprocessing
from mklcvx.zoo.data import BUNDLED, VARIABLE, load

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
ZOO_FOLDS, SMALLEST = 4, 10  # folds, and samples of each class that an instance of the zoo must have


class Cell(NamedTuple):
    part: str
    data: str
    bank: str
    split: int


def cells(papers: bool, splits: int, only: Sequence[str] | None) -> list[Cell]:
    sets = [*(PAPERS if papers else ()), *BUNDLED]
    found = [Cell("scaling", name, bank, k) for name in sets for bank in BANKS for k in range(splits)]
    found += [Cell("default", name, "gaussians", k) for name in sets for k in range(2 * splits)]
    found += [Cell("zoo", name, "", 0) for name in zoo_names()] if not only or "zoo" in only else []
    found += [Cell("regression", "diabetes", bank, k) for bank in BANKS for k in range(splits)]
    labelled = ["wine", "vertebral", "emotions"] if papers else ["wine"]
    found += [
        Cell(part, name, "mixed", k) for part in ("stages", "embedding") for name in labelled for k in range(splits)
    ]
    return [cell for cell in found if not only or cell.data in only or cell.part in only]


def zoo_names() -> list[str]:
    """Instances with two classes, ten samples of each at least, whose kernels are more than one."""
    ours = []
    for specimen in zoo.SPECIMENS:
        instance = specimen.instance()
        if instance.targets.kind == "y" and instance.count > 1 and np.bincount(instance.y > 0).min() >= SMALLEST:
            ours.append(specimen.name)
    return ours


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
    bank = FittedBank(BANKS[cell.bank]).fit(Table(given.X, given.X), None, None)
    train, test = bank.stack(len(given.X)), bank.cross(given.test_X).formed()
    return compared(train, test, bank.diagonal(given.test_X), given.y, given.test_y)


def compared(train: Array, test: Array, diagonal: Array, y: NDArray[Any], test_y: NDArray[Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, (centre, normalise) in STEPS.items():
        try:
            steps = Preprocessing.from_options(centre, normalise).fit(train)
        except InputError:  # a kernel of the zoo that is zero, or constant
            continue
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


def of_zoo(cell: Cell, folder: Path | None) -> dict[str, Any]:
    """The same on folds of an instance, whose kernels are what they are."""
    instance = zoo.specimen(cell.data).instance()
    kernels, y = dense(instance.kernels), np.asarray(instance.y)
    total: dict[str, Any] = {}
    for train, held in StratifiedKFold(ZOO_FOLDS, shuffle=True, random_state=0).split(y, y):
        diagonal = np.stack([np.diagonal(kernel)[held] for kernel in kernels])
        parts = kernels[:, train][:, :, train], kernels[:, held][:, :, train], diagonal, y[train], y[held]
        for name, rows in compared(*parts).items():
            total[name] = total.get(name, 0) + np.array(rows) / ZOO_FOLDS
    return {name: rows.tolist() for name, rows in total.items()}


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
    "scaling": scaling, "default": default, "zoo": of_zoo, "regression": regression, "stages": stages,
    "embedding": embedding,
}  # fmt: skip


# ------------------------------------------------------------------------------------------------------------- running
def known(journal: Path | None) -> dict[Cell, dict[str, Any]]:
    rows = [] if journal is None else records(journal)
    return {Cell(*row["cell"]): row["result"] for row in rows}


def completed(
    chosen: Sequence[Cell], folder: Path | None, journal: Path | None
) -> Iterator[tuple[Cell, dict[str, Any]]]:
    done, console = known(journal), Console(stderr=True)
    for cell in track(chosen, "fitting", console=console, disable=not console.is_terminal):
        if cell not in done:
            done[cell] = PARTS[cell.part](cell, folder)
            if journal is not None:
                add_line(journal, {"cell": cell, "result": done[cell]})
        yield cell, done[cell]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, help="write the page here; printed unless given")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="CSV files of the papers' data sets")
    parser.add_argument("--journal", type=Path, help="file of results, to go on with an interrupted run")
    parser.add_argument("--splits", type=int, default=5, metavar="K", help="random splits of each data set")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these data sets or parts alone")
    asked = parser.parse_args(arguments)
    chosen = cells(asked.data is not None or VARIABLE in os.environ, asked.splits, asked.only)
    text = page(dict(completed(chosen, asked.data, asked.journal)), PRICES, (__doc__ or "").split("\n\n")[2])
    if asked.output is None:
        sys.stdout.write(text)
    else:
        write_text(asked.output, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
