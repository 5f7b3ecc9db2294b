"""The README runs as it stands; the pages of the documentation run while the site is built."""

import re

import pytest

from blocks import LANGUAGES, Page
from places import ROOT

pytestmark = pytest.mark.slow

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(name: str) -> list[tuple[str, str]]:
    return BLOCK.findall((ROOT / name).read_text(encoding="utf-8"))


def test_every_block_runs(tmp_path):
    page = Page("README.md", tmp_path)
    found = [(language, text) for language, text in blocks("README.md") if language in LANGUAGES]
    assert found
    for language, text in found:
        assert page.run(language, text) or language == "python"
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


def test_the_readme_names_every_formulation_and_every_loss():
    from mklcvx.formulations import FORMULATIONS
    from mklcvx.formulations.losses import ALL

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for one in (*FORMULATIONS, *ALL):
        assert f"`{one.name}`" in text


def test_the_readme_counts_the_zoo():
    from mklcvx.zoo import SPECIMENS

    assert len(SPECIMENS) == 65
    assert "Sixty-five named instances" in (ROOT / "README.md").read_text(encoding="utf-8")
