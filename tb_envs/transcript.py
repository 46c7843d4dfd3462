"""An episode as text for people: the talk, the calls, the rows that changed, the verdict. Only formats."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tb_envs.grading.grade import show_change
from tb_envs.session.log import Event

if TYPE_CHECKING:
    from tb_envs.episode import Episode


def entries(episode: Episode) -> list[str]:
    """One line or block per log entry."""
    return [line for event in episode.log if (line := _entry(event, episode))]


def transcript(episode: Episode) -> str:
    """The whole episode so far, with the verdict once it has one."""
    lines = entries(episode)
    if episode.error:
        lines.append(f"system error: {episode.error}")
    if episode.verdict is not None:
        lines.append(f"verdict: {episode.outcome}, reward {episode.reward:g}")
        for check in episode.verdict.checks:
            mark = "ok  " if check.passed else "FAIL"
            lines.append(f"  {mark} {check.name} ({check.kind}): {check.expected}")
            if not check.passed:
                lines.append(f"       found: {check.found}")
    return "\n".join(_printable(line) for line in lines)


def _entry(event: Event, episode: Episode) -> str:
    match event.kind:
        case "heard":
            return _printable(f"customer: {event.text}")
        case "said":
            return _printable(f"agent:    {event.text}")
        case "call":
            return _printable(f"  call    {event.name} {event.text}")
        case "result":
            return _printable(f"  {'result' if event.ok else 'error '}  {event.text}")
        case "row":
            assert episode.task is not None
            return _printable(f"  row     {show_change(event.data, episode.task.domain.specs)}")
        case "ended":
            return f"ended by {event.name}"
        case "judged":
            found = "true" if event.data["true"] else "not true"
            return _printable(f"judge:    {found}: {event.data['criterion']} ({event.text})")


def _printable(text: str) -> str:
    """Text any terminal takes: lone surrogates and NUL replaced."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\x00", "\ufffd")
