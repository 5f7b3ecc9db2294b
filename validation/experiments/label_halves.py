"""One part of the samples learns, another tests: kernels and labels of both, and the SVM of every label."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from label_views import Array, LabelViews, Rows


class Half(NamedTuple):
    """Training kernels (M, n, n), kernels to the other samples (M, t, n), the labels of both, the kernels' groups."""

    kernels: Array
    to_test: Array
    labels: NDArray[np.int64]
    truth: NDArray[np.int64]
    groups: list[int]

    @classmethod
    def of(cls, data: LabelViews, train: Rows, test: Rows) -> Half:
        return cls(*data.kernels(train, test), data.labels[train], data.labels[test], data.groups)

    @property
    def signs(self) -> Array:
        """−1 and +1, a row for every label."""
        return np.where(self.labels.T > 0, 1.0, -1.0)

    def outputs(self, weights: Array, price: float) -> Array:
        """Decision values (t, k) of an SVM per label; its weights (M,) are shared by all labels or (k, M)."""
        from sklearn.svm import SVC

        each = np.broadcast_to(weights, (len(self.signs), len(self.kernels)))
        columns: list[Array] = []
        kernel = to_test = last = None
        for y, w in zip(self.signs, each, strict=True):
            if last is None or not np.array_equal(w, last):
                kernel, to_test, last = np.tensordot(w, self.kernels, 1), np.tensordot(w, self.to_test, 1), w
            columns.append(SVC(C=price, kernel="precomputed").fit(kernel, y).decision_function(to_test))
        return np.stack(columns, axis=1)
