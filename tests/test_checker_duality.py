"""Weak duality of the auditor's formulas, for kernels that are far from semidefinite too: the lower bound of every
point lies below the upper bound of every other."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from forgeries import CASES, original
from honest import feasible, filled, on_domain

from mklcvx import checker, checker_families

DRAW = np.random.default_rng(11)
SINGLE = [case for case, (_, name, _) in CASES.items() if name in checker.OWN]
LABELS = ["ml_sum", "ml_minimax", "hypergraph", "hypergraph_smooth"]


def dented(case: str) -> np.ndarray:
    """The kernels of a case, each with its smallest eigenvalues below zero, and so every combination."""
    kernels = np.asarray(CASES[case][0].kernels, dtype=float)
    least = np.linalg.eigvalsh(kernels.sum(axis=0) / len(kernels))[3]
    return kernels - least * np.eye(kernels.shape[1])


def somewhere(case: str, near: float) -> dict[str, Any]:
    """A feasible point, at random or near the best."""
    instance, name, _ = CASES[case]
    record = copy.deepcopy(original(case))
    move = lambda best, end: ((1 - near) * end + near * np.array(best)).tolist()  # noqa: E731
    count = instance.count
    record["certificate"] = {"stretch": 1.0}
    record["weights"] = move(record["weights"], DRAW.dirichlet(np.ones(count)))
    record["weights"] = on_domain(record, count)
    if record["alpha"] is not None:
        record["alpha"] = move(record["alpha"], DRAW.random(np.shape(record["alpha"])) * np.max(record["alpha"]))
        record["alpha"] = feasible(record, instance)
        signed = np.array(record["alpha"]) * np.array(record["y"])
        if DRAW.random() < 0.5:
            coefficients = np.array(record["weights"])[:, None] * signed[..., None, :]
            coefficients = coefficients + (1 - near) * 0.1 * DRAW.normal(size=coefficients.shape)
            record["coefficients"] = coefficients.tolist()
        else:
            record["coefficients"] = None
            plain = name not in checker.BLOCKWISE and "nu" not in record["parameters"]
            record["certificate"]["stretch"] = 1 + 0.1 * DRAW.random() if plain else 1.0
    if record["parameters"].get("bias"):
        record["bias"] += (1 - near) * DRAW.normal()
    for key in ("tau", "rho"):
        if key in record["multipliers"]:
            record["multipliers"][key] *= 1 + (1 - near) * DRAW.random()
    if name == "ml_minimax":
        gamma = record["multipliers"]["gamma"]
        record["multipliers"]["gamma"] = filled(
            move(gamma, DRAW.dirichlet(np.ones(len(gamma)))), np.ones(len(gamma)), 1.0
        )
    if "Z" in record["multipliers"]:
        z = np.array(record["multipliers"]["Z"])
        record["multipliers"]["Z"] = (z + (1 - near) * DRAW.normal(size=z.shape)).tolist()
    record["certificate"]["ridge"] = ridge_of(case, record)
    return record


def ridge_of(case: str, record: dict[str, Any]) -> float:
    """A little more than what makes the kernels in use semidefinite."""
    kernels = dented(case)
    alone = record["coefficients"] is not None or record["formulation"] in checker.BLOCKWISE
    used = kernels if alone else np.tensordot(record["weights"], kernels, axes=1)
    return 1e-9 - 1.001 * min(0.0, float(np.linalg.eigvalsh(used).min()))


@pytest.mark.parametrize("case", [*SINGLE, *LABELS])
def test_lower_bounds_lie_below_upper_bounds(case):
    instance, name, _ = CASES[case]
    kernels, points = dented(case), []
    for near in (0.0, 0.0, 0.5, 0.9, 0.99, 0.999, 1.0, 1.0):
        record = somewhere(case, near)
        if name in checker.OWN:
            points.append(checker.evaluated(kernels, instance.y, record, instance.sample_weight, instance.groups))
        else:
            points.append(checker_families.evaluated(kernels, instance.targets.indicators(), record))
    assert any(point.ridge > 0.01 for point in points)
    assert max(point.lower for point in points) <= min(point.upper for point in points)
