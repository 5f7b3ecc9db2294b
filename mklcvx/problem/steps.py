"""Maps of feature space that training kernels determine: a shift (`Centre`), a scale common to all samples
(`UnitDiagonal`, `UnitTrace`, `UnitVariance`) or one of each sample's own (`Cosine`). `preprocessing` chains them.

With sample weights w every sum over training samples counts sample i w_i times: weight 2 is a repeated sample.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, TypeVar

import numpy as np

from .kernel_functions import Array

# A difference this small beside its terms is rounding: some tens of ε, for sums over all samples.
ROUNDING = 64 * np.finfo(float).eps

State = dict[str, Array]
Value = TypeVar("Value", Array, float)


@dataclass(frozen=True)
class Step(ABC):
    """One map of feature space: `fit` learns its state from a training kernel, `apply` works in place.

    The state of one kernel is a few numbers, each a single one or one per training sample, as `per_sample`
    tells; `divides_by` is the one that must be positive.
    """

    name: ClassVar[str]
    per_sample: ClassVar[dict[str, bool]]
    needs_diagonal: ClassVar[bool] = False
    divides_by: ClassVar[str | None] = None
    of_diagonal: ClassVar[bool] = False  # whether the diagonal alone determines the state
    multiplies: ClassVar[bool] = True  # whether entries are multiplied and nothing is taken away from them

    @abstractmethod
    def fit(self, kernel: Array, diagonal: Array, weight: Array | None = None) -> State:
        """Compute the state from a training kernel, its diagonal and sample weights, if any; raise ArithmeticError if
        there is none."""

    @abstractmethod
    def apply(self, kernel: Array, diagonal: Array | None, state: State) -> Array | None:
        """Transform a kernel (rows × training samples) in place; return the k(x, x) of its rows, if known."""

    def stretches(self, state: State) -> float:
        """Factor by which the step can enlarge a change of the kernel."""
        return 1.0

    def changes(self, state: State) -> bool:
        """Whether the step changes the kernel at all."""
        return True


class _Scale(Step):
    per_sample: ClassVar[dict[str, bool]] = {"scale": False}
    divides_by = "scale"

    def apply(self, kernel: Array, diagonal: Array | None, state: State) -> Array | None:
        kernel /= state["scale"]
        return None if diagonal is None else diagonal / state["scale"]

    def stretches(self, state: State) -> float:
        return float(1 / state["scale"])

    def changes(self, state: State) -> bool:
        return bool(state["scale"] != 1)


class UnitDiagonal(_Scale):
    """K / mean kᵢᵢ: training kernels whose diagonal is 1 on average, whatever the number of samples.

    Gaussians have that already. A kernel without a positive trace stays as it is: it is zero, or no kernel.
    """

    name = "diagonal"
    of_diagonal = True

    def fit(self, kernel: Array, diagonal: Array, weight: Array | None = None) -> State:
        mean = np.asarray(np.average(diagonal, weights=weight), dtype=np.float64)
        return {"scale": mean if mean > np.finfo(float).tiny else np.ones(())}


class UnitTrace(_Scale):
    """K / tr K: training kernels of trace 1."""

    name = "trace"
    of_diagonal = True

    def fit(self, kernel: Array, diagonal: Array, weight: Array | None = None) -> State:
        trace = diagonal.sum() if weight is None else weight @ diagonal
        return {"scale": _positive(trace, "its trace is zero or negative")}


class UnitVariance(_Scale):
    """K / (mean kᵢᵢ − mean kᵢⱼ): training samples of unit variance about their mean in feature space."""

    name = "variance"

    def fit(self, kernel: Array, diagonal: Array, weight: Array | None = None) -> State:
        mean = kernel.mean() if weight is None else np.average(kernel @ weight / weight.sum(), weights=weight)
        variance, size = np.average(diagonal, weights=weight) - mean, np.average(np.abs(diagonal), weights=weight)
        return {"scale": _positive(variance, "its variance is zero", relative_to=size)}


class Cosine(Step):
    """k(x, z) / √(k(x, x) k(z, z)): samples of unit length in feature space. Test kernels need k(x, x)."""

    name = "cosine"
    per_sample: ClassVar[dict[str, bool]] = {"diagonal": True}
    needs_diagonal = True
    divides_by = "diagonal"

    def fit(self, kernel: Array, diagonal: Array, weight: Array | None = None) -> State:
        return {"diagonal": _positive(diagonal, "k(x, x) is zero or negative")}

    def apply(self, kernel: Array, diagonal: Array | None, state: State) -> Array | None:
        assert diagonal is not None, "Preprocessing.test asks for it"
        kernel /= np.sqrt(_positive(diagonal, "k(x, x) is zero or negative"))[:, None]
        kernel /= np.sqrt(state["diagonal"])
        return np.ones_like(diagonal)

    def stretches(self, state: State) -> float:
        return float(1 / state["diagonal"].min())


class Centre(Step):
    """⟨φ(x) − φ̄, φ(z) − φ̄⟩, with φ̄ the mean of the training samples in feature space.

    What is common to a row is taken away first: of numbers that are near each other the difference is exact, so that
    an offset of all samples, be it a million times their spread, costs no digits but those the kernel lacks already.
    The state is ⟨φ̄, φ(z) − φ̄⟩ of every training sample, and ‖φ̄‖² in two parts, the second what rounding took.
    """

    name = "centre"
    per_sample: ClassVar[dict[str, bool]] = {"offsets": True, "mean": False, "rest": False}
    multiplies = False

    def fit(self, kernel: Array, diagonal: Array, weight: Array | None = None) -> State:
        shares = np.full(len(kernel), 1 / len(kernel)) if weight is None else weight / weight.sum()
        rows = kernel.copy()
        first, beyond = _without_row_means(rows, shares)
        rest = shares @ (first - first[0] + beyond)
        mean = first[0] + rest
        state: State = {"offsets": shares @ rows, "mean": mean, "rest": (first[0] - mean) + rest}
        state |= {} if weight is None else {"shares": shares}
        centred = _centred_diagonal(diagonal, first, beyond, state)
        _positive(centred.max(), "it is constant, and centring leaves nothing of it")
        return state

    def apply(self, kernel: Array, diagonal: Array | None, state: State) -> Array | None:
        first, beyond = _without_row_means(kernel, state.get("shares"))
        kernel -= state["offsets"]
        return None if diagonal is None else _centred_diagonal(diagonal, first, beyond, state)


class WeightedCentre(Centre):
    """`Centre` with φ̄ = Σ w_i φ(x_i) / Σ w_i."""

    name = "weighted centre"
    per_sample: ClassVar[dict[str, bool]] = {**Centre.per_sample, "shares": True}

    def stretches(self, state: State) -> float:
        """‖I − 1s'‖² of the shares s."""
        return max(1.0, float(len(state["shares"]) * (state["shares"] @ state["shares"])))


STEPS: dict[str, type[Step]] = {
    step.name: step for step in (Centre, WeightedCentre, UnitDiagonal, UnitTrace, UnitVariance, Cosine)
}
NORMALISATIONS = tuple(name for name, step in STEPS.items() if not issubclass(step, Centre))


def _without_row_means(kernel: Array, shares: Array | None) -> tuple[Array, Array]:
    """Subtract the means of the rows in place; return them in two parts, the first entries of the rows and the rest."""
    first = kernel[:, 0].copy()
    kernel -= first[:, None]
    beyond = kernel.mean(axis=1) if shares is None else kernel @ shares
    kernel -= beyond[:, None]
    return first, beyond


def _centred_diagonal(diagonal: Array, first: Array, beyond: Array, state: State) -> Array:
    """‖φ(x) − φ̄‖², exactly 0 where the difference is only rounding, so that no code divides by it."""
    own, common = (diagonal - first) - beyond, ((first - state["mean"]) - state["rest"]) + beyond
    size = np.maximum(np.abs(diagonal), np.maximum(np.abs(first + beyond), np.abs(state["mean"])))
    centred = own - common
    return np.where(centred > ROUNDING * size, centred, 0.0)


def _positive(value: Value, otherwise: str, relative_to: float = 0.0) -> Value:
    if np.min(value) <= max(np.finfo(float).tiny, ROUNDING * relative_to):
        raise ArithmeticError(otherwise + (f" for sample {np.argmin(value)}" if np.ndim(value) else ""))
    return value
