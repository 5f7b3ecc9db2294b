"""Predictions for new samples: decision values, labels or embeddings as a table, with their score. A response is
predicted by the decision values; there are no labels beside them, but for counts the means."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..certificate.machines import Machines
from ..certificate.solution import Solution
from ..errors import InputError, clipped, unheard
from ..io.json_text import finite
from ..io.writing import write_text, write_whole
from ..problem.stack import Array
from ..problem.target_checks import find_test_targets, named_classes
from ..problem.targets import NONE, errors_of_response, largest
from ..solvers.second_stage import f1_scores

SCHEMA = "mklcvx.prediction/1"


@dataclass(frozen=True)
class Prediction:
    """Decision values (t,) or (t, k), labels or None for an embedding, and the truth where it is known.

    `target` is the kind of targets, as in `Targets`; `label_names` are the names of the columns.
    """

    target: str
    label_names: Sequence[str]
    values: Array
    labels: NDArray[Any] | None
    truth: NDArray[Any] | None

    def __post_init__(self) -> None:
        means = self.means
        if means is not None and not np.isfinite(means).all():
            raise InputError("means of counts are too large for double precision: scale new samples as in training")

    @classmethod
    def of(cls, model: Solution | Machines, test: Mapping[str, Any]) -> Prediction:
        """Predict for test kernels; the input is checked first."""
        with np.errstate(over="ignore", invalid="ignore"):
            values = model.decision_function(test["test_kernels"], test.get("test_diagonals"))
        if not np.isfinite(values).all():
            raise InputError("test_kernels are too large for double precision: scale them as in training")
        truth = find_test_targets(test, model.target, len(values), len(model.label_names))
        if truth is not None and model.target == "classes":
            truth = named_classes(truth, model.classes, model.label_names)
        with np.errstate(over="ignore"):
            labels = model.labels_of(values)
        return cls(model.target, model.label_names, values, labels, truth)

    @property
    def means(self) -> NDArray[Any] | None:
        """What predicts a response where the decision values do not: the means of counts."""
        plain = self.labels is None or np.array_equal(self.labels, self.values)
        return None if plain or self.target != "response" else self.labels

    def columns(self) -> list[tuple[str, list[Any]]]:
        """Name and entries of every column of the table."""
        if self.labels is None:
            return [(f"e{j + 1}", column.tolist()) for j, column in enumerate(self.values.T)]
        if self.target in ("y", NONE):
            return [("decision", self.values.ravel().tolist()), ("label", self.labels.tolist())]
        if self.values.ndim == 1:
            means = [] if self.means is None else [("mean", self.means.tolist())]
            return [("decision", self.values.tolist()), *means]
        names = self.label_names
        table = [(f"decision {name}", column.tolist()) for name, column in zip(names, self.values.T, strict=True)]
        if self.target == "response":
            columns = [] if self.means is None else list(zip(names, self.means.T, strict=True))
            return [*table, *((f"mean {name}", column.tolist()) for name, column in columns)]
        if self.target == "classes":
            return [*table, ("class", self._named_classes())]
        return [*table, *((name, column.tolist()) for name, column in zip(names, self.labels.T, strict=True))]

    def _named_classes(self) -> list[str]:
        return [self.label_names[j] for j in largest(self.values)]

    def as_csv(self) -> str:
        """The table as CSV; characters that cannot be encoded are escaped."""
        text, table = io.StringIO(), self.columns()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([name for name, _ in table])
        writer.writerows(zip(*(column for _, column in table), strict=True))
        return text.getvalue().encode("utf-8", "backslashreplace").decode("utf-8")

    def save(self, path: Path) -> None:
        """Write `.csv`, `.json` or `.npz`, by the file's ending."""
        kind = "embedding" if self.labels is None else "decision"
        arrays: dict[str, Any] = {kind: self.values}
        if self.labels is not None and self.target != "response":
            arrays["label"] = self.labels
        if self.means is not None:
            arrays["mean"] = self.means
        if path.suffix == ".npz":
            write_whole(path, lambda file: np.savez_compressed(file, **arrays))
            return
        record = finite({"schema": SCHEMA, **{name: array.tolist() for name, array in arrays.items()}})
        text = self.as_csv() if path.suffix == ".csv" else json.dumps(record, default=float, allow_nan=False) + "\n"
        write_text(path, text)

    def score(self) -> str:
        """Accuracy, macro and micro F1 for labels, errors for a response; nothing where the truth is not known."""
        if self.truth is None or self.labels is None or not len(self.labels):
            return ""
        if self.target == "labels":
            macro, micro = f1_scores(self.truth, self.labels)
            return f"macro F1 {macro:.4f}, micro F1 {micro:.4f} on {len(self.labels)} samples"
        if self.target == "response":
            errors = errors_of_response(self.truth, self.labels).items()
            return ", ".join(f"{name} {error:.4g}" for name, error in errors) + f" on {len(self.values)} samples"
        named = self.target == "classes" and self.truth.dtype.kind == "U"
        predicted = np.array(self._named_classes()) if named else self.labels
        return f"accuracy {np.mean(self.truth == predicted):.4f} on {len(predicted)} samples"


# ----------------------------------------------------------------------------------------------- of a fitted estimator
def winners(values: Array) -> NDArray[np.intp]:
    """The index of the predicted class: by the sign for two classes, by the largest value for more."""
    return (values > 0).astype(np.intp) if values.ndim == 1 else largest(values)


@unheard(UserWarning, "X does not have valid feature names")  # `_checked_features` has seen to them
def prediction_of(model: Any, given: Mapping[str, Any]) -> tuple[Prediction, str]:
    """The prediction of a fitted estimator, and the message of a solution that is not certified."""
    X = _checked_features(model, given)
    if hasattr(model, "steps"):  # a pipeline: its scalers, then its model
        X, model = model[:-1].transform(X), model[-1]
    with np.errstate(over="ignore", invalid="ignore"):
        values = _values(model, X)
    if not np.isfinite(values).all():
        raise InputError("X is too large for double precision: scale it as in training")
    message = next((solution.message for solution in model.solutions_ if not solution.certified), "")
    if model.embeds:
        return Prediction("y", (), values, None, None), message
    names = getattr(model, "label_names_", model.solutions_[0].label_names)
    given = {**given, "y": _in_order(given, names)}
    if not hasattr(model, "classes_"):
        target = model.solutions_[0].target
        truth = find_test_targets(_truth(given, target), target, len(values), len(names))
        return Prediction(target, names, values, model.predict(X), truth), message
    classes, sets = np.asarray(model.classes_), getattr(model, "_sets", None) is not None
    labels = (values > 0).astype(int) if sets else classes[winners(values)]
    target = "labels" if sets else "y" if values.ndim == 1 else "classes"
    truth = given.get("y")
    if truth is not None and np.shape(truth) != labels.shape:
        raise InputError(f"y has shape {np.shape(truth)} for predictions of shape {labels.shape}: give one per sample")
    if truth is not None and not sets and not np.isin(truth, classes).any():
        first, known = clipped(np.ravel(truth)[0], 30), clipped(", ".join(map(str, classes)))
        raise InputError(f"y has {first}, and no class of the model: {known}: give classes as in training")
    return Prediction(target, [*map(str, getattr(model, "label_names_", classes))], values, labels, truth), message


def _in_order(given: Mapping[str, Any], names: Sequence[str]) -> Any:
    """The truth, if any, with its columns in the order of the model's labels, or responses, where they have the same
    names."""
    targets = given.get("targets", [])
    if len(targets) > 1 and sorted(targets) == sorted(map(str, names)):
        return given["y"][:, [targets.index(name) for name in names]]
    return given.get("y")


def _truth(given: Mapping[str, Any], target: str) -> dict[str, Any]:
    """The targets y of the file, as those of a test: of outliers ±1."""
    return {} if given.get("y") is None else {"test_response" if target == "response" else "test_y": given["y"]}


def _values(model: Any, X: Any) -> Any:
    answer = "transform" if model.embeds else "decision_function" if hasattr(model, "decision_function") else "predict"
    try:
        return getattr(model, answer)(X)
    except (ValueError, TypeError) as fault:
        if isinstance(fault, InputError) and ": " in str(fault):  # it names its own remedy, as scikit-learn's do not
            raise
        raise InputError(f"{clipped(fault, 200).rstrip('.')}: give features as in training") from None


def _first_difference(headings: Sequence[str], known: Sequence[str]) -> str:
    """How headings differ from those of the model, in words."""
    if len(headings) != len(known):
        missing = next((name for name in known if name not in headings), None)
        lacking = "" if missing is None else f", {clipped(missing)!r} among them, which is missing"
        return f"the file has {len(headings)} columns, the model knows {len(known)}{lacking}"
    at = next(i for i, pair in enumerate(zip(headings, known, strict=True)) if pair[0] != pair[1])
    return f"column {at + 1} is headed {clipped(headings[at])!r}, the model knows {clipped(known[at])!r}"


def _checked_features(model: Any, given: Mapping[str, Any]) -> Any:
    X, names = given["X"], given.get("names")
    # Of a table, or of all views of a model, one after the other.
    of_views = model._source.headings if hasattr(model, "_source") else []
    known = getattr(model, "feature_names_in_", of_views or None)
    if names is not None and known is None:  # the truth is among the columns, and not one of the features
        chosen = [j for j, name in enumerate(names) if name not in given.get("targets", ())]
        X, names = X[:, chosen], [names[j] for j in chosen]
    elif names is not None and known is not None and list(known) != names:
        if set(known) - set(names):
            raise InputError(f"{_first_difference(names, list(known))}: give the columns that the model knows")
        X, names = X[:, [names.index(name) for name in known]], list(known)
    for name in (name for name in given.get("words", {}) if name in (names or ())):
        word = clipped(next(cell for cell in given["words"][name]), 30)
        remedy = "write numbers" if known is not None else "leave the column out"
        raise InputError(f"column {clipped(name)!r} has words, such as {word!r}: {remedy}")
    if X.dtype.kind not in "fiub" or not np.isfinite(X).all():
        raise InputError("X is no array of finite numbers: give samples × features")
    if not len(X):
        raise InputError("X has no samples: give at least one")
    return X
