r"""
Two stages: pairs of samples as examples
========================================

Until now weights and classifier were learned together. One can also learn the kernel
first, and the classifier after it. The trick is to look at *pairs* of samples: a good
kernel says "alike" of two samples of one class. That is a classification problem of
its own, with one example for every pair, and it is linear.

K-space
-------

Two samples :math:`i\le j` make one **K-example**: the vector of what the :math:`M`
kernels say of them, with the label :math:`t_{ij}`,

.. math::

   z_{ij}&=\bigl(K_1(i,j),\dots,K_M(i,j)\bigr), \\
   t_{ij}&=y_iy_j .

:math:`t_{ij}=+1` if the two are of one class. A linear classifier in this space,
:math:`\mu^\top z_{ij}=\sum_m\mu_mK_m(i,j)`, *is* a combined kernel (Kumar et al. 2012).
The only condition is :math:`\mu\ge0`, which keeps it positive semidefinite.

Twenty samples with two features, one linear kernel for each; the first feature knows
the classes. Kernels are centred and given unit variance first, as in the paper.
"""

import matplotlib.pyplot as plt
import numpy as np

import mklcvx
from mklcvx import zoo
from mklcvx.problem.preprocessing import Preprocessing
from mklcvx.reports import plot
from mklcvx.solvers.solving import preprocessed

rng = np.random.default_rng(4)
n, lam = 20, 0.1
y = np.repeat([1.0, -1.0], n // 2)
x = rng.normal(size=(n, 2)) + np.outer(y, [1.2, 0.0])
raw = mklcvx.Instance(np.einsum("im,jm->mij", x, x), y, names=["first", "second"])
steps = Preprocessing.from_options(centre=True, normalise="variance")
instance = preprocessed(raw, steps)

rows, columns = np.triu_indices(n)
z, t = instance.kernels[:, rows, columns].T, y[rows] * y[columns]
N = len(t)
print(f"{n} samples, {N} = n(n+1)/2 K-examples, {np.sum(t > 0):.0f} of them alike")

# %%
# A support vector machine for pairs
# ----------------------------------
#
# Ask for margins :math:`t_{ij}\,\mu^\top z_{ij}\ge1`, as far as possible, and for a
# small :math:`\mu`. With the mean over the :math:`N` pairs,
#
# .. math::
#
#    \min_{\mu\ge0}\quad\tfrac\lambda2\|\mu\|^2
#    +\tfrac1N\sum_{i\le j}\bigl(1-t_{ij}\mu^\top z_{ij}\bigr)_+ .
#
# Its dual goes as in chapter 1. Let :math:`\beta_{ij}\ge0` be the price of a pair's
# missing margin. Minimising its slack out, which costs :math:`1/N`, leaves
# :math:`0\le\beta_{ij}\le1/N`. What depends on :math:`\mu` is
#
# .. math::
#
#    \tfrac\lambda2\|\mu\|^2-\mu^\top g,\qquad g=\sum_{i\le j}\beta_{ij}t_{ij}z_{ij} .
#
# :math:`g_m` is the force with which the pairs pull at kernel :math:`m`. Over
# :math:`\mu\ge0` every kernel is for itself: pulled up, :math:`\mu_m=g_m/\lambda`;
# pulled down, :math:`\mu_m=0`. So :math:`\mu=(g)_+/\lambda`, and
#
# .. math::
#
#    \max_{0\le\beta\le1/N}\quad\sum_{i\le j}\beta_{ij}
#    -\tfrac1{2\lambda}\bigl\|(g)_+\bigr\|^2 .
#
# By machine: :doc:`ts </formulations/ts>`.

solution = mklcvx.solve(instance, "ts", lam=lam)
mu, beta = solution.weights, solution.multipliers["beta"]
pull = (beta * t) @ z
print("μ", mu.round(5), "and from the pull", (np.maximum(pull, 0) / lam).round(5))
print(f"relative gap {solution.certificate.relative_gap:.0e}")
assert np.abs(mu - np.maximum(pull, 0) / lam).max() < 1e-4

fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
for sign, marker, face, label in (
    (1, "o", "black", "alike, t = +1"),
    (-1, "s", "white", "different, t = −1"),
):
    some = z[t == sign]
    ax.plot(
        *some.T,
        f"k{marker}",
        markerfacecolor=face,
        markersize=4,
        alpha=0.7,
        label=label,
    )
across = np.array([-6.0, 6.0])
for level, style in ((-1, ":"), (0, "-"), (1, ":")):
    ax.plot(across, (level - mu[0] * across) / mu[1], f"k{style}", linewidth=1.2)
ax.set(xlim=(-3.5, 5), ylim=(-3.5, 5))
ax.set(xlabel="first kernel K₁(i, j)", ylabel="second kernel K₂(i, j)")
ax.legend(loc="upper right")
plt.show()

# %%
# A point is a pair. The line :math:`\mu^\top z=0` goes through the origin, there is no
# bias, and the dotted lines are the margins. The first kernel tells the pairs apart and
# gets the larger weight. Many pairs stay on the wrong side: two samples of one class
# may lie far apart, and no kernel of these two can help it.

assert mu[0] > mu[1]

# %%
# A price per unit instead of a square
# ------------------------------------
#
# Replace :math:`\tfrac\lambda2\|\mu\|^2` by :math:`\lambda\sum_m\mu_m`
# (:doc:`ts_l1 </formulations/ts_l1>`). Now :math:`\lambda\sum\mu_m-\mu^\top g` is
# linear: its minimum over :math:`\mu\ge0` is 0 if :math:`g\le\lambda` in every entry,
# and :math:`-\infty` if not. The dual is a linear program,
#
# .. math::
#
#    \max_{0\le\beta\le1/N}\ \sum_{i\le j}\beta_{ij}
#    \quad\text{with}\quad g_m\le\lambda ,
#
# and :math:`\mu_m` is the multiplier of :math:`g_m\le\lambda`: **only kernels pulled
# with the full force** :math:`\lambda` **get weight**. A third way needs no loss at
# all: make the Gram matrix point in the direction of :math:`T=yy^\top`,
#
# .. math::
#
#    \max_{\mu\ge0}\ \frac{\langle K(\mu),T\rangle}{\|K(\mu)\|_F} ,
#
# the target alignment (Cortes et al. 2010; :doc:`alignment </formulations/alignment>`).
# Only the direction of :math:`\mu` counts there; it is given the length 1. All three on
# one problem with five kernels, of which each knows the classes less than the one
# before:

clouds = zoo.specimen("clouds").instance()
answers = {
    "ts: squares": mklcvx.solve(clouds, "ts", lam=0.1).weights,
    "ts_l1: sum": mklcvx.solve(clouds, "ts_l1", lam=0.1).weights,
    "alignment": mklcvx.solve(clouds, "alignment").weights,
}
fig, axes = plt.subplots(1, 3, figsize=(8, 2.8), layout="constrained", sharey=True)
for ax, (name, weights) in zip(axes, answers.items(), strict=True):
    plot.weights(weights, ax=ax)
    ax.set_title(name, fontsize="medium")
    print(name, weights.round(3))
plt.show()
assert (answers["ts: squares"] > 0.01).all()
assert np.sum(answers["ts_l1: sum"] > 1e-6) == 1

# %%
# The second stage
# ----------------
#
# The learned kernel :math:`K(\mu)` goes to an ordinary SVM. A solution carries its
# :math:`\alpha` and bias already. Compare with :math:`\ell_1`-MKL, which learns both
# together: two-stage weights know nothing of the SVM, so its objective, at weights
# that sum to one, is not less.

joint = mklcvx.solve(clouds, "l1", C=1.0)
print(f"l1, both together: {joint.objective:.4f}")
for name, weights in answers.items():
    report = mklcvx.verify(clouds, "l1", weights=weights / weights.sum(), C=1.0)
    print(f"{name}: {report['weights'].value:.4f}")
    assert report["weights"].value >= joint.certificate.lower

# %%
# That says nothing about new samples: the two stages are after another goal.
#
# Break it
# --------
#
# A linear SVM from the shelf does not know that :math:`\mu\ge0`. Without it the fit in
# K-space is better, and the "kernel" may be none.

FORGET_THE_SIGN = True

import cvxpy as cp

lam = 0.01
rows, columns = np.triu_indices(clouds.samples)
z, t = clouds.kernels[:, rows, columns].T, clouds.y[rows] * clouds.y[columns]
free = cp.Variable(clouds.count, nonneg=not FORGET_THE_SIGN)
losses = cp.pos(1 - cp.multiply(t, z @ free))
problem = cp.Problem(
    cp.Minimize(lam / 2 * cp.sum_squares(free) + cp.sum(losses) / len(t))
)
problem.solve()
report = mklcvx.verify(
    clouds, "ts", weights=free.value, objective=problem.value, lam=lam
)
print(report.verdict)
for violation in report["weights"].violations:
    print(f"  violates {violation.constraint} by {violation.by:.1e}")
print(f"  objective: {report['objective'].excess:.1e} away from the optimal value")
print(report.diagnosis.words if report.diagnosis else "nothing to say")
combined = np.tensordot(free.value, clouds.kernels, axes=1)
print(f"smallest eigenvalue of the kernel: {np.linalg.eigvalsh(combined)[0]:.3f}")

# %%
# An SVM with an indefinite kernel has no dual that could be trusted: its objective is
# not concave, and everything in chapter 1 breaks.
#
# Exercises
# ---------
#
# **1.** How large must :math:`\lambda` be for ``ts_l1`` to answer :math:`\mu=0`? What
# is the optimal value then?
#
# .. dropdown:: Solution 1
#
#     If :math:`\beta_{ij}=1/N` for all pairs is feasible, it is optimal, with the value
#     1: no :math:`\beta` has a larger sum. It is feasible if :math:`\lambda\ge\max_m
#     \frac1N\sum t_{ij}K_m(i,j)`, the strongest pull. Then :math:`\mu=0`, which costs
#     1, closes the gap.

# %%

# Solution 1, by machine
strongest = ((t / len(t)) @ z).max()
for factor in (0.99, 1.01):
    found = mklcvx.solve(clouds, "ts_l1", lam=factor * strongest)
    print(f"λ = {factor} of it: μ sums to {found.weights.sum():.4f}")
    assert (found.weights.sum() > 1e-3) == (factor < 1)

# %%
# **2.** Show that one kernel alone has the alignment :math:`\langle
# K,T\rangle/\|K\|_F\le n`. When is it :math:`n`?
#
# .. dropdown:: Solution 2
#
#     Cauchy–Schwarz: :math:`\langle K,T\rangle\le\|K\|_F\|T\|_F`, and
#     :math:`\|yy^\top\|_F=y^\top y=n`. Equality if :math:`K` is a positive multiple of
#     :math:`yy^\top`: the kernel that knows the labels.
#
# **3.** The alignment sums over all ordered pairs, K-examples are the pairs
# :math:`i\le j`. Is the maximum of :math:`\sum_{i\le j}` forms the same?
#
# .. dropdown:: Solution 3
#
#     No. In :math:`\langle K,T\rangle` a pair :math:`i<j` counts twice and the diagonal
#     once; in a sum over :math:`i\le j` all count once, so the diagonal, where
#     :math:`t_{ii}=1` always, weighs twice as much as it should. Kumar et al. 2012
#     write their Eq. (3) with K-examples; that needs all ordered pairs.
#
# **4.** (*With a seed.*) Learn weights from the pairs of your own samples.

from mklcvx.exercises import exercise

mine = exercise("k-space", seed=7)
print(mine.question)

# %%
# A first attempt loses the ½ of :math:`\tfrac\lambda2\|\mu\|^2`:


def learned(exercise, half):
    rows, columns = np.triu_indices(exercise.instance.samples)
    y, lam = exercise.instance.y, exercise.parameters["lam"]
    z, t = exercise.instance.kernels[:, rows, columns].T, y[rows] * y[columns]
    mu = cp.Variable(exercise.instance.count, nonneg=True)
    loss = cp.sum(cp.pos(1 - cp.multiply(t, z @ mu))) / len(t)
    problem = cp.Problem(cp.Minimize(half * lam * cp.sum_squares(mu) + loss))
    problem.solve()
    return {"weights": mu.value, "objective": problem.value}


print(mine.grade(**learned(mine, half=1.0)))

# %%

# Solution 4, for every seed
grade = mine.grade(**learned(mine, half=0.5))
print(grade)
assert grade.passed

# %%
# To take away: *pairs of samples are examples, kernels are features, and a linear
# classifier with non-negative weights is a kernel. Its dual is the SVM's, one size
# larger.*
