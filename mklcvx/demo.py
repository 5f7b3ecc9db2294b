"""The demonstration: every formulation on one real data set, side by side."""

from __future__ import annotations

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as RichProgress
from rich.table import Table

from .display import bars
from .formulations import SINGLE_TASKS
from .instance import Instance
from .kernels import Gaussian, KernelBank, Linear, Polynomial
from .preprocess import Preprocessing
from .solution import Solution
from .solving import solve

GROUPS = ("mean", "error", "worst")


def run_demo(samples: int, seed: int) -> bool:
    """Solve every formulation, print one table, and say whether every answer was certified."""
    console = Console()
    instance = breast_cancer(samples, seed)
    price = float(samples)
    rows: list[tuple[str, Solution]] = []
    columns = (TextColumn("{task.description:<12}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with RichProgress(*columns, console=Console(stderr=True), transient=True) as progress:
        work = progress.add_task("solving", total=len(SINGLE_TASKS))
        for formulation in SINGLE_TASKS:
            progress.update(work, description=formulation.name)
            problem = best_single(instance, price) if formulation.single_kernel else instance
            rows.append((formulation.name, solve(problem, formulation.name, C=price)))
            progress.advance(work)
    console.print(_table(rows, instance, samples))
    console.print(
        f"{instance.count} kernels in {len(GROUPS)} groups (mean, error, worst value of ten measurements of a cell "
        "nucleus): linear, quadratic and Gaussians. One bar per kernel: its weight.\n"
        "Every optimum lies within its certified gap: no solver has to be believed. "
        "Next: mklcvx explain l1, mklcvx list."
    )
    return all(solution.certified for _, solution in rows)


def breast_cancer(samples: int, seed: int) -> Instance:
    """Kernels of unit trace on the three groups of features, and held-out samples with their kernels."""
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
        scaling.train(raw),
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


def _table(rows: list[tuple[str, Solution]], instance: Instance, samples: int) -> Table:
    table = Table(title=f"Breast cancer, {samples} training samples, C = {samples}, kernels of unit trace", box=None)
    table.add_column("formulation")
    for column in ("optimum", "certified gap", "kernels used"):
        table.add_column(column, justify="right")
    table.add_column("kernel weights")
    table.add_column("held-out accuracy", justify="right")
    table.add_column("seconds", justify="right")
    for name, solution in rows:
        kernels = [instance.names.index(kernel) for kernel in solution.names]
        heights = np.zeros(instance.count)
        heights[kernels] = solution.weights
        assert instance.test_kernels is not None
        accuracy = np.mean(solution.predict(instance.test_kernels[kernels]) == instance.test_y)
        table.add_row(
            name,
            f"{solution.objective:.8f}",
            f"{max(solution.certificate.relative_gap, 0):.0e}" + ("" if solution.certified else " NOT CERTIFIED"),
            f"{len(solution.used())} of {len(kernels)}",
            bars(heights),
            f"{100 * accuracy:.1f} %",
            f"{solution.seconds:.2f}",
        )
    return table
