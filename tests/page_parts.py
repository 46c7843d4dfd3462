"""What tests of pages share: a page taken apart, and Debian's Chromium, driven by Playwright.

Where there is no browser its tests are skipped, and in CI they fail. What tests leave for a person to look at goes to
$CI_ARTEFACTS, or to build/artefacts. No other address than this machine's may be asked for.
"""

from __future__ import annotations

import base64
import html
import json
import os
import re
import shutil
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from services import skip_or_fail

ARTEFACTS = Path(os.environ.get("CI_ARTEFACTS") or Path(__file__).parent.parent / "build" / "artefacts")


NO_BROWSER = "no browser: it needs Debian's package chromium"


class Tags(HTMLParser):
    """Tags and data blocks of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.blocks: dict[str, Any] = {}
        self._open: list[tuple[str, str]] = []
        self.feed(text)
        self.close()
        assert not self._open, f"left open: {self._open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "br"):
            self._open.append((tag, dict(attrs).get("id") or ""))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1][0] == "script" and self._open[-1][1]:
            self.blocks[self._open[-1][1]] = json.loads(zlib.decompress(base64.b64decode(data)))


def tables_of(page: Path) -> list[tuple[str, list[list[str]]]]:
    """The words of each table in a page, by row, with the heading before it."""
    found: list[tuple[str, list[list[str]]]] = []
    title = ""
    for part in re.findall("<(?:h2|h3|summary)[ >].*?</(?:h2|h3|summary)>|<table.*?</table>", page.read_text("utf-8")):
        if part.startswith("<table"):
            rows = [re.split("</t[hd]>", row)[:-1] for row in part.split("</tr>")[:-1]]
            found.append((title, [[_words(cell) for cell in row] for row in rows]))
        else:
            title = _words(part)
    return found


def _words(markup: str) -> str:
    return html.unescape(re.sub("<[^>]+>", "", markup))


def chromium_path() -> str:
    """Where the browser is; empty if there is none."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or ""


@contextmanager
def open_chromium() -> Iterator[Any]:
    """A browser. Whatever needs an event loop in this thread has to be done before: its driver takes it."""
    from playwright.sync_api import sync_playwright

    found = chromium_path()
    skip_or_fail("" if found else NO_BROWSER)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=found, args=["--no-sandbox"] if os.geteuid() == 0 else [])
        try:
            yield browser
        finally:
            browser.close()


class Reader:
    """A visitor of a page, who notes every complaint of the browser."""

    def __init__(self, browser: Any, url: str | Path, *, width: int = 1320, height: int = 900, **options: Any) -> None:
        self.problems: list[str] = []
        context = browser.new_context(viewport={"width": width, "height": height}, reduced_motion="reduce", **options)
        self.page = context.new_page()
        self.page.on("console", lambda message: self.problems.append(message.text))
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("request", self._requested)
        self.page.goto(url.as_uri() if isinstance(url, Path) else url)
        self.page.locator("html[data-ready]").wait_for()

    def _requested(self, request: Any) -> None:
        if not request.url.startswith(("file:", "http://127.0.0.1:", "data:")):
            self.problems.append(f"asked for {request.url}")

    def names(self) -> list[str]:
        """The tasks on the list's page."""
        return self.page.locator("#list td.name").all_inner_texts()

    def done(self) -> None:
        """Leave; nothing may have been complained about."""
        assert not self.problems
        self.page.context.close()


def picture(page: Any, name: str, folder: Path = ARTEFACTS) -> None:
    """Keep what the page shows now."""
    folder.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=str(folder / f"{name}.png"))
