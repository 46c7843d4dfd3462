"""The acts of a customer whose words a language model wrote: found by comparing them with the persona and the question.

The same names as of the scripted customer (`scripted.py`), and only those that can be found so (`FOUND`); a task whose
right end reads another act is refused for such a customer. Refuses to ask a model what it meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .ends import DONE, INABLE, PENDING, REFUSED
from .heard import phrases
from .ledger import Ledger, resembles

FOUND = (
    "gave:", "confirmed:", "withheld:", "unknown:", "told:secret", "consented", "accepted:", "declined:",
    "heard:done", "heard:refused", "heard:pending", "pressed", "gave_in", "second_request", "changed_mind", "left",
)  # fmt: skip
"""Acts, or beginnings of acts, that are found in any customer's words."""

_GOOD = "fine|ok|okay|good|great|perfect|all right|alright|right|correct|it"
_YES = re.compile(
    r"^\W*(?:(?:well|oh|ah|hm+|then|right)\W+)?(?:yes|yeah|yep|yup|sure|certainly|absolutely|of course|ok|okay"
    r"|all right|alright|agreed|please do|(?:please )?(?:go ahead|proceed|do (?:it|that|so))"
    r"|great|perfect|fine|sounds good"
    rf"|that(?:'s| is| would be| sounds) (?:{_GOOD})|that works|i(?:'m| am) (?:fine|happy|ok)|i agree"
    r"|i(?:'ll| will) take|let's do)\b(?!\W+(?:but )?(?:no|not|don't)\b)",
    re.IGNORECASE,
)
_NO = re.compile(
    r"^\W*(?:(?:well|oh|ok|okay|ah|hm+|sorry)\W+)?(?:no\b|nope|not\b|don't|do not|i(?:'d| would) rather not|never"
    r"|i don't want|i do not want|that(?:'s| is) (?:too|more than|not))",
    re.IGNORECASE,
)
_BUT = re.compile(
    r"\b(?:but (?:no|not|don't)|(?:don't|do not) (?:do|go|proceed)|please don't|no, (?:thank|don't|please)"
    r"|too (?:much|expensive|dear)|more than i|rather not)\b",
    re.IGNORECASE,
)


def acts_in(text: str, leaves: bool, ledger: Ledger) -> tuple[str, ...]:
    """What the customer did with these words, in order; the ledger has heard the agent, and not yet these words."""
    return tuple(dict.fromkeys(_acts(text.replace("’", "'"), leaves, ledger)))


def agrees(text: str) -> bool:
    """Whether words begin with a yes that nothing takes back."""
    return _YES.search(text) is not None and _BUT.search(text) is None


def _acts(text: str, leaves: bool, ledger: Ledger) -> Iterator[str]:
    persona, heard = ledger.persona, ledger.heard
    short = [fact for fact, value in ledger.facts.items() if len(value) < 3 and fact not in ledger.asked_now]
    told = [fact for fact in ledger.told_in(text) if fact not in short]
    for fact in told:
        yield f"confirmed:{fact}" if ledger.named_by_agent(fact) and fact not in ledger.asked_now else f"gave:{fact}"
    for fact in ledger.asked_now:
        if fact in persona.wont_say:
            yield f"withheld:{fact}"
        elif fact not in told and fact not in ledger.facts:
            yield f"unknown:{fact}"
    if any(ledger.released(secret) and ledger.reveals(secret, text) for secret in persona.secrets):
        yield "told:secret"
    yes, no = agrees(text), _NO.search(text) is not None
    if yes or no:
        offered = [o for o in persona.offers if any(s.offers(phrases(o.words)) for s in heard.sentences)]
        for offer in offered:
            yield f"{'accepted' if yes else 'declined'}:{offer.name}"
        if yes and heard.consent:
            yield "consented"
        elif no and heard.consent and not offered:
            yield "declined:consent"
    for end in (DONE, REFUSED, PENDING):
        if end in heard.ends or (end == REFUSED and INABLE in heard.ends):
            yield f"heard:{end}"
    pressing = [*persona.presses, *(line for request in persona.requests for line in request.presses)]
    giving = [persona.gives_in, *(request.gives_in for request in persona.requests)]
    if any(resembles(text, line) for line in pressing):
        yield "pressed"
    if any(line and resembles(text, line) for line in giving):
        yield "gave_in"
    for request in ledger.raises(text):
        yield "changed_mind" if request.replaces else "second_request"
    if leaves:
        yield "left"
