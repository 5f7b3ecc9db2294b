"""An instance put to the estimators: its kernels as a precomputed stack, its targets as y. The command line asks so."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn import metrics
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import has_fit_parameter

from .. import formulations
from ..defaults import FOLDS, REPEATS, RESAMPLES, SEED, SELECTED
from ..errors import InputError, nearest, unheard
from ..formulations.losses import KNOWN
from ..problem.instance import Instance
from ..problem.low_rank import dense
from ..reports.importance import KernelImportance
from .along import ESTIMATORS
from .base import KernelEstimator
from .cross_validation import RANKINGS, SCORES, check_request
from .importance import kernel_importance
from .source import PRECOMPUTED

ROUNDING = 1e-9  # of a mean


def estimator_of(instance: Instance, formulation: str, parameters: Mapping[str, Any]) -> KernelEstimator:
    """The estimator for a formulation, the loss and the targets of an instance. A principal submatrix of a semidefinite
    kernel is semidefinite: negative eigenvalues in a fold's are rounding."""
    family = formulations.get(formulation).family
    fitting = [estimator for estimator in ESTIMATORS if family in estimator.families]
    loss = KNOWN.get(str(parameters.get("loss")))
    wanted = instance.targets.kind if loss is None else loss.targets
    kind = next((estimator for estimator in fitting if wanted in getattr(estimator, "targets", ())), fitting[0])
    given = {"kernels": PRECOMPUTED, "groups": instance.groups, "repair": "clip", **parameters}
    known = kind().get_params()
    given = {name: value for name, value in given.items() if name in known or name != "loss"}  # one_class has one alone
    unknown = next((name for name in given if name not in known), None)
    if unknown is not None:
        raise InputError(f"unknown parameter {unknown!r} of {formulation}: {nearest(unknown, kind.own_parameters)}")
    model = kind(formulation, **given)
    if "C" not in given and model._has_price:
        model.set_params(C=1.0)  # as `solve` has it: the estimators' own default depends on the kernels
    if instance.targets.kind == "labels" and not model.__sklearn_tags__().classifier_tags.multi_label:
        raise InputError(f"{formulation} tells classes apart, the instance has labels: choose for example ml_sum")
    return model


def importance_of(
    instance: Instance, formulation: str, parameters: Mapping[str, Any], *, folds: int = FOLDS, seed: int = SEED,
    score: str | None = None, answers: Sequence[str] | None = None, repeats: int = REPEATS, resamples: int = RESAMPLES,
    threshold: float = SELECTED, jobs: int | None = None, report: Callable[[str], None] = lambda _: None,
) -> KernelImportance:  # fmt: skip
    """What `kernel_importance` finds about the kernels of an instance, on the folds of `cross_validate`; `parameters`
    are those of the estimator, centring, scaling and limits of the solver among them."""
    name = check_request(instance, formulation, folds, score)
    model, targets = estimator_of(instance, formulation, parameters), instance.targets
    y: Any = targets.values
    if targets.kind == "classes":
        y = np.array(targets.names)[np.searchsorted(targets.class_values(), y)]
    weight = None if (instance.sample_weight == 1).all() else instance.sample_weight
    if weight is not None and not has_fit_parameter(model, "sample_weight"):
        raise InputError(f"{formulation} has no place for sample weights: leave sample_weight out")
    if weight is not None and "nu" in parameters and abs(weight.mean() - 1) > ROUNDING:
        words = f"nu counts samples, and the sample weights are {weight.mean():.6g} on average"
        raise InputError(f"{words}: divide them by that")
    stack = np.moveaxis(dense(instance.kernels), 0, -1)
    with unheard(ConvergenceWarning):  # the command line says it itself
        importance = kernel_importance(
            model, stack, y, cv=folds, scoring=_scorer(name), answers=answers, repeats=repeats, resamples=resamples,
            threshold=threshold, sample_weight=weight, random_state=seed, n_jobs=jobs, names=instance.names,
            report=report,
        )  # fmt: skip
    return replace(importance, scoring=name)


def _scorer(name: str) -> Any:
    """A score of `cross_validate` as one of scikit-learn."""
    _, function, options = SCORES[name]
    response = "decision_function" if name in RANKINGS else "predict"
    options = {"response_method": response, "greater_is_better": not name.startswith("neg_"), **options}
    return metrics.make_scorer(getattr(metrics, function), **options)
