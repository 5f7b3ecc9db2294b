"""Joint outputs: the method of single tasks, with all outputs of a sample at once.

    min over the weights' side x of max over α of   gain(α) − Σ_m μ_m(x) ½ q_m(α) + R(x),     q_m = Σ_j β^j'K_mβ^j

The unknowns of the samples are a vector a, from which β follows: β = Va. Newton's equations of `saddle` are written in
a, with V'(I ⊗ K_m)V in the place of K_m; the weights' side does not notice.

**Output by output.** a is α, output after output. V'(I ⊗ K)V has a block K for every output, so that a step costs k
factorisations of n×n; with a bias there is an equality for every output.

**Classes.** a holds the α_ij of all classes j but the sample's own, k − 1 for every sample; β_i = Σ_j a_ij (e_y − e_j).
A sample has one slack, c_i − Σ_j a_ij. With multipliers z of a ≥ 0 and w of the slacks (`crammer_singer`), or with the
entropy, whose curvature has the same shape (`softmax`), the matrix of Newton's equations is

    V'(I ⊗ K(μ))V + D,     D = diag(d) + Σ_i e_i 1_i1_i',      d = z/a,  e = w/slack      or      d = 1/a,  e = 1/slack,

of size n(k − 1): one dense factorisation for each step. The a_ij and the slack are the k parts of c_i, and any k − 1 of
them would do; a step counts from the largest part of each sample, whose curvature is the least: were it that of a slack
that vanishes, e_i would leave no digits of K. With a bias there are k − 1 equalities: the last follows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from ...certificate.joint import single_tasks
from ...certificate.regularisers import regulariser_of
from ...certificate.run import Ending
from ...formulations import SINGLE_TASKS, Points, RankOneCoefficients, Task
from ...formulations._formulation import Own
from ...formulations.families.joint import JointTask
from ...formulations.losses import Loss, Separable
from ..driver import Problem
from .loop import Array, InteriorMethod
from .qp import factored
from .reduced_hessian import ReducedHessian
from .saddle import ReducedSystem, SaddleIterate, SaddleSystem, balance
from .samples_side import OnLegs, SamplesSide, samples_side
from .settings import SETTINGS, TINY
from .state import IPMState, evaluated, first_alpha, first_multipliers, first_point
from .weights_side import Side, side_of


# ------------------------------------------------------------------------------------------- the samples in one vector
class Flat:
    """What the sides of a saddle ask of a task, for the vector a. Output by output."""

    def __init__(self, joint: JointTask) -> None:
        self.joint, self.count, self.bias = joint, joint.count, joint.bias
        self.own: Mapping[str, Own] = joint.own
        self.y, self.box = joint.y.ravel(), np.tile(joint.box, joint.outputs)
        self.samples, self.signs = self.y.size, np.ones(self.y.size)

    @property
    def loss_function(self) -> Loss:
        return cast(Separable, self.joint.loss).each

    @property
    def low(self) -> Array:
        return self.loss_function.bounds(self.y, self.box)[0]

    @property
    def limit(self) -> Array:
        return self.loss_function.bounds(self.y, self.box)[1]

    def equalities(self) -> tuple[Array, Array]:
        rows = self.gathered(np.eye(self.joint.outputs)[:, :, None] * np.ones(self.joint.samples))
        rows = rows if self.bias else rows[:0]
        return rows, np.zeros(len(rows))

    def beta(self, a: Array) -> Array:
        """β = Va, (k, n)."""
        return a.reshape(self.joint.y.shape)

    def gathered(self, values: Array) -> Array:
        """V' times values (…, k, n)."""
        return values.reshape(*values.shape[:-2], -1)

    def image(self, kernel: Array, a: Array) -> Array:
        """V'(I ⊗ K)V a."""
        return self.gathered(self.beta(a) @ kernel)

    def images(self, a: Array) -> Array:
        """V'(I ⊗ K_m)V a for every kernel."""
        return self.gathered(np.stack([self.joint.matvecs(beta) for beta in self.beta(a)], axis=1))

    def diagonal(self, kernel: Array) -> Array:
        """Of V'(I ⊗ K)V."""
        return np.tile(np.diagonal(kernel), self.joint.outputs)


class Contrasted(Flat):
    """The same for classes: `sample` and `rival` of every entry of a, and for each sample the class that is counted
    from: its own, unless another is given."""

    def __init__(self, joint: JointTask, reference: NDArray[np.intp] | None = None) -> None:
        super().__init__(joint)
        self.own_class = np.argmax(joint.y > 0, axis=0) if reference is None else reference
        others = self.own_class[:, None] != np.arange(joint.outputs)
        self.sample, self.rival = (np.ascontiguousarray(part) for part in np.nonzero(others))
        self.samples = len(self.sample)
        self.signs = np.ones(self.samples)
        self.contrasts = np.eye(joint.outputs)[self.own_class[self.sample]] - np.eye(joint.outputs)[self.rival]

    def equalities(self) -> tuple[Array, Array]:
        rows, totals = super().equalities()
        return rows[:-1], totals[:-1]  # the last follows, as β_i sums to zero

    def beta(self, a: Array) -> Array:
        beta = np.zeros(self.joint.y.shape)
        beta[self.rival, self.sample] = -a
        beta[self.own_class, np.arange(self.joint.samples)] = self.summed(a)
        return beta

    def summed(self, a: Array) -> Array:
        """Σ_j a_ij for every sample."""
        return np.asarray(np.bincount(self.sample, weights=a, minlength=self.joint.samples), dtype=np.float64)

    def gathered(self, values: Array) -> Array:
        return np.asarray(values[..., self.own_class[self.sample], self.sample] - values[..., self.rival, self.sample])

    def spread(self, entries: Array, own: Array | float = 0.0) -> Array:
        """Entries of the others, and of the class that is counted from, as (…, k, n)."""
        values = np.zeros((*entries.shape[:-1], *self.joint.y.shape))
        values[..., self.rival, self.sample] = entries
        values[..., self.own_class, np.arange(self.joint.samples)] = own
        return values

    def diagonal(self, kernel: Array) -> Array:
        return np.asarray(2 * np.diagonal(kernel)[self.sample])

    @property
    def totals(self) -> Array:
        """The prices of every class's samples together."""
        counts = np.bincount(self.own_class, weights=self.joint.box, minlength=self.joint.outputs)
        return np.asarray(counts, dtype=np.float64)


LONGEST = 2.0  # step in the logarithm of a probability: beyond it Newton's model holds no more


class Slacked(SamplesSide):
    """`crammer_singer`: `lower` is a, `upper` the slack of every sample."""

    def __init__(self, task: Contrasted) -> None:
        self.flat, self.signs, self.price, self.size = task, task.signs, task.joint.box, task.samples
        self.a, self.kappa = np.ones(self.size), np.zeros(self.size)
        self.two_sided = self.smooth = self.unbounded = False

    def start(self, weights: Array) -> Array:
        """As much flows from a class to another as back, twice as far as is best."""
        flat, totals = self.flat, self.flat.totals
        own = flat.own_class[flat.sample]
        a = self.price[flat.sample] * np.minimum(1.0, totals[flat.rival] / totals[own]) / flat.joint.outputs
        cost = float(weights @ (flat.images(a) @ a))
        most = SETTINGS.max_start / float(np.max(flat.summed(a) / self.price))
        return a * min(2 * float(a.sum()) / cost if cost > 0 else np.inf, most)

    def distances(self, alpha: Array) -> tuple[Array, Array]:
        return alpha, self.price - self.flat.summed(alpha)

    def joined(self, base: Array | float, at_lower: Array, at_upper: Array) -> Array:
        total = np.full(self.size, base) if isinstance(base, float) else base.copy()
        total[: len(at_lower)] += at_lower
        return total + at_upper[self.flat.sample] if len(at_upper) else total

    def shape(self, at: SaddleIterate) -> tuple[Array, Array]:
        """d and e."""
        return at.z / at.lower, at.w / at.upper


class Simplex(Slacked):
    """`softmax`: no multipliers; a step that shrinks a probability is taken in its logarithm, and what is lost is
    shared among those that grow."""

    def __init__(self, task: Contrasted) -> None:
        super().__init__(task)
        self.smooth = True

    def start(self, weights: Array) -> Array:
        """Every class has its share of the prices: as much flows from a class to another as back."""
        totals = self.flat.totals
        return np.asarray(self.price[self.flat.sample] * (totals[self.flat.rival] / totals.sum()))

    def smooth_slope(self, at: OnLegs) -> Array:
        return np.asarray(np.log(at.upper)[self.flat.sample] - np.log(at.lower))

    def shape(self, at: SaddleIterate) -> tuple[Array, Array]:
        return 1 / at.lower, 1 / at.upper

    def hidden(self, residual: Array, at: OnLegs) -> float:
        """½ r'D⁻¹r is less than without the slacks."""
        return float(residual**2 @ at.lower) / 2

    def kept_inside(self, before: OnLegs, after: OnLegs) -> tuple[Array, Array, Array]:
        summed, sample = self.flat.summed, self.flat.sample
        da, ds = after.lower - before.lower, after.upper - before.upper
        a_after = before.lower * np.exp(np.clip(da / before.lower, -LONGEST, 0.0))
        s_after = before.upper * np.exp(np.clip(ds / before.upper, -LONGEST, 0.0))
        lost = summed(before.lower - a_after) + (before.upper - s_after)
        grown = summed(np.maximum(da, 0.0)) + np.maximum(ds, 0.0)
        share = np.divide(lost, grown, out=np.zeros_like(lost), where=grown > 0)
        lower = a_after + share[sample] * np.maximum(da, 0.0)
        return lower, lower, s_after + share * np.maximum(ds, 0.0)


SIDES: dict[str, type[Slacked]] = {"crammer_singer": Slacked, "softmax": Simplex}  # of the losses for classes


# ------------------------------------------------------------------------------------------------- Newton's equations
class JointHessian(ReducedHessian):
    """V'(I ⊗ K(μ))V + D, factored output by output, or as a whole for classes."""

    def __init__(self, flat: Flat) -> None:
        super().__init__(cast(Task, flat.joint))  # of which it asks for the kernels
        self.flat = flat

    def update_and_matvec(self, weights: Array, vector: Array) -> Array:
        self.set_weights(weights)
        return self.flat.images(vector)

    def matvec(self, vector: Array) -> Array:
        return self.flat.image(self.kernel, vector) + self.diagonal * vector

    def factor(self, diagonal: Array) -> None:
        self.diagonal, full = diagonal, self.flat.diagonal(self.kernel) + diagonal
        self.scale = np.sqrt(_checked(full))
        blocks = diagonal.reshape(self.flat.joint.y.shape)
        self.inverses = [factored(self.kernel + np.diag(one), SETTINGS.hessian_ridge) for one in blocks]

    def solve_roughly(self, right: Array) -> Array:
        parts = right.reshape(*right.shape[:-1], *self.flat.joint.y.shape)
        solved = [inverse(parts[..., j, :].T).T for j, inverse in enumerate(self.inverses)]
        return np.stack(solved, axis=-2).reshape(right.shape)


class ContrastedHessian(JointHessian):
    """`groups` are the e of D, `diagonal` its d, both as counted from the classes of `frame`."""

    def __init__(self, flat: Contrasted) -> None:
        super().__init__(flat)
        self.contrasted = self.frame = flat
        self.groups = np.zeros(flat.joint.samples)
        self.same = flat.sample[:, None] == flat.sample

    def matvec(self, vector: Array) -> Array:
        coupled = (self.groups * self.frame.summed(vector))[self.frame.sample]
        return self.frame.image(self.kernel, vector) + self.diagonal * vector + coupled

    def factor(self, diagonal: Array) -> None:
        sample = self.frame.sample
        matrix = self.kernel[np.ix_(sample, sample)] * (self.frame.contrasts @ self.frame.contrasts.T)
        matrix[self.same] += np.broadcast_to(self.groups[sample], matrix.shape)[self.same]
        self.diagonal = diagonal
        matrix[np.diag_indices(len(matrix))] += diagonal
        self.scale = np.sqrt(_checked(np.diagonal(matrix)))
        self.inverse = factored(matrix, SETTINGS.hessian_ridge)

    def solve_roughly(self, right: Array) -> Array:
        return self.inverse(right.T).T


def _checked(diagonal: Array) -> Array:
    if not (np.isfinite(diagonal).all() and (diagonal > 0).all()):
        raise FloatingPointError("a matrix of Newton's equations")
    return diagonal


class ContrastedSystem(SaddleSystem):
    """The equations of `saddle` with one slack for each sample, counted from the class whose part is the largest."""

    def __init__(self, state: IPMState) -> None:
        side, at, hessian = state.side, state.at, cast(ContrastedHessian, state.hessian)
        self.at, self.side, self.residuals, self.min_centring = at, side, state.residuals, side.min_centring
        self.slacked, self.samples, self.signs = cast(Slacked, side.samples), side.samples, side.samples.signs
        self.residuals_lag = state.residuals.amount(side, at) > SETTINGS.max_residual * at.complementarity
        self.ratios = [multiplier / value for value, multiplier in at.pairs]
        diagonal_x = side.sign * self.ratios[2]
        diagonal_x[: len(at.u)] += self.ratios[3]
        flat = self.slacked.flat
        curved = flat.spread(*self.slacked.shape(at))
        frame = self.frame = hessian.frame = Contrasted(flat.joint, np.argmin(curved, axis=0))
        hessian.groups = curved[frame.own_class, np.arange(flat.joint.samples)]
        images, rows = (self._from_frame(entries) for entries in (state.images, balance(side)[0]))
        where, diagonal = (at.alpha, at.x, at.kappa), curved[frame.rival, frame.sample]
        self.reduced = ReducedSystem(hessian, side, images, where, rows, diagonal, diagonal_x)
        self.relative_complementarity = state.relative_complementarity

    def direction(
        self, target_mu: float, predicted: SaddleIterate | None = None, accuracy: float = SETTINGS.corrector_accuracy
    ) -> SaddleIterate:
        at, residuals, flat, n = self.at, self.residuals, self.slacked.flat, np.arange(self.slacked.flat.joint.samples)
        wanted = zip(self.goals(target_mu, predicted), at.pairs, strict=True)
        for_z, for_w, for_s, for_u = goals = [goal / value for goal, (value, _) in wanted]
        for_x = self.side.sign * for_s - residuals.x
        for_x[: len(for_u)] -= for_u
        others = np.concatenate([for_x, residuals.totals, -residuals.equalities])
        right = self._from_frame(self.samples.joined(-residuals.legs, for_z, for_w[:0]), for_w if len(for_w) else 0.0)
        step, others = self.reduced.solve(right, others, accuracy)
        parts = self.frame.spread(step, -self.frame.summed(step))
        a, slack = parts[flat.rival, flat.sample], parts[flat.own_class, n]
        x, nu, kappa = np.split(others, [len(at.x), len(self.reduced.rows)])
        values = a, slack, x, -x[: len(for_u)]
        changes = values[0][: len(at.z)], values[1][: len(at.w)], *values[2:]
        z, w, s, u = (g - ratio * change for g, ratio, change in zip(goals, self.ratios, changes, strict=True))
        return SaddleIterate(a, *values, z, w, s, u, nu, kappa)

    def _from_frame(self, entries: Array, own: Array | float = 0.0) -> Array:
        """What pulls at the others and at the slack, as it pulls where the parts are counted from another class."""
        return -self.frame.gathered(self.slacked.flat.spread(entries, own))


# --------------------------------------------------------------------------------------------------------- the method
class InteriorJoint(InteriorMethod[IPMState, SaddleIterate]):
    """Every formulation with weights, posed for several outputs."""

    serves = tuple(f.name for f in SINGLE_TASKS if f.between is None)
    joint, losses = True, None
    max_iter = 100

    def start(self, problem: Problem) -> IPMState:
        task: JointTask = problem.task
        if task.loss.kind in SIDES:
            contrasted = Contrasted(task)
            slacked = SIDES[task.loss.kind](contrasted)
            side, hessian = (
                side_of(cast(Task, contrasted), problem.formulation.single, slacked),
                ContrastedHessian(contrasted),
            )
            at, images = _first_point(side, slacked, side.start())
            return evaluated(side, hessian, at, images, at.mu)
        flat = Flat(task)
        side = side_of(cast(Task, flat), problem.formulation.single)
        x = side.start()
        starts = [first_alpha(samples_side(one), one, side.weights(x))[0] for one in single_tasks(task)]
        a = np.concatenate(starts)
        images = flat.images(a)
        at = first_point(side, x, a, images)
        return evaluated(side, JointHessian(flat), at, images, at.mu)

    def system(self, problem: Problem, state: IPMState) -> SaddleSystem:
        state.hessian.set_weights(state.weights)
        if isinstance(state.hessian, ContrastedHessian):
            return ContrastedSystem(state)
        system = SaddleSystem(state.side, state.hessian, state.at, state.images, state.residuals)
        system.relative_complementarity = state.relative_complementarity
        return system

    def accept(self, problem: Problem, state: IPMState, after: SaddleIterate, length: float) -> IPMState:
        images = state.hessian.update_and_matvec(state.side.weights(after.x), after.alpha)
        return state.followed_by(state.moved_to(state.side, after, images))

    def failed(self, state: IPMState, fault: FloatingPointError | None) -> IPMState:
        return replace(state.best, dead_end=Ending.NO_PROGRESS)

    def points(self, problem: Problem, state: IPMState) -> Points:
        """α, and the functions that weights and α imply, once the point is near the optimum."""
        last, task = problem.closing or bool(state.dead_end), problem.task
        if state.relative_complementarity > problem.tolerance and not last:
            return Points([], [])
        alpha = task.feasible(cast(JointHessian, state.hessian).flat.beta(state.at.alpha) * task.signs)
        weights = regulariser_of(problem.formulation.name, task.count, task.own).feasible(state.weights)
        functions = RankOneCoefficients(weights, alpha * task.signs)
        near = last or _gap(problem, alpha, functions) <= SETTINGS.proof_margin * problem.tolerance
        return Points([alpha], [functions]) if near else Points([], [])


def _gap(problem: Problem, alpha: Array, functions: RankOneCoefficients) -> float:
    """The relative gap with these weights, which a certificate prices: the norms alone may ask for better ones."""
    formulation, task, mu = problem.formulation, problem.task, functions.weights
    lower, (outputs, _) = formulation.lower(task, alpha), task.evaluate(functions)
    lengths = float(mu @ lower.roots**2)
    price = float(np.sum(formulation.single.regulariser.value(mu, **task.own)))
    return (lengths / 2 + price + task.risk(outputs).value - lower.value) / max(lengths, TINY)


def _first_point(side: Side, samples: Slacked, x: Array) -> tuple[SaddleIterate, Array]:
    """Multipliers that meet the equations as far as possible, with no product below τ; and the images of a."""
    (rows, _), a = balance(side), samples.start(side.weights(x))
    images = samples.flat.images(a)
    lower, upper = samples.distances(a)
    at = SaddleIterate(a, lower, upper, *[a[:0]] * 8)
    pull = side.weights(x) @ images - samples.smooth_slope(at)
    nu = np.asarray(-np.linalg.lstsq(rows.T, pull, rcond=None)[0], dtype=np.float64)
    gradient, sample = pull + nu @ rows, samples.flat.sample
    if samples.smooth:
        z = w = a[:0]
        tau = SETTINGS.first_mu * max(float(side.weights(x) @ (images @ a)) / max(len(x), 1), TINY)
    else:
        tau = SETTINGS.first_mu * max(float(np.mean(np.abs(gradient) * np.minimum(lower, upper[sample]))), TINY)
        w = tau / upper
        np.maximum.at(w, sample, tau / lower - gradient)
        z = gradient + w[sample]
    cap_slack, s, u, kappa = first_multipliers(side, x, images @ a / 2, tau)
    return SaddleIterate(a, lower, upper, x, cap_slack, z, w, s, u, nu, kappa), images
