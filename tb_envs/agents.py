"""Built-in agents: for tests, baselines and demonstrations. They act through the same actions as any other agent.

`reference` and `obedient` play a task's scripts and so know the task; `idle`, `talker` and `random` see what an agent
sees. Other agents are named ``module:callable``: a function of ``(observation, info)`` that returns an action, where
`info` has ``instructions`` (the policy included), ``tools`` and the running ``messages``, and nothing else.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from traceback import extract_tb
from typing import Any, Protocol

from tb_envs.actions import call, say
from tb_envs.authoring.rng import Rng
from tb_envs.authoring.steps import Ask, Say, Step, value_of
from tb_envs.episode import Episode
from tb_envs.errors import UsageError
from tb_envs.session.tools import END
from tb_envs.users.phrases import said_aloud

BUILT_IN = ("reference", "idle", "talker", "obedient", "random")
GOODBYE = "Thank you for your patience. Goodbye."


class Agent(Protocol):
    """One agent for one episode at a time."""

    def start(self, episode: Episode, observation: str) -> None:
        """A new episode began with these words of the customer."""
        ...

    def act(self, observation: str) -> Any:
        """The next action."""
        ...


class ScriptAgent:
    """Plays a list of steps, one a turn, then ends the conversation."""

    def __init__(self, steps: Callable[[Episode], Sequence[Step]]) -> None:
        self._steps = steps

    def start(self, episode: Episode, observation: str) -> None:
        """Load the script of the episode's task."""
        self._episode = episode
        self._saved: dict[str, Any] = {}
        self._pending = ""
        self._script: Iterator[Step] = iter(self._steps(episode))
        self._asked: Sequence[str] = ()
        self._patience = 0
        """How often the last question may be asked again."""

    def act(self, observation: str) -> Any:
        """The next step; a call whose arguments are missing is passed over."""
        if self._pending:
            last = self._episode.log[-1] if self._episode.log else None
            if last is not None and last.kind == "result" and last.ok:
                self._saved[self._pending] = last.data
            self._pending = ""
        if self._patience and (again := still_owed(self._episode, self._asked)):
            self._patience -= 1
            return say(question(self._episode, again))
        for step in self._script:
            if isinstance(step, Ask):
                self._asked, self._patience = step.facts, len(step.facts) - 1
                return say(question(self._episode, step.facts))
            if isinstance(step, Say):
                return say(step.text)
            try:
                arguments = {name: value_of(value, self._saved) for name, value in step.arguments.items()}
            except (KeyError, IndexError, TypeError, ValueError):
                continue
            self._pending = step.save
            return call(step.tool, **arguments)
        return call(END, summary="Done.")


def still_owed(episode: Episode, facts: Sequence[str]) -> list[str]:
    """Those of the facts asked for that a customer who gives one a turn has still to give; others are asked once."""
    assert episode.task is not None
    if episode.task.scenario.customer.manner != "slow":
        return []
    told = {act for event in episode.log if event.kind == "heard" for act in event.data["acts"]}
    return [fact for fact in facts if f"gave:{fact}" not in told]


def question(episode: Episode, facts: Sequence[str]) -> str:
    """A polite question for facts, in the words of the domain's vocabulary."""
    assert episode.task is not None
    known = {fact.name: fact for fact in episode.task.domain.vocabulary.facts}
    words: list[str] = []
    for name in facts:
        ways = known[name].asked_as if name in known else ()
        words.append(f"your {said_aloud(ways[0]) if ways else name.replace('_', ' ')}")
    listed = words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
    return f"Could you please tell me {listed}?"


class IdleAgent:
    """Ends at once."""

    def start(self, episode: Episode, observation: str) -> None:
        """Nothing to prepare."""

    def act(self, observation: str) -> Any:
        """End the conversation."""
        return call(END, summary="Nothing was done.")


class TalkerAgent:
    """Speaks, never calls."""

    LINES = (
        "Hello, thank you for reaching out. I am happy to help you with this.",
        "Could you please tell me your booking number and your e-mail address?",
        "Thank you. I have taken care of it, everything is done.",
        "Yes, it has been completed as you asked. Is there anything else?",
        GOODBYE,
    )

    def start(self, episode: Episode, observation: str) -> None:
        """Begin with the first line."""
        self._turn = 0

    def act(self, observation: str) -> Any:
        """The next line, over and over."""
        self._turn += 1
        return say(self.LINES[(self._turn - 1) % len(self.LINES)])


class RandomAgent:
    """Valid calls with arguments drawn from what it has seen, and the odd question. Seeded by the task."""

    TURNS = 25

    def start(self, episode: Episode, observation: str) -> None:
        """Seed the stream."""
        from tb_envs.sampling import ArgumentSampler

        assert episode.task is not None
        self._rng = Rng("random-agent", episode.task.id)
        self._sampler = ArgumentSampler(self._rng)
        self._tools = [tool for tool in episode.task.tools.values() if tool.effect != "session"]
        self._turn = 0

    def act(self, observation: str) -> Any:
        """A random valid call, or a word; ends after `TURNS` turns."""
        self._sampler.see(observation)
        self._turn += 1
        if self._turn > self.TURNS:
            return call(END, summary="Done.")
        if self._rng.chance(0.1):
            return say("Could you please tell me more?")
        tool = self._rng.pick(*self._tools)
        return call(tool.name, **self._sampler.arguments(tool))


class FunctionAgent:
    """A Python callable of ``(observation, info)`` as an agent."""

    def __init__(self, function: Callable[[str, dict[str, Any]], Any]) -> None:
        self._function = function

    def start(self, episode: Episode, observation: str) -> None:
        """Keep what the callable is shown."""
        assert episode.task is not None
        self._episode = episode

    def act(self, observation: str) -> Any:
        """Ask the callable."""
        return self._function(observation, shown_to(self._episode))


def shown_to(episode: Episode) -> dict[str, Any]:
    """What a callable is shown of an episode beside the observation: policy, tools and messages, as a model is.

    No task id: by that a function could look up the task's own solution.
    """
    return {
        "tools": episode.tools,
        "instructions": episode.instructions,
        "messages": list(episode.messages),
    }


def _scenario(name: str) -> Callable[[Episode], Sequence[Step]]:
    def steps(episode: Episode) -> Sequence[Step]:
        assert episode.task is not None
        return getattr(episode.task.scenario, name)

    return steps


def make_agent(name: str) -> Agent:
    """A built-in agent by name, or a callable by ``module:callable``.

    Raises:
        UsageError: no such agent; the message says what is valid.
    """
    match name:
        case "reference":
            return ScriptAgent(_scenario("solution"))
        case "obedient":
            return ScriptAgent(_scenario("obeys"))
        case "idle":
            return IdleAgent()
        case "talker":
            return TalkerAgent()
        case "random":
            return RandomAgent()
        case _:
            return FunctionAgent(load_callable(name))


def load_callable(name: str) -> Callable[[str, dict[str, Any]], Any]:
    """A callable by ``module:callable``.

    Raises:
        UsageError: there is none of that name; the message says what is valid.
    """
    module_name, mark, attribute = name.partition(":")
    if not mark or not module_name or not attribute:
        raise UsageError(f"unknown agent {name!r}; valid: {', '.join(BUILT_IN)} or module:callable")
    try:
        function = getattr(importlib.import_module(module_name), attribute)
    except (ImportError, AttributeError, SyntaxError) as error:
        raise UsageError(f"agent {name!r} cannot be loaded: {error}") from None
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # whatever its module does when it is loaded, an exit included
        frame = extract_tb(error.__traceback__)[-1]
        raise UsageError(
            f"agent {name!r} cannot be loaded: its module raised {type(error).__name__}: {error} "
            f"({frame.filename}:{frame.lineno})"
        ) from error
    if not callable(function):
        raise UsageError(f"agent {name!r} is not callable")
    return function


def script_agent(steps: Sequence[Step]) -> Agent:
    """An agent that plays exactly these steps."""
    return ScriptAgent(lambda episode: steps)


__all__ = ["BUILT_IN", "Agent", "load_callable", "make_agent", "question", "script_agent", "shown_to"]
