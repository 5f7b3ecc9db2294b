"""Journals of long runs: one line for each record, whole or not at all."""

import os

import pytest

from mklcvx import InputError
from shared.journals import add_line, records


def test_other_ends_of_lines_are_text(tmp_path):
    path, text = tmp_path / "cells.jsonl", "one\u2028two\x85three\x1cfour\r"
    for i in range(2):
        add_line(path, {"cell": i, "text": text})
    assert list(records(path)) == [{"cell": 0, "text": text}, {"cell": 1, "text": text}]


def test_numbers_that_are_not_finite_are_none_in_a_journal(tmp_path):
    path, bad = tmp_path / "cells.jsonl", float("nan")
    add_line(path, {"cell": bad, "rows": [1.5, (float("inf"), {"deep": -float("inf")})]})
    assert path.read_text(encoding="utf-8") == '{"cell": null, "rows": [1.5, [null, {"deep": null}]]}\n'


def test_a_line_that_was_cut_off_is_passed_over(tmp_path):
    path = tmp_path / "cells.jsonl"
    path.write_bytes(b'{"cell": 0}\n[1]\n\xff\n{"cell": 1, "te')
    add_line(path, {"cell": 2})
    assert [row["cell"] for row in records(path)] == [0, 2]


def test_a_line_that_cannot_be_written_leaves_the_journal_as_it_was(tmp_path, monkeypatch):
    path = tmp_path / "cells.jsonl"
    add_line(path, {"cell": 0})
    before, write = path.read_bytes(), os.write
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    monkeypatch.setattr(os, "write", lambda descriptor, text: write(descriptor, text[:5]))
    with pytest.raises(InputError, match=r"cells\.jsonl: No space left on device"):
        add_line(path, {"cell": 1})
    assert path.read_bytes() == before
