"""What the estimators of a single task share: parameters of regularisers, and the losses that fit their targets.

    MKLClassifier   labels: hinge, nu, squared_hinge, smoothed_hinge, logistic; all classes: crammer_singer, softmax
    MKLRegressor    real targets: squared, epsilon_insensitive, absolute, squared_epsilon_insensitive, huber, quantile,
                    nu_svr; counts: poisson
    OneClassMKL     no targets: one_class

A loss of other targets is refused, and the refusal names those that fit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from ..certificate.solution import decision_values
from ..defaults import SOLVER
from ..errors import InputError, nearest
from ..formulations.losses import ALL, AnyLoss
from .base import Array, KernelCombiner


@dataclass(eq=False, repr=False)
class SingleTaskEstimator(KernelCombiner):
    """`targets` are the kinds that the losses of the estimator take; the first such loss is the default.

    Parameters
    ----------
    theta : float, optional
        Price of the kernels' slacks.
    p : float, optional
        Exponent of `lp` and `smp`.
    l1_ratio : float, optional
        Ratio of the elastic net, for `elastic` and `block_elastic`.
    lam : float, optional
        Price of the norms, for `group_lasso`.
    s : float, optional
        Exponent between groups, for `vskl`.
    """

    families = ("single task",)
    targets: ClassVar[tuple[str, ...]]
    of_regularisers: ClassVar[tuple[str, ...]] = ("theta", "p", "l1_ratio", "lam", "s")
    _of_one_kernel: ClassVar[Mapping[str, Any]] = {
        "formulation": "svm", "groups": None, "solver": SOLVER, "solver_options": None, "max_iter": None,
        **dict.fromkeys(of_regularisers),
    }  # fmt: skip

    _: KW_ONLY
    theta: float | None = None
    p: float | None = None
    l1_ratio: float | None = None
    lam: float | None = None
    s: float | None = None

    @property
    def _loss(self) -> AnyLoss:
        """The loss, without its parameters. One that other targets have is refused."""
        fitting = {loss.name: loss for loss in ALL if loss.targets in self.targets}
        if (name := getattr(self, "loss", None)) is None:
            return next(iter(fitting.values()))
        if not isinstance(name, str) or name not in fitting:
            raise InputError(f"{type(self).__name__} has no loss {name!r:.40}: {nearest(str(name)[:40], fitting)}")
        return fitting[name]

    @property
    def _has_price(self) -> bool:
        return super()._has_price and not self._loss.free_margin


@dataclass(eq=False, repr=False)
class OneMachine(SingleTaskEstimator):
    """An estimator of one function f + b, which may have several outputs.

    Attributes
    ----------
    weights_ : ndarray of shape (M,)
        Kernel weights.
    solutions_ : tuple of Solution
        The certified solution.
    certificate_ : Certificate
        Its certificate.
    n_iter_ : int
        Number of iterations.
    """

    @property
    def dual_coef_(self) -> Array:
        """Coefficients β of f = Σ_m weight_m Σ_i β_i k_m(x_i, ·), (n,) or (n, k) for k outputs."""
        check_is_fitted(self)
        (solution,) = self.solutions_
        assert solution.alpha is not None, "every formulation of a single task has α"
        return np.asarray((solution.alpha * solution.y).T)

    def _outputs(self, X: ArrayLike) -> Array:
        """f + b."""
        return np.asarray(self._evaluated(X, lambda kernels: decision_values(self.solutions_, kernels)[0]))

    def _single(self, target: str) -> bool:
        """Whether there is one solution, of these targets."""
        return len(self.solutions_) == 1 and self.solutions_[0].target == target
