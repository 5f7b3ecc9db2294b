"""adaboost — AdaBoost over the SVMs of single kernels (Govindaraj 2009, section 6.1; Freund & Schapire 1997).

    in every round   ε_m = Σ_i weight_i [SVM m misses x_i, held out];   m* the first least
                     vote_m* += ½ log((1 − ε)/ε);   weight_i ∝ weight_i exp(±½ log((1 − ε)/ε)), + where m* misses
    decision         Σ_m vote_m sign f_m(x)

It ends when no SVM is better than chance, or when one makes no mistake; this counts as half a mistake, so that the vote
is finite. Mistakes are counted on held-out samples: on the training samples a rich kernel makes none. AdaBoost is a
greedy procedure over decisions, not a convex problem over kernels, so there is no certificate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklcvx.problem.numbers import is_whole
from mklcvx.problem.validation import check_test_stack

from ._machines import FOLDS, held_out, machines
from ._model import PRICE, Array, InputError, Instance


@dataclass(frozen=True)
class Committee:
    """SVMs, one for each kernel used, and their votes: sign Σ_m vote_m sign f_m(x). `errors` are those of the folds."""

    names: tuple[str, ...]
    votes: Array
    coefficients: Array
    biases: Array
    errors: Array

    def decision_function(self, test_kernels: ArrayLike) -> Array:
        """The votes for +1 minus those for −1, from test kernels (M, t, n)."""
        stack = check_test_stack(test_kernels, len(self.votes), self.coefficients.shape[1])
        values = np.zeros(stack.shape[1])
        for vote, kernel, coefficients, bias in zip(self.votes, stack, self.coefficients, self.biases, strict=True):
            if vote:
                values += vote * np.where(np.asarray(kernel, dtype=float) @ coefficients + bias >= 0, 1.0, -1.0)
        return values

    def predict(self, test_kernels: ArrayLike) -> NDArray[np.int64]:
        return np.where(self.decision_function(test_kernels) >= 0, 1, -1)


def adaboost(instance: Instance, C: float = 1.0, rounds: int = 50, folds: int = FOLDS, seed: int = 0) -> Committee:
    """AdaBoost over the SVMs of single kernels, for labels y."""
    price = PRICE.resolve(C, "adaboost", instance.count)
    if not is_whole(rounds, 1):
        raise InputError(f"rounds = {rounds} is below 1: give a number of rounds, such as 50")
    wrong = mistakes(instance, price, folds, seed)
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
    coefficients, biases = machines(instance, price, "adaboost", used=votes)
    return Committee(instance.names, votes, coefficients[0], biases[0], wrong @ shares)


def mistakes(instance: Instance, price: float, folds: int, seed: int) -> NDArray[np.bool_]:
    """Which held-out samples the SVM of each kernel gets wrong, (M, n)."""
    y = instance.targets.plus_minus("adaboost")
    values = held_out(instance, price, folds, seed, "adaboost")[0]
    return np.asarray(np.where(values >= 0, 1.0, -1.0) != y)
