"""What dead owners left: containers that their lease has not ended yet or that never began, and folders of sockets.

Finds only what carries our label or our owner's file, and counts an owner as living wherever that cannot be told.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from tb_envs.containers.container import FOLDERS, OWNER, PLACE
from tb_envs.containers.engine import OWNED, engine, gone_is_fine, in_words
from tb_envs.containers.owner import is_dead


class Leftover(NamedTuple):
    """One thing that a dead owner left.

    Attributes:
        kind: ``container``, ``folder`` or ``image``.
        name: a container's id, a folder's path, an image's name.
        owner: who left it; of an image it is not known.
        state: of a container, as the engine calls it.
    """

    kind: str
    name: str
    owner: str
    state: str


def leftovers() -> list[Leftover]:
    """Everything of dead owners, containers first."""
    found: list[Leftover] = []
    with in_words("listing containers"):
        listed: list[Any] = engine().api.containers(all=True, filters={"label": OWNED})
    for item in listed:
        owner = item["Labels"].get(OWNED, "")
        if is_dead(owner):
            found.append(Leftover("container", item["Id"], owner, item["State"]))
    for folder in sorted(Path(tempfile.gettempdir()).glob(f"{FOLDERS}*")):
        owner = _owner_of(folder)
        if owner and is_dead(owner):
            place = _place_of(folder)
            if place is not None and _owner_of(place) == owner:
                found.append(Leftover("folder", str(place), owner, ""))
            found.append(Leftover("folder", str(folder), owner, ""))
    return found


def _owner_of(folder: Path) -> str:
    """The owner of a folder of sockets, if the folder is this user's; empty if it is not, or is none."""
    try:
        if folder.is_symlink() or folder.stat().st_uid != os.getuid():
            return ""
        return (folder / OWNER).read_text()
    except OSError:
        return ""


def _place_of(note: Path) -> Path | None:
    """The folder that a note is about."""
    try:
        place = Path((note / PLACE).read_text())
    except OSError:
        return None
    return place if place.name == note.name else None


def clear(items: Iterable[Leftover]) -> None:
    """Remove them."""
    for item in items:
        if item.kind == "folder":
            shutil.rmtree(item.name, ignore_errors=True)
        elif item.kind == "image":
            with gone_is_fine("removing an image"):  # one that a container runs from stays
                engine().api.remove_image(item.name)
        else:
            with gone_is_fine("removing a container"):
                engine().api.remove_container(item.name, force=True, v=True)
