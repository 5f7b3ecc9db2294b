"""Forged and damaged solution files, made by rule from honest ones: every field that the auditor vouches for, changed
in every way that makes a claim false or a number none."""

import copy
import json
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any
from unittest.mock import patch

import numpy as np

from honest import claimed, written
from mklcvx import Instance, solve, zoo
from mklcvx.checker.audit import BLOCKWISE, OWN
from mklcvx.checker.claims import PAIRS

Record = dict[str, Any]
Forgery = tuple[str, str]  # what was done, and the file's text

BINARY = zoo.random(14, 3, seed=3)
GROUPED = BINARY.with_kernels(BINARY.kernels, groups=[0, 0, 1])
LABELS = Instance(BINARY.kernels, labels=np.stack([np.arange(14) % 2, np.arange(14) % 3 == 0], axis=1))
CLASSES = Instance(BINARY.kernels, classes=np.array(["red", "green", "blue"])[np.arange(14) % 3])

CASES: dict[str, tuple[Instance, str, dict[str, Any]]] = {
    "svm": (BINARY.select([0]), "svm", {"C": 0.7}),
    "sum, no bias": (BINARY, "sum", {"C": 0.7, "bias": False}),
    "average": (BINARY, "average", {"C": 0.7}),
    "l1": (BINARY, "l1", {"C": 0.7}),
    "l1, nu": (BINARY, "l1", {"nu": 0.5}),
    "sm1": (BINARY, "sm1", {"C": 0.7, "theta": 0.5}),
    "sm2": (BINARY, "sm2", {"C": 0.7, "theta": 0.7}),
    "smp, nu": (BINARY, "smp", {"nu": 0.5, "theta": 0.7, "p": 1.5}),
    "square": (BINARY, "square", {"C": 0.7, "theta": 0.7}),
    "l2": (BINARY, "l2", {"C": 0.7}),
    "lp": (BINARY, "lp", {"C": 0.7, "p": 1.5}),
    "elastic": (BINARY, "elastic", {"C": 0.7, "l1_ratio": 0.4}),
    "block_elastic": (BINARY, "block_elastic", {"C": 0.7, "l1_ratio": 0.4}),
    "group_lasso": (BINARY, "group_lasso", {"C": 0.7, "lam": 0.5}),
    "li": (BINARY, "li", {"C": 0.7}),
    "ckl": (GROUPED, "ckl", {"C": 0.7}),
    "vskl": (GROUPED, "vskl", {"C": 0.7, "s": 3.0}),
    "ml_sum": (LABELS, "ml_sum", {"C": 0.7}),
    "ml_minimax": (CLASSES, "ml_minimax", {"C": 0.7}),
    "ts": (CLASSES, "ts", {"lam": 0.02, "balanced": True}),
    "ts_l1": (BINARY, "ts_l1", {"lam": 0.02}),
    "alignment": (LABELS, "alignment", {}),
    "hypergraph": (LABELS, "hypergraph", {"lam": 0.5}),
    "hypergraph_smooth": (CLASSES, "hypergraph_smooth", {"lam": 0.5, "expansion": "kcca"}),
}


def features(kind: type, seed: int = 0) -> Instance:
    """Kernels of rank two in a narrow type: they are not semidefinite."""
    draws = [np.random.default_rng(seed + m).normal(size=(14, 2)) for m in range(2)]
    return Instance(np.stack([x @ x.T for x in draws]).astype(kind), BINARY.y)


def years() -> Instance:
    """Features of four digits, which differ in the last two."""
    dates = np.random.default_rng(0).integers(1950, 2021, size=(2, 14)).astype(float)
    return Instance(dates[:, :, None] * dates[:, None, :], BINARY.y)


HARD: dict[str, tuple[Instance, str, dict[str, Any]]] = {
    "l1, single precision": (features(np.float32), "l1", {"C": 0.7}),
    "l2, half precision": (features(np.float16), "l2", {"C": 0.7}),
    "li, half precision": (features(np.float16), "li", {"C": 0.7}),
    "l1, functions of their own": (zoo.random(16, 3, seed=11), "l1", {"C": 100.0, "bias": False, "solver": "clarabel"}),
    "li, functions of their own": (zoo.random(16, 3, seed=11), "li", {"C": 1.0, "solver": "clarabel"}),
    "lp, years": (years(), "lp", {"C": 1e-4, "p": 1.5}),
}
EVERY = CASES | HARD


@cache
def original(case: str) -> Record:
    instance, name, given = EVERY[case]
    return written(solve(instance, name, **{"tol": 1e-10, **given}))


def forgeries(case: str) -> list[Forgery]:
    """Forgeries of one honest file: every third untruth, and every ninth number or word that is none, beginning
    elsewhere for every case."""
    record, place = original(case), list(EVERY).index(case)
    false, none = list(untruths(record)), list(nonsense(record))
    chosen = [*false[place % 3 :: 3], *none[place % 9 :: 9]]
    return [(what, json.dumps(forged)) for what, forged in chosen] + texts(record)[place % 3 :: 3]


def nonsense(record: Record) -> Iterator[tuple[str, Record]]:
    stretched = not record["formulation"].startswith("hypergraph")
    for path in numbers_in(record):
        for what, value in broken_numbers(at(record, path)):
            if value is None and path == "certificate.stretch" and not stretched:
                continue
            yield f"{path}: {what}", changed(record, path, value)
    for path in arrays_in(record):
        for what, value in broken_arrays(at(record, path)):
            yield f"{path}: {what}", changed(record, path, value)
    for path in words_in(record):
        for what, value in broken_words(at(record, path)):
            yield f"{path}: {what}", changed(record, path, value)


def untruths(record: Record) -> Iterator[tuple[str, Record]]:
    yield from false_claims(record)
    yield from false_points(record)
    if record["formulation"] in OWN:
        yield from false_parts(record)
    yield from false_problems(record)


# ----------------------------------------------------------------------------------------------------- by its place
def at(record: Record, path: str) -> Any:
    for key in path.split("."):
        record = record[key]
    return record


def changed(record: Record, path: str, value: Any) -> Record:
    forged = copy.deepcopy(record)
    *parents, last = path.split(".")
    place = at(forged, ".".join(parents)) if parents else forged
    place[last] = value
    return forged


def without(record: Record, path: str) -> Record:
    forged = copy.deepcopy(record)
    *parents, last = path.split(".")
    del (at(forged, ".".join(parents)) if parents else forged)[last]
    return forged


def numbers_in(record: Record) -> list[str]:
    paths = [f"certificate.{key}" for key in ("lower", "upper", "gap", "scale", "relative_gap", "ridge", "stretch")]
    paths += [f"parameters.{key}" for key, value in record["parameters"].items() if isinstance(value, float)]
    paths += [f"multipliers.{key}" for key in point_multipliers(record) if np.ndim(record["multipliers"][key]) == 0]
    paths += ["objective", "tolerance"] + ([] if np.ndim(record["bias"]) else ["bias"])
    unused = record["formulation"] in PAIRS
    return [path for path in paths if not (unused and path in ("certificate.ridge", "certificate.stretch"))]


def arrays_in(record: Record) -> list[str]:
    paths = ["y", *(key for key in ("weights", "alpha", "coefficients", "norms") if record[key] is not None)]
    paths += [f"multipliers.{key}" for key in point_multipliers(record) if np.ndim(record["multipliers"][key])]
    paths += ["bias"] if np.ndim(record["bias"]) else []
    loose = record["formulation"] in BLOCKWISE and record["coefficients"] is not None
    return [path for path in paths if not (loose and path == "weights")]


def words_in(record: Record) -> list[str]:
    return ["schema", "formulation", "status", "target", "names", "label_names", "classes"]


def point_multipliers(record: Record) -> list[str]:
    name, used = record["formulation"], {"second_stage_gap", "beta", "Z", "rho"}
    used |= {"tau"} if name in ("sm1", "sm2", "smp", "elastic", "block_elastic") else set()
    used |= {"gamma"} if name == "ml_minimax" else set()
    return [key for key in record["multipliers"] if key in used]


# --------------------------------------------------------------------------------------------------- what is none
def broken_numbers(value: float) -> Iterator[tuple[str, Any]]:
    yield from (("null", None), ("a word", str(value)), ("a list", [value]), ("true", True))
    yield from (("NaN", float("nan")), ("Infinity", float("inf")), ("-Infinity", -float("inf")))


def broken_arrays(values: list[Any]) -> Iterator[tuple[str, Any]]:
    yield from (("null", None), ("empty", []), ("short", values[:-1]), ("long", [*values, values[-1]]))
    for what, item in (("null", None), ("NaN", float("nan")), ("Infinity", float("inf")), ("a word", "1")):
        yield f"{what} within", with_entry(values, item)
    yield "a number", 1.0
    yield "deeper", [values]


def broken_words(value: Any) -> Iterator[tuple[str, Any]]:
    yield from (("a number", 7), ("other", "other"))
    if value is not None:
        yield "null", None
    if isinstance(value, list):
        yield from (("short", value[:-1]), ("long", [*value, "other"]), ("a list of another", ["other", *value[1:]]))
        if len(value) > 1:
            yield "permuted", value[::-1]


def with_entry(values: list[Any], item: Any) -> list[Any]:
    """The first entry replaced, however deep."""
    first = with_entry(values[0], item) if isinstance(values[0], list) else item
    return [first, *values[1:]]


def texts(record: Record) -> list[Forgery]:
    text = json.dumps(record)
    return [
        ("cut in half", text[: len(text) // 2]),
        ("empty", ""),
        ("a list", "[]"),
        ("status twice", text[:-1] + ', "status": "certified"}'),
        ("a number beyond doubles", json.dumps(changed(record, "objective", "@")).replace('"@"', "1e999")),
        ("a whole number beyond doubles", json.dumps(changed(record, "objective", "@")).replace('"@"', "9" * 400)),
    ]


# ------------------------------------------------------------------------------------------------- what is not true
def false_claims(record: Record) -> Iterator[tuple[str, Record]]:
    said, maximum = record["certificate"], record["formulation"] == "alignment"
    little = 1e-6 * said["scale"]

    def claim(objective: bool = True, **values: Any) -> Record:
        forged = copy.deepcopy(record)
        forged["certificate"].update(values)
        side = "lower" if maximum else "upper"
        if objective and side in values:
            forged["objective"] = values[side]
        return forged

    yield "lower raised", claim(lower=said["lower"] + little)
    yield "lower far down", claim(lower=said["lower"] - 10 * said["scale"])
    yield "lower negated", claim(lower=-said["lower"])
    yield "upper lowered", claim(upper=said["upper"] - little)
    yield "upper raised, not the objective", claim(False, **{"lower" if maximum else "upper": said["upper"] + little})
    yield "upper negated", claim(upper=-said["upper"])
    yield "bounds of zero", claim(lower=0.0, upper=0.0, gap=0.0, relative_gap=0.0)
    yield "bounds exchanged", claim(lower=said["upper"] + little, upper=said["lower"] - little)
    for scale in (1e30, float("inf")):
        yield f"1234 and a scale of {scale}", claim(lower=1234.0, upper=1234.0, gap=0.0, relative_gap=0.0, scale=scale)
    yield "scale raised", claim(scale=said["scale"] * (1 + 1e-6))
    yield "scale of 1e30", claim(scale=1e30, relative_gap=1e-40)
    yield "gap halved", claim(gap=said["gap"] / 2)
    yield "gap of zero", claim(gap=0.0)
    yield "gap negative", claim(gap=-said["gap"])
    yield "relative gap halved", claim(relative_gap=said["relative_gap"] / 2)
    yield "relative gap of zero", claim(relative_gap=0.0)
    yield "no relative gap, rounding of 1e30", claim(relative_gap=None, rounding=1e30)
    yield "relative gap doubled", claim(relative_gap=said["relative_gap"] * 2)
    larger = max(abs(said["lower"]), abs(said["upper"]))
    nothing = claim(scale=0.0, relative_gap=said["gap"] / larger)
    for status in ("certified", "not_certified"):
        yield f"scale of zero, {status}", changed(nothing, "status", status)
    if record["formulation"] not in PAIRS:
        yield "ridge negative", claim(ridge=-1e-3)
        yield "ridge of 1", claim(ridge=1.0)
    for stretch in (0.999, 0.0, -1.0, 2.0):
        yield f"stretch of {stretch}", claim(stretch=stretch)
    for key in said:
        if key not in ("rounding", "ridge_share", "ridges") and not (
            record["formulation"] in PAIRS and key in ("ridge", "stretch")
        ):
            yield f"no {key}", without(record, f"certificate.{key}")
    yield from false_verdicts(record)


def false_verdicts(record: Record) -> Iterator[tuple[str, Record]]:
    certified = record["status"] == "certified"
    yield "status turned", changed(record, "status", "not_certified" if certified else "certified")
    worst = max(record["certificate"]["relative_gap"], record["multipliers"].get("second_stage_gap", 0.0))
    beyond = worst / 2 if certified else worst * 2
    yield "tolerance moved past the gap", changed(record, "tolerance", beyond)
    for tolerance in (0.0, -1.0, 1.0, 1e30):
        yield f"tolerance of {tolerance}", changed(record, "tolerance", tolerance)
        yield f"certified to {tolerance}", changed(changed(record, "tolerance", tolerance), "status", "certified")
    for factor in (1 + 1e-6, 1 - 1e-6, -1.0, 0.0):
        yield f"objective times {factor}", changed(record, "objective", record["objective"] * factor)
    if "second_stage_gap" in record["multipliers"]:
        yield "second stage's gap of zero", changed(record, "multipliers.second_stage_gap", -1e-3)


def false_parts(record: Record) -> Iterator[tuple[str, Record]]:
    """What single tasks have more: low parts of α and of the bias, and a ridge of every kernel."""
    n, low, ridges = len(record["y"]), record["alpha_low"], record["certificate"].get("ridges")
    ends = record["bias_interval"] or (0.0, 0.0)  # between them every bias is as good
    yield "bias_low moved", changed(record, "bias_low", 0.1 + ends[1] - ends[0])
    if low is None:
        yield "a low part that is none", changed(record, "alpha_low", [0.1, -0.1] + [0.0] * (n - 2))
        yield "a low part of zero that is short", changed(record, "alpha_low", [0.0] * (n - 1))
    else:
        for factor in (2.0**-3, -(2.0**-3)):  # of the largest
            large = np.array(low) * 2.0 ** -np.frexp(np.abs(low).max())[1] * factor
            yield f"low part up to {factor}", changed(record, "alpha_low", large.tolist())
        yield "low part as coefficients", changed(record, "coefficients", [low] * len(record["weights"]))
        if record["parameters"]["bias"]:
            yield "low part unbalanced", changed(record, "alpha_low", [low[0] + 1e-20, *low[1:]])
    if ridges is None:
        if record["coefficients"] is None:
            yield "a ridge of every kernel", changed(record, "certificate.ridges", [record["certificate"]["ridge"]] * n)
        return
    yield "ridges short", changed(record, "certificate.ridges", ridges[:-1])
    yield "ridges negative", changed(record, "certificate.ridges", [*ridges[:-1], -1e-9])
    yield "ridges above the ridge", changed(record, "certificate.ridges", [*ridges[:-1], 1.0])
    if max(ridges) > 0:
        yield "ridges of zero", changed(record, "certificate.ridges", [0.0] * len(ridges))
        nothing = changed(record, "certificate.ridges", [0.0] * len(ridges))
        yield "ridge of zero too", changed(nothing, "certificate.ridge", 0.0)


def false_points(record: Record) -> Iterator[tuple[str, Record]]:
    name = record["formulation"]
    blockwise_own = name in BLOCKWISE and record["coefficients"] is not None
    if not blockwise_own:
        weights = np.array(record["weights"])
        for factor in (1.001, 0.999, -1.0, 0.0):
            yield f"weights times {factor}", changed(record, "weights", (weights * factor).tolist())
        if len(set(np.round(weights, 3))) > 1:
            yield "weights permuted", changed(record, "weights", np.roll(weights, 1).tolist())
    if record["alpha"] is not None:
        alpha = np.array(record["alpha"])
        nothing = changed(record, "alpha", (0 * alpha).tolist())
        yield "alpha of zero", nothing
        nothing = changed(nothing, "certificate.relative_gap", 1e-12)
        yield "alpha of zero, certified", changed(nothing, "status", "certified")
        first = np.zeros(alpha.size)
        first[np.argmax(alpha)] = 1e-3 * alpha.max()
        yield "alpha unbalanced", changed(record, "alpha", (alpha - first.reshape(alpha.shape)).tolist())
        for factor in (-1.0, 0.99, 1e3):
            yield f"alpha times {factor}", changed(record, "alpha", (alpha * factor).tolist())
        if np.ptp(alpha) > 1e-3 * alpha.max():
            yield "alpha permuted", changed(record, "alpha", np.roll(alpha, 1, axis=-1).tolist())
        open_by = np.ptp(record["bias_interval"] or 0.0)  # within it, any bias is as good
        yield "bias moved", changed(record, "bias", (np.array(record["bias"]) + 0.1 + open_by).tolist())
    if record["coefficients"] is not None:
        for factor in (1.01, 0.99, -1.0, 0.0):
            coefficients = (np.array(record["coefficients"]) * factor).tolist()
            yield f"coefficients times {factor}", changed(record, "coefficients", coefficients)
    else:
        shape = (*np.shape(record["y"])[:-1], len(record["weights"]), np.shape(record["y"])[-1])
        yield "coefficients of zero", changed(record, "coefficients", np.zeros(shape).tolist())
    for key in point_multipliers(record):
        value = np.array(record["multipliers"][key])
        yield f"no {key}", without(record, f"multipliers.{key}")
        yield f"{key} negative", changed(record, f"multipliers.{key}", (-np.abs(value) - 0.01).tolist())
        if key != "second_stage_gap":
            yield f"{key} moved", changed(record, f"multipliers.{key}", (value * 1.1 + 0.01).tolist())


def false_problems(record: Record) -> Iterator[tuple[str, Record]]:
    y = np.array(record["y"])
    flipped = y.copy()
    flipped[..., 0] *= -1
    yield "y negated", changed(record, "y", (-y).tolist())
    yield "y of one sample turned", changed(record, "y", flipped.tolist())
    yield "y of zero", changed(record, "y", (0 * y).tolist())
    yield "centred kernels", changed(record, "preprocessing", {})
    for key, value in record["parameters"].items():
        yield f"no parameter {key}", without(record, f"parameters.{key}")
        if isinstance(value, bool):
            yield f"parameter {key} as a number", changed(record, f"parameters.{key}", int(value))
        elif isinstance(value, float):
            for other in (-1.0, 0.0, 1.0 if key == "nu" else value * 0.5):  # a smaller nu has wider boxes
                if key != "C" or other < np.max(record["alpha"]):  # else the answer is that of the other C too
                    yield f"parameter {key} = {other}", changed(record, f"parameters.{key}", other)
    yield "a parameter too many", changed(record, "parameters.more", 1.0)
    for other in ("l1", "sum", "ml_sum", "ts", "hypergraph"):
        if other != record["formulation"] and not (record["formulation"] == "svm" and other in ("l1", "sum")):
            yield f"as {other}", changed(record, "formulation", other)
    if record["norms"] is not None:
        norms = np.array(record["norms"])
        for factor in (1.001, -1.0, 0.0):
            yield f"norms times {factor}", changed(record, "norms", (norms * factor).tolist())
        if np.ptp(norms) > 1e-3 * norms.max():
            yield "norms permuted", changed(record, "norms", np.roll(norms, 1).tolist())


# -------------------------------------------------------------------------------------- a kernel that is not one
def single_precision() -> tuple[Instance, Callable[[], Record]]:
    """A kernel of rank two in single precision, and a file whose functions lie where it is negative."""
    features = np.random.default_rng(0).normal(size=(20, 2))
    kernel = (features @ features.T).astype(np.float32)
    instance = Instance(kernel[None], np.where(features[:, 0] > 0, 1, -1))

    def forge() -> Record:
        record = written(solve(instance, "l1", C=0.7))
        values, vectors = np.linalg.eigh(kernel.astype(float))
        assert values[0] < 0
        coefficients = 1e5 * vectors[:, :1].T + np.array(record["alpha"]) * np.array(record["y"])
        record.update(coefficients=coefficients.tolist(), alpha_low=None, bias=0.0, bias_low=0.0)
        record["certificate"]["ridge"] = 0.0
        with patch("mklcvx.checker.outputs.is_semidefinite", return_value=True):
            return claimed(instance, record)

    return instance, forge
