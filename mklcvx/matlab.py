"""MATLAB files: kernels as MATLAB people keep them, n×n×M, column vectors, logicals, cell arrays."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import InputError

FIRST_BYTES_OF_HDF5 = b"\x89HDF"
STACKS = ("kernels", "test_kernels")
MATRICES = ("labels", "test_labels", "test_diagonals")
WANTED = (*STACKS, *MATRICES, "y", "test_y", "classes", "test_classes", "groups", "names", "sample_weight", "schema")


def read_mat(path: Path) -> dict[str, Any]:
    """The variables of a `.mat` file (v5, or v7.3 with the extra `matlab`), kernel index first.

    Other variables than those of an instance are named, so that a misspelt one can be found, but not read.
    """
    try:
        variables = _read_v73(path) if _is_v73(path) else _read_v5(path)
    except InputError:
        raise
    except Exception as fault:  # a damaged file can fail anywhere inside the readers
        what = f"{type(fault).__name__}: {' '.join(str(fault).split())[:120]}"
        raise InputError(f"{path}: not a readable MATLAB file ({what}): save it again") from None
    return {name: _ours(path, name, value) for name, value in variables.items()}


def _is_v73(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(520)
    return head.startswith(FIRST_BYTES_OF_HDF5) or head[512:516] == FIRST_BYTES_OF_HDF5


def _read_v5(path: Path) -> dict[str, Any]:
    from scipy.io import loadmat, whosmat

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of variables that are there twice: the last one counts, as in MATLAB
        names = [name for name, _, _ in whosmat(path)]
        content = loadmat(path, variable_names=[name for name in names if name in WANTED])
    return {name: content.get(name) for name in names if not name.startswith("__")}


def _read_v73(path: Path) -> dict[str, Any]:
    try:
        import h5py
    except ImportError:
        remedy = "install mklcvx[matlab], or save with -v7"
        raise InputError(f"{path}: a MATLAB v7.3 file, which needs h5py: {remedy}") from None
    with h5py.File(path, "r") as file:
        names = [name for name in file if not name.startswith("#")]
        return {name: _from_hdf5(file, file[name]) if name in WANTED else None for name in names}


def _from_hdf5(file: Any, item: Any) -> Any:
    """HDF5 holds MATLAB's arrays with the axes reversed; cells are arrays of references, text is codes."""
    if not hasattr(item, "dtype"):
        return None  # a group: a struct or a sparse matrix
    kind, values = item.attrs.get("MATLAB_class"), np.asarray(item[()])
    if item.attrs.get("MATLAB_empty"):
        return np.array([""]) if kind == b"char" else np.empty(np.ravel(values).astype(int))
    if values.dtype == object:
        return _cells([_from_hdf5(file, file[reference]) for reference in np.ravel(values)])
    if kind == b"char":
        return np.array(["".join(chr(code) for code in row) for row in np.atleast_2d(values.T)])
    return values.T


def _cells(items: list[Any]) -> NDArray[Any]:
    result = np.empty(len(items), dtype=object)
    result[:] = items
    return result


def _ours(path: Path, name: str, value: Any) -> Any:
    if name not in WANTED:
        return value
    array = np.asarray(_full(value))
    if name in STACKS:
        return _as_stack(path, name, array)
    if name == "names":
        return [_text(item) for item in array.ravel()]
    if name == "schema":
        return _text(array)
    if array.dtype == object:
        raise InputError(f"{path}: {name} is no numeric array: store it as a full numeric one")
    if array.dtype == bool:
        array = array.astype(float)
    return array if name in MATRICES else array.ravel()


def _as_stack(path: Path, name: str, array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype == object:
        kernels = [np.asarray(_full(cell)) for cell in array.ravel()]
        if not kernels or any(kernel.dtype.kind not in "fiub" or kernel.ndim != 2 for kernel in kernels):
            raise InputError(f"{path}: {name} hold something other than matrices: store full numeric ones")
        if len({kernel.shape for kernel in kernels}) > 1:
            raise InputError(f"{path}: {name} are of different sizes: store kernels of the same samples")
        return np.stack(kernels)
    if array.ndim > 3 or (name == "kernels" and array.shape[0] != array.shape[1]):
        size = "×".join(map(str, array.shape))
        raise InputError(f"{path}: {name} are {size}: store them as MATLAB does, n×n×M, kernel index last")
    return np.moveaxis(array, 2, 0) if array.ndim == 3 else array[None]


def _full(value: Any) -> Any:
    """MATLAB's sparse matrices, which come as SciPy's, written out."""
    return value.toarray() if hasattr(value, "toarray") else value


def _text(item: Any) -> str:
    values: NDArray[Any] = np.ravel(np.asarray(item))
    return str(values[0]).strip() if values.size else ""
