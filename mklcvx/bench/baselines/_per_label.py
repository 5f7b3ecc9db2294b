"""Baselines that learn every label on its own: one problem for y, one for each class or label against the rest.

The labels share nothing, so that the sums of their lower and of their upper bounds bound the sum of their values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ...certificate import Certificate
from ...problem.instance import Instance
from ...problem.stack import Array
from ._model import Baseline


class Label(NamedTuple):
    """One label's classifier: coefficients (M, n), bias, weights (M,), what proves it, and words where that failed."""

    coefficients: Array
    bias: float
    weights: Array
    certificate: Certificate
    multipliers: Mapping[str, Array | float]
    message: str = ""


def per_label(
    name: str, instance: Instance, parameters: dict[str, Any], learn: Callable[[Instance], Label]
) -> Baseline:
    """Everything has one row per label, but for y, where there is no such axis in weights and multipliers."""
    signs = instance.targets.signs(name, constant_allowed=False)
    found = []
    for labels in signs:
        single = Instance(instance.kernels, labels, names=instance.names, sample_weight=instance.sample_weight)
        found.append(learn(single))
    proofs = [label.certificate for label in found]
    together = {key: np.stack([np.asarray(label.multipliers[key]) for label in found]) for key in found[0].multipliers}
    together["values"] = np.array([proof.upper for proof in proofs])
    alone = instance.targets.kind == "y"
    missed = [
        f"{word}: {label.message}" for word, label in zip(instance.targets.names, found, strict=True) if label.message
    ]
    return Baseline(
        name,
        instance.targets,
        instance.names,
        parameters,
        np.stack([label.coefficients for label in found]),
        np.array([label.bias for label in found]),
        found[0].weights if alone else np.stack([label.weights for label in found]),
        Certificate(
            lower=sum(proof.lower for proof in proofs),
            upper=sum(proof.upper for proof in proofs),
            scale=sum(proof.scale for proof in proofs),
        ),
        {key: value[0] for key, value in together.items()} if alone else together,
        message="; ".join(missed),
    )
