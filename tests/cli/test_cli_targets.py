"""The command line with a response, and without targets: one-line refusals, and predictions without labels."""

import json
from dataclasses import replace

import numpy as np
import pytest

from mklcvx import Instance, MKLRegressor, OneClassMKL, solve
from mklcvx.checker.audit import evaluated_file, point_multipliers
from mklcvx.checker.claims import audited
from mklcvx.io.files import save_instance, save_solution
from refusals import strict
from stacks import FOR_COMMANDS

N, T = 8, 5
Y, K, TEST = FOR_COMMANDS.y, FOR_COMMANDS.kernels, FOR_COMMANDS.test_kernels
REAL = np.linspace(-2, 3, N) ** 2
GIVEN = {
    "response": ({"response": REAL, "test_response": REAL[:T]}, "a response"),
    "outputs": ({"response": np.column_stack([REAL, Y]), "label_names": ["a", "b"]}, "a response of 2 outputs"),
    "none": ({"test_y": [1, -1, 1, 1, 1]}, "no targets"),
}


@pytest.fixture(params=GIVEN)
def stored(request, tmp_path):
    """A file of an instance without labels, and what it has in words."""
    given, present = GIVEN[request.param]
    save_instance(tmp_path / "problem.npz", Instance(K, **given, test_kernels=TEST, groups=[0, 0, 1]))
    return tmp_path / "problem.npz", present


@pytest.fixture(scope="module")
def found():
    return solve(Instance(K, Y), "l1", solver="clarabel")


# --------------------------------------------------------------------------------------------------------- refusals
@pytest.mark.parametrize(
    "options",
    [
        ("solve", "-f", "l1", "--set", "loss=hinge"),
        ("solve", "-f", "sm1", "--centre", "--normalise", "trace", "--set", "loss=logistic"),
        ("solve", "-f", "ml_sum"),
        ("solve", "-f", "ts"),
        ("solve", "-f", "alignment"),
        ("solve", "-f", "hypergraph_smooth", "--json"),
        ("path", "--grid", "C=1,2", "--set", "loss=hinge"),
        ("prove", "--repair", "clip", "--set", "loss=hinge"),
        ("verify", "-f", "ts"),
        ("verify", "-f", "hypergraph"),
        ("verify", "--convention", "spicymkl"),
    ],
    ids=" ".join,
)
def test_what_needs_labels_says_what_there_is(refusal, stored, options):
    path, present = stored
    command, *rest = options
    (path.parent / "answer.json").write_text('{"alpha": [0.5], "weights": [null], "bias": 1e308}', encoding="utf-8")
    said = refusal(command, path, *([path.parent / "answer.json"] if command == "verify" else []), *rest)
    assert "needs labels" in said
    assert f"the instance has {present}: give y" in said


def test_a_benchmark_of_a_response_counts_in_fits_of_its_halves(run, refusal, tmp_path):
    """Constant ones have no halves, and no targets no unit at all."""
    for name, given in {"real": {"response": REAL}, "even": {"response": np.ones(N)}, "none": {}}.items():
        save_instance(tmp_path / f"{name}.npz", Instance(K, **given))
    code, out, _ = run("bench", tmp_path / "real.npz", "--solvers", "interior", "--rounds", "1", "--json")
    (row,) = json.loads(out)["contestants"]
    assert (code, row["status"]) == (0, "certified")
    assert row["fits"] > 0
    assert "all targets are equal" in refusal("bench", tmp_path / "even.npz")
    assert "bench needs labels, the instance has no targets" in refusal("bench", tmp_path / "none.npz")


def test_cross_validation_needs_targets(run, refusal, tmp_path):
    problem, asked = tmp_path / "problem.npz", ("--grid", "C=1", "--folds", "2")
    save_instance(problem, Instance(K, **GIVEN["none"][0], test_kernels=TEST))
    assert "the instance has none: give y, classes, labels or" in refusal("cv", problem, *asked)
    save_instance(problem, Instance(K, **GIVEN["outputs"][0], test_kernels=TEST))
    code, out, _ = run("cv", problem, *asked)
    assert (code, json.loads(out)["score"]) == (0, "r2")


# ---------------------------------------------------------------------------------------------------- what is solved
@pytest.mark.parametrize(
    ("name", "settings", "said"),
    [
        ("response", (), "loss = squared, C = 1, bias"),
        ("response", ("loss=huber", "delta=1", "C=2"), "loss = huber, C = 2, delta = 1, bias"),
        ("response", ("loss=quantile", "bias=false"), "loss = quantile"),
        ("none", (), "loss = one_class, nu = 0.5"),
    ],
    ids=str,
)
def test_solve_names_the_loss_and_predict_reads_its_solution(succeeds, tmp_path, name, settings, said):
    given, _ = GIVEN[name]
    save_instance(tmp_path / "problem.npz", Instance(K, **given, test_kernels=TEST))
    options = [word for setting in settings for word in ("--set", setting)]
    for ending in ("json", "npz"):
        answer = tmp_path / f"answer.{ending}"
        out, err = succeeds("solve", tmp_path / "problem.npz", "--solver", "clarabel", *options, "-o", answer)
        assert said in out
        assert "certified" in out
        out, err = succeeds("predict", answer, tmp_path / "problem.npz")
        assert len(out.splitlines()) == T + 1
        assert ("root mean squared error" if name == "response" else "accuracy") in err


def test_every_multiplier_that_is_not_zero_belongs_to_a_support_vector(run, tmp_path):
    """α of a response has either sign."""
    save_instance(tmp_path / "problem.npz", Instance(K, response=REAL))
    _, out, _ = run("solve", tmp_path / "problem.npz", "--solver", "clarabel")
    assert f"support vectors  {N} of {N}" in out


def test_counts_are_predicted_by_their_means(run, succeeds, tmp_path):
    counts = np.arange(N) % 4
    instance = Instance(K, response=counts, test_kernels=TEST, test_response=np.ones(T))
    save_instance(tmp_path / "problem.npz", instance)
    answer = tmp_path / "answer.json"
    out, err = succeeds("solve", tmp_path / "problem.npz", "--set", "loss=poisson", "-o", answer)
    assert "loss = poisson" in out
    code, out, err = run("predict", answer, tmp_path / "problem.npz", "-o", tmp_path / "out.npz")
    with np.load(tmp_path / "out.npz") as arrays:
        assert arrays["mean"] == pytest.approx(np.exp(arrays["decision"]), rel=1e-14)
        off = float(np.mean(np.abs(arrays["mean"] - 1)))
    assert f"mean absolute error {off:.4g}" in err
    assert run("predict", answer, tmp_path / "problem.npz")[1].splitlines()[0] == "decision,mean"
    np.savez(tmp_path / "far.npz", test_kernels=1e5 * np.concatenate([TEST, -TEST], axis=1))
    code, _, err = run("predict", answer, tmp_path / "far.npz", "-o", tmp_path / "far.json")
    assert (code, (tmp_path / "far.json").exists()) == (2, False)
    assert "means of counts are too large for double precision" in err


def test_a_tube_that_is_free_from_solve_to_check_and_prove(run, succeeds, tmp_path):
    save_instance(tmp_path / "problem.npz", Instance(K, response=REAL))
    answer, chosen = tmp_path / "answer.json", ("--set", "loss=nu_svr", "--set", "nu=0.4", "--set", "C=2")
    for formulation in ("l1", "li"):
        out, err = succeeds("solve", tmp_path / "problem.npz", "-f", formulation, *chosen, "-o", answer)
        assert "loss = nu_svr" in out
        code, out, err = run("verify", tmp_path / "problem.npz", answer)
        assert (code, "accepted" in out) == (0, True), err
        code, out, err = run("verify", tmp_path / "problem.npz", answer, "--set", "C=1")  # the file's nu stays
        assert (code != 0, "rejected" in out) == (True, True), err
        record = json.loads(answer.read_text(encoding="utf-8"))
        assert record["multipliers"]["epsilon"] >= 0
        assert audited([str(tmp_path / "problem.npz"), str(answer)], evaluated_file, point_multipliers) == 0
        assert run("prove", tmp_path / "problem.npz", "-f", formulation, *chosen)[0] == 0


# ------------------------------------------------------------------------------------------------------- predictions
def written(found, path, **changes):
    save_solution(path, replace(found, y=np.ones(N), alpha=found.alpha * found.y, **changes))
    return path


def test_a_response_is_predicted_by_decision_values(run, found, tmp_path):
    values = found.decision_function(TEST)
    answer = written(found, tmp_path / "answer.json", target="response", label_names=("height",))
    np.savez(tmp_path / "test.npz", test_kernels=TEST, test_response=values + 0.5)
    code, out, err = run("predict", answer, tmp_path / "test.npz")
    share = 1 - 0.25 / values.var()
    assert (code, err) == (0, f"root mean squared error 0.5, mean absolute error 0.5, R² {share:.4g} on {T} samples\n")
    assert out.splitlines() == ["decision", *map(str, values.tolist())]
    for ending in ("json", "npz"):
        assert run("predict", answer, tmp_path / "test.npz", "-o", tmp_path / f"out.{ending}")[0] == 0
    record = strict((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert record == {"schema": "mklcvx.prediction/1", "decision": values.tolist()}
    with np.load(tmp_path / "out.npz") as arrays:
        assert arrays.files == ["decision"]


def test_without_targets_a_sample_is_like_the_others_or_not(run, found, tmp_path):
    values = found.decision_function(TEST)
    answer = written(found, tmp_path / "answer.npz", target="none", label_names=())
    np.savez(tmp_path / "test.npz", test_kernels=TEST, test_y=np.where(values < 0, -1, 1))
    code, out, err = run("predict", answer, tmp_path / "test.npz")
    assert (code, err) == (0, f"accuracy 1.0000 on {T} samples\n")
    assert out.splitlines()[0] == "decision,label"


# ------------------------------------------------------------------------------------------------- losses that fit
@pytest.mark.parametrize(("given", "loss"), [({"y": Y}, "logistic"), ({"response": REAL}, "huber"), ({}, "one_class")])
def test_optima_are_proved_with_a_loss_that_fits(succeeds, tmp_path, given, loss):
    save_instance(tmp_path / "problem.npz", Instance(K, **given))
    out, _ = succeeds("prove", tmp_path / "problem.npz", "-f", "l1", "--set", f"loss={loss}", "--json")
    said = strict(out)
    assert said["parameters"]["loss"] == loss
    assert float(said["lower"]) <= float(said["upper"])
    assert said["relative_width"] <= 1e-8


# ------------------------------------------------------------------------------------------------------ saved models
FEATURES = np.random.default_rng(0).normal(size=(20, 2))
TRUTH = FEATURES[:, 0] * FEATURES[:, 1]


@pytest.mark.parametrize("outputs", [1, 2])
def test_a_model_of_a_response_predicts_it_and_says_its_errors(succeeds, tmp_path, outputs):
    y = TRUTH if outputs == 1 else np.column_stack([TRUTH, FEATURES[:, 0]])
    model = MKLRegressor("l1", "gaussians", C=10.0).fit(FEATURES, y)
    model.save(tmp_path / "model.npz")
    np.savez(tmp_path / "test.npz", X=FEATURES[:5], y=y[:5])
    out, err = succeeds("predict", tmp_path / "model.npz", tmp_path / "test.npz")
    head, *rows = out.splitlines()
    assert head == ("decision" if outputs == 1 else "decision 0,decision 1")
    values = np.array([[float(value) for value in row.split(",")] for row in rows])
    np.testing.assert_array_equal(values.reshape(np.shape(y[:5])), model.predict(FEATURES[:5]))
    assert f"R² {model.score(FEATURES[:5], y[:5]):.4g} on 5 samples" in err


def test_a_model_without_targets_tells_outliers(run, tmp_path):
    model = OneClassMKL("l1", "gaussians", nu=0.2).fit(FEATURES)
    model.save(tmp_path / "model.npz")
    samples = np.vstack([FEATURES[:3], [[50.0, 50.0]]])
    np.savez(tmp_path / "test.npz", X=samples, y=np.append(model.predict(samples[:3]), -1))
    code, out, err = run("predict", tmp_path / "model.npz", tmp_path / "test.npz")
    assert (code, err) == (0, "accuracy 1.0000 on 4 samples\n")
    rows = [row.split(",") for row in out.splitlines()]
    assert rows[0] == ["decision", "label"]
    assert [int(label) for _, label in rows[1:]] == model.predict(samples).tolist()
    assert [float(value) for value, _ in rows[1:]] == model.decision_function(samples).tolist()
