"""The domain as a text: policy, code, tools, families and seed held against each other. Judges no single task's end."""

from __future__ import annotations

import ast
import re
import sqlite3
from collections.abc import Callable, Iterator
from typing import NamedTuple

from sqlalchemy import CheckConstraint

from tb_envs.authoring.domain import SPLITS, Domain
from tb_envs.authoring.steps import Call, value_of
from tb_envs.certify.provenance import unexplained
from tb_envs.task import get_task


class Finding(NamedTuple):
    """One thing that is not as it should be."""

    rule: str
    where: str
    message: str


def lint_domain(domain: Domain) -> list[Finding]:
    """All findings of all rules, in order."""
    findings: list[Finding] = []
    for name, rule in RULES.items():
        try:
            findings += [Finding(name, *found) for found in rule(domain)]
        except Exception as error:
            findings.append(Finding(name, domain.package, f"the rule broke: {type(error).__name__}: {error}"))
    return findings


Found = Iterator[tuple[str, str]]

_SECTION = re.compile(
    r"(?m)^(?:#+ *)?\d+(?:\.\d+)*\.? "
    r"|\b(?:sections?|chapters?|policy) \d+(?:\.\d+)*(?: (?:to|and) \d+(?:\.\d+)*)?",
    re.I,
)
_REFERENCE = re.compile(r"(?<![\w.])\d+\.\d+(?![\w.%]|\.\d)|\bKB-\d+|\b\d{4}-\d\d-\d\d\b|\b20\d\d\b")
_NUMBER = re.compile(r"(?<![\w.,-])\d[\d,]*(?:\.\d+)?(?!\w)")
COMMON = frozenset({0, 1, 2, 100})
"""Numbers that code and prose use for other things than rules."""


def _numbers_of_text(domain: Domain) -> set[float]:
    current = [a.body for a in domain.articles.by_id.values() if a.status == "current"]
    out: set[float] = set()
    for text in (domain.policy_text, *current):
        money = {float(value) for value in re.findall(r"USD (\d+\.\d\d)\b", text)}
        stripped = _REFERENCE.sub(" ", _SECTION.sub(" ", re.sub(r"(\d+):00\b", r"\1", text)))
        out |= money | {float(found.replace(",", "")) for found in _NUMBER.findall(stripped) if found.strip(",")}
    return out


def _numbers_of_code(domain: Domain) -> set[float]:
    tree = ast.parse((domain.folder / "policy.py").read_text("utf-8"))
    return {
        float(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool)
    }


def _numbers(domain: Domain) -> Found:
    text, code = _numbers_of_text(domain), _numbers_of_code(domain)
    for number in sorted(text - code - COMMON):
        if number * 100 not in code:
            yield "policy.md", f"{number:g} stands in the policy or a current article and not in policy.py"
    for number in sorted(code - text - COMMON):
        if number / 100 not in text:
            yield "policy.py", f"{number:g} stands in policy.py and in neither the policy nor a current article"


def _enumerations(domain: Domain) -> set[str]:
    out: set[str] = set()
    for tool in domain.tools.values():
        for node in tool.schema["properties"].values():
            for option in (node, node.get("items", {})):
                out |= {str(value) for value in option.get("enum", ())} | {str(v) for v in [option.get("const")] if v}
    return out


def _checked_values(domain: Domain) -> set[str]:
    """Words that a CHECK constraint of some table lists."""
    checks = [c for spec in domain.specs.values() for c in spec.table.constraints if isinstance(c, CheckConstraint)]
    return {word for check in checks for word in re.findall(r"'(\w+)'", str(check.sqltext))}


def _names(domain: Domain) -> Found:
    arguments = {name for tool in domain.tools.values() for name in tool.schema["properties"]}
    columns = {column for spec in domain.specs.values() for column in spec.columns}
    known = set(domain.tools) | arguments | columns | _enumerations(domain) | _checked_values(domain)
    texts = [("policy.md", domain.policy_text), *((a.id, a.body) for a in domain.articles.by_id.values())]
    for where, text in texts:
        for name in re.findall(r"`([a-z][a-z0-9_]*)`", text):
            if name not in known:
                yield where, f"`{name}` is no tool, argument, column or value of this domain"


def _written_values(domain: Domain) -> Found:
    named = _enumerations(domain)
    for task_id in _planned(domain):
        task = get_task(task_id)
        for step in task.scenario.solution:
            if not isinstance(step, Call) or domain.tools[step.tool].effect != "write":
                continue
            for name, value in step.arguments.items():
                try:
                    value = value_of(value, {})
                except KeyError:
                    continue
                is_code = isinstance(value, str) and re.fullmatch(r"[a-z]+(_[a-z]+)+", value)
                if is_code and value not in named and value not in domain.policy_text:
                    yield task_id, f"{step.tool}.{name} writes {value!r}, which neither policy nor a schema names"


def _provenance(domain: Domain) -> Found:
    for task_id in _planned(domain):
        for message in unexplained(get_task(task_id), get_task(task_id).scenario.solution):
            yield task_id, message


def _families(domain: Domain) -> Found:
    sequences: dict[str, set[tuple[str, ...]]] = {}
    for task_id in _planned(domain):
        task = get_task(task_id)
        calls = [step.tool for step in task.scenario.solution if isinstance(step, Call)]
        writes = tuple(tool for tool in calls if domain.tools[tool].effect == "write")
        sequences.setdefault(task.family.name, set()).add(writes)
    families = [family for family in domain.families.values() if family.name in sequences]
    for index, one in enumerate(families):
        for other in families[index + 1 :]:
            if one.traps == other.traps and sequences[one.name] & sequences[other.name]:
                yield one.name, f"shares its traps and a sequence of write tools with {other.name}"
            if one.traps == other.traps and one.goal == other.goal and one.split != other.split:
                yield one.name, f"is held out from {other.name} only in name: same traps and goal"


def _seed(domain: Domain) -> Found:
    raw = sqlite3.connect(":memory:")
    raw.deserialize(domain.image)
    for row in raw.execute("PRAGMA foreign_key_check"):
        yield "seed", f"foreign key broken: {row}"
    for (text,) in raw.execute("PRAGMA integrity_check"):
        if text != "ok":
            yield "seed", str(text)
    for name, statement in domain.laws.items():
        for row in raw.execute(statement).fetchmany(3):
            yield "seed", f"law «{name}» is broken: {row}"
    raw.close()


def _sources(domain: Domain) -> Found:
    for path in sorted(domain.folder.rglob("*.py")):
        source = path.read_text("utf-8")
        where = str(path.relative_to(domain.folder))
        if re.search(r"\binsert\s+or\s+replace\b|prefix_with\(", source, re.IGNORECASE):
            yield where, "INSERT OR REPLACE escapes the journal's triggers"
        if "families" in where:
            for node in ast.walk(ast.parse(source)):
                if isinstance(node, ast.ImportFrom) and (node.module or "").endswith("policy"):
                    yield where, "import the module `policy`, not names from it: its mutants must reach the families"


def _planned(domain: Domain) -> list[str]:
    return [task_id for split in SPLITS for task_id in domain.planned_ids(split)]


RULES: dict[str, Callable[[Domain], Found]] = {
    "numbers": _numbers,
    "names": _names,
    "written values": _written_values,
    "provenance": _provenance,
    "families": _families,
    "seed": _seed,
    "sources": _sources,
}


def rule_names() -> list[str]:
    """Names of all rules."""
    return list(RULES)


__all__ = ["Finding", "lint_domain", "rule_names"]
