"""Mistakes that a new user makes on the command line: one line that names input, fault and a remedy for that place."""

import json
import warnings

import numpy as np
import pytest
import scipy.io

from mklcvx import MKLClassifier, save_instance, solve
from mklcvx.cli import options
from mklcvx.io.files import load_instance, save_solution

N, M, T = 12, 3, 4
CODES = np.repeat([1, 2, 3], 4)
Y = np.where(CODES == 1, 1, -1)
X = np.random.default_rng(2).normal(size=(N, 12)) + CODES[:, None]
K = np.stack([np.exp(-0.2 * ((v[:, None] - v) ** 2).sum(axis=2)) for v in (X[:, :4], X[:, 4:8], X[:, 8:])])
LONG = np.array(["a very long name of the class number one", "a very long name of the class number two", "cat"])
HEADINGS = [f"measurement number {j} of the leaf" for j in range(12)]


def changed(*place, value=np.nan):
    stack = K.copy()
    stack[place] = value
    return stack


def contents():
    """The files of the mistakes, by name."""
    asymmetric = K.copy()
    asymmetric[0, 3, 4] += 1e-5
    gappy = changed(1, slice(2))
    gappy[1][:, :2] = np.nan
    names = {"names": ["colour of the leaves", "texture", "shape"]}
    return {
        "ok.npz": {"kernels": K, "y": Y, **names},
        "classes.npz": {"kernels": K, "classes": CODES},
        "long.npz": {"kernels": K, "y": LONG[CODES - 1]},
        "rare.npz": {"kernels": K, "classes": [1] * 5 + [2] * 6 + [3]},
        "real.npz": {"kernels": K, "response": X[:, 0]},
        "real-y.npz": {"kernels": K, "y": X[:, 0]},
        "features.npz": {"X": X, "y": Y},
        "indefinite.npz": {"kernels": K - 0.9 * np.eye(N), "y": Y},
        "asymmetric.npz": {"kernels": asymmetric, "y": Y},
        "gappy.npz": {"kernels": gappy, "y": Y},
        "nan.npz": {"kernels": changed(1, 2, 3), "y": Y},
        "flat.npz": {"kernels": K.reshape(M, -1), "y": Y},
        "cube.npz": {"kernels": np.random.default_rng(0).normal(size=(N, N, N)), "y": Y},
        "sets.npz": {"kernels": K, "labels": np.eye(3)[CODES - 1]},
        "groups.npz": {"kernels": K, "y": Y, "groups": [0, 1]},
        "flat-kernel.npz": {"kernels": np.ones((2, N, N)), "y": Y},
        "test.npz": {"test_kernels": K[:, :T], "test_y": Y[:T]},
        "turned.npz": {"test_kernels": np.swapaxes(K[:, :T], 1, 2)},
        "nan-test.npz": {"test_kernels": changed(1, 2)[:, :T]},
        "narrow.npz": {"X": X[:2, :5]},
        "strange.npz": {"X": X[:2], "y": ["a", "b"]},
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mistakes")
    for name, arrays in contents().items():
        np.savez(folder / name, **arrays)
    np.save(folder / "single.npy", K)
    (folder / "single.npy").rename(folder / "single.npz")
    (folder / "text.npz").write_text("hello", encoding="utf-8")
    (folder / "pipeline.joblib").write_text("hello", encoding="utf-8")
    (folder / "notes.txt").write_text("hello", encoding="utf-8")
    scipy.io.savemat(folder / "struct.mat", {"data": {"K": K}})
    scipy.io.savemat(folder / "two.mat", {"A": np.moveaxis(K, 0, 2), "B": np.moveaxis(K, 0, 2), "y": Y})
    (folder / "strange.json").write_text(json.dumps({"w": [1, 0, 0]}), encoding="utf-8")
    (folder / "short.json").write_text(json.dumps({"weights": [1, 0]}), encoding="utf-8")
    solution = solve(load_instance(folder / "ok.npz"), "average")
    save_solution(folder / "answer.json", solution)
    model = MKLClassifier("average", ["linear"]).fit(X, Y)
    model.feature_names_in_ = np.array(HEADINGS, dtype=object)
    model.save(folder / "model.npz")
    rows = [",".join([*HEADINGS[:-1], "other"]), ",".join(map(str, X[0]))]
    (folder / "headings.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    fewer = [",".join(HEADINGS[1:]), ",".join(map(str, X[0, 1:]))]
    (folder / "fewer.csv").write_text("\n".join(fewer) + "\n", encoding="utf-8")
    return folder


# 8: what is said
MISTAKES = {
    # files
    "solve": ("Missing argument", "see mklcvx solve --help"),
    "solve nowhere.npz": ("nowhere.npz: no such file: check the path",),
    "solve text.npz": ("text.npz: is not an .npz archive",),
    "solve notes.txt": ("unknown kind of file '.txt': give a .npz, .mat or .json file, or a folder of .csv files",),
    "solve single.npz": ("holds a single array, not an archive: write it with numpy.savez",),
    "solve features.npz": ("found X 12×12, y 12",),
    "solve struct.mat": ("found data 1×1, no numbers", "--var kernels=NAME"),
    "solve two.mat": ("any of A (12×12×3), B (12×12×3) could be them: say which by --var kernels=A",),
    "solve ok.npz --var kernels": ("--var 'kernels' is not FIELD=NAME: write for example --var kernels=KH",),
    "solve ok.npz --var kernels=KH": ("no variable 'KH' for kernels (found kernels 3×12×12,",),
    "solve ok.npz --var kernel=KH": ("--var: 'kernel' is no field: did you mean 'kernels'?",),
    "solve ok.npz --var y=a --var y=b": ("--var y is given twice: keep one",),
    # kernels and targets
    "solve model.npz": ("is a fitted model, not kernels: give a file of kernels; 'mklcvx predict' takes the model",),
    "kernels model.npz": ("is a fitted model, not kernels: give a file of kernels; 'mklcvx predict' takes the model",),
    "solve headings.csv": ("unknown kind of file '.csv': give a .npz", "a table of features is for mklcvx.MKLClass"),
    "verify ok.npz ok.npz": ("answer: has none of weights, alpha,", "(found kernels, y, names): give at least one of"),
    "verify ok.npz short.json -f average --convention sklearn_svc": ("give --set combination=average",),
    "solve flat.npz": ("kernels have shape (3, 144): give a three-dimensional stack (M, n, n)",),
    "solve cube.npz": ("--repair symmetrise", "store the stack in the other order of its axes"),
    "solve indefinite.npz": ("is not positive semidefinite", "give --repair clip or --repair shift"),
    "solve asymmetric.npz": ("[3, 4] and [4, 3] differ by 1e-05; for (K + K')/2 give --repair symmetrise",),
    "solve gappy.npz": ("of 2 of 12 samples, which lack this view", "in Python, mklcvx.fill_missing"),
    "solve nan.npz": ("kernel 'K2' (index 1) has the entry nan at [2, 3]: give finite numbers",),
    "solve real-y.npz": ("not −1 and +1: name real targets by --var response=y",),
    "solve sets.npz": ("one label for each sample makes classes: give --var classes=labels",),
    "solve groups.npz -f ckl": ("2 entries for 3 kernels; give one integer for each of the 3 kernels",),
    "solve ok.npz -f ckl": ("ckl needs groups of kernels, the instance has none: store groups in the file",),
    "solve ok.npz -f svm": ("svm takes one kernel, the instance has 3: name one by --kernels",),
    "solve flat-kernel.npz --centre": ("it is constant, and centring leaves nothing of it; leave out this kernel",),
    # names and parameters
    "solve ok.npz -f L1": ("unknown formulation 'L1': did you mean 'l1'?",),
    "solve ok.npz -f mkl": ("unknown formulation 'mkl': known: alignment, average,",),
    "solve ok.npz --C 10": ("No such option: --C", "--set C=VALUE"),
    "solve ok.npz -C 10": ("No such option: -C", "--set C=VALUE"),
    "solve ok.npz --set C=1 nu=0.5": ("(nu=0.5): parameters are given one by one, for example --set nu=0.5",),
    "solve ok.npz --set c=10": ("unknown parameter 'c' of l1: did you mean 'C'?",),
    "solve ok.npz --set C=1,5": ("parameter C = '1,5' is not a number",),
    "solve ok.npz --set nu=2": ("0 < ν ≤ 1", "the default is none: loss hinge"),
    "solve ok.npz --set loss=squared": ("loss squared needs a response, the instance has y: use loss hinge, nu",),
    "solve ok.npz --repair fix": ("--repair fix is unknown: give 'clip' or 'shift', 'symmetrise'",),
    "solve ok.npz --repair clip,shift": ("--repair clip,shift asks for two ways of the same",),
    "solve ok.npz --normalise unit": ("unknown normalisation 'unit': known: cosine, diagonal, trace, variance",),
    "solve ok.npz --kernels texture,size": ("unknown kernel 'size': give an index below 3 or one of colour of the",),
    "solve ok.npz --multi-class ovo": ("the instance has y, for which l1 needs one machine: leave it out",),
    "solve ok.npz -o notes.txt/a.json": ("notes.txt is no folder: give another",),
    "solve ok.npz -o out.mat": ("unknown kind of file '.mat': end the name in .json or .npz",),
    "slove ok.npz": ("No such command 'slove'", "'solve'"),
    # paths and cross-validation
    "kernels ok.npz --answers lone": ("unknown answer 'lone'", "did you mean 'alone'?"),
    "path ok.npz --grid C": ("--grid 'C' is not KEY=V1,V2,...: write for example --grid C=0.1,1,10",),
    "cv rare.npz --grid C=1": ("class 3 has one sample, and folds need two of each: leave that class out",),
    "cv ok.npz --grid C=1 --folds 50": ("there are 4 samples of the smallest class: give between 2 and 4",),
    "cv ok.npz --grid C=1 --score acc": ("unknown score 'acc': did you mean 'accuracy'?",),
    "cv classes.npz --grid loss=hinge,softmax --folds 2": ("of all classes at once", "run them apart"),
    # predictions
    "predict ok.npz test.npz": ("no solution (found kernels, names, y): give a file of mklcvx solve -o",),
    "predict pipeline.joblib test.npz": (
        "unknown kind of file '.joblib': give a .json or .npz file, as mklcvx.save_m",
    ),
    "predict answer.json ok.npz": ("no array 'test_kernels' (found kernels 3×12×12,", "--var test_kernels=NAME"),
    "predict answer.json turned.npz": ("give (3, t, 12), new samples in rows, training samples in columns, or (t, 12",),
    "predict answer.json nan-test.npz": ("the entry nan at [1, 2, 0]", "see mklcvx.fill_missing"),
    "predict model.npz narrow.npz": ("X has 5 features", "give features as in training"),
    "predict model.npz strange.npz": ("y has a, and no class of the model: -1, 1: give classes as in training",),
    "predict model.npz headings.csv": (
        "column 12 is headed 'other', the model knows 'measurement number 11 of the leaf'",
        "give the columns that the model knows",
    ),
    "predict model.npz fewer.csv": ("11 columns, the model knows 12, 'measurement number 0 of the leaf' among them",),
    # answers
    "verify ok.npz strange.json -f l1": ("has none of weights, alpha,", "(found w): give at least one of them"),
    "verify ok.npz short.json": ("does not say which formulation it solves: give -f NAME",),
    "verify ok.npz short.json -f l1": ("weights has shape (2,): give (3,)",),
    "verify classes.npz short.json -f l1": ("verify looks at one machine, the instance has 3 classes",),
    "prove classes.npz --positive 9": ("--positive 9: no such class: known: 1, 2, 3",),
    "bench real.npz --set loss=hinge": ("l1 needs labels y in {−1, +1}, the instance has a response",),
}
PYTHON = ("repair=", "variables=", "numpy.where", "numpy.moveaxis", "argmax", "kernels[None]", "[[", "class=")


@pytest.mark.parametrize("command", MISTAKES)
def test_a_mistake_gets_one_line_with_a_remedy_for_the_command_line(refusal, folder, monkeypatch, command):
    monkeypatch.chdir(folder)
    said = refusal(*command.split())
    for words in MISTAKES[command]:
        assert words in said
    assert not [words for words in PYTHON if words in said]
    assert len(said) < 400


def test_labels_that_begin_alike_are_told_apart(run, folder, monkeypatch):
    monkeypatch.chdir(folder)
    _, _, said = run("solve", "long.npz", "-q")
    assert "number one" not in said  # words are classes, and are read
    np.savez("test-long.npz", test_kernels=K[:, :T], test_y=LONG[CODES[:T] - 1])
    assert "…" in run("predict", "answer.json", "test-long.npz")[2]


def test_warnings_are_one_line_without_a_place_in_the_code(run, folder, monkeypatch):
    def warned(*_, **__):
        warnings.warn("the kernels\nare strange", stacklevel=1)
        warnings.warn("of no interest to a user", DeprecationWarning, stacklevel=1)
        raise options.InputError("enough")

    monkeypatch.chdir(folder)
    monkeypatch.setattr(options, "load_instance", warned)
    assert run("solve", "ok.npz") == (2, "", "mklcvx: the kernels are strange\nmklcvx: enough\n")


def test_remedies_in_python_are_those_of_python_after_a_command(run, folder, monkeypatch):
    monkeypatch.chdir(folder)
    run("solve", "indefinite.npz")
    with pytest.raises(ValueError, match="give repair='clip' or repair='shift'"):
        load_instance("indefinite.npz")


def test_var_and_repair_are_options_of_every_command_that_reads_an_instance(run, quiet, folder, monkeypatch, tmp_path):
    monkeypatch.chdir(folder)
    np.savez(tmp_path / "names.npz", A=K, t=Y)
    named = ("--var", "kernels=A", "--var", "y=t")
    save_instance(tmp_path / "same.npz", load_instance("ok.npz"))
    for command in (
        ("solve", "-f", "average"),
        ("path", "-f", "average", "--grid", "C=1"),
        ("cv", "-f", "average", "--grid", "C=1", "--folds", "2"),
    ):
        word, *rest = command
        quiet(word, tmp_path / "names.npz", *rest, *named, "--repair", "symmetrise,clip")
    quiet("verify", tmp_path / "names.npz", "answer.json", *named, "--repair", "clip")
    for word in ("prove", "report", "bench"):
        code, _, err = run(word, tmp_path / "names.npz", "--var", "kernels=B")
        assert (code, err.count("\n")) == (2, 1)
        assert "no variable 'B' for kernels" in err
