r"""
Why ℓ1 is sparse and ℓ∞ is not
==============================

Every kernel brings a function :math:`f_m`, and every function has a norm
:math:`a_m=\|f_m\|`. Formulations differ in how they add the norms up. One way leaves
most functions zero, another makes them all equally large. Nothing but the shape of a
*unit ball* decides which.

Any norm of the norms
---------------------

Let :math:`\Omega` be a norm of the vector :math:`a=(\|f_1\|,\dots,\|f_M\|)` that only
grows when an entry does, and take

.. math::

   \min_{f,\,b}\quad \tfrac12\,\Omega(\|f_1\|,\dots,\|f_M\|)^2 + C\sum_i\xi_i ,

with margins :math:`y_i(\sum_mf_m(x_i)+b)\ge1-\xi_i`. The Lagrangian of the
:doc:`first chapter </chapters/plot_01_svm_dual>` gives :math:`0\le\alpha\le C` and
:math:`y^\top\alpha=0` as before. The functions appear as

.. math::

   \tfrac12\,\Omega(a)^2-\sum_m\langle f_m,g_m\rangle,\qquad
   g_m=\sum_i\alpha_iy_i\,k_m(x_i,\cdot) .

The length of :math:`g_m` is :math:`d_m=\sqrt{q_m(\alpha)}`: what kernel :math:`m`
*sees* of :math:`\alpha`. Among all :math:`f_m` of length :math:`a_m` the one that
points along :math:`g_m` is best, and then :math:`\langle f_m,g_m\rangle=a_md_m`. What
remains is a problem in :math:`M` numbers:

.. math::

   \min_{a\ge0}\ \tfrac12\,\Omega(a)^2-a^\top d .

Write :math:`a=hu` with a size :math:`h` and a direction of norm one,
:math:`\Omega(u)=1`: :math:`\tfrac12h^2-h\,u^\top d` is least at :math:`h=u^\top d`,
with value :math:`-\tfrac12(u^\top d)^2`. So the best direction is where
:math:`u^\top d` is largest over the unit ball. This largest value is the **dual norm**,
:math:`\Omega^*(d)=\max\{u^\top d:\Omega(u)\le1\}`, and

.. math::

   \text{dual:}\quad &\max_\alpha\ \textstyle\sum_i\alpha_i-\tfrac12\,\Omega^*(d)^2,\\
   \text{norms:}\quad & a=\Omega^*(d)\,u ,

where :math:`u` is the point of the unit ball that lies farthest along :math:`d`.

A picture of the unit ball
--------------------------

So draw the ball, push a line with normal :math:`d` outwards until it last touches:
there is :math:`u`. Kernel 1 sees a little more of :math:`\alpha` than kernel 2.
"""

import matplotlib.pyplot as plt
import numpy as np

import mklcvx
from mklcvx import zoo
from mklcvx.reports import plot

d = np.array([1.0, 0.8])
angles = np.linspace(0, 2 * np.pi, 2001)
directions = np.stack([np.cos(angles), np.sin(angles)])

fig, axes = plt.subplots(1, 3, figsize=(8, 3.1), layout="constrained")
for ax, r, name in zip(axes, (1, 4 / 3, np.inf), ("ℓ1", "ℓ4/3", "ℓ∞"), strict=True):
    ball = directions / np.linalg.norm(directions, ord=r, axis=0)
    u = ball[:, np.argmax(d @ ball)]
    ax.fill(*ball, facecolor="0.9", edgecolor="black")
    along = np.array([-d[1], d[0]])
    ax.plot(*(u[:, None] + np.outer(along, [-0.9, 0.9])), "k--", linewidth=1)
    ax.annotate("", 0.5 * d, (0, 0), arrowprops={"arrowstyle": "->"})
    ax.annotate("$d$", 0.5 * d, xytext=(-12, 2), textcoords="offset points")
    ax.plot(*u, "k*", markersize=12)
    ax.set(
        title=f"{name}: u = ({u[0]:.2f}, {u[1]:.2f})", xlabel="$a_1$", ylabel="$a_2$"
    )
    ax.set(aspect="equal", xlim=(-1.2, 1.6), ylim=(-1.2, 1.6))
plt.show()

# %%
# * **ℓ1**, :math:`\Omega(a)=\sum a_m` (:doc:`/formulations/l1`): the ball has corners
#   on the axes, and a line touches a corner whatever its direction, unless it lies
#   along a face. Only the kernels with the *largest* :math:`d_m` get anything. The dual
#   norm is :math:`\max_md_m`.
# * **between**, :math:`\Omega(a)=\|a\|_r` with :math:`1<r\le2`
#   (:doc:`lp </formulations/lp>` with :math:`r=2p/(p+1)`): the ball is round, and no
#   :math:`a_m` is zero unless :math:`d_m` is. The dual norm is :math:`\|d\|_{r'}` with
#   :math:`1/r+1/r'=1`.
# * **ℓ∞**, :math:`\Omega(a)=\max_ma_m` (:doc:`li </formulations/li>`): the ball is a
#   cube, and the line touches the corner :math:`(1,1)` as long as both :math:`d_m` are
#   positive. *All functions are equally large.* The dual norm is :math:`\sum_md_m`.
#
# Who is sparse in the primal looks at the largest in the dual, and who adds up there
# has them all.
#
# By machine
# ----------
#
# Six Gaussian kernels, of which the first tell most. The norms of the functions,
# relative to the largest:

instance = zoo.random(40, 6, overlap=0.8, seed=1)
C = 1.0
found = {
    "l1": mklcvx.solve(instance, "l1", C=C),
    "lp, p = 1.2": mklcvx.solve(instance, "lp", C=C, p=1.2),
    "lp, p = 2": mklcvx.solve(instance, "lp", C=C, p=2.0),
    "li": mklcvx.solve(instance, "li", C=C),
}

fig, ax = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
looks = ("ko-", "ks--", "k^-.", "kD:")
for (name, solution), look in zip(found.items(), looks, strict=True):
    shares = solution.norms / solution.norms.max()
    ax.plot(range(1, 7), shares, look, markerfacecolor="white", label=name)
    print(f"{name:12}", shares.round(3))
ax.set(xlabel="kernel", ylabel="norm / largest norm", ylim=(-0.05, 1.1))
ax.legend(loc="center right")
plt.show()

norms = {name: solution.norms for name, solution in found.items()}
assert np.sum(norms["l1"] < 1e-6) == 3
assert norms["lp, p = 1.2"].min() > 0.01
assert np.ptp(norms["li"]) < 1e-5

# %%
# Why only few tie
# ----------------
#
# Three of six: α pushes the largest :math:`d_m` down until several *tie*, and only
# those that tie are used. Why so few? Because a tie is an equation, and equations must
# be paid for. Let :math:`M_1` kernels be used and :math:`n_1` samples lie exactly on
# the margin. The others have :math:`\alpha_i=0` or :math:`C`, so :math:`\alpha` has
# :math:`n_1` entries to move, less one for :math:`y^\top\alpha=0`; that :math:`M_1`
# numbers :math:`d_m` are equal takes :math:`M_1-1` of them. The weights say the same.
# Given :math:`\alpha`, the :math:`M_1` weights and :math:`b` solve *linear* equations,
#
# .. math::
#
#    y_i\bigl(\textstyle\sum_m\mu_m\,g_m(x_i)+b\bigr)&=1
#    \quad\text{for the }n_1\text{ samples}, \\
#    \textstyle\sum_m\mu_m&=1 .
#
# That is :math:`n_1+1` equations for :math:`M_1+1` unknowns. If :math:`M_1>n_1`, a
# whole line solves them. Walk along it: :math:`\alpha` stays, so the value does, until
# a weight is zero (one kernel less) or another sample comes to lie on the margin (one
# equation more). So **some optimum uses at most** :math:`n_1` **kernels**, or one if
# :math:`n_1=0`; without a bias :math:`n_1+1`. Where the equations are independent, as
# chance will have it, no more than :math:`n_1` tie, and the weights have no choice.
# Forty kernels, each on a feature of its own:


def crowd(n, M=40):
    rng = np.random.default_rng(1)
    y = np.where(np.arange(n) % 2, -1.0, 1.0)
    features = (rng.normal(size=(n, M)) + 0.3 * y[:, None]).T
    gaps = features[:, :, None] - features[:, None, :]
    return mklcvx.Instance(np.exp(-(gaps**2) / 2), y)


def used_and_on_the_margin(many, solution):
    combined = np.tensordot(solution.weights, many.kernels, 1)
    f = combined @ (solution.alpha * many.y) + solution.bias
    return np.sum(solution.weights > 1e-6), np.sum(np.abs(many.y * f - 1) < 1e-5)


for n, price in ((8, 1.0), (16, 0.3), (16, 1.0), (24, 0.3), (24, 4.0)):
    many = crowd(n)
    sparse = mklcvx.solve(many, "l1", C=price)
    used, on_margin = used_and_on_the_margin(many, sparse)
    print(
        f"n = {n:2}, C = {price}: {used:2} of 40 kernels, "
        f"{on_margin:2} samples on the margin"
    )
    assert used <= on_margin

# %%
# The number of kernels on offer does not appear: with a thousand the bound is the same.
# It is a bound. A kernel is used only if it must be, that is, if the best
# :math:`\alpha` of the others would give it a larger :math:`d_m` than theirs.
#
# *Copies* are the exception. Two equal kernels tie whatever :math:`\alpha` is, their
# equation costs nothing, and the weight can be split between them at will. Then there
# are optima with more kernels than that; but also still one with few.

twice = mklcvx.Instance(np.concatenate([many.kernels, many.kernels]), many.y)
split = np.tile(sparse.weights / 2, 2)
report = mklcvx.verify(twice, "l1", weights=split, C=price)
print(
    f"{np.sum(split > 1e-6)} of 80 kernels: {report.verdict}; on the margin {on_margin}"
)
assert report.accepted
assert np.sum(split > 1e-6) > on_margin

# %%
# Between norms and weights
# -------------------------
#
# A weight says how much of :math:`g_m` there is in :math:`f_m`: from
# :math:`f_m=\mu_mg_m` follows :math:`a_m=\mu_md_m`, so
#
# .. math::
#
#    \mu_m=a_m/d_m .
#
# For ℓ∞ all :math:`a_m` are equal, so the weights are in proportion to :math:`1/d_m`:
# the kernel that sees *least* of :math:`\alpha` gets *most* weight. Li-MKL (Govindaraj
# 2009) has no ½ in front of :math:`\max_m\|f_m\|^2`; then
# :math:`a_m=\tfrac12\sum_ld_l`, and with the shares :math:`t_m=d_m/\sum_ld_l`
#
# .. math::
#
#    \max_\alpha\ & \textstyle\sum_i\alpha_i-\tfrac14\bigl(\sum_md_m\bigr)^2, \\
#    \mu_m & =1/(2t_m) .
#
# A weight that does not exist
# ----------------------------
#
# And if :math:`d_m=0`? Then the objective does not depend on :math:`u_m`. In the
# picture the line lies along a whole *side* of the cube: any :math:`0\le a_m\le\max a`
# is as good. ℓ1 has :math:`a_m=0` there and no question arises. For ℓ∞ the function may
# well be there, while :math:`\mu_m=a_m/d_m` divides by zero: **the weight is
# undefined.**
#
# That is nothing exotic. A linear kernel in the plane has rank two: it sees nothing of
# :math:`\alpha` as soon as two equations hold, :math:`\sum_i\alpha_iy_ix_i=0`. Here are
# 36 points in a square, a linear kernel and two Gaussian ones. As :math:`C` grows,
# :math:`\alpha` gains the freedom to meet the two equations. (The points lie on a grid,
# so that the linear kernel has rank two exactly: rounded entries would not.)

rng = np.random.default_rng(5)
x = np.round(rng.uniform(-1, 1, (36, 2)) * 1024) / 1024
heights = x[:, 1] - 0.9 * x[:, 0] ** 2 + 0.5 * x[:, 0] + 0.1
y = np.where(heights + 0.18 * rng.normal(size=36) > 0, 1.0, -1.0)
distances = ((x[:, None] - x) ** 2).sum(-1)
kernels = [x @ x.T, np.exp(-0.4 * distances), np.exp(-6 * distances)]
square = mklcvx.Instance(kernels, y, names=["linear", "wide", "narrow"])

along = mklcvx.solve_path(square, "li", {"C": np.geomspace(0.5, 20, 16)})
last = along.solutions[-1]
assert along.certified

fig, (left, right) = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
plot.path(along, "C", ax=left)
left.set(yscale="log")
plot.weights(last.weights, square.names, ax=right)
right.set_title(f"C = {last.parameters['C']:g}", fontsize="small")
plt.show()

print("weights", last.weights)
print("norms  ", last.norms)
print(f"largest entry of Σ α y x: {np.abs(x.T @ (last.alpha * y)).max():.0e}")
assert np.isnan(last.weights).tolist() == [True, False, False]
assert np.abs(x.T @ (last.alpha * y)).max() < 1e-8
assert last.norms[1] - 1e-6 > last.norms[0] > 1

# %%
# The weight of the linear kernel grows until it ceases to exist, and its line ends. The
# linear *function* is there all the same, with a norm below that of the others: free to
# be anything up to the maximum, it takes what the margins need. The dual cannot tell
# which; only the primal can. So such an answer has coefficients,
# :math:`f_m=\sum_ic_{mi}k_m(x_i,\cdot)`, and mklcvx returns them
# (``solution.coefficients``) wherever weights do not say all.
#
# With positive definite kernels :math:`K_m(\alpha\circ y)=0` has only the solution
# :math:`\alpha=0`, and all weights exist. That is the assumption behind the statement
# that every share is positive (Govindaraj 2009, whose letter is λ).
#
# Break it
# --------
#
# The shares :math:`t` sum to one and look like a vector of weights. Handing them over
# as such is a usual mistake with Li-MKL.

TAKE_SHARES_FOR_THE_WEIGHTS = True

li = found["li"]
shares = li.multipliers["lambda"]
weights = shares if TAKE_SHARES_FOR_THE_WEIGHTS else 1 / (2 * shares)
report = mklcvx.verify(
    instance, "li", alpha=li.alpha, weights=weights, objective=li.objective, C=C
)
print(report.verdict)
print(report.diagnosis.words if report.diagnosis else "nothing to say")
assert report.accepted != TAKE_SHARES_FOR_THE_WEIGHTS

# %%
# Exercises
# ---------
#
# **1.** If ℓ1 only pays the kernel with the largest :math:`d_m`, why did three kernels
# survive above, and not one?
#
# .. dropdown:: Solution 1
#
#     Because :math:`\alpha` is not given: it is chosen to make :math:`\max_md_m` small.
#     Pushing the largest down raises others, until several *tie*. Then the line lies
#     along a face of the ball, and any mixture of the tied kernels has the same
#     :math:`u^\top d`; the margins decide which. Sparse means: few kernels tie; copies
#     aside, no more than there are samples on the margin (with a bias).

# %%

# Solution 1, by machine
l1 = found["l1"]
d = np.sqrt(
    [(l1.alpha * instance.y) @ K @ (l1.alpha * instance.y) for K in instance.kernels]
)
alone = [mklcvx.solve(instance.select([m]), "l1", C=C).objective for m in range(6)]
print("d / largest", (d / d.max()).round(5))
print(f"best single kernel {min(alone):.4f}, ℓ1 {l1.objective:.4f}")
assert np.sum(d > (1 - 1e-6) * d.max()) == 3
assert l1.objective < min(alone) - 0.1

# %%
# **2.** Take the four points of the :doc:`second chapter </chapters/plot_02_by_hand>`
# with :math:`C=1`. Solve Li-MKL on paper. Which weight is undefined, and which
# functions :math:`f_2` are optimal?
#
# .. dropdown:: Solution 2
#
#     :math:`d=(A,2B)`, so maximise :math:`A+B-\tfrac14(A+2B)^2` with :math:`A,B\le2`. A
#     unit of :math:`B` brings as much as one of :math:`A` and costs twice, so
#     :math:`B=0`, and :math:`A-\tfrac14A^2` is largest at :math:`A=2`, value 1. Kernel
#     2 sees nothing: its weight is undefined, as :math:`f_2\ne0` will show (if it were
#     zero, any weight would do). For points 2 and 4 need their margin,
#     :math:`f_2=v\,x_2` with :math:`2v\ge1`; and :math:`v\le\|f_1\|=1` costs nothing.
#     Any :math:`\tfrac12\le v\le1` is optimal.

# %%

# Solution 2, by machine
hand = mklcvx.solve(zoo.by_hand(), "li", C=1.0, solver="clarabel")
print("value", round(hand.objective, 8), "weights", hand.weights, "norms", hand.norms)
assert abs(hand.objective - 1) < 1e-7
assert np.isnan(hand.weights).tolist() == [False, True]
assert 0.5 - 1e-6 <= hand.norms[1] <= 1 + 1e-6

# %%
# **3.** (*With a seed.*) Li-MKL for kernels of your own, all positive definite.

from mklcvx.exercises import exercise

mine = exercise("every-kernel", seed=7)
print(mine.question)

# %%
# An attempt with a ½ in front of :math:`\max\|f_m\|^2`, by habit: kernels of twice the
# size have the same answer.

doubled = mine.instance.with_kernels(2 * mine.instance.kernels)
habit = mklcvx.solve(doubled, "li", **mine.parameters)
print(mine.grade(alpha=habit.alpha, weights=habit.weights, objective=habit.objective))

# %%

# Solution 3, for every seed
import cvxpy as cp

labels = mine.instance.y
alpha = cp.Variable(len(labels))
roots = [np.linalg.cholesky(K) for K in mine.instance.kernels]
d = cp.hstack([cp.norm(root.T @ cp.multiply(alpha, labels)) for root in roots])
own = cp.Problem(
    cp.Maximize(cp.sum(alpha) - cp.square(cp.sum(d)) / 4),
    [alpha >= 0, alpha <= mine.parameters["C"], labels @ alpha == 0],
)
own.solve(solver="CLARABEL")
weights = d.value.sum() / (2 * d.value)
grade = mine.grade(alpha=alpha.value, weights=weights, objective=own.value)
print(grade)
assert grade.passed

# %%
# To take away: *the functions' norms are the point of the unit ball that lies farthest
# along* :math:`d`. *Corners on the axes make zeros, a cube makes all equal, and along a
# flat side the dual does not say where you are.*
