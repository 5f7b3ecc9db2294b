"""Exercises with a seed: a problem for every seed, and answers that are graded by `verify`.

    from mklcvx.exercises import exercise
    mine = exercise("svm-dual", seed=7)
    print(mine.question)                       # the instance is mine.instance
    print(mine.grade(alpha=…, objective=…))

Every seed draws another instance. Answers are compared with a certified optimum, never with a stored answer.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..problem.checks import check_name
from ..problem.numbers import check_whole
from ._exercise import Blueprint, Exercise, Grade
from .certificates import CERTIFIED_PAIR
from .cutting_planes import CUTTING_PLANES
from .groups_of_kernels import COMPOSITE
from .kernel_weights import KERNEL_WEIGHTS
from .labels_as_edges import STAR_EXPANSION
from .many_labels import WORST_CLASS
from .norms import EVERY_KERNEL
from .one_kernel import SVM_BIAS, SVM_DUAL
from .pairs_of_samples import K_SPACE
from .smoothing import SMOOTHED_MAXIMUM
from .soft_margins import SOFT_KERNELS, SOFT_KERNELS_SQUARED
from .two_kernels import TWO_KERNELS

EXERCISES: tuple[Blueprint, ...] = (
    SVM_DUAL, SVM_BIAS, TWO_KERNELS, KERNEL_WEIGHTS, EVERY_KERNEL, SOFT_KERNELS, SOFT_KERNELS_SQUARED, CUTTING_PLANES,
    SMOOTHED_MAXIMUM, WORST_CLASS, K_SPACE, STAR_EXPANSION, CERTIFIED_PAIR, COMPOSITE,
)  # fmt: skip
_BY_NAME = {blueprint.name: blueprint for blueprint in EXERCISES}


def exercise(name: str, seed: Any = 0) -> Exercise:
    """The variant of an exercise for a seed, an integer ≥ 0."""
    check_name("exercise", name, _BY_NAME)
    check_whole(0, seed=seed)
    blueprint = _BY_NAME[name]
    return Exercise(blueprint, int(seed), *blueprint.draw(np.random.default_rng(int(seed))))


__all__ = ["EXERCISES", "Blueprint", "Exercise", "Grade", "exercise"]
