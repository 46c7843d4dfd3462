"""A task's parts in words: steps, customers, expectations, placed rows. Only formats; nothing here prints."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, TypeAlias

from tb_envs.authoring.persona import Consent, Known, Lines, Offer, Persona, Secret
from tb_envs.authoring.scenario import ToolFault
from tb_envs.authoring.steps import Ask, Call, Derived, Say, Step, Use
from tb_envs.cli.screen import shown
from tb_envs.grading.expectations import Either, Expectation
from tb_envs.grading.grade import Evidence, grade
from tb_envs.grading.verdict import NOTHING_ELSE
from tb_envs.task import Task

Labelled: TypeAlias = tuple[str, str]
"""A short label and the words that belong to it."""

# -- steps


def step_words(step: Step) -> Labelled:
    """One step of a script: what is done, and with what words."""
    if isinstance(step, Ask):
        return "ask", ", ".join(step.facts)
    if isinstance(step, Say):
        return "say", f"“{step.text}”"
    arguments = ", ".join(f"{name}={_argument(value)}" for name, value in step.arguments.items())
    saved = f" → {step.save}" if step.save else ""
    return "call", f"{step.tool}({arguments}){saved}"


def _argument(value: Any) -> str:
    if isinstance(value, Use):
        return f"‹{value.saved}.{value.path}›"
    if isinstance(value, Derived):
        return _argument(value.value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(_argument(item) for item in value)}]"  # pyright: ignore[reportUnknownVariableType]
    return json.dumps(value, ensure_ascii=False, default=str)


def script(steps: Iterable[Step]) -> list[Labelled]:
    """A script, numbered."""
    return [(f"{number:>2} {verb}", text) for number, (verb, text) in enumerate(map(step_words, steps), 1)]


def differences(steps: Sequence[Step], reference: Sequence[Step]) -> list[Labelled]:
    """Where a script leaves the reference: left out (−), done instead (+), or done with other arguments (±)."""
    old, new = [step_words(step) for step in reference], [step_words(step) for step in steps]
    out: list[Labelled] = []
    for _, i, j, k, m in (code for code in SequenceMatcher(None, old, new).get_opcodes() if code[0] != "equal"):
        calls = list(zip(reference[i:j], steps[k:m], strict=False))
        if j - i == m - k and all(isinstance(a, Call) and isinstance(b, Call) and a.tool == b.tool for a, b in calls):
            out += [("± call", _other_arguments(a, b)) for a, b in calls if isinstance(a, Call) and isinstance(b, Call)]
        else:
            out += [(f"− {verb}", text) for verb, text in old[i:j]]
            out += [(f"+ {verb}", text) for verb, text in new[k:m]]
    return out or [("=", "the same steps as the reference")]


def _other_arguments(old: Call, new: Call) -> str:
    moved = [
        f"{name} {_given(old, name)} → {_given(new, name)}"
        for name in dict.fromkeys([*old.arguments, *new.arguments])
        if _given(old, name) != _given(new, name)
    ]
    return f"{old.tool}: {', '.join(moved) or 'its result is used otherwise'}"


def _given(step: Call, name: str) -> str:
    return _argument(step.arguments[name]) if name in step.arguments else "left out"


# -- the right end


def expectation_words(task: Task) -> list[tuple[str, str, str]]:
    """Name, kind and meaning of each expectation, as the grader words it; several ends are joined by “or”."""
    rows = [(item.name, str(task.kinds[item.name]), _meaning(item, task)) for item in task.scenario.expects]
    closing = _checks((), task)[NOTHING_ELSE]
    return [*rows, (NOTHING_ELSE, str(task.kinds[NOTHING_ELSE]), closing)]


def _meaning(item: Expectation, task: Task) -> str:
    ways = item.ways if isinstance(item, Either) else ((item,),)
    meanings = [_checks(way, task) for way in ways]
    said = [" and ".join(text for name, text in way.items() if name != NOTHING_ELSE) for way in meanings]
    return "; or ".join(said)


def _checks(expects: Sequence[Expectation], task: Task) -> dict[str, str]:
    nothing = Evidence(task.domain.specs, (), (), ())
    kinds = dict.fromkeys([*(item.name for item in expects), NOTHING_ELSE], "earned")
    return {check.name: check.expected for check in grade(expects, nothing, kinds).checks}


# -- the customer


def customer_words(persona: Persona) -> list[Labelled]:
    """What the customer says, knows, accepts and insists on: label and words."""
    rows: list[Labelled] = [("opens", phrase(persona.opens))]
    rows += [("knows", f"{name} = {_known(value)}") for name, value in persona.knows.items()]
    rows += _named("volunteers", persona.volunteers)
    rows += _named("identifies by", persona.identifies_by or ())
    rows += _named("lacks", persona.lacks)
    rows += _named("will not say", persona.wont_say)
    rows += [("is wrong about", f"{name}; corrected: {phrase(lines)}") for name, lines in persona.mistaken.items()]
    rows += [("admits", _secret(secret)) for secret in persona.secrets]
    rows += [("if offered", _offer(offer)) for offer in persona.offers]
    rows += [("to “shall I?”", words) for words in _consents(persona.consents)]
    rows += [("asked about", f"{words}: {phrase(lines)}") for words, lines in persona.about.items()]
    rows += [("presses", phrase(lines)) for lines in persona.presses]
    rows += [("gives in", phrase(persona.gives_in))] if persona.gives_in else []
    for request in persona.requests:
        instead = " (instead of the first)" if request.replaces else ""
        rows.append((f"after {request.after}", f"{phrase(request.opens) or 'a second request'}{instead}"))
        rows += [("then knows", f"{name} = {_known(value)}") for name, value in request.knows.items()]
        rows += [("then presses", phrase(lines)) for lines in request.presses]
    rows += [("settles for", persona.settles_for)] if persona.settles_for else []
    rows += [("manner", persona.manner)] if persona.manner != "plain" else []
    return rows


def phrase(lines: Lines) -> str:
    """A line, or the first of several phrasings and how many more there are."""
    if isinstance(lines, str):
        return f"“{lines}”" if lines else ""
    if not lines:
        return ""
    more = f" (one of {len(lines)} phrasings)" if len(lines) > 1 else ""
    return f"“{lines[0]}”{more}"


def _known(value: object) -> str:
    if not isinstance(value, Known):
        return str(value)
    same = f" (or {', '.join(value.same_as)})" if value.same_as else ""
    return f"{value.value}{same}{f': {phrase(value.says)}' if value.says else ''}"


def _named(label: str, names: Sequence[str] | Mapping[str, Lines]) -> list[Labelled]:
    if isinstance(names, Mapping):
        return [(label, f"{name}: {phrase(lines)}") for name, lines in names.items()]
    return [(label, ", ".join(names))] if names else []


def _secret(secret: Secret) -> str:
    after = f" after {secret.after}" if secret.after else ""
    return f"{phrase(secret.says)}, only if asked{after}: {' / '.join(secret.only_if)}"


def _offer(offer: Offer) -> str:
    most = f" ({offer.up_to / 100:.2f})" if offer.up_to is not None else ""
    parts = [f"{offer.name}: {offer.answer.replace('_', ' ')}{most}"]
    if offer.instead:
        parts.append(f"else {offer.instead}")
    if offer.after:
        parts.append(f"only after {offer.after}")
    if offer.then:
        parts.append(f"and names {offer.then}")
    return ", ".join(parts)


def _consents(consents: bool | Consent | Sequence[Consent]) -> list[str]:
    if isinstance(consents, bool):
        return [] if consents else ["no"]
    out: list[str] = []
    for consent in [consents] if isinstance(consents, Consent) else consents:
        parts = ["yes" if consent.answer else "no"]
        if consent.about:
            parts.append(f"about {' / '.join(consent.about)}")
        if consent.up_to is not None:
            parts.append(f"up to {consent.up_to / 100:.2f}")
        if consent.needs:
            parts.append(f"once {', '.join(consent.needs)} is restated")
        out.append(", ".join(parts))
    return out


# -- what was placed, and what goes wrong


def placed_words(task: Task) -> list[Labelled]:
    """Every row that the task adds to the company's, or changes."""
    inserts, updates = task.world.patch()
    rows = [(f"{name} {row['id']}", _columns(row)) for name, row in inserts]
    for name, row in updates:
        before = task.domain.seed_rows[name][row["id"]]
        moved = [f"{key} {shown(before[key])} → {shown(new)}" for key, new in row.items() if before[key] != new]
        rows.append((f"{name} {row['id']}", f"changed: {', '.join(moved)}"))
    return rows


def _columns(row: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={shown(value)}" for name, value in row.items() if name != "id" and value is not None)


def fault_words(fault: ToolFault) -> str:
    """A failure that belongs to the task."""
    done = "is carried out and then answers" if fault.applied else "is not carried out and answers"
    return f"call {fault.nth} of {fault.tool} {done}: “{fault.says}”"
