"""Who trains and who serves: GPUs over machines, checked for what has to divide what.

One line for each refusal, with the knob to turn. Refuses also what divides but cannot work: weights that are spread
over processes and an engine that lives in one of them, NCCL between two programs on one GPU. Imports nothing heavy.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

from tb_envs.errors import UsageError
from tb_trainer.schema import TrainConfig


@dataclass(frozen=True)
class Layout:
    """What each process and GPU does.

    Attributes:
        nodes: machines.
        serving_nodes: of these, the last ones, which only serve.
        training: GPUs, by their number, that train in each machine that does; empty on CPUs.
        serving: GPUs that serve in each machine that does.
        ranks: training processes, over all machines.
        sequence: of these, how many share one sequence.
        copies: servers, over all machines; 0 where the engine lives in the first process or elsewhere.
        engine: how the engine is reached, in words.
    """

    nodes: int
    serving_nodes: int
    training: tuple[int, ...]
    serving: tuple[int, ...]
    ranks: int
    sequence: int
    copies: int
    engine: str

    @property
    def data(self) -> int:
        """Groups of processes that train on different episodes."""
        return self.ranks // self.sequence


NOT_UNDER_DEEPSPEED = (
    "is not built for DeepSpeed: set parallel.strategy=fsdp2 and launch with tb_trainer/launch/fsdp2.yaml, or set "
    "parallel.sequence=1"
)
"""What is wrong with ``parallel.sequence`` there, in a plan and in a run."""


def layout_of(config: TrainConfig) -> Layout:
    """The layout of a configuration.

    Raises:
        UsageError: something does not divide, or cannot work together.
    """
    parallel, engine = config.parallel, config.engine
    if parallel.sequence > 1 and parallel.strategy == "deepspeed":
        raise UsageError(f"parallel.sequence {parallel.sequence} {NOT_UNDER_DEEPSPEED}")
    if not parallel.gpus:
        _cpus_only(config)
        return Layout(parallel.nodes, 0, (), (), parallel.nodes, parallel.sequence, 0, _reached(config, 0))
    if engine.kind == "cpu":
        raise UsageError("engine.kind cpu plays on CPUs: set engine.kind to vllm or hf, or parallel.gpus to 0")
    serving = _serving(config)
    apart = parallel.serving_nodes
    training = range(parallel.gpus if apart or parallel.colocated else parallel.gpus - len(serving))
    ranks = (parallel.nodes - apart) * len(training)
    copies = (apart or parallel.nodes) * len(serving) // engine.tensor_parallel if engine.kind == "vllm" else 0
    _engine(config, ranks, copies)
    _sequence(config, ranks)
    _episodes(config, ranks)
    reached = _reached(config, copies)
    return Layout(parallel.nodes, apart, tuple(training), tuple(serving), ranks, parallel.sequence, copies, reached)


def _cpus_only(config: TrainConfig) -> None:
    parallel = config.parallel
    for name in ("serving", "serving_nodes", "colocated"):
        if getattr(parallel, name):
            raise UsageError(f"parallel.{name} needs GPUs: set parallel.gpus to those of one machine")
    if parallel.nodes % parallel.sequence:
        raise UsageError(
            f"parallel.sequence {parallel.sequence} does not divide the {parallel.nodes} training "
            f"process{'es' * (parallel.nodes > 1)} (parallel.nodes, without GPUs one on each); set parallel.nodes to a "
            f"multiple of {parallel.sequence}, or parallel.sequence to {_choices(parallel.nodes)}"
        )
    _episodes(config, parallel.nodes)


def _serving(config: TrainConfig) -> range:
    """The GPUs of each machine that serve: the last ones, or all of them."""
    parallel, engine = config.parallel, config.engine
    ways = [name for name in ("serving", "serving_nodes", "colocated") if getattr(parallel, name)]
    if len(ways) > 1:
        raise UsageError(f"parallel.{' and parallel.'.join(ways)} exclude each other: keep one")
    if engine.kind == "hf":
        if ways:
            raise UsageError(
                f"engine.kind hf plays in the first process: drop parallel.{ways[0]}, or use engine.kind vllm"
            )
        return range(0)
    if parallel.serving_nodes >= parallel.nodes:
        raise UsageError(
            f"parallel.serving_nodes {parallel.serving_nodes} leaves none of the {parallel.nodes} machines to train; "
            "lower it, or raise parallel.nodes"
        )
    if parallel.colocated or parallel.serving_nodes:
        if parallel.gpus % engine.tensor_parallel:
            raise UsageError(
                f"engine.tensor_parallel {engine.tensor_parallel} does not divide a machine's {parallel.gpus} GPUs; "
                f"set it to {_choices(parallel.gpus)}"
            )
        return range(parallel.gpus)
    if parallel.serving >= parallel.gpus:
        raise UsageError(
            f"parallel.serving {parallel.serving} leaves none of the {parallel.gpus} GPUs of a machine to train; "
            f"set it to {parallel.gpus - 1} at most, or set parallel.colocated"
        )
    if parallel.serving % engine.tensor_parallel:
        fits = parallel.serving - parallel.serving % engine.tensor_parallel
        instead = f"parallel.serving to {fits}" if fits else f"it to {_choices(parallel.serving)}"
        raise UsageError(
            f"engine.tensor_parallel {engine.tensor_parallel} does not divide parallel.serving {parallel.serving}; "
            f"set {instead}"
        )
    return range(parallel.gpus - parallel.serving, parallel.gpus)


def _engine(config: TrainConfig, ranks: int, copies: int) -> None:
    parallel, engine = config.parallel, config.engine
    if engine.kind == "hf" and ranks > 1 and parallel.strategy != "ddp":
        raise UsageError(
            f"engine.kind hf plays in one process, but {parallel.strategy} spreads the weights over {ranks}; "
            "set engine.kind to vllm, or parallel.strategy to ddp"
        )
    if engine.kind != "vllm":
        return
    if parallel.colocated and engine.sync == "nccl":
        raise UsageError(
            "engine.sync nccl cannot join two programs on one GPU: set engine.sync to files, "
            "or give the servers GPUs of their own with parallel.serving"
        )
    named = len([url for url in engine.url.split(",") if url.strip()])
    if copies and named != copies:
        raise UsageError(
            f"engine.url names {named} server{'s' * (named != 1)}, the layout has {copies} (serving GPUs / "
            f"engine.tensor_parallel); name {copies} with commas between, or change engine.tensor_parallel"
        )


def _sequence(config: TrainConfig, ranks: int) -> None:
    parallel = config.parallel
    if ranks % parallel.sequence:
        raise UsageError(
            f"parallel.sequence {parallel.sequence} does not divide the {ranks} training GPUs; "
            f"set it to {_choices(ranks)}, or change parallel.serving"
        )


def _episodes(config: TrainConfig, ranks: int) -> None:
    data = ranks // config.parallel.sequence
    if config.episodes % data:
        raise UsageError(
            f"grpo.groups x grpo.group_size = {config.episodes} episodes do not divide over {data} groups of training "
            f"GPUs (training GPUs / parallel.sequence); set grpo.groups to a multiple of "
            f"{data // gcd(data, config.grpo.group_size)}, or change parallel.serving"
        )


def _reached(config: TrainConfig, copies: int) -> str:
    if config.engine.kind != "vllm":
        return f"{config.engine.kind}, in the first training process"
    if not copies:
        return f"vllm, elsewhere: {config.engine.url}"
    return f"vllm, {copies} x {config.engine.tensor_parallel} GPUs, weights by {config.engine.sync}"


def _choices(count: int) -> str:
    fits = [str(size) for size in range(1, count + 1) if count % size == 0]
    return " or ".join(fits)
