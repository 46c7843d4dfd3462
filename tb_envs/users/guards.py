"""What words of a language model no customer may say: each fault by name, with what the model is told about it.

A fault is found by comparing the words with the persona and with the talk (`Ledger`), never by asking a model. In doubt
there is none: a false alarm costs an attempt. Refuses to mend words: they are asked for anew, once (`llm`).
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

from tb_envs.thoughts import TAG

from .labels import agrees
from .ledger import Ledger
from .spotting import spotted

NAMES = ("empty", "cut_off", "role_break", "leaked_secret", "leaked_fact", "invented_fact", "early_goodbye")
PATIENCE = 8
"""Turns of the agent after which a customer may leave without an outcome."""
LONG = 1500
"""Characters of one turn from which on nobody is just speaking."""

_MODEL = re.compile(
    r"\b(?:as an? (?:ai|a\.i\.|assistant|language model|llm|chatbot|customer service agent)"
    r"|(?:i'm|i am) an? (?:ai|a\.i\.|language model|llm|chatbot|virtual assistant|assistant\b(?! of| to))"
    r"|language model|system (?:prompt|message)|my (?:instructions|prompt|persona)|role-?play|the persona"
    r"|i (?:can|will|shall) play the)\b",
    re.IGNORECASE,
)
_AGENT = re.compile(
    r"\b(?:how (?:can|may) (?:i|we) (?:help|assist) you|is there anything else i can (?:help|assist|do)"
    r"|i(?:'ve| have)? (?:just |now |successfully )?(?:processed|cancelled|canceled|refunded|updated|verified) your\b"
    r"|(?:let me|i'll|i will) (?:check|look up|pull up|verify|process|refund|update) your\b"
    r"|(?:may|could|can) i (?:have|get) your (?:booking|account|e-?mail|date of birth|full name)"
    r"|thank you for (?:contacting|calling) (?:us|our)\b|your request has been (?:processed|completed))",
    re.IGNORECASE,
)
_LABEL = re.compile(r"(?:^|\n)\s*(?:agent|assistant|support|representative|system|tool)\s*:", re.IGNORECASE)
_CODE = re.compile(r"```|\{\s*\"|</?(?:tool_call|function|tool|system|assistant)\b|<\|")
_OWN = frozenset(("id", "email", "phone", "digits", "date"))
"""Forms of values that a customer tells only when asked."""


class Fault(NamedTuple):
    """A fault: its name (`NAMES`), and what the model is told so that it mends it."""

    name: str
    hint: str


def fault_in(text: str, leaves: bool, ledger: Ledger, tools: Collection[str], cut: bool = False) -> Fault | None:
    """The first fault of the customer's words, or None; the ledger has heard the agent, and not yet these words.

    Args:
        text: the words, without the mark for hanging up.
        leaves: whether it hangs up with them.
        ledger: of the talk so far.
        tools: names of the agent's tools, which no customer knows.
        cut: whether the model was stopped in the middle.
    """
    plain = text.replace("’", "'")
    if not plain.strip():
        return Fault("empty", "You said nothing. Say what the customer says next.")
    if cut or len(plain) > LONG:
        return Fault("cut_off", "That was too long. Say it in one to three short sentences.")
    found = (
        _MODEL.search(plain) or _AGENT.search(plain) or _LABEL.search(plain) or _CODE.search(plain) or TAG.search(plain)
    )
    if found is not None or (found := _tool(plain, tools)) is not None:
        return Fault("role_break", f"“{found.group().strip()}” is not what a customer says. You are the customer only.")
    for secret in ledger.persona.secrets:
        if not ledger.released(secret) and ledger.reveals(secret, plain):
            return Fault("leaked_secret", "You told what you keep to yourself, and nobody has asked what releases it.")
    for fact in ledger.told_in(plain):
        if fact in ledger.persona.wont_say and not ledger.named_by_agent(fact):
            return Fault("leaked_secret", f"You told your {fact.replace('_', ' ')}, which you will not tell.")
        if _guarded(ledger, fact) and not ledger.may_tell(fact):
            return Fault("leaked_fact", f"You told your {fact.replace('_', ' ')}, and the agent has not asked for it.")
    strange = ledger.strange(plain)
    if strange:
        return Fault("invented_fact", f"“{strange[0].text}” stands nowhere in what you know. Never invent a value.")
    return _goodbye(plain, ledger) if leaves else None


def _goodbye(text: str, ledger: Ledger) -> Fault | None:
    """Leaving too early: before an outcome, in the turn of a yes, or with a request that is not raised yet."""
    heard = ledger.heard
    if heard.consent and agrees(text):
        return Fault(
            "early_goodbye", "You agreed to something and left. Stay until the agent tells you that it is done."
        )
    if not ledger.ended and not ledger.parting:
        early = Fault("early_goodbye", "You left before the agent told you how your request ended. Stay.")
        return early if ledger.turns < PATIENCE else None
    missing = [request for request in ledger.unraised() if request not in ledger.raises(text)]
    if missing or ledger.raises(text):
        return Fault("early_goodbye", "You left with a further request that is not settled. Raise it, and stay.")
    return None


def _guarded(ledger: Ledger, fact: str) -> bool:
    """Whether a fact is one that nobody tells unasked: it has the form of an id, an address, a number or a date."""
    return any(value.form in _OWN for value in spotted(ledger.facts[fact]))


def _tool(text: str, tools: Collection[str]) -> re.Match[str] | None:
    """A tool's name, where it is no plain word."""
    for found in re.finditer(r"\b[a-z]+(?:_[a-z]+)+\b", text):
        if found.group() in tools:
            return found
    return None
