"""Forged files, made by rule and by chance from honest ones. Only fields that the checker vouches for are changed: one,
several at once, or several so that they fit each other, as a forger would who knows the contract."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
from honest_files import Honest, Record

from forgeries import nonsense, untruths
from mklcvx.checker import audit, families
from mklcvx.checker.claims import lists

Draw = np.random.Generator


def forgeries(honest: Honest, count: int, rng: Draw) -> Iterator[tuple[str, Record]]:
    """So many: a third by rule, as the tests have them, the others by chance."""
    kinds = [several, several, parameter, shifted, sharpened, scaled]
    kinds += [staged, staged, staged] if has_second_stage(honest.record) else []
    plain = not honest.posed.machines and honest.record["certificate"]["relative_gap"] is not None
    by_rule = [*untruths(honest.record), *nonsense(honest.record)] if plain else []
    chosen = rng.permutation(len(by_rule))[: count // 3]
    yield from (by_rule[i] for i in chosen)
    made = len(chosen)
    while made < count:
        kind = kinds[int(rng.integers(len(kinds)))]
        forged = copy.deepcopy(honest.record)
        what = of_machine(forged, kind, rng) if honest.posed.machines else kind(forged, rng)
        if what and forged != honest.record:
            made += 1
            yield what, forged


def of_machine(record: Record, kind: Any, rng: Draw) -> str:
    """One machine's solution or the summary, which then follows or does not."""
    machine = int(rng.integers(len(record["machines"])))
    solution = record["machines"][machine]["solution"]
    what = kind(solution, rng)
    if rng.random() < 0.7:
        solutions = [one["solution"] for one in record["machines"]]
        for key in ("weights", "objective"):
            record[key] = [one[key] for one in solutions]
        missed = [one for one in solutions if one["status"] != "certified"]
        record["status"] = "not_certified" if missed else "certified"
        worst = max(missed or solutions, key=lambda one: as_number(one["certificate"].get("relative_gap")))
        record["certificate"] = copy.deepcopy(worst["certificate"])
        for key in ("formulation", "parameters", "tolerance", "names"):
            record[key] = copy.deepcopy(solution[key])
    return f"machine {machine}: {what}"


def as_number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else np.inf


# -------------------------------------------------------------------------------------------------------- by chance
def vouched(record: Record) -> list[str]:
    used = (audit if record["formulation"] in audit.OWN else families).point_multipliers(record)
    return lists(record, *used)[0]


def place_of(record: Record, path: str) -> tuple[Any, str]:
    parent, _, key = path.partition(".")
    return (record[parent], key) if key else (record, path)


def several(record: Record, rng: Draw) -> str:
    """One to four fields, each in some way."""
    fields = vouched(record)
    chosen = [fields[int(i)] for i in rng.permutation(len(fields))[: int(rng.integers(1, 5))]]
    for path in chosen:
        place, key = place_of(record, path)
        place[key] = other(place[key], rng)
    return "changed: " + ", ".join(chosen)


def other(value: Any, rng: Draw) -> Any:
    """Something else of the same kind, near or far."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return other_number(float(value), rng)
    if isinstance(value, dict):
        return {key: other(part, rng) if rng.random() < 0.5 else part for key, part in value.items()}
    if isinstance(value, list):
        return other_list(value, rng) if value else [1.0]
    return {"certified": "not_certified", "not_certified": "certified"}.get(value, [] if value is None else "other")


def other_number(value: float, rng: Draw) -> float:
    near = float(10.0 ** rng.uniform(-13, 0)) * (1 if rng.random() < 0.5 else -1)
    return [value * (1 + near), value + near, -value, 0.0, value * 2, value * 1.05][int(rng.integers(6))]


def other_list(values: list[Any], rng: Draw) -> list[Any]:
    if rng.random() < 0.2:
        return values[::-1]
    if rng.random() < 0.6 and all(isinstance(x, int | float) and not isinstance(x, bool) for x in values):
        factor = other_number(1.0, rng)
        return [x * factor for x in values]
    at = int(rng.integers(len(values)))
    return [other(x, rng) if i == at else x for i, x in enumerate(values)]


def parameter(record: Record, rng: Draw) -> str:
    """A parameter, alone or with the status turned."""
    key = str(rng.choice(sorted(record["parameters"])))
    value, words = (
        record["parameters"][key],
        ("clique", "star", "zhou", "kcca", "squared", "huber", "logistic", "other"),
    )
    record["parameters"][key] = str(rng.choice(words)) if isinstance(value, str) else other(value, rng)
    if rng.random() < 0.2:
        record["status"] = other(record["status"], rng)
    return f"parameter {key}"


# ------------------------------------------------------------------------------------------- fields that fit each other
def claimed(record: Record, **said: float) -> None:
    """Claims, with the relative gap, the objective and the status that follow from them."""
    certificate = record["certificate"]
    certificate.update(said)
    record["objective"] = certificate["lower" if record["formulation"] == "alignment" else "upper"]
    size = certificate.get("gain", max(abs(certificate["lower"]), abs(certificate["upper"])))
    vanishing = certificate["scale"] <= 2.0**-40 * size
    base = size if vanishing else certificate["scale"]
    certificate["relative_gap"] = certificate["gap"] / base if base > 0 else None
    limit = min(record["tolerance"], 2.0**-40) if vanishing else record["tolerance"]
    proved = base > 0 and certificate["relative_gap"] <= limit
    proved = proved and record["multipliers"].get("second_stage_gap", 0.0) <= record["tolerance"]
    record["status"] = "certified" if proved else "not_certified"


def amount(record: Record, rng: Draw) -> float:
    said = record["certificate"]
    sizes = [said["scale"], abs(said["upper"]), said["gap"], record["tolerance"] * said["scale"]]
    return float(sizes[int(rng.integers(4))] * 10.0 ** rng.uniform(-4, 2))


def shifted(record: Record, rng: Draw) -> str:
    """Bounds moved outward or inward, gap and norms with them or not."""
    said, (up, down) = record["certificate"], (amount(record, rng) * float(rng.choice([-1, 0, 1])) for _ in range(2))
    upper, lower = said["upper"] + up, said["lower"] - down
    gap = [said["gap"], max(upper - lower, 0.0), said["gap"] + up + down][int(rng.integers(3))]
    claimed(record, upper=upper, lower=lower, gap=gap)
    if rng.random() < 0.3 and record["norms"] is not None:
        record["norms"] = [x * 1.05 for x in record["norms"]]
    if rng.random() < 0.3 and "gain" in said:
        said["gain"] = -said["gain"]
    return "bounds moved"


def sharpened(record: Record, rng: Draw) -> str:
    """A smaller gap, or another tolerance, and all that follows."""
    said = record["certificate"]
    if rng.random() < 0.3:
        record["tolerance"] = float(10.0 ** rng.uniform(-12, 0))
    gap = said["gap"] * float(rng.choice([0.0, 0.5, 0.9, 0.999, 1.0, 1.1]))
    middle = float(rng.choice([said["lower"], said["upper"]]))
    bounds = {"lower": middle - gap / 2, "upper": middle + gap / 2} if rng.random() < 0.5 else {}
    claimed(record, gap=gap, **bounds)
    if "second_stage_gap" in record["multipliers"]:
        record["multipliers"]["second_stage_gap"] *= float(rng.choice([0.5, 1.0]))
    return "gap sharpened"


def scaled(record: Record, rng: Draw) -> str:
    """Another scale or gain, and all that follows."""
    said, key = record["certificate"], "gain" if "gain" in record["certificate"] and rng.random() < 0.5 else "scale"
    claimed(record, **{key: abs(other_number(said[key], rng))})
    return f"{key} changed"


# ------------------------------------------------------------------------------------------------- the second stage
def has_second_stage(record: Record) -> bool:
    return "second_stage_gap" in record.get("multipliers", {})


def staged(record: Record, rng: Draw) -> str:
    """A single field of the second stage, of which its gap and the status may speak afterwards."""
    stage = [f"multipliers.second_stage_{part}" for part in ("gap", "stretch", "ridge")] + ["parameters.C"]
    fields = [*stage, "alpha", "bias", "bias_low", "y", *(["alpha_low"] if record["alpha_low"] else [])]
    path = str(rng.choice(fields))
    place, key = place_of(record, path)
    place[key] = other(place[key], rng)
    if rng.random() < 0.3:
        record["multipliers"]["second_stage_gap"] = float(rng.choice([0.0, 1e-12, record["tolerance"], 1.0]))
    if rng.random() < 0.7 and isinstance(record["multipliers"]["second_stage_gap"], float):
        claimed(record)
    return f"second stage: {path}"
