"""``tbx regrade RUN``: judge a campaign's rows again from their logs, and say which verdicts moved.

Writes the rows to a new file beside the old one; ``--write`` puts them in its place. The manifest stays as it is: it
says what the campaign was played with.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tb_envs.cli.parser import Parser
from tb_envs.cli.screen import NOTHING, Screen, count_of, print_json, progress, screen, shown
from tb_envs.errors import UsageError
from tb_envs.evaluation.manifest import FILE as MANIFEST
from tb_envs.evaluation.manifest import read_manifest
from tb_envs.evaluation.named import named
from tb_envs.evaluation.regrade import regrade
from tb_envs.evaluation.rows import Appender, Rows, line_of, read_rows
from tb_envs.knobs import Knobs

LISTED = 20
"""Rows that are printed without ``--all``."""


def main(argv: list[str]) -> int:
    """Judge a campaign's rows again."""
    args = _parser().read(argv)
    if args.out and args.write:
        raise UsageError("--write puts the rows in the place of the old ones and --out FILE beside them; give one")
    rows = read_rows(args.run)
    out = args.out or rows.path.with_suffix(".regraded.jsonl")
    if not args.write and out.exists():
        raise UsageError(f"{out} exists; remove it, or name another with --out")
    knobs = _knobs(args.run)
    report = _over(rows, knobs, args.json) if args.write else _beside(rows, knobs, out, args.json)
    report["out"] = str(rows.path if args.write else out)
    if args.json:
        print_json(report)
    else:
        _print(screen(), report, everything=args.all)
    return 0


def _parser() -> Parser:
    parser = Parser("regrade", "Judge a campaign's rows again from their logs with today's grader.")
    parser.add_argument("run", type=Path, metavar="RUN", help="a campaign's folder (or its file of attempts)")
    parser.add_argument("--out", type=Path, metavar="FILE.jsonl", help="the new file (default: beside the old one)")
    parser.add_argument("--write", action="store_true", help="put the new rows in the place of the old ones")
    parser.add_argument("--all", action="store_true", help="list every row that moved, not the first few")
    parser.json_option()
    return parser


def _knobs(run: Path) -> Knobs:
    """What the campaign's tasks were played with."""
    folder = run if run.is_dir() else run.parent
    return Knobs.of(read_manifest(folder, ["knobs"])["knobs"]) if (folder / MANIFEST).is_file() else Knobs()


def _over(rows: Rows, knobs: Knobs, quiet: bool) -> dict[str, Any]:
    """Replace the file, whole and at once, while nobody else writes it."""
    writer = Appender(rows.path)
    try:
        rest = rows.path.with_suffix(".regrading.jsonl")
        report = _beside(rows, knobs, rest, quiet)
        os.replace(rest, rows.path)
    finally:
        writer.close()
    return report


def _beside(rows: Rows, knobs: Knobs, out: Path, quiet: bool) -> dict[str, Any]:
    """Write the rows to a file that is there whole or not at all."""
    rest = out.with_name(f"{out.name}.tmp")
    total = len(rows) + rows.replaced
    try:
        with rest.open("wb") as file, progress(total, "regrade", quiet=quiet) as advance:

            def keep(row: Mapping[str, Any]) -> None:
                file.write(line_of(row))
                advance("")

            report = regrade(rows.every(), knobs=knobs, keep=keep)
            file.flush()
            os.fsync(file.fileno())
        os.replace(rest, out)
    except OSError as error:
        raise UsageError(
            f"{out} cannot be written: {error.strerror or error}. The old rows are as they were; make room, or name "
            "another place with --out"
        ) from error
    finally:
        rest.unlink(missing_ok=True)
    return report


def _print(out: Screen, report: Mapping[str, Any], *, everything: bool) -> None:
    before = ", ".join(f"{count} by grader {version or '?'}" for version, count in report["graders"].items())
    rows = count_of(report["rows"], "row")
    out.print(f"{rows} ({before or 'none'}); {report['regraded']} judged again by grader {report['grader']}")
    if report["system_errors"]:
        out.print(f"{count_of(report['system_errors'], 'system error')} left as it is")
    moved, left = report["moved"], report["left_alone"]
    if moved:
        said = ", ".join(f"{count} {move}" for move, count in report["moves"].items()) or "no outcome, only checks"
        out.heading(f"{count_of(len(moved), 'verdict')} moved", said)
        for one in moved if everything else moved[:LISTED]:
            _print_moved(out, one)
        _and_more(out, len(moved), everything)
    else:
        out.print("no verdict moved")
    if left:
        out.heading(f"{count_of(len(left), 'row')} left alone")
        out.pairs((f"{count}×", reason) for reason, count in Counter(one["reason"] for one in left).most_common())
        out.lines(
            [f"{one['task_id']} attempt {one['attempt']}" for one in (left if everything else left[:LISTED])], indent=4
        )
        _and_more(out, len(left), everything)
    out.print()
    passed = report["passed"]
    out.print(f"passed: {passed['before']} before, {passed['after']} now, of {report['regraded']}")
    shows = f"   to read them: tbx report {report['out']}" if named(Path(report["out"])).is_campaign else ""
    out.print(f"rows: {report['out']}{shows}", soft_wrap=True)


def _print_moved(out: Screen, one: Mapping[str, Any]) -> None:
    same = one["before"] == one["after"]
    outcome = one["after"] if same else f"{one['before']} → {one['after']}"
    out.lines([f"{one['task_id']} attempt {one['attempt']}: {outcome}"])
    for check in one["checks"]:
        was, now = (_passed(check[side]) for side in ("before", "after"))
        found = "" if check["after"] else f"; found: {check['found']}"
        out.lines([f"{check['name']} ({check['kind']}): {was} → {now}: {shown(check['expected'])}{found}"], indent=4)


def _passed(value: bool | None) -> str:
    return NOTHING if value is None else "passed" if value else "failed"


def _and_more(out: Screen, count: int, everything: bool) -> None:
    if count > LISTED and not everything:
        out.lines([f"and {count - LISTED} more; --all lists them"], indent=4)
