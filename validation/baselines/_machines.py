"""SVMs of single kernels, one for y or one for every class or label, and their outputs on held-out samples.

Kernels are compared on held-out samples, by stratified folds: on the training samples a rich kernel makes no mistakes,
and all kernels look alike.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from mklcvx.errors import InputError
from mklcvx.problem.instance import Instance
from mklcvx.problem.numbers import check_seed, is_whole
from mklcvx.problem.stack import Array, KernelStack

FOLDS = 5


def each_kernel(instance: Instance) -> Iterator[Array]:
    """Iterate over the kernels in double precision, whatever their stored type."""
    return KernelStack(instance.kernels, symmetric=instance.symmetric).each_kernel()


def machine(kernel: Array, labels: Array, price: float, weight: Array) -> tuple[Array, float]:
    """Coefficients and bias of the SVM with one kernel."""
    from sklearn.svm import SVC

    found = SVC(C=price, kernel="precomputed").fit(kernel, labels, sample_weight=weight)
    coefficients = np.zeros(len(labels))
    coefficients[found.support_] = found.dual_coef_.ravel()
    return coefficients, float(found.intercept_[0])


def machines(instance: Instance, price: float, name: str, used: object = None) -> tuple[Array, Array]:
    """The SVM of every kernel, or of the used ones only: coefficients (k, M, n), biases (k, M)."""
    signs = instance.targets.signs(name, constant_allowed=False)
    chosen = np.ones(instance.count, dtype=bool) if used is None else np.asarray(used, dtype=bool)
    coefficients = np.zeros((len(signs), instance.count, instance.samples))
    biases = np.zeros((len(signs), instance.count))
    for m, kernel in enumerate(each_kernel(instance)):
        for c, labels in enumerate(signs if chosen[m] else ()):
            coefficients[c, m], biases[c, m] = machine(kernel, labels, price, instance.sample_weight)
    return coefficients, biases


def held_out(instance: Instance, price: float, folds: int, seed: int, name: str) -> Array:
    """f_m(x_i) of an SVM that was trained without x_i, (k, M, n)."""
    signs = instance.targets.signs(name, constant_allowed=False)
    values = np.zeros((len(signs), instance.count, instance.samples))
    for train, test in splits(instance, folds, seed):
        weight = instance.sample_weight[train]
        for m, kernel in enumerate(each_kernel(instance)):
            inner, outer = kernel[np.ix_(train, train)], kernel[np.ix_(test, train)]
            for c, labels in enumerate(signs):
                if np.ptp(labels[train]) == 0:  # a rare label is constant in the training samples
                    values[c, m, test] = labels[train[0]]
                    continue
                coefficients, bias = machine(inner, labels[train], price, weight)
                values[c, m, test] = outer @ coefficients + bias
    return values


def splits(instance: Instance, folds: int, seed: int) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Training and held-out samples; stratified by class, unless a sample may have several labels."""
    from sklearn.model_selection import KFold, StratifiedKFold

    kind, values = instance.targets.kind, instance.targets.values
    most, what, splitter = instance.samples, "the number of samples", KFold
    if kind != "labels":
        most = int(np.unique(values, return_counts=True)[1].min())
        what, splitter = f"the size of the {'smaller' if kind == 'y' else 'smallest'} class", StratifiedKFold
        if most < 2:
            raise InputError("a class has a single sample: held-out samples need two of each class")
    check_seed(seed)
    if not is_whole(folds, 2, most):
        raise InputError(f"folds = {folds}: give between 2 and {most}, {what}")
    found: Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]
    found = splitter(folds, shuffle=True, random_state=seed).split(np.zeros(instance.samples), values)
    return found
