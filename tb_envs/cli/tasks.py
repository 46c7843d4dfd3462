"""``tbx tasks``: the tasks of the suites, with their traps."""

from __future__ import annotations

from typing import Any

from tb_envs.authoring.domain import SPLITS
from tb_envs.authoring.scenario import TRAPS
from tb_envs.cli.parser import Parser, choose, whole
from tb_envs.cli.screen import print_json, screen, table
from tb_envs.cli.selection import domains, scope_options, suite
from tb_envs.task import get_task


def main(argv: list[str]) -> int:
    """List tasks."""
    parser = Parser("tasks", "List the tasks of the suites. Any other index of a family can be built and played too.")
    scope_options(parser)
    parser.add_argument("--trap", metavar="TRAP", help=f"only tasks with this trap: {', '.join(TRAPS)}")
    parser.add_argument("--limit", type=whole(1), metavar="N", help="at most N tasks")
    parser.json_option()
    args = parser.read(argv)
    if args.trap:
        choose(args.trap, TRAPS, "trap")
    rows: list[dict[str, Any]] = []
    for domain in domains(args.domain):
        for split in [args.split] if args.split else SPLITS:
            for task_id in suite(domain, split):
                row = {"id": task_id, "split": split, **_about(task_id, domain.suites[split].get(task_id))}
                if not args.trap or args.trap in row["traps"]:
                    rows.append(row)
    rows = rows[: args.limit]
    if args.json:
        print_json({"count": len(rows), "tasks": rows})
        return 0
    out = screen()
    columns = ("task", "suite", "cell", "traps")
    out.print(table(columns, [(row["id"], row["split"], row["cell"], ", ".join(row["traps"])) for row in rows]))
    loose = sum(not row["frozen"] for row in rows)
    out.print(f"\n{len(rows)} tasks{f', {loose} of them in no frozen suite yet' if loose else ''}")
    return 0


def _about(task_id: str, entry: dict[str, Any] | None) -> dict[str, Any]:
    """Traps and outcome cell, from the suite's entry where it has them."""
    if entry is not None and {"traps", "cell"} <= set(entry):
        return {"traps": list(entry["traps"]), "cell": entry["cell"], "frozen": True}
    task = get_task(task_id)
    return {"traps": list(task.traps), "cell": task.scenario.cell, "frozen": entry is not None}
