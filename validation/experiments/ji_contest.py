"""Ji et al. 2008, Tables 2 and 3: kernels learned for all labels at once, judged by the F1 of each label's SVM.

A method turns training kernels of unit trace and labels into kernel weights, one set for all labels or one for each; an
SVM per label with the weighted kernel then predicts. λ, the smoothing, C and the best individual kernel are chosen by
folds within the training half, together, by the mean of macro and micro F1; SVM1's C serves its kernel and its machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

import mklcvx
from label_halves import Array, Half
from label_views import LabelViews
from mklcvx.solvers.second_stage import f1_scores

EXPANSIONS = ("star", "clique", "KCCA")
METHODS = (*(f"SILP {e}" for e in EXPANSIONS), *(f"APP {e}" for e in EXPANSIONS), "SVM1", "Uniform", "BIK")
ORACLE = "BIK by test"
FOLDS = 3
GAP = 1e-5


class Grids(NamedTuple):
    lam: tuple[float, ...]
    smoothing: tuple[float, ...]
    prices: tuple[float, ...]


class Learned(NamedTuple):
    """A method's weights, (M,) or (labels, M), what made them, and their gap; `price` where they belong to one C."""

    method: str
    parameters: tuple[tuple[str, Any], ...]
    weights: Array
    gap: float = 0.0
    price: float | None = None


class Scored(NamedTuple):
    learned: Learned
    price: float
    macro: float
    micro: float

    @property
    def key(self) -> tuple[Any, ...]:
        return self.learned.method, self.learned.parameters, self.price


def contest(data: LabelViews, size: int, grids: Grids, rng: np.random.Generator) -> dict[str, Any]:
    """One random half of `size` samples against the other: a row for every method, tuned within the first half."""
    order = rng.permutation(len(data.labels))[:size]
    train, test = order[: size // 2], order[size // 2 :]
    inner: dict[tuple[Any, ...], list[float]] = {}
    for fold in np.array_split(train, FOLDS):
        for found in scored(Half.of(data, np.setdiff1d(train, fold), fold), grids):
            inner.setdefault(found.key, []).append((found.macro + found.micro) / 2)
    outer = list(scored(Half.of(data, train, test), grids))
    rows = [_row(method, outer, inner, data.names) for method in METHODS]
    gap = max(found.learned.gap for found in outer)
    return {"rows": [*rows, _oracle(outer)], "gap": gap, "apart": _apart(outer, grids)}


def weights(half: Half, grids: Grids) -> Iterator[Learned]:
    count, instance = len(half.kernels), mklcvx.Instance(half.kernels / len(half.labels), labels=half.labels)
    for expansion in EXPANSIONS:
        for lam in grids.lam:
            given = {"expansion": expansion.lower(), "lam": lam}
            yield learned(f"SILP {expansion}", instance, "hypergraph", given, lam=lam)
            for mu in grids.smoothing:
                more = given | {"smoothing": mu}
                yield learned(f"APP {expansion}", instance, "hypergraph_smooth", more, lam=lam, smoothing=mu)
    per_label = [mklcvx.Instance(half.kernels, y) for y in half.signs]
    for price in grids.prices:
        each = [learned("SVM1", one, "l1", {"C": price}) for one in per_label]
        yield Learned("SVM1", (), np.stack([one.weights for one in each]), max(one.gap for one in each), price)
    yield Learned("Uniform", (), np.full(count, 1 / count))
    for m in range(count):
        yield Learned("BIK", (("kernel", m),), np.eye(count)[m])


def learned(
    method: str, instance: mklcvx.Instance, formulation: str, given: Mapping[str, Any], **told: float
) -> Learned:
    solution = mklcvx.solve(instance, formulation, tol=GAP, **given)
    return Learned(method, tuple(told.items()), solution.weights, solution.certificate.relative_gap)


def scored(half: Half, grids: Grids) -> Iterator[Scored]:
    """Macro and micro F1 on the other samples for all weights and every C."""
    for found in weights(half, grids):
        for price in grids.prices if found.price is None else (found.price,):
            yield Scored(found, price, *f1_scores(half.truth, half.outputs(found.weights, price) > 0))


def _row(
    method: str, outer: list[Scored], inner: Mapping[tuple[Any, ...], list[float]], names: list[str]
) -> dict[str, Any]:
    best = max(
        (found for found in outer if found.learned.method == method), key=lambda found: np.mean(inner[found.key])
    )
    told = dict(best.learned.parameters)
    if method == "BIK":
        told["kernel"] = names[told["kernel"]]
    shared = best.learned.weights if best.learned.weights.ndim == 1 else best.learned.weights.mean(axis=0)
    scores = {"method": method, "macro": best.macro, "micro": best.micro, "C": best.price}
    return scores | told | {"weights": [round(float(w), 4) for w in shared]}


def _oracle(outer: list[Scored]) -> dict[str, Any]:
    """The individual kernel and C that are best on the test half itself, which no method may know."""
    own = [found for found in outer if found.learned.method == "BIK"]
    return {"method": ORACLE, "macro": max(f.macro for f in own), "micro": max(f.micro for f in own)}


def _apart(outer: list[Scored], grids: Grids) -> list[dict[str, Any]]:
    """How far the smoothed form's weights lie from the exact form's at the same λ: ½ Σ|θ − θ'|, between 0 and 1."""
    exact = {(f.learned.method, f.learned.parameters): f.learned.weights for f in outer}
    rows = []
    for expansion in EXPANSIONS:
        for lam in grids.lam:
            silp = exact[f"SILP {expansion}", (("lam", lam),)]
            for mu in grids.smoothing:
                app = exact[f"APP {expansion}", (("lam", lam), ("smoothing", mu))]
                distance = float(np.abs(silp - app).sum() / 2)
                rows.append({"expansion": expansion, "lam": lam, "smoothing": mu, "distance": distance})
    return rows
