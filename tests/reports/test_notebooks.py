"""A chapter becomes a notebook, and the notebook runs; `make site-test` runs all of them with the built wheel."""

import json
import subprocess
import sys

import pytest

import run_notebooks
from hidden_solutions import fold_notebook
from places import ROOT

pytestmark = pytest.mark.slow

COURSE = ROOT / "docs" / "course"


def test_a_chapter_as_a_notebook_runs(tmp_path):
    notebook = pytest.importorskip("sphinx_gallery.notebook", reason="the extra docs is not installed")
    from sphinx_gallery.gen_gallery import DEFAULT_GALLERY_CONF
    from sphinx_gallery.py_source_parser import split_code_and_text_blocks

    chapter = COURSE / "plot_02_by_hand.py"
    _, blocks = split_code_and_text_blocks(str(chapter))
    conf = {**DEFAULT_GALLERY_CONF, "first_notebook_cell": "%matplotlib inline"}
    made = fold_notebook(notebook.jupyter_notebook(blocks, conf, str(COURSE)))
    path = tmp_path / "plot_02_by_hand.ipynb"
    path.write_text(json.dumps(made), encoding="utf-8")
    words = [sys.executable, run_notebooks.__file__, path]
    done = subprocess.run(words, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr[-2000:]
    codes = [text for kind, text, _ in blocks if kind == "code"]
    assert f"plot_02_by_hand.ipynb: {len(codes) + 1} cells" in done.stdout
    assert [text.strip() for text in run_notebooks.code(path)[1:]] == [text.strip() for text in codes]
