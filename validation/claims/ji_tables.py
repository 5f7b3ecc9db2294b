"""Ji et al. 2008, Section 5: what the text says of Tables 2 and 3, counted from their printed numbers."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from claim import Measured, claims_of
from ji_shared import Array
from shared.printed import printed_rows

# Columns: 20, 30, 40 labels, each with 1000, 1500, 2000 image sets.
MACRO, MICRO = printed_rows("ji_macro"), printed_rows("ji_micro")
METHODS = ("SILP", "APP")
ALMOST_ALL = 0.1  # exceptions that "almost all" may have


def row(name: str) -> Array:
    """The macro and the micro scores of a row, 18 cells."""
    return np.array([*MACRO[name], *MICRO[name]])


def rows(graphs: Iterable[str]) -> list[str]:
    return [f"{method} {graph}" if graph in ("star", "clique", "KCCA") else graph
            for graph in graphs for method in (METHODS if graph in ("star", "clique", "KCCA") else ("",))]  # fmt: skip


def highest(graphs: tuple[str, ...]) -> Measured:
    """In how many of the 18 columns none of these rows has the highest score."""
    best = np.max([row(name) for name in MACRO], axis=0)
    ours = np.max([row(name) for name in rows(graphs)], axis=0)
    missed = int(np.sum(ours < best))
    return Measured(missed / len(best), {"columns": len(best), "not the highest": missed})


def above_single(graphs: tuple[str, ...]) -> Measured:
    """Cells of these rows that are not above the best individual kernel."""
    single, names = row("BIK"), rows(graphs)
    differences = np.array([row(name) - single for name in names])
    macro_40_1000 = {name: MACRO[name][6] for name in ("SILP star", "APP star", "BIK")}
    numbers = {"cells": differences.size, "not above": int(np.sum(differences <= 0)), "worst": differences.min()}
    return Measured(
        float(numbers["not above"]), numbers | {f"{k}, 40 labels, 1000": v for k, v in macro_40_1000.items()}
    )


def above_canonical(graphs: tuple[str, ...]) -> Measured:
    """Cells in which these graphs are not above KCCA with the same method."""
    differences = np.array([row(f"{method} {graph}") - row(f"{method} KCCA") for graph in graphs for method in METHODS])
    below = int(np.sum(differences <= 0))
    return Measured(below, {"cells": differences.size, "not above": below, "worst": differences.min()})


def approximate_above(graphs: tuple[str, ...]) -> Measured:
    """The share of cells in which the approximate formulation is not above SILP."""
    differences = {graph: row(f"APP {graph}") - row(f"SILP {graph}") for graph in ("star", "clique", "KCCA")}
    counted = np.array([differences[graph] for graph in graphs])
    numbers = {"cells": counted.size, "not above": int(np.sum(counted <= 0))}
    numbers |= {f"{graph}: below": int(np.sum(values < 0)) for graph, values in differences.items()}
    numbers |= {"clique: equal": int(np.sum(differences["clique"] == 0)), "largest distance": np.abs(counted).max()}
    return Measured(numbers["not above"] / counted.size, numbers)


def kernels_made(grids: int) -> Measured:
    descriptors = ("SIFT", "shape context", "PCA-SIFT", "spin image", "steerable filters", "differential invariants",
                   "complex filters", "moment invariants", "cross correlation")  # fmt: skip
    gabor, pixels = (384, 2592), (10240, 2560, 640)
    total = grids * len(descriptors) + len(gabor) + len(pixels)
    return Measured(abs(total - 23), {"kernels": total})


claim = claims_of("ji")
CLAIMS = (
    claim("Sec. 5, number of kernels", kernels_made, printed=2, mutated=4),
    claim("Tables 2, 3: highest", highest, tolerance=ALMOST_ALL, printed=("star", "clique"), mutated=("star", "KCCA")),
    claim(
        "Tables 2, 3: single kernel",
        above_single,
        printed=("star", "clique"),
        repaired=("clique",),
        mutated=("star", "clique", "KCCA", "SVM1", "Uniform"),
    ),
    claim("Tables 2, 3: KCCA", above_canonical, printed=("star", "clique"), repaired=("clique",), mutated=("star",)),
    claim(
        "Tables 2, 3: approximate formulation",
        approximate_above,
        tolerance=ALMOST_ALL,
        printed=("star", "clique", "KCCA"),
        repaired=("star", "KCCA"),
        mutated=("clique",),
    ),
)
