"""The one door for output: modes, links, what killed writers leave."""

import os
import stat
import time

import pytest

from mklcvx.io import writing
from mklcvx.io.writing import check_output, write_folder, write_text, write_whole
from refusals import check_refused


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("bits", [0o600, 0o640, 0o755, 0o666])
def test_the_mode_of_a_file_that_is_replaced_is_kept(tmp_path, bits):
    path = tmp_path / "answer.json"
    path.write_text("old", encoding="utf-8")
    path.chmod(bits)
    write_text(path, "new")
    assert (path.read_text(encoding="utf-8"), mode(path)) == ("new", bits)


def test_a_new_file_has_the_mode_that_the_user_has_chosen(tmp_path):
    before = os.umask(0o027)
    try:
        write_text(tmp_path / "answer.json", "new")
    finally:
        os.umask(before)
    assert mode(tmp_path / "answer.json") == 0o640


def test_links_are_followed(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    real, link = tmp_path / "elsewhere" / "real.json", tmp_path / "link.json"
    link.symlink_to("elsewhere/real.json")
    for text in ("first", "second"):  # to a file that is not there yet, and to one that is
        check_output(link, (".json",))
        write_text(link, text)
        assert (link.is_symlink(), real.read_text(encoding="utf-8")) == (True, text)
    assert os.listdir(tmp_path / "elsewhere") == ["real.json"]


def test_outputs_that_are_no_files_are_refused(tmp_path):
    circle, nowhere, pipe = (tmp_path / f"{name}.json" for name in ("circle", "nowhere", "pipe"))
    circle.symlink_to(circle)
    nowhere.symlink_to(tmp_path / "none" / "a.json")
    os.mkfifo(pipe)
    for path, words in ((circle, "leads nowhere"), (nowhere, "leads nowhere"), (pipe, "not an ordinary file")):
        with check_refused(f"output {path}: is", words, "choose another name"):
            check_output(path, (".json",))


def test_a_file_is_on_the_disk_before_it_is_moved(tmp_path, monkeypatch):
    steps = []
    for name in ("fsync", "replace"):
        call = getattr(os, name)
        monkeypatch.setattr(os, name, lambda *given, n=name, c=call: (steps.append(n), c(*given)))
    write_text(tmp_path / "answer.json", "new")
    assert steps == ["fsync", "replace", "fsync"]  # the file, and afterwards the folder
    steps.clear()
    write_folder(tmp_path / "folder", lambda folder: (folder / "y.csv").write_text("1", encoding="utf-8"))
    assert steps == ["fsync", "fsync", "replace", "fsync"]


def test_what_killed_writers_left_is_cleared_and_nothing_else(tmp_path):
    stale, folder, fresh = (tmp_path / f"{writing.TEMPORARY}{digit * 16}" for digit in "abc")
    own = [tmp_path / name for name in (".mklcvx.toml", ".mklcvx.0123456789abcdeg", "notes.txt")]
    for path in (stale, fresh, *own):
        path.write_text("half", encoding="utf-8")
    folder.mkdir()
    (folder / "K1.csv").write_text("1", encoding="utf-8")
    long_ago = time.time() - 2 * writing.OLD
    for path in (stale, folder, *own):
        os.utime(path, (long_ago, long_ago))
    write_text(tmp_path / "answer.json", "new")
    assert {path.name for path in tmp_path.iterdir()} == {"answer.json", fresh.name, *(path.name for path in own)}


@pytest.mark.parametrize("fault", [ZeroDivisionError, KeyboardInterrupt, MemoryError])
def test_a_writer_that_fails_leaves_the_old_file_and_nothing_beside_it(tmp_path, fault):
    path = tmp_path / "answer.json"
    path.write_text("old", encoding="utf-8")

    def broken(file):
        file.write(b"half")
        raise fault

    with pytest.raises(fault):
        write_whole(path, broken)
    assert (path.read_text(encoding="utf-8"), os.listdir(tmp_path)) == ("old", ["answer.json"])


def test_longest_name_that_the_system_allows_can_be_written(tmp_path):
    path = tmp_path / ("a" * 250 + ".json")
    write_text(path, "x")
    assert path.read_text(encoding="utf-8") == "x"
