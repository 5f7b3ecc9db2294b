"""Honest files of all families: small problems whose numbers cancel or do not, and what solving writes of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from mklcvx import Instance, second_stage, solve, zoo
from mklcvx.problem.preprocessing import Preprocessing
from mklcvx.solvers.one_against import solve_by_machines
from mklcvx.solvers.solving import preprocessed

Record = dict[str, Any]
N = 12
KERNELS = ("random", "years", "offset", "half")
OWN: dict[str, dict[str, Any]] = {
    "svm": {}, "sum": {}, "average": {}, "l1": {}, "sm1": {"theta": 0.6}, "sm2": {"theta": 0.7},
    "smp": {"theta": 0.7, "p": 1.5}, "square": {"theta": 0.7}, "l2": {}, "lp": {"p": 1.5},
    "elastic": {"l1_ratio": 0.4}, "block_elastic": {"l1_ratio": 0.4}, "group_lasso": {"lam": 0.5}, "li": {}, "ckl": {},
    "vskl": {"s": 3.0},
}  # fmt: skip
PRICES = (0.7, 1e3, 1e6)
LOSSES: dict[str, dict[str, Any]] = {
    "squared_hinge": {}, "smoothed_hinge": {"width": 0.5}, "logistic": {}, "squared": {}, "absolute": {},
    "epsilon_insensitive": {"epsilon": 0.1}, "squared_epsilon_insensitive": {"epsilon": 0.1}, "huber": {"delta": 0.5},
    "quantile": {"quantile": 0.3}, "nu_svr": {"nu": 0.5}, "poisson": {},
}  # fmt: skip
TARGETS = {"squared_hinge": "y", "smoothed_hinge": "y", "logistic": "y", "poisson": "counts"}
TWO_STAGES: list[tuple[str, dict[str, Any]]] = [
    ("ts", {"lam": 0.02}), ("ts", {"lam": 0.02, "balanced": True}), ("ts_l1", {"lam": 0.02}), ("alignment", {}),
    ("alignment", {"approximate": True}),
]  # fmt: skip
GRAPHS: list[tuple[str, dict[str, Any]]] = [
    ("hypergraph", {"lam": 0.5}), ("hypergraph", {"lam": 0.5, "dimensions": 1, "expansion": "star"}),
    ("hypergraph", {"lam": 0.5, "expansion": "zhou"}), ("hypergraph_smooth", {"lam": 0.5, "expansion": "kcca"}),
]  # fmt: skip
STEPS = ((True, None), (True, "variance"), (False, "cosine"))  # centred, and normalised by what


class Posed(NamedTuple):
    """A problem, the targets that it takes, whether it is solved by machines, on kernels that were centred or
    normalised, or with a second stage at a price C."""

    formulation: str
    targets: str
    given: dict[str, Any]
    machines: str = ""
    steps: tuple[bool, str | None] = (False, None)
    price: float | None = None


class Honest(NamedTuple):
    """Where kernels were centred or normalised, `instance` has these, `before` those that they come from, and
    `preprocessed` is the file that says so."""

    title: str
    posed: Posed
    instance: Instance
    record: Record
    before: Instance | None = None
    preprocessed: Record | None = None


def problems() -> Iterator[Posed]:
    for name, own in OWN.items():
        yield from (Posed(name, "y", {**own, "C": price}) for price in PRICES)
    yield from (Posed(name, "y", {**OWN[name], "nu": 0.4}) for name in ("l1", "smp", "sum"))
    yield from (Posed(name, "y", {**OWN[name], "C": 1.0, "bias": False}) for name in ("l1", "lp", "li"))
    for loss, own in LOSSES.items():
        for name in ("l1", "lp") if loss == "nu_svr" else ("l1", "lp", "li"):
            yield Posed(name, TARGETS.get(loss, "response"), {**OWN[name], "C": 10.0, "loss": loss, **own})
    yield from (Posed(name, "none", {**OWN[name], "loss": "one_class", "nu": 0.4}) for name in ("l1", "sm2"))
    for name in ("l1", "sm2"):
        yield from (Posed(name, "classes", {**OWN[name], "loss": loss}) for loss in ("crammer_singer", "softmax"))
        yield from (Posed(name, "responses", {**OWN[name], "loss": loss}) for loss in ("squared", "huber"))
        yield from (Posed(name, "classes", {**OWN[name], "C": 0.7}, kind) for kind in ("ovr", "ovo"))
    for targets in ("y", "classes", "labels"):
        yield from (Posed(name, targets, {"C": price}) for name in ("ml_sum", "ml_minimax") for price in PRICES[:2])
        yield from (Posed(name, targets, given) for name, given in (*TWO_STAGES, *GRAPHS) if given.get("dimensions", 1))
    for price in PRICES:
        yield from (Posed(name, "y", {**given, "C": price}) for name, given in TWO_STAGES)
        yield from (Posed(name, "labels", given, price=price) for name, given in GRAPHS)
    for steps in STEPS:
        yield from (
            Posed(name, "y", {**OWN[name], "C": price}, steps=steps) for name in ("l1", "li") for price in PRICES
        )
        yield from (Posed(name, "classes", given, steps=steps) for name, given in (*TWO_STAGES[2:4], GRAPHS[0]))


def instance_of(posed: Posed, kind: str, seed: int) -> Instance:
    rng = np.random.default_rng(seed)
    if kind == "years":
        features = rng.integers(1950, 2021, size=(3, N, 1)).astype(float)
    else:
        features = rng.normal(size=(3, N, 2)) + (1e4 if kind == "offset" else 0.0)
    kernels = zoo.random(N, 3, seed=seed).kernels if kind == "random" else features @ features.transpose(0, 2, 1)
    kernels = np.asarray(kernels, dtype=np.float16 if kind == "half" else float)
    kernels = np.tril(kernels) + np.tril(kernels, -1).transpose(0, 2, 1)
    given: dict[str, Any] = {
        "y": {"y": np.where(np.arange(N) % 2, 1, -1)}, "none": {},
        "classes": {"classes": np.array(["a", "b", "c"])[np.arange(N) % 3]},
        "labels": {"labels": np.stack([np.arange(N) % 2, np.arange(N) % 3 == 0], axis=1)},
        "response": {"response": rng.normal(size=N) + (1990 if kind == "years" else 0)},
        "counts": {"response": rng.poisson(3.0, N).astype(float)}, "responses": {"response": rng.normal(size=(N, 2))},
    }[posed.targets]  # fmt: skip
    if seed % 3 == 0:
        given["sample_weight"] = rng.uniform(0.5, 2.0, N)
    if posed.formulation in ("ckl", "vskl"):
        given["groups"] = [0, 0, 1]
    return Instance(kernels[:1] if posed.formulation == "svm" else kernels, **given)


def honest_files(count: int, first: int = 0) -> Iterator[Honest]:
    """So many files, every problem in turn, on kernels of every kind in turn."""
    each = list(problems())
    for i in range(first, first + count):
        posed, kind = each[i % len(each)], KERNELS[(i + i // len(each)) % len(KERNELS)]
        plain = instance_of(posed, kind, i)
        steps = Preprocessing.from_options(*posed.steps) if any(posed.steps) else None
        instance = plain if steps is None else preprocessed(plain, steps)
        if posed.machines:
            found = solve_by_machines(instance, posed.formulation, posed.machines, **posed.given)
        else:
            found = solve(instance, posed.formulation, **posed.given, preprocessing=steps)
            found = found if posed.price is None else second_stage(instance, found, C=posed.price)
        words = ", ".join(f"{key}={value}" for key, value in posed.given.items())
        title = f"{posed.formulation} {posed.machines} on {posed.targets}, {kind} kernels {posed.steps}, {words}"
        record = json.loads(json.dumps(found.as_dict(), allow_nan=False))
        if steps is None:
            yield Honest(title, posed, instance, record)
        else:
            yield Honest(title, posed, instance, {**record, "preprocessing": None}, plain, record)
