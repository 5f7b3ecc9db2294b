r"""
Where kernel weights come from
==============================

In the last chapter we put the weights in ourselves. But there is a way to state the
same problem in which no weight occurs at all, and the weights come out nevertheless.
They are prices: **the multipliers of one quadratic constraint for each kernel**.

The problem
-----------

Thirty points with three features, and a Gaussian kernel for each. The first two
features tell the classes apart, the first better than the second; the third is mostly
noise.
"""

import cvxpy as cp
import matplotlib.pyplot as plt
import numpy as np

import mklcvx
from mklcvx.reports import plot

n, C = 30, 1.0
y = np.repeat([1.0, -1.0], n // 2)


def three_features(strengths, seed):
    features = np.random.default_rng(seed).normal(size=(n, 3)) + np.outer(y, strengths)
    return mklcvx.Instance(
        [np.exp(-((z[:, None] - z) ** 2) / 2) for z in features.T],
        y,
        names=["feature 1", "feature 2", "feature 3"],
    )


instance = three_features([1.2, 0.8, 0.15], seed=0)
kernels = instance.kernels

# %%
# A dual without weights
# ----------------------
#
# For a given :math:`\alpha`, nature may choose the kernel. We only get what is left
# when it chooses the most expensive one:
#
# .. math::
#
#    \max_{\alpha\in S}\ \sum_i\alpha_i-\max_m\tfrac12q_m(\alpha),
#
# where :math:`S` stands for :math:`0\le\alpha_i\le C`, :math:`y^\top\alpha=0`. A
# maximum is the least number above all, so this is the same as
#
# .. math::
#
#    \max_{\alpha\in S,\ \tau}\quad & \sum_i\alpha_i-\tau \\
#    \text{subject to}\quad & \tfrac12q_m(\alpha)\le\tau\quad\text{for every }m ,
#
# a linear objective with one convex quadratic constraint for each kernel: the QCQP of
# Lanckriet et al. (2004). Where are the weights?
#
# Its Lagrangian
# --------------
#
# Give each of the :math:`M` constraints a price :math:`\mu_m\ge0`. As we maximise, we
# *add* what is left of the constraint:
#
# .. math::
#
#    L=\sum_i\alpha_i-\tau+\sum_m\mu_m\bigl(\tau-\tfrac12q_m(\alpha)\bigr) .
#
# Wherever the constraints hold, :math:`L` is at least the objective. So the greatest
# value of :math:`L` over all :math:`\alpha\in S` and all :math:`\tau` is an *upper*
# bound on the optimum, for every choice of prices:
#
# :math:`\tau`
#     appears as :math:`(\sum_m\mu_m-1)\,\tau`. Unless the bracket is zero the maximum
#     is :math:`+\infty`, and the bound says nothing. So
#     :math:`\boldsymbol{\sum_m\mu_m=1}`: the budget of the last chapter is a condition
#     on prices.
#
# :math:`\alpha`
#     appears as :math:`\sum_i\alpha_i-\tfrac12\sum_m\mu_mq_m(\alpha)`. As
#     :math:`\sum_m\mu_mq_m` is the :math:`q` of the kernel :math:`\sum_m\mu_mK_m`,
#     **this is an SVM, and the prices are its kernel weights.** Its greatest value is
#     :math:`V(\mu)`.
#
# The best of the bounds is :math:`\min_\mu V(\mu)` over the simplex, the problem with
# which the last chapter began. And *complementary slackness* says of every kernel
#
# .. math::
#
#    \mu_m\,\bigl(\tau-\tfrac12q_m(\alpha)\bigr)=0 :
#
# a kernel is used only where its constraint is tight. A kernel whose
# :math:`\tfrac12q_m` stays below :math:`\tau` has the weight 0, exactly 0.
#
# By machine
# ----------
#
# We declare the QCQP, in which there is no :math:`\mu`, and ask for the multipliers of
# its constraints.


def qcqp(instance, C, half_in_the_objective=False):
    factor = 1.0 if half_in_the_objective else 0.5
    alpha, tau = cp.Variable(instance.samples), cp.Variable()
    signed = cp.multiply(alpha, instance.y)
    roots = [np.linalg.cholesky(K + 1e-10 * np.eye(len(K))) for K in instance.kernels]
    cuts = [factor * cp.sum_squares(root.T @ signed) <= tau for root in roots]
    cost = tau / 2 if half_in_the_objective else tau
    feasible = [alpha >= 0, alpha <= C, instance.y @ alpha == 0]
    problem = cp.Problem(cp.Maximize(cp.sum(alpha) - cost), feasible + cuts)
    problem.solve(solver="CLARABEL")
    prices = np.array([np.sum(cut.dual_value) for cut in cuts])
    return alpha.value, tau.value, prices, problem.value


alpha, tau, prices, value = qcqp(instance, C)
solution = mklcvx.solve(instance, "l1", C=C)
half_q = np.array([(alpha * y) @ K @ (alpha * y) / 2 for K in kernels])
print(f"value of the QCQP {value:.6f}, by mklcvx {solution.objective:.6f}")
print(f"τ = {tau:.5f}")
for m, name in enumerate(instance.names):
    print(f"{name}: ½q {half_q[m]:.5f}, multiplier {prices[m]:.5f}, ", end="")
    print(f"weight by mklcvx {solution.weights[m]:.5f}")

assert abs(value - solution.objective) < 1e-5
assert np.allclose(prices, solution.weights, atol=1e-3)
assert np.allclose(half_q[:2], tau, atol=1e-4)
assert half_q[2] < tau - 0.1
assert solution.weights[2] < 1e-6

# %%
# The first two constraints are tight and have a price. The third is not: for this
# :math:`\alpha` kernel 3 is cheaper than :math:`\tau`, and has no weight.
#
# Two kernels: a slope
# --------------------
#
# What does a little more weight change? :math:`V(\mu)` is the greatest of functions
# that are linear in :math:`\mu`, one for each :math:`\alpha`. At :math:`\mu` the
# greatest is the one of the optimal :math:`\alpha`, and it is the tangent there:
#
# .. math::
#
#    \frac{\partial V}{\partial\mu_m}=-\tfrac12q_m(\alpha(\mu)) .
#
# So weight moved from kernel 1 to kernel 2 changes :math:`V` at the rate
# :math:`\tfrac12q_1-\tfrac12q_2`. Where the two are equal nothing is gained any more;
# if they never are, all weight ends at one kernel. Left: :math:`V` and two tangents
# with the slopes that :math:`q` gives. Right: the two :math:`\tfrac12q_m`, which cross
# at the optimum.


def machine(instance, mu):
    """V(μ), and ½q for every kernel at its α."""
    combined = np.tensordot(mu, instance.kernels, axes=1)
    svm = mklcvx.solve(mklcvx.Instance(combined[None], y), "svm", C=C)
    signed = svm.alpha * y
    return svm.objective, np.array([signed @ K @ signed / 2 for K in instance.kernels])


two = instance.select([0, 1])
best = mklcvx.solve(two, "l1", C=C)
t = np.linspace(0, 1, 33)
values, halves = zip(*(machine(two, np.array([s, 1 - s])) for s in t), strict=True)
halves = np.array(halves)

fig, (left, right) = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained")
left.plot(t, values, "k-", linewidth=2, label="$V(\\mu)$")
for s, style in ((0.25, "k--"), (0.9, "k:")):
    height, (h1, h2) = machine(two, np.array([s, 1 - s]))
    near = np.array([s - 0.3, s + 0.3])
    left.plot(near, height + (h2 - h1) * (near - s), style, linewidth=1)
    left.plot(s, height, "ko", markerfacecolor="white")
left.plot(best.weights[0], best.objective, "k*", markersize=13, label="optimum")
left.set(xlabel=r"$\mu_1$, and $\mu_2=1-\mu_1$", ylabel="value", xlim=(0, 1))
left.legend()
right.plot(t, halves[:, 0], "k-", label=r"$\frac{1}{2}q_1$")
right.plot(t, halves[:, 1], "k--", label=r"$\frac{1}{2}q_2$")
right.axvline(best.weights[0], color="black", linestyle=":", linewidth=1)
right.plot(best.weights[0], best.multipliers["tau"], "k*", markersize=13)
right.set(xlabel=r"$\mu_1$", ylabel=r"$\frac{1}{2}q_m$ at the optimal $\alpha$")
right.legend()
plt.show()

(before, _), (after, _) = machine(two, [0.249, 0.751]), machine(two, [0.251, 0.749])
slope = (after - before) / 0.002
_, (h1, h2) = machine(two, [0.25, 0.75])
print(f"slope at ¼ by differences {slope:.3f}, by q {h2 - h1:.3f}")
assert abs(slope - (h2 - h1)) < 0.005

# %%
# Three kernels: a triangle
# -------------------------
#
# For :math:`M=3` the weights are the points of a triangle. A corner is one kernel
# alone, an edge is a pair, the middle has all three. Contours of :math:`V`, the star is
# the optimum. On the left our problem: the optimum lies **on the edge** of the two good
# features, and :math:`V` would still fall beyond it, where weight 3 is negative; but a
# price cannot be. On the right three features of equal strength: the optimum is inside,
# and all three constraints are tight.

equal = three_features([0.8, 0.8, 0.8], seed=4)
fig, axes = plt.subplots(1, 2, figsize=(8, 3.8), layout="constrained")
for one, ax in zip((instance, equal), axes, strict=True):
    plot.landscape(one, "l1", C=C, resolution=12, ax=ax)
    found = mklcvx.solve(one, "l1", C=C)
    _, heights = machine(one, found.weights)
    print("weights", found.weights.round(4), " ½q", heights.round(4))
plt.show()

inside = mklcvx.solve(equal, "l1", C=C)
assert inside.weights.min() > 0.05
assert np.ptp(machine(equal, inside.weights)[1]) < 1e-3
_, slopes = machine(instance, solution.weights)
assert slopes[2] < slopes[:2].min()  # weight moved to kernel 3 would raise V

# %%
# Break it
# --------
#
# The same QCQP can be written with the ½ elsewhere: maximise
# :math:`\sum\alpha_i-\tfrac12\tau` subject to :math:`q_m(\alpha)\le\tau`. Value and
# :math:`\alpha` are the same. Are the multipliers?

HALF_IN_THE_OBJECTIVE = True

alpha, tau, prices, value = qcqp(instance, C, HALF_IN_THE_OBJECTIVE)
report = mklcvx.verify(
    instance, "l1", alpha=alpha, weights=prices, objective=value, C=C, tol=1e-4
)
print(report.verdict)
for part in report.parts:
    print(f"  {part.name}: {part.verdict(report.tolerance)}")
print(report.diagnosis.words if report.diagnosis else "nothing to say")
assert report.accepted != HALF_IN_THE_OBJECTIVE

# %%
# A multiplier is the price of *its* constraint as it is written. Multiply a constraint
# by 2, and its price halves: :math:`(\sum_m\mu_m-\tfrac12)\,\tau` in the Lagrangian, so
# these sum to ½. Weights read off a solver need a look at the Lagrangian first.
#
# Exercises
# ---------
#
# **1.** Add an exact copy of kernel 1. What happens to the value, to :math:`\alpha`, to
# the weights?
#
# .. dropdown:: Solution 1
#
#     A constraint is stated twice, so neither value nor :math:`\alpha` changes. The
#     price can be split between the two copies in any proportion: the weights are no
#     longer unique. That is why mklcvx judges weights by what they are worth,
#     :math:`V(\mu)`, and never one by one.
#
# **2.** Multiply kernel 3 by 10 and leave the others as they are. Will it be used? Why
# should kernels be brought to one scale first?
#
# .. dropdown:: Solution 2
#
#     Its constraint becomes :math:`\tfrac12q_3\le\tau/10`, which our :math:`\alpha`
#     violates: it becomes tight, and gets a price. A kernel ten times as large makes
#     functions ten times cheaper, whatever they are good for. The budget
#     :math:`\sum\mu=1` compares kernels by size, so sizes must mean something.

# %%

# Solution 2, by machine
louder = instance.with_kernels(kernels * np.array([1.0, 1.0, 10.0])[:, None, None])
found = mklcvx.solve(louder, "l1", C=C)
print(
    "weights",
    found.weights.round(4),
    "times sizes",
    found.weights.round(4) * [1, 1, 10],
)
assert found.weights[2] > 0.03

# %%
# **3.** (*With a seed.*) A problem of your own, three kernels. Five digits are enough.

from mklcvx.exercises import exercise

mine = exercise("kernel-weights", seed=7)
print(mine.question)

# %%
# An attempt with one third for each kernel, the SVM solved with great care:

even = mklcvx.solve(mine.instance, "average", C=mine.parameters["C"])
print(mine.grade(alpha=even.alpha, weights=even.weights, objective=even.objective))

# %%

# Solution 3, for every seed
alpha, _, prices, value = qcqp(mine.instance, mine.parameters["C"])
grade = mine.grade(alpha=alpha, weights=prices / prices.sum(), objective=value)
print(grade)
assert grade.passed

# %%
# To take away: *a kernel weight is the price of the constraint*
# :math:`\tfrac12 q_m(\alpha)\le\tau`. *Tight constraints may have a price, slack ones
# have none, and the prices sum to one because* :math:`\tau` *is free.*
