"""`Views`: several views of the same samples as one object that scikit-learn's searches can cut into folds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Never

from numpy.typing import ArrayLike

from ..errors import InputError
from ..problem.checks import check_lists
from ..problem.numbers import check_unmasked


class Views:
    """Several views of the same samples, for `GridSearchCV`, `cross_val_score` and others that choose samples.

    To scikit-learn a list of views is a list of samples; this is one table, of which samples can be taken. Estimators
    treat it as the list or the dict that it was made of: the bank of kernels is made for each view.

    Parameters
    ----------
    views : list or dict of array_like of shape (n, d)
        Features of the same samples, arrays or DataFrames, by name if it is a dict.

    Raises
    ------
    InputError
        If there is no view, or they are not of the same samples.

    Examples
    --------
    >>> import mklcvx
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import cross_val_score
    >>> X, y = load_wine(return_X_y=True)
    >>> views = mklcvx.Views({"acids": X[::3, :5], "colours": X[::3, 9:11]})
    >>> len(cross_val_score(mklcvx.MKLClassifier("average", "linear"), views, y[::3], cv=2))
    2
    """

    ndim = 2

    def __init__(self, views: Sequence[ArrayLike] | Mapping[str, ArrayLike]) -> None:
        check_lists("a list or a dict of arrays", views=views)
        check_unmasked(views, "views")
        self.views: Any = dict(views) if isinstance(views, Mapping) else list(views)
        shapes: list[tuple[int, ...]] = [getattr(view, "shape", ()) for view in self._entries]
        if not shapes or any(len(shape) != 2 or shape[0] != shapes[0][0] for shape in shapes):
            given = ", ".join(map(str, shapes))[:80] or "none"
            raise InputError(f"Views: the views have shapes {given}: give arrays (n, d) of the same samples")
        self.shape = (int(shapes[0][0]), sum(int(shape[1]) for shape in shapes))

    @property
    def _entries(self) -> list[Any]:
        return list(self.views.values()) if isinstance(self.views, dict) else self.views

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        names = list(self.views) if isinstance(self.views, dict) else [f"view {i + 1}" for i in range(len(self.views))]
        sizes = [f"{name}: {view.shape[1]} features" for name, view in zip(names, self._entries, strict=True)]
        return f"Views({len(self)} samples; {', '.join(sizes)})"

    def __getitem__(self, chosen: Any) -> Views:
        from sklearn.utils import _safe_indexing

        rows = chosen[0] if isinstance(chosen, tuple) else chosen  # scikit-learn asks for [rows, ...]
        if isinstance(chosen, tuple) and chosen[1:] != (Ellipsis,):
            raise InputError("Views: samples can be chosen, columns cannot: choose those of a view before")
        parts = [_safe_indexing(view, rows) for view in self._entries]
        return Views(dict(zip(self.views, parts, strict=True)) if isinstance(self.views, dict) else parts)

    def __array__(self, *_: object, **__: object) -> Never:
        raise InputError(
            "X is Views, which are no single table: prepare each view before, or give one table and groups of columns, "
            "kernels=[('name', 'gaussians', columns), …]"
        )
