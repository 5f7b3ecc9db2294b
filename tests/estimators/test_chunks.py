"""Machines that are solved at once: in their order, with one thread each, to the last bit as one by one with one."""

import os

import numpy as np
import pytest
from joblib import parallel_config
from threadpoolctl import threadpool_info, threadpool_limits

from mklcvx import MKLClassifier
from mklcvx.estimators.chunks import in_chunks

RNG = np.random.default_rng(0)
N, M, CLASSES = 110, 11, 5  # more than the megabyte from which on joblib maps arrays into memory
CODES = np.arange(N) % CLASSES
VIEWS = RNG.normal(size=(M, N, 4)) + 0.7 * RNG.normal(size=(M, CLASSES, 4))[:, CODES]
STACK = np.stack([np.exp(-0.2 * ((view[:, None] - view) ** 2).sum(axis=-1)) for view in VIEWS], axis=-1)


def squared(numbers):
    return [(number**2, os.getpid()) for number in numbers]


def threads(numbers):
    return [max(one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas") for _ in numbers]


@pytest.mark.parametrize("count", [1, 2, 5, 12])
def test_answers_come_in_the_order_of_the_problems(count):
    with parallel_config("threading"):
        found = in_chunks(squared, range(count), 3)
    assert [value for value, _ in found] == [number**2 for number in range(count)]


def test_one_job_is_no_process_and_gets_all_problems_at_once():
    calls = []
    assert in_chunks(lambda some: calls.append(list(some)) or squared(some), range(4), None) == squared(range(4))
    assert calls == [[0, 1, 2, 3]]


def test_threads_of_linear_algebra_are_one_and_come_back():
    before = threads([0])
    with parallel_config("threading"):
        assert in_chunks(threads, range(4), 2) == [1] * 4
    assert threads([0]) == before


@pytest.mark.slow
def test_processes_find_the_same_to_the_last_bit():
    assert STACK.nbytes > 1e6
    assert in_chunks(threads, range(3), 2) == [1] * 3
    pids = {pid for _, pid in in_chunks(squared, range(4), 2)}
    assert os.getpid() not in pids
    for settings in ({"formulation": "l1"}, {"formulation": "average"}, {"formulation": "l1", "multi_class": "ovo"}):
        given = {"kernels": "precomputed", "C": 1.0, **settings}
        with threadpool_limits(1, "blas"):  # as the processes have it: two threads sum up otherwise
            alone, together = (MKLClassifier(**given, n_jobs=jobs).fit(STACK, CODES) for jobs in (None, 2))
        for one, other in zip(alone.solutions_, together.solutions_, strict=True):
            np.testing.assert_array_equal(one.alpha, other.alpha)
            np.testing.assert_array_equal(one.weights, other.weights)
            assert (one.bias, one.certificate) == (other.bias, other.certificate)
