"""Groups of kernels that α does not see, under a block-∞ norm.

Where K_mβ = 0 for every kernel of group j, its share t_j vanishes, and the functions f_m = 2c λ_m K_mβ/t_j of the group
are 0/0: no step of Newton's goes there. But the limit is smooth. The group's variables leave, B'β = 0 joins the
equalities, where B is an orthonormal basis of all that its kernels can express, and the multipliers w of these
equalities are what the group adds to the decision function:

    Σ_{m∈j} f_m = B w.

Whether a group vanishes is a guess, made where its squares are nearly nothing beside those of others; that it was
right only the certificate can say, since no group may be longer than the others. Of all ways to share B w among the
kernels the one with the least Σ ‖f_m‖² is taken.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...formulations import Task
from ...formulations._groups import group_sums
from .iterate import Array, Interior
from .weights_side import Shared

NEARLY_NOTHING = 1e-4  # of the largest square, each divided by its trace
NOTHING = 1e-20  # of the same: a kernel that nothing can see, such as a constant one beside a bias
STRICTER = 1e-3  # every time that it was a mistake
CLOSE = 1e-4  # of the largest α, or of the box
LONGER = 1e-6  # than the others: beyond what rounding explains
SPANNED = 1e-8  # of a unit vector: what still counts as another direction


class Vanished(Shared):
    """Shares between the groups that are left; `flat` is B', and `beyond` what the others add."""

    def __init__(self, side: Shared, groups: list[int]) -> None:
        super().__init__(side.task, side.formulation, sorted({*side.vanished, *groups}))
        gone = np.flatnonzero(np.isin(self.all_groups, self.vanished))
        self.gone, self.factors = gone, [side.task.factor(int(m)) for m in gone]
        lengths = [np.maximum(np.linalg.norm(f.columns, axis=0), np.finfo(float).tiny) for f in self.factors]
        directions = np.hstack([f.columns / length for f, length in zip(self.factors, lengths, strict=True)])
        vectors, sizes, _ = np.linalg.svd(self._balanced(directions), full_matrices=False)
        self.flat = np.ascontiguousarray(vectors[:, sizes > SPANNED].T)

    def _balanced(self, columns: Array) -> Array:
        """With a bias Σβ = 0 already, and constants are left to b, which costs nothing."""
        return columns - columns.mean(axis=0) if self.task.bias else columns

    def beyond(self, nu: Array) -> Array:
        """The coefficients (M, n) of the functions that ν implies."""
        coefficients = np.zeros((self.task.count, self.task.samples))
        together = self._balanced(np.hstack([factor.columns for factor in self.factors]))
        wanted = nu[len(nu) - len(self.flat) :] @ self.flat
        coordinates = np.linalg.lstsq(together, wanted, rcond=1e-14)[0]
        ends = np.cumsum([factor.columns.shape[1] for factor in self.factors])
        for m, factor, part in zip(self.gone, self.factors, np.split(coordinates, ends[:-1]), strict=True):
            coefficients[m] = factor.to_coefficients @ part
        return coefficients

    def too_long(self, norms: Array) -> list[int]:
        """Groups that should not have left: Σ ‖f_m‖ is larger there than in those that stayed."""
        lengths = group_sums(norms, self.all_groups)
        limit = (1 + LONGER) * lengths[self.kept_groups].max()
        return [j for j in self.vanished if lengths[j] > limit]

    def taken_over(self, side: Shared, at: Interior, images: Array) -> Interior:
        """The same point without the variables of the groups that have left: w as large as their functions are."""
        n = self.task.samples
        stay = np.isin(side.kept_groups, self.kept_groups)
        chosen = np.concatenate([np.ones(2 * n, dtype=bool), stay, np.isin(side.kept, self.kept)])
        values, prices = at.values[chosen], at.prices[chosen]
        values[2 * n : 2 * n + self.count] /= values[2 * n : 2 * n + self.count].sum()
        weights = side.weights(at.values[2 * n :][: len(side.sign)])
        lost = weights[self.gone] @ images[self.gone] + at.nu[len(at.nu) - len(side.flat) :] @ side.flat
        nu = np.append(at.nu[: len(at.nu) - len(side.flat)], self.flat @ lost)
        if self.task.bias:
            nu[0] += lost.mean()
        return Interior(values, prices, nu, np.append(at.kappa[0], at.kappa[1:][stay]))


def vanishing(
    side: Shared, images: Array, at: Interior, mistaken: Sequence[int], limit: float = NEARLY_NOTHING
) -> Vanished | None:
    """The side without the groups that seem to vanish, if there are any, and if enough samples are free to let them."""
    task = side.task
    beta = task.y * at.values[: task.samples]
    shares = images @ beta / np.maximum(task.traces, np.finfo(float).tiny)
    times = np.bincount(mistaken, minlength=side.all_groups.max() + 1)[side.all_groups]
    small = shares <= limit * STRICTER**times * shares.max()
    groups = [int(j) for j in side.kept_groups if small[side.all_groups == j].all()]
    if not groups or len(groups) == side.count or side.exponent < 1:  # below 1 what vanishes adds nothing
        return None
    free = _free(task, at)
    # B and the bias take at least as many equations as any one kernel has directions: ask before B is made.
    if any(task.rank(int(m)) >= free for m in np.flatnonzero(np.isin(side.all_groups, groups))):
        return None
    reduced = Vanished(side, groups)
    return reduced if len(reduced.flat) + task.bias < free else None


def _free(task: Task, at: Interior) -> int:
    """Samples that have not come close to a bound."""
    alpha, room = at.values[: task.samples], at.values[task.samples : 2 * task.samples]
    return int(np.count_nonzero((alpha > CLOSE * alpha.max()) & (room > CLOSE * task.box)))
