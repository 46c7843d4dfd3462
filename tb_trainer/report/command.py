"""``tbx report`` for runs of the trainer: folders in, one HTML file out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tb_envs.cli.parser import Parser
from tb_envs.cli.report import save
from tb_envs.cli.screen import percent, print_json, screen, table
from tb_trainer.report import facts
from tb_trainer.report.page import write
from tb_trainer.report.pairs import Pair, find_pairs, pair_by_hand
from tb_trainer.report.read import RunRecord, read_run, read_trials


def main(argv: Sequence[str]) -> int:
    """Run ``tbx report``."""
    parser = Parser("report", "Show what training runs did, as one HTML file that needs no network.")
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="folders of runs; several: seeds, one chart")
    parser.add_argument("--out", type=Path, metavar="FILE.html", help="default: report.html in the only RUN, or here")
    parser.add_argument(
        "--compare",
        nargs=2,
        type=Path,
        action="append",
        default=[],
        metavar=("BEFORE.jsonl", "AFTER.jsonl"),
        help="two files of `tbx evaluate`; those in RUN/evaluations are paired on their own",
    )
    parser.json_option()
    args = parser.read(list(argv))
    runs = [read_run(path) for path in dict.fromkeys(args.runs)]
    found = [pair_by_hand(*map(read_trials, files)) for files in args.compare]
    found += find_pairs(runs, facts.names_of(runs))
    out: Path = args.out or (runs[0].path if len(runs) == 1 else Path()) / "report.html"
    save(out, [write(runs, found)])
    _show(args, out, runs, found)
    return 0


def _show(args: Any, out: Path, runs: Sequence[RunRecord], found: Sequence[Pair]) -> None:
    names = facts.names_of(runs)
    if args.json:
        print_json(
            {
                "out": str(out),
                "runs": [
                    {"run": str(run.path), "seed": run.seed, "state": run.status, "updates": run.done,
                     "resumed": run.resumed, "trained_on_the_benchmark": run.mark is not None, "problems": run.problems}
                    for run in runs
                ],
                "comparisons": [_comparison(pair) for pair in found],
            }
        )  # fmt: skip
        return
    console = screen()
    for run, name in zip(runs, names, strict=True):
        marks = "; TRAINED ON THE BENCHMARK" * (run.mark is not None)
        console.print(f"{name}: {run.status}, {run.done} updates{marks}")
    rows: list[tuple[str, ...]] = []
    for pair in found:
        first = pair.scores.metrics["pass@1"]
        span = f"{100 * first.difference.low:+.1f} to {100 * first.difference.high:+.1f}"
        rows.append(
            (pair.run or "by hand", pair.what, percent(first.before.estimate), percent(first.after.estimate), span)
        )
    if rows:
        console.print(table(("run", "tasks of", "before", "after", "change, points"), rows))
    console.print(f"report: {out}", soft_wrap=True)


def _comparison(pair: Pair) -> dict[str, Any]:
    return {
        "run": pair.run,
        "what": pair.what,
        "before": str(pair.before.path),
        "after": str(pair.after.path),
        "tasks": len(pair.scores.tasks),
        "metrics": {
            name: {side: list(getattr(found, side)) for side in ("before", "after", "difference")}
            for name, found in pair.scores.metrics.items()
        },
        "gained": pair.scores.gained,
        "lost": pair.scores.lost,
        "lost_cells": [line.label for line in pair.scores.lines("cells") if round(line.change, 9) < 0],
        "cautions": list(pair.cautions),
    }
