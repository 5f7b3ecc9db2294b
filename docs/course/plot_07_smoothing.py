r"""
Smoothing a maximum, and Nesterov's method
==========================================

A kernel problem is often a maximum: of the kernels' constraints, one is the worst. A
maximum has corners, and at corners gradients are of little use. We round the corners
off by a chosen amount :math:`\sigma`, pay for it with an error of at most
:math:`\sigma\log M`, and get a method whose error falls as :math:`1/t` where it fell as
:math:`1/\sqrt t`.

The problem
-----------

We look for the smallest value of the largest of :math:`M` quadratics, one for each
kernel, in a matrix :math:`Z`:

.. math::

   f(Z) &= \max_m\ S_m(Z), \\
   S_m(Z) &= \tfrac14\|Z\|^2+\tfrac1{4\lambda}\operatorname{tr}(Z^\top K_mZ)
   -\operatorname{tr}(Z^\top H).

:math:`H` is made of the labels; chapter 10 says how, and why one would want this. Here
it only matters that :math:`f` is a **maximum of smooth convex functions** (Ji et al.
2008, Theorem 2.1).
"""

import matplotlib.pyplot as plt
import numpy as np

import mklcvx
from mklcvx import zoo
from mklcvx.problem.preprocessing import Preprocessing
from mklcvx.reports import plot
from mklcvx.solvers.solving import preprocessed

unit_trace = Preprocessing.from_options(normalise="trace")
instance = preprocessed(zoo.specimen("labels-overlapping").instance(), unit_trace)
lam = 0.02
exact = mklcvx.solve(instance, "hypergraph", lam=lam)
M = instance.count
print(f"{instance.samples} samples, {M} kernels")
print(f"least f: {exact.objective:.8f}, gap {exact.certificate.relative_gap:.0e}")
print("weights", exact.weights.round(3))
task, _ = mklcvx.formulations.get("hypergraph").task(instance, {"lam": lam})
scores = task.scores(exact.multipliers["Z"])
print("the quadratics there", scores.round(5))
assert np.ptp(scores) < 1e-5
assert exact.weights.min() > 0.01

# %%
# The weights are multipliers: :math:`\mu_m` is the price of :math:`S_m(Z)\le\tau`.
# All are in use here. At the optimum all six quadratics have the same value, so the
# optimum lies in a corner where six surfaces meet.
#
# Why corners are slow
# --------------------
#
# Where :math:`f` has a kink its gradient jumps, and it does not become small near the
# minimum: it cannot tell us when to slow down. So steps must be made short by decree,
# as :math:`1/\sqrt t`, and the error falls no faster than that in general.
#
# A maximum of numbers is also a maximum over the simplex, :math:`\max_m
# v_m=\max_{\mu\in\Delta}\mu^\top v`. There is the corner: the best
# :math:`\mu` jumps from one vertex to another. Let us make jumping expensive, and
# add the entropy :math:`\sigma\,E(\mu)`, :math:`E(\mu)=-\sum_m\mu_m\log\mu_m`,
# which likes the middle:
#
# .. math::
#
#    f_\sigma=\max_{\mu\in\Delta}\ \sum_m\mu_mv_m-\sigma\sum_m\mu_m\log\mu_m .
#
# Give :math:`\sum\mu_m=1` the price :math:`\kappa`. The derivative by
# :math:`\mu_m` is :math:`v_m-\sigma(\log\mu_m+1)-\kappa=0`, so
# :math:`\mu_m\propto e^{v_m/\sigma}`. With the sum made 1, put it back:
# :math:`\sigma\log\mu_m=v_m-\sigma\log\sum_l e^{v_l/\sigma}`, and
#
# .. math::
#
#    f_\sigma=\sigma\log\sum_m e^{v_m/\sigma},\qquad
#    \mu_m=\frac{e^{v_m/\sigma}}{\sum_l e^{v_l/\sigma}} .
#
# The entropy is between 0 and :math:`\log M`. So :math:`f\le f_\sigma\le f+\sigma\log
# M` (Ji et al. 2008, Lemma 3.3): **we know beforehand what smoothing costs**. And
# :math:`\nabla f_\sigma=\sum_m\mu_m\nabla S_m`, with :math:`\mu` that turns gradually:
# the smaller :math:`\sigma`, the faster it turns, and the gradient's Lipschitz constant
# grows as :math:`1/\sigma`.


def smooth_max(v, sigma):
    largest = v.max(axis=0)  # taken out, so that no exponential overflows
    return largest + sigma * np.log(np.exp((v - largest) / sigma).sum(axis=0))


x = np.linspace(-1.5, 1.5, 301)
two = np.stack([0.5 * (x - 1.6) ** 2, 0.5 * (x + 1.6) ** 2])
fig, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
ax.plot(x, two.max(axis=0), "k-", linewidth=2, label="the maximum of two")
for sigma, style in ((0.1, "--"), (0.4, "-."), (1.0, ":")):
    ax.plot(x, smooth_max(two, sigma), f"k{style}", label=f"smoothed, σ = {sigma}")
    excess = smooth_max(two, sigma) - two.max(axis=0)
    assert excess.min() >= 0
    assert excess.max() <= sigma * np.log(2) + 1e-12
ax.set(xlabel="z", ylabel="value", ylim=(0.8, 3.4))
ax.legend(loc="upper center")
plt.show()

# %%
# Nesterov's method
# -----------------
#
# On a smooth function with Lipschitz constant :math:`L`, gradient steps of length
# :math:`1/L` have an error of order :math:`L/t`. Nesterov's method takes its gradient
# at a point a little ahead, in the direction of the last moves, and has an error of
# order :math:`L/t^2`. With :math:`L\sim1/\sigma` and a budget of :math:`N` steps, the
# two errors are
#
# .. math::
#
#    \underbrace{\sigma\log M}_{\text{smoothing}}+\underbrace{c/(\sigma N^2)}_{\text{the
#    method}},
#
# and :math:`\sigma\sim1/N` makes both of order :math:`1/N`. Plain gradient steps,
# :math:`\sigma\log M+c/(\sigma N)`, would need :math:`\sigma\sim1/\sqrt N` and be no
# better than before: **smoothing pays only together with acceleration**.
#
# Every gap below is certified. Any :math:`Z` gives the upper bound :math:`f(Z)`; any
# :math:`\mu` on the simplex gives a lower one, the least value of
# :math:`\sum_m\mu_mS_m`, which is reached at :math:`Z=2(I+K(\mu)/\lambda)^{-1}H`.
# First the method with corners: a step against the gradient of the largest quadratic,
# shortened as :math:`1/\sqrt t`, and averages of :math:`Z` and of :math:`\mu` as the
# answer.

K, H = instance.kernels, task.h


def bounds(Z, mu):
    best = np.linalg.solve(np.eye(len(H)) + np.tensordot(mu, K, 1) / lam, H)
    return -np.vdot(H, best), task.scores(Z).max()


def subgradient(steps, first=0.5):
    Z, sum_Z, counts, total, gaps = 0 * H, 0 * H, np.zeros(M), 0.0, []
    for t in range(1, steps + 1):
        m = int(task.scores(Z).argmax())
        length = first / np.sqrt(t)
        sum_Z, total = sum_Z + length * Z, total + length
        counts[m] += length
        Z = Z - length * (Z / 2 + K[m] @ Z / (2 * lam) - H)
        if t in budgets:
            low, high = bounds(sum_Z / total, counts / total)
            gaps.append((high - low) / abs(exact.objective))
    return np.array(gaps)


budgets = np.unique(np.geomspace(10, 1000, 9).astype(int))
cornered = subgradient(1000)

# %%
# Then Nesterov's with :math:`\sigma=1/N`, one run for every budget :math:`N`; and the
# gap of the smoothed problem itself, with :math:`\sigma` fixed.

planned, own = [], []
for N in map(int, budgets):
    given = {"solver": "hypergraph_nesterov", "max_iter": N, "tol": 1e-12, "lam": lam}
    run = mklcvx.solve(instance, "hypergraph", options={"steps": N}, **given)
    planned.append(run.certificate.gap / abs(exact.objective))
    run = mklcvx.solve(instance, "hypergraph_smooth", smoothing=0.01, **given)
    own.append(max(run.certificate.gap, 1e-14) / abs(exact.objective))

fig, ax = plt.subplots(figsize=(6.5, 3.8), layout="constrained")
shown = (
    (cornered, "o", "subgradient", -0.5),
    (planned, "s", "Nesterov, σ = 1/N", -1),
    (own, "^", "Nesterov, the smoothed problem's own gap", -2),
)
for gaps, marker, label, power in shown:
    slope = np.polyfit(np.log(budgets[2:]), np.log(gaps[2:]), 1)[0]
    print(f"{label}: promised exponent {power}, measured {slope:.2f}")
    ax.loglog(budgets, gaps, f"k{marker}-", markerfacecolor="white", label=label)
    guide = gaps[2] * (budgets / budgets[2]) ** power
    ax.loglog(budgets, guide, "k:", linewidth=0.8)
    assert slope < power + 0.1
ax.set(xlabel="steps N", ylabel="certified gap / optimal value", ylim=(1e-8, 1e4))
ax.legend(loc="upper right", title="dotted: the promised power")
plt.show()

# %%
# No method is slower than promised. Some are faster: the term :math:`\tfrac14\|Z\|^2`
# makes :math:`f_\sigma` strongly convex, which the worst case does not have. But
# :math:`\sigma=1/N` has a floor. With :math:`\sigma` fixed beforehand, more steps than
# planned gain little:

runs = {}
for N in (10, 100, 1000):
    given = {"solver": "hypergraph_nesterov", "max_iter": 1000, "tol": 1e-12}
    runs[f"σ = 1/{N}"] = mklcvx.solve(
        instance, "hypergraph", options={"steps": N}, lam=lam, **given
    )
plot.gaps(runs)
plt.show()
for name, run in runs.items():
    print(name, f"ends at a gap of {run.certificate.gap:.1e}")

# %%
# There is smoothing without a floor: SpicyMKL's (Suzuki & Tomioka 2011) moves along
# with the answer. :doc:`It is worked through on a page of its own </spicymkl>`.
#
# Break it
# --------
#
# Programs often write the temperature upside down, :math:`\frac1\beta\log\sum e^{\beta
# v}`. Both are right; mixing them up is not. With the switch on, our :math:`\sigma` is
# handed to a solver that wants :math:`\beta`.

SIGMA_AS_BETA = True

sigma = 0.1
used = 1 / sigma if SIGMA_AS_BETA else sigma
broken = mklcvx.solve(instance, "hypergraph_smooth", smoothing=used, lam=lam)
report = mklcvx.verify(
    instance,
    "hypergraph_smooth",
    weights=broken.weights,
    objective=broken.objective,
    smoothing=sigma,
    lam=lam,
)
print(report.verdict)
for part in report.parts:
    print(f"  {part.name}: {part.excess:.1e} away from the optimal value")
print(report.diagnosis.words if report.diagnosis else "nothing to say")
print("weights", broken.weights.round(3), "where all equal is", round(1 / M, 3))

# %%
# The weights show the same: with so much entropy they are all but equal, whatever the
# kernels are.
#
# Exercises
# ---------
#
# **1.** When is :math:`f_\sigma(Z)=f(Z)+\sigma\log M` exactly? And when is
# :math:`f_\sigma(Z)` nearly :math:`f(Z)`?
#
# .. dropdown:: Solution 1
#
#     With all :math:`v_m` equal to :math:`v`:
#     :math:`\sigma\log(Me^{v/\sigma})=v+\sigma\log M`. Then the entropy is largest, at
#     :math:`\mu_m=1/M`. Nearly :math:`f` where one :math:`v_m` is larger than the
#     others by several :math:`\sigma`: the sum is its exponential alone. At a minimum
#     with a corner many are equal, so the bound is met just where we need the value.
#
# **2.** You want :math:`f` to an error of 0.001 with :math:`M=6`. Which :math:`\sigma`
# do you take, and what happens to the number of steps if you ask for 0.0001?
#
# .. dropdown:: Solution 2
#
#     Give half of the error to smoothing: :math:`\sigma\log6\le0.0005`, so
#     :math:`\sigma\approx0.00028`. Nesterov's error :math:`c/(\sigma N^2)` must be
#     below 0.0005 too. A tenth of the error means a tenth of :math:`\sigma`, and ten
#     times as many steps. A subgradient method would need a hundred times as many.
#
# **3.** (*With a seed.*) Solve a smoothed problem of your own.

from mklcvx.exercises import exercise

mine = exercise("smoothed-maximum", seed=7)
print(mine.question)

# %%
# A first attempt forgets the smoothing, and solves for the maximum itself:

sharp = mklcvx.solve(mine.instance, "hypergraph", lam=mine.parameters["lam"])
print(mine.grade(weights=sharp.weights, objective=sharp.objective))

# %%

# Solution 3, for every seed
kernels, sigma, lam = (
    mine.instance.kernels,
    *map(mine.parameters.get, ("smoothing", "lam")),
)
labels = mine.instance.targets.values
raw = labels / np.sqrt(np.maximum(labels @ labels.sum(axis=0), 1))[:, None]
Z = Q = np.zeros(raw.shape)  # clique expansion: HH' = raw raw'
t, L = 1.0, 0.5 + np.linalg.eigvalsh(kernels).max() / (2 * lam)


def value(Z):
    images = kernels @ Z
    v = (
        np.vdot(Z, Z) / 4
        + np.sum(images * Z, axis=(1, 2)) / (4 * lam)
        - np.vdot(Z, raw)
    )
    mu = np.exp((v - v.max()) / sigma)
    mu /= mu.sum()
    gradient = Z / 2 + np.tensordot(mu, images, 1) / (2 * lam) - raw
    return smooth_max(v, sigma), mu, gradient


for _ in range(1500):
    ahead = Z - (Z + Q) / t
    now, _, gradient = value(ahead)
    while value(ahead - gradient / L)[0] > now - np.vdot(gradient, gradient) / (2 * L):
        L *= 2
        if L > 1e8:
            break
    Z, Q = ahead - gradient / L, Q + t / L * gradient
    t = (1 + np.sqrt(1 + 4 * t**2)) / 2
objective, mu, _ = value(Z)
grade = mine.grade(weights=mu, objective=objective)
print(grade)
assert grade.passed

# %%
# To take away: *a maximum is a linear program over the simplex; an entropy in it makes
# the maximum smooth, at a price known beforehand; and a smooth function can be
# accelerated.*
