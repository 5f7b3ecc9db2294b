"""The README and the documentation run as they stand."""

from __future__ import annotations

import re

import pytest

from blocks import LANGUAGES, Page
from places import ROOT

pytestmark = pytest.mark.slow

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(name: str) -> list[tuple[str, str]]:
    return BLOCK.findall((ROOT / name).read_text(encoding="utf-8"))


MORE = sorted(path.stem for path in (ROOT / "docs/formulations/_more").glob("*.md") if path.stem != "README")
PAGES = (
    "README.md",
    *(f"docs/{name}.md" for name in ("start", "by-hand", "bench", "conform", "conventions", "inside", "kernels")),
    *(f"docs/formulations/_more/{name}.md" for name in MORE),
)


@pytest.mark.parametrize("name", PAGES)
def test_every_block_runs(name, tmp_path):
    page = Page(name, tmp_path)
    found = [(language, text) for language, text in blocks(name) if language in LANGUAGES]
    assert found
    for language, text in found:
        assert page.run(language, text) or language == "python"
    if name == "README.md":
        assert page.space["solution"].status == "certified"
        assert (tmp_path / "answer.json").exists()


def test_the_commands_exist():
    commands = [text for language, text in blocks("README.md") if language == "sh"]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"^make (\w+)", "".join(commands), re.MULTILINE)
    assert targets == ["demo", "test", "docs"]
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)


MADE = ("chapters/", "outside/", "formulations/")  # by the build, which checks links to them itself


def test_links_lead_somewhere():
    documents = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").glob("*.md"))
    for name in ("README.md", "CONTRIBUTING.md", *documents):
        for target in re.findall(r"\]\(([^)#]+)\)", (ROOT / name).read_text(encoding="utf-8")):
            if not target.startswith(("http", *MADE)):
                assert (ROOT / name).parent.joinpath(target).exists(), f"{name}: {target}"


def test_the_readme_names_every_formulation():
    from mklcvx.formulations import FORMULATIONS

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for formulation in FORMULATIONS:
        assert f"`{formulation.name}`" in text
