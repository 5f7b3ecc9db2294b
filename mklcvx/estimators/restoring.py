"""The estimator that the checked parts of a file make."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import estimators
from ..certificate.solution import Solution
from ..problem.preprocessing import Preprocessing
from .base import Array, KernelEstimator
from .classifier import MULTI_CLASS, MKLClassifier, machines_for
from .embedding import HypergraphEmbedding
from .joint import JointClassifier
from .source import KernelSource
from .targets import LabelSets


def restored(
    record: dict[str, Any], arrays: dict[str, Any], source: KernelSource, solutions: list[Solution],
    members: list[NDArray[np.intp]], scaled: Array,
) -> KernelEstimator:  # fmt: skip
    model: KernelEstimator = getattr(estimators, record["estimator"])(**_parameters(record["parameters"]))
    embeds = isinstance(model, HypergraphEmbedding)
    if any(s.formulation != model._formulation.name or s.embeds != embeds for s in solutions):
        raise ValueError("formulation and solutions do not fit together")
    steps = () if source.steps is None else source.steps.steps
    if len(steps) != len(Preprocessing.from_options(bool(model.centre), model.normalise).steps):
        raise ValueError("preprocessing and parameters do not fit together")
    model._source = source
    model.n_features_in_ = record["features"]
    if "feature_names_in_" in arrays:
        model.feature_names_in_ = _words(arrays["feature_names_in_"], record["features"])
    model._settle(solutions, np.ones((len(solutions), len(source.names))))
    model.scaled_weights_ = scaled.reshape(np.shape(model.weights_))
    if isinstance(model, MKLClassifier):
        _restore_classifier(model, arrays, members)
    elif isinstance(model, JointClassifier):
        _restore_joint(model, arrays)
    return model


def _parameters(given: dict[str, Any]) -> dict[str, Any]:
    return {str(name): _unpaired(value) for name, value in given.items()}


def _unpaired(value: Any) -> Any:
    if isinstance(value, dict):
        return {_unpaired(key): _unpaired(entry) for key, entry in value["pairs"]}
    return [_unpaired(entry) for entry in value] if isinstance(value, list) else value


def _restore_classifier(model: MKLClassifier, arrays: dict[str, Any], members: list[NDArray[np.intp]]) -> None:
    model.classes_ = _classes(arrays["classes_"])
    model._machines, model._members = machines_for(len(model.classes_), model.multi_class), members
    single = all(np.ndim(solution.bias) == 0 for solution in model.solutions_)
    if model.multi_class not in MULTI_CLASS or not single or not _all_there(model):
        raise ValueError("classes and machines do not fit together")
    if bool(model.probability) != ("calibration_" in arrays):
        raise ValueError("the calibration and the parameters do not fit together")
    if "calibration_" in arrays:
        sigmoids = arrays["calibration_"]
        rows = 1 if len(model.classes_) == 2 else len(model.classes_)
        if sigmoids.dtype.kind != "f" or sigmoids.shape != (rows, 2) or not np.isfinite(sigmoids).all():
            raise ValueError("the calibration and the classes do not fit together")
        model.calibration_ = sigmoids


def _all_there(model: MKLClassifier) -> bool:
    """One against the rest has every sample in every machine; one against one has each in k − 1."""
    machines, members, classes = model._machines, model._members, len(model.classes_)
    if not len(machines) == len(members) == len(model.solutions_):
        return False
    times = classes if machines[0].negative is None else classes - 1
    seen = np.bincount(np.concatenate(members), minlength=len(model._source.kept))
    return bool((seen == times).all())


def _restore_joint(model: JointClassifier, arrays: dict[str, Any]) -> None:
    (solution,) = model.solutions_
    model.classes_ = _classes(arrays["classes_"])
    values, model._sets = len(np.atleast_1d(solution.bias)), None
    if "learned" in arrays:
        learned, constant = arrays["learned"], arrays["constant"]
        fits = learned.dtype.kind == "i" and learned.shape == (values,) and (np.diff(learned) > 0).all()
        fits = fits and constant.dtype.kind == "f" and bool((np.abs(constant) == 1).all())
        if not fits or learned[0] < 0 or learned[-1] >= len(model.classes_) or constant.shape != model.classes_.shape:
            raise ValueError("the labels do not fit together")
        model._sets, model._dtype = LabelSets(learned, constant.astype(float)), arrays["label_kind"].dtype
    elif values != (1 if len(model.classes_) == 2 else len(model.classes_)):
        raise ValueError("classes and solution do not fit together")


def _classes(values: NDArray[Any]) -> NDArray[Any]:
    if values.ndim != 1 or len(values) < 2 or values.dtype.kind not in "biufU" or len(np.unique(values)) != len(values):
        raise ValueError("the classes are no list of different ones")
    return values


def _words(values: NDArray[Any], count: int) -> NDArray[Any]:
    if values.dtype.kind != "U" or values.shape != (count,):
        raise ValueError("the names of the features do not fit together")
    return values.astype(object)
