"""What a formulation is: two declarations, two bounds, and the way from one side to the other.

Every single-task formulation has the shape

    primal   min over f_1..f_M, b of   U(‖f_1‖, …, ‖f_M‖) + risk(f)
    dual     max over α of             gain(α) − U*(√q_1(α), …, √q_M(α)),       q_m(α) = (α∘y)'K_m(α∘y)

with U a convex penalty of the norms and U*(d) = sup over a ≥ 0 of Σ a_m d_m − U(a) its conjugate.
Weak duality is the inequality of the sample side (`_task`), Cauchy–Schwarz
Σ_i α_i y_i f_m(x_i) ≤ ‖f_m‖ √q_m, and U(a) + U*(d) ≥ Σ a_m d_m. At the optimum f_m = weight_m K_m(α∘y)
with weight_m = ‖f_m‖/√q_m wherever √q_m > 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..errors import InputError, nearest
from ._task import Array, Risk, Task

if TYPE_CHECKING:
    from ..instance import Instance
    from ._dual import DualProgram
    from ._primal import PrimalProgram


@dataclass(frozen=True)
class Parameter:
    """A number with its meaning, its limits and its default; limits and default may depend on M."""

    name: str
    meaning: str
    limits: str
    accepts: Callable[[float, int], bool]
    default: Callable[[int], float | None]
    default_text: str

    def resolve(self, value: Any, formulation: str, count: int) -> float:
        number = as_number(self.name, self.default(count) if value is None else value)
        if not self.accepts(number, count):
            raise InputError(
                f"parameter {self.name} = {number:g} is outside the limits of {formulation}: "
                f"{self.limits}; M = {count} here, the default is {self.default_text}"
            )
        return number


def as_number(name: str, value: Any) -> float:
    try:
        number = math.nan if isinstance(value, bool | np.bool_) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        shown = " ".join(repr(value).split())[:40]
        raise InputError(f"parameter {name} = {shown} is not a number: give a single finite number")
    return number


THETA = Parameter("theta", "price of a kernel's slack", "θ > 0", lambda v, _: v > 0, lambda _: 1.0, "1")
C = Parameter("C", "price of a sample's slack (loss c)", "C > 0", lambda v, _: v > 0, lambda _: 1.0, "1")
NU = Parameter(
    "nu",
    "bounds the share of margin errors from above, of support vectors from below (loss nu, C = 1/(νn))",
    "0 < ν ≤ 1, and at most 2·min(n₊, n₋)/n with a bias",
    lambda v, _: 0 < v <= 1,
    lambda _: None,
    "none: loss c",
)


class LowerBound(NamedTuple):
    """What α proves. `roots` are √q_m(α)."""

    value: float
    alpha: Array
    roots: Array
    largest_term: float


class UpperBound(NamedTuple):
    """What f_m = K_m c_m proves. `norms` are ‖f_m‖."""

    value: float
    coefficients: Array
    norms: Array
    risk: Risk
    largest_term: float


@dataclass(frozen=True)
class Formulation:
    """One row of the theory. `theorem` is the docstring of its file.

    `rescale(own, factor)` gives the parameters whose regulariser R is `factor` times as large: what keeps the
    problem the same when its value is counted in other units. Homogeneous penalties need no change.
    """

    name: str
    title: str
    reference: str
    theorem: str
    parameters: tuple[Parameter, ...]
    primal: Callable[..., PrimalProgram]
    dual: Callable[..., DualProgram]
    penalty: Callable[..., float]
    conjugate: Callable[..., float]
    weights: Callable[..., Array]
    multipliers: Callable[..., dict[str, Any]]
    rescale: Callable[[Mapping[str, Any], float], Mapping[str, Any]] = lambda own, factor: own
    losses: tuple[str, ...] = ("c", "nu")
    grouped: bool = False
    single_kernel: bool = False

    def declare_primal(self, task: Task) -> PrimalProgram:
        return self.primal(task, **task.own)

    def declare_dual(self, task: Task) -> DualProgram:
        return self.dual(task, **task.own)

    def lower(self, task: Task, alpha: Array) -> LowerBound:
        """gain(α) − U*(√q(α)) at the feasible α nearest to the given one."""
        alpha = task.feasible(alpha)
        roots = task.correlations(alpha)
        gain, cost = task.gain(alpha), self.conjugate(roots, **task.own)
        return LowerBound(gain - cost, alpha, roots, max(gain, abs(cost), self._floor(task, alpha)))

    def _floor(self, task: Task, alpha: Array) -> float:
        """A size for optima that vanish: loss nu has value 0 where the classes' hulls meet, and no term of its
        objective is left to compare with. Then a millionth of the cost of the two classes taken apart serves."""
        if task.loss == "c":
            return 0.0
        apart = sum(task.correlations(np.where(side, alpha, 0.0)) ** 2 for side in (task.y > 0, task.y < 0))
        return 1e-6 * abs(self.conjugate(np.sqrt(apart), **task.own))

    def upper(self, task: Task, coefficients: Array) -> UpperBound:
        """U(‖f‖) + risk(f), the bias chosen to make the risk least."""
        outputs, norms = task.evaluate(coefficients)
        penalty, risk = self.penalty(norms, **task.own), task.risk(outputs)
        return UpperBound(penalty + risk.value, coefficients, norms, risk, max(penalty, risk.largest_term))

    def in_units(self, task: Task, size: float) -> Task:
        """The same problem with every kernel divided by `size`, for declarations."""
        return task.in_units(size, self.rescale(task.own, task.value_unit(size)))

    # ------------------------------------------------------------------------------- parameters
    def task(self, instance: Instance, given: Mapping[str, Any]) -> tuple[Task, dict[str, Any]]:
        """The task that an instance and parameters make, and every parameter with its value."""
        self._check_fit(instance, given)
        resolved: dict[str, Any] = {}
        loss, scale = self._loss(instance, given, resolved)
        bias = given.get("bias")
        resolved["bias"] = True if bias is None else _as_flag(bias)
        for parameter in self.parameters:
            value = given.get(parameter.name)
            resolved[parameter.name] = parameter.resolve(value, self.name, instance.count)
        own: dict[str, Any] = {p.name: resolved[p.name] for p in self.parameters}
        if self.grouped:
            own["groups"] = instance.groups
        box = scale * instance.sample_weight
        task = Task(instance.kernels, instance.y, box, loss, resolved["bias"], own, instance.symmetric)
        if loss == "nu":
            _check_nu(task, resolved["nu"])
        return task, resolved

    @property
    def parameter_names(self) -> list[str]:
        sample_side = ["C", *(["nu"] if "nu" in self.losses else []), "bias"]
        return [*sample_side, *(p.name for p in self.parameters)]

    def _check_fit(self, instance: Instance, given: Mapping[str, Any]) -> None:
        for name in given:
            if name not in self.parameter_names:
                raise InputError(f"unknown parameter {name!r} of {self.name}: {nearest(name, self.parameter_names)}")
        if self.single_kernel and instance.count != 1:
            raise InputError(
                f"{self.name} takes one kernel, the instance has {instance.count}: "
                "select one kernel, or use sum, average or l1"
            )
        if self.grouped and instance.groups is None:
            raise InputError(
                f"{self.name} needs groups of kernels, the instance has none: give groups, one integer per kernel"
            )

    def _loss(self, instance: Instance, given: Mapping[str, Any], resolved: dict[str, Any]) -> tuple[str, float]:
        if given.get("nu") is None:
            resolved["C"] = C.resolve(given.get("C"), self.name, instance.count)
            return "c", resolved["C"]
        if given.get("C") is not None:
            raise InputError("parameters C and nu are both given: C sets loss c, nu sets loss nu; keep one")
        resolved["nu"] = NU.resolve(given["nu"], self.name, instance.count)
        return "nu", 1.0 / (resolved["nu"] * instance.samples)


def _as_flag(value: Any) -> bool:
    words = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
    flag = words.get(str(value).lower())
    if flag is None:
        raise InputError(f"parameter bias = {value!r} is neither true nor false: give bias=true or bias=false")
    return flag


def _check_nu(task: Task, nu: float) -> None:
    positive = task.y > 0
    room = 2 * min(task.box[positive].sum(), task.box[~positive].sum()) if task.bias else task.box.sum()
    if room < 1 - 1e-12:
        largest = math.floor(nu * room * 1e6) / 1e6  # rounded down, so that it can be taken at its word
        raise InputError(
            f"parameter nu = {nu:g} is infeasible for the class balance "
            f"{int(positive.sum())} : {int((~positive).sum())}: give nu ≤ {largest:.6f}"
        )
