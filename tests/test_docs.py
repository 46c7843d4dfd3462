"""The documents are true: their Python runs, their commands exist, their links lead somewhere."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tb_envs.cli import COMMANDS, main

ROOT = Path(__file__).parent.parent
PAGES = [
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "docs/trainer.md",
    "docs/launching.md",
    "docs/new-domain.md",
    "docs/models.md",
    "docs/evaluation.md",
    "docs/mcp.md",
    "docs/containers.md",
    "docs/postgres.md",
]


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / page).read_text("utf-8"), re.DOTALL)


def test_the_readme_runs(capsys: pytest.CaptureFixture[str]) -> None:
    space: dict[str, object] = {}
    for block in blocks("README.md", "python"):
        exec(compile(block, "README.md", "exec"), space)
    assert "0.0 failure" in capsys.readouterr().out


def test_the_page_on_evaluation_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its first commands as they stand, the others' options, and its Python."""
    monkeypatch.chdir(tmp_path)
    first, *others = blocks("docs/evaluation.md", "bash")
    for line in first.splitlines():
        assert main(shlex.split(line)[1:]) == 0, line
    assert "runs/eval/right" in capsys.readouterr().out
    for line in (line for block in others for line in block.splitlines()):
        words = shlex.split(line)
        assert main([words[1], "--help"]) == 0
        known = capsys.readouterr().out
        for word in words:
            assert not word.startswith("--") or f"{word} " in known, line
    space: dict[str, object] = {}
    for block in blocks("docs/evaluation.md", "python"):
        exec(compile(block, "docs/evaluation.md", "exec"), space)


@pytest.mark.parametrize("page", PAGES)
def test_commands_and_links_exist(page: str) -> None:
    text = (ROOT / page).read_text("utf-8")
    for command in re.findall(r"\btbx ([a-z]+)\b", text):
        assert command in COMMANDS, f"{page}: tbx {command}"
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    for target in re.findall(r"`make ([a-z]+)", text):
        assert target in targets, f"{page}: make {target}"
    for link in re.findall(r"\]\((?!https?:)([^)#]+)\)", text):
        assert (ROOT / page).parent.joinpath(link).exists(), f"{page}: {link}"
    for file, name in re.findall(r"`(tests/\w+\.py)::(test_\w+)`", text):
        assert f"def {name}(" in (ROOT / file).read_text("utf-8"), f"{page}: {file}::{name}"
    for path in re.findall(r"`((?:tb_envs|tb_trainer|domains|benchmarks)/[\w/.]+\.\w+)`", text):
        assert (ROOT / path).exists(), f"{page}: {path}"
