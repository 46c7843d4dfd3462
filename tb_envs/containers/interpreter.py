"""This machine's Python as the files of an image: interpreter, standard library, shared objects, a domain's libraries.

Nothing is fetched: the image runs the very interpreter and libraries that run here, so it answers with the same bytes.
Only what a session can need is taken; what opens connections or windows is not. Refuses machines whose shared objects
it cannot list (anything but Linux): there, images are built from a base that has Python.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution
from pathlib import Path
from typing import IO

from tb_envs.containers.packer import SITE, Packer
from tb_envs.errors import UsageError

NOT_NEEDED = frozenset(
    [
        *("__pycache__", "curses", "dbm", "distutils", "ensurepip", "idlelib"),
        *("lib2to3", "msilib", "pydoc_data", "site-packages", "test", "tests"),
        *("tkinter", "turtledemo", "unittest", "venv", "wsgiref", "xmlrpc"),
    ]
)
"""Of the standard library."""
NOT_OF_DYNLOAD = re.compile(
    r"(_ssl|_hashlib|_tkinter|_curses\w*|_g?dbm|_bz2|_lzma|_crypt|_test\w*|_ctypes_test|_?xx\w*|nis|readline)\."
)
NOT_OF_LIBRARIES = ("sqlalchemy/testing/", "pydantic/v1/")
"""No session imports them."""


def pack_python(target: IO[bytes], libraries: Iterable[Distribution]) -> dict[str, str]:
    """Write an archive that, as the root of a container, runs this Python with these libraries.

    Returns:
        environment variables that it needs.
    """
    ldd = shutil.which("ldd")
    if sys.platform != "linux" or ldd is None:
        raise UsageError("an image from this machine's own Python needs Linux and `ldd`; name a base: --from IMAGE")
    packer = Packer(target)
    binary = Path(sys.base_prefix, "bin", f"python{sys.version_info[0]}.{sys.version_info[1]}")
    if not binary.exists():
        raise UsageError(f"no interpreter at {binary}; name a base that has Python: --from IMAGE")
    for name in ("dev", "etc", "proc", "sys", "run/ep"):
        packer.folder(name)
    packer.folder("tmp", 0o1777)
    packer.content("etc/passwd", b"root:x:0:0:root:/:/none\nsession:x:10001:10001::/app:/none\n")
    packer.file(binary, str(binary))
    packer.link("usr/bin/python3", str(binary))
    loaded = [binary]
    standard = Path(sysconfig.get_path("stdlib"))
    for path in _walk(standard):
        if path.parent.name == "lib-dynload" and NOT_OF_DYNLOAD.match(path.name):
            continue
        _add(packer, path, str(path), loaded)
    loaded += pack_libraries(packer, libraries)
    folders: dict[str, None] = {}
    for path in _shared_objects(ldd, loaded):
        packer.file(Path(path), path)
        folders[os.path.dirname(path)] = None
    packer.close()
    return {"LD_LIBRARY_PATH": ":".join(folders), "LANG": "C.UTF-8"}


def pack_libraries(packer: Packer, libraries: Iterable[Distribution]) -> list[Path]:
    """Add libraries of this Python; returns their shared objects."""
    loaded: list[Path] = []
    for library in libraries:
        for item in library.files or ():
            name, path = item.as_posix(), Path(str(library.locate_file(item)))
            if not name.startswith(("../", *NOT_OF_LIBRARIES)) and path.is_file():
                _add(packer, path, f"{SITE}/{name}", loaded)
    return loaded


def _add(packer: Packer, path: Path, name: str, loaded: list[Path]) -> None:
    if path.suffix == ".py":
        packer.module(path, name)
        return
    if path.suffix in (".a", ".pyc", ".pyi", ".pyx", ".exe"):
        return
    packer.file(path, name)
    if ".so" in path.suffixes:
        loaded.append(path)


def _walk(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.name in NOT_NEEDED or path.name.startswith("config-"):
            continue
        if path.is_dir():
            yield from _walk(path)
        elif path.is_file():
            yield path


def _shared_objects(ldd: str, loaded: list[Path]) -> list[str]:
    """Paths of all shared objects that these files load, the loader among them."""
    done = subprocess.run([ldd, *map(str, loaded)], capture_output=True, text=True, check=False)
    found = re.findall(r"^\s+(?:\S+ => )?(/\S+) \(0x", done.stdout, re.MULTILINE)
    return list(dict.fromkeys(map(os.path.normpath, found)))
