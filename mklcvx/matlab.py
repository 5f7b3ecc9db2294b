"""MATLAB files: kernels as MATLAB people keep them, n×n×M, column vectors, logicals, cell arrays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import InputError

FIRST_BYTES_OF_HDF5 = b"\x89HDF"
STACKS = ("kernels", "test_kernels")
MATRICES = ("labels", "test_labels", "test_diagonals")


def read_mat(path: Path) -> dict[str, Any]:
    """The variables of a `.mat` file (v5, or v7.3 with the extra `matlab`), kernel index first."""
    variables = _read_v73(path) if _is_v73(path) else _read_v5(path)
    return {name: _ours(name, value) for name, value in variables.items()}


def _is_v73(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(520)
    return head.startswith(FIRST_BYTES_OF_HDF5) or head[512:516] == FIRST_BYTES_OF_HDF5


def _read_v5(path: Path) -> dict[str, Any]:
    from scipy.io import loadmat

    try:
        content = loadmat(path)
    except Exception as fault:  # a damaged file can fail anywhere inside the reader
        raise InputError(f"{path}: not a readable MATLAB file ({type(fault).__name__}: {fault})") from None
    return {name: value for name, value in content.items() if not name.startswith("__")}


def _read_v73(path: Path) -> dict[str, Any]:
    try:
        import h5py
    except ImportError:
        remedy = "install mklcvx[matlab], or save with -v7"
        raise InputError(f"{path}: a MATLAB v7.3 file, which needs h5py: {remedy}") from None
    try:
        with h5py.File(path, "r") as file:
            return {name: _from_hdf5(file, file[name]) for name in file if not name.startswith("#")}
    except (OSError, KeyError, ValueError, TypeError) as fault:
        raise InputError(f"{path}: not a readable MATLAB v7.3 file ({fault})") from None


def _from_hdf5(file: Any, item: Any) -> Any:
    """HDF5 holds MATLAB's arrays with the axes reversed; cells are arrays of references, text is codes."""
    values = item[()]
    if values.dtype == object:
        cells = [_from_hdf5(file, file[reference]) for reference in np.ravel(values)]
        result = np.empty(len(cells), dtype=object)
        result[:] = cells
        return result
    if item.attrs.get("MATLAB_class") == b"char":
        return np.array(["".join(chr(code) for code in np.ravel(values))])
    return values.T


def _ours(name: str, value: Any) -> Any:
    array = np.asarray(value)
    if name in STACKS:
        if array.dtype == object:
            return np.stack([np.asarray(cell, dtype=float) for cell in array.ravel()])
        return np.moveaxis(array, 2, 0) if array.ndim == 3 else array[None]
    if name == "names":
        return [_text(item) for item in array.ravel()]
    if array.dtype == bool:
        array = array.astype(float)
    return array if name in MATRICES else array.ravel()


def _text(item: Any) -> str:
    values: NDArray[Any] = np.ravel(np.asarray(item))
    return str(values[0]).strip() if values.size else ""
