"""TRL's face of the suite: a ``rollout_func`` for `trl.GRPOTrainer`, with its dataset rows and its reward function.

    from tb_envs.adapters.trl import as_trl_rollout_func, env_reward, task_rows
    from tb_trainer.trl_player import make_trl_player

    play = make_trl_player(config, model, tokenizer)
    trainer = GRPOTrainer(
        model, reward_funcs=env_reward, rollout_func=as_trl_rollout_func(play), processing_class=tokenizer,
        train_dataset=Dataset.from_list(task_rows(task_ids)), args=GRPOConfig(loss_type="dapo", …),
    )

`play` is called with task ids and the trainer and returns one finished episode as tokens for each: `Rollout` says what
it must look like, `tb_trainer.trl_player` makes them (docs/trainer.md). What TRL 1.16 does and its documentation does
not say:

* The prompts that a ``rollout_func`` gets are *already repeated* ``num_generations`` times; nothing is multiplied here.
* It gets prompts, not dataset rows: so the prompt *is* the task id, or `tasks` maps a prompt to one.
* ``env_mask`` (1 = sampled) is dropped if the trainer also has ``tools`` or an ``environment_factory``: refused here.
* The ``logprobs`` are kept and, without vLLM, not used: its loss takes the ratio to what it recomputes.
* A reward of None leaves an episode out of its group's mean and gives it no advantage, but its tokens would still count
  in the loss's denominator: an episode that the *system* broke is therefore handed over with nothing unmasked.

What overlaps the benchmark is refused here as in `tbx train` (`tb_trainer.tasks.guard`): in rows, and again in each
call that trains, whatever dataset it came from; ``i_am_training_on_the_benchmark=True`` says otherwise, to both.

Not here: refilling a group, or correcting a sampler that differs from the trainer. If no episode of a call is whole,
`BackendError` is raised: an outage is not an update.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, cast

from tb_envs.errors import BackendError, UsageError


class Rollout(Protocol):
    """One finished episode as tokens; `mask` is 1 on sampled tokens, `reward` None if a system error broke it."""

    @property
    def prompt_ids(self) -> list[int]:
        """Everything before the first sampled token."""
        ...

    @property
    def completion_ids(self) -> list[int]:
        """The rest: sampled tokens and what the environment said between them."""
        ...

    @property
    def logprobs(self) -> list[float]:
        """The sampler's log-probability of each completion token; 0 where the environment spoke."""
        ...

    @property
    def mask(self) -> list[int]:
        """1 for each sampled completion token, 0 for each other."""
        ...

    @property
    def reward(self) -> float | None:
        """The verdict of the database, or None."""
        ...

    @property
    def outcome(self) -> str:
        """``success``, ``failure`` or ``error:*``."""
        ...


Player = Callable[[list[str], Any], Sequence[Rollout]]
"""Plays tasks: (task ids, one for each episode; the trainer) → the rollouts, in that order."""


def task_rows(
    task_ids: Iterable[str], *, evaluation: bool = False, i_am_training_on_the_benchmark: bool = False
) -> list[dict[str, str]]:
    """Dataset rows for `datasets.Dataset.from_list`: the prompt that names a task.

    Args:
        task_ids: the tasks.
        evaluation: rows of an ``eval_dataset``, which may be of the benchmark. `as_trl_rollout_func` trains on none.
        i_am_training_on_the_benchmark: do not refuse what overlaps the benchmark.

    Raises:
        UsageError: a task is of the benchmark, or overlaps it.
    """
    task_ids = list(task_ids)
    if not evaluation:
        _guard(task_ids, i_am_training_on_the_benchmark)
    return [{"prompt": task_id, "task_id": task_id} for task_id in task_ids]


def env_reward(env_reward: list[float | None], **_: Any) -> list[float | None]:
    """The reward function: what each episode's database said."""
    return env_reward


def as_trl_rollout_func(
    play: Player, *, tasks: Mapping[str, str] | None = None, i_am_training_on_the_benchmark: bool = False
) -> Callable[[list[Any], Any], dict[str, list[Any]]]:
    """`play` as a ``rollout_func``.

    Args:
        play: plays the episodes.
        tasks: prompt → task id, for a dataset with prompts of its own; without it a prompt is a task id. Of a prompt in
            messages, the last one's content counts.
        i_am_training_on_the_benchmark: do not refuse what overlaps the benchmark.

    Returns:
        A function of (prompts, trainer) that gives ``prompt_ids``, ``completion_ids``, ``logprobs``, ``env_mask``,
        ``env_reward`` and ``env_outcome``; where the trainer's model trains, a `UsageError` for tasks that overlap the
        benchmark, before any is played.
    """
    free = set[str]()  # tasks that were found to overlap nothing

    def rollout_func(prompts: list[Any], trainer: Any) -> dict[str, list[Any]]:
        if getattr(trainer, "tools", None) or getattr(trainer, "environment_factories", None):
            raise UsageError("TRL ignores env_mask when `tools` or `environment_factory` is given; leave both out")
        task_ids = [_task_id(prompt, tasks) for prompt in prompts]
        if trainer.model.training:
            _guard(
                [task_id for task_id in dict.fromkeys(task_ids) if task_id not in free], i_am_training_on_the_benchmark
            )
            free.update(task_ids)
        rollouts = play(task_ids, trainer)
        if len(rollouts) != len(prompts):
            raise UsageError(f"{len(rollouts)} rollouts for {len(prompts)} prompts (they are already repeated)")
        whole = [item.reward is not None for item in rollouts]
        if not any(whole):
            raise BackendError(f"no episode of this update could be played to its end: {rollouts[0].outcome}")
        for item in rollouts:
            if not len(item.completion_ids) == len(item.logprobs) == len(item.mask):
                raise UsageError("a rollout's completion_ids, logprobs and mask must be equally long")
        blank = [int(trainer.processing_class.pad_token_id)]
        pairs = list(zip(rollouts, whole, strict=True))
        return {
            "prompt_ids": [item.prompt_ids if good else blank for item, good in pairs],
            "completion_ids": [item.completion_ids if good else blank for item, good in pairs],
            "logprobs": [item.logprobs if good else [0.0] for item, good in pairs],
            "env_mask": [item.mask if good else [0] for item, good in pairs],
            "env_reward": [item.reward for item in rollouts],
            "env_outcome": [item.outcome for item in rollouts],
        }

    return rollout_func


def _guard(task_ids: list[str], allow: bool) -> None:
    from tb_trainer.tasks.guard import check_tasks  # the one place that knows what overlaps

    check_tasks(task_ids, allow=allow)


def _task_id(prompt: Any, tasks: Mapping[str, str] | None) -> str:
    text = prompt
    if isinstance(prompt, list) and prompt:
        text = cast("list[Mapping[str, Any]]", prompt)[-1].get("content")
    if not isinstance(text, str):
        raise UsageError(f"a prompt is text or a list of messages, got {prompt!r:.60}")
    if tasks is None:
        return text
    if text not in tasks:
        raise UsageError(f"`tasks` names no task for the prompt {text[:60]!r}")
    return tasks[text]
