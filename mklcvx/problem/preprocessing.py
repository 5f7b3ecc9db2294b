"""Explicit steps between a kernel stack and a learner: centring and normalising, fitted on training kernels.

A step is a map of feature space that the training kernels determine (`steps`). Training and test kernels go through
the same arithmetic, kernel by kernel, and the values k(x, x) are carried along beside them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from math import prod
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError, nearest
from .checks import check_flags, check_lists, check_name, check_type
from .cross_kernels import CrossKernel, CrossKernels, Product, as_array
from .kernel_functions import Array
from .low_rank import Kernels, LowRank
from .memory import check_stack
from .numbers import RealArray, as_any_array, as_real_array
from .steps import (
    NORMALISATIONS,
    STEPS,
    Centre,
    Cosine,
    State,
    Step,
    UnitDiagonal,
    UnitTrace,
    UnitVariance,
    WeightedCentre,
)
from .target_checks import as_names
from .validation import asymmetry, largest_entry, positive_part, precision, rounding, smallest_eigenvalue
from .weights import as_weights

__all__ = [
    "NORMALISATIONS", "STEPS", "Centre", "Cosine", "Preprocessing", "Step", "UnitDiagonal", "UnitTrace", "UnitVariance",
    "WeightedCentre",
]  # fmt: skip

ASYMMETRY = 1e-8
WANTED = "one, such as a float array of NumPy"


class Preprocessing:
    """A chain of steps, fitted on a training stack (M, n, n) and applied to it and to test stacks (M, t, n)."""

    def __init__(self, steps: Sequence[Step] = ()) -> None:
        check_lists("a list of steps", steps=steps)
        self.steps = tuple(steps)
        for step in self.steps:
            check_type(Step, "a step of Preprocessing, such as Centre() or Cosine()", step=step)
        self._names: list[str] | None = None
        self._shape: tuple[int, int] | None = None
        self._states: list[list[State]] = []  # for each kernel, one of each step

    @classmethod
    def from_options(cls, centre: bool = False, normalise: str | None = None) -> Self:
        """Steps that centre, if `centre` is true, and then normalise by "diagonal", "trace", "variance" or "cosine"."""
        check_flags(centre=centre)
        if normalise is not None:
            check_name("normalisation", normalise, NORMALISATIONS)
        steps: list[Step] = [Centre()] if centre else []
        return cls(steps if normalise is None else [*steps, STEPS[normalise]()])

    def fit(self, kernels: Kernels, names: Sequence[str] | None = None, sample_weight: Array | None = None) -> Self:
        """Fit every step on the training stack; error messages use the names, if given. A sample counts as often as
        its weight says."""
        stack = _stack(kernels, "kernels")
        M, n = stack.shape[:2]
        if stack.shape[2] != n:
            raise InputError(f"kernels has shape {stack.shape}: fit on training kernels, (M, n, n)")
        self._names = None if names is None else [*as_names("names", names, M, "kernels", "kernel")]
        weight = _counts(sample_weight, n)
        centre = Centre if weight is None else WeightedCentre
        self.steps = tuple(centre() if isinstance(step, Centre) else step for step in self.steps)
        self._shape, self._states = None, []
        for m in range(M):
            self._states.append(self._fit_kernel(m, _training_kernel(stack[m], self._which(m)), weight))
        self._shape = (M, n)
        return self

    def fit_factors(self, kernels: LowRank, sample_weight: Array | None = None) -> LowRank:
        """Fit scales that the diagonals determine, and return the scaled training kernels in factors."""
        self._shape, self._states, factors = (len(kernels), kernels.shape[1]), [], []
        weight = _counts(sample_weight, kernels.shape[1])
        for m in range(len(kernels)):
            factor, states = kernels.factor(m), []
            for step in self.steps:
                with self._naming(m, step):
                    states.append(step.fit(factor, (factor**2).sum(axis=1), weight))
                factor = factor / np.sqrt(states[-1]["scale"])
            self._states.append(states)
            factors.append(factor)
        return LowRank(factors)

    @property
    def in_factors(self) -> bool:
        """Whether kernels in factors can pass."""
        return all(step.of_diagonal for step in self.steps)

    @property
    def changes(self) -> bool:
        """Whether the fitted steps change any kernel."""
        return any(self._changes(m) for m in range(self._fitted_shape("changes")[0]))

    def _changes(self, m: int) -> bool:
        return any(step.changes(state) for step, state in zip(self.steps, self._states[m], strict=True))

    def train(self, kernels: Kernels, in_place: bool = False) -> Array:
        """The training stack, the one of `fit`, transformed: a new stack, exactly symmetric, and without the
        negative eigenvalues that rounding gives to PSD kernels when most of their size is taken away. With `in_place`
        it takes the place of the old one, if that has doubles."""
        return self.train_tested(kernels, in_place=in_place)[0]

    def train_tested(
        self, kernels: Kernels, semidefinite: Sequence[bool] | None = None, in_place: bool = False
    ) -> tuple[Array, list[bool]]:
        """The same, and which of the kernels are semidefinite up to rounding, as far as that is known. Those that were
        by construction, as `semidefinite` tells, stay so where steps only multiply, and are not tested."""
        check_flags(in_place=in_place)
        M, n = self._fitted_shape("train")
        stack = _stack(kernels, "kernels", (M, n, n))
        if in_place and stack.dtype == np.float64 and stack.flags.writeable:
            result = np.asarray(stack, dtype=np.float64)
        else:
            check_stack(M, n, n)
            result = np.empty(stack.shape)
        known = [False] * M if semidefinite is None else list(semidefinite)
        for m in range(M):
            result[m] = _training_kernel(stack[m], self._which(m))
            if not self._changes(m) and stack.dtype == result.dtype:
                continue
            stretch = prod(step.stretches(state) for step, state in zip(self.steps, self._states[m], strict=True))
            # Several rounding errors per entry.
            blur = 8 * precision(stack.dtype) * n * largest_entry(result[m]) * stretch
            diagonal = self._apply(m, result[m], result[m].diagonal().copy())
            if asymmetry(result[m]):
                result[m] = _symmetrised(result[m])
            np.fill_diagonal(result[m], diagonal)
            known[m] = known[m] and all(step.multiplies for step in self.steps)
            known[m] = known[m] or self._without_rounding(result[m], blur)
        return result, known

    @staticmethod
    def _without_rounding(kernel: Array, blur: float) -> bool:
        """Whether the kernel is semidefinite up to rounding, after eigenvalues down to −blur were set to zero."""
        smallest = smallest_eigenvalue(kernel, rounding(kernel.dtype))
        if smallest is None:
            return True
        if -smallest <= blur:
            trace, kernel[:] = np.trace(kernel), positive_part(kernel)[0]
            kernel *= trace / np.trace(kernel)
        return False

    def test(self, test_kernels: ArrayLike, test_diagonals: ArrayLike | None = None) -> Array:
        """Test kernels (M, t, n), transformed: a new stack. `Cosine` needs the k(x, x), (M, t), as well."""
        M, n = self._fitted_shape("test")
        stack = _stack(test_kernels, "test_kernels", (M, None, n))
        return self.cross(CrossKernels.of_stack(stack), test_diagonals).formed()

    def cross(self, kernels: CrossKernels, test_diagonals: ArrayLike | None = None) -> CrossKernels:
        """Test kernels, each transformed when it is asked for. `Cosine` needs the k(x, x), (M, t), as well."""
        M, n = self._fitted_shape("test")
        if (kernels.shape[0], kernels.shape[2]) != (M, n):
            fault = f"preprocessing: it was fitted on kernels of shape {(M, n, n)}, not on those of {kernels.shape}"
            raise InputError(f"{fault}: give the one that was fitted on the training kernels")
        diagonals = self._diagonals(test_diagonals, (M, kernels.shape[1]))

        def each(wanted: NDArray[np.bool_]) -> Iterator[tuple[int, CrossKernel]]:
            for m, kernel in kernels.each(wanted):
                if isinstance(kernel, Product) and self.in_factors:
                    scale = prod(float(state["scale"]) for state in self._states[m])
                    yield m, Product(kernel.new / scale, kernel.train)
                    continue
                result = np.array(as_array(kernel))
                _finite(result, f"test_kernels: {self._which(m)}")
                self._apply(m, result, None if diagonals is None else diagonals[m])
                yield m, result

        return CrossKernels(kernels.shape, each)

    def to_dict(self) -> dict[str, object]:
        """The fitted chain in plain lists, strings and numbers, exact through JSON."""
        M, n = self._fitted_shape("to_dict")
        steps = []
        for step, *states in zip(self.steps, *self._states, strict=True):
            values = {key: [np.asarray(state[key]).tolist() for state in states] for key in step.per_sample}
            steps.append({"step": step.name, **values})
        return {"kernels": M, "samples": n, "steps": steps}

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Self:
        """The chain that `to_dict` wrote; every entry is checked, since it may come from any file."""
        _require_keys(data, {"kernels", "samples", "steps"}, "the entry")
        M, n = _count(data["kernels"], "kernels"), _count(data["samples"], "samples")
        if not isinstance(data["steps"], list):
            raise _unreadable("steps is not a list")
        loaded = [_load_step(entry, M, n) for entry in data["steps"]]
        chain = cls([step for step, _ in loaded])
        chain._shape = (M, n)
        chain._states = [[{key: value[m] for key, value in state.items()} for _, state in loaded] for m in range(M)]
        return chain

    def _which(self, m: int) -> str:
        return f"kernel {m}" if self._names is None else f"kernel {m} ({self._names[m]})"

    def _fitted_shape(self, wanted: str) -> tuple[int, int]:
        if self._shape is None:
            raise InputError(f"Preprocessing: {wanted} before fit: call fit on the training kernels first")
        return self._shape

    def _fit_kernel(self, m: int, kernel: Array, weight: Array | None) -> list[State]:
        """Fit each step on what the steps before it made of the training kernel."""
        diagonal = kernel.diagonal().copy()
        states: list[State] = []
        for number, step in enumerate(self.steps):
            with self._naming(m, step):
                states.append(step.fit(kernel, diagonal, weight))
                if number + 1 < len(self.steps):
                    kernel = kernel.copy() if number == 0 else kernel
                    changed = step.apply(kernel, diagonal, states[-1])
                    diagonal = diagonal if changed is None else changed
        return states

    def _apply(self, m: int, kernel: Array, diagonal: Array | None) -> Array | None:
        for step, state in zip(self.steps, self._states[m], strict=True):
            with self._naming(m, step):
                diagonal = step.apply(kernel, diagonal, state)
        return diagonal

    @contextmanager
    def _naming(self, m: int, step: Step) -> Iterator[None]:
        """Turn an ArithmeticError, such as an overflow, into an InputError that names the kernel and the step."""
        try:
            with np.errstate(over="raise", invalid="raise"):
                yield
        except ArithmeticError as fault:
            what = "that sample or this kernel" if "sample" in str(fault) else "this kernel"
            raise InputError(f"{self._which(m)} cannot pass {step.name!r}: {fault}; leave out {what}") from None

    def _diagonals(self, diagonals: ArrayLike | None, shape: tuple[int, int]) -> Array | None:
        if diagonals is None:
            if any(step.needs_diagonal for step in self.steps):
                fault = "test_diagonals is missing, and step 'cosine' needs k(x, x) of every test sample"
                raise InputError(f"{fault}: give test_diagonals of shape {shape}, such as bank.diagonal(X_test)")
            return None
        given = as_real_array(diagonals, "test_diagonals", WANTED)
        if given.shape != shape:
            raise InputError(f"test_diagonals has shape {given.shape}: give k(x, x) of shape {shape}, (M, t)")
        return _finite(given, "test_diagonals").astype(float)


def fitted_to(steps: Preprocessing | None, count: int, samples: int) -> Preprocessing | None:
    """Steps for a solution with these kernels to keep: a copy, which a later fit leaves alone."""
    if steps is None:
        return None
    check_type(Preprocessing, "a fitted Preprocessing, or None", preprocessing=steps)
    if steps._shape != (count, samples):
        state = "not fitted" if steps._shape is None else "fitted on {} kernels of {} samples".format(*steps._shape)
        raise InputError(f"preprocessing is {state}: fit it on these {count} kernels of {samples} samples")
    return copy(steps)


def _counts(sample_weight: Array | None, samples: int) -> Array | None:
    """How often each sample counts; None where all count once."""
    weight = as_weights(sample_weight, samples, may_vanish=True)
    return None if (weight == 1).all() else weight


def _stack(kernels: Kernels, name: str, shape: tuple[int | None, ...] = (None, None, None)) -> RealArray:
    stack = as_real_array(kernels, name, WANTED)
    fits = stack.ndim == 3 and all(map(lambda want, size: want in (None, size), shape, stack.shape))
    if not fits or stack.size == 0:
        M, t, n = (letter if want is None else want for letter, want in zip("Mtn", shape, strict=True))
        raise InputError(f"{name} has shape {stack.shape}: give a stack of kernels of shape ({M}, {t}, {n})")
    check_stack(1, *stack.shape[1:])  # one at a time is copied
    return stack


def _finite(values: RealArray, name: str) -> RealArray:
    with np.errstate(over="ignore", invalid="ignore"):
        total = np.sum(values)  # not finite if an entry is not
    if not np.isfinite(total) and not np.isfinite(values).all():
        raise InputError(f"{name} has NaN or infinite entries: compute it anew from finite data")
    return values


def _training_kernel(kernel: RealArray, which: str) -> Array:
    """A training kernel of doubles that is exactly symmetric: itself, or a copy; not to be written to."""
    doubles = np.asarray(_finite(kernel, which), dtype=float)
    off = asymmetry(doubles)
    if off > max(ASYMMETRY, rounding(kernel.dtype)) * largest_entry(doubles):
        raise InputError(f"{which} is not symmetric: give training kernels with K[i, j] = K[j, i]")
    return _symmetrised(doubles) if off else doubles


def _symmetrised(kernel: Array) -> Array:
    return kernel / 2 + kernel.T / 2


def _unreadable(fault: str) -> InputError:
    return InputError(f"preprocessing: {fault}: fit the preprocessing and save it with to_dict anew")


def _require_keys(data: object, keys: set[str], name: str) -> None:
    if not isinstance(data, Mapping) or set(data) != keys:
        raise _unreadable(f"{name} does not hold exactly {', '.join(sorted(keys))}")


def _count(value: object, name: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise _unreadable(f"{name} is {value!r:.40}, not a count")
    return value


def _load_step(entry: object, M: int, n: int) -> tuple[Step, State]:
    name = entry.get("step") if isinstance(entry, Mapping) else entry
    if not isinstance(name, str) or name not in STEPS:
        raise InputError(f"preprocessing: step {name!r:.40} is unknown: {nearest(str(name)[:40], STEPS)}")
    step, state = STEPS[name](), {}
    fields = entry if isinstance(entry, Mapping) else {}
    _require_keys(fields, {"step", *step.per_sample}, f"step {name!r}")
    for key, per_sample in step.per_sample.items():
        state[key] = _load_values(fields[key], (M, n) if per_sample else (M,), f"{key} of step {name!r}")
        if key == step.divides_by and state[key].min() < np.finfo(float).tiny:
            raise _unreadable(f"{key} of step {name!r} is not positive")
    return step, state


def _load_values(values: object, shape: tuple[int, ...], name: str) -> Array:
    array = as_any_array(values)
    if array.dtype.kind not in "fi" or array.shape != shape or not np.isfinite(array).all():
        raise _unreadable(f"{name} is not {' × '.join(map(str, shape))} finite numbers")
    return array.astype(float)
