"""Superseded editions of articles, made from the current ones: another year, other figures. For the knob of that name.

They are what a knowledge base gathers over the years: titled alike, found by the same words, and out of date. Refuses
to touch a current article.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from tb_envs.authoring.rng import Rng
from tb_envs.store.articles import Article

_FIGURE = re.compile(r"(?<![\w.:-])\d{1,5}(?:\.\d+)?(?![\w:]|\.\d|-\d)")
_REFERENCE = re.compile(r"(?:section|chapter|policy|handbook|rule) $", re.IGNORECASE)


def stale(articles: Mapping[str, Article], count: int) -> list[Article]:
    """`count` superseded editions of the current articles that hold figures, in turn; the same for the same articles.

    Args:
        articles: by id, ids like ``KB-07``.
        count: how many.
    """
    current = [a for a in articles.values() if a.status == "current" and _older(a, 0, 0).body != a.body]
    taken = max((int(found[0]) for key in articles if (found := re.findall(r"\d+", key))), default=0)
    return [_older(current[at % len(current)], at // len(current), taken + 1 + at) for at in range(count) if current]


def _older(article: Article, generation: int, number: int) -> Article:
    rng = Rng("stale", article.id, generation)
    year = int(article.updated[:4]) - 1 - generation
    prefix = re.split(r"\d", article.id)[0]

    def other(found: re.Match[str]) -> str:
        if _REFERENCE.search(found.string[: found.start()]):
            return found[0]
        value = float(found[0])
        changed = max(1.0, round(value * rng.between(60, 145) / 100))
        changed = changed if changed != value else changed + 1
        return f"{changed:.2f}" if "." in found[0] else f"{changed:.0f}"

    return Article(
        id=f"{prefix}{number:02d}",
        title=f"{article.title} ({year})",
        status="superseded",
        superseded_by=article.id,
        updated=f"{year}{article.updated[4:]}",
        body=_FIGURE.sub(other, article.body),
    )
