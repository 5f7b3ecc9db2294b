"""Names that `solve` takes."""

from __future__ import annotations

from .. import formulations
from ..formulations.losses import ALL, CLASSES, COUNTS, LABELS, NONE, REAL
from ..problem.checks import check_name
from .solving import SOLVERS


def available_formulations() -> list[str]:
    """List the names of the formulations.

    Returns
    -------
    list of str
        Names for the argument `formulation` of `solve`, in the order of `mklcvx list`.

    See Also
    --------
    available_losses : Names of the losses.
    available_solvers : Names of the solvers.

    Examples
    --------
    >>> import mklcvx
    >>> "l1" in mklcvx.available_formulations()
    True
    """
    return [formulation.name for formulation in formulations.FORMULATIONS]


def available_losses(formulation: str | None = None, *, target: str | None = None) -> list[str]:
    """List the names of the losses.

    Parameters
    ----------
    formulation : str, optional
        List only the losses that this formulation takes; a formulation whose loss is part of it takes none.
    target : {"labels", "classes", "response", "none"}, optional
        List only the losses for this kind of target: labels ±1, classes at once, a response, or none at all.

    Returns
    -------
    list of str
        Names for the parameter `loss` of `solve`, in the order of `mklcvx list`.

    Raises
    ------
    InputError
        If there is no such kind of target, or no formulation of that name.

    See Also
    --------
    available_formulations : Names of the formulations.

    Examples
    --------
    >>> import mklcvx
    >>> "nu" in mklcvx.available_losses("li")
    False
    >>> "huber" in mklcvx.available_losses(target="response")
    True
    """
    kinds = (LABELS, CLASSES, REAL, NONE)
    if target is not None:
        check_name("kind of target", target, kinds)
    taken = None if formulation is None else formulations.get(formulation).loss_names
    return [
        loss.name
        for loss in ALL
        if (target is None or {COUNTS: REAL}.get(loss.targets, loss.targets) == target)
        and (taken is None or loss.name in taken)
    ]


def available_solvers(formulation: str | None = None) -> list[str]:
    """List the names of the solvers.

    Parameters
    ----------
    formulation : str, optional
        List only the solvers that solve this formulation.

    Returns
    -------
    list of str
        Names for the argument `solver` of `solve`, in the order of `mklcvx list`.

    Raises
    ------
    InputError
        If there is no formulation of that name.

    See Also
    --------
    available_formulations : Names of the formulations.

    Examples
    --------
    >>> import mklcvx
    >>> mklcvx.available_solvers("li")
    ['auto', 'clarabel', 'scs', 'interior', 'li_alternating']
    """
    if formulation is None:
        return [solver.name for solver in SOLVERS]
    name = formulations.get(formulation).name
    return [solver.name for solver in SOLVERS if solver.serves is None or name in solver.serves]
