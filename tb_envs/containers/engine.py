"""The Docker engine as this project uses it: one client a thread, its errors in words, and which things are ours.

Refuses to touch what does not carry our label. The SDK is loaded when the first client is made.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from tb_envs.errors import BackendError, UsageError

LABEL = "thinkingbox-gym"
"""Prefix of every label that is put on a container or an image; what has none is not ours."""
OWNED = f"{LABEL}.owner"
"""Label of a container: the process that it belongs to."""
TIMEOUT = 60
"""Seconds for one request to the engine."""

_kept = threading.local()


def _forget() -> None:
    _kept.__dict__.clear()


os.register_at_fork(after_in_child=_forget)


def engine() -> Any:
    """The thread's client of the engine that DOCKER_HOST, or the usual socket, names.

    Raises:
        UsageError: the SDK is not installed.
        BackendError: no engine answers.
    """
    place = os.environ.get("DOCKER_HOST", "")
    known: tuple[str, Any] | None = getattr(_kept, "client", None)
    if known is not None and known[0] == place:
        return known[1]
    try:
        client: Any = sdk().from_env(timeout=TIMEOUT)
    except sdk().errors.DockerException as error:
        where = place or "unix:///var/run/docker.sock"
        raise BackendError(f"no Docker engine answers at {where}: {_short(error)}") from None
    _kept.client = (place, client)
    return client


def sdk() -> Any:
    """The Docker SDK; a `UsageError` that says how to install it where it is missing."""
    try:
        import docker
    except ImportError:
        raise UsageError("backend 'docker' needs the Docker SDK: pip install 'thinkingbox-gym[docker]'") from None
    return docker


def missing() -> str:
    """Why no engine can be used; empty if one can."""
    try:
        engine().ping()
    except Exception as error:
        return str(error)
    return ""


@contextmanager
def in_words(what: str) -> Generator[None]:
    """Turn the SDK's errors into a `BackendError` that says what was being done.

    The thread's connections are closed afterwards: the SDK keeps one for each path that it asked for, and a container's
    id is part of a path.
    """
    errors = sdk().errors
    from requests.exceptions import RequestException

    try:
        yield
    except (errors.DockerException, RequestException) as error:
        raise BackendError(f"{what}: {_short(error)}") from None
    finally:
        known: tuple[str, Any] | None = getattr(_kept, "client", None)
        if known is not None:
            known[1].close()


@contextmanager
def gone_is_fine(what: str) -> Generator[None]:
    """As `in_words`, but what is gone, or on its way out, is no error."""
    with in_words(what):
        try:
            yield
        except sdk().errors.APIError as error:
            if error.status_code not in (404, 409):
                raise


def _short(error: Exception) -> str:
    return " ".join(str(getattr(error, "explanation", None) or error).split())[:400]
