"""Problems for hypergraphs, and their dual value in fractions."""

from fractions import Fraction

from labelled import digits, synthetic
from mklcvx import Instance

NAMES = ("hypergraph", "hypergraph_smooth")


def with_gaps(instance: Instance) -> Instance:
    """Some samples lose all their labels."""
    labels = instance.targets.values.copy()
    labels[3:6] = 0
    return Instance(instance.kernels, labels=labels)


INSTANCES = {
    "digits": lambda: digits(30),
    "correlated": lambda: synthetic(24, 3),
    "dependent": lambda: synthetic(20, 4, seed=1, dependent=True),
    "one label": lambda: synthetic(20, 1, seed=2),
    "many labels": lambda: synthetic(16, 6, seed=3),
    "no labels for some": lambda: with_gaps(synthetic(18, 3, seed=4)),
}


def rational_dual(task, theta):
    """−tr(H'(I + K(θ)/λ)⁻¹H) without rounding, by elimination in fractions."""
    share = [Fraction(float(t)) for t in theta]
    share = [t / sum(share) for t in share]
    n, width = task.h.shape
    rows = [
        [Fraction(int(i == j)) + sum(t * Fraction(float(k[i, j])) for t, k in zip(share, task.kernels, strict=True))
         / Fraction(task.lam) for j in range(n)] + [Fraction(float(h)) for h in task.h[i]]
        for i in range(n)
    ]  # fmt: skip
    for i in range(n):
        rows[i] = [entry / rows[i][i] for entry in rows[i]]
        for other in range(n):
            if other != i:
                rows[other] = [a - rows[other][i] * b for a, b in zip(rows[other], rows[i], strict=True)]
    solved = [[rows[i][n + j] for j in range(width)] for i in range(n)]
    return -float(sum(Fraction(float(task.h[i, j])) * solved[i][j] for i in range(n) for j in range(width)))
