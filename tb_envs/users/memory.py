"""What the customer knows, and which of it an agent's question is about.

Refuses to give: it says which facts are meant and how they are said; whether they are given is the talk's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy

from tb_envs.authoring.persona import Fact, Known, Persona

from .heard import Understood
from .phrases import Node
from .values import Value, Values, said
from .vocabulary import Compiled, identifying, teach

_PERSONAL = frozenset(("birth_date", "postcode", "address", "card", "password"))
_BARE = ("It's {value}", "{value}.", "It is {value}")


class Memory:
    """The persona's facts by its own names, and by the groups in which agents ask for them."""

    def __init__(self, persona: Persona, lexicon: Compiled) -> None:
        self.lexicon = lexicon
        self.persona = persona
        self.texts: dict[str, str] = {}
        self._values: Values | None = None
        self.tree: Node | None = None
        self.owed: list[str] = []
        self.refused = frozenset(persona.wont_say)
        self._given: set[str] = set()
        self._kinds: dict[str, tuple[str, Fact]] = {}
        self._same: dict[str, tuple[str, ...]] = {}
        self._says: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {}
        self._groups: dict[str, list[str]] = {}
        self.lacks: dict[str, str] = {}
        self._of: Memory | None = None
        self.layer(persona.knows)
        for fact in persona.lacks:
            self._learn(fact)
            self.lacks[fact] = fact

    def fresh(self) -> Memory:
        """The same knowledge for another talk, of which nothing is given yet; shared until more is learned."""
        other = object.__new__(Memory)
        other.__dict__.update(self.__dict__)
        other.owed, other._given, other._of = [], set(), self
        return other

    def _own(self) -> None:
        """Stop sharing, before something is learned."""
        if self._of is not None:
            self._of = None
            self.texts, self._kinds = dict(self.texts), dict(self._kinds)
            self._same, self._says = dict(self._same), dict(self._says)
            self._groups = {group: list(members) for group, members in self._groups.items()}
            self.tree = deepcopy(self.tree)

    def layer(self, knows: Mapping[str, object]) -> None:
        """Learn facts; a known name gets a new value."""
        self._own()
        self._values = None
        for name, given in knows.items():
            known = given if isinstance(given, Known) else Known(given)
            fact = self.lexicon.fact(name)
            group = self._learn(name)
            self.texts[name] = said(known.value)
            self._same[name] = tuple(known.same_as)
            self._kinds[name] = group, fact
            own = (known.says,) if isinstance(known.says, str) else known.says
            says = tuple(own) or tuple(fact.said_as) or ("It's {value}.", "{value}.")
            lines, text = [line for line in says if not line.startswith(_BARE)] or says, self.texts[name]
            self._says[name] = (
                tuple(line.replace("{value}", text) for line in says),
                tuple(line.replace("{value}", text) for line in lines),
            )

    def _learn(self, name: str) -> str:
        group = self.lexicon.group(name)
        words = name.split("_")
        if group not in self.lexicon.facts or (len(words) > 1 and self.lexicon.means(words) != group):
            if self.tree is None:
                self.tree = {}
            teach(self.tree, group, (" ".join(words),))
        members = self._groups.setdefault(group, [])
        if name not in members:
            members.append(name)
        return group

    @property
    def values(self) -> Values:
        """Everything it knows, ready to be compared with what is heard; prepared when first needed."""
        if self._of is not None:
            return self._of.values
        if self._values is None:
            known: dict[str, Value] = {}
            for name, text in self.texts.items():
                group, fact = self._kinds[name]
                known[name] = Value(name, group, fact.kind, text, fact.values, self._same[name])
                known[name].contested = name in self.persona.mistaken
            self._values = Values(known, self._groups)
        return self._values

    def line(self, fact: str, terse: bool = False, among: bool = False) -> str | tuple[str, ...]:
        """The sentences that state the fact; `among` others, only those that say which fact it is."""
        self._given.add(fact)
        if terse:
            return f"{self.texts[fact]}."
        return self._says[fact][among]

    def label(self, fact: str) -> str:
        """What the fact is called."""
        return fact.replace("_", " ")

    def filled(self, line: str) -> str:
        """The line with its `{fact}` places filled; what it names is given thereby."""
        for fact, text in self.texts.items():
            place = "{" + fact + "}"
            if place in line:
                line = line.replace(place, text)
                self._given.add(fact)
        return line

    def given_ids(self) -> list[str]:
        """Ids that the agent has been given already."""
        return [fact for fact in self.texts if self._kinds[fact][1].kind == "id" and fact in self._given]

    def resolve(self, group: str, loose: bool = False) -> list[str]:
        """The persona's own facts that answer a question for `group`; the group itself when there is none."""
        if group.endswith("!"):  # it and nothing that stands in for it
            return self._groups.get(group[:-1]) or [group[:-1]]
        members = self._groups.get(group)
        if members:
            return members
        for option in self.lexicon.else_.get(group, ()):
            facts = [member for name in option.split("+") for member in self._groups.get(self.lexicon.group(name), ())]
            if facts:
                return facts
        return [] if loose else ["name" if group == "own_name" else group]

    def resolved(self, asks: Sequence[tuple[str, bool]]) -> list[str]:
        """The persona's facts behind what was asked, each once."""
        out: list[str] = []
        for group, loose in asks:
            for fact in self.resolve(group, loose):
                if fact not in out:
                    out.append(fact)
        return out

    def asked(self, heard: Understood) -> list[str]:
        """All facts that the message asks for, wildcards included."""
        facts = self.resolved(heard.asks)
        if len(facts) > 1 and not self.texts.keys().isdisjoint(facts):  # "the name or e-mail": what it has is enough
            facts = [fact for fact in facts if fact in self.texts or fact in self.lacks or (fact, False) in heard.asks]
        if not facts and heard.contact:
            facts = [fact for group in ("email", "phone") for fact in self._groups.get(group, ())]
        if not facts and heard.whole:
            facts = self.identity()
        return facts

    def identifies(self, fact: str) -> bool:
        """Whether it is something to identify a customer by, known or not."""
        return fact in _PERSONAL or identifying(self.lexicon.fact(fact))

    def identity(self) -> list[str]:
        """What it gives when asked to identify itself in general."""
        if self.persona.identifies_by is not None:
            return list(self.persona.identifies_by)
        known = [fact for fact in self.texts if fact not in self.refused]
        return [fact for fact in known if identifying(self.lexicon.fact(fact))][:2]
