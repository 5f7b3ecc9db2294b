"""The fenced blocks of a Markdown page, run from top to bottom in a folder of their own.

`python` blocks share one namespace; every line of a `console` block is `$ mklcvx …` or `$ python …`, or calls a
compiler or interpreter of another language, or what that made (`$ ./…`); where it is not installed, the page says so.
`mklcvx` runs in this process, which has imported everything already; all else in one of its own. The folder has the
project's `examples`. What is only to be read is indented, or has another language. Warnings are errors.
"""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import shutil
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any
from unittest import mock

LANGUAGES = ("python", "console")
PROGRAMS = ("mklcvx", "python")
OTHERS = ("g++", "octave-cli")
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
WIDTH = "100"


class Failed(Exception):
    """A block that does not run, in one line."""


class Page:
    """What the blocks of a page share."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name, self.folder = name, folder
        shutil.copytree(EXAMPLES, folder / "examples", ignore=shutil.ignore_patterns("__pycache__"))
        self.space: dict[str, Any] = {"__name__": "__main__"}

    def run(self, language: str, text: str) -> str:
        """What the block prints."""
        return self._python(text) if language == "python" else self._console(text)

    def _python(self, text: str) -> str:
        printed = io.StringIO()
        with contextlib.chdir(self.folder), contextlib.redirect_stdout(printed), warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                exec(compile(text, self.name, "exec"), self.space)
            except Exception as fault:
                line = text.splitlines()[0] if text else ""
                raise Failed(f"block {line!r}: {type(fault).__name__}: {fault}") from fault
        return printed.getvalue()

    def _console(self, text: str) -> str:
        return "".join(self._command(line) for line in text.splitlines() if line.strip())

    def _command(self, line: str) -> str:
        words = shlex.split(line.removeprefix("$ "))
        if not line.startswith("$ ") or not (words[0] in (*PROGRAMS, *OTHERS) or words[0].startswith("./")):
            raise Failed(f"{line!r} is not '$ mklcvx …' or '$ python …': indent it, or call its language text")
        found = (self.folder / words[0]).exists() if words[0].startswith("./") else shutil.which(words[0]) is not None
        if words[0] not in PROGRAMS and not found:
            return f"(not run here: there is no {words[0]} where this page was built)\n"
        with mock.patch.dict(os.environ, {"COLUMNS": WIDTH, "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}):
            status, printed, said = self._mklcvx(words[1:]) if words[0] == "mklcvx" else self._process(words)
        if status != 0:
            raise Failed(f"{line!r} ended with status {status}: {said.strip()[-500:]}")
        return printed

    def _process(self, words: list[str]) -> tuple[int, str, str]:
        command = [sys.executable, *words[1:]] if words[0] == "python" else words
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, encoding="utf-8")
        return done.returncode, done.stdout, done.stderr

    def _mklcvx(self, arguments: list[str]) -> tuple[int, str, str]:
        from mklcvx.cli.main import main

        printed, said, status = io.StringIO(), io.StringIO(), 0
        outputs = contextlib.redirect_stdout(printed), contextlib.redirect_stderr(said)
        with contextlib.chdir(self.folder), outputs[0], outputs[1], warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a command would only write them to standard error
            try:
                main(arguments)
            except SystemExit as ended:
                status = int(ended.code or 0)
        return status, printed.getvalue(), said.getvalue()
