"""What a result was made with: the command line and the versions of everything that could change it."""

from __future__ import annotations

import platform
import shlex
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from tb_envs import __version__
from tb_envs.grading.verdict import GRADER

LIBRARIES = ("torch", "transformers", "tokenizers", "accelerate", "trl", "peft", "numpy")


def provenance() -> dict[str, Any]:
    """``command``, as typed, and ``versions``: library → version, of those that are installed."""
    found = {"python": platform.python_version(), "tb_envs": __version__, "grader": GRADER}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return {"command": shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]]), "versions": found}
