"""``tbx train``: a preset, overrides, a run (or one for each of several seeds), or what it would be.

Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted, 143 ended by SIGTERM (a run that is a
single process tells it as a failure).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

from tb_envs.errors import ThinkingBoxError, UsageError
from tb_trainer.begun import alone
from tb_trainer.stages import ToldToEnd

NEEDS = ("torch", "transformers", "tokenizers", "accelerate", "yaml")
INSTALL = "pip install 'thinkingbox-gym[train]'"


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        usage = " ".join(self.format_usage().removeprefix("usage: ").split())
        raise UsageError(f"{message} ({usage})")


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``tbx train`` with these arguments and return its exit code."""
    parser = _Parser(prog="tbx train", description="Train a model by GRPO on the episodes of a domain.")
    add = parser.add_argument
    add("--preset", default="smoke", metavar="NAME", help="a preset of tb_trainer/presets (default: smoke)")
    add("--set", action="append", default=[], metavar="NAME=VALUE", help="override a setting, e.g. grpo.updates=4")
    add("--out", type=Path, metavar="DIR", help="the run's folder (default: a new one under runs/)")
    add("--resume", action="store_true", help="go on from the last checkpoint in --out, or from what was begun there")
    add(
        "--seeds",
        metavar="N,N,…",
        help="a run for each of these seeds, one after the other, and one report of them all",
    )
    add(
        "--dry-run",
        action="store_true",
        help="print the settings, the layout, memory and time, and refuse what cannot be",
    )
    add("--json", action="store_true", help="print one JSON document instead of a table")
    add(
        "--i-am-training-on-the-benchmark",
        dest="on_benchmark",
        action="store_true",
        help="train on tasks that the benchmark overlaps; the log and every checkpoint say so",
    )
    try:
        args = parser.parse_args(argv)
        if args.resume and args.out is None:
            raise UsageError("--resume needs --out, the folder of the run that is to go on")
        return _train(args)
    except SystemExit as done:  # --help
        return int(done.code or 0)
    except UsageError as error:
        print(f"tbx train: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("tbx train: interrupted", file=sys.stderr)
        return 130
    except ToldToEnd:
        print("tbx train: ended by SIGTERM, and all that it had begun; --resume goes on", file=sys.stderr)
        return 143
    except ThinkingBoxError as error:
        print(f"tbx train: failed: {error}", file=sys.stderr)
        return 1
    except Exception:
        traceback.print_exc()
        return 1


def _train(args: argparse.Namespace) -> int:
    from tb_trainer.config import load
    from tb_trainer.seeds import FILE, Seeds, read_seeds

    seeds = read_seeds(args.seeds, args.set) if args.seeds is not None else []
    config = load(args.preset, args.set)
    if args.dry_run:
        from tb_trainer.dryrun import describe, plan

        more = {"seeds": seeds} if seeds else {}
        print(json.dumps({**plan(config), **more}, indent=2, default=str) if args.json else describe(config))
        if seeds and not args.json:
            print(f"\n{len(seeds)} seeds, one after the other: {len(seeds)} times the time of this one run")
        return 0
    missing = [name for name in NEEDS if find_spec(name) is None]
    if missing:
        raise UsageError(f"training needs {', '.join(missing)}: {INSTALL}")
    from tb_trainer.built import check_built

    check_built(config)
    processes = int(os.environ.get("WORLD_SIZE") or 1)
    if processes > 1 and (seeds or config.from_nothing):
        raise UsageError(
            f"{'--seeds' if seeds else 'from_nothing'} starts its own processes, and this launch has {processes}: "
            "type tbx train without accelerate launch"
        )
    if seeds:
        folder = _folder(args, config.name, FILE)
        return Seeds(config, args, seeds, folder).run()
    if config.from_nothing:
        return _from_nothing(args, config)
    folder = _folder(args, config.name)
    # Of many processes the first holds the folder; not one that each of them has still to find a name for.
    ours = processes == 1 or (args.out is not None and os.environ.get("RANK") == "0")
    with alone(folder, "training") if ours else nullcontext():
        return _one(args, config, folder)


def _one(args: argparse.Namespace, config: Any, folder: Path) -> int:
    from rich.console import Console

    with Console(stderr=True).status("loading torch") as status:
        import torch

        from tb_trainer.loop import Run

        if config.threads:
            torch.set_num_threads(config.threads)

        def show(row: dict[str, Any]) -> None:
            status.update(f"update {row['update']} of {config.grpo.updates}: reward {_number(row['reward_mean'])}")

        status.update("making the model")
        run = Run(config, folder, resume=args.resume, on_benchmark=args.on_benchmark, on_update=show)
        status.update(f"update {run.done} of {config.grpo.updates}")
        rows = run.train()
    if not run.first:
        return 0
    if args.json:
        print(json.dumps({"out": str(folder), "note": config.note, "updates": rows}, ensure_ascii=False))
    else:
        _print_table(rows, folder, config.note)
    return 0


def _from_nothing(args: argparse.Namespace, config: Any) -> int:
    from tb_trainer.chain import FILE, Chain

    if args.on_benchmark:
        raise UsageError("from_nothing trains on no benchmark: run its stages one by one")
    if args.out is not None and (args.out / FILE).exists():
        Chain(
            config, args.preset, args.set, args.out, print
        ).check()  # what differs is of more use than that it is there
    folder = _folder(args, config.name, FILE)
    chain = Chain(
        config, args.preset, args.set, folder, lambda text: print(f"{text}\n", end="", file=sys.stderr, flush=True)
    )
    chain.run()
    if args.json:
        print(json.dumps({"out": str(folder), "note": config.note, "seconds": chain.seconds}))
    else:
        print((folder / "logs" / "report.log").read_text("utf-8") + config.note)
    return 0


def _folder(args: argparse.Namespace, name: str, file: str = "") -> Path:
    """The run's folder, new or to be gone on with.

    Args:
        args: of the command.
        name: of a folder that is not named.
        file: by which a run of several parts is known, before any of them has a log.
    """
    out: Path | None = args.out
    if out is not None:
        here = bool(file) and (out / file).exists()
        if args.resume and file and not here:
            raise UsageError(f"--resume: {out} holds no run that was begun so; start it without --resume")
        if not args.resume and (here or (out / "log.jsonl").exists()):
            raise UsageError(f"--out {out} already holds a run; name a new folder, or go on with --resume")
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
        "tokens\nprompt own read": lambda row: " ".join(
            str(row["tokens"][name]) for name in ("prompt", "action", "observation")
        ),
        "seconds\nmodel env step": lambda row: " ".join(
            f"{row['seconds'][name]:.1f}" for name in ("generate", "environment", "update")
        ),
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
