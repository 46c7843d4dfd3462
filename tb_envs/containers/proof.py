"""What an image must have in common with the machine that it was built on: run in both, and compared.

Python's version is among it, because messages about wrong arguments are made by libraries that follow it.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, cast

from tb_envs.containers.placed import Faults, PlacedTask, Rows
from tb_envs.session.local import LocalBackend
from tb_envs.store.dump import dump_hash

if TYPE_CHECKING:
    from tb_envs.authoring.domain import Domain
    from tb_envs.task import Task


def facts(domain: Domain) -> dict[str, str]:
    """Hashes and versions that must agree."""
    task = PlacedTask(domain, Rows(([], [])), domain.clock, Faults(()))
    backend = LocalBackend(cast("Task", task))
    rows = dump_hash(backend.dump())
    backend.close()
    return {"Python": sys.version.split()[0], "domain": domain.digest, "rows": rows}


def main() -> None:
    """Print the facts of the image's domain."""
    from tb_envs.containers.server import load

    print(json.dumps(facts(load()[0])))
