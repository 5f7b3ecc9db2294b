"""Measures of the papers' tables for predictions on test samples.

Truth is y (t,) in {−1, +1}, classes (t,), or labels (t, k) in {0, 1}. Every measure looks at one class at a time,
against the rest, and takes the mean over classes; y counts as the one class +1 where values are ranked, as two classes
where decisions are counted. `classes` names the columns of values, or the classes to take the mean over; unless given
they are, sorted, those of the truth (and, where decisions are counted, of the predictions).

    pr_auc (Bucak et al. 2010)                the area under the precision–recall curve, by trapezia between its points
    mean_average_precision (Xu et al. 2013)   MAP: Σ_i (R_i − R_{i−1}) P_i along the ranking, not interpolated
    mcc (Kumar et al. 2012)                   (TP·TN − FP·FN)/√((TP+FP)(TP+FN)(TN+FP)(TN+FN)), 0 where undefined
    mean_class_accuracy (Kumar et al. 2012)   the share of a class's samples that are given it
    f1 (Ji et al. 2008)                       macro: the mean of 2TP/(2TP + FP + FN); micro: the same of all decisions
    filtered (Kumar et al. 2012)              any measure of decisions, the least sure predictions left out

A class of which the test samples have none has neither ranking nor accuracy, and is left out of those means.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError, unheard
from ..problem.stack import Array
from ..solvers.second_stage import f1_scores

# Shares of the test samples that Zien & Ong 2007 and Kumar et al. 2012 leave out.
PSORT_POSITIVE, PSORT_NEGATIVE = 0.15, 0.133


def pr_auc(truth: ArrayLike, values: ArrayLike, classes: Sequence[Any] | None = None) -> float:
    """The area under the precision–recall curve, mean over classes."""
    from sklearn.metrics import auc, precision_recall_curve

    def area(members: NDArray[np.bool_], scores: Array) -> float:
        precision, recall, _ = precision_recall_curve(members, scores)
        return float(auc(recall, precision))

    return _mean_of_rankings(truth, values, classes, area)


def mean_average_precision(truth: ArrayLike, values: ArrayLike, classes: Sequence[Any] | None = None) -> float:
    """MAP: the non-interpolated average precision, mean over classes."""
    from sklearn.metrics import average_precision_score

    return _mean_of_rankings(truth, values, classes, average_precision_score)


def mcc(truth: ArrayLike, predicted: ArrayLike, classes: Sequence[Any] | None = None) -> float:
    """Matthews' correlation coefficient of each class against the rest, mean over classes."""
    from sklearn.metrics import matthews_corrcoef

    true, given = _decisions(truth, predicted, classes)
    with unheard(UserWarning, "A single label was found"):  # constant truth and prediction count 0
        return float(np.mean([matthews_corrcoef(a, b) for a, b in zip(true.T, given.T, strict=True)]))


def mean_class_accuracy(truth: ArrayLike, predicted: ArrayLike, classes: Sequence[Any] | None = None) -> float:
    """Recall of each class, mean over the classes that occur."""
    true, given = _decisions(truth, predicted, classes)
    met = true.any(axis=0)
    if not met.any():
        raise InputError("truth has no sample of any class: there is no accuracy; give test samples of the classes")
    return float(np.mean((true & given)[:, met].sum(axis=0) / true[:, met].sum(axis=0)))


def f1(truth: ArrayLike, predicted: ArrayLike, classes: Sequence[Any] | None = None) -> tuple[float, float]:
    """Macro and micro F1; a class in neither truth nor predictions counts 0."""
    return f1_scores(*_decisions(truth, predicted, classes))


def sure(values: ArrayLike, share: float = PSORT_POSITIVE) -> NDArray[np.bool_]:
    """Mask of the predictions that remain if the least sure `share` of them is left out.

    How sure a prediction is: the largest decision value less the second, or |f| where there is one value. As many are
    left out as the share comes to, rounded; of several alike, the later ones.
    """
    scores = np.asarray(values, dtype=float)
    if scores.ndim not in (1, 2) or not scores.size or not np.isfinite(scores).all():
        raise InputError(f"values of shape {scores.shape}: give finite decision values, (t,) or (t, k)")
    if not 0 <= share < 1:
        raise InputError(f"share = {share!r} is not between 0 and 1: give the share to leave out, such as 0.15")
    if scores.ndim == 2 and scores.shape[1] > 1:
        ordered = np.sort(scores, axis=1)
        margin = ordered[:, -1] - ordered[:, -2]
    else:
        margin = np.abs(scores.reshape(len(scores)))
    kept = np.zeros(len(scores), dtype=bool)
    kept[np.argsort(-margin, kind="stable")[: max(len(scores) - round(share * len(scores)), 1)]] = True
    return kept


def filtered(
    measure: Callable[..., Any], truth: ArrayLike, predicted: ArrayLike, values: ArrayLike,
    share: float = PSORT_POSITIVE, classes: Sequence[Any] | None = None,
) -> Any:  # fmt: skip
    """A measure of the sure predictions alone, over the classes of all test samples (Kumar et al. 2012, section 4.3).

    The paper leaves 15 % of Psort+ and 13.3 % of Psort− out, as its predecessors did, not saying how they rank.
    """
    true, given = np.asarray(truth), np.asarray(predicted)
    kept = sure(values, share)
    if len(true) != len(kept) or len(given) != len(kept):
        raise InputError(f"{len(true)} true and {len(given)} predicted for {len(kept)} values: give one row per sample")
    known = classes if classes is not None or true.ndim == 2 else np.union1d(true, given).tolist()
    return measure(true[kept], given[kept], classes=known)


# -------------------------------------------------------------------------------------------- one class at a time
def _mean_of_rankings(
    truth: ArrayLike, values: ArrayLike, classes: Sequence[Any] | None, measure: Callable[..., float]
) -> float:
    scores = np.asarray(values, dtype=float)
    true = _plain(truth, "truth")
    if scores.ndim == 1 and true.ndim == 1:
        members, scores = (true == _ranked(true, classes))[:, None], scores[:, None]
    else:
        members = _members(true, classes)
    if members.shape != scores.shape or not np.isfinite(scores).all():
        raise InputError(
            f"values of shape {scores.shape} for truth of shape {members.shape}: give finite numbers, one column per "
            "class, and classes where the test samples lack some"
        )
    met = members.any(axis=0)
    if not met.any():
        raise InputError("truth has no sample of any class: there is nothing to rank; give test samples of the classes")
    return float(np.mean([measure(members[:, c], scores[:, c]) for c in np.flatnonzero(met)]))


def _ranked(true: NDArray[Any], classes: Sequence[Any] | None) -> Any:
    """The class that values (t,) rank: 1 of −1, 0 and 1, however few of them the test samples have; else the last."""
    known = np.unique(true) if classes is None else np.asarray(classes)
    if len(known) > 2:
        raise InputError(f"values (t,) rank one class, the truth has {len(known)}: give values (t, k)")
    if classes is None and true.dtype.kind in "biuf" and np.isin(known, (-1, 0, 1)).all():
        return 1
    if len(known) < 2:
        raise InputError("truth has one class, and values (t,) may rank another: name both in classes")
    return known[-1]


def _plain(values: ArrayLike, what: str) -> NDArray[Any]:
    """An array of numbers or strings; refuse anything else."""
    array = np.asarray(values)
    if array.dtype == object:
        words = {isinstance(value, str) for value in array.ravel()}
        array = np.array(array.tolist()) if len(words) == 1 else array
    empty = array.dtype.kind == "f" and np.isnan(array).any()
    if empty or array.dtype.kind not in "biufU":
        found = "entries that are nan" if empty else "entries of several kinds, or None"
        raise InputError(f"{what} has {found}: give numbers, or words")
    if not array.size:
        raise InputError(f"{what} has shape {array.shape}: give one of each per sample")
    return array


def _decisions(
    truth: ArrayLike, predicted: ArrayLike, classes: Sequence[Any] | None
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """True and predicted membership of each class, (t, k)."""
    true, given = _plain(truth, "truth"), _plain(predicted, "predicted")
    if true.shape != given.shape or true.ndim not in (1, 2):
        raise InputError(f"truth has shape {true.shape}, predicted {given.shape}: give one of each per sample")
    if true.ndim == 1 and (true.dtype.kind in "US") != (given.dtype.kind in "US"):
        kinds = f"truth has dtype {true.dtype}, predicted {given.dtype}"
        raise InputError(f"{kinds}: give both as words, or both as numbers")
    known = np.union1d(true, given) if classes is None and true.ndim == 1 else classes
    return _members(true, known), _members(given, known)


def _members(values: NDArray[Any], classes: Any) -> NDArray[np.bool_]:
    if values.ndim == 2:
        return np.asarray(values > 0)
    known = np.unique(values) if classes is None else np.asarray(classes)
    return np.asarray(values[:, None] == known)
