"""The reference agent's turns as the model would write them, and a generator that plays written turns.

For the tokenizer's texts, for tests, and for whoever wants to see rewards of 1 flow through the trainer without a model
that can earn them: the turns go through the same parser, episodes and database as sampled ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from tb_envs.agents import make_agent
from tb_envs.episode import Episode, drive
from tb_envs.errors import DomainError
from tb_envs.task import Task
from tb_trainer.parse import action_of, text_of
from tb_trainer.render import Renderer
from tb_trainer.rollout import Place, Sample


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


class WrittenTurns:
    """A generator in the model's place, which plays written turns. Their log-probs are 0, as of a sure choice.

    Args:
        renderer: for ids.
        turns: the turns of a whole episode, for a place in it; after the last one it is played again.
    """

    def __init__(self, renderer: Renderer, turns: Callable[[Place], Sequence[str]]) -> None:
        self._renderer, self._turns = renderer, turns

    def __call__(self, contexts: Sequence[Sequence[int]], places: Sequence[Place]) -> list[Sample]:
        """The next turn of each place."""
        return [self._sample(self._turns(place), place.turn) for place in places]

    def _sample(self, texts: Sequence[str], turn: int) -> Sample:
        ids = self._renderer.encode(texts[min(turn, len(texts) - 1)] + self._renderer.eos)
        return Sample(ids, [0.0] * len(ids))
