"""Every knob of a training run: one tree of documented dataclasses, a preset that fills it, overrides by name.

``load("smoke", ["grpo.updates=4"])`` reads ``presets/smoke.yaml``, puts the overrides over it and checks the whole. A
name or a value that is not meant raises `UsageError` with what would be right. Imports nothing heavy.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from tb_envs.errors import UsageError

PRESETS = Path(__file__).parent / "presets"

Positive = Annotated[int, Field(ge=1)]
Natural = Annotated[int, Field(ge=0)]


class Strict:
    """Base of the tree: unknown names are refused."""

    __pydantic_config__ = ConfigDict(extra="forbid")


@dataclass(frozen=True)
class EnvironmentConfig(Strict):
    """What is played.

    Attributes:
        domain: an installed domain.
        split: the suite that tasks are drawn from.
        tasks: task ids in place of the suite.
        turns: the agent's turns in one episode at most; what a limit ends is graded and trained on.
        tool_calls: tool calls in one episode at most.
        reward: ``sparse`` (1 or 0) or ``dense``.
        prompt: ``full``, or ``compact``, which leaves the policy and the tools' descriptions out (`tb_trainer.render`).
        faults: chances per call of injected system errors, e.g. ``{timeout: 0.02, crash: 0.01}``.
        retries: attempts after the first that an episode gets when a system error broke it.
    """

    domain: str = "hotel"
    split: Literal["train", "dev", "bench"] = "train"
    tasks: tuple[str, ...] = ()
    turns: Positive = 6
    tool_calls: Positive = 12
    reward: Literal["sparse", "dense"] = "sparse"
    prompt: Literal["compact", "full"] = "compact"
    faults: Mapping[str, float] = field(default_factory=dict[str, float])
    retries: Natural = 8


@dataclass(frozen=True)
class ModelConfig(Strict):
    """The tiny model, made from nothing.

    Attributes:
        hidden: width.
        layers: depth.
        heads: attention heads; half as many for keys and values.
        vocabulary: entries of its tokenizer at most.
        texts: how many tasks, spread over the suite, give the texts that the tokenizer is trained on.
    """

    hidden: Positive = 64
    layers: Positive = 2
    heads: Positive = 4
    vocabulary: Annotated[int, Field(ge=300)] = 3072
    texts: Positive = 16


@dataclass(frozen=True)
class SamplingConfig(Strict):
    """How turns are sampled: from the whole distribution, without top-k or top-p.

    Attributes:
        temperature: divides the logits, in the sampler and in the loss.
        turn_tokens: new tokens in one turn at most; a turn that was cut off is played as it stands.
        episode_tokens: prompt and completion together at most; also the model's positions.
    """

    temperature: Annotated[float, Field(gt=0)] = 1.0
    turn_tokens: Positive = 32
    episode_tokens: Positive = 4096


@dataclass(frozen=True)
class GrpoConfig(Strict):
    """The update: token-mean policy gradient (TRL's ``dapo``), group-normalised advantages, constant learning rate.

    Attributes:
        updates: how many.
        groups: tasks in one update.
        group_size: attempts at each task.
        micro_batch: episodes in one forward pass; changes memory, not the gradient.
        learning_rate: constant. The size of the model decides: 1e-6 does nothing to a tiny one.
        weight_decay: of AdamW.
        adam_betas: of AdamW.
        clip: how far the ratio may leave 1 before it is cut.
        kl: weight of the divergence from the start; 0 needs no second model.
        scale: advantages divided by the standard deviation of the ``group``, the ``batch``, or not at all.
        gradient_clip: largest norm of the gradient.
    """

    updates: Positive = 2
    groups: Positive = 3
    group_size: Annotated[int, Field(ge=2)] = 4
    micro_batch: Positive = 12
    learning_rate: Annotated[float, Field(gt=0)] = 2e-4
    weight_decay: Annotated[float, Field(ge=0)] = 0.0
    adam_betas: tuple[float, float] = (0.9, 0.99)
    clip: Annotated[float, Field(gt=0)] = 0.2
    kl: Annotated[float, Field(ge=0)] = 0.0
    scale: Literal["group", "batch", "none"] = "group"
    gradient_clip: Annotated[float, Field(gt=0)] = 1.0


@dataclass(frozen=True)
class TrainConfig(Strict):
    """One run.

    Attributes:
        name: of the run's folder under ``runs/``.
        note: what the run can and cannot show; the first line of its log, the last line on the screen.
        seed: of weights, task order and sampling.
        threads: torch's, set by the command; a tiny model is no faster on several. 0 leaves torch its choice.
    """

    name: str = "run"
    note: str = ""
    seed: int = 42
    threads: Natural = 1
    environment: EnvironmentConfig = field(default_factory=EnvironmentConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    sampling: SamplingConfig = field(default_factory=SamplingConfig)
    grpo: GrpoConfig = field(default_factory=GrpoConfig)

    @property
    def episodes(self) -> int:
        """Episodes in one update."""
        return self.grpo.groups * self.grpo.group_size

    def to_json(self) -> dict[str, Any]:
        """The tree as plain data."""
        return asdict(self)


def presets() -> list[str]:
    """Names of the presets."""
    return sorted(path.stem for path in PRESETS.glob("*.yaml"))


def load(preset: str, overrides: Sequence[str] = ()) -> TrainConfig:
    """A preset with overrides ``a.b=value``; a value is read as YAML.

    Raises:
        UsageError: no such preset or name, or a value that is not meant.
    """
    import yaml

    if preset not in presets():
        raise UsageError(f"unknown preset {preset!r}; valid: {', '.join(presets())}")
    tree: dict[str, Any] = yaml.safe_load((PRESETS / f"{preset}.yaml").read_text("utf-8")) or {}
    for override in overrides:
        path, mark, text = override.partition("=")
        if not mark or not path.strip():
            raise UsageError(f"--set {override!r}: write name=value, e.g. grpo.updates=4")
        try:
            value = yaml.safe_load(text)
        except yaml.YAMLError:
            raise UsageError(f"--set {path}: {text!r} is not a YAML value") from None
        _put(tree, path.strip().split("."), value)
    return check(tree)


def check(tree: Mapping[str, Any]) -> TrainConfig:
    """A tree of plain data as a configuration."""
    try:
        config = TypeAdapter(TrainConfig).validate_python(tree)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        path = ".".join(str(part) for part in first["loc"])
        if first["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
            raise UsageError(_unknown(path)) from None
        raise UsageError(f"{path}: {first['msg'].lower()}, got {first['input']!r}") from None
    if config.episodes % config.grpo.micro_batch:
        raise UsageError(
            f"grpo.micro_batch must divide groups × group_size = {config.episodes}, got {config.grpo.micro_batch}"
        )
    if config.model.hidden % config.model.heads or (config.model.hidden // config.model.heads) % 2:
        raise UsageError("model.hidden must be an even multiple of model.heads")
    return config


def _put(tree: dict[str, Any], path: Sequence[str], value: Any) -> None:
    *branch, leaf = path
    for name in branch:
        inner = tree.setdefault(name, {})
        if not isinstance(inner, dict):
            raise UsageError(f"--set {'.'.join(path)}: {name!r} has no parts")
        tree = inner
    tree[leaf] = value


def _unknown(path: str) -> str:
    valid = _names(TrainConfig())
    near = difflib.get_close_matches(path, valid, 1) or [
        name for name in valid if name.split(".")[-1] == path.split(".")[-1]
    ]
    hint = f"did you mean {near[0]}?" if near else f"valid: {', '.join(valid)}"
    return f"unknown setting {path!r}; {hint}"


def _names(config: Any, prefix: str = "") -> list[str]:
    names: list[str] = []
    for item in fields(config):
        value = getattr(config, item.name)
        inner = is_dataclass(value) and not isinstance(value, type)
        names += _names(value, f"{prefix}{item.name}.") if inner else [f"{prefix}{item.name}"]
    return names
