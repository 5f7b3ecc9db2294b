"""The command line's `predict` for labels −1 and +1: tables, files, preprocessing, refusals."""

import json

import numpy as np
import pytest
import scipy.io

import mklcvx
from mklcvx import Instance
from mklcvx.io.files import load_solution, save_instance, save_solution
from mklcvx.problem.preprocessing import Preprocessing
from refusals import strict
from stacks import FOR_COMMANDS

pytestmark = pytest.mark.slow

N, M, T = 8, 3, 5
Y, K = FOR_COMMANDS.y, FOR_COMMANDS.kernels
TEST_Y, TEST, DIAGONALS = FOR_COMMANDS.test_y, FOR_COMMANDS.test_kernels, FOR_COMMANDS.test_diagonals


@pytest.fixture
def answer(run, problem, tmp_path):
    run("solve", problem, "-f", "l1", "-o", tmp_path / "answer.json", "-q")
    return tmp_path / "answer.json"


def test_predictions_are_those_of_python(succeeds, problem, answer):
    out, err = succeeds("predict", answer, problem)
    values = load_solution(answer).decision_function(TEST)
    rows = [line.split(",") for line in out.splitlines()]
    assert rows[0] == ["decision", "label"]
    assert [float(value) for value, _ in rows[1:]] == values.tolist()
    assert [int(label) for _, label in rows[1:]] == np.where(values >= 0, 1, -1).tolist()
    assert err == f"accuracy {np.mean(np.where(values >= 0, 1, -1) == TEST_Y):.4f} on {T} samples\n"


def test_without_test_labels_no_accuracy_is_said(quiet, answer, tmp_path):
    np.savez(tmp_path / "test.npz", test_kernels=TEST)
    out = quiet("predict", answer, tmp_path / "test.npz")
    assert out.count("\n") == T + 1


def test_where_rounding_moves_decision_values_it_is_said(succeeds, answer, tmp_path):
    """Entries of 1e12 whose sum with α∘y cancels, and nothing of the scale that is left is known to six digits."""
    solution = load_solution(answer)
    used = np.flatnonzero(solution.alpha)[:2]
    rows = np.zeros((M, 1, N))
    rows[:, 0, used] = 1e12 * (solution.alpha * solution.y)[used[::-1]] * (1, -1)
    np.savez(tmp_path / "far.npz", test_kernels=rows)
    _, err = succeeds("predict", answer, tmp_path / "far.npz")
    assert "rounding may move these decision values by" in err


@pytest.mark.parametrize(
    ("name", "named"), [("y", ()), ("Y", ()), ("label", ()), ("z", ("--var", "y=z")), ("z", ("--var", "test_y=z"))]
)
def test_the_truth_is_found_by_its_name_or_named(run, answer, tmp_path, name, named):
    np.savez(tmp_path / "test.npz", test_kernels=TEST, **{name: TEST_Y})
    code, out, err = run("predict", answer, tmp_path / "test.npz", *named)
    labels = np.array([int(line.split(",")[1]) for line in out.splitlines()[1:]])
    guessed = "" if named else f"mklcvx: test {tmp_path / 'test.npz'}: read {name} ({T}) as their targets\n"
    assert (code, err) == (0, f"{guessed}accuracy {np.mean(labels == TEST_Y):.4f} on {T} samples\n")


def test_targets_of_other_samples_are_not_taken_for_the_truth(run, problem, answer, tmp_path):
    np.savez(tmp_path / "test.npz", test_kernels=TEST, y=Y)  # of the training samples
    assert run("predict", answer, tmp_path / "test.npz")[::2] == (0, "")
    np.savez(tmp_path / "both.npz", kernels=K, y=Y, test_kernels=K)
    assert run("predict", answer, tmp_path / "both.npz")[::2] == (0, "")


def test_a_response_is_found_as_the_truth(run, succeeds, tmp_path):
    save_instance(tmp_path / "problem.npz", Instance(K, response=K[0, 0]))
    run("solve", tmp_path / "problem.npz", "-o", tmp_path / "answer.json", "-q")
    scipy.io.savemat(tmp_path / "test.mat", {"KH": np.moveaxis(TEST, 0, 2), "Y": TEST[0, :, :1]})
    _, err = succeeds("predict", tmp_path / "answer.json", tmp_path / "test.mat")
    assert "read KH (5×8×3) as test_kernels, Y (5×1) as their targets\n" in err
    assert err.endswith(f" on {T} samples\n")


def test_predictions_are_written_as_csv_json_or_npz(run, problem, answer, tmp_path):
    values = load_solution(answer).decision_function(TEST)
    for ending in ("csv", "json", "npz"):
        code, out, err = run("predict", answer, problem, "-o", tmp_path / f"labels.{ending}")
        assert (code, out) == (0, "")
        assert err.startswith("accuracy ")
    table = np.loadtxt(tmp_path / "labels.csv", delimiter=",", skiprows=1)
    content = strict((tmp_path / "labels.json").read_text(encoding="utf-8"))
    assert content["schema"] == "mklcvx.prediction/1"
    with np.load(tmp_path / "labels.npz") as arrays:
        for decision, label in ((table[:, 0], table[:, 1]), content_of(content), (arrays["decision"], arrays["label"])):
            np.testing.assert_array_equal(decision, values)
            np.testing.assert_array_equal(label, np.where(values >= 0, 1, -1))


def content_of(content):
    return np.array(content["decision"]), np.array(content["label"])


@pytest.mark.parametrize(
    ("options", "steps"),
    [
        (("--centre",), {"centre": True}),
        (("--normalise", "trace"), {"normalise": "trace"}),
        (("--normalise", "cosine"), {"normalise": "cosine"}),
        (("--centre", "--normalise", "variance"), {"centre": True, "normalise": "variance"}),
    ],
)
def test_preprocessing_travels_with_the_solution_to_raw_test_kernels(run, succeeds, problem, tmp_path, options, steps):
    for ending in ("json", "npz"):
        answer = tmp_path / f"answer.{ending}"
        assert run("solve", problem, *options, "-q", "-o", answer)[0] == 0
        out, _ = succeeds("predict", answer, problem)
        chain = Preprocessing.from_options(**steps).fit(K)
        by_hand = mklcvx.solve(Instance(chain.train(K), Y), "l1").decision_function(chain.test(TEST, DIAGONALS))
        np.testing.assert_allclose([float(line.split(",")[0]) for line in out.splitlines()[1:]], by_hand, rtol=1e-9)


SETS, TEST_SETS = np.eye(3, dtype=int)[np.arange(N) % 3], np.eye(3, dtype=int)[np.arange(T) % 3]
SOLVED = {
    "y": ("l1", {"y": Y}),
    "labels": ("ml_sum", {"labels": SETS}),
    "embedding": ("hypergraph", {"labels": SETS}),
    "classes": ("ml_sum", {"classes": np.array(["cat", "dog"])[np.arange(N) % 2]}),
    "response": ("l1", {"response": np.arange(N) / 2}),
}


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """Solutions for every kind of targets."""
    place = tmp_path_factory.mktemp("answers")
    for kind, (name, targets) in SOLVED.items():
        save_solution(place / f"{kind}.json", mklcvx.solve(Instance(K, **targets), name))
    return place


@pytest.mark.parametrize(
    ("kind", "arrays", "words"),
    [
        ("y", {"kernels": K, "test_kernels": None}, ("no array 'test_kernels' (found kernels 3×8×8)",)),
        ("y", {"test_kernels": TEST[:2]}, ("test_kernels have shape (2, 5, 8)", "give (3, t, 8)")),
        ("y", {"test_kernels": TEST * np.nan}, ("the entry nan at [0, 0, 0]",)),
        ("y", {"test_y": [1, -1]}, ("test_y has 2 labels for 5 rows of test_kernels",)),
        ("y", {"test_y": [0, 1, 0, 1, 1]}, ("test_y has labels 0, 1", "store −1 and +1")),
        ("y", {"test_response": np.ones(T)}, ("where the training samples have y: give test_y",)),
        ("labels", {"test_y": TEST_Y}, ("test_y is given where the training samples have labels", "give test_labels")),
        ("labels", {"test_labels": TEST_SETS[:, :2]}, ("test_labels has 2 columns for 3 labels", "give one per label")),
        ("embedding", {"test_labels": TEST_SETS[:2]}, ("test_labels has 2 rows for 5 rows of test_kernels",)),
        ("embedding", {"test_labels": TEST_SETS[:, 0]}, ("test_labels has shape (5,)",)),
        ("labels", {"test_labels": 2 * TEST_SETS}, ("test_labels has entries other than 0 and 1",)),
        ("classes", {"test_classes": np.arange(T)}, ("test_classes has 0, 1, 2, 3, … (5 values)",)),
        ("response", {"test_y": [1] * T}, ("where the training samples have response: give test_response",)),
        ("response", {"test_response": [1.0]}, ("test_response has 1 rows for 5 rows of test_kernels",)),
        ("response", {"test_response": np.full(T, np.nan)}, ("test_response has the entry nan at [0]",)),
        ("response", {"test_response": np.ones((T, 2))}, ("test_response has 2 columns for 1 outputs",)),
    ],
)
def test_unusable_test_files_are_refused_before_anything_is_printed(refusal, answers, tmp_path, kind, arrays, words):
    kept = {name: array for name, array in {"test_kernels": TEST, **arrays}.items() if array is not None}
    np.savez(tmp_path / "test.npz", **kept)
    message = refusal("predict", answers / f"{kind}.json", tmp_path / "test.npz", "-o", tmp_path / "labels.csv")
    assert message.startswith("mklcvx: test ")
    assert message.count("test.npz: ") == 1
    for word in words:
        assert word in message
    assert not (tmp_path / "labels.csv").exists()


def test_decision_values_beyond_double_precision_are_refused(refusal, answer, tmp_path):
    record = json.loads(answer.read_text(encoding="utf-8"))
    record["coefficients"] = np.full((M, N), 1e10).tolist()
    answer.write_text(json.dumps(record), encoding="utf-8")
    np.savez(tmp_path / "test.npz", test_kernels=TEST * 1e305)
    assert "test_kernels are too large for double precision" in refusal("predict", answer, tmp_path / "test.npz")


def test_prediction_of_an_uncertified_solution_says_so(run, succeeds, problem, tmp_path):
    run("solve", problem, "--max-iter", "1", "-q", "-o", tmp_path / "answer.json")
    _, err = succeeds("predict", tmp_path / "answer.json", problem)
    assert "the solution is not certified: relative gap" in err
