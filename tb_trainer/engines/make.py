"""The engine of a configuration. Refuses what does not fit together, before anything is played.

What can be seen without asking a server is checked here; the rest (its context, its log-probs, its weights) when the
first weights are given to it.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tb_envs.errors import UsageError
from tb_trainer.engines import Engine, Sampling
from tb_trainer.render import stop_ids
from tb_trainer.schema import EngineConfig, TrainConfig


def make_engine(config: TrainConfig, model: Any, tokenizer: Any, *, training: bool = True) -> Engine:
    """The engine that `config` asks for.

    Args:
        config: `engine`, `sampling` and `model` of it.
        model: the policy.
        tokenizer: its end-of-turn token ends a turn.
        training: whether new weights will come; without, a server may keep its own (``engine.sync none``).

    Raises:
        UsageError: they do not fit together; the message names the setting to change.
    """
    sampling = _sampling(config, model, tokenizer)
    if config.engine.kind == "vllm":
        return _vllm(config, model, sampling, training)
    positions = getattr(model.config, "max_position_embeddings", None)
    if positions is not None and positions < config.sampling.episode_tokens:
        raise UsageError(
            f"sampling.episode_tokens is {config.sampling.episode_tokens}, the model has {positions} positions"
        )
    if config.engine.kind == "hf":
        from tb_trainer.engines.hf import HfEngine

        return HfEngine(model, sampling)
    device = next(iter(model.parameters())).device.type
    if device != "cpu":
        raise UsageError(f"engine.kind cpu: the model is on {device}; set engine.kind to vllm or hf")
    from tb_trainer.engines.cpu import CpuEngine

    return CpuEngine(model, sampling, chunk=config.engine.chunk)


def urls_of(config: EngineConfig) -> list[str]:
    """The servers of ``engine.url``, each without a path.

    Raises:
        UsageError: there is none, one is not a URL of a server, or one stands there twice.
    """
    urls = [url.strip().rstrip("/") for url in config.url.split(",") if url.strip()]
    for url in urls:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.path or parts.query:
            raise UsageError(f"engine.url: {url!r} is not like http://127.0.0.1:8000 (no path; several: with commas)")
    if not urls or len(set(urls)) < len(urls):
        raise UsageError(f"engine.url must name each server once, not {config.url!r}")
    return urls


def _sampling(config: TrainConfig, model: Any, tokenizer: Any) -> Sampling:
    if tokenizer.eos_token is None:
        raise UsageError("the tokenizer has no eos token, so no turn would end; set one in its tokenizer_config.json")
    vocabulary = int(model.config.vocab_size)
    if len(tokenizer) > vocabulary:
        raise UsageError(f"the tokenizer has {len(tokenizer)} entries, the model only {vocabulary}")
    if config.sampling.top_k > vocabulary:
        raise UsageError(f"sampling.top_k is {config.sampling.top_k}, the vocabulary has {vocabulary} entries")
    return Sampling(config.sampling.temperature, config.sampling.top_p, config.sampling.top_k, stop_ids(tokenizer))


def _vllm(config: TrainConfig, model: Any, sampling: Sampling, training: bool) -> Engine:
    engine, lora = config.engine, config.model.lora
    urls = urls_of(engine)
    if not config.model.path:
        raise UsageError("engine.kind vllm serves the model of model.path; the tiny one is played with engine.kind cpu")
    if engine.sync == "none" and training:
        raise UsageError("engine.sync none leaves a server its own weights: set nccl or files to train")
    if engine.sync == "files" and not engine.sync_folder:
        raise UsageError("engine.sync files needs engine.sync_folder, which trainer and servers see under one path")
    if engine.sync == "nccl":
        import torch

        if not torch.cuda.is_available():
            raise UsageError("engine.sync nccl goes from GPU to GPU, and the trainer has none; set engine.sync files")
        if find_spec("vllm") is None:
            raise UsageError("engine.sync nccl needs vllm beside the trainer: pip install 'trl[vllm]', or sync files")
    from tb_trainer.engines.sync import FileSync, NcclSync, NoSync
    from tb_trainer.engines.vllm import VllmEngine

    scale = lora.alpha / lora.rank if lora.rank else 1.0
    if engine.sync == "files":
        sync = FileSync(Path(engine.sync_folder), scale=scale)
    elif engine.sync == "nccl":
        sync = NcclSync(engine.sync_port, scale=scale)
    else:
        sync = NoSync()
    return VllmEngine(urls, model, sampling, sync, patience=engine.patience, turn_seconds=engine.turn_seconds)
