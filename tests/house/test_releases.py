"""What the page about versions says is true."""

from __future__ import annotations

import re
import tomllib

from mklcvx import __version__
from places import ROOT


def _project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_every_dependency_of_users_has_its_licence_on_the_page():
    project = _project()
    wanted = [*project["dependencies"]]
    wanted += [one for extra in ("plot", "matlab", "rigorous") for one in project["optional-dependencies"][extra]]
    listed = re.findall(r"^\| ([a-z0-9-]+) \| .* \| .* \|$", (ROOT / "docs/releases.md").read_text(), re.MULTILINE)
    assert {re.split(r"[<>=\[]", one)[0] for one in wanted} <= set(listed)


def test_the_version_is_the_same_everywhere():
    assert f"\nversion: {__version__}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"\n## {__version__} (" in (ROOT / "CHANGELOG.md").read_text()


def test_the_changelog_has_a_place_for_what_is_not_released():
    headings = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert headings[0] == "Unreleased"
