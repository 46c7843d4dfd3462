"""The Gymnasium face of an episode: `ThinkingBoxEnv`. Starts nothing before the first reset; imports nothing heavy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

import gymnasium

from tb_envs.costs import PARTS, Cost
from tb_envs.driving import complete
from tb_envs.errors import UsageError
from tb_envs.knobs import Knobs
from tb_envs.limits import Limits
from tb_envs.registration import domain_names
from tb_envs.settings import SPLITS, Settings, check_choice
from tb_envs.spaces import Message

if TYPE_CHECKING:
    from tb_envs.episode import Episode

T = TypeVar("T")
NOTHING = Cost()


class ThinkingBoxEnv(gymnasium.Env[Any, Any]):
    """One conversation per episode; observation and action are text.

    An action is plain text (said to the customer) or a JSON object with ``tool_calls`` (see `tb_envs.actions`). An
    observation is what the agent reads next. The reward comes once, at the end, from the final database: 1.0 or 0.0.

    Args:
        domain: an installed domain, e.g. ``hotel`` (set by the registered id).
        split: the suite a seed chooses from: ``train``, ``dev`` or ``bench``.
        backend: ``embedded``, ``docker`` or ``remote``; a name, or a mapping with the name under ``kind`` and its
            options, e.g. ``{"kind": "remote", "urls": ["http://127.0.0.1:8765"], "token_env": "TBX_TOKEN"}``.
        user: ``scripted``; ``llm``, a language model that plays the persona; ``recorded``, what one said before;
            see `tb_envs.users.customer` and `tb_envs.endpoints`.
        limits: ``{"turns", "tool_calls", "tokens"}``.
        reward: ``sparse``, or ``dense``: the share of earned checks minus the share of broken guards.
        strict: raise `EpisodeError` on a system error instead of truncating.
        render_mode: None, ``human`` (prints as it goes) or ``ansi`` (`render` returns the transcript).
        trace_dir: a folder that gets one JSON file per finished episode.
        faults: chances per call of injected backend faults, e.g. ``{"timeout": 0.02, "crash": 0.01}``.
        knobs: how much harder than written, e.g. ``{"distractors": 10, "manner": "terse"}``; see `tb_envs.knobs`.
        judge: a model for the criteria that only words show, as of `tb_envs.endpoints`; without one, tasks that have
            such criteria are refused.

    ``reset(seed=, options=)`` takes the options ``task_id``, ``split``, ``user`` and ``limits``. The seed only chooses
    the task; the task fixes everything else, but for the words of a language model. At the end ``info["costs"]`` says
    what models took that played the customer (``user``) or judged (``judge``).
    """

    metadata = {"render_modes": ["human", "ansi"], "render_fps": 4}

    def __init__(
        self,
        domain: str,
        *,
        split: str = "train",
        backend: str | Mapping[str, Any] = "embedded",
        user: str | Mapping[str, Any] = "scripted",
        limits: Mapping[str, int] | None = None,
        reward: str = "sparse",
        strict: bool = False,
        render_mode: str | None = None,
        trace_dir: str | None = None,
        faults: Mapping[str, float] | None = None,
        knobs: Mapping[str, int | str] | None = None,
        judge: str | Mapping[str, Any] | None = None,
    ) -> None:
        check_choice("render_mode", render_mode, (None, *self.metadata["render_modes"]))
        check_choice("split", split, SPLITS)
        check_choice("domain", domain, domain_names())
        self.domain = domain
        self.split = split
        self.render_mode = render_mode
        self._settings = Settings(
            backend, user, Limits.of(limits), reward, strict, trace_dir, faults, Knobs.of(knobs), judge
        )
        self.observation_space = cast("gymnasium.Space[Any]", Message())
        self.action_space = cast("gymnasium.Space[Any]", Message())
        self._episode: Episode | None = None
        self._attempts = 0
        self._shown = 0

    @property
    def episode(self) -> Episode:
        """The running or finished episode; for readers and graders, not for the agent."""
        if self._episode is None:
            raise UsageError("reset the environment first: it has no episode yet")
        return self._episode

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The transcript so far, as chat messages."""
        return self.episode.messages

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Start an episode; see the class for what `options` takes."""
        self.prepare(seed, options)
        return complete(self.resetting(options), self.suspends)

    def prepare(self, seed: int | None, options: Mapping[str, Any] | None) -> None:
        """Check the options and have an episode with their settings; the part of a reset that only computes."""
        super().reset(seed=seed)
        from tb_envs.episode import OPTIONS, Episode

        options = options or {}
        unknown = [option for option in options if option not in OPTIONS]
        if unknown:
            raise UsageError(f"unknown option {', '.join(map(repr, unknown))}; valid: {', '.join(OPTIONS)}")
        split = options.get("split") or self.split
        check_choice("split", split, SPLITS)
        settings = replace(self._settings, user=options.get("user") or self._settings.user)
        if self._episode is None or self._episode.settings != settings:
            self.close()
            self._episode = Episode(settings)

    async def resetting(self, options: Mapping[str, Any] | None) -> tuple[str, dict[str, Any]]:
        """The rest of a reset, for who awaits it."""
        from tb_envs.episode import choose_task
        from tb_envs.registration import load_domain
        from tb_envs.task import get_task

        options, episode = options or {}, self.episode
        settings = episode.settings
        split = options.get("split") or self.split
        limits = Limits.of(options.get("limits"), settings.limits)
        task_id = options.get("task_id")
        if task_id is None:
            ids = load_domain(self.domain).suite_ids[split]
            task_id = choose_task(ids, int(self.np_random.integers(len(ids))) if ids else 0)
        elif not isinstance(task_id, str):
            raise UsageError(f"task_id is text such as 'hotel/late_cancellation/0', got {task_id!r}")
        task = get_task(task_id, settings.knobs)
        if task.domain.name != self.domain:
            raise UsageError(f"task {task_id!r} is not of domain {self.domain!r}; make {task.domain.name!r} for it")
        observation = await episode.reset(task, limits=limits, attempt=self._attempts)
        self._attempts += 1
        self._shown = 0
        self._print()
        info = self._info(tuple({**message} for message in episode.messages))
        info.update(
            task_id=task.id, domain=self.domain, split=task.domain.split_of(task.id),
            tools=list(task.tool_definitions), instructions=task.instructions,
        )  # fmt: skip
        return observation, info

    def step(self, action: Any) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Take one turn of the agent.

        Raises:
            UsageError: before the first reset.
            EpisodeError: with ``strict=True``, on a system error.
        """
        suspends = self.suspends
        return complete(self.stepping(action), suspends)

    async def stepping(self, action: Any) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """A step, for who awaits it."""
        episode = self.episode
        was_over = episode.over
        observation = await episode.act(action)
        self._print()
        info = self._info(() if was_over else episode.new_messages)
        if episode.verdict is not None:
            info.update(checks=episode.verdict.passed, verdict=episode.verdict)
        if episode.over:
            info["costs"] = {part: episode.costs.get(part, NOTHING) for part in PARTS}
        reward = episode.reward if not was_over else 0.0
        return observation, reward, episode.terminated, episode.truncated, info

    @property
    def suspends(self) -> bool:
        """Whether an episode here does input and output, so that many of them are best awaited together."""
        return self._settings.suspends or self.episode.settings.suspends

    def let_go(self) -> Callable[[], None]:
        """Have another episode from the next reset on; returns what closes the one that was under way."""
        episode, self._episode = self.episode, None
        return episode.close

    def _info(self, messages: tuple[dict[str, Any], ...]) -> dict[str, Any]:
        episode = self.episode
        return {
            "messages": messages,
            "turns": episode.turns,
            "user_turns": episode.user_turns,
            "tool_calls": episode.tool_calls,
            "outcome": episode.outcome,
            "ended_by": episode.ended_by,
            "error": episode.error,
        }

    def render(self) -> str | None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """``ansi``: the transcript as text. ``human`` prints as it goes and returns None."""
        if self.render_mode != "ansi":
            return None
        from tb_envs.transcript import transcript

        return transcript(self.episode)

    def _print(self) -> None:
        if self.render_mode == "human":
            from tb_envs.transcript import entries

            lines = entries(self.episode)
            print("\n".join(lines[self._shown :]), flush=True)
            self._shown = len(lines)

    def close(self) -> None:
        """Free the backend. Idempotent."""
        if self._episode is not None:
            self._episode.close()
