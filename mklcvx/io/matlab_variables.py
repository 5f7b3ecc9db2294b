"""The variables of MATLAB files, by the readers of SciPy (versions 4 and 5) and h5py (7.3). Files may come from
anybody and both readers trust them, so this runs in a process of its own, which `matlab_apart` confines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import partial
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from .json_text import check_size
from .readings import CELLS, NUMBERS, OTHER, TEXT, Listing, Shape, Variable

KINDS = {"cell": CELLS, "char": TEXT, "struct": OTHER, "object": OTHER, "function": OTHER, "opaque": OTHER}
NUMERIC = "fiubc"
LONGEST_WORD = 64  # bytes of an attribute
PER_CELL = 200  # bytes in memory, beside its contents
Array = NDArray[Any]


def cells(items: Iterable[Any]) -> Array:
    """An array of objects, whatever their shapes."""
    listed = list(items)
    result = np.empty(len(listed), dtype=object)
    result[:] = listed
    return result


class BySciPy:
    """Versions 4 and 5."""

    library = "scipy.io"

    def __init__(self, file: IO[bytes]) -> None:
        from scipy import io

        self.file, self.io = file, io

    def listing(self) -> Listing:
        known = self.io.whosmat(self.file)
        twice = [name for name, count in Counter(name for name, *_ in known).items() if count > 1]
        if twice:
            raise ValueError(f"two variables {twice[0]!r:.40}")
        return {
            name: Variable(tuple(shape), KINDS.get(kind, NUMBERS), partial(self._shapes_inside, name))
            for name, shape, kind in known
        }

    def _shapes_inside(self, name: str) -> list[Shape]:
        return [np.shape(cell) for cell in self.values([name])[name]]

    def values(self, names: list[str]) -> dict[str, Any]:
        """Numbers as they were packed: with `mat_dtype` complex ones would lose their imaginary parts."""
        self.file.seek(0)
        loaded = self.io.loadmat(self.file, variable_names=names) if names else {}
        return {name: _plain(loaded[name]) for name in names}


def _plain(value: Any) -> Any:
    """Numbers, rows of text, or an array of cells; None for a struct, and what else is no array."""
    value = value.toarray() if hasattr(value, "toarray") else value
    if not isinstance(value, np.ndarray) or value.dtype.names is not None:
        return None
    if value.dtype == object:  # cells in cells are of no use
        inner = [np.asarray(cell) if not hasattr(cell, "toarray") else cell for cell in value.ravel(order="F")]
        return cells(cells([]) if cell.dtype == object else _plain(cell) for cell in inner)
    return value if value.dtype.kind in NUMERIC + "U" else None


class ByH5py:
    """Version 7.3: axes are reversed, text is codes, cells are references."""

    library = "h5py"

    def __init__(self, file: IO[bytes]) -> None:
        import h5py

        self.h5py, self.file = h5py, h5py.File(file, "r")

    def listing(self) -> Listing:
        return {name: self._listed(name) for name in self.file if not name.startswith("#")}

    def _listed(self, name: str) -> Variable:
        """One that cannot be opened, such as a link to another file, could not be used either."""
        try:
            item = self._opened(name)
            kind = KINDS.get(_class(item), NUMBERS if hasattr(item, "dtype") else OTHER)
            return Variable(item.shape[::-1], kind, lambda: [cell.shape[::-1] for cell in self._inside(item)])
        except Exception:  # a damaged item can fail anywhere inside the reader
            return Variable((), OTHER)

    def values(self, names: list[str]) -> dict[str, Any]:
        return {name: self._value(self._opened(name)) for name in names}

    def _value(self, item: Any) -> Any:
        if not self._refers(item):
            return _numbers_or_text(item)
        return cells(cells([]) if self._refers(cell) else _numbers_or_text(cell) for cell in self._inside(item))

    def _inside(self, item: Any) -> list[Any]:
        check_size("a cell array", PER_CELL * item.size, None, "would need")
        return [self._opened(reference) for reference in np.ravel(item[()])]

    def _opened(self, way: Any) -> Any:
        """An item by its name, or by a reference, which is an address in the file."""
        item = self.file[way]
        if hasattr(item, "dtype") and (item.is_virtual or item.external is not None):
            raise ValueError(f"{item.name} has its numbers in another file")
        return item

    def _refers(self, item: Any) -> bool:
        return self.h5py.check_ref_dtype(getattr(item, "dtype", None)) is self.h5py.Reference and not _is_empty(item)


def _class(item: Any) -> str:
    """The name of its class in MATLAB; one that is long is none."""
    if "MATLAB_class" not in item.attrs:
        return ""
    about = item.attrs.get_id("MATLAB_class")
    if about.dtype.kind != "S" or about.dtype.itemsize * int(np.prod(about.shape or (1,))) > LONGEST_WORD:
        return ""
    return bytes(np.ravel(item.attrs["MATLAB_class"])[0]).decode("ascii", "replace")


def _is_empty(item: Any) -> bool:
    """Whether an item holds the dimensions of an empty array in place of its contents."""
    if "MATLAB_empty" not in item.attrs or item.attrs.get_id("MATLAB_empty").shape not in ((), (1,)):
        return False
    return bool(np.ravel(item.attrs["MATLAB_empty"])[0])


def _numbers_or_text(item: Any) -> Any:
    """None for a struct, a sparse matrix, and what else is no array."""
    if not hasattr(item, "dtype") or item.dtype.kind not in NUMERIC:
        return None
    is_text, values = _class(item) == "char", np.asarray(item[()])
    if _is_empty(item):
        shape = np.ravel(values).astype(int)
        if shape.min() != 0:
            raise ValueError("an empty array of impossible dimensions")
        return np.array([""]) if is_text else np.empty(shape)
    if is_text:
        return np.array([row.astype("<u2").tobytes().decode("utf-16-le", "replace") for row in np.atleast_2d(values.T)])
    return values.T
