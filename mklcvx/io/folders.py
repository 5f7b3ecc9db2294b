"""Instances and answers as folders of `.csv` files, for languages that read no other format.

An instance is one matrix per kernel, K1.csv, K2.csv, … or kernels/NAME.csv (numbers in names are compared as numbers;
names.csv, where it lists the same names, gives the order), and one of y.csv, classes.csv, labels.csv and response.csv
(n rows, k columns), or none of them; optionally groups.csv, sample_weight.csv, names.csv, label_names.csv,
dtype.csv (float32, if the kernels have that precision), and test_K1.csv, … or test_kernels/, test_y.csv,
test_classes.csv, test_labels.csv, test_response.csv, test_diagonals.csv (M rows). An answer is
any of weights.csv, alpha.csv (k rows with k labels), bias.csv, coefficients.csv (M rows; with k labels the folder
coefficients/, one file for each), objective.csv, formulation.csv (its name), and multiplier_NAME.csv.

A row is a line; numbers are separated by commas, semicolons or white space; there are no headings. Vectors may be rows
or columns. Undefined numbers are nan. Other files are ignored. A link is refused where it leads out of the folder.
"""

from __future__ import annotations

import csv
import io
import os
import re
from pathlib import Path
from typing import cast

import numpy as np

from ..errors import InputError, unheard
from ..problem.numbers import AnyArray, Array
from .fields import ABOUT, CLASSES, MATRICES, STACKS, WORDS, is_field
from .json_text import check_size, first_line

NUMBERED = re.compile(r"(?P<stack>(test_)?)K(?P<number>[1-9][0-9]{0,5})")
WHOLE = re.compile(r"[+-]?[0-9]{1,18}")  # what 64 bits hold, and doubles need not
GROWTH = 4  # bytes in memory per byte of text: a number takes at least two characters, and eight bytes


# ---------------------------------------------------------------------------------------------------------- reading
def read_folder(path: Path, what: str, limit: float | None = None) -> dict[str, object]:
    """The arrays of a folder by name; files that do not belong to an instance or answer are not read, but None."""
    try:
        files = {file.stem: file for file in sorted(path.iterdir()) if file.suffix == ".csv"}
        several = STACKS if what == "instance" else ("coefficients",)
        stacks = {name: _stack_files(path, name, files) for name in several}
        wanted = {name: file for name, file in files.items() if is_field(name, what) and name not in STACKS}
        used = [*wanted.values(), *(file for stack in stacks.values() for file in stack)]
        _check_inside(used, Path(os.path.realpath(path)))
        size = sum(file.stat().st_size for file in used)
    except OSError as fault:
        raise InputError(f"{path}: cannot be read ({fault.strerror}): check the folder") from None
    check_size(str(path), size, limit)
    check_size(str(path), GROWTH * size, None, "would need")
    taken = {file.stem for stack in stacks.values() for file in stack if file.parent == path}
    content: dict[str, object] = {name: None for name in files if name not in taken}
    content.update({name: _content(name, file) for name, file in wanted.items()})
    for name, stack in stacks.items():
        if stack:
            _add_stack(content, name, stack, path)
    return content


def _check_inside(files: list[Path], folder: Path) -> None:
    """Refuse links to other files: whoever made the folder need not be allowed to read them, but refusals quote."""
    for file in files:
        if not Path(os.path.realpath(file)).is_relative_to(folder):
            raise InputError(f"{file}: is a link that leads out of the folder: copy the file that is meant into it")


def _stack_files(path: Path, name: str, files: dict[str, Path]) -> list[Path]:
    """The files of a stack in order: numbered files in the folder itself, or all files in the subfolder of its name."""
    folder = path / name
    inside = [file for file in folder.iterdir() if file.suffix == ".csv"] if folder.is_dir() else []
    prefix = {"kernels": "", "test_kernels": "test_"}.get(name)
    matches = {stem: NUMBERED.fullmatch(stem) for stem in files}
    numbered = {int(m["number"]): files[s] for s, m in matches.items() if m is not None and m["stack"] == prefix}
    if inside and numbered:
        raise InputError(f"{path}: has both {prefix}K1.csv and so on, and {name}/: keep one of them")
    if numbered and max(numbered) != len(numbered):
        missing = next(number for number in range(1, max(numbered)) if number not in numbered)
        raise InputError(f"{path}: {prefix}K{missing}.csv is missing: number the kernels from 1 without gaps")
    return [numbered[number] for number in sorted(numbered)] or sorted(inside, key=lambda file: _natural(file.stem))


def _natural(name: str) -> list[tuple[int, str]]:
    """Sort key that compares numbers in names as numbers."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"([0-9]{1,18})", name)]


def _add_stack(content: dict[str, object], name: str, stack: list[Path], path: Path) -> None:
    if name == "kernels" and stack[0].parent != path:
        files = {file.stem: file for file in stack}
        names = cast(list[str], content.setdefault("names", list(files)))
        if sorted(names) != sorted(files):
            raise InputError(f"{path}: names.csv and the files of kernels/ differ: list exactly these, or leave it out")
        stack = [files[name] for name in names]
    matrices = [numbers(file) for file in stack]
    for file, matrix in zip(stack, matrices, strict=True):
        if matrix.shape != matrices[0].shape:
            sizes = f"{_size(matrix)}, {stack[0].name} {_size(matrices[0])}"
            raise InputError(f"{file}: is {sizes}: write matrices of the same samples")
    content[name] = np.stack(matrices)


def _size(matrix: Array) -> str:
    return "×".join(map(str, matrix.shape))


def _content(name: str, file: Path) -> object:
    if name in WORDS:
        return words(file)
    if name in (*ABOUT, "formulation"):
        return next(iter(words(file)), "")
    if name in CLASSES and (named := words(file)):
        if not all(map(_is_number, named)):
            return named
        if all(map(WHOLE.fullmatch, named)):
            return np.array([int(word) for word in named])
    values = numbers(file)
    if name in ("bias", "objective") and values.size == 1:
        return float(values[0, 0])
    return values.ravel() if name not in (*MATRICES, "alpha", "coefficients") and 1 in values.shape else values


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def table(file: Path) -> tuple[list[str] | None, Array, dict[str, list[str]]]:
    """The headings of a file, if there are any, its matrix, and the columns that hold words, NaN in the matrix; without
    headings all of it must be numbers."""
    check_size(str(file), GROWTH * file.stat().st_size, None, "would need")
    text = _text(file).lstrip()
    first, _, rest = text.partition("\n")
    head = [word.strip().strip('"') for word in re.split(r"[,;\t]", first)]
    if not first or any(_is_number(word) for word in head):
        return None, numbers(file, text), {}
    try:
        return head, numbers(file, rest), {}
    except InputError:
        separator = next((mark for mark in ",;\t" if mark in first), ",")
        rows = [[cell.strip() for cell in row] for row in csv.reader(io.StringIO(rest), delimiter=separator) if row]
        if not rows or {len(row) for row in rows} != {len(head)}:
            raise
        columns = dict(zip(head, zip(*rows, strict=True), strict=True))
        in_words = {name: [*cells] for name, cells in columns.items() if not all(map(_is_number, cells))}
        values = [[np.nan] * len(rows) if name in in_words else [*map(float, columns[name])] for name in head]
        return head, np.array(values).T, in_words


def numbers(file: Path, text: str | None = None) -> Array:
    """The matrix of a file, or of the given part of its text."""
    text = _text(file) if text is None else text
    first = next((line for line in text.splitlines() if line.strip()), None)
    if first is None:
        raise InputError(f"{file}: is empty: write one row of numbers per line")
    if "," in first and ";" in first:
        raise InputError(f"{file}: has both commas and semicolons: write decimal points, and commas between numbers")
    separator = "," if "," in first else ";" if ";" in first else None
    try:
        with unheard():  # that there is nothing in it: so will be said
            return np.loadtxt(io.StringIO(text), delimiter=separator, comments=None, ndmin=2)
    except (ValueError, OverflowError) as fault:
        what = first_line(fault).split(";")[0].rstrip(".")
        raise InputError(f"{file}: {what}: write rows of plain numbers, all of one length, and no headings") from None


def words(file: Path) -> list[str]:
    """The words of a file, one per line or several in a line."""
    try:
        rows = list(csv.reader(io.StringIO(_text(file), newline="")))
    except csv.Error as fault:
        raise InputError(f"{file}: not readable ({first_line(fault)}): write one word per line") from None
    return [word.strip() for row in rows for word in row]


def _text(file: Path) -> str:
    try:
        if not file.is_file():
            raise InputError(f"{file}: is not an ordinary file: write one")
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{file}: is not text in UTF-8: write it again") from None
    except OSError as fault:
        raise InputError(f"{file}: cannot be read ({fault.strerror}): check the file") from None


# ---------------------------------------------------------------------------------------------------------- writing
def write_csv(folder: Path, arrays: dict[str, AnyArray]) -> None:
    """Write arrays to a folder; numbers are read back exactly."""
    for name, array in arrays.items():
        prefix = {"kernels": "K", "test_kernels": "test_K"}.get(name)
        if array.ndim == 3:
            target = folder if prefix else folder / name
            target.mkdir(exist_ok=True)
            for m, matrix in enumerate(array):
                _write(target / f"{prefix or ''}{m + 1}.csv", matrix)
        else:
            _write(folder / f"{name}.csv", np.atleast_1d(array))


def _write(file: Path, array: AnyArray) -> None:
    values = array.astype(int) if array.dtype == bool else array
    with file.open("w", encoding="utf-8", errors="backslashreplace", newline="") as out:
        csv.writer(out, lineterminator="\n").writerows(values.reshape(len(values), -1).tolist())
