"""Joint outputs: the method of single tasks, with all outputs of a sample at once.

    min over the weights' side x of max over α of   gain(α) − Σ_m μ_m(x) ½ q_m(α) + R(x),     q_m = Σ_j β^j'K_mβ^j

The unknowns of the samples are the vector a of `joint_unknowns`, from which β follows: β = Va. Newton's equations of
`saddle` are written in a, with V'(I ⊗ K_m)V in the place of K_m; the weights' side does not notice.

**Output by output.** V'(I ⊗ K)V has a block K for every output, so that a step costs k factorisations of n×n; one,
where D is the same for all of them, as with the squared loss.

**Hypergraphs** are joint outputs with the squared loss of price 2 and kernels K_m/(2λ): in the units of the kernels as
they are, of price 1/λ, with a smoothing σ/(2λ) and Z = 2λα'.

**Classes.** With multipliers z of a ≥ 0 and w of the slacks (`crammer_singer`), or with the entropy, whose curvature
has the same shape (`softmax`), the matrix of Newton's equations is

    V'(I ⊗ K(μ))V + D,     D = diag(d) + Σ_i e_i 1_i1_i',      d = z/a,  e = w/slack      or      d = 1/a,  e = 1/slack,

of size n(k − 1): one dense factorisation for each step. A step counts from the largest of the k parts of each sample,
whose curvature is the least: were it that of a slack that vanishes, e_i would leave no digits of K.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import cast

import numpy as np

from ...certificate.joint import single_tasks
from ...certificate.regularisers import regulariser_of
from ...certificate.run import Ending
from ...formulations import SINGLE_TASKS, Points, RankOneCoefficients, Task
from ...formulations.families.hypergraph import Embedding, Hypergraph, HyperTask
from ...formulations.families.joint import JointOutputs, JointTask
from ..driver import Problem
from .joint_unknowns import SIDES, Coordinates, CrammerSingerVariables, ReducedCoordinates
from .loop import Array, InteriorMethod
from .qp import factored
from .reduced_hessian import ReducedHessian
from .saddle import ReducedSystem, SaddleIterate, SaddleSystem
from .samples_side import samples_side
from .settings import SETTINGS, TINY
from .state import IPMState, evaluated, first_alpha, first_multipliers, first_point, ridge_alpha
from .weights_side import Regularised, Side, side_of


# ------------------------------------------------------------------------------------------------- Newton's equations
class JointHessian(ReducedHessian):
    """V'(P ⊗ K(μ))V + D, P the diagonal of the outputs' prices: by outputs, or as a whole for classes."""

    def __init__(self, coordinates: Coordinates) -> None:
        super().__init__(cast(Task, coordinates.joint))  # of which it asks for the kernels
        self.coordinates = coordinates
        self.prices = np.ones(coordinates.joint.outputs)  # of the outputs: the factors of K(μ) in their blocks

    def system(self, state: IPMState) -> SaddleSystem:
        """Newton's equations at a point, of whose weights this is the Hessian."""
        return SaddleSystem(state.side, self, state.at, state.images, state.residuals)

    def update_and_matvec(self, weights: Array, vector: Array) -> Array:
        self.set_weights(weights)
        return self.coordinates.images(vector)

    def matvec(self, vector: Array) -> Array:
        priced = self.prices[:, None] * vector.reshape(len(self.prices), -1)
        return (priced @ self.kernel).ravel() + self.diagonal * vector

    def factor(self, diagonal: Array) -> None:
        blocks = diagonal.reshape(len(self.prices), -1)
        self.diagonal, full = diagonal, np.outer(self.prices, np.diagonal(self.kernel)) + blocks
        self.scale = np.sqrt(_checked(full.ravel()))
        same = bool((blocks == blocks[0]).all() and (self.prices == self.prices[0]).all())
        matrices = (price * self.kernel + np.diag(block) for price, block in zip(self.prices, blocks, strict=True))
        self.inverses = [factored(matrix, SETTINGS.hessian_ridge) for matrix in islice(matrices, 1 if same else None)]

    def solve_roughly(self, right: Array) -> Array:
        outputs, samples = self.coordinates.joint.y.shape
        if len(self.inverses) == 1:
            return self.inverses[0](right.reshape(-1, samples).T).T.reshape(right.shape)
        parts = right.reshape(*right.shape[:-1], outputs, samples)
        solved = [inverse(parts[..., j, :].T).T for j, inverse in enumerate(self.inverses)]
        return np.stack(solved, axis=-2).reshape(right.shape)


class ClassHessian(JointHessian):
    """`groups` are the e of D, `diagonal` its d, both as counted from the classes of `frame`."""

    def __init__(self, coordinates: ReducedCoordinates) -> None:
        super().__init__(coordinates)
        self.frame = coordinates
        self.groups = np.zeros(coordinates.joint.samples)
        self.same = coordinates.sample[:, None] == coordinates.sample

    def system(self, state: IPMState) -> SaddleSystem:
        return ClassSystem(state, self)

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


class ClassSystem(SaddleSystem):
    """The equations of `saddle` with one slack for each sample, counted from the class whose part is the largest."""

    def __init__(self, state: IPMState, hessian: ClassHessian) -> None:
        side, at = state.side, state.at
        self.at, self.side, self.residuals, self.min_centring = at, side, state.residuals, side.min_centring
        self.simplices, self.samples, self.signs = (
            cast(CrammerSingerVariables, side.samples),
            side.samples,
            side.samples.signs,
        )
        self.residuals_lag = state.residuals.amount(side, at) > SETTINGS.max_residual * at.complementarity
        self.ratios = [multiplier / value for value, multiplier in at.pairs]
        diagonal_x = side.sign * self.ratios[2]
        diagonal_x[: len(at.u)] += self.ratios[3]
        coordinates = self.simplices.coordinates
        curved = coordinates.spread(*self.simplices.shape(at))
        frame = self.frame = hessian.frame = ReducedCoordinates(coordinates.joint, np.argmin(curved, axis=0))
        hessian.groups = curved[frame.own_class, np.arange(coordinates.joint.samples)]
        images, rows = (self._from_frame(entries) for entries in (state.images, side.balance[0]))
        where, diagonal = (at.alpha, at.x, at.kappa), curved[frame.rival, frame.sample]
        self.reduced = ReducedSystem(hessian, side, images, where, rows, diagonal, diagonal_x, np.zeros(0))

    def direction(
        self, target_mu: float, predicted: SaddleIterate | None = None, accuracy: float = SETTINGS.corrector_accuracy
    ) -> SaddleIterate:
        at, residuals, coordinates = self.at, self.residuals, self.simplices.coordinates
        wanted = zip(self.goals(target_mu, predicted), at.pairs, strict=True)
        for_z, for_w, for_s, for_u = goals = [goal / value for goal, (value, _) in wanted]
        for_x = self.side.sign * for_s - residuals.x
        for_x[: len(for_u)] -= for_u
        others = np.concatenate([for_x, residuals.totals, -residuals.equalities])
        right = self._from_frame(self.samples.joined(-residuals.alpha, for_z, for_w[:0]), for_w if len(for_w) else 0.0)
        step, others = self.reduced.solve(right, others, accuracy)
        parts = self.frame.spread(step, -self.frame.summed(step))
        a = parts[coordinates.rival, coordinates.sample]
        slack = parts[coordinates.own_class, np.arange(coordinates.joint.samples)]
        x, nu, kappa = np.split(others, [len(at.x), len(self.reduced.rows)])
        values = a, slack, x, -x[: len(for_u)]
        changes = values[0][: len(at.z)], values[1][: len(at.w)], *values[2:]
        z, w, s, u = (g - ratio * change for g, ratio, change in zip(goals, self.ratios, changes, strict=True))
        return SaddleIterate(a, *values, z, w, s, u, nu, kappa)

    def _from_frame(self, entries: Array, own: Array | float = 0.0) -> Array:
        """What pulls at the others and at the slack, as it pulls where the parts are counted from another class."""
        return -self.frame.gathered(self.simplices.coordinates.spread(entries, own))


# --------------------------------------------------------------------------------------------------------- the method
class InteriorJoint(InteriorMethod[IPMState, SaddleIterate]):
    """Every formulation with weights, posed for several outputs."""

    serves = tuple(f.name for f in SINGLE_TASKS if f.between is None)
    joint, losses = True, None
    max_iter = 100

    def start(self, problem: Problem) -> IPMState:
        task: JointTask = problem.task
        if task.loss.kind in SIDES:
            reduced = ReducedCoordinates(task)
            simplices = SIDES[task.loss.kind](reduced)
            side = side_of(cast(Task, reduced), problem.formulation.single, simplices)
            at, images = _first_point(side, simplices, side.start())
            return evaluated(side, ClassHessian(reduced), at, images, at.mu)
        coordinates = Coordinates(task)
        return started(side_of(cast(Task, coordinates), problem.formulation.single), JointHessian(coordinates))

    def system(self, problem: Problem, state: IPMState) -> SaddleSystem:
        hessian = cast(JointHessian, state.hessian)
        hessian.set_weights(state.weights)
        system = hessian.system(state)
        system.relative_complementarity = state.relative_complementarity
        return system

    def accept(self, problem: Problem, state: IPMState, after: SaddleIterate, length: float) -> IPMState:
        return state.followed_by(self.moved(state, after))

    def moved(self, state: IPMState, after: SaddleIterate) -> IPMState:
        images = state.hessian.update_and_matvec(state.side.weights(after.x), after.alpha * state.side.samples.signs)
        return state.moved_to(state.side, after, images)

    def failed(self, state: IPMState, fault: FloatingPointError | None) -> IPMState:
        return replace(state.best, stop_reason=Ending.NO_PROGRESS)

    def points(self, problem: Problem, state: IPMState) -> Points:
        """α, and the functions that weights and α imply, once the point is near the optimum."""
        last, task = problem.closing or bool(state.stop_reason), problem.task
        if state.relative_complementarity > problem.tolerance and not last:
            return Points([], [])
        alpha = task.feasible(cast(JointHessian, state.hessian).coordinates.beta(state.at.alpha) * task.signs)
        weights = regulariser_of(problem.formulation.name, task.count, task.own).feasible(state.weights)
        functions = RankOneCoefficients(weights, alpha * task.signs)
        near = last or _gap(problem, alpha, functions) <= SETTINGS.proof_margin * problem.tolerance
        return Points([alpha], [functions]) if near else Points([], [])


class InteriorHypergraph(InteriorJoint):
    serves = ("hypergraph", "hypergraph_smooth")
    joint = False
    max_iter = 60

    def start(self, problem: Problem) -> IPMState:
        formulation: Hypergraph = problem.formulation
        task: HyperTask = problem.task
        own = {name: value / (2 * task.lam) for name, value in task.own.items()}
        outputs = replace(task.outputs, box=np.full(task.samples, 1 / task.lam), own=own)
        return super().start(replace(problem, formulation=JointOutputs.of(formulation.single), task=outputs))

    def before_step(self, problem: Problem, state: IPMState) -> IPMState | None:
        """The end, where rounding is all that is left."""
        limit = SETTINGS.hypergraph_converged * problem.tolerance * state.scale
        if state.at.complementarity <= limit or state.waited >= SETTINGS.hypergraph_patience:
            return replace(state.best, stop_reason=Ending.ROUNDING)
        return None

    def points(self, problem: Problem, state: IPMState) -> Points:
        """μ and Z, once they are near enough to be worth a certificate."""
        last, task = problem.closing or bool(state.stop_reason), problem.task
        if _fenchel_gap(state) > SETTINGS.certify_gap * problem.tolerance * state.scale and not last:
            return Points([], [])
        z = 2 * task.lam * cast(JointHessian, state.hessian).coordinates.beta(state.at.alpha).T
        return Points([Embedding(state.weights, z)], [z])


def _fenchel_gap(state: IPMState) -> float:
    """R(μ) + R*(½q) − ½μ'q, and what the residuals of α hide."""
    side, mu, v = cast(Regularised, state.side), state.weights, state.images @ state.at.alpha / 2
    value = float(np.sum(side.side.value(mu, **side.own))) + side.side.conjugate(v, **side.own)
    return value - float(mu @ v) + side.samples.residual_gap(state.residuals.alpha, state.at)


def _gap(problem: Problem, alpha: Array, functions: RankOneCoefficients) -> float:
    """The relative gap with these weights, which a certificate prices: the norms alone may ask for better ones."""
    formulation, task, mu = problem.formulation, problem.task, functions.weights
    lower, (outputs, _) = formulation.lower(task, alpha), task.evaluate(functions)
    lengths = float(mu @ lower.roots**2)
    price = float(np.sum(formulation.single.regulariser.value(mu, **task.own)))
    return (lengths / 2 + price + task.risk(outputs).value - lower.value) / max(lengths, TINY)


def started(side: Side, hessian: JointHessian, share: float = 1.0) -> IPMState:
    """The first state where the loss is applied to each output, with this share of the α that it starts from alone."""
    x, coordinates = side.start(), hessian.coordinates
    if side.samples.unbounded:
        a = ridge_alpha(side, hessian, side.weights(x))
    else:
        each = single_tasks(coordinates.joint)
        a = share * np.concatenate([first_alpha(samples_side(task), task, side.weights(x))[0] for task in each])
    images = coordinates.images(a * coordinates.signs)
    at = first_point(side, x, a, images)
    return evaluated(side, hessian, at, images, at.mu)


def _first_point(side: Side, samples: CrammerSingerVariables, x: Array) -> tuple[SaddleIterate, Array]:
    """Multipliers that meet the equations as far as possible, with no product below τ; and the images of a."""
    (rows, _), a = side.balance, samples.start(side.weights(x))
    images = samples.coordinates.images(a)
    lower, upper = samples.distances(a)
    at = SaddleIterate(a, lower, upper, *[a[:0]] * 8)
    of_kernels = side.weights(x) @ images - samples.smooth_slope(at)
    nu = np.asarray(-np.linalg.lstsq(rows.T, of_kernels, rcond=None)[0], dtype=np.float64)
    gradient, sample = of_kernels + nu @ rows, samples.coordinates.sample
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
