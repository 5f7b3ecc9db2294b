"""`mklcvx predict`: decision values and labels, by a solution or a saved model."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from ..errors import InputError
from ..io.files import existing_file, load_test, read_npz
from ..io.machine_files import load_answer
from . import options

if TYPE_CHECKING:
    from ..estimators.prediction import Prediction


def predict(
    solution: Annotated[
        Path, typer.Argument(help="A solution written by 'solve -o', or a model's .npz.", show_default=False)
    ],
    test: Annotated[
        Path,
        typer.Argument(
            help=f"test_kernels (M, t, n): {options.FORMATS}; for a model X: .npz or .csv.", show_default=False
        ),
    ],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write values and labels: .csv, .json or .npz.")
    ] = None,
    var: options.Variables = None,
) -> None:
    """Decision values and labels for new samples, or their embedding; scores too where the file has the truth.

    The truth is test_y, test_classes, test_labels or test_response beside test_kernels, or y beside X.

    Example: `mklcvx predict answer.json new.npz -o labels.csv`, or `mklcvx predict model.npz rows.csv`
    """
    from ..estimators.prediction import Prediction
    from ..estimators.saving import is_model

    options.check_written(output, ".csv", ".json", ".npz", read=(solution, test))
    if is_model(solution):
        prediction, doubt = predicted(solution, test)
    else:
        model, content = load_answer(solution), load_test(test, variables=options.variables_in(var))
        labels = model.target != "response" or set(np.ravel(content.get("test_y", ()))) <= {-1, 1}
        if "test_y" in content and (model.target == "classes" or not labels):
            content.setdefault(f"test_{model.target}", content.pop("test_y"))
        try:
            prediction = Prediction.of(model, content)
        except InputError as fault:
            raise InputError(f"test {test}: {fault}") from None
        doubt = "" if model.certified else model.message or "not certified"
    if output is None:
        typer.echo(prediction.as_csv(), nl=False)
    else:
        prediction.save(output)
    if score := prediction.score():
        sys.stderr.write(f"{score}\n")
    if doubt:
        options.say(f"the solution is {doubt}")


def predicted(model_file: Path, features: Path) -> tuple[Prediction, str]:
    """Return the prediction of a saved model, and a warning, which is empty if the model is certified."""
    from ..estimators.loading import load_model

    given = read_features(features)
    model = load_model(model_file)
    from ..estimators.prediction import prediction_of

    # A file without headings has the columns of training, in their order: scikit-learn need not warn of it.
    warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
    try:
        return prediction_of(model, given)
    except InputError as fault:
        raise InputError(f"features {features}: {fault}") from None


def read_features(path: Path) -> dict[str, Any]:
    """Read X, and optionally y and names, from `.npz` (arrays X and y) or `.csv` (with or without a header)."""
    path = existing_file(path, "a .npz or .csv file")
    if path.suffix == ".csv":
        from ..io.folders import table

        names, X = table(path)
        return {"X": X, "names": names}
    if path.suffix != ".npz":
        raise InputError(f"features {path}: unknown kind of file {path.suffix!r}: give a .npz or .csv file")
    arrays = read_npz(path)
    if "X" not in arrays:
        found = ", ".join(sorted(arrays)[:8]) or "nothing"
        raise InputError(f"features {path}: no array 'X' (found {found}): store samples × features under that name")
    return {"X": arrays["X"], "y": arrays.get("y"), "names": None}
