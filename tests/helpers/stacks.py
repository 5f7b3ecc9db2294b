"""Small stacks of kernels on two classes, one for each group of tests that share it."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Stack(NamedTuple):
    """What an instance is made of; `rng` goes on where these were drawn."""

    y: np.ndarray
    kernels: np.ndarray
    test_y: np.ndarray
    test_kernels: np.ndarray
    test_diagonals: np.ndarray
    rng: np.random.Generator


def stack_of(seed: int, samples: int, test_y: Sequence[int] = (), shift: float = 0.5) -> Stack:
    """Three kernels on two features each, which the classes shift; test samples of class 0 are not shifted."""
    rng = np.random.default_rng(seed)
    y, classes = np.repeat([1, -1], samples // 2), np.array(test_y, dtype=int)
    features = rng.normal(size=(3, samples, 2)) + shift * y[:, None]
    test_features = rng.normal(size=(3, len(classes), 2)) + shift * classes[:, None]
    kernels = features @ features.transpose(0, 2, 1) + 0.5 * np.eye(samples)
    test_kernels = test_features @ features.transpose(0, 2, 1)
    return Stack(y, kernels, classes, test_kernels, (test_features**2).sum(axis=2) + 0.5, rng)


FOR_COMMANDS = stack_of(9, 8, test_y=(1, 1, -1, -1, 1), shift=0.7)
FOR_FILES = stack_of(5, 8, test_y=(0,) * 5)
FOR_INSTANCES = stack_of(7, 8)
FOR_MATLAB = stack_of(11, 6, test_y=(0,) * 4)

# Of eight samples; the last has none of the labels.
LABELS = np.array([[1, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 1, 1], [0, 0, 1], [0, 0, 1], [0, 0, 0]])
