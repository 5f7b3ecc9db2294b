r"""
SILP: cutting planes, step by step
==================================

You have a program that trains SVMs, and one that solves linear programs. Is that enough
for multiple kernel learning? It is: Sonnenburg et al. (2006) put no more than these two
together. And it shows duality at work, since every step has a bound from below and one
from above.

Infinitely many planes
----------------------

We minimise :math:`V(\mu)` over the simplex, as in
:doc:`/chapters/plot_03_kernel_weights`. Collect what an :math:`\alpha` is worth to
kernel :math:`m` alone,

.. math::

   S_m(\alpha)=\sum_i\alpha_i-\tfrac12q_m(\alpha) .

As the weights sum to one, the SVM's value is

.. math::

   V(\mu)=\max_{\alpha\in S}\ \sum_m\mu_m\,S_m(\alpha) .

For a fixed :math:`\alpha` this is *linear* in :math:`\mu`: a plane. :math:`V` is the
highest of all planes, one for every :math:`\alpha`, and minimising it is a linear
program with infinitely many constraints, a **semi-infinite linear program**:

.. math::

   \min_{\tau,\,\mu}\ & \tau \\
   & \tau\ge\textstyle\sum_m\mu_m\,S_m(\alpha)
   \quad\text{for every }\alpha\in S, \\
   & \textstyle\sum_m\mu_m=1,\quad \mu\ge0 .

Master and oracle
-----------------

Nobody can write down infinitely many constraints. So start with one, and add what is
missing:

**Master.**
    Solve the linear program with the planes found so far. Its value :math:`\tau` is
    the lowest point of the highest of *some* planes: a **lower bound** on the optimum.
    It hands over its :math:`\mu`.

**Oracle.**
    Which constraint does this :math:`\mu` violate most? The one whose :math:`\alpha`
    maximises :math:`\sum_m\mu_mS_m(\alpha)`. That is the SVM with the kernel
    :math:`\sum_m\mu_mK_m`. Its value :math:`V(\mu)` is what *some* weights cost: an
    **upper bound**. Its :math:`\alpha` is the next plane.

When the two bounds meet, we are done, and have proved it.

By machine
----------
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import linprog

import mklcvx
from mklcvx import zoo
from mklcvx.reports import plot


def master(rows, cap=1.0):
    """The lowest point of the highest plane; a row holds one plane's S_m."""
    count = rows.shape[1]
    found = linprog(
        np.r_[1, np.zeros(count)],  # minimise τ
        A_ub=np.column_stack([-np.ones(len(rows)), rows]),  # Σ μ_m S_m − τ ≤ 0
        b_ub=np.zeros(len(rows)),
        A_eq=[np.r_[0, np.ones(count)]],
        b_eq=[1],
        bounds=[(None, None)] + [(0, cap)] * count,
    )
    return found.fun, found.x[1:], -found.ineqlin.marginals


def oracle(instance, mu, C, bias=True):
    """V(μ) and its α."""
    combined = np.tensordot(mu, instance.kernels, axes=1)
    machine = mklcvx.Instance(combined[None], instance.y)
    svm = mklcvx.solve(machine, "svm", C=C, bias=bias)
    return svm.objective, svm.alpha


def plane(instance, alpha):
    signed = alpha * instance.y
    return np.array([alpha.sum() - signed @ K @ signed / 2 for K in instance.kernels])


def silp(instance, C, tol=1e-7, most=100, cap=1.0, bias=True):
    mu, best = np.full(instance.count, 1 / instance.count), np.inf
    rows, bounds, alphas = [], [], []
    for _ in range(most):
        value, alpha = oracle(instance, mu, C, bias)
        if value < best:
            best, weights = value, mu
        alphas.append(alpha)
        rows.append(plane(instance, alpha))
        tau, mu, mix = master(np.stack(rows), cap)
        bounds.append((tau, value))
        if best - tau <= tol * abs(best):
            break
    return weights, best, np.array(bounds), mix @ np.array(alphas)


instance = zoo.random(40, 6, overlap=0.8, seed=1)
C = 1.0
mu, value, bounds, mixed = silp(instance, C)
exact = mklcvx.solve(instance, "l1", C=C)
print(f"{len(bounds)} SVMs: value {value:.7f}, exact {exact.objective:.7f}")
print("weights", mu.round(4), "exact", exact.weights.round(4))
assert abs(value - exact.objective) < 1e-6 * value
assert np.all(bounds[:, 0] <= exact.objective + 1e-7)
assert np.all(bounds[:, 1] >= exact.objective - 1e-7)

# %%
# Two kernels: the planes are lines
# ---------------------------------
#
# With two kernels :math:`\mu_2=1-\mu_1`, and a plane is a line over :math:`\mu_1`. The
# thick curve is :math:`V`, which the algorithm never sees as a whole. After the first
# SVM, at equal weights, there is one line, and its lowest point is at the end: off we
# go to a corner. The second line brings us back; the third is found where the first two
# meet.

y = np.repeat([1.0, -1.0], 15)
features = np.random.default_rng(4).normal(size=(30, 3)) + 0.8 * y[:, None]
three = mklcvx.Instance(
    [np.exp(-((z[:, None] - z) ** 2) / 2) for z in features.T],
    y,
    names=["feature 1", "feature 2", "feature 3"],
)
two = three.select([0, 1])

for pair in ((1, 2), (3, 4)):
    fig, axes = plt.subplots(1, 2, figsize=(8, 3.2), sharey=True, layout="constrained")
    for ax, steps in zip(axes, pair, strict=True):
        plot.cutting_planes(two, "l1", steps=steps, ax=ax, resolution=31, C=C)
        ax.set_title(
            f"after {steps} SVMs" if steps > 1 else "after 1 SVM", fontsize="small"
        )
        ax.set(ylim=(10.3, 14.5))
    axes[0].get_legend().remove()
    axes[1].set(ylabel="")
    plt.show()

# %%
# Each new line cuts off the point where the master was: hence *cutting planes*. The
# master's value rises from picture to picture; the height of the dots does not fall
# every time.
#
# Two bounds
# ----------
#
# For the six kernels from above we draw both bounds by their distance from the optimum.
# The lower bound never falls, since constraints are only added. The upper bound is
# :math:`V` wherever the master jumped to, and it jumps: the lowest point of a few
# planes is a corner, far from where we were. We keep the best. To the right the jumps
# of a problem with three kernels, on its triangle.

jumps = mklcvx.solve(three, "l1", solver="silp", C=C, tol=1e-6)
fig, (left, right) = plt.subplots(1, 2, figsize=(8, 3.7), layout="constrained")
counts, optimum = np.arange(1, len(bounds) + 1), exact.objective
above, below = bounds[:, 1] - optimum, optimum - bounds[:, 0]
left.plot(counts, above, "kv:", markerfacecolor="white", label="V where it jumped")
left.plot(counts, np.minimum.accumulate(above), "k-", label="best V so far")
left.plot(counts, below, "k^--", markersize=4, label="master: lower bound")
left.set(xlabel="SVMs", ylabel="distance from the optimum", yscale="log")
left.legend()
plot.landscape(three, "l1", {"SILP": jumps}, ax=right, resolution=10, C=C)
plt.show()

assert np.all(np.diff(bounds[:, 0]) > -1e-8)
assert np.any(np.diff(bounds[:, 1]) > 0)
assert jumps.certified

# %%
# Must they meet? Say that the bounds are still :math:`g` apart at the master's
# :math:`\mu`, and that they were at :math:`\mu'` before, where a plane :math:`h` was
# added, so that :math:`h(\mu')=V(\mu')` and :math:`h(\mu)\le\tau`. No plane, nor
# :math:`V`, is steeper than some :math:`L`, the largest slope that
# :math:`0\le\alpha\le C` allows. Then
#
# .. math::
#
#    g\le V(\mu)-\tau\le V(\mu)-h(\mu)\le2L\,\|\mu-\mu'\| :
#
# no two of the master's points are closer than :math:`g/2L`, and the simplex has
# room for finitely many such points. So it ends for every :math:`g>0`; how soon
# is not said.
#
# Why columns
# -----------
#
# The master is a linear program, so it has a dual, with a multiplier
# :math:`t_l\ge0` for each plane :math:`l`. By the same steps as always (:math:`\tau` is
# free, so :math:`\sum_lt_l=1`; then :math:`\mu` goes where it is cheapest) it
# reads
#
# .. math::
#
#    \max_{t\ge0,\ \sum t=1}\ \min_m\ \sum_lt_l\,S_m(\alpha_l) .
#
# Seen from here an SVM brings not a row but a new *column*, a new thing to mix:
# **column generation**. And the mixture :math:`\bar\alpha=\sum_lt_l\alpha_l` is a
# point of :math:`S`. As every :math:`q_m` is convex,
# :math:`S_m(\bar\alpha)\ge\sum_lt_lS_m(\alpha_l)`, so :math:`\bar\alpha` proves
# a lower bound that is no worse than the master's. From SVMs and multipliers comes an
# :math:`\alpha` for the whole problem:

proved = plane(instance, mixed).min()
print(f"master {bounds[-1, 0]:.8f} ≤ mixture {proved:.8f} ≤ optimum ≤ {value:.8f}")
assert bounds[-1, 0] - 1e-9 <= proved <= value + 1e-9

# %%
# Break it
# --------
#
# The oracle is somebody else's program. Many SVM solvers have no bias, and do not say
# so. Everything else is as it should be, the bounds meet, the loop ends. Set the switch
# to ``False`` to mend it.

FORGET_THE_BIAS = True

weights, value, own, _ = silp(instance, C, tol=1e-8, bias=not FORGET_THE_BIAS)
print(f"bounds {own[-1, 0]:.7f} and {value:.7f}")
report = mklcvx.verify(instance, "l1", weights=weights, objective=value, C=C)
print(report.verdict)
print(report.diagnosis.words if report.diagnosis else "nothing to say")
assert report.accepted != FORGET_THE_BIAS

# %%
# Bounds of a problem's own say that *it* was solved. That it is the problem we meant,
# they cannot say: without :math:`y^\top\alpha=0` the planes belong to another
# :math:`V`.
#
# Exercises
# ---------
#
# **1.** Which line of the program has to change for :doc:`/formulations/sm1`, the soft
# margin of the :doc:`last chapter </chapters/plot_05_soft_margins>`?
#
# .. dropdown:: Solution 1
#
#     Its weights are those of ``l1`` with :math:`\mu_m\le\theta`: one bound in the
#     master, ``cap``. The oracle does not change at all. (The first weights, all
#     :math:`1/M`, are within the box.)

# %%

# Solution 1, by machine
_, boxed, _, _ = silp(instance, C, cap=0.4)
soft = mklcvx.solve(instance, "sm1", C=C, theta=0.4)
print(f"SILP {boxed:.6f}, exact {soft.objective:.6f}")
assert abs(boxed - soft.objective) < 1e-6 * boxed

# %%
# **2.** Suppose the oracle is lazy, and returns an :math:`\alpha\in S` that is not
# optimal. Which of the two bounds survives?
#
# .. dropdown:: Solution 2
#
#     The lower one: any :math:`\alpha\in S` is one of the planes, so the master is
#     still a relaxation. :math:`\sum\mu_mS_m(\alpha)` falls short of :math:`V(\mu)`, so
#     it is no upper bound any more. The value of a *classifier* is: the primal
#     objective at :math:`f_m=\mu_mK_m(\alpha\circ y)`. That is how mklcvx certifies.
#
# **3.** SILP looks at where the planes meet and forgets where it was. What would you
# change, so that it jumps less?
#
# .. dropdown:: Solution 3
#
#     Stay near the best weights so far: do not minimise the highest plane, but go to
#     the
#     *nearest* point at which it is below a level between the two bounds. This is the
#     level method (Xu et al. 2008), ``solver="level"`` in mklcvx.
#
# **4.** (*With a seed.*) Write your own: any SVM, any linear program.

from mklcvx.exercises import exercise

mine = exercise("cutting-planes", seed=7)
print(mine.question)

# %%
# What three SVMs give:

early, worth, _, _ = silp(mine.instance, mine.parameters["C"], most=3)
print(mine.grade(weights=early, objective=worth))

# %%

# Solution 4, for every seed
best, worth, _, _ = silp(mine.instance, mine.parameters["C"])
grade = mine.grade(weights=best, objective=worth)
print(grade)
assert grade.passed

# %%
# To take away: *the value over the weights is the highest of infinitely many planes,
# and an SVM finds the highest at a point. Some planes bound the optimum from below,
# some weights from above; the rest is patience.*
