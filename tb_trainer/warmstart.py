"""``tbx warmstart``: a supervised start from demonstrations, by TRL's `SFTTrainer` on exact tokens.

Only the tokens that the agent would write are learned. The result is a folder that `model.checkpoint` (or `model.path`)
takes; its ``state.json`` carries the guard's mark, so that a start on the benchmark stays known as one. That file is
there before any weights, also beside those of the clean steps (``clean/``), and says at last that the start is whole:
one that was killed before is made again. Refuses the benchmark as training does.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from torch.optim import AdamW, Muon

from tb_envs.cli.parser import Parser
from tb_envs.errors import UsageError
from tb_envs.whole import write_whole
from tb_trainer import checkpoint
from tb_trainer.begun import alone
from tb_trainer.config import load
from tb_trainer.demonstrations import check_habits, demonstrations
from tb_trainer.policy import load_policy
from tb_trainer.schema import TrainConfig
from tb_trainer.tasks import guard
from tb_trainer.tasks.probe import fresh_ids
from tb_trainer.tasks.scope import training_domains
from tb_trainer.tasks.training import training_tasks
from tb_trainer.tokens import Trajectory

NEEDS = ("torch", "transformers", "tokenizers", "datasets", "trl", "yaml")
FLOOR = 0.05
"""Share of the peak rate at which the fall ends."""
IGNORED = -100


def warm_start(config: TrainConfig, out: Path, *, on_benchmark: bool = False) -> dict[str, Any]:
    """Train on demonstrations and save the policy.

    Returns:
        ``out``, ``demonstrations``, ``tokens`` (of them, learned ones), ``steps``, ``loss`` (of the last tenth of the
        steps), ``seconds`` by phase.
    """
    if (out / "config.json").exists() and checkpoint.whole_start(out) is not False:
        raise UsageError(f"{out} already holds a model; name a new folder")
    options = config.warmstart
    clock = time.perf_counter()
    task_ids = training_tasks(config)
    if options.fresh:
        task_ids = fresh_ids(training_domains(config.environment), options.fresh, environment=config.environment)
    check_habits(options.habits, task_ids)
    flags = guard.check(config, task_ids, allow=on_benchmark)
    model, tokenizer = load_policy(config)
    apart = bool(options.noisy_steps)
    some = task_ids[:: max(1, len(task_ids) // (options.noisy_steps * options.batch))] if apart else []
    clean = demonstrations(config, tokenizer, task_ids, 0.0 if apart else options.noise, options.habits)
    noisy = demonstrations(config, tokenizer, some, options.noise, options.habits)
    rollouts = [*clean, *noisy]
    played = time.perf_counter()
    _mark(out, flags, None)
    if options.trainer == "plain":
        from tb_trainer.supervised import fit

        right, habitual = ([rollout.tokens for rollout in part] for part in (clean, noisy))
        keep = out / "clean" if apart else None  # as it was before the habits: what they cost can be seen
        if keep:
            _mark(keep, flags, None)
        losses = fit(config, model, make_optimizer, right, habitual, keep)
        if keep:
            tokenizer.save_pretrained(keep)
            _mark(keep, flags, {"out": str(keep), "demonstrations": len(clean), "steps": options.steps})
    else:
        rows = [{"input_ids": r.tokens.ids, "labels": labels(r.tokens)} for r in clean]
        losses = _fit(config, model, tokenizer, rows, out)
    model.save_pretrained(out)
    tokenizer.save_pretrained(out)
    learned = sum(rollout.tokens.actions for rollout in rollouts)
    tail = losses[-max(1, len(losses) // 10) :]
    report = {
        "out": str(out),
        "demonstrations": len(rollouts),
        "wrong": sum(rollout.reward == 0 for rollout in rollouts),
        "tokens": learned,
        "steps": len(losses),
        "loss": sum(tail) / len(tail),
        "seconds": {"play": round(played - clock, 1), "fit": round(time.perf_counter() - played, 1)},
    }
    _mark(out, flags, report)
    return report


def _mark(folder: Path, flags: Mapping[str, Any], report: Mapping[str, Any] | None) -> None:
    """Say what the guard found of a start, and what was done; None: it is not whole yet."""
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / "state.json", json.dumps({"warmstart": report, **flags}, indent=1) + "\n")


def labels(tokens: Trajectory) -> list[int]:
    """The ids that are learned, and -100 where the model only reads."""
    return [token if own else IGNORED for token, own in zip(tokens.ids, tokens.sampled, strict=True)]


def _fit(config: TrainConfig, model: Any, tokenizer: Any, rows: list[dict[str, Any]], out: Path) -> list[float]:
    from datasets import Dataset
    from transformers import PrinterCallback
    from trl.trainer.sft_config import SFTConfig
    from trl.trainer.sft_trainer import SFTTrainer

    os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")
    options = config.warmstart
    optimizer, schedule = make_optimizer(config, model)
    trainer = SFTTrainer(
        model=model,
        args=SFTConfig(
            output_dir=str(out),
            max_steps=options.steps,
            per_device_train_batch_size=options.batch,
            max_length=None,
            dataset_kwargs={"skip_prepare_dataset": True},
            max_grad_norm=1.0,
            seed=config.seed,
            data_seed=config.seed,
            use_cpu=not config.parallel.gpus,
            bf16=config.model.dtype == "bfloat16" and bool(config.parallel.gpus),
            gradient_checkpointing=config.model.gradient_checkpointing,
            dataloader_pin_memory=False,
            logging_steps=1,
            report_to="none",
            save_strategy="no",
            disable_tqdm=True,
        ),
        train_dataset=Dataset.from_list(rows),
        processing_class=tokenizer,
        optimizers=(optimizer, schedule),
    )
    trainer.remove_callback(PrinterCallback)
    trainer.train()
    return [float(row["loss"]) for row in trainer.state.log_history if "loss" in row]


def make_optimizer(config: TrainConfig, model: Any) -> tuple[Any, Any]:
    """The optimizer and its schedule: a rise, a plateau, and a fall to a twentieth."""
    options = config.warmstart
    trained = [(name, p) for name, p in model.named_parameters() if p.requires_grad]
    matrices = [p for name, p in trained if p.ndim == 2 and "embed" not in name and "lm_head" not in name]
    if options.optimizer == "muon" and matrices:
        chosen = {id(p) for p in matrices}
        rest = [p for _, p in trained if id(p) not in chosen]
        optimizer: Any = _Both(
            Muon(matrices, lr=options.learning_rate, weight_decay=0.0, momentum=0.95),
            AdamW(rest, lr=options.learning_rate * ADAM_SHARE, betas=(0.9, 0.99), weight_decay=0.0),
        )
    else:
        optimizer = AdamW([p for _, p in trained], lr=options.learning_rate, betas=(0.9, 0.99), weight_decay=0.0)
    return optimizer, torch.optim.lr_scheduler.LambdaLR(optimizer, share_of_rate(options))


ADAM_SHARE = 0.15
"""AdamW's rate beside Muon's: 3e-3 beside 0.02, measured for a model of a million parameters."""


def share_of_rate(options: Any) -> Callable[[int], float]:
    """Step → share of the peak rate."""

    def share(step: int) -> float:
        rise = min(1.0, (step + 1) / options.warmup) if options.warmup else 1.0
        falling = options.steps * options.decay
        left = (options.steps - step) / falling if falling else 1.0
        return rise * max(FLOOR, min(1.0, left))

    return share


class _Both(torch.optim.Optimizer):
    """Two optimizers as one: Muon moves matrices only."""

    def __init__(self, *parts: torch.optim.Optimizer) -> None:
        self._parts = parts
        super().__init__([p for part in parts for group in part.param_groups for p in group["params"]], {})
        self.param_groups = [group for part in parts for group in part.param_groups]

    def step(self, closure: Any = None) -> Any:
        """Step both; a closure is evaluated once, before the first."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for part in self._parts:
            part.step()
        return loss


def main(argv: Sequence[str]) -> int:
    """Run ``tbx warmstart``."""
    parser = Parser("warmstart", "Teach a policy from demonstrations, before it is trained by reward.")
    add = parser.add_argument
    add("--preset", default="smoke", metavar="NAME", help="of the training to come (default: smoke)")
    add("--set", action="append", default=[], metavar="NAME=VALUE", help="override a setting, e.g. warmstart.steps=400")
    add("--out", type=Path, required=True, metavar="DIR", help="a new folder for the policy")
    add("--json", action="store_true", help="print one JSON document")
    add("--i-am-training-on-the-benchmark", dest="on_benchmark", action="store_true", help="said in every checkpoint")
    args = parser.read(list(argv))
    missing = [name for name in NEEDS if find_spec(name) is None]
    if missing:
        raise UsageError(f"a warm start needs {', '.join(missing)}: pip install 'thinkingbox-gym[train]'")
    config = load(args.preset, args.set)
    if config.threads:
        torch.set_num_threads(config.threads)
    with alone(args.out, "warm start"):
        report = warm_start(config, args.out, on_benchmark=args.on_benchmark)
    if args.json:
        print(json.dumps(report))
    else:
        print(
            f"{report['demonstrations']} demonstrations ({report['wrong']} wrong ones), {report['steps']} steps, "
            f"loss {report['loss']:.4f}\nthe policy: {args.out}\nnext: tbx probe --preset {args.preset} "
            f"--set model.checkpoint={args.out} --out probe.jsonl"
        )
    return 0
