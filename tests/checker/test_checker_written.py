"""The auditor confirms files exactly as `save_solution` writes them, of every family: no claim is put right before."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from honest import written
from joint_cases import OWN, classes, responses
from mklcvx import Instance, Solution, second_stage, solve
from mklcvx.checker import audit as single_tasks
from mklcvx.checker import claims, families, joint
from mklcvx.checker.files import arrays_of, read_solution
from mklcvx.checker.prices import domain, dual_cost
from mklcvx.formulations import FORMULATIONS, SINGLE_TASKS
from mklcvx.io.files import save_instance, save_solution
from solved_once import remembered

SINGLE = {f.name for f in SINGLE_TASKS}
STAGES, LABELS = ("ts", "ts_l1", "alignment"), ("ml_sum", "ml_minimax")
HYPERGRAPHS = ("hypergraph", "hypergraph_smooth")


def kernels_and_labels(n: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """Two Gaussians and a linear kernel, and three labels."""
    rng = np.random.default_rng(0)
    features = rng.normal(size=(n, 4))
    distances = ((features[:, None] - features) ** 2).sum(axis=2)
    labels = (features[:, :3] + 0.5 * rng.normal(size=(n, 3)) > 0).astype(int)
    labels[0], labels[1] = 1, 0
    return np.stack([np.exp(-0.1 * distances), np.exp(-distances), features @ features.T]), labels


STACK, MEMBERS = kernels_and_labels()
TWO = Instance(STACK, 2 * MEMBERS[:, 0] - 1, groups=[0, 0, 1])
MANY = Instance(STACK, labels=MEMBERS)
RANK_ONE = Instance(np.stack([np.outer(x, x) for x in np.random.default_rng(3).normal(size=(4, 12))]), TWO.y)
COLUMNS = np.random.default_rng(1).normal(size=(12, 4)).T
ROUNDED = np.stack([np.outer(x, x) for x in COLUMNS]).astype(np.float32)
SINGLE_PRECISION = Instance(ROUNDED, labels=np.vstack([[[1] * 3, [0] * 3], COLUMNS[:3, 2:].T > 0]).astype(int))
EVEN = np.array([1, -1] * 4)
BALANCED, RESPONSE = Instance(STACK[1:, :8, :8], EVEN), Instance(STACK[1:, :8, :8], response=10.0 * EVEN)
CLASSES, RESPONSES = classes(9), responses(9)
CASES: list[tuple[Instance, str, dict[str, Any]]] = [
    *((instance, name, {"C": C}) for instance in (TWO, MANY) for name in STAGES for C in (1.0, 1e4)),
    (MANY, "ts", {"balanced": True}),
    (MANY, "alignment", {"approximate": True}),
    (RANK_ONE, "ts", {"C": 1e4}),
    (RANK_ONE, "alignment", {"C": 100.0}),
    *((instance, name, {"C": C}) for instance in (TWO, MANY) for name in LABELS for C in (1.0, 1e3)),
    *((MANY, name, {}) for name in HYPERGRAPHS),
    *((TWO, name, {"C": 2.0, **OWN.get(name, {})}) for name in sorted(SINGLE - {"svm", "li", "ckl", "vskl"})),
    *((TWO, name, {"C": 2.0}) for name in ("li", "ckl", "vskl")),
    (Instance(STACK[:1], TWO.y), "svm", {"C": 100.0}),
    (TWO, "l1", {"nu": 0.4}),
    *((CLASSES, "l1", {"loss": loss}) for loss in ("crammer_singer", "softmax")),
    *((RESPONSES, name, {"loss": "huber", **OWN["huber"], **OWN.get(name, {})}) for name in ("sum", "group_lasso")),
]  # fmt: skip
AT_BOUNDS: list[tuple[Instance, str, dict[str, Any]]] = [
    (BALANCED, "block_elastic", {"C": 1e-3, "l1_ratio": 0.0}),
    (BALANCED, "block_elastic", {"C": 1e-3, "l1_ratio": 0.0, "bias": False}),
    (RESPONSE, "sum", {"C": 1e-3, "loss": "huber", "delta": 0.1}),
]


def titled(case: tuple[Instance, str, dict[str, Any]]) -> str:
    instance, name, given = case
    return "-".join([name, instance.targets.kind, str(len(instance.kernels)), *map(str, given.values())])


def solved(instance: Instance, name: str, given: dict[str, Any]) -> Solution:
    return remembered(instance, (name, tuple(given.items())), lambda: solve(instance, name, **given))


def checker_of(solution: Solution) -> tuple[Any, Any]:
    if solution.formulation in SINGLE:
        return joint.evaluated_file, single_tasks.point_multipliers
    return families.evaluated_file, families.point_multipliers


def audit(folder: Path, instance: Instance, solution: Solution, kind: str = "npz") -> tuple[int, str]:
    """Exit status and last line for the files as they are written."""
    save_instance(folder / "problem.npz", instance)
    save_solution(folder / f"answer.{kind}", solution)
    data, record = arrays_of(folder / "problem.npz"), read_solution(folder / f"answer.{kind}")
    status, lines = claims.audit(data, record, *checker_of(solution))
    return status, lines[-1]


def test_every_formulation_is_among_the_cases():
    assert {name for _, name, _ in CASES} == {f.name for f in FORMULATIONS}


@pytest.mark.parametrize("kind", ["npz", "json"])
@pytest.mark.parametrize("case", CASES, ids=titled)
def test_a_file_as_it_is_written_is_confirmed(tmp_path, case, kind):
    solution = solved(*case)
    assert solution.certified != case[2].get("approximate", False)
    assert audit(tmp_path, case[0], solution, kind) == (0, "confirmed")


@pytest.mark.parametrize("name", HYPERGRAPHS)
def test_an_embedding_with_machines_is_confirmed(tmp_path, name):
    solution = second_stage(MANY, solved(MANY, name, {}), C=1e4)
    assert solution.certified
    assert audit(tmp_path, MANY, solution) == (0, "confirmed")


@pytest.mark.parametrize("case", AT_BOUNDS, ids=titled)
def test_no_gap_is_confirmed_where_every_alpha_is_at_its_bound(tmp_path, case):
    """Such a gap is smaller than what quotients are rounded by, which is all that may be lacking."""
    solution = solved(*case)
    assert 0 < solution.certificate.gap < 2.0**-900
    assert audit(tmp_path, case[0], solution) == (0, "confirmed")
    record, y = written(solution), case[0].targets.values
    point = single_tasks.evaluated(case[0].kernels, y, record)
    claims.claims(record, point)
    for wider in ({"upper": point.upper + point.terms / 2**199}, {"lower": point.lower - point.terms / 2**199}):
        with pytest.raises(ValueError, match="gap: smaller than the difference"):
            claims.claims(record, point._replace(**wider))
    record["certificate"]["gap"] = float(point.upper - point.lower + point.terms / 2**198)
    with pytest.raises(ValueError, match="relative_gap"):
        claims.claims(record, point._replace(upper=point.upper + point.terms / 2**199))


def test_block_elastic_at_zero_is_sum_whatever_the_kernels():
    """Its weights are one: others would make less of a kernel that is not semidefinite."""
    q, none = [Fraction(3), Fraction(-1, 3), Fraction(2)], {"l1_ratio": Fraction(0), "tau": Fraction(0)}
    assert dual_cost("block_elastic", q, none, None) == dual_cost("sum", q, {}, None) == Fraction(7, 3)
    assert dual_cost("block_elastic", q, {"l1_ratio": Fraction(1)}, None) == Fraction(3, 2)
    assert domain("block_elastic", np.ones(3), none) == [1, 1, 1]
    with pytest.raises(ValueError, match=r"block_elastic has the weights 1\.0"):
        domain("block_elastic", np.array([1.0, 0.5, 1.0]), none)


CONSTANT = Instance(STACK[:2], response=np.full(12, 3.0))
ONE_EACH = Instance(STACK[:2], response=np.ones(12))


@pytest.mark.parametrize(
    ("instance", "name", "given"),
    [
        (ONE_EACH, "average", {"loss": "poisson"}),
        (ONE_EACH, "l1", {"loss": "poisson", "C": 6.2}),
        (CONSTANT, "smp", {"loss": "absolute", "p": 1.001}),
        (CONSTANT, "smp", {"loss": "squared", "p": 1.0001}),
        (CONSTANT, "smp", {"loss": "absolute", "p": 3.0, "theta": 1e-90}),
        (CONSTANT, "smp", {"loss": "absolute", "p": 20.0, "theta": 1e10}),
        (CONSTANT, "smp", {"loss": "absolute", "p": 20.0, "theta": 1e40}),
        (TWO, "sum", {"loss": "logistic", "C": 1e76}),
        (TWO, "sum", {"loss": "logistic", "C": 1e100, "bias": False}),
        (Instance(1e66 * STACK, TWO.y), "sum", {"loss": "logistic"}),
    ],
)
def test_what_nearly_cancels_is_confirmed(tmp_path, instance, name, given):
    """Counts that are all alike, weights whose price is nearly flat, and α that is next to nothing beside its price."""
    solution = solved(instance, name, given)
    assert solution.certified
    assert audit(tmp_path, instance, solution) == (0, "confirmed")


def test_norms_of_classes_whose_kernels_are_not_semidefinite_are_confirmed(tmp_path):
    solution = solved(SINGLE_PRECISION, "ml_sum", {"C": 1e4})
    assert audit(tmp_path, SINGLE_PRECISION, solution) == (0, "confirmed")


def test_an_alignment_is_bounded_by_the_witness_of_its_file(tmp_path):
    """Kernels over eight decades: the checker's own witness is less good. One that proves less does no harm."""
    rng = np.random.default_rng(19)
    factors, sizes = rng.normal(size=(8, 8, 8)), 10.0 ** rng.integers(-4, 5, size=(8, 1, 1))
    instance = Instance(factors @ factors.transpose(0, 2, 1) * sizes, np.where(rng.permutation(8) < 4, 1, -1))
    solution = solve(instance, "alignment")
    assert audit(tmp_path, instance, solution) == (0, "confirmed")
    record = written(solution)
    point = families.evaluated(instance.kernels, instance.targets.indicators(), record)
    record["multipliers"]["witness"] = [-1.0] * 8
    other = families.evaluated(instance.kernels, instance.targets.indicators(), record)
    assert point.upper < other.upper
    assert float(other.upper) == pytest.approx(float(point.upper), rel=1e-9)
    record["multipliers"]["witness"] = [1.0]
    assert judged(record, instance) == "multipliers.witness: not an array of the shape (8,)"


def test_an_alignment_of_nothing_is_confirmed(tmp_path):
    """Where no kernel is like the target, the upper bound is what rounding costs."""
    instance = Instance(np.ones((2, 4, 4)), np.array([1, 1, -1, -1]))
    solution = solve(instance, "alignment")
    assert 0 < solution.certificate.upper < 1e-12
    assert audit(tmp_path, instance, solution) == (0, "confirmed")


# -------------------------------------------------------------------------------------------------- the second stage
def judged(record: dict[str, Any], instance: Instance = TWO) -> str:
    labels = instance.targets.indicators()
    try:
        claims.claims(record, families.evaluated(instance.kernels, labels, record, instance.sample_weight))
    except ValueError as fault:
        return str(fault)
    return "confirmed"


@pytest.mark.parametrize(
    ("name", "value", "fault"),
    [
        ("second_stage_stretch", 1 - 2.0**-40, "multipliers.second_stage_stretch: below 1"),
        ("second_stage_stretch", 1 + 2.0**-20, "multipliers.second_stage_gap: smaller than the gap is"),
        ("second_stage_stretch", [1.0], "multipliers.second_stage_stretch: not an array of the shape ()"),
        ("second_stage_stretch", None, "multipliers.second_stage_stretch: not finite numbers"),
        ("second_stage_ridge", 1e-6, "multipliers.second_stage_gap: smaller than the gap is"),
        ("second_stage_ridge", 1e-40, "multipliers.second_stage_ridge: ridge is not proved"),
        ("second_stage_ridge", -1.0, "multipliers.second_stage_ridge: ridge is not proved"),
        ("second_stage_gap", 0.0, "multipliers.second_stage_gap: smaller than the gap is"),
    ],
)
def test_a_stretch_or_a_ridge_that_proves_less_is_rejected(name, value, fault):
    """Kernels of rank one are not semidefinite as they are stored: without their δ nothing is proved."""
    record = written(solved(RANK_ONE, "ts", {"C": 1e4}))
    assert judged(record, RANK_ONE) == "confirmed"
    record["multipliers"][name] = value
    assert judged(record, RANK_ONE) == fault


def test_without_a_stretch_and_a_ridge_the_gap_is_measured_as_it_was_in_older_files():
    record = written(solved(TWO, "ts", {"C": 1.0}))
    for part in ("stretch", "ridge"):
        del record["multipliers"][f"second_stage_{part}"]
    record["multipliers"]["second_stage_gap"] = 1e-9
    assert judged(record) == "confirmed"
