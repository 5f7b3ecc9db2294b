"""Predictions for new samples, as people want them: values, labels or embeddings, in a table, with their score."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import InputError
from .files import write_whole
from .second_stage import f1_scores
from .solution import Solution
from .targets import as_test_targets

SCHEMA = "mklcvx.prediction/1"


@dataclass(frozen=True)
class Prediction:
    """Decision values (t,) or (t, k), labels or None for an embedding, and the truth where it is known."""

    model: Solution
    values: NDArray[np.float64]
    labels: NDArray[Any] | None
    truth: NDArray[Any] | None

    @classmethod
    def of(cls, model: Solution, test: Mapping[str, Any]) -> Prediction:
        """Everything is checked before anything is shown."""
        with np.errstate(over="ignore", invalid="ignore"):
            values = model.decision_function(test["test_kernels"], test.get("test_diagonals"))
        if not np.isfinite(values).all():
            raise InputError("test_kernels are too large for double precision: scale them as in training")
        given = test.get(f"test_{model.target}")
        truth = None if given is None else as_test_targets(given, model.target, len(values))
        return cls(model, values, model.labels_of(values), truth)

    def columns(self) -> dict[str, list[Any]]:
        """Name and entries of every column of the table."""
        if self.labels is None:
            return {f"e{j + 1}": column.tolist() for j, column in enumerate(self.values.T)}
        if self.values.ndim == 1:
            return {"decision": self.values.tolist(), "label": self.labels.tolist()}
        names = self.model.label_names
        table = {f"decision {name}": column.tolist() for name, column in zip(names, self.values.T, strict=True)}
        if self.labels.ndim == 1:
            return {**table, "class": self.labels.tolist()}
        return {**table, **{name: column.tolist() for name, column in zip(names, self.labels.T, strict=True)}}

    def as_csv(self) -> str:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        table = self.columns()
        writer.writerow(table)
        writer.writerows(zip(*table.values(), strict=True))
        return text.getvalue()

    def save(self, path: Path) -> None:
        """Write `.csv`, `.json` or `.npz`, by the file's ending."""
        kind = "embedding" if self.labels is None else "decision"
        if path.suffix == ".npz":
            arrays: dict[str, Any] = {kind: self.values}
            if self.labels is not None:
                arrays["label"] = self.labels
            write_whole(path, lambda file: np.savez_compressed(file, **arrays))
            return
        record = {"schema": SCHEMA, kind: self.values.tolist()}
        if self.labels is not None:
            record["label"] = self.labels.tolist()
        text = self.as_csv() if path.suffix == ".csv" else json.dumps(record) + "\n"
        write_whole(path, lambda file: file.write(text.encode()))

    def score(self) -> str:
        """Accuracy, or macro and micro F1 for labels; nothing where the truth is not known."""
        if self.truth is None or self.labels is None or not len(self.labels):
            return ""
        if self.labels.ndim == 2:
            macro, micro = f1_scores(self.truth, self.labels)
            return f"macro F1 {macro:.4f}, micro F1 {micro:.4f} on {len(self.labels)} samples"
        truth = self.truth.astype(str) if self.model.target == "classes" else self.truth
        return f"accuracy {np.mean(truth == self.labels):.4f} on {len(self.labels)} samples"
