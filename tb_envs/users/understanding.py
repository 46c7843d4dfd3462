"""From free text to what it wants of the customer: asks, proposals, restated values, ends of requests.

Refuses to decide the answer, and to keep a memory: the same words to the same persona are understood
the same at any time.
"""

from __future__ import annotations

from collections.abc import Sequence

from .asking import mentions, restates
from .checking import NAMES, STAFF, are_you, beside, claimed, of_a_phone, only_named, others_name, points, stranger
from .clauses import Clause, clauses
from .consents import consents_to
from .ends import AVAILABLE
from .heard import Sentence, Understood
from .lexicon import ACTION_OF, ASK_VERBS, COMMON, DOMAIN, DONE_VERBS, QUESTION_WORDS
from .moods import CHECKED, UNSURE, checks, informs, offers, tag
from .outcomes import outcomes
from .phrases import Node, stems
from .restating import restated
from .spelling import DROPPED
from .unasked import settle
from .values import Values
from .vocabulary import Compiled
from .wanting import wanted
from .wishing import cue, question_word
from .words import Is, each, tokens

_NOTING = frozenset(stems("put write enter note record select state say"))
_BARE = each("correct right yes accurat true okai is that it all everything so")
_POINTING = each("it that them both me")
_CALLING = each("cal reach ring phone callback")
_NOT_POINTING = each("else goal whole")
_SOCIAL = each("else goal help smalltalk bye greet whole contact_detail")
_CHOICES = DONE_VERBS | frozenset(stems("keep leave stay cancel"))
_COUNTS = ("rooms", "nights", "guests")
_AFTER_MANY = each("would do should shal can may of you i we in al are is wil")
_CERTAIN = each("correct right understand accurat true match yes")
_ACTING = ACTION_OF.keys()
_MUST = each("must need")
_MINE = each("i we me us")
_WHICH = (["which", "one"], ["what", "is", "your"])
"""As in "I need a booking number. Which one?", "there is a number on it: what is yours?"."""
_TITLES = each("mr mrs ms miss dr")
_MAY = each("wil would could can")
_WANTS_ME = each("you me to")
_HEARD_YOU = each("do did hav i we get understand hear you it that right correct correctli properli")
_CONFIRM = ["can", "you", "confirm"]
_TOLD = frozenset(("done", "refused"))
_ASKING = QUESTION_WORDS - {"when", "where"}
_OFFERING = each("offer propos suggest instead rather voucher compromis")
_WISHES = each("lik want wish need")
_PLANNING = each("wil would can could shal go")
_CURRENCY = each("usd eur gbp dollar euro pound")
_TAGS = each("correct right yes accurat true okai")


def understand(text: str, lexicon: Compiled, own: Node | None, known: Values) -> Understood:
    """Understand one message, for a customer whose values are `known`."""
    out = Understood()
    heard = clauses(text)
    settle(heard)
    found = [mentions(clause, lexicon.tree, own) for clause in heard]
    pointing = [points(clause) for clause in heard]
    out.checking = any(pointing) or any(checks(clause) for clause in heard)
    aside = set[str]()
    if not heard:
        out.known = any(token.text in DROPPED for token in tokens(text[:200]))
    before: Clause | None = None
    mood = choice = False
    consents: list[bool] = []
    others: tuple[int, ...] = ()
    for clause in heard:
        asks_leave = consents_to(clause)
        row = clause.row
        if asks_leave and clause.row[0] == "you" and "me" not in clause.row and consents:
            earlier = heard[len(consents) - 1]  # "if I understand you well, you want to cancel?"
            asks_leave = earlier.sentence != clause.sentence or "check" not in earlier.labels
        if asks_leave and "instead" in clause.row and "you" in clause.row[:3] and not clause.values:
            asks_leave = not _MINE.isdisjoint(clause.row)  # "would you like to move it instead?"
            others += () if asks_leave else (len(consents),)
        if clause.question and not asks_leave and (row == ["yes"] or tag(clause) == UNSURE):
            asks_leave = any(
                _plans(earlier) for earlier in heard[: len(consents) + 1] if earlier.sentence + 1 >= clause.sentence
            )
            out.checking = out.checking or (not asks_leave and row != ["yes"])
        consents.append(asks_leave)
    for at, clause in enumerate(heard):
        labels, row = clause.labels, clause.row
        if before is None or before.sentence != clause.sentence:
            out.sentences.append(Sentence())
        sentence = out.sentences[-1]
        base = len(sentence.row)
        sentence.stems.update(row)
        sentence.row += row
        out.cues.update(labels)
        at_else = labels.get("else", -1)
        if at_else >= 0 and not clause.question and ("not" in row[:at_else] or row[at_else + 3 :][:2] == ["i", "need"]):
            out.cues.discard("else")
        inherits = mood if before is not None else False
        mood = cue(clause, inherits, found[at], before is None or before.sentence != clause.sentence)
        if inherits and 0 in clause.colons and found[at] and found[at][0].lo < 2:
            mood = True  # "I need two things: the booking number and an e-mail I can use"
        ends = outcomes(clause)
        facts = wanted(clause, found[at], mood, consents[at], known, lexicon, before)
        if at in others or (pointing[at] and (out.valued or out.right or out.wrong)):
            facts = []
        if facts and (stranger(clause, before) or others_name(clause)):
            facts = []  # "do you know which colleague it was, and her name?"
        if facts and "done" in ends and not clause.polite and QUESTION_WORDS.isdisjoint(row):
            facts = []  # "the points missing from your account have been added"
        sentence.asks = sentence.asks or clause.question or mood
        sentence.inquires = sentence.inquires or clause.question
        out.valued = out.valued or bool(clause.values)
        if consents[at]:
            out.consent = True
            out.pleads = out.pleads or clause.question or not _WANTS_ME.issubset(row)
            sentence.proposes = True
        which = row[0] == "which" and "alternative" in labels and all(STAFF.isdisjoint(near.row) for near in heard)
        if clause.question and (which or _either(clause)):
            out.either = True
        stated = clause.question and any(span.hi < len(row) and restates(clause, span.hi) for span in found[at])
        stated = stated or (clause.question and row[0] == "you" and not consents[at])
        values = restated(clause, found[at], known, out.checking or stated, any(consents) or clause.question)
        if _wished(clause, values.right, known) and not (consents[at] or values.wrong):
            consents[at] = out.consent = out.pleads = True
        if values.right and "goal" in labels and clause.question:
            values.right = []  # "what is it that we can do for Mr Berg?"
        if facts and clause.question and len(row) - 1 in clause.commas and row[-1] in _TAGS and len(row) > 3:
            facts = [] if QUESTION_WORDS.isdisjoint(row) else facts  # "… to your account, correct?"
        if facts and clause.question and _restates_a_wish(clause, out.checking):
            facts = []
        if values.right and not found[at] and only_named(clause, values.right, known):
            values.right = []
        if clause.question and "or" in row and not out.checking:
            chosen = [known[fact].group for fact in values.right if known[fact].kind in ("text", "place")]
            facts = facts or [(group, False) for group in chosen]
            choice = choice or bool(chosen)
        elif (
            clause.question
            and row[0] not in ("hav", "do", "how", "what", "where", "why", "who")
            and not any(consents)
            and not offers(clause)
            and (values.right or values.wrong)
        ):
            named = {known[fact].group for fact in (*values.right, *values.wrong)}
            if not any(word in QUESTION_WORDS for word in row):
                facts = [fact for fact in facts if fact[0] not in named]
            if facts and _TITLES.intersection(row) and not values.wrong:
                values.right = []  # "could you give me Mr Berg's number?"
            else:
                out.checking = True
        if (
            mood
            and not found[at]
            and not facts
            and len(row) < 7
            and at
            and not consents[at]
            and _NOT_POINTING.isdisjoint(labels)
        ):
            facts = [
                (s.means.fact, False)
                for s in found[at - 1]
                if not s.means.loose
                and "alternative" not in labels
                and _POINTING.intersection(row)
                and not out.checking
            ]
        if facts and row[:2] == ["are", "you"] and clause.question and are_you(set(row)):
            facts = [fact for fact in facts if fact[0] not in NAMES] or [("caller", False)]
        titled = clause.question and row[:2] == ["are", "you"] and not _TITLES.isdisjoint(row)
        if titled and any(value.group == "caller" for value in known.values()):
            facts, values.right, values.wrong = [("caller", False)], [], []
        if facts == [("caller", False)] and "what" in row:
            values.right, values.wrong = [], []  # "what are you to him, his wife?"
        if clause.question and row[-2:] == ["you", "are"] and len(row) < 4:
            facts = [("caller", False)]
        if row[:2] == ["how", "mani"] and not facts and (len(row) == 2 or row[2] in _AFTER_MANY):
            named = [s.means.fact for spans in found for s in spans if s.means.fact in _COUNTS]
            facts = [(fact, True) for fact in named[:1] or _COUNTS]
        if row in _WHICH and at:
            facts = [(span.means.fact, False) for span in found[at - 1][-1:] if not span.means.loose]
        if ("booking", True) in facts and any(_CALLING.intersection(other.row) for other in heard) and "number" in row:
            facts = [("phone", False) if fact == ("booking", True) else fact for fact in facts]
        if (
            clause.question
            and not facts
            and not consents[at]
            and at
            and _NOTING.intersection(row)
            and question_word(clause, 0)
        ):
            facts = [(span.means.fact, False) for span in found[at - 1][-1:]]  # "a reason is needed. What shall I put?"
        if out.checking and values.right:
            aside |= beside(clause, found[at], values.right, known)
        out.asks += [fact for fact in facts if fact not in out.asks]
        if values.amounts:
            sentence.paid += [base + place for place, token in enumerate(clause.words) if token.text == "paid"]
        sentence.amounts += [(base + place, amount) for place, amount in values.amounts]
        out.right += [fact for fact in values.right if fact not in out.right]
        out.wrong += [fact for fact in values.wrong if fact not in out.wrong]
        if "refused" in ends and not clause.question:
            values.right = []
        if not _TOLD.isdisjoint(ends):  # what is told counts for more than the delay before it
            out.ends.discard("wait")
            for earlier in out.sentences:
                earlier.ends.discard("wait")
        sentence.ends |= ends
        if not ends:
            sentence.open += row
        out.ends |= ends
        if not _ACTING.isdisjoint(row):
            out.actions.update(ACTION_OF[word] for word in row if word in ACTION_OF)
        if found[at] and (out.checking or clause.question):
            check = clause.question and checks(clause)
            out.claimed += [
                "phone" if s.means.loose and of_a_phone(clause, s) else s.means.fact
                for s in found[at]
                if (check and not s.means.loose) or claimed(clause, s)
            ]
        _wider(clause, out, mood, facts, consents[at], sentence, ends)
        before = clause
    if aside and any(group not in ("booking", "name", "surname", "caller") for group in out.claimed):
        out.right = [fact for fact in out.right if fact not in aside]
    out.right = [fact for fact in out.right if not (fact in out.wrong and known[fact].contested)]
    out.wrong = [fact for fact in out.wrong if fact not in out.right]
    if sum(fact[0] != "booking" for fact in out.asks):  # "your loyalty card: what is the number?"
        out.asks = [fact for fact in out.asks if fact != ("booking", True) or "number" not in out.sentences[-1].row]
    if out.consent and not out.actions and (out.right or out.wrong or out.claimed):  # "…, can you confirm?"
        out.consent = any(clause.row[-3:] != _CONFIRM for clause, leave in zip(heard, consents, strict=True) if leave)
    out.consent = out.consent and not choice
    if out.consent:  # "the amount would come back to you. Shall I cancel?"
        for sentence in out.sentences:
            if "would" in sentence.stems and "done" in sentence.ends and not sentence.asks:
                sentence.ends.discard("done")
        if not any("done" in sentence.ends for sentence in out.sentences):
            out.ends.discard("done")
    for sentence in out.sentences:
        if choice or sentence.closed or ("done" in sentence.ends and not sentence.asks):
            sentence.proposes = False
        elif not sentence.inquires and "whether" in sentence.stems and "let" in sentence.stems:
            sentence.proposes = False  # "let me see whether we have a suite"
        elif "wait" in sentence.ends and not sentence.inquires and not sentence.amounts:
            sentence.proposes = False  # "I'll check if the suite is available"
        elif out.consent and not sentence.ends and not AVAILABLE.isdisjoint(sentence.row):
            sentence.proposes = True  # "The suite is still free. Would you like it?"
        elif (not sentence.ends and (sentence.amounts or out.alternative)) or (
            sentence.open and sentence.amounts and out.alternative and "done" not in sentence.ends
        ):
            sentence.proposes = True
    return out


def _wished(clause: Clause, right: Sequence[str], known: Values) -> bool:
    """As in "do you want 16:00 for USD 40?": what is offered is what was asked for."""
    return (
        bool(right)
        and clause.question
        and "or" not in clause.row
        and "instead" not in clause.row
        and clause.row[1:2] == ["you"]
        and all(known[fact].kind in ("time", "date", "text", "number") for fact in right)
        and offers(clause)
    )


def _wider(
    clause: Clause,
    out: Understood,
    mood: bool,
    facts: Sequence[object],
    consents: bool,
    sentence: Sentence,
    ends: set[str],
) -> None:
    """What is not about single facts."""
    labels, row = clause.labels, clause.row
    if (
        "whole" in labels
        and (mood or _must(clause))
        and "wait" not in ends
        and not facts
        and "let" not in row[:1]
        and ("hyp" not in labels or (clause.hyp_word == "before" and "you" in row))
    ):
        out.whole = True
    if "contact_detail" in labels and mood and not facts and (clause.question or {"detail", "inform"} & set(row)):
        if "number" in row and not clause.values:
            out.asks.append(("phone", False))
            return
        named = [(channel, False) for channel in ("phone", "email") if channel in row]
        out.asks += [fact for fact in named if fact not in out.asks]
        if named:
            return
        if clause.values:
            return
        out.contact = out.contact or "contact" in row or ("reach" in row and clause.question)
    if "goal" in labels and not facts:
        out.goal = True
    if (
        "second" in labels
        and not tag(clause)
        and not consents
        and not facts
        and (mood or clause.question)
        and _asks_which(clause)
    ):
        out.second = True
    if not out.known:
        out.known = bool(labels) or sum(word in COMMON or word in DOMAIN for word in row) * 3 >= len(row)
    out.alternative = out.alternative or (not consents and not facts and offers(clause))
    if clause.question and not consents and (row[-1] in _TAGS - {"okai"} or tag(clause) == CHECKED):
        sentence.closed = True  # "you have a twin room, correct?" offers nothing
    if clause.question and not facts:
        sentence.proposes = True
    if "alternative" in labels or consents or not _MAY.isdisjoint(row):
        sentence.proposes = sentence.proposes or not ends & {"done", "refused"} or consents
    if clause.question and not facts and not consents:
        if not _SOCIAL.isdisjoint(labels):
            return
        bare = (set(row) <= _BARE or _HEARD_YOU.issuperset(row) or bool(tag(clause))) and "or" not in row
        if (
            out.checking
            and not out.whole
            and (
                bare
                or ACTION_OF.keys() & set(row)
                or (checks(clause) and not _CERTAIN.isdisjoint(row))
                or (row[0] in ("you", "so") and not _WISHES.isdisjoint(row[:5]))
            )
        ):
            out.sure = True
            if bare and out.consent and not out.pleads:
                out.consent = False  # "You want me to cancel it. Correct?"
            return
        chooses = "alternative" in labels and (out.alternative or row[0] not in QUESTION_WORDS)
        if "wait" in labels or (chooses and not informs(row)):
            return
        out.question = True


def _restates_a_wish(clause: Clause, checking: bool) -> bool:
    """As in "…, you'd like to stay longer on your last day?", "could I offer to split the amount?"."""
    row = clause.row
    if (checking and row[0] == "you") or row[:2] in (["how", "about"], ["what", "about"]):
        return _ASKING.isdisjoint(row[1:]) and ("instead" in row or "rather" in row or row[0] == "you")
    return _ASKING.isdisjoint(row) and ASK_VERBS.isdisjoint(row) and offers(clause) and not _OFFERING.isdisjoint(row)


def _plans(clause: Clause) -> bool:
    """As in "I would cancel it", "it costs USD 60": something to say yes to."""
    row = clause.row
    if any(token.kind is Is.AMOUNT for token in clause.words) or not _CURRENCY.isdisjoint(row):
        return True
    return not _MINE.isdisjoint(row[:4]) and not _PLANNING.isdisjoint(row) and "you" not in row[:2]


def _either(clause: Clause) -> bool:
    """As in "Shall I cancel or keep it?", "Do you want to keep the booking?"."""
    row = clause.row
    if "keep" in row[2:6] and "you" in row[:2] and row[row.index("keep") + 1 :] in (["booking"], ["stay"], ["it"]):
        return True
    at = row.index("or", 1) if "or" in row[1:] else 0
    follow = row[at + 1 : at + 4]
    return (
        bool(at)
        and follow[:1] != ["not"]
        and any(w in _CHOICES for w in follow)
        and any(w in _CHOICES for w in row[:at])
    )


def _asks_which(clause: Clause) -> bool:
    """As in "what is the second thing?", "and the other one?", "tell me about the next matter"."""
    row = clause.row
    return (
        bool(clause.polite)
        or not QUESTION_WORDS.isdisjoint(row)
        or not ASK_VERBS.isdisjoint(row)
        or (clause.question and row[0] in ("and", "now", "second", "other", "next", "you"))
    )


def _must(clause: Clause) -> bool:
    """As in "I must verify your identity": a duty told is a request."""
    row = clause.row
    return not _MUST.isdisjoint(row) and ("i" in row or "we" in row) and clause.hyp_word != "if"
