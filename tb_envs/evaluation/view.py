"""The report of campaigns that are still going, as a page on this machine that keeps itself up to date.

It answers GET for three things and nothing else: the page, what is new since the last question, and one episode. No
path names a file, so none can be reached through it. It listens on the loopback interface unless told otherwise, and
answers only under the names it was asked to, so that no other site can read a campaign through the visitor's browser.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tb_envs.errors import UsageError
from tb_envs.evaluation.report import page
from tb_envs.evaluation.report.campaigns import Campaign, Run, names_of
from tb_envs.evaluation.report.listing import entry, task
from tb_envs.evaluation.report.markup import Html
from tb_envs.evaluation.report.packing import block

LOOPBACK = ("127.0.0.1", "localhost")
POLL = 2.0
"""Seconds between two questions of a page."""
REST = 10
"""The numbers are made again no sooner than after this many times as long as they took."""


class Live:
    """Campaigns as they grow; may be asked from several threads.

    Args:
        campaigns: in the order they are shown.
        every: seconds between two questions of a page.
    """

    def __init__(self, campaigns: Sequence[Campaign], every: float = POLL) -> None:
        self.campaigns, self.every = campaigns, every
        self._names = names_of(campaigns)
        self._lock = threading.Lock()
        self._entries: list[list[Any]] = []
        self._numbers, self._counted, self._next = "", -1, 0.0

    def page(self) -> bytes:
        """The document; its numbers and episodes come with the first question for news."""
        runs = [Run(name, campaign, {}) for name, campaign in zip(self._names, self.campaigns, strict=True)]
        domains = {name for campaign in self.campaigns for name in campaign.manifest["domains"]}
        about = block("about", page.about(runs, sorted(domains), live=self.every))
        return "".join(page.frame(runs, [Html("")], [about], live=True)).encode()

    def state(self, after: int, version: str) -> dict[str, Any]:
        """What is new.

        Args:
            after: entries that the asker has.
            version: of the numbers that it has.
        """
        with self._lock:
            self._read()
            new = self._entries[after:] if 0 <= after <= len(self._entries) else self._entries
            tasks = {line[1]: task(self.campaigns[int(line[0])].attempts[line[1], line[2]]) for line in new}
            played = sum(len(campaign.attempts) for campaign in self.campaigns)
            planned = sum(campaign.planned for campaign in self.campaigns)
            return {
                "entries": new,
                "tasks": tasks,
                "next": len(self._entries),
                "numbers": None if version == str(self._counted) else self._numbers,
                "version": str(self._counted),
                "progress": f"{played:,} of {planned:,} attempts",
                "done": played >= planned and self._counted == len(self._entries),
            }

    def episode(self, run: int, task_id: str, attempt: int) -> dict[str, Any] | None:
        """One episode; None if there is none."""
        with self._lock:
            found = self.campaigns[run].attempts.get((task_id, attempt)) if 0 <= run < len(self.campaigns) else None
            return self.campaigns[run].episode(found) if found else None

    def _read(self) -> None:
        for number, campaign in enumerate(self.campaigns):
            for attempt, _ in campaign.read():
                self._entries.append(entry(number, attempt))
        if self._counted != len(self._entries) and time.monotonic() >= self._next:
            began = time.monotonic()
            runs = [
                Run(name, campaign, campaign.summary())
                for name, campaign in zip(self._names, self.campaigns, strict=True)
            ]
            self._numbers, self._counted = page.fragment(page.numbers(runs)), len(self._entries)
            self._next = time.monotonic() + REST * (time.monotonic() - began)


def make_server(live: Live, host: str = "127.0.0.1", port: int = 0) -> ThreadingHTTPServer:
    """A server that is bound and does not serve yet.

    Args:
        live: what it shows.
        host: to listen on.
        port: 0 for any that is free.
    """
    names = {*LOOPBACK, host}
    server = ThreadingHTTPServer((host, port), _handler(live, names))
    server.daemon_threads = True
    return server


def _handler(live: Live, names: set[str]) -> type[BaseHTTPRequestHandler]:
    """A class of handlers, since the server makes one for each connection."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = 60  # seconds that an idle connection is kept

        def do_GET(self) -> None:
            try:
                host = urlsplit(f"//{self.headers.get('Host', '')}").hostname
                asked = urlsplit(self.path)
            except ValueError as error:
                self._send(HTTPStatus.BAD_REQUEST, "text/plain", f"cannot read that request: {error}\n".encode())
                return
            answer = ANSWERS.get(asked.path)
            if host not in names:
                self._send(HTTPStatus.FORBIDDEN, "text/plain", b"ask for this page under the name it listens on\n")
            elif answer is None:
                self._send(HTTPStatus.NOT_FOUND, "text/plain", b"there are /, /state and /episode\n")
            else:
                try:
                    kind, body = answer(live, {name: words[-1] for name, words in parse_qs(asked.query).items()})
                except (UsageError, OSError) as error:  # of the campaign's files; the page says it in these words
                    self._send(HTTPStatus.CONFLICT, "text/plain", f"{error}\n".encode("utf-8", "replace"))
                    return
                except (KeyError, ValueError) as error:
                    self._send(HTTPStatus.BAD_REQUEST, "text/plain", f"cannot answer that: {error}\n".encode())
                    return
                self._send(HTTPStatus.OK if body else HTTPStatus.NOT_FOUND, kind, body)

        def _send(self, status: HTTPStatus, kind: str, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Cache-Control", "no-store")
            self.send_header("X-Content-Type-Options", "nosniff")
            self.send_header("Content-Security-Policy", "frame-ancestors 'none'")
            self.send_header("Cross-Origin-Resource-Policy", "same-origin")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing: a page asks every few seconds."""

    return Handler


def _page(live: Live, asked: Mapping[str, str]) -> tuple[str, bytes]:
    return "text/html", live.page()


def _state(live: Live, asked: Mapping[str, str]) -> tuple[str, bytes]:
    return "application/json", json.dumps(live.state(int(asked.get("after", "0")), asked.get("version", ""))).encode()


def _episode(live: Live, asked: Mapping[str, str]) -> tuple[str, bytes]:
    found = live.episode(int(asked["run"]), asked["task"], int(asked["attempt"]))
    return "application/json", b"" if found is None else json.dumps(found).encode()


ANSWERS: Mapping[str, Callable[[Live, Mapping[str, str]], tuple[str, bytes]]] = {
    "/": _page,
    "/state": _state,
    "/episode": _episode,
}
"""Path → what answers it."""
