"""The words that several conventions share: prices, norms, class order, kernels of unit trace."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import InputError
from ...formulations._formulation import Parameter
from ...formulations.families.single_task import C
from ...formulations.lp import BALL
from ...problem.instance import Instance
from ...problem.preprocessing import Preprocessing, UnitTrace
from ...solvers.solving import preprocessed
from ._convention import Array, Problem

__all__ = [
    "BALL",
    "FIRST_LABEL",
    "SQUARED_BALL",
    "UNIT",
    "C",
    "ball",
    "check_unit_trace",
    "exponent",
    "lam",
    "sample_side",
    "unit_trace",
]  # fmt: skip

UNIT = 1e-9  # how far a trace may be from one

SQUARED_BALL = Parameter("p", "norm of the penalty on weights", "p ≥ 1", lambda v, _: v >= 1, lambda _: 2.0, "2")
FIRST_LABEL = Parameter(
    "first_label",
    "the class that the code takes as positive",
    "first_label = 1 or −1",
    lambda v, _: v in (-1, 1),
    lambda _: 1.0,
    "1",
)


def lam(meaning: str) -> Parameter:
    return Parameter("lam", meaning, "λ > 0", lambda v, _: v > 0, lambda _: 1.0, "1")


def ball(p: float) -> tuple[str, dict[str, float]]:
    """Our formulation for weights in the ℓp ball, and its own parameters."""
    if p == 1:
        return "l1", {}
    return ("l2", {}) if p == 2 else ("lp", {"p": p})


def exponent(problem: Problem) -> float:
    """The p of one of our balls: the inverse of `ball`."""
    return float({"l1": 1.0, "l2": 2.0}.get(problem.formulation) or problem.parameters["p"])


def sample_side(parameters: dict[str, Any]) -> dict[str, Any]:
    """C and bias, which mean the same in most places."""
    return {name: parameters[name] for name in ("C", "bias") if name in parameters}


def unit_trace(instance: Instance) -> tuple[Instance, Array]:
    """The instance with every kernel divided by its trace, and the traces; test kernels are divided as well."""
    chain = Preprocessing([UnitTrace()])
    scaled = preprocessed(instance, chain)
    if instance.test_kernels is not None:
        scaled = scaled.with_kernels(scaled.kernels, test_kernels=chain.test(instance.test_kernels))
    return scaled, np.array([float(np.trace(kernel)) for kernel in instance.kernels])


def check_unit_trace(instance: Instance, name: str) -> None:
    for kernel, title in zip(instance.kernels, instance.names, strict=True):
        if abs(np.trace(kernel) - 1) > UNIT:
            raise InputError(
                f"kernel {title!r} has trace {np.trace(kernel):.6g}, and {name} would divide by it: divide by it first"
            )
