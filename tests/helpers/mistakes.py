"""Mistakes that implementers of multiple kernel learning make, on specimens of the zoo.

Written without knowledge of the judge: it named 58 of 102 when it was first tried on them.
"""

from __future__ import annotations

import numpy as np

from mklcvx import Instance
from wrong_answers import WrongAnswer, register

MISTAKES: list[WrongAnswer] = []
mistake = register(MISTAKES)


def centred(instance: Instance) -> Instance:
    """The same samples, every kernel centred in its own space."""
    away = np.eye(instance.samples) - 1 / instance.samples
    kernels = away @ instance.kernels @ away
    return instance.with_kernels((kernels + kernels.transpose(0, 2, 1)) / 2)


def of_unit_trace(instance: Instance) -> Instance:
    return instance.with_kernels(instance.kernels / np.trace(instance.kernels, axis1=1, axis2=2)[:, None, None])
