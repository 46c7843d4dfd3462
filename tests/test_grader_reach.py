"""Nothing that an agent can call reaches its grader: not by a name, not by an argument, in no tool of either company.

From inside a served session, over HTTP and MCP: tests/test_mcp_inside.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tb_envs.agents import make_agent
from tb_envs.driving import drive
from tb_envs.episode import Episode
from tb_envs.limits import Limits
from tb_envs.play import play
from tb_envs.registration import load_domain
from tb_envs.session.local import LocalBackend
from tb_envs.session.tools import END, HAND_OVER
from tb_envs.settings import Settings
from tb_envs.task import Task, get_task

DOMAINS = ("hotel", "banking")
RESERVED = (
    "reset", "init", "initialize", "setup", "teardown", "dispatch", "execute", "sql", "query", "eval", "exec", "admin",
    "verdict", "expected", "checks", "grade", "score", "reward", "state", "set_state", "journal", "snapshot", "restore",
    "scenario", "solution", "__call__", "__class__", "tools/call", "../dump", "", "*",
)  # fmt: skip
HOSTILE = (
    "x'; DROP TABLE bookings; --",
    "'; ATTACH DATABASE 'stolen.db' AS stolen; CREATE TABLE stolen.t AS SELECT 1; --",
    "' UNION SELECT name, sql FROM sqlite_master --",
    '"; UPDATE sqlite_master SET sql = NULL; --',
    "{0.__class__.__init__.__globals__} %(expected)s ${expected} ../../expected.json file:///etc/passwd",
)


def task_of(domain: str) -> Task:
    """One of the tasks with most checks, so that there is something to be given away."""
    found = load_domain(domain)
    ids = found.suite_ids["train"] or found.planned_ids("train")
    return max(map(get_task, ids[:40]), key=lambda task: len(task.scenario.expects))


def value_of(schema: dict[str, Any], text: str) -> Any:
    """A value of the declared type that is as hostile as the type lets it be."""
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return value_of(next(each for each in schema["anyOf"] if each.get("type") != "null"), text)
    match schema.get("type"):
        case "integer" | "number":
            return -(2**63)
        case "boolean":
            return True
        case "array":
            return [value_of(schema.get("items", {}), text)]
        case "object":
            return {text: text}
        case _:
            return text


def attacks(task: Task) -> Iterator[tuple[str, dict[str, Any]]]:
    """Calls of every tool: all arguments hostile, and each alone beside ids that there are."""
    ids = sorted({str(row["id"]) for _, row in task.world.patch()[0] if "id" in row})
    for definition in task.tool_definitions:
        function = definition.get("function", definition)
        name, schema = function["name"], function.get("parameters", function.get("inputSchema", {}))
        properties: dict[str, Any] = schema.get("properties", {})
        for text in HOSTILE:
            yield name, {key: value_of(inner, text) for key, inner in properties.items()}
            yield name, {**{key: value_of(inner, text) for key, inner in properties.items()}, "expected": text}
        for at, text in zip(properties, HOSTILE * 5, strict=False):
            real = {
                key: value_of(inner, (ids or ["x"])[len(key) % max(len(ids), 1)]) for key, inner in properties.items()
            }
            yield name, {**real, at: value_of(properties[at], text)}


@pytest.mark.parametrize("domain", DOMAINS)
def test_no_name_and_no_argument_reaches_the_grader(
    domain: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    task = task_of(domain)
    secrets = {*task.scenario.mistakes, *(f'"name": "{check.name}"' for check in task.scenario.expects)}
    secrets |= {"sqlite_autoindex", "root:x:", "<class '", "Traceback"}
    other, before = LocalBackend(task), task.hash
    untouched = other.dump()
    episode = Episode(Settings(limits=Limits(turns=100_000, tool_calls=100_000)))
    drive(episode.reset(task))
    own = {name for part in (episode, episode.backend, task, task.scenario) for name in dir(part)}
    checks = {check.name for check in task.scenario.expects}
    unknown = (own | checks | {*task.scenario.mistakes, *RESERVED}) - set(task.tools)
    assert len(unknown) > 100
    for name in sorted(unknown):
        for arguments in ({}, {"task_id": task.id, "text": "x"}):
            said = drive(episode.act({"content": None, "tool_calls": [{"name": name, "arguments": arguments}]}))
            assert "unknown_tool" in said or "[system]" in said, (name, said)
            assert not [secret for secret in secrets if secret in said.replace(name, "")]
    assert not episode.changes
    called = set[str]()
    for name, arguments in attacks(task):
        if name in (END, HAND_OVER):
            continue
        said = drive(episode.act({"content": None, "tool_calls": [{"name": name, "arguments": arguments}]}))
        assert not episode.ended_by, (name, arguments, said)
        assert not [secret for secret in secrets if secret in said], (name, arguments, said)
        called.add(name)
    assert called == set(task.tools) - {END, HAND_OVER}
    tables = {table for table, _ in task.world.patch()[0]} | set(task.domain.specs)
    assert {change.table for change in episode.changes} <= tables
    verdict = drive(episode.finish())
    assert verdict is not None and episode.outcome == "failure"
    assert {check.name for check in verdict.checks} >= checks
    assert other.dump() == untouched and not other.take_changes()
    assert task.hash == before == get_task(task.id).hash
    assert play(task, make_agent("reference")).outcome == "success", "what is expected is what was"
    assert play(task, make_agent("idle")).outcome == "failure"
    assert not list(tmp_path.iterdir())
