"""The scalers before a model in a pipeline, as its file holds them: their parameters, and what they have learned.

Only scalers of scikit-learn that are known by name are written and read, number by number: there is no pickle here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import InputError, clipped
from ..io.damage import require

SCALERS = ("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler")
OUTPUTS = ("default", "pandas", "polars")
Step = tuple[str, Any]


def parted(model: Any) -> tuple[list[Step], str, Any]:
    """The steps of a pipeline, or of the best one of a search; a model by itself has a single step."""
    from sklearn.pipeline import Pipeline

    model = getattr(model, "best_estimator_", model)
    if not isinstance(model, Pipeline):
        return [], "", model
    *before, (name, last) = [(name, step) for name, step in model.steps if step not in (None, "passthrough")]
    return before, name, last


def described(before: Sequence[Step], plain: Callable[[Any], Any]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """A description of the scalers for JSON, and the arrays that they have learned; `plain` makes a value one of
    JSON's."""
    from sklearn import get_config
    from sklearn.utils.validation import check_is_fitted

    records: list[dict[str, Any]] = []
    arrays: dict[str, Any] = {}
    for i, (name, step) in enumerate(before):
        kind = type(step).__name__
        if kind not in SCALERS or not type(step).__module__.startswith("sklearn."):
            remedy = f"a file can hold {', '.join(SCALERS)}; save the model alone, or use joblib.dump"
            raise InputError(f"model: step {clipped(name, 40)!r} of the pipeline is a {clipped(kind, 40)}: {remedy}")
        check_is_fitted(step)
        learned = {key: value for key, value in vars(step).items() if key.endswith("_") and not key.startswith("_")}
        known = {key: np.asarray(value) for key, value in learned.items() if value is not None}
        arrays |= {f"before_{i}/{key}": value for key, value in known.items()}
        own = getattr(step, "_sklearn_output_config", {}).get("transform")
        records.append({
            "name": name, "scaler": kind, "parameters": {key: plain(value) for key, value in step.get_params().items()},
            "learned": [*known], "none": sorted({*learned} - {*known}),
            "output": own or get_config()["transform_output"],
        })  # fmt: skip
    return records, arrays


def steps_of(records: Any, arrays: Mapping[str, Any], features: int) -> list[Step]:
    """The fitted scalers of a file. What does not fit together raises ValueError, KeyError or TypeError."""
    from sklearn import preprocessing

    steps = []
    for i, record in enumerate(records):
        require(record["scaler"] in SCALERS, f"{record['scaler']!r:.40} is no scaler of a pipeline")
        given = {str(key): tuple(v) if isinstance(v, list) else v for key, v in record["parameters"].items()}
        scaler = getattr(preprocessing, record["scaler"])(**given)
        for key in record["none"]:
            _set(scaler, key, None)
        for key in record["learned"]:
            _set(scaler, key, _learned(key, arrays[f"before_{i}/{key}"], features))
        fits = scaler.n_features_in_ == features and record["output"] in OUTPUTS
        require(fits, "scalers and features do not fit together")
        steps.append((str(record["name"]), scaler.set_output(transform=record["output"])))
    return steps


def _set(scaler: Any, key: str, value: Any) -> None:
    require(key.endswith("_") and not key.startswith("_"), f"{key!r:.40} is nothing that a scaler learns")
    setattr(scaler, key, value)


def _learned(key: str, values: Any, features: int) -> Any:
    words = key == "feature_names_in_" and values.dtype.kind == "U"
    numbers = values.dtype.kind in "fiu" and np.isfinite(values).all()
    fits = values.shape in ((), (features,)) and (words or numbers)
    require(fits, f"{key!r:.40} of a scaler is not one finite number for each feature")
    return values.astype(object) if words else values if values.ndim else values.item()
