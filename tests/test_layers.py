"""Arrows point down: a domain is written with the parts, the parts with the language, and nothing knows a company."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import tb_envs.parts as parts
from tb_envs.registration import load_domain


def imports_of(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:  # ruff bans all relative ones but a neighbour's
            yield from (f"{node.module}.{name.name}" for name in node.names)


def test_arrows_point_down() -> None:
    own = Path(next(iter(parts.__path__)))
    root = own.parent.parent
    below = ("tb_envs.authoring", "tb_envs.grading", "tb_envs.parts", "tb_envs.session.log", "tb_envs.store")
    for path in own.glob("*.py"):
        for name in imports_of(path):
            assert not name.startswith("tb_") or name.startswith(below), f"{path.name} imports {name}"
    domains = [folder.name for folder in (root / "domains").iterdir() if folder.is_dir()]
    for path in (root / "tb_envs").rglob("*.py"):
        for name in imports_of(path):
            assert name.split(".")[0] not in domains, f"{path} imports {name}"
            assert path.parent == own or not name.startswith("tb_envs.parts"), f"{path} imports {name}"
    for folder in domains:
        for path in (root / "domains" / folder).rglob("*.py"):
            strange = {name.split(".")[0] for name in imports_of(path)} & {*domains, "tb_trainer"} - {folder}
            assert not strange, f"{path} imports {strange}"


def test_no_part_knows_a_company() -> None:
    hotel = load_domain("hotel")
    words = {*hotel.specs, *(tool.name for toolset in hotel.toolsets for tool in toolset.tools.values())}
    for path in Path(next(iter(parts.__path__))).glob("*.py"):
        said = {node.value for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Constant)}
        assert not said & words, path.name
