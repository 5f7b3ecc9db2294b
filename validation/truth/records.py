"""What an instance and its parameters say, in rational numbers: the problem whose optimal value is the truth.

A dense kernel is its stored lower triangle mirrored, a factor F stands for FF', the box is the doubles C·w_i (loss nu:
w_i/(νn)) as NumPy computes them. The value is

    v = max over α in S of  gain(α) − R*(½ q(α)),     q_m = (α∘y)'K_m(α∘y)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat

from optima import HALF, ZERO, Feasible, Group, Optimum, maximised

ONE_QUADRATIC = ("svm", "sum")


def exact(value: Any) -> fmpq:
    return fmpq(*float(value).as_integer_ratio())


def exact_kernel(stored: Any) -> fmpq_mat:
    """The lower triangle, mirrored."""
    size = len(stored)
    entries = [[exact(stored[max(i, j), min(i, j)]) for j in range(size)] for i in range(size)]
    return fmpq_mat(entries)


def exact_product(factor: Any) -> fmpq_mat:
    entries = fmpq_mat([[exact(value) for value in row] for row in factor])
    return entries * entries.transpose()


def semidefinite(matrix: fmpq_mat) -> bool:
    """Elimination by pivots of the diagonal: none may be negative, and a row goes with its pivot if that is zero."""
    rows, left = matrix.tolist(), list(range(matrix.nrows()))
    while left:
        if any(rows[i][i] < 0 for i in left):
            return False
        pivot = max(left, key=lambda i: rows[i][i])
        if rows[pivot][pivot] == 0:
            return all(rows[i][j] == 0 for i in left for j in left)
        left.remove(pivot)
        for i in left:
            factor = rows[i][pivot] / rows[pivot][pivot]
            for j in left:
                rows[i][j] -= factor * rows[pivot][j]
    return True


def differences(matrix: fmpq_mat) -> fmpq_mat:
    """The quadratic form on the vectors that sum to zero, in the basis e_i − e_n."""
    last, rows = matrix.nrows() - 1, matrix.tolist()
    return fmpq_mat(
        [[rows[i][j] - rows[i][last] - rows[last][j] + rows[last][last] for j in range(last)] for i in range(last)]
    )


@dataclass(frozen=True)
class Record:
    """The problem as it is stored, exactly."""

    formulation: str
    kernels: tuple[fmpq_mat, ...]
    y: tuple[int, ...]
    box: tuple[fmpq, ...]
    loss: str
    bias: bool
    own: Mapping[str, fmpq]

    @cached_property
    def feasible(self) -> Feasible:
        everyone = tuple(range(len(self.y)))
        if self.loss == "c":
            return Feasible(self.box, (Group(everyone, self.y, ZERO),) if self.bias else ())
        sides = [tuple(i for i in everyone if self.y[i] == side) for side in (1, -1)] if self.bias else [everyone]
        return Feasible(self.box, tuple(Group(s, (1,) * len(s), fmpq(1, len(sides))) for s in sides))

    @cached_property
    def gain(self) -> list[fmpq]:
        return [fmpq(1 if self.loss == "c" else 0)] * len(self.y)

    @cached_property
    def signed(self) -> list[fmpq_mat]:
        """Y K_m Y."""
        y = self.y
        return [
            fmpq_mat([[y[i] * y[j] * value for j, value in enumerate(row)] for i, row in enumerate(kernel.tolist())])
            for kernel in self.kernels
        ]

    @cached_property
    def concave(self) -> bool:
        """Whether every kernel is positive semidefinite where S has directions: the optimum is then well defined."""
        return all(semidefinite(differences(kernel) if self.bias else kernel) for kernel in self.kernels)

    @cached_property
    def psd(self) -> bool:
        return all(semidefinite(kernel) for kernel in self.kernels)

    def combined(self, weights: Sequence[fmpq]) -> fmpq_mat:
        """Σ μ_m Y K_m Y."""
        total = self.signed[0] * weights[0]
        for matrix, weight in zip(self.signed[1:], weights[1:], strict=True):
            total = total + matrix * weight
        return total

    def half_squares(self, alpha: Sequence[fmpq]) -> list[fmpq]:
        """½ q_m(α)."""
        column = fmpq_mat(len(alpha), 1, list(alpha))
        return [(column.transpose() * (matrix * column))[0, 0] * HALF for matrix in self.signed]

    def optimum(self) -> Optimum:
        """Of `svm` and `sum`: one quadratic program."""
        return maximised(self.combined([fmpq(1)] * len(self.kernels)), self.gain, self.feasible)


def record(instance: Any, formulation: str, parameters: Mapping[str, Any]) -> Record:
    given = dict(parameters)
    bias, nu = bool(given.pop("bias", True)), given.pop("nu", None)
    price = float(given.pop("C", 1.0)) if nu is None else 1.0 / (nu * len(instance.y))
    return Record(
        formulation,
        tuple(exact_stack(instance.kernels)),
        tuple(int(sign) for sign in instance.y),
        tuple(exact(value) for value in price * np.asarray(instance.sample_weight, dtype=float)),
        "c" if nu is None else "nu",
        bias,
        {name: exact(value) for name, value in given.items()},
    )


def exact_stack(kernels: Any) -> Iterable[fmpq_mat]:
    if hasattr(kernels, "factor"):
        return [exact_product(kernels.factor(m)) for m in range(len(kernels))]
    return [exact_kernel(kernel) for kernel in kernels]
