"""Knowledge-base search: one read-only full-text index per domain, the same behind every backend.

The query is words, never search syntax; results are ranked by BM25, ties by id. Articles are the domain's static
content, not episode state: no tool can change them.
"""

from __future__ import annotations

import re
import sqlite3
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tb_envs.errors import DomainError

_WORD = re.compile(r"\w+")
_STOP = frozenset(
    [
        "a",
        "an",
        "and",
        "are",
        "at",
        "be",
        "by",
        "can",
        "do",
        "does",
        "for",
        "from",
        "how",
        "i",
        "in",
        "is",
        "it",
        "may",
        "of",
        "on",
        "or",
        "the",
        "to",
        "we",
        "what",
        "when",
        "which",
        "with",
        "you",
    ]
)


@dataclass(frozen=True)
class Article:
    """One knowledge-base article; `status` is ``current`` or ``superseded``."""

    id: str
    title: str
    status: str
    superseded_by: str
    updated: str
    body: str


class Articles:
    """A domain's articles and their index."""

    def __init__(self, found: Sequence[Article]) -> None:
        self.by_id = {article.id: article for article in sorted(found, key=lambda article: article.id)}
        if len(self.by_id) != len(found):
            raise DomainError("two articles share an id")
        self._index = sqlite3.connect(":memory:", check_same_thread=False)
        self._lock = threading.Lock()
        self._index.execute("CREATE VIRTUAL TABLE kb USING fts5(id UNINDEXED, title, body, tokenize='porter')")
        rows = [(article.id, article.title, article.body) for article in self.by_id.values()]
        self._index.executemany("INSERT INTO kb VALUES (?, ?, ?)", rows)

    @classmethod
    def read(cls, folder: Path) -> Articles:
        """The articles in a folder.

        Raises:
            DomainError: one has no header, or two share an id.
        """
        return cls([_read(path) for path in sorted(folder.glob("*.md"))])

    def search(self, query: str, limit: int = 5) -> list[Article]:
        """The best articles for the words of `query`; an empty list when no word is left."""
        words = list(dict.fromkeys(word.lower() for word in _WORD.findall(query[:400])))
        words = [word for word in words if word not in _STOP][:16]
        if not words:
            return []
        match = " OR ".join(f'"{word}"' for word in words)
        with self._lock:
            rows = self._index.execute(
                "SELECT id FROM kb WHERE kb MATCH ? ORDER BY round(bm25(kb, 0, 4, 1), 6), id LIMIT ?", (match, limit)
            ).fetchall()
        return [self.by_id[key] for (key,) in rows]


def _read(path: Path) -> Article:
    head, mark, body = path.read_text("utf-8").removeprefix("---\n").partition("\n---\n")
    if not mark:
        raise DomainError(f"{path.name}: begin with id, title, status, superseded_by, updated between two --- lines")
    fields = {
        key.strip(): value.strip() for key, _, value in (line.partition(":") for line in head.splitlines() if line)
    }
    missing = {"id", "title", "status", "updated"} - set(fields)
    if missing:
        raise DomainError(f"{path.name}: the header lacks {', '.join(sorted(missing))}")
    return Article(
        fields["id"],
        fields["title"],
        fields["status"],
        fields.get("superseded_by", ""),
        fields["updated"],
        body.strip(),
    )
