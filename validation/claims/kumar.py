"""Kumar et al. 2012: the method, the theory, and what the text says of its own tables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import kumar_method
import kumar_theory
from claim import Measured, claims_of
from mklcvx.problem.kernels import kumar_bank
from shared.printed import printed_rows

# Tables 1 and 2, percent; MC-MKL, which has gaps, is left out.
PROTEINS = printed_rows("kumar_proteins")
PROTEINS_SPREAD = PROTEINS.pop("TS deviation")
UCI, UCI_SPREAD = printed_rows("kumar_uci"), printed_rows("kumar_uci_deviation")
SECONDS = printed_rows("kumar_seconds")
FEATURES = {"Sonar": 60, "Ionosphere": 33, "Pima": 8, "Vertebral": 6}
KERNELS = {"Sonar": 793, "Ionosphere": 442, "Pima": 117, "Vertebral": 91}
CALTECH_256 = (0.245, 0.320, 0.370, 0.426, 0.448, 0.475, 0.494)
CALTECH_256_SIZES = (5, 10, 15, 20, 25, 30, 40, 50)


def measure_never_below(slack: float) -> Measured:
    """By how much alignment is above TS-MKL plus `slack` standard deviations of TS-MKL, over 13 columns."""
    ahead = np.subtract([*PROTEINS["Alignment"], *UCI["Alignment"]], [*PROTEINS["TS"], *UCI["TS"]])
    beyond = ahead - slack * np.array([*PROTEINS_SPREAD, *UCI_SPREAD["TS"]])
    numbers = {"columns where alignment is ahead": int((ahead > 0).sum()), "of": len(ahead), "by at most": ahead.max()}
    return Measured(max(0.0, beyond.max()), numbers)


def measure_no_gain(slack: float) -> Measured:
    """By how much a learned kernel is above the better baseline plus `slack` of its standard deviations, Table 2."""
    learned = np.max([values for name, values in UCI.items() if name not in ("Best", "Average")], axis=0)
    baselines = np.array([UCI["Best"], UCI["Average"]])
    better = baselines.argmax(axis=0)
    gains = learned - baselines.max(axis=0)
    spread = np.choose(better, [UCI_SPREAD["Best"], UCI_SPREAD["Average"]])
    numbers = {"columns with a gain": int((gains > 0).sum()), "of": len(gains), "largest gain": gains.max()}
    return Measured(max(0.0, (gains - slack * spread).max()), numbers)


def measure_learning_helps(baselines: Sequence[str]) -> Measured:
    """The least lead of alignment, MKL and TS-MKL over the best of the baselines, Table 1."""
    learned = np.min([PROTEINS[name] for name in ("Alignment", "MKL", "TS")], axis=0)
    lead = float((learned - np.max([PROTEINS[name] for name in baselines], axis=0)).min())
    return Measured(max(0.0, -lead), {"least lead": lead})


def measure_order_of_magnitude(columns: slice) -> Measured:
    ratios = np.divide(SECONDS["UFO"], SECONDS["TS"])
    numbers = dict(zip(("Sonar", "Pima", "Caltech-101"), ratios, strict=True))
    return Measured(max(0.0, 10 - ratios[columns].min()), numbers)


def measure_kernel_counts(extra: int) -> Measured:
    """13 d + extra against Table 2's p, and the bank's own size."""
    each = len(kumar_bank().kernels)
    differences = [abs(each * FEATURES[name] + extra - KERNELS[name]) for name in KERNELS]
    return Measured(float(max(differences)), {"kernels on all features": each, "largest difference": max(differences)})


def measure_accuracies(sizes: Sequence[int]) -> Measured:
    return Measured(abs(len(CALTECH_256) - len(sizes)), {"accuracies": len(CALTECH_256), "sizes": len(sizes)})


claim = claims_of("kumar")
TABLES = (
    claim("Section 1 against Tables 1 and 2", measure_never_below, printed=0.0, repaired=1.0, mutated=-1.0),
    claim("Section 4.4 against Table 2", measure_no_gain, printed=0.0, repaired=1.0, mutated=-1.0),
    claim(
        "Section 4.3 against Table 1",
        measure_learning_helps,
        printed=("Best", "Average"),
        mutated=("Best", "Average", "MKL"),
    ),
    claim("Section 4.5 against Table 3", measure_order_of_magnitude, printed=slice(1, 3), mutated=slice(0, 3)),
    claim("Section 4.4, kernels", measure_kernel_counts, printed=13, mutated=0),
    claim(
        "Section 4.2, Caltech-256",
        measure_accuracies,
        printed=CALTECH_256_SIZES,
        mutated=CALTECH_256_SIZES[:5],
        control=CALTECH_256_SIZES[:7],
    ),
)

CLAIMS = (*kumar_method.CLAIMS, *kumar_theory.CLAIMS, *TABLES)
