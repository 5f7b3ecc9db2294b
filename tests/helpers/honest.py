"""Records of solution files: as solutions write them; and of points, with the claims that they prove."""

import json
import math
from fractions import Fraction
from typing import Any

import numpy as np

from mklcvx import Instance, Solution
from mklcvx.checker import audit as checker
from mklcvx.checker import families as checker_families
from mklcvx.checker.numbers import least_ridge, rounded, stack_of

SIMPLEX = ("l1", "sm1", "sm2", "smp", "ml_sum", "ml_minimax", "hypergraph", "hypergraph_smooth")
BALLS = ("l2", "lp", "elastic", "block_elastic")


def written(solution: Solution) -> dict[str, Any]:
    """The record as a file has it."""
    return json.loads(json.dumps(solution.as_dict(), allow_nan=False))


def claimed(instance: Instance, record: dict[str, Any]) -> dict[str, Any]:
    """The record with the claims that its point proves, rounded outward."""
    point = evaluate(instance, record)
    lower, upper = rounded(point.lower, -1), rounded(point.upper, 1)
    gap = rounded((point.upper - point.lower) * (1 + Fraction(1, 2**52)), 1)
    maximum = record["formulation"] == "alignment"
    scale = upper if maximum else rounded(point.scale, -1)
    larger = max(abs(lower), abs(upper)) if point.gain is None else rounded(point.gain, -1)
    vanishing = scale <= 2.0**-40 * larger
    base = larger if vanishing else scale
    relative = gap / base if gap > 2.0**-900 else 0.0
    said = {"lower": lower, "upper": upper, "gap": gap, "scale": scale, "relative_gap": relative}
    record["certificate"].update(said if point.gain is None else {**said, "gain": larger})
    certified = relative <= (min(record["tolerance"], 2.0**-40) if vanishing else record["tolerance"])
    if "second_stage_gap" in record["multipliers"]:
        record["multipliers"]["second_stage_gap"] = second = rounded(point.second, 1)
        certified = certified and second <= record["tolerance"]
    if point.norms:
        record["norms"] = [math.sqrt(max(float(square), 0.0)) for square, _ in point.norms]
    if point.slopes is not None:
        record["slopes"] = [[rounded(v, side) for v in point.slopes] for side in (-1, 1)]
    record["bias_interval"] = None
    record["objective"] = lower if maximum else upper
    record["status"] = "certified" if certified else "not_certified"
    return record


def evaluate(instance: Instance, record: dict[str, Any]) -> Any:
    if record["formulation"] in checker.OWN:
        y = instance.targets.values if instance.targets.kind != "none" else None
        return checker.evaluated(instance.kernels, y, record, instance.sample_weight, instance.groups)
    labels = instance.targets.indicators()
    return checker_families.evaluated(instance.kernels, labels, record, instance.sample_weight)


def filled(values: Any, caps: Any, total: float) -> list[float]:
    """Multiples of 2^-52 below their caps that sum to the total."""
    units, rooms = (np.floor(np.array(x, dtype=float) * 2.0**52).astype(int) for x in (values, caps))
    units = np.clip(units, 0, rooms)
    missing = int(total * 2**52) - int(units.sum())
    for i in np.argsort(-np.minimum(units, rooms - units)).tolist() * 2:
        step = min(missing, int(rooms[i] - units[i])) if missing > 0 else max(missing, -int(units[i]))
        units[i] += step
        missing -= step
    assert missing == 0
    return (units * 2.0**-52).tolist()


def on_domain(record: dict[str, Any], count: int) -> list[float | None]:
    name, weights = record["formulation"], record["weights"]
    if name in SIMPLEX:
        theta = record["parameters"]["theta"] if name == "sm1" else 1.0
        return filled(weights, np.full(count, min(1.0, max(theta, math.ceil(2**52 / count) / 2**52))), 1.0)
    if name in ("svm", "sum", "average"):
        return [1 / count if name == "average" else 1.0] * count
    return [w * (1 - 2.0**-44) for w in weights] if name in BALLS else weights


def feasible(record: dict[str, Any], instance: Instance) -> list[Any]:
    """α in its boxes; with a bias, both classes sum to the same."""
    alpha, y = np.array(record["alpha"]), np.array(record["y"])
    parameters = record["parameters"]
    if record["formulation"].startswith("ml_"):
        return np.clip(alpha, 0, parameters["C"] * instance.sample_weight).tolist()
    if alpha.ndim == 2:
        rows = [{**record, "alpha": a, "y": s} for a, s in zip(alpha, y, strict=True)]
        return [feasible(row, instance) for row in rows]
    price = 1.0 / (parameters["nu"] * len(y)) if "nu" in parameters else parameters["C"]
    box = price * instance.sample_weight
    alpha = np.clip(alpha, 0, box)
    if not parameters.get("bias", True):
        return filled(alpha, box, 1.0) if "nu" in parameters else np.clip(alpha, 0, box).tolist()
    unit, least = 1.0, 0.5
    if "nu" not in parameters:
        unit = 2.0 ** math.ceil(math.log2(box.sum()))
        least = math.floor(min(alpha[y > 0].sum(), alpha[y < 0].sum()) / unit * 2**44) / 2**44
    result = np.zeros(len(y))
    for side in (y > 0, y < 0):
        result[side] = np.array(filled(alpha[side] / unit, box[side] / unit, least)) * unit
    return result.tolist()


def ridge_for(instance: Instance, record: dict[str, Any]) -> float:
    if record["formulation"] in ("ts", "ts_l1", "alignment"):
        return 0.0
    stack = stack_of(instance.kernels)
    return max(max(1e-13 * float(np.trace(k.dense)), 2 * float(least_ridge([k], [1.0]))) for k in stack)
