"""Files in and out. A file from a stranger is data: nothing in it is executed, and what is wrong is said in a line.

Output is written beside its target and moved into place, so that a file is there whole or not at all.
"""

from __future__ import annotations

import difflib
import json
import math
import os
import tempfile
import warnings
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from .certificate import Certificate
from .errors import InputError
from .instance import Instance
from .preprocess import Preprocessing
from .solution import SCHEMA, Solution

INSTANCE_SCHEMA = "mklcvx.instance/1"
TARGET_KEYS = ("y", "classes", "labels")
INSTANCE_KEYS = ("groups", "names", "sample_weight", "label_names", "test_kernels", "test_diagonals")
MULTIPLIER = "multiplier_"
PICKLED = "holds pickled objects, which are refused: store plain numeric arrays"
MOST_OF_MEMORY = 0.8


# ---------------------------------------------------------------------------------------------- instances
def load_instance(path: str | Path, *, repair: str | None = None) -> Instance:
    """An instance from `.npz` (arrays named as in INSTANCE_KEYS) or from MATLAB's `.mat`, kernels n×n×M."""
    content = read_arrays(path)
    where = f"instance {path}"
    schema = str(content.get("schema", INSTANCE_SCHEMA))
    if schema != INSTANCE_SCHEMA:
        raise InputError(
            f"{where}: schema {schema[:40]!r} is not {INSTANCE_SCHEMA!r}: give a file of kernels and labels"
        )
    if "kernels" not in content:
        raise InputError(f"{where}: no array 'kernels' ({_found(content)}): store the stack under that name")
    if not any(key in content for key in TARGET_KEYS):
        raise InputError(f"{where}: no array 'y', 'classes' or 'labels' ({_found(content)}): store one of them")
    keys = (*INSTANCE_KEYS, *TARGET_KEYS, *(f"test_{key}" for key in TARGET_KEYS))
    _check_spelling([key for key in content if key not in (*keys, "kernels", "schema")], keys, where)
    given = {key: content[key] for key in keys if key in content}
    try:
        return Instance(content["kernels"], repair=repair, **given)
    except InputError as fault:
        raise InputError(f"{where}: {fault}") from None


def _check_spelling(others: list[str], keys: tuple[str, ...], where: str) -> None:
    """An array that nobody asked for is left alone, unless its name looks like a slip."""
    for other in others:
        close = difflib.get_close_matches(other.lower(), keys, n=1, cutoff=0.85)
        if close:
            raise InputError(f"{where}: array {other!r} is not known: did you mean {close[0]!r}?")


def save_instance(path: str | Path, instance: Instance, *, compressed: bool = True) -> None:
    """Write an instance as `.npz`; uncompressed it is larger, and read and written much faster."""
    path = check_output(path, (".npz",))
    targets = instance.targets
    values: dict[str, Any] = {
        "schema": INSTANCE_SCHEMA,
        "kernels": instance.kernels,
        targets.kind: targets.values,
        f"test_{targets.kind}": instance.test_targets,
        "label_names": None if targets.kind == "y" else targets.names,
        **{key: getattr(instance, key) for key in INSTANCE_KEYS if key != "label_names"},
    }
    arrays: dict[str, Any] = {key: np.asarray(value) for key, value in values.items() if value is not None}
    write = np.savez_compressed if compressed else np.savez
    write_whole(path, lambda file: write(file, **arrays))


def load_test(path: str | Path) -> dict[str, Any]:
    """The arrays of a file with test_kernels (M, t, n), among them the truth if it is known."""
    content = read_arrays(path)
    if "test_kernels" not in content:
        raise InputError(f"test {path}: no array 'test_kernels' ({_found(content)}): store (M, t, n) under that name")
    return content


def read_arrays(path: str | Path, most: float = math.inf) -> dict[str, Any]:
    """The arrays of a `.npz` or `.mat` file, MATLAB's order turned into ours; refused unread if above `most` bytes."""
    path = existing_file(path, "a .npz or .mat file")
    if path.suffix == ".npz":
        return _read_npz(path, most)
    if path.suffix == ".mat":
        from .matlab import read_mat

        return read_mat(path, most)
    raise InputError(f"{path}: unknown kind of file {path.suffix!r}: give a .npz or .mat file")


def existing_file(path: str | Path, wanted: str) -> Path:
    """A path that leads to a file: not to a folder, nor to a pipe, which could keep us waiting for ever."""
    path = Path(path)
    try:
        if path.is_file():
            return path
        fault = "is a folder" if path.is_dir() else "is not an ordinary file" if path.exists() else ""
    except OSError as error:
        raise InputError(f"{str(path)[:80]}: cannot be opened ({error.strerror}): check the path") from None
    raise InputError(f"{path}: {fault}: give {wanted}" if fault else f"{path}: no such file: check the path")


def _read_npz(path: Path, most: float = math.inf) -> dict[str, Any]:
    """The arrays of a `.npz` file that may hold anything: what it is, is seen before anything is read."""
    try:
        _check_kind(path, most)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about headers of old versions, which are read all the same
            with np.load(path, allow_pickle=False) as archive:
                return {key: archive[key] for key in archive.files}
    except InputError:
        raise
    except Exception as fault:  # a damaged archive can fail anywhere inside zlib, zipfile or the header's parser
        if "Object arrays" in str(fault):
            raise InputError(f"{path}: {PICKLED}") from None
        what = f"{type(fault).__name__}: {_first_line(fault)}"
        raise InputError(f"{path}: damaged, perhaps truncated ({what}): copy or write it again") from None


def _check_kind(path: Path, most: float) -> None:
    with path.open("rb") as file:
        head = file.read(8)
    if not head:
        raise InputError(f"{path}: is empty: copy or write it again")
    if head.startswith(b"\x93NUMPY"):
        raise InputError(f"{path}: holds a single array, not an archive: write it with numpy.savez")
    if head[0] == 0x80 and head[1] <= 5:  # the first bytes of a pickle, and its protocol
        raise InputError(f"{path}: {PICKLED}")
    if not head.startswith(b"PK"):
        raise InputError(f"{path}: is no .npz archive: write one with numpy.savez")
    with zipfile.ZipFile(path) as archive:
        size = sum(member.file_size for member in archive.infolist())
    check_size(path, size, most)
    if size > MOST_OF_MEMORY * _memory():
        raise InputError(f"{path}: unpacks to {size / 1e9:.3g} GB, more than fits into memory: use fewer samples")


def check_size(path: Path, size: float, most: float) -> None:
    """Before anything is unpacked or parsed: a file for this problem has at most `most` bytes."""
    if size > most:
        raise InputError(
            f"{path}: holds {size / 1e6:.3g} MB, more than an answer to this instance can need ({most / 1e6:.3g} MB): "
            "give weights, alpha and the like of the instance's own size"
        )


def _memory() -> float:
    """Bytes of this machine's memory; infinite where it does not say."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return float("inf")


def _found(content: Mapping[str, Any]) -> str:
    names = ", ".join(sorted(content)[:8]) or "nothing"
    return f"found {names}"


def _first_line(fault: Exception) -> str:
    return (str(fault).strip().splitlines() or [type(fault).__name__])[0][:120]


# ---------------------------------------------------------------------------------------------- solutions
def save_solution(path: str | Path, solution: Solution) -> None:
    """Write a solution as `.json` or `.npz`, by the file's ending."""
    path = check_output(path, (".json", ".npz"))
    if path.suffix == ".json":
        text = json.dumps(solution.as_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
        write_whole(path, lambda file: file.write(text.encode("utf-8", "backslashreplace")))
    else:
        write_whole(path, lambda file: np.savez_compressed(file, **_as_arrays(solution)))


def _as_arrays(solution: Solution) -> dict[str, Any]:
    """Arrays as arrays, multipliers among them; everything else as one JSON text."""
    fields = {key: getattr(solution, key) for key in ("weights", "alpha", "y", "norms", "coefficients")}
    arrays = {key: np.asarray(value) for key, value in fields.items() if value is not None}
    record = {key: value for key, value in solution.as_dict().items() if key not in arrays}
    for name, value in solution.multipliers.items():
        if np.ndim(value) > 0:
            arrays[MULTIPLIER + name] = np.asarray(value)
            record["multipliers"].pop(name)
    return {**arrays, "record": np.array(json.dumps(record, ensure_ascii=False, allow_nan=False))}


def load_solution(path: str | Path) -> Solution:
    """A solution written by `save_solution`."""
    path = existing_file(path, "a .json or .npz file")
    if path.suffix == ".npz":
        arrays = _read_npz(path)
        if "record" not in arrays:
            raise InputError(f"solution {path}: no solution ({_found(arrays)}): give a file of mklcvx solve -o")
        record = _parsed(str(arrays.pop("record")), path)
        multipliers = record.get("multipliers")
        if isinstance(multipliers, dict):
            for name in [name for name in arrays if name.startswith(MULTIPLIER)]:
                multipliers[name.removeprefix(MULTIPLIER)] = arrays.pop(name)
        record.update(arrays)
    elif path.suffix == ".json":
        record = _read_json(path)
    else:
        raise InputError(f"solution {path}: unknown kind of file {path.suffix!r}: give a .json or .npz file")
    if record.get("schema") != SCHEMA:
        schema = repr(record.get("schema"))[:40]
        raise InputError(f"solution {path}: schema {schema} is not {SCHEMA!r}: give a file of mklcvx solve -o")
    try:
        return _solution(record)
    except (KeyError, TypeError, ValueError, OverflowError) as fault:
        what = f"{type(fault).__name__}: {_first_line(fault)}"
        raise InputError(f"solution {path}: incomplete or damaged ({what}): write it again") from None


def read_record(path: str | Path, most: float = math.inf) -> dict[str, Any]:
    """The fields of a file that anybody may have written: a JSON object, or the arrays of `.npz` or `.mat`.

    A file of more than `most` bytes, packed or unpacked, is refused before it is read.
    """
    path = existing_file(path, "a .json, .npz or .mat file")
    check_size(path, path.stat().st_size, most)
    if path.suffix == ".json":
        return _read_json(path)
    arrays = read_arrays(path, most)
    text = arrays.pop("record", None)
    return arrays if text is None else {**_parsed(str(text), path), **arrays}


def _read_json(path: Path) -> dict[str, Any]:
    try:
        return _parsed(path.read_text(encoding="utf-8"), path)
    except (OSError, UnicodeDecodeError) as fault:
        raise InputError(f"solution {path}: not readable ({_first_line(fault)}): write it again") from None


def _parsed(text: str, path: Path) -> dict[str, Any]:
    try:
        record = json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError) as fault:
        raise InputError(f"solution {path}: not readable JSON ({_first_line(fault)}): write it again") from None
    if not isinstance(record, dict):
        raise InputError(f"solution {path}: holds no JSON object: give a file written by mklcvx solve -o")
    return record


def _no_number(token: str) -> float:
    raise ValueError(f"{token} is no number of JSON")


def _solution(record: Mapping[str, Any]) -> Solution:
    preprocessing, interval = record.get("preprocessing"), record.get("bias_interval")
    solution = Solution(
        formulation=str(record["formulation"]),
        parameters=dict(record["parameters"]),
        solver=str(record["solver"]),
        status=str(record["status"]),
        objective=float(record["objective"]),
        weights=_numbers(record["weights"]),
        alpha=_optional(record.get("alpha")),
        bias=_numbers(record["bias"]) if np.ndim(record["bias"]) else float(record["bias"]),
        coefficients=_optional(record.get("coefficients")),
        multipliers={k: _numbers(v) if np.ndim(v) else v for k, v in dict(record["multipliers"]).items()},
        certificate=Certificate(*(float(record["certificate"][key]) for key in ("lower", "upper", "scale"))),
        iterations=int(record["iterations"]),
        seconds=float(record["seconds"]),
        y=_numbers(record["y"]),
        names=_words(record["names"]),
        norms=_optional(record.get("norms")),
        bias_interval=None if interval is None else _interval(interval),
        target=str(record.get("target", "y")),
        label_names=_words(record.get("label_names", ["y"])),
        classes=_words(record.get("classes") or []),
        preprocessing=None if preprocessing is None else Preprocessing.from_dict(preprocessing),
        message=str(record.get("message", "")),
        notes=_words(record.get("notes", [])),
    )
    _check_fit(solution)
    return solution


def _check_fit(solution: Solution) -> None:
    """The parts of a solution from a file must be finite and fit together."""
    weights, alpha, y, labels = solution.weights, solution.alpha, solution.y, solution.label_names
    parts = (solution.bias, solution.objective, solution.certificate.gap, alpha, solution.norms)
    if not all(np.isfinite(part).all() for part in parts if part is not None) or np.isinf(weights).any():
        raise ValueError("it has entries that are not finite")
    if not np.isin(y, (-1, 1)).all():
        raise ValueError("y has labels other than −1 and +1")
    if solution.target not in TARGET_KEYS or len(solution.classes) != (len(labels) if solution.classes else 0):
        raise ValueError("target and classes do not fit together")
    if y.shape[:-1] != (len(labels),) and not (solution.target == "y" and y.ndim == len(labels) == 1):
        raise ValueError("y and label_names do not fit together")
    if weights.shape != (len(solution.names),) or (solution.norms is not None and len(weights) != len(solution.norms)):
        raise ValueError("weights, names and norms do not fit together")
    if alpha is None:
        _check_embedding(solution)
        return
    rows = y.shape[:-1]
    shape = (*rows, len(weights), y.shape[-1])
    if y.shape != alpha.shape or solution.all_coefficients.shape != shape or np.shape(solution.bias) != rows:
        raise ValueError("weights, alpha, y and coefficients do not fit together")
    if not np.isfinite(solution.all_coefficients).all():
        raise ValueError("weights are undefined and no coefficients are given")


def _check_embedding(solution: Solution) -> None:
    basis = solution.multipliers.get("B")
    if basis is None and "B" in solution.multipliers:
        raise ValueError("B is too large for JSON, solve again with -o and a name that ends in .npz")
    if basis is None or np.ndim(basis) != 2 or len(basis) != solution.y.shape[-1]:
        raise ValueError("it has neither alpha nor an embedding that fits")
    if not (np.isfinite(basis).all() and np.isfinite(solution.weights).all()):
        raise ValueError("it has entries that are not finite")


def _words(values: Any) -> tuple[str, ...]:
    if not isinstance(values, list):
        raise ValueError("a list of words is missing")
    return tuple(str(value) for value in values)


def _optional(values: Any) -> NDArray[np.float64] | None:
    return None if values is None else _numbers(values)


def _interval(ends: Any) -> tuple[float, float]:
    low, high = ends
    return (-np.inf if low is None else float(low), np.inf if high is None else float(high))


def _numbers(values: Any) -> NDArray[np.float64]:
    """An array of numbers; None, for what is undefined, becomes NaN."""
    array = np.asarray(values, dtype=object if isinstance(values, list) else None)
    if array.ndim == 0:
        raise ValueError("a list of numbers is missing")
    return np.array([np.nan if v is None else float(v) for v in array.ravel()]).reshape(array.shape)


# ------------------------------------------------------------------------------------------------- output
def check_output(path: str | Path, endings: tuple[str, ...]) -> Path:
    """Refuse an output path before the work, not after it."""
    path = Path(path)
    if path.suffix not in endings:
        raise InputError(f"output {path}: unknown kind of file {path.suffix!r}: end the name in {' or '.join(endings)}")
    try:
        if not path.parent.is_dir():
            raise InputError(f"output {path}: no folder {path.parent}: create it first")
        if path.is_dir():
            raise InputError(f"output {path}: is a folder: give a file name")
    except OSError as fault:
        raise InputError(f"output {str(path)[:80]}: not possible ({fault.strerror}): choose another name") from None
    if not os.access(path.parent, os.W_OK):
        raise InputError(f"output {path}: the folder {path.parent} cannot be written to: choose another")
    return path


def write_whole(path: str | Path, write: Callable[[IO[bytes]], Any]) -> None:
    """Write to a neighbour and move it into place; a full disk and the like are said in a line."""
    path = Path(path)
    try:
        _write_and_move(path, write)
    except OSError as fault:
        raise InputError(f"output {path}: could not be written ({fault.strerror or fault}): choose another") from None


def _write_and_move(path: Path, write: Callable[[IO[bytes]], Any]) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".mklcvx.")
    try:
        with os.fdopen(handle, "wb") as file:
            write(file)
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
