"""Solutions' files: what is written comes back with the same predictions; output is whole or not there."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from mklcvx import Certificate, Instance, formulations, solve
from mklcvx.io.files import load_solution, save_instance, save_solution
from mklcvx.io.writing import check_output
from mklcvx.problem.preprocessing import Preprocessing
from mklcvx.solvers.solving import preprocessed
from refusals import check_refused
from stacks import FOR_FILES

N = 8
Y, K = FOR_FILES.y, FOR_FILES.kernels
CLASSES = np.repeat(["cat", "dog", "owl", "dog"], 2)
TEST, DIAGONALS = FOR_FILES.test_kernels, FOR_FILES.test_diagonals
REAL = {"target": "response", "label_names": ("response",), "y": np.ones(N)}
FAMILIES = [f.name for f in formulations.FORMULATIONS if f not in formulations.SINGLE_TASKS]


# ------------------------------------------------------------------------------------------------- round trips
def linear_on_single_features():
    """Kernels of rank one, of which `li` leaves several without a weight."""
    rng = np.random.default_rng(0)
    features = rng.normal(size=(4, 6))
    y = np.array([1, 1, 1, -1, -1, -1])
    features[:3] = y * np.array([[1.0], [2.0], [3.0]])
    return Instance(features[:, :, None] * features[:, None, :], y), rng.normal(size=(4, 5, 6))


def with_undefined_weights():
    instance, test = linear_on_single_features()
    found = solve(instance, "li", solver="clarabel", C=10.0)
    assert np.isnan(found.weights).any()
    assert found.coefficients is not None
    return found, test, None


def with_nu():
    return solve(Instance(K, Y), "l2", solver="clarabel", nu=0.5), TEST, None


def with_preprocessing():
    steps = Preprocessing.from_options(centre=True, normalise="cosine")
    return solve(preprocessed(Instance(K, Y), steps), "l1", solver="clarabel", preprocessing=steps), TEST, DIAGONALS


def not_certified():
    return solve(Instance(K, Y), "sm2", solver="clarabel", max_iter=1), TEST, None


def nothing_proved():
    """Numbers beyond all doubles leave no upper bound."""
    found = not_certified()[0]
    bounds = Certificate(found.certificate.lower, math.inf, 0.0)
    return replace(found, objective=math.inf, certificate=bounds), TEST, None


@pytest.mark.parametrize("make", [with_undefined_weights, with_nu, with_preprocessing, not_certified, nothing_proved])
def test_a_solution_comes_back_with_the_same_predictions(tmp_path, make):
    found, test, diagonals = make()
    for ending in (".json", ".npz"):
        save_solution(tmp_path / f"answer{ending}", found)
        loaded = load_solution(tmp_path / f"answer{ending}")
        expected = found.decision_function(test, diagonals)
        np.testing.assert_array_equal(loaded.decision_function(test, diagonals), expected)
        np.testing.assert_array_equal(loaded.predict(test, diagonals), found.predict(test, diagonals))
        assert json.dumps(loaded.as_dict()) == json.dumps(found.as_dict())


@pytest.mark.parametrize("change", [{"status": "certified"}, {"objective": -math.inf}, {"objective": math.nan}])
def test_no_bound_is_missing_where_it_should_be_there(tmp_path, change):
    unproved = nothing_proved()[0]
    unlike = change if "status" in change else {"certificate": not_certified()[0].certificate, **change}
    save_solution(tmp_path / "answer.json", replace(unproved, **unlike))
    with check_refused("answer.json: ", "it has bounds that are not finite", "write it again"):
        load_solution(tmp_path / "answer.json")


@pytest.mark.parametrize("ending", [".json", ".npz"])
@pytest.mark.parametrize("name", FAMILIES)
def test_a_solution_of_every_family_comes_back_with_the_same_predictions(tmp_path, families, name, ending):
    found = families(name)
    save_solution(tmp_path / f"answer{ending}", found)
    loaded = load_solution(tmp_path / f"answer{ending}")
    assert found.certified
    assert loaded.label_names == ("rot", "grün", "two words")
    assert loaded.embeds == found.embeds == name.startswith("hypergraph")
    assert loaded.predict(TEST).shape == (5, 3)
    np.testing.assert_array_equal(loaded.decision_function(TEST), found.decision_function(TEST))
    np.testing.assert_array_equal(loaded.predict(TEST), found.predict(TEST))
    assert loaded.as_dict() == found.as_dict()
    for key, value in found.multipliers.items():
        np.testing.assert_array_equal(loaded.multipliers[key], value)


@pytest.mark.parametrize("name", ["ml_sum", "ts"])
@pytest.mark.parametrize("dtype", [bool, np.int64, np.uint8, np.int16, float, np.float32, np.float16, np.longdouble])
def test_predictions_are_classes_of_their_own_type(tmp_path, name, dtype):
    values = {"b": [False, True], "f": [-0.1, 2.0]}.get(np.dtype(dtype).kind, [3, 117])
    classes = np.array(values, dtype=dtype)[np.arange(N) % 2]
    found = solve(Instance(K, classes=classes), name, solver="clarabel")
    assert found.predict(TEST).dtype == classes.dtype
    assert set(found.predict(K)) == set(classes)
    for ending in (".json", ".npz"):
        save_solution(tmp_path / f"answer{ending}", found)
        loaded = load_solution(tmp_path / f"answer{ending}").predict(TEST)
        np.testing.assert_array_equal(loaded, found.predict(TEST))
        assert loaded.dtype == classes.dtype


def test_a_solution_that_does_not_say_the_type_of_its_classes_predicts_words(tmp_path):
    found = solve(Instance(K, classes=np.arange(N) % 2), "ml_sum", solver="clarabel")
    record = found.as_dict()
    assert record["classes_kind"] == "int64"
    record["classes_kind"] = None
    (tmp_path / "answer.json").write_text(json.dumps(record), encoding="utf-8")
    words = load_solution(tmp_path / "answer.json").predict(TEST)
    assert words.tolist() == [str(one) for one in found.predict(TEST)]


@pytest.mark.parametrize(("kind", "words"), [("object", ["0", "1"]), ("int64", ["0", "one"]), ("uint8", ["0", "256"])])
def test_classes_that_are_not_of_their_type_are_refused(tmp_path, kind, words):
    record = solve(Instance(K, classes=np.arange(N) % 2), "ml_sum", solver="clarabel").as_dict()
    record.update(classes_kind=kind, classes=words, label_names=words)
    (tmp_path / "answer.json").write_text(json.dumps(record), encoding="utf-8")
    with check_refused("answer.json: incomplete or damaged"):
        load_solution(tmp_path / "answer.json")


def test_large_arrays_are_null_in_json_and_kept_in_npz(tmp_path, families):
    beta = np.linspace(0, 1, 20_001)
    found = replace(families("ts"), multipliers={"beta": beta, "short": beta[:20_000], "second_stage_gap": 0.5})
    save_solution(tmp_path / "answer.json", found)
    save_solution(tmp_path / "answer.npz", found)
    multipliers = json.loads((tmp_path / "answer.json").read_text(encoding="utf-8"))["multipliers"]
    assert multipliers["beta"] is None
    assert multipliers["short"] == beta[:20_000].tolist()
    light, whole = load_solution(tmp_path / "answer.json"), load_solution(tmp_path / "answer.npz")
    assert light.multipliers["beta"] is None
    np.testing.assert_array_equal(whole.multipliers["beta"], beta)
    assert whole.multipliers["second_stage_gap"] == 0.5
    np.testing.assert_array_equal(light.decision_function(TEST), found.decision_function(TEST))


def test_embedding_too_large_for_json_is_refused_with_the_remedy(tmp_path, families):
    found = families("hypergraph")
    found = replace(found, multipliers={**found.multipliers, "B": np.ones((N, 2501))})
    for ending in (".json", ".npz"):
        save_solution(tmp_path / f"answer{ending}", found)
    with check_refused("answer.json: ", "B is too large for JSON", "-o and a name that ends in .npz"):
        load_solution(tmp_path / "answer.json")
    embedded = load_solution(tmp_path / "answer.npz").decision_function(TEST)
    np.testing.assert_array_equal(embedded, found.decision_function(TEST))
    assert embedded.shape == (5, 2501)


def test_names_that_cannot_be_encoded_do_no_harm(tmp_path):
    names = ["lone \ud800 surrogate", "tab\tand\nline", "\x1b[31mred"]
    found = solve(Instance(K, Y, names=names), "l1", solver="clarabel")
    for ending in (".json", ".npz"):
        save_solution(tmp_path / f"answer{ending}", found)
        assert list(load_solution(tmp_path / f"answer{ending}").names) == names


# --------------------------------------------------------------------------------------------------------- output
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("answer.txt", ("unknown kind of file '.txt'", "end the name in .json or .npz")),
        ("answer", ("unknown kind of file ''",)),
        ("nowhere/answer.json", ("no folder", "nowhere", "create it first")),
        ("folder.json", ("is a folder", "give a file name")),
        ("a" * 300 + ".json", ("File name too long", "choose another name")),
    ],
)
def test_impossible_output_is_refused_before_the_work(tmp_path, name, words):
    (tmp_path / "folder.json").mkdir()
    with check_refused("output ", *words):
        check_output(tmp_path / name, (".json", ".npz"))


@pytest.mark.parametrize("save", [save_instance, save_solution])
@pytest.mark.parametrize("name", ["out.txt", "nowhere/out.npz"])
def test_saving_refuses_impossible_output(tmp_path, solution, save, name):
    content = Instance(K, Y) if save is save_instance else solution
    with check_refused("output "):
        save(tmp_path / name, content)
    assert list(tmp_path.iterdir()) == []


def test_number_that_json_has_no_word_for_is_never_written(tmp_path, solution, families):
    for broken in (replace(solution, bias=float("nan")), replace(families("ml_sum"), bias=np.array([0, 0, np.nan]))):
        with pytest.raises(ValueError, match="JSON compliant"):
            save_solution(tmp_path / "answer.json", broken)
        assert list(tmp_path.iterdir()) == []


# ------------------------------------------------------------------------------------- a response, or no targets
def of_regression(solution, **changes):
    """A solution as regression has it: signs +1, α of either sign."""
    return replace(solution, **{**REAL, "alpha": solution.alpha * solution.y, **changes})


@pytest.mark.parametrize("ending", [".json", ".npz"])
@pytest.mark.parametrize(("target", "names"), [("response", ("height",)), ("none", ())])
def test_a_solution_without_labels_comes_back(tmp_path, solution, ending, target, names):
    given = of_regression(solution, target=target, label_names=names)
    save_solution(tmp_path / f"answer{ending}", given)
    found = load_solution(tmp_path / f"answer{ending}")
    assert (found.target, found.label_names) == (target, names)
    np.testing.assert_array_equal(found.alpha, given.alpha)
    values = solution.decision_function(TEST)
    np.testing.assert_array_equal(found.decision_function(TEST), values)
    np.testing.assert_array_equal(found.predict(TEST), values if target == "response" else np.where(values < 0, -1, 1))


def test_a_solution_of_several_outputs_comes_back(tmp_path, solution):
    two = {"alpha": np.stack([solution.alpha] * 2), "y": np.ones((2, N)), "bias": np.array([0.0, 1.0]), "bias_low": 0.0}
    given = of_regression(solution, label_names=("a", "b"), bias_interval=None, alpha_low=None, **two)
    save_solution(tmp_path / "answer.json", given)
    found = load_solution(tmp_path / "answer.json")
    assert found.predict(TEST).shape == (len(TEST[0]), 2)
    np.testing.assert_array_equal(found.predict(TEST), given.decision_function(TEST))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"y": np.where(np.arange(N) == 2, -1.0, 1.0)}, "y has −1 where the targets are no labels"),
        ({"label_names": ("a", "b")}, "y and label_names do not fit together"),
        ({"label_names": ()}, "y and label_names do not fit together"),
        ({"target": "none"}, "y and label_names do not fit together"),
        ({"target": "responses"}, "target and classes do not fit together"),
    ],
    ids=range(5),
)
def test_a_damaged_solution_without_labels_is_refused(tmp_path, solution, changes, words):
    save_solution(tmp_path / "answer.json", of_regression(solution, **changes))
    with check_refused("incomplete or damaged", words):
        load_solution(tmp_path / "answer.json")


@pytest.mark.parametrize("name", ["ml_sum", "ts", "hypergraph"])
@pytest.mark.parametrize(
    ("given", "predicted"),
    [
        ({"y": Y}, {-1, 1}),
        ({"classes": CLASSES}, {"cat", "dog", "owl"}),
        ({"classes": np.arange(N) % 2, "label_names": ["even", "odd"]}, {"even", "odd"}),
    ],
    ids=["y", "classes", "named classes"],
)
def test_a_family_keeps_the_kind_of_its_labels(tmp_path, name, given, predicted):
    found = solve(Instance(K, **given), name, solver="clarabel")
    for ending in (".json", ".npz"):
        save_solution(tmp_path / f"answer{ending}", found)
        loaded = load_solution(tmp_path / f"answer{ending}")
        assert (loaded.target, loaded.label_names, loaded.classes) == (found.target, found.label_names, found.classes)
        np.testing.assert_array_equal(loaded.predict(TEST), found.predict(TEST))
        if name != "hypergraph":
            assert set(loaded.predict(TEST).tolist()) <= predicted


def test_coefficients_of_every_label_come_back(tmp_path, families):
    found = families("ml_minimax")
    spelled_out = replace(found, coefficients=found.all_coefficients, weights=np.full(3, np.nan))
    for ending in (".json", ".npz"):
        save_solution(tmp_path / f"answer{ending}", spelled_out)
        loaded = load_solution(tmp_path / f"answer{ending}")
        assert loaded.coefficients.shape == (3, 3, N)
        np.testing.assert_array_equal(loaded.decision_function(TEST), found.decision_function(TEST))
