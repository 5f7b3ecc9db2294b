"""Centring where most of the kernel is an offset of all samples: what is left is as good as the kernel allows."""

import numpy as np
import pytest

from covering import covering
from mklcvx import Instance
from mklcvx.estimators.columns import Table
from mklcvx.estimators.source import KernelSource
from mklcvx.problem.preprocessing import Centre, Preprocessing
from mklcvx.solvers.solving import preprocessed

pytestmark = pytest.mark.slow

N, T = 30, 7
Y = np.where(np.arange(N) % 2 == 0, 1, -1)


def features(seed: int, whole: bool, samples: int = N) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.integers(-5, 6, size=(samples, 3)).astype(float) if whole else rng.normal(size=(samples, 3))


@pytest.mark.parametrize(
    ("offset", "normalise", "dtype", "whole"),
    covering([1e2, 1e4, 1e6], [None, "trace", "variance"], [np.float64, np.float32, np.longdouble], [True, False]),
)
def test_what_is_accepted_is_accepted_after_centring(whole, dtype, normalise, offset):
    for seed in range(20):
        x = features(seed, whole) + offset
        instance = Instance((x @ x.T)[None].astype(dtype), Y)
        assert preprocessed(instance, Preprocessing.from_options(centre=True, normalise=normalise)).count == 1


@pytest.mark.parametrize("seed", range(5))
def test_what_is_accepted_is_accepted_after_centring_with_weights(seed):
    x, rng = features(seed, False) + 1e6, np.random.default_rng(seed)
    kernels, weight = (x @ x.T)[None], np.exp(3 * rng.normal(size=N))
    Instance(kernels, Y)
    stack = np.moveaxis(kernels, 0, 2)
    made = KernelSource.fit("precomputed", Table(stack, stack), Y, weight, Preprocessing([Centre()]))
    assert Instance(made[1], Y).count == 1


def test_an_offset_of_whole_numbers_costs_no_digits():
    """The kernel of offset 1e6 is exact; training and test kernels come out as those of centred features."""
    for seed in range(5):
        x, new = features(seed, True), features(seed + 100, True, T)
        kernels, tests = ((one + 1e6) @ (x + 1e6).T for one in (x, new))
        steps = Preprocessing([Centre()]).fit(kernels[None])
        centred, mean = x - x.mean(axis=0), x.mean(axis=0)
        np.testing.assert_allclose(steps.train(kernels[None])[0], centred @ centred.T, rtol=0, atol=1e-7)
        np.testing.assert_allclose(steps.test(tests[None])[0], (new - mean) @ centred.T, rtol=0, atol=1e-7)


def test_the_lengths_of_test_samples_keep_their_digits_too():
    x, new = features(1, True), features(101, True, T) + 20
    steps = Preprocessing.from_options(centre=True, normalise="cosine").fit(((x + 1e6) @ (x + 1e6).T)[None])
    diagonal = ((new + 1e6) ** 2).sum(axis=1)
    found = steps.test(((new + 1e6) @ (x + 1e6).T)[None], diagonal[None])[0]
    train, test = x - x.mean(axis=0), new - x.mean(axis=0)
    lengths = np.outer(np.linalg.norm(test, axis=1), np.linalg.norm(train, axis=1))
    np.testing.assert_allclose(found, test @ train.T / lengths, rtol=0, atol=1e-8)
