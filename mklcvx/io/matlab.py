"""MATLAB files, in the conventions of MATLAB: kernels n×n×M, column vectors, logicals, cell arrays.

Version 7.3 is HDF5. Links from a file to another file are refused.
"""

from __future__ import annotations

import mmap
import struct
import sys
import warnings
import zlib
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, clipped
from .fields import CLASSES, MATRICES, STACKS, WORDS, is_field
from .json_text import MOST_OF_MEMORY, check_size, memory
from .readings import CELLS, NUMBERS, OTHER, TEXT, Chosen, Listing, Shape, Variable

FIRST_BYTES_OF_HDF5 = b"\x89HDF"
LARGEST = 2**31 - 1  # bytes of a variable of a v5 file

# The elements of a v5 file, by the code in their tag: numbers and text, matrices, and compressed elements.
PLAIN, MATRIX, COMPRESSED = (1, 2, 3, 4, 5, 6, 7, 9, 12, 13, 16, 17, 18), 14, 15
CLASSES_OF_NUMBERS = range(4, 16)  # text, sparse, and the numeric ones; the others may hold matrices
SPARSE, COMPLEX = 5, 0x800
CLASS_NAMES = (
    "double", "single", "logical", "sparse", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
)  # fmt: skip

MOST_LINKS = 16  # in a v7.3 file: longer chains of links are taken for a circle
REMEDY = "save it again with all its contents"


def read_mat(
    path: Path, what: str = "instance", limit: float | None = None, choose: Callable[[Listing], Chosen] | None = None
) -> dict[str, Any]:
    """The fields of a `.mat` file (v5, or v7.3 with the extra `matlab`), kernel index first.

    `choose` says which variables are which field, else those of the same name. Others are not read: they are None, so
    that a misspelt name can be found. The unpacked variables may have `limit` bytes at most.
    """
    ours = _ours if what == "instance" else _answer
    try:
        check_size(str(path), path.stat().st_size, limit)
        with path.open("rb") as file:
            head = file.read(520)
        is_hdf5 = head.startswith(FIRST_BYTES_OF_HDF5) or head[512:516] == FIRST_BYTES_OF_HDF5
        pick = choose or (lambda listing: {name: (name,) for name in listing if is_field(name, what)})
        variables, chosen = (_read_hdf5 if is_hdf5 else _read_v5)(path, pick, limit)
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


def _read_v5(path: Path, choose: Callable[[Listing], Chosen], limit: float | None) -> tuple[dict[str, Any], Chosen]:
    """The variables by name, None for those that are not read; and which of them are what."""
    from scipy.io import loadmat, whosmat

    _check_elements(path, limit)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about repeated variables: the last one counts, as in MATLAB
        found = {name: (shape, kind) for name, shape, kind in whosmat(path) if not name.startswith("__")}

        @cache
        def inside(name: str) -> list[Shape]:
            return [np.shape(cell) for cell in np.ravel(loadmat(path, variable_names=[name])[name])]

        listing = {name: Variable(shape, _kind(kind), partial(inside, name)) for name, (shape, kind) in found.items()}
        chosen = choose(listing)
        content = loadmat(path, variable_names=[name for names in chosen.values() for name in names])
    return {name: content.get(name) for name in found}, chosen


def _kind(name: str) -> str:
    """The kind of a variable by the name of its class in MATLAB."""
    return {"cell": CELLS, "char": TEXT}.get(name, NUMBERS if name in CLASS_NAMES else OTHER)


def _check_elements(path: Path, limit: float | None) -> None:
    """Check the codes of all elements: SciPy's reader crashes on an unknown one."""
    if path.stat().st_size <= 128:
        return  # no elements: SciPy says what it is
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        version, mark = content[124:126], content[126:128]
        if (mark, version[1:]) != (b"IM", b"\1") and (mark, version[:1]) != (b"MI", b"\1"):
            return  # another version, or none: SciPy says so
        order = "<" if mark == b"IM" else ">"
        for code, start, end in _elements(content, 128, len(content), order, (MATRIX, COMPRESSED)):
            if code == COMPRESSED:
                inflated = _inflated(path, content[start:end], limit)
                for _, inner_start, inner_end in _elements(inflated, 0, len(inflated), order, (MATRIX,)):
                    _check_matrix(inflated, inner_start, inner_end, order)
            else:
                _check_matrix(content, start, end, order)


def _inflated(path: Path, content: bytes, limit: float | None) -> bytes:
    """Unpack an element; refuse one that would fill the memory."""
    most = int(min(MOST_OF_MEMORY * memory(), sys.maxsize - 1 if limit is None else limit))
    inflater = zlib.decompressobj()
    inflated = inflater.decompress(content, most + 1)
    check_size(str(path), len(inflated), limit, "unpacks to at least")
    if not inflater.eof:
        raise ValueError("a compressed element that does not end")
    return inflated


def _check_matrix(content: Any, start: int, end: int, order: str) -> None:
    """A matrix of numbers holds flags, size, name and numbers, and two more elements where it is sparse, one more
    where it is complex; it holds no matrices."""
    numeric, missing = False, 0
    for place, (code, first, last) in enumerate(_elements(content, start, end, order, (*PLAIN, MATRIX))):
        if place == 0:
            (flags,) = struct.unpack(order + "I", content[first : first + 4])
            numeric = (flags & 0xFF) in CLASSES_OF_NUMBERS
            missing = 4 + 2 * ((flags & 0xFF) == SPARSE) + bool(flags & COMPLEX) if numeric else 0
        if code == MATRIX:
            if numeric:
                raise ValueError("a matrix in place of numbers")
            _check_matrix(content, first, last, order)
        missing -= 1
    if missing > 0:
        raise ValueError("a matrix without its numbers")


def _elements(content: Any, start: int, end: int, order: str, codes: tuple[int, ...]) -> Iterator[tuple[int, int, int]]:
    """Code, start and end of one element after the other; small ones have their size in the upper half of the tag."""
    while start + 8 <= end:
        code, size = struct.unpack(order + "II", content[start : start + 8])
        small = code >> 16
        first, last = (start + 4, start + 4 + small) if small else (start + 8, start + 8 + size)
        code &= 0xFFFF
        if code not in codes or small > 4 or last > end:
            raise ValueError(f"no element of type {code} and size {last - first} is possible at byte {start}")
        yield code, first, last
        start = start + 8 if small else last if code == COMPRESSED else last + -size % 8


def _ours(path: Path, name: str, value: Any) -> Any:
    if not is_field(name, "instance"):
        return None
    array = np.asarray(_full(value))
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
    array = np.asarray(_full(value))
    if name in ("formulation", "schema"):
        return _text(array)
    if array.dtype.kind not in "fiub":
        raise InputError(f"{path}: {name} is not a numeric array: store it as a full numeric one")
    return float(array.item()) if name in ("bias", "objective") and array.size == 1 else array


def _as_stack(path: Path, name: str, array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype == object:
        kernels = [np.asarray(_full(cell)) for cell in array.ravel()]
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


def _full(value: Any) -> Any:
    """Convert a sparse matrix to a full one; SciPy does not check its indices when it reads them."""
    if not hasattr(value, "toarray"):
        return value
    value.check_format(full_check=True)
    return value.toarray()


def _holds_text(array: NDArray[Any]) -> bool:
    items = [np.asarray(item) for item in array.ravel()]
    return bool(items) and all(item.dtype.kind == "U" and item.size <= 1 for item in items)


def _text(item: Any) -> str:
    values: NDArray[Any] = np.ravel(np.asarray(item))
    return str(values[0]).strip() if values.size else ""


# ---------------------------------------------------------------------------------------------------------- v7.3
def _read_hdf5(path: Path, choose: Callable[[Listing], Chosen], limit: float | None) -> tuple[dict[str, Any], Chosen]:
    """The variables by name, None for those that are not read; and which of them are what."""
    try:
        import h5py
    except ImportError:
        remedy = "install mklcvx[matlab], or save with -v7"
        raise InputError(f"{path}: a MATLAB v7.3 file, which needs h5py: {remedy}") from None
    with h5py.File(path, "r") as file:
        names = [name for name in file if not name.startswith("#")]
        chosen = choose({name: _variable(path, file, name) for name in names})
        items = {name: _item(path, file, name) for used in chosen.values() for name in used}
        check_size(str(path), sum(getattr(item, "nbytes", 0) for item in items.values()), limit, "unpacks to")
        return {name: _value(path, file, items[name]) if name in items else None for name in names}, chosen


def _variable(path: Path, file: Any, name: str) -> Variable:
    """What a variable is. One that cannot be opened, such as a link to another file, could not be used either."""
    try:
        item = _item(path, file, name)
        kind = _kind(np.bytes_(item.attrs.get("MATLAB_class", b"double")).decode())
        shape = item.shape[::-1]
    except Exception:  # a damaged item can fail anywhere inside the reader; structs and sparse matrices have no shape
        return Variable((), OTHER)

    def inside() -> list[Shape]:
        return [getattr(file[reference], "shape", ())[::-1] for reference in np.ravel(item[()])]

    return Variable(shape, kind, inside)


def _item(path: Path, file: Any, way: str) -> Any:
    """An item of the file. Links on the way are checked before it is opened: opening follows them, even into a pipe."""
    import h5py

    steps, here, followed = _steps(way), "/", 0
    while steps:
        place = here.rstrip("/") + "/" + steps.pop(0)
        link = file.get(place, getlink=True)
        if isinstance(link, h5py.ExternalLink):
            raise InputError(f"{path}: {_shown(way)} is a link to another file: {REMEDY}")
        if isinstance(link, h5py.SoftLink):
            followed += 1
            if followed > MOST_LINKS:
                raise InputError(f"{path}: {_shown(way)} is a link that leads nowhere: {REMEDY}")
            here = "/" if link.path.startswith("/") else here
            steps = _steps(link.path) + steps
        else:
            here = place
    return _own(path, file[way])


def _steps(way: str) -> list[str]:
    return [step for step in way.split("/") if step not in ("", ".")]


def _own(path: Path, item: Any) -> Any:
    """Require that the numbers of an item are in the file itself."""
    if hasattr(item, "dtype") and (item.is_virtual or item.external is not None):
        raise InputError(f"{path}: {_shown(item.name)} has its numbers in another file: {REMEDY}")
    return item


def _shown(name: str | None) -> str:
    return (name or "a cell").strip("/")[:40]


def _value(path: Path, file: Any, item: Any) -> Any:
    """The value of an item. HDF5 stores arrays with reversed axes, cells as arrays of references, text as codes."""
    if not hasattr(item, "dtype"):
        return None  # a group: a struct or a sparse matrix
    kind, values = item.attrs.get("MATLAB_class"), np.asarray(item[()])
    if item.attrs.get("MATLAB_empty"):
        return np.array([""]) if kind == b"char" else np.empty(np.ravel(values).astype(int))
    if values.dtype == object:
        return cells([_value(path, file, _own(path, file[reference])) for reference in np.ravel(values)])
    if kind == b"char":
        return np.array(["".join(chr(code) for code in row) for row in np.atleast_2d(values.T)])
    return values.T


def cells(items: list[Any]) -> NDArray[Any]:
    result = np.empty(len(items), dtype=object)
    result[:] = items
    return result
