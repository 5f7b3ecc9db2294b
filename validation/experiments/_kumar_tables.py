"""What Kumar et al. (2012) print: Table 2 (accuracy, standard deviation) and Table 3 (seconds)."""

from __future__ import annotations

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
_ACCURACY = {  # one line per method, columns as in the table: every set with p = 13d + 13, then with p = 13
    "best": "86.90 4.23 86.90 4.24 95.00 2.04 95.00 2.04 76.10 2.63 76.10 2.63 83.65 5.73 83.67 5.73",
    "average": "85.00 4.5 86.42 3.73 92.00 2.87 94.28 3.01 76.82 2.76 76.30 2.62 81.58 5.92 82.03 5.03",
    "alignment": "80.24 4.2 85.47 3.26 91.57 2.28 94.42 2.17 75.97 3.03 76.82 3.15 82.88 6.18 80.90 4.18",
    "l1": "85.23 5.11 84.76 2.55 92.54 1.56 95.42 2.50 75.71 3.28 75.97 3.16 82.72 4.16 78.42 3.55",
    "l2": "86.42 4.05 85.71 4.04 91.85 1.51 95.14 2.04 75.45 2.31 76.55 2.23 79.68 4.84 80.87 5.1",
    "ufo": "82.85 6.7 86.19 4.3 91.85 2.86 96.14 1.9 74.28 2.47 74.02 3.46 79.16 6.57 79.09 6.03",
    "ts": "86.43 3.9 86.19 3.38 92.43 1.18 94.29 2.12 75.78 3.02 76.42 2.87 82.82 5.63 81.10 4.42",
}
ACCURACY = {
    (data, bank, method): (numbers[2 * i], numbers[2 * i + 1])
    for method, numbers in ((m, [float(word) for word in line.split()]) for m, line in _ACCURACY.items())
    for i, (data, bank) in enumerate((data, bank) for data in SETS for bank in BANKS)
}
SECONDS = {  # with p = 13d + 13
    ("sonar", "alignment"): 133.0, ("sonar", "ufo"): 3.018, ("sonar", "ts"): 1.09,
    ("pima", "alignment"): 93.71, ("pima", "ufo"): 17.97, ("pima", "ts"): 1.3977,
}  # fmt: skip
