"""``tbx compare A B``: what changed from one campaign to another, paired by task; with intervals, and at which tasks.

Prints what `tb_envs.evaluation.compare` finds; ``--html`` writes it as a page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tb_envs.cli.parser import Parser, whole
from tb_envs.cli.screen import NOTHING, Screen, count_of, percent, print_json, screen, shown, table
from tb_envs.errors import UsageError
from tb_envs.evaluation.compare import compare
from tb_envs.evaluation.manifest import read_manifest
from tb_envs.evaluation.named import named
from tb_envs.evaluation.rows import read_rows

LISTED = 10
"""Tasks gained or lost, settings and tasks left out that are printed without ``--all``."""
PARTS = ("domain", "trap")


def main(argv: list[str]) -> int:
    """Compare two campaigns."""
    args = _parser().read(argv)
    found = compare_folders(args.a, args.b, seed=args.seed, draws=args.draws)
    if args.html:
        _save(args.html, (args.a, args.b), found)
    if args.json:
        print_json({**found, "html": str(args.html) if args.html else None})
    else:
        _print(screen(), found, everything=args.all)
        if args.html:
            screen().print(f"\nreport: {args.html}", soft_wrap=True)
    return 0


def _parser() -> Parser:
    parser = Parser("compare", "What changed from campaign A to campaign B, paired by task.")
    parser.add_argument("a", type=Path, metavar="A", help="a campaign's folder (or its file of attempts)")
    parser.add_argument("b", type=Path, metavar="B", help="another one")
    parser.add_argument("--html", type=Path, metavar="FILE.html", help="write it as a page too, with every episode")
    parser.add_argument("--all", action="store_true", help="list every task and setting, not the first few")
    parser.add_argument("--seed", type=whole(0), default=0, metavar="N", help="of the bootstrap (default: 0)")
    parser.add_argument("--draws", type=whole(100), default=2000, metavar="N", help="of the bootstrap (default: 2000)")
    parser.json_option()
    return parser


def compare_folders(a: Path, b: Path, *, seed: int = 0, draws: int = 2000) -> dict[str, Any]:
    """`compare` of two campaigns on disk, called by their names.

    Args:
        a: the first one's folder, or a file of its attempts.
        b: the second one's.
        seed: of the bootstrap.
        draws: of the bootstrap.

    Raises:
        UsageError: one of them is no campaign, both are the same one, or they have no task in common.
    """
    if named(a).file.resolve() == named(b).file.resolve():
        raise UsageError(f"{a} and {b} are the same campaign; name two")
    rows = (read_rows(a), read_rows(b))
    settings = (_settings(a), _settings(b))
    return compare(
        rows[0].every(),
        rows[1].every(),
        names=_names(a, b),
        settings=settings,
        knobs=settings[0].get("knobs"),  # tasks that are the same on both sides were played with the same ones
        seed=seed,
        draws=draws,
    )


def _names(a: Path, b: Path) -> tuple[str, str]:
    """What the two are called; where that is alike, the paths as they were given."""
    one, other = named(a).name, named(b).name
    return (one, other) if one != other else (str(a), str(b))


def _settings(path: Path) -> dict[str, Any]:
    """A campaign's settings; its tasks and what was left out as numbers, since those are told apart."""
    campaign = named(path)
    if not campaign.is_campaign:
        return {}
    manifest = read_manifest(campaign.folder)
    return {**manifest, "tasks": len(manifest["tasks"]), "excluded": len(manifest.get("excluded", {}))}


def _save(out: Path, folders: Sequence[Path], found: Mapping[str, Any]) -> None:
    """The report on both campaigns, what changed first."""
    from tb_envs.cli.report import save
    from tb_envs.evaluation.report.campaigns import Campaign
    from tb_envs.evaluation.report.page import write

    save(out, write([Campaign(folder) for folder in folders], compared=found))


# -- printing


def _print(out: Screen, found: Mapping[str, Any], *, everything: bool) -> None:
    a, b = found["names"]["a"], found["names"]["b"]
    out.print(f"A  {a}: {_size(found['a'])}")
    out.print(f"B  {b}: {_size(found['b'])}")
    out.print(f"paired: {count_of(found['tasks']['paired'], 'task')}; differences are B − A, in percentage points")
    for warning in found["warnings"]:
        out.print(f"careful: {warning}")
    out.print()
    columns = ("", "A", "B", "difference", "95 % interval")
    anchors = [(f"{name} ({found[name]['agent']})", *[percent(found[name]["pass_at_1"])] * 2, NOTHING, NOTHING)
               for name in ("floor", "ceiling")]  # fmt: skip
    out.print(table(columns, [*(_figure(name, pair) for name, pair in _figures(found)), *anchors], numbers=columns[1:]))
    _print_cost(out, found)
    for part in PARTS:
        k = f"{found['k']} of {found['k']}"
        out.heading(f"By {part}", f"scale: floor to ceiling, percent; last: tasks that pass {k}")
        columns = (part, "tasks", "scale", "A", "B", "B − A [95 %]", k)
        rows = [_part(name, group) for name, group in found["by"][part].items()]
        out.print(table(columns, rows, numbers=columns[1:], close=True))
    k = found["k"]
    _print_tasks(out, f"pass {k} of {k}", found["dependable"], everything)
    if k > 1:
        _print_tasks(out, f"pass at least 1 of {k}", found["breadth"], everything)
    _print_settings(out, found["settings"], everything)
    _print_left_out(out, found["tasks"], everything)


def _size(side: Mapping[str, Any]) -> str:
    errors = f", {count_of(side['system_errors'], 'system error')}" if side["system_errors"] else ""
    return f"{count_of(side['counted'], 'attempt')} at {count_of(side['tasks'], 'task')}{errors}"


def _figures(found: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any] | None]]:
    k, headline = found["k"], found["headline"]
    named = [("pass@1", "pass_at_1")]
    if found["a"]["system_errors"] or found["b"]["system_errors"]:
        named.append(("pass@1, system errors failed", "pass_at_1_all"))
    if k > 1:
        named += [
            (f"pass@{k}", "pass_at_k"),
            (f"pass^{k}", "pass_hat_k"),
            (f"observed {k} of {k}", "observed_k_of_k"),
            (f"at least 1 of {k}", "breadth"),
        ]
    named += [("all guards held", "guards"), ("all was earned", "earned"), ("cannot be met: pass@1", "impossible")]
    return [(label, headline[name]) for label, name in named]


def _figure(label: str, pair: Mapping[str, Any] | None) -> tuple[str, ...]:
    if pair is None:
        return (label, *[NOTHING] * 4)
    difference = pair["difference"]
    return (
        label,
        percent(pair["a"]["estimate"]),
        percent(pair["b"]["estimate"]),
        points(difference["estimate"]),
        f"{points(difference['low'])} … {points(difference['high'])}",
    )


def points(difference: float) -> str:
    """A difference of shares in percentage points, with its sign."""
    rounded = round(100 * difference, 1)
    return f"{rounded:+.1f}".replace("-", "−") if rounded else "0.0"


def _part(name: str, group: Mapping[str, Any]) -> tuple[Any, ...]:
    difference, dependable = group["difference"], group["dependable"]
    interval = f"{points(difference['estimate'])} [{points(difference['low'])}, {points(difference['high'])}]"
    shares = (percent(group["a"]), percent(group["b"]), interval)
    return (name, group["tasks"], _scale(group), *shares, f"{dependable['a']}→{dependable['b']}")


def _scale(group: Mapping[str, Any]) -> str:
    """Floor and ceiling in whole percents."""
    floor, ceiling = group["floor"], group["ceiling"]
    return NOTHING if floor is None or ceiling is None else f"{100 * floor:.0f}–{100 * ceiling:.0f}"


def _print_cost(out: Screen, found: Mapping[str, Any]) -> None:
    costs = [found[side]["cost"] for side in ("a", "b")]
    if not any(cost["known"] for cost in costs):
        return
    labels = {"total": "campaign", "per_success": "per success", "per_dependable": "per dependable task"}
    out.heading("Cost, US dollars")
    rows = [(label, *(dollars(cost[name]) for cost in costs)) for name, label in labels.items()]
    out.print(table(("", "A", "B"), rows, numbers=("A", "B")))


def dollars(amount: float | None) -> str:
    """An amount as a person reads it; what is not known says so."""
    if amount is None:
        return "unknown"
    return f"{amount:,.2f}" if amount >= 1 or not amount else f"{amount:.4f}"


def _print_tasks(out: Screen, what: str, moved: Mapping[str, Any], everything: bool) -> None:
    out.heading(f"Tasks that {what}", f"A {moved['a']}, B {moved['b']} of {moved['tasks']}")
    for label in ("gained", "lost"):
        tasks = moved[label]
        out.lines([f"{label}: {len(tasks) or 'none'}"])
        some = tasks if everything else tasks[:LISTED]
        out.pairs([(_count(task), task["task_id"]) for task in some], indent=4)
        _and_more(out, len(tasks) - len(some))


def _count(task: Mapping[str, Any]) -> str:
    a, b = task["a"], task["b"]
    return f"{a['c']}/{a['n']} → {b['c']}/{b['n']}"


def _print_settings(out: Screen, settings: Mapping[str, Mapping[str, Any]], everything: bool) -> None:
    if not settings:
        return
    out.heading("Settings that differ")
    names = list(settings) if everything else list(settings)[:LISTED]
    out.pairs((name, f"{shown(settings[name]['a'])} → {shown(settings[name]['b'])}") for name in names)
    _and_more(out, len(settings) - len(names))


def _print_left_out(out: Screen, tasks: Mapping[str, Any], everything: bool) -> None:
    changed = [task["task_id"] for task in tasks["changed"]]
    reasons: dict[str, Sequence[str]] = {
        "only in A": tasks["only_a"],
        "only in B": tasks["only_b"],
        "another content": changed,
        "system errors only": tasks["uncounted"],
    }
    if not any(reasons.values()):
        return
    out.heading("Left out")
    for reason, ids in reasons.items():
        if ids:
            some = ids if everything else ids[:LISTED]
            out.lines([f"{reason}: {count_of(len(ids), 'task')}"])
            out.lines(some, indent=4)
            _and_more(out, len(ids) - len(some))


def _and_more(out: Screen, count: int) -> None:
    if count > 0:
        out.lines([f"and {count} more; --all lists them"], indent=4)
