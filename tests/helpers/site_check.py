"""A real browser reads the built site with the network cut: `make site-test`.

On every page: formulas are typeset and none is left raw, pictures are there, nothing is said on the console, no request
leaves, nothing scrolls sideways on a phone, and every link and download leads to something. Then the explorer at every
position of its sliders, the search, and a report with its pictures. `--shots FOLDER` keeps pictures of all pages.
"""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag

from browser import Window, chromium, missing, served
from in_the_page import CUT, FIGURES, LOOK, POSITIONS, WIDER
from places import ROOT

PHONE, DESKTOP = 380, 1280
SITE = ROOT / "build" / "site"
SEPARABLE = 16  # the position of C up to which no kernel tells the classes apart, so that more C costs more
NO_PAGES = ("_static", "_sources", "_downloads")


# --------------------------------------------------------------------------------------------------------- every page
def pages(site: Path) -> list[str]:
    names = (path.relative_to(site) for path in sorted(site.rglob("*.html")))
    return [name.as_posix() for name in names if name.parts[0] not in NO_PAGES]


def page_faults(window: Window, name: str) -> tuple[dict[str, Any], list[str]]:
    """What the page has, and what is wrong with it, at both widths."""
    page = window.open(name)
    found = page.evaluate(LOOK)
    faults = [f"{kind}: {text}" for kind in ("raw", "bare", "wrong", "empty") for text in found[kind]]
    for width in (DESKTOP, PHONE):
        page.set_viewport_size({"width": width, "height": 800})
        if wide := page.evaluate(WIDER, width):
            faults.append(f"scrolls sideways at {width} px: {wide}")
        faults += [f"cut off at {width} px: {text}" for text in page.evaluate(CUT)]
    return found, [*faults, *window.faults]


def dead_links(site: Path, address: str, found: dict[str, dict[str, Any]]) -> Iterator[str]:
    """Links within the site, and downloads, that lead nowhere."""
    for name, page in found.items():
        for link in sorted(set(page["links"])):
            if not link.startswith(f"{address}/"):
                continue
            url, fragment = urldefrag(link.removeprefix(f"{address}/"))
            target = unquote(url.split("?")[0]) or "index.html"
            known = found.get(target)
            if not (site / target).is_file():
                yield f"{name}: there is no {target}"
            elif known and fragment and unquote(fragment) not in known["ids"]:
                yield f"{name}: {target} has no place called {fragment}"


# ------------------------------------------------------------------------------------------------- explorer and search
def explorer_faults(window: Window) -> Iterator[str]:
    page = window.open("explorer.html")
    page.select_option("#explorer select", "sm1")
    for slider in ("C", "own"):
        before = page.inner_text(".certificate"), page.inner_text("[data-weights]")
        page.focus(f'[data-slider="{slider}"]')
        page.keyboard.press("ArrowLeft")
        if before == (page.inner_text(".certificate"), page.inner_text("[data-weights]")):
            yield f"explorer: an arrow key on the slider {slider} changes nothing"
    seen = page.evaluate(POSITIONS)
    for at in seen:
        apart = abs(at["upper"] - at["lower"]) / max(abs(at["upper"]), abs(at["lower"]))
        if not (apart < 1e-6 and at["gap"] < 1e-6):
            yield f"explorer: {at['name']} at {at['row']}, {at['column']}: the bounds leave {max(apart, at['gap']):.1e}"
    for before, after in pairwise(seen):
        steps = after["column"] - before["column"] == 1
        if steps and not (after["upper"] > before["upper"] or after["column"] > SEPARABLE):
            yield f"explorer: {after['name']} at {after['row']}, {after['column']}: C rises and the bounds do not"
    for name in sorted({at["name"] for at in seen} - {"average"}):
        if len({at["weights"] for at in seen if at["name"] == name}) < 10:
            yield f"explorer: the weights of {name} stand still"
    print(f"explorer: {len(seen)} positions, largest gap {max(at['gap'] for at in seen):.1e}")
    yield from window.faults


def search_faults(window: Window) -> Iterator[str]:
    page = window.open("search.html?q=certificate")
    page.wait_for_function("document.querySelectorAll('#search-results li a').length > 4", timeout=20_000)
    yield from window.faults


# -------------------------------------------------------------------------------------------------------------- report
def report_faults(browser: Any, shots: Path | None) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder, served(Path(folder)) as address:
        for command in (["zoo", "export", "clouds", "-o", "problem.npz"], ["report", "problem.npz", "-f", "sm1", "-q"]):
            subprocess.run([sys.executable, "-m", "mklcvx", *command], cwd=folder, check=True)
        window = Window(browser, address)
        page = window.open("report.html")
        drawn = page.evaluate(FIGURES)
        if len(drawn) < 3 or min(one["marks"] for one in drawn) < 5 or min(one["area"] for one in drawn) < 10_000:
            yield f"report: pictures are missing or empty: {drawn}"
        for width in (DESKTOP, PHONE):
            page.set_viewport_size({"width": width, "height": 800})
            if wide := page.evaluate(WIDER, width):
                yield f"report: scrolls sideways at {width} px: {wide}"
        yield from (fault for fault in window.faults if not fault.endswith("/favicon.ico"))
        window.close()
        if shots:
            photograph(browser, address, ["report.html"], shots)
        print(f"report: {len(drawn)} pictures")


# --------------------------------------------------------------------------------------------------------------- shots
def photograph(browser: Any, address: str, names: list[str], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for scheme in ("light", "dark"):
        window = Window(browser, address, scheme)
        for name in names:
            for width in (PHONE, DESKTOP):
                page = window.open(name, width)
                stem = name.removesuffix(".html").replace("/", "-")
                page.screenshot(path=folder / f"{stem}_{width}_{scheme}.png", full_page=True)
        window.close()


def check(site: Path, shots: Path | None, only: list[str]) -> list[str]:
    with served(site) as address, chromium() as browser:
        names = [name for name in pages(site) if not only or name.removesuffix(".html") in only]
        window, found, faults = Window(browser, address), {}, []
        for name in names:
            found[name], wrong = page_faults(window, name)
            faults += [f"{name}: {fault}" for fault in wrong]
        links = sum(len(set(page["links"])) for page in found.values())
        print(f"{len(found)} pages, {sum(page['formulas'] for page in found.values())} formulas, {links} links")
        if not only:
            faults += dead_links(site, address, found)
            faults += [*explorer_faults(window), *search_faults(window), *report_faults(browser, shots)]
        window.close()
        if shots:
            photograph(browser, address, names, shots)
    return faults


def main() -> None:
    parser = argparse.ArgumentParser(description="Read the built site in a browser with the network cut.")
    parser.add_argument("site", type=Path, nargs="?", default=SITE)
    parser.add_argument("--if-possible", action="store_true", help="succeed where there is no browser")
    parser.add_argument("--shots", type=Path, help="a folder for pictures: phone and desktop, light and dark")
    parser.add_argument("--only", default="", help="these pages alone, by commas, such as start,formulations/l1")
    asked = parser.parse_args()
    if absent := missing():
        print(f"the site was not looked at: {absent}")
        sys.exit(0 if asked.if_possible else 1)
    if not (asked.site / "index.html").is_file():
        sys.exit(f"{asked.site}: there is no site here: make docs")
    faults = check(asked.site, asked.shots, [name for name in asked.only.split(",") if name])
    print(*faults, f"{len(faults)} faults", sep="\n")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
