"""`KernelImportance`: what was found about single kernels by cross-validation, as arrays, columns and one record.

`mklcvx.kernel_importance` computes it, `mklcvx.plot` draws it, and a page of `report` lists it. F is the number of
folds, M of kernels, R of resamples. A machine has kernel weights of its own: one class against the rest, for example.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..certificate.record import Certificate
from ..defaults import ANSWERS
from ..errors import InputError
from ..problem.checks import check_lists, check_name
from ..problem.ownership import ReadOnly

Array = NDArray[np.float64]

SCHEMA = "mklcvx.kernels/1"
# Headings of the columns, where people read them.
HEADINGS = {"drop_without": "drop without", "drop_permuted": "drop permuted", "resampled": "resampled weight"}


@dataclass(frozen=True, repr=False)
class KernelImportance(ReadOnly):
    """What is known about every kernel: held-out scores alone, left out and permuted, and how stable its weight is.

    Print it for a table, hand `columns` to a data frame, or draw it with `mklcvx.plot.importance`, `alone`, `stability`
    and `classes`. What was not asked for is None.

    Parameters
    ----------
    names : tuple of str
        Names of the kernels.
    machines : tuple of str
        Names of the machines, one for each row of `weights`: the classes for one against the rest.
    scoring : str
        Name of the score; higher is better.
    weights : ndarray of shape (machines, M)
        Weights μ_m tr K_m divided by their sum, fitted on all samples.
    certificate : Certificate
        The one of the fit on all samples, with the widest gap of its machines.
    fits : int
        Number of fits.
    uncertified : int
        How many of them are not certified.
    threshold : float
        Share of the weights from which on a kernel counts as selected.
    scores : ndarray of shape (F,), optional
        Held-out score with all kernels, for each fold.
    alone : ndarray of shape (F, M), optional
        Held-out score with one kernel alone: an SVM, or the machine of the loss.
    without : ndarray of shape (F, M), optional
        Held-out score with all kernels but one.
    permuted : ndarray of shape (F, repeats, M), optional
        Held-out score if the test samples' rows of one kernel are permuted.
    resampled : ndarray of shape (R, machines, M), optional
        Weights, as above, fitted on bootstrap samples.
    notes : tuple of str
        What the estimator refused, which has scores NaN; and why the first fit that is not certified is not.

    See Also
    --------
    kernel_importance : Computes it.

    Examples
    --------
    >>> import mklcvx
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> model = mklcvx.MKLClassifier(kernels=["linear", "gaussian"], normalise="trace", C=100)
    >>> importance = mklcvx.kernel_importance(model, X[::4], y[::4], cv=2, answers=["alone"])
    >>> sorted(importance.columns)
    ['alone', 'alone_std', 'kernel', 'weight']
    """

    names: tuple[str, ...]
    machines: tuple[str, ...]
    scoring: str
    weights: Array
    certificate: Certificate
    fits: int
    uncertified: int
    threshold: float
    scores: Array | None = None
    alone: Array | None = None
    without: Array | None = None
    permuted: Array | None = None
    resampled: Array | None = None
    notes: tuple[str, ...] = ()

    @property
    def score(self) -> float | None:
        """Mean held-out score with all kernels, or None."""
        return None if self.scores is None else float(self.scores.mean())

    @property
    def columns(self) -> dict[str, NDArray[Any]]:
        """Columns of a table with one row for each kernel, as `pandas.DataFrame` takes them.

        `weight` is the mean over machines. Drops are those of the held-out score. Every `_std` is the standard
        deviation over folds or over resamples; `selected` is the share of resamples whose weight exceeds the threshold.
        """
        columns: dict[str, NDArray[Any]] = {"kernel": np.array(self.names), "weight": self.weights.mean(axis=0)}
        if self.alone is not None:
            columns |= _spread("alone", self.alone)
        if self.scores is not None and self.without is not None:
            columns |= _spread("drop_without", self.scores[:, None] - self.without)
        if self.scores is not None and self.permuted is not None:
            columns |= _spread("drop_permuted", self.scores[:, None] - self.permuted.mean(axis=1))
        if self.resampled is not None:
            weights = self.resampled.mean(axis=1)
            columns |= {**_spread("resampled", weights), "selected": (weights > self.threshold).mean(axis=0)}
        return columns

    def as_dict(self) -> dict[str, Any]:
        """Return what was found as one record for JSON.

        Returns
        -------
        dict
            The record; numbers that are undefined are None.
        """
        arrays = ("weights", "scores", "alone", "without", "permuted", "resampled")
        bounds = {name: getattr(self.certificate, name) for name in ("lower", "upper", "relative_gap")}
        return {
            "schema": SCHEMA,
            "names": list(self.names),
            "machines": list(self.machines),
            "scoring": self.scoring,
            "score": self.score,
            "fits": self.fits,
            "uncertified": self.uncertified,
            "certificate": {name: _plain(bound) for name, bound in bounds.items()},
            "threshold": self.threshold,
            "columns": {name: _plain(column) for name, column in self.columns.items()},
            **{name: _plain(getattr(self, name)) for name in arrays},
            "notes": list(self.notes),
        }

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Return the columns as text, deviations beside their means.

        Returns
        -------
        heads : list of str
            Headings.
        rows : list of list of str
            One row for each kernel.
        """
        columns = self.columns
        shown = {name: _texts(name, column, columns.get(f"{name}_std")) for name, column in columns.items()}
        shown = {name: texts for name, texts in shown.items() if not name.endswith("_std")}
        return [HEADINGS.get(name, name) for name in shown], [list(row) for row in zip(*shown.values(), strict=True)]

    def summary(self) -> str:
        """Return one line: the held-out score, the certificate, and how many fits are certified.

        Returns
        -------
        str
            The line.
        """
        parts = (
            []
            if self.scores is None
            else [f"{self.scoring} {self.scores.mean():.3f} ± {self.scores.std():.3f} held out"]
        )
        parts.append(f"relative gap {self.certificate.relative_gap:.1e}")
        certified = "all certified" if not self.uncertified else f"{self.uncertified} not certified"
        return ", ".join([*parts, f"{self.fits} fits, {certified}"])

    def __repr__(self) -> str:
        return f"KernelImportance({len(self.names)} kernels, {self.summary()})"

    def __str__(self) -> str:
        heads, rows = self.table()
        widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
        lines = [
            "  ".join(cell.rjust(width) if j else cell.ljust(width) for j, (cell, width) in enumerate(cells))
            for cells in (list(zip(row, widths, strict=True)) for row in [heads, *rows])
        ]
        return "\n".join([*lines, self.summary(), *self.notes])


def asked_for(answers: str | Sequence[str] | None) -> list[str]:
    """The answers that are asked for, without repetitions; all of them for None."""
    given = ANSWERS if answers is None else [answers] if isinstance(answers, str) else answers
    check_lists("a list of names", answers=given)
    asked = list(given)
    for name in asked:
        check_name("answer", name, ANSWERS)
    if not asked:
        raise InputError(f"answers: there is none: give some of {', '.join(ANSWERS)}")
    return list(dict.fromkeys(asked))


def _spread(name: str, values: Array) -> dict[str, Array]:
    """Mean and standard deviation over the first axis."""
    return {name: values.mean(axis=0), f"{name}_std": values.std(axis=0)}


def _texts(name: str, column: NDArray[Any], deviation: NDArray[Any] | None) -> list[str]:
    if name == "kernel":
        return [str(kernel) for kernel in column]
    if name == "selected":
        return [f"{share:.0%}" for share in column]
    if deviation is None:
        return [_text(number) for number in column]
    return [
        _text(mean) if np.isnan(mean) else f"{_text(mean)}±{spread:.3f}"
        for mean, spread in zip(column, deviation, strict=True)
    ]


def _text(number: float) -> str:
    return "–" if np.isnan(number) else f"{number:.3f}".replace("-0.000", "0.000")


def _plain(values: Any) -> Any:
    """Return arrays as lists, with None for what is no finite number."""
    if values is None or isinstance(values, str):
        return values
    if np.ndim(values):
        return [_plain(entry) for entry in values]
    return str(values) if isinstance(values, np.str_) else float(values) if np.isfinite(values) else None
