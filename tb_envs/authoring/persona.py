"""Who the customer is, as data: what it wants, knows, accepts and insists on.

Refuses to hold behaviour: how these lines are chosen and how the agent's words are understood is
`tb_envs.users`. Refuses also to name a fact, an offer or a moment that does not exist
(`ValueError` at construction), and never says anything about the database: a customer knows only
what is written here.

Wherever a line is wanted, a tuple of lines means "one of these phrasings"; the task's seed chooses.
A line may contain `{booking}`-like places, filled from the facts the persona knows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

_PLACE = re.compile(r"\{(\w+)\}")
NAMED = "named:"
"""How a `Secret.after` begins that waits for words of the agent's."""
Lines: TypeAlias = str | Sequence[str]
"""One line, or several phrasings of the same line."""

Kind: TypeAlias = Literal["id", "email", "phone", "name", "date", "time", "amount", "number", "digits", "place", "text"]
"""How a restated value of the fact is recognised (`digits`: the last four of a card)."""

Answer: TypeAlias = Literal["accept", "decline", "accept_up_to", "ask_price", "cheaper"]
"""`accept_up_to`: yes while the price named is at most `up_to` cents; `ask_price`: asks for the
price when none was named, then as `accept_up_to`; `cheaper`: asks which option is cheaper, takes it."""

Manner: TypeAlias = Literal["plain", "terse", "rambling", "digressing", "pushy", "slow"]
"""Changes wording and pacing, never facts. `slow` gives one fact a turn and asks what it is for;
`pushy` hurries the agent and presses also when told of an obstacle."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A kind of thing that a customer can know.

    Attributes:
        name: as used in `Persona.knows`, e.g. `"booking"`.
        asked_as: words an agent may ask for it by, e.g. `("booking number", "confirmation code")`.
            Inflections and small words between do not matter; list synonyms, not grammar.
        said_as: whole sentences with `{value}`; empty takes "The booking number is {value}."
        kind: how a restated value is recognised.
        values: all values of it in the domain (room types, cities), so that a wrong one is noticed
            even where the agent does not name the fact.
    """

    name: str
    asked_as: Sequence[str] = ()
    said_as: Sequence[str] = ()
    kind: Kind = "text"
    values: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The facts of a domain.

    The generic ones of `tb_envs.users.facts` are always there; a fact of the same name here adds its `asked_as` to
    the generic ones and replaces what else it sets.
    """

    facts: Sequence[Fact] = ()


@dataclass(frozen=True, slots=True)
class Known:
    """A known value that needs more than its text: own sentences, or spellings that are as good.

    `knows={"booking": "BK-20418"}` is short for `knows={"booking": Known("BK-20418")}`. Dates may be
    `datetime.date`; anything else is said as `str(value)`.
    """

    value: object
    says: Lines = ()
    same_as: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Secret:
    """Something that comes out only under the right question.

    Attributes:
        only_if: phrases; the agent must *ask* something containing all the words of one of them.
        says: the admission, a whole sentence.
        after: an act that must have happened before, e.g. `"pressed"`; or `"named:…"`: the agent must have said
            these words, in the same message or earlier; empty: none.
    """

    only_if: Sequence[str]
    says: Lines
    after: str = ""


@dataclass(frozen=True, slots=True)
class Offer:
    """Something the agent may offer, and the answer to it.

    Attributes:
        name: shown in the acts: `accepted:<name>`, `declined:<name>`.
        words: phrases; an offer is recognised when all words of one phrase stand in one sentence.
        answer: see `Answer`.
        says: the line when accepted (or, for `decline`, when declined); empty: a generic one.
        says_no: the line when the price is over `up_to`.
        up_to: the limit in cents (`accept_up_to`, `ask_price`).
        instead: name of the offer it switches to, saying so, when the price is over the limit
            (the change of mind: accepts A, hears its price, takes B).
        after: an act that must have happened before it is answered so; until then it is declined.
        then: a fact that it gives in the same breath when it accepts, e.g. the new date.
    """

    name: str
    words: Sequence[str]
    answer: Answer = "accept"
    says: Lines = ()
    says_no: Lines = ()
    up_to: int | None = None
    instead: str = ""
    after: str = ""
    then: str = ""


@dataclass(frozen=True, slots=True)
class Consent:
    """The answer to "shall I go ahead?". The first whose `about` matches counts; none: yes.

    Attributes:
        answer: yes or no.
        about: phrases as in `Offer.words`; empty matches every consent question.
        up_to: no, when the message names a price above this many cents.
        needs: facts the same message must restate correctly; it asks for those left out.
        says: the line for the answer; `says_no` the line when the price is too high.
    """

    answer: bool = True
    about: Sequence[str] = ()
    up_to: int | None = None
    needs: Sequence[str] = ()
    says: Lines = ()
    says_no: Lines = ()


@dataclass(frozen=True, slots=True)
class Request:
    """A further request, raised at a defined moment; the customer is owed an outcome for it too.

    Attributes:
        opens: the line that raises it; empty, with `after="opening"`: `Persona.opens` said it already.
        after: `"opening"` (with the first words), `"settled"` (the default: when all before it are
            settled), `"halfway"` (at the first fact given or consent), or any act, e.g. `"gave:email"`.
        topic: words by which an outcome is told to be about this request ("invoice", "late checkout").
        knows: facts that differ from the persona's while this is the request under discussion.
        presses, gives_in, settles_for: as in `Persona`.
        replaces: a change of mind: it takes the place of what was asked before.
    """

    opens: Lines
    after: str = "settled"
    topic: Sequence[str] = ()
    knows: Mapping[str, object] = field(default_factory=dict[str, object])
    presses: Sequence[Lines] = ()
    gives_in: Lines = ()
    settles_for: str = ""
    replaces: bool = False


@dataclass(frozen=True, slots=True)
class Persona:
    """One customer of one task.

    Attributes:
        opens: the first words; facts in `{…}` are thereby disclosed, all others only when asked for.
        knows: fact name → value as the *customer* believes it, right or wrong.
        volunteers: facts it adds to its first words.
        identifies_by: facts it gives when asked to identify itself in general; `None`: the first
            two of `knows` that are an id, e-mail, phone or name.
        lacks: facts it is aware of and cannot give ("I don't have it to hand"), with own lines or not.
        wont_say: facts it knows and refuses to give, with own lines or not.
        mistaken: known facts it is wrong about → what it says when the agent corrects it from the
            records (it yields; a fact not listed here it defends).
        secrets: what comes out only under the right question.
        offers, consents: answers to proposals; see `Offer`, `Consent`. `False`: never consents.
        about: phrases → answer, for questions that are not about a fact ("how many bags do you have").
        topic: words by which an outcome is told to be about the first request; needed only when
            there is a second request before the first is settled.
        presses: one line (or tuple of phrasings) per refusal, in order.
        presses_on: what counts as a refusal here: `refused`, `pending` (also: handed on), `obstacle`.
        gives_in: when there is nothing left to press with.
        then: second (third, …) requests.
        settles_for: the end the author has in mind, for readers and for an LLM customer. The scripted
            customer never says it and never acts on it: else it would tell the agent the right end.
        thanks: the goodbye; empty: generic ones.
        manner: see `Manner`.
    """

    opens: Lines
    knows: Mapping[str, object] = field(default_factory=dict[str, object])
    volunteers: Sequence[str] = ()
    identifies_by: Sequence[str] | None = None
    lacks: Sequence[str] | Mapping[str, Lines] = ()
    wont_say: Sequence[str] | Mapping[str, Lines] = ()
    mistaken: Mapping[str, Lines] = field(default_factory=dict[str, Lines])
    secrets: Sequence[Secret] = ()
    offers: Sequence[Offer] = ()
    consents: bool | Consent | Sequence[Consent] = True
    about: Mapping[str, Lines] = field(default_factory=dict[str, Lines])
    topic: Sequence[str] = ()
    presses: Sequence[Lines] = ()
    presses_on: Sequence[str] = ("refused", "pending")
    gives_in: Lines = ()
    then: str | Request | Sequence[Request] = ()
    settles_for: str = ""
    thanks: Lines = ()
    manner: Manner = "plain"

    def __post_init__(self) -> None:
        known = set(self.knows)
        for request in self.requests:
            known |= set(request.knows)
        named = {
            "volunteers": self.volunteers,
            "identifies_by": self.identifies_by or (),
            "wont_say": self.wont_say,
            "mistaken": self.mistaken,
            "offers[…].then": [offer.then for offer in self.offers if offer.then],
        }
        for where, names in named.items():
            for name in names:
                if name not in known:
                    raise ValueError(f"{where} names {name!r}, which this persona does not know")
        for name in self.lacks:
            if name in self.knows:
                raise ValueError(f"{name!r} is in both `knows` and `lacks`")
        for line in self._lines():
            for name in _PLACE.findall(line):
                if name not in known:
                    raise ValueError(f"a line names {{{name}}}, which this persona does not know: {line!r}")
        offers = {offer.name for offer in self.offers}
        for offer in self.offers:
            if offer.instead and offer.instead not in offers:
                raise ValueError(f"offer {offer.name!r} falls back on {offer.instead!r}, which is no offer")
            if offer.answer in ("accept_up_to", "ask_price") and offer.up_to is None:
                raise ValueError(f"offer {offer.name!r} needs `up_to` (cents) for {offer.answer!r}")

    def _lines(self) -> Iterator[str]:
        """Every line that may have `{fact}` places."""
        groups: list[Lines] = [self.opens, self.gives_in, self.thanks, *self.presses]
        for request in self.requests:
            groups += [request.opens, request.gives_in, *request.presses]
        groups += [line for offer in self.offers for line in (offer.says, offer.says_no)]
        groups += [*self.mistaken.values(), *self.about.values(), *(secret.says for secret in self.secrets)]
        for group in groups:
            for line in (group,) if isinstance(group, str) else group:
                if "{" in line:
                    yield line

    @property
    def requests(self) -> tuple[Request, ...]:
        """What is asked beyond the first request, in order."""
        if isinstance(self.then, str):
            return (Request(opens=self.then),) if self.then else ()
        return (self.then,) if isinstance(self.then, Request) else tuple(self.then)
