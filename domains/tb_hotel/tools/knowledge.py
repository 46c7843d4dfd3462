"""The knowledge base."""

from tb_envs.authoring import Db, Identifier, Json, ToolError, Toolset, Words

knowledge = Toolset("knowledge", "Articles of the knowledge base.")

SNIPPET = 160


def _snippet(body: str) -> str:
    """The first words of an article."""
    first = " ".join(body[: SNIPPET * 2].split())
    return first if len(first) <= SNIPPET else first[:SNIPPET].rpartition(" ")[0] + " …"


@knowledge.read
def search_articles(db: Db, query: Words) -> Json:
    """Find articles by words: up to 5 titles with their first words, the best match first.

    Open an article to see whether it is current or superseded.

    Args:
        query: plain words, e.g. `late check-out price`.
    """
    items = [
        {
            "article_id": article.id,
            "title": article.title,
            "snippet": _snippet(article.body),
            "updated": article.updated,
        }
        for article in db.articles.search(query, 5)
    ]
    return {"items": items, "total": len(items)}


@knowledge.read
def get_article(db: Db, article_id: Identifier) -> Json:
    """One article, with its status: a superseded article names the one that took its place.

    Args:
        article_id: the article, e.g. `KB-03`.
    """
    article = db.articles.by_id.get(article_id)
    if article is None:
        raise ToolError(f"There is no article {article_id!r}; find one with search_articles.")
    return {
        "article_id": article.id,
        "title": article.title,
        "status": article.status,
        "superseded_by": article.superseded_by or None,
        "updated": article.updated,
        "body": article.body,
    }
