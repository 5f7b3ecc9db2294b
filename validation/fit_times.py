"""What a fit costs with many classes, beside scikit-learn and beside an older install.

    python validation/fit_times.py [--older FOLDER] [--rounds K] [--quick] [-o validation/fit_times.md]

The data are made here, after the protein folds of Ding and Dubchak (2001): 27 classes of unlike sizes, 700 samples, 12
views, a Gaussian kernel of each. Each is measured in a process of one BLAS thread; contestants take turns,
and the least time of each counts, for other work on the machine only adds to it. FOLDER holds an older mklcvx
(`pip install --target FOLDER`), whose times are the denominators of the first two rows; without it they are left out.
CPU time, but for the row of jobs, which is of wall time.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

CLASSES, SAMPLES, VIEWS = 27, 700, 12
SIGNAL = 0.1  # with which the average of the kernels tells apart 62 % of new samples, as of the protein folds
CHECKED = 30, 1000  # kernels and samples of the stack that is validated


class Size(NamedTuple):
    """Of the data: for a quick run all numbers are small."""

    classes: int = CLASSES
    samples: int = SAMPLES
    views: int = VIEWS
    checked: tuple[int, int] = CHECKED


RUNS = 3  # of a measurement
QUICK = Size(4, 60, 3, (3, 60))


def folds_of_proteins(size: Size, seed: int = 0) -> tuple[Array, NDArray[np.intp]]:
    """Gaussian kernels (n, n, M) of views that tell the classes apart to unlike degrees, and the classes."""
    random = np.random.default_rng(seed)
    shares = random.dirichlet(np.full(size.classes, 2.0))
    codes = np.append(np.repeat(np.arange(size.classes), 2), random.choice(size.classes, size.samples, p=shares))
    codes = random.permutation(codes[: size.samples])
    kernels = []
    for view in range(size.views):
        dimensions = int(random.integers(20, 80))
        centres = SIGNAL * (view % 4) * random.normal(size=(size.classes, dimensions))
        kernels.append(gaussian(centres[codes] + random.normal(size=(size.samples, dimensions))))
    return np.stack(kernels, axis=-1), codes


def gaussian(features: Array, relative: float = 1.0) -> Array:
    """exp(−γD²) with γ relative to the mean of D²."""
    squares = (features**2).sum(axis=1)
    distances = np.maximum(squares[:, None] + squares - 2 * features @ features.T, 0.0)
    distances = (distances + distances.T) / 2
    np.fill_diagonal(distances, 0.0)
    return np.asarray(np.exp(-relative * distances / distances.mean()))


# ------------------------------------------------------------------------------------------------- what is measured
def learned(formulation: str, jobs: int | None = None) -> Callable[[Size], Callable[[], Any]]:
    def prepared(size: Size) -> Callable[[], Any]:
        from mklcvx import MKLClassifier

        kernels, codes = folds_of_proteins(size)
        model = MKLClassifier(formulation, kernels="precomputed", C=1.0, n_jobs=jobs)
        model.fit(kernels[:40, :40], codes[:40])  # what is imported, and started, at the first fit
        return lambda: model.fit(kernels, codes)

    return prepared


def off_the_shelf(size: Size) -> Callable[[], Any]:
    """scikit-learn's machines, each class against the rest, on the average of the kernels."""
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.svm import SVC

    kernels, codes = folds_of_proteins(size)
    model = OneVsRestClassifier(SVC(kernel="precomputed", C=1.0))
    average = kernels.mean(axis=-1)
    return lambda: model.fit(average, codes)


def validated(size: Size) -> Callable[[], Any]:
    import scipy.linalg.lapack  # noqa: F401  # as after any solution

    from mklcvx import Instance

    count, samples = size.checked
    random = np.random.default_rng(0)
    features = random.normal(size=(samples, 20))
    kernels = np.stack([gaussian(features, 4.0**power) for power in np.linspace(-3, 3, count)])
    y = np.where(random.random(samples) < 0.5, -1, 1)
    return lambda: Instance(kernels, y)


MEASURED: dict[str, Callable[[Size], Callable[[], Any]]] = {
    "l1": learned("l1"),
    "validation": validated,
    "average": learned("average"),
    "SVC": off_the_shelf,
    "l1, one job": learned("l1", 1),
    "l1, two jobs": learned("l1", 2),
}


class Row(NamedTuple):
    """A ratio: what, how many times, and what it must be at most."""

    words: str
    ours: str
    theirs: str
    older: bool
    limit: float
    wall: bool = False


ROWS = (
    Row("`MKLClassifier(\"l1\")`: now / older", "l1", "l1", True, 0.5),
    Row("validation of 30 kernels of 1000 samples: now / older", "validation", "validation", True, 0.5),
    Row("`MKLClassifier(\"average\")` / scikit-learn's SVC, one versus rest", "average", "SVC", False, 3.0),
    Row("`n_jobs=2` / serial, wall time", "l1, two jobs", "l1, one job", False, 0.65, wall=True),
)  # fmt: skip


NOTES = """\
- Validation: kernels whose smallest eigenvalue single precision cannot see (n² 2⁻²⁴ of the mean diagonal entry) are
  factored in double precision, as before: of the 30 Gaussians, the wide ones. Kernels of a bank are not tested.
- `average`: what cannot be left out takes 0.17 s: the stack and its validation 0.07, LIBSVM 0.04, products of all
  kernels with each α 0.02 (at best, all classes at once), exact sums 0.04. LIBSVM alone, at any tolerance, stops at a
  gap of 1e-7, for it keeps kernels in single precision: a Newton step (3 ms a class) and a certificate follow.
- Jobs: the processes of joblib are there already. To start them costs a second or more, once. Two processes read
  through one memory: a machine takes 70 ms of a processor there, and 54 ms alone; 0.12 s are not shared.
"""


def child(name: str, size: Size, wall: bool) -> float:
    """The least seconds of a few runs in this process."""
    run, clock, seconds = MEASURED[name](size), time.perf_counter if wall else time.process_time, []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(RUNS):
            started = clock()
            run()
            seconds.append(clock() - started)
    return min(seconds)


def measured(name: str, row: Row, older: str | None, quick: bool) -> float:
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    if older is not None:
        environment["PYTHONPATH"] = older
    command = [sys.executable, __file__, "--child", name, *["--quick"] * quick, *["--wall"] * row.wall]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{name}: {done.stderr[-2000:]}")
    return float(done.stdout)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--older", help="folder of an older install")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="small data, to see that it runs")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--wall", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("-o", "--output", type=Path)
    asked = parser.parse_args(arguments)
    if asked.child:
        print(child(asked.child, QUICK if asked.quick else Size(), asked.wall))
        return 0
    lines = ["| | seconds | seconds of the other | ratio | at most |", "|---|---|---|---|---|"]
    for row in ROWS:
        if row.older and not asked.older:
            continue
        ours, theirs = [], []
        for _ in range(asked.rounds):
            ours.append(measured(row.ours, row, None, asked.quick))
            theirs.append(measured(row.theirs, row, asked.older if row.older else None, asked.quick))
        ratio = min(ours) / min(theirs)
        lines.append(f"| {row.words} | {min(ours):.2f} | {min(theirs):.2f} | {ratio:.2f} | {row.limit:g} |")
        print(lines[-1], flush=True)
    if asked.output:
        from mklcvx.io.writing import write_text  # an older install, which a child may have, has none

        parts = ["# What a fit costs", "", (__doc__ or "").strip(), "", *lines, "", NOTES]
        write_text(asked.output, "\n".join(parts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
