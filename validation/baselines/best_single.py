"""best_single — the single kernel whose SVM makes the fewest errors on held-out samples.

    m*     the first least of the held-out errors ε_1..ε_M (for labels: over all decisions)
    f_c    the SVM of kernel m* for label c, on all samples; classes by one against the rest

    recovery   weights = 1 at m*, else 0; multipliers: errors (M,), those of the folds

There is no certificate: the choice is made by counting errors.
"""

from __future__ import annotations

import numpy as np

from ._machines import FOLDS, errors_of, held_out, machines
from ._model import PRICE, Baseline, Instance


def best_single(instance: Instance, C: float = 1.0, folds: int = FOLDS, seed: int = 0) -> Baseline:
    """The kernel whose SVM makes the fewest errors on held-out samples; the first one in case of a tie."""
    price = PRICE.resolve(C, "best_single", instance.count)
    errors = errors_of(instance, held_out(instance, price, folds, seed, "best_single"))
    weights = np.zeros(instance.count)
    weights[int(np.argmin(errors))] = 1.0
    coefficients, biases = machines(instance, price, "best_single", used=weights)
    about = ("best_single", instance.targets, instance.names, {"C": price, "folds": folds, "seed": seed})
    return Baseline(*about, coefficients, biases @ weights, weights, multipliers={"errors": errors})
