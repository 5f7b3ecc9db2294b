"""Exercises with a seed: a problem of one's own, and an answer that is graded by `verify`.

    from mklcvx.exercises import exercise
    mine = exercise("svm-dual", seed=7)
    print(mine.question)                       # the instance is mine.instance
    print(mine.grade(alpha=…, objective=…))

Every seed draws another instance; what is right is decided by a certified optimum, never by a stored answer.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ..errors import InputError, nearest
from ._exercise import Blueprint, Exercise, Grade
from .certificates import CERTIFICATES
from .cutting_planes import PLANES
from .groups_of_kernels import GROUPS_OF_KERNELS
from .kernel_weights import MULTIPLIERS
from .labels_as_edges import LABELS_AS_EDGES
from .many_labels import MANY_LABELS
from .norms import NORMS
from .one_kernel import ONE_KERNEL
from .pairs_of_samples import PAIRS_OF_SAMPLES
from .smoothing import SMOOTHING
from .soft_margins import SOFT_MARGINS
from .two_kernels import BY_HAND

EXERCISES: tuple[Blueprint, ...] = (
    *ONE_KERNEL, *BY_HAND, *MULTIPLIERS, *NORMS, *SOFT_MARGINS, *PLANES, *SMOOTHING, *MANY_LABELS, *PAIRS_OF_SAMPLES,
    *LABELS_AS_EDGES, *CERTIFICATES, *GROUPS_OF_KERNELS,
)  # fmt: skip

_BY_NAME = {blueprint.name: blueprint for blueprint in EXERCISES}


def exercise(name: str, seed: Any = 0) -> Exercise:
    """The variant of an exercise that a seed, an integer from 0 on, draws."""
    if name not in _BY_NAME:
        raise InputError(f"unknown exercise {name!r}: {nearest(str(name), _BY_NAME)}")
    try:
        number = -1 if isinstance(seed, bool) else operator.index(seed)
    except TypeError:
        number = -1
    if number < 0:
        raise InputError(f"seed = {seed!r} is no integer from 0 on: give one such as 7")
    blueprint = _BY_NAME[name]
    drawn = blueprint.draw(np.random.default_rng(number))
    return Exercise(blueprint, number, drawn.instance, drawn.parameters)


__all__ = ["EXERCISES", "Blueprint", "Exercise", "Grade", "exercise"]
