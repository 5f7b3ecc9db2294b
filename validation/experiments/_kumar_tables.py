"""What Kumar et al. (2012) print: Table 2 (accuracy, standard deviation) and Table 3 (seconds)."""

from __future__ import annotations

from shared.printed import printed

METHODS = {  # ours → theirs
    "best": "Best Kernel",
    "average": "Average",
    "alignment": "Targ. Align",
    "l1": "MKL (SILP/Simple)",
    "l2": "L2-MKL",
    "ufo": "UFO-MKL",
    "ts": "TS-MKL",
}
BASELINES = ("best", "average")
SETS = {"sonar": "Sonar", "ionosphere": "Ionosphere", "pima": "Pima", "vertebral": "Vertebral"}
BANKS = {"all+each": "p = 13d + 13", "all": "p = 13"}
PRINTED = dict(zip(METHODS, ("Best", "Average", "Alignment", "MKL", "L2", "UFO", "TS"), strict=True))  # in our files
_MEAN, _DEVIATION = printed("kumar_uci"), printed("kumar_uci_deviation")
ACCURACY = {
    (data, bank, method): tuple(table[name][f"{SETS[data]}, {BANKS[bank]}"] for table in (_MEAN, _DEVIATION))
    for method, name in PRINTED.items()
    for data in SETS
    for bank in BANKS
}
SECONDS = {  # with p = 13d + 13
    (data, method): printed("kumar_seconds")[PRINTED[method]][SETS[data]]
    for data in ("sonar", "pima")
    for method in ("alignment", "ufo", "ts")
}
