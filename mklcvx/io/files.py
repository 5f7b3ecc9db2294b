"""Read and write files. Nothing in a file is executed, and every fault is reported in one line.

Output is written beside its target and moved into place, so that no incomplete file is left behind.
"""

from __future__ import annotations

import difflib
import json
import os
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from ..certificate.solution import Solution, plain
from ..errors import InputError, clipped, remedy
from ..problem.checks import check_dicts, check_flags, check_type
from ..problem.instance import Instance, arguments_of
from ..problem.numbers import AnyArray, as_any_array
from ..problem.ownership import handed_over
from ..problem.targets import KINDS
from ..schemas import INSTANCE, check_schema
from . import readings
from .archives import Archive
from .fields import ABOUT, ANSWER_FIELDS, INSTANCE_FIELDS, MULTIPLIER, is_field
from .folders import read_folder, write_csv
from .json_text import parsed, read_object
from .solution_records import solution_of_record
from .writing import check_folder_output, check_output, check_path, write_folder, write_text, write_whole

WRITTEN_BY = "give a file of mklcvx solve -o, or of save_solution"
AS_ARRAYS = ("weights", "alpha", "y", "norms", "coefficients")  # of a solution, in `.npz`
NARROW = ("float16", "float32")
ENDINGS = (".npz", ".mat", ".json")
READABLE = "a .npz, .mat or .json file, or a folder of .csv files"


# ---------------------------------------------------------------------------------------------- instances
def load_instance(
    path: str | Path, *, repair: str | None = None, variables: Mapping[str, str] | None = None
) -> Instance:
    """Read an instance from a file or folder.

    A file without `y`, `classes`, `labels` and `response` is an instance without targets. Files with other names are
    read where only one reading fits, and a warning says what was read as what.

    Parameters
    ----------
    path : str or Path
        File `.npz`, `.json` or `.mat` (kernels n×n×M), or folder of `.csv` files.
    repair : {"clip", "shift", "symmetrise"}, optional
        Repair indefinite or asymmetric kernels, which are refused otherwise; "symmetrise,clip" does both.
    variables : dict, optional
        Names in the file, by field, for example {"kernels": "KH", "y": "Y"}. Several variables can be one stack:
        {"kernels": "K1,K2,K3"}.

    Returns
    -------
    Instance
        Kernels and targets, validated.

    Raises
    ------
    InputError
        If the file cannot be read or its contents cannot be used.

    See Also
    --------
    save_instance : Write an instance.

    Examples
    --------
    >>> import mklcvx
    >>> mklcvx.save_instance("problem.npz", mklcvx.zoo.by_hand())
    >>> mklcvx.load_instance("problem.npz").samples
    4
    """
    check_dicts(variables=variables)
    where = f"instance {path}"
    content, guessed = _read_fields(path, readings.chosen_for_instance, variables or {}, where)
    check_schema(str(content.get("schema", INSTANCE)), INSTANCE, where, "give a file of kernels and targets")
    named = [key for key in KINDS if key in content]
    if named and all(content[key] is None for key in named):
        raise InputError(f"{where}: {named[0]} is null: store numbers, or leave it out where there are no targets")
    keys = [key for key in INSTANCE_FIELDS if key != "kernels"]
    for other in (key for key in content if not is_field(key, "instance")):
        if close := difflib.get_close_matches(other.lower(), keys, n=1, cutoff=0.85):
            raise InputError(f"{where}: array {other!r} is not known: did you mean {close[0]!r}?")
    content["kernels"] = _narrowed(content["kernels"], str(content.get("dtype")))
    given = {key: content[key] for key in keys if key in content}
    for key in ("kernels", "test_kernels"):
        if isinstance(array := content.get(key), np.ndarray):
            handed_over(array)
    said = f"read {', '.join(guessed)}" if guessed else ""
    try:
        instance = Instance(content["kernels"], repair=repair, **given)  # type: ignore[arg-type]  # it checks each
    except InputError as fault:
        raise InputError(f"{where}: {fault}" + (f" ({said})" if said else "")) from None
    if said:
        warnings.warn(f"{where}: {said}", stacklevel=2)
    return instance


def _narrowed(kernels: object, dtype: str) -> object:
    """Kernels of a text in the precision that it names, if that changes no number: rounding made them so indefinite."""
    array = as_any_array(kernels)
    if dtype not in NARROW or array.dtype.kind not in "fi":
        return kernels
    with np.errstate(over="ignore"):
        narrow = array.astype(dtype)
    return narrow if np.array_equal(narrow, array) else kernels


def _read_fields(
    path: str | Path, choose: readings.Chooser, asked: Mapping[str, str], where: str
) -> tuple[dict[str, object], list[str]]:
    """The fields of a file with the names that it has, or that are asked for, and what was guessed, in words."""
    content: dict[str, object]
    guessed: list[str] = []
    variables: dict[str, str] = {}

    def chosen_of(listing: readings.Listing) -> readings.Chosen:
        chosen, words = choose(listing, asked, where, Path(path).suffix == ".mat")
        guessed.extend(words)
        variables.update({field: names[0] for field, names in chosen.items()})
        return chosen

    if isinstance(path, str | os.PathLike) and Path(path).suffix == ".mat" and not os.path.isdir(path):
        from .matlab import read_mat

        content = read_mat(existing_file(path, READABLE), choose=chosen_of)
    else:
        if asked and isinstance(path, str | os.PathLike) and os.path.isdir(path):
            fault = "is a folder, whose files have the names of fields"
            raise InputError(f"{where}: {fault}: rename them, without {remedy('variables', '--var')}")
        raw = read_arrays(path)
        check_schema(str(raw.get("schema", INSTANCE)), INSTANCE, where, "give a file of kernels and targets")
        chosen = chosen_of(readings.listing_of(raw.outlines if isinstance(raw, Archive) else raw))
        used = {name for names in chosen.values() for name in names}
        content = {name: raw[name] if name in ABOUT else None for name in raw if name not in used}
        for field, names in chosen.items():
            content[field] = raw[names[0]] if len(names) == 1 else [raw[name] for name in names]
    shape = np.shape(as_any_array(content.get("kernels")))
    if len(shape) == 2 and shape[0] == shape[1]:
        content["kernels"] = as_any_array(content["kernels"])[None]
    if words := readings.fitting_targets(content, variables, where):
        guessed[:] = [*(guess for guess in guessed if not guess.endswith("as targets")), words]
    return content, guessed


def check_instance_output(path: str | Path) -> Path:
    """Refuse an output path for an instance or an answer before the work; a name without an ending is a folder."""
    path = Path(path)
    return check_output(path, ENDINGS) if path.suffix else check_folder_output(path)


def save_instance(path: str | Path, instance: Instance, *, compressed: bool = True) -> None:
    """Write an instance to a file or folder.

    `.npz` keeps everything as it is. `.mat` and folders lose blanks around names and classes, and whether classes were
    true and false or numbers; a folder reads classes as numbers if all of them look like numbers. Factors (`LowRank`)
    and kernels that are not stored are written as matrices: read again, their certificates pay for rounded entries.

    Parameters
    ----------
    path : str or Path
        File `.npz`, `.mat` or `.json`; without an ending, a new folder of `.csv` files.
    instance : Instance
        What is written.
    compressed : bool, default=True
        Whether `.npz` is compressed. Uncompressed files are larger, and read and written much faster.

    Raises
    ------
    InputError
        If the path cannot be written.

    See Also
    --------
    load_instance : Read an instance.

    Examples
    --------
    >>> import mklcvx
    >>> mklcvx.save_instance("problem.json", mklcvx.zoo.by_hand())
    """
    check_path(path, "save_instance('problem.npz', instance)")
    check_type(Instance, "an Instance", instance=instance)
    check_flags(compressed=compressed)
    values = {"schema": INSTANCE, "kernels": instance.kernels, **arguments_of(instance)}
    if Path(path).suffix in ("", ".json") and instance.kernels.dtype in NARROW:
        values["dtype"] = str(instance.kernels.dtype)
    _write_arrays(path, values, compressed)


def save_answer(path: str | Path, multipliers: Mapping[str, object] | None = None, **fields: object) -> None:
    """Write an answer, any of ANSWER_FIELDS and multipliers, as `.npz`, `.mat`, `.json` or a new folder of `.csv`."""
    for key in fields:
        if key not in ANSWER_FIELDS:
            raise InputError(f"answer: {key!r} is not a field: give any of {', '.join(ANSWER_FIELDS)}, multipliers")
    _write_arrays(path, {**fields, **{MULTIPLIER + key: value for key, value in (multipliers or {}).items()}})


def _write_arrays(path: str | Path, values: Mapping[str, object], compressed: bool = True) -> None:
    path = check_instance_output(path)
    arrays: dict[str, AnyArray] = {key: np.asarray(value) for key, value in values.items() if value is not None}
    if path.suffix != ".npz":  # others do not tell of what size nothing is
        arrays = {key: value for key, value in arrays.items() if value.size or not key.startswith("test_")}
    if path.suffix == "":
        write_folder(path, lambda folder: write_csv(folder, arrays))
    elif path.suffix == ".json":
        record = {key: _listed(value) for key, value in arrays.items()}
        write_text(path, json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n")
    elif path.suffix == ".mat":
        from .matlab import write_mat

        write_whole(path, lambda file: write_mat(path, file, arrays))
    else:
        write = np.savez_compressed if compressed else np.savez
        write_whole(path, lambda file: write(file, **arrays))  # type: ignore[arg-type]  # none is called allow_pickle


def _listed(array: AnyArray) -> object:
    """Lists, or a number, for JSON; entries that are not finite become null."""
    if array.dtype.kind != "f":
        return array.tolist()
    values = array.astype(np.float64).astype(object)  # JSON has no long doubles
    values[~np.isfinite(array)] = None
    return values.tolist()


def load_test(path: str | Path, *, variables: Mapping[str, str] | None = None) -> dict[str, object]:
    """The arrays of a file with test_kernels (M, t, n), and with the test targets if they are known."""
    content, guessed = _read_fields(path, readings.chosen_for_test, variables or {}, f"test {path}")
    if guessed:
        warnings.warn(f"test {path}: read {', '.join(guessed)}", stacklevel=2)
    return content


def read_arrays(path: str | Path, what: str = "instance", limit: float | None = None) -> Mapping[str, object]:
    """The arrays of a file or folder by name, in the order of axes that `Instance` has.

    `what` is "instance" or "answer"; other contents of MATLAB files and folders are not read. `limit` is the largest
    size in bytes that such a file can have.
    """
    if isinstance(path, str | os.PathLike) and os.path.isdir(path) and Path(path).suffix not in ENDINGS:
        return read_folder(Path(path), what, limit)
    path = existing_file(path, READABLE)
    match path.suffix:
        case ".npz":
            return Archive(path, limit)
        case ".json":
            return read_object(path, what, limit)
        case ".mat":
            from .matlab import read_mat

            return read_mat(path, what, limit)
    table = "; a table of features is for mklcvx.MKLClassifier, in Python" if path.suffix in (".csv", ".tsv") else ""
    raise InputError(f"{path}: unknown kind of file {path.suffix!r}: give {READABLE}{table}")


def existing_file(path: str | Path, wanted: str) -> Path:
    """Require a path to an ordinary file: not a folder, nor a pipe, which could block for ever."""
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"{clipped(repr(path), 40)} is not a path: give the name of {wanted}")
    path = Path(path)
    try:
        if path.is_file():
            return path
        fault = "is a folder" if path.is_dir() else "is not an ordinary file" if path.exists() else ""
    except OSError as error:
        raise InputError(f"{str(path)[:80]}: cannot be opened ({error.strerror}): check the path") from None
    raise InputError(f"{path}: {fault}: give {wanted}" if fault else f"{path}: no such file: check the path")


# ---------------------------------------------------------------------------------------------- solutions
def save_solution(path: str | Path, solution: Solution) -> None:
    """Write a solution to a file, all but its `trace`, which `mklcvx solve --trace FILE` writes.

    Parameters
    ----------
    path : str or Path
        File `.json` or `.npz`. Large multipliers are kept by `.npz` only.
    solution : Solution
        What is written.

    Raises
    ------
    InputError
        If the path cannot be written.

    See Also
    --------
    load_solution : Read a solution.

    Examples
    --------
    >>> import mklcvx
    >>> solution = mklcvx.solve(mklcvx.zoo.by_hand(), "l1")
    >>> mklcvx.save_solution("answer.json", solution)
    """
    check_path(path, "save_solution('answer.json', solution)")
    check_type(Solution, "a Solution", solution=solution)
    write_answer(path, solution.as_dict(), lambda: solution_arrays(solution))


def write_answer(path: str | Path, record: Mapping[str, object], arrays: Callable[[], Mapping[str, AnyArray]]) -> None:
    """Write an answer as `.json`, or its arrays as `.npz`."""
    path = check_output(path, (".json", ".npz"))
    if path.suffix == ".json":
        write_text(path, json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
    else:
        write_whole(path, lambda file: np.savez_compressed(file, **arrays()))  # type: ignore[arg-type]  # as above


def solution_arrays(solution: Solution) -> dict[str, AnyArray]:
    """The arrays of a solution, multipliers among them; everything else as one JSON text."""
    fields = {key: getattr(solution, key) for key in AS_ARRAYS}
    arrays = {key: np.asarray(value) for key, value in fields.items() if value is not None}
    record = {key: value for key, value in solution.as_dict().items() if key not in arrays}
    multipliers = solution.multipliers
    record["multipliers"] = {name: plain(value) for name, value in multipliers.items() if np.ndim(value) == 0}
    arrays |= {MULTIPLIER + name: np.asarray(value) for name, value in multipliers.items() if np.ndim(value) > 0}
    return {**arrays, "record": np.array(json.dumps(record, ensure_ascii=False, allow_nan=False))}


def load_solution(path: str | Path) -> Solution:
    """Read a solution that `save_solution` wrote.

    Parameters
    ----------
    path : str or Path
        File `.json` or `.npz`.

    Returns
    -------
    Solution
        The solution.

    Raises
    ------
    InputError
        If the file cannot be read or is incomplete.

    See Also
    --------
    save_solution : Write a solution.

    Examples
    --------
    >>> import mklcvx
    >>> mklcvx.save_solution("answer.npz", mklcvx.solve(mklcvx.zoo.by_hand(), "l1"))
    >>> mklcvx.load_solution("answer.npz").status
    'certified'
    """
    path = existing_file(path, "a .json or .npz file")
    if path.suffix == ".npz":
        return solution_of_arrays(Archive(path), f"solution {path}")
    if path.suffix == ".json":
        return solution_of_record(read_object(path, "solution"), f"solution {path}")
    raise InputError(f"solution {path}: unknown kind of file {path.suffix!r}: give a .json or .npz file")


def solution_of_arrays(arrays: Mapping[str, object], where: str, prefix: str = "") -> Solution:
    """The solution that `solution_arrays` wrote, under names with this prefix; `where` names it in messages."""
    names = {name.removeprefix(prefix): name for name in arrays if name.startswith(prefix)}
    if "record" not in names:
        raise InputError(f"{where}: no solution ({readings.found_in(names)}): {WRITTEN_BY}")
    record = parsed(str(arrays[names["record"]]), where)
    record.update({key: arrays[names[key]] for key in AS_ARRAYS if key in names})
    multipliers = record.get("multipliers")
    if isinstance(multipliers, dict):
        stored = (key for key in names if key.startswith(MULTIPLIER))
        multipliers.update({key.removeprefix(MULTIPLIER): arrays[names[key]] for key in stored})
    return solution_of_record(record, where)


def read_record(path: str | Path, limit: float | None = None) -> dict[str, object]:
    """The fields of an answer in any of the formats, of at most `limit` bytes."""
    content = dict(read_arrays(path, "answer", limit))
    text = content.pop("record", None) if Path(path).suffix == ".npz" else None
    return content if text is None else {**parsed(str(text), f"answer {path}"), **content}
