"""Every knob of a training run: one tree of documented dataclasses. `tb_trainer.config` fills and checks it.

Refuses unknown names and values of the wrong kind (through pydantic); imports nothing heavy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

Positive = Annotated[int, Field(ge=1)]
Natural = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(gt=0, le=1)]
NotNegative = Annotated[float, Field(ge=0)]
AboveZero = Annotated[float, Field(gt=0)]


class Strict:
    """Base of the tree: unknown names are refused."""

    __pydantic_config__ = ConfigDict(extra="forbid")


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
        reward: ``sparse`` (1 or 0) or ``dense``.
        prompt: ``full``; ``compact``, which leaves the policy and the tools' descriptions out (`tb_trainer.render`);
            ``tiny``: neither instructions nor tools, and of tools' results only what rules need (`tb_trainer.compact`);
            or ``spare``: so, with a shorter list of fields that is enough for a few families.
        faults: chances per call of injected system errors, e.g. ``{timeout: 0.02, crash: 0.01}``.
        retries: attempts after the first that an episode gets when a system error broke it.
        drops: groups that may be given up in one update before the update is called off.
        deadline: seconds that an episode may wait for its environment.
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
    reward: Literal["sparse", "dense"] = "sparse"
    prompt: Literal["full", "compact", "tiny", "spare"] = "full"
    faults: Mapping[str, float] = field(default_factory=dict[str, float])
    retries: Natural = 8
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
            (`tb_trainer.gguf_file`); empty: the tiny model below, made from nothing.
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
        parser: the format of tool calls (`tb_trainer.parse.families`): ``auto`` for the one that the template shows, or
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


@dataclass(frozen=True)
class GrpoConfig(Strict):
    """The update (`tb_trainer.grpo`).

    Attributes:
        updates: how many.
        groups: P, tasks in one update.
        group_size: G, attempts at each task.
        refills: how often a group without variance is replaced by another task; 0 keeps it.
        steps: optimizer steps on the episodes of one update.
        micro_tokens: tokens in one forward pass at most; changes memory, not the gradient.
        learning_rate: the size of the model decides: 1e-6 does nothing to a tiny one.
        warmup: updates over which the learning rate rises from nothing.
        weight_decay, adam_betas, adam_eps: of AdamW.
        clip_low, clip_high: how far the ratio may leave 1 before it is cut.
        dual_clip: bound of the ratio for negative advantages; 0: none.
        importance_cap: largest weight for what the sampler thought less likely than the trainer; 0: no weights.
        kl: weight of the divergence from the start; 0 needs no second model.
        scale: advantages divided by the standard deviation of the ``group``, the ``batch``, or not at all.
        gradient_clip: largest norm of the gradient.
    """

    updates: Positive = 50
    groups: Positive = 18
    group_size: Annotated[int, Field(ge=2)] = 8
    refills: Natural = 0
    steps: Positive = 1
    micro_tokens: Positive = 32768
    learning_rate: AboveZero = 1e-6
    warmup: Natural = 0
    weight_decay: NotNegative = 0.0
    adam_betas: tuple[float, float] = (0.9, 0.999)
    adam_eps: AboveZero = 1e-8
    clip_low: AboveZero = 0.2
    clip_high: AboveZero = 0.2
    dual_clip: NotNegative = 0.0
    importance_cap: NotNegative = 2.0
    kl: NotNegative = 0.0
    scale: Literal["group", "batch", "none"] = "group"
    gradient_clip: AboveZero = 1.0


@dataclass(frozen=True)
class CurriculumConfig(Strict):
    """Which tasks are drawn.

    Attributes:
        kind: ``shuffled`` (each task once before any comes again) or ``posterior`` (by expected variance p(1 - p) of
            what is believed of each task, kept up to date by the rollouts).
        floor: share of draws that ignore beliefs, so that no task is given up for good.
        decay: weight of what was seen an update ago; below 1 old attempts fade as the policy changes.
        balance: what gets equal shares of the draws: each ``domain``; in it each ``family``; in that each outcome
            ``cell``. A label with fewer tasks then sees each of them more often.
    """

    kind: Literal["shuffled", "posterior"] = "posterior"
    floor: Annotated[float, Field(ge=0, le=1)] = 0.1
    decay: Share = 0.9
    balance: Literal["none", "domain", "family", "cell"] = "none"


@dataclass(frozen=True)
class EvaluationConfig(Strict):
    """Held-out evaluation while training.

    Attributes:
        every: updates between two evaluations; 0: none.
        split: the suite that is evaluated on; never the one that is trained on, and never ``bench`` (it chooses
            nothing).
        tasks: how many of it, spread over the families; 0: all.
        attempts: at each task.
        greedy: take the likeliest token in place of sampling.
    """

    every: Natural = 10
    split: Literal["dev"] = "dev"
    tasks: Natural = 0
    attempts: Positive = 1
    greedy: bool = False


@dataclass(frozen=True)
class SavingConfig(Strict):
    """Checkpoints and logs.

    Attributes:
        every: updates between two checkpoints; the last update is always saved.
        keep: checkpoints kept besides the best one; 0: all.
        trackers: of accelerate, e.g. ``tensorboard``, ``wandb``, ``mlflow``. The JSONL log is always written.
        rollouts: write each update's episodes as text (``rollouts/update-N.jsonl``).
    """

    every: Positive = 5
    keep: Natural = 2
    trackers: tuple[str, ...] = ()
    rollouts: bool = False


@dataclass(frozen=True)
class ExpectConfig(Strict):
    """What `tbx train --dry-run` counts with; what is not given is looked up in ``rates.yaml`` or not known.

    Attributes:
        log: ``log.jsonl`` of an earlier run with this model on this hardware: all of the numbers below.
        read: tokens that an episode reads: its prompt, tools' results, the customer's words.
        sampled: tokens that the policy writes in an episode.
        generate: sampled tokens a second of one GPU that serves, or of one process where none does.
        update: tokens a second, read ones included, that one GPU or process trains on.
        source: where these numbers come from; must be said where any of them is given.
    """

    log: str = ""
    read: NotNegative = 0.0
    sampled: NotNegative = 0.0
    generate: NotNegative = 0.0
    update: NotNegative = 0.0
    source: str = ""


@dataclass(frozen=True)
class ParallelConfig(Strict):
    """Over which processes and GPUs a run is spread; read by `tbx train --dry-run` and by the launch files.

    Attributes:
        nodes: machines.
        gpus: GPUs of each machine; 0: CPUs only.
        serving: GPUs of each machine that serve the engine, the rest train; 0 with a server elsewhere.
        serving_nodes: machines, of `nodes`, all of whose GPUs serve, in place of `serving`.
        colocated: all GPUs do both: trainer and servers stay on them side by side, each with its share of the memory.
        strategy: ``ddp``, ``fsdp2`` or ``deepspeed`` (ZeRO 3).
        sequence: GPUs that share one long sequence.
        gpu_memory: GiB of one GPU.
        timeout: seconds that processes wait for each other, rollouts and evaluation included.
        expect: tokens and speeds that a plan counts with.
    """

    nodes: Positive = 1
    gpus: Natural = 0
    serving: Natural = 0
    serving_nodes: Natural = 0
    colocated: bool = False
    strategy: Literal["ddp", "fsdp2", "deepspeed"] = "ddp"
    sequence: Positive = 1
    gpu_memory: AboveZero = 80.0
    timeout: AboveZero = 7200.0
    expect: ExpectConfig = field(default_factory=ExpectConfig)


@dataclass(frozen=True)
class WarmStartConfig(Strict):
    """Supervised start from demonstrations (`tbx warmstart`).

    Attributes:
        fresh: how many indices of each training family that are in no suite give demonstrations; 0: the tasks that the
            run trains on.
        steps: optimizer steps.
        batch: demonstrations in one step.
        noise: share of demonstrations that end in one of their task's mistakes.
        habits: names of mistakes: a task that has one of them ends in the first of these, when it ends in a mistake,
            and others never do. Above a share of one half the wrong end is the likeliest, which only reward unlearns.
        learning_rate: at its peak.
        warmup: steps over which it rises.
        decay: share of the steps, the last ones, over which it falls to a twentieth.
        optimizer: ``adamw``, or ``muon`` for the matrices and AdamW for the rest.
        trainer: ``trl`` (its `SFTTrainer`, for any model), or ``plain`` (`tb_trainer.supervised`), several times faster
            where the model is tiny and a step takes less than a second.
        autocast: compute in bfloat16, weights in their own type; ``plain`` only.
        noisy_steps: steps at the end on demonstrations with `noise`, after `steps` on reference solutions alone, so
            that the rules are learned before the mistakes; 0: all steps on one set. ``plain`` only.
        noisy_rate: share of the peak learning rate, in these steps.
    """

    fresh: Natural = 0
    steps: Positive = 200
    batch: Positive = 16
    noise: Annotated[float, Field(ge=0, le=1)] = 0.0
    habits: tuple[str, ...] = ()
    learning_rate: AboveZero = 1e-5
    warmup: Natural = 20
    decay: Annotated[float, Field(ge=0, le=1)] = 0.4
    optimizer: Literal["adamw", "muon"] = "adamw"
    trainer: Literal["trl", "plain"] = "trl"
    autocast: bool = False
    noisy_steps: Natural = 0
    noisy_rate: AboveZero = 0.1


@dataclass(frozen=True)
class HeldOutConfig(Strict):
    """The other stages of a run ``from_nothing`` (`tb_trainer.chain`).

    Attributes:
        candidates: tasks that are probed for the pool, of the training families and of no suite; 0: no probe and no
            pool, the run draws from its tasks.
        probe: attempts at each.
        fresh: tasks of the training families that are played once, sampled and then greedily; 0: none.
        repeated: of these, tasks that are played eight times.
        bench: tasks of the benchmark, played once.
    """

    candidates: Natural = 240
    probe: Positive = 4
    fresh: Natural = 500
    repeated: Natural = 100
    bench: Natural = 60


@dataclass(frozen=True)
class TrainConfig(Strict):
    """One run.

    Attributes:
        name: of the run's folder under ``runs/``.
        note: what the run can and cannot show; the first line of its log, the last line on the screen.
        seed: of weights, task order and sampling.
        threads: torch's, set by the command; a tiny model is no faster on several. 0 leaves torch its choice.
        from_nothing: `tbx train` begins with a warm start, a probe and a selection, and ends with evaluations and a
            report, as `held_out` says.
    """

    name: str = "run"
    note: str = ""
    seed: int = 42
    threads: Natural = 1
    from_nothing: bool = False
    environment: EnvironmentConfig = field(default_factory=EnvironmentConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    engine: EngineConfig = field(default_factory=EngineConfig)
    sampling: SamplingConfig = field(default_factory=SamplingConfig)
    grpo: GrpoConfig = field(default_factory=GrpoConfig)
    curriculum: CurriculumConfig = field(default_factory=CurriculumConfig)
    evaluation: EvaluationConfig = field(default_factory=EvaluationConfig)
    saving: SavingConfig = field(default_factory=SavingConfig)
    parallel: ParallelConfig = field(default_factory=ParallelConfig)
    warmstart: WarmStartConfig = field(default_factory=WarmStartConfig)
    held_out: HeldOutConfig = field(default_factory=HeldOutConfig)

    @property
    def episodes(self) -> int:
        """Episodes in one update."""
        return self.grpo.groups * self.grpo.group_size

    def to_json(self) -> dict[str, Any]:
        """The tree as plain data."""
        return asdict(self)
