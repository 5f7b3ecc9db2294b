"""Elimination of groups of kernels with K_mβ = 0, under a block-∞ norm.

Where K_mβ = 0 for every kernel of group j, its share t_j vanishes, and the functions f_m = 2c t_m K_mβ/t_j of the group
are 0/0: no step of Newton's goes there. But the limit is smooth. The group's variables leave, B'β = 0 joins the
equalities, where B is an orthonormal basis of all that its kernels can express, and the multipliers w of these
equalities are what the group adds to the decision function:

    Σ_{m∈j} f_m = B w.

Whether a group vanishes is a guess, made if its q_m are negligible beside those of other groups. Only the certificate
can confirm it, since no group may have a larger Σ ‖f_m‖ than the others. Of all ways to share B w among the kernels the
one with the least Σ ‖f_m‖² is taken.
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
    """Shares of the groups that are left; `null_rows` is B', `eliminated_coefficients` those of the others."""

    def __init__(self, side: Shared, groups: list[int]) -> None:
        super().__init__(side.task, side.formulation, sorted({*side.eliminated, *groups}))
        self.gone = np.flatnonzero(np.isin(self.all_groups, self.eliminated))
        self.factors = [side.task.factor(int(m)) for m in self.gone]
        lengths = [np.maximum(np.linalg.norm(f.columns, axis=0), TINY) for f in self.factors]
        directions = np.hstack([f.columns / length for f, length in zip(self.factors, lengths, strict=True)])
        vectors, sizes, _ = np.linalg.svd(self._balanced(directions), full_matrices=False)
        self.null_rows = np.ascontiguousarray(vectors[:, sizes > SETTINGS.basis_tolerance].T)

    def _balanced(self, columns: Array) -> Array:
        """With a bias, Σβ = 0 holds already, and b takes the constants at no cost."""
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
        """Groups that were eliminated wrongly: their Σ ‖f_m‖ is larger than that of the groups that are left."""
        lengths = group_sums(norms, self.all_groups)
        limit = (1 + SETTINGS.elimination_norm_excess) * lengths[self.kept_groups].max()
        return [j for j in self.eliminated if lengths[j] > limit]

    def reduced_point(self, side: Shared, at: SaddleIterate, images: Array) -> SaddleIterate:
        """The same point without the variables of eliminated groups; w represents their functions."""
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
    """The side without the groups that seem to vanish; None if there are none, or too few free samples for B'β = 0. The
    threshold of a group falls with each rejected elimination."""
    task = side.task
    shares = images @ (side.samples.signs * at.alpha) / np.maximum(task.traces, TINY)
    times = np.bincount(rejected, minlength=side.all_groups.max() + 1)[side.all_groups]
    small = shares <= threshold * SETTINGS.elimination_tightening**times * shares.max()
    groups = [int(j) for j in side.kept_groups if small[side.all_groups == j].all()]
    if (
        not groups or len(groups) == side.count or side.exponent < 1
    ):  # with an exponent below 1 a vanishing group adds nothing
        return None
    free = np.count_nonzero(~side.samples.near_bounds(at, SETTINGS.free_sample_margin))
    # B and the bias take at least as many equations as any one kernel has directions: ask before B is made.
    if any(task.rank(int(m)) >= free for m in np.flatnonzero(np.isin(side.all_groups, groups))):
        return None
    reduced = ReducedGroups(side, groups)
    return reduced if len(reduced.null_rows) + task.bias < free else None
