"""An optional compiled build: the modules that take most of an episode's time, through mypyc, from the same sources.

    HATCH_BUILD_HOOKS_ENABLE=1 pip install .        (needs a C compiler; `make fast` does it in a venv of its own)

It compiles a copy outside the source tree and puts the result into the wheel, so that no compiled file can lie beside a
source that is edited later. It refuses an editable install for the same reason.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

COMPILED = ("tb_envs/users/*.py", "tb_envs/grading/grade.py", "tb_envs/actions.py")
LEFT = ("__init__", "memory", "proposals", "values")
"""Modules whose classes copy, or lay values into, an instance's `__dict__`; a compiled class has none."""
SLOW = ("customer", "guards", "labels", "ledger", "llm", "prompt", "recorded", "spotting")
"""Modules of customers that a language model plays: they wait for it, and nothing is won by compiling them."""
SETTINGS = {"MYPYC_OPT_LEVEL": "1", "MYPYC_DEBUG_LEVEL": "0"}
"""At level 3 the C compiler takes four times as long and the code is no faster."""


class CompiledBuild(BuildHookInterface):
    """Adds the compiled modules to a wheel."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and tell hatch which files to take."""
        if version == "editable":
            raise RuntimeError("a compiled build is no editable install: leave out -e, or HATCH_BUILD_HOOKS_ENABLE")
        self._folder = Path(tempfile.mkdtemp(prefix="thinkingbox-"))
        shutil.copytree(Path(self.root, "tb_envs"), self._folder / "tb_envs", ignore=shutil.ignore_patterns("*.so"))
        compile_in(self._folder)
        found = (path for path in self._folder.rglob("*.so") if "build" not in path.relative_to(self._folder).parts)
        build_data["force_include"] |= {str(path): str(path.relative_to(self._folder)) for path in found}
        build_data |= {"pure_python": False, "infer_tag": True}

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the copy."""
        shutil.rmtree(self._folder, ignore_errors=True)


def compile_in(folder: Path) -> None:
    """Compile the modules of a copy of the package, beside their sources there; what they import is not followed."""
    modules = sorted(
        str(path.relative_to(folder))
        for pattern in COMPILED
        for path in folder.glob(pattern)
        if path.stem not in LEFT + SLOW
    )
    command = [sys.executable, "-m", "mypyc", "--ignore-missing-imports", "--follow-imports=silent", *modules]
    done = subprocess.run(
        command, cwd=folder, env=os.environ | SETTINGS, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    if done.returncode:
        raise RuntimeError(f"mypyc failed:\n{done.stdout[-4000:]}")
