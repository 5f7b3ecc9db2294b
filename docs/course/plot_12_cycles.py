r"""
When an algorithm cycles
========================

An obvious way to solve a problem in two blocks of variables is to take turns: best
:math:`\alpha` for the weights, best weights for :math:`\alpha`, and so on. For some
formulations it converges. For composite kernel learning, as printed with it (Govindaraj
2009, section 5), it does not: it jumps between two points for ever, or through longer
cycles, or comes to rest short of the optimum. We see why, on a problem of
:math:`\ell_1`-MKL solved by hand, where the same happens, and what mends it.

Who pulls which way
-------------------

Write :math:`\ell_1`-MKL as a game. :math:`\mu` on the simplex are the weights:

.. math::

   \min_{\mu\in\Delta}\ \max_{\alpha}\quad
   L(\alpha,\mu)=\mathbf 1^\top\alpha-\tfrac12\sum_m\mu_mq_m(\alpha) .

:math:`\alpha` **maximises**, :math:`\mu` **minimises**. For fixed :math:`\alpha`
the best :math:`\mu` puts everything on the kernel with the largest :math:`q_m`: a
linear function on a simplex is least at a corner. Now take turns, on the four points of
:doc:`/by-hand`: (1, 0) and (0, 2) with label +1, (−1, 0) and (0, −2) with label −1, one
linear kernel for each coordinate, :math:`C=1`. By symmetry :math:`\alpha=(a,c,a,c)`,
so :math:`q_1=(2a)^2`, :math:`q_2=(4c)^2`, and

.. math::

   L=2a+2c-2\mu_1a^2-8\mu_2c^2

for :math:`0\le a,c\le1`. The best answers are :math:`a=\min(1,\frac1{2\mu_1})` and
:math:`c=\min(1,\frac1{8\mu_2})`. Start with kernel 1 alone:

* :math:`\mu=(1,0)`: :math:`a=\tfrac12`; :math:`c` costs nothing, so :math:`c=1`.
  Then :math:`q=(1,16)`: kernel 2 is picked.
* :math:`\mu=(0,1)`: :math:`c=\tfrac18`; :math:`a` costs nothing, so :math:`a=1`.
  Then :math:`q=(4,\tfrac14)`: kernel 1 is picked.

We are back. **Whatever kernel is switched off, α runs free in it, and so makes it the
worst one.** The solution is where neither is worse, :math:`q_1=q_2`, that is
:math:`a=2c`: with :math:`\frac1{2\mu_1}=\frac2{8\mu_2}`,
:math:`\mu=(\tfrac23,\tfrac13)`, in the middle, where no best answer ever goes.
"""

import matplotlib.pyplot as plt
import numpy as np

import mklcvx
from mklcvx import zoo
from mklcvx.reports import plot

four = zoo.by_hand()
exact = mklcvx.solve(four, "l1", C=1.0)
print("μ", exact.weights.round(6), "value", round(exact.objective, 6))
assert np.abs(exact.weights - [2 / 3, 1 / 3]).max() < 1e-4


def best_alpha(first):
    """(a, c) for μ = (first, 1 − first)."""
    a, c = 1 / max(2 * first, 1e-9), 1 / max(8 * (1 - first), 1e-9)
    return min(1, a), min(1, c)


def value(a, c, first):
    return 2 * a + 2 * c - 2 * first * a**2 - 8 * (1 - first) * c**2


first = np.linspace(0, 1, 201)
worth = [value(*best_alpha(one), one) for one in first]
fig, ax = plt.subplots(figsize=(6, 3.8), layout="constrained")
ax.plot(first, worth, "k-", linewidth=2, label="value for the best α")
for start, style in ((1.0, "--"), (0.0, "-.")):
    plane = value(*best_alpha(start), first)
    ax.plot(
        first, plane, f"k{style}", linewidth=1, label=f"α found at μ₁ = {start:.0f}"
    )
ax.plot(
    [0, 1], [worth[0], worth[-1]], "ks", mfc="white", label="where it jumps to and fro"
)
ax.plot(2 / 3, value(*best_alpha(2 / 3), 2 / 3), "k*", markersize=13, label="optimum")
ax.set(xlabel="μ₁, the weight of kernel 1", ylabel="value", ylim=(-1.5, 3.2))
ax.legend(fontsize="small", loc="lower left")
plt.show()

# %%
# Each :math:`\alpha` makes a straight line below the curve. The next :math:`\mu` is
# the lowest point of *that line alone*, which is an end of the interval. Column
# generation draws the same lines; but it **keeps them all**, and goes to the lowest
# point of the highest lines. Taking turns is column generation that has forgotten
# everything but its last cut.
#
# Composite kernel learning
# -------------------------
#
# Kernels come in groups :math:`j`. Within a group they compete as in :math:`\ell_1`;
# each group has its part (:doc:`ckl </formulations/ckl>`):
#
# .. math::
#
#    \min_{t_m}\ \max_{\alpha,t_j}\quad\mathbf 1^\top\alpha-\tfrac14\sum_j
#    \frac1{t_j}\sum_{m\in j}t_m\,q_m(\alpha) ,
#
# with shares :math:`t_m` within each group, which sum to one over its kernels, and
# shares :math:`t_j` between groups, which sum to one over the groups. The printed
# algorithm takes turns between three: :math:`\alpha`, an SVM with the kernel
# :math:`\sum_j\sum_{m\in j}t_mK_m/t_j`; the :math:`t_m` of a group, all on the kernel
# with the largest :math:`q_m`; :math:`t_j\propto d_j`, :math:`d_j` the largest
# :math:`\sqrt{q_m}` of the group.
#
# Look who is on whose side. :math:`\alpha` and the :math:`t_j` **both maximise**, a
# jointly concave function: taking turns between them climbs, and each step is a gain.
# The :math:`t_m` minimise: what they gain, :math:`\alpha` takes back. The algorithm
# can rest only where one kernel of each group has all the weight. Where the optimum
# mixes kernels within a group, as it does in all of these five problems, the
# alternation cannot end there:

for seed in range(5):
    clouds = zoo.random(n=40, M=6, overlap=0.7, seed=seed)
    run = mklcvx.solve(clouds, "ckl", C=1.0, solver="ckl_alternating")
    print(f"seed {seed}: {run.message.split('; ')[1]}")
    mixed = mklcvx.solve(clouds, "ckl", C=1.0).multipliers["lambda"]
    assert "it cycles with period" in run.message
    assert np.sum((mixed > 0.01) & (mixed < 0.99)) >= 2

# %%
# Seen round by round: the value of the dual that each :math:`\alpha` proves, a lower
# bound on the optimum. (With the ½ in the kernel, which the dual has and the printed
# algorithm has not; it cycles with or without.)

instance, C = zoo.random(n=40, M=6, overlap=0.7, seed=0), 1.0
optimum = mklcvx.solve(instance, "ckl", C=C)
groups = instance.groups
members = [np.flatnonzero(groups == j) for j in range(groups.max() + 1)]


def svm(weights):
    kernel = np.tensordot(weights, instance.kernels, axes=1)
    one = mklcvx.Instance(kernel[None], instance.y)
    return mklcvx.solve(one, "svm", C=C).alpha


def alternate(best_response, rounds, half=0.5):
    between = np.full(len(members), 1 / len(members))  # the t_j
    within = 1 / np.bincount(groups)[groups]  # the t_m
    proved = []
    for _ in range(rounds):
        for _ in range(1 if best_response else 3):  # α and t_j settle, then t_m
            weights = half * within / between[groups]
            alpha = svm(weights)
            signed = alpha * instance.y
            q = np.einsum("i,mij,j->m", signed, instance.kernels, signed)
            in_use = q if best_response else within * q
            d = [(np.max if best_response else np.sum)(in_use[j]) for j in members]
            between = np.sqrt(d) / np.sqrt(d).sum()
        largest = np.sqrt([q[j].max() for j in members])
        proved.append(alpha.sum() - largest.sum() ** 2 / 4)
        for j in members:
            if best_response:
                within[j] = q[j] == q[j].max()
            else:  # in proportion to the norms ‖f_m‖, which are as t_m √q_m
                within[j] = within[j] * np.sqrt(q[j]) / (within[j] @ np.sqrt(q[j]))
    return np.array(proved), alpha, weights


jumping, _, _ = alternate(best_response=True, rounds=24)
settling, _, _ = alternate(best_response=False, rounds=24)
fig, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
ax.plot(jumping, "ks--", mfc="white", label="t_m: the best kernel takes all")
ax.plot(settling, "ko-", markersize=4, label="t_m: in proportion to the norms")
ax.axhline(optimum.objective, color="black", linestyle=":", label="optimal value")
ax.set(xlabel="round", ylabel="value of the dual at α", ylim=(-52, 30))
ax.legend(loc="upper right")
plt.show()
print(f"optimal value {optimum.objective:.4f}")
print("last rounds, taking all      ", jumping[-4:].round(4))
print("last rounds, in proportion   ", settling[-4:].round(4))
assert np.ptp(jumping[-4:]) > 0.1
assert np.abs(jumping[-2:] - jumping[-4:-2]).max() < 1e-3
assert abs(settling[-1] - optimum.objective) < 0.01 * optimum.objective

# %%
# What mends it
# -------------
#
# The cure is always the same: **do not answer the last move alone**.
#
# * Keep all cuts: column generation, or the level method.
# * Average, or take short steps: mirror descent in :math:`t_m` (``mirror``; Saketha
#   Nath et al. 2009), whose averages converge as :math:`1/\sqrt T` at least.
# * Give :math:`t_m` something to lose: :math:`t_m\propto t_m\sqrt{q_m}`,
#   in proportion to the norms. It is what makes the *primal* least for the functions
#   at hand, where :math:`t_m` and :math:`f` both minimise: the same side again.

runs = {
    "taking turns, as printed": mklcvx.solve(
        instance, "ckl", C=C, solver="ckl_alternating"
    ),
    "mirror descent": mklcvx.solve(
        instance, "ckl", C=C, solver="mirror", max_iter=100, tol=1e-6
    ),
}
plot.gaps(runs)
plt.show()

# %%
# The printed algorithm's line ends where the same kernels, a whole period of them, have
# been chosen four times over and the groups' shares no longer move.
#
# **Seen from outside.** A single answer does not show a cycle: ``verify`` rejects it,
# because its value is not the optimal one, and knows no more. Nor does the value of
# each round show it, which may go back and forth on the way to the optimum. It takes
# the rounds: both bounds, and the kernels chosen. Where the best bounds stop closing in
# on each other while the same choices return, it cycles. Of our runs ``solution.trace``
# has all of it and ``solution.message`` the verdict; of yours,
# ``verify(…, trace=points)`` judges every round.
#
# Break it
# --------
#
# The switch takes turns, and hands over what it has after the last round.

BEST_RESPONSE = True

proved, alpha, weights = alternate(BEST_RESPONSE, rounds=12 if BEST_RESPONSE else 60)
report = mklcvx.verify(instance, "ckl", alpha=alpha, weights=weights, C=C, tol=1e-3)
print(report.verdict)
for part in report.parts:
    print(f"  {part.name}: {part.excess:.1e} away from the optimal value")
print(report.diagnosis.words if report.diagnosis else "nothing to say")

# %%
# Exercises
# ---------
#
# **1.** Fictitious play: :math:`\mu` after :math:`T` rounds is the *average* of the
# best answers so far. What does it do to the four points?
#
# .. dropdown:: Solution 1
#
#     With :math:`\mu_1` above :math:`\tfrac23`, :math:`q_2>q_1` and kernel 2 is
#     added to the average, below it kernel 1. So :math:`\mu_1` is pushed towards
#     :math:`\tfrac23` from both sides, by steps of length :math:`1/T`: it converges.

# %%

# Solution 1, by machine
average, history = 1.0, []
for T in range(1, 400):
    a, c = best_alpha(average)
    average += ((4 * a**2 > 16 * c**2) - average) / (T + 1)
    history.append(average)
print(
    "μ₁ after 10, 100 and 399 rounds", np.round([history[k] for k in (9, 99, 398)], 4)
)
assert abs(history[-1] - 2 / 3) < 0.01

# %%
# **2.** With one kernel per group nothing is left to pick, and the alternation cannot
# cycle. Why does it converge, and why, with the printed kernel
# :math:`\sum_jK_j/t_j`, to the wrong point?
#
# .. dropdown:: Solution 2
#
#     Only :math:`\alpha` and :math:`t_j` are left, and both maximise the same
#     concave function. But for fixed :math:`t_j` that function is
#     :math:`\mathbf 1^\top\alpha-\tfrac14\sum q_j/t_j`, and an SVM with kernel
#     :math:`K` maximises :math:`\mathbf 1^\top\alpha-\tfrac12q`. So :math:`K=\tfrac12
#     \sum_jK_j/t_j`. Without this ½ the two steps climb different hills.

# %%

# Solution 2, by machine
alone = instance.with_kernels(instance.kernels, groups=np.arange(instance.count))
target = mklcvx.solve(alone, "ckl", C=C).objective
for halved in (0, 1):
    options = {"solver": "ckl_alternating", "options": {"halved": halved}}
    found = mklcvx.solve(alone, "ckl", C=C, max_iter=300, **options)
    gap = found.certificate.relative_gap
    print(f"halved = {halved}: {found.status}, gap {gap:.0e}, optimum {target:.4f}")
    assert (found.status == "certified") == bool(halved)

# %%
# **3.** (*With a seed.*) Solve composite kernel learning for groups of your own, by
# whatever does not cycle.

from mklcvx.exercises import exercise

mine = exercise("composite-kernels", seed=7)
print(mine.question)

# %%
# A first attempt ignores the groups, and gives each kernel its own:

other = mklcvx.solve(mine.instance, "li", **mine.parameters)
print(mine.grade(alpha=other.alpha, objective=other.objective))

# %%

# Solution 3, for every seed
import cvxpy as cp

labels, price = mine.instance.y, mine.parameters["C"]
alpha, d = cp.Variable(len(labels)), cp.Variable(mine.instance.groups.max() + 1)
conditions = [alpha >= 0, alpha <= price, labels @ alpha == 0]
for kernel, j in zip(mine.instance.kernels, mine.instance.groups, strict=True):
    values, vectors = np.linalg.eigh(kernel)
    root = vectors * np.sqrt(np.maximum(values, 0))
    conditions.append(cp.norm(root.T @ cp.multiply(alpha, labels)) <= d[j])
problem = cp.Problem(cp.Maximize(cp.sum(alpha) - cp.square(cp.sum(d)) / 4), conditions)
problem.solve()
grade = mine.grade(alpha=alpha.value, objective=problem.value)
print(grade)
assert grade.passed

# %%
# To take away: *taking turns climbs a hill if both climb. If one climbs and the other
# digs, the best answer to the last move is a corner, and corners answer corners for
# ever.*
