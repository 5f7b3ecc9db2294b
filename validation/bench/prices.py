"""What a fit is worth: the engine in LIBSVM fits, over data sets and C.

A LIBSVM fit is no fixed unit: on the same n it takes three to ten times longer where classes overlap and C is large,
and a pass over the kernels takes the same. So one ratio says little, and this table has many.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import problems
from jobs import Job, Result, Study
from shared.tables import shown, table

DATA = ("breast_cancer", "digits", "overlapping", "moons", "ringnorm")


def jobs(quick: bool, externals: Sequence[str]) -> list[Job]:
    sizes = [(40, 6)] if quick else [(300, 20), (1000, 30)]
    made = []
    for n, count in sizes:
        for data in DATA[:1] if quick else DATA:
            for price in (1.0,) if quick else (1.0, 10.0, 100.0):
                if not (data == "breast_cancer" and n > 569):
                    labels = {"data": data, "C": price}
                    problem = partial(problems.named, data, n, count)
                    made.append(Job(labels, problem, ["interior"], given={"C": price}, rounds=3))
    return made


def study(results: list[Result], folder: Path) -> Study:
    cells = []
    for result in results:
        found, labels = result.benchmark, result.job.labels
        own = result.row("interior")
        assert own is not None
        about = [labels["data"], str(found.samples), str(found.count), f"{labels['C']:g}", f"{1e3 * found.fit:.2f}"]
        gap = "–" if own.gap is None else f"{own.gap:.0e}"
        cells.append([*about, shown(found.fits(own), missing="–"), gap, str(own.iterations)])
    header = ("data", "n", "M", "C", "fit, ms", "interior, fits", "gap", "steps")
    lines = [" ".join((__doc__ or "").split("\n\n")[1].split()), "", *table(header, cells)]
    return Study("What a fit is worth: `l1` over data sets and C", lines, results)
