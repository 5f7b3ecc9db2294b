"""Contestants that are commands: they read an instance file, write an answer file, and are timed as a whole.

    NAME=command {instance} {answer}

The words of the command are passed to the system without a shell. `{instance}` becomes the path of an `.npz` file
(`{instance.mat}`, `{instance.json}`: of such a file; `{instance.csv}`: of a folder), `{answer}` the path of the `.json`
file to write (`{answer.npz}`, `{answer.mat}`: of such a file; `{answer.csv}`: of a folder to make); `{formulation}`,
`{tol}` and every parameter by its name, such as `{C}`, become their values. A command that fails, is too slow or writes
an unreadable answer is reported as such. It runs in a process group of its own, which is killed afterwards.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..errors import InputError
from ..io.files import load_instance, save_instance
from ..verification.answers import read_answer
from .process import EXPECTED, ONE_THREAD, Attempt, Setting, Worker

INSTANCES = {"instance.mat": "instance.mat", "instance.json": "instance.json", "instance.csv": "instance"}
ANSWERS = {"answer": "answer.json", "answer.npz": "answer.npz", "answer.mat": "answer.mat", "answer.csv": "answer"}
# In the order of the search: numpy.savez turns the first into the third, and the last is a folder.
ENDINGS = ("answer.json", "answer.npz", "answer.json.npz", "answer.mat", "answer")


@dataclass(frozen=True)
class External:
    """A command that takes part under a name."""

    name: str
    words: tuple[str, ...]
    tolerance: float = EXPECTED
    note: str = "timed as a whole process"

    @staticmethod
    def parse(text: str) -> External:
        name, separator, command = text.partition("=")
        if not separator or not name.strip() or not command.strip():
            example = "mine='solver {instance} {answer}'"
            raise InputError(f"--external {text[:60]!r} is not NAME=COMMAND: write for example {example}")
        return External.of(command, name.strip(), f"--external {name}")

    @staticmethod
    def of(command: str, name: str, option: str) -> External:
        """Split a command into words; `option` is its name in messages."""
        try:
            words = tuple(shlex.split(command))
        except ValueError as fault:
            raise InputError(f"{option}: the command cannot be split into words ({fault}): close the quotes") from None
        if not (any("{instance" in word for word in words) and any("{answer" in word for word in words)):
            raise InputError(f"{option}: the command lacks {{instance}} or {{answer}}: it needs both")
        return External(name, words)

    def run(self, setting: Setting, parameters: Mapping[str, object], worker: Worker) -> Attempt:
        shutil.rmtree(setting.folder, ignore_errors=True)
        setting.folder.mkdir(exist_ok=True)
        for name, file in INSTANCES.items():
            if any(f"{{{name}}}" in word for word in self.words):
                save_instance(setting.folder / file, load_instance(setting.instance))
        started = time.perf_counter()
        ended = self._ended(setting, parameters)
        seconds = time.perf_counter() - started
        if ended == "timeout":
            return Attempt(seconds=seconds, elapsed=seconds, cut=True, message="ended at the time limit")
        if ended:
            return Attempt(fault=ended)
        try:
            return Attempt(seconds=seconds, elapsed=seconds, answer=read_answer(_written(setting.folder)))
        except InputError as fault:
            return Attempt(fault=str(fault).replace(f"{setting.folder}{os.sep}", ""))

    def _ended(self, setting: Setting, parameters: Mapping[str, object]) -> str:
        """Run the command; return an empty text on success, else what went wrong."""
        log = setting.folder / "stderr"
        try:
            with log.open("wb") as errors:
                process = subprocess.Popen(
                    _filled(self.words, setting, parameters), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                    stderr=errors, env={**os.environ, **ONE_THREAD}, start_new_session=True,
                )  # fmt: skip
        except OSError as fault:
            return f"cannot be started ({fault.strerror})"
        try:
            status = process.wait(setting.time_limit)
        except subprocess.TimeoutExpired:
            return "timeout"
        finally:
            with contextlib.suppress(ProcessLookupError, PermissionError):  # the whole process group
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        return f"exit status {status}{_last_words(log)}" if status else ""


def _filled(words: tuple[str, ...], setting: Setting, parameters: Mapping[str, object]) -> list[str]:
    named = {**INSTANCES, **ANSWERS, "answer.json": "answer.json"}
    values = {name: setting.folder / file for name, file in named.items()}
    known = {"instance": setting.instance, "formulation": setting.formulation, "tol": setting.tol or EXPECTED}
    filled = list(words)
    for name, value in {**values, **known, **parameters}.items():
        filled = [word.replace(f"{{{name}}}", str(value)) for word in filled]
    return filled


def _written(folder: Path) -> Path:
    for ending in ENDINGS:
        if (folder / ending).exists():
            return folder / ending
    raise InputError("answer: none was written: write weights and alpha to the path given as {answer}")


def _last_words(log: Path) -> str:
    with log.open("rb") as file:
        file.seek(max(log.stat().st_size - 2000, 0))
        lines = file.read().decode("utf-8", "replace").strip().splitlines()
    return f": {' '.join(lines[-1].split())[:120]}" if lines else ""
