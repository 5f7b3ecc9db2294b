"""What NumPy, Python and JSON read without a word as something else is refused, in lists and dicts as well."""

import json

import numpy as np
import pytest

import mklcvx
from mklcvx import InputError, Instance, LowRank, MKLClassifier, MKLRegressor, kernels, solve, verify, zoo
from mklcvx.io.files import load_instance, load_solution, save_instance, save_solution
from mklcvx.problem.numbers import are_doubles
from refusals import check_refused
from shared.journals import records
from stacks import FOR_INSTANCES

K, Y, N = FOR_INSTANCES.kernels, FOR_INSTANCES.y, 8
X = np.arange(16.0).reshape(N, 2)
INSTANCE = Instance(K, Y)


# ------------------------------------------------------------------------------------------------------------- masks
def masked(values):
    """The array with its first entry masked."""
    values = np.asarray(values)
    return np.ma.masked_array(values, mask=np.arange(values.size).reshape(values.shape) == 0)


CONTAINERS = {
    "alone": lambda array: array,
    "in a list": list,
    "in a tuple": tuple,
    "in lists": lambda array: [list(row) if row.ndim else row for row in array],
    "objects": lambda array: _objects(list(array)),
}


def _objects(parts):
    array = np.empty(len(parts), dtype=object)
    array[:] = parts
    return array


TAKERS = {
    "kernels": lambda given: Instance(given(K), Y),
    "y": lambda given: Instance(K, given(Y)),
    "classes": lambda given: Instance(K, classes=given(np.arange(N))),
    "labels": lambda given: Instance(K, labels=given(np.eye(N)[:, :2])),
    "response": lambda given: Instance(K, response=given(np.arange(1.0, N + 1))),
    "sample_weight": lambda given: Instance(K, Y, sample_weight=given(np.ones(N))),
    "groups": lambda given: Instance(K, Y, groups=given(np.zeros(3))),
    "test_kernels": lambda given: Instance(K, Y, test_kernels=given(K)),
    "test_y": lambda given: Instance(K, Y, test_kernels=K, test_y=given(Y)),
    "instance": lambda given: solve(given(K), Y, "l1"),
    "weights": lambda given: verify(INSTANCE, "l1", weights=given(np.ones(3))),
    "trace": lambda given: verify(INSTANCE, "l1", trace=[{"weights": np.ones(3), "alpha": given(np.ones(N))}]),
    "factors": lambda given: LowRank(given(K)),
    "views": lambda given: mklcvx.Views(given(np.stack([X, X]))),
    "X": lambda given: MKLClassifier("average", "linear").fit(given(X), Y),
    "y of fit": lambda given: MKLRegressor("average", "linear").fit(X, given(Y)),
    "sample_weight of fit": lambda given: MKLRegressor("average", "linear").fit(X, Y, given(np.ones(N))),
    "X of predict": lambda given: MKLClassifier("average", "linear").fit(X, Y).predict(given(X)),
    "X of a bank": lambda given: kernels.KernelBank([kernels.Linear()]).fit(given(X)),
    "fill_missing": lambda given: mklcvx.fill_missing(given(K)),
}


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("taker", TAKERS)
def test_masks_are_not_forgotten(taker, container):
    with check_refused("entries are masked, and NumPy forgets masks: fill them"):
        TAKERS[taker](lambda values: CONTAINERS[container](masked(values)))


# ------------------------------------------------------------------------------------------------------------- words
@pytest.mark.parametrize("other", [float("nan"), None, 1, 2.5, True, np.nan])
@pytest.mark.parametrize("form", [list, tuple], ids=["list", "tuple"])
def test_what_is_no_word_is_no_class_of_its_own(other, form):
    with check_refused("classes has missing or mixed entries"):
        Instance(K, classes=form(["a", other, "b", "a", "a", "b", "a", "b"]))
    with pytest.raises(InputError):
        MKLClassifier("average", "linear").fit(X, form(["a", other, "b", "a", "a", "b", "a", "b"]))


def test_words_of_any_kind_are_classes():
    for words in (["a", "b"] * 4, [np.str_("a"), "b"] * 4, [b"a", b"b"] * 4, np.array(["a", "b"] * 4)):
        assert Instance(K, classes=words).targets.names == ("a", "b")


@pytest.mark.parametrize(
    "names", [{"a": 1, "b": 2, "c": 3}, {"a", "b", "c"}, frozenset("abc")], ids=["dict", "set", "frozen"]
)
def test_names_have_an_order_and_are_no_keys(names):
    with check_refused("names are not a list of strings"):
        Instance(K, Y, names=names)


@pytest.mark.parametrize("groups", [{0: 0, 1: 0, 2: 1}, {0, 1, 2}, {}], ids=["dict", "set", "empty"])
def test_groups_are_not_the_keys_of_a_dict(groups):
    with check_refused(f"groups are a {type(groups).__name__}", "give one integer for each of the 3 kernels"):
        Instance(K, Y, groups=groups)
    with check_refused(f"groups are a {type(groups).__name__}"):
        MKLClassifier("vskl", ["linear", "gaussian", "laplacian"], groups=groups).fit(X, Y)


# ----------------------------------------------------------------------------------------------------------- numbers
@pytest.mark.parametrize(
    ("number", "fits"),
    [(2**53, True), (2**53 + 1, False), (2**53 + 2, True), (-(2**53) - 1, False), (2**62 + 1, False), (2**62, True)],
)
def test_whole_numbers_that_doubles_round_are_refused(number, fits):
    response = np.array([number, *range(1, N)], dtype=np.int64)
    assert are_doubles(response, response.astype(float)) is fits
    kernel = np.eye(N, dtype=np.int64) * abs(number)
    for given, words in (({"kernels": [kernel]}, "kernel 'K1'"), ({"kernels": K, "response": response}, "response")):
        targets = {} if "response" in given else {"y": Y}
        if fits:
            Instance(**given, **targets)
        else:
            with check_refused(f"{words}", "has int64 numbers that are no doubles"):
                Instance(**given, **targets)


def test_long_doubles_of_a_response_are_not_rounded():
    fine = np.arange(1, N + 1).astype(np.longdouble)
    assert Instance(K, response=fine).response.dtype == np.float64
    with check_refused("response has float128 numbers that are no doubles"):
        Instance(K, response=fine / 3)


# -------------------------------------------------------------------------------------------------------------- JSON
def doubled(text, name, value):
    """The JSON text with a name for the second time, at the end of the outermost object."""
    return f"{text.rstrip().removesuffix('}')}, {json.dumps(name)}: {json.dumps(value)}}}"


def test_names_that_occur_twice_in_json_are_refused(tmp_path):
    instance, solution = tmp_path / "instance.json", tmp_path / "solution.json"
    save_instance(instance, zoo.by_hand())
    save_solution(solution, solve(zoo.by_hand(), "l1"))
    for path, name, read in ((instance, "y", load_instance), (solution, "objective", load_solution)):
        path.write_text(doubled(path.read_text(encoding="utf-8"), name, 0), encoding="utf-8")
        with check_refused(f"{name!r} occurs twice in an object"):
            read(path)


@pytest.mark.parametrize("text", ['{"a": 1, "a": 1}', '{"b": {"a": 1, "a": 2}}', '{"b": [{"a": 1, "a": 2}]}'])
def test_names_that_occur_twice_anywhere_are_seen(tmp_path, text):
    (tmp_path / "answer.json").write_text(text, encoding="utf-8")
    with check_refused("'a' occurs twice in an object"):
        mklcvx.verification.answers.read_answer(tmp_path / "answer.json")
    (tmp_path / "journal").write_text(f'{text}\n{{"c": 1}}\n', encoding="utf-8")
    assert list(records(tmp_path / "journal")) == [{"c": 1}]
