r"""
Two kernels, four points: by hand, then by machine
==================================================

With one kernel the machine chooses :math:`\alpha`. With two it has to say, in addition,
how much of each kernel it wants. Is that still a problem that we can solve on paper?
For four points it is, and the paper shows what no output shows: *why* the weights are
what they are.

The problem
-----------

Four points in the plane, and **one linear kernel for each coordinate**. The first
kernel does not know the second coordinate, and the other way round.
"""

import matplotlib.pyplot as plt
import numpy as np

import mklcvx
from mklcvx import zoo

x = np.array([[1.0, 0.0], [0.0, 2.0], [-1.0, 0.0], [0.0, -2.0]])
y = np.array([1.0, 1.0, -1.0, -1.0])
kernels = np.stack([np.outer(x[:, 0], x[:, 0]), np.outer(x[:, 1], x[:, 1])])
C = 1.0

instance = zoo.by_hand()  # the same, ready made
assert np.array_equal(instance.kernels, kernels)
assert np.array_equal(instance.y, y)

# %%
# Take the kernel :math:`K(\mu)=\mu_1K_1+\mu_2K_2` with weights
# :math:`\mu_1,\mu_2\ge0`. A larger kernel makes every function cheaper, so the weights
# need a budget: :math:`\mu_1+\mu_2=1`. Let :math:`V(\mu)` be the optimal value of the
# SVM of the :doc:`last chapter </chapters/plot_01_svm_dual>` with this kernel. It is
# what the best classifier costs. We look for the weights that make it cheapest:
#
# .. math::
#
#    \min_{\mu}\ V(\mu),\qquad \mu_1+\mu_2=1,\quad \mu\ge0 .
#
# This is :doc:`/formulations/l1`, one of the oldest formulations of multiple kernel
# learning (Lanckriet et al. 2004).
#
# Four unknowns become two
# ------------------------
#
# By the last chapter,
#
# .. math::
#
#    V(\mu)=\max_\alpha\ & \textstyle\sum_i\alpha_i
#    -\tfrac12\mu_1q_1(\alpha)-\tfrac12\mu_2q_2(\alpha) \\
#    & 0\le\alpha_i\le C,\quad y^\top\alpha=0 .
#
# Kernel 1 is zero unless both points are among 1 and 3; kernel 2 sees only 2 and 4:
#
# .. math::
#
#    q_1(\alpha)&=(\alpha_1x_{11}-\alpha_3x_{31})^2=(\alpha_1+\alpha_3)^2,\\
#    q_2(\alpha)&=(2\alpha_2+2\alpha_4)^2=4(\alpha_2+\alpha_4)^2 .
#
# Now exchange point 1 with 3 and 2 with 4. The problem is the same again, so from an
# optimal :math:`\alpha` we get another, and as the objective is concave, half of the
# one plus half of the other is no worse. We may therefore assume
# :math:`\alpha_1=\alpha_3=A/2` and :math:`\alpha_2=\alpha_4=B/2`. That satisfies
# :math:`y^\top\alpha=0`, and what is left is a problem in two numbers:
#
# .. math::
#
#    V(\mu)=\max_{A,B}\ & A+B-\tfrac12\mu_1A^2-2\mu_2B^2 \\
#    & 0\le A\le2C,\quad 0\le B\le2C .
#
# First the classifier, then the weights
# --------------------------------------
#
# :math:`A` and :math:`B` do not meet. Setting the derivatives to zero,
# :math:`1=\mu_1A` and :math:`1=4\mu_2B`, gives :math:`A=1/\mu_1` and
# :math:`B=1/(4\mu_2)`, as long as the box allows it: :math:`A\le2` means
# :math:`\mu_1\ge\tfrac12`, and :math:`B\le2` means :math:`\mu_2\ge\tfrac18`. There
#
# .. math::
#
#    V(\mu)=\frac1{2\mu_1}+\frac1{8\mu_2} .
#
# The less weight a kernel has, the more its two points cost. A unit of weight moved
# from kernel 1 to kernel 2 changes nothing, to first order, where both terms have the
# same derivative: :math:`1/(2\mu_1^2)=1/(8\mu_2^2)`, that is :math:`\mu_1=2\mu_2`. With
# the budget,
#
# .. math::
#
#    \mu&=(\tfrac23,\tfrac13),\quad A=\tfrac32,\quad B=\tfrac34, \\
#    V&=\tfrac34+\tfrac38=\tfrac98 .
#
# The classifier is :math:`f_1(x)=\mu_1x_1A=x_1` plus :math:`f_2(x)=\mu_2x_2\cdot2B
# =\tfrac12x_2`, with :math:`b=0`. All four margins are exactly 1.

by_hand = {"mu": [2 / 3, 1 / 3], "alpha": [3 / 4, 3 / 8, 3 / 4, 3 / 8], "value": 9 / 8}
solution = mklcvx.solve(instance, "l1", C=C)
print("value   by hand", by_hand["value"], " by machine", solution.objective)
print("weights by hand", by_hand["mu"], " by machine", solution.weights)
print("alpha   by hand", by_hand["alpha"], " by machine", solution.alpha)

assert abs(solution.objective - by_hand["value"]) < 1e-8
assert np.allclose(solution.weights, by_hand["mu"], atol=1e-6)
assert np.allclose(solution.alpha, by_hand["alpha"], atol=1e-6)

# %%
# On the left the four points with the line :math:`f=0` and the margins :math:`f=\pm1`;
# on the right :math:`V` over the first weight, on paper and computed. Outside the
# middle part the box is active: :math:`A` or :math:`B` is stuck at 2, and the term is
# :math:`2-2\mu_1` or :math:`2-8\mu_2` instead.


def on_paper(mu):
    first = 1 / (2 * mu[0]) if mu[0] >= 1 / 2 else 2 - 2 * mu[0]
    return first + (1 / (8 * mu[1]) if mu[1] >= 1 / 8 else 2 - 8 * mu[1])


def by_machine(mu):
    combined = mu[0] * kernels[0] + mu[1] * kernels[1]
    return mklcvx.solve(mklcvx.Instance(combined[None], y), "svm", C=C).objective


fig, (left, right) = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
across = np.array([-3.0, 3.0])
for level, style in ((-1, "k:"), (0, "k-"), (1, "k:")):
    left.plot(across, 2 * (level - across), style, linewidth=1)
for i, (place, label) in enumerate(zip(x, y, strict=True), start=1):
    marker, face = ("o", "black") if label > 0 else ("s", "white")
    left.scatter(
        *place, s=70, marker=marker, facecolor=face, edgecolor="black", zorder=3
    )
    left.annotate(str(i), place, xytext=(8, 4), textcoords="offset points")
left.set(xlim=(-2.2, 2.2), ylim=(-3, 3), xlabel="$x_1$", ylabel="$x_2$")
left.set_title("circles: y = +1, squares: y = −1", fontsize="small")

fine, coarse = np.linspace(0, 1, 201), np.linspace(0, 1, 13)
right.plot(fine, [on_paper([t, 1 - t]) for t in fine], "k-", label="on paper")
machine = [by_machine([t, 1 - t]) for t in coarse]
right.plot(coarse, machine, "ko", markerfacecolor="white", label="SVM solved")
right.plot(2 / 3, 9 / 8, "k*", markersize=13, label="weights (2/3, 1/3)")
right.set(xlabel=r"$\mu_1$, and $\mu_2=1-\mu_1$", ylabel=r"$V(\mu)$")
right.legend()
plt.show()

assert np.allclose(machine, [on_paper([t, 1 - t]) for t in coarse], atol=1e-7)

# %%
# First the weights, then the classifier
# --------------------------------------
#
# The order can be reversed: let the weights answer to :math:`\alpha`. For given
# :math:`A` and :math:`B` the objective is linear in :math:`\mu`, so the cheapest
# weights sit on the kernel with the larger :math:`q`, and
#
# .. math::
#
#    \max_{A,B}\ \min_\mu\ \dots\ =\ \max_{A,B}\ A+B-\tfrac12\max(A^2,\,4B^2) .
#
# If :math:`A>2B`, raising :math:`B` costs nothing; if :math:`A<2B`, raising :math:`A`
# costs nothing. So the best point has :math:`A=2B`: along this ridge we get
# :math:`3B-2B^2`, largest at :math:`B=\tfrac34`, with value :math:`\tfrac98` again.
# That
# *min max* equals *max min* is no accident (the objective is linear in :math:`\mu` and
# concave in :math:`\alpha`, over compact convex sets), and it gives us bounds: any
# :math:`\mu` a value :math:`V(\mu)` from above, any :math:`\alpha` one from below.

A, B = np.meshgrid(np.linspace(0, 2, 161), np.linspace(0, 1.2, 97))
lower = A + B - np.maximum(A**2, 4 * B**2) / 2

fig, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
lines = ax.contour(A, B, lower, levels=[0, 0.3, 0.6, 0.8, 0.95, 1.05], colors="0.4")
ax.clabel(lines, fontsize="small")
ax.plot([0, 2], [0, 1], "k--", linewidth=1, label="$A=2B$: both kernels tie")
ax.plot(1.5, 0.75, "k*", markersize=13, label="(3/2, 3/4): value 9/8")
ax.set(xlabel=r"$A=\alpha_1+\alpha_3$", ylabel=r"$B=\alpha_2+\alpha_4$")
ax.legend(loc="upper left")
plt.show()

assert lower.max() <= 9 / 8 <= min(machine)

# %%
# The contours have a corner on the ridge: there the two kernels are *equally*
# expensive, and only there may both have a positive weight. The
# :doc:`next chapter </chapters/plot_03_kernel_weights>` makes the weights out of this
# corner.
#
# Break it
# --------
#
# :math:`\alpha` and :math:`\mu` are both unknown, so why not maximise over both? It is
# the most natural mistake in a program that alternates between them. Set the switch to
# ``False`` to minimise over the weights.

SWAP_MIN_AND_MAX = True

grid = np.linspace(0, 1, 301)
values = [on_paper([t, 1 - t]) for t in grid]
best = int(np.argmax(values) if SWAP_MIN_AND_MAX else np.argmin(values))
weights = np.array([grid[best], 1 - grid[best]])

report = mklcvx.verify(instance, "l1", weights=weights, objective=values[best], C=C)
print("weights", weights, "value", values[best])
print(report.verdict)
for part in report.parts:
    print(f"  {part.name}: {part.excess:.1e} away from the optimal value")
print(report.diagnosis.words if report.diagnosis else "nothing to say")
assert report.accepted != SWAP_MIN_AND_MAX

# %%
# The maximum of a convex function sits at a corner, and it is the *worst* kernel: the
# one with which the four points are classified most dearly. Points 2 and 4 have margin
# 0.
#
# Exercises
# ---------
#
# **1.** Give both kernels the weight 1 (:doc:`/formulations/sum`), then both the weight
# ½ (:doc:`/formulations/average`). Which values do you get, which classifiers, and why
# is one value below :math:`\tfrac98`, the other above?
#
# .. dropdown:: Solution 1
#
#     Weights (1, 1): :math:`A=1`, :math:`B=\tfrac14`, value :math:`\tfrac58`. Weights
#     (½, ½): :math:`A=2`, :math:`B=\tfrac12`, value :math:`\tfrac54`. The classifier is
#     :math:`x_1+\tfrac12x_2` each time: it is the least function with all margins 1. ½
#     and ½ is *one* point of the simplex, so it cannot cost less than the best; 1 and 1
#     spends twice the budget.

# %%

# Solution 1, by machine
for name, value in (("sum", 5 / 8), ("l1", 9 / 8), ("average", 5 / 4)):
    found = mklcvx.solve(instance, name, C=C)
    print(f"{name:8} by hand {value:.4f}, by machine {found.objective:.4f}")
    assert abs(found.objective - value) < 1e-8
    assert np.allclose(found.norms, [1, 1 / 2], atol=1e-5)  # ‖f_1‖, ‖f_2‖

# %%
# **2.** The primal of the problem is :math:`\tfrac12(\|f_1\|+\|f_2\|)^2+C\sum\xi_i`.
# Check that it has the value :math:`\tfrac98` at our classifier. Where does the square
# of a
# *sum* come from?
#
# .. dropdown:: Solution 2
#
#     :math:`\|f_1\|=1` and :math:`\|f_2\|=\tfrac12`, no slack:
#     :math:`\tfrac12(\tfrac32)^2 =\tfrac98`. With the kernel :math:`K(\mu)` a function
#     costs :math:`\tfrac12(\|f_1\|^2/\mu_1+\|f_2\|^2/\mu_2)`. By Cauchy and Schwarz
#     :math:`(a_1+a_2)^2\le(a_1^2/\mu_1+a_2^2/\mu_2)(\mu_1+\mu_2)`, with equality at
#     :math:`\mu\propto a`. So the best weights leave :math:`\tfrac12(a_1+a_2)^2`, and
#     they are the shares of the norms: :math:`1:\tfrac12` is :math:`\tfrac23:\tfrac13`.
#
# **3.** From which :math:`C` downwards is the answer another one?
#
# .. dropdown:: Solution 3
#
#     The box is :math:`A,B\le2C`, and the answer has :math:`A=\tfrac32`,
#     :math:`B=\tfrac34`: it stands as long as :math:`C\ge\tfrac34`.
#
# **4.** (*With a seed.*) Other distances, :math:`(\pm a,0)` and :math:`(0,\pm b)`, on
# paper.

from mklcvx.exercises import exercise

mine = exercise("two-kernels", seed=7)
print(mine.question)

# %%
# A first attempt: the kernels of points that are far out need less weight, say in
# proportion to :math:`1/a^2`.

far = np.sqrt(mine.instance.kernels.max(axis=(1, 2)))  # a and b
attempt = (1 / far**2) / np.sum(1 / far**2)
print(mine.grade(weights=attempt, objective=np.sum(1 / (2 * far**2 * attempt))))

# %%

# Solution 4, for every seed
mu = (1 / far) / np.sum(
    1 / far
)  # V = 1/(2a²μ₁) + 1/(2b²μ₂): derivatives tie at aμ₁ = bμ₂
grade = mine.grade(weights=mu, objective=np.sum(1 / far) ** 2 / 2)
print(grade)
assert grade.passed

# %%
# The page :doc:`/by-hand` puts the same four points to other formulations.
#
# To take away: *a small kernel makes its points dear; the best weights make the last
# unit of weight worth the same wherever it is spent, and kernels that share the weight
# are equally expensive for* :math:`\alpha`.
