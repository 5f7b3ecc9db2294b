r"""
Hypergraphs: labels as edges
============================

A label joins all the samples that have it. An edge of a graph joins two; a *hyperedge*
joins any number. So a table of labels is a hypergraph, and we can ask for a kernel in
which samples that share labels come to lie together. The answer is a spectral
embedding, and choosing the kernel turns out to be the problem of
:doc:`/chapters/plot_07_smoothing`.

From a hypergraph to a graph
----------------------------

Eight samples, three labels: :math:`Y` has a row for each sample, a column for each
label. Two ways to make an ordinary graph of it (Agarwal et al. 2006):

* **clique**: join every two samples of a label, once for each label they share:
  :math:`W=YY^\top`. A large label of :math:`d` samples makes :math:`d^2` entries.
* **star**: put a new vertex in the middle of each label and join it to the label's
  samples. Seen from the samples, with each label divided by its size:
  :math:`W=YD_e^{-2}Y^\top`, :math:`D_e` the labels' sizes. A large label counts no more
  than a small one.

In both a sample is also joined to itself. We shall see what for.
"""

import matplotlib.pyplot as plt
import numpy as np

import mklcvx
from mklcvx import zoo

Y = np.array([[1, 0, 0]] * 2 + [[1, 1, 0], [0, 1, 0], [0, 1, 1]] + [[0, 0, 1]] * 3)
Y = Y.astype(float)


def expanded(Y, kind):
    return Y @ Y.T if kind == "clique" else (Y / Y.sum(axis=0)) @ (Y / Y.sum(axis=0)).T


angle = np.linspace(0, 2 * np.pi, len(Y), endpoint=False)
places = np.stack([np.cos(angle), np.sin(angle)], axis=1)
centres = (Y.T @ places) / Y.sum(axis=0)[:, None]
fig, (left, right) = plt.subplots(1, 2, figsize=(8, 3.8), layout="constrained")
W = expanded(Y, "clique")
for i, j in zip(*np.nonzero(np.triu(W, 1)), strict=True):
    left.plot(*places[[i, j]].T, "k-", linewidth=1)
for i, k in zip(*np.nonzero(Y), strict=True):
    right.plot(*np.stack([places[i], centres[k]]).T, "k-", linewidth=1)
right.plot(*centres.T, "ks", markersize=14, markerfacecolor="white")
for k, centre in enumerate(centres):
    right.text(*centre, "abc"[k], ha="center", va="center")
for ax, title in ((left, "clique expansion"), (right, "star expansion")):
    ax.plot(*places.T, "ko", markersize=14)
    for i, place in enumerate(places):
        ax.text(*place, str(i), ha="center", va="center", color="white")
    ax.set(title=f"{title} of labels a, b, c", aspect="equal")
    ax.set_axis_off()
plt.show()

# %%
# The Laplacian
# -------------
#
# Give each sample a number :math:`v_i`. It suits the graph if joined samples have
# similar numbers, each divided by the root of its degree :math:`d_i=\sum_jW_{ij}` so
# that samples with many labels do not dominate:
#
# .. math::
#
#    \tfrac12\sum_{ij}W_{ij}
#    \Bigl(\frac{v_i}{\sqrt{d_i}}-\frac{v_j}{\sqrt{d_j}}\Bigr)^2 .
#
# Multiply out. The squares give :math:`\tfrac12\sum_{ij}W_{ij}v_i^2/d_i=
# \tfrac12\|v\|^2` twice, since row :math:`i` of :math:`W` sums to :math:`d_i`; the
# product gives
# :math:`-v^\top Av` with :math:`A=D^{-1/2}WD^{-1/2}`. So the sum is
# :math:`v^\top(I-A)v`, and :math:`\mathcal L=I-A` is the normalised **Laplacian**.


def normalised(W):
    roots = np.sqrt(W.sum(axis=1))
    return W / np.outer(roots, roots)


A = normalised(W)
v, d = np.random.default_rng(0).normal(size=8), W.sum(axis=1)
differences = (v / np.sqrt(d))[:, None] - v / np.sqrt(d)
print(np.sum(W * differences**2) / 2, "is", v @ (np.eye(8) - A) @ v)
assert np.isclose(np.sum(W * differences**2) / 2, v @ (np.eye(8) - A) @ v)

without = W - np.diag(np.diag(W))
for words, matrix in (("with", W), ("without", without)):
    values = np.linalg.eigvalsh(normalised(matrix))
    print(f"eigenvalues of A {words} self-loops:", values.round(2) + 0.0)

# %%
# That is what self-loops are for. With them :math:`A` is positive semidefinite of rank
# at most 3, and has a root :math:`H` with three columns, :math:`A=HH^\top`. Without
# them the diagonal is zero, the eigenvalues sum to zero, and there is no root.
#
# The embedding
# -------------
#
# New samples must get coordinates too, so the numbers are to come from functions of the
# kernel: :math:`KB`, one column for each coordinate. We want much of :math:`A` in them,
# with functions kept in bounds (Ji et al. 2008, Eq. (2), where our :math:`A` is
# :math:`C`):
#
# .. math::
#
#    \max_B\quad & \operatorname{tr}(B^\top KAKB) \\
#    \text{with}\quad & B^\top(K^2+\lambda K)B=I .
#
# The maximum is the sum of generalised eigenvalues. Let :math:`K` be invertible; put
# :math:`G=(K^2+\lambda K)^{1/2}B`, so that :math:`G^\top G=I`. The sum is then that of
# the eigenvalues of :math:`(K^2+\lambda K)^{-1/2}KHH^\top K(K^2+\lambda K)^{-1/2}`,
# which are those of the small matrix
#
# .. math::
#
#    & H^\top K(K^2+\lambda K)^{-1}KH \\
#    &\quad=H^\top K(K+\lambda I)^{-1}H \\
#    &\quad=H^\top H-H^\top(I+K/\lambda)^{-1}H ,
#
# because :math:`K(K+\lambda I)^{-1}=I-\lambda(K+\lambda I)^{-1}`. So the sum is
# :math:`\operatorname{tr}A-\operatorname{tr}(H^\top(I+K/\lambda)^{-1}H)`: **the best
# kernel makes** :math:`\operatorname{tr}(H^\top(I+K/\lambda)^{-1}H)` **least**.
#
# Choosing the kernel
# -------------------
#
# With :math:`K(\mu)=\sum_m\mu_mK_m` and :math:`P=I+K(\mu)/\lambda`, the
# negative trace is itself the minimum of a quadratic: :math:`\tfrac14
# \operatorname{tr}(Z^\top PZ)-\operatorname{tr}(Z^\top H)` is least where
# :math:`\tfrac12PZ=H`, and is :math:`-\operatorname{tr}(H^\top P^{-1}H)` there. That
# quadratic is :math:`\sum_m\mu_mS_m(Z)` with the :math:`S_m` of chapter 7. Hence
#
# .. math::
#
#    \max_{\mu\in\Delta}-\operatorname{tr}(H^\top P^{-1}H)
#    &=\max_{\mu\in\Delta}\min_Z\sum_m\mu_mS_m(Z) \\
#    &=\min_Z\max_mS_m(Z) ,
#
# minimum and maximum exchanged because the sum is convex in :math:`Z` and linear in
# :math:`\mu` (:doc:`hypergraph </formulations/hypergraph>`).

instance = zoo.specimen("labels-overlapping").instance()
labels = instance.targets.values
solutions = {}
for kind in ("clique", "star"):
    found = mklcvx.solve(instance, "hypergraph", expansion=kind, lam=0.1)
    solutions[kind], total = found, found.multipliers["eigenvalues"].sum()
    print(f"{kind}: relative gap {found.certificate.relative_gap:.0e}")
    print(f"  the eigenvalues sum to {total:.7f}")
    print(
        f"  tr A + optimal value = {found.multipliers['trace'] + found.objective:.7f}"
    )
    assert abs(found.multipliers["trace"] + found.objective - total) < 1e-6

# %%
# The labels' sizes are 21, 12 and 12: the star expansion gives the two small ones more
# to say, and the weights move. On the right the embedding of the 40 samples, first two
# coordinates of :math:`K(\mu)B`. Samples without any label lie near the origin:
# nothing pulls at them.

print("sizes of the labels", labels.sum(axis=0).astype(int))
assert labels.sum(axis=0).tolist() == [21, 12, 12]
fig, (left, right) = plt.subplots(1, 2, figsize=(8, 4), layout="constrained")
rows = np.arange(instance.count)
left.barh(rows - 0.2, solutions["clique"].weights, 0.4, color="grey", ec="black")
left.barh(rows + 0.2, solutions["star"].weights, 0.4, color="white", ec="k", hatch="//")
left.set_yticks(rows, instance.names)
left.invert_yaxis()
left.set(xlabel="kernel weight μ", title="filled: clique, hatched: star")
best = solutions["clique"]
seen = np.tensordot(best.weights, instance.kernels, axes=1) @ best.multipliers["B"]
for members, marker, face, words in (
    (labels.sum(axis=1) == 0, "x", "black", "no label"),
    (labels @ [1, 2, 4] == 1, "o", "black", "the first alone"),
    (labels @ [1, 2, 4] == 2, "s", "white", "the second alone"),
    (labels @ [1, 2, 4] == 4, "^", "white", "the third alone"),
    (labels.sum(axis=1) > 1, "D", "grey", "several"),
):
    look = {"marker": marker, "facecolor": face, "edgecolor": "black"}
    look = {"marker": marker, "color": "black"} if marker == "x" else look
    right.scatter(*seen[members, :2].T, s=30, label=words, **look)
lengths, bare = np.linalg.norm(seen[:, :2], axis=1), labels.sum(axis=1) == 0
assert lengths[bare].max() < lengths[~bare].min()
right.set(xlabel="first coordinate", ylabel="second coordinate")
right.legend(fontsize="small")
plt.show()

# %%
# Break it
# --------
#
# Dividing each label by its size is a natural thing to do, and another problem. With
# the switch on, the columns of :math:`Y` are normalised where the clique expansion was
# asked for.

DIVIDE_BY_SIZE = True

import cvxpy as cp


def solved(instance, columns, lam):
    """The best kernel for W = columns columns', by hand."""
    degrees = columns @ columns.sum(axis=0)
    H = columns / np.sqrt(np.where(degrees > 0, degrees, 1))[:, None]
    Z, level = cp.Variable(H.shape), cp.Variable()
    common = cp.sum_squares(Z) / 4 - cp.sum(cp.multiply(Z, H))
    cuts = []
    for kernel in instance.kernels:
        values, vectors = np.linalg.eigh(kernel)
        root = vectors * np.sqrt(np.maximum(values, 0))
        cuts.append(common + cp.sum_squares(root.T @ Z) / (4 * lam) <= level)
    cp.Problem(cp.Minimize(level), cuts).solve()
    mu = np.maximum([float(np.ravel(cut.dual_value)[0]) for cut in cuts], 0)
    return {"weights": mu / mu.sum(), "objective": float(level.value)}


columns = labels / labels.sum(axis=0) if DIVIDE_BY_SIZE else labels
report = mklcvx.verify(
    instance,
    "hypergraph",
    **solved(instance, columns, 0.1),
    expansion="clique",
    lam=0.1,
    tol=1e-5,
)
print(report.verdict)
for part in report.parts:
    print(f"  {part.name}: {part.excess:.1e} away from the optimal value")
print(report.diagnosis.words if report.diagnosis else "nothing to say")

# %%
# The weights are off by little, the value by more. Nobody would see it in a picture.
#
# Exercises
# ---------
#
# **1.** Find a vector with :math:`Av=v`. What does it say about the samples, and why is
# every eigenvalue of :math:`A` at most 1?
#
# .. dropdown:: Solution 1
#
#     :math:`v_i=\sqrt{d_i}`: :math:`(Av)_i=\sum_jW_{ij}\sqrt{d_j}/\sqrt{d_id_j}
#     =d_i/\sqrt{d_i}`. All :math:`v_i/\sqrt{d_i}` are equal, so no edge sees a
#     difference; it tells no samples apart. And :math:`v^\top(I-A)v` is a sum of
#     squares, never negative, so no eigenvalue of :math:`A` exceeds 1.

# %%

# Solution 1, by machine
roots = np.sqrt(W.sum(axis=1))
print(np.abs(normalised(W) @ roots - roots).max())
assert np.allclose(normalised(W) @ roots, roots)

# %%
# **2.** Every sample has exactly one label, and all labels have :math:`d` members. Show
# that clique and star give the same :math:`A`. What is it?
#
# .. dropdown:: Solution 2
#
#     Clique: :math:`W_{ij}=1` within a label, degrees :math:`d`, so
#     :math:`A_{ij}=1/d`. Star: :math:`W_{ij}=1/d^2`, degrees :math:`1/d`, so again
#     :math:`A_{ij}=1/d`. It is the projection that replaces each sample's number by
#     its label's mean. The expansions differ only where sizes differ or labels overlap.
#
# **3.** What are the eigenvalues of the embedding as :math:`\lambda\to0`, for an
# invertible kernel? What does the weight :math:`\mu` matter then?
#
# .. dropdown:: Solution 3
#
#     :math:`(I+K/\lambda)^{-1}\to0`, so they sum to :math:`\operatorname{tr}A`, the
#     most there is, for every invertible kernel: each fits the training labels
#     perfectly, and :math:`\mu` does not matter. :math:`\lambda` is what makes
#     kernels differ.
#
# **4.** (*With a seed.*) The best kernel for a star expansion of your own.

from mklcvx.exercises import exercise

mine = exercise("star-expansion", seed=7)
print(mine.question)

# %%
# A first attempt takes the clique expansion:

mine_labels, lam = mine.instance.targets.values, mine.parameters["lam"]
print(mine.grade(**solved(mine.instance, mine_labels, lam)))

# %%

# Solution 4, for every seed
sizes = mine_labels.sum(axis=0)
grade = mine.grade(**solved(mine.instance, mine_labels / sizes, lam))
print(grade)
assert grade.passed

# %%
# To take away: *labels make a graph, a graph makes a Laplacian, and the best kernel for
# its embedding is the solution of a minimax of quadratics, whose multipliers are the
# weights.*
