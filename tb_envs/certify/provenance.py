"""Provenance: every argument of a script's calls was visible to the agent, in what it had read, when it was used.

Visible are the instructions, what the customer said (facts it gave count in their raw form too) and what tools
returned. Free text and enumerated values need no source; a computed value names its sources by `derived`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, cast

from tb_envs.actions import call as call_action
from tb_envs.actions import say as say_action
from tb_envs.agents import question, still_owed
from tb_envs.authoring.persona import Known
from tb_envs.authoring.steps import Ask, Call, Derived, Step, Use, value_of
from tb_envs.episode import Episode, drive
from tb_envs.task import Task

FREE_TEXT = 4000
_PAGING = ("page", "limit", "offset")


def unexplained(task: Task, steps: Sequence[Step]) -> list[str]:
    """Arguments whose value (or one of its sources) was not visible, in words; empty if all were."""
    episode, saved, missing = Episode(), dict[str, Any](), list[str]()
    seen = [task.instructions.lower(), drive(episode.reset(task)).lower()]
    try:
        for step in steps:
            if episode.over:
                break
            if isinstance(step, Call):
                text = _facts(episode, task) + "\n" + "\n".join(seen)
                missing += _missing(task, step, saved, text)
                try:
                    arguments = {name: value_of(value, saved) for name, value in step.arguments.items()}
                except (KeyError, IndexError, TypeError, ValueError):
                    continue
                seen.append(drive(episode.act(call_action(step.tool, **arguments))).lower())
                last = episode.log[-1] if episode.log[-1].kind == "result" else episode.log[-2]
                if step.save and last.kind == "result" and last.ok:
                    saved[step.save] = last.data
            else:
                asked = step.facts if isinstance(step, Ask) else ()
                words = question(episode, asked) if isinstance(step, Ask) else step.text
                seen.append(drive(episode.act(say_action(words))).lower())
                for _ in asked[1:]:
                    if (owed := still_owed(episode, asked)) and not episode.over:
                        seen.append(drive(episode.act(say_action(question(episode, owed)))).lower())
    finally:
        episode.close()
    return missing


def _facts(episode: Episode, task: Task) -> str:
    """Raw values of the facts the customer has given so far."""
    customer = task.scenario.customer
    known = {**customer.knows}
    for request in customer.requests:
        known.update({f"{name}": value for name, value in request.knows.items() if name not in known})
    given = {
        act[5:]
        for event in episode.log
        if event.kind == "heard"
        for act in event.data["acts"]
        if act.startswith("gave:")
    }
    values = [str(v.value if isinstance(v, Known) else v) for name, v in known.items() if name in given]
    for request in customer.requests:
        values += [str(v.value if isinstance(v, Known) else v) for n, v in request.knows.items() if n in given]
    return "\n".join(values).lower()


def _missing(task: Task, step: Call, saved: dict[str, Any], text: str) -> list[str]:
    tool = task.tools.get(step.tool)
    if tool is None:
        return [f"{step.tool} is no tool of this domain"]
    out: list[str] = []
    for name, value in step.arguments.items():
        node = tool.schema["properties"].get(name, {})
        if "enum" in node or "const" in node or node.get("maxLength") == FREE_TEXT or name in _PAGING:
            continue
        for source in _sources(value):
            try:
                known = value_of(source, saved)
            except (KeyError, IndexError, TypeError, ValueError):
                out.append(f"{step.tool}.{name} uses {source}, which no earlier result gave")
                continue
            if isinstance(source, Use) or isinstance(known, bool) or _visible(known, text):
                continue
            out.append(f"{step.tool}.{name} = {known!r} was not visible when it was used")
    return out


def _sources(value: Any) -> list[Any]:
    if isinstance(value, Derived):
        return [source for need in value.needs for source in _sources(need)] or [value.value]
    if isinstance(value, list | tuple):
        return [source for item in cast("list[Any]", value) for source in _sources(item)]
    return [value]


def _visible(value: Any, text: str) -> bool:
    needle = str(value).lower()
    if re.search(rf"(?<![\w.]){re.escape(needle)}(?![\w]|\.\d)", text):
        return True
    words = re.findall(r"\w+", needle)
    return len(words) > 1 and all(re.search(rf"\b{re.escape(word)}", text) for word in words)
