"""Samples that lack a view: NaN in the rows and columns of its kernel."""

from __future__ import annotations

from typing import overload

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from .memory import check_stack
from .numbers import Array
from .preprocessing import Centre, Preprocessing
from .validation import as_array, missing_samples


@overload
def fill_missing(kernels: ArrayLike, *, test_kernels: None = None) -> Array: ...


@overload
def fill_missing(kernels: ArrayLike, *, test_kernels: ArrayLike) -> tuple[Array, Array]: ...


def fill_missing(kernels: ArrayLike, *, test_kernels: ArrayLike | None = None) -> Array | tuple[Array, Array]:
    """Centre every kernel on the samples that have its view, and fill in zeros for those that lack it.

    A sample lacks a view if its row and column in the kernel are NaN throughout. In feature space the zeros put it at
    the mean of the samples that have the view, where it says nothing of its class: its other views and the bias decide.
    That is an assumption about the samples, which is why no formulation makes it by itself. Kernels stay positive
    semidefinite. The filled samples have k(x, x) = 0, which `normalise="cosine"` cannot scale.

    Parameters
    ----------
    kernels : array_like of shape (M, n, n), or (n, n, M) as estimators take it
        Kernels, NaN where a view is missing.
    test_kernels : array_like of shape (M, t, n), or (t, n, M), optional
        Kernels between new and training samples; NaN in the rows of new samples that lack a view, and in the columns
        of training samples that do.

    Returns
    -------
    ndarray of the same shape, or a pair
        The kernels without NaN; with `test_kernels` both stacks.

    Raises
    ------
    InputError
        If other entries are not finite, or fewer than two samples have a view.

    Examples
    --------
    >>> import numpy as np
    >>> import mklcvx
    >>> kernels = mklcvx.zoo.random(6, 2, seed=0).kernels.copy()
    >>> kernels[1, 0, :] = kernels[1, :, 0] = np.nan
    >>> filled = mklcvx.fill_missing(kernels)
    >>> bool(np.isfinite(filled).all()), float(filled[1, 0, 0])
    (True, 0.0)
    """
    stack = as_array(kernels, "kernels", "(M, n, n)")
    test = None if test_kernels is None else as_array(test_kernels, "test_kernels", "(M, t, n)")
    if stack.ndim == 3 and stack.shape[0] == stack.shape[1] != stack.shape[2]:  # (n, n, M)
        first = np.moveaxis(stack, -1, 0)
        if test is None:
            return np.moveaxis(fill_missing(first), 0, -1)
        if test.ndim != 3 or test.shape[1:] != stack.shape[1:]:
            raise InputError(f"test_kernels have shape {test.shape}: give (t, {stack.shape[1]}, {stack.shape[2]})")
        filled, filled_test = fill_missing(first, test_kernels=np.moveaxis(test, -1, 0))
        return np.moveaxis(filled, 0, -1), np.moveaxis(filled_test, 0, -1)
    if stack.ndim != 3 or stack.shape[1] != stack.shape[2]:
        raise InputError(f"kernels have shape {stack.shape}: give a stack (M, n, n) or (n, n, M)")
    if test is not None and (test.ndim != 3 or test.shape[::2] != stack.shape[:2]):
        raise InputError(f"test_kernels have shape {test.shape}: give ({stack.shape[0]}, t, {stack.shape[1]})")
    check_stack(*stack.shape)
    filled = np.zeros(stack.shape)
    filled_test = np.zeros((0, 0, 0) if test is None else test.shape)
    for m, kernel in enumerate(stack):
        here = np.setdiff1d(np.arange(len(kernel)), missing_samples(np.asarray(kernel, dtype=np.float64)))
        if len(here) < 2:
            raise InputError(f"kernel {m}: {len(here)} sample has this view: leave the kernel out")
        part = kernel[np.ix_(here, here)][None]
        steps = Preprocessing([Centre()]).fit(part)
        filled[m][np.ix_(here, here)] = steps.train(part)[0]
        if test is not None:
            rows = np.flatnonzero(~np.isnan(test[m][:, here]).all(axis=1))
            filled_test[m][np.ix_(rows, here)] = steps.test(test[m][np.ix_(rows, here)][None])[0]
    return filled if test is None else (filled, filled_test)
