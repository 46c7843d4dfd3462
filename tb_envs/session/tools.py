"""The two tools every session has besides the domain's: they close the talk and reveal nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from tb_envs.authoring.toolset import Tool, make_tool
from tb_envs.authoring.values import EnumSpelling, Json, Text

END = "end_conversation"
HAND_OVER = "hand_over"


def session_tools(teams: Sequence[str]) -> tuple[Tool, Tool]:
    """`end_conversation` and `hand_over` for a company with these teams."""
    team_type: Any = Annotated[Literal[tuple(teams)], EnumSpelling]

    def end_conversation(db: Any, summary: Text) -> Json:
        """End the conversation. Nothing can be said or changed afterwards.

        Args:
            summary: one or two sentences on what was done.
        """
        return {"status": "ended"}

    def hand_over(db: Any, team: str, summary: Text) -> Json:
        """Pass the conversation to a team of colleagues and end it. Nothing can be said or changed afterwards.

        Args:
            team: the team that takes over.
            summary: what the team needs to know.
        """
        return {"status": "handed_over", "team": team}

    end_conversation.__annotations__ = {"summary": Text, "return": Json}
    hand_over.__annotations__ = {"team": team_type, "summary": Text, "return": Json}
    return make_tool(end_conversation, "session"), make_tool(hand_over, "session")
