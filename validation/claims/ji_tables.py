"""Ji et al. 2008, Section 5: what the text says of Tables 2 and 3, counted from their printed numbers."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from claim import Measured, claims_of
from ji_shared import Array

# Columns: 20, 30, 40 labels, each with 1000, 1500, 2000 image sets.
MACRO = {
    "SILP star": (0.4396, 0.4903, 0.4575, 0.3852, 0.4437, 0.4162, 0.3768, 0.4019, 0.3927),
    "SILP clique": (0.4536, 0.5125, 0.4926, 0.4065, 0.4747, 0.4563, 0.4145, 0.4346, 0.4283),
    "SILP KCCA": (0.3987, 0.4635, 0.4477, 0.3497, 0.4240, 0.4063, 0.3538, 0.3872, 0.3759),
    "APP star": (0.4404, 0.4930, 0.4703, 0.3896, 0.4494, 0.4267, 0.3900, 0.4100, 0.3983),
    "APP clique": (0.4510, 0.5125, 0.4917, 0.4060, 0.4741, 0.4563, 0.4180, 0.4338, 0.4281),
    "APP KCCA": (0.4029, 0.4805, 0.4586, 0.3571, 0.4313, 0.4146, 0.3642, 0.3914, 0.3841),
    "SVM1": (0.3780, 0.4640, 0.4356, 0.3523, 0.4352, 0.4200, 0.3741, 0.4048, 0.3955),
    "Uniform": (0.3727, 0.4703, 0.4480, 0.3513, 0.4410, 0.4191, 0.3719, 0.4111, 0.3986),
    "BIK": (0.4241, 0.4515, 0.4344, 0.3782, 0.4312, 0.3996, 0.3914, 0.3954, 0.3827),
}
MICRO = {
    "SILP star": (0.4861, 0.5199, 0.4847, 0.4472, 0.4837, 0.4473, 0.4277, 0.4470, 0.4305),
    "SILP clique": (0.5039, 0.5422, 0.5247, 0.4682, 0.5127, 0.4894, 0.4610, 0.4796, 0.4660),
    "SILP KCCA": (0.4581, 0.4994, 0.4887, 0.4209, 0.4737, 0.4532, 0.4095, 0.4420, 0.4271),
    "APP star": (0.4852, 0.5211, 0.4973, 0.4484, 0.4875, 0.4582, 0.4355, 0.4541, 0.4346),
    "APP clique": (0.5013, 0.5421, 0.5239, 0.4673, 0.5124, 0.4894, 0.4633, 0.4793, 0.4658),
    "APP KCCA": (0.4612, 0.5174, 0.5018, 0.4299, 0.4828, 0.4605, 0.4194, 0.4488, 0.4350),
    "SVM1": (0.4361, 0.5024, 0.4844, 0.4239, 0.4844, 0.4632, 0.3947, 0.4234, 0.4188),
    "Uniform": (0.4390, 0.5096, 0.4975, 0.4242, 0.4939, 0.4683, 0.3999, 0.4358, 0.4226),
    "BIK": (0.4614, 0.4735, 0.4562, 0.4189, 0.4484, 0.4178, 0.3869, 0.3905, 0.3781),
}
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
    claim("Sec. 5, number of kernels", kernels_made, 0, printed=2, mutated=4),
    claim("Tables 2, 3: highest", highest, ALMOST_ALL, printed=("star", "clique"), mutated=("star", "KCCA")),
    claim(
        "Tables 2, 3: single kernel",
        above_single,
        0,
        printed=("star", "clique"),
        repaired=("clique",),
        mutated=("star", "clique", "KCCA", "SVM1", "Uniform"),
    ),
    claim("Tables 2, 3: KCCA", above_canonical, 0, printed=("star", "clique"), repaired=("clique",), mutated=("star",)),
    claim(
        "Tables 2, 3: approximate formulation",
        approximate_above,
        ALMOST_ALL,
        printed=("star", "clique", "KCCA"),
        repaired=("star", "KCCA"),
        mutated=("clique",),
    ),
)
