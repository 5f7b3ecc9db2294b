"""`kernel_importance`: which kernels matter, by held-out scores, and how stable their weights are.

Every fold fits the whole procedure on its training samples: bandwidths, centring and scaling see no test sample. The
kernels of a fold are computed once; the estimator is then fitted on all of them, on each alone, and on all but one.
Bootstrap samples are weights: a sample that was drawn twice has weight 2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import Any, NamedTuple, Protocol, TypeAlias, cast

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike
from sklearn.base import clone, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import check_scoring, get_scorer_names
from sklearn.model_selection import KFold, StratifiedKFold, check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, check_random_state, indexable, resample
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import _check_sample_weight, _num_samples, has_fit_parameter

from ..defaults import FOLDS, REPEATS, RESAMPLES, SEED, SELECTED
from ..errors import InputError, Interrupted, clipped, nearest, unheard, warn
from ..problem.checks import check_functions
from ..problem.groups import as_groups
from ..problem.low_rank import LowRank, Stored, dense
from ..problem.numbers import Indices, check_jobs, check_whole
from ..reports.importance import KernelImportance, asked_for
from .base import Array, KernelEstimator
from .inputs import ONE_AT_A_TIME, checks_of_sklearn, cut_by_samples, gathered
from .source import PRECOMPUTED, samples_first

Split = tuple[Indices, Indices]
RandomState: TypeAlias = int | np.random.RandomState | None


class Splitter(Protocol):
    """A splitter of scikit-learn, such as StratifiedKFold."""

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Split]: ...


Folds: TypeAlias = int | Splitter | Iterable[Split]

LARGEST_SEED = 2**31 - 1


def kernel_importance(
    estimator: KernelEstimator, X: ArrayLike, y: ArrayLike | None, *, cv: Folds = FOLDS,
    scoring: str | Callable[..., float] | None = None, answers: Sequence[str] | None = None, repeats: int = REPEATS,
    resamples: int = RESAMPLES, threshold: float = SELECTED, sample_weight: ArrayLike | None = None,
    random_state: RandomState = SEED, n_jobs: int | None = None, names: Sequence[str] | None = None,
    report: Callable[[str], None] = lambda _: None,
) -> KernelImportance:  # fmt: skip
    """Measure by cross-validation how much each kernel matters, and by resampling how stable its weight is.

    F folds, M kernels and R resamples take F (2M + 1) + R + 1 fits.

    Parameters
    ----------
    estimator : MKLClassifier, MKLRegressor, OneClassMKL, MultiLabelMKL or TwoStageMKL
        The estimator with its parameters. It is cloned, not fitted.
    X : array_like of shape (n, d) or (n, n, M)
        Features, or a stack of kernels, samples first.
    y : array_like of shape (n,) or (n, k), or None
        Targets; None for OneClassMKL.
    cv : int, splitter or iterable of splits, default=5
        Number of folds, which are shuffled, and stratified for classes; or as scikit-learn has it.
    scoring : str or callable, optional
        A score of scikit-learn. The default is the estimator's own: accuracy, R², or D² of counts.
    answers : list of str, optional
        Some of "alone", "without", "permuted" and "stability". The default is all of them.
    repeats : int, default=5
        Permutations of the test samples in every fold, the same for all kernels.
    resamples : int, default=20
        Bootstrap samples, drawn in every class for a classifier.
    threshold : float, default=0.01
        Share of the weights from which on a kernel counts as selected.
    sample_weight : array_like of shape (n,), optional
        Weights of the samples in the fits. Scores count all test samples once.
    random_state : int, RandomState or None, default=0
        Of folds, permutations and bootstrap samples.
    n_jobs : int, optional
        Folds and resamples that are fitted at once.
    names : list of str, optional
        Names of the kernels, for a stack that has none. The default is the estimator's `kernel_names_`.
    report : callable, optional
        Called with a short text after every fold and every resample.

    Returns
    -------
    KernelImportance
        Scores, weights, and the number of fits that are not certified.

    Raises
    ------
    InputError
        If an argument cannot be used.
    KeyboardInterrupt
        At Ctrl-C. Its `solution` is made of the folds and resamples that had ended, once the first fit has.

    Examples
    --------
    >>> import mklcvx
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> model = mklcvx.MKLClassifier(kernels=["linear", "gaussian"], normalise="trace", C=100)
    >>> mklcvx.kernel_importance(model, X[::4], y[::4], cv=2, answers=["without"])
    KernelImportance(2 kernels, accuracy ... held out, relative gap ..., 7 fits, all certified)
    """
    asked = _checked(estimator, answers, repeats, resamples, threshold)
    scored = [name for name in asked if name != "stability"]
    score, scorer = _scorer(estimator, scoring) if scored else ("", None)
    check_functions(report=report)
    check_jobs(n_jobs=n_jobs)
    with ONE_AT_A_TIME, checks_of_sklearn():
        X, y = indexable(_stacked(X) if estimator._pairwise else cut_by_samples(X), y)
        weight = None if sample_weight is None else _check_sample_weight(sample_weight, X, dtype=np.float64)
    data, given = _Data(estimator, X, y, weight), () if weight is None else (weight,)
    splits = data.splits(cv, random_state) if scored else []
    with unheard(ConvergenceWarning):  # it is counted below
        whole = clone(estimator).fit(X, y, *given)
    count = len(whole.kernel_names_)
    if count < 2:
        raise InputError("there is one kernel, which has no rival: give at least two")
    named = tuple(map(str, whole.kernel_names_ if names is None else names))
    if len(named) != count:
        raise InputError(f"names: {len(named)} names for {count} kernels: give one per kernel")
    seed = partial(check_random_state(random_state).randint, LARGEST_SEED)
    draws = resamples if "stability" in asked else 0
    tasks = [delayed(_fold)(data, split, scorer, scored, repeats, seed()) for split in splits]
    tasks += [delayed(_resampled_weights)(data, seed()) for _ in range(draws)]
    texts = [f"fold {i + 1} of {len(splits)}" for i in range(len(splits))]
    texts += [f"resample {i + 1} of {draws}" for i in range(draws)]
    results: list[Any] = []
    record = partial(_record, whole, named, (score, scored), float(threshold), results, len(splits))
    try:
        for result, text in zip(Parallel(n_jobs=n_jobs, return_as="generator")(tasks), texts, strict=True):
            results.append(result)
            report(text)
    except KeyboardInterrupt:
        raise Interrupted(record(), f"{len(results)} of {len(tasks)} folds and resamples had ended") from None
    importance = record()
    if missed := importance.uncertified:
        share = f"{missed} of {importance.fits} fits are not certified"
        warn(f"{share}; the first: {importance.notes[-1]}", ConvergenceWarning)
    return importance


def _record(
    whole: KernelEstimator, names: tuple[str, ...], asked: tuple[str, Sequence[str]], threshold: float,
    results: Sequence[Any], count: int,
) -> KernelImportance:  # fmt: skip
    """What the folds that have ended, the first `count`, and the resamples have found."""
    folds, drawn = results[:count], results[count:]
    doubts = [_doubt(whole), *(doubt for fold in folds for doubt in fold.doubts), *(doubt for _, doubt in drawn)]
    missed = [doubt for doubt in doubts if doubt]
    scores = {part: np.stack([fold.scores[part] for fold in folds]) for part in asked[1]} if folds else {}
    return KernelImportance(
        names=names, machines=tuple(whole._machine_names), scoring=asked[0],
        weights=np.atleast_2d(whole.scaled_weights_),
        certificate=whole.certificate_, fits=len(doubts), uncertified=len(missed), threshold=threshold,
        scores=np.array([fold.score for fold in folds]) if folds else None, **scores,
        resampled=np.stack([weights for weights, _ in drawn]) if drawn else None,
        notes=(*dict.fromkeys(note for fold in folds for note in fold.notes), *missed[:1]),
    )  # fmt: skip


def _checked(
    estimator: object, answers: Sequence[str] | None, repeats: object, resamples: object, threshold: object
) -> list[str]:
    """The answers that are asked for, without repetitions."""
    if hasattr(estimator, "best_estimator_") or isinstance(estimator, Pipeline):
        steps = "best_estimator_" if hasattr(estimator, "best_estimator_") else "pipeline"
        whole = f"{type(estimator).__name__} is no estimator of mklcvx"
        remedy = "of a pipeline give the last step and what the others make of X"
        raise InputError(f"kernel_importance: {whole}: {remedy}: {steps}[-1], {steps}[:-1].transform(X)")
    if not isinstance(estimator, KernelEstimator):
        name = clipped(repr(estimator) if isinstance(estimator, str) else type(estimator).__name__, 40)
        raise InputError(f"kernel_importance: {name} is no estimator of mklcvx: give for example MKLClassifier('l1')")
    if estimator.embeds:
        kind = type(estimator).__name__
        raise InputError(f"kernel_importance: {kind} has no score: give for example MKLClassifier()")
    asked = asked_for(answers)
    check_whole(1, repeats=repeats)
    check_whole(2, resamples=resamples)
    if not isinstance(threshold, float | int) or not 0 <= threshold < 1:
        raise InputError(f"threshold = {threshold!r:.40}: give a share of the weights, at least 0 and below 1")
    return asked


def _scorer(estimator: KernelEstimator, scoring: Any) -> tuple[str, Callable[..., float]]:
    """The score and its name."""
    if scoring is None and not hasattr(estimator, "score"):
        remedy = "give scoring, such as 'roc_auc' with y = ±1, or ask for answers=['stability']"
        raise InputError(f"{type(estimator).__name__} has no score of its own: {remedy}")
    try:
        if not (scoring is None or isinstance(scoring, str) or callable(scoring)):
            raise ValueError("one score at a time")
        scorer = check_scoring(estimator, scoring)
    except ValueError:
        known = "give a name of scikit-learn, or a function of estimator, X and y"
        known = nearest(scoring, get_scorer_names()) if isinstance(scoring, str) else known
        raise InputError(f"scoring {clipped(repr(scoring), 40)} is unknown: {clipped(known, 300)}") from None
    if scoring is None:
        return estimator._score_name, scorer
    return scoring if isinstance(scoring, str) else getattr(scoring, "__name__", "score"), scorer


def _samples_first(kernels: Stored) -> Array:
    """A stack with the kernel index last, in its own precision."""
    return np.moveaxis(cast(Array, dense(kernels)), 0, -1)


def _stacked(X: Any) -> Array:
    """Precomputed kernels as one stack, samples first, which can be cut into folds."""
    if isinstance(X, LowRank):
        return _samples_first(X)
    return np.asarray(samples_first(gathered(X, True)[0], True))


# ---------------------------------------------------------------------------------------------------------- the fits
class _Data(NamedTuple):
    """The estimator, which is never fitted itself, and its data."""

    estimator: KernelEstimator
    X: Any
    y: Any
    weight: Array | None

    @property
    def classes(self) -> Any:
        """The classes of the samples, in each of which folds and bootstrap samples are drawn; else None."""
        if self.y is None or not is_classifier(self.estimator):
            return None
        return self.y if type_of_target(self.y) in ("binary", "multiclass") else None

    def splits(self, cv: Folds, random_state: RandomState) -> list[Split]:
        if isinstance(cv, Integral):
            if cv < 2:
                raise InputError(f"cv = {cv}: give at least 2 folds")
            cv = (KFold if self.classes is None else StratifiedKFold)(int(cv), shuffle=True, random_state=random_state)
        try:
            return list(check_cv(cv, self.y, classifier=self.classes is not None).split(self.X, self.y))
        except (ValueError, TypeError) as fault:
            raise InputError(f"cv: {clipped(fault, 160)}") from None


@dataclass(frozen=True)
class _Part:
    """The kernels of training samples, samples first, and of test samples with them; `plain` takes such kernels."""

    plain: KernelEstimator
    groups: Indices | None
    train: Array
    test: Array
    y: Any
    truth: Any
    weight: Array | None
    semidefinite: Sequence[bool]  # which kernels are known to be

    @classmethod
    def of(cls, data: _Data, split: Split) -> _Part:
        model, (train, test) = clone(data.estimator), split
        X, y = _safe_split(model, data.X, data.y, train)
        rows, truth = _safe_split(model, data.X, data.y, test, train)
        X, _, weight = model._checked(X, "no_validation", None if data.weight is None else data.weight[train])
        (kernels, known), kept = model._sourced(X, np.zeros(len(X.X)) if y is None else y, weight)
        tested = np.array(model._source.cross(model._new(rows)).formed())
        groups = None if model.groups is None else as_groups(model.groups, len(kernels))
        plain = clone(model).set_params(kernels=PRECOMPUTED, kernel_names=None, centre=False, normalise=None)
        y = None if y is None else _safe_indexing(y, kept)
        return cls(plain, groups, _samples_first(kernels), tested, y, truth, model._source.weight, known)

    @property
    def count(self) -> int:
        return len(self.test)

    def fitted(self, chosen: Sequence[int]) -> KernelEstimator:
        """The estimator fitted on some of the kernels. Its warnings are not shown: a kernel alone, or a fold, may well
        be good for nothing, and certificates are counted. The first fit is on all kernels: if that has refused none
        and is to repair none, the others need no test."""
        model = clone(self.plain).set_params(groups=None if self.groups is None else self.groups[list(chosen)])
        if len(chosen) == 1:
            model.set_params(**model._of_one_kernel)
        given = () if self.weight is None else (self.weight,)
        passed = model.repair is None and len(chosen) < self.count
        known = [passed or self.semidefinite[m] for m in chosen]
        model._semidefinite = known  # of this object alone
        with unheard():
            return model.fit(self.train[:, :, list(chosen)], self.y, *given)

    def score(self, scorer: Callable[..., float], model: KernelEstimator, chosen: Sequence[int] | slice) -> float:
        return float(scorer(model, np.moveaxis(self.test[chosen], 0, -1), self.truth))


@dataclass
class _Fold:
    """Scores of one fold; `notes` are the estimator's words about kernels that it does not take."""

    score: float
    scores: dict[str, Array]
    doubts: list[str]
    notes: list[str]


def _fold(
    data: _Data, split: Split, scorer: Callable[..., float], answers: Sequence[str], repeats: int, seed: int
) -> _Fold:
    part = _Part.of(data, split)
    every = range(part.count)
    model = part.fitted(every)
    fold = _Fold(part.score(scorer, model, slice(None)), {}, [_doubt(model)], [])
    subsets = {"alone": [[m] for m in every], "without": [[k for k in every if k != m] for m in every]}
    for answer in answers:
        if answer == "permuted":
            fold.scores[answer] = _permuted(part, model, scorer, repeats, seed)
        else:
            fold.scores[answer] = np.array([_scored(part, scorer, subset, answer, fold) for subset in subsets[answer]])
    return fold


def _scored(part: _Part, scorer: Callable[..., float], chosen: list[int], answer: str, fold: _Fold) -> float:
    """The score of some of the kernels; NaN where the estimator does not take them, such as θ < 1/M of `sm1`."""
    try:
        model = part.fitted(chosen)
    except InputError as fault:
        fold.notes.append(f"{answer}: undefined: {fault}")
        return float("nan")
    fold.doubts.append(_doubt(model))
    return part.score(scorer, model, chosen)


def _permuted(part: _Part, model: KernelEstimator, scorer: Callable[..., float], repeats: int, seed: int) -> Array:
    """Scores (repeats, M) with the test samples' rows of one kernel permuted."""
    random, scores = np.random.default_rng(seed), np.empty((repeats, part.count))
    for row in scores:
        order = random.permutation(part.test.shape[1])
        for m, kernel in enumerate(part.test.copy()):
            part.test[m] = kernel[order]
            row[m] = part.score(scorer, model, slice(None))
            part.test[m] = kernel
    return scores


def _resampled_weights(data: _Data, seed: int) -> tuple[Array, str]:
    """Scaled weights (machines, M) of a fit on a bootstrap sample, and why it is not certified."""
    drawn = resample(np.arange(_num_samples(data.X)), stratify=data.classes, random_state=seed)
    model, given = clone(data.estimator), []
    if has_fit_parameter(model, "sample_weight"):
        drawn, times = np.unique(drawn, return_counts=True)
        given = [times * (1.0 if data.weight is None else data.weight[drawn])]
    X, y = _safe_split(model, data.X, data.y, drawn)
    with unheard():
        model.fit(X, y, *given)
    return np.atleast_2d(model.scaled_weights_), _doubt(model)


def _doubt(model: KernelEstimator) -> str:
    """Why a fit is not certified; nothing if it is."""
    return next((solution.message for solution in model.solutions_ if not solution.certified), "")
