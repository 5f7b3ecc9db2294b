"""Data sets: what scikit-learn bundles, and the papers' UCI sets where their folder is beside the repository."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from measuring import Array

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "data"


def available(name: str) -> bool:
    return (FOLDER / f"{name}.csv").is_file()


def missing(names: tuple[str, ...]) -> list[str]:
    """What to tell about sets that are not there."""
    absent = [name for name in names if not available(name)]
    return [f"Skipped, since `../shared/data` does not hold them: {', '.join(absent)}.", ""] if absent else []


def uci(name: str) -> tuple[Array, Array]:
    """Features, and the target numbered in the order of its values, which may be words."""
    table = np.genfromtxt(FOLDER / f"{name}.csv", delimiter=",", skip_header=1, dtype=str)
    return table[:, :-1].astype(float), np.unique(table[:, -1], return_inverse=True)[1]


def bundled(name: str) -> tuple[Array, Array]:
    from sklearn import datasets

    features, target = getattr(datasets, f"load_{name}")(return_X_y=True)
    return np.asarray(features, dtype=float), np.asarray(target)


def standardised(train: Array, test: Array) -> tuple[Array, Array]:
    centre, spread = train.mean(axis=0), train.std(axis=0)
    used = spread > 0
    return (train[:, used] - centre[used]) / spread[used], (test[:, used] - centre[used]) / spread[used]
