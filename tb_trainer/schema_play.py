"""The knobs of play: the environment, the model, its engine and how it samples. A part of `tb_trainer.schema`.

Refuses what belongs to learning.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import Field

from tb_trainer.kinds import AboveZero, Natural, NotNegative, Positive, Share, Strict


@dataclass(frozen=True)
class EnvironmentConfig(Strict):
    """What is played.

    Attributes:
        domains: installed domains that tasks are trained on.
        eval_domains: domains that are evaluated on; empty: the same. While a run trains, the dev suites of those that
            it trains on choose its best checkpoint; others are measured and reported apart, and choose nothing.
        holdout_domain: taken out of `domains` and into `eval_domains`: what training never sees.
        families: of the domains that are trained on, these alone: for training, probe and dev evaluation alike;
            ``hotel/date_change``, or ``date_change`` where only one domain has it. Empty: all.
        split: the suite that tasks are drawn from.
        tasks: task ids in place of the suite; ``hotel/date_change/0-9`` is ten of them.
        pool: a file of `tbx select` in place of the suite.
        turns: the agent's turns in one episode at most; what a limit ends is graded and trained on.
        tool_calls: tool calls in one episode at most.
        user_turns: the customer's turns at most, its first words included; who speaks to it once more ends the episode,
            which is graded and trained on like any other. 0: as many as `turns` allows.
        backend: where tools and databases are, as in `gym.make`: ``embedded`` (in this process), ``docker``, a mapping,
            as ``{kind: remote, urls: [http://10.0.0.5:8765]}`` for a fleet of `tbx serve` or ``{kind: embedded, store:
            postgresql://…}`` for databases on a server. All give the same episodes, so a resume may name another.
        user: who plays the customer: ``scripted``, or ``{kind: llm, model: …, base_url: …}``, or a recording of one.
        judge: a model that judges what only words show, ``{kind: llm, …}``; needed by tasks that ask for it.
        reward: ``sparse`` (1 or 0) or ``dense``.
        prompt: ``full``; ``compact``, which leaves the policy and the tools' descriptions out (`tb_trainer.render`);
            ``tiny``: neither instructions nor tools, and of tools' results only what rules need (`tb_trainer.compact`);
            or ``spare``: so, with a shorter list of fields that is enough for a few families.
        faults: chances per call of injected system errors, e.g. ``{timeout: 0.02, crash: 0.01}``.
        retries: attempts after the first that an episode gets when system errors of one cause broke it.
        pause: seconds before the second of these attempts, the first being made at once; they double from one to the
            next, up to 30. With eight retries an outage may last a minute and a half.
        drops: groups that may be given up in one update before the update is called off.
        deadline: seconds that an episode may wait for its environment, all steps together; then it is a system error.
            The embedded backend with the scripted customer waits for nothing and cannot be broken off: a step that
            takes too long there is a system error once it is over.
    """

    domains: tuple[str, ...] = ("hotel",)
    eval_domains: tuple[str, ...] = ()
    holdout_domain: str = ""
    families: tuple[str, ...] = ()
    split: Literal["train", "dev", "bench"] = "train"
    tasks: tuple[str, ...] = ()
    pool: str = ""
    turns: Positive = 40
    tool_calls: Positive = 60
    user_turns: Natural = 0
    backend: str | Mapping[str, Any] = "embedded"
    user: str | Mapping[str, Any] = "scripted"
    judge: str | Mapping[str, Any] | None = None
    reward: Literal["sparse", "dense"] = "sparse"
    prompt: Literal["full", "compact", "tiny", "spare"] = "full"
    faults: Mapping[str, float] = field(default_factory=dict[str, float])
    retries: Natural = 8
    pause: NotNegative = 1.0
    drops: Natural = 8
    deadline: AboveZero = 600.0


@dataclass(frozen=True)
class LoraConfig(Strict):
    """Low-rank adapters in place of training all weights.

    Attributes:
        rank: of the adapters; 0 trains all weights.
        alpha: scale of their sum.
        dropout: in training; keep 0 where the sampler's and the trainer's log-probabilities are compared.
        targets: names of the linear layers; ``all-linear`` for all of them.
    """

    rank: Natural = 0
    alpha: Positive = 32
    dropout: Annotated[float, Field(ge=0, lt=1)] = 0.0
    targets: tuple[str, ...] = ("all-linear",)


@dataclass(frozen=True)
class ModelConfig(Strict):
    """The policy.

    Attributes:
        path: a folder or a hub name of transformers, or ``gguf:`` and a GGUF file or a package that carries one
            (`tb_envs.gguf_file`); empty: the tiny model below, made from nothing.
        checkpoint: a folder with weights and a tokenizer to start from in place of these, e.g. of `tbx warmstart`.
        shape: sizes for `--dry-run` where `path` is not on this machine, as in the model's ``config.json``.
        dtype: of weights and activations.
        attention: ``sdpa``, ``flash_attention_2``, ``eager``, or ``blocks`` for small heads on a CPU
            (`tb_trainer.attention`).
        gradient_checkpointing: recompute activations in the backward pass.
        lora: adapters.
        thinking: whether the model may think before it answers, by its chat template's own switch; thoughts stay in
            what it reads and is trained on, and never reach the customer.
        template: the chat template: ``native``; ``additive``, the variant that keeps the thoughts of earlier turns,
            where the native one drops them (Qwen3, Qwen3.5), which would train on other prompts than a server renders,
            and that shows tools and calls, where a native ChatML one knows none (SmolLM2); or a .jinja file.
            Checkpoints carry it.
        parser: the format of tool calls (`tb_envs.parse.families`): ``auto`` for the one that the template shows, or
            ``hermes``, ``hermes_compact`` (without blanks), ``qwen3_xml``, ``llama``, ``mistral``, ``mistral_args``,
            ``mistral_call_id``.
        hidden, layers, heads: of the tiny model; half as many heads for keys and values.
        tied: whether the tiny model reads and writes with the same embeddings.
        vocabulary: entries of the tiny model's tokenizer at most.
        texts: how many tasks, spread over the suite, give the texts that its tokenizer is trained on.
    """

    path: str = ""
    checkpoint: str = ""
    shape: Mapping[str, Any] = field(default_factory=dict[str, Any])
    dtype: Literal["float32", "bfloat16"] = "float32"
    attention: Literal["sdpa", "flash_attention_2", "eager", "blocks"] = "sdpa"
    gradient_checkpointing: bool = False
    lora: LoraConfig = field(default_factory=LoraConfig)
    thinking: bool = False
    template: str = "native"
    parser: Literal[
        "auto", "hermes", "hermes_compact", "qwen3_xml", "llama", "mistral", "mistral_args", "mistral_call_id"
    ] = "auto"
    hidden: Positive = 64
    layers: Positive = 2
    heads: Positive = 4
    tied: bool = True
    vocabulary: Annotated[int, Field(ge=300)] = 3072
    texts: Positive = 16


@dataclass(frozen=True)
class EngineConfig(Strict):
    """What writes the turns.

    Attributes:
        kind: ``cpu`` (Llama-like models on the CPU), ``hf`` (any model of transformers) or ``vllm`` (a server).
        url: of the server; several, separated by commas, share the turns, and each is given the weights.
        sync: how a server gets new weights: ``nccl`` (from GPU to GPU, through TRL's client, which needs vllm installed
            beside the trainer), ``files`` (a folder that both sides see), or ``none`` (a server that is only played
            with, never trained).
        sync_folder: for ``files``: where weights are written, under the same path for trainer and servers.
        sync_port: for ``nccl``: the first server's port for the transfer; each further server takes the next one.
        turn_seconds: seconds that one turn may take in a server before it is asked for again.
        slots: episodes in play at once at most.
        chunk: tokens that the CPU engine reads at once at most.
        patience: seconds that a server may be away before the update is called off.
        tensor_parallel: GPUs of one copy of the server.
        memory_share: of a server's GPU memory that it may use.
    """

    kind: Literal["cpu", "hf", "vllm"] = "cpu"
    url: str = "http://127.0.0.1:8000"
    sync: Literal["nccl", "files", "none"] = "nccl"
    sync_folder: str = ""
    sync_port: Positive = 51216
    turn_seconds: AboveZero = 600.0
    slots: Positive = 256
    chunk: Positive = 32768
    patience: AboveZero = 300.0
    tensor_parallel: Positive = 1
    memory_share: Share = 0.85


@dataclass(frozen=True)
class SamplingConfig(Strict):
    """How turns are sampled: by default from the whole distribution, which is the one that is trained.

    Attributes:
        temperature: divides the logits, in the sampler and in the loss.
        top_p, top_k: cut the distribution (1 and 0 do not); the importance weights then carry the difference.
        turn_tokens: new tokens in one turn at most; a turn that was cut off is played as it stands.
        prompt_tokens: first prompt at most; a longer one is an error, never cut. 0: whatever the episode allows.
        episode_tokens: prompt and completion together at most; also the tiny model's positions.
    """

    temperature: AboveZero = 1.0
    top_p: Share = 1.0
    top_k: Natural = 0
    turn_tokens: Positive = 512
    prompt_tokens: Natural = 0
    episode_tokens: Positive = 32768
