"""The README and the documentation run as they stand."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(name: str) -> list[tuple[str, str]]:
    return BLOCK.findall((ROOT / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "name", ["README.md", "docs/by-hand.md", "docs/bench.md", "docs/conform.md", "docs/conventions.md"]
)
def test_every_block_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    space: dict = {}
    commands = 0
    for language, text in blocks(name):
        if language == "python":
            exec(compile(text, name, "exec"), space)
            commands += 1
        elif language == "console":
            for line in text.splitlines():
                assert line.startswith("$ ")
                run(line[2:], tmp_path)
                commands += 1
    assert commands > 0
    if name == "README.md":
        assert space["solution"].status == "certified"
        assert (tmp_path / "answer.json").exists()


def run(command: str, folder: Path) -> None:
    words = shlex.split(command)
    program = [sys.executable, "-m", "mklcvx", *words[1:]] if words[0] == "mklcvx" else [sys.executable, *words[1:]]
    assert words[0] in ("mklcvx", "python")
    done = subprocess.run(program, cwd=folder, capture_output=True, text=True, env=os.environ)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_the_two_commands_exist():
    commands = [text for language, text in blocks("README.md") if language == "sh"]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"^make (\w+)", "".join(commands), re.MULTILINE)
    assert targets == ["demo", "test"]
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)


def test_links_lead_somewhere():
    documents = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").glob("*.md"))
    for name in ("README.md", "CONTRIBUTING.md", *documents):
        for target in re.findall(r"\]\(([^)#]+)\)", (ROOT / name).read_text(encoding="utf-8")):
            if not target.startswith("http"):
                assert (ROOT / name).parent.joinpath(target).exists(), f"{name}: {target}"


def test_the_readme_names_every_formulation():
    from mklcvx.formulations import FORMULATIONS

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for formulation in FORMULATIONS:
        assert f"`{formulation.name}`" in text
