"""Whether every answer of a list can be made, and is clearly wrong."""

from __future__ import annotations

import sys
import time
import traceback
import warnings
from collections import Counter

from blind_tools import Wrong
from second_tools import differences


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


def check(listed: list[Wrong]) -> int:
    """Make every answer, and say where it differs from the right one; 1 if one is not clearly wrong."""
    warnings.simplefilter("ignore")
    names = Counter(w.name for w in listed)
    twice = [name for name, count in names.items() if count > 1]
    unclear = 0
    began = time.process_time()
    for wrong in listed:
        if any(part not in wrong.name for part in sys.argv[1:]):
            continue
        words, clear = shown(wrong)
        unclear += not clear
        accepted = " | ".join("+".join(sorted(kinds)) for kinds in wrong.accepted)
        print(f"{wrong.name}\n    {words}\n    {accepted}", flush=True)
    doubles = sum(w.double for w in listed)
    print(f"{len(listed)} answers, {doubles} of them double; {time.process_time() - began:.0f} s")
    for field in ("family", "category"):
        print(", ".join(f"{name} {count}" for name, count in Counter(getattr(w, field) for w in listed).items()))
    if twice:
        print(f"names that occur twice: {', '.join(twice)}")
    print(f"{unclear} not made or not clearly wrong" if unclear else "every answer is clearly wrong")
    return 1 if unclear or twice else 0
