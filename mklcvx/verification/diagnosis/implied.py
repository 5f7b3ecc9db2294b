"""What an answer implies by itself, in closed form: outputs are known where α lies between its bounds.

There f + b is s times the gradient of the gain, whatever the kernels are. With the weights given, Σ μ_m K_mβ + b must
be it. What is missing tells a common factor of the kernels (it is in proportion to Σ μ_m K_mβ), a ridge (to β), or a
constant (the same everywhere); real targets enter the gradient as they are, so that those used instead can be read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ...formulations.losses import REAL
from ...problem.stack import Array
from ..answers import Answer
from ..case import FITS, Case
from ..families.single_task import arrays
from .families.conditions import free_samples, implied_outputs
from .mistakes import SAME, Hypotheses, Trials, but_for, given_alpha, given_weights, with_instance
from .mistakes_in_kernels import changed_kernels, plus, times

EXACT = 1e-5  # relative: what a fit leaves that is no coincidence
SOME = 0.3  # share of the targets that may differ for the others to be as they were
FEW = 5  # targets that are named
STEPS, STEP = 20, 1e-6  # of Newton's method, and that of its difference quotients, relative


class _Point:
    """Outputs Σ μ_m K_mβ and those that α asks for, at samples whose α lies between its bounds."""

    def __init__(self, case: Case, answer: Answer, weights: Array, alpha: Array, free: Array) -> None:
        self.task, self.alpha, self.beta, self.free = case.task, alpha, alpha * case.task.signs, free
        positive, _, _ = arrays(case.formulation, self.task, replace(answer, alpha=None, coefficients=None))
        assert positive is not None
        self.total = float(np.maximum(positive, 0.0).sum())
        self.outputs = np.maximum(positive, 0.0) @ self.task.matvecs(self.beta)
        self.wanted = implied_outputs(self.task, alpha)

    def fitted(self, columns: list[Array], wanted: Array) -> tuple[Array, float] | None:
        """The factors of the columns, beside a bias if there is one, and what they leave; None where there are too few
        samples to tell."""
        level = [np.ones(self.free.size)] * bool(self.task.bias)
        design = np.stack([*columns, *level], axis=1)[self.free]
        finite = np.isfinite(design).all() and np.isfinite(wanted[self.free]).all()  # LAPACK complains aloud
        if len(design) <= design.shape[1] + 1 or not finite:
            return None
        factors = np.linalg.lstsq(design, wanted[self.free], rcond=None)[0]
        left = float(np.abs(design @ factors - wanted[self.free]).max())
        return factors, left / (float(np.abs(self.wanted[self.free]).max()) or 1.0)

    def length(self, factor: float) -> float:
        """The factor of α with which outputs are those that it asks for, from a first one on by Newton's method: what
        it asks for depends on its length where the loss is curved."""
        with np.errstate(all="ignore"):
            for _ in range(STEPS):
                wanted, less = (implied_outputs(self.task, s * self.alpha) for s in (factor, factor * (1 - STEP)))
                slope = (wanted - less) / (factor * STEP)
                fit = self.fitted([self.outputs - slope], wanted - factor * slope)
                after = factor if fit is None else float(fit[0][0])
                if not np.isfinite(after) or after <= 0 or abs(after - factor) <= FITS * factor:
                    break
                factor = after
        return factor


def _points(case: Case, answer: Answer) -> Iterator[_Point]:
    weights, alpha = given_weights(case, answer), given_alpha(case, answer)
    if weights is None and alpha is not None and case.formulation.regulariser is not None:
        fixed = case.formulation.regulariser.alone(case.task.count, **case.task.own)  # they are no part of the answer
        weights = np.nan_to_num(case.reference.weights) if fixed else None
        answer = replace(answer, weights=weights)
    if weights is None or alpha is None or not np.isfinite(alpha).all() or not alpha.any():
        return
    size = np.abs(alpha)
    for free in (free_samples(case.task, alpha), (size > SAME * size.max()) & (size < (1 - SAME) * size.max())):
        yield _Point(case, answer, weights, alpha, np.asarray(free))


def common_factor(case: Case, answer: Answer) -> Trials:
    """Kernels, or α, times a number: outputs s Σ μ_m K_mβ + b are those that free samples need."""
    for point in _points(case, answer):
        fit = point.fitted([point.outputs], point.wanted)
        factor = 1.0 if fit is None else float(fit[0][0])
        if not np.isfinite(factor) or factor <= 0 or abs(factor - 1) <= SAME:
            continue
        words = f"every kernel times {factor:.6g}"
        for trial in changed_kernels(case, answer, "kernels_scaled", words, times(factor), factor):
            yield replace(trial, fitted=1)
            if answer.weights is not None:
                same = replace(answer, weights=np.asarray(answer.weights) / factor)
                yield replace(
                    trial, fitted=1, answer=same, words=f"{trial.words}, with the weights of the kernels given"
                )
        yield from _sized(answer, point.length(factor))


def _sized(answer: Answer, factor: float) -> Trials:
    """α times a factor, and the bias with it, or not."""
    words, alpha = f"the size of α: times {factor:.6g} it is optimal", np.asarray(answer.alpha) * factor
    yield replace(but_for(answer, "alpha_units", words, alpha=alpha), fitted=1)
    if answer.bias is not None:
        bias = np.asarray(answer.bias) * factor
        yield replace(but_for(answer, "alpha_units", f"{words}, and so is the bias", alpha=alpha, bias=bias), fitted=1)


def diagonal_or_constant(case: Case, answer: Answer) -> Trials:
    """A number on every diagonal, or in every entry."""
    for point in _points(case, answer):
        fit = point.fitted([point.beta], point.wanted - point.outputs)
        if fit is not None and fit[1] <= EXACT and point.total > 0:
            size = float(fit[0][0]) / point.total
            if size > 0:
                words, identity = f"kernels with {size:.6g} added to their diagonals", np.eye(case.instance.samples)
                for trial in changed_kernels(case, answer, "ridge", words, plus(size * identity), size):
                    yield replace(trial, fitted=1)
        moved = point.total * float(point.beta.sum())
        fit = (
            None
            if point.task.bias or not moved
            else point.fitted([np.ones(point.free.size)], point.wanted - point.outputs)
        )
        if fit is not None and fit[1] <= EXACT:
            size = float(fit[0][0]) / moved
            words = f"kernels with {size:.6g} added to every entry"
            for trial in changed_kernels(case, answer, "kernels_shifted", words, plus(np.full(1, size)), size):
                yield replace(trial, fitted=1)


# ------------------------------------------------------------------------------------------------------------- targets
def implied_targets(case: Case, answer: Answer) -> Trials:
    """Real targets other than ours: in proportion to them but for a constant, of other samples, or a few wrong."""
    task = case.task
    if task.loss_function.targets != REAL or np.ptp(task.y) == 0:
        return
    for point in _points(case, answer):
        away = point.outputs - point.wanted  # their targets minus ours, but for the bias
        fit = point.fitted([task.y], away) if task.bias else point.fitted([task.y, np.ones(task.samples)], away)
        if fit is None:
            continue
        if fit[1] <= EXACT:
            bias = 0.0 if answer.bias is None else float(np.ravel(answer.bias)[0])
            middle = bias + float(fit[0][1]) if not task.bias or answer.bias is not None else 0.0
            theirs = (1 + float(fit[0][0])) * task.y + middle
            yield from _coded(case, answer, theirs, 1 + float(fit[0][0]), middle)
        elif point.free.all() and (answer.bias is not None or not task.bias):
            theirs = task.y + away + (0.0 if answer.bias is None else float(np.ravel(answer.bias)[0]))
            yield from _of_others(case, answer, theirs)


def _coded(case: Case, answer: Answer, theirs: Array, factor: float, middle: float) -> Trials:
    values = np.unique(theirs.round(6))
    name, words = "labels_scaled", f"targets that are {factor:.6g} times ours{f' plus {middle:.6g}' if middle else ''}"
    if len(values) == 2 and np.abs(values - (0, 1)).max() <= SAME:
        name, words = "labels_zero_one", "targets 0 and 1 in place of ours"
    for trial in with_instance(case, answer, name, words, response=theirs):
        yield replace(trial, fitted=2)


def _of_others(case: Case, answer: Answer, theirs: Array) -> Trials:
    y, size = case.task.y, float(np.ptp(case.task.y))
    other = np.abs(theirs - y) > SAME * size
    if other.any() and other.mean() <= SOME:
        said = ", ".join(str(i) for i in np.flatnonzero(other)[:FEW])
        words = f"other targets of {int(other.sum())} samples: {said}{', …' * bool(other.sum() > FEW)}"
        for trial in with_instance(case, answer, "label_misread", words, response=np.where(other, theirs, y)):
            yield replace(trial, fitted=int(other.sum()))
    elif np.abs(np.sort(theirs) - np.sort(y)).max() <= SAME * size:
        words = "targets of other samples: the same ones in another order"
        yield from with_instance(case, answer, "labels_permuted", words, response=theirs)


IMPLIED: Hypotheses = (common_factor, diagonal_or_constant, implied_targets)
