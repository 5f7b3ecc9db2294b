"""Data sets of the papers' tables, from a folder, OpenML or scikit-learn, each proved to be the right copy.

`load("heart", folder)` reads `heart.csv`: a header `x1,…,xd,target` (`label1,…` for label sets) and one sample per
line, values as published. The folder is the argument, else the environment variable MKLCVX_DATA; without either, OpenML
is asked. What is read must be, row for row, what the experiments of this project were run on (`records`): another
version, a shifted column, permuted labels or lost decimals are refused. Neither the order of the rows nor the way a
number is written (1, 1.0, 1e0) matters: rows are returned in lexicographic order, so that a seed means the same split
whatever the source. Breast cancer, wine, digits and iris are scikit-learn's own and always there.
"""

from __future__ import annotations

import os
from pathlib import Path

from mklcvx.problem.checks import check_name

from .records import RECORDS, Dataset, checked
from .sources import BUNDLED, bundled, from_csv, from_openml

__all__ = ["BUNDLED", "NAMES", "VARIABLE", "Dataset", "load"]

VARIABLE = "MKLCVX_DATA"
NAMES = (*RECORDS, *BUNDLED)


def load(name: str, folder: str | Path | None = None) -> Dataset:
    """Load and check a data set from CSV files in `folder`, by default MKLCVX_DATA; without a folder, from OpenML."""
    check_name("data set", name, (*RECORDS, *BUNDLED))
    if name in BUNDLED:
        return bundled(name)
    given, record = folder or os.environ.get(VARIABLE), RECORDS[name]
    return checked(from_csv(name, Path(given), record) if given else from_openml(name, record), record)
