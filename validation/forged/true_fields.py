"""Whether the fields of a confirmed file are true, found out without the checker: the optimum by solving the problem
that the file states, norms, slopes and gains from sums of fractions written down plainly, risks from the losses."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from honest_files import Record

from mklcvx import InputError, Instance, solve
from mklcvx.checker.prices import BLOCKWISE
from mklcvx.formulations import get
from mklcvx.formulations.families.single_task import SingleTask

KNOWN: dict[int, Instance] = {}
VANISHING, ROUNDING, NOTHING = 2.0**-40, 2.0**-42, 2.0**-900


def false_fields(instance: Instance, record: Record) -> list[str]:
    """The fields that are not true, within the interval that `docs/verify.md` states for each."""
    KNOWN[id(instance)] = instance
    try:
        low, high = optimum(id(instance), record["formulation"], json.dumps(of_first_stage(record)))
    except InputError as fault:
        return [f"parameters ({fault})"]
    said = record["certificate"]
    found, room = claims(record), room_of(instance, record, said["gap"])
    if not (said["lower"] <= high and low <= said["upper"]):
        found.append("certificate.lower or certificate.upper")
    if not low - room <= record["objective"] <= high + room:
        found.append("objective")
    if "second_stage_gap" in record["multipliers"]:
        found += second_stage(instance, record)
    elif record["alpha"] is not None:
        found += functions(instance, record, room)
    return found + targets(instance, record)


def of_first_stage(record: Record) -> Record:
    """The parameters without the price of a second stage that was trained afterwards."""
    afterwards = record["formulation"].startswith("hypergraph") and "second_stage_gap" in record["multipliers"]
    return {key: value for key, value in record["parameters"].items() if not (afterwards and key == "C")}


@cache
def optimum(number: int, formulation: str, parameters: str) -> tuple[float, float]:
    """An interval that holds the optimal value of the problem with these parameters."""
    found = solve(KNOWN[number], formulation, tol=1e-9, **json.loads(parameters)).certificate
    return found.lower, found.upper


def claims(record: Record) -> list[str]:
    """What follows from other claims."""
    said, found = record["certificate"], []
    size = said.get("gain", max(abs(said["lower"]), abs(said["upper"])))
    vanishing = said["scale"] <= VANISHING * size
    base = size if vanishing else said["scale"]
    relative = math.inf if said["relative_gap"] is None else said["relative_gap"]
    if base > 0 and abs(relative - said["gap"] / base) > 1e-15 * relative + 2.0**-900 / base:
        found.append("certificate.relative_gap")
    limit = min(record["tolerance"], VANISHING) if vanishing else record["tolerance"]
    second = record["multipliers"].get("second_stage_gap", 0.0)
    if (record["status"] == "certified") != (relative <= limit and second <= record["tolerance"]):
        found.append("status")
    if record["objective"] != said["lower" if record["formulation"] == "alignment" else "upper"]:
        found.append("objective")
    return found


def room_of(instance: Instance, record: Record, gap: float) -> float:
    """How far the bounds of an honest file may be apart: the gap, or the tolerance, and rounding."""
    said = record["certificate"]
    sizes = np.abs(np.asarray(instance.kernels, dtype=float)).max(axis=(1, 2))
    length = np.abs(np.array(record["alpha"] or 0.0)).sum()
    terms = np.dot(np.nan_to_num(np.array(record["weights"], dtype=float)), sizes) * length**2 + abs(said["upper"])
    if record["coefficients"] is not None:
        own = np.abs(np.array(record["coefficients"])).sum(axis=-1).reshape(-1, len(sizes)).sum(axis=0)
        terms += np.dot(own, sizes) * length
    terms += length * np.abs(np.array(record["bias"])).max() + said.get("gain", 0.0)
    return float(max(gap * 1.001, record["tolerance"] * said["scale"]) + ROUNDING * terms)


# ------------------------------------------------------------------------------------------------ sums of fractions
def exact(values: Any) -> Any:
    array = np.asarray(values, dtype=float)
    return np.array([Fraction(x) for x in array.ravel().tolist()], dtype=object).reshape(array.shape)


def quadratic(kernel: Any, vector: Any) -> Fraction:
    return sum(
        (x * kernel[i, j] * y for i, x in enumerate(vector) if x for j, y in enumerate(vector) if y), Fraction(0)
    )


def functions(instance: Instance, record: Record, room: float) -> list[str]:
    """Norms and slopes of classifiers, the gain and the interval of biases of single tasks."""
    lower = np.tril(np.asarray(instance.kernels, dtype=float))
    kernels = [exact(part + np.tril(part, -1).T) for part in lower]
    beta = exact(np.atleast_2d(np.array(record["alpha"]) * np.array(record["y"])))
    q = [[quadratic(kernel, row) for row in beta] for kernel in kernels]
    found = []
    if record["norms"] is not None and not same_norms(record, kernels, q, room_of(instance, record, gap=0.0)):
        found.append("norms")
    gamma = record["multipliers"]["gamma"] if record["formulation"] == "ml_minimax" else np.ones(len(beta))
    v = [sum(g * x for g, x in zip(exact(gamma), row, strict=True)) / 2 for row in q]
    if record["slopes"] and not all(
        a <= x <= b for a, x, b in zip(exact(record["slopes"][0]), v, exact(record["slopes"][1]), strict=True)
    ):
        found.append("slopes")
    return found + (risks(instance, record, room) if np.ndim(record["alpha"]) == 1 else [])


def second_stage(instance: Instance, record: Record) -> list[str]:
    """Its α is feasible, and its gap no smaller than that of any machine without δ, which can only add to it."""
    said, signs = record["multipliers"], np.atleast_2d(record["y"])
    alpha = exact(np.atleast_2d(record["alpha"]))
    low = exact(np.atleast_2d(record["alpha_low"])) if record["alpha_low"] is not None else 0 * alpha
    stretch = exact(np.broadcast_to(said.get("second_stage_stretch", 1.0), len(signs)))
    shift = exact(np.ravel(record["bias"])) + exact(np.broadcast_to(record["bias_low"], len(signs)))
    lower = np.tril(np.asarray(instance.kernels, dtype=float))
    kernel = np.tensordot(exact(record["weights"]), exact(lower + np.tril(lower, -1).transpose(0, 2, 1)), axes=1)
    box = exact(record["parameters"]["C"] * instance.sample_weight)
    found = []
    for y, a, fine, t, b in zip(exact(signs), alpha, low, stretch, shift, strict=True):
        beta, function = a * y, t * (a * y + fine)
        if not (all(0 <= x <= most for x, most in zip(a, box, strict=True)) and sum(beta) == 0):
            found.append("alpha")
        square, penalty = beta @ kernel @ beta, function @ kernel @ function
        risk = sum(most * max(Fraction(0), 1 - z) for most, z in zip(box, y * (kernel @ function + t * b), strict=True))
        gap, scale, gain = penalty / 2 + risk - sum(a) + square / 2, (square + penalty) / 2, sum(a)
        base = scale if scale > VANISHING * gain else gain
        if gap > NOTHING and gap > said["second_stage_gap"] * float(base) * (1 + ROUNDING):
            found.append("multipliers.second_stage_gap")
    return found


def same_norms(record: Record, kernels: Any, q: Any, lost: float) -> bool:
    """To seven digits of the largest, or their squares to what rounding takes of the bounds."""
    own = record["coefficients"]
    if own is None:
        weights = exact(record["weights"])
        squares = [float(w * w * sum(max(x, Fraction(0)) for x in row)) for w, row in zip(weights, q, strict=True)]
    else:
        rows = exact(own if np.ndim(own) == 3 else [own])
        squares = [float(sum(quadratic(kernel, part[m]) for part in rows)) for m, kernel in enumerate(kernels)]
    shares = [1.0 if record["formulation"] in BLOCKWISE else float(w) for w in record["weights"]]
    largest = max(max(squares), 0.0) ** 0.5
    each = zip(record["norms"], squares, shares, strict=True)
    return all(abs(x - max(s, 0.0) ** 0.5) <= 2e-7 * largest or abs(x * x - s) <= 8 * w * lost for x, s, w in each)


def risks(instance: Instance, record: Record, room: float) -> list[str]:
    """The gain of α, and the risk at both ends of the interval of biases."""
    formulation = get(record["formulation"])
    if not isinstance(formulation, SingleTask):
        return []
    task, found = formulation.task(instance, record["parameters"])[0], []
    alpha, said = np.array(record["alpha"]), record["certificate"]
    gain = max(task.gain(alpha), 0.0)
    if record["parameters"].get("loss") != "poisson" and abs(said["gain"] - gain) > 1e-9 * (gain + np.abs(alpha).sum()):
        found.append("certificate.gain")
    if record["bias_interval"] is None or (record["coefficients"] is None and None in record["weights"]):
        return found
    own = np.outer(record["weights"], alpha * task.signs) if record["coefficients"] is None else record["coefficients"]
    outputs, level = task.evaluate(np.array(own))[0], level_of(record)
    if record["formulation"] in BLOCKWISE:  # whose kernels are K_m + δ_mI
        outputs = outputs + np.array(said["ridges"]) @ np.array(own)
    near = ROUNDING * np.abs(task.evaluate(np.abs(np.array(own)))[0]).max() * task.box.sum()
    risk = [float(task.loss_function.value(outputs + b, task.y, task.box, level).sum())
            for b in (record["bias"], *record["bias_interval"]) if b is not None]  # fmt: skip
    return [*found, "bias_interval"] if max(risk) > risk[0] + room + near else found


def level_of(record: Record) -> float:
    return float(record["multipliers"].get("rho", record["multipliers"].get("epsilon", 0.0)))


def targets(instance: Instance, record: Record) -> list[str]:
    """What the file says of the instance."""
    wrong = {"target": record["target"] != instance.targets.kind, "names": record["names"] != list(instance.names)}
    return [key for key, is_wrong in wrong.items() if is_wrong]
