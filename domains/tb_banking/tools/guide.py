"""The staff guide: pages with prices and countries, current and superseded."""

from tb_envs.authoring import Db, Identifier, Json, Toolset, Words
from tb_envs.parts.guide import found, opened

guide = Toolset("guide", "Pages of the staff guide.")


@guide.read
def search_guide(db: Db, query: Words) -> Json:
    """Look for pages of the staff guide: the titles and first words of up to 5, the best match first.

    Whether a page is current or superseded stands on the page itself.

    Args:
        query: plain words, e.g. `fee for foreign payments`.
    """
    return found(db, query, "page")


@guide.read
def open_guide_page(db: Db, page_id: Identifier) -> Json:
    """A whole page of the staff guide, with its status; a superseded page names the one that follows it.

    Args:
        page_id: the page, as `search_guide` shows it.
    """
    return opened(db, page_id, search_tool="search_guide", thing="page")
