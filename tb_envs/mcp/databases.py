"""Where a server's databases are: tried before it takes sessions, and told each session's own deadline.

Refuses to serve from what cannot be had, so that a wrong setting is told to the operator and not to each client.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tb_envs.errors import BackendError, UsageError
from tb_envs.registration import domain_names
from tb_envs.settings import BACKENDS, kind_of, options_of

Choice = str | Mapping[str, Any]
"""A backend as `Settings` takes it."""


def leased(backend: Choice, deadline: float) -> Choice:
    """The backend of a server whose sessions have this deadline, if they name none: no container ends before it."""
    kind, options = kind_of("backend", backend, BACKENDS), options_of(backend)
    if kind != "docker":
        return backend
    from tb_envs.containers.options import ContainerOptions

    return {"kind": kind, "lease": max(ContainerOptions.lease, deadline), **options}


def timed(backend: Choice, deadline: float) -> Choice:
    """The backend with a session's deadline: what is below has no clock of its own that is shorter."""
    kind, options = kind_of("backend", backend, BACKENDS), options_of(backend)
    if kind == "embedded" and not options:
        return backend
    return {"kind": kind, **options, "deadline": deadline}


def try_it(backend: Choice) -> None:
    """Reach what the databases need: a PostgreSQL server, or an engine with an image of ours.

    Raises:
        UsageError: an option is wrong, something is not installed, or nobody answers.
    """
    kind, options = kind_of("backend", backend, BACKENDS), options_of(backend)
    try:
        if kind == "docker":
            _try_engine(options)
        elif kind == "embedded" and options:
            from tb_envs.session.postgres import read_options
            from tb_envs.store.postgres.server import server

            server(read_options(options)[0])
    except BackendError as error:
        raise UsageError(str(error)) from None


def _try_engine(options: Mapping[str, Any]) -> None:
    from tb_envs.containers.images import has_image
    from tb_envs.containers.options import ContainerOptions
    from tb_envs.containers.source import source_of

    chosen = ContainerOptions.of(options)
    names = (chosen.image,) if chosen.image else (source_of(name).image for name in domain_names())
    if not any(map(has_image, names)):
        what = f"image {chosen.image!r}" if chosen.image else "image of any domain's source as it is now"
        raise UsageError(f"the engine has no {what}; build one: tbx images build")
