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
from dataclasses import replace

import numpy as np

from ...formulations._groups import group_sums
from .loop import Array
from .saddle import SaddleIterate
from .settings import SETTINGS, TINY
from .weights_side import Shared


class ReducedGroups(Shared):
    """Shares between the groups that are left; `null_rows` is B', and `eliminated_coefficients` what the others add."""

    def __init__(self, side: Shared, groups: list[int]) -> None:
        super().__init__(side.task, side.formulation, sorted({*side.eliminated, *groups}))
        self.gone = np.flatnonzero(np.isin(self.all_groups, self.eliminated))
        self.factors = [side.task.factor(int(m)) for m in self.gone]
        lengths = [np.maximum(np.linalg.norm(f.columns, axis=0), TINY) for f in self.factors]
        directions = np.hstack([f.columns / length for f, length in zip(self.factors, lengths, strict=True)])
        vectors, sizes, _ = np.linalg.svd(self._balanced(directions), full_matrices=False)
        self.null_rows = np.ascontiguousarray(vectors[:, sizes > SETTINGS.basis_tolerance].T)

    def _balanced(self, columns: Array) -> Array:
        """With a bias Σβ = 0 already, and constants are left to b, which costs nothing."""
        return columns - columns.mean(axis=0) if self.task.bias else columns

    def eliminated_coefficients(self, nu: Array) -> Array:
        """The coefficients (M, n) of the functions that ν implies."""
        coefficients = np.zeros((self.task.count, self.task.samples))
        together = self._balanced(np.hstack([factor.columns for factor in self.factors]))
        wanted = nu[len(nu) - len(self.null_rows) :] @ self.null_rows
        coordinates = np.linalg.lstsq(together, wanted, rcond=SETTINGS.function_cutoff)[0]
        ends = np.cumsum([factor.columns.shape[1] for factor in self.factors])
        for m, factor, part in zip(self.gone, self.factors, np.split(coordinates, ends[:-1]), strict=True):
            coefficients[m] = factor.to_coefficients @ part
        return coefficients

    def too_long(self, norms: Array) -> list[int]:
        """Groups that should not have left: Σ ‖f_m‖ is larger there than in those that stayed."""
        lengths = group_sums(norms, self.all_groups)
        limit = (1 + SETTINGS.elimination_norm_excess) * lengths[self.kept_groups].max()
        return [j for j in self.eliminated if lengths[j] > limit]

    def reduced_point(self, side: Shared, at: SaddleIterate, images: Array) -> SaddleIterate:
        """The same point without the variables of the groups that have left: w as large as their functions are."""
        stay = np.isin(side.kept_groups, self.kept_groups)
        chosen = np.append(stay, np.isin(side.kept, self.kept))
        x, first = at.x[chosen], len(at.nu) - len(side.null_rows)
        x[: self.count] /= x[: self.count].sum()
        lost = side.weights(at.x)[self.gone] @ images[self.gone] + at.nu[first:] @ side.null_rows
        nu = np.append(at.nu[:first], self.null_rows @ lost)
        if self.task.bias:
            nu[0] += lost.mean()
        return replace(at, x=x, s=at.s[chosen], nu=nu, kappa=np.append(at.kappa[0], at.kappa[1:][stay]))


def eliminate_groups(
    side: Shared, images: Array, at: SaddleIterate, rejected: Sequence[int],
    threshold: float = SETTINGS.elimination_threshold,
) -> ReducedGroups | None:  # fmt: skip
    """The side without the groups that seem to vanish, if there are any, and if enough samples are free to let them.
    A group whose elimination was rejected before has to be smaller, each time."""
    task = side.task
    shares = images @ (task.y * at.alpha) / np.maximum(task.traces, TINY)
    times = np.bincount(rejected, minlength=side.all_groups.max() + 1)[side.all_groups]
    small = shares <= threshold * SETTINGS.elimination_tightening**times * shares.max()
    groups = [int(j) for j in side.kept_groups if small[side.all_groups == j].all()]
    if not groups or len(groups) == side.count or side.exponent < 1:  # below 1 what vanishes adds nothing
        return None
    share = SETTINGS.free_sample_margin
    free = np.count_nonzero((at.alpha > share * at.alpha.max()) & (at.box_slack > share * task.box))
    # B and the bias take at least as many equations as any one kernel has directions: ask before B is made.
    if any(task.rank(int(m)) >= free for m in np.flatnonzero(np.isin(side.all_groups, groups))):
        return None
    reduced = ReducedGroups(side, groups)
    return reduced if len(reduced.null_rows) + task.bias < free else None
