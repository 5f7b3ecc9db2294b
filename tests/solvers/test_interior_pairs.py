"""The interior-point method for two stages, and the pairs that it reads in blocks."""

from dataclasses import replace

import numpy as np
import pytest

from cases import KINDS
from covering import covering
from mklcvx import Instance, formulations, zoo
from mklcvx.formulations.alignment import alignment_task
from mklcvx.formulations.families.pairs import Pairs
from mklcvx.formulations.families.two_stage import pair_task
from mklcvx.problem.stack import KernelStack, mirrored
from mklcvx.solvers.interior.pair_newton import PairBlocks, basis_of
from mklcvx.solvers.interior.two_stage import InteriorPairs
from mklcvx.solvers.registry import drive
from refusals import peak_of

PAIRS = ("ts", "ts_l1")
rng = np.random.default_rng(5)
SKEWED = rng.normal(size=(3, 9, 9))
SYMMETRIC = np.stack([mirrored(kernel) for kernel in SKEWED])
TOGETHER = np.where(np.equal.outer(np.arange(9) % 2, np.arange(9) % 2), 1.0, -1.0)


def solved(name: str, instance: Instance, tolerance: float = 1e-9, **given):
    formulation = formulations.get(name)
    task, _ = formulation.task(instance, given)
    return drive(InteriorPairs(), formulation, task, tolerance)


def certified(name: str, instance: Instance, **given):
    point, run = solved(name, instance, **given)
    assert run.ending == "certified", (given, point.certificate)
    assert point.certificate.proves(1e-9)
    return point, run


# -------------------------------------------------------------------------------------------------- pairs in blocks
@pytest.mark.parametrize("block", [1, 7, 40, 10**6])
@pytest.mark.parametrize("stack", [KernelStack(SYMMETRIC), KernelStack(SKEWED, symmetric=False)], ids=["as is", "half"])
def test_blocks_of_any_size_say_what_the_examples_say(stack, block):
    pairs = Pairs(stack, block)
    upper = np.triu_indices(9)
    z = np.stack([kernel[upper] for kernel in SYMMETRIC], axis=1)
    mu, c = np.array([0.3, 0.0, 2.0]), np.linspace(0, 1, 45)
    assert pairs.count == 45
    assert pairs.examples() == pytest.approx(z)
    assert pairs.outputs(mu) == pytest.approx(z @ mu)
    assert pairs.pull(c - 0.5) == pytest.approx((c - 0.5) @ z)
    assert pairs.gram(c) == pytest.approx(z.T @ (c[:, None] * z))
    assert pairs.at(np.array([44, 0, 9, 8, 8])) == pytest.approx(z[[44, 0, 9, 8, 8]])
    assert pairs.triangle(TOGETHER).tolist() == TOGETHER[upper].tolist()
    covered = np.concatenate([np.arange(45)[rows] for rows, _ in pairs.blocks()])
    assert covered.tolist() == list(range(45))
    assert max(columns.size for _, columns in pairs.blocks()) <= max(block, 3 * 9)


@pytest.mark.parametrize("block", [1, 50, 10**6])
def test_alignment_sums_over_all_ordered_pairs(block):
    task = alignment_task(Pairs(KernelStack(SKEWED, symmetric=False), block), TOGETHER, approximate=False)
    assert task.products == pytest.approx(np.einsum("mij,lij->ml", SYMMETRIC, SYMMETRIC))
    assert task.target == pytest.approx(np.einsum("mij,ij->m", SYMMETRIC, TOGETHER))
    assert task.traces == pytest.approx(np.trace(SYMMETRIC, axis1=1, axis2=2))


# ------------------------------------------------------------------------------------------------ optima
@pytest.mark.parametrize(("balanced", "kind", "name"), covering([False, True], KINDS, PAIRS))
def test_every_kind_of_instance_is_certified_to_1e_9(name, kind, balanced):
    for lam in (1e-3, 0.1, 1e4):
        _, run = certified(name, KINDS[kind](), lam=lam, balanced=balanced)
        assert run.iterations <= 50


@pytest.mark.parametrize(("balanced", "kind", "name"), covering([False, True], KINDS, PAIRS))
def test_where_weights_cost_next_to_nothing_the_losses_are_least_to_the_last_bits(name, kind, balanced):
    point, run = solved(name, KINDS[kind](), lam=1e-8, balanced=balanced)
    assert run.ending == "certified" or point.certificate.gap <= 2e-14
    assert run.iterations <= 50


@pytest.mark.parametrize("kind", KINDS)
def test_alignment_is_certified_in_one_step(kind):
    _, run = certified("alignment", KINDS[kind]())
    assert run.iterations == 1


@pytest.mark.parametrize(
    ("seed", "distance", "name"), covering([9, 30], [1e-4, 1e-6, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 0.0], PAIRS)
)
def test_kernels_that_are_nearly_alike(name, distance, seed):
    base, other = zoo.random(12, 2, seed=seed).kernels, zoo.random(12, 2, seed=seed + 1)
    instance = Instance(np.concatenate([base, base + distance * other.kernels]), other.y)
    for lam in (1e-4, 0.1, 0.2):
        point, run = certified(name, instance, lam=lam)
        assert (point.upper.point >= 0).all()
        assert run.iterations <= 50


def test_a_basis_is_found_where_kernels_are_nearly_combinations_of_others():
    independent = zoo.random(12, 3, seed=9).kernels
    for kernels, alike in (
        (independent, False),
        ([*independent, np.zeros((12, 12))], False),
        ([*independent, independent[0] + 1e-9 * independent[1]], True),
        ([*independent, independent[0] + independent[1]], True),
    ):
        pairs = Pairs(KernelStack(np.stack(kernels)))
        gram = pairs.gram(np.ones(pairs.count))
        basis = basis_of(gram, np.maximum(np.sqrt(np.diag(gram)), 1.0))
        assert (basis is not None) == alike
        if basis is not None:
            assert (basis @ gram @ basis.T)[:3, :3] == pytest.approx(np.eye(3), abs=1e-12)
            assert np.abs(basis[3] @ pairs.examples().T).max() < 1.0  # what is left of the fourth kernel, or rounding


@pytest.mark.parametrize("name", PAIRS)
def test_a_kernel_of_zeros_does_no_harm_and_its_weight_costs_nothing(name):
    base = zoo.random(16, 3, seed=2)
    padded = Instance(np.concatenate([base.kernels, np.zeros((1, 16, 16))]), base.y)
    own, alone = certified(name, padded, lam=1e-3)[0], certified(name, base, lam=1e-3)[0]
    assert own.upper.value == pytest.approx(alone.upper.value, rel=2e-9)
    idle = own.upper.point[3]
    assert 1e-3 * (idle**2 / 2 if name == "ts" else idle) <= 1e-9 * own.certificate.scale


def test_where_the_price_keeps_all_margins_below_one_no_step_is_needed():
    instance = zoo.random(16, 3, seed=2)
    point, run = certified("ts_l1", instance, lam=50.0)
    assert run.iterations == 0
    assert not point.upper.point.any()
    assert point.upper.value == pytest.approx(1)
    point, run = certified("ts", instance, lam=50.0)
    task, _ = formulations.get("ts").task(instance, {"lam": 50.0})
    assert run.iterations == 0
    assert point.upper.point == pytest.approx(np.maximum(task.pull(task.weight), 0) / 50)


# --------------------------------------------------------------------------------------------- how kernels are kept


def test_a_solve_holds_far_less_than_the_examples():
    base = zoo.random(120, 60, seed=1)
    task = pair_task(KernelStack(base.kernels), np.outer(base.y, base.y), balanced=False, lam=0.01)
    task = replace(task, pairs=Pairs(task.pairs.stack, block=2**14))
    endings = []
    peak = peak_of(lambda: endings.append(drive(InteriorPairs(), formulations.get("ts"), task, 1e-9)[1].ending))
    assert endings == ["certified"]
    assert peak < 0.7 * task.examples.nbytes


# --------------------------------------------------------------------------------------------- Newton's equations
def test_blocks_with_given_products():
    lack, weight = np.array([-1e9, -2.0, 0.0, 0.5, 1e9]), np.array([0.1, 0.2, 0.3, 0.4, 0.5])
    blocks = PairBlocks.centred(lack, weight, 1e-7)
    assert blocks.products[0] == pytest.approx(np.full(5, 1e-7), rel=1e-12)
    assert blocks.products[1] == pytest.approx(np.full(5, 1e-7), rel=1e-12)
    assert blocks.beta + blocks.room == pytest.approx(weight, rel=1e-9)
    assert blocks.xi - blocks.psi == pytest.approx(lack, rel=1e-9)
