"""An archive for an image, filled with files of this machine and with files that are not on any disk.

Everything belongs to root and can be read by all; modules come with their compiled form, since a container cannot write
one and should not compile while somebody waits.
"""

from __future__ import annotations

import importlib.util
import io
import posixpath
import py_compile
import tarfile
import tempfile
from pathlib import Path
from typing import IO

SITE = "app/site"
"""Where libraries lie in an image."""


class Packer:
    """An archive that is filled with files of this machine; of a path that comes again, the first is kept."""

    def __init__(self, target: IO[bytes]) -> None:
        self._tar = tarfile.TarFile(fileobj=target, mode="w", format=tarfile.PAX_FORMAT)
        self._seen: set[str] = set()

    def file(self, path: Path, name: str) -> None:
        """Add a file, what a link means in place of the link."""
        name = posixpath.normpath(name).lstrip("/")  # a linker says where/../it/lies, and an engine knows better
        if not self._enter(name):
            return
        info = self._tar.gettarinfo(str(path.resolve()), name)
        _plain(info)
        info.mode = 0o755 if info.mode & 0o100 else 0o644
        with path.open("rb") as content:
            self._tar.addfile(info, content)

    def content(self, name: str, content: bytes, mode: int = 0o644) -> None:
        """Add a file that is not on the disk."""
        if not self._enter(name):
            return
        info = tarfile.TarInfo(name)
        info.size, info.mode = len(content), mode
        self._tar.addfile(info, io.BytesIO(content))

    def folder(self, name: str, mode: int = 0o755) -> None:
        """Add an empty folder."""
        if not self._enter(name):
            return
        info = tarfile.TarInfo(name)
        info.type, info.mode = tarfile.DIRTYPE, mode
        self._tar.addfile(info)

    def link(self, name: str, target: str) -> None:
        """Add a symbolic link."""
        if not self._enter(name):
            return
        info = tarfile.TarInfo(name)
        info.type, info.linkname, info.mode = tarfile.SYMTYPE, target, 0o777
        self._tar.addfile(info)

    def source(self, name: str, content: bytes) -> None:
        """Add a module that is not on the disk, with a compiled form that holds whatever time the file gets."""
        self.content(name, content)
        with tempfile.TemporaryDirectory() as scratch:
            written, made = Path(scratch, "module.py"), Path(scratch, "module.pyc")
            written.write_bytes(content)
            mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
            py_compile.compile(str(written), str(made), dfile=f"/{name}", doraise=True, invalidation_mode=mode)
            self.file(made, _beside(name))

    def module(self, path: Path, name: str) -> None:
        """Add a module with its compiled form, so that nothing is compiled in a container."""
        self.file(path, name)
        compiled = Path(importlib.util.cache_from_source(str(path)))
        if _current(compiled, path):
            self.file(compiled, _beside(name))
            return
        with tempfile.TemporaryDirectory() as scratch:
            made = Path(scratch, "module.pyc")
            try:
                py_compile.compile(str(path), str(made), dfile=f"/{name}", doraise=True)
            except py_compile.PyCompileError:  # a library's file for another version of Python
                return
            self.file(made, _beside(name))

    def _enter(self, name: str) -> bool:
        """Note a path, with the folders above it; whether it is new."""
        if name in self._seen:
            return False
        above = name.rpartition("/")[0]
        if above and above not in self._seen:
            self.folder(above)
        self._seen.add(name)
        return True

    def close(self) -> None:
        """Write the archive's end."""
        self._tar.close()


def _beside(name: str) -> str:
    """Where a module's compiled form lies."""
    folder, _, file = name.rpartition("/")
    return f"{folder}/__pycache__/{Path(importlib.util.cache_from_source(file)).name}"


def _plain(info: tarfile.TarInfo) -> None:
    info.uid = info.gid = 0
    info.uname = info.gname = ""


def _current(compiled: Path, source: Path) -> bool:
    """Whether a compiled file is of this source, as the interpreter would judge."""
    try:
        with compiled.open("rb") as file:
            head = file.read(16)
        stat = source.stat()
    except OSError:
        return False
    age, size = int.from_bytes(head[8:12], "little"), int.from_bytes(head[12:16], "little")
    return (
        head[:4] == importlib.util.MAGIC_NUMBER
        and head[4:8] == b"\0\0\0\0"
        and age == int(stat.st_mtime) & 0xFFFFFFFF
        and size == stat.st_size & 0xFFFFFFFF
    )
