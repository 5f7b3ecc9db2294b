"""MATLAB files of version 7.3, which are HDF5: read from the file itself, within budgets that are checked before.
`hdf5_apart` has this done in a process of its own.

HDF5 lets a file refer to other files, to code (filters that are loaded when numbers are read), and to its own parts in
circles. Whatever is opened comes through one of two doors, by name or by reference, and both refuse the first two.
Names lead through few links. Cells hold matrices and text, no cells. The sizes of all that will be read are summed,
each as often as it is referred to, and no size is believed that the stored bytes cannot have been packed from.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..errors import InputError
from .json_text import check_size
from .mat5 import MOST_AXES, PER_CELL, cells
from .readings import CELLS, NUMBERS, OTHER, TEXT, Chosen, Listing, Shape, Variable

MOST_LINKS = 16  # longer chains of links are taken for a circle
MOST_STEPS = 64  # of the way to an item
MOST_NAMES = 100_000
LONGEST_WORD = 64  # bytes of an attribute
DENSEST = 1100  # deflate packs at most 1032 bytes into one
FILTERS = {1: "deflate", 2: "shuffle", 3: "fletcher32", 32000: "lzf"}  # built into HDF5 and h5py
NUMBER_KINDS = "fiubc"
NUMBER_CLASSES = (
    "double", "single", "logical", "sparse", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
)  # fmt: skip
REMEDY = "save it again with all its contents"


def read_hdf5(path: Path, choose: Callable[[Listing], Chosen], limit: float | None) -> tuple[dict[str, Any], Chosen]:
    """The variables by name, None for those that are not read; and which of them are what."""
    import h5py

    with h5py.File(path, "r") as file:
        opened = OpenedFile(path, file)
        names = opened.names()
        chosen = choose({name: opened.listed(name) for name in names})
        items = {name: opened.named(name) for used in chosen.values() for name in used}
        plans = {name: opened.planned(item) for name, item in items.items()}
        check_size(str(path), sum(plan.size for plan in plans.values()), limit, "unpacks to")
        check_size(str(path), 2 * sum(plan.size for plan in plans.values()), None, "would need")  # a stack is a copy
        return {name: opened.value(plans[name]) if name in plans else None for name in names}, chosen


class Plan(NamedTuple):
    """An item to be read, the items in its cells, None where it has none, and the bytes of all of them."""

    item: Any
    inside: list[Any] | None
    size: int


class OpenedFile:
    """The doors to the items of a file."""

    def __init__(self, path: Path, file: Any) -> None:
        self.path, self.file = path, file

    def names(self) -> list[str]:
        """The names in the file that are variables. A damaged index of names can have no end."""
        found: list[str] = []

        def add(name: bytes) -> bool | None:
            found.append(name.decode("utf-8", "replace"))
            return True if len(found) > MOST_NAMES else None

        self.file.id.links.iterate(add)
        if len(found) > MOST_NAMES:
            raise self._refusal("the index of names", f"has more than {MOST_NAMES} entries")
        return [name for name in found if not name.startswith("#")]

    def listed(self, name: str) -> Variable:
        """What a variable is. One that cannot be opened, such as a link to another file, could not be used either."""
        try:
            item = self.named(name)
            kind, shape = _kind(item), item.shape[::-1]
        except Exception:  # a damaged item can fail anywhere inside the reader; structs and sparse matrices: no shape
            return Variable((), OTHER)
        return Variable(shape, kind, lambda: self._shapes_inside(item))

    def _shapes_inside(self, item: Any) -> list[Shape]:
        return [getattr(inner, "shape", ())[::-1] for inner in self.planned(item).inside or []]

    # ------------------------------------------------------------------------------------------------- the doors
    def named(self, way: str) -> Any:
        """An item by its name. Links on the way are checked before it is opened: opening follows them, even into a
        pipe."""
        import h5py

        steps, here, followed, taken = _steps(way), "/", 0, 0
        while steps:
            taken += 1
            place = here.rstrip("/") + "/" + steps.pop(0)
            link = self.file.get(place, getlink=True)
            if isinstance(link, h5py.ExternalLink):
                raise self._refusal(way, "is a link to another file")
            if isinstance(link, h5py.SoftLink):
                followed += 1
                here = "/" if link.path.startswith("/") else here
                steps = _steps(link.path) + steps
            elif isinstance(link, h5py.HardLink):
                here = place
            else:
                raise self._refusal(way, "is a link that leads nowhere")
            if followed > MOST_LINKS or taken + len(steps) > MOST_STEPS:
                raise self._refusal(way, "is a link that leads nowhere")
        return self._own(self.file[here])

    def referred(self, reference: Any) -> Any:
        """An item by a reference, which is an address in the file."""
        return self._own(self.file[reference])

    def _own(self, item: Any) -> Any:
        """Require that the numbers of an item are in the file itself, and that no foreign code is needed to read them;
        and that its size can be what the stored bytes were packed from."""
        if not hasattr(item, "dtype"):
            return item
        if item.is_virtual or item.external is not None:
            raise self._refusal(item.name, "has its numbers in another file")
        recipe = item.id.get_create_plist()
        for code, _, _, said in (recipe.get_filter(i) for i in range(recipe.get_nfilters())):
            if code not in FILTERS:
                fault = f"is packed by the filter {code} ({said.decode('utf-8', 'replace')[:40]}), which is not known"
                raise self._refusal(item.name, fault)
        if item.nbytes > DENSEST * item.id.get_storage_size():
            raise self._refusal(item.name, f"claims {item.nbytes} bytes, for which too few are stored")
        return item

    def _refusal(self, name: str | None, fault: str) -> InputError:
        return InputError(f"{self.path}: {(name or 'a cell').strip('/')[:40]} {fault}: {REMEDY}")

    # ------------------------------------------------------------------------------------------------ the contents
    def planned(self, item: Any) -> Plan:
        """What is read for an item. References are read for it, as many as the file stores; nothing else is."""
        if not hasattr(item, "dtype"):
            return Plan(item, None, 0)  # a group: a struct or a sparse matrix
        if _refers(item.dtype) and not _is_empty(item):
            check_size(str(self.path), PER_CELL * item.size, None, "would need")
            inside = [self.referred(reference) for reference in np.ravel(item[()])]
            return Plan(item, inside, sum(PER_CELL + _size(inner) for inner in inside))
        return Plan(item, None, _size(item))

    def value(self, plan: Plan) -> Any:
        """The value of an item; cells in cells are of no use, and not read."""
        if plan.inside is None:
            return _numbers_or_text(plan.item)
        return cells([cells([]) if _refers(inner.dtype) else _numbers_or_text(inner) for inner in plan.inside])


def _steps(way: str) -> list[str]:
    return [step for step in way.split("/") if step not in ("", ".")]


def _refers(dtype: Any) -> bool:
    import h5py

    return h5py.check_ref_dtype(dtype) is h5py.Reference


def _size(item: Any) -> int:
    """Bytes of the numbers of an item that will be read."""
    if not hasattr(item, "dtype") or (_refers(item.dtype) and not _is_empty(item)):
        return 0
    return int(item.nbytes) * (4 if _word(item, "MATLAB_class") == "char" else 1)


def _word(item: Any, name: str) -> str:
    """An attribute that is a word; one that is long, or of a size that is not known before, is none."""
    if name not in item.attrs:
        return ""
    about = item.attrs.get_id(name)
    if about.dtype.kind != "S" or about.dtype.itemsize * int(np.prod(about.shape or (1,))) > LONGEST_WORD:
        return ""
    return bytes(np.ravel(item.attrs[name])[0]).decode("ascii", "replace")


def _kind(item: Any) -> str:
    """The kind of a variable by the name of its class in MATLAB."""
    named = {"cell": CELLS, "char": TEXT, "": NUMBERS}
    kind = _word(item, "MATLAB_class")
    return named.get(kind, NUMBERS if kind in NUMBER_CLASSES else OTHER)


def _is_empty(item: Any) -> bool:
    """Whether an item holds the dimensions of an empty array in place of its contents."""
    if "MATLAB_empty" not in item.attrs:
        return False
    about = item.attrs.get_id("MATLAB_empty")
    return about.dtype.kind in "iu" and about.shape in ((), (1,)) and bool(np.ravel(item.attrs["MATLAB_empty"])[0])


def _numbers_or_text(item: Any) -> Any:
    """HDF5 stores arrays with reversed axes, and text as codes. What is neither is None."""
    if not hasattr(item, "dtype") or item.dtype.kind not in NUMBER_KINDS:
        return None
    is_text, values = _word(item, "MATLAB_class") == "char", np.asarray(item[()])
    if _is_empty(item):
        return np.array([""]) if is_text else _empty(np.ravel(values))
    if is_text:
        return np.array([row.astype("<u2").tobytes().decode("utf-16-le", "replace") for row in np.atleast_2d(values.T)])
    return values.T


def _empty(shape: Any) -> Any:
    if shape.dtype.kind not in "iu" or not 1 < len(shape) <= MOST_AXES or shape.min() != 0:
        raise ValueError("an empty array of impossible dimensions")
    return np.empty(shape.astype(int))
