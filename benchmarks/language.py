"""How much has to be written for a domain: lines of code per table, tool, rule and family, side by side.

    python benchmarks/language.py

Counts lines of Python that are neither blank, comment nor docstring. What a domain takes from `tb_envs` is not its own.
"""

from __future__ import annotations

import ast
import io
import statistics
import tokenize
from pathlib import Path
from typing import Any

from tb_envs.authoring.domain import Domain
from tb_envs.registration import domain_names, load_domain


def code_lines(path: Path) -> int:
    """Lines of a file that hold code."""
    source = path.read_text("utf-8")
    skipped = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
    held: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in skipped:
            held.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            held -= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(held)


def measure(domain: Domain) -> dict[str, Any]:
    """The figures of one domain."""
    folder = domain.folder

    def lines(*patterns: str) -> int:
        return sum(code_lines(path) for pattern in patterns for path in sorted(folder.glob(pattern)))

    named = sorted((folder / "families").glob("[a-z]*.py"))
    own = {path: path.with_name(f"_{path.name}") for path in named}  # a family's cases and customer, where apart
    families = [code_lines(path) + (code_lines(more) if more.exists() else 0) for path, more in own.items()]
    shared = sum(code_lines(path) for path in (folder / "families").glob("_*.py") if path not in own.values())
    tools = sum(tool.effect != "session" for tool in domain.tools.values())
    rules = len(domain.module("decisions").RULES)
    return {
        "tables": len(domain.specs),
        "lines a table": round(lines("models/*.py") / len(domain.specs), 1),
        "tools": tools,
        "lines a tool": round((lines("tools/*.py") - lines("tools/spare.py")) / tools, 1),
        "rules": rules,
        "lines a rule": round(lines("policy.py", "decisions.py") / rules, 1),
        "families": len(families),
        "lines a family (median)": round(statistics.median(families)),
        "lines a family (longest)": max(families),
        "what families share": shared,
        "world and seed": lines("world/*.py", "seed*.py"),
        "audit": lines("audit/*.py"),
        "vocabulary": lines("vocabulary.py"),
        "all": lines("**/*.py"),
    }


def main() -> int:
    """Print a Markdown table."""
    columns = {name: measure(load_domain(name)) for name in domain_names()}
    print(f"| | {' | '.join(columns)} |\n|---|{'---:|' * len(columns)}")
    for key in next(iter(columns.values())):
        print(f"| {key} | {' | '.join(str(figures[key]) for figures in columns.values())} |")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
