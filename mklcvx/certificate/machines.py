"""The answer to a problem of several classes by a formulation of two: one certified solution for every machine."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..formulations._formulation import Parameters
from ..problem.cross_kernels import CrossKernels, NewKernels
from ..problem.machines import ClassPair, class_values, machines_for
from ..problem.numbers import AnyArray
from ..problem.ownership import ReadOnly
from ..problem.preprocessing import Preprocessing
from ..problem.stack import Array
from ..problem.targets import classes_of, decided
from ..schemas import MACHINES
from .record import Certificate
from .solution import Solution, cross_kernels, decision_errors, decision_values, plain

SCHEMA = MACHINES


@dataclass(frozen=True, eq=False)
class Machines(ReadOnly):
    """Solutions of machines that tell two classes apart: each class against the rest ("ovr"), or each pair ("ovo").

    The preprocessing, fitted on all samples, belongs to the whole; the solutions have none.

    Parameters
    ----------
    multi_class : {"ovr", "ovo"}
        Each class against the rest, or each pair of classes. Two classes have one machine either way.
    label_names : tuple of str
        Names of the classes.
    classes : tuple of str
        What the named classes are called in the data.
    classes_kind : str
        Type of the classes in the data, such as "int64", if it is one of numbers.
    solutions : tuple of Solution
        One for each machine.
    members : tuple of ndarray of int
        The samples of each machine.
    samples : int
        Number of samples, n.
    preprocessing : Preprocessing or None
        Steps that were applied to the kernels.
    """

    multi_class: str
    label_names: tuple[str, ...]
    classes: tuple[str, ...]
    classes_kind: str
    solutions: tuple[Solution, ...]
    members: tuple[NDArray[np.intp], ...]
    samples: int
    preprocessing: Preprocessing | None = None
    target: str = "classes"

    def __repr__(self) -> str:
        certified = sum(solution.certified for solution in self.solutions)
        return (
            f"Machines({self.formulation!r}, {len(self.label_names)} classes, {self.multi_class!r}; {certified} of "
            + (f"{len(self.solutions)} machines certified)")
        )

    @property
    def machines(self) -> list[ClassPair]:
        """Which classes each machine tells apart."""
        return machines_for(len(self.label_names), self.multi_class)

    @property
    def formulation(self) -> str:
        """Name of the formulation."""
        return self.solutions[0].formulation

    @property
    def parameters(self) -> Parameters:
        """Its parameters, which all machines share."""
        return self.solutions[0].parameters

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the kernels."""
        return self.solutions[0].names

    @property
    def weights(self) -> Array:
        """Kernel weights, (machines, M)."""
        return np.stack([solution.weights for solution in self.solutions])

    @property
    def objective(self) -> Array:
        """Objective values, (machines,)."""
        return np.array([solution.objective for solution in self.solutions])

    @property
    def worst(self) -> Solution:
        """The solution with the widest relative gap; of several that are not certified, the widest of these."""
        return max(self.solutions, key=lambda solution: (not solution.certified, solution.certificate.relative_gap))

    @property
    def certificate(self) -> Certificate:
        """The one with the widest gap."""
        return self.worst.certificate

    @property
    def certified(self) -> bool:
        """Whether every machine is certified."""
        return all(solution.certified for solution in self.solutions)

    @property
    def status(self) -> str:
        """That of the worst machine."""
        return self.worst.status

    @property
    def message(self) -> str:
        """Why machines are not certified, if some are not."""
        missed = sum(not solution.certified for solution in self.solutions)
        if missed == 0 or len(self.solutions) == 1:
            return self.worst.message
        return f"{missed} of {len(self.solutions)} machines; the worst: {self.worst.message}"

    def title(self, machine: ClassPair) -> str:
        """The classes that a machine tells apart, in words."""
        assert machine.positive is not None, "machines of all classes at once are no Machines"
        against = "the rest" if machine.negative is None else self.label_names[machine.negative]
        return f"{self.label_names[machine.positive]} against {against}"

    def decision_function(self, test_kernels: NewKernels, test_diagonals: ArrayLike | None = None) -> Array:
        """Evaluate the decision values of every class at new samples.

        Parameters
        ----------
        test_kernels : array_like of shape (M, t, n)
            Kernels between new and training samples.
        test_diagonals : array_like of shape (M, t), optional
            Values k(x, x) of the new samples, where the preprocessing needs them.

        Returns
        -------
        ndarray of shape (t, k)
            One column for each class; of two classes −f and f.
        """
        kernels = self._crossed(test_kernels, test_diagonals)
        values = np.stack(decision_values(self.solutions, kernels, self.members), axis=1)
        if len(self.label_names) == 2:
            return np.hstack([-values, values])
        return class_values(values, self.machines, len(self.label_names))

    def decision_error(self, test_kernels: NewKernels, test_diagonals: ArrayLike | None = None) -> Array:
        """Bound how far the machines' decision values may be from those of the certified functions.

        Parameters
        ----------
        test_kernels : array_like of shape (M, t, n)
            Kernels between new and training samples.
        test_diagonals : array_like of shape (M, t), optional
            Values k(x, x) of the new samples, where the preprocessing needs them.

        Returns
        -------
        ndarray of shape (t, machines)
            One column for each machine.
        """
        kernels = self._crossed(test_kernels, test_diagonals)
        return np.stack(decision_errors(self.solutions, kernels, self.members), axis=1)

    def _crossed(self, test_kernels: NewKernels, test_diagonals: ArrayLike | None) -> CrossKernels:
        """Test kernels, checked and preprocessed."""
        kernels = cross_kernels(test_kernels, len(self.names), self.samples)
        return kernels if self.preprocessing is None else self.preprocessing.cross(kernels, test_diagonals)

    def predict(self, test_kernels: ArrayLike, test_diagonals: ArrayLike | None = None) -> AnyArray:
        """Predict the classes of new samples.

        Parameters
        ----------
        test_kernels : array_like of shape (M, t, n)
            Kernels between new and training samples.
        test_diagonals : array_like of shape (M, t), optional
            Values k(x, x) of the new samples.

        Returns
        -------
        ndarray of shape (t,)
            Classes, the largest value winning.
        """
        return self.labels_of(self.decision_function(test_kernels, test_diagonals))

    def labels_of(self, values: Array) -> AnyArray:
        """Convert decision values to classes."""
        return decided(values, self.target, classes_of(self.label_names, self.classes, self.classes_kind))

    def as_dict(self) -> dict[str, object]:
        """Convert to plain lists, numbers and strings: what machines share, and the record of each."""
        records = [
            {
                "positive": None if machine.positive is None else self.label_names[machine.positive],
                "negative": None if machine.negative is None else self.label_names[machine.negative],
                "samples": None if len(part) == self.samples else part.tolist(),
                "solution": solution.as_dict(),
            }
            for machine, part, solution in zip(self.machines, self.members, self.solutions, strict=True)
        ]
        return {**self.summary(), "machines": records}

    def summary(self) -> dict[str, object]:
        """What the machines share, and the worst of their certificates."""
        return {
            "schema": SCHEMA,
            "formulation": self.formulation,
            "parameters": dict(self.parameters),
            "solver": self.solutions[0].solver,
            "status": self.status,
            "tolerance": self.solutions[0].tolerance,
            "multi_class": self.multi_class,
            "label_names": list(self.label_names),
            "classes": list(self.classes),
            "classes_kind": self.classes_kind,
            "samples": self.samples,
            "names": list(self.names),
            "weights": plain(self.weights),
            "objective": plain(self.objective),
            "certificate": self.certificate.as_dict(),
            "iterations": max(solution.iterations for solution in self.solutions),
            "seconds": sum(solution.seconds for solution in self.solutions),
            "preprocessing": None if self.preprocessing is None else self.preprocessing.to_dict(),
            "message": self.message,
        }
