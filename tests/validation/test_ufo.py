"""UFO-MKL, a contestant of an experiment: one pass as it is printed, and an interval that holds the optimum."""

import numpy as np
import pytest

import toy_experiment  # noqa: F401  # puts validation/experiments on the path
from mklcvx import Instance, solve, zoo
from ufo import Task, Walk, ufo


def test_a_pass_is_the_papers_algorithm_in_explicit_features():
    random = np.random.default_rng(7)
    features, classes = [random.normal(size=(9, d)) for d in (2, 3, 4)], np.arange(9) % 3
    task = Task.of(Instance(np.stack([f @ f.T for f in features]), classes=classes), 0.8, 0.02)
    walk, draws = Walk(task, seed=3), np.random.default_rng(3)
    theta = [np.zeros((f.shape[1], 3)) for f in features]
    w, t = [0 * part for part in theta], 0
    for _ in range(2):
        walk.pass_over_samples()
        for i in draws.permutation(9):
            t += 1
            values = sum(f[i] @ part for f, part in zip(features, w, strict=True))
            rivals = [u for u in range(3) if u != classes[i]]
            rival = rivals[int(np.argmax(values[rivals]))]
            if values[classes[i]] - values[rival] < 1:
                for f, part in zip(features, theta, strict=True):
                    part[:, classes[i]] += f[i]
                    part[:, rival] -= f[i]
            norms = np.array([np.linalg.norm(part) for part in theta])
            v = np.maximum(norms - 0.02 * t, 0)
            scale = v / (task.lam * t * norms) * (v / np.sum(v**task.s) ** (1 / task.s)) ** (task.s - 2)
            w = [s * part for s, part in zip(scale, theta, strict=True)]
    last = task.functions(walk.weights, walk.counts)
    for m, f in enumerate(features):
        assert last[:, m] @ f == pytest.approx(w[m].T, abs=1e-10)


def test_with_few_kernels_and_no_alpha_the_interval_holds_the_optimum_of_sum():
    """s = 2 for M ≤ e: the (2, 2) norm, λ times the problem of `sum` without bias."""
    instance = zoo.random(24, 2, seed=5)
    task = Task.of(instance, 0.5, 0.0)
    best = task.lam * solve(instance, "sum", C=0.5, bias=False).objective
    walk = Walk(task, seed=0)
    for _ in range(30):
        walk.pass_over_samples()
        lower, upper = task.lower(walk.counts / walk.steps), task.upper(task.functions(walk.weights, walk.counts))
        assert lower.value <= best <= upper.value
    assert upper.value - lower.value <= 0.1 * best
    assert ufo(instance, 0.5, 0.0, passes=200, seed=0).gap <= 0.01


def test_a_larger_alpha_uses_fewer_kernels():
    instance = zoo.random(24, 5, seed=5)
    assert [int((ufo(instance, 1.0, a, 5, 0).weights > 0).sum()) for a in (0.0, 0.5)] == [5, 0]
