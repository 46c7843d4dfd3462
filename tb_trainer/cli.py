"""``tbx train``: a preset, overrides, a run. Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted."""

from __future__ import annotations

import argparse
import json
import sys
import traceback
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

from tb_envs.errors import ThinkingBoxError, UsageError

NEEDS = ("torch", "transformers", "tokenizers", "datasets", "accelerate", "trl", "yaml")
INSTALL = "pip install 'thinkingbox-gym[train]'"


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} ({self.format_usage().removeprefix('usage: ').strip()})")


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``tbx train`` with these arguments and return its exit code."""
    parser = _Parser(prog="tbx train", description="Train a model by GRPO on the episodes of a domain.")
    add = parser.add_argument
    add("--preset", default="smoke", metavar="NAME", help="a preset of tb_trainer/presets (default: smoke)")
    add("--set", action="append", default=[], metavar="NAME=VALUE", help="override a setting, e.g. grpo.updates=4")
    add("--out", type=Path, metavar="DIR", help="the run's folder (default: a new one under runs/)")
    add("--json", action="store_true", help="print one JSON document instead of a table")
    try:
        args = parser.parse_args(argv)
        return _train(args.preset, args.set, args.out, as_json=args.json)
    except SystemExit as done:  # --help
        return int(done.code or 0)
    except UsageError as error:
        print(f"tbx train: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("tbx train: interrupted", file=sys.stderr)
        return 130
    except ThinkingBoxError as error:
        print(f"tbx train: failed: {error}", file=sys.stderr)
        return 1
    except Exception:
        traceback.print_exc()
        return 1


def _train(preset: str, overrides: Sequence[str], out: Path | None, *, as_json: bool) -> int:
    missing = [name for name in NEEDS if find_spec(name) is None]
    if missing:
        raise UsageError(f"training needs {', '.join(missing)}: {INSTALL}")
    from rich.console import Console

    from tb_trainer.config import load

    config = load(preset, overrides)
    folder = _folder(out, config.name)
    with Console(stderr=True).status("loading torch and trl") as status:
        import torch

        from tb_trainer.train import Run

        if config.threads:
            torch.set_num_threads(config.threads)

        def show(row: dict[str, Any]) -> None:
            status.update(f"update {row['update']} of {config.grpo.updates}: reward {_number(row['reward_mean'])}")

        status.update("making the tokenizer and the model")
        run = Run(config, folder, on_update=show)
        status.update(f"update 0 of {config.grpo.updates}")
        rows = run.train()
    if as_json:
        print(json.dumps({"out": str(folder), "note": config.note, "updates": rows}, ensure_ascii=False))
    else:
        _print_table(rows, folder, config.note)
    return 0


def _folder(out: Path | None, name: str) -> Path:
    if out is not None:
        if (out / "log.jsonl").exists():
            raise UsageError(f"--out {out} already holds a run; name a new folder")
        return out
    number, folder = 1, Path("runs") / name
    while folder.exists():
        number += 1
        folder = Path("runs") / f"{name}-{number}"
    return folder


def _print_table(rows: Sequence[dict[str, Any]], folder: Path, note: str) -> None:
    from rich.box import SIMPLE
    from rich.console import Console
    from rich.table import Table

    columns: dict[str, Callable[[dict[str, Any]], object]] = {
        "update": lambda row: row["update"],
        "reward": lambda row: _number(row["reward_mean"]),
        "pass": lambda row: _number(row["pass_rate"]),
        "turns": lambda row: row["turns"],
        "calls": lambda row: row["tool_calls"],
        "errors": lambda row: row["tool_errors"],
        "retries": lambda row: row["retries"],
        "tokens\nprompt own read": lambda row: " ".join(map(str, row["tokens"].values())),
        "seconds\nmodel env step": lambda row: " ".join(f"{value:.1f}" for value in row["seconds"].values()),
    }
    table = Table(box=SIMPLE, padding=0)
    for name in columns:
        table.add_column(name, no_wrap=True)
    for row in rows:
        table.add_row(*(str(cell(row)) for cell in columns.values()))
    console = Console()
    console.print(table)
    console.print(f"log: {folder / 'log.jsonl'}", highlight=False, soft_wrap=True)
    if note:
        console.print(note, highlight=False, markup=False)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
