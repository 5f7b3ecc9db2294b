"""The baselines of the papers' tables that are not in the catalogue of formulations, one file each.

All are called as `name(instance, C=...)` and return an object with `decision_function(test_kernels)` and
`predict(test_kernels)`. If a baseline solves a convex problem, the object has its `certificate`, and the file states
the primal and the dual, as for a formulation, and declares both in CVXPY. The bounds do not account for rounding.

    best_single   the kernel whose SVM errs least on held-out samples        y, classes, labels
    adaboost      AdaBoost over the SVMs of single kernels                   y
    lp_beta       a linear program over the SVMs' outputs        certified   y, classes
    mc_mkl        joint multi-class MKL                          certified   y, classes
    ufo           UFO-MKL, and the optimum of its objective      certified   y, classes
    gmkl          priced weights, linear constraints             certified   y, classes, labels (each on its own)
    svm1          `l1` for every label                           certified   y, classes, labels (each on its own)
    knn           nearest neighbours on the average kernel                   y, classes, labels
"""

from __future__ import annotations

from ._model import Baseline
from .adaboost import Committee, adaboost
from .best_single import best_single
from .gmkl import gmkl
from .knn import Neighbours, knn
from .lp_beta import lp_beta
from .mc_mkl import mc_mkl
from .svm1 import svm1
from .ufo import ufo

BASELINES = {one.__name__: one for one in (best_single, adaboost, lp_beta, mc_mkl, ufo, gmkl, svm1, knn)}

__all__ = [
    "BASELINES", "Baseline", "Committee", "Neighbours", "adaboost", "best_single", "gmkl", "knn", "lp_beta", "mc_mkl",
    "svm1", "ufo",
]  # fmt: skip
