"""From free text to what it wants of the customer: asks, proposals, restated values, ends of requests.

A message is read clause by clause (`Reading`), each clause in the same five stages; what only the whole message
can settle is in `settling.py`. Refuses to decide the answer, and to keep a memory: the same words to the same
persona are understood the same at any time.
"""

from __future__ import annotations

from .asking import mentions, restates
from .checking import NAMES, STAFF, beside, claimed, of_a_phone, only_named, others_name, stranger
from .clauses import Clause, clauses
from .consents import TAGS, commands
from .demanding import VERBS
from .framing import Frame, frame_of
from .heard import Sentence, Understood
from .lexicon import ACTION_OF, NEED_VERBS, QUESTION_WORDS, TITLES
from .moods import CHECKED, gist, offers, prefers
from .outcomes import outcomes
from .parting import TALKING, introduces, parts, took_over
from .phrases import Node, Span
from .readings import chooses, either, restates_a_wish, same_again, soft, wants_us, wished
from .recalling import echoed, misheard
from .restating import restated
from .scene import Restated
from .settling import settled
from .spelling import DROPPED
from .turning import turned
from .unanswered import asks_plainly
from .unasked import settle
from .values import Values
from .vocabulary import Compiled
from .wanting import wanted
from .widening import TOLD, WISHES, widen
from .wishing import cue
from .words import Is, each, tokens

_ACTING = ACTION_OF.keys()
_HOW_ABOUT = ["how", "about"]
_GONE = ("gone", "taken", "occupied", "sold", "unavailable")
_BOOKED = each("register book record list note enter file noted fil")
_DEEDS = frozenset(("done", "deed"))
_DATED = ("arrival", "departure", "dates", "date")
_DAYS = frozenset(("date", "time"))
_HANDED = frozenset(("pending",))
_OPEN = each("hav do how what where why who")
"""Beginnings of a question that does not check the value named in it."""
_PRICING = each("pay spend pric most maximum limit budget")
_CHOSEN_KINDS = ("text", "place")
_NUMBER = [("booking", True)]
"""What "the number" alone asks for."""
_YOU_WHAT = each("you what")
_WHAT_YOU = ["what", "you"]
_PASSING = (["writ", "to"], ["i", "know"])
_WATCHING = each("check watch look see")
_LET_ME = ["let", "me"]
_LOOKING = each("look see check studi review go run compar put pul work match tri play")
_GRASPING = (["i", "understand"], ["i", "see"], ["i", "can"])
_I_NEED = ["i", "need"]
Asks = list[tuple[str, bool]]
"""Facts asked for, each with whether it was named only loosely ("the number")."""


def understand(text: str, lexicon: Compiled, own: Node | None, known: Values) -> Understood:
    """Understand one message, for a customer whose values are `known`."""
    heard = clauses(text)
    if not heard:
        return Understood(known=any(token.text in DROPPED for token in tokens(text[:200])))
    if not heard[-1].question and asks_plainly(heard[-1]) and text.rstrip()[-1:].isalnum():
        heard[-1].question = True
    settle(heard)
    found = [mentions(clause, lexicon.tree, own) for clause in heard]
    reading = Reading(heard, found, frame_of(heard, found), lexicon, known)
    for at in range(len(heard)):
        reading.read(at)
    settled(reading)
    return reading.out


class Reading:
    """One message while its clauses are read one after another."""

    __slots__ = (
        "aside", "base", "before", "choice", "found", "frame", "heard", "idle", "known", "leave", "lexicon", "listing",
        "mood", "out", "sentence", "told", "waits", "wants",
    )  # fmt: skip

    def __init__(
        self, heard: list[Clause], found: list[list[Span]], frame: Frame, lexicon: Compiled, known: Values
    ) -> None:
        self.heard, self.found, self.frame, self.lexicon, self.known = heard, found, frame, lexicon, known
        self.out = Understood(checking=frame.checking, sure=frame.sure)
        self.sentence = Sentence()
        self.base = 0
        """Where the clause begins in the row of its sentence."""
        self.before: Clause | None = None
        self.mood = False
        """The clause asks for something to be told."""
        self.listing = False
        """The one before it did."""
        self.leave = True in frame.consents
        """Somewhere a go-ahead is asked for."""
        self.choice = False
        """It asks which of the customer's own values holds."""
        self.aside = set[str]()
        """Names that only say whose thing something is."""
        self.idle: Asks = []
        """Asks that count for nothing beside a question of consent."""
        self.told: list[set[str]] = []
        """The ends of each clause."""
        self.waits = False
        """The customer was asked to wait, in so many words."""
        self.wants: list[Asks] = []
        """What each clause asks for."""

    def read(self, at: int) -> None:
        """Read the clause at `at`: its place, its ends, what it asks, what it restates, what else it wants."""
        clause = self.heard[at]
        self._enter(clause, at)
        ends = outcomes(clause) if clause.sentence != self.frame.sentence else set[str]()
        if not TALKING.isdisjoint(clause.row):
            if parts(clause):
                self.out.cues.add("bye")
                ends = set[str]()
            elif introduces(clause):
                ends = set[str]()
            elif took_over(clause):
                ends -= _HANDED
        if ends and (
            ((clause.thus or clause.row[0] == "so") and self._purpose(clause, at))
            or ("rather" in clause.row and prefers(clause.row))
        ):
            ends = set[str]()
        facts = self._asked(clause, at, ends)
        values = self._restated(clause, at, ends)
        if clause.question:
            facts = self._questioned(clause, at, facts, values)
        if self.mood or clause.question or (clause.row[0] == "you" and clause.capitals and self._tag_follows(at)):
            facts = turned(
                self.heard, self.found, at, facts, self.mood, self.frame.consents[at], self.out.checking, values,
                self.known,
            )  # fmt: skip
        facts = self._news(clause, facts)
        self.waits = self.waits or ("wait" in ends and "wait" in clause.labels)
        self.told.append(ends)
        self.wants.append(facts)
        self._keep(clause, at, facts, values, ends)
        widen(self, clause, at, facts, ends)
        self.before = clause

    def _purpose(self, clause: Clause, at: int) -> bool:
        """As in "just so the file is complete, what is the surname?": why it is asked, and no end."""
        if at + 1 == len(self.heard):
            return False
        follow = self.heard[at + 1]
        return follow.question and follow.sentence == clause.sentence and bool(self.found[at + 1])

    def _enter(self, clause: Clause, at: int) -> None:
        """Open a new sentence where one begins, and see in which mood the clause is."""
        row, labels, spans, out = clause.row, clause.labels, self.found[at], self.out
        first = self.before is None or self.before.sentence != clause.sentence
        if first:
            self.sentence = Sentence()
            out.sentences.append(self.sentence)
        sentence = self.sentence
        sentence.wishes = sentence.wishes or self.frame.wished[at]
        self.base = len(sentence.row)
        sentence.stems.update(row)
        sentence.row += row
        if labels:
            out.cues.update(labels)
            if "else" in labels and not clause.question:
                then = labels["else"]
                if "not" in row[:then] or "than" in row[:then] or row[then + 3 :][:2] == _I_NEED:
                    out.cues.discard("else")
        inherits = self.listing = self.mood
        self.mood = cue(clause, inherits, spans, first)
        if inherits and 0 in clause.colons and spans and spans[0].lo < 2:
            self.mood = True  # "I need two things: the booking number and an e-mail I can use"

    def _asked(self, clause: Clause, at: int, ends: set[str]) -> Asks:
        """The facts that the clause asks for, by itself."""
        out, frame, spans, sentence = self.out, self.frame, self.found[at], self.sentence
        mood, leave, question, row = self.mood, frame.consents[at], clause.question, clause.row
        near = self.found[at - 1] if at else ()
        facts = wanted(clause, spans, mood, leave, self.known, self.lexicon, self.before, near)
        if facts and (self._unasked(clause, at, ends) or (not spans and chooses(clause))):
            facts = []
        elif row[:2] == _HOW_ABOUT and len(row) < 5 and not (facts or clause.values) and any(clause.dets[2:3]):
            facts = [(span.means.fact, False) for span in spans if span.hi == len(row)]  # "how about your e-mail?"
        if facts and not question:
            lacks = not (self.listing and (_counted(clause) or VERBS.isdisjoint(row))) and soft(clause)
            if lacks or (frame.sure_at == clause.sentence and not clause.polite):
                self.idle += facts
        sentence.asks = sentence.asks or question or mood
        sentence.inquires = sentence.inquires or question
        sentence.recognises = sentence.recognises or clause.recognises
        if clause.values:
            out.valued = True
        if leave:
            out.consent = sentence.proposes = True
            out.pleads = out.pleads or question or not wants_us(row)
        return facts

    def _unasked(self, clause: Clause, at: int, ends: set[str]) -> bool:
        """Whether the facts that the clause seems to ask for are not asked for, in this message."""
        frame, out = self.frame, self.out
        if clause.recognises:
            return True
        if clause.sentence == frame.sentence or at in frame.others or (clause.question and gist(clause.row)):
            return True
        if clause.question and clause.row[0] == "hav" and "been" in clause.row[2:5]:
            return True  # "have the dates been changed already?"
        if clause.sentence == frame.sure_at and clause.row[:2] == _WHAT_YOU:
            return True  # "what you're telling me is that …, is that right?"
        if not clause.question and ("bye" in clause.labels or clause.row[0] in _WATCHING or clause.row[:2] in _PASSING):
            return True  # "until your arrival!", "check your mail", "they'll … and write to the address on file"
        if frame.wished[at] and clause.row[0] in _YOU_WHAT and not (clause.question or clause.polite):
            return True  # "you'd like your payment returned"
        if frame.pointing[at] and (out.valued or out.right or out.wrong):
            return True
        if "wait" in ends and clause.row[:2] == _LET_ME and clause.row[2] in _LOOKING and "your" not in clause.dets:
            return True  # "let me look at the occupancy, please"
        if not clause.question and "why" in clause.row and clause.row[:2] in _GRASPING:
            return True  # "I understand why you ask"
        if "pending" in ends and clause.hyp_word == "whether" and not clause.question:
            return True  # "whether you get it will be decided on the day of your arrival"
        if clause.values and not (out.ends.isdisjoint(_DEEDS) or clause.question or clause.polite):
            return True  # "it's in the system now: departure at 16:00, no fee"
        if "arrives" in ends and clause.row[0] == "you" and not (clause.question or clause.polite):
            return True  # "you may stay until 16:00 on your last day"
        if stranger(clause, self.before) or (others_name(clause) and not self._names_fact(clause, at)):
            return True  # "do you know which colleague it was, and her name?"
        # "the points missing from your account have been added"
        if "done" not in ends or clause.polite or not QUESTION_WORDS.isdisjoint(clause.row):
            return False
        if "all" in clause.row[:2] and not NEED_VERBS.isdisjoint(clause.row):
            ends.discard("done")
            return False  # "all I need is your e-mail, so I can write when it is done"
        if VERBS.isdisjoint(clause.row) and clause.sentence and self.found[at][0].lo < 2:
            ends.discard("done")
            return False  # "3. Desired check-out time"
        return True

    def _names_fact(self, clause: Clause, at: int) -> bool:
        """As in "the landlord's name", where that is what a fact of the domain is called."""
        return any(
            not span.means.loose and span.means.fact not in NAMES and "nam" in clause.row[span.lo : span.hi]
            for span in self.found[at]
        )

    def _restated(self, clause: Clause, at: int, ends: set[str]) -> Restated:
        """The customer's values that the clause names rightly or wrongly; what is noted down is no deed."""
        out, frame, spans, row = self.out, self.frame, self.found[at], clause.row
        stated = False
        if clause.question:
            if either(clause) or (
                row[0] == "which"
                and "alternative" in clause.labels
                and all(STAFF.isdisjoint(near.row) for near in self.heard)
            ):
                out.either = True
            stated = (row[0] == "you" and not frame.consents[at]) or bool(
                spans and [span for span in spans if span.hi < len(row) and restates(clause, span.hi)]
            )
        elif clause.values and row[0] == "you" and frame.wished[at] and "need" not in row[:5] and clause.hyp:
            stated = True  # "So you'd like to leave at 17:00. What's your booking number?"
        if clause.recognises:
            return Restated()
        values = restated(clause, spans, self.known, out.checking or stated, self.leave or clause.question, frame.about)
        if clause.values and not (values.right or values.wrong):
            values.wrong = echoed(clause, self.known)
        elif (
            clause.commas and clause.capitals and len(row) < 8 and not (clause.question or values.right or values.wrong)
        ):
            values.wrong = misheard(clause, self.known)
        if "refused" in ends and values.right and not clause.question:
            values.right = [
                fact for fact in values.right if self.known[fact].kind not in _DAYS
            ]  # "we're full on the 12th"
        if out.checking and not _DEEDS.isdisjoint(ends):
            named = values.right or values.wrong or spans
            if (named and (not _BOOKED.isdisjoint(row) or "down" in row)) or not WISHES.isdisjoint(row):
                ends -= _DEEDS  # "it is registered under Berg. Is that right?"
        if values.right and not spans and not self._tag_follows(at) and only_named(clause, values.right, self.known):
            values.right = []
        return values

    def _tag_follows(self, at: int) -> bool:
        """As in "Ms Berg, is it?": the next clause asks whether this one is right."""
        heard = self.heard
        return (
            at + 1 < len(heard) and heard[at + 1].sentence == heard[at].sentence and self.frame.tags[at + 1] == CHECKED
        )

    def _questioned(self, clause: Clause, at: int, facts: Asks, values: Restated) -> Asks:
        """What a question asks for beside the values it names: it may check them, or let choose between them."""
        out, consents, known, row = self.out, self.frame.consents, self.known, clause.row
        right = values.right
        if right and not (consents[at] or values.wrong) and wished(clause, right, known):
            consents[at] = self.leave = out.consent = out.pleads = True
        if right and "goal" in clause.labels:
            values.right = right = []  # "what is it that we can do for Mr Berg?"
        if facts and (_tagged(clause) or restates_a_wish(clause, out.checking)):
            facts = []
        if "or" in row and not (out.checking or values.amounts):
            chosen = [known[fact].group for fact in right if known[fact].kind in _CHOSEN_KINDS]
            self.choice = self.choice or bool(chosen)
            return facts or [(group, False) for group in chosen]
        if not (right or values.wrong) or self.leave or row[0] in _OPEN or offers(clause):
            return facts
        about = {known[fact].group for fact in (*right, *values.wrong)}
        if QUESTION_WORDS.isdisjoint(row):
            facts = [fact for fact in facts if fact[0] not in about]
        if facts and not values.wrong and not TITLES.isdisjoint(row):
            values.right = []  # "could you give me Mr Berg's number?"
        else:
            out.checking = True
        return facts

    def _news(self, clause: Clause, facts: Asks) -> Asks:
        """What it asks for, unless it only asks again in other words."""
        before = self.before
        if facts and before is not None:
            if self.out.asks and same_again(clause, before) and not self._new(facts):
                return []
            if facts == _NUMBER and before.question and not _PRICING.isdisjoint(before.row):
                return []  # "What is the most you would pay? Tell me the number."
        return facts

    def _new(self, facts: Asks) -> bool:
        """As in "what is your surname, and which choir is it?"."""
        return all(
            not loose and (fact, loose) not in self.out.asks and fact.removeprefix("new_") not in _DATED
            for fact, loose in facts
        )

    def _keep(self, clause: Clause, at: int, facts: Asks, values: Restated, ends: set[str]) -> None:
        """Put what the clause asks, restates and ends into what is understood of the message."""
        out = self.out
        if values.right:
            if out.checking:
                self.aside |= beside(clause, self.found[at], values.right, self.known)
            out.right += [fact for fact in values.right if fact not in out.right]
        if values.wrong:
            out.wrong += [fact for fact in values.wrong if fact not in out.wrong]
        if facts:
            out.asks += [fact for fact in facts if fact not in out.asks]
        if values.amounts:
            self._price(clause, values)
        if ends:
            self._end(ends)
        elif clause.words[-1].text in _GONE:
            self.sentence.gone = True  # "the suite has gone, but …"
        else:
            self.sentence.open += clause.row
        if not _ACTING.isdisjoint(clause.row):
            out.actions.update(ACTION_OF[word] for word in clause.row if word in ACTION_OF)
        spans = self.found[at]
        if spans and (out.checking or clause.question):
            check = clause.question and self.frame.checked[at]
            out.claimed += [
                "phone" if s.means.loose and of_a_phone(clause, s) else s.means.fact
                for s in spans
                if (check and not s.means.loose) or claimed(clause, s)
            ]

    def _price(self, clause: Clause, values: Restated) -> None:
        """Note where amounts stand in the sentence."""
        base, sentence = self.base, self.sentence
        if clause.usual:
            sentence.usual += [base + place for place, _ in values.amounts]
        sentence.paid += [base + place for place, token in enumerate(clause.words) if token.text == "paid"]
        sentence.amounts += [(base + place, amount) for place, amount in values.amounts]

    def _end(self, ends: set[str]) -> None:
        """Note how requests end; what is told counts for more than the delay before it."""
        out = self.out
        if not TOLD.isdisjoint(ends) or "inable" in ends or ("pending" in ends and not self.waits):
            out.ends.discard("wait")
            for earlier in out.sentences:
                earlier.ends.discard("wait")
        self.sentence.ends |= ends
        out.ends |= ends


def _counted(clause: Clause) -> bool:
    """As in "3) how many rooms you want to return"."""
    return clause.words[0].kind is Is.NUMBER and clause.row[1:2] != [] and clause.row[1] in QUESTION_WORDS


def _tagged(clause: Clause) -> bool:
    """As in "… to your account, correct?"."""
    row = clause.row
    last = len(row) - 1
    if commands(row):
        return False
    return last > 2 and row[-1] in TAGS and last in clause.commas and QUESTION_WORDS.isdisjoint(row)
