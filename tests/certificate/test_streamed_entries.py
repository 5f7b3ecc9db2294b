"""What is paid for Gaussians that are computed from features: every entry, every product, against ball arithmetic."""

import flint
import numpy as np
import pytest

from covering import covering
from mklcvx.certificate.gaussians import entry_error
from mklcvx.certificate.passes import own_seen, seen
from mklcvx.certificate.ridge import combined_ridge
from mklcvx.problem.stack import KernelStack
from mklcvx.problem.streamed import Streamed

RNG = np.random.default_rng(0)
PLAIN = RNG.normal(size=(9, 3))
CASES = {
    "plain": (PLAIN, [0.1, 1.0, 30.0]),
    "far from the origin": (PLAIN + 1e8, [1.0, 5.0]),
    "nearly one sample": (1.0 + 1e-9 * PLAIN, [1e16, 1e18]),
    "flat": (PLAIN, [1e-14, 1e-300]),
    "steep": (PLAIN, [100.0, 1e30]),
    "many features": (RNG.normal(size=(6, 400)), [1e-3, 0.01]),
    "large and small": (PLAIN * np.array([1e100, 1.0, 1e-200]), [1e-201, 1e-199]),
    "twins": (np.repeat(PLAIN[:4], 2, axis=0), [0.5]),
    "one feature": (np.linspace(0, 40, 12)[:, None], [0.47]),  # down to the smallest numbers
}


def exact_kernel(X, gamma):
    """Balls around exp(−γ‖x − z‖²) of the stored numbers."""

    def entry(x, z):
        total = sum(((flint.arb(float(a)) - flint.arb(float(b))) ** 2 for a, b in zip(x, z, strict=True)), flint.arb(0))
        return (-flint.arb(float(gamma)) * total).exp()

    return [[entry(x, z) for z in X] for x in X]


def is_within(ball, value, room):
    return bool(abs(ball - flint.arb(float(value))) <= flint.arb(float(room)))


@pytest.mark.parametrize("name", CASES)
def test_every_entry_is_as_near_as_is_stated(name):
    X, gammas = CASES[name]
    kernels, every = Streamed(X, gammas), np.arange(len(X))
    block, room = kernels.block(every, every), entry_error(X.shape[1])
    assert room < 2e-14 * max(1, X.shape[1] / 20)
    with flint.ctx.workprec(300):
        for m, gamma in enumerate(gammas):
            exact = exact_kernel(X, gamma)
            assert all(is_within(exact[i][j], block[m, i, j], room) for i in every for j in every)


def test_distances_by_products_would_not_be():
    """Squares and products cancel: far from the origin nothing is left of a distance."""
    X, (gamma, _) = CASES["far from the origin"]
    squares = (X**2).sum(axis=1)
    kernel = np.exp(-gamma * (squares[:, None] + squares - 2 * X @ X.T))
    with flint.ctx.workprec(300):
        exact = exact_kernel(X, gamma)
        assert not all(is_within(exact[i][j], kernel[i, j], entry_error(3)) for i in range(9) for j in range(9))


def test_the_exponential_function_is_as_good_as_it_is_trusted_to_be():
    values = -np.concatenate([RNG.uniform(0, 1, 1500), RNG.uniform(0, 700, 1500), 2.0 ** -np.arange(0.0, 60)])
    with flint.ctx.workprec(150):
        for value, found in zip(values, np.exp(values), strict=True):
            exact = flint.arb(float(value)).exp()
            assert bool(abs(exact - flint.arb(float(found))) <= 16 * exact * flint.arb(2.0**-53))


@pytest.mark.parametrize(
    ("bias", "each", "name"), covering([False, True], [False, True], ["plain", "far from the origin", "twins"])
)
def test_products_and_squares_lie_where_the_pass_says(name, each, bias):
    X, gammas = CASES[name]
    beta = np.round(RNG.normal(size=len(X)) * 2**20) / 2**10
    beta[1], beta[0] = 0.0, 0.0
    beta[0] = -beta.sum()  # exact: whole numbers over 2¹⁰
    stack = KernelStack(Streamed(X, gammas))
    vectors = np.outer(2.0 ** np.arange(len(gammas)), beta)
    found = own_seen(stack, vectors, bias, False) if each else seen(stack, beta, bias, False)
    with flint.ctx.workprec(300):
        for m, gamma in enumerate(gammas):
            exact, vector = exact_kernel(X, gamma), vectors[m] if each else beta
            image = [sum(k * flint.arb(float(b)) for k, b in zip(row, vector, strict=True)) for row in exact]
            shift = flint.arb(float(found.shift[m]))
            assert all(is_within(z - shift, found.z[m, i], found.error[m, i]) for i, z in enumerate(image))
            square = sum(z * flint.arb(float(b)) for z, b in zip(image, vector, strict=True))
            assert bool(flint.arb(float(found.low[m])) <= square)
            assert bool(square <= flint.arb(float(found.high[m])))
            assert found.high[m] - found.low[m] <= 1e-11 * np.abs(vector).sum() ** 2


def test_exact_gaussians_need_no_ridge():
    stack = KernelStack(Streamed(np.repeat(PLAIN, 3, axis=0), [1e-12, 1.0]))
    assert combined_ridge(stack, np.array([0.5, 0.5]), bias=False) == 0.0
