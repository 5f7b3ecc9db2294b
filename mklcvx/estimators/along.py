"""`mkl_path`: certified optima along a grid of parameters, each solver run warm-started from the previous one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike
from sklearn.utils.validation import has_fit_parameter

from .. import formulations
from ..certificate.machines import Machines
from ..certificate.solution import Solution
from ..defaults import FORMULATION
from ..errors import InputError
from ..formulations.losses import KNOWN
from ..problem.checks import check_type
from ..solvers.one_against import each_by_machines, needs_machines
from ..solvers.paths import RegularizationPath, collected, combinations, each
from .base import KernelEstimator
from .classifier import MKLClassifier
from .embedding import HypergraphEmbedding
from .joint import MultiLabelMKL, TwoStageMKL
from .one_class import OneClassMKL
from .regressor import MKLRegressor
from .single import SingleTaskEstimator

SINGLE: tuple[type[SingleTaskEstimator], ...] = (MKLClassifier, MKLRegressor, OneClassMKL)
ESTIMATORS: tuple[type[KernelEstimator], ...] = (*SINGLE, MultiLabelMKL, TwoStageMKL, HypergraphEmbedding)


def mkl_path(
    X: ArrayLike, y: ArrayLike | None, grid: Mapping[str, Sequence[Any]], *, formulation: str = FORMULATION,
    sample_weight: ArrayLike | None = None,
    **parameters: Any,
) -> RegularizationPath:  # fmt: skip
    """Solve a formulation for features or kernels along a grid of parameters.

    The solutions take raw test kernels (M, t, n), centred and scaled as the training kernels were. With more than two
    classes every point has the machines of `multi_class`, and their answers under one roof (`Machines`).

    Parameters
    ----------
    X : array_like of shape (n, d) or (n, n, M)
        Features, or a stack of kernels, samples first.
    y : array_like of shape (n,) or (n, k), or None
        Class of each sample, or label sets; targets for a loss of regression; None for loss "one_class".
    grid : dict
        Values of each parameter that varies, for example {"C": [0.1, 1, 10]}.
    formulation : str, default="l1"
        Name of the formulation.
    sample_weight : array_like of shape (n,), optional
        Weights of the samples.
    **parameters : dict
        Parameters of the formulation's estimator: kernels, centre, normalise, class_weight, theta and so on. `loss`
        chooses between MKLClassifier, the default, MKLRegressor and OneClassMKL.

    Returns
    -------
    RegularizationPath
        One certified solution for each point.

    Raises
    ------
    InputError
        If an argument cannot be used.
    KeyboardInterrupt
        At Ctrl-C. Its `solution` is the path of the points that were finished.

    See Also
    --------
    solve_path : The same for an instance.

    Examples
    --------
    >>> import mklcvx
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> mklcvx.mkl_path(X[:120:3], y[:120:3], {"C": [0.1, 1.0]}).weights.shape
    (2, 7)
    """
    check_type(Mapping, "a dict such as {'C': [0.1, 1, 10]}", grid=grid)
    family = formulations.get(formulation).family
    fitting = [estimator for estimator in ESTIMATORS if family in estimator.families]
    if not fitting:
        raise InputError(f"mkl_path does not cover {family}: call mklcvx.solve for every parameter")
    loss = KNOWN.get(str(parameters.get("loss", next(iter(grid.get("loss", ())), None))))
    chosen = next((kind for kind in SINGLE if loss is not None and loss.targets in kind.targets), fitting[0])
    if loss is not None and chosen is OneClassMKL:
        parameters = {name: value for name, value in parameters.items() if name != "loss"}
    known = chosen(formulation=formulation).get_params()
    unknown = next((name for name in parameters if name not in known), None)
    if unknown is not None:
        raise InputError(f"mkl_path: unknown parameter {unknown!r}: those of {chosen.__name__} are {', '.join(known)}")
    model = chosen(formulation=formulation, **parameters)
    given = () if sample_weight is None else (sample_weight,)
    if given and not has_fit_parameter(model, "sample_weight"):
        raise InputError(f"mkl_path: {formulation} has no place for sample weights: leave sample_weight out")
    if "nu" in grid and isinstance(model, MKLClassifier):
        model.set_params(nu=1.0)  # the weights of the ν-form are 1 on average
    problem = model._problem(X, y, *given)
    model._warn_of_sizes()
    points = combinations(grid, {name: value for name, value in model._given.items() if name in parameters})
    posed = [_settings(model, point) for point in points]
    limits = {**model._limits, "preprocessing": model._source.steps}
    solutions: Iterator[Solution | Machines]
    if isinstance(model, MKLClassifier) and needs_machines(problem, formulation, posed):
        solutions = each_by_machines(problem, formulation, posed, model.multi_class, **limits)
    else:
        solutions = each(problem, formulation, posed, **limits)
    return collected(points, solutions)


def _settings(model: KernelEstimator, point: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters at a point, which may have a loss with a price C, or one without."""
    if "loss" in point and "loss" in model.own_parameters:
        model.set_params(loss=point["loss"])
    return {**model._parameters(), **point}
