"""``tbx select``: from probe files to the pool file that a run draws from, with a reason for every task left out.

A task is kept if it is today what it was when it was probed, overlaps nothing that the run is judged by, is solved by
its own reference solution right now, has enough attempts, and was solved sometimes but not always: a group of attempts
that all end alike teaches nothing. What is believed of each task is Jeffreys' posterior (`tb_trainer.tasks.posterior`).
Its band says what it is expected to teach, by the expected variance E[p(1 - p)]: ``rich`` as much as a task that is
solved between 20 and 80 % of the time, ``fair`` as one between 10 and 90 %, else ``poor``. The same probe files, in
whatever order, give the same bytes. Refuses probes of different settings.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tb_envs.cli.parser import Parser, choose, whole
from tb_envs.cli.screen import print_json, progress, screen, table
from tb_envs.errors import ThinkingBoxError, UsageError
from tb_envs.play import attempts
from tb_envs.registration import load_domain
from tb_envs.task import get_task
from tb_trainer.tasks.guard import Overlap, against, overlaps
from tb_trainer.tasks.pool import pool_text
from tb_trainer.tasks.posterior import Beta, jeffreys
from tb_trainer.tasks.records import Row, about, read, settings_hash

BANDS = {"rich": 0.16, "fair": 0.09, "poor": 0.0}
"""Band → least expected variance: p(1 - p) at p = 0.2 or 0.8, and at p = 0.1 or 0.9."""
REASONS = (
    "no such task",
    "changed",
    "overlap",
    "reference fails",
    "too few attempts",
    "always solved",
    "never solved",
    "other band",
)
"""Why a task is left out; the first that holds."""
DIGITS = 6


def select(argv: Sequence[str]) -> int:
    """Run ``tbx select``; 1 if no task is left."""
    args = _parser().read(list(argv))
    for name in args.domain or ():
        load_domain(name)
    bands = [choose(name, BANDS, "band") for name in args.band or BANDS]
    settings, rows = gather(args.probes)
    holdout = held_out(args.probes, args.holdout_domain or "")
    if args.domain:
        rows = {task_id: found for task_id, found in rows.items() if task_id.split("/")[0] in args.domain}
    if not rows:
        raise UsageError("the probe files hold no attempt at a task of these domains")
    with progress(len(rows), "tasks", quiet=args.json) as advance:
        pool = make_pool(
            rows,
            least=args.attempts,
            level=args.interval,
            bands=bands,
            holdout=holdout,
            advance=lambda task_id: advance(task_id),
        )
    pool["probe"] = {"settings": settings, "hash": settings_hash(settings), "rows": rows_hash(rows)}
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(pool_text(pool), "utf-8")
    _report(args, pool)
    return int(not pool["tasks"])


def _parser() -> Parser:
    parser = Parser("select", "Choose the tasks that are worth training on, from the rows of `tbx probe`.")
    parser.add_argument("probes", nargs="+", type=Path, metavar="PROBE.jsonl", help="files of `tbx probe`")
    parser.add_argument("--out", type=Path, required=True, metavar="POOL.json", help="for --set environment.pool=…")
    parser.add_argument("--attempts", type=whole(1), default=4, metavar="N", help="a task needs (default: 4)")
    parser.add_argument("--band", action="append", metavar="BAND", help=f"keep only these: {', '.join(BANDS)}")
    parser.add_argument(
        "--interval", type=float, default=0.9, metavar="SHARE", help="of the posterior that the bounds hold (0.9)"
    )
    parser.add_argument("--domain", action="append", metavar="NAME", help="only this domain (may be repeated)")
    parser.add_argument(
        "--holdout-domain",
        metavar="NAME",
        help="leave this domain out (default: the one that the probe's settings hold out)",
    )
    parser.json_option()
    return parser


def gather(paths: Sequence[Path]) -> tuple[dict[str, Any], dict[str, list[Row]]]:
    """The settings that all files share, and task id → its rows, each attempt once.

    Raises:
        UsageError: the files are of different settings, or hold different rows for one attempt.
    """
    shared: dict[str, Any] | None = None
    found: dict[tuple[str, int, str], Row] = {}
    for path in paths:
        settings, rows = read(path)
        if shared is not None and settings != shared:
            names = ", ".join(name for name in settings if settings[name] != shared.get(name))
            raise UsageError(
                f"{path} and {paths[0]} were probed with other settings ({names}): select from one of them"
            )
        shared = settings
        for row in rows:
            if row["settings"] != settings_hash(settings):
                raise UsageError(f"{path} holds a row of other settings, of {row['task']}")
            key = (row["task"], row["attempt"], row["hash"])
            if found.setdefault(key, row) != row:
                raise UsageError(f"{path}: attempt {row['attempt']} at {row['task']} is another one in another file")
    by_task: dict[str, list[Row]] = {}
    for key in sorted(found):
        by_task.setdefault(key[0], []).append(found[key])
    return shared or {}, by_task


def held_out(paths: Sequence[Path], asked: str = "") -> str:
    """The domain that the run to come holds out: `asked`, or what the probe files' settings say; empty: none.

    Raises:
        UsageError: they say different things, or there is no such domain.
    """
    said = {str(path): str(about(path).get("holdout_domain") or "") for path in paths}
    names = sorted({asked, *said.values()} - {""})
    if len(names) > 1:
        told = "; ".join(f"{path}: {name}" for path, name in said.items() if name)
        raise UsageError(f"one domain is held out, not {' and '.join(names)} ({told}): probe with the run's settings")
    for name in names:
        load_domain(name)
    return names[0] if names else ""


def make_pool(
    rows: Mapping[str, Sequence[Row]],
    *,
    least: int = 4,
    level: float = 0.9,
    bands: Sequence[str] = tuple(BANDS),
    holdout: str = "",
    advance: Any = None,
) -> dict[str, Any]:
    """Judge every task.

    Args:
        rows: task id → its attempts.
        least: attempts that a task needs.
        level: of the interval that is given for p.
        bands: that are kept.
        holdout: a domain that is left out.
        advance: called with each task's id.

    Returns:
        ``rules``; ``domains`` (their content hashes); ``tasks`` and ``excluded``: entries with id, content hash, cell,
        attempts (``runs``), ``solved``, ``posterior``, ``band``, those left out also with ``reason`` and ``detail``.
    """
    if not 0 < level < 1:
        raise UsageError(f"--interval {level} must be between 0 and 1")
    known = {task_id: problem for task_id in rows if (problem := _unknown(task_id)) is not None}
    judged = {overlap.task_id: overlap for overlap in _overlaps([t for t in rows if t not in known], holdout)}
    tasks: list[dict[str, Any]] = []
    excluded: list[dict[str, Any]] = []
    for task_id in sorted(rows):
        entry = _entry(task_id, rows[task_id], level, known.get(task_id, ""))
        reason, detail = _reason(entry, rows[task_id], least, level, bands, known.get(task_id), judged.get(task_id))
        if reason:
            excluded.append({**entry, "reason": reason, "detail": detail})
        else:
            tasks.append(entry)
        if advance is not None:
            advance(task_id)
    names = sorted({entry["id"].split("/")[0] for entry in tasks})
    return {
        "rules": {"attempts": least, "interval": level, "bands": [n for n in BANDS if n in bands], "holdout": holdout},
        "domains": {name: load_domain(name).digest for name in names},
        "tasks": tasks,
        "excluded": excluded,
    }


def band_of(belief: Beta) -> str:
    """What a task is expected to teach."""
    return next(name for name, bound in BANDS.items() if belief.expected_variance >= bound)


def reference_passes(task_id: str) -> tuple[bool, str]:
    """Whether the task's own solution, played now, earns 1; if not, what happened."""
    attempt = next(iter(attempts([task_id], "reference")))
    return attempt.reward == 1, attempt.error or f"{attempt.outcome}, failed checks: {', '.join(attempt.failed)}"


def rows_hash(rows: Mapping[str, Sequence[Row]]) -> str:
    """Hash of the rows that were judged, whatever file and place they stood in."""
    lines = sorted(json.dumps(row, sort_keys=True) for found in rows.values() for row in found)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _unknown(task_id: str) -> str | None:
    try:
        get_task(task_id)
    except ThinkingBoxError as error:
        return str(error)
    return None


def _overlaps(task_ids: Sequence[str], holdout: str) -> list[Overlap]:
    """With the benchmark, and with the dev suites, which choose checkpoints."""
    names = sorted({task_id.split("/")[0] for task_id in task_ids})
    dev = [task_id for name in names for task_id in load_domain(name).suite_ids["dev"]]
    return [*against(task_ids, dev, "evaluated"), *overlaps(task_ids, holdout=holdout)]


def _current(task_id: str, rows: Sequence[Row]) -> list[Row]:
    """The attempts at the task and the domain as they are now."""
    task = get_task(task_id)
    return [row for row in rows if row["hash"] == task.hash and row["versions"]["domain"] == task.domain.digest]


def _entry(task_id: str, rows: Sequence[Row], level: float, unknown: str) -> dict[str, Any]:
    counted = [] if unknown else _current(task_id, rows)
    solved = sum(row["outcome"] == "success" for row in counted)
    belief = jeffreys(solved, len(counted) - solved)
    low, high = belief.interval(level)
    return {
        "id": task_id,
        "hash": "" if unknown else get_task(task_id).hash,
        "cell": "" if unknown else get_task(task_id).scenario.cell,
        "runs": len(counted),
        "solved": solved,
        "band": band_of(belief),
        "posterior": {
            "a": belief.a,
            "b": belief.b,
            "mean": round(belief.mean, DIGITS),
            "low": round(low, DIGITS),
            "high": round(high, DIGITS),
            "expected_variance": round(belief.expected_variance, DIGITS),
        },
    }


def _reason(
    entry: Mapping[str, Any],
    rows: Sequence[Row],
    least: int,
    level: float,
    bands: Sequence[str],
    unknown: str | None,
    overlap: Overlap | None,
) -> tuple[str, str]:
    """Which of `REASONS` leaves the task out, and in words; empty: none does."""
    runs, solved, belief = entry["runs"], entry["solved"], entry["posterior"]
    if unknown:
        return "no such task", unknown
    if not runs:
        return "changed", f"the task or its domain has changed since its {len(rows)} attempts"
    if overlap:
        return "overlap", str(overlap)
    passes, found = reference_passes(entry["id"])
    if not passes:
        return "reference fails", found
    if runs < least:
        return "too few attempts", f"{runs} attempts, {least} are needed"
    if solved == runs:
        return "always solved", f"{solved} of {runs}; p is above {belief['low']:.2f} with {(1 + level) / 2:.1%}"
    if not solved:
        return "never solved", f"0 of {runs}; p is below {belief['high']:.2f} with {(1 + level) / 2:.1%}"
    if entry["band"] not in bands:
        return "other band", f"{entry['band']}: expected variance {belief['expected_variance']:.3f}"
    return "", ""


def _report(args: Any, pool: Mapping[str, Any]) -> None:
    kept, left = pool["tasks"], pool["excluded"]
    reasons = Counter(entry["reason"] for entry in left)
    bands = Counter(entry["band"] for entry in kept)
    families = Counter(entry["id"].rpartition("/")[0] for entry in kept)
    report = {
        "out": str(args.out),
        "selected": len(kept),
        "excluded": {name: reasons[name] for name in REASONS if reasons[name]},
        "bands": {name: bands[name] for name in BANDS},
        "families": dict(sorted(families.items())),
    }
    if args.json:
        print_json(report)
        return
    out = screen()
    if families:
        out.print(table(("family", "selected"), sorted(families.items()), numbers=("selected",)))
    out.heading(f"Left out: {len(left)} of {len(left) + len(kept)} tasks")
    out.pairs((f"{count:>4}×", name) for name, count in report["excluded"].items())
    shares = ", ".join(f"{count} {name}" for name, count in report["bands"].items())
    out.print(f"\n{len(kept)} tasks selected ({shares}): {args.out}")
    if kept:
        out.print(f"to train on them: tbx train --set environment.pool={args.out} …")
