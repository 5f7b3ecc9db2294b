r"""
Stochastic approximation: one class at a time
=============================================

With many labels, every step of an algorithm costs one SVM per class. What if we drew
one class at random, and solved its SVM only? We see when this pays, why the estimate
must be divided by *the probability with which the class was drawn*, and what happens
if it is divided by something that merely looks like it.

The problem
-----------

There are :math:`n_c` classes, that is label vectors :math:`y^k=\pm1`, and one
combination of the kernels with weights :math:`\mu` on the simplex serves them all. For
given weights class :math:`k` costs what its SVM costs (no bias here),

.. math::

   H_k(\mu)=\max_{0\le\alpha\le C}\ \mathbf 1^\top\alpha
   -\tfrac12\sum_m\mu_m\,q^k_m(\alpha),

with :math:`q^k_m(\alpha)=(\alpha\circ y^k)^\top K_m(\alpha\circ y^k)`. One may ask
for a small sum, :doc:`ml_sum </formulations/ml_sum>`, or for a small worst case,
:doc:`ml_minimax </formulations/ml_minimax>` (Bucak et al. 2010, Eqs (2) and (3)). We
take the second: least :math:`H` with :math:`H_k(\mu)\le H` for all :math:`k`. Let
:math:`\gamma_k` be the price of class :math:`k`'s constraint. Minimising :math:`H` out
of :math:`H+\sum_k\gamma_k(H_k(\mu)-H)` leaves :math:`\sum\gamma_k=1`, and

.. math::

   \min_{\mu\in\Delta}\ \max_{\gamma\in\Delta}\quad
   L(\mu,\gamma)=\sum_k\gamma_kH_k(\mu) .

A game: :math:`\mu` wants the classes cheap, :math:`\gamma` looks for the dearest.
"""

import matplotlib.pyplot as plt
import numpy as np

import mklcvx
from mklcvx import zoo
from mklcvx.reports import plot

rng = np.random.default_rng(1)
n, M, n_classes, C = 30, 4, 16, 1.0
views = rng.normal(size=(M, n, 3))
scores = [
    views[k % 3] @ rng.normal(size=3) + 0.7 * rng.normal(size=n)
    for k in range(n_classes)
]
labels = np.stack([score > np.quantile(score, 0.6) for score in scores], axis=1)
squares = ((views[:, :, None] - views[:, None]) ** 2).sum(axis=3)
instance = mklcvx.Instance(np.exp(-0.3 * squares), labels=labels.astype(float))

exact = mklcvx.solve(instance, "ml_minimax", C=C)
gamma, values = exact.multipliers["gamma"], exact.multipliers["class_values"]
print("μ", exact.weights.round(3))
print(f"classes with a price: {np.sum(gamma > 1e-6)} of {n_classes}")
print(f"the worst class costs {values.max():.3f}, the best {values.min():.3f}")

# %%
# The steps
# ---------
#
# By Danskin's theorem the derivative of a maximum is taken at the maximiser, the SVM's
# :math:`\alpha^k`, as if that did not move:
#
# .. math::
#
#    \frac{\partial L}{\partial\mu_m}&=-\tfrac12\sum_k\gamma_k\,q^k_m(\alpha^k), \\
#    \frac{\partial L}{\partial\gamma_k}&=H_k(\mu) .
#
# :math:`\mu` steps down, :math:`\gamma` up. Multiplying by exponentials and making the
# sum 1 again keeps both on their simplex:
#
# .. math::
#
#    \mu_m\propto\mu_m\,e^{-\eta\,\partial L/\partial\mu_m},\qquad
#    \gamma_k\propto\gamma_k\,e^{+\eta\,\partial L/\partial\gamma_k} .
#
# That needs all :math:`n_c` SVMs. Now draw one class :math:`k` with probability
# :math:`\gamma'_k` and put
#
# .. math::
#
#    \hat g_m&=-\tfrac12\frac{\gamma_k}{\gamma'_k}\,q^k_m(\alpha^k), \\
#    \hat h_k&=\frac{H_k(\mu)}{\gamma'_k},\quad\hat h_l=0\text{ for }l\ne k .
#
# In the mean that is right: :math:`\sum_k\gamma'_k\cdot\frac{\gamma_k}{\gamma'_k}
# \bigl(-\tfrac12q^k_m\bigr)` is :math:`\partial L/\partial\mu_m`, and class
# :math:`k` gets :math:`\gamma'_k\cdot H_k/\gamma'_k=H_k`. **Whatever** :math:`\gamma'`
# **is, it cancels, if it is the distribution that was drawn from.** It is chosen as
# :math:`\gamma'=(1-\phi)\gamma+\phi/n_c`, so that no class is forgotten and nothing
# is divided by a tiny number: :math:`\hat h_k\le H_kn_c/\phi`. (The paper's letters
# are others: :doc:`/letters`.)
#
# Does sampling help?
# -------------------
#
# Count SVM fits. A sampled step costs 1, a full step :math:`n_c`; Nemirovski's
# mirror-prox, which looks half a step ahead, :math:`2n_c`. The sampled method runs
# twice: with the solver's own step length, and with one found by trying three, which
# flatters it, as choosing after the fact always does.


def compare(problem, longer, steps):
    runs = {}
    for name, solver, count, options in (
        ("sampled, own step", "ml_sa", steps[0], {}),
        ("sampled, chosen step", "ml_sa", steps[0], {"eta": longer}),
        ("all classes", "ml_mirror_prox", steps[1], {"extra": 0}),
        ("all classes, mirror-prox", "ml_mirror_prox", steps[1] // 2, {}),
    ):
        given = {"solver": solver, "max_iter": count, "options": options, "tol": 1e-6}
        runs[name] = mklcvx.solve(problem, "ml_minimax", C=C, **given)
    return runs


def gap_after(run, fits):
    return [row.gap for row in run.trace if row.svm_solves <= fits][-1]


few = zoo.specimen("four-classes").instance()
many_runs = compare(instance, 0.3 / values.max(), (400, 90))
few_runs = compare(few, 0.3 / mklcvx.solve(few, "ml_minimax").objective, (300, 60))
fig, axes = plt.subplots(1, 2, figsize=(8, 3.8), layout="constrained", sharey=True)
for ax, runs, title in zip(
    axes, (many_runs, few_runs), (f"{n_classes} classes", "4 classes"), strict=True
):
    plot.gaps(runs, against="svm_solves", ax=ax)
    ax.set_title(title)
axes[1].set_ylabel("")
axes[1].get_legend().remove()
plt.show()

for fits, runs in ((50, many_runs), (400, many_runs), (50, few_runs)):
    print(f"{n_classes if runs is many_runs else 4} classes, {fits} SVM fits")
    for name, run in runs.items():
        print(f"  {name}: gap {gap_after(run, fits):.4f}")
early, late = ([gap_after(run, k) for run in many_runs.values()] for k in (50, 400))
assert max(early[:2]) < min(early[2:])
assert late[3] < min(late[:2])
behind = [gap_after(run, 50) for run in few_runs.values()]
assert min(behind[:2]) > max(behind[2:])

# %%
# With sixteen classes sampling is ahead **at the beginning**: before a few full steps
# are paid for, many sampled ones have found the rough direction. How far ahead depends
# on the step length, which nobody tells you beforehand. With four classes there is
# little to save, and after fifty fits it is behind. In the end mirror-prox wins: a
# sampled step is a random one, and its noise has to be averaged away, as
# :math:`1/\sqrt t`. These are two problems and one seed, an illustration and not a
# comparison of methods.
#
# A game solved by hand
# ---------------------
#
# For the rest we want a problem whose answer we know. Four samples, two classes
# :math:`u=(+,+,-,-)` and :math:`v=(+,-,+,-)`, kernels :math:`\tfrac14uu^\top` and
# :math:`\tfrac18vv^\top`, :math:`C=1`. No :math:`|f(x_i)|` can exceed 1, so every
# margin is missed or just met, and :math:`\alpha=1` is optimal for any weights. As
# :math:`u\perp v`, each kernel serves one class:
#
# .. math::
#
#    H_1&=4-\tfrac12\mu_1\cdot\tfrac14(u^\top u)^2=4-2\mu_1, \\
#    H_2&=4-\tfrac12\mu_2\cdot\tfrac18(v^\top v)^2=4-\mu_2 .
#
# Both classes equally dear: :math:`2\mu_1=\mu_2`, so :math:`\mu=(\tfrac13,\tfrac23)`.
# Both kernels equally useful to :math:`\gamma`: :math:`2\gamma_1=\gamma_2`, so
# :math:`\gamma=(\tfrac13,\tfrac23)`.

u, v = np.array([1.0, 1, -1, -1]), np.array([1.0, -1, 1, -1])
kernels = np.stack([np.outer(u, u) / 4, np.outer(v, v) / 8])
game = mklcvx.Instance(kernels, labels=(np.stack([u, v], axis=1) > 0).astype(float))
by_machine = mklcvx.solve(game, "ml_minimax", C=1.0)
print("μ", by_machine.weights.round(6), "γ", by_machine.multipliers["gamma"].round(6))
assert np.abs(by_machine.weights - [1 / 3, 2 / 3]).max() < 1e-6

# %%
# The stochastic steps for this game, 32 runs side by side. Two shares need one number
# each, so :math:`\mu_1` and :math:`\gamma_1` are kept as logits, and multiplying by
# exponentials becomes adding. The answer is the average over all steps. Its distance
# from the saddle point is :math:`\Delta=\max_\gamma L(\mu,\cdot)-\min_\mu
# L(\cdot,\gamma)`.


def share(logit):
    return 1 / (1 + np.exp(-np.clip(logit, -30, 30)))


def play(eta, steps, phi=0.5, unbiased=True):
    of_gamma, of_mu = np.zeros(32), np.zeros(32)
    sum_gamma, sum_mu = np.zeros(32), np.zeros(32)
    for luck in np.random.default_rng(0).random((steps, 32)):
        gamma, mu = share(of_gamma), share(of_mu)
        sum_gamma, sum_mu = sum_gamma + gamma, sum_mu + mu
        drawn = (1 - phi) * gamma + phi / 2
        first = luck < drawn
        own = np.where(first, gamma, 1 - gamma)  # γ_k of the class drawn
        chance = np.where(first, drawn, 1 - drawn)  # its γ'_k
        cost = 4 - np.where(first, 2 * mu, 1 - mu)
        h = cost / (chance if unbiased else own)
        g = np.where(first, 2.0, -1.0) * (own / chance if unbiased else 1.0)
        of_gamma = np.clip(of_gamma + eta * np.where(first, h, -h), -30, 30)
        of_mu = of_mu + eta * g
    return sum_mu / steps, sum_gamma / steps


def distance(mu, gamma):
    return np.maximum(4 - 2 * mu, 3 + mu) - np.minimum(4 - 2 * gamma, 3 + gamma)


# %%
# How long a step?
# ----------------
#
# The theory's bound on :math:`\Delta` has two terms, :math:`\frac{2(\log n_c+\log
# M)}{\eta\,T}+\eta\,c` (Bucak et al. 2010, Theorem 1, as proved among the
# :doc:`/claims`): short steps do not arrive in :math:`T` steps, long ones rattle about.
# The :math:`\eta` that makes *the bound* least is of order :math:`1/\sqrt T`, and so is
# the bound then.

lengths = np.geomspace(3e-4, 1.0, 9)
fig, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
for steps, style in ((300, "o--"), (3000, "s-")):
    mean = [distance(*play(eta, steps)).mean() for eta in lengths]
    ax.loglog(lengths, mean, f"k{style}", markerfacecolor="white", label=f"T = {steps}")
    best = int(np.argmin(mean))
    print(f"T = {steps}: best η {lengths[best]:.4f}, Δ {mean[best]:.3f}")
    assert 0 < best < len(lengths) - 1
ax.set(xlabel="length η of a step", ylabel="mean distance Δ of 32 runs")
ax.legend()
plt.show()

# %%
# Both ends are bad, as the bound says. In between the curves are flat, over more than a
# factor of ten, and 32 runs do not single out a best length: the lowest mark need not
# move as :math:`1/\sqrt T`. A bound tells what is safe, not what is best.
#
# Break it
# --------
#
# In the paper's text a class is drawn from :math:`\gamma'` while Eq. (9) divides by
# :math:`\gamma_k` and Eq. (8) has no factor. With :math:`\phi=0` these are the same.
# With :math:`\phi>0` the mean of the estimates is not the gradient any more.

DIVIDE_BY_GAMMA = True

mu, gamma = play(eta=0.01, steps=10_000, unbiased=not DIVIDE_BY_GAMMA)
print(f"mean Δ after 10000 steps: {distance(mu, gamma).mean():.3f}")
mu, gamma = mu.mean(), gamma.mean()
report = mklcvx.verify(
    game,
    "ml_minimax",
    weights=[mu, 1 - mu],
    multipliers={"gamma": [gamma, 1 - gamma]},
    C=1.0,
    tol=0.02,
)
print(report.verdict)
for part in report.parts:
    print(f"  {part.name}: {part.excess:.1e} away from the optimal value")
print(report.diagnosis.words if report.diagnosis else "nothing to say")

# %%
# The judge sees the answer alone, and from one answer a biased method looks like one
# that was stopped early. More steps tell them apart, for they do not mend a bias. Here
# is :math:`\Delta` along :math:`T`, with
# :math:`\eta\sim1/\sqrt T` as the theorem has it. Its repaired bound holds for the
# estimates divided by :math:`\gamma'`. For those of the text no such bound does,
# whatever its constant: it tends to zero and this :math:`\Delta` does not. The
# measured numbers are among the :doc:`/claims`; mklcvx's solver ``ml_sa`` is the
# repaired one.

budgets = [100, 300, 1000, 3000, 10_000]
fig, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
for unbiased, style, label in (
    (True, "o-", "divided by γ′, as drawn"),
    (False, "s--", "divided by γ, as in the text"),
):
    mean = [distance(*play(1 / np.sqrt(T), T, 0.5, unbiased)).mean() for T in budgets]
    ax.loglog(budgets, mean, f"k{style}", markerfacecolor="white", label=label)
    assert (mean[-1] < mean[0] / 3) == unbiased
ax.set(xlabel="steps T", ylabel="mean distance Δ of 32 runs")
ax.legend()
plt.show()

# %%
# Exercises
# ---------
#
# **1.** Why :math:`\gamma'` and not :math:`\gamma` itself as the distribution to draw
# from? With :math:`\gamma'=\gamma` nothing would have to be corrected.
#
# .. dropdown:: Solution 1
#
#     :math:`\hat h_k=H_k/\gamma_k` is huge for a class that is rarely drawn. When it is
#     drawn at last, :math:`e^{\eta\hat h_k}` gives it nearly all of :math:`\gamma`,
#     then no other class is drawn again, and the run is stuck. With :math:`\gamma'\ge
#     \phi/n_c` the jump is at most :math:`\eta H_kn_c/\phi`.
#
# **2.** Let only Eq. (9) be mended, divided by :math:`\gamma'_k`, and (8) be left as it
# is, without the factor :math:`\gamma_k/\gamma'_k`. To which :math:`\gamma` do the
# averages tend in the game above, for :math:`\phi=\tfrac12`?
#
# .. dropdown:: Solution 2
#
#     In the mean :math:`\mu` now answers :math:`\gamma'` and not :math:`\gamma`. At
#     rest :math:`\gamma'` is the saddle point's :math:`(\tfrac13,\tfrac23)`, so
#     :math:`\tfrac12\gamma_1+\tfrac14=\tfrac13`: :math:`\gamma_1=\tfrac16`, where
#     :math:`\tfrac13` is right.
#
# **3.** Which of the classes may be left out without changing the optimum of
# ``ml_minimax``? And of ``ml_sum``?
#
# .. dropdown:: Solution 3
#
#     In the minimax form those with :math:`\gamma_k=0`: their constraints are not
#     tight, and without them the multipliers at hand still prove optimality. In the
#     sum every class counts.

# %%

# Solution 3, by machine
kept = exact.multipliers["gamma"] > 1e-6
fewer = mklcvx.Instance(instance.kernels, labels=labels[:, kept].astype(float))
again = mklcvx.solve(fewer, "ml_minimax", C=C)
print(f"{kept.sum()} classes: {again.objective:.6f}")
print(f"all {n_classes} of them: {exact.objective:.6f}")
assert abs(again.objective - exact.objective) < 1e-5

# %%
# **4.** (*With a seed.*) The worst class, as good as possible, for a problem of your
# own.

from mklcvx.exercises import exercise

mine = exercise("worst-class", seed=7)
print(mine.question)

# %%
# A first attempt minimises the sum of the classes' costs:

other = mklcvx.solve(mine.instance, "ml_sum", **mine.parameters)
print(mine.grade(weights=other.weights, objective=other.objective))

# %%

# Solution 4, for every seed
import cvxpy as cp

K, price = mine.instance.kernels, mine.parameters["C"]
signs = 2 * mine.instance.targets.values - 1
roots = [np.linalg.cholesky(kernel + 1e-12 * np.eye(len(kernel))) for kernel in K]
weights, worst = cp.Variable(len(K), nonneg=True), cp.Variable()
conditions = [cp.sum(weights) == 1]
for y in signs.T:
    w = [cp.Variable(len(y)) for _ in roots]
    penalty = cp.sum([cp.quad_over_lin(w[m], weights[m]) for m in range(len(K))]) / 2
    f = cp.sum([roots[m] @ w[m] for m in range(len(K))])
    conditions.append(penalty + price * cp.sum(cp.pos(1 - cp.multiply(y, f))) <= worst)
cp.Problem(cp.Minimize(worst), conditions).solve()
shares = np.maximum(weights.value, 0)
grade = mine.grade(weights=shares / shares.sum(), objective=worst.value)
print(grade)
assert grade.passed

# %%
# To take away: *a random step may replace a full one if its mean is the gradient; so
# divide by the probability with which you drew, and by nothing else.*
