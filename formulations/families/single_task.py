"""The family of single tasks: one target per sample, and a penalty of the norms of f_1..f_M.

Every formulation of the family has the shape

    primal   min over f_1..f_M, b of   U(‖f_1‖, …, ‖f_M‖) + risk(f)
    dual     max over α of             gain(α) − U*(√q_1(α), …, √q_M(α)),       q_m(α) = β'K_mβ,   β = s∘α

with signs s = y for labels ±1 and s = 1 for other targets (theorems write α∘y, which is β for labels), U a convex
penalty of the norms and U*(d) = sup over a ≥ 0 of Σ a_m d_m − U(a) its conjugate.
Weak duality is the inequality of the sample side (`task`), Cauchy–Schwarz Σ_i β_i f_m(x_i) ≤ ‖f_m‖ √q_m, and
U(a) + U*(d) ≥ Σ a_m d_m. At the optimum f_m = weight_m K_mβ with weight_m = ‖f_m‖/√q_m wherever √q_m > 0.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar, NamedTuple

import numpy as np

from ...errors import InputError, nearest, remedy
from ...problem.checks import shown
from ...problem.instance import Instance
from .._cvxpy import cp
from .._dual import DualProgram, Multipliers
from .._formulation import Formulation, Given, OfOwn, Own, Parameter, Parameters, Points, as_flag
from .._primal import Functions, PrimalProgram
from .._regulariser import Between, Constraint, Elementwise, Fixed, Regulariser, SoftMargin
from ..losses import (
    ALL,
    CLASSES,
    COUNTS,
    HINGE,
    JOINT,
    KNOWN,
    LABELS,
    LOSSES,
    NONE,
    NU,
    ONE_CLASS,
    OWN,
    REAL,
    SQUARED,
    AnyLoss,
    Loss,
    Risk,
)
from . import task as _task
from .task import Array, RankOneCoefficients, Task

THETA = Parameter("theta", "price of a kernel's slack", "θ > 0", lambda v, _: v > 0, lambda _: 1.0, "1")
C = HINGE.parameter
NAMED: dict[AnyLoss, str] = {HINGE: "c", NU: "nu"}  # the losses that files do not name, for C or nu tell them
UNNAMED: dict[str, Loss] = {"response": SQUARED, "none": ONE_CLASS}  # the loss of these targets, if none is named
TARGETS = {
    LABELS: ("y", "labels y in {−1, +1}"),
    REAL: ("response", "a response"),
    COUNTS: ("response", "counts"),
    CLASSES: ("classes", "classes"),
    NONE: ("none", "no targets"),
}

__all__ = [  # what the files of single tasks are written in
    "THETA", "Array", "Between", "Constraint", "Elementwise", "Fixed", "Functions", "LowerBound", "Multipliers",
    "OnWeights", "Regulariser", "SingleTask", "SoftMargin", "Task",
]  # fmt: skip


class LowerBound(NamedTuple):
    """The lower bound of α. `roots` are √q_m(α)."""

    value: float
    alpha: Array
    roots: Array
    largest_term: float


class UpperBound(NamedTuple):
    """The upper bound of f_m = K_m c_m. `norms` are ‖f_m‖."""

    value: float
    coefficients: Array | RankOneCoefficients
    norms: Array
    risk: Risk
    largest_term: float


class ResolvedParameters(NamedTuple):
    """A loss with the number that sets its prices, whether there is a bias, the formulation's own parameters, and all
    of them by name."""

    loss: AnyLoss
    price: float
    bias: bool
    own: Mapping[str, Own]
    resolved: Parameters


class SingleTask(
    Formulation[Task, Array, Array | RankOneCoefficients, LowerBound, UpperBound, PrimalProgram, DualProgram]
):
    """U is `penalty`, U* is `conjugate`; `weights` and `multipliers` are computed from norms and roots.

    Methods take the formulation's own parameters after their arguments. `regulariser` is R(μ) with its constraint,
    if U is derived from one (`OnWeights`); the block-∞ formulations have `between` instead.
    """

    regulariser: ClassVar[Regulariser | None] = None
    between: ClassVar[Between | None] = None
    losses: ClassVar[tuple[str, ...]] = ("c", "nu")
    grouped: ClassVar[bool] = False
    several: ClassVar[OfOwn[Formulation]]  # makes the form for several outputs; `joint` sets it

    family: ClassVar[str] = "single task"
    notation: ClassVar[str] = _task.__doc__ or ""

    @abstractmethod
    def primal(self, f: Functions, *_: Own, **own: Own) -> cp.Problem:
        """The primal in the functions f."""

    @abstractmethod
    def dual(self, alpha: Multipliers, *_: Own, **own: Own) -> tuple[cp.Problem, list[cp.Constraint]]:
        """The dual in α, and its kernel constraints, whose multipliers the theorem names."""

    @abstractmethod
    def penalty(self, a: Array, *_: Own, **own: Own) -> float:
        """U(a)."""

    @abstractmethod
    def conjugate(self, d: Array, *_: Own, **own: Own) -> float:
        """U*(d)."""

    @abstractmethod
    def weights(self, a: Array, d: Array, *_: Own, **own: Own) -> Array:
        """The kernels' weights, from norms ‖f_m‖ and roots √q_m."""

    @abstractmethod
    def multipliers(self, a: Array, d: Array, *_: Own, **own: Own) -> Mapping[str, float | Array]:
        """The other dual variables, from norms and roots."""

    def excess(self, d: Array, *_: Own, **own: Own) -> float:
        """How often too long α is for U*(d) to be finite; up to 1 it is not."""
        return 1.0

    def rescale(self, own: Mapping[str, Own], factor: float) -> Mapping[str, Own]:
        """The parameters for which the regulariser R is `factor` times as large, so that the problem stays the same in
        other units. Homogeneous penalties need no change."""
        return own

    def declare_primal(self, task: Task) -> PrimalProgram:
        f = Functions(task)
        return PrimalProgram(self.primal(f, **task.own), f.w, f.margins)

    def declare_dual(self, task: Task) -> DualProgram:
        alpha = Multipliers(task)
        problem, cuts = self.dual(alpha, **task.own)
        return DualProgram(problem, alpha.alpha, cuts)

    def lower(self, task: Task, alpha: Array) -> LowerBound:
        """gain(α) − U*(√q(α)) at the feasible α nearest to the given one, shortened where U* asks for it."""
        root_q = task.root_q if self.between is None else task.accurate_root_q
        alpha = task.feasible(alpha)
        roots = root_q(alpha)
        excess = self.excess(roots, **task.own)
        if excess > 1:
            alpha = task.feasible(alpha / excess)
            roots = root_q(alpha)
        gain, cost = task.gain(alpha), self.conjugate(roots, **task.own)
        return LowerBound(gain - cost, alpha, roots, max(abs(gain), abs(cost)))

    def upper(self, task: Task, coefficients: Array | RankOneCoefficients) -> UpperBound:
        """U(‖f‖) + risk(f), the bias chosen to make the risk least."""
        outputs, norms = task.evaluate(coefficients)
        penalty, risk = self.penalty(norms, **task.own), task.risk(outputs)
        largest = max(penalty, risk.largest_term)
        return UpperBound(penalty + risk.value, coefficients, norms, risk, largest)

    def scale(self, lower: LowerBound, upper: UpperBound) -> float:
        """Σ_m ‖f_m‖ √q_m, which is U(‖f‖) + U*(√q) at the optimum: constants cancel, and no shift of the features
        changes it."""
        return float(upper.norms @ lower.roots)

    def in_units(self, task: Task, size: float) -> Task:
        """The same problem with every kernel divided by `size`, for declarations."""
        return task.in_units(size, self.rescale(task.own, task.value_unit(size)))

    def normalised(self, task: Task) -> Task:
        size = task.spread()
        return task if size == 1 else task.in_target_units(size, self.rescale(task.own, size**-2))

    # ---------------------------------------------------------------------------------- points
    def trivial_points(self, task: Task) -> Points[Array, Array | RankOneCoefficients]:
        """The zero function, which is optimal for loss nu if the hulls of the classes meet, and the feasible point
        nearest to α = 0."""
        return Points([np.zeros(task.samples)], [RankOneCoefficients(np.zeros(task.count), np.zeros(task.samples))])

    def from_primal(
        self, program: PrimalProgram, task: Task, unit: float
    ) -> Points[Array, Array | RankOneCoefficients]:
        """The functions, and α, the multiplier of the margins."""
        coordinates = [np.asarray(w.value, dtype=float) for w in program.coordinates]
        coefficients = np.stack([f.to_coefficients @ w for f, w in zip(task.factors, coordinates, strict=True)])
        per_unit = task.loss_function.price_unit(unit) / task.target_unit
        return Points([np.ravel(program.margins.dual_value) / per_unit], [coefficients / per_unit])

    def from_dual(self, program: DualProgram, task: Task, unit: float) -> Points[Array, Array | RankOneCoefficients]:
        return Points([np.ravel(program.alpha.value) / task.loss_function.price_unit(unit) * task.target_unit], [])

    # ------------------------------------------------------------------------------- parameters
    def posed_for(self, instance: Instance, given: Given) -> Formulation:
        """Itself for one output; its form for several, where the loss that is named or the response has them."""
        several = str(given.get("loss")) in JOINT or instance.targets.outputs > 1
        return self.several(self) if several else self

    def task(self, instance: Instance, given: Given) -> tuple[Task, Parameters]:
        """The task that an instance and parameters make, and every parameter with its value."""
        loss, price, bias, own, resolved = self.chosen(instance, given)
        y = self.targets_for(instance, loss)
        if y.ndim > 1:
            instance.targets.real(f"loss {loss.name}")  # which refuses several outputs
        if not isinstance(loss, Loss):
            raise InputError(f"loss {loss.name} has several outputs: pose {self.name} for the instance first")
        box = loss.prices(price, instance.sample_weight, y, bias)
        task = Task(
            instance.kernels, y, box, NAMED.get(loss, loss), bias, own,
            symmetric=instance.symmetric, sizes=instance.sizes, memory=instance.memory,
        )  # fmt: skip
        return task, resolved

    def chosen(self, instance: Instance, given: Given) -> ResolvedParameters:
        """The loss and every parameter with its value, checked."""
        self.check_names(given)
        self._check_fit(instance)
        chosen = self._loss(given, instance.targets.kind)
        resolved: Parameters = {} if chosen in NAMED else {"loss": chosen.name}
        set_by = chosen.parameter
        price = resolved[set_by.name] = set_by.resolve(given.get(set_by.name), self.name, instance.count)
        loss = chosen.with_own(given, instance.count)
        resolved.update({parameter.name: getattr(loss, parameter.name) for parameter in loss.own})
        resolved["bias"] = bias = as_flag("bias", given.get("bias"), default=loss.takes_bias)
        if bias and not loss.takes_bias:
            raise InputError(f"loss {loss.name} has no bias, its margin takes that place: leave bias out")
        own: dict[str, Own] = dict(self.resolve_own(instance, given))
        resolved.update(own)
        if self.grouped:
            own["groups"] = instance.groups
        return ResolvedParameters(loss, price, bias, own, resolved)

    @property
    def described_parameters(self) -> list[tuple[str, str]]:
        unnamed = {kind: loss.name for kind, loss in UNNAMED.items() if self._takes(loss)}
        others = [f"{unnamed[kind]} for {words}" for kind, words in TARGETS.values() if kind in unnamed]
        for_labels = f"hinge{' (nu if nu is given)' * self._takes(NU)} for labels"
        choice = f"loss over the samples; {', '.join(self.loss_names)}; default {', '.join([for_labels, *others])}"
        described = dict(LOSSES[loss].parameter.described for loss in self.losses)
        for name, words in self._described_own():  # nu sets the prices of one loss, and is another's own
            described[name] = f"{described[name]}; {words}" if name in described else words
        bias = ("bias", "whether f has a constant term; default true")
        return [("loss", choice), *described.items(), bias, *super().described_parameters]

    def _described_own(self) -> list[tuple[str, str]]:
        """The parameters of single losses, each with the losses that have it."""
        taken = [KNOWN[name] for name in self.loss_names]
        known = {parameter.name: parameter for loss in taken for parameter in loss.own}
        having = {name: [loss.name for loss in taken if known[name] in loss.own] for name in known}
        return [
            (name, f"{known[name].meaning} (loss {', '.join(having[name])}); {known[name].limits}; default "
             f"{known[name].default_text}") for name in known
        ]  # fmt: skip

    @property
    def loss_names(self) -> list[str]:
        return [loss.name for loss in ALL if self._takes(loss)]

    def _takes(self, loss: AnyLoss) -> bool:
        """Every loss, unless its margin is free and the formulation has no ν-form, or it is joint and the penalty is
        between groups."""
        return self.between is None if loss.joint else not loss.free_margin or NAMED[NU] in self.losses

    @property
    def needs_groups(self) -> bool:
        return self.grouped

    def _check_fit(self, instance: Instance) -> None:
        if self.single_kernel and instance.count != 1:
            words = f"{remedy('select one kernel', 'name one by --kernels')}, or use sum, average or l1"
            raise InputError(f"{self.name} takes one kernel, the instance has {instance.count}: {words}")
        if self.grouped and instance.groups is None:
            words = f"{remedy('give groups', 'store groups in the file')}, one integer per kernel"
            raise InputError(f"{self.name} needs groups of kernels, the instance has none: {words}")

    def _loss(self, given: Given, targets: str) -> AnyLoss:
        """The loss that is named, or else that of the targets: for labels the one that C or nu sets. Parameters that
        belong to another loss are refused."""
        name, present = given.get("loss"), {key for key, value in given.items() if value is not None}
        if name is None and targets in UNNAMED:
            name = UNNAMED[targets].name
        elif name is None:
            if {"C", "nu"} <= present:
                raise InputError("parameters C and nu are both given: C sets loss hinge, nu sets loss nu; keep one")
            name = "nu" if "nu" in present else "c"
        if not isinstance(name, str) or name not in KNOWN:
            raise InputError(f"parameter loss = {shown(name)} is unknown: {nearest(str(name)[:40], KNOWN)}")
        loss = KNOWN[name]
        if loss.free_margin and not self._takes(loss):
            raise InputError(f"{self.name} has no ν-form, which loss {name} is: use another loss")
        if loss is NU and "nu" not in present:
            raise InputError(f"loss nu needs nu: give {loss.parameter.limits}")
        takes = [parameter.name for parameter in loss.parameters]
        for key in sorted(present & {"C", "nu", *OWN} - {*takes}):
            others = [other.name for other in ALL if key in [parameter.name for parameter in other.parameters]]
            words = f"it takes {' and '.join(takes)}, and {key} belongs to {', '.join(others)}"
            raise InputError(f"parameter {key} does not belong to loss {loss.name}: {words}")
        return loss

    def targets_for(self, instance: Instance, loss: AnyLoss) -> Array:
        """The targets that the loss takes; for none of them, 1 for every sample; for classes the signs (n, k), +1 for
        a sample's own."""
        (kind, needed), targets = TARGETS[loss.targets], instance.targets
        if loss.targets == LABELS:
            return targets.plus_minus(self.name)
        if targets.kind != kind:
            fitting = [other.name for other in ALL if TARGETS[other.targets][0] == targets.kind]
            words = f"use loss {', '.join(fitting)}" if fitting else "give other targets"
            raise InputError(f"loss {loss.name} needs {needed}, the instance has {targets.kind}: {words}")
        if loss.targets == CLASSES:
            return targets.signs(self.name).T
        return np.ones(len(targets)) if loss.targets == NONE else np.asarray(targets.values, dtype=np.float64)


class OnWeights(SingleTask):
    """A single task whose penalty comes from a regulariser on the weights: U and U* follow from R."""

    regulariser: ClassVar[Regulariser]

    def penalty(self, a: Array, **own: Own) -> float:
        return self.regulariser.penalty(a, **own)

    def conjugate(self, d: Array, **own: Own) -> float:
        return self.regulariser.conjugate(d**2 / 2, **own)

    def weights(self, a: Array, d: Array, **own: Own) -> Array:
        return self.regulariser.best_weights(a, **own)

    def multipliers(self, a: Array, d: Array, **own: Own) -> Mapping[str, float | Array]:
        return self.regulariser.multipliers(d**2 / 2, **own)
