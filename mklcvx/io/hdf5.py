"""MATLAB's v7.3 files, which are HDF5. A file is read alone: whatever leads to another one is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from .json_text import check_size

MOST_LINKS = 16  # one after the other, before they are taken for a circle
REMEDY = "save it again with all its contents"


def read_hdf5(path: Path, wanted: Callable[[str], bool], limit: float | None) -> dict[str, Any]:
    """The variables by name, those not wanted as None."""
    try:
        import h5py
    except ImportError:
        remedy = "install mklcvx[matlab], or save with -v7"
        raise InputError(f"{path}: a MATLAB v7.3 file, which needs h5py: {remedy}") from None
    with h5py.File(path, "r") as file:
        names = [name for name in file if not name.startswith("#")]
        items = {name: _item(path, file, name) for name in names if wanted(name)}
        check_size(str(path), sum(getattr(item, "nbytes", 0) for item in items.values()), limit, "unpacks to")
        return {name: _value(path, file, items[name]) if name in items else None for name in names}


def _item(path: Path, file: Any, name: str) -> Any:
    _check_way(path, file, name)
    return _own(path, file[name])


def _check_way(path: Path, file: Any, way: str) -> None:
    """Every link on the way is looked at before anything is opened: opening follows it, into a pipe if it must."""
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


def _steps(way: str) -> list[str]:
    return [step for step in way.split("/") if step not in ("", ".")]


def _own(path: Path, item: Any) -> Any:
    """An item whose numbers lie in the file itself."""
    if hasattr(item, "dtype") and (item.is_virtual or item.external is not None):
        raise InputError(f"{path}: {_shown(item.name)} has its numbers in another file: {REMEDY}")
    return item


def _shown(name: str | None) -> str:
    return (name or "a cell").strip("/")[:40]


def _value(path: Path, file: Any, item: Any) -> Any:
    """HDF5 holds MATLAB's arrays with the axes reversed; cells are arrays of references, text is codes."""
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
