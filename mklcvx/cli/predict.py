"""`mklcvx predict`: decision values and labels, by a solution or a saved model."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from ..certificate.machines import Machines
from ..certificate.solution import Solution
from ..errors import InputError, nearest
from ..io.archives import Archive
from ..io.files import existing_file, load_test
from ..io.machine_files import load_answer
from ..problem.numbers import as_any_array
from ..problem.targets import KINDS
from . import options

if TYPE_CHECKING:
    from ..estimators.prediction import Prediction

COARSE = 1e-6  # of the largest decision value: errors above it are said


def predict(
    solution: Annotated[Path, typer.Argument(help="A solution written by 'solve -o', or a model's .npz.")],
    test: Annotated[
        Path, typer.Argument(help=f"test_kernels (M, t, n): {options.FORMATS}; for a model X: .npz or .csv.")
    ],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write values and labels: .csv, .json or .npz.")
    ] = None,
    var: options.Variables = None,
) -> None:
    """Decision values and labels for new samples, or their embedding; scores too where the file has the truth.

    The truth is test_y, test_classes, test_labels or test_response beside test_kernels, or y beside X; --var y=NAME
    names it, in a .csv file by the heading of its column. Other columns that the model does not know are ignored.

    Example: `mklcvx predict answer.json new.npz -o labels.csv`, or `mklcvx predict model.npz rows.csv`
    """
    from ..estimators.prediction import Prediction
    from ..estimators.saving import is_model

    options.check_written(output, ".csv", ".json", ".npz", read=(solution, test))
    if is_model(solution):
        prediction, doubt = predicted(solution, test, options.variables_in(var))
    else:
        model, content = load_answer(solution), load_test(test, variables=options.variables_in(var))
        labels = model.target != "response" or bool(np.isin(as_any_array(content.get("test_y", 1)), (-1, 1)).all())
        if "test_y" in content and (model.target == "classes" or not labels):
            content.setdefault(f"test_{model.target}", content.pop("test_y"))
        try:
            prediction = Prediction.of(model, content)
        except InputError as fault:
            raise InputError(f"test {test}: {fault}") from None
        doubt = coarseness(model, content, prediction) if model.certified else model.message or "not certified"
    if output is None:
        typer.echo(prediction.as_csv(), nl=False)
    else:
        prediction.save(output)
    if score := prediction.score():
        sys.stderr.write(f"{score}\n")
    if doubt:
        options.say(f"the solution is {doubt}")


def coarseness(model: Solution | Machines, test: Mapping[str, Any], prediction: Prediction) -> str:
    """What to say of decision values that may be farther from the certified function's than anyone would expect."""
    if isinstance(model, Solution) and model.embeds:
        return ""
    off = float(model.decision_error(test["test_kernels"], test.get("test_diagonals")).max(initial=0.0))
    if off <= COARSE * float(np.abs(prediction.values).max(initial=0.0)):
        return ""
    return f"certified, but rounding may move these decision values by {off:.1e}: centre the features"


def predicted(model_file: Path, features: Path, variables: Mapping[str, str]) -> tuple[Prediction, str]:
    """Return the prediction of a saved model, and a warning, which is empty if the model is certified. `variables` may
    name the truth."""
    from ..estimators.loading import load_model

    for field in variables:
        if field.removeprefix("test_") not in KINDS:
            raise InputError(f"--var {field}: a model takes features, and y, the truth: name that, or leave it out")
    given = read_features(features, next(iter(variables.values()), None))
    model = load_model(model_file)
    from ..estimators.prediction import prediction_of

    try:
        return prediction_of(model, given)
    except InputError as fault:
        raise InputError(f"features {features}: {fault}") from None


def read_features(path: Path, truth: str | None = None) -> dict[str, Any]:
    """Read X, and optionally y and names, from `.npz` (arrays X and y) or `.csv` (with or without a header). `truth`
    names y, in `.csv` one column, or several by commas: these are the "targets"."""
    path = existing_file(path, "a .npz or .csv file")
    if path.suffix == ".csv":
        from ..io.folders import table

        names, X, words = table(path)
        targets = [] if truth is None else [name.strip() for name in truth.split(",")]
        for name in targets:
            if name not in (names or ()):
                raise InputError(f"features {path}: no column {name!r}: {nearest(name, names or ())}")
        columns = [np.array(words[name]) if name in words else X[:, (names or []).index(name)] for name in targets]
        y = columns[0] if len(columns) == 1 else np.column_stack(columns) if columns else None
        return {"X": X, "y": y, "names": names, "words": words, "targets": targets}
    if path.suffix != ".npz":
        raise InputError(f"features {path}: unknown kind of file {path.suffix!r}: give a .npz or .csv file")
    arrays = Archive(path)
    if "X" not in arrays:
        listed = ", ".join(sorted(arrays)[:8]) or "nothing"
        raise InputError(f"features {path}: no array 'X' (found {listed}): store samples × features under that name")
    if truth is not None and truth not in arrays:
        raise InputError(f"features {path}: no array {truth!r}: {nearest(truth, arrays)}")
    return {"X": arrays["X"], "y": arrays.get(truth or "y"), "names": None}
