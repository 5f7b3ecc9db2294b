"""A fitted model in a `.npz` file, without pickle: arrays as arrays, everything else as one JSON text.

What a file holds is data: estimators and kernels are made from known names, shapes and numbers are checked against each
other, and a file that does not fit together is refused in one line.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..certificate.solution import Solution
from ..errors import InputError
from ..io.archives import Archive
from ..io.damage import as_members, damage_reported, require
from ..io.files import existing_file, solution_arrays, solution_of_arrays
from ..io.json_text import parsed
from ..io.writing import check_output, write_whole
from ..problem.numbers import is_whole
from ..problem.preprocessing import Preprocessing
from ..problem.stack import Array
from ..schemas import MODEL, check_schema
from .bank import FittedBank
from .columns import Table
from .inputs import View
from .scalers import Step, described
from .source import PRECOMPUTED, KernelSource

NAMES = ("MKLClassifier", "MKLRegressor", "OneClassMKL", "MultiLabelMKL", "TwoStageMKL", "HypergraphEmbedding")
REMEDY = "give a file written by save"
SAVE_AGAIN = "save the model again"
SCORES = ("cv_scores_", "average_cv_scores_")
OPTIONAL = ("classes_", "calibration_", "feature_names_in_", "label_names_", "offset_", *SCORES)


# ---------------------------------------------------------------------------------------------------------- writing
def written(path: str | Path, model: Any, name: str = "", before: Sequence[Step] = ()) -> None:
    """Write a fitted estimator, with the scalers before it in a pipeline; functions and transformers among its kernels
    are refused. `name` is its name in the pipeline."""
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model)
    path = check_output(path, (".npz",))
    source = model._source
    arrays: dict[str, Any] = {"kept": source.kept, "scaled": model.scaled_weights_}
    arrays |= {name: _savable(name, getattr(model, name)) for name in OPTIONAL if hasattr(model, name)}
    arrays |= {name: value for name, value in (("train", source.train), ("weight", source.weight)) if value is not None}
    arrays |= {f"members_{i}": members for i, members in enumerate(getattr(model, "_members", []))}
    sets = getattr(model, "_sets", None)
    if sets is not None:
        arrays |= {"learned": sets.learned, "constant": sets.values, "label_kind": np.empty(0, model._dtype)}
    for i, solution in enumerate(model.solutions_):
        arrays |= {f"solution_{i}/{key}": value for key, value in solution_arrays(solution).items()}
    bank = None if source.bank is None else source.bank.as_plain()["group"]
    given = dict(model._fitted)
    given["kernels"] = given["kernels"] if isinstance(given["kernels"], str) else bank
    steps, learned = described(before, _plain)
    arrays |= {key: _savable(key, value) for key, value in learned.items()}
    record = {
        "schema": MODEL,
        "estimator": type(model).__name__,
        "parameters": {name: _plain(value) for name, value in given.items()},
        "bank": bank,
        "names": list(source.names),
        "preprocessing": None if source.steps is None else source.steps.to_dict(),
        "features": int(model.n_features_in_),
        **({"factored": True} if source.factored else {}),
        "views": [{"name": view.name, "headings": view.headings} for view in source.views],
        "solutions": len(model.solutions_),
        **({"before": steps, "step": name} if steps else {}),
    }
    arrays["record"] = np.array(json.dumps(record, ensure_ascii=False, allow_nan=False))
    write_whole(path, lambda file: np.savez_compressed(file, **arrays))


def _savable(name: str, values: Any) -> NDArray[Any]:
    array = np.asarray(values)
    if array.dtype == object and all(isinstance(value, str) for value in array.ravel()):
        words = array.astype(str)
        if not np.array_equal(words.astype(object), array):
            raise InputError(f"model: {name} has names that end in a zero character, which no file can hold: rename")
        array = words
    if array.dtype.kind not in "biufU":
        raise InputError(f"model: {name} has dtype {array.dtype}, which no file can hold: use numbers or words")
    return array


def _plain(value: Any) -> Any:
    """A parameter for JSON; a dict becomes a list of pairs, since its keys may be numbers."""
    if isinstance(value, dict):
        return {"pairs": [[_plain(key), _plain(entry)] for key, entry in value.items()]}
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(entry) for entry in value]
    value = value.item() if isinstance(value, np.generic) else value
    if value is None or isinstance(value, str | bool | int) or (isinstance(value, float) and np.isfinite(value)):
        return value
    raise InputError(f"model: parameter value {' '.join(repr(value).split())[:40]} cannot be saved: use plain values")


# ---------------------------------------------------------------------------------------------------------- reading
def is_model(path: str | Path) -> bool:
    """Whether a file holds a model, by its schema. Does not import scikit-learn."""
    if Path(path).suffix != ".npz" or not Path(path).is_file():
        return False
    record = Archive(Path(path)).get("record")
    alone = isinstance(record, np.ndarray) and record.ndim == 0
    return alone and parsed(str(record), f"model {path}").get("schema") == MODEL


class ModelParts(NamedTuple):
    """The checked contents of a model's file."""

    record: dict[str, Any]
    arrays: Mapping[str, Any]
    source: KernelSource
    solutions: list[Solution]
    members: list[NDArray[np.intp]]
    scaled: Array

    @property
    def estimator(self) -> str:
        return str(self.record["estimator"])

    @property
    def is_pipeline(self) -> bool:
        return bool(self.record.get("before"))

    def scores(self) -> dict[str, Array]:
        """Held-out scores of the model and of the average kernel, if they were computed."""
        by_name = {name: _finite(self.arrays[name], name) for name in SCORES if name in self.arrays}
        require(all(scores.ndim == 1 for scores in by_name.values()), "held-out scores are no lists of numbers")
        return by_name

    def classes(self) -> NDArray[Any]:
        values: NDArray[Any] = self.arrays["classes_"]
        is_list = values.ndim == 1 and len(values) >= 2 and values.dtype.kind in "biufU"
        require(is_list and len(np.unique(values)) == len(values), "the classes are no list of different ones")
        return values


def read_model(path: str | Path) -> ModelParts:
    """The parts of a file that `written` wrote. Does not import scikit-learn."""
    path = existing_file(path, "a .npz file")
    where = f"model {path}"
    if path.suffix != ".npz":
        raise InputError(f"{where}: unknown kind of file {path.suffix!r}: {REMEDY}")
    arrays = Archive(path)
    if "record" not in arrays:
        raise InputError(f"{where}: no model ({', '.join(sorted(arrays)[:8])}): {REMEDY}")
    record = parsed(str(arrays["record"]), where)
    check_schema(record.get("schema"), MODEL, where, REMEDY)
    with damage_reported(f"model {path}", SAVE_AGAIN):
        return _parts(record, arrays)


def restored(path: str | Path, parts: ModelParts, estimators: Mapping[str, Any]) -> Any:
    """The fitted estimator with these parts."""
    with damage_reported(f"model {path}", SAVE_AGAIN):
        parameters = {str(name): _unpaired(value) for name, value in parts.record["parameters"].items()}
        model = estimators[parts.estimator](**parameters)
        model._restore(parts)
        return model


def _parts(record: dict[str, Any], arrays: Mapping[str, Any]) -> ModelParts:
    require(record["estimator"] in NAMES, f"{record['estimator']!r:.40} is no estimator of mklcvx")
    source, count = _source(record, arrays), _count_of(record, "solutions")
    solutions = [solution_of_arrays(arrays, f"solution {i}", f"solution_{i}/") for i in range(count)]
    members = [as_members(arrays[f"members_{i}"], len(source.kept)) for i in range(count) if f"members_{i}" in arrays]
    require(len(members) in (0, count), "classes and machines do not fit together")
    for solution, part in zip(solutions, members or [source.kept] * count, strict=True):
        fits = solution.weights.shape == (len(source.names),) and solution.y.shape[-1] == len(part)
        require(fits, "kernels, samples and solutions do not fit together")
    scaled = _finite(arrays["scaled"], "scaled", nan=True)
    require(scaled.size == count * len(source.names), "scaled weights and kernels do not fit together")
    return ModelParts(record, arrays, source, solutions, members, scaled)


def _unpaired(value: Any) -> Any:
    if isinstance(value, dict):
        return {_unpaired(key): _unpaired(entry) for key, entry in value["pairs"]}
    return [_unpaired(entry) for entry in value] if isinstance(value, list) else value


def _source(record: dict[str, Any], arrays: Mapping[str, Any]) -> KernelSource:
    features, names, bank = _count_of(record, "features"), record["names"], record["bank"]
    words = isinstance(names, list) and names and all(isinstance(name, str) for name in names)
    require(words, "the names of the kernels are no list of words")
    weight = _finite(arrays["weight"], "weight") if "weight" in arrays else None
    source = KernelSource(arrays["kept"], names, weight=weight)
    precomputed, source.factored = record["parameters"]["kernels"] == PRECOMPUTED, record.get("factored") is True
    require((bank is None) == (precomputed and not source.factored), "it has no kernels, or too many")
    if bank is None:
        source.kept = as_members(arrays["kept"], features)
    else:
        source.train = _finite(arrays["train"], "train")
        fits = source.train.ndim == 2 and source.train.shape[1] == features
        require(fits, "train and features do not fit together")
        source.kept = np.arange(len(source.train))
    if weight is not None:
        fits = weight.shape == source.kept.shape and (weight > 0).all()
        require(fits, "weight and samples do not fit together")
    if source.train is not None:
        described = isinstance(bank, list) and all(isinstance(part, dict) for part in bank)
        require(described, "the bank is no list of kernels")
        renamed = record["parameters"].get("kernel_names") is not None
        source.bank = _bank(bank, source.train, weight, names, renamed, arrays.get("feature_names_in_"))
    if record["preprocessing"] is not None:
        source.steps = Preprocessing.from_dict(record["preprocessing"])
        fits = source.steps._shape == (len(names), len(source.kept))
        require(fits, "preprocessing and kernels do not fit together")
    if source.bank is not None and (source.steps is None or source.steps.in_factors):
        source.by_factors = source.bank.in_factors(source.factored) is not None
    source.views = _views(record.get("views", []), source)
    return source


def _views(written: Any, source: KernelSource) -> list[View]:
    views = source.views_known_as([View(view["name"], [], tuple(view["headings"])) for view in written])
    for name, columns, headings in views:
        words = isinstance(name, str) and all(isinstance(heading, str) for heading in headings)
        require(words and len(headings) in (0, len(columns)), "the views and their headings do not fit together")
    return views


def _bank(bank: Any, train: Array, weight: Array | None, names: list[str], renamed: bool, features: Any) -> FittedBank:
    """The bank, whose kernels have the features' names, or numbers, or were renamed by the user."""
    words = isinstance(features, np.ndarray) and features.dtype.kind == "U" and features.shape == (train.shape[1],)
    for known_as in (features.tolist(), None) if words and len(set(features)) == len(features) else (None,):
        fitted = FittedBank(bank)
        fitted.fit(Table(train, train, known_as), None, weight)
        if fitted.names == names or (renamed and len(fitted.names) == len(names)):
            return fitted
    raise ValueError("the bank and the names of its kernels do not fit together")


def _count_of(record: dict[str, Any], name: str) -> int:
    value = record[name]
    require(is_whole(value, 1), f"{name} is {value!r:.40}, not a count")
    return int(value)


def _finite(values: NDArray[Any], name: str, nan: bool = False) -> Array:
    finite = values.dtype.kind in "fiu" and (np.isfinite(values) | (nan & np.isnan(values))).all()
    require(finite, f"{name} is not an array of finite numbers")
    return values.astype(float)
