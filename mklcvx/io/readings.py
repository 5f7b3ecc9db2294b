"""Which variable of a file is which field of an instance, where a file has names of its own.

Fields that are named, or asked for, are what they say. Without kernels, the one variable that can be a stack is taken:
n×n×M or M×n×n numbers, cells of matrices, K1, K2, … or one square matrix. Targets are then the one vector of n entries,
or the one among several whose name says so. Where more than one reading fits, the file is refused, and the refusal says
how to name them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

import numpy as np

from ..errors import InputError, clipped, nearest, remedy
from ..problem.numbers import AnyArray, as_any_array
from ..problem.targets import KINDS, as_words
from .fields import INSTANCE_FIELDS

Shape = tuple[int, ...]
Chosen = dict[str, tuple[str, ...]]  # the variables of a field: one, or several matrices of a stack
Chooser = Callable[["Listing", Mapping[str, str], str, bool], tuple[Chosen, list[str]]]

NUMBERS, CELLS, TEXT, OTHER = "numbers", "cells", "text", "other"
NUMBERED = re.compile(r"(?P<stem>[A-Za-z_]+?)_?(?P<number>[1-9][0-9]{0,5})")
# Names in files from elsewhere, without case and underscores.
KERNELS = {"k", "kh", "ks", "km", "kk", "kernel", "kernels", "kmatrix", "kmatrices", "kernelmatrix", "gram", "ktrain"}
LABELS = {
    "gnd", "gt", "truth", "truelabel", "truelabels", "groundtruth", "label", "labels", "class", "classes", "cls",
}  # fmt: skip
TARGETS = {*LABELS, "y", "ytrain", "target", "targets", "t", "response"}
TEST_KERNELS = {"testkernels", "ktest", "kt", "kte", "ktst", "khtest"}
MODEL = {"record", "kept", "scaled"}  # arrays of a file that an estimator's `save` wrote
FEATURES = {"x", "xs", "fea", "feature", "features", "data", "xtrain"}
OF_TEST = {**{kind: f"test_{kind}" for kind in KINDS}, "kernels": "test_kernels"}
SHOWN = 6
WORDS = {"y": "labels −1 and +1", "labels": "label sets", "response": "a response"}


class Variable(NamedTuple):
    """The shape and kind of a variable; `inner` finds out the shapes of the matrices in cells."""

    shape: Shape
    kind: str = NUMBERS
    inner: Callable[[], list[Shape]] = list

    @property
    def matrices(self) -> set[Shape]:
        """The shapes of the matrices of a stack, kernel index first or last; none if it is no stack."""
        if self.kind == CELLS:
            return set(self.inner())
        if self.kind != NUMBERS or len(self.shape) not in (2, 3) or 0 in self.shape:
            return set()
        first, *_ = shape = self.shape if len(self.shape) == 3 else (*self.shape, 1)
        return {shape[:2] if first == shape[1] else shape[1:]}

    @property
    def samples(self) -> int:
        """n, if this can be a stack of kernels of n samples; else 0."""
        sizes = self.matrices
        rows, *columns = sizes.pop() if len(sizes) == 1 else (0,)
        return rows if columns == [rows] and rows > 1 else 0

    @property
    def is_index_first(self) -> bool:
        """Whether a stack can only be M×n×n."""
        return len(self.shape) == 3 and self.shape[0] != self.shape[1] == self.shape[2]

    def __str__(self) -> str:
        kind = {NUMBERS: "", OTHER: ", no numbers"}.get(self.kind, f" {self.kind}")
        return ("×".join(map(str, self.shape)) or "1") + kind


Listing = Mapping[str, Variable]


def listing_of(content: Mapping[str, object]) -> dict[str, Variable]:
    """The variables of a file that is read whole."""
    listing = {}
    for name, value in content.items():
        array = as_any_array(value)
        kind = NUMBERS if array.dtype.kind in "fiub" else TEXT if array.dtype.kind in "US" else OTHER
        listing[name] = Variable(array.shape, kind)
    return listing


# ------------------------------------------------------------------------------------------------- which variables
def check_asked(asked: Mapping[str, str]) -> None:
    """Refuse names of fields that an instance does not have."""
    for field in asked:
        if field not in INSTANCE_FIELDS:
            option = remedy("variables", "--var")
            raise InputError(f"{option}: {clipped(field, 40)!r} is no field: {nearest(field, INSTANCE_FIELDS)}")
    targets = [kind for kind in KINDS if kind in asked]
    if len(targets) > 1:
        raise InputError(f"{remedy('variables', '--var')}: {' and '.join(targets)} are both targets: keep one of them")


def chosen_for_instance(
    listing: Listing, asked: Mapping[str, str], where: str, index_last: bool = False
) -> tuple[Chosen, list[str]]:
    """The variables of every field of an instance, and what was guessed, in words. `index_last` is whether such files
    have the kernel index last."""
    chosen, used = _named(listing, asked, where)
    guessed = []
    known = "kernels" in chosen
    if not known:
        names = _guessed_kernels(listing, used, where)
        chosen["kernels"], used = names, used | {*names}
        guessed.append(_read_as(listing, names, "kernels"))
    if listing[chosen["kernels"][0]].is_index_first and index_last:
        guessed.append("kernels with their index first")
    if not any(kind in chosen for kind in KINDS):
        samples = listing[chosen["kernels"][0]].samples
        name = _guessed_target(listing, used, samples, where, by_shape=not known)
        if name is not None:
            chosen["response" if _plain(name) == "response" else "y"] = (name,)
            guessed.append(_read_as(listing, (name,), "targets"))
    return chosen, guessed


def chosen_for_test(
    listing: Listing, asked: Mapping[str, str], where: str, index_last: bool = False
) -> tuple[Chosen, list[str]]:
    """The same for a file of test kernels, whose order of axes shows when they are used. Kernels and targets that are
    asked for are those of the test samples."""
    check_asked(asked)
    asked = {field if field.startswith("test_") else OF_TEST.get(field, field): name for field, name in asked.items()}
    chosen, used = _named(listing, asked, where)
    if "test_kernels" in chosen:
        return chosen, _guessed_truth(listing, chosen, used, where, index_last)
    stacks = [name for name, v in listing.items() if len(v.shape) == 3 and v.kind == NUMBERS]
    names = [name for name in stacks if _plain(name) in TEST_KERNELS] or stacks
    names = [name for name in names if name not in used and name != "kernels"]
    if len(names) != 1:
        fault = f"{where}: no array 'test_kernels' ({found_in(listing)})"
        words = _how_to_name("test_kernels", names[0] if names else "NAME")
        raise InputError(f"{fault}: store (M, t, n) under that name, or {words}")
    chosen["test_kernels"], guessed = (names[0],), [_read_as(listing, (names[0],), "test_kernels")]
    return chosen, [*guessed, *_guessed_truth(listing, chosen, used, where, index_last)]


def _guessed_truth(listing: Listing, chosen: Chosen, used: Collection[str], where: str, index_last: bool) -> list[str]:
    """Take the one variable that can be the test samples' targets, in a file without training kernels."""
    kernels = listing[chosen["test_kernels"][0]]
    if "kernels" in listing or len(kernels.shape) != 3 or any(f"test_{kind}" in chosen for kind in KINDS):
        return []
    free = {*used, chosen["test_kernels"][0]} - {name for kind in KINDS for name in chosen.get(kind, ())}
    truth = _guessed_target(listing, free, kernels.shape[0 if index_last else 1], where, by_shape=False)
    if truth is None:
        return []
    for kind in (kind for kind in KINDS if chosen.get(kind) == (truth,)):
        del chosen[kind]
    is_vector = max(listing[truth].shape) == np.prod(listing[truth].shape)
    chosen["test_y" if is_vector else "test_labels"] = (truth,)
    return [_read_as(listing, (truth,), "their targets")]


def _named(listing: Listing, asked: Mapping[str, str], where: str) -> tuple[Chosen, set[str]]:
    """What is asked for, then what is named as ours. One kind of targets that is asked for replaces the others."""
    check_asked(asked)
    if listing.keys() >= MODEL:
        serving = remedy("mklcvx.load_model reads the model", "'mklcvx predict' takes the model")
        raise InputError(f"{where}: is a fitted model, not kernels: give a file of kernels; {serving}")
    chosen: Chosen = {}
    for field, text in asked.items():
        names = tuple(name.strip() for name in text.split(",")) if field == "kernels" else (text.strip(),)
        for name in names:
            if name not in listing:
                fault = f"{where}: no variable {clipped(name, 40)!r} for {field}"
                raise InputError(f"{fault} ({found_in(listing)}): give one of these")
        chosen[field] = names
    used = {name for names in chosen.values() for name in names}
    other = KINDS if any(kind in asked for kind in KINDS) else ()
    ours = [name for name in (*INSTANCE_FIELDS, "schema") if name in listing and name not in {*asked, *used, *other}]
    chosen |= {name: (name,) for name in ours}
    return chosen, used | {name for names in chosen.values() for name in names}


def _guessed_kernels(listing: Listing, used: Collection[str], where: str) -> tuple[str, ...]:
    free = {name: v for name, v in listing.items() if name not in used and _plain(name) not in TEST_KERNELS}
    stacks = [name for name, v in free.items() if (len(v.shape) == 3 or v.kind == CELLS) and v.samples]
    squares = [name for name, v in free.items() if len(v.shape) == 2 and v.kind == NUMBERS and v.samples]
    single = [name for name in squares if _plain(name) not in FEATURES]  # as many features as samples
    if not stacks and (numbered := _numbered(single, free)):
        return numbered
    for candidates in (stacks, single):
        names = [name for name in candidates if _plain(name) in KERNELS] if len(candidates) > 1 else candidates
        if len(names) == 1:
            return (names[0],)
        if candidates:
            several = ", ".join(f"{name} ({free[name]})" for name in candidates[:SHOWN])
            words = _how_to_name("kernels", candidates[0])
            raise InputError(f"{where}: no array 'kernels', any of {several} could be them: {words}")
    fault = f"{where}: no array 'kernels' ({found_in(listing)}), and no other that could be kernels, n×n×M or M×n×n"
    words = f"store the stack under that name, or {_how_to_name('kernels', 'NAME')}"
    if any(_plain(name) in FEATURES and len(v.shape) == 2 and v.kind == NUMBERS for name, v in free.items()):
        where_made = remedy("", " in Python")
        words = f"make kernels of the features{where_made}, by mklcvx.kernels, or fit mklcvx.MKLClassifier"
    raise InputError(f"{fault}: {words}")


def _numbered(names: list[str], listing: Listing) -> tuple[str, ...]:
    """K1, K2, … in this order, if that is what the names are."""
    matches = {name: NUMBERED.fullmatch(name) for name in names}
    numbers = {int(match["number"]): name for name, match in matches.items() if match is not None}
    stems = {match["stem"] for match in matches.values() if match is not None}
    sizes = {listing[name].shape for name in numbers.values()}
    whole = len(stems) == 1 and len(sizes) == 1 and sorted(numbers) == list(range(1, len(numbers) + 1))
    return tuple(numbers[i] for i in sorted(numbers)) if whole and len(numbers) > 1 else ()


def _guessed_target(listing: Listing, used: Collection[str], samples: int, where: str, by_shape: bool) -> str | None:
    """The variable that is the target, if there is one: by its name, and where names say nothing by its shape."""
    fitting = [name for name, v in listing.items() if name not in used and _has_entries(v, samples)]
    named = [name for name in fitting if _plain(name) in TARGETS]
    vectors = [name for name in fitting if max(listing[name].shape) == np.prod(listing[name].shape)]
    for candidates in (named, vectors if by_shape else []):
        if len(candidates) == 1:
            return candidates[0]
        if candidates:
            several = ", ".join(f"{name} ({listing[name]})" for name in candidates[:SHOWN])
            words = _how_to_name("y", candidates[0])
            raise InputError(f"{where}: any of {several} could be the targets: {words}")
    return None


def _has_entries(variable: Variable, samples: int) -> bool:
    """Whether a variable has one entry, or one row, for each sample."""
    vector = max(variable.shape, default=0) == samples == np.prod(variable.shape)
    matrix = len(variable.shape) == 2 and variable.shape[0] == samples != variable.shape[1]
    return variable.kind != OTHER and bool(vector or matrix)


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def _how_to_name(field: str, name: str) -> str:
    return "say which by " + remedy(f"variables={{'{field}': '{name}'}}", f"--var {field}={name}")


def _read_as(listing: Listing, names: tuple[str, ...], what: str) -> str:
    shown = names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"
    return f"{shown} ({listing[names[0]]}) as {what}"


def found_in(listing: Mapping[str, object]) -> str:
    """The variables of a file, with their shapes where they are known."""
    shown = [f"{name} {v}" if isinstance(v, Variable) else name for name, v in sorted(listing.items())]
    return "found " + (", ".join(shown[:8]) + (", …" if len(shown) > 8 else "") or "nothing")


# ----------------------------------------------------------------------------------------------- which kind of targets
def fitting_targets(content: dict[str, object], variables: Mapping[str, str], where: str) -> str:
    """Turn y, or labels in one column, that can only be classes or a response into these, the test targets with them;
    and the columns of classes, one 1 in each row, into classes.

    `variables` are the names in the file. Returns words about what was changed, empty if nothing was.
    """
    kind = next((kind for kind in KINDS if content.get(kind) is not None), "response")
    values, variable = as_any_array(content.get(kind)), variables.get(kind, kind)
    if kind == "response" or values.dtype.kind not in "fiubUS" or not values.size:
        return ""
    is_matrix = values.ndim == 2 and 1 not in values.shape
    indicates = values.dtype.kind in "fiub" and bool(np.isin(values, (0, 1)).all())
    one_each = is_matrix and indicates and bool((values.sum(axis=1) == 1).all())
    if one_each and (kind == "classes" or variable != kind):  # labels that are named so stay label sets
        del content[kind]
        content["classes"] = values.argmax(axis=1) + 1
        return f"{variable} as classes 1 to {values.shape[1]}, by its columns"
    if kind == "classes":
        return ""
    if is_matrix or (kind == "labels" and values.ndim == 2 and indicates):
        fitting = "labels" if indicates else kind
    else:
        values = values.ravel()
        fitting = _kind_of_vector(values, kind == "labels" or _plain(variable) in LABELS)
        fitting = kind if fitting == "response" and variable == kind else fitting  # y is ±1: Instance refuses it
    if not fitting:
        named = [remedy(f"variables={{'{k}': '{variable}'}}", f"--var {k}={variable}") for k in ("classes", "response")]
        fault = f"{where}: {variable} has whole numbers that could be classes or a response"
        raise InputError(f"{fault}: say which by {' or '.join(named)}")
    if fitting == kind:
        return ""
    for prefix in ("", "test_"):
        if prefix + kind in content:
            content[prefix + fitting] = content.pop(prefix + kind)
    content[fitting] = values
    return _described(variable, fitting, values)


def _kind_of_vector(values: AnyArray, labels: bool) -> str:
    """The kind of targets that a vector can only be; empty where there are two."""
    if values.dtype.kind not in "fiub":
        return "classes" if len(np.unique(values)) > 1 else "y"
    numbers = values.astype(np.float64)
    if values.dtype.kind != "b" and np.isin(numbers, (-1, 1)).all():
        return "y"
    if not np.isfinite(numbers).all():
        return "y"  # which refuses it
    distinct = np.unique(numbers)
    if (distinct != np.floor(distinct)).any():
        return "response"
    counted = distinct[0] in (0, 1) and len(distinct) == distinct[-1] - distinct[0] + 1
    return "classes" if labels or (counted and 2 * len(distinct) <= len(numbers)) else ""


def _described(variable: str, kind: str, values: AnyArray) -> str:
    if kind != "classes":
        return f"{variable} as {WORDS[kind]}"
    names = as_words(np.unique(values))
    shown = ", ".join(clipped(name, 20) for name in names[:4]) + (", …" if len(names) > 4 else "")
    return f"{variable} as {len(names)} classes ({shown})"
