"""``tbx domain``: what a domain contains."""

from __future__ import annotations

from statistics import median
from typing import Any

from tb_envs.authoring.domain import Domain
from tb_envs.authoring.scenario import TRAPS
from tb_envs.authoring.steps import Call
from tb_envs.certify.domain_proofs import facts
from tb_envs.cli.parser import Parser
from tb_envs.cli.screen import print_json, screen, shown, table
from tb_envs.cli.selection import only_domain
from tb_envs.task import get_task


def main(argv: list[str]) -> int:
    """Show one domain."""
    parser = Parser("domain", "What a domain contains: tables, tools, policy, articles, families, suites.")
    parser.add_argument("name", nargs="?", metavar="NAME", help="e.g. hotel; needed when several are installed")
    parser.json_option()
    args = parser.read(argv)
    domain = only_domain(args.name)
    counts = contents(domain)
    if args.json:
        print_json(counts)
        return 0
    out = screen()
    out.heading(f"{domain.name}: {domain.title}")
    out.lines([domain.role])
    out.pairs((key.replace("_", " "), shown(value)) for key, value in counts.items() if key != "name")
    out.heading("Tables")
    rows = [(name, spec.role, len(domain.seed_rows[name]), len(spec.columns)) for name, spec in domain.specs.items()]
    out.print(table(("table", "role", "seed rows", "columns"), rows, numbers=("seed rows", "columns")))
    out.heading("Toolsets")
    out.pairs((item.name, f"{item.description} ({', '.join(item.tools)})") for item in domain.toolsets)
    out.heading("Families")
    families = [(f.name, f.split, f.goal, ", ".join(sorted(f.traps))) for f in domain.families.values()]
    out.print(table(("family", "suite", "goal", "traps"), families))
    return 0


def contents(domain: Domain) -> dict[str, Any]:
    """Counts of everything the domain holds, and a few names; the keys are stable."""
    found = {trap for family in domain.families.values() for trap in family.traps}
    samples = [get_task(f"{domain.name}/{name}/0") for name in domain.families]
    lengths = [sum(isinstance(step, Call) for step in task.scenario.solution) for task in samples]
    return {
        "name": domain.name,
        **facts(domain),
        "trap_names": [trap for trap in TRAPS if trap in found],
        "median_reference_calls": median(lengths) if lengths else 0,
    }
