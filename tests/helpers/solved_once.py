"""Solutions that tests share: a problem that was solved lately, the same instance with the same parameters, is not
solved again. Instances do not change, and solvers find the same twice."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any

from mklcvx import Instance, Solution, solve

KEPT = 256
_solutions: OrderedDict[Hashable, tuple[Instance, Solution]] = OrderedDict()


def remembered(instance: Instance, asked: Hashable, found: Callable[[], Solution]) -> Solution:
    """What `found` finds for an instance and whatever else `asked` says, once. The instance is kept with it: as long as
    it is there, no other has its identity."""
    key = id(instance), asked
    if key not in _solutions:
        _solutions[key] = instance, found()
    _solutions.move_to_end(key)
    while len(_solutions) > KEPT:
        _solutions.popitem(last=False)
    return _solutions[key][1]


def solved_once(instance: Instance, formulation: str, **given: Any) -> Solution:
    """As `mklcvx.solve`."""
    asked = formulation, repr(sorted(given.items()))
    return remembered(instance, asked, lambda: solve(instance, formulation, **given))
