"""Conventions: defaults, support vectors, sizes of kernels, limits, refusals, the command line."""

import subprocess
import sys

import numpy as np
import pytest

from mklcvx import Instance, formulations, zoo
from mklcvx.formulations.losses import COUNTS, LABELS, NONE, REAL
from mklcvx.verification.answers import Answer
from mklcvx.verification.conventions import CONVENTIONS, convert, get
from refusals import check_refused, strict
from theirs import SOLVE

pytestmark = pytest.mark.slow

INSTANCE = zoo.random(20, 4, overlap=0.7, seed=1)
UNIT = INSTANCE.with_kernels(np.stack([kernel / np.trace(kernel) for kernel in INSTANCE.kernels]))
INSTANCES = {
    LABELS: UNIT,
    REAL: Instance(UNIT.kernels, response=np.sin(np.arange(20.0)), sample_weight=1 + np.arange(20) % 2),
    COUNTS: Instance(UNIT.kernels, response=np.arange(20) % 4, sample_weight=1 + np.arange(20) % 2),
    NONE: Instance(UNIT.kernels, sample_weight=1 + np.arange(20) % 2),
}


@pytest.mark.parametrize("name", [c.name for c in CONVENTIONS])
def test_defaults_are_resolved_and_make_a_problem(name):
    convention = get(name)
    problem = convention.to_ours(INSTANCES[convention.loss.targets])
    formulations.get(problem.formulation).task(problem.instance, problem.parameters)
    assert problem.parameters["bias"] is (name not in ("pegasos", "sklearn_kernel_ridge", "sklearn_one_class"))


@pytest.mark.parametrize("name", [c.name for c in CONVENTIONS if "C_total" in c.parameter_names])
def test_the_total_price_is_n_times_the_price_of_a_sample(name):
    instance = INSTANCES[get(name).loss.targets]
    per_sample, total = (get(name).to_ours(instance, given) for given in ({"C": 2.0}, {"C_total": 2.0 * 20}))
    assert per_sample.parameters["C"] == pytest.approx(total.parameters["C"], rel=1e-12)


# ------------------------------------------------------------------------------------------- what is solved for
@pytest.mark.parametrize("loss", ["total", "mean"])
def test_spicymkl_says_from_which_penalty_on_the_function_is_zero(loss):
    """Balanced classes: with all α = 1 no norm √q_m exceeds λ_max, and f = 0 is optimal from there on."""
    q = [INSTANCE.y @ kernel @ INSTANCE.y for kernel in INSTANCE.kernels]
    largest = np.sqrt(max(q)) / (20 if loss == "mean" else 1)
    problem = get("spicymkl").to_ours(INSTANCE, {"lam": 0.999 * largest, "loss": loss})
    assert problem.solve(solver="interior").norms.max() > 0
    with check_refused(f"lam = {1.001 * largest:.6g} is not below lam = {largest:.6g}", "f = 0", "smaller"):
        get("spicymkl").to_ours(INSTANCE, {"lam": 1.001 * largest, "loss": loss})


@pytest.mark.parametrize("share", [0.7, 0.99, 1.01, 3.0, 700.0])
def test_a_long_way_on_which_nothing_changes_is_passed(share):
    """Two samples far out and two nearby. Between C = 1e-3 and C = 1 the near ones are at their bounds, the far ones
    have α = 0, and h does not change: penalties above 1.4 have smaller C, and C = 1 is where the search starts."""
    x = 0.7 * np.array([1e3, 1.0, -1e3, -1.0])
    instance, given = Instance(np.outer(x, x)[None], [1, 1, -1, -1]), {"lam": 1.4 * share}
    problem, answer = convert(SOLVE["spicymkl"](instance, **given).answer, "spicymkl", instance, given)
    assert (problem.parameters["C"] < 2e-3) == (share > 1)
    assert answer.objective == pytest.approx(problem.solve(solver="interior").objective, rel=1e-6)


def test_kernels_that_tell_nothing_apart_are_refused():
    blind = Instance(np.stack([np.ones((4, 4)), 2 * np.ones((4, 4))]), [1, 1, -1, -1])
    with check_refused("no kernel tells the classes apart", "f = 0"):
        get("spicymkl").to_ours(blind, {"lam": 0.1})


def test_imbalanced_weighted_samples_keep_their_weights():
    weights = np.linspace(0.5, 2, 20)
    instance = Instance(INSTANCE.kernels, INSTANCE.y, sample_weight=weights)
    problem = get("shogun_lp").to_ours(instance, {"C": 2.0, "C_positive": 3.0, "p": 1.0})
    expected = weights * np.where(INSTANCE.y > 0, 1.5, 1.0)
    assert problem.instance.sample_weight == pytest.approx(expected, rel=1e-14)


# ------------------------------------------------------------------------------------------------ kernels inside
def test_unit_trace_reaches_the_test_kernels():
    instance = Instance(INSTANCE.kernels, INSTANCE.y, test_kernels=INSTANCE.kernels[:, :3, :])
    for name in ("smo_mkl", "spg_gmkl", "lanckriet"):
        scaled = get(name).to_ours(instance).instance
        assert [np.trace(kernel) for kernel in scaled.kernels] == pytest.approx(np.ones(4), rel=1e-12)
        assert scaled.test_kernels == pytest.approx(scaled.kernels[:, :3, :], rel=1e-12)
    scaled = get("lanckriet").to_ours(instance, {"c": 5.0}).instance
    assert scaled.test_kernels == pytest.approx(scaled.kernels[:, :3, :], rel=1e-12)
    assert np.trace(scaled.kernels[0]) == pytest.approx(5)


def test_a_single_kernel_is_neither_scaled_nor_regularised_by_smo_mkl():
    alone = INSTANCE.select([2])
    for name in ("smo_mkl", "spg_gmkl"):
        problem = get(name).to_ours(alone, {"C": 2.0, "lam": 7.0})
        assert (problem.formulation, problem.parameters) == ("svm", {"C": 2.0, "bias": True})
        assert problem.instance.kernels is alone.kernels
        assert get(name).answer_to_ours(Answer(objective=-3.0), problem).objective == 3.0


# -------------------------------------------------------------------------------------------------- support vectors
SUPPORT = [
    ("simplemkl", "pos", 1),
    ("libsvm", "sv_indices", 1),
    ("sklearn_svc", "support", 0),
    ("smo_mkl", "sv_indices", 1),
]
WRONG = [[0, 1, 2], [1, 2, 21], [1, 2], [1.5, 2, 3], [1, 2, np.nan], [[1, 2, 3, 4]], [4, 4, 5]]


@pytest.mark.parametrize(("name", "key", "first"), SUPPORT)
def test_alpha_of_the_support_vectors_is_spread(name, key, first):
    places = np.array([19, 0, 3])
    signs = INSTANCE.y[places]
    answer = Answer(alpha=np.array([0.2, 0.5, 0.7]) * signs, multipliers={key: places + first})
    alpha = convert(answer, name, INSTANCE, {}).answer.alpha
    assert alpha[places] == pytest.approx([0.2, 0.5, 0.7])
    assert np.count_nonzero(alpha) == 3


@pytest.mark.parametrize("places", WRONG)
def test_wrong_indices_are_refused(places):
    answer = Answer(alpha=np.array([0.2, 0.5, 0.7]), multipliers={"pos": places})
    with check_refused("answer: pos", "give"):
        convert(answer, "simplemkl", INSTANCE, {})


def test_indices_that_are_words_are_refused():
    with check_refused("answer: pos", "write"):
        convert(Answer(alpha=np.ones(2), multipliers={"pos": ["a", "b"]}), "simplemkl", INSTANCE, {})


@pytest.mark.parametrize("name", ["libsvm", "smo_mkl"])
def test_coefficients_have_the_sign_of_the_class_order(name):
    """f is positive for `first_label` in their words, for +1 in ours: α, coefficients and bias change sign together."""
    answer = Answer(alpha=np.full(20, 0.3), coefficients=np.full((4, 20), 0.3), bias=0.1)
    first = convert(answer, name, INSTANCE, {"first_label": 1}).answer
    second = convert(answer, name, INSTANCE, {"first_label": -1}).answer
    assert first.alpha * INSTANCE.y == pytest.approx(first.coefficients[0])
    for part in ("alpha", "coefficients", "bias"):
        assert getattr(second, part) == pytest.approx(-np.asarray(getattr(first, part)))
    assert first.bias == -0.1


# -------------------------------------------------------------------------------------------------- the thesis's λ
def test_li_weights_are_the_inverse_of_twice_the_shares():
    shares = np.array([0.1, 0.2, 0.3, 0.4])
    converted = convert(Answer(weights=shares), "govindaraj_li", INSTANCE, {})
    assert converted.answer.weights == pytest.approx([5, 2.5, 5 / 3, 1.25])


def test_a_share_of_zero_leaves_the_weight_to_the_coefficients():
    shares = np.array([0.0, 0.2, 0.4, 0.4])
    convention = get("govindaraj_li")
    problem = convention.to_ours(INSTANCE)
    assert convention.answer_to_ours(Answer(weights=shares), problem).weights[0] == 0
    both = Answer(weights=shares, coefficients=np.ones((4, 20)))
    ours = convention.answer_to_ours(both, problem)
    assert np.isnan(ours.weights[0])
    assert convention.answer_from_ours(ours, problem).weights == pytest.approx(shares)


def test_ckl_needs_gamma_and_groups():
    answer = Answer(weights=np.full(4, 0.5))
    with check_refused("answer", "gamma", "write"):
        convert(answer, "govindaraj_ckl", INSTANCE, {})
    with check_refused("govindaraj_ckl needs groups", "give"):
        get("govindaraj_ckl").to_ours(Instance(INSTANCE.kernels, INSTANCE.y))
    grouped = INSTANCE.with_kernels(INSTANCE.kernels, groups=[0, 0, 1, 1])
    gamma = Answer(weights=np.full(4, 0.5), multipliers={"gamma": [0.25, 0.75]})
    assert convert(gamma, "govindaraj_ckl", grouped, {}).answer.weights == pytest.approx([1, 1, 1 / 3, 1 / 3])


# ---------------------------------------------------------------------------------------------------------- refusals
def test_refusals_name_the_input_the_fault_and_the_remedy():
    with check_refused("unknown convention 'spicy_mkl'", "did you mean 'spicymkl'"):
        get("spicy_mkl")
    with check_refused("unknown parameter 'lambda' of spicymkl", "lam"):
        get("spicymkl").to_ours(INSTANCE, {"lambda": 1})
    with check_refused("lam = -1 is outside the limits of spicymkl", "λ > 0"):
        get("spicymkl").to_ours(INSTANCE, {"lam": -1})
    with check_refused("C and C_total are both given", "keep one"):
        get("simplemkl").to_ours(INSTANCE, {"C": 1, "C_total": 20})
    with check_refused("parameter form = 'ivanow'", "did you mean 'ivanov'"):
        get("kloft_lp").to_ours(INSTANCE, {"form": "ivanow"})
    with check_refused("simplex", "p = 1.5", "set=orthant"):
        get("spg_gmkl").to_ours(INSTANCE, {"regulariser": "lp", "p": 1.5, "set": "simplex"})
    with check_refused("simplemkl needs labels y", "give y"):
        get("simplemkl").to_ours(Instance(INSTANCE.kernels, classes=np.arange(20) % 3))
    with check_refused("answer: weights has shape (3,)", "(4,)"):
        convert(Answer(weights=np.ones(3)), "simplemkl", INSTANCE, {})
    with check_refused("answer: alpha has shape (3,)", "(20,)"):
        convert(Answer(alpha=np.ones(3)), "simplemkl", INSTANCE, {})
    with check_refused("answer: coefficients has shape (2, 2)", "(4, 20)"):
        convert(Answer(coefficients=np.ones((2, 2))), "simplemkl", INSTANCE, {})
    with check_refused("sklearn_svr needs a response", "give response"):
        get("sklearn_svr").to_ours(INSTANCE)
    with check_refused("sklearn_one_class needs no targets", "leave them out"):
        get("sklearn_one_class").to_ours(INSTANCES[REAL])


def test_every_convention_states_its_problem_and_proves_its_conversion():
    for convention in CONVENTIONS:
        assert convention.name in convention.theorem.splitlines()[0]
        for part in ("An answer here", "Reference"):
            assert part in convention.theorem, convention.name
        assert "roof" in convention.theorem or "word for word" in convention.theorem
    assert len({c.name for c in CONVENTIONS}) == len(CONVENTIONS)


# -------------------------------------------------------------------------------------------------- the command line
def test_the_command_line_lists_and_explains(succeeds, refusal):
    out, _ = succeeds("conventions")
    assert [line.split()[0] for line in out.splitlines()] == [c.name for c in CONVENTIONS]
    out, _ = succeeds("conventions", "spicymkl")
    assert "λ Σ_m ‖f_m‖" in out
    assert "lam " in out
    out, _ = succeeds("conventions", "--json")
    rows = strict(out)["conventions"]
    assert {row["name"]: row["formulations"] for row in rows}["spg_gmkl"] == ["square", "sm2", "l1", "lp", "svm"]
    assert "did you mean 'simplemkl'" in refusal("conventions", "simplemlk")


def test_importing_conventions_is_cheap():
    heavy = "[m for m in ('cvxpy', 'scipy', 'sklearn') if m in sys.modules]"
    code = f"import sys, mklcvx.verification.conventions; print({heavy})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
