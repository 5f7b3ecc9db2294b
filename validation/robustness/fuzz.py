"""Damaged files for every reader, guided by the lines that are reached.

python validation/robustness/fuzz.py                      a minute for all readers
python validation/robustness/fuzz.py --seconds 600        ten minutes
python validation/robustness/fuzz.py --plain --reads 4000 so many files for every reader, however long it takes
python validation/robustness/fuzz.py --only v7.3 answer   some readers
python validation/robustness/fuzz.py -o validation/robustness/fuzz.md

Every reader has a process of its own, so that one that ends the process is found out. Files that reach new lines are
changed further, and kept in `corpus` (--keep); those that end in anything but an object or a refusal are kept there
too, and read again by the tests. Guided by atheris where it is installed (the extra `fuzz`), else by chance from the
files that are kept.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]  # where `shared` is
CORPUS = HERE / "corpus"
GUIDED = ("mklcvx.io", "mklcvx.checker", "mklcvx.verification", "mklcvx.estimators.saving",
          "mklcvx.certificate.solution",
          "mklcvx.problem", "zipfile", "json")  # fmt: skip
LARGEST = 20_000  # bytes of a file that is changed further
SHOWN = 12
APART, FEWER = "instance v7.3", 50  # starts a process for every file: a fiftieth of the reads


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60, help="for all readers together")
    parser.add_argument("--reads", type=int, help="for each reader, in place of seconds; by chance")
    parser.add_argument("--only", nargs="+", metavar="WORD", help="readers whose names have one of these words")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", action="store_true", help="keep files that reach new lines")
    parser.add_argument("--journal", type=Path, help="file of JSON lines to which what was found is added")
    parser.add_argument("-o", "--output", type=Path, help="write a page about all that the journal has")
    parser.add_argument("--plain", action="store_true", help="by chance, even where atheris is installed: faster")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    asked = parser.parse_args(arguments)
    if asked.one is not None:
        return alone(asked.one, asked.seconds, asked.seed, asked.keep, asked.plain, asked.reads)
    from mklcvx.io.writing import write_text
    from shared.journals import add_line, records

    names = [name for name in reader_names() if not asked.only or any(word in name for word in asked.only)]
    found = []
    for name in names:
        more = [f"--{option}" for option in ("keep", "plain") if getattr(asked, option)]
        more += ["--reads", str(asked.reads // (FEWER if name == APART else 1))] if asked.reads else []
        row = in_a_process(name, asked.seconds / len(names), asked.seed, *more)
        print(told(row), flush=True)
        found.append(row)
        if asked.journal is not None:
            add_line(asked.journal, row)
    if asked.output is not None:
        write_text(asked.output, page(list(records(asked.journal)) if asked.journal is not None else found))
    return 1 if any(row["faults"] for row in found) else 0


def reader_names() -> list[str]:
    from readers import readers

    with tempfile.TemporaryDirectory() as folder:
        return [one.name for one in readers(Path(folder))]


# --------------------------------------------------------------------------------------------------- one reader
def in_a_process(name: str, seconds: float, seed: int, *more: str) -> dict[str, Any]:
    """What one reader's process found; one that died is a fault, and the file that it had is kept."""
    with tempfile.TemporaryDirectory() as folder:
        notes = Path(folder) / "notes"
        words = [sys.executable, __file__, "--one", name, "--seconds", str(seconds), "--seed", str(seed)]
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "MKLCVX_FUZZ_NOTES": str(notes)}
        with (Path(folder) / "log").open("wb") as log:
            done = subprocess.run([*words, *more], stdout=log, stderr=log, env=environment, check=False)
        row: dict[str, Any] = {"reader": name, "reads": 0, "refused": 0, "kept": 0, "faults": {}, "guided": False}
        with contextlib.suppress(OSError, ValueError):
            row = json.loads(notes.read_text(encoding="utf-8"))
        last = notes.with_suffix(".case")
        if done.returncode != 0 and not row.get("ended"):
            log_text = (Path(folder) / "log").read_text(errors="replace", encoding="utf-8")[-300:]
            row["faults"][f"the process died with status {done.returncode}: {' '.join(log_text.split())}"] = 1
            if last.exists():
                kept_as("died", name, last.read_bytes())
    return row


def alone(name: str, seconds: float, seed: int, keep: bool, plain: bool = False, reads: int | None = None) -> int:
    """Fuzz one reader until the time is over, or so many files are read."""
    atheris = None
    if not plain and reads is None:
        with contextlib.suppress(ImportError):
            import atheris
    with contextlib.nullcontext() if atheris is None else atheris.instrument_imports(include=list(GUIDED)):
        from judging import Judge
        from readers import readers
    shared = Path("/dev/shm") if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(dir=shared) as folder:
        reader = next(one for one in readers(Path(folder)) if one.name == name)
        campaign = Campaign(reader, Judge(Path(folder)), seconds if reads is None else math.inf, seed, keep)
        if atheris is None:
            campaign.by_chance(reads)
        else:
            campaign.guided(atheris, Path(folder))
    return 0


class Campaign:
    def __init__(self, reader: Any, judge: Any, seconds: float, seed: int, keep: bool) -> None:
        from mutating import MUTATORS

        self.reader, self.judge, self.keep, self.seed = reader, judge, keep, seed
        self.until, self.mutate = time.monotonic() + seconds, MUTATORS[reader.ending]
        self.reads, self.refused, self.kept = 0, 0, 0
        self.faults: Counter[str] = Counter()
        self.pool = [*reader.seeds, *(file.read_bytes() for file in kept(reader.name))]
        notes = os.environ.get("MKLCVX_FUZZ_NOTES")
        self.notes = None if notes is None else Path(notes)

    def read(self, data: bytes) -> None:
        if self.notes is not None:
            self.notes.with_suffix(".case").write_bytes(data)
        outcome = self.judge.judged(self.reader, data)
        self.reads += 1
        self.refused += outcome.refused
        if outcome.fault:
            if outcome.fault not in self.faults:
                kept_as("fault", self.reader.name, data)
            self.faults[outcome.fault] += 1
        if self.reads % 50 == 0:
            self.note()

    def note(self, ended: bool = False, is_guided: bool = True) -> None:
        row = {"reader": self.reader.name, "reads": self.reads, "refused": self.refused, "kept": self.kept,
               "faults": dict(self.faults), "guided": is_guided, "ended": ended}  # fmt: skip
        if self.notes is not None:
            self.notes.write_text(json.dumps(row), encoding="utf-8")

    def by_chance(self, count: int | None = None) -> None:
        """Without coverage: changes of the seeds, and of what was kept."""
        rng = Random(f"{self.seed} {self.reader.name}")
        for data in self.pool:
            self.read(data)
        while time.monotonic() < self.until and (count is None or self.reads < count):
            self.read(self.mutate(rng.choice(self.pool), rng))
        self.note(ended=True, is_guided=False)

    def guided(self, atheris: Any, folder: Path) -> None:
        """By atheris: files that reach new lines are changed further."""
        pool = folder / "pool"
        pool.mkdir()
        for i, data in enumerate(self.pool):
            (pool / f"seed{i}").write_bytes(data)
        known = {hashlib.sha1(data).hexdigest() for data in self.pool}

        def changed(data: bytes, most: int, seed: int) -> bytes:
            return self.mutate(data, Random(seed))[:most]

        def target(data: bytes) -> None:
            if time.monotonic() > self.until:
                for file in pool.iterdir() if self.keep else ():
                    if hashlib.sha1(file.read_bytes()).hexdigest() not in known and file.stat().st_size < 3000:
                        kept_as("new", self.reader.name, file.read_bytes())
                        self.kept += 1
                self.note(ended=True)
                os._exit(0)
            self.read(data)

        limits = f"-seed={self.seed + 1} -max_len={LARGEST} -timeout=60 -rss_limit_mb=4000"
        atheris.Setup(
            [sys.argv[0], str(pool), *limits.split()], target, custom_mutator=changed, enable_python_coverage=True
        )
        atheris.Fuzz()


# ------------------------------------------------------------------------------------------------- what is kept
def kept(name: str) -> list[Path]:
    return sorted((CORPUS / name.replace(" ", "_")).glob("*"))


def kept_as(kind: str, name: str, data: bytes) -> None:
    place = CORPUS / name.replace(" ", "_") / f"{kind}-{hashlib.sha1(data).hexdigest()[:10]}"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(data)


# ------------------------------------------------------------------------------------------------------ the page
def told(row: dict[str, Any]) -> str:
    faults = "; ".join(list(row["faults"])[:SHOWN]) or "none"
    return f"{row['reader']}: {row['reads']} reads, {row['refused']} refused, faults: {faults}"


def page(rows: list[dict[str, Any]]) -> str:
    """A table of all rows, those of one reader added up."""
    lines = ["# Damaged files", "", (__doc__ or "").split("\n\n")[2].strip(), ""]
    lines += ["| reader | reads | refused | read | other ends |", "|---|--:|--:|--:|--:|"]
    names = list(dict.fromkeys(row["reader"] for row in rows))
    total: Counter[str] = Counter()
    for name in names:
        own = [row for row in rows if row["reader"] == name]
        reads, refused = (sum(row[key] for row in own) for key in ("reads", "refused"))
        other = sum(sum(row["faults"].values()) for row in own)
        total.update(reads=reads, refused=refused, other=other)
        lines.append(f"| {name} | {reads} | {refused} | {reads - refused - other} | {other} |")
    read = total["reads"] - total["refused"] - total["other"]
    lines += [f"| all | {total['reads']} | {total['refused']} | {read} | {total['other']} |", ""]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
