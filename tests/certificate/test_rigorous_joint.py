"""Ball arithmetic and several outputs: costs from above, exactly feasible points, enclosures that hold whatever the
kernels are, and agreement of certificate, auditor and balls."""

from __future__ import annotations

from types import SimpleNamespace

import flint
import numpy as np
import pytest
from flint import arb, fmpq

from honest import written
from joint_cases import FOR_CLASSES, OWN, classes, drawn, posed, responses
from mklcvx import formulations, prove, solve
from mklcvx.certificate.ball_arithmetic import RIGOROUS, polishing, single
from mklcvx.certificate.ball_arithmetic.balls import exact, exacts
from mklcvx.certificate.ball_arithmetic.enclosure import Point, Stated
from mklcvx.certificate.ball_arithmetic.joint import Copies, CrammerSinger, Softmax, enclosed, for_classes
from mklcvx.certificate.ball_arithmetic.kernels import KernelBalls
from mklcvx.certificate.ball_arithmetic.losses import Bend
from mklcvx.checker.joint import check
from mklcvx.verification.proof import enclose

pytestmark = pytest.mark.slow

KINDS = {"crammer_singer": CrammerSinger, "softmax": Softmax}


def stated(instance, name, given, kernels=None, point=None):
    formulation, task = posed(instance, name, **given)
    parameters = formulation.task(instance, given)[1]
    balls = KernelBalls(instance.kernels if kernels is None else kernels)
    return Stated(instance, formulation, task, balls, parameters, point)


# ------------------------------------------------------------------------------------------------------ one sample
@pytest.mark.parametrize("square", [0.0, 2.0**-40, 0.3, 2.5, 50.0])
@pytest.mark.parametrize("loss", FOR_CLASSES)
def test_no_alpha_is_worth_more_than_the_cost_and_one_is_worth_it(loss, square):
    """Outputs are balls of some radius: the cost covers all of them."""
    rng, c = np.random.default_rng(2), exact(0.7)
    with flint.ctx.workprec(128):
        for outputs, blur in ((2, 0.0), (3, 1e-3), (4, 0.0)):
            own = int(rng.integers(outputs))
            one, centre = KINDS[loss](own, c), rng.uniform(0, 0.5, outputs)
            bends = [Bend(*exacts([square, square * x, square * x**2])) for x in centre]
            z = rng.normal(size=outputs) * 2
            balls = [(arb(x) - blur).union(arb(x) + blur) for x in z]
            cost, worth = one.cost(balls, bends), []
            best = np.exp(z) / np.exp(z).sum()
            for u in (*np.eye(outputs), best, *rng.dirichlet(np.full(outputs, 0.4), 200)):
                shares = exacts(u)
                shares[own] += 1 - sum(shares)
                if min(shares) < 0:
                    continue
                alpha = [c * (1 - x if j == own else x) for j, x in enumerate(shares)]
                signed = [a if j == own else -a for j, a in enumerate(alpha)]
                moved = [exact(x + blur * side) for x, side in zip(z, rng.choice([-1, 1], outputs), strict=True)]
                along = sum(b * x for b, x in zip(signed, moved, strict=True))
                ridge = sum(bend.at(a) for bend, a in zip(bends, alpha, strict=True))
                worth.append(arb(one.gain(alpha)) - arb(along) + arb(ridge))
            assert all(value.lower() <= cost.upper() for value in worth)
            if loss == "crammer_singer" or bends[0].square <= one.kappa:  # else a bound, not the supremum
                assert float(cost.upper()) <= max(float(value) for value in worth) + 0.02 + 3 * blur


def test_softmax_with_a_ridge_that_nearly_outweighs_its_curvature_or_does():
    """Two outputs, on a fine grid: where no tangent is near the maximiser, and where the sum is not concave."""
    rng, c, u = np.random.default_rng(5), 0.7, np.linspace(0, 1, 2001)
    entropy = -sum(part * np.log(np.where(part > 0, part, 1.0)) for part in (u, 1 - u))
    with flint.ctx.workprec(128):
        for square in (2.7, 2.85, 4.0, 8.0):
            for _ in range(20):
                z, centre = rng.normal(size=2), rng.uniform(-0.5, 1.0, 2)
                bends = [Bend(*exacts([square, square * x, square * x**2])) for x in centre]
                cost = Softmax(0, exact(c)).cost([arb(x) for x in z], bends)
                alpha = c * (1 - u)  # of the own class, and of its rival
                ridge = square * ((alpha - centre[0]) ** 2 + (alpha - centre[1]) ** 2) / 2
                worth = c * entropy - alpha * (z[0] - z[1]) + ridge
                assert worth.max() <= float(cost.upper()) + 1e-13


def test_softmax_takes_no_tangent_where_the_sum_is_not_concave():
    """A vertex is worth more than what tangents near another maximum leave room for."""
    z, centre, square, c = [0.046235, 0.091665, -0.31665], [0.664236, 0.037792, 0.500945], 8.0, 0.7
    with flint.ctx.workprec(128):
        bends = [Bend(*exacts([square, square * x, square * x**2])) for x in centre]
        one, balls = Softmax(0, exact(c)), [arb(x) for x in z]
        worth = max(
            alpha @ (np.array([-1, 1, 1]) * z) + square * ((alpha - centre) ** 2).sum() / 2
            for alpha in (np.zeros(3), np.array([c, c, 0.0]), np.array([c, 0.0, c]))
        )
        assert float(one._tangent(balls, bends).upper()) < worth - 0.05
        assert float(one.cost(balls, bends).upper()) >= worth


@pytest.mark.parametrize("far", [1e-30, 1.0, 300.0, 800.0, 1e6, 1e300])
def test_softmax_of_extreme_outputs(far):
    """log(1 + e^−far + …) of a sample that is right by that much, and far where it is wrong."""
    with flint.ctx.workprec(128):
        for bends in ([Bend()] * 3, [Bend(*exacts([1e-12, 1e-13, 1e-14]))] * 3):
            right, wrong = (Softmax(j, exact(2.0)).cost([arb(far), arb(0), arb(0)], bends) / 2 for j in (0, 1))
            assert right.upper() <= min(1.1, 2 * np.exp(-min(far, 700.0))) + 1e-11
            assert far <= wrong.upper() <= far * (1 + 1e-10) + 1.1


# ---------------------------------------------------------------------------------------------------- feasible points
@pytest.mark.parametrize("bias", [True, False])
def test_points_are_made_feasible_exactly_and_feasible_ones_are_kept(bias):
    rng = np.random.default_rng(3)
    for outputs in (2, 3, 4):
        instance = classes(9, outputs=outputs)
        at = stated(instance, "l1", {"loss": "softmax", "bias": bias, "C": 0.4})
        side = for_classes(Softmax)(at)
        for size in (0.01, 0.3, 3.0):
            alpha = side.feasible(exacts(size * rng.normal(size=9 * outputs)))
            rows = np.array(alpha, dtype=object).reshape(outputs, 9)
            assert all(value >= 0 for value in alpha)
            for one, column in zip(side.losses, rows.T, strict=True):
                assert 2 * column[one.own] == sum(column)
                assert column[one.own] <= one.high
            sums = [sum(row * signs) for row, signs in zip(rows, at.task.y.astype(int), strict=True)]
            assert not bias or not any(sums)
            assert side.feasible(list(alpha)) == alpha
        known = at.task.feasible(rng.uniform(0, 0.5, (outputs, 9)))
        assert side.feasible(exacts(known.ravel())) == exacts(known.ravel())
        assert known.any()


def test_copies_of_a_kernel_are_a_block_diagonal():
    instance = classes(4)
    copies = Copies(KernelBalls(instance.kernels), 3)
    blocks = np.kron(np.eye(3), np.asarray(instance.kernels)[1])
    vector = np.random.default_rng(0).normal(size=12)
    with flint.ctx.workprec(128):
        image, (square,) = copies.applied(1, flint.arb_mat(12, 1, vector.tolist()))
        assert [float(x) for x in image.entries()] == pytest.approx(blocks @ vector, rel=1e-14)
        assert float(square) == pytest.approx(vector @ blocks @ vector, rel=1e-14)
    table = copies.rational([fmpq(0), fmpq(1), fmpq(0)]).tolist()
    assert all(table[i][j] == exact(float(blocks[i, j])) for i in range(12) for j in range(12))


# --------------------------------------------------------------------------------------------------------- enclosures
@pytest.mark.parametrize("own_coefficients", [False, True])
@pytest.mark.parametrize("loss", ["crammer_singer", "softmax", "squared", "quantile"])
def test_no_lower_bound_exceeds_an_upper_one(monkeypatch, loss, own_coefficients):
    """Whatever the kernels and the points are."""
    monkeypatch.setattr(polishing, "LARGEST", 0)
    monkeypatch.setattr(single, "ROUNDS", 0)
    rng, finite = np.random.default_rng([3, own_coefficients]), 0
    for name in ("sum", "l1", "sm2", "elastic"):
        instance = classes(6) if loss in FOR_CLASSES else responses(6)
        draws, factors = rng.integers(-6, 7, (3, 6, 6)) / 16, rng.integers(-4, 5, (3, 6, 2)) / 4
        kernels = factors @ factors.transpose(0, 2, 1) + (draws + draws.transpose(0, 2, 1)) / 4
        given, enclosures = {"loss": loss, **OWN.get(loss, {}), **OWN.get(name, {}), "C": 0.5}, []
        at = stated(instance, name, given, kernels)
        for _ in range(5):
            alpha = at.task.feasible(rng.normal(size=(3, 6)))
            weights = rng.choice([0.0, 0.3, 1.0], 3) + 0.01
            own = weights[:, None] * (alpha * at.task.signs)[:, None] + rng.normal(size=(3, 3, 6)) / 1000
            point = Point(alpha, weights, own if own_coefficients else None, {}, "a test")
            with flint.ctx.workprec(128):
                enclosures.append(enclosed(at._replace(point=point))[0])
        assert all(not one.lower > other.upper for one in enclosures for other in enclosures)
        finite += sum(one.upper.is_finite() for one in enclosures)
    assert finite >= 10


@pytest.mark.parametrize("seed", range(1020, 1036))
def test_certificate_auditor_and_balls_agree(seed):
    """No interval excludes another, and the auditor's lies within the certificate's."""
    instance, name, given = drawn(seed)
    found = solve(instance, name, **given)
    said, proof = found.certificate, enclose(instance, found)
    lower, upper = check(instance.kernels, instance.targets.values, written(found), instance.sample_weight)
    assert said.lower <= lower <= upper <= said.upper
    assert max(proof.lower, lower) <= min(proof.upper, upper)
    assert not found.certified or proof.relative_width < 1e-6


@pytest.mark.parametrize("loss", ["crammer_singer", "softmax", "quantile"])
def test_proofs_of_small_problems_are_sharp(loss):
    instance = classes(9) if loss in FOR_CLASSES else responses(9)
    proof = prove(instance, "l1", loss=loss)
    assert proof.sharp
    assert proof.lower <= solve(instance, "l1", loss=loss).objective
    assert proof.as_dict()["why_wide"] is None


def test_where_no_solver_finds_a_point_the_trivial_one_serves(monkeypatch):
    monkeypatch.setattr(polishing, "LARGEST", 0)
    for instance, loss in ((classes(9, outputs=4), "softmax"), (responses(9), "huber")):
        formulation, task = posed(instance, "l1", loss=loss)
        point = RIGOROUS[formulation.family].trivial(formulation, instance, "none")
        assert point.alpha.shape == task.y.shape
        with flint.ctx.workprec(128):
            enclosure, _ = enclosed(stated(instance, "l1", {"loss": loss})._replace(point=point))
        assert enclosure.lower == 0
        assert enclosure.upper.is_finite()


def test_an_answer_that_is_no_point_of_the_problem_proves_little_and_nothing_wrong():
    """α of any sign, weights that are not on the simplex."""
    instance, rng = classes(9), np.random.default_rng(0)
    for loss in FOR_CLASSES:
        found = solve(instance, "l1", loss=loss)
        wrong = SimpleNamespace(
            formulation="l1", parameters=found.parameters, alpha=rng.normal(size=(3, 9)), weights=rng.normal(size=3),
            coefficients=None, multipliers={}, certificate=found.certificate, solver="a test",
        )  # fmt: skip
        proof = enclose(instance, wrong)
        assert proof.lower <= found.certificate.lower
        assert proof.upper >= found.certificate.upper
        assert formulations.get("l1").name == proof.formulation
