"""The demonstration: every formulation of a single task on one real data set, then the families on another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from ..certificate.solution import Solution
from ..formulations import FORMULATIONS, SINGLE_TASKS, Formulation
from ..io.writing import write_text
from ..problem.factors import in_factors
from ..problem.instance import Instance
from ..problem.kernels import Array, Gaussian, Kernel, KernelBank, Linear, Polynomial
from ..problem.preprocessing import Preprocessing
from ..reports.pages import Gallery, demo_page
from ..solvers.second_stage import f1_scores, second_stage
from ..solvers.solving import solve
from ..verification.judge import Report, verify
from .display import Progress, bars

GROUPS = ("mean", "error", "worst")
WIDTH = 118
LAM = {"two stages": 0.01}  # λ of the families, else 1


def run_demo(samples: int, seed: int, html: Path | None = None) -> bool:
    """Solve every formulation, print two tables, and return whether every answer was certified; with `html`, write a
    page, too."""
    console = Console()
    if console.width < WIDTH:  # wrapped lines are better than truncated cells
        console = Console(width=WIDTH)
    single, many, price = breast_cancer(samples, seed), digits(samples, seed), float(samples)
    with Progress(False, total=len(FORMULATIONS)) as progress:

        def solved(formulation: Formulation, problem: Instance, **given: Any) -> Solution:
            progress.say(formulation.name)
            known = {name: value for name, value in given.items() if name in formulation.parameter_names}
            solution = solve(problem, formulation.name, **known)
            progress.count(formulation.name)
            return solution

        rows = [solved(f, best_single(single, price) if f.single_kernel else single, C=price) for f in SINGLE_TASKS]
        families = [solved(f, many, C=1.0, lam=LAM.get(f.family, 1.0)) for f in FORMULATIONS if f not in SINGLE_TASKS]
    first, second = _galleries(single, rows, many, families)
    title = f"Breast cancer, {samples} training samples, C = {samples}, kernels of unit trace"
    console.print(_table(title, first, single))
    console.print(
        f"{single.count} kernels in {len(GROUPS)} groups (mean, error, worst value of ten measurements of a cell "
        "nucleus): linear, quadratic and Gaussians. One bar per kernel: its weight.\n"
    )
    title = f"Digits, {samples} training samples, {len(many.targets.names)} labels, kernels centred, unit variance"
    console.print(_table(title, second, many))
    console.print(
        f"{many.count} kernels: Gaussians on the upper half, the lower half and the whole of the image. The kernels of "
        "two stages and of hypergraphs go to one SVM per label.\n"
        "Every optimum lies within its certified gap: no solver has to be believed.\n"
    )
    wrong = caught(single, next(row for row in rows if row.formulation == "l1"), price)
    words = wrong.diagnosis.words if wrong.diagnosis is not None else "no diagnosis"
    console.print(f"A wrong answer to l1, its weights scaled to length one, is {wrong.verdict}: {words}.")
    if html is not None:
        write_text(html, demo_page([first, second], single, wrong))
        console.print(f"All of it as a page: {html}", markup=False)
    console.print("Next: mklcvx explain l1, mklcvx list, mklcvx verify --help.")
    return all(solution.certified for solution in (*rows, *families))


def _galleries(single: Instance, rows: list[Solution], many: Instance, families: list[Solution]) -> tuple[Gallery, ...]:
    kinds = "linear, quadratic and Gaussian kernels of unit trace on three groups of measurements of cell nuclei"
    views = "Gaussian kernels, centred, of unit variance, on the upper half, the lower half and the whole of the images"
    size = f"{single.samples} training samples"
    accuracies, scores = [_accuracy(row, single) for row in rows], [_f1(row, many) for row in families]
    return (
        Gallery("single", "Breast cancer, one label", "accuracy", rows, accuracies, f"{size}; {kinds}."),
        Gallery("families", "Digits, five labels", "macro / micro F1", families, scores, f"{size}; {views}."),
    )


def caught(instance: Instance, optimum: Solution, price: float) -> Report:
    """Return the verdict on a wrong answer: weights scaled to unit length, as in some other codes."""
    wrong = optimum.weights / np.linalg.norm(optimum.weights)
    return verify(instance, "l1", parameters={"C": price}, weights=wrong, alpha=optimum.alpha)


def digits(samples: int, seed: int) -> Instance:
    """Handwritten digits 0 to 3; each is a label, and a fifth label says whether the image is bright."""
    from sklearn.datasets import load_digits

    images, digit = load_digits(return_X_y=True)
    order = np.random.default_rng(seed).permutation(np.flatnonzero(digit < 4))
    train, test = order[:samples], order[samples : 5 * samples]
    images = images / 16
    bright = images.mean(axis=1) > np.median(images.mean(axis=1))
    labels = np.column_stack([*(digit == d for d in range(4)), bright])
    views = {"upper": images[:, :32], "lower": images[:, 32:], "whole": images}
    kernels, held_out = _kernels([Gaussian(0.1), Gaussian(1.0)], views, train, test, centre=True, normalise="variance")
    names = ["zero", "one", "two", "three", "bright"]
    return Instance(kernels, labels=labels[train], label_names=names, test_labels=labels[test], **held_out)


def breast_cancer(samples: int, seed: int) -> Instance:
    """Kernels of unit trace on the three groups of features, and held-out samples with their kernels. The kernels are
    given by factors, without which norms between groups of kernels cannot be certified."""
    from sklearn.datasets import load_breast_cancer

    features, target = load_breast_cancer(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(target))
    train, test = order[:samples], order[samples:]
    mean, deviation = features[train].mean(axis=0), features[train].std(axis=0)
    features = (features - mean) / np.where(deviation > 0, deviation, 1.0)
    labels = np.where(target == 1, 1, -1)
    kinds = [Linear(), Polynomial(2), Gaussian(0.02), Gaussian(0.2)]
    views = {group: features[:, 10 * j : 10 * j + 10] for j, group in enumerate(GROUPS)}
    kernels, held_out = _kernels(kinds, views, train, test, normalise="trace")
    groups = np.repeat(np.arange(3), len(kinds))
    return Instance(in_factors(kernels), labels[train], groups=groups, test_y=labels[test], **held_out)


def _kernels(
    kinds: Sequence[Kernel], views: Mapping[str, Array], train: NDArray[Any], test: NDArray[Any], **scaling: Any
) -> tuple[Array, dict[str, Any]]:
    """Return the scaled kernels of all views, and what `Instance` takes for names and held-out samples."""
    banks = {view: KernelBank(kinds).fit(x[train]) for view, x in views.items()}
    raw = np.concatenate([bank.stack() for bank in banks.values()])
    raw_test = np.concatenate([bank.stack(views[view][test]) for view, bank in banks.items()])
    steps = Preprocessing.from_options(**scaling).fit(raw)
    names = [f"{view} {name}" for view, bank in banks.items() for name in bank.names]
    return steps.train(raw), {"test_kernels": steps.test(raw_test), "names": names}


def best_single(instance: Instance, price: float) -> Instance:
    """Return the instance with the single kernel whose SVM has the least optimal value."""
    singles = [instance.select([m]) for m in range(instance.count)]
    return min(singles, key=lambda single: solve(single, "svm", C=price).objective)


def _table(title: str, gallery: Gallery, instance: Instance) -> Table:
    table, score = Table(title=title, box=None), f"held-out {gallery.score}"
    for column in ("formulation", "optimum", "certified gap", "kernels used", "kernel weights", score, "seconds"):
        table.add_column(column, justify="left" if column in ("formulation", "kernel weights") else "right")
    for solution, reached in zip(gallery.solutions, gallery.scores, strict=True):
        gap = f"{solution.certificate.relative_gap:.0e}" + ("" if solution.certified else " NOT CERTIFIED")
        used = f"{len(solution.used())} of {len(solution.weights)}"
        heights = np.zeros(instance.count)
        heights[_places(solution, instance)] = solution.weights
        cells = f"{solution.objective:.8f}", gap, used, bars(heights), reached, f"{solution.seconds:.2f}"
        table.add_row(solution.formulation, *cells)
    return table


def _places(solution: Solution, instance: Instance) -> list[int]:
    return [instance.names.index(kernel) for kernel in solution.names]


def _accuracy(solution: Solution, instance: Instance) -> str:
    assert instance.test_kernels is not None
    predicted = solution.predict(instance.test_kernels[_places(solution, instance)])
    return f"{100 * np.mean(predicted == instance.test_y):.1f} %"


def _f1(solution: Solution, instance: Instance) -> str:
    assert instance.test_kernels is not None
    assert instance.test_targets is not None
    machine = second_stage(instance, solution, C=1.0) if solution.embeds else solution
    macro, micro = f1_scores(instance.test_targets, machine.predict(instance.test_kernels))
    return f"{macro:.3f} / {micro:.3f}"
