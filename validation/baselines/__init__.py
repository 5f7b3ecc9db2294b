"""The baselines of the papers' tables that the package does not solve itself, one file each.

All are called as `name(instance, ...)` and return an object with `decision_function(test_kernels)` and
`predict(test_kernels)`. LP-β is convex: its object has a `certificate`, and its file states the primal and the dual, as
for a formulation. Its bounds do not account for rounding.

    adaboost      AdaBoost over the SVMs of single kernels                   y
    lp_beta       a linear program over the SVMs' outputs        certified   y, classes
    knn           nearest neighbours on the average kernel                   y, classes, labels

Joint multi-class MKL (Zien & Ong 2007) is `l1` with the loss `crammer_singer`.
"""

from __future__ import annotations

from .adaboost import Committee, adaboost
from .knn import Neighbours, knn
from .lp_beta import lp_beta

__all__ = ["Committee", "Neighbours", "adaboost", "knn", "lp_beta"]
