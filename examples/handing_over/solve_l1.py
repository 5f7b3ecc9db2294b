"""l1 by projected gradient, in plain NumPy and without mklcvx: a folder of csv files in, an answer as JSON out.

    python solve_l1.py FOLDER ANSWER.json C

minimises J(μ) = max over α of 1'α − ½ Σ μ_m q_m(α) over the simplex, whose gradient is −½q; the SVM inside is solved by
moving the pair of α's that violates the optimality conditions most.
"""

import json
import sys
from pathlib import Path

import numpy as np

TOLERANCE, STEPS = 1e-7, 2000


def svm(kernel, y, C, alpha):
    """α, bias and gradient's image K(α∘y) of the SVM with this kernel, starting from a feasible α."""
    f = kernel @ (alpha * y)
    while True:
        slack = y - f
        up = np.where(y > 0, alpha < C, alpha > 0)
        low = np.where(y > 0, alpha > 0, alpha < C)
        i = np.where(up, slack, -np.inf).argmax()
        j = np.where(low, slack, np.inf).argmin()
        if slack[i] - slack[j] <= 1e-9:
            return alpha, (slack[i] + slack[j]) / 2
        curvature = max(kernel[i, i] + kernel[j, j] - 2 * kernel[i, j], 1e-12)
        room_i = C - alpha[i] if y[i] > 0 else alpha[i]
        room_j = alpha[j] if y[j] > 0 else C - alpha[j]
        move = min((slack[i] - slack[j]) / curvature, room_i, room_j)
        alpha[i] = min(max(alpha[i] + y[i] * move, 0), C)
        alpha[j] = min(max(alpha[j] - y[j] * move, 0), C)
        f += move * (kernel[:, i] - kernel[:, j])


def onto_simplex(v):
    down = np.sort(v)[::-1]
    levels = (np.cumsum(down) - 1) / np.arange(1, len(v) + 1)
    return np.maximum(v - levels[down > levels][-1], 0)


def solve(kernels, y, C):
    def at(weights, start):
        alpha, bias = svm(np.tensordot(weights, kernels, 1), y, C, start.copy())
        q = np.array([(alpha * y) @ kernel @ (alpha * y) for kernel in kernels])
        return alpha, bias, q, alpha.sum() - weights @ q / 2

    weights = np.full(len(kernels), 1 / len(kernels))
    alpha, bias, q, value = at(weights, np.zeros(len(y)))
    step = 1 / max(np.linalg.norm(q), 1e-12)
    for _ in range(STEPS):
        if (q.max() - weights @ q) / 2 <= TOLERANCE * abs(value):
            break
        while True:
            trial = onto_simplex(weights + step * q / 2)
            move = trial - weights
            found = at(trial, alpha)
            if found[3] <= value - q @ move / 2 + move @ move / (2 * step) + 1e-12 * abs(value):
                break
            step /= 2
        weights, (alpha, bias, q, value) = trial, found
        step *= 1.5
    return weights, alpha, bias, value


def main(folder, answer, C):
    files = sorted(Path(folder).glob("K*.csv"), key=lambda file: int(file.stem[1:]))
    kernels = np.stack([np.loadtxt(file, delimiter=",", ndmin=2) for file in files])
    y = np.loadtxt(Path(folder) / "y.csv")
    weights, alpha, bias, value = solve(kernels, y, float(C))
    fields = {"weights": weights.tolist(), "alpha": alpha.tolist(), "bias": bias, "objective": value}
    Path(answer).write_text(json.dumps(fields), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
