"""The browser's check of the site, held to pages with one fault each; and what it says where there is no browser."""

import os
import subprocess
import sys

import pytest

import site_check
from browser import Window, chromium, missing, served

ROOM = '<!doctype html><html><head><title>t</title><link rel="icon" href="data:,"></head><body>%s</body></html>'
DOT = "data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=="
PAGES = {
    "right": f'<p id="here">costs 5$, <code>$x$</code></p><a href="right.html#here">a</a><img src="{DOT}">',
    "raw": "<p>where $\\alpha$ is</p>",
    "bare": '<span class="math">alpha</span>',
    "wide": '<div style="width: 600px">wide</div>',
    "cut": '<div style="overflow: hidden"><p class="math"><svg width="900" height="9"></svg></p></div>',
    "leaving": '<img src="http://example.com/a.png">',
    "loud": "<script>console.error('no')</script>",
    "broken": "<script>undefined.x</script>",
    "missing": '<img src="nothing.png">',
}
EXPECTED = {
    "raw": "raw: where $\\alpha$ is",
    "bare": "bare: alpha",
    "wide": "scrolls sideways at 380 px: [608",
    "cut": "cut off at 380 px: ",
    "leaving": "asks for http://example.com/a.png",
    "loud": "console: no",
    "broken": "script: ",
    "missing": "status 404: ",
}
NO_CHROMIUM = "no Chromium is installed (Debian: apt-get install chromium)"
LINKS = '<a href="right.html#there">a</a> <a href="_downloads/none.ipynb">b</a> <a href="right.html?x#here">c</a>'


@pytest.mark.skipif(missing() is not None, reason=str(missing()))
def test_every_fault_is_seen_and_nothing_else(tmp_path):
    for name, body in {**PAGES, "links": LINKS}.items():
        (tmp_path / f"{name}.html").write_text(ROOM % body, encoding="utf-8")
    (tmp_path / "_static").mkdir()
    (tmp_path / "_static" / "part.html").write_text("{{ no page }}", encoding="utf-8")
    assert site_check.pages(tmp_path) == sorted(f"{name}.html" for name in (*PAGES, "links"))
    with served(tmp_path) as address, chromium() as browser:
        window = Window(browser, address)
        found, faults = {}, {}
        for name in site_check.pages(tmp_path):
            found[name], faults[name.removesuffix(".html")] = site_check.page_faults(window, name)
        dead = list(site_check.dead_links(tmp_path, address, found))
    assert faults["right"] == faults["links"] == []
    for name, words in EXPECTED.items():
        assert any(fault.startswith(words) for fault in faults[name]), (name, faults[name])
    assert dead == ["links.html: there is no _downloads/none.ipynb", "links.html: right.html has no place called there"]


@pytest.mark.parametrize(("options", "status"), [([], 1), (["--if-possible"], 0)])
def test_without_a_browser_it_says_so_in_one_line(options, status, tmp_path):
    done = subprocess.run(
        [sys.executable, site_check.__file__, str(tmp_path), *options],
        env={**os.environ, "PATH": str(tmp_path)}, capture_output=True, text=True, encoding="utf-8",
    )  # fmt: skip
    assert done.returncode == status
    assert done.stdout == f"the site was not looked at: {NO_CHROMIUM}\n"
    assert done.stderr == ""
