"""Base class of the estimators: kernels from features or a stack, certified solutions, attributes of a fitted model."""

from __future__ import annotations

import inspect
import itertools
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from .. import formulations
from ..certificate.solution import Solution
from ..defaults import FORMULATION, NORMALISE, SCALE, SOLVER
from ..errors import InputError, OneClassWarning, ScaleWarning, warn
from ..formulations import Formulation
from ..io.damage import require
from ..io.writing import check_path
from ..problem.checks import check_flags
from ..problem.cross_kernels import CrossKernels
from ..problem.instance import Instance
from ..problem.kernels import Kernel, KernelBank
from ..problem.low_rank import LowRank, Stored
from ..problem.memory import check_stack
from ..problem.numbers import mixes_words
from ..problem.preprocessing import Preprocessing
from ..problem.scales import diagonals
from ..problem.stack import Array
from ..problem.validation import KnownStack, repairs_asked
from ..problem.weights import check_weight_sizes
from ..reports import plot
from ..solvers.solving import prepared, solve
from .columns import Columns, Table
from .inputs import ONE_AT_A_TIME, checks_of_sklearn, gathered, host_array, in_order
from .missing import fault_of
from .saving import SCORES, ModelParts, read_model, restored, written
from .source import KernelSource, is_precomputed, samples_first

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Transforms(Protocol):
    """A transformer whose output is kernels with the samples it was fitted on."""

    def fit(self, X: Array, y: NDArray[Any]) -> Any: ...

    def transform(self, X: Array) -> Array: ...


BankPart: TypeAlias = str | Mapping[str, Any] | Kernel | KernelBank | Callable[[Array, Array], Array] | Transforms
Grouped: TypeAlias = tuple[str, BankPart | Sequence[BankPart]] | tuple[str, BankPart | Sequence[BankPart], Columns]
Bank: TypeAlias = BankPart | Sequence[BankPart | Grouped]  # what the parameter `kernels` may be, see `bank`
ClassWeight: TypeAlias = str | Mapping[Any, float] | None
FLAGS = ("centre", "probability", "compare_average")
LEFT_BY_FITS = ("solutions_", "calibration_", "label_names_", *SCORES)
FEW = 16  # samples whose predictions are compared at a time
ENTRY = re.compile(r"^(\w+) : .+(?:\n .+)*", re.MULTILINE)  # of a docstring: name : type, and the text below
LIST = re.compile(r"^\w+(?:,\s\w+)+$", re.MULTILINE)  # name, name, name


@dataclass(eq=False, repr=False)
class KernelEstimator(BaseEstimator, ABC):
    """The parameters of kernels and solvers, and the attributes of a fitted model.

    Parameters
    ----------
    formulation : str, default="l1"
        Name of the formulation.
    kernels : str, list, dict, callable or transformer, default="gaussians"
        "precomputed" for stacks (n, n, M), samples first, lists of matrices or LowRank; else a bank of kernels, such as
        ["linear", ("size", "gaussian", ["height", "weight"])], see `mklcvx.estimators.bank`.
    groups : array_like of shape (M,), optional
        Group of each kernel, for formulations with groups.
    kernel_names : list of str, optional
        Names of the kernels, in place of those that `kernels` or the views of X give them.
    centre : bool, default=False
        Whether to centre the kernels in feature space, as fitted on the training samples.
    normalise : {"diagonal", "trace", "variance", "cosine"} or None, default="diagonal"
        How to scale the kernels, as fitted on the training samples; "diagonal" makes the mean of k(x, x) 1.
    repair : {"clip", "shift", "symmetrise", "symmetrise,clip"}, optional
        Mend indefinite, or asymmetric, training kernels, which are refused otherwise.
    solver : str, default="auto"
        Name of the solver.
    tol : float, optional
        Relative gap that the certificate must prove. The default is the solver's own tolerance.
    max_iter : int, optional
        Iterations of the solver.
    time_limit : float, optional
        Seconds for each solution.
    solver_options : dict, optional
        Options of the solver.

    Attributes
    ----------
    weights_ : ndarray of shape (M,) or (machines, M)
        Kernel weights.
    scaled_weights_ : ndarray
        Weights μ_m tr K_m divided by their sum, which compare kernels of different size.
    kernel_names_ : ndarray of str
        Names of the kernels.
    named_weights_ : dict
        Weight of each kernel by its name; an array, where there are several machines.
    weights_interval_ : ndarray of shape (M, 2) or (machines, M, 2), or None
        Intervals that are proved to contain the weights of every answer as good.
    solutions_ : tuple of Solution
        One certified solution for each machine.
    certificate_ : Certificate
        The one with the widest gap.
    n_iter_ : int
        Largest number of iterations.
    """

    families: ClassVar[tuple[str, ...]]
    own_parameters: ClassVar[tuple[str, ...]]
    embeds: ClassVar[bool] = False
    _of_one_kernel: ClassVar[Mapping[str, Any]] = {}  # parameters that change where there is one kernel, and no choice
    _semidefinite: ClassVar[Sequence[bool] | None] = None  # which kernels of a stack are, where that is known already

    formulation: str = FORMULATION
    kernels: Bank = "gaussians"
    _: KW_ONLY
    groups: ArrayLike | None = None
    kernel_names: Sequence[str] | None = None
    centre: bool = False
    normalise: str | None = NORMALISE
    repair: str | None = None
    solver: str = SOLVER
    tol: float | None = None
    max_iter: int | None = None
    time_limit: float | None = None
    solver_options: dict[str, Any] | None = None

    def __init_subclass__(cls, **options: Any) -> None:
        """Complete the docstring: a list of names gives way to what the docstrings of the bases say of each name."""
        super().__init_subclass__(**options)
        texts = (inspect.getdoc(base) or "" for base in reversed(cls.__mro__))
        entries = {entry[1]: entry[0] for text in texts for entry in ENTRY.finditer(text)}

        def entries_of(names: re.Match[str]) -> str:
            listed = re.findall(r"\w+", names[0])
            return "\n".join(entries[name] for name in listed) if entries.keys() >= {*listed} else names[0]

        if cls.__doc__:  # there is none with -OO
            cls.__doc__ = LIST.sub(entries_of, inspect.cleandoc(cls.__doc__))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = tags.input_tags.three_d_array = is_precomputed(self.kernels)
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
    def _has_price(self) -> bool:
        """Whether the problem has a price C."""
        return "C" in self.own_parameters

    def _parameters(self) -> dict[str, Any]:
        """The parameters of the formulation for these kernels: C in their unit unless it is a number."""
        given = self._given
        price = given.get("C", SCALE if self._has_price else None)
        return {**given, "C": self._source.unit} if isinstance(price, str) else given

    @property
    def _limits(self) -> dict[str, Any]:
        limits = {name: getattr(self, name) for name in ("solver", "tol", "time_limit", "max_iter")}
        return {**limits, "options": self.solver_options}

    # ------------------------------------------------------------------------------------------------- fitting
    def _checked(self, X: Any, y: Any, sample_weight: Any = None, **wanted: bool) -> tuple[Table, Any, Any]:
        """X, y and weights as arrays; the weights are None where all samples count once. `wanted` says more about y;
        a y of "no_validation" is left alone."""
        check_flags(**{name: getattr(self, name) for name in FLAGS if hasattr(self, name)})
        prepared(self._formulation.name, **self._limits)  # refuse before any work
        X = samples_first(X, self._pairwise)
        price = self._given.get("C")
        if isinstance(price, str) and price != SCALE:
            raise InputError(f"C = {price!r:.40} is unknown: give a number, or {SCALE!r} for the unit of the kernels")
        given, views = gathered(X, self._pairwise)
        if mixes_words(y := host_array(y, "y")):
            raise InputError("y has words and other entries, such as NaN: give one class for every sample")
        arrays = self._validated(given, y, ensure_min_samples=2, **wanted)
        checked, y = arrays if isinstance(arrays, tuple) else (arrays, None)
        if sample_weight is not None:
            sample_weight = host_array(sample_weight, "sample_weight")
            with ONE_AT_A_TIME, checks_of_sklearn():
                if np.iscomplexobj(np.asarray(sample_weight)):
                    raise InputError("sample_weight has complex numbers: give real ones")
                sample_weight = _check_sample_weight(sample_weight, checked, dtype=np.float64, ensure_non_negative=True)
            if not (np.isfinite(sample_weight) & (sample_weight >= 0)).all():  # one number is not looked at above
                raise InputError(f"sample_weight = {sample_weight[0]:g}: give a number that is positive, or one each")
            check_weight_sizes(sample_weight[sample_weight > 0])
        names = getattr(self, "feature_names_in_", None)
        names = None if names is None or len(set(names)) < len(names) else names.tolist()
        given = given if hasattr(given, "columns") else checked
        return Table(checked, given, names, views, isinstance(X, LowRank)), y, sample_weight

    def _validated(self, X: Any, *y: Any, **options: Any) -> Any:
        """X, and y if it is given, as scikit-learn's `validate_data` checks them: always arrays of NumPy. Kernels may
        have single precision, with the rounding errors of their type."""
        kinds = (np.float64, np.float32) if self._pairwise else np.float64
        try:
            with ONE_AT_A_TIME, checks_of_sklearn(), config_context(array_api_dispatch=False):
                return validate_data(self, X, *y, dtype=kinds, allow_nd=self._pairwise, **options)
        except ValueError:
            if fault := fault_of(X, self._pairwise, self.kernel_names):
                raise InputError(fault) from None
            raise

    def _sourced(self, table: Table, y: Any, weight: Array | None) -> tuple[KnownStack, NDArray[np.intp]]:
        """The training kernels and the indices of their samples. Stores their source for prediction."""
        steps = Preprocessing.from_options(self.centre, self.normalise)
        given = (self.kernels, table, y, weight, steps, self.kernel_names, self._semidefinite)
        self._source, kernels = KernelSource.fit(*given, symmetrise="symmetrise" in repairs_asked(self.repair))
        return kernels, self._source.kept

    def _instance(self, kernels: KnownStack, **given: Any) -> Instance:
        return Instance(kernels, **{"names": self._source.names, "groups": self.groups, "repair": self.repair, **given})

    def _solved(self, instance: Instance) -> Solution:
        return solve(instance, self._formulation.name, **self._limits, **self._parameters())

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
    def _score_name(self) -> str:
        """What `score` computes."""
        return "accuracy"

    @property
    def _machine_names(self) -> list[str]:
        """A name for each row of `weights_`."""
        return ["all"]

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "solutions_")

    @contextmanager
    def _refitted(self) -> Iterator[None]:
        """A fit. One that does not arrive at its end, be it by a fault or an interrupt of the solve or of what follows,
        such as a warning or a calibration, leaves the model unfitted."""
        self._forget()
        try:
            yield
        except BaseException:
            self._forget()
            raise

    def _forget(self) -> None:
        """Drop what a fit has left: one that fails must not leave its kernels with the former solutions."""
        for name in LEFT_BY_FITS:
            self.__dict__.pop(name, None)

    def _fit(self, X: Any, y: Any, *sample_weight: Any) -> Self:
        """Solve one problem; `fit` calls it."""
        with self._refitted():
            problem = self._problem(X, y, *sample_weight)
            self._settle([self._solved(problem)], traces_of(problem.kernels, self._source.weight))
            self._warn(problem.kernels)
        return self

    @abstractmethod
    def _problem(self, X: Any, y: Any, sample_weight: Any = None) -> Instance:
        """The one instance for these data. Stores what prediction needs."""

    def _warn(self, kernels: Stored) -> None:
        """Warn if solutions are not certified, if no kernel gets weight, of a single class, and of unlike sizes."""
        missed = [solution for solution in self.solutions_ if not solution.certified]
        if missed:
            worst, count = max(missed, key=_relative_gap), len(self.solutions_)
            share = "" if count == 1 else f"{len(missed)} of {count} machines; the worst: "
            warn(f"{share}{worst.message}", ConvergenceWarning)
        if any(not solution.weights.any() for solution in self.solutions_):
            warn("no kernel gets weight, and the decision function is constant: choose other kernels")
        elif (only := self._only_class(kernels)) is not None:
            warn(self._of_one_class(only), OneClassWarning)
        self._warn_of_sizes()

    def _warn_of_sizes(self) -> None:
        if self._source.unlike:
            warn(f"{self._source.unlike}, and nothing scales them: set normalise={NORMALISE!r}", ScaleWarning)

    def _decided(self, kernels: CrossKernels) -> NDArray[Any] | None:
        """The classes predicted for test kernels; None where there are none."""
        return None

    def _only_class(self, kernels: Stored) -> Any:
        """The class that is predicted for all training samples, if there is such a one. A few samples at a time: two
        that differ are soon found, as a rule."""
        order, only = np.random.default_rng(0).permutation(kernels.shape[1]), None
        for start in range(0, len(order), FEW):
            classes = self._decided(CrossKernels.among(kernels, order[start : start + FEW]))
            if classes is None or (classes != (only := classes[0] if only is None else only)).any():
                return None
        return only

    def _of_one_class(self, only: Any) -> str:
        price, unit = self.solutions_[0].parameters.get("C"), self._source.unit
        remedy = "choose another nu or other kernels"
        if price is not None and price < unit:
            remedy = f"raise C = {price:g} (C='scale' would be {unit:g})"
        elif price is not None:
            remedy = f"raise C = {price:g}, or choose other kernels"
        return f"all training samples are predicted as class {only!s:.40}: {remedy}, or set class_weight='balanced'"

    # ---------------------------------------------------------------------------------------------- prediction
    def _new(self, X: Any) -> Array:
        """New samples, checked, as `KernelSource` takes them."""
        source = self._source
        if self._pairwise:
            source.check_factored(isinstance(X, LowRank))
        X = samples_first(X, self._pairwise, (self.n_features_in_, len(source.names)))
        given, views = gathered(X, self._pairwise, self.n_features_in_)
        given = in_order(given, views, source.views) if views else given
        return np.asarray(self._validated(given, reset=False))

    def _evaluated(self, X: Any, evaluate: Callable[[CrossKernels], NDArray[Any]], matrices: int = 0) -> Any:
        """What a function makes of the kernels of new samples, a few samples at a time; `matrices` (t, n) of them."""
        check_is_fitted(self)
        samples = self._new(X)
        check_stack(matrices, len(samples), len(self._source.kept))
        return np.concatenate([evaluate(kernels) for kernels in self._source.blocks(samples)])

    @property
    def _pairwise(self) -> bool:
        return bool(self.__sklearn_tags__().input_tags.pairwise)

    # ------------------------------------------------------------------------------------------------- the rest
    @property
    def named_weights_(self) -> dict[str, Any]:
        """The weight of each kernel by its name; an array where there are several machines.

        Of kernels with the same name the second is called "name (2)", unless another one is called so.
        """
        check_is_fitted(self)
        weights: dict[str, Any] = {}
        taken = {*self.kernel_names_.tolist()}
        for name, weight in zip(self.kernel_names_.tolist(), self.weights_.T, strict=True):
            others = (f"{name} ({number})" for number in itertools.count(2))
            free = name if name not in weights else next(other for other in others if other not in taken)
            taken.add(free)
            weights[free] = weight if weight.ndim else float(weight)
        return weights

    @property
    def weights_interval_(self) -> Array | None:
        """Proved intervals of the weights, (M, 2) or (machines, M, 2), as in `Solution.weights_interval`.

        They contain the weights of every answer as good as the one found; None where the formulation has none.
        """
        check_is_fitted(self)
        intervals = [interval for s in self.solutions_ if (interval := s.weights_interval()) is not None]
        if len(intervals) < len(self.solutions_):
            return None
        return np.asarray(intervals[0] if self.weights_.ndim == 1 else np.stack(intervals))

    def plot_weights(self, ax: Axes | None = None, scaled: bool = True) -> Axes:
        """Draw a bar for each kernel; where there are several machines, a heat map with one row for each.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw.
        scaled : bool, default=True
            Whether to draw `scaled_weights_` instead of `weights_`, which have lines for `weights_interval_`.

        Returns
        -------
        matplotlib Axes
            Where it was drawn.
        """
        check_is_fitted(self)
        weights, names = self.scaled_weights_ if scaled else self.weights_, list(self.kernel_names_)
        if weights.ndim == 2:
            return plot.classes(weights, names, self._machine_names, ax)
        return plot.weights(weights, names, ax, interval=None if scaled else self.weights_interval_)

    def save(self, path: str | Path) -> None:
        """Write the fitted model to a file, without pickle. For a pipeline that ends in it: `mklcvx.save_model`.

        Parameters
        ----------
        path : str or Path
            File `.npz`.
        """
        check_path(path, "model.save('model.npz')")
        written(path, self)

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
        if parts.estimator != cls.__name__ or parts.is_pipeline:
            kind = f"a pipeline with a {parts.estimator}" if parts.is_pipeline else f"a {parts.estimator}"
            raise InputError(f"model {path}: is {kind}, not a {cls.__name__}: use mklcvx.load_model")
        model: Self = restored(path, parts, {cls.__name__: cls})
        return model

    def _restore(self, parts: ModelParts) -> None:
        """Restore the fitted model from the parts of a file; refuse parts that do not fit together."""
        source, solutions = parts.source, parts.solutions
        fits = all(s.formulation == self._formulation.name and s.embeds == self.embeds for s in solutions)
        require(fits, "formulation and solutions do not fit together")
        steps = () if source.steps is None else source.steps.steps
        asked = Preprocessing.from_options(self.centre, self.normalise).steps
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
        for name, scores in parts.scores().items():
            setattr(self, name, scores)


@dataclass(eq=False, repr=False)
class KernelCombiner(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelEstimator):
    """An estimator whose weights make one kernel of many, for an estimator with a precomputed kernel after it."""

    def transform(self, X: ArrayLike) -> Array:
        """Evaluate the learned combination Σ_m weight_m k_m, for estimators with a precomputed kernel.

        Parameters
        ----------
        X : array_like of shape (t, d) or (t, n, M), DataFrame, LowRank, Views, or list or dict of arrays
            Features, or kernels with the training samples.

        Returns
        -------
        ndarray of shape (t, n)
            The kernel between these samples and the training samples; weights are the mean over machines.
        """
        check_is_fitted(self)
        weights = np.atleast_2d(self.weights_).mean(axis=0)
        if np.isnan(weights).any():
            name = self.kernel_names_[np.isnan(weights)][0]
            raise InputError(f"transform: the weight of kernel {name} is undefined: use a formulation such as l1")
        return np.asarray(self._evaluated(X, lambda kernels: kernels.combined(weights), matrices=1))

    @property
    def _n_features_out(self) -> int:
        return len(self._source.kept)


def _relative_gap(solution: Solution) -> float:
    return solution.certificate.relative_gap


def traces_of(kernels: Stored, weight: Array | None, parts: Sequence[Any] = (slice(None),)) -> Array:
    """Weighted traces of the kernels on some of the samples, one row for each part of the samples."""
    counted = diagonals(kernels) * (1.0 if weight is None else weight)
    return np.stack([counted[:, part].sum(axis=1) for part in parts])
