"""The customer's voice: collects the sentences and the acts of one turn, and says them in its manner.

Refuses to decide what to say.
"""

from __future__ import annotations

from random import Random

from tb_envs.authoring.persona import Lines, Persona, Vocabulary

from .phrasing import LINES, in_manner
from .prepared import prepared
from .reply import Reply


class Voice:
    """One customer's persona, memory and requests, and the turn it is about to speak."""

    def __init__(self, persona: Persona, vocabulary: Vocabulary | None = None, seed: int = 0) -> None:
        self.persona = persona
        self._random = Random(seed)
        self._ready = prepared(persona, vocabulary)
        self._memory = self._ready.memory.fresh()
        self._errands = [errand.fresh() for errand in self._ready.errands]
        self._done: set[str] = set()
        self._parts: list[str] = []
        self._acts: list[str] = []
        self._left = False

    def _pick(self, lines: Lines) -> str:
        if isinstance(lines, str):
            return lines
        return lines[int(self._random.random() * len(lines))] if len(lines) > 1 else lines[0]

    def _say(self, lines: Lines) -> None:
        line = self._pick(lines) if lines else ""
        if "{" in line:
            line = self._memory.filled(line)
        if line and line not in self._parts:
            self._parts.append(line)

    def _act(self, act: str) -> None:
        if act not in self._acts:
            self._acts.append(act)

    def _begin(self) -> None:
        self._parts, self._acts = [], []

    def _reply(self) -> Reply:
        self._done.update(self._acts)
        text = " ".join(self._parts)
        manner = self.persona.manner
        if manner not in ("plain", "terse", "slow") and not self._left:
            text = in_manner(text, manner, self._random.random())
        return Reply(text, self._left, tuple(self._acts))

    def _leave(self) -> Reply:
        """Hangs up for lost patience."""
        self._left = True
        self._begin()
        self._say(LINES["leaves"])
        self._act("left")
        return self._reply()
