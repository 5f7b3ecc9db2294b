"""Ji et al. 2008, Tables 2 and 3: kernels learned for all labels at once, judged by the F1 of each label's SVM.

A method turns training kernels of unit trace and labels into kernel weights, one set for all labels or one for each; an SVM per
label with the weighted kernel then predicts. λ, the smoothing and C are chosen by folds within the training half, all
together, by the mean of macro and micro F1; SVM1's C serves its kernel and its machine alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from emotion_kernels import emotion_kernels
from numpy.typing import NDArray

import mklcvx
from mklcvx.second_stage import f1_scores

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

EXPANSIONS = ("star", "clique", "kcca")
LAMBDAS = (1e-3, 1e-2, 1e-1)
SMOOTHINGS = (1e-3, 1e-2, 1e-1)
PRICES = (1.0, 10.0, 100.0)
FOLDS = 3
GAP = 1e-5
METHODS = (*(f"SILP {e}" for e in EXPANSIONS), *(f"APP {e}" for e in EXPANSIONS), "SVM1", "Uniform", "BIK")


class Setting(NamedTuple):
    """A method with the parameters of its weights (C is varied by the machines, SVM1's excepted)."""

    method: str
    parameters: Mapping[str, float]


class Half(NamedTuple):
    """One side of a split: kernels of trace n, kernels to the other samples, and the labels of both."""

    kernels: Array
    to_test: Array
    labels: NDArray[np.int64]
    truth: NDArray[np.int64]

    @property
    def signs(self) -> Array:
        return np.where(self.labels.T > 0, 1.0, -1.0)


def weights(half: Half, quick: bool) -> Iterator[tuple[Setting, float | None, Array]]:
    """Every method's weights, (M,) or (labels, M); with the C that they belong to, None where any C does."""
    count, instance = len(half.kernels), mklcvx.Instance(half.kernels / len(half.labels), labels=half.labels)
    for expansion in EXPANSIONS:
        for lam in LAMBDAS[1:2] if quick else LAMBDAS:
            given = {"expansion": expansion, "lam": lam, "tol": GAP}
            yield Setting(f"SILP {expansion}", {"lam": lam}), None, learned(instance, "hypergraph", given)
            for smoothing in SMOOTHINGS[1:2] if quick else SMOOTHINGS:
                found = learned(instance, "hypergraph_smooth", given | {"smoothing": smoothing})
                yield Setting(f"APP {expansion}", {"lam": lam, "smoothing": smoothing}), None, found
    per_label = [mklcvx.Instance(half.kernels, y) for y in half.signs]
    for price in PRICES:
        found = np.stack([learned(one, "l1", {"C": price, "tol": GAP}) for one in per_label])
        yield Setting("SVM1", {}), price, found
    yield Setting("Uniform", {}), None, np.full(count, 1 / count)
    for m in range(count):
        yield Setting("BIK", {"kernel": m}), None, np.eye(count)[m]


def learned(instance: mklcvx.Instance, formulation: str, given: Mapping[str, Any]) -> Array:
    solution = mklcvx.solve(instance, formulation, **given)
    if not solution.certified:
        raise RuntimeError(f"{formulation} {dict(given)}: gap {solution.certificate.relative_gap:.1e}")
    return solution.weights


def scored(half: Half, quick: bool) -> Iterator[tuple[Setting, float, Array, float, float]]:
    """For every setting and C: the weights, and macro and micro F1 on the other samples."""
    for setting, own, found in weights(half, quick):
        each = np.broadcast_to(found, (len(half.signs), len(half.kernels)))
        for price in PRICES if own is None else (own,):
            yield setting, price, found, *f1_scores(half.truth, machines(half, each, price))


def machines(half: Half, each: Array, price: float) -> NDArray[np.int64]:
    """0 or 1 for every other sample and label, by the label's SVM."""
    from sklearn.svm import SVC

    predicted, kernel, to_test, last = [], None, None, None
    for y, w in zip(half.signs, each, strict=True):
        if last is None or not np.array_equal(w, last):
            kernel, to_test, last = np.tensordot(w, half.kernels, 1), np.tensordot(w, half.to_test, 1), w
        predicted.append(SVC(C=price, kernel="precomputed").fit(kernel, y).predict(to_test))
    return (np.stack(predicted, axis=1) > 0).astype(int)


def contest(features: Array, labels: NDArray[np.int64], size: int, seed: int, quick: bool = False) -> list[dict[str, Any]]:
    """One random half against the other of `size` songs: a row for every method, tuned within the first half."""
    order = np.random.default_rng([seed, size]).permutation(len(labels))[:size]
    train, test = order[: size // 2], order[size // 2 :]
    inner: dict[tuple[Any, ...], list[float]] = {}
    for fold in np.array_split(train, FOLDS):
        half = halves(features, labels, np.setdiff1d(train, fold), fold)
        for setting, price, _, macro, micro in scored(half, quick):
            inner.setdefault(_key(setting, price), []).append((macro + micro) / 2)
    outer = list(scored(halves(features, labels, train, test), quick))
    return [_row(method, outer, inner) for method in METHODS] + [_oracle(outer)]


def halves(features: Array, labels: NDArray[np.int64], train: Rows, test: Rows) -> Half:
    return Half(*emotion_kernels(features[train], features[test]), labels[train], labels[test])


def _key(setting: Setting, price: float) -> tuple[Any, ...]:
    return setting.method, *setting.parameters.items(), price


def _row(method: str, outer: list[Any], inner: Mapping[tuple[Any, ...], list[float]]) -> dict[str, Any]:
    own = [found for found in outer if found[0].method == method]
    setting, price, used, macro, micro = max(own, key=lambda found: np.mean(inner[_key(found[0], found[1])]))
    row = {"method": method, "macro": macro, "micro": micro, "C": price, **setting.parameters}
    shared = used if used.ndim == 1 else used.mean(axis=0)
    return row | {"weights": [round(float(w), 5) for w in shared]}


def _oracle(outer: list[Any]) -> dict[str, Any]:
    """The individual kernel and C that are best on the test half itself: what no method may know."""
    own = [found for found in outer if found[0].method == "BIK"]
    best = [max(found[place] for found in own) for place in (3, 4)]
    return {"method": "BIK by test", "macro": best[0], "micro": best[1]}
