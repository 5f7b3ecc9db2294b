"""What the tests share: parameters for every formulation, kinds of instance, named tolerances."""

from dataclasses import dataclass

import numpy as np

from mklcvx import Instance, zoo
from mklcvx.formulations import SINGLE_TASKS


@dataclass(frozen=True)
class Tolerance:
    """Relative to the certificate's scale."""

    certificate: float  # what `clarabel` must prove
    value: float  # how far a conic solver's own value may lie outside the certificate


ORDINARY = Tolerance(certificate=1e-8, value=2e-7)
HARD = Tolerance(certificate=1e-7, value=2e-5)  # sizes that differ by 1e9

NAMES = [formulation.name for formulation in SINGLE_TASKS]
LOSSES = [(f.name, loss) for f in SINGLE_TASKS for loss in f.losses]

GROUPS = np.array([0, 0, 1, 2])

# Own parameters for four kernels, each set exercising another branch.
OWN: dict[str, list[dict]] = {
    "sm1": [{"theta": 0.3}, {"theta": 0.5}, {"theta": 0.25}, {"theta": 2.0}],
    "sm2": [{"theta": 0.7}, {"theta": 25.0}],
    "smp": [{"theta": 0.7, "p": 1.5}, {"theta": 3.0, "p": 3.0}],
    "square": [{"theta": 0.7}],
    "lp": [{"p": 1.5}, {"p": 4.0}, {"p": 1.0}],
    "elastic": [{"l1_ratio": 0.3}, {"l1_ratio": 0.0}, {"l1_ratio": 1.0}, {"l1_ratio": 0.9}],
    "block_elastic": [{"l1_ratio": 0.3}, {"l1_ratio": 0.0}, {"l1_ratio": 1.0}, {"l1_ratio": 0.9}],
    "group_lasso": [{"lam": 0.7}, {"lam": 5.0}],
    "ckl": [{"groups": GROUPS}],
    "vskl": [{"groups": GROUPS, "s": 3.0}, {"groups": GROUPS, "s": 2.0}],
}


def own_parameters(name: str) -> list[dict]:
    return OWN.get(name, [{}])


def kernel_count(name: str) -> int:
    return 1 if name == "svm" else 4


def on_grid(instance: Instance, bits: int = 12) -> Instance:
    """Kernels of rank one whose entries are exact products: semidefinite as they are stored."""
    columns = [np.round(kernel[:, 0] / np.sqrt(kernel[0, 0]) * 2**bits) / 2**bits for kernel in instance.kernels]
    return instance.with_kernels(np.stack([np.outer(column, column) for column in columns]))


KINDS = {
    "balanced": lambda: zoo.random(24, 4, seed=1),
    "imbalanced": lambda: zoo.imbalanced(30, 4, seed=2),
    "duplicated": lambda: zoo.duplicated(20, 4, seed=3),
    "rank one": lambda: on_grid(zoo.rank_one(24, 4, seed=4)),
    "sizes differ by 1e9": lambda: zoo.badly_scaled(24, 4, seed=5),
    "n = 2": lambda: zoo.tiny(2, 4, seed=6),
    "n = 3": lambda: zoo.tiny(3, 4, seed=7),
    "n = 4": lambda: zoo.tiny(4, 4, seed=8),
    "n = 5": lambda: zoo.tiny(5, 4, seed=9),
}
TOLERANCES = {"sizes differ by 1e9": HARD}


def instance_for(name: str, kind: str) -> Instance:
    instance = KINDS[kind]()
    return instance.select([0]) if name == "svm" else instance


def given_for(instance: Instance, loss: str) -> dict[str, float]:
    if loss == "c":
        return {"C": 2.0}
    smaller = min((instance.y > 0).sum(), (instance.y < 0).sum())
    return {"nu": 1.4 * smaller / instance.samples}
