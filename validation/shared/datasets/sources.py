"""Where data sets come from: a folder of CSV files, OpenML by way of scikit-learn, scikit-learn itself."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from mklcvx.errors import InputError, unheard
from mklcvx.io.json_text import first_line

from .records import Array, Dataset, Record

BUNDLED = ("breast_cancer", "wine", "digits", "iris")
LARGEST = 50_000_000  # bytes of a CSV file; the largest data set needs a thirtieth of it


def bundled(name: str) -> Dataset:
    """Load a data set of scikit-learn, in its order and with its class names."""
    from sklearn import datasets

    found = getattr(datasets, f"load_{name}")()
    classes = found.target_names[found.target].astype(str)
    return Dataset(name, np.asarray(found.data, dtype=float), classes, None, "scikit-learn")


# ------------------------------------------------------------------------------------------------------------- CSV
def from_csv(name: str, folder: Path, record: Record) -> Dataset:
    """Read NAME.csv from a folder."""
    file = folder / f"{name}.csv"
    if not file.is_file():
        raise InputError(f"data set {name}: no file {file}: put it there, or give another folder")
    if file.stat().st_size > LARGEST:
        raise InputError(f"data set {name}: {file} is larger than {LARGEST // 10**6} MB: it is another file")
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            table = [row for row in csv.reader(lines) if row]
    except (OSError, UnicodeDecodeError, csv.Error) as fault:
        raise InputError(f"data set {name}: {file} is not readable ({first_line(fault)}): get it anew") from None
    d, k = record.features, len(record.counts) if record.labels else 1
    last = [f"label{j + 1}" for j in range(k)] if record.labels else ["target"]
    header = [word.strip() for word in table[0]] if table else []
    if header != [*(f"x{j + 1}" for j in range(d)), *last]:
        raise InputError(
            f"data set {name}: {file} has a header of {len(header)} columns, {','.join(header)[:40]!r}: "
            f"expected the {d + k} columns x1,…,x{d},{',…,'.join(dict.fromkeys((last[0], last[-1])))}"
        )
    for number, row in enumerate(table, start=1):
        if len(row) != d + k:
            raise InputError(f"data set {name}: {file}, row {number} has {len(row)} entries, not {d + k}: get it anew")
    X = [[_number(name, value, f"{file}, row {i}") for value in row[:d]] for i, row in enumerate(table[1:], start=2)]
    return _dataset(name, np.reshape(X, (len(X), d)), [row[d:] for row in table[1:]], record, str(file))


# ---------------------------------------------------------------------------------------------------------- OpenML
def from_openml(name: str, record: Record) -> Dataset:
    """Fetch the data set from OpenML; scikit-learn caches it."""
    remedy = f"give a folder with {name}.csv, as an argument or by MKLCVX_DATA"
    if record.openml is None:
        raise InputError(f"data set {name}: no copy of it at OpenML is known to be the recorded one: {remedy}")
    from sklearn.datasets import fetch_openml

    origin = f"OpenML {record.openml}"
    try:
        with unheard():
            found = fetch_openml(data_id=record.openml, as_frame=False, parser="liac-arff", n_retries=1)
    except Exception as fault:  # errors of the network, the cache or the server
        raise InputError(f"data set {name}: {origin} could not be had ({first_line(fault)[:80]}): {remedy}") from None
    values = np.array(found.data, dtype=object)
    for column, words in (found.categories or {}).items():
        if column in found.feature_names:
            j = found.feature_names.index(column)
            values[:, j] = [words[int(code)] for code in values[:, j]]
    X = np.array([[_number(name, value, origin) for value in row] for row in values])
    return _dataset(name, X, np.asarray(found.target).reshape(len(X), -1), record, origin)


# ---------------------------------------------------------------------------------------------------------- shared
def _dataset(name: str, X: Array, targets: Iterable[Any], record: Record, origin: str) -> Dataset:
    words = [[_class_name(value) for value in row] for row in targets]
    if not record.labels:
        return Dataset(name, X, np.array([row[0] for row in words], dtype=np.str_), None, origin)
    meaning = {"0": 0, "1": 1, "FALSE": 0, "TRUE": 1}
    unknown = {word for row in words for word in row if word.upper() not in meaning}
    if unknown:
        raise InputError(f"data set {name} from {origin}: has the label {min(unknown)!r:.20}: expected 0 and 1")
    labels = np.array([[meaning[word.upper()] for word in row] for row in words], dtype=np.int64)
    return Dataset(name, X, None, labels, origin)


def _number(name: str, value: Any, where: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if not np.isfinite(number):
        raise InputError(f"data set {name} from {where}: has the entry {value!r:.20}: expected a finite number")
    return number


def _class_name(value: Any) -> str:
    """1, 1.0 and ' 1' are one class."""
    word = str(value).strip()
    try:
        number = float(word)
    except ValueError:
        return word
    return str(int(number)) if number.is_integer() else word
