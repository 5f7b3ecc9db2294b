"""Baselines of the papers' tables that are no formulation of their own: the best single kernel, and AdaBoost.

Both judge kernels on samples that did not train them, by stratified folds: on its own training samples a rich kernel
makes no mistake at all, every kernel looks alike, and AdaBoost's weight ½ log((1 − ε)/ε) is infinite.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import InputError
from .formulations._single import C as PRICE
from .instance import Instance, check_test_stack

Array = NDArray[np.float64]

FOLDS = 5


@dataclass(frozen=True)
class Committee:
    """SVMs, one for each kernel used, and their votes: sign Σ_m vote_m sign f_m(x). `errors` are those of the folds."""

    names: tuple[str, ...]
    votes: Array
    coefficients: Array
    biases: Array
    errors: Array

    def decision_function(self, test_kernels: ArrayLike) -> Array:
        """The votes for +1 less those for −1, for test kernels (M, t, n)."""
        stack = check_test_stack(test_kernels, len(self.votes), self.coefficients.shape[1])
        values = np.zeros(stack.shape[1])
        for vote, kernel, coefficients, bias in zip(self.votes, stack, self.coefficients, self.biases, strict=True):
            if vote:
                values += vote * np.where(np.asarray(kernel, dtype=float) @ coefficients + bias >= 0, 1.0, -1.0)
        return values

    def predict(self, test_kernels: ArrayLike) -> NDArray[np.int64]:
        return np.where(self.decision_function(test_kernels) >= 0, 1, -1)


def best_single(instance: Instance, C: float = 1.0, folds: int = FOLDS, seed: int = 0) -> Committee:
    """The kernel whose SVM errs least on held-out samples, the first of several equal ones."""
    price = PRICE.resolve(C, "best_single", instance.count)
    wrong = _mistakes(instance, price, folds, seed)
    shares = instance.sample_weight / instance.sample_weight.sum()
    votes = np.zeros(instance.count)
    votes[int(np.argmin(wrong @ shares))] = 1.0
    return _committee(instance, price, votes, wrong @ shares)


def adaboost(instance: Instance, C: float = 1.0, rounds: int = 50, folds: int = FOLDS, seed: int = 0) -> Committee:
    """AdaBoost over the SVMs of single kernels (Govindaraj 2009, section 6.1; Freund & Schapire 1997).

    In every round the SVM with the least weighted error ε on held-out samples gets ½ log((1 − ε)/ε) more votes, and
    the samples it misses gain weight. It ends when no SVM is better than chance.
    """
    price = PRICE.resolve(C, "adaboost", instance.count)
    if not isinstance(rounds, int) or rounds < 1:
        raise InputError(f"rounds = {rounds} is below 1: give a number of rounds, such as 50")
    wrong = _mistakes(instance, price, folds, seed)
    shares = instance.sample_weight / instance.sample_weight.sum()
    votes, least = np.zeros(instance.count), 0.5 / instance.samples  # a flawless SVM counts as half a mistake
    weights = shares
    for _ in range(rounds):
        errors = wrong @ weights
        best = int(np.argmin(errors))
        error = max(float(errors[best]), least)
        if error >= 0.5:
            break
        vote = np.log((1 - error) / error) / 2
        votes[best] += vote
        weights = weights * np.exp(np.where(wrong[best], vote, -vote))
        weights = weights / weights.sum()
        if errors[best] == 0:
            break
    if not votes.any():
        votes[int(np.argmin(wrong @ shares))] = 1.0
    return _committee(instance, price, votes, wrong @ shares)


def _mistakes(instance: Instance, price: float, folds: int, seed: int) -> NDArray[np.bool_]:
    """Which samples each kernel's SVM gets wrong when it has not seen them, (M, n)."""
    from sklearn.model_selection import StratifiedKFold
    from sklearn.svm import SVC

    y = instance.targets.plus_minus("a baseline")
    smallest = int(min((y > 0).sum(), (y < 0).sum()))
    if smallest < 2:
        raise InputError("a class has a single sample: held-out samples need two of each class")
    if not isinstance(folds, int) or not 2 <= folds <= smallest:
        raise InputError(f"folds = {folds}: give between 2 and {smallest}, the size of the smaller class")
    wrong = np.zeros((instance.count, instance.samples), dtype=bool)
    for train, test in StratifiedKFold(folds, shuffle=True, random_state=seed).split(np.zeros(len(y)), y):
        for m, kernel in enumerate(instance.kernels):
            machine = SVC(C=price, kernel="precomputed")
            machine.fit(kernel[np.ix_(train, train)], y[train], sample_weight=instance.sample_weight[train])
            wrong[m, test] = machine.predict(kernel[np.ix_(test, train)]) != y[test]
    return wrong


def _committee(instance: Instance, price: float, votes: Array, errors: Array) -> Committee:
    """The SVMs that have votes, trained on all samples."""
    from sklearn.svm import SVC

    y = instance.targets.plus_minus("a baseline")
    coefficients, biases = np.zeros((instance.count, instance.samples)), np.zeros(instance.count)
    for m in np.flatnonzero(votes):
        machine = SVC(C=price, kernel="precomputed").fit(instance.kernels[m], y, sample_weight=instance.sample_weight)
        coefficients[m, machine.support_] = machine.dual_coef_.ravel()
        biases[m] = float(machine.intercept_[0])
    return Committee(instance.names, votes, coefficients, biases, errors)
