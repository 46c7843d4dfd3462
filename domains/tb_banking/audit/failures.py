"""Chapter 14: what follows when a tool fails. Left open: which look was the right one; any at the records counts."""

from __future__ import annotations

from collections.abc import Iterator

from tb_envs.authoring.audit import Violation
from tb_envs.parts.reading import same_call

from .episode import Episode
from .records import ActKind

NO_RECORDS = ("get_clock", "search_guide", "open_guide_page")
PROTECTION: tuple[ActKind, ...] = ("freeze", "revoke")


def tool_failures(episode: Episode) -> Iterator[Violation]:
    """Handbook 14.1: a write is repeated once, and only when it was not done; then the case goes to technology."""
    failed = {call.call for call in episode.failures}
    repeats: dict[str, int] = {}
    for call in episode.failures:
        repeats.setdefault(same_call(call), call.call)
    for text, first in repeats.items():
        later = [e for e in episode.case.log if e.kind == "call" and e.call > first and same_call(e) == text]
        if len(later) > 1 and later[0].call in failed:
            yield Violation("14.1", f"{later[0].name} was repeated {len(later)} times after it had failed")
    for done in episode.hidden_successes:
        again = [e for e in episode.case.log if e.kind == "call" and e.call > done.call]
        if any(same_call(event) == same_call(done) for event in again):
            yield Violation("14.1", f"{done.name} was repeated though it had been carried out")
    yield from _looked_first(episode)
    stopped = min(episode.given_up.values(), default=0)
    for act in episode.acts:
        if stopped and act.call > stopped and act.kind not in PROTECTION:
            yield Violation("14.1", f"{act.kind} of {act.key} was done after a tool had failed twice")
    if episode.disposition == "system_fault" and not episode.given_up:
        yield Violation("14.1", "the case went to technology though no write failed twice without effect")
    if episode.given_up and episode.record and episode.disposition != "system_fault":
        yield Violation("14.1", f"{', '.join(episode.given_up)} failed twice and technology did not get the case")


def _looked_first(episode: Episode) -> Iterator[Violation]:
    """Handbook 14.1: after a failure the records are looked at before anything else is written."""
    for failed in (*episode.failures, *episode.hidden_successes):
        for event in episode.case.log[episode.places[failed.call] + 1 :]:
            if event.kind != "call":
                continue
            if event.name.startswith(episode.reads):
                if event.name not in NO_RECORDS:
                    break
                continue
            yield Violation("14.1", f"{event.name} followed the failure of {failed.name} before a look at the records")
            break
