"""What is not the ordinary file that its name promises: links out of a folder, pipes, files beside an output."""

import json
import os

import pytest

from mklcvx import Instance
from mklcvx.cli.kept_folds import SCHEMA, KeptFolds
from mklcvx.estimators.cross_validation import FoldScore
from mklcvx.io import files
from refusals import check_refused
from stacks import FOR_FILES

SECRET = "secret of another\n"
FOUND = {1: [FoldScore(0.5, float("inf"), False, "why"), FoldScore(1.0, 1e-9, True, "")]}


# -------------------------------------------------------------------------------------------------------- folders
@pytest.fixture
def folder(tmp_path):
    """An instance as a folder, beside a file that does not belong to it."""
    instance = Instance(FOR_FILES.kernels, FOR_FILES.y, test_kernels=FOR_FILES.test_kernels)
    files.save_instance(tmp_path / "folder", instance)
    (tmp_path / "elsewhere.csv").write_text(SECRET, encoding="utf-8")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "1.csv").write_text(SECRET, encoding="utf-8")
    return tmp_path / "folder"


@pytest.mark.parametrize("name", ["K2.csv", "y.csv", "names.csv", "test_K1.csv", "schema.csv"])
def test_a_link_out_of_a_folder_is_not_read(folder, name):
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to("../elsewhere.csv")
    with check_refused(f"{name}: is a link that leads out of the folder: copy the file that is meant into it"):
        files.load_instance(folder)


def test_a_link_to_a_folder_of_kernels_is_not_read(folder):
    for file in folder.glob("K*.csv"):
        file.unlink()
    (folder / "kernels").symlink_to("../elsewhere")
    with check_refused("1.csv: is a link that leads out of the folder"):
        files.load_instance(folder)


def test_links_inside_a_folder_and_to_it_are_read(folder):
    (folder / "K2.csv").unlink()
    (folder / "K2.csv").symlink_to("K1.csv")
    (folder.parent / "link").symlink_to(folder)
    kernels = files.load_instance(folder.parent / "link").kernels
    assert (kernels[1] == kernels[0]).all()


# ------------------------------------------------------------------------------------------------------ kept folds
@pytest.fixture
def output(tmp_path):
    (tmp_path / "problem.npz").write_bytes(b"x")
    return tmp_path / "cv.jsonl"


def kept_folds(output, asked=None):
    return KeptFolds(output, output.with_name("problem.npz"), asked)


PLACES = {
    "a pipe": (os.mkfifo, "is not an ordinary file: choose another name"),
    "a folder": (os.mkdir, "is a folder: give a file name"),
    "a link to a device": (lambda place: place.symlink_to("/dev/zero"), "is a link"),
    "a link to nothing": (lambda place: place.symlink_to("nothing"), "is a link"),
    "a link to a file": (lambda place: place.symlink_to("problem.npz"), "is a link, and folds that ended are kept"),
}


@pytest.mark.parametrize("kind", PLACES)
def test_folds_are_kept_in_an_ordinary_file(output, kind):
    make, words = PLACES[kind]
    place = output.with_name("cv.jsonl.part")
    make(place)
    before = place.lstat()
    with check_refused("cv.jsonl.part: ", words):
        kept_folds(output)
    assert (before.st_ino, before.st_mode) == (place.lstat().st_ino, place.lstat().st_mode)


def test_kept_folds_are_read_for_the_same_request_alone(output):
    kept = kept_folds(output, {"C": 1})
    assert kept.read(3, 2) == {}
    assert "cv.jsonl.part" in kept.write(FOUND)
    assert kept.read(3, 2) == FOUND
    assert kept_folds(output, {"C": 2}).read(3, 2) == {}
    kept.remove()
    assert kept.read(3, 2) == {}
    assert "-o FILE" in KeptFolds(None, output.with_name("problem.npz"), 0).write(FOUND)


def test_kept_folds_know_the_files_of_a_folder(folder, output):
    before = KeptFolds(output, folder, 0).request
    (folder / "K1.csv").write_text("1 .5\n.5 1\n", encoding="utf-8")
    assert KeptFolds(output, folder, 0).request != before


ROW = ["0.5", "1e-9", True, ""]
DAMAGED = {
    "a fold too many": {"3": [ROW, ROW]},
    "a negative fold": {"-1": [ROW, ROW]},
    "a point is missing": {"1": [ROW]},
    "a row of three": {"1": [ROW, ROW[:3]]},
    "no numbers": {"1": [ROW, [[], {}, 1, 1]]},
    "a list": [ROW],
}


@pytest.mark.parametrize("damage", [*DAMAGED, "nested", "no object", "no text", "of another kind"])
def test_damaged_folds_are_solved_again(output, damage):
    kept = kept_folds(output)
    record = {"schema": SCHEMA, "request": kept.request, "folds": DAMAGED.get(damage, {})}
    nested = '{"schema":' + "[" * 100_000 + "]" * 100_000 + "}"
    texts = {"nested": nested, "no object": "[1]", "no text": "\udcff", "of another kind": '{"schema": "x"}'}
    text = texts.get(damage, json.dumps(record))
    output.with_name("cv.jsonl.part").write_bytes(text.encode("utf-8", "surrogateescape"))
    assert kept.read(3, 2) == {}
