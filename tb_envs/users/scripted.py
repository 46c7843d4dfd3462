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
from random import Random

from tb_envs.authoring.persona import Lines, Persona, Vocabulary

from .memory import Memory
from .outcomes import DONE, NOT_FOUND, OBSTACLE, PENDING, PROMISE, REFUSED, WAIT
from .phrasing import LINES, in_manner
from .proposals import Answer, Proposals
from .reply import Reply
from .requests import Errand, errands, verdicts
from .understanding import Understood, phrases, understand
from .vocabulary import compiled

CONNECTED = ("and ", "also", "one ", "oh", "by the way", "actually", "another", "while ", "besides", "plus ", "wait", "there")
REPEATS, LEAVES, IDLES, ROUNDS = 3, 6, 14, 3


class ScriptedUser:
    """One customer in one talk."""

    def __init__(self, persona: Persona, vocabulary: Vocabulary | None = None, seed: int = 0) -> None:
        self.persona = persona
        self._random = Random(seed)
        self._memory = Memory(persona, compiled(vocabulary))
        self._errands = errands(persona)
        self._proposals = Proposals(persona)
        self._secrets = [(secret, phrases(secret.only_if)) for secret in persona.secrets]
        self._about = [(phrases([key.replace("|", " ")] if "|" not in key else key.split("|")), line) for key, line in persona.about.items()]
        self._done: set[str] = set()
        self._confused = self._idle = self._rounds = 0
        self._parted = self._left = False
        self._parts: list[str] = []
        self._acts: list[str] = []

    # — the two doors ————————————————————————————————————————————————————————————————————————————

    def opening(self) -> Reply:
        """The first words."""
        self._parts, self._acts = [], []
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
        self._parts, self._acts = [], []
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
        corrected = self._restated(heard)
        given = self._facts(heard)
        told = self._tell(heard)
        busy = given or corrected or told or heard.consent or heard.alternative
        due = [e for e in self._errands if e.state == "open"]
        if self._parted:
            due = [e for e in self._errands if e.state == "settled"][-1:]
        ends = [] if corrected else verdicts(heard, due, busy)
        if not ends and not busy and self._stands(heard):
            ends = [(e, REFUSED) for e in self._errands if e.state == "open" and e.pressed]
        offers = [] if corrected else self._proposals.offers(heard, self._done)
        for offer in offers:
            self._respond(offer)
        took = any(answer.act.startswith("accepted:") for answer in offers)
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

    def _restated(self, heard: Understood) -> bool:
        memory = self._memory
        wrong = [fact for fact in heard.wrong if fact not in memory.refused]
        for fact in wrong:
            if fact in self.persona.mistaken:
                self._say(self.persona.mistaken[fact] or LINES["yielded"])
                self._act(f"yielded:{fact}")
            else:
                if not any(act.startswith("corrected:") for act in self._acts):
                    self._say(LINES["no"])
                self._say(memory.line(fact))
                self._act(f"corrected:{fact}")
        if heard.checking and heard.right:
            asked = memory.resolved(heard.asks)
            right = [fact for fact in heard.right if fact not in asked]
            if right:
                self._say(LINES["rest_right" if wrong else "yes_right"])
            for fact in right:
                self._act(f"confirmed:{fact}")
        elif heard.sure and not heard.consent and not wrong:
            self._sure(heard)
        return any(act.startswith("corrected:") for act in self._acts)

    def _sure(self, heard: Understood) -> None:
        """ "So you want to cancel, is that right?" """
        mine = set[str]().union(*(errand.actions for errand in self._errands if errand.state != "waiting"))
        if heard.actions and mine and not heard.actions & mine:
            self._say(LINES["that_is_wrong"])
            self._say(self._errands[0].opens)
            self._act("corrected:request")
        else:
            self._say(LINES["yes_right"])
            self._act("confirmed:request")

    def _facts(self, heard: Understood) -> bool:
        memory = self._memory
        facts = memory.owed if memory.owed and not heard.asks else memory.asked(heard)
        memory.owed = []
        facts = [fact for fact in facts if f"confirmed:{fact}" not in self._acts and f"corrected:{fact}" not in self._acts]
        if self.persona.manner == "slow" and len(facts) > 1:
            memory.owed = facts[1:]
            facts = facts[:1]
        for fact in facts:
            self._give(fact, len(facts) > 1)
        if memory.owed:
            self._say(LINES["what_for"])
        if not facts and heard.whole and not self._acts:
            self._say(LINES["identity_unknown"])
            self._act("unknown:identity")
            return True
        return bool(facts)

    def _give(self, fact: str, among: bool = False) -> None:
        memory, persona = self._memory, self.persona
        if fact in persona.wont_say:
            self._say(_own(persona.wont_say, fact) or LINES["wont_say"])
            self._act(f"withheld:{fact}")
        elif fact in memory.texts:
            self._idle = 0
            self._say(memory.line(fact, terse=persona.manner == "terse", among=among))
            self._act(f"gave:{fact}")
        elif fact in memory.lacks:
            self._say(_own(persona.lacks, memory.lacks[fact]) or LINES["lacks"])
            self._act(f"unknown:{fact}")
        else:
            line = self._pick(LINES["unknown_fact"])
            if line not in self._parts and not any(part in LINES["unknown_fact"] for part in self._parts):
                self._parts.append(line)
            self._act(f"unknown:{fact}")

    def _tell(self, heard: Understood) -> bool:
        """Secrets and small questions, each under its own words only."""
        told = False
        for sentence in heard.sentences:
            if not sentence.asks:
                continue
            for secret, words in self._secrets:
                if sentence.has(words) and (not secret.after or secret.after in self._done):
                    self._say(secret.says)
                    self._act("told:secret")
                    told = True
            for words, line in self._about:
                if sentence.has(words) and "answered" not in self._acts:
                    self._say(line)
                    self._act("answered")
                    told = True
        return told

    def _puzzled(self, heard: Understood) -> bool:
        """A question that it has no answer to."""
        asked = (heard.question or heard.asks) and heard.known
        if asked and not self._acts and not heard.ends & {DONE, REFUSED, PENDING}:
            self._say(LINES["unknown"])
            self._act("unknown")
            return True
        return False

    def _stands(self, heard: Understood) -> bool:
        """After pressing: the agent says something that is neither an answer nor a delay; the refusal stands."""
        return (
            any(errand.pressed and errand.state == "open" for errand in self._errands)
            and heard.known
            and not heard.ends & {WAIT, PROMISE, OBSTACLE}
            and not heard.cues & {"help", "goal", "wait", "hyp"}
        )

    def _hear_ends(self, ends: Sequence[tuple[Errand, str]], took: bool) -> bool:
        """Takes note of how requests ended; whether it pressed."""
        pressed = False
        for errand, end in ends:
            if end != OBSTACLE:
                self._idle = 0
                self._act(f"heard:{end}")
            presses_on = self.persona.presses_on
            insists = end in presses_on or (end == OBSTACLE and self.persona.manner == "pushy")
            if insists and not took and errand.pressed < len(errand.presses):
                self._say(errand.presses[errand.pressed])
                errand.pressed += 1
                self._act("pressed")
                pressed = True
            elif end != OBSTACLE:
                if end != DONE and errand.pressed and not errand.gave_in and not took:
                    errand.gave_in = True
                    self._say(errand.gives_in or LINES["gives_in"])
                    self._act("gave_in")
                errand.state = "settled"
        return pressed

    def _consent(self, heard: Understood, given: bool) -> bool:
        if heard.consent:
            answer, missing = self._proposals.consent(heard)
            if missing:
                thing = self._memory.label(missing)
                self._parts.append(self._pick(LINES["needs"]).replace("{thing}", thing))
                self._act(f"asked_for:{missing}")
            elif answer is not None:
                self._respond(answer)
            return True
        if heard.alternative and not given and not self._acts:
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

    def _settled(self) -> bool:
        return all(errand.state != "open" for errand in self._errands)

    def _close(self, news: bool, heard: Understood) -> None:
        """All that was asked is settled: the next request, or goodbye."""
        if heard.ends & {WAIT} and not news and not heard.cues & {"else", "bye"}:
            return
        following = next((e for e in self._errands if e.state == "waiting" and e.after == "settled"), None)
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
        acts = set(self._acts)
        halfway = any(act.startswith(("gave:", "accepted:")) or act == "consented" for act in acts)
        for errand in self._errands:
            if errand.state == "waiting" and (errand.after in acts or errand.after in self._done or (errand.after == "halfway" and halfway)):
                self._raise(errand, "halfway")
                return

    def _raise(self, errand: Errand, moment: str) -> None:
        if errand.replaces:
            for other in self._errands:
                if other.state == "open":
                    other.state = "settled"
            moment = "changed_mind"
        self._memory.layer(errand.knows)
        line = self._pick(errand.opens)
        if not line.lower().startswith(CONNECTED):
            self._say(LINES[moment])
        self._say(line)
        errand.state = "open"
        self._act("changed_mind" if errand.replaces else "second_request")

    def _after_goodbye(self) -> Reply:
        if self._acts and self._rounds < ROUNDS:
            self._rounds += 1
            self._say(LINES["bye"])
            self._act("thanked")
            return self._reply()
        self._left = True
        return Reply(self._pick(LINES["bye"]), True, ("left",))

    def _small_talk(self, heard: Understood) -> None:
        """Nothing was asked, proposed or ended."""
        cues = heard.cues
        waiting = WAIT in heard.ends or PROMISE in heard.ends
        if heard.goal and not waiting:
            self._again()
        elif cues & {"else", "bye"} and not waiting and not self._settled():
            self._remind()
        elif waiting:
            self._say(LINES["waited"])
            self._act("waited")
        elif NOT_FOUND in heard.ends:
            self._not_found()
        elif "smalltalk" in cues:
            self._say(LINES["fine"])
            self._act("greeted")
        elif "help" in cues:
            self._say(LINES["what_next"])
            self._act("acknowledged")
        elif "greet" in cues:
            self._again()
            self._act("greeted")
        elif heard.known or cues or heard.ends:
            self._say(LINES["acknowledged" if heard.ends or "empathy" not in cues else "what_next"])
            self._act("acknowledged")
        else:
            self._ask_back()
            return
        self._confused = 0
        self._idle += 1

    def _remind(self) -> None:
        still = [errand for errand in self._errands if errand.state == "open"]
        if len(still) == len([errand for errand in self._errands if errand.state != "waiting"]):
            self._say(LINES["reminded"])
        else:
            self._say(LINES["and_the_other"])
            self._say(still[0].opens)
        self._act("reminded")

    def _again(self) -> None:
        errand = next((errand for errand in self._errands if errand.state == "open"), self._errands[0])
        self._say(errand.opens)
        self._act("repeated_request")

    def _not_found(self) -> None:
        """ "I can't find that booking": repeats the id that it gave, if any."""
        repeats = self._memory.given_ids()
        if repeats:
            for fact in repeats:
                self._give(fact)
        else:
            self._say(LINES["no_idea_why"])
            self._act("acknowledged")

    def _ask_back(self) -> None:
        self._confused += 1
        if self._confused >= LEAVES:
            self._leave()
            return
        self._act("asked_back")
        if self._confused == REPEATS:
            self._say(LINES["repeat"])
            self._again()
        else:
            self._say(LINES["asked_back"])

    def _leave(self) -> Reply:
        self._left = True
        self._parts = [self._pick(LINES["leaves"])]
        self._acts = ["left"]
        return Reply(self._parts[0], True, ("left",))

    # — words ————————————————————————————————————————————————————————————————————————————————————

    def _pick(self, lines: Lines) -> str:
        if isinstance(lines, str):
            return lines
        return lines[int(self._random.random() * len(lines))] if len(lines) > 1 else lines[0]

    def _say(self, lines: Lines) -> None:
        line = self._pick(lines) if lines else ""
        if line and line not in self._parts:
            self._parts.append(self._memory.filled(line) if "{" in line else line)

    def _act(self, act: str) -> None:
        if act not in self._acts:
            self._acts.append(act)

    def _reply(self) -> Reply:
        self._done.update(self._acts)
        text = " ".join(self._parts)
        manner = self.persona.manner
        if manner not in ("plain", "terse", "slow") and not self._left:
            text = in_manner(text, manner, self._random.random())
        return Reply(text, self._left, tuple(self._acts))


def _own(listed: object, fact: str) -> Lines:
    return listed.get(fact, ()) if isinstance(listed, dict) else ()  # type: ignore[return-value]
