r"""
The SVM dual, from the Lagrangian up
====================================

Everything in multiple kernel learning starts from one dual. We derive it once, slowly:
where :math:`\alpha` comes from, why :math:`y^\top\alpha=0`, why :math:`\alpha\le C`,
and where the ½ goes. Then we break it, to see that the ½ matters.

The problem
-----------

Twelve points in the plane, two classes. We look for a function :math:`f` and a number
:math:`b` such that :math:`y_i(f(x_i)+b)\ge 1` for every point, as far as possible; what
is missing, :math:`\xi_i`, has the price :math:`C`.
"""

import matplotlib.pyplot as plt
import numpy as np

import mklcvx
from mklcvx.reports import plot

rng = np.random.default_rng(3)
y = np.repeat([1.0, -1.0], 6)
x = np.round(4 * (rng.normal(size=(12, 2)) + 0.9 * y[:, None])) / 4
K = x @ x.T  # the linear kernel: f(x) = w'x, ‖f‖ = ‖w‖
C = 1.0

# %%
# .. math::
#
#    \min_{f,\,b,\,\xi}\quad & \tfrac12\|f\|^2 + C\sum_i \xi_i \\
#    \text{subject to}\quad & y_i\,(f(x_i)+b)\ \ge\ 1-\xi_i,\quad \xi_i\ge 0 .
#
# The first term asks for a small :math:`f`, hence a wide margin; the second for few
# mistakes. It is a convex problem: a quadratic objective, linear constraints.
#
# The Lagrangian
# --------------
#
# Give every constraint a price. Let :math:`\alpha_i\ge0` be the price of a missing
# margin, and :math:`\kappa_i\ge0` that of :math:`\xi_i\ge0`:
#
# .. math::
#
#    L =\ & \tfrac12\|f\|^2 + C\sum_i\xi_i \\
#    & - \sum_i\alpha_i\bigl[y_i(f(x_i)+b)-1+\xi_i\bigr] - \sum_i\kappa_i\xi_i .
#
# Whatever the prices, :math:`L` is at most the objective wherever the constraints hold:
# we subtract products of non-negative numbers. So the least value of :math:`L` over
# *all* :math:`f,b,\xi` is a **lower bound on the optimum**, one for every choice of
# prices. The dual problem asks for the best of these bounds. Three variables have to be
# minimised out:
#
# :math:`\xi_i`
#     appears as :math:`(C-\alpha_i-\kappa_i)\,\xi_i`. Unless the bracket is zero the
#     minimum is :math:`-\infty` and the bound says nothing. So
#     :math:`\alpha_i+\kappa_i=C`, and since :math:`\kappa_i\ge0`:
#     :math:`\boldsymbol{0\le\alpha_i\le C}`.
#
# :math:`b`
#     appears as :math:`-b\sum_i\alpha_iy_i`, again linear:
#     :math:`\boldsymbol{y^\top\alpha=0}`. *No bias, no such condition.*
#
# :math:`f`
#     appears as :math:`\tfrac12\|f\|^2-\langle f,\,g\rangle`, where
#     :math:`g=\sum_i\alpha_iy_i\,k(x_i,\cdot)`, because
#     :math:`f(x_i)=\langle f,k(x_i,\cdot)\rangle`. The derivative :math:`f-g` vanishes
#     at :math:`\boldsymbol{f=g}`: the classifier is made of the training points,
#     :math:`\alpha_iy_i` of each.
#
# Put :math:`f=g` back. With :math:`\|g\|^2=(\alpha\circ y)^\top K(\alpha\circ
# y)=q(\alpha)` what is left is :math:`\tfrac12q-q=-\tfrac12q`, and the dual reads
#
# .. math::
#
#    \max_{\alpha}\quad & \sum_i\alpha_i-\tfrac12\,q(\alpha) \\
#    \text{subject to}\quad & 0\le\alpha_i\le C,\quad y^\top\alpha=0 .
#
# By machine
# ----------
#
# The two problems share nothing but data. Declared apart in CVXPY, they have the same
# value, which is *strong duality*: for a convex problem with a strictly feasible point
# there is no gap between the best lower bound and the optimum.

import cvxpy as cp

w, b, xi = cp.Variable(2), cp.Variable(), cp.Variable(12, nonneg=True)
margins = cp.multiply(y, x @ w + b) >= 1 - xi
primal = cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + C * cp.sum(xi)), [margins])

alpha = cp.Variable(12)
g = x.T @ cp.multiply(alpha, y)  # the vector w that α makes; ‖g‖² = q(α)
dual = cp.Problem(
    cp.Maximize(cp.sum(alpha) - cp.sum_squares(g) / 2),
    [alpha >= 0, alpha <= C, y @ alpha == 0],
)

print(f"primal {primal.solve():.8f}")
print(f"dual   {dual.solve():.8f}")
print("w from the primal", w.value.round(5), "and from α", g.value.round(5))
difference = np.abs(margins.dual_value - alpha.value).max()
print(f"α is the multiplier of the primal's margins, up to {difference:.0e}")

# %%
# A lower bound for every price
# -----------------------------
#
# We need not solve anything to bound the optimum. Take feasible :math:`\alpha` at
# random, and classifiers at random: the first give lower bounds, the second upper
# bounds, and no lower bound is ever above an upper one. That is *weak duality*, and it
# is all that a certificate needs.


def lower(alpha):
    return alpha.sum() - (alpha * y) @ K @ (alpha * y) / 2


def upper(w, b):
    return w @ w / 2 + C * np.maximum(0, 1 - y * (x @ w + b)).sum()


def feasible(alpha):
    alpha = np.clip(alpha, 0, C)
    heavy = y * np.sign(y @ alpha) > 0  # the class with more on it is scaled down
    alpha[heavy] *= alpha[~heavy].sum() / alpha[heavy].sum()
    return alpha


spread = np.geomspace(1, 1e-3, 40)
lows = [lower(feasible(alpha.value + s * rng.normal(size=12))) for s in spread]
highs = [
    upper(w.value + s * rng.normal(size=2), b.value + s * rng.normal()) for s in spread
]

fig, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
ax.plot(spread, highs, "kv", markerfacecolor="white", label="a classifier: upper bound")
ax.plot(spread, lows, "k^", label="a feasible α: lower bound")
ax.axhline(dual.value, color="black", linestyle="--", label="optimal value")
ax.set(xscale="log", ylim=(-1, 3 * dual.value))
ax.set(xlabel="distance from the optimum", ylabel="value")
ax.invert_xaxis()
ax.legend()
plt.show()

# %%
# mklcvx returns such a pair with every answer. Its relative gap proves how far from the
# optimum the answer can be, whoever computed it and however.

instance = mklcvx.Instance(K[None], y, names=["linear"])
solution = mklcvx.solve(instance, "svm", C=C)
print(solution.certificate.lower, "≤ optimal value ≤", solution.certificate.upper)
print("relative gap", f"{solution.certificate.relative_gap:.1e}")

# %%
# What the multipliers say
# ------------------------
#
# At the optimum the products that we subtracted are all zero (*complementary
# slackness*): :math:`\alpha_i\,[y_i(f(x_i)+b)-1+\xi_i]=0` and
# :math:`(C-\alpha_i)\,\xi_i=0`. Read for one point at a time, that is a staircase:
#
# * beyond the margin, :math:`y_i(f(x_i)+b)>1`: the constraint is not tight, so
#   :math:`\alpha_i=0`;
# * short of it, :math:`<1`: there is slack, so :math:`\alpha_i=C`;
# * in between, :math:`0<\alpha_i<C`: the margin is exactly 1. **These points give**
#   :math:`b`.
#
# On the left the points, their size showing :math:`\alpha_i`; on the right the
# staircase.

fig, (left, right) = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
direction = x.T @ (solution.alpha * y)
line = np.linspace(x[:, 0].min() - 0.5, x[:, 0].max() + 0.5, 2)
for level, style in ((-1, "k:"), (0, "k-"), (1, "k:")):
    height = (level - solution.bias - direction[0] * line) / direction[1]
    left.plot(line, height, style, linewidth=1)
for label, marker, face in ((1, "o", "black"), (-1, "s", "white")):
    some, sizes = x[y == label], 20 + 120 * solution.alpha[y == label] / C
    left.scatter(*some.T, s=sizes, marker=marker, facecolor=face, edgecolor="black")
left.set(xlabel="first coordinate", ylabel="second coordinate", xlim=line)
left.set_ylim(x[:, 1].min() - 0.5, x[:, 1].max() + 0.5)
left.set_title("filled circles: y = +1, open squares: y = −1", fontsize="small")
plot.kkt(instance, solution, ax=right)
plt.show()

# %%
# Break it
# --------
#
# Suppose the ½ gets lost on the way, and we maximise :math:`\sum_i\alpha_i-q(\alpha)`.
# Nothing looks wrong: the program runs, the constraints hold, the points are
# classified. Set the switch to ``False`` to mend it.

DROP_THE_HALF = True

factor = 1.0 if DROP_THE_HALF else 0.5
alpha = cp.Variable(12)
quadratic = cp.sum_squares(x.T @ cp.multiply(alpha, y))
broken = cp.Problem(
    cp.Maximize(cp.sum(alpha) - factor * quadratic),
    [alpha >= 0, alpha <= C, y @ alpha == 0],
)
broken.solve()

report = mklcvx.verify(instance, "svm", alpha=alpha.value, objective=broken.value, C=C)
print(report.verdict)
for part in report.parts:
    print(f"  {part.name}: {part.excess:.1e} away from the optimal value")
print(report.diagnosis.words if report.diagnosis else "nothing to say")

# %%
# The judge knows no source code. It tries the usual mistakes one after the other, and
# says which of them makes the answer optimal. Here: twice the kernel, with everything
# else as it should be.
#
# Exercises
# ---------
#
# **1.** Derive the dual of the SVM *without* bias. What changes, and which points
# determine the classifier now?
#
# .. dropdown:: Solution 1
#
#     :math:`b` is no longer a variable, so nothing forces :math:`y^\top\alpha=0`: the
#     dual is :math:`\max\ \mathbf 1^\top\alpha-\tfrac12q(\alpha)` over the box
#     :math:`0\le\alpha\le C` alone. Its feasible set is larger, so the optimum is at
#     least as large: a primal with fewer variables costs more. The classifier is
#     :math:`f=\sum\alpha_iy_ik(x_i,\cdot)` as before, from the points with
#     :math:`\alpha_i>0`.
#
# **2.** Two points, :math:`x_1=1` with :math:`y_1=+1` and :math:`x_2=-1` with
# :math:`y_2=-1`, the kernel :math:`k(x,x')=xx'`. Solve the dual by hand for every
# :math:`C`. At which :math:`C` does the box stop to matter?
#
# .. dropdown:: Solution 2
#
#     :math:`y^\top\alpha=0` gives :math:`\alpha_1=\alpha_2=a`;
#     :math:`q=(\alpha_1+\alpha_2)^2=4a^2`. So :math:`\max\,2a-2a^2` over :math:`0\le
#     a\le C`: :math:`a=\min(C,\tfrac12)`, with value :math:`\tfrac12` once
#     :math:`C\ge\tfrac12` and :math:`2C-2C^2` below it. From :math:`C=\tfrac12` on both
#     margins are 1 and no slack is bought.

# %%

# Solution 2, by machine
two = mklcvx.Instance(np.array([[[1.0, -1.0], [-1.0, 1.0]]]), [1, -1])
for price in (0.1, 0.25, 0.5, 3.0):
    value = 2 * min(price, 0.5) - 2 * min(price, 0.5) ** 2
    found = mklcvx.solve(two, "svm", C=price)
    print(f"C = {price}: by hand {value:.6f}, by machine {found.objective:.6f}")
    assert abs(found.objective - value) < 1e-8

# %%
# **3.** (*With a seed.*) Choose a number, and write a solver for your own instance:
# projected gradient ascent, CVXPY, pairs of coordinates, whatever you like. Five digits
# are enough.

from mklcvx.exercises import exercise

mine = exercise("svm-dual", seed=7)
print(mine.question)

# %%
# Hand over what you have. A first attempt, all :math:`\alpha_i=C`, which happens to be
# feasible here:

attempt = np.full(12, mine.parameters["C"])
print(mine.grade(alpha=attempt, objective=attempt.sum()))

# %%
# On the command line, with the answer in a file of any format:
# ``mine.save("problem.npz")`` writes the instance and returns the command that grades
# it.

# %%

# Solution 3, for every seed
kernel, labels, price = mine.instance.kernels[0], mine.instance.y, mine.parameters["C"]
root = np.linalg.cholesky(kernel + 1e-12 * np.eye(12))
alpha = cp.Variable(12)
own = cp.Problem(
    cp.Maximize(
        cp.sum(alpha) - cp.sum_squares(root.T @ cp.multiply(alpha, labels)) / 2
    ),
    [alpha >= 0, alpha <= price, labels @ alpha == 0],
)
own.solve()
grade = mine.grade(alpha=alpha.value, objective=own.value)
print(grade)
assert grade.passed

# %%
# **4.** (*With a seed.*) ``exercise("svm-bias", seed=7)`` asks for the bias as well. It
# is in no dual variable. Where is it?
#
# .. dropdown:: Solution 4
#
#     In the multiplier of :math:`y^\top\alpha=0`; or in the staircase: a point with
#     :math:`0<\alpha_i<C` has :math:`y_i(f(x_i)+b)=1`, so :math:`b=y_i-f(x_i)`. Where
#     no such point exists, :math:`b` may be any number of an interval.
#
# To take away: *every constraint gets a price; minimising a variable out leaves a
# condition on the prices; any prices that meet the conditions give a lower bound.* The
# next chapter gives the same treatment to a problem with two kernels.
