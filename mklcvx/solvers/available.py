"""Names that `solve` takes."""

from __future__ import annotations

from .. import formulations
from .solving import SOLVERS


def available_formulations() -> list[str]:
    """List the names of the formulations.

    Returns
    -------
    list of str
        Names for the argument `formulation` of `solve`, in the order of `mklcvx list`.

    See Also
    --------
    available_solvers : Names of the solvers.

    Examples
    --------
    >>> import mklcvx
    >>> "l1" in mklcvx.available_formulations()
    True
    """
    return [formulation.name for formulation in formulations.FORMULATIONS]


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
