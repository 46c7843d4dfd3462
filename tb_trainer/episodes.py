"""The episodes of a configuration: their settings, and the runner that plays them, for training, probe and evaluation.

Whether episodes are driven inline follows from the settings: where a backend, a customer or a judge waits for input and
output, they run on an event loop, and `environment.deadline` bounds them. Refuses settings before anything is played.
"""

from __future__ import annotations

from typing import Any

from tb_envs.errors import UsageError
from tb_envs.limits import Limits as EpisodeLimits
from tb_envs.settings import Settings
from tb_trainer.engines import Engine
from tb_trainer.runner import Limits, Runner
from tb_trainer.schema import EnvironmentConfig, TrainConfig


def episode_settings(environment: EnvironmentConfig) -> Settings:
    """How each episode is played.

    Raises:
        UsageError: a backend, a customer, a judge or a fault that there is not, or an option that it does not take.
    """
    try:
        return Settings(
            backend=environment.backend,
            user=environment.user,
            judge=environment.judge,
            limits=EpisodeLimits(environment.turns, environment.tool_calls, user_turns=environment.user_turns),
            reward=environment.reward,
            faults=environment.faults or None,
        )
    except UsageError as error:
        raise UsageError(f"environment: {error}") from None


def make_runner(config: TrainConfig, engine: Engine, tokenizer: Any) -> Runner:
    """What plays the episodes of a run.

    Args:
        config: of the run.
        engine: writes the turns.
        tokenizer: of the policy.
    """
    from tb_trainer.render import make_renderer

    sampling, settings = config.sampling, episode_settings(config.environment)
    limits = Limits(
        sampling.turn_tokens, sampling.episode_tokens, config.environment.deadline, prompt=sampling.prompt_tokens
    )
    return Runner(engine, make_renderer(config, tokenizer), settings, limits, inline=not settings.suspends)


def unusual(environment: EnvironmentConfig) -> dict[str, Any]:
    """Customer and judge, where they are not those that every run has: what was played with others is another result.

    The backend is not among them: all of them give the same episodes.
    """
    chosen = {"user": environment.user, "judge": environment.judge}
    return {name: value for name, value in chosen.items() if value != getattr(EnvironmentConfig(), name)}
