"""Base class of the estimators: kernels from features or a stack, certified solutions, attributes of a fitted model."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from .. import formulations
from ..certificate.solution import Solution
from ..defaults import FORMULATION, SOLVER
from ..errors import InputError
from ..formulations import Formulation
from ..problem.instance import Instance, check_weight_sizes
from ..problem.kernels import Kernel, KernelBank
from ..problem.low_rank import Stored, dense
from ..problem.preprocessing import Preprocessing
from ..problem.stack import Array
from ..reports import plot
from ..solvers.solving import prepared, solve
from .saving import ModelParts, read_model, require, restored, save_model
from .source import PRECOMPUTED, KernelSource

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Transforms(Protocol):
    """A transformer whose output is kernels with the samples it was fitted on."""

    def fit(self, X: Array, y: NDArray[Any]) -> Any: ...

    def transform(self, X: Array) -> Array: ...


BankPart: TypeAlias = str | Mapping[str, Any] | Kernel | KernelBank | Callable[[Array, Array], Array] | Transforms
Bank: TypeAlias = BankPart | Sequence[BankPart]  # what the parameter `kernels` may be, see `bank`
ClassWeight: TypeAlias = str | Mapping[Any, float] | None


@dataclass(eq=False, repr=False)
class KernelEstimator(BaseEstimator, ABC):
    """The parameters of kernels and solvers, and the attributes of a fitted model.

    Attributes: `weights_` (M,), or one row for every machine; `kernel_names_`; `scaled_weights_`, μ_m tr K_m divided by
    their sum, which compares kernels of different size; `solutions_`, one certified `Solution` for every machine;
    `certificate_`, the one with the widest gap; `n_iter_`, the largest number of iterations.
    """

    families: ClassVar[tuple[str, ...]]
    own_parameters: ClassVar[tuple[str, ...]]
    embeds: ClassVar[bool] = False
    _of_one_kernel: ClassVar[Mapping[str, Any]] = {}  # parameters that change where there is one kernel, and no choice

    formulation: str = FORMULATION
    kernels: Bank = "gaussians"
    _: KW_ONLY
    groups: ArrayLike | None = None
    centre: bool = False
    normalise: str | None = None
    repair: str | None = None
    solver: str = SOLVER
    tol: float | None = None
    max_iter: int | None = None
    time_limit: float | None = None
    solver_options: dict[str, Any] | None = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        precomputed = isinstance(self.kernels, str) and self.kernels == PRECOMPUTED
        tags.input_tags.pairwise = tags.input_tags.three_d_array = precomputed
        return tags

    @property
    def _formulation(self) -> Formulation:
        chosen = formulations.get(self.formulation)
        if chosen.family not in self.families:
            fitting = ", ".join(f.name for f in formulations.FORMULATIONS if f.family in self.families)
            raise InputError(f"{type(self).__name__} does not serve formulation {chosen.name}: choose one of {fitting}")
        return chosen

    @property
    def _given(self) -> dict[str, Any]:
        """The parameters of the formulation that are not None."""
        return {name: getattr(self, name) for name in self.own_parameters if getattr(self, name) is not None}

    @property
    def _limits(self) -> dict[str, Any]:
        return {"solver": self.solver, "tol": self.tol, "time_limit": self.time_limit, "max_iter": self.max_iter}

    # ------------------------------------------------------------------------------------------------- fitting
    def _checked(self, X: Any, y: Any, sample_weight: Any = None, **wanted: bool) -> tuple[Array, Any, Any]:
        """X, y and weights as arrays; the weights are None where all samples count once. `wanted` says more about y;
        a y of "no_validation" is left alone."""
        prepared(self._formulation.name, **self._limits, options=self.solver_options)  # refuse before any work
        found = validate_data(self, X, y, ensure_min_samples=2, **self._accepts, **wanted)
        X, y = found if isinstance(found, tuple) else (found, None)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
            check_weight_sizes(sample_weight[sample_weight > 0])
        return X, y, sample_weight

    def _sourced(self, X: Array, y: Any, weight: Array | None) -> tuple[Array, NDArray[np.intp]]:
        """The training kernels and the indices of their samples. Stores their source for prediction."""
        self._source, kernels = KernelSource.fit(self.kernels, X, y, weight, bool(self.centre), self.normalise)
        return kernels, self._source.kept

    def _instance(self, kernels: Array, **given: Any) -> Instance:
        return Instance(kernels, **{"names": self._source.names, "groups": self.groups, "repair": self.repair, **given})

    def _solved(self, instance: Instance) -> Solution:
        return solve(instance, self._formulation.name, **self._limits, options=self.solver_options, **self._given)

    def _settle(self, solutions: Sequence[Solution], traces: Array) -> None:
        """Set the attributes of a fitted model; `traces` are tr K_m, one row for each solution."""
        self._fitted = self.get_params(deep=False)  # later changes of parameters belong to the next fit
        self.solutions_ = tuple(solutions)
        self.kernel_names_ = np.array(self._source.names)
        weights = np.stack([solution.weights for solution in solutions])
        scaled = weights * traces
        sums = np.nansum(scaled, axis=1, keepdims=True)
        scaled = np.divide(scaled, sums, out=np.zeros_like(scaled), where=sums > 0)
        alone = len(solutions) == 1
        self.weights_: Array = weights[0] if alone else weights
        self.scaled_weights_: Array = scaled[0] if alone else scaled
        self.certificate_ = max(solutions, key=_relative_gap).certificate
        self.n_iter_ = max(1, *(solution.iterations for solution in solutions))

    @property
    def _machine_names(self) -> list[str]:
        """A name for each row of `weights_`."""
        return ["all"]

    def _fit(self, X: Any, y: Any, *sample_weight: Any) -> Self:
        """Solve one problem; `fit` calls it."""
        problem = self._problem(X, y, *sample_weight)
        self._settle([self._solved(problem)], traces_of(problem.kernels, self._source.weight))
        self._warn(stacklevel=4)
        return self

    @abstractmethod
    def _problem(self, X: Any, y: Any, sample_weight: Any = None) -> Instance:
        """The one instance for these data. Stores what prediction needs."""

    def _warn(self, stacklevel: int = 3) -> None:
        """Warn if solutions are not certified, with the widest gap, or if no kernel gets weight."""
        missed = [solution for solution in self.solutions_ if not solution.certified]
        if missed:
            worst, count = max(missed, key=_relative_gap), len(self.solutions_)
            share = "" if count == 1 else f"{len(missed)} of {count} machines; the worst: "
            warnings.warn(f"{share}{worst.message}", ConvergenceWarning, stacklevel=stacklevel)
        if any(not solution.weights.any() for solution in self.solutions_):
            text = "no kernel gets weight, and the decision function is constant: choose other kernels"
            warnings.warn(text, UserWarning, stacklevel=stacklevel)

    # ---------------------------------------------------------------------------------------------- prediction
    def _test_kernels(self, X: Any) -> Array:
        check_is_fitted(self)
        return self._source.test(validate_data(self, X, reset=False, **self._accepts))

    @property
    def _pairwise(self) -> bool:
        return bool(self.__sklearn_tags__().input_tags.pairwise)

    @property
    def _accepts(self) -> dict[str, Any]:
        """Options of `validate_data`. Kernels may have single precision, with the rounding errors of their type."""
        return {"dtype": (np.float64, np.float32) if self._pairwise else np.float64, "allow_nd": self._pairwise}

    # ------------------------------------------------------------------------------------------------- the rest
    def plot_weights(self, ax: Axes | None = None, scaled: bool = True) -> Axes:
        """Draw a bar for each kernel; where there are several machines, a heat map with one row for each.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw.
        scaled : bool, default=True
            Whether to draw `scaled_weights_` instead of `weights_`.

        Returns
        -------
        matplotlib Axes
            Where it was drawn.
        """
        check_is_fitted(self)
        weights = self.scaled_weights_ if scaled else self.weights_
        names, several = list(self.kernel_names_), weights.ndim == 2
        axes: Axes = (
            plot.classes(weights, names, self._machine_names, ax) if several else plot.weights(weights, names, ax)
        )
        return axes

    def save(self, path: str | Path) -> None:
        """Write the fitted model to a file, without pickle.

        Parameters
        ----------
        path : str or Path
            File `.npz`.
        """
        save_model(path, self)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a model that `save` wrote.

        Parameters
        ----------
        path : str or Path
            File `.npz`.

        Returns
        -------
        object
            The fitted estimator.

        Raises
        ------
        InputError
            If the file cannot be read, or holds another estimator.
        """
        parts = read_model(path)
        if parts.estimator != cls.__name__:
            raise InputError(f"model {path}: is a {parts.estimator}, not a {cls.__name__}: use mklcvx.load_model")
        model: Self = restored(path, parts, {cls.__name__: cls})
        return model

    def _restore(self, parts: ModelParts) -> None:
        """Restore the fitted model from the parts of a file; refuse parts that do not fit together."""
        source, solutions = parts.source, parts.solutions
        fits = all(s.formulation == self._formulation.name and s.embeds == self.embeds for s in solutions)
        require(fits, "formulation and solutions do not fit together")
        steps = () if source.steps is None else source.steps.steps
        asked = Preprocessing.from_options(bool(self.centre), self.normalise).steps
        require(len(steps) == len(asked), "preprocessing and parameters do not fit together")
        self._source = source
        self.n_features_in_ = parts.record["features"]
        names = parts.arrays.get("feature_names_in_")
        if names is not None:
            fits = names.dtype.kind == "U" and names.shape == (self.n_features_in_,)
            require(fits, "the names of the features do not fit together")
            self.feature_names_in_ = names.astype(object)
        self._settle(solutions, np.ones((len(solutions), len(source.names))))
        self.scaled_weights_ = parts.scaled.reshape(np.shape(self.weights_))


@dataclass(eq=False, repr=False)
class KernelCombiner(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelEstimator):
    """An estimator whose weights make one kernel of many, for an estimator with a precomputed kernel after it."""

    def transform(self, X: ArrayLike) -> Array:
        """Evaluate the learned combination Σ_m weight_m k_m, for estimators with a precomputed kernel.

        Parameters
        ----------
        X : array_like of shape (t, d) or (t, n, M)
            Features, or kernels with the training samples.

        Returns
        -------
        ndarray of shape (t, n)
            The kernel between these samples and the training samples; weights are the mean over machines.
        """
        stack = self._test_kernels(X)
        weights = np.atleast_2d(self.weights_).mean(axis=0)
        if np.isnan(weights).any():
            name = self.kernel_names_[np.isnan(weights)][0]
            raise InputError(f"transform: the weight of kernel {name} is undefined: use a formulation such as l1")
        return np.asarray(np.tensordot(weights, stack, axes=1))

    @property
    def _n_features_out(self) -> int:
        return len(self._source.kept)


def _relative_gap(solution: Solution) -> float:
    return solution.certificate.relative_gap


def traces_of(kernels: Stored, weight: Array | None, parts: Sequence[Any] = (slice(None),)) -> Array:
    """Weighted traces of the kernels on some of the samples, one row for each part of the samples."""
    counted = np.einsum("mii->mi", dense(kernels)) * (1.0 if weight is None else weight)
    return np.stack([counted[:, part].sum(axis=1) for part in parts])
