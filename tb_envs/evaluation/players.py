"""Who can play the agent in a campaign: a model behind `Model`, a built-in agent, a Python function.

A `Player` plays many attempts at once and gives each its own `Seat`. A model is shown the policy, the tools and the
messages, and nothing else of the episode. Refuses to know HTTP (`chat`), weights (`local`) and time.
"""

from __future__ import annotations

import asyncio
import inspect
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tb_envs.agents import BUILT_IN, Agent, load_callable, make_agent, shown_to
from tb_envs.episode import Episode
from tb_envs.errors import ThinkingBoxError, UsageError
from tb_envs.evaluation.context import ContextRule, Message, fixed_length
from tb_envs.evaluation.meter import Meter
from tb_envs.evaluation.threads import Threads


class AgentBroke(ThinkingBoxError):
    """The agent's endpoint or model broke: ``error:agent``, a system error and no failure of the agent."""


@dataclass(frozen=True)
class Answer:
    """One turn of a model.

    Attributes:
        action: as of `tb_envs.actions`: text, an object with ``tool_calls``, or a `Turn` that was read already.
        ends: ``refused`` where the provider's content filter answered, ``limit:context`` where the talk does not fit;
            then there is no action, and the attempt ends and is graded. Empty otherwise.
        written: what the model wrote, where `action` does not say it.
        finish: why the turn ended, where that is not as usual: ``length`` for one that was cut off.
        thought: what the model thought before, where a server says that apart.
    """

    action: Any = ""
    ends: str = ""
    written: str = ""
    finish: str = ""
    thought: str = ""


class Model(Protocol):
    """A language model that takes single turns, of many attempts at once; it may batch them."""

    async def act(
        self,
        messages: Sequence[Message],
        tools: Sequence[Mapping[str, Any]],
        instructions: str,
        *,
        seed: int,
        meter: Meter,
    ) -> Answer:
        """The next turn of one attempt.

        Args:
            messages: the talk so far (``user``, ``assistant``, ``tool``), the customer's first words first.
            tools: function definitions; one object for all attempts at the tasks of a domain.
            instructions: what the agent is told before, the policy included.
            seed: of this turn's sampling; the same attempt has the same seeds in each campaign.
            meter: to be told the tokens, requests and waits.

        Raises:
            AgentBroke: there is no turn to be had; a system error.
        """
        ...

    async def close(self) -> None:
        """Free what it holds."""
        ...


class Seat(Protocol):
    """One attempt of a player."""

    @property
    def dropped(self) -> int:
        """Tool results that the context rule has replaced by now."""
        ...

    async def act(self, observation: str) -> Answer:
        """The next turn."""
        ...


class Player(Protocol):
    """The agent of a campaign."""

    @property
    def calls_model(self) -> bool | None:
        """Whether turns cost tokens; None where nobody can tell, so that tokens and cost are unknown."""
        ...

    def sit(self, episode: Episode, observation: str, seed: int, meter: Meter) -> Seat:
        """Take a seat in an episode that began with these words of the customer."""
        ...

    async def close(self) -> None:
        """Free what it holds."""
        ...


class ModelPlayer:
    """A model as a player, with the rule for long talks."""

    calls_model = True

    def __init__(self, model: Model, context: ContextRule) -> None:
        self.model, self.context = model, context

    def sit(self, episode: Episode, observation: str, seed: int, meter: Meter) -> Seat:
        """A seat that sees policy, tools and messages."""
        return ModelSeat(self, episode, seed, meter)

    def notice(self) -> str:
        """Why the model is not asked just now, for people; empty where it is, or where it does not say."""
        told = getattr(self.model, "notice", None)
        return str(told()) if callable(told) else ""

    async def close(self) -> None:
        """Free the model."""
        await self.model.close()


class ModelSeat:
    """One attempt of a model."""

    def __init__(self, player: ModelPlayer, episode: Episode, seed: int, meter: Meter) -> None:
        self._player, self._seed, self._meter = player, seed, meter
        self._messages, self._tools, self._instructions = episode.messages, episode.tools, episode.instructions
        bounded = player.context.rule != "none"
        self._fixed = fixed_length(self._instructions, self._tools) if bounded else 0
        self._turn = 0
        self.dropped = 0

    async def act(self, observation: str) -> Answer:
        """The model's next turn."""
        messages = list(self._messages)
        for unread in self._meter.wrote:  # it reads what it wrote, not the blank that the record has in its place
            place: int = unread["message"]
            if not messages[place].get("tool_calls"):
                messages[place] = {"role": "assistant", "content": unread["text"]}
        view = self._player.context.view(messages, self._fixed)
        self.dropped = view.dropped
        if not view.fits:
            return Answer(ends="limit:context")
        self._turn += 1
        seed = (self._seed + self._turn) & 0x7FFF_FFFF
        return await self._player.model.act(
            view.messages, self._tools, self._instructions, seed=seed, meter=self._meter
        )


class AgentPlayer:
    """A built-in agent, or a Python function of ``(observation, info)`` that may be ``async``.

    Functions that are not run in threads, one for each attempt that is played at a time; what they return is awaited
    if it can be. What a function raises, an exit included, stops the campaign and names the place, for it is a fault of
    the function and no turn; an `AgentBroke` that it raises is a system error of the attempt.

    A built-in agent asks no model; what a function asks, and pays, is unknown.

    Args:
        name: as of `tb_envs.agents.make_agent`.
        concurrency: attempts played at a time.
    """

    calls_model: bool | None

    def __init__(self, name: str, concurrency: int = 1) -> None:
        self.name = name
        self.function = None if name in BUILT_IN else load_callable(name)
        self.calls_model = False if self.function is None else None
        self.threads: Threads | None = None
        if self.function is not None and not _is_async(self.function):
            self.threads = Threads(concurrency, "agent")

    def sit(self, episode: Episode, observation: str, seed: int, meter: Meter) -> Seat:
        """A fresh agent in its seat."""
        if self.function is not None:
            return FunctionSeat(self, episode)
        agent = make_agent(self.name)
        agent.start(episode, observation)
        return AgentSeat(agent)

    async def close(self) -> None:
        """Let the threads go."""
        if self.threads is not None:
            self.threads.close()


class AgentSeat:
    """One attempt of a built-in agent."""

    dropped = 0

    def __init__(self, agent: Agent) -> None:
        self._agent = agent

    async def act(self, observation: str) -> Answer:
        """The agent's next action."""
        return Answer(self._agent.act(observation))


class FunctionSeat:
    """One attempt of a Python function."""

    dropped = 0

    def __init__(self, player: AgentPlayer, episode: Episode) -> None:
        self._player, self._episode = player, episode

    async def act(self, observation: str) -> Answer:
        """What the function returns."""
        function, info = self._player.function, shown_to(self._episode)
        assert function is not None
        try:
            if self._player.threads is None:
                action = await function(observation, info)
            else:
                action = await self._player.threads.call(function, observation, info)
                if inspect.isawaitable(action):  # a plain function around an async one
                    action = await action
        except (AgentBroke, KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:  # an exit or a cancellation of its own would end workers without a word
            if isinstance(error, asyncio.CancelledError) and _is_cancelled():
                raise
            raise UsageError(
                f"agent {self._player.name!r} raised {type(error).__name__}: {error} ({_place(error, function)})"
            ) from error
        return Answer(action, written=action if isinstance(action, str) else repr(action))


def _is_cancelled() -> bool:
    """Whether it is the campaign that is being stopped."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _is_async(function: Callable[..., Any]) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


def _place(error: BaseException, function: Callable[..., Any]) -> str:
    """Where it was raised: the last place in the function's own file, else the last at all."""
    frames = traceback.extract_tb(error.__traceback__)
    code = getattr(inspect.unwrap(function), "__code__", None)
    own = [frame for frame in frames if code is not None and frame.filename == code.co_filename]
    frame = (own or frames)[-1]  # there is always one: that of who called
    return f"{frame.filename}:{frame.lineno}"
