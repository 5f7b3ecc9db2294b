"""The site: MyST pages and a course of sphinx-gallery chapters, all executed; its readers need no network."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "_ext"))

from mklcvx import __version__  # noqa: E402

project = "mklcvx"
author = copyright = "The mklcvx authors"
version = release = __version__
language = "en_GB"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "local_mathjax",
    "made_tables",
    "plain_docstrings",
    "sphinx.ext.napoleon",  # after it: what it reads is markup already
    "executed_blocks",
    "family_tree",
    "formulation_pages",
    "loss_pages",
    "explorer_grid",
    "hidden_solutions",
    "outside_links",
]
exclude_patterns = ["course", "formulations/_more"]
suppress_warnings = ["config.cache"]  # the gallery's sort key is a class, which Sphinx cannot keep between builds

outside_pages = {
    "README.md": "docs/start.md",
    "CONTRIBUTING.md": "docs/outside/contributing.md",
    "examples/handing_over": "docs/verify.md",
    "formulations": "docs/formulations/index.md",
    "docs/course/WRITING.md": "docs/outside/writing.md",
    "validation/bench/beside/bench.md": "docs/outside/beside.md",
    "validation/bench/results/bench.md": "docs/outside/bench_results.md",
    "validation/cluster.md": "docs/outside/cluster.md",
    "validation/mutation.md": "docs/outside/mutation.md",
    "validation/pairs.md": "docs/outside/pairs.md",
    "validation/claims/claims.md": "docs/claims.md",
    "validation/conform/broken.md": "docs/outside/conform_broken.md",
    "validation/conform/clarabel.md": "docs/outside/conform_clarabel.md",
    "validation/conform/mklpy-alignment.md": "docs/outside/conform_mklpy-alignment.md",
    "validation/conform/mklpy-average.md": "docs/outside/conform_mklpy-average.md",
    "validation/conform/simplemkl.md": "docs/outside/conform_simplemkl.md",
    "validation/conform/svc.md": "docs/outside/conform_svc.md",
    "validation/defaults.md": "docs/outside/defaults.md",
    "validation/engine.md": "docs/outside/engine_results.md",
    "validation/hypergraphs.md": "docs/outside/hypergraphs.md",
    "validation/matrix/validation.md": "docs/outside/matrix.md",
    "validation/solvers.md": "docs/outside/solvers.md",
    "validation/streamed.md": "docs/outside/streamed.md",
    "validation/truth/planted.md": "docs/outside/planted.md",
    "validation/forged/forged.md": "docs/outside/forged.md",
    "validation/truth/truth.md": "docs/outside/truth.md",
    "validation/weight_ranges.md": "docs/outside/weight_ranges.md",
}
outside_pages |= {f"docs/course/{p.name}": f"docs/chapters/{p.stem}.rst" for p in sorted(HERE.glob("course/plot_*.py"))}
for kind, found in {
    "conform": HERE.parent.glob("validation/conform/*.md"),
    "experiments": HERE.parent.glob("validation/experiments/results/*/*.md"),
}.items():
    outside_pages |= {str(p.relative_to(HERE.parent)): f"docs/outside/{kind}_{p.stem}.md" for p in sorted(found)}

myst_enable_extensions = ["amsmath", "attrs_inline", "colon_fence", "attrs_block", "deflist", "dollarmath", "fieldlist"]
myst_heading_anchors = 3
myst_dmath_double_inline = True

mathjax3_config = {
    "tex": {"macros": {"R": r"\mathbb{R}", "tr": r"\operatorname{tr}", "diag": r"\operatorname{diag}"}},
    "svg": {"fontCache": "global"},
    "options": {"enableMenu": False},  # which would load more files; MathML for readers aloud is there without
}

napoleon_google_docstring = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_preserve_defaults = True
autosummary_generate = True
# Types of other packages have no page here; ours must.
nitpick_ignore_regex = [(r"py:.*", r"(?!mklcvx).*")]

sphinx_gallery_conf = {
    "examples_dirs": ["course"],
    "gallery_dirs": ["chapters"],
    "filename_pattern": r"plot_\d\d_",
    "ignore_pattern": r"__init__\.py",
    "within_subsection_order": "FileNameSortKey",
    "image_scrapers": ("matplotlib",),
    "image_srcset": ["2x"],
    "first_notebook_cell": "# Needs mklcvx and matplotlib: pip install 'mklcvx[plot]'\n%matplotlib inline",
    "capture_repr": (),
    "download_all_examples": False,
    "remove_config_comments": True,
    "min_reported_time": 3600,  # times of the machine that built the site say nothing to a reader
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "backreferences_dir": None,
    "plot_gallery": True,
    "parallel": 2,  # chapters at a time, each in a process of its own
}

html_theme = "pydata_sphinx_theme"
html_context = {"default_mode": "auto"}
html_title = "mklcvx"
html_favicon = "_static/favicon.svg"
html_static_path = ["_static"]
html_css_files = ["site.css"]
SINGLE_PAGES = ("index", "start", "picture", "explorer", "claims")  # they have no sections to list
html_sidebars = {page: [] for page in SINGLE_PAGES}
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "mklcvx"},
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 10,
    "navbar_persistent": ["search-button"],
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": [],
}
