"""Facts, one by one, and what is said when nothing was asked: waiting, thanks, reminders, asking back.

Refuses to lose patience before its time: a turn that is not understood three times in a row makes it
repeat its request in other words, the sixth makes it leave.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tb_envs.authoring.persona import Lines

from .ends import NOT_FOUND, PROMISE, UNVERIFIED, WAIT
from .heard import Understood
from .phrases import stem_set
from .phrasing import LINES
from .voice import Voice

_HAILS = stem_set(
    "guten gute bonjour bonsoir salut hola buenos buenas buongiorno buonasera salve olá ola bom boa namaste moin servus"
    " ahoj dzien dzień cześć czesc goedemorgen goedemiddag goedendag goedenavond god hej hei merhaba konnichiwa aloha"
    " salaam salam shalom grüezi gruezi grüß gruß zdravstvuyte privet kalimera kalispera bienvenue bienvenido"
    " bienvenidos willkommen benvenuto benvenuti"
)
"""Greetings in other languages."""
_HELLO = stem_set("hello hi hey welcome good greetings")
_FAREWELL = stem_set("goodbye bye farewell cheers wish night enjoy care soon have see")
REPEATS, LEAVES, IDLES = 3, 6, 14


class Courtesy(Voice):
    """What needs no decision about the request itself."""

    _confused = 0
    _idle = 0

    def _settled(self) -> bool:
        return "open" not in [errand.state for errand in self._errands]

    def _small_talk(self, heard: Understood) -> None:
        """Nothing was asked, proposed or ended."""
        cues = heard.cues
        waiting = WAIT in heard.ends or PROMISE in heard.ends
        if heard.goal and not waiting:
            self._again()
        elif cues & {"else", "bye"} and not waiting and not self._settled() and not _welcomes(heard):
            self._remind()
        elif waiting:
            self._say(LINES["waited"])
            self._act("waited")
        elif NOT_FOUND in heard.ends:
            self._not_found()
        elif UNVERIFIED in heard.ends and "retry" in cues:
            for fact in self._memory.given_ids() or self._memory.identity():
                self._give(fact)
        elif "smalltalk" in cues:
            self._say(LINES["fine"])
            self._act("greeted")
        elif "help" in cues:
            self._say(LINES["what_next"])
            self._act("acknowledged")
        elif "greet" in cues or (not heard.known and not cues and _hails(heard)):
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
        """As in "I can't find that booking": repeats the id that it gave, if any."""
        repeats = self._memory.given_ids()
        if repeats:
            for fact in repeats:
                self._give(fact)
        else:
            self._say(LINES["no_idea_why"])
            self._act("acknowledged")

    def _sure(self, verdict: str) -> None:
        """As in "So you want to cancel, is that right?"."""
        if verdict == "unknown":
            self._say(LINES["unknown"])
            self._act("unknown")
        elif verdict == "corrected":
            self._say(LINES["that_is_wrong"])
            self._say(self._errands[0].opens)
            self._act("corrected:request")
        else:
            self._say(LINES["yes_right"])
            self._act("confirmed:request")

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

    def _no_idea(self, heard: Understood) -> None:
        """Something is asked, beside facts that it gave, that it cannot know."""
        beside = not (heard.consent or heard.checking or heard.alternative or heard.ends)
        if beside and all(act.startswith("gave:") for act in self._acts):
            self._say(LINES["unknown"])
            self._act("unknown")

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


def _welcomes(heard: Understood) -> bool:
    """As in "Hello! Thanks for reaching out to us": no goodbye."""
    return (
        "greet" in heard.cues
        and "else" not in heard.cues
        and not _HELLO.isdisjoint(heard.sentences[0].stems)
        and all(_FAREWELL.isdisjoint(sentence.stems) for sentence in heard.sentences)
    )


def _hails(heard: Understood) -> bool:
    """As in "Guten Morgen!", "Bonjour et bienvenue": a greeting in another language, and little else."""
    said = [word for sentence in heard.sentences for word in sentence.row]
    return len(said) < 7 and bool(said) and not _HAILS.isdisjoint(said[:2])


def _own(listed: Sequence[str] | Mapping[str, Lines], fact: str) -> Lines:
    return listed.get(fact, ()) if isinstance(listed, Mapping) else ()
