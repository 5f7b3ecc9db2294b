"""Files with names of their own: variables are guessed where one reading fits, or named; classes, orders of axes."""

import re
import warnings

import numpy as np
import pytest

from matlab_files import Version5, Version73, cells
from mklcvx.io.files import load_instance, load_test
from mklcvx.io.readings import NUMBERS, Variable, chosen_for_instance
from refusals import check_refused

N, M, T = 12, 3, 4
CODES = np.repeat([1, 2, 3], 4)
COLUMN, SIGNS = CODES[:, None], np.where(CODES == 1, 1, -1)
X = np.random.default_rng(5).normal(size=(N, 3)) + CODES[:, None]
K = np.stack([np.exp(-((X[:, [j]] - X[:, j]) ** 2)) for j in range(M)])
LAST = np.moveaxis(K, 0, 2)
EYE = np.eye(3)[CODES - 1]


class Numpy:
    """The same variables in a `.npz` file."""

    @staticmethod
    def write(path, variables):
        np.savez(path, **variables)


def read(path, said, **options):
    """The instance, and what must be said of it."""
    with pytest.warns(UserWarning, match=re.escape(said)) as caught:
        instance = load_instance(path, **options)
    assert all("\n" not in str(warning.message) for warning in caught)
    return instance


def check_kernels(instance):
    np.testing.assert_array_equal(instance.kernels, K)


# ------------------------------------------------------------------------------------------------ 5: guessed names
@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"KH": LAST, "Y": COLUMN}, "read KH (12×12×3) as kernels, Y as 3 classes (1, 2, 3)"),
        ({"Kmatrix": LAST, "gnd": COLUMN, "fea": X}, "read Kmatrix (12×12×3) as kernels, gnd as 3 classes"),
        ({"K": LAST, "labels": COLUMN, "note": "of 2009"}, "read K (12×12×3) as kernels, labels as 3 classes"),
        ({"kernels": LAST, "truth": COLUMN}, "read truth as 3 classes (1, 2, 3)"),
        ({"kernels": cells(*K), "y": COLUMN}, "read y as 3 classes (1, 2, 3)"),
        ({"K": cells(*K), "label": COLUMN.T, "X": cells(X, X)}, "read K (1×3 cells) as kernels, label as 3 classes"),
        ({"KH": LAST, "Kbest": K[0], "Y": COLUMN}, "read KH (12×12×3) as kernels"),
        ({"K": LAST, "other": LAST, "Y": COLUMN}, "read K (12×12×3) as kernels"),
        ({"K1": K[0], "K2": K[1], "K3": K[2], "Y": COLUMN}, "read K1 to K3 (12×12) as kernels"),
        ({"KH": LAST, "fold": COLUMN, "gnd": COLUMN}, "gnd as 3 classes"),
        ({"KH": LAST, "whatever": COLUMN}, "whatever as 3 classes"),
        ({"kernels": K, "Y": COLUMN}, "read kernels with their index first, Y as 3 classes"),
        ({"KH": LAST, "Y": COLUMN - 1}, "Y as 3 classes (0, 1, 2)"),
        ({"KH": LAST, "Y": cells(*(f"kind {code}" for code in CODES))}, "Y as 3 classes (kind 1, kind 2, kind 3)"),
    ],
    ids=lambda value: "+".join(value) if isinstance(value, dict) else "",
)
def test_the_only_reading_that_fits_is_taken_and_said(saved, variables, said):
    instance = read(saved(**variables), said)
    check_kernels(instance)
    assert instance.targets.kind == "classes"
    assert len(instance.targets.names) == 3


@pytest.mark.parametrize(
    ("targets", "said", "kind"),
    [
        (SIGNS[:, None], "Y (12×1) as targets", "y"),
        (np.linspace(0.5, 2, N)[:, None], "Y as a response", "response"),
        (np.array([[1, 1, 0]] * 6 + [[0, 1, 0]] * 6), "Y as label sets", "labels"),
        (EYE, "Y as classes 1 to 3, by its columns", "classes"),
    ],
    ids=["signs", "real", "sets", "columns"],
)
def test_the_contents_say_what_kind_of_targets_they_are(saved, targets, said, kind):
    instance = read(saved(KH=LAST, Y=targets), said)
    assert instance.targets.kind == kind


def test_a_file_with_our_names_is_read_without_a_word(saved):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert load_instance(saved(kernels=LAST, classes=COLUMN, gnd2=COLUMN, stranger=X)).targets.kind == "classes"
        assert load_instance(saved(kernels=LAST, stranger=COLUMN)).targets.kind == "none"


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"A": LAST, "B": LAST, "Y": COLUMN}, ("any of A (12×12×3), B (12×12×3)", "variables={'kernels': 'A'}")),
        ({"KH": LAST, "one": COLUMN, "two": COLUMN}, ("any of one (12×1), two (12×1) could be", "{'y': 'one'}")),
        ({"KH": LAST, "Y": 3 * COLUMN}, ("Y has whole numbers that could be classes or a response", "'response': 'Y'")),
        ({"X": X, "gnd": COLUMN}, ("found X 12×3, gnd 12×1", "make kernels of the features")),
        ({"data": {"K": K}}, ("found data 1×1, no numbers", "{'kernels': 'NAME'}")),
        ({"X": cells(X, X[:, :2]), "Y": COLUMN}, ("no array 'kernels'", "n×n×M or M×n×n")),
    ],
    ids=lambda value: "+".join(value) if isinstance(value, dict) else "",
)
def test_where_several_readings_fit_the_refusal_says_how_to_name_them(tmp_path, variables, words):
    Version5.write(tmp_path / "file.mat", variables)
    with check_refused("file.mat: ", *words):
        load_instance(tmp_path / "file.mat")


# ---------------------------------------------------------------------------------------- 5: names that are asked for
@pytest.mark.parametrize("kind", [Version5, Version73, Numpy])
def test_variables_can_be_named(tmp_path, kind):
    path = tmp_path / ("file.npz" if kind is Numpy else "file.mat")
    kind.write(path, {"A": -LAST, "B": K if kind is Numpy else LAST, "t": COLUMN.astype(float), "u": COLUMN})
    names = {"kernels": "B", "classes": "t"}
    instance = load_instance(path, variables=names)
    check_kernels(instance)
    assert instance.targets.classes() == ("1", "2", "3")


def test_several_variables_can_be_one_stack(saved):
    path = saved(colour=K[0], shape=K[1], y=SIGNS[:, None])
    np.testing.assert_array_equal(load_instance(path, variables={"kernels": "shape,colour"}).kernels, K[[1, 0]])


def test_a_kind_that_is_asked_for_replaces_the_others_and_is_not_guessed_again(saved):
    path = saved(kernels=LAST, y=SIGNS[:, None], gnd=COLUMN)
    assert load_instance(path, variables={"response": "gnd"}).targets.kind == "response"
    assert load_instance(path, variables={"classes": "y"}).targets.classes() == ("-1", "1")


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"kernels": "KX"}, ("no variable 'KX' for kernels", "found gnd 12×1, kernels 12×12×3")),
        ({"kernel": "kernels"}, ("'kernel' is no field", "did you mean 'kernels'?")),
        ({"y": "gnd", "classes": "gnd"}, ("y and classes are both targets",)),
    ],
    ids=str,
)
def test_names_that_do_not_exist_are_refused(tmp_path, variables, words):
    Version5.write(tmp_path / "file.mat", {"kernels": LAST, "gnd": COLUMN})
    with check_refused(*words):
        load_instance(tmp_path / "file.mat", variables=variables)


def test_files_of_a_folder_are_renamed_instead(tmp_path):
    (tmp_path / "folder").mkdir()
    np.savetxt(tmp_path / "folder" / "K1.csv", K[0], delimiter=",")
    with check_refused("is a folder, whose files have the names of fields"):
        load_instance(tmp_path / "folder", variables={"y": "gnd"})


# ---------------------------------------------------------------------------------------------- 5: tiny asymmetry
# ------------------------------------------------------------------------------------------------ 7: orders of axes
def test_test_kernels_follow_the_order_of_the_kernels(saved):
    test = K[:, :T]
    instance = read(saved(kernels=K, y=SIGNS[:, None], test_kernels=test), "kernels with their index first")
    np.testing.assert_array_equal(instance.test_kernels, test)


def test_the_kernel_index_may_come_last_in_npz(tmp_path):
    np.savez(tmp_path / "file.npz", kernels=LAST, y=SIGNS, test_kernels=np.moveaxis(K[:, :T], 0, 2))
    with pytest.warns(UserWarning, match="kernel index last"):
        instance = load_instance(tmp_path / "file.npz")
    check_kernels(instance)
    np.testing.assert_array_equal(instance.test_kernels, K[:, :T])


# ---------------------------------------------------------------------------------------------------- test files
def test_test_files_are_read_with_their_own_names(saved):
    path = saved(Ktest=LAST[:T], gnd=COLUMN[:T])
    with pytest.warns(UserWarning, match=re.escape("read Ktest (4×12×3) as test_kernels")):
        np.testing.assert_array_equal(load_test(path)["test_kernels"], K[:, :T])
    content = load_test(path, variables={"test_kernels": "Ktest", "test_classes": "gnd"})
    np.testing.assert_array_equal(content["test_classes"], CODES[:T])


def test_of_two_stacks_the_one_that_is_named_for_the_test_is_taken():
    listing = {"Ktest": Variable((N, N, M), NUMBERS), "KH": Variable((N, N, M)), "y": Variable((N, 1))}
    chosen, said = chosen_for_instance(listing, {}, "file")
    assert chosen == {"y": ("y",), "kernels": ("KH",)}
    assert said == ["KH (12×12×3) as kernels"]


def test_what_was_guessed_is_said_when_it_cannot_be_used(saved):
    with check_refused("kernel 'K1' (index 0) is not positive semidefinite", "(read KH (12×12×3) as kernels,"):
        load_instance(saved(KH=-LAST, Y=COLUMN))


def test_names_are_guessed_in_npz_and_json_too(tmp_path):
    np.savez(tmp_path / "file.npz", KH=K, Y=CODES)
    check_kernels(read(tmp_path / "file.npz", "read KH (3×12×12) as kernels, Y as 3 classes"))


def test_a_single_matrix_is_one_kernel(tmp_path):
    np.savez(tmp_path / "file.npz", K=K[0], y=SIGNS)
    assert read(tmp_path / "file.npz", "read K (12×12) as kernels").count == 1
