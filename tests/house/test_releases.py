"""What the page about versions says is true."""

import re
import tomllib

from mklcvx import __version__
from places import ROOT


def _project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_every_dependency_of_users_has_its_licence_on_the_page():
    project = _project()
    wanted = [*project["dependencies"]]
    wanted += [one for extra in ("plot", "matlab", "dask") for one in project["optional-dependencies"][extra]]
    listed = re.findall(
        r"^\| ([a-z0-9-]+)\b.* \| .* \| .* \|$", (ROOT / "docs/releases.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert {re.split(r"[<>=\[]", one)[0] for one in wanted} <= set(listed)


def test_what_the_workflow_runs_is_there():
    workflow, makefile = (
        (ROOT / name).read_text(encoding="utf-8") for name in (".github/workflows/tests.yml", "Makefile")
    )
    targets = re.findall(r"run: make ([\w-]+)$", workflow, re.MULTILINE)
    targets += [f"test-{one}" for one in re.search(r"which: \[(.*)\]", workflow)[1].split(", ")]
    assert {"coverage", "release-check", "test-lowest", "test-newest"} == set(targets)
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets)
    tested = set(re.search(r"python: \[(.*)\]", workflow)[1].replace('"', "").split(", "))
    stated = {one.rsplit(" ", 1)[1] for one in _project()["classifiers"] if ":: Python :: 3." in one}
    assert tested == stated


def test_the_version_is_the_same_everywhere():
    assert f"\nversion: {__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    headings = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert headings[0].startswith(f"{__version__} (")
