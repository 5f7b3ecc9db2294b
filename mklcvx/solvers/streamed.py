"""`solve_streamed`: from features to a solution whose certificate is about exact kernels that were never stored."""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from .. import formulations
from ..certificate.solution import Solution
from ..errors import InputError
from ..problem.checks import check_functions
from ..problem.instance import Instance
from ..problem.kernel_functions import Gaussian
from ..problem.numbers import check_seed, check_whole
from ..problem.streamed import Streamed
from .decomposition import Decomposition
from .driver import Callback, Report
from .solving import check_limits, published, solved

METHOD = published(Decomposition)


def solve_streamed(
    X: ArrayLike,
    y: ArrayLike,
    kernels: Sequence[float | Gaussian],
    formulation: str = "l1",
    *,
    landmarks: int = Decomposition.landmarks,
    working_set: int = Decomposition.working_set,
    seed: int = 0,
    tol: float = METHOD.tolerance,
    time_limit: float | None = None,
    max_iter: int | None = None,
    sample_weight: ArrayLike | None = None,
    report: Report = lambda _: None,
    callback: Callback = lambda _: None,
    **parameters: object,
) -> Solution:
    """Solve a formulation with Gaussian kernels of features that are too many to be stored.

    The kernels are computed block by block. The certificate is about the exact Gaussians of the features as stored,
    k(x, z) = exp(−γ‖x − z‖²) as real numbers, with every rounding error paid for; it holds whether or not `tol` was
    reached.

    Parameters
    ----------
    X : array_like of shape (n, d)
        Features.
    y : array_like of shape (n,)
        Labels −1 and +1.
    kernels : list of float or Gaussian
        Numbers γ, or `mklcvx.kernels.Gaussian`.
    formulation : str, default="l1"
        Name of a formulation with kernel weights: l1, lp, elastic, sum, average and others.
    landmarks : int, default=0
        Samples for Nyström's approximation, whose solution is the start. 0 starts from nothing. Of two moons with
        20,000 samples, 50 saved a quarter of the time.
    working_set : int, default=3000
        Samples whose α the refinement moves at once. It takes about 16·M·working_set² bytes.
    seed : int, default=0
        Chooses the landmarks.
    tol : float, default=0.01
        Relative gap that the certificate must prove.
    time_limit : float, optional
        Seconds, asked for after each round. The certificate of the best point then takes up to five more passes.
    max_iter : int, optional
        Rounds of refinement.
    sample_weight : array_like of shape (n,), optional
        Positive weights of the samples.
    report : callable, optional
        Function that is called with one line of text after each round.
    callback : callable, optional
        Function that is called with every row of the trace. A true result ends the run.
    **parameters : dict
        Parameters of the formulation, for example C=1.0; loss hinge or nu.

    Returns
    -------
    Solution
        Weights, dual variables, bias and certificate.

    Raises
    ------
    InputError
        If an argument cannot be used.

    See Also
    --------
    solve : Solve with kernels that are stored.

    Examples
    --------
    >>> import numpy as np
    >>> import mklcvx
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> y = np.where(X[:, 0] * X[:, 1] > 0, 1, -1)
    >>> solution = mklcvx.solve_streamed(X, y, [0.1, 1.0, 10.0], "l1", C=1.0, working_set=100)
    >>> solution.status, solution.certificate.relative_gap <= 1e-2
    ('certified', True)
    """
    chosen = formulations.get(formulation)
    if chosen.name not in Decomposition.serves:
        raise InputError(f"solve_streamed does not serve {chosen.name}: use one of {', '.join(Decomposition.serves)}")
    check_whole(0, landmarks=landmarks)
    check_whole(2, working_set=working_set)
    check_seed(seed)
    check_functions(report=report, callback=callback)
    check_limits(tol, time_limit, max_iter)
    stack = Streamed(X, kernels)
    instance = Instance(stack, y, names=stack.names, sample_weight=sample_weight)
    options = {"landmarks": int(landmarks), "working_set": int(working_set), "seed": int(seed)}
    limits = {"time_limit": time_limit, "max_iter": max_iter}
    told = {"options": options, "report": report, "callback": callback}
    return solved(instance, chosen.name, METHOD, tol, parameters, None, **limits, **told)[0]
