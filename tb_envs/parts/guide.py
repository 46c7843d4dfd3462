"""The knowledge base as tools show it: a search by words, and one article whole. A domain names the tools."""

from tb_envs.authoring import Db, Json, ToolError

SNIPPET, BEST = 160, 5


def _snippet(body: str) -> str:
    """The first words of an article."""
    first = " ".join(body[: SNIPPET * 2].split())
    return first if len(first) <= SNIPPET else first[:SNIPPET].rpartition(" ")[0] + " …"


def found(db: Db, query: str, thing: str = "article") -> Json:
    """Up to five titles with their first words, the best match first; ids stand under ``<thing>_id``."""
    items = [
        {
            f"{thing}_id": article.id,
            "title": article.title,
            "snippet": _snippet(article.body),
            "updated": article.updated,
        }
        for article in db.articles.search(query, BEST)
    ]
    return {"items": items, "total": len(items)}


def opened(db: Db, key: str, *, search_tool: str, thing: str = "article") -> Json:
    """One article with its status; `search_tool` is named where there is none of this id."""
    article = db.articles.by_id.get(key)
    if article is None:
        raise ToolError(f"There is no {thing} {key!r}; find one with {search_tool}.")
    return {
        f"{thing}_id": article.id,
        "title": article.title,
        "status": article.status,
        "superseded_by": article.superseded_by or None,
        "updated": article.updated,
        "body": article.body,
    }
