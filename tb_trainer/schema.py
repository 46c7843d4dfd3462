"""Every knob of a training run: one tree of documented dataclasses. `tb_trainer.config` fills and checks it.

Refuses unknown names and values of the wrong kind (through pydantic); imports nothing heavy.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Annotated, Any, Literal

from pydantic import Field

from tb_trainer.kinds import AboveZero, Natural, NotNegative, Positive, Share, Strict
from tb_trainer.schema_play import EngineConfig, EnvironmentConfig, LoraConfig, ModelConfig, SamplingConfig

__all__ = ["EngineConfig", "EnvironmentConfig", "LoraConfig", "ModelConfig", "SamplingConfig", "TrainConfig"]

Tracker = Literal["aim", "clearml", "comet_ml", "dvclive", "mlflow", "swanlab", "tensorboard", "trackio", "wandb"]
"""What accelerate logs to (`tb_trainer.trackers`)."""


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
        watch: attempts over which each outcome cell's pass rate is taken, at its start and now; a cell that falls to
            half of its start or below is drawn about twice as often until it is above (`tb_trainer.tasks.cells`).
            0: not watched. With ``posterior`` only.
    """

    kind: Literal["shuffled", "posterior"] = "posterior"
    floor: Annotated[float, Field(ge=0, le=1)] = 0.1
    decay: Share = 0.9
    balance: Literal["none", "domain", "family", "cell"] = "none"
    watch: Natural = 0


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
        trackers: of accelerate, whose packages must be installed; TensorBoard writes to the run's ``trackers/``. With
            ``[]`` there is the JSONL log alone, which is always written.
        rollouts: write each update's episodes as text (``rollouts/update-N.jsonl``).
    """

    every: Positive = 5
    keep: Natural = 2
    trackers: tuple[Tracker, ...] = ("tensorboard",)
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
        strategy: ``ddp``, ``fsdp2`` or ``deepspeed`` (ZeRO 3, the extra ``deepspeed``).
        sequence: GPUs (on CPUs: processes) that share each episode, a slice of its tokens each
            (`tb_trainer.sequence`); divides the model's heads.
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
        processes: that share each batch on this machine, this one included (`tb_trainer.sharing`); ``plain`` only.
        short_steps: of `steps`, the first ones that see only the beginnings of demonstrations; ``plain`` only. Copying
            (ids, names, addresses) is learned there several times as fast as from whole talks.
        short_tokens: of such a beginning.
        short_batch: beginnings in one step.
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
    processes: Positive = 1
    short_steps: Natural = 0
    short_tokens: Positive = 208
    short_batch: Positive = 20
    noisy_steps: Natural = 0
    noisy_rate: AboveZero = 0.1


@dataclass(frozen=True)
class HeldOutConfig(Strict):
    """The other stages of a run ``from_nothing`` (`tb_trainer.chain`).

    Attributes:
        gate: of the fresh tasks, how many the start plays greedily before anything else (`tb_trainer.gate`); 0: none.
        candidates: tasks that are probed for the pool, of the training families and of no suite; 0: no probe and no
            pool, the run draws from its tasks.
        probe: attempts at each.
        fresh: tasks of the training families that are played once, sampled and then greedily; 0: none.
        repeated: of these, tasks that are played eight times.
        bench: tasks of the benchmark, played once.
    """

    gate: Natural = 100
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
