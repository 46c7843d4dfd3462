"""The routes of a container's server as a table, so that a test can see every one of them and whose it is.

A path is matched as it is written, with one variable part at most. Refuses to guess: no other spelling finds a route.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tb_envs.containers.plain_http import Answer, Refused, Request

VARIABLE = "{id}"


class Route(NamedTuple):
    """One route.

    Attributes:
        method: of HTTP.
        path: with ``{id}`` for the variable part.
        answer: answers a request, from the server, the request and the variable part.
    """

    method: str
    path: str
    answer: Callable[[Any, Request, str], Answer]

    def match(self, path: str) -> str | None:
        """The variable part of a path that is this route's, empty where there is none; None for any other path."""
        head, variable, tail = self.path.partition(VARIABLE)
        if not variable:
            return "" if path == head else None
        if not path.startswith(head) or not path.endswith(tail):
            return None
        key = path[len(head) : len(path) - len(tail)]
        return key if key and "/" not in key else None


def find(routes: Sequence[Route], request: Request) -> tuple[Route, str]:
    """The route of a request, and the variable part of its path.

    Raises:
        Refused: there is none.
    """
    status = 404
    for route in routes:
        key = route.match(request.path)
        if key is not None and route.method == request.method:
            return route, key
        if key is not None:
            status = 405
    raise Refused(status, "nothing is here" if status == 404 else "this is not how it is asked for")
