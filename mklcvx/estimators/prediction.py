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

from ..certificate.solution import Solution
from ..errors import InputError
from ..io.files import write_whole
from ..problem.targets import find_test_targets, largest, named_classes
from ..solvers.second_stage import f1_scores

SCHEMA = "mklcvx.prediction/1"


@dataclass(frozen=True)
class Prediction:
    """Decision values (t,) or (t, k), labels or None for an embedding, and the truth where it is known."""

    model: Any  # what says `target` and `label_names`: a Solution, or a served estimator
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
        truth = find_test_targets(test, model.target, len(values), len(model.label_names))
        if truth is not None and model.target == "classes":
            truth = named_classes(truth, model.classes, model.label_names)
        return cls(model, values, model.labels_of(values), truth)

    def columns(self) -> list[tuple[str, list[Any]]]:
        """Name and entries of every column of the table."""
        if self.labels is None:
            return [(f"e{j + 1}", column.tolist()) for j, column in enumerate(self.values.T)]
        if self.model.target == "y":
            return [("decision", self.values.ravel().tolist()), ("label", self.labels.tolist())]
        names = self.model.label_names
        table = [(f"decision {name}", column.tolist()) for name, column in zip(names, self.values.T, strict=True)]
        if self.model.target == "classes":
            return [*table, ("class", self._named_classes())]
        return [*table, *((name, column.tolist()) for name, column in zip(names, self.labels.T, strict=True))]

    def _named_classes(self) -> list[str]:
        return [self.model.label_names[j] for j in largest(self.values)]

    def as_csv(self) -> str:
        """Names that cannot be encoded are spelled out."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        table = self.columns()
        writer.writerow([name for name, _ in table])
        writer.writerows(zip(*(column for _, column in table), strict=True))
        return text.getvalue().encode("utf-8", "backslashreplace").decode("utf-8")

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
        text = self.as_csv() if path.suffix == ".csv" else json.dumps(record, default=float) + "\n"
        write_whole(path, lambda file: file.write(text.encode()))

    def score(self) -> str:
        """Accuracy, or macro and micro F1 for labels; nothing where the truth is not known."""
        if self.truth is None or self.labels is None or not len(self.labels):
            return ""
        if self.model.target == "labels":
            macro, micro = f1_scores(self.truth, self.labels)
            return f"macro F1 {macro:.4f}, micro F1 {micro:.4f} on {len(self.labels)} samples"
        named = self.model.target == "classes" and self.truth.dtype.kind == "U"
        found = np.array(self._named_classes()) if named else self.labels
        return f"accuracy {np.mean(self.truth == found):.4f} on {len(found)} samples"
