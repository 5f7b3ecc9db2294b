"""Random problems of every formulation and loss: ordinary ones, and those at the edge of what numbers allow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklcvx import Instance, LowRank, available_losses
from mklcvx.formulations import FORMULATIONS, losses

Array = NDArray[np.float64]
SAMPLES = (2, 3, 4, 6, 9, 14, 20, 30, 50)
KERNELS = (1, 2, 3, 5, 8)
BY_NAME = {loss.name: loss for loss in losses.ALL}
LIMIT = 5.0  # seconds for each solver
EDGE = 0.2  # share of the parameters that lie far out


@dataclass(frozen=True)
class Problem:
    """An instance, a formulation and its parameters."""

    kind: str
    instance: Instance
    formulation: str
    parameters: dict[str, Any]
    limits: dict[str, float]

    @property
    def described(self) -> dict[str, Any]:
        shape = [self.instance.count, self.instance.samples]
        return {
            "kernels": self.kind,
            "shape": shape,
            "formulation": self.formulation,
            "parameters": self.parameters,
            "limits": self.limits,
        }


# ----------------------------------------------------------------------------------------------------------- kernels
def _gaussian(rng: np.random.Generator, count: int, n: int) -> Array:
    views = rng.normal(size=(count, n, 3))
    distances = ((views[:, :, None] - views[:, None]) ** 2).sum(-1)
    return np.exp(-rng.uniform(0.1, 2) * distances)


def _linear(rng: np.random.Generator, count: int, n: int) -> Array:
    features = rng.integers(-3, 4, size=(count, n, int(rng.integers(1, 4)))).astype(float)
    return features @ features.transpose(0, 2, 1)


def _sized(rng: np.random.Generator, count: int, n: int) -> Array:
    return np.ldexp(_gaussian(rng, count, n), rng.integers(-30, 31, size=(count, 1, 1)))


def _far_out(rng: np.random.Generator, count: int, n: int) -> Array:
    return np.ldexp(_gaussian(rng, count, n), int(rng.choice([-1000, -500, -200, 200, 400, 500])))


def _equal(rng: np.random.Generator, count: int, n: int) -> Array:
    return np.tile(_gaussian(rng, 1, n), (count, 1, 1))


def _nearly_equal(rng: np.random.Generator, count: int, n: int) -> Array:
    return _equal(rng, count, n) + 1e-9 * np.eye(n) * rng.random((count, 1, 1))


def _with_trivial(rng: np.random.Generator, count: int, n: int) -> Array:
    stack = _gaussian(rng, count, n)
    stack[0] = (np.zeros((n, n)), np.ones((n, n)), np.eye(n))[int(rng.integers(3))]
    return stack


def _repeated(rng: np.random.Generator, count: int, n: int) -> Array:
    chosen = rng.integers(0, max(1, n // 2), size=n)
    return _gaussian(rng, count, n)[:, chosen][:, :, chosen]


def _ill(rng: np.random.Generator, count: int, n: int) -> Array:
    turned, _ = np.linalg.qr(rng.normal(size=(count, n, n)))
    stack = (turned * np.geomspace(1, 1e-15, n)) @ turned.transpose(0, 2, 1)
    return (stack + stack.transpose(0, 2, 1)) / 2 + 1e-15 * n * np.eye(n)


def _offset(rng: np.random.Generator, count: int, n: int) -> Array:
    return _gaussian(rng, count, n) + 10.0 ** rng.integers(3, 9)


def _single_precision(rng: np.random.Generator, count: int, n: int) -> Any:
    return (_gaussian(rng, count, n) + 1e-5 * np.eye(n)).astype(np.float32)


def _factors(rng: np.random.Generator, count: int, n: int) -> Any:
    return LowRank([rng.normal(size=(n, int(rng.integers(1, 4)))) for _ in range(count)])


Drawing = Callable[[np.random.Generator, int, int], Any]
ORDINARY: tuple[Drawing, ...] = (_gaussian, _linear)
KINDS: dict[str, Drawing] = {
    "Gaussian": _gaussian,
    "linear, whole numbers": _linear,
    "sizes 2^-30 to 2^30": _sized,
    "sizes 2^-1000 to 2^500": _far_out,
    "equal kernels": _equal,
    "nearly equal kernels": _nearly_equal,
    "one zero, constant or identity": _with_trivial,
    "repeated samples": _repeated,
    "condition 1e15": _ill,
    "large constant": _offset,
    "single precision": _single_precision,
    "low-rank factors": _factors,
}


# ------------------------------------------------------------------------------------------------------------ problems
def drawn(rng: np.random.Generator) -> Problem:
    """A random problem."""
    kind = str(rng.choice(list(KINDS)))
    formulation = FORMULATIONS[int(rng.integers(len(FORMULATIONS)))]
    count = 1 if formulation.name == "svm" else int(rng.choice(KERNELS))
    n = int(rng.choice(SAMPLES))
    choices = available_losses(formulation.name)
    loss = str(rng.choice(choices)) if choices else None
    parameters = {} if loss is None else {"loss": loss, **_of_loss(rng, loss)}
    parameters |= _own(rng, formulation, count)
    more: dict[str, Any] = {}
    if formulation.needs_groups or rng.random() < 0.2:
        more["groups"] = rng.integers(0, max(1, count // 2), size=count)
    if rng.random() < 0.2:
        more["sample_weight"] = 10.0 ** rng.uniform(-8, 8, size=n) if rng.random() < EDGE else rng.uniform(0.5, 2, n)
    stack = KINDS[kind](rng, count, n)
    instance = Instance(stack, **_targets(rng, formulation, loss, n), **more)
    return Problem(kind, instance, formulation.name, parameters, _limits(rng))


def _targets(rng: np.random.Generator, formulation: Any, loss: str | None, n: int) -> dict[str, Any]:
    """What the loss takes; without a loss, what the formulation takes."""
    kind = BY_NAME[loss].targets if loss is not None else ("label sets" if rng.random() < 0.5 else "labels")
    size = 10.0 ** rng.integers(-100, 101) if rng.random() < EDGE else 1.0
    if kind == "labels":
        y = np.where(np.arange(n) < max(1, int(n * rng.uniform(0.05, 0.5))), 1, -1)
        return {"y": rng.permutation(y)}
    if kind == "classes":
        return {"classes": rng.permutation(np.arange(n) % int(rng.integers(2, 5)))}
    if kind == "label sets":
        members = (rng.random((n, int(rng.integers(1, 5)))) < 0.5).astype(int)
        members[:2] = [[1], [0]]  # a label of none or of all is refused
        return {"labels": members}
    if kind == "counts":
        return {"response": rng.poisson(3, size=n).astype(float)}
    if kind == "response":
        constant = rng.random() < 0.1
        return {"response": size * (np.ones(n) if constant else rng.normal(size=n))}
    return {}


def _of_loss(rng: np.random.Generator, loss: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for parameter in BY_NAME[loss].parameters:
        if rng.random() < 0.3:
            continue
        if parameter.name in ("nu", "quantile"):
            found[parameter.name] = float(rng.uniform(0.05, 0.6))
        else:
            found[parameter.name] = _price(rng)
    if rng.random() < 0.2:
        found["bias"] = bool(rng.random() < 0.5)
    return found


def _price(rng: np.random.Generator) -> float:
    """Positive: mostly moderate, sometimes far out, or next to 1."""
    if rng.random() >= EDGE:
        return float(10.0 ** rng.uniform(-4, 5))
    return float(rng.choice([10.0 ** rng.uniform(-99, 99), 10.0 ** rng.uniform(-16, 16), 1e-100, 1e100, 1 + 2.0**-52]))


def _own(rng: np.random.Generator, formulation: Any, count: int) -> dict[str, Any]:
    """The formulation's own numbers, within its limits."""
    found: dict[str, Any] = {}
    for parameter in formulation.parameters:
        if parameter.name == "dimensions" or rng.random() < 0.3:
            continue
        tries = (_price(rng), 1 + _price(rng), float(rng.choice([0.0, 1.0, rng.random()])), 2 + _price(rng))
        fitting = [value for value in tries if parameter.accepts(value, count)]
        if fitting:
            found[parameter.name] = fitting[0]
    if "C" in formulation.parameter_names and not available_losses(formulation.name) and rng.random() < 0.7:
        found["C"] = _price(rng)
    return found


def _limits(rng: np.random.Generator) -> dict[str, float]:
    """Mostly enough time; sometimes next to none, or an iteration or two."""
    draw = rng.random()
    if draw < 0.05:
        return {"time_limit": float(10.0 ** rng.uniform(-6, -1))}
    return {"time_limit": LIMIT, "max_iter": int(rng.integers(1, 4))} if draw < 0.1 else {"time_limit": LIMIT}
