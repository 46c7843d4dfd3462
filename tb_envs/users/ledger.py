"""What has passed between an agent and a customer whose words a language model writes: heard, told, asked, ended.

It reads the agent's words as the scripted customer does, and the model's words by comparing them with the persona.
Where it is unsure it reads in the customer's favour. Refuses to judge (`guards`) and to name acts (`labels`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from tb_envs.authoring.persona import NAMED, Consent, Known, Lines, Persona, Request, Secret, Vocabulary

from .ends import DONE, INABLE, PENDING, REFUSED
from .heard import Understood, phrases
from .phrases import stem_set, stems
from .prepared import prepared
from .spotting import Pool, Spotted, holds, in_own_spelling, spotted
from .understanding import understand
from .values import said
from .words import each

_OUTCOMES = frozenset((DONE, REFUSED, PENDING, INABLE, "deed", "kept", "recorded", "limited"))
"""Ends of a request as `ends` names them; the unsure ones count, too."""
READ = 20_000
"""Characters of the agent's words that are read of one turn."""
_ENDING = re.compile(
    r"\b(?:done|completed?|processed|cancell?ed|refunded|changed|updated|confirmed|booked|issued|sent|reversed|removed"
    r"|added|arranged|settled|resolved|all set|unable|cannot|can't|can not|not able|not possible|not allowed|declined"
    r"|denied|refused?|escalated|forwarded|passed (?:on|to)|on file|will be (?:in touch|contacted)|take(?:s)? over)\b",
    re.IGNORECASE,
)
"""Words that may tell an end; more than the scripted customer relies on, since a false alarm costs an attempt."""
_SMALL = stem_set(
    "i you he she it we they me him them my your his her its our their a an the this that these those there here am is"
    " are was were be been have has had do does did will would can could shall should may might must not no yes and or"
    " but so if of in on at to for from by with as about than then too also just really very please thank thanks sorry"
    " oh well all some any what which who when where why how one"
)
_IDENTIFYING = stem_set(
    "verify verification identify identification identity details information confirm security data credentials who"
    " locate find account profile check match fact facts"
)
"""Words of an agent after which a customer may tell what identifies it."""
_GENERAL = each("what which your have with that this tell give could would please want need from when where")


class Ledger:
    """One talk between an agent and one persona."""

    def __init__(self, persona: Persona, vocabulary: Vocabulary | None, opening: str, acts: tuple[str, ...]) -> None:
        self.persona = persona
        self._ready = prepared(persona, vocabulary)
        self._memory = self._ready.memory.fresh()
        self.acts: set[str] = set(acts)
        self.turns = 0
        """Of the agent, spoken."""
        self.heard = Understood()
        """The agent's last words, as the scripted customer understands them."""
        self.ended = self.parting = False
        """Whether the agent has told how something ended; whether it has begun to take its leave."""
        self.asked: set[str] = set()
        """Facts that the agent has asked for so far."""
        self.asked_now: list[str] = []
        self._open = False
        self.facts: dict[str, str] = {}
        """What the persona knows, as it says it; of a fact that changes, the last request's value."""
        self._all: list[tuple[str, str]] = list(_values(persona))
        self.facts.update(self._all)
        self.told = {fact for fact, value in self._all if holds(opening, value)}
        self.pool = Pool([opening, *(line for line in _everything(persona)), *(value for _, value in self._all)])
        self.agent = Pool()
        self._agent_stems: set[str] = set()
        self._agent_words = ""
        self._waiting = [request for request in persona.requests if request.after != "opening"]
        self._known = Pool([opening, *_public(persona), *(value for _, value in self._all)])
        """What is no secret."""
        self._common = set(stems(" ".join([opening, *_public(persona)]))) | _SMALL

    # -- the agent's words

    def hear(self, text: str) -> None:
        """Take up what the agent said."""
        text = text[:READ]
        self.turns += 1
        memory = self._memory
        self.heard = heard = understand(text, memory.lexicon, memory.tree, memory.values)
        self.ended = self.ended or bool(heard.ends & _OUTCOMES) or any(s.ends & _OUTCOMES for s in heard.sentences)
        self.ended = self.ended or (_ENDING.search(text) is not None and not heard.consent)
        self.parting = "bye" in heard.cues
        self.asked_now = memory.asked(heard)
        self.asked.update(self.asked_now)
        row = set(stems(text))
        self._agent_stems |= row
        self._agent_words += "\n" + text
        self._open = self._open or not _IDENTIFYING.isdisjoint(row) or heard.whole or heard.contact
        self.pool.add(text)
        self.agent.add(text)

    def named_by_agent(self, fact: str) -> bool:
        """Whether the agent has said a fact's value."""
        value = self.facts[fact]
        wanted = spotted(value)
        return all(map(self.agent.has, wanted)) if wanted else holds(self._agent_words, value)

    def may_tell(self, fact: str) -> bool:
        """Whether a fact was asked for, told or named before; in doubt it was."""
        if fact in self.told or fact in self.asked or self._open or self.named_by_agent(fact):
            return True
        known = self._memory.lexicon.fact(fact)
        ways = " ".join([fact.replace("_", " "), *known.asked_as]).translate(_PLAIN)
        return not self._agent_stems.isdisjoint(set(stems(ways)) - _SMALL - _GENERAL)

    # -- the customer's words

    def spelled(self, text: str) -> str:
        """The customer's words with its own values in its own spelling."""
        return in_own_spelling(text, [value for _, value in self._all])

    def told_in(self, text: str) -> list[str]:
        """Facts that a text names, in the persona's order; of a request that is not raised yet none."""
        out = [fact for fact, value in self._all if holds(text, value)]
        return list(dict.fromkeys(out))

    def strange(self, text: str) -> list[Spotted]:
        """Values in a text that neither the persona nor the agent has."""
        return [value for value in spotted(text) if not self.pool.has(value)]

    def reveals(self, secret: Secret, text: str) -> bool:
        """Whether a text tells what only a secret's line tells."""
        told, values = set(stems(text)), Pool([text])
        agent = self._agent_stems if not secret.after.startswith(NAMED) else set[str]()
        for line in _lines(secret.says):
            if own := [value for value in spotted(line) if not self._known.has(value)]:
                if any(map(values.has, own)):
                    return True
                continue
            own = set(stems(line)) - self._common - agent
            if own and len(own & told) * 2 >= len(own) and (len(own & told) > 1 or len(own) == 1):
                return True
        return False

    def released(self, secret: Secret) -> bool:
        """Whether the agent has asked for it, and what must come before has come."""
        after = secret.after
        if after.startswith(NAMED):
            ready = any(words <= self._agent_stems for words in phrases(after.removeprefix(NAMED)))
        else:
            ready = not after or after in self.acts
        return ready and any(words <= self._agent_stems for words in phrases(secret.only_if))

    def raises(self, text: str) -> list[Request]:
        """Requests that a text raises for the first time."""
        return [request for request in self._waiting if resembles(text, request.opens)]

    def unraised(self) -> list[Request]:
        """Requests that the customer still has to raise, whatever comes; those that wait for an act may never come."""
        sure = ("settled", "halfway")
        return [request for request in self._waiting if request.after in sure]

    def take(self, text: str, acts: tuple[str, ...]) -> None:
        """The customer has said this."""
        self.acts.update(acts)
        self.told.update(self.told_in(text))
        raised = self.raises(text)
        for request in raised:
            self._memory.layer(request.knows)
        self._waiting = [request for request in self._waiting if request not in raised]
        self.pool.add(text)


_PLAIN = str.maketrans("(|)", "   ")


def resembles(text: str, lines: Lines) -> bool:
    """Whether a text says what one of these lines says: half of its words or more."""
    told = set(stems(text))
    for line in _lines(lines):
        own = set(stems(line.translate(str.maketrans("{}", "  ")))) - _SMALL
        hits = len(own & told)
        if own and hits * 2 >= len(own) and hits >= min(2, len(own)):
            return True
    return False


def _lines(lines: Lines) -> tuple[str, ...]:
    return (lines,) if isinstance(lines, str) else tuple(lines)


def _values(persona: Persona) -> Iterator[tuple[str, str]]:
    """Facts with all values that the persona has for them."""
    for knows in (persona.knows, *(request.knows for request in persona.requests)):
        for fact, given in knows.items():
            yield fact, said(given.value if isinstance(given, Known) else given)


def _public(persona: Persona) -> Iterator[str]:
    """Every line that is no secret."""
    groups: list[Lines] = [persona.opens, persona.gives_in, persona.thanks, *persona.presses, *persona.about.values()]
    for request in persona.requests:
        groups += [request.opens, request.gives_in, *request.presses]
    for offer in persona.offers:
        groups += [offer.says, offer.says_no]
    consents = persona.consents
    if not isinstance(consents, bool):
        for consent in (consents,) if isinstance(consents, Consent) else consents:
            groups += [consent.says, consent.says_no]
    groups += persona.mistaken.values()
    for listed in (persona.lacks, persona.wont_say):
        if isinstance(listed, Mapping):
            groups += listed.values()
    for group in groups:
        yield from _lines(group)


def _everything(persona: Persona) -> Iterator[str]:
    yield from _public(persona)
    for secret in persona.secrets:
        yield from _lines(secret.says)
    for _, given in persona.knows.items():
        if isinstance(given, Known):
            yield from (*_lines(given.says), *given.same_as)
