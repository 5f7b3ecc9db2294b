"""Debian's Chromium without a screen and without a network, and a static server for the folder that it may see."""

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)  # fmt: skip


def missing() -> str | None:
    """What a browser cannot be driven without, in one line; None if it can be."""
    if not any(map(shutil.which, PROGRAMS)):
        return "no Chromium is installed (Debian: apt-get install chromium)"
    return None if find_spec("playwright") else "playwright is not installed (pip install 'mklcvx[browser]')"


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args: Any) -> None:
        pass


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a server for the folder, with no slash at the end."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


class Window:
    """A page of the browser that may ask one server only, and the faults that it notices by itself."""

    def __init__(self, browser: Any, address: str, scheme: str = "light") -> None:
        self.address, self.faults = address, list[str]()
        self.context = browser.new_context(color_scheme=scheme)
        self.context.route("**/*", self._let_through)
        self.page = self.context.new_page()
        self.page.on("console", self._said)
        self.page.on("pageerror", lambda fault: self.faults.append(f"script: {fault}"))
        self.page.on("requestfailed", lambda request: self.faults.append(f"failed: {request.url}"))
        self.page.on("response", lambda answer: self._answered(answer.status, answer.url))

    def _let_through(self, route: Any) -> None:
        if route.request.url.startswith(f"{self.address}/"):
            route.continue_()
        else:
            self.faults.append(f"asks for {route.request.url}")
            route.abort()

    def _said(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.faults.append(f"console: {message.text}")

    def _answered(self, status: int, url: str) -> None:
        if status >= 400:
            self.faults.append(f"status {status}: {url}")

    def open(self, name: str, width: int = 1280) -> Any:
        """The page, loaded, its mathematics typeset."""
        self.faults.clear()
        self.page.set_viewport_size({"width": width, "height": 800})
        self.page.goto(f"{self.address}/{name}", wait_until="load")
        self.page.evaluate("() => window.MathJax && MathJax.startup ? MathJax.startup.promise.then(() => 1) : 1")
        return self.page

    def close(self) -> None:
        self.context.close()


@contextmanager
def chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    program = next(path for path in map(shutil.which, PROGRAMS) if path)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()
