"""Wrong answers, written without knowledge of the judge, each with the diagnoses that would explain it.

`WRONG` has one record for each: a mistake that an author of another code could make, most of them by really solving
the wrong problem. `accepted` was written before anything was judged: sets of kinds, each of which is true of the
answer; where two problems have the same answer (twice C is half of every kernel for weights alone), both are there.

    python validation/judge/blind_list.py     makes every answer, and says where it differs from the right one
"""

from __future__ import annotations

import warnings
from collections import Counter

import blind_doubles
import blind_families
import blind_losses
import blind_regularisers
import blind_single
import numpy as np
from blind_tools import Answer, Wrong, coefficients

import mklcvx

CLEARLY = 1e-3  # relative: what is handed over differs at least as much from the right answer

WRONG: list[Wrong] = [
    *blind_single.LIST,
    *blind_regularisers.LIST,
    *blind_losses.LIST,
    *blind_families.LIST,
    *blind_doubles.LIST,
]
REPEATED = [name for name, times in Counter(w.name for w in WRONG).items() if times > 1]
assert not REPEATED, REPEATED


def difference(right: mklcvx.Solution, answer: Answer) -> float:
    """The largest relative difference of a part from that of the right solution; ∞ for another shape."""
    largest = 0.0
    for name, value in answer.items():
        both = [(right.multipliers[k], v) for k, v in value.items()] if name == "multipliers" else []
        if name == "coefficients":
            both = [(coefficients(right), value)]
        for mine, other in both or [(getattr(right, name), value)]:
            expected, found = np.asarray(mine, dtype=float), np.asarray(other, dtype=float)
            if expected.shape != found.shape:
                return np.inf
            largest = max(largest, float(np.abs(expected - found).max() / max(np.abs(expected).max(), 1e-12)))
    return largest


def main() -> None:
    warnings.simplefilter("ignore")
    unclear = 0
    for wrong in WRONG:
        instance, formulation, parameters, answer = wrong.make()
        apart = difference(mklcvx.solve(instance, formulation, **parameters), answer)
        unclear += apart < CLEARLY
        print(f"{apart:9.2g}  {wrong.name}" + ("   not clearly wrong" if apart < CLEARLY else ""))
    doubles = sum(w.double for w in WRONG)
    print(f"{len(WRONG) - doubles} single mistakes, {doubles} double ones; {unclear} not clearly wrong")
    for title, of in (("family", lambda w: w.family), ("category", lambda w: w.category)):
        print(title, dict(Counter(of(w) for w in WRONG)))


if __name__ == "__main__":
    main()
