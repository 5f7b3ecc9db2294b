"""The parts of the site that can be judged without building it; and a page with a failing block, built."""

import io
import re

import pytest

import claims_tables
import equations
import family_tree
import formulation_pages
import loss_pages
import plain_docstrings
from blocks import Failed, Page
from family import EDGES
from hidden_solutions import fold_cells, fold_notebook
from mklcvx.formulations import FORMULATIONS, get
from mklcvx.reports.explain import as_latex, as_text
from mklcvx.reports.explain import equations as equations_of
from mklcvx.reports.latex import prose
from mklcvx.reports.theorem import TheoremLine, parse
from outside_links import redirected
from places import ROOT

pytestmark = pytest.mark.slow

NAMES = [formulation.name for formulation in FORMULATIONS]
FOLDER = ROOT / "docs" / "formulations" / "_more"
MORE = sorted(path for path in FOLDER.glob("*.md") if path.stem != "README")


# ------------------------------------------------------------------------------------------------ formulation pages
@pytest.mark.parametrize("name", NAMES)
def test_a_page_says_what_explain_says(name):
    formulation, shown = get(name), formulation_pages.page(get(name))
    files = formulation_pages.taken_away(formulation)
    assert files == {f"{name}.txt": as_text(formulation), f"{name}.tex": as_latex(formulation)}
    assert all(f"<_taken/{file}>`" in shown for file in files)
    for part in parse(formulation.theorem).parts:
        if isinstance(part, TheoremLine) and part.label in ("primal", "dual", ""):
            continue
        text = " ".join(part.lines) if isinstance(part, TheoremLine) else part.text
        for piece in prose(text):
            if part.label == "Reference":
                continue
            assert formulation_pages._piece(*piece).lower() in shown.lower()
    assert parse(formulation.theorem).paragraph("Reference") in shown
    for parameter in formulation.parameter_names:
        assert f"| `{parameter}` |" in shown


@pytest.mark.parametrize("name", [path.stem for path in MORE])
def test_what_more_there_is_to_say_asserts_something(name):
    """When the site is built, which runs it."""
    assert name in NAMES
    blocks = re.findall(r"^```python\n(.*?)^```", (FOLDER / f"{name}.md").read_text(encoding="utf-8"), re.M | re.S)
    assert any("assert" in block for block in blocks)


# ------------------------------------------------------------------------------------------------------- loss pages


@pytest.mark.parametrize("loss", loss_pages.with_pages(), ids=lambda loss: loss.name)
def test_the_page_of_a_loss_says_what_explain_says(loss):
    shown = loss_pages.page(loss)
    assert formulation_pages.taken_away(loss) == {f"{loss.name}.txt": as_text(loss), f"{loss.name}.tex": as_latex(loss)}
    assert f"<_taken/{loss.name}.tex>`" in shown
    assert "$" not in shown.splitlines()[0]
    theorem = parse(loss.theorem)
    for part in theorem.parts:
        if isinstance(part, TheoremLine) and not part.label:
            continue
        for piece in prose(" ".join(part.lines) if isinstance(part, TheoremLine) else part.text):
            if part.label != "Reference":
                assert formulation_pages._piece(*piece).lower() in shown.lower()
    assert theorem.paragraph("Reference") in shown
    for line in equations_of(theorem.statement):
        assert shown.count(line) == 1
    for name, _ in loss.described_parameters:
        assert f"| `{name}` |" in shown


# --------------------------------------------------------------------------------------------------- the family tree
def test_the_picture_has_every_arrow_and_leads_to_every_page():
    drawn = family_tree.svg()
    assert sorted(re.findall(r'href="formulations/(\w+)\.html"', drawn)) == sorted(NAMES)
    assert drawn.count("<line ") == len(EDGES)
    assert drawn.count("stroke-dasharray") == sum(not edge.exact for edge in EDGES)


def test_no_arrow_runs_through_a_box():
    for edge in EDGES:
        x, y, u, v = family_tree.ends(edge)
        for name in set(NAMES) - {edge.of, edge.gives}:
            a, b = family_tree.centre(name)
            half = family_tree.wide(name) / 2, family_tree.HIGH / 2
            for step in range(101):
                p, q = x + (u - x) * step / 100, y + (v - y) * step / 100
                assert abs(p - a) > half[0] or abs(q - b) > half[1], (edge.of, edge.gives, name)


# ------------------------------------------------------------------------------------------------------------ claims
def test_every_claim_is_in_a_table():
    table = claims_tables.tables()
    parts = re.split(r"^### (.*)$", table, flags=re.MULTILINE)
    judged = "".join(text for title, text in zip(parts[1::2], parts[2::2], strict=True) if title != "Its equations")
    rows = [line for line in judged.splitlines() if line.startswith("| ") and not line.startswith("| where")]
    assert len(rows) == len(claims_tables.claims())
    assert {line.count(" | ") for line in rows} == {3}
    for claim in claims_tables.claims():
        assert equations.linked(claims_tables.plain(claim["statement"]), claim["paper"]) in table
    assert f"| all | {len(rows)} |" in claims_tables.counts()


def test_every_equation_that_a_claim_names_is_shown():
    for claim in claims_tables.claims():
        shown = {equation.number for equation in equations.EQUATIONS[claim["paper"]]}
        named = {int(number) for number in re.findall(r"\((\d+)\)", claim["where"])}
        assert named <= shown, claim["where"]
    table = claims_tables.tables()
    anchors = re.findall(r"\]\{#([\w-]+)\}", table)
    assert len(anchors) == len(set(anchors)) == sum(map(len, equations.EQUATIONS.values()))
    assert set(re.findall(r"\]\(#([\w-]+)\)", table)) <= set(anchors)
    assert "[(8)](#govindaraj-8), [(9)](#govindaraj-9)" in table
    for equation in (one for some in equations.EQUATIONS.values() for one in some):
        assert equation.page in NAMES or (ROOT / "docs" / "course" / f"plot_{equation.page}.py").exists()


def test_numbers_that_are_no_equations_lead_nowhere():
    assert equations.linked("f_μ(0), (99) and (8)", "Ji et al. 2008") == "f_μ(0), (99) and [(8)](#ji-8)"


# ------------------------------------------------------------------------------------------------------------ blocks
def test_blocks_share_a_namespace_and_show_what_they_print(tmp_path):
    page = Page("page", tmp_path)
    assert page.run("python", "x = 2\nprint(x)") == "2\n"
    assert page.run("python", "from pathlib import Path\nPath('file').write_text(str(x + 1))") == ""
    assert page.run("console", "$ python -c \"print(open('file').read())\"") == "3\n"
    assert (tmp_path / "file").read_text(encoding="utf-8") == "3"
    assert (tmp_path / "examples" / "handing_over" / "README.md").exists()


@pytest.mark.parametrize(
    ("language", "text", "words"),
    [
        ("python", "1 / 0", "ZeroDivisionError"),
        ("python", "import warnings\nwarnings.warn('old')", "UserWarning: old"),
        ("console", "$ python -c 'import sys; sys.exit(3)'", "status 3"),
        ("console", "$ rm -rf somewhere", "is not"),
        ("console", "mklcvx list", "is not"),
    ],
)
def test_a_block_that_fails_says_so(language, text, words, tmp_path):
    with pytest.raises(Failed, match=words):
        Page("page", tmp_path).run(language, text)


def test_what_is_not_installed_is_said_to_be(tmp_path):
    assert "not run here: there is no ./missing" in Page("page", tmp_path).run("console", "$ ./missing 1")


# ------------------------------------------------------------------------------------------------------------ chapters
@pytest.mark.parametrize("path", sorted((ROOT / "docs" / "course").glob("plot_*.py")), ids=lambda path: path.stem)
def test_a_chapter_is_as_short_as_its_rules_ask(path):
    before, title, exercises = path.read_text(encoding="utf-8").partition("# Exercises\n# ---------\n")
    assert title
    assert len(before.splitlines()) <= 300
    assert len(exercises.splitlines()) <= 100


CHAPTER = """.. GENERATED FROM PYTHON SOURCE LINES 1-2

.. code-block:: Python


    print(1)

.. GENERATED FROM PYTHON SOURCE LINES 3-5

.. code-block:: Python


    # Solution 1, by machine
    print(2)

.. rst-class:: sphx-glr-script-out

 .. code-block:: none

    2

.. _sphx_glr_download_x:
"""


def test_a_solution_is_folded_with_what_it_prints():
    text = fold_cells("\n" + CHAPTER)
    before, title, after = text.partition(".. dropdown:: Solution 1, by machine\n")
    assert "print(1)" in before
    assert title
    assert "print(1)" not in after
    inside = after.split("\n.. _sphx_glr_download")[0]
    assert all(not line or line.startswith("    ") for line in inside.splitlines())
    assert "     .. code-block:: none" in inside
    assert text.endswith("\n.. _sphx_glr_download_x:\n")


def test_a_notebook_folds_solutions_too():
    cells = [
        {"cell_type": "code", "metadata": {}, "source": ["# Solution 1\n", "1"]},
        {"cell_type": "code", "metadata": {}, "source": ["2"]},
        {
            "cell_type": "markdown",
            "metadata": {},
            "source": ["Why?\n\n.. dropdown:: Solution 2\n\n    Since.\n\nAfter.\n"],
        },
    ]
    folded = fold_notebook({"cells": cells})["cells"]
    assert folded[0]["metadata"]["jupyter"] == {"source_hidden": True}
    assert folded[1]["metadata"] == {}
    assert "".join(folded[2]["source"]) == (
        "Why?\n\n<details><summary>Solution 2</summary>\n\nSince.\n\n</details>\n\nAfter.\n"
    )


# --------------------------------------------------------------------------------------------------- links, docstrings
def test_links_lead_to_pages_where_there_are_some():
    pages = {"validation/a.md": "docs/outside/a.md"}
    assert redirected("[a](../validation/a.md#x) [b](b.md)", "docs", pages) == "[a](outside/a.md#x) [b](b.md)"
    moved = redirected("![p](p.png) [a](a.md) [d](../docs/b.md) [h](http://a.md)", "validation", pages, "docs/outside")
    assert moved == "![p](../../validation/p.png) [a](a.md) [d](../b.md) [h](http://a.md)"


def test_docstrings_are_taken_as_they_stand():
    lines = ["Of `f`: x_i and a*b.", "", "    a  =  b", "", "Then |z|."]
    assert plain_docstrings.converted(lines) == [
        "Of ``f``: x\\_i and a\\*b.", "", "", "::", "", "    a  =  b", "", "", "Then \\|z\\|.",
    ]  # fmt: skip


def test_a_page_with_a_failing_block_fails_the_build(tmp_path):
    pytest.importorskip("myst_parser", reason="the extra docs is not installed")
    application = pytest.importorskip("sphinx.application", reason="the extra docs is not installed")
    source = tmp_path / "source"
    source.mkdir()
    (source / "conf.py").write_text("extensions = ['myst_parser', 'executed_blocks']\n", encoding="utf-8")
    (source / "index.md").write_text(
        "# Page\n\n```python\nprint(6 * 7)\n```\n\n```{toctree}\nwrong\n```\n", encoding="utf-8"
    )
    (source / "wrong.md").write_text("# Page\n\n```python\nassert 1 == 2\n```\n", encoding="utf-8")
    warned = io.StringIO()
    site = tmp_path / "site"
    app = application.Sphinx(source, source, site, tmp_path / "trees", "html", status=None, warning=warned)
    app.build()
    (line,) = [line for line in warned.getvalue().splitlines() if "block" in line]
    assert "wrong.md" in line
    assert "AssertionError" in line
    assert "42" in (site / "index.html").read_text(encoding="utf-8")
