"""Several classes on the command line: each against the rest, or each pair, as the estimator has it."""

import json

import numpy as np
import pytest

from mklcvx import Instance, MKLClassifier, mkl_path, save_instance
from mklcvx.io.machine_files import load_answer, load_machines, save_machines
from mklcvx.solvers.one_against import solve_by_machines
from refusals import check_refused, strict

N, T = 18, 6
CODES = np.repeat([3, 5, 7], 6)
RNG = np.random.default_rng(11)
X = RNG.normal(size=(N, 3)) + 1.5 * (CODES[:, None] == [3, 5, 7])
K = np.stack([np.exp(-((X[:, [j]] - X[:, j]) ** 2)) for j in range(3)])
NEW = X[:T] + 0.1
TEST = np.stack([np.exp(-((NEW[:, [j]] - X[:, j]) ** 2)) for j in range(3)])
STACKS = {"classes": CODES, "test_kernels": TEST, "test_classes": CODES[:T]}
WAYS = {"ovr": 3, "ovo": 3}


@pytest.fixture(scope="module")
def models():
    """The estimator's machines, for kernels centred and scaled."""
    stack = np.moveaxis(K, 0, -1)
    given = {"kernels": "precomputed", "centre": True, "normalise": "trace", "C": 2.0}
    return {way: MKLClassifier("l1", multi_class=way, **given).fit(stack, CODES) for way in WAYS}


@pytest.fixture
def file(tmp_path):
    save_instance(tmp_path / "problem.npz", Instance(K, **STACKS))
    return tmp_path / "problem.npz"


@pytest.fixture(scope="module")
def machines():
    return {way: solve_by_machines(Instance(K, classes=CODES), "l1", way) for way in WAYS}


PREPARED = ("--centre", "--normalise", "trace", "--set", "C=2")


# --------------------------------------------------------------------------------------------- 6: solve, predict
@pytest.mark.parametrize("ending", ["json", "npz"])
@pytest.mark.parametrize("way", WAYS)
def test_solve_and_predict_do_as_the_estimator_does(run, quiet, file, tmp_path, models, way, ending):
    answer = tmp_path / f"answer.{ending}"
    out = quiet("solve", file, *PREPARED, "--multi-class", way, "-o", answer)
    assert "certified" in out
    assert out.count("against") == WAYS[way]
    code, out, err = run("predict", answer, file)
    model, stack = models[way], np.moveaxis(TEST, 0, -1)
    assert (code, err) == (0, f"accuracy {np.mean(model.predict(stack) == CODES[:T]):.4f} on {T} samples\n")
    head, *rows = out.splitlines()
    assert head == "decision 3,decision 5,decision 7,class"
    values = np.array([[float(cell) for cell in row.split(",")[:3]] for row in rows])
    np.testing.assert_allclose(values, model.decision_function(stack), rtol=1e-6, atol=1e-8)
    assert [int(row.split(",")[3]) for row in rows] == model.predict(stack).tolist()
    found = load_machines(answer)
    np.testing.assert_allclose(found.weights, model.weights_, rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(found.predict(TEST), model.predict(stack))
    assert found.certified


def test_without_a_choice_each_is_against_the_rest_and_that_is_said(succeeds, file):
    out, err = succeeds("solve", file, "--json")
    assert err == "mklcvx: 3 classes: each against the rest, 3 machines (--multi-class ovo: each pair)\n"
    record = strict(out)
    assert (record["schema"], record["multi_class"], record["status"]) == ("mklcvx.machines/1", "ovr", "certified")
    assert [machine["positive"] for machine in record["machines"]] == ["3", "5", "7"]
    gaps = [machine["solution"]["certificate"]["relative_gap"] for machine in record["machines"]]
    assert record["certificate"]["relative_gap"] == max(gaps)
    assert np.shape(record["weights"]) == (3, 3)


def test_two_classes_have_one_machine_and_their_own_names(run, tmp_path):
    np.savez(tmp_path / "two.npz", kernels=K[:, :12, :12], classes=["no"] * 6 + ["yes"] * 6)
    np.savez(tmp_path / "test.npz", test_kernels=K[:, :12, :12])
    code, _, err = run("solve", tmp_path / "two.npz", "-o", tmp_path / "two.json")
    assert (code, err) == (0, "mklcvx: 2 classes: yes is positive, no is negative\n")
    _, out, _ = run("predict", tmp_path / "two.json", tmp_path / "test.npz")
    head, *rows = out.splitlines()
    assert head == "decision no,decision yes,class"
    assert {row.split(",")[2] for row in rows} == {"no", "yes"}
    (solution,) = load_machines(tmp_path / "two.json").solutions
    np.testing.assert_array_equal(solution.y, np.repeat([-1, 1], 6))


def test_losses_of_all_classes_at_once_stay_one_problem(quiet, file):
    out = quiet("solve", file, "--set", "loss=softmax", "--json")
    assert strict(out)["schema"] == "mklcvx.solution/2"


def test_machines_that_are_not_certified_are_said_and_counted(run, file, tmp_path):
    code, _, err = run("solve", file, "--solver", "silp", "--max-iter", "1", "-q", "-o", tmp_path / "answer.json")
    assert code == 1
    assert "of 3 machines; the worst: not certified" in err
    assert not load_machines(tmp_path / "answer.json").certified


# ------------------------------------------------------------------------------------------------- 6: cv and path
@pytest.mark.parametrize("way", WAYS)
def test_cross_validation_scores_what_the_machines_predict(succeeds, file, way):
    from sklearn.model_selection import StratifiedKFold, cross_val_score

    out, _ = succeeds("cv", file, "--grid", "C=0.5,2", "--folds", "3", "--multi-class", way, "--centre")
    records = [strict(line) for line in out.splitlines()]
    assert [record["parameters"]["C"] for record in records] == [0.5, 2]
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    model = MKLClassifier("l1", "precomputed", C=2.0, multi_class=way, centre=True, normalise=None)
    expected = cross_val_score(model, np.moveaxis(K, 0, -1), CODES, cv=folds)
    np.testing.assert_allclose(records[1]["scores"], expected)


def test_a_path_has_the_machines_of_every_point(succeeds, file, machines):
    out, err = succeeds("path", file, "--grid", "C=0.5,1")
    assert "3 machines" in err
    records = [strict(line) for line in out.splitlines()]
    assert [record["parameters"]["C"] for record in records] == [0.5, 1]
    np.testing.assert_allclose(records[1]["objective"], machines["ovr"].objective, rtol=1e-7)


def test_mkl_path_follows_every_machine(machines):
    found = mkl_path(np.moveaxis(K, 0, -1), CODES, {"C": [0.5, 1.0]}, kernels="precomputed", multi_class="ovo")
    assert (found.weights.shape, found.objectives.shape, found.bounds.shape) == ((2, 3, 3), (2, 3), (2, 2))
    assert found.certified
    np.testing.assert_allclose(found.objectives[1], machines["ovo"].objective, rtol=1e-7)
    np.testing.assert_array_equal(found.solutions[1].predict(K), machines["ovo"].predict(K))


# ------------------------------------------------------------------------------------- verify, prove, report, bench
@pytest.mark.parametrize("way", WAYS)
def test_verify_judges_every_machine(run, quiet, file, tmp_path, way):
    run("solve", file, *PREPARED, "--multi-class", way, "-q", "-o", tmp_path / "answer.npz")
    out = quiet("verify", file, tmp_path / "answer.npz")
    assert out.count("accepted") == 3
    code, out, err = run("verify", file, tmp_path / "answer.npz", "--set", "C=3", "--json", "--no-diagnosis")
    assert code == 1
    record = strict(out)
    assert (record["accepted"], len(record["machines"])) == (False, 3)
    assert err.splitlines()[0].startswith("mklcvx: the answer says C = 2")
    assert "machines, the first" in err


def test_machines_are_judged_for_the_instance_they_are_for(run, refusal, file, tmp_path, machines):
    save_machines(tmp_path / "answer.json", machines["ovo"])
    save_instance(tmp_path / "other.npz", Instance(K, classes=CODES[::-1]))
    save_instance(tmp_path / "signs.npz", Instance(K, np.where(CODES == 3, 1, -1)))
    said = refusal("verify", tmp_path / "other.npz", tmp_path / "answer.json")
    assert "its classes or samples are not those of the instance" in said
    said = refusal("verify", tmp_path / "signs.npz", tmp_path / "answer.json")
    assert "holds machines for several classes, the instance has y" in said
    assert "--html: answer.json holds several machines" in refusal(
        "verify", file, tmp_path / "answer.json", "--html", tmp_path / "page.html"
    )


def test_one_class_against_the_rest_is_looked_at_by_name(run, refusal, file, tmp_path, machines):
    said = refusal("report", file, "-o", tmp_path / "page.html")
    assert "report looks at one machine, the instance has 3 classes" in said
    assert "--positive 3" in said
    assert "--positive 4: no such class: known: 3, 5, 7" in refusal("bench", file, "--positive", "4")
    save_instance(tmp_path / "signs.npz", Instance(K, np.where(CODES == 3, 1, -1)))
    assert "--positive 3: the instance has y" in refusal("prove", tmp_path / "signs.npz", "--positive", "3")
    answer = {"weights": machines["ovr"].weights[1].tolist(), "objective": machines["ovr"].objective[1]}
    (tmp_path / "answer.json").write_text(json.dumps(answer), encoding="utf-8")
    code, _, err = run("verify", file, tmp_path / "answer.json", "-f", "l1", "--positive", "5")
    assert (code, err) == (0, "mklcvx: 5 against the rest\n")


# ------------------------------------------------------------------------------------------------------- the files
@pytest.mark.parametrize("ending", ["json", "npz"])
@pytest.mark.parametrize("way", WAYS)
def test_machines_come_back(tmp_path, machines, way, ending):
    save_machines(tmp_path / f"answer.{ending}", machines[way])
    found = load_answer(tmp_path / f"answer.{ending}")
    assert found.as_dict() == machines[way].as_dict()
    np.testing.assert_array_equal(found.decision_function(TEST), machines[way].decision_function(TEST))


@pytest.mark.parametrize(
    "damage",
    [
        lambda record: record.pop("machines"),
        lambda record: record["machines"].pop(),
        lambda record: record.update(multi_class="all"),
        lambda record: record.update(samples=3),
        lambda record: record.update(samples="18"),
        lambda record: record.update(label_names=["3", "3", "7"]),
        lambda record: record.update(classes=["3", "5"]),
        lambda record: record["machines"][0].update(samples=[0, 1]),
        lambda record: record["machines"][0].update(samples=list(range(12, 0, -1))),
        lambda record: record["machines"][0].update(samples=[-1, *range(1, 12)]),
        lambda record: record["machines"][0].update(solution=None),
        lambda record: record["machines"][0]["solution"].update(alpha=[1.0]),
        lambda record: record["machines"][0]["solution"].update(names=["a", "b", "c"]),
        lambda record: record.update(preprocessing={"kernels": 3, "samples": 2, "steps": []}),
    ],
    ids=range(14),
)
def test_parts_that_do_not_fit_together_are_refused(tmp_path, machines, damage):
    record = json.loads(json.dumps(machines["ovo"].as_dict()))
    damage(record)
    (tmp_path / "answer.json").write_text(json.dumps(record), encoding="utf-8")
    with check_refused("answer.json: incomplete or damaged"):
        load_answer(tmp_path / "answer.json")


def test_one_solution_is_no_machines_and_the_other_way_round(run, tmp_path, machines):
    from mklcvx import load_solution

    save_machines(tmp_path / "machines.npz", machines["ovr"])
    with check_refused("machines.npz: holds one solution for each of several machines", "load_machines"):
        load_solution(tmp_path / "machines.npz")
    save_instance(tmp_path / "problem.npz", Instance(K, np.where(CODES == 3, 1, -1)))
    run("solve", tmp_path / "problem.npz", "-q", "-o", tmp_path / "answer.json")
    with check_refused("answer.json: holds one solution", "mklcvx.load_solution"):
        load_machines(tmp_path / "answer.json")
