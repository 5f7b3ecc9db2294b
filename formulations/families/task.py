"""The sample side, shared by all single-task formulations: a loss over the samples, with or without bias.

Notation: n samples, labels y ∈ {−1,+1}ⁿ, kernels K_1..K_M, f = Σ_m f_m + b, box C_i = C times the weight of sample i.
Two losses need no name, for C or nu sets them: loss c is the C-SVC (its name is `hinge`), loss nu the ν-SVM.

    loss c    risk(f) = Σ_i C_i max(0, 1 − y_i f(x_i)),
              gain(α) = Σ_i α_i,   S = {0 ≤ α ≤ C, y'α = 0}
    loss nu   risk(f) = min over ρ of Σ_i C_i max(0, ρ − y_i f(x_i)) − ρ,   C = 1/(νn),
              gain(α) = 0,   A = {0 ≤ α ≤ C, y'α = 0, 1'α = 1}

Theorems write S for the feasible set; with loss nu it is A. Without bias the condition y'α = 0 is dropped. For every α
in the feasible set and every f_1..f_M, b

    risk(f) ≥ gain(α) − Σ_i α_i y_i Σ_m f_m(x_i),

which is the half of weak duality that has nothing to do with kernels. Every other loss has it too, with a risk, a gain
and bounds on α that its own theorem states (`squared`, `logistic`, `huber` and others, by the parameter `loss`). Where
targets are not labels, theorems mean α by α∘y: in general it is β = s∘α with signs s, y for labels and 1 otherwise.
References: Cortes & Vapnik 1995 (loss c); Schölkopf et al. 2000, in the form of Xu et al. 2013 Eq. (2) (loss nu).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ...problem.stack import Array, KernelStack
from .._formulation import Own
from ..losses import LOSSES, REAL, Loss, Risk


@dataclass(frozen=True)
class RankOneCoefficients:
    """The coefficients c_m = weight_m (α∘y) that weights and α imply; `signed` is α∘y, or a multiple of it: (n,), or
    (k, n) with k outputs."""

    weights: Array
    signed: Array

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> Array:
        return np.asarray(self.weights[:, None] * self.signed[..., None, :])


@dataclass(frozen=True)
class Task(KernelStack):
    """Kernels, targets and the sample side's parameters; `loss` is one of `losses`, or its name; `box` holds the prices
    of the samples, `own` the formulation's own parameters."""

    y: Array
    box: Array
    loss: str | Loss = "c"
    bias: bool = True
    own: Mapping[str, Own] = field(default_factory=dict)
    target_unit: float = 1.0  # what real targets were divided by, for declarations

    @property
    def loss_function(self) -> Loss:
        return LOSSES[self.loss] if isinstance(self.loss, str) else self.loss

    @property
    def signs(self) -> Array:
        """s, which leads from α to β = s∘α: y for labels, 1 for other targets."""
        return self.loss_function.signs(self.y)

    @property
    def low(self) -> Array:
        """The smallest α; 0 for labels."""
        return self.loss_function.bounds(self.y, self.box)[0]

    @property
    def limit(self) -> Array:
        """The largest α."""
        return self.loss_function.bounds(self.y, self.box)[1]

    # ------------------------------------------------------------------------------------------- units
    def in_units(self, size: float, own: Mapping[str, Own]) -> Task:
        """The same problem with every kernel divided by `size`; `own` are the formulation's parameters there.

        Prices C: C is multiplied by size; f stays, in the units of the targets, α and the value are multiplied by size.
        ν-forms:  C and α stay, f and the value are divided by size.
        """
        scaled = replace(self, box=self.box * self.loss_function.price_unit(size), own=own)
        self.share_factors(scaled, size)
        return scaled

    def spread(self) -> float:
        """The size of real targets, a power of two; with a bias they are counted from their median. 1 for others."""
        if self.loss_function.targets != REAL:
            return 1.0
        largest = float(np.abs(self.y - self._middle()).max(initial=0.0))
        return 2.0 ** round(math.log2(largest)) if largest > 0 else 1.0

    def in_target_units(self, size: float, own: Mapping[str, Own]) -> Task:
        """The same problem with real targets divided by `size`: f and α are divided by it, prices are multiplied by
        size^(degree − 2), the value is divided by size². `own` are the formulation's parameters there."""
        loss = self.loss_function
        box, y = self.box * size ** (loss.degree - 2), (self.y - self._middle()) / size
        scaled = replace(self, y=y, box=box, loss=loss.in_units_of(size), own=own, target_unit=size)
        self.share_factors(scaled, 1.0)
        return scaled

    def _middle(self) -> float:
        return float(np.median(self.y)) if self.bias else 0.0

    def centred(self) -> Task:
        """The same problem, with a bias, without large constants in the kernels: what solvers work with."""
        return self.without_constants() if self.bias else self

    def with_samples(self, some: NDArray[np.intp]) -> Task:
        """The problem of some of the samples, with a copy of their part of the kernels."""
        offsets = None if self.offsets is None else self.offsets[:, some]
        return replace(
            self, kernels=self.of_some(some), y=self.y[some], box=self.box[some], sizes=None, offsets=offsets
        )

    def alone(self, kernel: Array) -> Task:
        """The same samples with one other kernel, such as a combination of these."""
        return replace(self, kernels=kernel[None], own={}, symmetric=True, sizes=None, offsets=None)

    def value_unit(self, size: float) -> float:
        """The factor of the value when every kernel is divided by `size`."""
        return self.loss_function.value_unit(size)

    # ------------------------------------------------------------------ the dual side of the bounds
    def root_q(self, alpha: Array) -> Array:
        """d_m = √q_m(α), the norm of K_m(α∘y) in kernel m's space."""
        return np.sqrt(self.quad_forms(alpha * self.signs))

    def accurate_root_q(self, alpha: Array) -> Array:
        """The same, accurate to ten digits even where they nearly vanish."""
        return np.sqrt(self.accurate_quad_forms(alpha * self.signs))

    def gain(self, alpha: Array) -> float:
        return self.loss_function.gain(alpha, self.y, self.box)

    def equalities(self) -> tuple[Array, Array]:
        """The equalities of the feasible set, as rows and totals."""
        return self.loss_function.equalities(self.y, self.bias)

    def feasible(self, alpha: Array) -> Array:
        """An α in S (or A) near the given one; its equalities hold exactly."""
        return self.loss_function.feasible(alpha, self.y, self.box, self.bias)

    # ---------------------------------------------------------------- the primal side of the bounds
    def evaluate(self, coefficients: Array | RankOneCoefficients) -> tuple[Array, Array]:
        """Outputs Σ_m K_m c_m at the samples, and the norms a_m = ‖f_m‖ = √(c_m'K_m c_m)."""
        if isinstance(coefficients, RankOneCoefficients):
            images = self.matvecs(coefficients.signed)
            norms = np.abs(coefficients.weights) * np.sqrt(self.quad_forms(coefficients.signed))
            return coefficients.weights @ images, norms
        images = self.matvecs_each(coefficients)
        squares = np.einsum("mi,mi->m", images, coefficients)
        return images.sum(axis=0), np.sqrt(np.maximum(squares, 0.0))

    def risk(self, outputs: Array) -> Risk:
        """The minimum over b (and ρ)."""
        return self.loss_function.risk(outputs, self.y, self.box, self.bias)
