"""What Xu, Tsang and Xu (2013) print: Table I (accuracy, standard deviation) and Table II (mean CPU seconds)."""

from __future__ import annotations

from shared.printed import printed

METHODS = {  # ours → theirs
    "average": "AveKernel",
    "l1": "SimpleMKL",
    "l2": "L2MKL",
    "lp": "LpMKL",
    "elastic": "SGMKL",
    "sm1": "SM1MKL",
    "sm2": "SM2MKL",
}
LONGER = "average, trace n"  # no method of theirs
SETS = {
    "heart": "Heart",
    "pima": "Diabetes",
    "australian": "Australian",
    "ionosphere": "Ionosphere",
    "ringnorm": "Ringnorm",
    "banana": "Banana",
    "flaresolar": "FlareSolar",
}
SUBSAMPLED = {"ringnorm": 400, "banana": 400, "flaresolar": 666}
RANKS = {ours: printed("xu_rank")["mean"][theirs] for ours, theirs in METHODS.items()}


def _ours(table: str) -> dict[tuple[str, str], float]:
    return {(data, m): printed(table)[SETS[data]][METHODS[m]] for data in SETS for m in METHODS}


SECONDS = _ours("xu_seconds")
_DEVIATION = _ours("xu_deviation")
ACCURACY = {cell: (mean, _DEVIATION[cell]) for cell, mean in _ours("xu_accuracy").items()}
