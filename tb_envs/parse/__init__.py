"""The model's text to one turn of an agent, and back, in the tool-call format of its family.

`Parser` reads and writes; `family_of` recognises the family from a chat template. `action_of` and `text_of` are both
for Hermes, the format of the tiny model, where there are no thoughts and nothing to cast.
"""

from __future__ import annotations

from typing import Any

from tb_envs.actions import Turn
from tb_envs.parse.families import FAMILIES, family_of
from tb_envs.parse.parser import THOUGHTS, Parser
from tb_envs.parse.turn import AssistantTurn, Malformed, Tools

__all__ = ["FAMILIES", "THOUGHTS", "AssistantTurn", "Malformed", "Parser", "Tools", "action_of", "family_of", "text_of"]

_HERMES = Parser("hermes")


def action_of(text: str) -> Turn:
    """What the environment is given for a turn that was written in Hermes' format."""
    return _HERMES.read(text).action


def text_of(action: Any) -> str:
    """A valid action as the model would write it in Hermes' format; the opposite of `action_of`."""
    return _HERMES.write(action)
