"""Products of a stack with a vector: rows of the samples that count, or the lower triangle of all."""

import numpy as np
import pytest

from mklcvx.problem.stack import KernelStack

AXES = {"kernels first": (0, 1, 2), "Fortran": (0, 2, 1), "samples first": (1, 2, 0)}


@pytest.mark.parametrize("order", AXES)
@pytest.mark.parametrize("used", [1, 20, 60, 140])
def test_products_are_the_same_however_few_entries_of_a_vector_count(used, order):
    rng = np.random.default_rng(0)
    factors, vector = rng.normal(size=(3, 140, 4)), np.zeros(140)
    vector[rng.permutation(140)[:used]] = rng.normal(size=used)
    kernels = factors @ factors.transpose(0, 2, 1)
    kernels = (kernels + kernels.transpose(0, 2, 1)) / 2
    kernels = np.ascontiguousarray(kernels.transpose(AXES[order])).transpose(np.argsort(AXES[order]))
    stack, total = KernelStack(kernels), np.zeros((140, 140))
    np.testing.assert_allclose(stack.matvecs(vector), kernels @ vector, rtol=1e-12, atol=1e-12)
    some = np.array([True, False, True])
    np.testing.assert_allclose(stack.matvecs_of(some, vector)[some], (kernels @ vector)[some], rtol=1e-12, atol=1e-12)
    weights = np.array([1.0, 2.0, -1.0])
    images, combined = stack.update_and_matvec(total, weights, vector), stack.combined(weights)
    np.testing.assert_allclose(images, kernels @ vector, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(combined, np.tensordot(weights, kernels, 1), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(np.tril(total), np.tril(combined), rtol=1e-12, atol=1e-12)
    assert np.array_equal(combined, combined.T)


def test_of_an_asymmetric_stack_only_the_lower_triangle_counts_for_few_entries_as_well():
    lower = np.tril(np.random.default_rng(0).normal(size=(1, 140, 140)))
    vector = np.where(np.arange(140) == 3, 1.0, 0.0)
    found = KernelStack(lower, symmetric=False).matvecs(vector)[0]
    np.testing.assert_array_equal(found, (lower[0] + np.tril(lower[0], -1).T)[:, 3])
