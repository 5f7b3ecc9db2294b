"""Grids of parameters: one to begin with, in the units of the kernels, and whether the best point lies on its edge."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from .. import formulations
from ..errors import InputError
from ..formulations.losses import KNOWN
from ..problem.low_rank import Stored
from ..problem.numbers import is_number
from ..problem.scales import unit_of_price

PRICES = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)  # C in units of 1/(mean k(x, x))
SHARES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5)  # ν
EXAMPLES = {"C": "C=0.1,1,10", "nu": "nu=0.1,0.3,0.5", "lam": "lam=0.1,1,10"}


def default_grid(kernels: Stored, formulation: str, fixed: Mapping[str, object]) -> dict[str, Sequence[object]]:
    """C from far too small to far too large for kernels of this size, or ν, for a loss that has it."""
    loss = KNOWN.get(str(fixed.get("loss", "")))
    if "nu" not in fixed and loss is not None and loss.free_margin:
        return {"nu": SHARES}
    priced = loss is not None and loss.parameter.name == "C"  # whatever nu is then, C sets the prices
    if "C" in fixed or ("nu" in fixed and not priced) or "C" not in formulations.get(formulation).parameter_names:
        taken = next((name for name in ("C", "nu") if name in fixed), "")
        words = f"give --grid {EXAMPLES[taken or 'lam']}{f' in place of --set {taken}' if taken else ''}"
        raise InputError(f"grid: {formulation} has no C here to vary: {words}")
    unit = unit_of_price(kernels)
    return {"C": [float(f"{price * unit:.2g}") for price in PRICES]}


def edge_of(
    points: Sequence[Mapping[str, object]], means: Sequence[float], can_be: Callable[[str, float], bool]
) -> str:
    """In words, the parameters whose best value is the smallest or the largest that was tried, although further ones
    `can_be`; empty if there are none. Where points are equally good, one inside the grid will do; a score of 1 is the
    best there is."""
    if max(means) >= 1:
        return ""
    best = [point for point, mean in zip(points, means, strict=True) if mean == max(means)]
    if len(best) == len(points) > 1:
        return "all points of the grid are equally good: try values that differ more"
    ends = []
    for name in points[0]:
        values = sorted({value for point in points if is_number(value := point[name])})
        taken = [value for point in best if is_number(value := point[name])]
        if len(values) < 2 or not taken or any(values[0] < value < values[-1] for value in taken):
            continue
        last, beside, which = (
            (values[-1], values[-2], "largest") if taken[0] == values[-1] else (values[0], values[1], "smallest")
        )
        further = last * last / beside if last > 0 and beside > 0 else 2 * last - beside
        if can_be(name, further):
            ends.append(f"{name} = {last:g} is the {which} of the grid: try {which[:-3]}er ones")
    return "; ".join(ends)
