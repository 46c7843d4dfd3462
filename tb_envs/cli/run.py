"""``tbx run``: an agent plays tasks; a row per attempt, a table per family, both denominators.

System errors are retried on a fresh backend, then counted apart: they are no attempts of the agent.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import mean
from typing import Any

from tb_envs.agents import BUILT_IN, make_agent
from tb_envs.cli.models import part_options
from tb_envs.cli.parser import Parser, faults_option, knobs_option, limits_option, whole
from tb_envs.cli.screen import Screen, percent, print_json, progress, screen, table
from tb_envs.cli.selection import select, task_options
from tb_envs.episode import Settings
from tb_envs.errors import ThinkingBoxError, UsageError
from tb_envs.evaluation.metrics import pass_at_k, pass_hat_k
from tb_envs.grading.verdict import GRADER
from tb_envs.limits import Limits
from tb_envs.play import RETRIES, Attempt, RunSummary, attempts
from tb_envs.task import get_task

Note = Callable[[Attempt, int], None]
"""Takes an attempt and which of its task's attempts it is, from 1."""


def main(argv: list[str]) -> int:
    """Run an agent over tasks and report."""
    args = _parser().read(argv)
    if args.agent not in BUILT_IN and os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    make_agent(args.agent)
    settings = Settings(
        {"kind": "embedded", "store": args.store} if args.store else "embedded",
        limits=Limits.of(args.limits),
        faults=args.faults or None,
        trace_dir=args.traces,
        knobs=args.knobs,
        user=args.user,
        judge=args.judge,
    )
    ids = select(args)
    summary = RunSummary()
    total, passed, counted = len(ids) * args.attempts, 0, 0
    with _rows(args.out) as write, progress(total, args.agent, quiet=args.json) as advance:

        def note(attempt: Attempt, number: int) -> None:
            nonlocal passed, counted
            summary.attempts.append(attempt)
            write(_row(args.agent, attempt, number))
            passed += attempt.outcome == "success"
            counted += not attempt.is_system_error
            advance(f"pass@1 {percent(passed / counted if counted else None)}")

        try:
            play_all(ids, args.agent, settings=settings, retries=args.retries, repeats=args.attempts, note=note)
        except KeyboardInterrupt:
            done = len(summary.attempts)
            kept = f"kept in {args.out}" if args.out else "done and not kept (--out FILE keeps them)"
            raise KeyboardInterrupt(f"{done} of {total} attempts are {kept}") from None
    report = _report(args, ids, summary)
    if args.json:
        print_json(report)
    else:
        _print_report(screen(), report, summary)
    return 0


def _parser() -> Parser:
    parser = Parser("run", "Let an agent play tasks. No filter means all tasks of all suites.")
    parser.add_argument(
        "--agent",
        required=True,
        metavar="AGENT",
        help=f"{', '.join(BUILT_IN)}, or module:callable (observation, info) → action",
    )
    task_options(parser)
    parser.add_argument("--attempts", type=whole(1), default=1, metavar="K", help="attempts at each task (default: 1)")
    parser.add_argument("--out", type=Path, metavar="FILE.jsonl", help="write a row per attempt as it ends")
    parser.add_argument(
        "--traces", metavar="DIR", help="write each episode as JSON: talk, calls, changed rows, verdict"
    )
    faults_option(parser)
    parser.add_argument("--store", metavar="URL", help="databases on a PostgreSQL server: postgresql://…")
    limits_option(parser)
    knobs_option(parser)
    part_options(parser)
    parser.add_argument(
        "--retries", type=whole(0), default=RETRIES, metavar="N", help=f"after a system error (default: {RETRIES})"
    )
    parser.json_option()
    return parser


def play_all(ids: Sequence[str], agent: str, *, settings: Settings, retries: int, repeats: int, note: Note) -> None:
    """Every task `repeats` times, in rounds; what a user's own agent raises becomes one line that says where."""
    for number in range(1, repeats + 1):
        playing = iter(attempts(ids, agent, settings=settings, retries=retries))
        while (attempt := _next(playing, agent)) is not None:
            note(attempt, number)


def _next(playing: Iterator[Attempt], agent: str) -> Attempt | None:
    try:
        return next(playing, None)
    except ThinkingBoxError:
        raise
    except Exception as error:
        if agent in BUILT_IN:
            raise
        place = traceback.extract_tb(error.__traceback__)[-1]
        raise UsageError(
            f"agent {agent!r} raised {type(error).__name__}: {error} ({place.filename}:{place.lineno})"
        ) from error


@contextmanager
def _rows(path: Path | None) -> Generator[Callable[[Mapping[str, Any]], None]]:
    """Writes rows to a new file, each whole and at once, so that an interrupted run keeps what it did."""
    if path is None:
        yield lambda row: None
        return
    if path.is_file() and path.stat().st_size:
        raise UsageError(f"{path} exists; name another file or remove it")
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:

        def write(row: Mapping[str, Any]) -> None:
            file.write(json.dumps(row) + "\n")
            file.flush()

        yield write


def _row(agent: str, attempt: Attempt, number: int) -> dict[str, Any]:
    task = get_task(attempt.task_id)
    about = {"agent": agent, "attempt": number, "traps": task.traps, "cell": task.scenario.cell}
    return {**vars(attempt), **about, "task_hash": task.hash, "grader": GRADER}


def _report(args: Any, ids: Sequence[str], summary: RunSummary) -> dict[str, Any]:
    families: defaultdict[str, RunSummary] = defaultdict(RunSummary)
    for attempt in summary.attempts:
        families[attempt.task_id.rpartition("/")[0]].attempts.append(attempt)
    failed = Counter(name for attempt in summary.counted for name in attempt.failed)
    return {
        **summary.to_json(),
        "agent": args.agent,
        "tasks": len(ids),
        "attempts_per_task": args.attempts,
        "retries": sum(attempt.retries for attempt in summary.attempts),
        **_reliability(summary.counted, args.attempts),
        "families": {name: part.to_json() for name, part in sorted(families.items())},
        "failed_checks": dict(failed.most_common()),
        "errors": dict(Counter(a.outcome for a in summary.attempts if a.is_system_error)),
        "out": str(args.out) if args.out else None,
    }


def _reliability(counted: Iterable[Attempt], k: int) -> dict[str, Any]:
    """The unbiased pass@k and pass^k over the tasks that have k attempts without a system error."""
    if k == 1:
        return {}
    passed: defaultdict[str, list[bool]] = defaultdict(list)
    for attempt in counted:
        passed[attempt.task_id].append(attempt.outcome == "success")
    whole_tasks = [each for each in passed.values() if len(each) == k]
    if not whole_tasks:
        return {f"pass_at_{k}": None, f"pass_hat_{k}": None}
    return {
        f"pass_at_{k}": mean(pass_at_k(k, sum(each), k) for each in whole_tasks),
        f"pass_hat_{k}": mean(pass_hat_k(k, sum(each), k) for each in whole_tasks),
    }


def _print_report(out: Screen, report: Mapping[str, Any], summary: RunSummary) -> None:
    columns = ("family", "attempts", "passed", "failed", "errors", "pass@1")
    rows = [_counts(name, part) for name, part in report["families"].items()]
    out.print(table(columns, [*rows, _counts("all", report)], numbers=columns[1:]))
    if report["failed_checks"]:
        out.heading("What failed most")
        out.pairs((f"{count:>4}×", name) for name, count in list(report["failed_checks"].items())[:8])
    out.print()
    k = report["attempts_per_task"]
    over = f"{len(summary.counted)} attempts at {report['tasks']} tasks"
    out.print(f"{report['agent']}: pass@1 {percent(report['pass_at_1'])} over {over}")
    if k > 1:
        out.print(f"pass@{k} {percent(report[f'pass_at_{k}'])}, pass^{k} {percent(report[f'pass_hat_{k}'])}")
    if report["system_errors"] or report["retries"]:
        reasons = ", ".join(f"{count} {name}" for name, count in report["errors"].items())
        out.print(
            f"{report['system_errors']} attempts ended in system errors and do not count"
            f"{f' ({reasons})' if reasons else ''}; {report['retries']} retries"
        )
    if report["out"]:
        out.print(f"rows: {report['out']}")


def _counts(name: str, part: Mapping[str, Any]) -> tuple[Any, ...]:
    return (name, part["attempts"], part["passed"], part["failed"], part["system_errors"], percent(part["pass_at_1"]))
