"""Weak duality of the auditor's formulas, for kernels that are far from semidefinite too: the lower bound of every
point lies below the upper bound of every other."""

import copy
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from forgeries import CASES, original
from honest import feasible, filled, on_domain
from mklcvx.checker import audit as checker
from mklcvx.checker import families as checker_families

pytestmark = pytest.mark.slow

SINGLE = [case for case, (_, name, _) in CASES.items() if name in checker.OWN]
CURVED = [case for case in SINGLE if case not in ("svm", "li", "ckl")]
LABELS = ["ml_sum", "ml_minimax", "hypergraph", "hypergraph_smooth"]


def dented(case: str) -> np.ndarray:
    """The kernels of a case, each with its smallest eigenvalues below zero, and so every combination."""
    kernels = np.asarray(CASES[case][0].kernels, dtype=float)
    least = np.linalg.eigvalsh(kernels.sum(axis=0) / len(kernels))[3]
    return kernels - least * np.eye(kernels.shape[1])


def below_zero(kernels: np.ndarray) -> np.ndarray:
    """The projections onto the eigenvectors of negative eigenvalues: functions there cost less than nothing."""
    values, vectors = np.linalg.eigh(kernels)
    chosen = vectors * (values < 0)[:, None, :]
    return chosen @ chosen.transpose(0, 2, 1)


def somewhere(case: str, near: float, draw: np.random.Generator) -> dict[str, Any]:
    """A feasible point, at random or near the best."""
    instance, name, _ = CASES[case]
    record = copy.deepcopy(original(case))
    move = lambda best, end: ((1 - near) * end + near * np.array(best)).tolist()  # noqa: E731
    count = instance.count
    record["certificate"] = {"stretch": 1.0}
    record["alpha_low"] = None
    record["weights"] = move(record["weights"], draw.dirichlet(np.ones(count)))
    record["weights"] = on_domain(record, count)
    if record["alpha"] is not None:
        corner = (draw.random(np.shape(record["alpha"])) < draw.random()) * 1.0
        record["alpha"] = move(record["alpha"], corner)
        if name == "group_lasso":  # where no kernel sees more than λ²
            signed = np.array(record["alpha"]) * np.array(record["y"])
            seen = np.sqrt(max(signed @ kernel @ signed for kernel in instance.kernels)) / record["parameters"]["lam"]
            record["alpha"] = (np.array(record["alpha"]) * 0.9 / max(seen, 1.0)).tolist()
        record["alpha"] = feasible(record, instance)
        signed = np.array(record["alpha"]) * np.array(record["y"])
        if draw.random() < 0.5:
            coefficients = np.array(record["weights"])[:, None] * signed[..., None, :]
            free = np.einsum("mij,...j->...mi", below_zero(dented(case)), np.array(record["y"], dtype=float))
            coefficients = coefficients - (1 - near) * 30 * draw.random() * free
            record["coefficients"] = coefficients.tolist()
        else:
            record["coefficients"] = None
            plain = name not in checker.BLOCKWISE and "nu" not in record["parameters"]
            record["certificate"]["stretch"] = 1 + 0.1 * draw.random() if plain else 1.0
            if name in checker.OWN and name not in checker.BLOCKWISE and draw.random() < 0.5:
                low = draw.integers(-100, 100, size=len(record["y"]))
                low[-1] -= low.sum()
                record["alpha_low"] = (low * 2.0**-10 * (1 - near)).tolist()
    if record["parameters"].get("bias"):
        record["bias"] += (1 - near) * draw.normal()
    for key in ("tau", "rho"):
        if key in record["multipliers"]:
            record["multipliers"][key] *= 1 + (1 - near) * draw.random()
    if name == "ml_minimax":
        gamma = record["multipliers"]["gamma"]
        record["multipliers"]["gamma"] = filled(
            move(gamma, draw.dirichlet(np.ones(len(gamma)))), np.ones(len(gamma)), 1.0
        )
    if "Z" in record["multipliers"]:
        z = np.array(record["multipliers"]["Z"])
        record["multipliers"]["Z"] = (z + (1 - near) * draw.normal(size=z.shape)).tolist()
    kernels = dented(case)
    if record["coefficients"] is None and name not in checker.BLOCKWISE:
        record["certificate"]["ridge"] = ridge_of(np.tensordot(record["weights"], kernels, axes=1))
    else:
        ridges = [ridge_of(kernel) for kernel in kernels]
        record["certificate"].update(ridge=max(ridges), ridges=ridges)
    return record


def ridge_of(kernel: np.ndarray) -> float:
    """A little more than what makes it semidefinite."""
    return 1e-9 - 1.001 * min(0.0, float(np.linalg.eigvalsh(kernel).min()))


def bounds(case: str) -> tuple[Fraction, Fraction]:
    """The highest lower and the lowest upper bound of some points."""
    instance, name, _ = CASES[case]
    kernels, points, draw = dented(case), [], np.random.default_rng(11)
    for near in (*[0.0] * 8, 0.5, 0.9, 0.99, 0.999, 1.0, 1.0):
        record = somewhere(case, near, draw)
        if name in checker.OWN:
            points.append(checker.evaluated(kernels, instance.y, record, instance.sample_weight, instance.groups))
        else:
            points.append(checker_families.evaluated(kernels, instance.targets.indicators(), record))
    return max(point.lower for point in points), min(point.upper for point in points)


@pytest.mark.parametrize("case", [*SINGLE, *LABELS])
def test_lower_bounds_lie_below_upper_bounds(case):
    lower, upper = bounds(case)
    assert lower <= upper


@pytest.mark.parametrize("case", CURVED)
def test_without_the_ridge_they_would_cross(case):
    with (
        patch("mklcvx.checker.outputs.is_semidefinite", return_value=True),
        patch(f"{__name__}.ridge_of", return_value=0.0),
    ):
        lower, upper = bounds(case)
    assert lower > upper
