"""Whether a run fits: the largest micro-batch, the servers' caches, and which single change would make room.

`tb_trainer.memory` counts one load; this decides which loads a configuration can meet. Refuses in one line, with the
changes that were tried and found to help. Without GPUs the bound is this machine's memory (`tb_trainer.machine`), and
only what is beyond it by more than the formula may be wrong is refused.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tb_envs.errors import UsageError
from tb_trainer.layout import Layout, layout_of
from tb_trainer.machine import machine_memory
from tb_trainer.memory import GIB, RESERVE, Load, Shape, cache_bytes, shape_of, training_bytes
from tb_trainer.pace import episode_bound
from tb_trainer.schema import TrainConfig

BYTES = {"float32": 4, "bfloat16": 2}
WRONG = 1.2
"""How many times too much the formula may count; that it is no more is tested on CPUs."""
HF_BATCH = 64
"""Turns that the `hf` engine writes together."""


@dataclass(frozen=True)
class Memory:
    """Bytes of one GPU (or, on CPUs, of one process) by part.

    Attributes:
        training: of a GPU that trains, at its peak.
        serving: of a GPU that serves; its ``cache`` is all that its share leaves.
        limit: bytes that may be used; 0: not known.
        held: rollouts of full length that the caches of one server hold.
        slack: how many times the limit is still not refused.
    """

    training: dict[str, int]
    serving: dict[str, int]
    limit: int
    held: int
    slack: float = 1.0

    @property
    def fits(self) -> bool:
        """Whether it may be tried."""
        return not self.limit or self.used <= self.limit * self.slack

    @property
    def used(self) -> int:
        """Bytes of a training GPU, with the server's share where it is on the same one."""
        return sum(self.training.values())


def _loads(config: TrainConfig, layout: Layout) -> list[Load]:
    """The micro-batches that could be the largest: one episode of full length, and a full one of unequal episodes."""
    model, sequence = config.model, layout.sequence
    longest, written = episode_bound(config)
    alone = Load(
        bytes=BYTES[model.dtype],
        strategy=config.parallel.strategy,
        ranks=layout.ranks,
        tokens=-(-longest // sequence),
        sampled=min(-(-longest // sequence), written),  # a slice may hold nothing else
        longest=longest,
        attention=model.attention,
        checkpointing=model.gradient_checkpointing,
        reference=bool(config.grpo.kl),
        sequence=sequence,
    )
    budget = config.grpo.micro_tokens
    half = min(longest, budget // 2)
    mixed = replace(
        alone,
        tokens=-(-budget // sequence),
        sampled=min(-(-budget // sequence), (budget // max(half, 1)) * written),
        longest=half,
        mixed=True,
    )
    return [alone, mixed]


def memory_of(config: TrainConfig, layout: Layout, shape: Shape) -> Memory:
    """The memory of this layout at its peak: of the loads that the configuration can meet, the largest."""
    engine, parallel = config.engine, config.parallel
    size, tokens = BYTES[config.model.dtype], config.sampling.episode_tokens
    training = max(
        (training_bytes(shape, load) for load in _loads(config, layout)), key=lambda parts: sum(parts.values())
    )
    serving: dict[str, int] = {}
    held = 0
    if engine.kind != "vllm":
        together = min(engine.slots, config.episodes, *([HF_BATCH] if engine.kind == "hf" else []))
        logits = together * shape.vocabulary * 4
        generation = cache_bytes(shape, size, together * tokens, together) + logits
        if engine.kind == "cpu":
            generation += size * shape.parameters  # the engine's own copy of the weights
        # One after the other: what stands is whichever needs more.
        training["generation beyond it"] = max(0, generation - training["activations"])
    elif layout.copies:
        share = int(engine.memory_share * parallel.gpu_memory * GIB)
        weights = size * shape.parameters // engine.tensor_parallel
        margin = int(RESERVE * share)
        serving = {"weights": weights, "working memory": margin, "cache": share - weights - margin}
        held = serving["cache"] * engine.tensor_parallel // cache_bytes(shape, size, tokens, 1)
        if parallel.colocated:
            training["server beside it"] = share
    if not parallel.gpus:
        return Memory(training, serving, machine_memory(), held, WRONG)
    return Memory(training, serving, int(parallel.gpu_memory * GIB * (1 - RESERVE)), held)


def check_fit(config: TrainConfig, shape: Shape, memory: Memory, prompt: int = 0) -> None:
    """Refuse what does not fit, with the single changes that would help.

    Args:
        config: of the run.
        shape: of its model.
        memory: of its layout.
        prompt: tokens of its first prompts, for which every change must leave room.

    Raises:
        UsageError: it does not fit.
    """
    if memory.serving and memory.held < 1:
        raise UsageError(
            f"a server's {memory.serving['cache'] / GIB:.1f} GiB for its cache hold no rollout of "
            f"sampling.episode_tokens {config.sampling.episode_tokens}: raise engine.tensor_parallel or "
            f"engine.memory_share, or lower sampling.episode_tokens"
        )
    if memory.fits:
        return
    parts = ", ".join(f"{name} {size / GIB:.1f}" for name, size in memory.training.items() if size)
    helps = [change for change, other in _changes(config, prompt) if _fits(other, shape)]
    unit, may, larger = (
        ("GPU", "may be used of parallel.gpu_memory", "more or larger GPUs")
        if config.parallel.gpus
        else ("process", "is what this machine, or its control group, has", "a machine with more memory")
    )
    advice = f"what would: {'; or '.join(helps)}" if helps else f"no single change would: take {larger}"
    raise UsageError(
        f"a training {unit} would need {memory.used / GIB:.1f} GiB ({parts}), {memory.limit / GIB:.1f} {may}; {advice}"
    )


def _changes(config: TrainConfig, prompt: int) -> list[tuple[str, TrainConfig]]:
    """Changes that may save memory, in words and made: one knob each, or two that go together."""
    model, grpo, parallel, engine = config.model, config.grpo, config.parallel, config.engine
    out: list[tuple[str, TrainConfig]] = []
    if not model.gradient_checkpointing:
        out.append(
            ("model.gradient_checkpointing=true", replace(config, model=replace(model, gradient_checkpointing=True)))
        )
    if model.attention != "flash_attention_2" and parallel.gpus:
        out.append(
            ("model.attention=flash_attention_2", replace(config, model=replace(model, attention="flash_attention_2")))
        )
    if grpo.micro_tokens > config.sampling.episode_tokens:
        less = config.sampling.episode_tokens
        out.append((f"grpo.micro_tokens={less}", replace(config, grpo=replace(grpo, micro_tokens=less))))
    if parallel.strategy == "ddp":
        out.append(("parallel.strategy=fsdp2", replace(config, parallel=replace(parallel, strategy="fsdp2"))))
    if not model.lora.rank and model.path:
        out.append(("model.lora.rank=32", replace(config, model=replace(model, lora=replace(model.lora, rank=32)))))
    if parallel.colocated:
        for share in (0.6, 0.5, 0.4, 0.3, 0.2):
            if share < engine.memory_share:
                out.append(
                    (f"engine.memory_share={share}", replace(config, engine=replace(engine, memory_share=share)))
                )
    if engine.kind != "vllm" and engine.slots > 8:
        out.append(("engine.slots=8", replace(config, engine=replace(engine, slots=8))))
    if grpo.kl:
        out.append(("grpo.kl=0", replace(config, grpo=replace(grpo, kl=0.0))))
    half = config.sampling.episode_tokens // 2
    if prompt + config.sampling.turn_tokens < half:
        words, shorter = f"sampling.episode_tokens={half}", replace(config.sampling, episode_tokens=half)
        if grpo.micro_tokens > half:
            words += f" and grpo.micro_tokens={half}"
        less = replace(grpo, micro_tokens=min(grpo.micro_tokens, half))
        out.append((words, replace(config, sampling=shorter, grpo=less)))
    return out


def _fits(config: TrainConfig, shape: Shape) -> bool:
    try:
        layout = layout_of(config)
        if config.model.lora.rank and not shape.adapters:
            shape = shape_of(config.model)
        check_shape(config, layout, shape)
        memory = memory_of(config, layout, shape)
    except UsageError:
        return False
    return memory.fits and (memory.held >= 1 or not memory.serving)


def check_shape(config: TrainConfig, layout: Layout, shape: Shape) -> None:
    """Refuse a layout that does not divide the model, and rollouts longer than its positions.

    Raises:
        UsageError: with the knob to turn.
    """
    for knob, count in (
        ("parallel.sequence", layout.sequence),
        ("engine.tensor_parallel", config.engine.tensor_parallel),
    ):
        if shape.heads % count:
            raise UsageError(f"{knob} {count} does not divide the model's {shape.heads} attention heads")
    if shape.linear_heads % layout.sequence:
        raise UsageError(
            f"parallel.sequence {layout.sequence} does not divide the model's {shape.linear_heads} heads of linear "
            "attention"
        )
    if shape.positions and shape.positions < config.sampling.episode_tokens:
        raise UsageError(
            f"sampling.episode_tokens {config.sampling.episode_tokens} is more than the model's {shape.positions} "
            "positions; lower it"
        )


def share_of(config: TrainConfig, layout: Layout) -> int:
    """Rollouts in play on one server."""
    return -(-min(config.engine.slots, config.episodes) // max(layout.copies, 1))
