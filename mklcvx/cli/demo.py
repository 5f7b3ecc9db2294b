"""The demonstration: every formulation of a single task on one real data set, then the families on another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as RichProgress
from rich.table import Table

from ..certificate.solution import Solution
from ..formulations import FORMULATIONS, SINGLE_TASKS, Formulation
from ..problem.factors import in_factors
from ..problem.instance import Instance
from ..problem.kernels import Gaussian, KernelBank, Linear, Polynomial
from ..problem.preprocessing import Preprocessing
from ..solvers.second_stage import f1_scores, second_stage
from ..solvers.solving import solve
from ..verification.judge import Report, verify
from .display import bars

Array = NDArray[np.float64]

GROUPS = ("mean", "error", "worst")
WIDTH = 118
SETTINGS: dict[str, dict[str, float]] = {
    "many labels": {"C": 1.0},
    "two stages": {"C": 1.0, "lam": 0.01},
    "hypergraph": {"lam": 1.0},
}


def run_demo(samples: int, seed: int, html: Path | None = None) -> bool:
    """Solve every formulation, print two tables, and say whether every answer was certified; `html` is where to write
    the page of it."""
    console = Console()
    if console.width < WIDTH:  # a table that the terminal wraps says more than one that is cut
        console = Console(width=WIDTH)
    single, many = breast_cancer(samples, seed), digits(samples, seed)
    columns = (TextColumn("{task.description:<17}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with RichProgress(*columns, console=Console(stderr=True), transient=True) as progress:
        work = progress.add_task("solving", total=len(FORMULATIONS))

        def solved(formulation: Formulation, problem: Instance, **given: Any) -> Solution:
            progress.update(work, description=formulation.name)
            solution = solve(problem, formulation.name, **given)
            progress.advance(work)
            return solution

        price = float(samples)
        rows = [solved(f, best_single(single, price) if f.single_kernel else single, C=price) for f in SINGLE_TASKS]
        families = [solved(f, many, **_settings(f)) for f in FORMULATIONS if f not in SINGLE_TASKS]
    console.print(_single_table(rows, single, samples))
    console.print(
        f"{single.count} kernels in {len(GROUPS)} groups (mean, error, worst value of ten measurements of a cell "
        "nucleus): linear, quadratic and Gaussians. One bar per kernel: its weight.\n"
    )
    console.print(_family_table(families, many, samples))
    console.print(
        f"{many.count} kernels: Gaussians on the upper half, the lower half and the whole of the image. The kernels of "
        "two stages and of hypergraphs go to one SVM per label.\n"
        "Every optimum lies within its certified gap: no solver has to be believed.\n"
    )
    wrong = caught(single, next(row for row in rows if row.formulation == "l1"), price)
    words = wrong.diagnosis.words if wrong.diagnosis is not None else "no diagnosis"
    console.print(f"A wrong answer to l1, its weights scaled to length one, is {wrong.verdict}: {words}.")
    if html is not None:
        _save_page(html, single, rows, many, families, wrong)
        console.print(f"All of it as a page: {html}", markup=False)
    console.print("Next: mklcvx explain l1, mklcvx list, mklcvx verify --help.")
    return all(solution.certified for solution in (*rows, *families))


def caught(instance: Instance, optimum: Solution, price: float) -> Report:
    """A wrong answer, judged: weights as another code normalises them."""
    wrong = optimum.weights / np.linalg.norm(optimum.weights)
    return verify(instance, "l1", parameters={"C": price}, weights=wrong, alpha=optimum.alpha)


def _save_page(
    path: Path, single: Instance, rows: list[Solution], many: Instance, families: list[Solution], wrong: Report
) -> None:
    from ..reports.pages import demo_page, save
    from ..reports.pages.demonstration import Gallery, Scored

    singles = [Scored(row, _accuracy(row, single)) for row in rows]
    scored = [Scored(row, _f1(row, many)) for row in families]
    kinds = "linear, quadratic and Gaussian kernels of unit trace on three groups of measurements of cell nuclei"
    views = "Gaussian kernels, centred, of unit variance, on the upper half, the lower half and the whole of the images"
    size = f"{single.samples} training samples"
    galleries = [
        Gallery("single", "Breast cancer, one label", "accuracy", singles, f"{size}; {kinds}."),
        Gallery("families", "Digits, five labels", "macro / micro F1", scored, f"{size}; {views}."),
    ]
    save(path, demo_page(galleries, single, wrong))


def _settings(formulation: Formulation) -> dict[str, float]:
    settings = SETTINGS[formulation.family]
    return {name: value for name, value in settings.items() if name in formulation.parameter_names}


def digits(samples: int, seed: int) -> Instance:
    """Handwritten digits 0 to 3; each is a label, and a fifth label says whether the image is bright."""
    from sklearn.datasets import load_digits

    images, digit = load_digits(return_X_y=True)
    order = np.random.default_rng(seed).permutation(np.flatnonzero(digit < 4))
    train, test = order[:samples], order[samples : 5 * samples]
    images = images / 16
    bright = images.mean(axis=1) > np.median(images.mean(axis=1))
    labels = np.column_stack([*(digit == d for d in range(4)), bright])
    views = {"upper": slice(0, 32), "lower": slice(32, 64), "whole": slice(0, 64)}
    banks = {name: KernelBank([Gaussian(0.1), Gaussian(1.0)]).fit(images[train, view]) for name, view in views.items()}
    raw = np.concatenate([bank.stack() for bank in banks.values()])
    raw_test = np.concatenate([banks[name].stack(images[test, view]) for name, view in views.items()])
    scaling = Preprocessing.from_options(centre=True, normalise="variance").fit(raw)
    return Instance(
        scaling.train(raw),
        labels=labels[train],
        label_names=["zero", "one", "two", "three", "bright"],
        names=[f"{view} {name}" for view, bank in banks.items() for name in bank.names],
        test_kernels=scaling.test(raw_test),
        test_labels=labels[test],
    )


def breast_cancer(samples: int, seed: int) -> Instance:
    """Kernels of unit trace on the three groups of features, and held-out samples with their kernels. They are given by
    factors: norms between groups of kernels are certified for nothing less."""
    from sklearn.datasets import load_breast_cancer

    features, target = load_breast_cancer(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(target))
    train, test = order[:samples], order[samples:]
    mean, deviation = features[train].mean(axis=0), features[train].std(axis=0)
    features = (features - mean) / np.where(deviation > 0, deviation, 1.0)
    labels = np.where(target == 1, 1, -1)
    kinds = [Linear(), Polynomial(2), Gaussian(0.02), Gaussian(0.2)]
    banks = [KernelBank(kinds).fit(features[train, 10 * j : 10 * j + 10]) for j in range(3)]
    raw = np.concatenate([bank.stack() for bank in banks])
    raw_test = np.concatenate([bank.stack(features[test, 10 * j : 10 * j + 10]) for j, bank in enumerate(banks)])
    scaling = Preprocessing.from_options(normalise="trace").fit(raw)
    return Instance(
        in_factors(scaling.train(raw)),
        labels[train],
        groups=np.repeat(np.arange(3), len(kinds)),
        names=[f"{group} {name}" for group, bank in zip(GROUPS, banks, strict=True) for name in bank.names],
        test_kernels=scaling.test(raw_test),
        test_y=labels[test],
    )


def best_single(instance: Instance, price: float) -> Instance:
    """The one kernel with the least SVM optimum."""
    singles = [instance.select([m]) for m in range(instance.count)]
    return min(singles, key=lambda single: solve(single, "svm", C=price).objective)


def _table(title: str, score: str) -> Table:
    table = Table(title=title, box=None)
    table.add_column("formulation")
    for column in ("optimum", "certified gap", "kernels used"):
        table.add_column(column, justify="right")
    table.add_column("kernel weights")
    table.add_column(score, justify="right")
    table.add_column("seconds", justify="right")
    return table


def _cells(solution: Solution, heights: Array) -> list[str]:
    gap = f"{solution.certificate.relative_gap:.0e}" + ("" if solution.certified else " NOT CERTIFIED")
    used = f"{len(solution.used())} of {len(solution.weights)}"
    return [solution.formulation, f"{solution.objective:.8f}", gap, used, bars(heights)]


def _single_table(rows: list[Solution], instance: Instance, samples: int) -> Table:
    title = f"Breast cancer, {samples} training samples, C = {samples}, kernels of unit trace"
    table = _table(title, "held-out accuracy")
    for solution in rows:
        heights = np.zeros(instance.count)
        heights[_places(solution, instance)] = solution.weights
        table.add_row(*_cells(solution, heights), _accuracy(solution, instance), f"{solution.seconds:.2f}")
    return table


def _places(solution: Solution, instance: Instance) -> list[int]:
    return [instance.names.index(kernel) for kernel in solution.names]


def _accuracy(solution: Solution, instance: Instance) -> str:
    assert instance.test_kernels is not None
    predicted = solution.predict(instance.test_kernels[_places(solution, instance)])
    return f"{100 * np.mean(predicted == instance.test_y):.1f} %"


def _family_table(rows: list[Solution], instance: Instance, samples: int) -> Table:
    title = f"Digits, {samples} training samples, {len(instance.targets.names)} labels, kernels centred, unit variance"
    table = _table(title, "held-out macro / micro F1")
    for solution in rows:
        table.add_row(*_cells(solution, solution.weights), _f1(solution, instance), f"{solution.seconds:.2f}")
    return table


def _f1(solution: Solution, instance: Instance) -> str:
    assert instance.test_kernels is not None
    assert instance.test_targets is not None
    machine = second_stage(instance, solution, C=1.0) if solution.embeds else solution
    macro, micro = f1_scores(instance.test_targets, machine.predict(instance.test_kernels))
    return f"{macro:.3f} / {micro:.3f}"
