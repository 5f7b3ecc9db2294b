"""Usual mistakes in the kernels that a solver was fed: centred, normalised, with a ridge, or rounded on the way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ...errors import InputError
from ...problem.low_rank import LowRank
from ...problem.stack import Array
from ..answers import Answer
from ..case import Case
from .trial import Hypothesis, Trial, Trials

RIDGES = (1e-8, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0)
DECIMALS = (2, 3, 4)
DIGITS = 6  # that C++ writes of a number, unless told otherwise
PREPARED: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("kernels_centred", "centred in feature space", {"centre": True}),
    ("kernels_cosine", "with unit diagonal (cosine)", {"normalise": "cosine"}),
    ("kernels_variance", "of unit variance", {"normalise": "variance"}),
    ("kernels_variance", "centred in feature space and of unit variance", {"centre": True, "normalise": "variance"}),
)


def kernels_rescaled(case: Case, answer: Answer) -> Trials:
    from ...problem.preprocessing import Preprocessing

    kernels, n = np.asarray(case.instance.kernels, dtype=float), case.instance.samples
    traces = np.array([np.trace(kernel) for kernel in kernels])
    if (traces > 0).all():
        for size, words in ((1.0, "unit trace"), (float(n), f"trace n = {n}")):
            scaled = case.instance.with_kernels(kernels * (size / traces)[:, None, None])
            yield Trial("kernels_trace", f"optimal for the kernels rescaled to {words}", answer, instance=scaled)
    for name, words, options in PREPARED:
        if options == {"centre": True} and answer.bias is None and case.parameters.get("bias", False):
            continue  # y'α = 0 undoes it: q is the same, and only the bias is another
        try:
            changed = case.instance.with_kernels(Preprocessing.from_options(**options).fit(kernels).train(kernels))
        except (InputError, ArithmeticError):  # kernels that cannot be changed so were not
            continue
        yield Trial(name, f"optimal for the kernels {words}", answer, instance=changed)


def constant_added(case: Case, answer: Answer) -> Trials:
    """½b² is paid for: a constant kernel takes the bias's place, and y'α = 0 is no constraint."""
    if case.parameters["bias"] and _dense(case):
        changed = case.instance.with_kernels(np.asarray(case.instance.kernels, dtype=float) + 1.0)
        words = "optimal for a bias that is penalised like the rest: 1 added to every kernel, and no y'α = 0"
        given = {**case.parameters, "bias": False}
        yield Trial("bias_penalised", words, replace(answer, bias=None), changed, parameters=given)


def ridge(case: Case, answer: Answer) -> Trials:
    if (answer.alpha is None and answer.objective is None) or not _dense(case):
        return
    kernels, identity = np.asarray(case.instance.kernels, dtype=float), np.eye(case.instance.samples)
    for size in RIDGES:
        changed = case.instance.with_kernels(kernels + size * identity)
        words = f"optimal for kernels with {size:g} added to their diagonals"
        yield Trial("ridge", words, answer, instance=changed)


def kernels_rounded(case: Case, answer: Answer) -> Trials:
    """Kernels that lost digits on their way; what rounding makes indefinite is clipped."""
    if not _dense(case):
        return
    kernels = np.asarray(case.instance.kernels, dtype=float)
    for words, rounded in _roundings(kernels):
        if not np.array_equal(rounded, kernels) and np.isfinite(rounded).all():
            try:
                changed = case.instance.with_kernels(rounded, repair="clip")
            except (InputError, ArithmeticError):
                continue
            yield Trial("kernels_rounded", f"optimal for kernels {words}", answer, instance=changed)


def _roundings(kernels: Array) -> Iterator[tuple[str, Array]]:
    with np.errstate(over="ignore"):
        yield "in half precision", kernels.astype(np.float16).astype(float)
    for decimals in DECIMALS:
        yield f"written with {decimals} decimals", kernels.round(decimals)
    sizes = 10.0 ** (DIGITS - 1 - np.floor(np.log10(np.where(kernels == 0, 1.0, np.abs(kernels)))))
    yield f"written with {DIGITS} digits", np.round(kernels * sizes) / sizes


def _dense(case: Case) -> bool:
    return not isinstance(case.instance.kernels, LowRank)


KERNELS: tuple[Hypothesis, ...] = (ridge, kernels_rounded)
