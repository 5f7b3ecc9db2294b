"""The third list of wrong answers, with the diagnoses that would explain each.

    python validation/judge/third_list.py [PART OF A NAME]

makes every answer and says where it differs from the right one. It was written without knowledge of the judge's code
or of what it says, as the lists before it were; their answers were not known either.
"""

from __future__ import annotations

import sys
import time
import traceback
import warnings
from collections import Counter

import third_doubles
import third_families
import third_hinge
import third_pairs
import third_regression
import third_regularisers
from blind_tools import Wrong
from second_tools import differences

MODULES = (third_hinge, third_regularisers, third_regression, third_families, third_pairs, third_doubles)
WRONG: list[Wrong] = [w for module in MODULES for w in module.WRONG]


def shown(wrong: Wrong) -> tuple[str, bool]:
    """What is wrong with an answer, and whether it is clearly so."""
    try:
        instance, formulation, parameters, answer = wrong.make()
        data = {"kernels": instance.kernels, "groups": instance.groups, "sample_weight": instance.sample_weight}
        if instance.targets.kind != "none":
            data[instance.targets.kind] = instance.targets.values
        found = differences(data, formulation, parameters, answer)
    except Exception as error:
        traceback.print_exc(limit=-1)
        return f"NOT MADE: {type(error).__name__}: {error}", False
    right = [name for name in answer if not any(f.startswith(name[:6]) for f in found)]
    words = ", ".join(found) or "NOT CLEARLY WRONG"
    return words + (f"; right: {', '.join(right)}" if right else ""), bool(found)


def main() -> int:
    warnings.simplefilter("ignore")
    names = Counter(w.name for w in WRONG)
    twice = [name for name, count in names.items() if count > 1]
    unclear = 0
    began = time.process_time()
    for wrong in WRONG:
        if any(part not in wrong.name for part in sys.argv[1:]):
            continue
        words, clear = shown(wrong)
        unclear += not clear
        accepted = " | ".join("+".join(sorted(kinds)) for kinds in wrong.accepted)
        print(f"{wrong.name}\n    {words}\n    {accepted}", flush=True)
    doubles = sum(w.double for w in WRONG)
    print(f"{len(WRONG)} answers, {doubles} of them double; {time.process_time() - began:.0f} s")
    for field in ("family", "category"):
        print(", ".join(f"{name} {count}" for name, count in Counter(getattr(w, field) for w in WRONG).items()))
    if twice:
        print(f"names that occur twice: {', '.join(twice)}")
    print(f"{unclear} not made or not clearly wrong" if unclear else "every answer is clearly wrong")
    return 1 if unclear or twice else 0


if __name__ == "__main__":
    sys.exit(main())
