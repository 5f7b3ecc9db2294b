"""Cross-validation of a formulation along a grid of parameters.

Every fold is one warm-started path (`paths`) over the grid on its training samples, with centring and scaling fitted
there; folds run beside each other through joblib. Folds are stratified for y and classes, plain for label sets and a
response.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np

from .. import formulations
from ..certificate.machines import Machines
from ..certificate.solution import Solution
from ..defaults import FOLDS, SEED
from ..errors import GridEdgeWarning, InputError, Interrupted, clipped, remedy, warn
from ..problem.checks import check_name
from ..problem.cross_kernels import CrossKernels
from ..problem.instance import Instance
from ..problem.low_rank import LowRank, dense
from ..problem.memory import check_memory
from ..problem.numbers import Indices
from ..problem.ownership import handed_over
from ..problem.preprocessing import Preprocessing
from ..problem.scales import diagonals
from ..problem.stack import Array
from ..problem.targets import NONE, Targets
from ..problem.validation import KnownStack
from ..solvers.grids import edge_of
from ..solvers.one_against import each_by_machines
from ..solvers.paths import each

SCHEMA = "mklcvx.cv/1"
# The targets that a score fits, and scikit-learn's function with its options.
SCORES: dict[str, tuple[tuple[str, ...], str, dict[str, Any]]] = {
    "accuracy": (("y", "classes", "labels"), "accuracy_score", {}),
    "balanced_accuracy": (("y", "classes"), "balanced_accuracy_score", {}),
    "f1": (("y",), "f1_score", {"zero_division": 0}),
    "f1_macro": (("y", "classes", "labels"), "f1_score", {"average": "macro", "zero_division": 0}),
    "f1_micro": (("y", "classes", "labels"), "f1_score", {"average": "micro", "zero_division": 0}),
    "mcc": (("y", "classes"), "matthews_corrcoef", {}),
    "roc_auc": (("y",), "roc_auc_score", {}),
    "average_precision": (("y",), "average_precision_score", {}),
    "r2": (("response",), "r2_score", {}),
    "neg_mean_squared_error": (("response",), "mean_squared_error", {}),
    "neg_root_mean_squared_error": (("response",), "root_mean_squared_error", {}),
    "neg_mean_absolute_error": (("response",), "mean_absolute_error", {}),
}
RANKINGS = ("roc_auc", "average_precision")  # of decision values; the others are of decisions
DEFAULTS = {"y": "accuracy", "classes": "accuracy", "labels": "f1_macro", "response": "r2"}
STRATIFIED = ("y", "classes")


@dataclass(frozen=True)
class FoldScore:
    """One point of the grid on one fold."""

    score: float
    gap: float
    certified: bool
    message: str


@dataclass(frozen=True)
class GridPoint:
    """One point of the grid over all folds."""

    point: dict[str, Any]
    trials: tuple[FoldScore, ...]

    @property
    def scores(self) -> Array:
        return np.array([trial.score for trial in self.trials])

    @property
    def gap(self) -> float:
        """The widest relative gap."""
        return max(trial.gap for trial in self.trials)

    @property
    def certified(self) -> bool:
        return all(trial.certified for trial in self.trials)


@dataclass(frozen=True)
class CrossValidation:
    """All points, in the grid's order; `best` is the first with the highest mean; `count` is the number of kernels."""

    formulation: str
    score: str
    seed: int
    rows: tuple[GridPoint, ...]
    count: int = 1

    @property
    def edge(self) -> str:
        """What is to be said if the best point lies on the edge of the grid, where further values are possible."""
        limits = {parameter.name: parameter for parameter in formulations.get(self.formulation).parameters}

        def can_be(name: str, value: float) -> bool:
            if name in limits:
                return limits[name].accepts(value, self.count)
            return value <= 1 if name == "nu" else True

        return edge_of([row.point for row in self.rows], [float(row.scores.mean()) for row in self.rows], can_be)

    @property
    def best(self) -> int:
        return int(np.argmax([row.scores.mean() for row in self.rows]))

    @property
    def certified(self) -> bool:
        return all(row.certified for row in self.rows)

    def as_dicts(self) -> list[dict[str, Any]]:
        return [
            {
                "schema": SCHEMA,
                **{field: getattr(self, field) for field in ("formulation", "score", "seed")},
                "parameters": row.point,
                "mean": float(row.scores.mean()),
                "std": float(row.scores.std()),
                "scores": row.scores.tolist(),
                "relative_gap": row.gap if math.isfinite(row.gap) else None,
                "status": "certified" if row.certified else "not_certified",
                "folds": len(row.trials),
                "best": number == self.best,
            }
            for number, row in enumerate(self.rows)
        ]


class FoldsMissing(Exception):
    """Some folds have not ended; `solution` has the trials of those that have, by their numbers."""

    def __init__(self, solution: dict[int, list[FoldScore]], message: str) -> None:
        super().__init__(message)
        self.solution = solution


def check_request(instance: Instance, formulation: str, folds: int, score: str | None) -> str:
    """Check the request, and return the name of the score."""
    kind = instance.targets.kind
    if formulations.get(formulation).embeds:
        raise InputError(f"{formulation} embeds and has no score: embed, and cross-validate what comes after it")
    if kind == NONE:
        fault = "cross-validation compares predictions with targets, the instance has none"
        raise InputError(f"{fault}: give y, classes, labels or response")
    name = DEFAULTS[kind] if score is None else score
    check_name("score", name, SCORES)
    if kind not in SCORES[name][0]:
        fitting = ", ".join(known for known, (kinds, _, _) in SCORES.items() if kind in kinds)
        raise InputError(f"score {name} does not fit targets {kind}: choose one of {fitting}")
    most, what = instance.samples, "samples"
    if kind in STRATIFIED:
        most = int(np.unique(instance.targets.values, return_counts=True)[1].min())
        what = "samples of the smallest class"
    elif name == "r2":  # of one sample it is undefined
        most, what = most // 2, "pairs of samples, one for the r2 of each fold"
    if most < 2 and kind in STRATIFIED:
        values, counts = np.unique(instance.targets.values, return_counts=True)
        rare = clipped(values[counts.argmin()], 30)
        raise InputError(f"class {rare} has one sample, and folds need two of each: leave that class out")
    if most < 2:
        raise InputError(f"folds = {folds}: there are {most} {what}: give more samples")
    if not isinstance(folds, Integral) or not 2 <= folds <= most:
        raise InputError(f"folds = {folds}: there are {most} {what}: give between 2 and {most}")
    return name


def cross_validate(
    instance: Instance, formulation: str, points: Sequence[Mapping[str, Any]], *, folds: int = FOLDS, seed: int = SEED,
    score: str | None = None, jobs: int | None = None, centre: bool = False, normalise: str | None = None,
    multi_class: str | None = None, done: Callable[[str], None] = lambda _: None,
    known: Mapping[int, list[FoldScore]] | None = None, **settings: Any,
) -> CrossValidation:  # fmt: skip
    """Scores and certificates of all points on all folds. `multi_class`, "ovr" or "ovo", is for formulations of two
    classes where there are more; `known` are folds that an earlier run has ended; `settings` are the other arguments of
    `solve_path`. Warns if the best point lies on the edge of the grid. An interrupt carries the folds that had ended
    (`solution`), and so does the FoldsMissing that a killed process raises."""
    from concurrent.futures.process import BrokenProcessPool

    from joblib import Parallel, delayed
    from sklearn.model_selection import KFold, StratifiedKFold

    name, targets = check_request(instance, formulation, folds, score), instance.targets
    _check_memory(instance, folds, jobs)
    kind = StratifiedKFold if targets.kind in STRATIFIED else KFold
    splits = kind(folds, shuffle=True, random_state=seed).split(np.zeros(len(targets)), targets.values)
    ended = dict(known or {})
    work = Parallel(n_jobs=jobs, return_as="generator_unordered")(
        delayed(_fold)(number, instance, *split, formulation, points, name, (centre, normalise), multi_class, settings)
        for number, split in enumerate(splits)
        if number not in ended
    )
    try:
        for number, column in work:
            ended[number] = column
            done(f"fold {len(ended)} of {folds}")
    except (BrokenProcessPool, KeyboardInterrupt) as fault:
        missing = [str(k + 1) for k in range(folds) if k not in ended]
        which = f"fold{'s' if len(missing) > 1 else ''} {', '.join(missing)} did not end"
        if isinstance(fault, KeyboardInterrupt):
            raise Interrupted(ended, f"{which}: interrupted") from None
        raise FoldsMissing(ended, f"{which}: a process was killed, perhaps for its memory") from fault
    columns = [ended[number] for number in range(folds)]
    rows = [GridPoint(dict(point), trials) for point, trials in zip(points, zip(*columns, strict=True), strict=True)]
    validated = CrossValidation(formulation, name, seed, tuple(rows), instance.count)
    if validated.edge:
        warn(validated.edge, GridEdgeWarning)
    return validated


def _check_memory(instance: Instance, folds: int, jobs: int | None) -> None:
    """Refuse, before anything is computed, training parts that do not fit into memory."""
    from joblib import effective_n_jobs

    share, at_once = (folds - 1) / folds, min(folds, effective_n_jobs(jobs))
    size = float(instance.kernels.nbytes) * (share if isinstance(instance.kernels, LowRank) else share**2)
    python = "give factors (mklcvx.LowRank), or float32; joblib's Dask back end spreads folds over machines"
    words = remedy(python, "take fewer kernels or samples, or store float32")
    words = words if at_once == 1 else f"run fewer folds at once than {at_once}, or {words}"
    check_memory(size * at_once, f"training parts of {instance.samples} samples and {instance.count} kernels", words)


def _fold(
    number: int, instance: Instance, train: Indices, test: Indices, formulation: str,
    points: Sequence[Mapping[str, Any]], score: str, prepare: tuple[bool, str | None], multi_class: str | None,
    settings: dict[str, Any],
) -> tuple[int, list[FoldScore]]:  # fmt: skip
    preparation = Preprocessing.from_options(*prepare)
    part, columns = _part(instance, train)
    stack, given = instance.kernels, part.kernels
    if preparation.steps and isinstance(given, LowRank) and preparation.in_factors:
        part = part.with_kernels(preparation.fit_factors(given, part.sample_weight))
    elif preparation.steps:
        given = dense(given)
        kernels, known = preparation.fit(given, instance.names, part.sample_weight).train_tested(given)
        # Negative eigenvalues beyond what a step leaves of rounding are rounding of the kernel it was given.
        part = part.with_kernels(KnownStack(handed_over(kernels), known), repair="clip")
    rows, own = CrossKernels.among(stack, test, train), diagonals(stack)[:, test]
    steps = preparation if preparation.steps else None
    solutions: Iterator[Solution | Machines]
    if multi_class is None:
        solutions = each(part, formulation, points, preprocessing=steps, **settings)
    else:
        solutions = each_by_machines(part, formulation, points, multi_class, preprocessing=steps, **settings)
    trials = []
    for solution in solutions:
        measured = measure(score, *_outcome(instance.targets, solution, columns, (train, test), rows, own))
        trials.append(FoldScore(measured, solution.certificate.relative_gap, solution.certified, solution.message))
    return number, trials


def _part(instance: Instance, train: Indices) -> tuple[Instance, Indices]:
    """The instance of the training samples, and the labels that are not constant there."""
    targets = instance.targets.of_samples(train)
    columns, values = np.arange(len(targets.names)), targets.values
    if targets.kind == "labels":
        columns = np.flatnonzero(values.any(axis=0) & ~values.all(axis=0))
        if not len(columns):
            raise InputError("labels: in a training part every label is had by all or by none: use fewer folds")
        names = tuple(targets.names[j] for j in columns)
        targets = replace(targets, values=values[:, columns], names=names)
    return instance.of_samples(train, targets), columns


def _outcome(
    targets: Targets, solution: Solution | Machines, columns: Indices, split: tuple[Indices, Indices],
    rows: CrossKernels, own: Array,
) -> tuple[Any, Any, Array]:  # fmt: skip
    """Truth, prediction and decision values. A label that is constant in training is predicted as it is there."""
    train, test = split
    values = solution.decision_function(rows, own)
    truth = targets.values[test]
    if targets.kind == "labels":
        predicted = np.tile(targets.values[train[0]].astype(int), (len(test), 1))
        predicted[:, columns] = solution.labels_of(values)
        return truth.astype(int), predicted, values
    if targets.kind == "classes":
        return np.searchsorted(targets.class_values(), truth), values.argmax(axis=1), values
    if targets.kind == "response":
        return truth, solution.labels_of(values), values
    return truth, solution.labels_of(values), values.ravel()


def measure(score: str, truth: Any, predicted: Any, values: Array) -> float:
    from sklearn import metrics

    if score == "accuracy" and np.ndim(truth) == 1:  # scikit-learn's checks take longer than a prediction
        return float(np.mean(np.asarray(truth) == np.asarray(predicted)))
    _, function, options = SCORES[score]
    value = float(getattr(metrics, function)(truth, values if score in RANKINGS else predicted, **options))
    assert math.isfinite(value), f"{score} of a fold with both classes, or two samples, is a number"
    return -value if score.startswith("neg_") else value
