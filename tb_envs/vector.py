"""Many episodes in one process: our Gymnasium vector environment. No processes, nothing shared but code.

`seed` is an int (consecutive seeds) or a list, `options` one dict or a list with one per environment. All autoreset
modes of Gymnasium work. `send` and `recv` step some of the environments, for agents that answer at different times.
Episodes that do input and output (a language model as the customer) wait beside each other, not one after another.
One broken episode never touches the others.
"""

from __future__ import annotations

import operator
from collections.abc import Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from tb_envs.driving import drive
from tb_envs.env import ThinkingBoxEnv
from tb_envs.errors import UsageError
from tb_envs.spaces import Message

if TYPE_CHECKING:
    from tb_envs.background import Step

Arrays = np.ndarray[Any, Any]
T = TypeVar("T")
Stepped = tuple[str, float, bool, bool, dict[str, Any]]


class ThinkingBoxVectorEnv(VectorEnv[Any, Any, Any]):
    """`num_envs` episodes side by side; observations and actions are tuples of text.

    Args:
        num_envs: how many.
        autoreset_mode: ``NextStep`` (default), ``SameStep`` or ``Disabled``.
        render_mode: as of one environment; `render` returns a tuple.
        kwargs: as of `ThinkingBoxEnv`.
    """

    def __init__(
        self,
        num_envs: int = 1,
        *,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
        **kwargs: Any,
    ) -> None:
        if type(num_envs) is not int or num_envs < 1:
            raise UsageError(f"num_envs must be a whole number of at least 1, got {num_envs!r}")
        self.num_envs = num_envs
        self.render_mode = render_mode
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.envs = [ThinkingBoxEnv(render_mode=render_mode, **kwargs) for _ in range(num_envs)]
        self.metadata = {**ThinkingBoxEnv.metadata, "autoreset_mode": self.autoreset_mode}
        space: gymnasium.Space[Any] = Message()
        self.single_observation_space = self.single_action_space = space
        self.observation_space = batch_space(space, num_envs)
        self.action_space = batch_space(space, num_envs)
        self._observations: list[str] = [""] * num_envs
        self._done = np.ones(num_envs, dtype=bool)
        self._ready: list[tuple[int, Stepped]] = []
        self._under_way: dict[int, Step] = {}
        """Steps that `send` began and that wait for input or output."""

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | Sequence[dict[str, Any] | None] | None = None,
    ) -> tuple[tuple[str, ...], dict[str, Any]]:
        """Start every environment, or those of ``options={"reset_mask": …}``."""
        seeds = self._each(seed, "seed")
        shared = dict(options) if isinstance(options, dict) else {}
        mask = np.asarray(shared.pop("reset_mask", np.ones(self.num_envs, dtype=bool)))
        if mask.shape != (self.num_envs,) or mask.dtype != bool:
            raise UsageError(f"reset_mask must be {self.num_envs} booleans, one for each environment")
        per_env = self._each(shared if isinstance(options, dict) else options, "options")
        self._ready = []
        self._give_up()
        infos: dict[str, Any] = {}
        chosen = [int(index) for index in np.flatnonzero(mask)]
        for index in chosen:
            self.envs[index].prepare(seeds[index], per_env[index])
        begun = self._all({index: self.envs[index].resetting(per_env[index]) for index in chosen})
        for index in chosen:
            begun_one = begun[index]
            if isinstance(begun_one, BaseException):
                raise begun_one
            self._observations[index], info = begun_one
            infos = self._add_info(infos, info, index)
            self._done[index] = False
        return tuple(self._observations), infos

    def step(self, actions: Sequence[Any]) -> tuple[tuple[str, ...], Arrays, Arrays, Arrays, dict[str, Any]]:
        """One turn in every environment."""
        if isinstance(actions, str | Mapping):
            raise UsageError("give a sequence of actions, one for each environment")
        if len(actions) != self.num_envs:
            raise UsageError(f"{len(actions)} actions for {self.num_envs} environments")
        rewards = np.zeros(self.num_envs, dtype=np.float64)
        terminated = np.zeros(self.num_envs, dtype=bool)
        truncated = np.zeros(self.num_envs, dtype=bool)
        infos: dict[str, Any] = {}
        raised: BaseException | None = None
        self._idle(range(self.num_envs))
        results = self._all({index: self._step_one(index, action) for index, action in enumerate(actions)})
        for index, result in results.items():
            if isinstance(result, BaseException):  # strict: the others take their turn all the same
                raised = raised or result
                self._done[index] = True
                continue
            self._observations[index], rewards[index], terminated[index], truncated[index], info = result
            infos = self._add_info(infos, info, index)
        if raised is not None:
            raise raised
        return tuple(self._observations), rewards, terminated, truncated, infos

    def send(self, indices: Sequence[int], actions: Sequence[Any]) -> None:
        """Step some environments; `recv` gives their results. Does not wait for input and output."""
        if len(indices) != len(actions):
            raise UsageError(f"{len(actions)} actions for {len(indices)} indices")
        if len(set(indices)) != len(indices) or any(not 0 <= index < self.num_envs for index in indices):
            raise UsageError(f"indices must be different numbers from 0 to {self.num_envs - 1}, got {list(indices)}")
        self._idle(indices)
        for index, action in zip(indices, actions, strict=True):
            step = self._step_one(int(index), action)
            if self.envs[index].suspends:
                from tb_envs.background import shared

                self._under_way[int(index)] = shared().submit(step)
            else:
                self._ready.append((int(index), drive(step)))

    def recv(self) -> list[tuple[int, Stepped]]:
        """Results of the environments stepped by `send` since the last `recv`: (index, as of `step`).

        Where all that is still under way waits for input or output, it waits for the first of them.
        """
        if self._under_way and not self._ready:
            from concurrent.futures import FIRST_COMPLETED, wait

            wait([step.future for step in self._under_way.values()], return_when=FIRST_COMPLETED)
        for index in [index for index, step in self._under_way.items() if step.future.done()]:
            future = self._under_way.pop(index).future
            if future.exception() is not None:  # strict
                self._done[index] = True
            self._ready.append((index, future.result()))
        ready, self._ready = self._ready, []
        for index, result in ready:
            self._observations[index] = result[0]
        return ready

    def _idle(self, indices: Sequence[int]) -> None:
        busy = sorted(self._under_way.keys() & {int(index) for index in indices})
        if busy:
            raise UsageError(f"environments {busy} are still under way; take their results with recv first")

    def _all(self, steps: dict[int, Coroutine[Any, Any, T]]) -> dict[int, T | BaseException]:
        """Run a step of each environment; what one raises is its result. Those that suspend wait beside each other."""
        slow = {index: step for index, step in steps.items() if self.envs[index].suspends}
        out: dict[int, T | BaseException] = {}
        for index, step in steps.items():
            if index not in slow:
                try:
                    out[index] = drive(step)
                except Exception as error:
                    out[index] = error
        if slow:
            from tb_envs.background import wait_for

            out |= zip(slow, wait_for(_together(list(slow.values()))), strict=True)
            return {index: out[index] for index in steps}
        return out

    def _give_up(self) -> None:
        """Let go of the steps that are under way."""
        for index, step in self._under_way.items():
            step.give_up(self.envs[index].let_go())
            self._done[index] = True
        self._under_way = {}

    async def _step_one(self, index: int, action: Any) -> Stepped:
        env = self.envs[index]
        if self._done[index]:
            if self.autoreset_mode == AutoresetMode.DISABLED:
                raise UsageError(f"environment {index} has ended; reset it with options={{'reset_mask': …}}")
            env.prepare(None, None)
            observation, info = await env.resetting(None)
            self._done[index] = False
            return observation, 0.0, False, False, info
        observation, reward, terminated, truncated, info = await env.stepping(action)
        if terminated or truncated:
            if self.autoreset_mode == AutoresetMode.SAME_STEP:
                final, last = observation, info
                env.prepare(None, None)
                observation, info = await env.resetting(None)
                info = {"final_obs": final, "final_info": last, **info}
            else:
                self._done[index] = True
        return observation, reward, terminated, truncated, info

    def _each(self, value: Any, name: str) -> list[Any]:
        if value is None or isinstance(value, dict):
            return [value] * self.num_envs
        if hasattr(value, "__index__") and not hasattr(value, "__len__"):
            return [operator.index(value) + index for index in range(self.num_envs)]
        items: list[Any] = [item.item() if isinstance(item, np.generic) else item for item in value]
        if len(items) != self.num_envs:
            raise UsageError(f"{len(items)} entries of {name} for {self.num_envs} environments")
        return items

    def render(self) -> tuple[Any, ...] | None:
        """One rendering per environment."""
        return tuple(env.render() for env in self.envs) if self.render_mode == "ansi" else None

    def close_extras(self, **kwargs: Any) -> None:
        """Close every episode."""
        self._give_up()
        for env in self.envs:
            env.close()


async def _together(steps: Sequence[Coroutine[Any, Any, T]]) -> list[T | BaseException]:
    import asyncio

    return await asyncio.gather(*steps, return_exceptions=True)
