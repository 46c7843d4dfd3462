"""The reference agent's turns as the model would write them, and an engine that plays written turns.

For the tokenizer's texts, for tests, and for whoever wants to see rewards of 1 flow through the trainer without a model
that can earn them: the turns go through the same parser, episodes and database as sampled ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from tb_envs.agents import make_agent
from tb_envs.episode import Episode, drive
from tb_envs.errors import DomainError
from tb_envs.parse import action_of, text_of
from tb_envs.task import Task
from tb_trainer.engines import Key, Request, Sampling, Turn
from tb_trainer.render import Renderer


def reference_transcript(task: Task) -> list[str]:
    """What was said, heard, called and answered when the reference agent played `task`: its turns at odd places."""
    episode, agent = Episode(), make_agent("reference")
    lines = [drive(episode.reset(task))]
    agent.start(episode, lines[0])
    while not episode.over:
        lines.append(text_of(agent.act(lines[-1])))
        lines.append(drive(episode.act(action_of(lines[-1]))))
    episode.close()
    if episode.error:
        raise DomainError(f"{task.id}: the reference agent met a system error: {episode.error}")
    return lines


@lru_cache(maxsize=256)
def reference_turns(task: Task) -> tuple[str, ...]:
    """The reference agent's turns alone."""
    return tuple(reference_transcript(task)[1::2])


class WrittenEngine:
    """An engine in the model's place that plays written turns. Their log-probs are 0, as of a sure choice.

    Args:
        renderer: for ids.
        turns: the turns of a whole episode by its key; after the last one it is played again.
    """

    def __init__(self, renderer: Renderer, turns: Callable[[Key], Sequence[str]]) -> None:
        self.version, self.sampling = 0, Sampling(stop=(renderer.eos_id,))
        self._renderer, self._turns = renderer, turns
        self._played: dict[Key, int] = {}
        self._done: list[Turn] = []

    def load(self, model: Any) -> None:
        """Count the weights; they are not looked at."""
        self.version += 1

    def submit(self, request: Request) -> None:
        """Write the next turn of the episode, cut off at the limit."""
        texts = self._turns(request.key)
        turn = self._played.get(request.key, 0)
        self._played[request.key] = turn + 1
        ids = self._renderer.encode(texts[min(turn, len(texts) - 1)] + self._renderer.eos)
        cut = ids[: request.limit]
        self._done.append(Turn(request.key, cut, [0.0] * len(cut), "stop" if len(cut) == len(ids) else "length"))

    def poll(self, wait: float | None = None) -> list[Turn]:
        """The turns that are written; there is nothing to wait for."""
        done, self._done = self._done, []
        return done

    def release(self, key: Key) -> None:
        """Begin at the first turn again."""
        self._played.pop(key, None)
        self._done = [turn for turn in self._done if turn.key != key]
