"""The knowledge base."""

from tb_envs.authoring import Db, Identifier, Json, Toolset, Words
from tb_envs.parts import guide

knowledge = Toolset("knowledge", "Articles of the knowledge base.")


@knowledge.read
def search_articles(db: Db, query: Words) -> Json:
    """Find articles by words: up to 5 titles with their first words, the best match first.

    Open an article to see whether it is current or superseded.

    Args:
        query: plain words, e.g. `late check-out price`.
    """
    return guide.found(db, query)


@knowledge.read
def get_article(db: Db, article_id: Identifier) -> Json:
    """One article, with its status: a superseded article names the one that took its place.

    Args:
        article_id: the article, e.g. `KB-03`.
    """
    return guide.opened(db, article_id, search_tool="search_articles")
