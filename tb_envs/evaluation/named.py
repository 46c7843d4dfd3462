"""What a person names a campaign by: its folder, or a file of its attempts, such as ``tbx regrade`` writes.

Looks at names and at what is there; opens nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from tb_envs.evaluation.manifest import FILE as MANIFEST
from tb_envs.evaluation.rows import FILE


class Named(NamedTuple):
    """A campaign as it was named.

    Attributes:
        folder: where its manifest is.
        file: of its attempts.
    """

    folder: Path
    file: Path

    @property
    def own(self) -> bool:
        """Whether the file is the one that ``tbx eval`` writes."""
        return self.file.name == FILE

    @property
    def path(self) -> Path:
        """What says which campaign this is: its folder, or a file that is not its own."""
        return self.folder if self.own else self.file

    @property
    def name(self) -> str:
        """The folder's name, with the file's where that is not the campaign's own."""
        folder = self.folder.resolve().name
        return folder if self.own else f"{folder}/{self.file.name}"

    @property
    def is_campaign(self) -> bool:
        """Whether it has a manifest."""
        return (self.folder / MANIFEST).is_file()


def named(path: Path) -> Named:
    """A file is taken for one of attempts, anything else for a campaign's folder."""
    return Named(path.parent, path) if path.is_file() else Named(path, path / FILE)
