"""What Xu, Tsang and Xu (2013) print: Table I (accuracy, standard deviation) and Table II (mean CPU seconds)."""

from __future__ import annotations

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
_ACCURACY = {
    "heart": "81.60 2.76  81.98 3.20  82.47 3.23  81.85 3.08  82.10 3.15  81.60 4.21  82.47 3.28",
    "pima": "75.22 4.02  75.30 3.35  75.91 2.83  75.61 2.71  76.00 2.92  76.35 2.79  76.26 2.94",
    "australian": "85.94 2.24  85.12 1.82  85.07 1.84  85.27 1.77  84.78 1.80  86.23 1.94  85.12 1.82",
    "ionosphere": "90.29 4.01  91.81 1.92  91.71 2.70  91.33 2.64  91.90 2.39  91.33 2.82  92.10 2.38",
    "ringnorm": "95.42 2.01  98.25 1.07  96.67 1.47  97.67 1.10  97.67 1.35  98.00 1.12  97.75 1.36",
    "banana": "73.00 5.79  90.08 2.95  88.58 2.72  89.50 2.43  89.50 2.43  89.75 2.39  90.08 2.68",
    "flaresolar": "67.04 3.45  67.59 3.99  68.64 2.96  68.59 2.93  67.94 3.32  68.59 2.93  68.59 2.93",
}
_SECONDS = {
    "heart": "0.1938 19.32 9.023 4.273 129.9 1.928 8.245",
    "pima": "1.075 410.8 154.5 83.62 1206 39.41 240.6",
    "australian": "1.134 194.6 159.6 82.94 897.3 23.58 22.96",
    "ionosphere": "0.5656 146.2 40.92 26.16 618.8 14.58 31.90",
    "ringnorm": "0.606 297.3 69.18 277.5 1035 165.6 239.7",
    "banana": "0.1734 15.07 15.71 49.74 16.85 11.56 15.23",
    "flaresolar": "0.7609 2243 152.5 382.7 649.5 81.03 58.69",
}
RANKS = dict(zip(METHODS, (6.28, 3.71, 4.00, 4.14, 4.00, 2.57, 2.00), strict=True))


def _numbers(line: str) -> list[float]:
    return [float(word) for word in line.split()]


ACCURACY = {
    (data, method): (numbers[2 * i], numbers[2 * i + 1])
    for data, numbers in ((data, _numbers(line)) for data, line in _ACCURACY.items())
    for i, method in enumerate(METHODS)
}
SECONDS = {
    (data, method): seconds
    for data, line in _SECONDS.items()
    for method, seconds in zip(METHODS, _numbers(line), strict=True)
}
