"""Small instances on which parameters are tried without solving anything."""

import re
from fractions import Fraction

import numpy as np

from mklcvx import Instance, formulations

RNG = np.random.default_rng(3)
N, M = 6, 4
Y = np.array([1, 1, 1, -1, -1, -1])
FEATURES = RNG.normal(size=(M, N, 2)) + 0.5 * Y[:, None]
K = FEATURES @ FEATURES.transpose(0, 2, 1) + 0.5 * np.eye(N)
INSTANCE = Instance(K, Y, groups=[0, 0, 1, 1])
ONE = Instance(K[:1], Y, groups=[0])
LABELS = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 1, 1], [0, 0, 1], [0, 0, 0]])
LABELLED = Instance(K, labels=LABELS, label_names=["red", "green", "blue"])
NAMES = [formulation.name for formulation in formulations.FORMULATIONS]
SINGLE_TASKS = [formulation.name for formulation in formulations.SINGLE_TASKS]
FAMILIES = sorted(set(NAMES) - set(SINGLE_TASKS))


def resolved(name, instance=INSTANCE, **given):
    """Every parameter's value, without solving anything."""
    return formulations.get(name).task(instance, given)[1]


def instance_for(name):
    return ONE if name == "svm" else INSTANCE


def check_printed(parameter, defaults=True):
    """Limits and default are those that are printed, such as 0 < ν ≤ 1, and 1/2."""
    limits = parameter.limits.partition(",")[0].replace("≤", "<=").replace("≥", ">=")
    tiny, ends = 5e-324, [np.nextafter(end, side) for end in (1.0, 2.0) for side in (0.0, end, 3.0)]
    for value in (-1.0, -tiny, 0.0, tiny, 0.3, *map(float, ends), 3.0):
        assert parameter.accepts(value, 2) == eval(re.sub(r"[^\W\d]\w*", str(value), limits, count=1))
    assert not defaults or parameter.default(2) == float(Fraction(parameter.default_text))
