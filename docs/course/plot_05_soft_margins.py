r"""
Hard and soft margins over kernels
==================================

One sample that lies wrong should not dictate the classifier: that is what the slack
:math:`\xi_i` and its price :math:`C` are for. In :doc:`/formulations/l1` one kernel
dictates :math:`\tau`. Should a kernel not be allowed slack, too? It should, says the
soft margin view of Xu et al. (2013), and all we know of samples carries over.

Samples and kernels
-------------------

The dual of the :doc:`third chapter </chapters/plot_03_kernel_weights>` asked
:math:`\tfrac12q_m(\alpha)\le\tau` of every kernel, without exception: a **hard
margin**. Now kernel :math:`m` may exceed :math:`\tau` by :math:`\zeta_m\ge0`, at the
price :math:`\theta`:

.. math::

   \max_{\alpha\in S,\ \tau,\ \zeta}\quad &
   \sum_i\alpha_i-\tau-\theta\sum_m\zeta_m \\
   \text{subject to}\quad & \tfrac12q_m(\alpha)\le\tau+\zeta_m,\quad \zeta_m\ge0 .

This is :doc:`/formulations/sm1` (Xu et al. 2013, Eq. (10)). Let :math:`\mu_m\ge0` be
the price of kernel :math:`m`'s constraint, :math:`\kappa_m\ge0` that of
:math:`\zeta_m\ge0`:

.. math::

   L=\ & \sum_i\alpha_i-\tau-\theta\sum_m\zeta_m+\sum_m\kappa_m\zeta_m \\
   & +\sum_m\mu_m\bigl(\tau+\zeta_m-\tfrac12q_m(\alpha)\bigr) .

:math:`\zeta_m`
    appears as :math:`(\mu_m+\kappa_m-\theta)\,\zeta_m`: the bracket must vanish, so
    :math:`\boldsymbol{0\le\mu_m\le\theta}`.

:math:`\tau`
    appears as :math:`(\sum_m\mu_m-1)\,\tau`: as before,
    :math:`\boldsymbol{\sum_m\mu_m=1}`.

:math:`\alpha`
    leaves the SVM with kernel :math:`\sum_m\mu_mK_m`, and its value :math:`V(\mu)`.

Slack for kernels is a **box on their weights**, as slack for samples is the box
:math:`0\le\alpha_i\le C`: minimise :math:`V(\mu)` over the simplex, but no weight above
:math:`\theta`.

By machine
----------

Six kernels, and :math:`\theta=0.4`.
"""

import cvxpy as cp
import matplotlib.pyplot as plt
import numpy as np

import mklcvx
from mklcvx import zoo
from mklcvx.reports import plot

instance = zoo.random(40, 6, overlap=0.8, seed=1)
C, theta = 1.0, 0.4
solution = mklcvx.solve(instance, "sm1", C=C, theta=theta)

signed = solution.alpha * instance.y
half_q = np.array([signed @ K @ signed / 2 for K in instance.kernels])
tau, zeta = solution.multipliers["tau"], solution.multipliers["zeta"]
print(f"value {solution.objective:.6f}, τ = {tau:.4f}")
for m in range(6):
    print(f"kernel {m + 1}: ½q {half_q[m]:7.4f}  ", end="")
    print(f"slack {zeta[m]:.4f}  weight {solution.weights[m]:.4f}")

# %%
# Complementary slackness, :math:`\kappa_m\zeta_m=0` and
# :math:`\mu_m(\tau+\zeta_m-\tfrac12q_m)=0`, makes a staircase of kernels just like that
# of samples:
#
# * :math:`\tfrac12q_m<\tau`: room to spare, :math:`\mu_m=0`;
# * :math:`\tfrac12q_m>\tau`: slack is bought, :math:`\mu_m=\theta`;
# * :math:`\tfrac12q_m=\tau`: anything in between. **These kernels give** :math:`\tau`.

fig, (left, right) = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained")
plot.kkt(instance, solution, ax=left)
left.set_title("samples", fontsize="small")
room = tau - half_q
ends = room.min() - 0.3, room.max() + 0.3
right.plot([ends[0], 0, 0, ends[1]], [1, 1, 0, 0], color="0.75", linewidth=4, zorder=1)
right.plot(room, solution.weights / theta, "kD", markerfacecolor="white")
for m in range(6):
    place = room[m], solution.weights[m] / theta
    right.annotate(str(m + 1), place, xytext=(6, 6), textcoords="offset points")
right.set(xlabel=r"room to spare, $\tau-\frac{1}{2}q_m$", ylabel="μ / θ")
right.set_title("kernels", fontsize="small")
right.set(xlim=ends, ylim=(-0.08, 1.15))
plt.show()

capped = solution.weights > theta - 1e-6
assert np.allclose(half_q[capped], tau + zeta[capped], atol=1e-4)
assert np.all(zeta[~capped] < 1e-4)
assert capped.sum() == 2

# %%
# From l1 to the average
# ----------------------
#
# How high is the price? Two ends are clear:
#
# * :math:`\theta\ge1`: weights that sum to one are never above :math:`\theta`, the box
#   says nothing, and the problem is :doc:`/formulations/l1`. Slack is so dear that none
#   is bought: the hard margin.
# * :math:`\theta=1/M`: the box leaves one point, all weights :math:`1/M`:
#   :doc:`/formulations/average`.
#
# A box is not the only way to be soft. If slack costs :math:`\tfrac\theta2\zeta_m^2`
# (:doc:`sm2 </formulations/sm2>`, Xu et al. 2013, Eq. (12)), the condition in
# :math:`\zeta_m` reads :math:`\mu_m=\theta\zeta_m`: every used kernel buys some.
# Putting it back, :math:`\mu_m\zeta_m-\tfrac\theta2\zeta_m^2=\mu_m^2/(2\theta)` is left
# over, so we minimise
#
# .. math::
#
#    V(\mu)+\frac1{2\theta}\sum_m\mu_m^2,\qquad \textstyle\sum_m\mu_m=1,\ \mu\ge0 .
#
# As :math:`\theta\to\infty` the second term vanishes: ``l1``. As :math:`\theta\to0` it
# outweighs :math:`V`, and the point of the simplex with the least
# :math:`\sum\mu_m^2` is its middle: ``average``. Both families lead from the one to the
# other, on different ways:

box = mklcvx.solve_path(instance, "sm1", {"theta": np.geomspace(1 / 6, 1, 15)}, C=C)
square_hinge = mklcvx.solve_path(
    instance, "sm2", {"theta": np.geomspace(1e-3, 1e2, 15)}, C=C
)
assert box.certified
assert square_hinge.certified

fig, axes = plt.subplots(1, 2, figsize=(8, 3.6), sharey=True, layout="constrained")
for ax, path, name in zip(axes, (box, square_hinge), ("sm1", "sm2"), strict=True):
    plot.path(path, "theta", ax=ax)
    ax.set_title(name, fontsize="small")
    ax.get_legend().remove()
axes[1].set(ylabel="")
lines = axes[0].get_lines()[:6]
fig.legend(lines, instance.names, loc="outside right center", fontsize="small")
plt.show()

hard = mklcvx.solve(instance, "l1", C=C)
even = mklcvx.solve(instance, "average", C=C)
ends = np.array([even.weights, hard.weights])
for name, path in (("sm1", box), ("sm2", square_hinge)):
    apart = np.abs(path.weights[[0, -1]] - ends).max(axis=1)
    print(f"{name}: {apart[0]:.4f} from average, {apart[1]:.4f} from l1, at its ends")
assert abs(box.objectives[0] - even.objective) < 1e-6
assert abs(box.objectives[-1] - hard.objective) < 1e-6
assert np.abs(square_hinge.weights[-1] - hard.weights).max() < 0.01
assert np.abs(square_hinge.weights[0] - even.weights).max() < 0.02

# %%
# Read from right to left: slack gets cheaper. In ``sm1`` the largest weight is pushed
# down along the line :math:`\mu=\theta`, one kernel after another joins it at the cap,
# and what they lose goes to the others. In ``sm2`` nothing is capped; the weights
# approach each other smoothly. In both, kernels that ``l1`` ignored come in.
#
# Nothing here is special to these two losses. Take any convex loss :math:`\ell` that
# does not decrease, and :math:`\ell(\tfrac12q_m-\tau)` as what kernel :math:`m` costs
# (Xu et al. 2013, Definition 1): the weights then pay :math:`\ell^*(\mu_m)`, its
# conjugate :math:`\sup_r\,\mu r-\ell(r)`. It is 0 up to :math:`\theta` for the hinge,
# :math:`\mu^2/(2\theta)` for its square. The page of :doc:`sm1 </formulations/sm1>` has
# the proof and a third example; :doc:`the last chapter
# </chapters/plot_13_change_the_loss>` does the same for samples.
#
# Break it
# --------
#
# :math:`\tau` is easily forgotten: if every kernel may have slack, why not ask
# :math:`\tfrac12q_m\le\zeta_m` at once? Samples know this mistake as the forgotten
# bias.

FORGET_TAU = True

price = 0.1
alpha, level = cp.Variable(40), cp.Variable()
slack = cp.Variable(6, nonneg=True)
level = 0 if FORGET_TAU else level
roots = [np.linalg.cholesky(K + 1e-12 * np.eye(40)) for K in instance.kernels]
cuts = [
    cp.sum_squares(root.T @ cp.multiply(alpha, instance.y)) / 2 <= level + slack[m]
    for m, root in enumerate(roots)
]
broken = cp.Problem(
    cp.Maximize(cp.sum(alpha) - level - price / 2 * cp.sum_squares(slack)),
    [alpha >= 0, alpha <= C, instance.y @ alpha == 0, *cuts],
)
broken.solve(solver="CLARABEL")
weights = np.array([np.sum(cut.dual_value) for cut in cuts])
print("the multipliers sum to", round(weights.sum(), 4))

report = mklcvx.verify(
    instance, "sm2", alpha=alpha.value, objective=broken.value, C=C, theta=price
)
print(report.verdict)
print(report.diagnosis.words if report.diagnosis else "nothing to say")
assert report.accepted != FORGET_TAU

# %%
# Without :math:`\tau` nothing makes the weights sum to one. It is a formulation in its
# own right, :doc:`square </formulations/square>`, with the square loss in place
# of the square hinge; but another one.
#
# Exercises
# ---------
#
# **1.** ``sm1`` with :math:`\theta=0.4`: at least how many kernels are used? At most
# how many are at the cap?
#
# .. dropdown:: Solution 1
#
#     Weights of at most 0.4 that sum to one: at least three kernels, in general
#     :math:`1/\theta` rounded up. Not more than two can be at the cap, in general
#     :math:`1/\theta` rounded down. It is what :math:`\nu` does for samples in the
#     ν-SVM: it bounds support vectors from below, margin errors from above.
#
# **2.** What is wrong with :math:`\theta<1/M`, in the primal and in the dual?
#
# .. dropdown:: Solution 2
#
#     In :math:`\mu`: no weights below :math:`1/M` sum to one, nothing is feasible. In
#     the dual: lower :math:`\tau` by one and raise every :math:`\zeta_m` by one; the
#     constraints hold as before, the objective changes by :math:`1-M\theta>0`. It is
#     unbounded.
#
# **3.** How does the value of ``sm1`` change with :math:`\theta`, and between which
# numbers does it lie?
#
# .. dropdown:: Solution 3
#
#     A larger box can only lower a minimum: the value falls from that of ``average`` at
#     :math:`\theta=1/M` to that of ``l1`` at 1, and stays there.

# %%

# Solution 3, by machine
print(box.objectives.round(4))
assert np.all(np.diff(box.objectives) < 1e-8)

# %%
# **4.** (*With a seed.*) The hinge loss over five kernels.

from mklcvx.exercises import exercise

mine = exercise("soft-kernels", seed=7)
print(mine.question)

# %%
# An attempt: solve ``l1``, then cut what is above :math:`\theta` and share it out among
# the others in proportion.

first = mklcvx.solve(mine.instance, "l1", C=mine.parameters["C"])
cut, cap = first.weights.copy(), mine.parameters["theta"]
while cut.max() > cap + 1e-9:
    full = cut > cap - 1e-9
    cut[full] = cap
    cut[~full] *= (1 - cap * full.sum()) / cut[~full].sum()
print("weights", cut.round(3))
print(mine.grade(weights=cut, objective=first.objective))

# %%

# Solution 4, for every seed
labels, own = mine.instance.y, mine.parameters
alpha, level = cp.Variable(len(labels)), cp.Variable()
slack = cp.Variable(mine.instance.count, nonneg=True)
roots = [np.linalg.cholesky(K + 1e-10 * np.eye(len(K))) for K in mine.instance.kernels]
cuts = [
    cp.sum_squares(root.T @ cp.multiply(alpha, labels)) / 2 <= level + slack[m]
    for m, root in enumerate(roots)
]
soft = cp.Problem(
    cp.Maximize(cp.sum(alpha) - level - own["theta"] * cp.sum(slack)),
    [alpha >= 0, alpha <= own["C"], labels @ alpha == 0, *cuts],
)
soft.solve(solver="CLARABEL")
weights = np.array([np.sum(cut.dual_value) for cut in cuts])
grade = mine.grade(weights=weights / weights.sum(), objective=soft.value)
print(grade)
assert grade.passed

# %%
# **5.** (*With a seed.*) ``exercise("soft-kernels-squared", seed=7)`` is the same with
# the square hinge. Change two lines.
#
# .. dropdown:: Solution 5
#
#     The price of slack becomes ``own["theta"] / 2 * cp.sum_squares(slack)``; and the
#     weights need no capping: they are ``own["theta"] * slack.value``.
#
# To take away: *the price of a slack is the cap of a multiplier, for kernels as for
# samples; between the price that nobody pays (l1) and the one that everybody pays
# (average) lies a whole family.*
