"""MATLAB files, in the conventions of MATLAB: kernels n×n×M, column vectors, logicals, cell arrays.

Libraries read them, in a process of its own (`matlab_apart`). Here variables become fields.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, clipped
from .fields import CLASSES, MATRICES, STACKS, WORDS, is_field
from .json_text import check_size
from .matlab_apart import read_apart
from .matlab_variables import cells
from .readings import Chosen, Listing

LARGEST = 2**31 - 1  # bytes of a variable of a v5 file


def read_mat(
    path: Path, what: str = "instance", limit: float | None = None, choose: Callable[[Listing], Chosen] | None = None
) -> dict[str, Any]:
    """The fields of a `.mat` file (v4, v5, or v7.3 with the extra `matlab`), kernel index first.

    `choose` says which variables are which field, else those of the same name. Others are not read: they are None, so
    that a misspelt name can be found. The unpacked variables may have `limit` bytes at most.
    """
    ours = _ours if what == "instance" else _answer
    try:
        check_size(str(path), path.stat().st_size, limit)
        pick = choose or (lambda listing: {name: (name,) for name in listing if is_field(name, what)})
        variables, chosen = read_apart(path, pick, limit)
        used = {name for names in chosen.values() for name in names}
        content: dict[str, Any] = {name: None for name in variables if name not in used}
        for field, names in chosen.items():
            value = variables[names[0]] if len(names) == 1 else cells([variables[name] for name in names])
            content[field] = ours(path, field, value)
        _turn_test_kernels(content)
        return content
    except InputError:
        raise
    except Exception as fault:  # a damaged file can fail anywhere inside the readers
        kind = f"{type(fault).__name__}: {clipped(fault, 120)}"
        raise InputError(f"{path}: not a readable MATLAB file ({kind}): save it again") from None


def write_mat(path: Path, file: IO[bytes], arrays: dict[str, NDArray[Any]]) -> None:
    """Write a v5 file in the conventions of MATLAB: stacks n×n×M, vectors as columns, words in cells."""
    from scipy.io import savemat

    for name, array in arrays.items():
        if array.dtype.kind != "U" and array.nbytes > LARGEST:
            raise InputError(f"output {path}: {name} take more than 2 GB, too much for a v5 file: end the name in .npz")
    savemat(file, {name: _theirs(name, array) for name, array in arrays.items()}, do_compression=True, oned_as="column")


def _theirs(name: str, array: NDArray[Any]) -> Any:
    if name in STACKS:
        return np.moveaxis(array, 0, 2)
    if array.dtype.kind == "U" and array.ndim == 1:
        return cells(array.tolist())
    return array


def _ours(path: Path, name: str, value: Any) -> Any:
    if not is_field(name, "instance"):
        return None
    array = np.asarray(value)
    if name in STACKS:
        return _as_stack(path, name, array)
    if name in WORDS or (name in (*CLASSES, "y", "test_y") and _holds_text(array)):
        return [_text(item) for item in array.ravel()]
    if name == "schema":
        return _text(array)
    if array.dtype == object:
        raise InputError(f"{path}: {name} is not a numeric array: store it as a full numeric one")
    if array.dtype == bool:
        array = array.astype(float)
    return array if name in MATRICES or 1 not in array.shape else array.ravel()


def _answer(path: Path, name: str, value: Any) -> Any:
    """A field of an answer: numbers unchanged, or text. MATLAB stores a single number as a matrix."""
    if value is None or not is_field(name, "answer"):
        return None
    array = np.asarray(value)
    if name in ("formulation", "schema"):
        return _text(array)
    if array.dtype.kind not in "fiub":
        raise InputError(f"{path}: {name} is not a numeric array: store it as a full numeric one")
    return float(array.item()) if name in ("bias", "objective") and array.size == 1 else array


def _as_stack(path: Path, name: str, array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype == object:
        kernels = [np.asarray(cell) for cell in array.ravel()]
        if not kernels or any(kernel.dtype.kind not in "fiub" or kernel.ndim != 2 for kernel in kernels):
            raise InputError(f"{path}: {name} hold something other than matrices: store full numeric ones")
        if len({kernel.shape for kernel in kernels}) > 1:
            raise InputError(f"{path}: {name} are of different sizes: store kernels of the same samples")
        return np.stack(kernels)
    if array.ndim == 3 and name == "kernels" and array.shape[0] != array.shape[1] == array.shape[2]:
        return array  # the kernel index comes first
    if array.ndim not in (2, 3) or (name == "kernels" and array.shape[0] != array.shape[1]):
        size = "×".join(map(str, array.shape))
        raise InputError(f"{path}: {name} are {size}: store them as MATLAB does, n×n×M, kernel index last, or as M×n×n")
    return np.moveaxis(array, 2, 0) if array.ndim == 3 else array[None]


def _turn_test_kernels(content: dict[str, Any]) -> None:
    """Undo the change of axes of test kernels that are M×t×n in the file, where the kernels' size tells."""
    kernels, test = content.get("kernels"), content.get("test_kernels")
    if kernels is not None and test is not None:
        count, samples = kernels.shape[:2]
        if test.shape[::2] != (count, samples) and test.shape[:2] == (samples, count):
            content["test_kernels"] = np.moveaxis(test, 0, 2)


def _holds_text(array: NDArray[Any]) -> bool:
    items = [np.asarray(item) for item in array.ravel()]
    return bool(items) and all(item.dtype.kind == "U" and item.size <= 1 for item in items)


def _text(item: Any) -> str:
    values: NDArray[Any] = np.ravel(np.asarray(item))
    return str(values[0]).strip() if values.size else ""
