"""Thousands of episodes in one HTML file: JSON, deflated in chunks, as text that a browser does not read until asked.

A chunk holds neighbours (attempts at one task are alike, so they pack well) and is small enough to be unpacked at a
click. What an agent wrote cannot leave its chunk: base64 has no character that means anything in HTML.
"""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

from tb_envs.evaluation.report.markup import Html, el

CHUNK = 1 << 19
"""Bytes of JSON after which a chunk is full."""


def block(name: str, value: Any) -> Html:
    """A value as an element that the page's script can unpack by its name."""
    return _block(name, _json(value))


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True)


def _block(name: str, text: str) -> Html:
    data = base64.b64encode(zlib.compress(text.encode("ascii"), 6)).decode("ascii")
    return el("script", Html(data), type="application/octet-stream", id=name)


class Packer:
    """Collects episodes into chunks.

    Attributes:
        chunks: those that are full, each as an element.
    """

    def __init__(self) -> None:
        self.chunks: list[Html] = []
        self._open: list[str] = []
        self._size = 0

    def add(self, episode: Any) -> tuple[int, int]:
        """Keep an episode; the number of its chunk and its place in it."""
        where = len(self.chunks), len(self._open)
        text = _json(episode)
        self._open.append(text)
        self._size += len(text)
        if self._size >= CHUNK:
            self.flush()
        return where

    def flush(self) -> None:
        """Close the chunk that is being filled."""
        if self._open:
            self.chunks.append(_block(f"chunk-{len(self.chunks)}", f"[{','.join(self._open)}]"))
        self._open, self._size = [], 0
