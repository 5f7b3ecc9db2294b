"""What every formulation has, whatever its family: a name, a theorem, parameters, two declarations, two bounds.

A bound is any object with a `value` and a `largest_term`. Points, dual and primal, are whatever the family makes
bounds from: α and coefficients for a single task, (β, γ) and (f, μ) for many labels, Z and μ for hypergraphs.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np

from ..errors import InputError, nearest
from ..problem.checks import shown
from ..problem.instance import Instance
from ._cvxpy import cp

LARGEST = 1e100  # a number whose square is one
Given: TypeAlias = Mapping[str, object]  # parameters as a user gives them, by name
# What a formulation or a family names itself: its parameters, the parts of its points, functions of them. Overrides of
# (*_: Any, **own: Any) may take what they like.
Own: TypeAlias = Any  # type: ignore[explicit-any]
Parameters: TypeAlias = dict[str, Own]  # all of a formulation, checked: to be handed on as **parameters
Found = TypeVar("Found")
OfOwn: TypeAlias = Callable[..., Found]  # type: ignore[explicit-any]


class Bound(Protocol):
    """What a point proves; `largest_term` is the largest absolute term of the objective there."""

    @property
    def value(self) -> float: ...

    @property
    def largest_term(self) -> float: ...


class Posed(Protocol):
    """What the tasks of all families have."""

    @property
    def count(self) -> int: ...

    def typical_kernel_size(self) -> float: ...


TaskT = TypeVar("TaskT", bound=Posed)
DualT = TypeVar("DualT")
PrimalT = TypeVar("PrimalT")
LowerT = TypeVar("LowerT", bound=Bound)
UpperT = TypeVar("UpperT", bound=Bound)
PrimalProgramT = TypeVar("PrimalProgramT")
DualProgramT = TypeVar("DualProgramT")


class Points(NamedTuple, Generic[DualT, PrimalT]):
    """Dual points and primal points: candidates for the two bounds."""

    duals: list[DualT]
    primals: list[PrimalT]


@dataclass(frozen=True)
class Parameter:
    """A numerical parameter: meaning, limits and default. Limits and default may depend on M."""

    name: str
    meaning: str
    limits: str
    accepts: Callable[[float, int], bool]
    default: Callable[[int], float | None]
    default_text: str

    @property
    def described(self) -> tuple[str, str]:
        return self.name, f"{self.meaning}; {self.limits}; default {self.default_text}"

    def resolve(self, value: object, formulation: str, count: int) -> float:
        number = as_number(self.name, self.default(count) if value is None else value)
        if not self.accepts(number, count):
            raise InputError(
                f"parameter {self.name} = {number:g} is outside the limits of {formulation}: "
                f"{self.limits}; M = {count} here, the default is {self.default_text}"
            )
        return number


def as_number(name: str, value: object) -> float:
    try:
        number = math.nan if isinstance(value, bool | np.bool_) else float(value)  # type: ignore[arg-type]  # what is none raises
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise InputError(f"parameter {name} = {shown(value)} is not a number: give a single finite number")
    if abs(number) > LARGEST:
        raise InputError(f"parameter {name} = {number:g} is too large for double precision: give at most {LARGEST:g}")
    return number


def as_flag(name: str, value: object, default: bool) -> bool:
    words = {"true": True, "1": True, "1.0": True, "yes": True, "false": False, "0": False, "0.0": False, "no": False}
    flag = default if value is None else words.get(str(value).lower())
    if flag is None:
        remedy = f"give {name}=true or {name}=false"
        raise InputError(f"parameter {name} = {shown(value)} is neither true nor false: {remedy}")
    return flag


def as_choice(name: str, value: object, choices: tuple[str, ...]) -> str:
    """Return one of the choices; the first is the default."""
    if value is None:
        return choices[0]
    if not isinstance(value, str) or value not in choices:
        raise InputError(f"parameter {name} = {shown(value)} is unknown: {nearest(str(value)[:40], choices)}")
    return value


@dataclass(frozen=True)
class Formulation(ABC, Generic[TaskT, DualT, PrimalT, LowerT, UpperT, PrimalProgramT, DualProgramT]):
    """Interface of a formulation. `theorem` is the docstring of its file.

    A family names its types: the task; dual and primal points; the bounds they prove; the two declared programs."""

    name: str
    title: str
    reference: str
    theorem: str
    parameters: tuple[Parameter, ...]

    family: ClassVar[str]
    notation: ClassVar[str]  # definitions that the family's theorems use
    maximises: ClassVar[bool] = False  # whether the paper states a maximum
    embeds: ClassVar[bool] = False  # whether the answer is an embedding instead of a classifier
    classifies: ClassVar[bool] = True  # whether the answer has a classifier (if it is no embedding), or weights alone
    many_labels: ClassVar[bool] = False  # whether it takes label sets, or labels ±1 (or classes)
    single_kernel: ClassVar[bool] = False  # whether it takes one kernel only
    carries_both: ClassVar[bool] = True  # whether one answer can have two points that were found apart
    routes: ClassVar[tuple[str, ...]] = ("primal", "dual")  # the declarations that a solver tries, in turn

    @property
    def described_parameters(self) -> list[tuple[str, str]]:
        """Name and description of every parameter, the family's first."""
        return [parameter.described for parameter in self.parameters]

    @property
    def parameter_names(self) -> list[str]:
        return [name for name, _ in self.described_parameters]

    @property
    def loss_names(self) -> list[str]:
        """The losses over samples that can be chosen; where the loss is part of the formulation, none."""
        return []

    @property
    def usage(self) -> str:
        """What to append to `mklcvx solve problem.npz`."""
        return f"-f {self.name}"

    @property
    def needs_groups(self) -> bool:
        return False

    def posed_for(self, instance: Instance, given: Given) -> Formulation:
        """The formulation that an instance and parameters ask for: itself, unless a family has a form for them."""
        return self

    @abstractmethod
    def task(self, instance: Instance, given: Given) -> tuple[TaskT, Parameters]:
        """The task that an instance and parameters make, and every parameter with its value."""

    @abstractmethod
    def declare_primal(self, task: TaskT) -> PrimalProgramT:
        """The primal as a CVXPY program."""

    @abstractmethod
    def declare_dual(self, task: TaskT) -> DualProgramT:
        """The dual as a CVXPY program."""

    @abstractmethod
    def lower(self, task: TaskT, point: DualT) -> LowerT:
        """The lower bound of a dual point, which is made feasible first."""

    @abstractmethod
    def upper(self, task: TaskT, point: PrimalT) -> UpperT:
        """The upper bound of a primal point, which is made feasible first."""

    @abstractmethod
    def trivial_points(self, task: TaskT) -> Points[DualT, PrimalT]:
        """Feasible points that are known without a solver."""

    @abstractmethod
    def from_primal(self, program: PrimalProgramT, task: TaskT, unit: float) -> Points[DualT, PrimalT]:
        """The points of a solved primal; `task` is the task it was declared for, in units of `unit`."""

    @abstractmethod
    def from_dual(self, program: DualProgramT, task: TaskT, unit: float) -> Points[DualT, PrimalT]:
        """The points of a solved dual."""

    def scale(self, lower: LowerT, upper: UpperT) -> float:
        """The scale of the relative gap: the largest term, unless the family defines a better one."""
        return max(abs(lower.value), abs(upper.value), lower.largest_term, upper.largest_term)

    def stated(self, value: float) -> float:
        """Convert the value of a declared program to the value that the paper states."""
        return value

    def in_units(self, task: TaskT, size: float) -> TaskT:
        """The same problem with every kernel divided by `size`; families without units return it unchanged."""
        return task

    def normalised(self, task: TaskT) -> TaskT:
        """The same problem with real targets of size one, for declarations; others are returned unchanged."""
        return task

    def check_names(self, given: Given) -> None:
        for name in given:
            if name not in self.parameter_names:
                raise InputError(f"unknown parameter {name!r} of {self.name}: {nearest(name, self.parameter_names)}")

    def resolve_own(self, instance: Instance, given: Given) -> dict[str, float]:
        return {p.name: p.resolve(given.get(p.name), self.name, instance.count) for p in self.parameters}

    def demonstrate(self) -> None:
        """Print the theorem's statement, and what it comes to on a small problem: python -m mklcvx.formulations.l1."""
        values = demonstration(self, small_instance(self))
        print(self.theorem.partition("From one to the other")[0].rstrip())
        print(f"\ndeclared     primal {values.primal:.10f}    dual  {values.dual:.10f}")
        print(f"recomputed   lower  {values.lower:.10f}    upper {values.upper:.10f}")
        print(f"apart        {values.apart:.1e}, relatively")


FormulationT = TypeVar("FormulationT", bound=Formulation)


# ---------------------------------------------------------------------------------------------------- theorems at work
class Demonstration(NamedTuple):
    """Optimal values of both declared programs, and both bounds recomputed in NumPy."""

    primal: float
    dual: float
    lower: float
    upper: float

    @property
    def apart(self) -> float:
        """The range of the four values, relative to the largest."""
        return (max(self) - min(self)) / max(abs(value) for value in self)


def small_instance(formulation: Formulation, samples: int = 16, count: int = 4) -> Instance:
    """Gaussian kernels of several widths on two clouds of points, with the targets and groups that are needed. The
    second label is positive in two opposite quadrants: it needs narrower kernels than the first, so that `ml_minimax`
    weighs both. A class of weight zero would leave Clarabel with cones whose optimum is their apex."""
    rng = np.random.default_rng(0)
    y = np.where(np.arange(samples) % 2 == 0, 1, -1)
    points = rng.normal(size=(samples, 2)) + y[:, None]
    distances = ((points[:, None] - points) ** 2).sum(axis=-1)
    widths = 4.0 ** -np.arange(1 if formulation.single_kernel else count)
    labels = np.stack([y > 0, points[:, 0] * points[:, 1] > 0], axis=1).astype(int)
    kernels, groups = (
        np.exp(-widths[:, None, None] * distances),
        np.arange(count) % 2 if formulation.needs_groups else None,
    )
    if formulation.many_labels:
        return Instance(kernels, labels=labels, groups=groups)
    return Instance(kernels, y, groups=groups)


def demonstration(formulation: Formulation, instance: Instance, **parameters: object) -> Demonstration:
    task, _ = formulation.task(instance, parameters)
    programs = formulation.declare_primal(task), formulation.declare_dual(task)
    primal, dual = (formulation.stated(float(program.problem.solve(solver=cp.CLARABEL))) for program in programs)
    points = formulation.from_primal(programs[0], task, 1.0), formulation.from_dual(programs[1], task, 1.0)
    lower = max(formulation.lower(task, point).value for candidates in points for point in candidates.duals)
    upper = min(formulation.upper(task, point).value for candidates in points for point in candidates.primals)
    return Demonstration(primal, dual, lower, upper)
