"""A customer that follows a script: deterministic, seeded, free, microseconds a turn.

Refuses to invent a value, to tell what it was not asked, to confirm what is wrong, to leave before it
was told how each of its requests ended (but for lost patience), and to let its leaving reveal whether
that end was the right one: it never sees the database.

Acts, for the order rules of a grader: `gave:F`, `confirmed:F`, `corrected:F`, `yielded:F`, `withheld:F`,
`unknown:F` for a fact F, `confirmed:request`, `corrected:request`, `told:secret`, `answered`, `unknown`,
`consented`, `accepted:O`, `declined:O` (O an offer, `other` or `consent`), `asked_price:O`, `asked_for:F`,
`heard:done|refused|pending`, `pressed`, `gave_in`, `second_request`, `changed_mind`, `waited`,
`acknowledged`, `greeted`, `reminded`, `repeated_request`, `asked_back`, `thanked`, `left`.
"""

from __future__ import annotations

from collections.abc import Sequence

from tb_envs.authoring.persona import NAMED, Lines, Persona, Secret, Vocabulary

from .checking import same_question
from .courtesy import IDLES, Courtesy
from .ends import DONE, INABLE, NOT_FOUND, OBSTACLE, PENDING, REFUSED, WAIT
from .heard import Understood, phrases
from .phrasing import LINES
from .proposals import Answer
from .reply import Reply
from .requests import Errand
from .understanding import understand
from .verdicts import regrets, rhetorical, stands, verdicts
from .wished import offers_it, replaced, restated_request

CONNECTED = ("And", "Also", "One", "Oh", "By", "Actually", "Another", "While", "Besides", "Plus", "Wait", "There")
"""Beginnings of a request that brings its own connection along."""
ROUNDS = 3
"""Answers after the goodbye, at most."""
_ASIDE = frozenset(("id", "name", "email", "phone", "text", "place", "time"))
"""Kinds of value of which a right one makes no restated request right."""
_SAID = frozenset((DONE, REFUSED, PENDING, INABLE))


class ScriptedUser(Courtesy):
    """One customer in one talk."""

    def __init__(self, persona: Persona, vocabulary: Vocabulary | None = None, seed: int = 0) -> None:
        super().__init__(persona, vocabulary, seed)
        self._proposals = self._ready.proposals.fresh()
        self._secrets, self._about = self._ready.secrets, self._ready.about
        self._named = set[str]()
        """The stems of all that the agent has said, for secrets `after` a `named:…`."""
        self._rounds = 0
        self._parted = False

    # — the two doors ————————————————————————————————————————————————————————————————————————————

    def opening(self) -> Reply:
        """The first words."""
        self._begin()
        self._say(self.persona.opens)
        for fact in self.persona.volunteers:
            self._give(fact)
        for errand in self._errands:
            if errand.state == "waiting" and errand.after == "opening":
                errand.state = "open"
                self._say(errand.opens)
        return self._reply()

    def reply(self, text: str) -> Reply:
        """The answer to what the agent said."""
        self._begin()
        if self._left:
            return Reply(self._pick(LINES["bye"]), True, ("left",))
        heard = understand(text, self._memory.lexicon, self._memory.tree, self._memory.values)
        parted = self._parted
        self._answer(heard)
        if parted:
            return self._after_goodbye()
        if self._acts:
            self._confused = 0
            self._raise_others()
        else:
            self._small_talk(heard)
        if self._idle > IDLES:
            return self._leave()
        return self._reply()

    # — the answer ———————————————————————————————————————————————————————————————————————————————

    def _answer(self, heard: Understood) -> None:
        """Answers everything that has an answer."""
        told = self._tell(heard)
        corrected = self._restated(heard)
        offers = [] if corrected else self._proposals.offers(heard, self._done)
        given = self._facts(heard, bool(offers))
        busy = given or corrected or told or heard.consent or heard.alternative
        due = [e for e in self._errands if e.state == "open"]
        if self._parted:
            due = [e for e in self._errands if e.state == "settled"][-1:]
        ends = [] if corrected else verdicts(heard, due, busy)
        if self._parted and not busy and regrets(heard):
            ends = [(e, end) for e, end in ends if end == DONE or end != e.end]
        if not ends and not busy and stands(heard, self._errands):
            ends = [(e, REFUSED) for e in self._errands if e.state == "open" and e.pressed]
        for offer in offers:
            self._respond(offer)
        took = bool(offers) and any(answer.act.startswith("accepted:") for answer in offers)
        pressed = self._hear_ends(ends, took)
        proposed = bool(offers)
        if not corrected and not offers and not pressed:
            proposed = self._consent(heard, given)
        puzzled = not (proposed or pressed or ends) and self._puzzled(heard)
        if proposed and not pressed:
            self._idle = 0
            for errand, _ in ends:
                if ("consented" in self._acts or took) and not self._parted:
                    errand.state = "open"
        elif not (pressed or given or told or corrected or puzzled):
            self._after_news(ends, heard)
        if (heard.second or "else" in heard.cues) and not (pressed or corrected or self._parted):
            self._next_request(heard)

    def _after_news(self, ends: Sequence[tuple[Errand, str]], heard: Understood) -> None:
        """Nothing is left to answer: what an end, or the lack of one, leads to."""
        if any(end != OBSTACLE for _, end in ends) and "gave_in" not in self._acts:
            self._say(LINES["glad" if "heard:done" in self._acts else "hears"])
        if self._parted:
            return
        if self._settled():
            self._close(bool(ends), heard)
        elif any(end != OBSTACLE for _, end in ends) and heard.cues & {"else", "bye"}:
            self._remind()

    def _next_request(self, heard: Understood) -> None:
        """Asked what else there is: the request that waits, else the one that is still open."""
        following = next((e for e in self._errands if e.state == "waiting" and e.after in ("settled", "halfway")), None)
        if following is not None:
            self._raise(following, "settled")
        elif heard.second and not self._acts and not self._settled():
            if len(self._errands) > 1:
                self._say(next(e for e in reversed(self._errands) if e.state == "open").opens)
                self._act("repeated_request")
            else:
                self._remind()

    def _restated(self, heard: Understood) -> bool:
        memory = self._memory
        wrong = [fact for fact in heard.wrong if fact not in memory.refused]
        if wrong and DONE in heard.ends and not heard.question and any("total" in one.stems for one in heard.sentences):
            wrong = [fact for fact in wrong if memory.values[fact].kind != "amount"]  # "your new total is USD 412"
        hidden = [f for f in (*heard.right, *heard.wrong) if f in memory.refused] if heard.checking else ()
        for fact in hidden:
            self._give(fact)
        for fact in wrong:
            if fact in self.persona.mistaken:
                self._say(self.persona.mistaken[fact] or LINES["yielded"])
                self._act(f"yielded:{fact}")
            else:
                if not any(act.startswith("corrected:") for act in self._acts):
                    self._say(LINES["no"])
                self._say(memory.line(fact))
                self._act(f"corrected:{fact}")
        verdict = self._request(heard) if heard.sure and not heard.consent and not wrong else ""
        if verdict == "corrected" and not (
            heard.wishes and all(memory.values[fact].kind in _ASIDE for fact in heard.right)
        ):
            verdict = "" if heard.right else verdict
        if heard.checking and heard.right and (not heard.goal or "check" in heard.cues) and verdict != "corrected":
            right = [fact for fact in heard.right if fact not in hidden]
            if right:
                self._say(LINES["rest_right" if wrong else "yes_right"])
            for fact in right:
                self._act(f"confirmed:{fact}")
            if right and heard.wishes and verdict == "confirmed":
                self._act("confirmed:request")
        if heard.claimed and memory.lacks:
            claims = [(group, True) for group in heard.claimed if group != "booking" or not heard.contact]
            for fact in filter(memory.lacks.__contains__, memory.resolved(claims)):
                self._give(fact)
        if verdict and not self._acts:
            self._sure(verdict)
        return bool(self._acts) and any(act.startswith("corrected:") for act in self._acts)

    def _request(self, heard: Understood) -> str:
        """What a restated request is worth: `confirmed`, `corrected` or `unknown`."""
        named = [errand for errand in self._errands if errand.state != "waiting"]
        return restated_request(named, heard)

    def _facts(self, heard: Understood, offered: bool) -> bool:
        memory = self._memory
        facts = memory.owed if memory.owed and not heard.asks else memory.asked(heard)
        memory.owed = []
        facts = self._no_strays(facts, heard, offered)
        if facts and (acts := self._acts):
            facts = [fact for fact in facts if f"confirmed:{fact}" not in acts and f"corrected:{fact}" not in acts]
        if offered and facts:  # "the suite or the deluxe: which one would you prefer?"
            facts = [
                fact for fact in facts if fact not in memory.values or not self._proposals.offered(memory.values[fact])
            ]
        if self.persona.manner == "slow" and len(facts) > 1:
            memory.owed = facts[1:]
            facts = facts[:1]
        for fact in facts:
            self._give(fact, len(facts) > 1)
        if memory.owed:
            self._say(LINES["what_for"])
        elif facts and heard.lost:
            self._no_idea(heard)
        if not facts and heard.whole and not self._acts:
            self._say(LINES["identity_unknown"])
            self._act("unknown:identity")
            return True
        return bool(facts)

    def _no_strays(self, facts: list[str], heard: Understood, offered: bool) -> list[str]:
        """Without the facts it has never heard of, where the message has an answer without them."""
        memory = self._memory
        if "told:secret" in self._acts:
            callers = {"caller", "caller!", "own_name"}  # "are you the guest?" is answered by the secret
            facts = memory.resolved([ask for ask in heard.asks if ask[0] not in callers])
        if not facts:
            return facts
        if (
            REFUSED in heard.ends
            and not any(one.inquires for one in heard.sentences)
            and any("without" in one.stems for one in heard.sentences)
            and all(fact not in memory.texts for fact in facts)
        ):
            return []  # "without your date of birth I'm not allowed to, so I must turn it down"
        strays = [fact for fact in facts if fact not in memory.texts and fact not in memory.lacks]
        if not strays:
            return facts
        answered = offered or self._acts or heard.consent or heard.alternative or heard.ends & _SAID
        kept = () if answered else strays if len(strays) == len(facts) else [f for f in strays if memory.identifies(f)]
        return [fact for fact in facts if fact not in strays or fact in kept]

    def _tell(self, heard: Understood) -> bool:
        """Secrets and small questions, each under its own words only."""
        told: list[Secret | Lines] = []
        self._named.update(*(sentence.stems for sentence in heard.sentences))
        for sentence in (one for one in heard.sentences if one.asks):
            known = [
                secret
                for secret, words in self._secrets
                if (
                    sentence.has(words)
                    or same_question(sentence.stems, words)
                    or (sentence.recognises and secret.after.startswith(NAMED))
                )
                and self._ready_for(secret)
            ]
            for secret in (one for one in known if one not in told):
                self._say(secret.says)
                self._act("told:secret")
                told.append(secret)
            for words, line in () if known else self._about:
                if sentence.has(words) and "answered" not in self._acts:
                    self._say(line)
                    self._act("answered")
                    told.append(line)
        return bool(told)

    def _ready_for(self, secret: Secret) -> bool:
        """Whether what must come before a secret has come."""
        if not secret.after.startswith(NAMED):
            return not secret.after or secret.after in self._done
        return any(words <= self._named for words in phrases(secret.after.removeprefix(NAMED)))

    def _puzzled(self, heard: Understood) -> bool:
        """A question that it has no answer to."""
        if NOT_FOUND in heard.ends and self._memory.given_ids():
            return False
        asked = (heard.question or heard.asks) and heard.known and not heard.second and not rhetorical(heard)
        if asked and not self._acts and not heard.ends & _SAID:
            self._say(LINES["unknown"])
            self._act("unknown")
            return True
        return False

    def _hear_ends(self, ends: Sequence[tuple[Errand, str]], took: bool) -> bool:
        """Takes note of how requests ended; whether it pressed."""
        pressed = False
        for errand, end in ends:
            if end != OBSTACLE:
                errand.end = end
                self._idle = 0
                self._act(f"heard:{end}")
            presses_on = self.persona.presses_on
            insists = end in presses_on or (end == OBSTACLE and self.persona.manner == "pushy")
            if insists and not took and errand.pressed < len(errand.presses):
                self._say(errand.presses[errand.pressed])
                errand.pressed += 1
                errand.state = "open"
                self._act("pressed")
                pressed = True
            elif end != OBSTACLE:
                if end != DONE and errand.pressed and not errand.gave_in and not took:
                    errand.gave_in = True
                    self._say(errand.gives_in or LINES["gives_in"])
                    self._act("gave_in")
                errand.state = "settled"
        return pressed

    def _choose(self, heard: Understood) -> bool:
        """Asked which of several things it wants: the one it knows of, else its request once more."""
        if not heard.either or self._acts or self._settled():
            return False
        for fact in heard.right:
            if self._memory.values[fact].kind in ("time", "date", "text", "place"):
                self._give(fact)
        if not self._acts:
            self._again()
        return True

    def _consent(self, heard: Understood, given: bool) -> bool:
        if self._choose(heard):
            return True
        if (heard.consent and not replaced(self._errands, heard)) or offers_it(self._errands, heard):
            answer, missing = self._proposals.consent(heard)
            if missing:
                thing = self._memory.label(missing)
                self._parts.append(self._pick(LINES["needs"]).replace("{thing}", thing))
                self._act(f"asked_for:{missing}")
            elif answer is not None:
                self._respond(answer)
            return True
        if (heard.alternative or heard.consent) and not given and all(act.startswith("heard:") for act in self._acts):
            self._say(LINES["decline_other"])
            self._act("declined:other")
            return True
        return False

    def _respond(self, answer: Answer) -> None:
        self._say(answer.says or LINES[answer.generic])
        self._act(answer.act)
        if answer.also:
            self._give(answer.also)

    # — the course of the talk ———————————————————————————————————————————————————————————————————

    def _close(self, news: bool, heard: Understood) -> None:
        """All that was asked is settled: the next request, or goodbye."""
        if heard.ends & {WAIT} and not news and not heard.cues & {"else", "bye"}:
            return
        waiting = [e for e in self._errands if e.state == "waiting"]
        following = next((e for e in waiting if e.after == "settled" or self._due(e.after)), None)
        if following is not None:
            self._raise(following, "settled")
            return
        self._say(self.persona.thanks or LINES["thanks"])
        self._act("thanked")
        self._parted = True

    def _raise_others(self) -> None:
        """Requests whose moment has come with this turn."""
        if self._parted:
            return
        for errand in self._errands:
            after = errand.after
            if errand.state == "waiting" and (self._due(after) or (after == "halfway" and self._halfway())):
                self._raise(errand, "halfway")
                return

    def _due(self, act: str) -> bool:
        """Whether the act that a request waits for is done, in this turn or before."""
        return act in self._acts or act in self._done

    def _halfway(self) -> bool:
        return any(act.startswith(("gave:", "accepted:")) or act == "consented" for act in self._acts)

    def _raise(self, errand: Errand, moment: str) -> None:
        if errand.replaces:
            for other in self._errands:
                if other.state == "open":
                    other.state = "settled"
            moment = "changed_mind"
        self._memory.layer(errand.knows)
        line = self._pick(errand.opens)
        if not line.startswith(CONNECTED):
            self._say(LINES[moment])
        self._say(line)
        errand.state = "open"
        self._act("changed_mind" if errand.replaces else "second_request")

    def _after_goodbye(self) -> Reply:
        if "pressed" in self._acts:
            self._parted = False
            return self._reply()
        if self._acts and self._rounds < ROUNDS:
            self._rounds += 1
            self._say(LINES["bye"])
            self._act("thanked")
            return self._reply()
        self._left = True
        return Reply(self._pick(LINES["bye"]), True, ("left",))
