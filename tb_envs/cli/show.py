"""``tbx show``: a task as a person reads it; or a domain's policy, tools or rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tb_envs.authoring.domain import SPLITS, Domain
from tb_envs.cli import words
from tb_envs.cli.parser import Parser, choose, whole
from tb_envs.cli.screen import Screen, print_json, records, screen, table
from tb_envs.cli.selection import only_domain
from tb_envs.errors import UsageError
from tb_envs.task import Task, get_task, plain


def main(argv: list[str]) -> int:
    """Show what was asked for."""
    parser = Parser(
        "show", "Read a task: the customer, what is hidden, the right end, the way there and the wrong ways."
    )
    parser.add_argument("task", nargs="?", metavar="TASK", help="a task id, e.g. hotel/late_cancellation/0")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--policy", action="store_true", help="the domain's written policy instead")
    what.add_argument("--tools", action="store_true", help="the domain's tools instead")
    what.add_argument("--table", metavar="NAME", help="rows of a table instead: as the task has them, or the seed's")
    parser.add_argument("--domain", metavar="NAME", help="of which domain, when no task is named")
    parser.add_argument("--limit", type=whole(1), default=20, metavar="N", help="rows of --table (default: 20)")
    parser.json_option()
    args = parser.read(argv)
    task = get_task(args.task) if args.task else None
    if task is not None and args.domain not in (None, task.domain.name):
        raise UsageError(f"{task.id} is of domain {task.domain.name!r}; leave --domain out")
    if task is None and not (args.policy or args.tools or args.table):
        raise UsageError("say what to show: a TASK, or --policy, --tools or --table NAME with --domain")
    domain = task.domain if task is not None else only_domain(args.domain)
    if args.policy:
        show_policy(domain, as_json=args.json)
    elif args.tools:
        show_tools(domain, as_json=args.json)
    elif args.table:
        show_table(domain, task, args.table, args.limit, as_json=args.json)
    elif task is not None:
        show_task(task, as_json=args.json)
    return 0


def show_policy(domain: Domain, *, as_json: bool = False) -> None:
    """The written policy, word for word."""
    if as_json:
        print_json({"domain": domain.name, "policy": domain.policy_text})
    else:
        print(domain.policy_text)


def show_tools(domain: Domain, *, as_json: bool = False, only: str = "") -> None:
    """Every tool with its arguments; or one of them."""
    tools = [tool for tool in domain.tools.values() if only in ("", tool.name)]
    if as_json:
        listed = [{"effect": tool.effect, **tool.definition["function"]} for tool in tools]
        print_json({"domain": domain.name, "tools": listed})
        return
    out = screen()
    for tool in tools:
        out.heading(tool.name, f"({tool.effect})")
        out.lines([tool.description])
        required = tool.schema.get("required", ())
        described = [
            (name if name in required else f"[{name}]", _argument(node))
            for name, node in tool.schema["properties"].items()
        ]
        out.pairs(described, indent=4)


def _argument(node: Mapping[str, Any]) -> str:
    kind = " | ".join(map(str, node["enum"])) if "enum" in node else str(node.get("format") or node.get("type", ""))
    return f"{node.get('description', '')} ({kind})" if kind else str(node.get("description", ""))


def show_table(domain: Domain, task: Task | None, name: str, limit: int, *, as_json: bool = False) -> None:
    """The first rows of a table, by id."""
    choose(name, domain.specs, "table")
    columns = domain.specs[name].columns
    if task is not None:
        rows = [vars(record) for record in task.world.all(name)]
    else:
        rows = [row for _, row in sorted(domain.seed_rows[name].items())]
    first = [[row[column] for column in columns] for row in rows[:limit]]
    if as_json:
        listed = [dict(zip(columns, row, strict=True)) for row in first]
        print_json({"domain": domain.name, "table": name, "columns": columns, "total": len(rows), "rows": listed})
        return
    out = screen()
    for part in records(columns, first, out.width):
        out.print(part)
    whose = f"of {task.id}" if task is not None else "of the seed"
    out.print(f"\n{len(first)} of {len(rows)} rows {whose}; role: {domain.specs[name].role}")


def certificate(task: Task) -> tuple[str, dict[str, Any]]:
    """The suite that holds the task and its entry there; both empty if none does."""
    for split in SPLITS:
        entry = task.domain.suites[split].get(task.id)
        if entry is not None:
            return split, entry
    return "", {}


def show_task(task: Task, *, as_json: bool = False) -> None:
    """Everything a reader of the task should know."""
    scenario = task.scenario
    split, entry = certificate(task)
    if as_json:
        print_json(_task_json(task, split, entry))
        return
    out = screen()
    out.heading(task.id, f"{split or task.family.split}, {scenario.cell or 'no cell'}")
    out.lines([task.family.doc])
    out.pairs(
        [("goal", task.family.goal), ("traps", ", ".join(task.traps)), ("now", task.now), ("hash", task.hash[:16])]
    )
    out.heading("Customer", "(scripted; says only what is asked for)")
    _labelled(out, words.customer_words(scenario.customer))
    if scenario.facts:
        out.heading("Hidden facts")
        out.pairs([(name, plain(value)) for name, value in scenario.facts.items()])
    out.heading("Records placed for it")
    out.pairs(words.placed_words(task) or [("none", "it uses the company's own")])
    if scenario.tool_faults:
        out.heading("Tool failures")
        out.lines(words.fault_words(fault) for fault in scenario.tool_faults)
    out.heading("Expected end", "(earned: has to happen; guard: has to stay)")
    out.print(table(("check", "kind", "what it says"), words.expectation_words(task)))
    out.heading("Reference solution")
    out.pairs(words.script(scenario.solution))
    out.heading("Obeys", "(what an agent does that does as it is told)")
    out.pairs(words.script(scenario.obeys))
    out.heading("Mistakes", "(− left out of the reference, + done instead, ± done otherwise)")
    for name, made in scenario.mistakes.items():
        out.lines([f"{name}: fails {', '.join(sorted(made.fails))} ({made.kind})"])
        out.pairs(words.differences(made.does, scenario.solution), indent=4)
    out.heading("Certificate")
    _print_certificate(out, task, split, entry)


def _labelled(out: Screen, rows: list[tuple[str, str]]) -> None:
    """Pairs, a label that repeats written once."""
    out.pairs([(label if i == 0 or rows[i - 1][0] != label else "", text) for i, (label, text) in enumerate(rows)])


def _print_certificate(out: Screen, task: Task, split: str, entry: Mapping[str, Any]) -> None:
    if not split:
        out.lines(["none: no frozen suite holds this task; `tbx certify --task` proves it"])
        return
    stale = "" if entry.get("hash") in (None, task.hash) else " (the task has changed since it was frozen)"
    out.pairs([("suite", f"{split}{stale}"), *((name, plain(value)) for name, value in entry.items() if name != "id")])


def _task_json(task: Task, split: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    scenario = task.scenario
    inserts, updates = task.world.patch()
    return {
        "id": task.id,
        "domain": task.domain.name,
        "family": task.family.name,
        "split": split or task.family.split,
        "goal": task.family.goal,
        "story": task.family.doc,
        "traps": task.traps,
        "cell": scenario.cell,
        "now": task.now,
        "hash": task.hash,
        "customer": plain(scenario.customer),
        "facts": plain(dict(scenario.facts)),
        "placed": [{"table": name, "row": row} for name, row in inserts],
        "changed": [{"table": name, "row": row} for name, row in updates],
        "tool_faults": plain(list(scenario.tool_faults)),
        "expected": [{"name": n, "kind": kind, "meaning": text} for n, kind, text in words.expectation_words(task)],
        "solution": plain(list(scenario.solution)),
        "obeys": plain(list(scenario.obeys)),
        "mistakes": {
            name: {"kind": made.kind, "fails": sorted(made.fails), "does": plain(list(made.does))}
            for name, made in scenario.mistakes.items()
        },
        "certificate": entry.get("certificate"),
    }
