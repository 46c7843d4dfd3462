"""``tbx lint``: whether domains are written as the suite wants them; findings as rule, place and words."""

from __future__ import annotations

from tb_envs.certify.lint import lint_domain
from tb_envs.cli.parser import Parser
from tb_envs.cli.screen import print_json, screen
from tb_envs.cli.selection import domains


def main(argv: list[str]) -> int:
    """Lint domains; 1 if there is a finding."""
    parser = Parser("lint", "Check how domains are written: sizes, names, tools, policy, families.")
    parser.add_argument("--domain", action="append", metavar="NAME", help="only this domain (may be repeated)")
    parser.json_option()
    args = parser.read(argv)
    chosen = domains(args.domain)
    found = [(domain.name, finding) for domain in chosen for finding in lint_domain(domain)]
    if args.json:
        listed = [
            {"domain": name, "rule": finding.rule, "where": finding.where, "message": finding.message}
            for name, finding in found
        ]
        print_json({"findings": listed})
        return int(bool(found))
    out = screen()
    for name, finding in found:
        out.lines([f"{name}  {finding.rule}: {finding.where}", f"    {finding.message}"], indent=0)
    out.print(f"{len(found)} findings in {', '.join(domain.name for domain in chosen)}")
    return int(bool(found))
