"""Problems for hypergraphs, and their dual value in fractions."""

from fractions import Fraction

from exact_algebra import dot, exact, lifted, mixed, solved
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
    share, lam, h = exact(theta), exact(task.lam), exact(task.h)
    mix = mixed([t / (lam * sum(share)) for t in share], [exact(kernel) for kernel in task.kernels])
    solution = solved(lifted(mix, Fraction(1)), h)
    return -float(sum(dot(left, right) for left, right in zip(h, solution, strict=True)))
