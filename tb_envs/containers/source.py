"""What of this project goes into a domain's image, and the name that its content gives it.

A session needs tools, rows and the knowledge base. It needs neither tasks nor customers nor graders, so an image holds
none of them: who breaks out of a tool finds no right end to read. A task's rows are sent when its session begins.
"""

from __future__ import annotations

import hashlib
import json
import platform
import re
import sys
from collections.abc import Iterator
from functools import cache, cached_property
from importlib.metadata import Distribution, PackageNotFoundError, distribution, entry_points
from pathlib import Path

import tb_envs.errors
from tb_envs.authoring.domain import Domain
from tb_envs.errors import DomainError
from tb_envs.registration import GROUP, load_domain

PROJECT = "thinkingbox-gym"
"""Our label, the name before an image's colon, and the distribution that must not go into an image whole."""
OURS = (
    *("costs.py", "endpoints.py", "errors.py", "knobs.py", "limits.py", "settings.py"),
    *("authoring", "parts", "store"),
    *(f"containers/{name}.py" for name in ("__init__", "__main__", "placed", "plain_http", "proof", "routes", "rpc")),
    "containers/server.py",
    *(f"grading/{name}.py" for name in ("__init__", "expectations", "matchers")),
    *(f"session/{name}.py" for name in ("__init__", "backend", "local", "tools")),
)
"""Of `tb_envs`: what a session is made of. What is missing here shows when an image is proved."""
NOT_OURS = frozenset(["__pycache__", "postgres", "audit.py", "identity.py", "reading.py", "scripts.py"])
"""Of those folders: a container has no network, so its database is its own; audits, and parts of task families."""
LEFT_OUT = frozenset(["audit", "audit.py", "decision_tables.json", "decisions.py", "families", "suites", "__pycache__"])
"""Of a domain: what is about tasks and about what is right."""
LIBRARIES = ("pydantic", "sqlalchemy")
FRONT = b'"""The package as a container has it: what a session is made of, and no Gymnasium."""\n'
RECIPE = 1
"""Counts up when an image is laid out in another way."""


class Source:
    """One domain's share of an image, as it is on this machine now."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain

    @cached_property
    def entry(self) -> str:
        """Where the domain object is found in its package, e.g. ``tb_hotel:domain``."""
        module = sys.modules[self.domain.package]
        for name, value in vars(module).items():
            if value is self.domain:
                return f"{self.domain.package}:{name}"
        raise DomainError(f"{self.domain.package} does not hold its Domain object, so an image cannot load it")

    @cached_property
    def files(self) -> dict[str, bytes]:
        """Path in the image's source folder → content."""
        own = Path(tb_envs.errors.__file__).parent
        found = {"tb_envs/__init__.py": FRONT}
        for name in OURS:
            found.update(_tree(own / name, f"tb_envs/{name}", NOT_OURS))
        found.update(_tree(self.domain.folder, self.domain.package.replace(".", "/"), LEFT_OUT))
        return dict(sorted(found.items()))

    @cached_property
    def libraries(self) -> tuple[Distribution, ...]:
        """The distributions that the files import, with all that those need."""
        roots = list(LIBRARIES)
        for entry in entry_points(group=GROUP, name=self.domain.name):
            if entry.dist is not None and _plain(entry.dist.name) != PROJECT:
                roots += [name for name in _needs(entry.dist) if _plain(name) != PROJECT]
        return closure(tuple(roots))

    @cached_property
    def digest(self) -> str:
        """Hash of all that decides how a session answers: our files, Python's version, the libraries' versions."""
        parts = [
            RECIPE,
            platform.machine(),
            platform.python_version(),
            [[item.name, item.version] for item in self.libraries],
            self.entry,
            [[name, hashlib.sha256(content).hexdigest()] for name, content in self.files.items()],
        ]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    @property
    def image(self) -> str:
        """The image's name: the same content gives the same name, on any machine."""
        return f"{PROJECT}/{self.domain.name}:{self.digest[:20]}"


@cache
def source_of(domain: str) -> Source:
    """The source of an installed domain, read once per process."""
    return Source(load_domain(domain))


def closure(roots: tuple[str, ...]) -> tuple[Distribution, ...]:
    """Installed distributions of these names and of what they need, extras and what is not installed here left out."""
    found: dict[str, Distribution] = {}
    waiting = list(roots)
    while waiting:
        name = waiting.pop()
        key = _plain(name)
        if key in found:
            continue
        try:
            found[key] = distribution(name)
        except PackageNotFoundError:  # for another platform
            continue
        waiting += _needs(found[key])
    return tuple(found[key] for key in sorted(found))


def _plain(name: str) -> str:
    """A distribution's name in its one normal form."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _needs(item: Distribution) -> Iterator[str]:
    for line in item.requires or ():
        name = re.match(r"[\w.-]+", line)
        if name and not re.search(r";.*\bextra\s*==", line):
            yield name[0]


def _tree(path: Path, name: str, left_out: frozenset[str] = frozenset(["__pycache__"])) -> Iterator[tuple[str, bytes]]:
    """A file, or all files of a folder, without what is left out at its top."""
    if not path.is_dir():
        yield name, path.read_bytes()
        return
    for inner in sorted(path.iterdir()):
        if inner.name not in left_out:
            yield from _tree(inner, f"{name}/{inner.name}")
