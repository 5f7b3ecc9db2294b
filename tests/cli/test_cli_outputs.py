"""The command line never writes over what it reads, by whatever name: it refuses before the work."""

import json
import os

import pytest

from mklcvx.cli import options
from mklcvx.cli import predict as cli_predict
from mklcvx.io.files import load_instance, save_instance
from refusals import strict

pytestmark = pytest.mark.slow

WAYS = {
    "the same name": lambda file, name: file,
    "another spelling": lambda file, name: file.parent / "." / ".." / file.parent.name / file.name,
    "a link": lambda file, name: name.symlink_to(file) or name,
    "a second name": lambda file, name: os.link(file, name) or name,
}


@pytest.fixture(autouse=True)
def nothing_is_read(monkeypatch):
    def read(*_, **__):
        pytest.fail("read before refusing")

    for module, name in ((options, "load_instance"), (cli_predict, "load_answer"), (cli_predict, "load_test")):
        monkeypatch.setattr(module, name, read)


def check_kept(refusal, file, *arguments):
    before = file.read_bytes()
    assert "is an input, and would be overwritten: choose another name" in refusal(*arguments)
    assert file.read_bytes() == before


@pytest.mark.parametrize("way", WAYS)
def test_solve_does_not_replace_the_instance(refusal, problem, tmp_path, way):
    check_kept(refusal, problem, "solve", problem, "-o", WAYS[way](problem, tmp_path / "other.npz"))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("options", [("solve", "--solver", "silp", "--trace"), ("path", "--grid", "C=1,2", "-o"),
                                     ("cv", "--grid", "C=1,2", "-o")], ids=["trace", "path", "cv"])  # fmt: skip
def test_other_outputs_do_not_replace_the_instance(refusal, problem, tmp_path, way, options):
    file = tmp_path / "problem.json"
    save_instance(file, load_instance(problem))
    command, *rest = options
    check_kept(refusal, file, command, file, *rest, WAYS[way](file, tmp_path / "other.json"))


@pytest.mark.parametrize("which", ["answer.json", "problem.npz"])
@pytest.mark.parametrize("way", WAYS)
def test_predict_replaces_neither_solution_nor_test(refusal, problem, tmp_path, way, which):
    (tmp_path / "answer.json").write_text("{}", encoding="utf-8")
    file = tmp_path / which
    other = WAYS[way](file, tmp_path / f"other{file.suffix}")
    check_kept(refusal, file, "predict", tmp_path / "answer.json", problem, "-o", other)


@pytest.mark.parametrize("way", ["a link", "a second name"])
def test_pages_replace_neither_instance_nor_answer(refusal, problem, tmp_path, way):
    page = WAYS[way](problem, tmp_path / "page.html")
    check_kept(refusal, problem, "report", problem, "-o", page)
    check_kept(refusal, problem, "verify", problem, tmp_path / "answer.json", "--html", page)
    answer = tmp_path / "answer.json"
    answer.write_text("{}", encoding="utf-8")
    check_kept(refusal, answer, "verify", problem, answer, "--html", WAYS[way](answer, tmp_path / "second.html"))


@pytest.mark.parametrize("name", ["K1.csv", "y.csv"])
def test_a_file_of_a_folder_is_not_replaced(refusal, problem, tmp_path, name):
    folder = tmp_path / "folder"
    save_instance(folder, load_instance(problem))
    check_kept(refusal, folder / name, "solve", folder, "--solver", "silp", "--trace", folder / name)
    (tmp_path / "link.csv").symlink_to(folder / name)
    check_kept(refusal, folder / name, "predict", tmp_path / "answer.json", folder, "-o", tmp_path / "link.csv")


def test_a_page_of_numbers_at_the_end_of_the_range_is_written(run, problem, tmp_path, monkeypatch):
    monkeypatch.undo()
    instance = load_instance(problem)
    answer, page = tmp_path / "answer.json", tmp_path / "page.html"
    each = {"weights": [1e308] * instance.count, "alpha": [1e308] * instance.samples}
    answer.write_text(json.dumps({**each, "bias": 1e308, "objective": 1e308}), encoding="utf-8")
    code, out, err = run("verify", problem, answer, "-f", "l1", "--json", "--html", page)
    assert (code, strict(out)["verdict"]) == (1, "rejected"), err
    assert "Optimality conditions" in page.read_text(encoding="utf-8")
