r"""
Change the loss
===============

So far a sample had a label, and what it cost was the hinge loss. Let the target be a
number, or the loss another convex function. Which of the twelve chapters before this
one have to be written again? None: the loss enters every dual through **one function
of one number**. A formulation is a regulariser over kernels times a loss over samples.

One number per sample
---------------------

A sample with output :math:`z=f(x)+b` is judged by its **residual** :math:`r`. For a
label :math:`y=\pm1` it is what the margin lacks, :math:`r=1-yz`; for a real target it
is :math:`r=y-z`. Both read

.. math::

   r_i=a_i-s_i\,(f(x_i)+b)

with :math:`a_i=1`, :math:`s_i=y_i` for labels and :math:`a_i=y_i`, :math:`s_i=1` for
real targets. Let the sample pay :math:`c_i\ell(r_i)`, :math:`\ell` convex, and let
:math:`U` be any penalty of the norms:

.. math::

   \min_{f,\,b,\,r}\quad & U(\|f_1\|,\dots,\|f_M\|)+\sum_ic_i\,\ell(r_i) \\
   \text{subject to}\quad & r_i=a_i-s_i\,(f(x_i)+b) .

An equation has a price of either sign; call it :math:`\alpha_i`:

.. math::

   L=U(\dots)+\sum_ic_i\ell(r_i)+\sum_i\alpha_i\bigl[a_i-s_i(f(x_i)+b)-r_i\bigr] .

:math:`r_i`
    appears as :math:`c_i\ell(r_i)-\alpha_ir_i`. Its least value is
    :math:`-h_i(\alpha_i)`, where

    .. math:: h_i(\alpha)=\sup_r\ \alpha r-c_i\,\ell(r)

    is the **conjugate** of the sample's loss. Where the supremum is infinite,
    :math:`\alpha` is not allowed: *the domain of the conjugate is the box.*

:math:`f,\ b`
    see the samples through :math:`\beta_i=s_i\alpha_i` alone, as ever:
    :math:`\sum_i\beta_i=0`, and :math:`U` leaves
    :math:`-U^*(\sqrt{q_1},\dots,\sqrt{q_M})` with :math:`q_m=\beta^\top K_m\beta`.

What is left is the dual of every pair of regulariser and loss:

.. math::

   \max_\alpha\quad \sum_i\underbrace{a_i\alpha_i-h_i(\alpha_i)}_{g_i(\alpha_i)}
   \;-\;U^*(\sqrt{q_1},\dots,\sqrt{q_M}) .

The first sum is the gain :math:`g`; it knows no kernel. The second term knows no loss.
For the hinge, :math:`h` is 0 on :math:`[0,c]` and infinite elsewhere, and the gain is
:math:`\sum_i\alpha_i`: the :doc:`first chapter </chapters/plot_01_svm_dual>`.

Fenchel and Young
-----------------

A supremum is at least each of its candidates. So for every :math:`r` and every
:math:`\alpha`, with no further condition,

.. math:: c\,\ell(r)+h(\alpha)\ \ge\ \alpha r ,

the inequality of Fenchel and Young. Sum it over the samples, add the same inequality
for :math:`U`, and weak duality is proved: *that is the whole proof.* Equality holds
where :math:`\alpha` is a slope of :math:`c\,\ell` at :math:`r`; at an optimum it holds
for every sample. The next cell tries it, for every loss there is, at a thousand pairs
of :math:`z` and :math:`\alpha`, and then at the :math:`\alpha` that is the slope.
"""

import matplotlib.pyplot as plt
import numpy as np

import mklcvx
from mklcvx import plot
from mklcvx.formulations import losses

rng = np.random.default_rng(0)
price = np.full(1000, 2.0)
for loss in losses.EVERY:
    y = {"labels": rng.choice([-1.0, 1.0], 1000), "response": rng.normal(size=1000)}
    y["counts"] = rng.poisson(2.0, 1000).astype(float)
    y = y.get(loss.targets, np.ones(1000))
    z = 2 * rng.normal(size=1000)
    low, high = (np.clip(ends, -6, 6) for ends in loss.bounds(y, price))
    gaps = loss.fenchel_young(rng.uniform(low, high), z, y, price)
    step = 1e-6 * loss.signs(y)
    slope = loss.value(z - step, y, price) - loss.value(z + step, y, price)
    tight = loss.fenchel_young(np.clip(slope / 2e-6, low, high), z, y, price)
    print(f"{loss.name:28} least {gaps.min():.1e}, at the slope {np.median(tight):.0e}")
    assert gaps.min() >= 0
    assert np.median(tight) < 1e-6

# %%
# Loss, conjugate, box
# --------------------
#
# Here are the losses for labels, then those for real targets and counts, each at the
# price 1: the loss as a function of :math:`r`, its conjugate, and the bounds of
# :math:`\alpha`.
# An arrow has no end; an open circle is an end that is never reached.

for kind in ("labels", "response"):
    shown = [losses.LOSSES[one] for one in mklcvx.available_losses(target=kind)]
    shown = [one for one in shown if not one.level_name and one.name != "absolute"]
    swap = {"epsilon_insensitive": losses.EpsilonInsensitive(0.5)}
    swap["squared_epsilon_insensitive"] = losses.SquaredEpsilonInsensitive(0.5)
    swap["quantile"] = losses.Quantile(0.8)
    plot.losses([swap.get(one.name, one) for one in shown])
    plt.show()

# %%
# Read each row from left to right. A slope of the loss is a place on the axis of
# :math:`\alpha`, and the picture says what the loss does to its samples:
#
# * **A straight piece** has one slope. All its samples share one :math:`\alpha`, at a
#   bound: :math:`\alpha=c` short of the margin, :math:`\alpha=\pm c` beyond the tube of
#   the ε-insensitive loss, :math:`\alpha=\pm c\delta` for Huber's outliers. The
#   steepest slopes are the box.
# * **A flat piece** has slope 0: its samples have :math:`\alpha=0` and could be left
#   out. Margins above 1; residuals inside the tube. In :math:`h` it is a kink at 0,
#   :math:`\varepsilon|\alpha|`, the same that makes the lasso sparse.
# * **A corner** has many slopes: a sample that sits in it may have any
#   :math:`\alpha` between. In :math:`h` it is a straight piece.
# * **A curved piece** gives every residual a slope of its own, and :math:`h` is curved.
#   The squared loss is curved everywhere: :math:`\alpha=cr`, which is 0 only where a
#   target is hit exactly. **It has no sparse** :math:`\alpha`.
# * **The logistic loss** has slopes strictly between 0 and :math:`c`, as :math:`h` is
#   infinitely steep at both ends: no sample is left out, and none is at the bound.
# * **The Poisson loss** is drawn for the count 1. Its slope grows without limit to the
#   left, where the mean :math:`e^z` is too large, and stays below :math:`c` times the
#   count to the right: :math:`\alpha=c(y-e^z)` is the count less its mean.
#
# The ν-forms (``nu``, ``one_class``) have the hinge's picture: there :math:`a=0`, and
# the condition :math:`\sum_i\alpha_i=1` belongs to the unknown margin. ``nu_svr`` has
# that of the ε-insensitive loss with an unknown :math:`\varepsilon`, which costs
# :math:`\nu\sum_ic_i` per unit: :math:`\sum_i|\alpha_i|\le\nu\sum_ic_i` belongs to it,
# so that at most a share ν of the samples lies outside its tube.
#
# By machine
# ----------
#
# Forty points of a curve, noisier to the right, two of them far off; four kernels, of
# which ``l1`` may choose.

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(-1.5, 1.5, 40))
response = x**2 - x + 0.15 * (2 + x) * rng.normal(size=40)
response[[6, 31]] += [2.5, -3.0]
distances = (x[:, None] - x) ** 2
kernels = [np.outer(x, x), np.outer(x, x) ** 2]
kernels += [np.exp(-width * distances) for width in (1.0, 30.0)]
names = ["linear", "quadratic", "wide", "narrow"]
curve = mklcvx.Instance(np.stack(kernels), response=response, names=names)
C = 2.0
chosen = {
    "squared": {},
    "huber": {"delta": 0.5},
    "epsilon_insensitive": {"epsilon": 0.4},
    "quantile": {"quantile": 0.8},
}
found = {
    name: mklcvx.solve(curve, "l1", loss=name, C=C, **own)
    for name, own in chosen.items()
}
residuals, ends = {}, {}
for name, solution in found.items():
    loss = losses.LOSSES[name].with_own(chosen[name], 4)
    ends[name] = loss.bounds(response, np.full(40, C))
    f = np.tensordot(solution.weights, curve.kernels @ solution.alpha, axes=1)
    residuals[name] = response - f - solution.bias
    zero = np.abs(solution.alpha) < 1e-6
    bound = np.minimum(solution.alpha - ends[name][0], ends[name][1] - solution.alpha)
    bound = bound < 1e-6
    print(f"{name:20} value {solution.objective:8.4f}, weights", end=" ")
    print(solution.weights.round(2), end="; ")
    print(f"α: {zero.sum()} zero, {bound.sum()} at a bound, ", end="")
    print(f"{40 - zero.sum() - bound.sum()} between")
    assert solution.status == "certified"
    if name == "squared":
        assert not (zero | bound).any()
    if name == "huber":
        assert np.array_equal(bound, np.abs(residuals[name]) > 0.5 - 1e-6)
    if name == "epsilon_insensitive":
        assert np.all(np.abs(residuals[name][zero]) < 0.4 + 1e-6)
        assert zero.sum() > 15

# %%
# :math:`\alpha` against the residual is the **slope of the loss**, drawn by the samples
# themselves. For the hinge it was the staircase of the first chapter.

fig, axes = plt.subplots(1, 4, figsize=(8, 2.6), sharex=True, layout="constrained")
for ax, (name, solution) in zip(axes, found.items(), strict=True):
    for end in (ends[name][0][0], ends[name][1][0]):
        if np.isfinite(end):
            ax.axhline(end, color="0.6", linestyle=":")
    ax.plot(
        residuals[name], solution.alpha, "ko", markersize=4, markerfacecolor="white"
    )
    ax.set_title(name.replace("_", "-"), fontsize="small")
    ax.set(xlabel="residual", xlim=(-1.6, 1.6), ylim=(-4, 4))
axes[0].set(ylabel="α")
plt.show()

# %%
# Two of them tell more than a mean. Inside the tube nothing is paid: the dots below
# that are filled, on its edge or outside, make the function alone. And with a bias
# :math:`\sum_i\alpha_i=0`, where :math:`\alpha=\pi c` above the curve and
# :math:`-(1-\pi)c` below it: at most a share :math:`\pi` of the samples lies below, at
# most :math:`1-\pi` above, the others on it. That is a **quantile** of level
# :math:`\pi`.

levels = {
    level: mklcvx.solve(curve, "l1", loss="quantile", quantile=level, C=C)
    for level in (0.1, 0.5, 0.9)
}


def outputs(solution):
    signed = curve.kernels @ solution.alpha
    return np.tensordot(solution.weights, signed, axes=1) + solution.bias


fig, (left, right) = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
tube = outputs(found["epsilon_insensitive"])
supports = np.abs(found["epsilon_insensitive"].alpha) > 1e-6
left.plot(x, tube, "k-", x, tube - 0.4, "k:", x, tube + 0.4, "k:")
for some, face in ((supports, "black"), (~supports, "white")):
    left.plot(x[some], response[some], "ko", markersize=4, markerfacecolor=face)
left.set(xlabel="x", ylabel="target")
left.set_title("ε-insensitive, filled: α ≠ 0", fontsize="small")
right.plot(x, response, "ko", markersize=4, markerfacecolor="white")
for (level, solution), style in zip(levels.items(), ("--", "-", "-."), strict=True):
    right.plot(x, outputs(solution), "k" + style, label=f"π = {level}")
    apart = response - outputs(solution)
    below, above = np.mean(apart < -1e-3), np.mean(apart > 1e-3)
    print(f"π = {level}: {below:.0%} of the targets lie below, {above:.0%} above")
    assert below <= level + 1e-9
    assert above <= 1 - level + 1e-9
right.set(xlabel="x")
right.legend(fontsize="small")
plt.show()

# %%
# How wide should the tube be? ``nu_svr`` finds it: the share ν that may lie outside is
# chosen instead. At its :math:`\varepsilon` it is the ε-insensitive loss, and its value
# is larger by what the tube costs.

for share in (0.2, 0.5, 0.8):
    free = mklcvx.solve(curve, "l1", loss="nu_svr", nu=share, C=C)
    epsilon = free.multipliers["epsilon"]
    outside = np.mean(np.abs(response - outputs(free)) > epsilon + 1e-6)
    support = np.mean(np.abs(free.alpha) > 1e-6)
    given = {"loss": "epsilon_insensitive", "epsilon": epsilon, "C": C}
    held = mklcvx.solve(curve, "l1", **given).objective + share * 40 * C * epsilon
    print(f"ν = {share}: ε = {epsilon:.4f}; {outside:.0%} outside, {support:.0%} with")
    print(f"         α ≠ 0; value {free.objective:.6f}, with ε held {held:.6f}")
    assert outside <= share + 1e-9
    assert share - 1e-9 <= support
    assert abs(held - free.objective) < 1e-6 * held

# %%
# Break it
# --------
#
# With one kernel and without a bias the squared loss has a closed form: the gain's
# gradient vanishes at :math:`(K+I/C)\,\alpha=y`, kernel ridge regression. The ½ of
# :math:`\ell(r)=\tfrac12r^2` is easily dropped on the way, and scikit-learn has none:
# ``KernelRidge(alpha)`` is ours with :math:`C=1/\texttt{alpha}`, *not* :math:`1/(2\,
# \texttt{alpha})`, for it drops the ½ of :math:`\tfrac12\|f\|^2` too.

DROP_ONE_HALF = True

K = curve.kernels[2]
ridge = 1 / (2 * C) if DROP_ONE_HALF else 1 / C
alpha = np.linalg.solve(K + ridge * np.eye(40), response)
squared, prices = losses.SQUARED, np.full(40, C)
lower = squared.gain(alpha, response, prices) - alpha @ K @ alpha / 2
upper = alpha @ K @ alpha / 2 + squared.value(K @ alpha, response, prices).sum()
parts = squared.fenchel_young(alpha, K @ alpha, response, prices)
print(f"{lower:.6f} ≤ optimal value ≤ {upper:.6f}")
print(f"apart by {upper - lower:.6f}, the terms of Fenchel–Young: {parts.sum():.6f}")
assert abs(upper - lower - parts.sum()) < 1e-9 * upper
assert (parts.sum() > 1e-3) == DROP_ONE_HALF

# %%
# The function looks like any other. The two bounds do not meet, and the samples' terms
# of Fenchel and Young say by how much, sample by sample.
#
# Exercises
# ---------
#
# **1.** Compute :math:`h` for :math:`\ell(r)=\max(0,|r|-\varepsilon)`.
#
# .. dropdown:: Solution 1
#
#     For :math:`|\alpha|>c` the supremum of :math:`\alpha r-c\,\ell(r)` is infinite:
#     take :math:`r` far out on the side of :math:`\alpha`. Otherwise it is attained
#     where the loss begins, at :math:`r=\pm\varepsilon` with the sign of
#     :math:`\alpha`: :math:`h(\alpha)=\varepsilon|\alpha|` on :math:`[-c,c]`.
#
# **2.** For which residuals can a sample be taken out of the problem without changing
# the answer? Name a loss where it is none.
#
# .. dropdown:: Solution 2
#
#     Those with :math:`\alpha_i=0`: it then enters neither :math:`q` nor the gain. Its
#     loss must have slope 0 at the residual. Logistic: there is no such residual.
#     Squared: only :math:`r=0`.
#
# **3.** Raise Huber's :math:`\delta`. From which value on is the answer that of the
# squared loss, exactly?

# %%

# Solution 3, by machine
enough = np.abs(residuals["squared"]).max()
for factor in (0.5, 0.9, 1.0 + 1e-6):
    given = {"loss": "huber", "delta": factor * enough, "C": C}
    value = mklcvx.solve(curve, "l1", **given).objective
    print(f"δ = {factor * enough:.4f}: {value:.8f}")
print(f"squared:    {found['squared'].objective:.8f}")
assert abs(value - found["squared"].objective) < 1e-6 * value

# %%
# **4.** The quantile loss of level ½ is half of the absolute loss. What must be done to
# :math:`C`?

# %%

# Solution 4, by machine
half = mklcvx.solve(curve, "l1", loss="quantile", quantile=0.5, C=2 * C)
absolute = mklcvx.solve(curve, "l1", loss="absolute", C=C)
print(f"quantile at 2C {half.objective:.8f}, absolute at C {absolute.objective:.8f}")
assert abs(half.objective - absolute.objective) < 1e-6 * absolute.objective

# %%
# **5.** (*With a seed.*) Choose a number. The optimum of this problem was planted:
# residuals were chosen so that a given :math:`\alpha` is their slope, then the targets
# to match. Find the value by a solver of your own.

from mklcvx import zoo

planted, optimum = zoo.planted_response("huber", 7)
print(f"{planted.samples} samples, {planted.count} kernels,", optimum.parameters)

# %%

# Solution 5, for every seed
import cvxpy as cp

alpha, tau = cp.Variable(planted.samples), cp.Variable()
y, price, delta = planted.response, optimum.parameters["C"], 1.0
roots = [np.linalg.cholesky(K + 1e-10 * np.eye(len(K))) for K in planted.kernels]
cuts = [cp.sum_squares(root.T @ alpha) / 2 <= tau for root in roots]
own = cp.Problem(
    cp.Maximize(y @ alpha - cp.sum_squares(alpha) / (2 * price) - tau),
    [cp.abs(alpha) <= price * delta, cp.sum(alpha) == 0, *cuts],
)
own.solve(solver="CLARABEL")
print(f"by machine {own.value:.6f}, planted {optimum.value:.6f}")
assert abs(own.value - optimum.value) < 1e-5 * optimum.value

# %%
# To take away: *the loss is one function of one number per sample; its conjugate is the
# gain, the slopes are the multipliers, the steepest slopes the box. Kernels never see
# it.*
