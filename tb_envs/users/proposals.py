"""The customer's answers to offers and to "shall I go ahead?".

Refuses to say yes to a price over its limit or to facts that were restated wrongly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tb_envs.authoring.persona import Consent, Lines, Offer, Persona

from .heard import Phrase, Sentence, Understood, phrases
from .likeness import alike
from .prices import due, payable, usual
from .values import Value
from .words import each

_POINTERS = each("it that them one")
_WHAT_I = (["what", "i"], ["what", "we"])
_GRATIS = each("no fre without complimentari")
_ELSE = each("instead rather alternativ alternativeli option offer propos suggest otherwise could might plac")
"""Words of a message that proposes something else than what was asked for."""


class Answer(NamedTuple):
    """An answer to a proposal: the act, the author's line or a generic one, the facts given with it."""

    act: str
    says: Lines
    generic: str
    also: str = ""


@dataclass(slots=True)
class _Known:
    offer: Offer
    words: list[Phrase]


class Proposals:
    """What this customer says to proposals; remembers which offer it took and which awaits a price."""

    def __init__(self, persona: Persona) -> None:
        self._offers = [_Known(offer, phrases(offer.words)) for offer in persona.offers]
        self._by_name = {known.offer.name: known.offer for known in self._offers}
        given = persona.consents
        consents = (
            (Consent(answer=given),)
            if isinstance(given, bool)
            else (given,)
            if isinstance(given, Consent)
            else tuple(given)
        )
        self._consents = [(consent, phrases(consent.about)) for consent in consents]
        self._taken = ""
        self._awaits = ""

    def fresh(self) -> Proposals:
        """The same answers in another talk, where nothing is taken yet."""
        other = object.__new__(Proposals)
        other.__dict__.update(self.__dict__)
        return other

    def offers(self, heard: Understood, acts: set[str]) -> list[Answer]:
        """Answers to the offers that were recognised in the message, and to the price of one already taken."""
        if not self._offers:
            return []
        named = [
            (known.offer, sentence)
            for known in self._offers
            for sentence in heard.sentences
            if sentence.proposes and sentence.offers(known.words)
        ]
        pointing = _pointing(heard)
        if not named and (heard.alternative or heard.consent):
            marked = any(
                not _ELSE.isdisjoint(sentence.stems) or sentence.row[:2] in _WHAT_I for sentence in heard.sentences
            )
            named = [
                (known.offer, sentence)
                for sentence in heard.sentences
                if not sentence.ends & ({"refused", "inable"} if pointing else {"refused", "inable", "done"})
                for known in self._offers
                if alike(known.words, sentence.row, marked, pointing)
            ]
        offered: dict[str, tuple[Offer, Sentence]] = {}
        for offer, sentence in named:
            offered.setdefault(offer.name, (offer, sentence))
        if not offered:
            return self._price(heard)
        ready = [item for item in offered.values() if not item[0].after or item[0].after in acts]
        willing = [item for item in ready if item[0].answer != "decline"]
        if any(item[0].answer == "cheaper" for item in willing) and len(offered) > 1:
            return self._cheaper(list(offered.values()), heard)
        out: list[Answer] = []
        for offer, sentence in willing:
            price = _price_of(sentence, offer, offered, heard)
            if offer.answer == "ask_price" and price is None:
                self._awaits = offer.name
                return [Answer(f"asked_price:{offer.name}", (), "ask_price")]
            if offer.up_to is not None and price is not None and price > offer.up_to:
                switched = [] if self._dear(offer.instead, offered, heard) else self._instead(offer)
                if switched:
                    return [*out, *switched]
                out.append(Answer(f"declined:{offer.name}", offer.says_no, "too_much"))
                continue
            return [*out, self._take(offer)]
        refused = [offer for offer, _ in offered.values() if (offer, _) not in willing]
        return out or [
            Answer(f"declined:{offer.name}", offer.says if offer.answer == "decline" else offer.says_no, "decline")
            for offer in refused[:1]
        ]

    def offered(self, value: Value) -> bool:
        """Whether an offer is about the value: what to choose, then, is answered by the offer."""
        plain = value.kind in ("text", "place")
        return plain and any(not value.words.isdisjoint(phrase) for known in self._offers for phrase in known.words)

    def _take(self, offer: Offer) -> Answer:
        self._taken, self._awaits = offer.name, ""
        return Answer(f"accepted:{offer.name}", offer.says, "accept", offer.then)

    def _instead(self, offer: Offer) -> list[Answer]:
        other = self._by_name.get(offer.instead)
        if other is None:
            return []
        first = Answer(f"declined:{offer.name}", offer.says_no, "too_much")
        taken = self._take(other)
        return [first, taken if taken.says else taken._replace(generic="instead")]

    def _dear(self, name: str, offered: Mapping[str, tuple[Offer, Sentence]], heard: Understood) -> bool:
        """Whether the offer that would be taken instead is offered above its limit."""
        if name not in offered:
            return False
        offer, sentence = offered[name]
        price = _price_of(sentence, offer, offered, heard)
        return price is not None and offer.up_to is not None and price > offer.up_to

    def _price(self, heard: Understood) -> list[Answer]:
        """A price without the offer's name: of the one that awaits it, or of the one already taken."""
        offer = self._by_name.get(self._awaits or self._taken)
        price = _named_price(heard)
        if offer is None or price is None or offer.up_to is None:
            return []
        if price > offer.up_to:
            self._taken = self._awaits = ""
            return self._instead(offer) or [Answer(f"declined:{offer.name}", offer.says_no, "too_much")]
        return [self._take(offer)] if self._awaits else []

    def _cheaper(self, offered: Sequence[tuple[Offer, Sentence]], heard: Understood) -> list[Answer]:
        names = {offer.name: (offer, sentence) for offer, sentence in offered}
        prices = {offer.name: _price_of(sentence, offer, names, heard) for offer, sentence in offered}
        for sentence in heard.sentences:
            row = sentence.row
            at = next((at for at, word in enumerate(row) if word in ("cheaper", "cheapest", "lowest", "lower")), -1)
            if at >= 0:
                near = [
                    offer
                    for offer, _ in offered
                    if any(phrase <= set(row[max(0, at - 6) : at + 6]) for phrase in phrases(offer.words))
                ]
                if near:
                    return [self._take(near[0])]
        told = [(price, at) for at, (offer, _) in enumerate(offered) if (price := prices[offer.name]) is not None]
        if len(told) == len(offered):
            return [self._take(offered[min(told)[1]][0])]
        return [Answer("asked_price:cheaper", (), "which_cheaper")]

    def consent(self, heard: Understood) -> tuple[Answer | None, str]:
        """The answer to a consent question, or the fact that must be named first."""
        for rule, about in self._consents:
            if about and not any(sentence.has(about) for sentence in heard.sentences):
                continue
            missing = next((fact for fact in rule.needs if fact not in heard.right), "")
            if missing and rule.answer:
                return None, missing
            price = _named_price(heard)
            if rule.answer and rule.up_to is not None and price is not None and price > rule.up_to:
                return Answer("declined:consent", rule.says_no, "too_much"), ""
            if rule.answer:
                return Answer("consented", rule.says, "consent"), ""
            return Answer("declined:consent", rule.says, "no_consent"), ""
        return Answer("consented", (), "consent"), ""


def _pointing(heard: Understood) -> bool:
    """As in "Do you want it?": what is proposed was named before."""
    return any(s.inquires and s.proposes and not _POINTERS.isdisjoint(s.row[1:]) for s in heard.sentences)


def _named_price(heard: Understood) -> int | None:
    """The amount that is to be paid, in cents: see `prices.payable`."""
    return payable(heard.sentences)


def _price_of(sentence: Sentence, offer: Offer, offered: Mapping[str, object], heard: Understood) -> int | None:
    """The amount nearest after the offer's words in its sentence; the only one of the message else."""
    amounts = due(sentence)
    if not amounts and len(offered) > 1:  # "…, the suite. It's USD 300 more. The deluxe …"
        at = next(at for at, one in enumerate(heard.sentences) if one is sentence)
        follow = heard.sentences[at + 1 : at + 2]
        if follow and follow[0].row[:1] in (["it"], ["that"]):
            amounts = due(follow[0])[:1]
    if not amounts:
        return _named_price(heard) if len(offered) == 1 else None
    if len(amounts) == 1 and len(offered) == 1 and not usual(sentence, amounts[0][0]):
        return amounts[0][1]
    if len(offered) == 1:
        return _named_price(heard)
    places = [at for at, word in enumerate(sentence.row) for phrase in phrases(offer.words) if word in phrase]
    start = min(places) if places else 0
    if places and not _GRATIS.isdisjoint(sentence.row[start : start + 6]) and amounts[0][0] > start + 5:
        return 0  # "a deluxe at no extra cost, or the suite for USD 300"
    return min(amounts, key=lambda item: (item[0] < start, abs(item[0] - start)))[1]
