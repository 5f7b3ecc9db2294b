"""Damaged files and failing writes: a sample of what `validation/robustness` does at length."""

import os
import sys
import time
from random import Random

import pytest

from places import ROOT

sys.path.insert(0, str(ROOT / "validation" / "robustness"))

import failing_writes
import judging
from fuzz import kept
from judging import Judge
from mutating import MUTATORS
from readers import readers

pytestmark = pytest.mark.slow
READS = 40  # of each reader
APART = "instance v7.3"  # starts a process for every file


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("robustness")


@pytest.fixture(scope="module")
def known(place):
    return readers(place)


@pytest.fixture(scope="module")
def judge(place):
    return Judge(place)


@pytest.fixture(autouse=True)
def memory(monkeypatch):
    monkeypatch.setenv("MKLCVX_MEMORY", "200MB")


def test_damaged_files_are_read_or_refused_from_themselves_alone_and_within_budgets(known, judge):
    faults_found, refused = [], 0
    for reader in known:
        rng = Random(reader.name)
        for _ in range(3 if reader.name == APART else READS):
            outcome = judge.judged(reader, MUTATORS[reader.ending](rng.choice(reader.seeds), rng))
            refused += outcome.refused
            faults_found += [f"{reader.name}: {outcome.fault}"] if outcome.fault else []
    assert faults_found == []
    assert refused > READS


def test_what_was_found_once_is_found_no_more(known, judge):
    files = [(reader, file) for reader in known for file in kept(reader.name)]
    assert files
    judged = [(file, judge.judged(reader, file.read_bytes()).fault) for reader, file in files]
    assert [(file, fault) for file, fault in judged if fault] == []


def test_the_judge_notices_other_files_and_tracebacks(known, judge, tmp_path):
    (tmp_path / "other.txt").write_text("x", encoding="utf-8")
    reader = known[0]
    looked = judge.judged(reader._replace(read=lambda _: (tmp_path / "other.txt").read_text(encoding="utf-8")), b"")
    assert looked.fault.startswith("outside: opened")
    assert judge.judged(reader._replace(read=lambda _: 1 / 0), b"").fault.startswith("traceback: ZeroDivisionError")


def test_the_judge_notices_what_a_child_reads_and_uses(known, judge, place, monkeypatch):
    def in_a_child(work):
        child = os.fork()
        if child == 0:
            work()
            os._exit(0)
        os.waitpid(child, 0)

    def busy():
        while time.process_time() < 0.2:
            pass

    reader, canary = known[0], place / "canary.h5"
    looked = judge.judged(reader._replace(read=lambda _: in_a_child(canary.read_bytes)), b"")
    assert looked.fault == "outside: another file was read"
    assert judge.judged(reader._replace(read=lambda _: None), b"").fault == ""
    monkeypatch.setattr(judging, "SECONDS", 0.1)
    assert judge.judged(reader._replace(read=lambda _: in_a_child(busy)), b"").fault.startswith("slow: 0.")


@pytest.mark.parametrize("name", ["save_instance", "golden", "experiments"])
def test_every_step_of_writing_may_fail(name):
    case = next(case for case in failing_writes.cases() if case.name == name)
    counts, wrong = failing_writes.tried(case)
    assert wrong == []
    assert counts["open"] >= 1
    assert counts["os.fsync"] >= 1
    assert counts["refused"] >= 5
