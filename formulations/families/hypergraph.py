"""The family of hypergraphs: labels as hyperedges, and the kernel whose spectral embedding fits them best.

Labels Y (n, k) in {0, 1}; a label is an edge that joins its samples. With edge degrees D_e = diag(Y'1), vertex degrees
D_v = diag(Y1) and pseudo-inverses where a degree is zero, the normalised Laplacian is I − A with

    clique   A = D_c^{−½} YY' D_c^{−½},  D_c = diag(YY'1): every edge becomes a clique. Self-loops are kept, without
             which it is indefinite; Agarwal et al. 2006 leave them out.
    star     A = D_s^{−½} Y D_e^{−2} Y' D_s^{−½},  D_s = diag(Y D_e^{−1} 1): every edge becomes a star around a new
             vertex; Agarwal et al. 2006 show it equivalent to a normalised Laplacian of the bipartite graph, of which
             this is the part on the samples.
    zhou     A = D_v^{−½} Y D_e^{−1} Y' D_v^{−½}: directly from the hypergraph, edges of unit weight (Zhou et al. 2007).
    kcca     A = Y (Y'Y)⁺ Y': the projection that makes the embedding kernel canonical correlation analysis
             (Sun, Ji, Ye 2008 relate the two).

Each is positive semidefinite of rank at most k, A = HH'. A sample without labels has an empty row in H;
dependent labels lower the rank. The embedding B of a kernel K maximises tr(B'KAKB) subject to B'(K² + λK)B = I, and

    tr(A) − tr(H'(I + K/λ)⁻¹H)  is the sum of its generalised eigenvalues: the best kernel minimises the trace.

Kernels have unit trace in the paper; here that is an explicit step before. Reference: Ji et al. 2008.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Generic, NamedTuple, TypeVar

import numpy as np

from ...errors import InputError
from ...problem.instance import Instance
from ...problem.stack import Array, KernelStack
from .._cvxpy import cp
from .._formulation import Formulation, Given, Parameter, Parameters, Points, as_choice
from ..losses import SQUARED, Separable
from .joint import JointTask
from .single_task import OnWeights

NOTATION = __doc__ or ""  # inside a class the name would mean the class's own text
EXPANSIONS = ("clique", "star", "zhou", "kcca")
LAMBDA = Parameter("lam", "ridge of the embedding", "λ > 0", lambda v, _: v > 0, lambda _: 1.0, "1")
SMOOTHING = Parameter("smoothing", "smoothing σ of the maximum", "σ > 0", lambda v, _: v > 0, lambda _: 0.01, "0.01")
DIMENSIONS = Parameter(
    "dimensions", "of the embedding", "a whole number ≥ 1, at most the rank of A",
    lambda v, _: v >= 1 and v == int(v), lambda _: None, "the rank of A",
)  # fmt: skip


def incidence(labels: Array, expansion: str) -> Array:
    """H with HH' = A, as many columns as A has rank."""
    edges = labels.sum(axis=0)
    raw, degrees = labels, np.ones(len(labels))
    if expansion == "clique":
        degrees = labels @ edges
    elif expansion == "star":
        raw, degrees = labels / edges, labels @ (1 / edges)
    elif expansion == "zhou":
        raw, degrees = labels / np.sqrt(edges), labels.sum(axis=1)
    scaled = raw / np.sqrt(np.where(degrees > 0, degrees, 1.0))[:, None]
    basis, values, _ = np.linalg.svd(scaled, full_matrices=False)
    keep = values > len(labels) * np.finfo(float).eps * values[0]
    return basis[:, keep] if expansion == "kcca" else basis[:, keep] * values[keep]


class Embedding(NamedTuple):
    """μ on the simplex, and Z: a dual point. (A primal point is Z alone.)"""

    weights: Array
    z: Array


Z = TypeVar("Z", Embedding, Array)


class HypergraphBound(NamedTuple, Generic[Z]):
    """`fit` is tr(HH') − tr(H'(I + K(μ)/λ)⁻¹H), where μ is known."""

    value: float
    point: Z
    largest_term: float
    fit: float = 0.0


@dataclass(frozen=True)
class HyperTask(KernelStack):
    """Kernels, H (n, r) and the ridge λ; `smoothing` is None for the exact form."""

    h: Array
    lam: float
    smoothing: float | None = None

    @property
    def own(self) -> Mapping[str, float]:
        """The parameters of the regulariser."""
        return {} if self.smoothing is None else {"smoothing": self.smoothing}

    @cached_property
    def outputs(self) -> JointTask:
        """The same problem with the sign turned, of the kernels K_m/(2λ): a squared loss of price 2, without a bias, of
        the responses H. Its α is Z'."""
        prices, response = np.full(self.samples, 2.0), np.ascontiguousarray(self.h.T)
        stack: Parameters = {"symmetric": self.symmetric, "sizes": self.sizes}
        return JointTask(self.kernels, response, prices, Separable(SQUARED), bias=False, **stack)

    def scores(self, z: Array) -> Array:
        """S_m(Z) = ¼‖Z‖² + (1/4λ) tr(Z'K_mZ) − tr(Z'H) for every kernel."""
        quadratic = np.array([np.vdot(z, kernel @ z) for kernel in self.each_kernel()])
        return np.asarray(np.vdot(z, z) / 4 + quadratic / (4 * self.lam) - np.vdot(z, self.h))

    def trace_bound(self, weights: Array, x: Array) -> tuple[float, float]:
        """At least tr(H'P⁻¹H) for P = I + K(μ)/λ, whatever x: P ⪰ I makes the residual's part at most ‖H − Px‖². And
        tr(HH') less that bound, without the difference: ‖H − x‖² + tr(x'K(μ)x)/λ − ‖H − Px‖²."""
        image = self.combined(weights) @ x / self.lam
        residual = float(np.sum((self.h - x - image) ** 2))
        bound = float(2 * np.vdot(x, self.h) - np.vdot(x, x + image)) + residual
        return bound, max(float(np.sum((self.h - x) ** 2) + np.vdot(x, image)) - residual, 0.0)


class HypergraphPrimal(NamedTuple):
    """The program over Z; the multipliers of `cuts`, if any, are μ."""

    problem: cp.Problem
    z: cp.Variable
    cuts: list[cp.Constraint]


class HypergraphDual(NamedTuple):
    """The program over μ."""

    problem: cp.Problem
    mu: cp.Variable


class Hypergraph(
    Formulation[
        HyperTask,
        Embedding,
        Array,
        HypergraphBound[Embedding],
        HypergraphBound[Array],
        HypergraphPrimal,
        HypergraphDual,
    ]
):
    """Both forms state a minimum over Z that equals a maximum over μ; values are reported as that minimum."""

    family: ClassVar[str] = "hypergraph"
    notation: ClassVar[str] = NOTATION
    embeds: ClassVar[bool] = True
    many_labels: ClassVar[bool] = True

    single: ClassVar[OnWeights]  # of which it is the form for the outputs H
    routes: ClassVar[tuple[str, ...]] = ("primal",)  # the program over μ is semidefinite: a witness, not a way to solve

    @property
    def described_parameters(self) -> list[tuple[str, str]]:
        expansion = f"how labels make a graph; {', '.join(EXPANSIONS)}; default clique"
        return [("expansion", expansion), *super().described_parameters]

    def task(self, instance: Instance, given: Given) -> tuple[HyperTask, Parameters]:
        self.check_names(given)
        expansion = as_choice("expansion", given.get("expansion"), EXPANSIONS)
        lam = LAMBDA.resolve(given.get("lam"), self.name, instance.count)
        resolved: Parameters = {"expansion": expansion, "lam": lam}
        smoothing = None
        if SMOOTHING in self.parameters:
            smoothing = resolved["smoothing"] = SMOOTHING.resolve(given.get("smoothing"), self.name, instance.count)
        h = incidence(np.maximum(instance.targets.signs(self.name), 0.0).T, expansion)
        rank, dimensions = h.shape[1], given.get("dimensions")
        resolved["dimensions"] = rank
        if dimensions is not None:
            wanted = resolved["dimensions"] = int(DIMENSIONS.resolve(dimensions, self.name, instance.count))
            if wanted > rank:
                raise InputError(f"parameter dimensions = {wanted:g} exceeds the rank of A: give at most {rank}")
        return HyperTask(instance.kernels, h, lam, smoothing, symmetric=instance.symmetric), resolved

    def joined(self, task: HyperTask, scores: Array) -> float:
        """The largest score of the kernels, or its smoothed value: R*."""
        return self.single.regulariser.conjugate(scores, **task.own)

    def bonus(self, task: HyperTask, mu: Array) -> float:
        """The term of the lower bound that depends on μ alone: −R(μ)."""
        return -float(np.sum(self.single.regulariser.value(mu, **task.own)))

    @abstractmethod
    def responsible(self, task: HyperTask, scores: Array) -> Array:
        """The weights that the scores imply, or the best single kernel."""

    def lower(self, task: HyperTask, point: Embedding) -> HypergraphBound[Embedding]:
        """A lower bound of −tr(H'(I + K(μ)/λ)⁻¹H), with μ made feasible and one product instead of a solve."""
        mu = np.maximum(point.weights, 0.0)
        mu = mu / mu.sum()
        trace, fit = task.trace_bound(mu, point.z / 2)
        return HypergraphBound(self.bonus(task, mu) - trace, Embedding(mu, point.z), abs(trace), fit)

    def upper(self, task: HyperTask, point: Array) -> HypergraphBound[Array]:
        scores = task.scores(point)
        return HypergraphBound(self.joined(task, scores), point, float(np.vdot(point, task.h)))

    def scale(self, lower: HypergraphBound[Embedding], upper: HypergraphBound[Array]) -> float:
        """tr(HH') − tr(H'A⁻¹H): the sum of the embedding's eigenvalues."""
        return lower.fit

    def trivial_points(self, task: HyperTask) -> Points[Embedding, Array]:
        zero = np.zeros(task.h.shape)
        return Points([Embedding(np.full(task.count, 1 / task.count), zero)], [zero])

    def from_primal(self, program: HypergraphPrimal, task: HyperTask, unit: float) -> Points[Embedding, Array]:
        z = np.asarray(program.z.value, dtype=float)
        if program.cuts:
            mu = np.array([float(np.ravel(cut.dual_value)[0]) for cut in program.cuts])
        else:
            mu = self.responsible(task, task.scores(z))
        return Points([Embedding(mu, z), Embedding(mu, solved(task, mu))], [z])

    def from_dual(self, program: HypergraphDual, task: HyperTask, unit: float) -> Points[Embedding, Array]:
        mu = np.maximum(np.ravel(program.mu.value), 0.0)
        z = solved(task, mu / mu.sum())
        return Points([Embedding(mu, z)], [z])


def solved(task: HyperTask, mu: Array) -> Array:
    """Z = 2 (I + K(μ)/λ)⁻¹H, where Σ μ_m S_m is least."""
    mu = np.maximum(mu, 0.0)
    matrix = np.eye(task.samples) + task.combined(mu / mu.sum()) / task.lam
    try:
        return np.asarray(2 * np.linalg.solve(matrix, task.h))
    except np.linalg.LinAlgError:  # singular as rounded: the least solution
        return np.asarray(2 * np.linalg.lstsq(matrix, task.h, rcond=None)[0])
