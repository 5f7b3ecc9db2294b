r"""
What a certificate is, and how to read one
==========================================

A solver says: done, to 1e-6. Done with what, and how do you know? A certificate is an
answer that does not ask you to trust anybody. This chapter reads one number by number:
what a relative gap of 1e-6 proves, what it does not prove, and what rounding costs.

Two numbers and two points
--------------------------

Take :math:`\ell_1`-MKL. A feasible :math:`\alpha` bounds the optimal value from below,
functions :math:`f_m` and a bias :math:`b` bound it from above:

.. math::

   v^*&\ge\mathbf 1^\top\alpha-\tfrac12\max_mq_m(\alpha), \\
   v^*&\le\tfrac12\Bigl(\sum_m\|f_m\|\Bigr)^2+C\sum_i\xi_i .

Both sides are sums and products that anyone can recompute; how the points were found
plays no part. Here they are recomputed in six lines, from what a solution carries.
"""

import matplotlib.pyplot as plt
import numpy as np

import mklcvx
from mklcvx import zoo
from mklcvx.reports import plot

rng = np.random.default_rng(1)
y = np.repeat([1.0, -1.0], 20)
views = rng.normal(size=(5, 40, 3)) + 0.5 * y[:, None]
squares = ((views[:, :, None] - views[:, None]) ** 2).sum(axis=3)
instance = mklcvx.Instance(np.exp(-0.3 * squares), y)
K, C = instance.kernels, 1.0

solution = mklcvx.solve(instance, "l1", C=C)
signed = solution.alpha * y
q = np.einsum("i,mij,j->m", signed, K, signed)
lower = solution.alpha.sum() - q.max() / 2
f = np.tensordot(solution.weights, K, 1) @ signed + solution.bias
losses = np.maximum(0, 1 - y * f)
upper = (solution.weights @ np.sqrt(q)) ** 2 / 2 + C * losses.sum()  # ‖f_m‖ = μ_m √q_m
print(f"by hand     {lower:.12f} ≤ v* ≤ {upper:.12f}")
certificate = solution.certificate
print(f"certificate {certificate.lower:.12f} ≤ v* ≤ {certificate.upper:.12f}")
assert abs(lower - certificate.lower) + abs(upper - certificate.upper) < 1e-9

# %%
# Every iteration of every solver makes such a pair. The optimal value is between the
# lines at all times, also when you stop early: a bad solver gives a wide interval,
# never a wrong one.

run = mklcvx.solve(instance, "l1", C=C, solver="silp", tol=1e-6)
steps = [row.iteration for row in run.trace]
fig, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
ax.plot(
    steps, [row.upper for row in run.trace], "kv-", mfc="white", label="upper bound"
)
ax.plot(steps, [row.lower for row in run.trace], "k^-", label="lower bound")
ax.axhline(lower, color="black", linestyle=":", label="optimal value")
ax.set(xlabel="iterations of column generation", ylabel="value")
ax.legend()
plt.show()
for row in run.trace:
    assert row.lower <= certificate.upper
    assert row.upper >= certificate.lower

# %%
# Relative to what?
# -----------------
#
# The gap has the unit of the objective. Multiply all kernels by 1000 and divide
# :math:`C` by 1000: the same classifier, a gap 1000 times smaller. So it is divided. In
# general the upper bound is a penalty :math:`U(\|f_1\|,\dots,\|f_M\|)` plus losses, and
# the lower bound has the conjugate :math:`U^*(\sqrt{q_1},\dots,\sqrt{q_M})`:
#
# .. math::
#
#    \text{relative gap}&=\text{gap}/\text{scale}, \\
#    \text{scale}&=U(\|f\|)+U^*(\sqrt q) .
#
# Here :math:`U=\tfrac12(\sum_m\|f_m\|)^2` and :math:`U^*=\tfrac12\max_mq_m`. Why not by
# the value? Because the value may be mostly a constant: with large :math:`C` the losses
# swamp the penalty, and a small share of the value may be all of the classifier. The
# scale speaks of :math:`f` alone.

scale = (solution.weights @ np.sqrt(q)) ** 2 / 2 + q.max() / 2
print(f"scale by hand {scale:.9f}, of the certificate {certificate.scale:.9f}")
assert abs(scale - certificate.scale) < 1e-7 * scale

# %%
# There is one problem without a scale. In the ν-form of the SVM the optimal value is
# minus half the squared distance between the classes' reduced hulls. Where these meet,
# it is 0, and :math:`f=0` attains it: nothing is left to compare a gap with. The status
# is ``not_certified``, and the message says why. The bounds hold all the same.

sides = np.repeat([1.0, -1.0], 10)
x = np.random.default_rng(0).normal(size=(20, 1)) + 0.2 * sides[:, None]
overlapping = mklcvx.Instance((x @ x.T)[None], sides)
for nu in (0.8, 0.5):
    found = mklcvx.solve(overlapping, "svm", nu=nu)
    print(f"ν = {nu}: {found.status}, value {found.objective:.2e}")
print(found.message)
assert "hulls meet" in found.message

# %%
# What 1e-6 proves
# ----------------
#
# With relative gap 1e-6:
#
# * the optimal value lies in the interval, so it is known to a millionth of the scale;
# * **no** classifier of this problem is better than the returned one by more than that;
# * the returned *function* is close to the optimal one, but what is guaranteed is the
#   **square root**. For one kernel: the primal is :math:`\tfrac12\|f\|^2` plus
#   something convex, so it rises from its minimum at least as
#   :math:`\tfrac12\|f-f^*\|^2`, and
#
# .. math::
#
#    \|f-f^*\|&\le\sqrt{2\cdot\text{gap}}, \\
#    |f(x)-f^*(x)|&\le\sqrt{2\cdot\text{gap}\cdot k(x,x)} .
#
# (Without the bias, which the norm does not see.) With several kernels the exact SVM
# with the kernel :math:`\sum_m\mu_mK_m` takes the place of :math:`f^*`, at the weights
# that suit the functions found; it is itself within the gap of the optimum. Six digits
# of value guarantee three digits of function; a label, without a bias, wherever
# :math:`|f(x)|` exceeds the bound. Is that only caution? We spoil the optimal function
# in two ways: at random; and by functions that vanish on the samples with
# :math:`0<\alpha_i<C`. The second kind moves no sample across its margin as long as it
# is small. Then all terms of first order cancel, and the objective rises by
# :math:`\tfrac12\|f-f^*\|^2` exactly.

average = mklcvx.Instance(K.mean(axis=0)[None], y)
best = mklcvx.solve(average, "svm", C=C, tol=1e-12)
svm = mklcvx.formulations.get("svm")
task, _ = svm.task(average, {"C": C})
kernel, free = average.kernels[0], (best.alpha > 1e-6) & (best.alpha < C - 1e-6)
unseen = np.eye(40) - np.linalg.pinv(kernel[free]) @ kernel[free]


def spoilt(size, project):
    change = size * project @ rng.normal(size=40)
    gap = svm.upper(task, (best.alpha * y + change)[None]).value
    return gap - best.certificate.lower, np.sqrt(change @ kernel @ change)


fig, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
for project, marker, face, label in (
    (np.eye(40), "o", "white", "at random"),
    (unseen, "s", "black", "zero on the free samples"),
):
    gaps, lengths = np.array(
        [spoilt(s, project) for s in np.geomspace(3e-5, 0.1, 25)]
    ).T
    ax.loglog(gaps, lengths, f"k{marker}", mfc=face, markersize=5, label=label)
    slope = np.polyfit(np.log(gaps[:12]), np.log(lengths[:12]), 1)[0]
    print(f"{label}: ‖f − f*‖ falls as the gap to the power {slope:.2f}")
    assert (lengths <= np.sqrt(2 * gaps) * (1 + 1e-3)).all()
assert abs(slope - 0.5) < 0.05
line = np.geomspace(1e-10, 1, 2)
ax.loglog(line, np.sqrt(2 * line), "k-", linewidth=1, label="allowed: √(2·gap)")
ax.set(xlabel="gap", ylabel="distance ‖f − f*‖")
ax.legend()
plt.show()

# %%
# Spoilt at random, the function is far closer than guaranteed, and comes closer faster
# than the root: the hinge loss has kinks, and moving a sample off its margin costs at
# once. But the root is attained. A gap alone does not say which of the two you have.

# %%
# What it does not prove
# ----------------------
#
# * **Not that the weights are right to six digits.** Weights may not even be unique.
#   Below, four kernels that are equal up to a millionth: two answers, both certified at
#   1e-6, with nothing in common but their value.
# * Not that :math:`\alpha` is unique or close.
# * Not that the problem was the right one: the kernels, the labels and :math:`C` are
#   taken as they are. A certificate for the wrong kernel is a perfect certificate.
# * Nothing about how often new samples are classified rightly.

similar = zoo.specimen("nearly-equal").instance()
first = mklcvx.solve(similar, "l1", C=C, tol=1e-6)
second = mklcvx.solve(similar, "l1", C=C, tol=1e-6, solver="silp")
for found in (first, second):
    gap = found.certificate.relative_gap
    print(f"{found.solver}: {found.weights.round(3)}, relative gap {gap:.0e}")
    assert gap <= 1e-6
assert np.abs(first.weights - second.weights).max() > 0.5
ax = plot.weights(first.weights, similar.names, candidate=second.weights)
ax.get_legend().get_texts()[0].set_text(first.solver)
ax.get_legend().get_texts()[1].set_text(second.solver)
plt.show()

# %%
# So :func:`mklcvx.verify` never compares weights one by one. It asks what they are
# worth, and says between which limits each may lie at the tolerance:

report = mklcvx.verify(similar, "l1", weights=second.weights, C=C)
print(report.verdict)
for kernel, low, high in report.loose:
    print(f"  {kernel}: anything from {low:.2f} to {high:.2f}")

# %%
# What rounding costs
# -------------------
#
# Sums of doubles are rounded. Four samples whose only feature is a year show what that
# may do. With :math:`K=xx^\top` and :math:`C=10^5`, samples 2 and 4 are at the bound,
# samples 1 and 3 on the margin, so that :math:`w=-2/29`. In fractions primal and dual
# agree, which proves the optimal value:

from fractions import Fraction

x, sides, price = np.array([[1985, 1991, 2014, 2012], [1, -1, -1, 1], [10**5] * 4], "O")
w = Fraction(2, x[0] - x[2])
losses = np.maximum(0, 1 - sides * (1 + w * (x - x[0])))
alpha = np.where([1, 0, 1, 0], (21 * price - w) / 29, price)
exact = w**2 / 2 + price @ losses
assert exact == alpha.sum() - ((alpha * sides) @ x) ** 2 / 2

years = mklcvx.Instance(np.outer(x, x).astype(float)[None], sides.astype(float))
found = mklcvx.solve(years, "svm", C=1e5, tol=1e-6)
signed = found.alpha * years.y
square = signed @ years.kernels[0] @ signed
losses = np.maximum(0, 1 - years.y * (years.kernels[0] @ signed + found.bias))
lower, upper = found.alpha.sum() - square / 2, square / 2 + 1e5 * losses.sum()
paid = found.certificate
print(f"exact       {exact} = {float(exact):.10f}")
print(f"plain       {lower:.10f} and {upper:.10f}")
print(f"certificate {paid.lower:.10f} ≤ v* ≤ {paid.upper:.10f}, {found.status}")
print(f"gap {paid.gap:.1e}, of which rounding {paid.rounding:.1e}")
assert paid.lower <= exact <= paid.upper
assert max(abs(lower - exact), abs(upper - exact)) > w**2 / 2

# %%
# Plain double precision is off by more than the whole penalty. So a certificate is
# evaluated otherwise: products that would lose digits are cut into slices whose sums
# are exact, every error is bounded, and the bounds move apart by it. What comes out is
# a theorem about the stored numbers (``mklcvx prove`` repeats it in whole numbers).
#
# A stored kernel is itself rounded, and may have a negative eigenvalue. The upper bound
# pays for a :math:`\delta` that provably makes :math:`\sum_m\mu_mK_m+\delta I`
# semidefinite. Kernels of rank 3, in double and in single precision:

linear = views @ views.transpose(0, 2, 1)
for kind in (np.float64, np.float32):
    stored = mklcvx.solve(mklcvx.Instance(linear.astype(kind), y), "l1", C=C)
    ridge = stored.certificate.ridge
    print(f"{np.dtype(kind)}: {stored.status}, δ = {ridge:.0e}", stored.message)
assert "single-precision entries" in stored.message

# %%
# An *answer* in single precision has seven digits too, and need not be right to nine.
# The judge tells rounding from a mistake:

rounded = {"weights": np.float32(solution.weights), "alpha": np.float32(solution.alpha)}
for tol in (1e-9, 1e-6):
    report = mklcvx.verify(instance, "l1", **rounded, C=C, tol=tol)
    worst = max(part.off for part in report.parts)
    print(f"asked for {tol:.0e}: {report.verdict}, off by {worst:.0e}")
    print(" ", report.diagnosis.words if report.diagnosis else "nothing to say")

# %%
# Break it
# --------
#
# A lower bound holds for *feasible* :math:`\alpha` only. Let :math:`y^\top\alpha` miss
# zero by a little, in the direction of the bias, and leave it so. With the switch off,
# the heavier class is scaled down until :math:`y^\top\alpha=0`, as mklcvx does first.

SKIP_THE_REPAIR = True

free = (best.alpha > 1e-3) & (best.alpha < C - 1e-3)
moved = best.alpha + 1e-4 * np.sign(best.bias) * y * free
moved = moved if SKIP_THE_REPAIR else task.feasible(moved)
signed = moved * y
claimed = moved.sum() - signed @ average.kernels[0] @ signed / 2
print(f"'lower bound' minus optimal value: {claimed - best.certificate.upper:.1e}")
assert (claimed > best.certificate.upper) == SKIP_THE_REPAIR
report = mklcvx.verify(average, "svm", alpha=moved, objective=claimed, C=C, tol=5e-5)
print(report.verdict)
for part in report.parts:
    print(f"  {part.name}: {part.excess:.1e} away from the optimal value")
    for violation in part.violations:
        if violation.by > 1e-12:
            print(
                f"  {part.name} violates {violation.constraint} by {violation.by:.1e}"
            )
print(report.diagnosis.words if report.diagnosis else "nothing to say")

# %%
# The unrepaired :math:`\alpha` "proves" a bound above the optimal value. Repaired, it
# proves one a little below: not tight, for it was spoilt, but true.
#
# Exercises
# ---------
#
# **1.** A solver reports relative gap :math:`-10^{-4}`: its lower bound is above its
# upper one. What do you conclude?
#
# .. dropdown:: Solution 1
#
#     Weak duality forbids it, so one of the two points is infeasible, one of the bounds
#     is computed wrongly, or they belong to different problems. It is not "better than
#     optimal". Rounding may be the cause, too: then the bounds do not pay for it, and
#     nothing is proved. Bounds that pay for their rounding never cross.
#
# **2.** Your program prints, as its last line, ``weights changed by less than 1e-6``.
# What does this prove?
#
# .. dropdown:: Solution 2
#
#     That the last step was short. A method that takes short steps, or creeps as
#     :math:`1/t`, stops moving far from the optimum. Only a bound from the other side
#     tells how far.
#
# **3.** You need the decision values :math:`f(x)` of an SVM with :math:`k(x,x)=1`, up
# to the bias, to 0.01. Which gap do you ask for?
#
# .. dropdown:: Solution 3
#
#     :math:`\sqrt{2\cdot\text{gap}}\le0.01` gives a gap of
#     :math:`5\cdot10^{-5}`, absolute. Divide by the scale for the relative one.
#
# **4.** (*With a seed.*) Make a certificate of your own.

from mklcvx.exercises import exercise

mine = exercise("certified-pair", seed=7)
print(mine.question)

# %%
# A first attempt takes equal weights, with their SVM's :math:`\alpha`:

equal = mklcvx.solve(mine.instance, "average", **mine.parameters)
attempt = {"alpha": equal.alpha, "weights": equal.weights, "objective": equal.objective}
print(mine.grade(**attempt))

# %%

# Solution 4, for every seed
import cvxpy as cp

labels, price = mine.instance.y, mine.parameters["C"]
alpha, level = cp.Variable(len(labels)), cp.Variable()
cuts = []
for kernel in mine.instance.kernels:
    root = np.linalg.cholesky(kernel + 1e-12 * np.eye(len(kernel)))
    cuts.append(cp.sum_squares(root.T @ cp.multiply(alpha, labels)) / 2 <= level)
feasible = [alpha >= 0, alpha <= price, labels @ alpha == 0]
problem = cp.Problem(cp.Maximize(cp.sum(alpha) - level), [*cuts, *feasible])
problem.solve()
weights = np.maximum([float(np.ravel(cut.dual_value)[0]) for cut in cuts], 0)
grade = mine.grade(
    alpha=alpha.value, weights=weights / weights.sum(), objective=problem.value
)
print(grade)
assert grade.passed

# %%
# More on how bounds are computed is on the page :doc:`/certificate`.
#
# To take away: *a certificate is a feasible point on either side. It encloses the
# value, bounds the function by a square root, and leaves the weights open.*
