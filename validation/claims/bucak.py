"""Bucak et al. 2010: the problems, the algorithm, how fast it is, and what the text says of its own tables."""

from __future__ import annotations

import math
from itertools import pairwise

import bucak_forms
import bucak_rates
import bucak_saddle
import bucak_steps
import bucak_theorem
from claim import Measured, claims_of
from shared.printed import printed_rows

# Table 1: Caltech-101, VOC2006, VOC2007.
CLASS_COUNTS = (102, 10, 20)
ACCURACY = printed_rows("bucak_precision")
SECONDS = printed_rows("bucak_seconds")


def measure_best(margin: float) -> Measured:
    leads = [own - max(other) for own, *other in zip(*ACCURACY.values(), strict=True)]
    return Measured(max(0.0, margin - min(leads)), {"least lead": min(leads), "largest lead": max(leads)})


def measure_shared_is_faster(shared: tuple[str, ...]) -> Measured:
    """The least ratio of seconds, a method with a kernel per class to one with a shared kernel."""
    ratios = [
        slow / fast
        for own in shared
        for other in SECONDS
        if other not in ("SA", "Sum") and other != own
        for slow, fast in zip(SECONDS[other], SECONDS[own], strict=True)
    ]
    return Measured(max(0.0, 2 - min(ratios)), {"least ratio of seconds": min(ratios)})


def measure_speed_up(compare_all: bool) -> Measured:
    """Seconds of Sum over those of SA, in the order of the numbers of classes."""
    ratios = {m: s / own for m, s, own in zip(CLASS_COUNTS, SECONDS["Sum"], SECONDS["SA"], strict=True)}
    ordered = [ratios[m] for m in sorted(ratios)]
    pairs = pairwise(ordered) if compare_all else [(max(ordered[:-1]), ordered[-1])]
    fall = max(before - after for before, after in pairs)
    return Measured(max(0.0, fall), {f"m = {m}": ratio for m, ratio in ratios.items()})


def measure_ten_times(stated: float) -> Measured:
    ratios = {name: SECONDS[name][0] / SECONDS["SA"][0] for name in ("GMKL", "VSKL")}
    error = max(abs(math.log10(ratio / stated)) for ratio in ratios.values())
    return Measured(error, {f"{name} against SA": ratio for name, ratio in ratios.items()})


def measure_kernel_count(stated: int) -> Measured:
    detectors, descriptors, sizes, kernels = 3, 2, 2, 2
    combinations = detectors * descriptors * sizes * kernels
    return Measured(abs(combinations - stated), {"combinations": combinations, "stated": stated})


claim = claims_of("bucak")
TABLES = (
    claim("Section 3.2", measure_kernel_count, printed=22, repaired=24, mutated=12),
    claim("Section 3.4, accuracy", measure_best, printed=0.0, mutated=0.02),
    claim(
        "Section 3.4, shared kernels", measure_shared_is_faster, printed=("SA", "Sum"), mutated=("SA", "Sum", "GMKL")
    ),
    claim("Section 3.4, many classes", measure_speed_up, printed=False, mutated=True),
    claim("Section 3.4, Fig. 1", measure_ten_times, tolerance=math.log10(2), printed=10.0, repaired=100.0, mutated=1.0),
)

CLAIMS = (
    *bucak_forms.CLAIMS,
    *bucak_saddle.CLAIMS,
    *bucak_steps.CLAIMS,
    *bucak_theorem.CLAIMS,
    *bucak_rates.CLAIMS,
    *TABLES,
)
