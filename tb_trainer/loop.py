"""The run: collect, update, hand the weights to the engine, evaluate, save; and go on from where a killed run stopped.

Everything random is keyed by (seed, update, group, slot), so the state of a run is its weights, its optimizer, the task
source's beliefs and the number of the update: the next update after a resume is the one that would have come. An
update that the system kept from being collected does not count and ends the run with a checkpoint behind it.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from tb_envs.authoring.rng import stable_seed
from tb_envs.errors import UsageError
from tb_envs.whole import write_whole
from tb_trainer import checkpoint, trackers, zero
from tb_trainer.built import check_built, under_deepspeed
from tb_trainer.config import check
from tb_trainer.engines import Engine
from tb_trainer.engines.make import make_engine
from tb_trainer.episodes import make_runner
from tb_trainer.evaluate import TRIALS, evaluate, spread
from tb_trainer.groups import Batch, GroupCollector
from tb_trainer.grpo import Example, Objective, advantages
from tb_trainer.log import RunLog, numbers
from tb_trainer.metrics import batch_row, line
from tb_trainer.policy import dtype_of, load_policy
from tb_trainer.provenance import provenance
from tb_trainer.ranks import agree, digest, ending_in_words, from_first, make_accelerator, peers
from tb_trainer.saved import load_weights, save_weights
from tb_trainer.schema import TrainConfig
from tb_trainer.sequence import sequence_group
from tb_trainer.spread import FullWeights, count, is_sharded
from tb_trainer.tasks import guard
from tb_trainer.tasks.source import make_source
from tb_trainer.tasks.training import hashes_of, training_tasks
from tb_trainer.update import Updater

Row = dict[str, Any]


class Run:
    """A configured run.

    Args:
        config: every knob.
        out: the run's folder: ``config.json``, ``log.jsonl``, ``checkpoints/``, ``evaluations/``, ``rollouts/``,
            ``trackers/``.
        resume: go on from the last whole checkpoint in `out`; where the run was killed before it had one, begin again.
        on_benchmark: train even on what the guard calls the benchmark; noted in the log and in every checkpoint.
        engine: in place of the configured one, e.g. one that plays written turns.
        on_update: called with each update's row, in the first process.

    Attributes:
        rows: of the updates so far in this process.
        batch: the episodes of the last update, in the first process.
    """

    def __init__(
        self,
        config: TrainConfig,
        out: Path,
        *,
        resume: bool = False,
        on_benchmark: bool = False,
        engine: Engine | None = None,
        on_update: Callable[[Row], None] | None = None,
    ) -> None:
        began = time.perf_counter()
        check_built(config)
        self.config, self.out, self._on_update = config, out, on_update
        self.task_ids = training_tasks(config)
        self.flags = guard.check(config, self.task_ids, allow=on_benchmark)
        self.measured = guard.check_measured(config) if config.evaluation.every else None
        self.accelerator = make_accelerator(
            str(out), cpu=not config.parallel.gpus, timeout=config.parallel.timeout, trackers=config.saving.trackers
        )
        if under_deepspeed():
            zero.configure(self.accelerator, dtype=dtype_of(config.model), clip=config.grpo.gradient_clip)
        self.first = bool(self.accelerator.is_main_process)
        self.sequence = sequence_group(self.accelerator, config.parallel.sequence, config.parallel.timeout)
        self.model, self.tokenizer = load_policy(config)
        self.hashes = hashes_of(config, self.task_ids)
        self.source = make_source(config, self.task_ids)
        self.reference = load_policy(config)[0].eval() if config.grpo.kl else None
        self._engine = engine
        self._prepare()
        self.done, self.best, self.rows, self.batch = 0, None, list[Row](), None
        self._best_update = 0
        self._stopped: str | None = None
        self._again = False
        agree(self.accelerator, self._standing, self._resume if resume else None)
        self.log = RunLog(out, self.done if resume else None) if self.first else None
        if self.first:
            self._make_players()
        self._setup = time.perf_counter() - began

    # -- parts

    def _prepare(self) -> None:
        grpo = self.config.grpo
        trained = [parameter for parameter in self.model.parameters() if parameter.requires_grad]
        optimizer = torch.optim.AdamW(
            trained,
            lr=grpo.learning_rate,
            betas=grpo.adam_betas,
            eps=grpo.adam_eps,
            weight_decay=grpo.weight_decay,
        )
        self.wrapped, self.optimizer = self.accelerator.prepare(self.model, optimizer)
        kind = self.config.engine.kind
        # Of one process the spread model is whole, and can play.
        self._plays = not is_sharded(self._plain()) or (kind == "hf" and self.accelerator.num_processes == 1)
        if not self._plays and kind != "vllm" and self._engine is None:
            raise UsageError(
                f"engine.kind {kind} plays in the first process, but this launch spreads the weights (FSDP2, ZeRO 3): "
                "launch with tb_trainer/launch/ddp.yaml and parallel.strategy=ddp, or set engine.kind=vllm"
            )
        if self.reference is not None:
            self.reference = self.reference.to(self.accelerator.device)
        self.updater = Updater(
            self.accelerator,
            self.wrapped,
            self.optimizer,
            Objective(
                grpo.clip_low,
                grpo.clip_high,
                grpo.dual_clip,
                grpo.importance_cap,
                grpo.kl,
                self.config.sampling.temperature,
            ),
            micro_tokens=grpo.micro_tokens,
            steps=grpo.steps,
            gradient_clip=grpo.gradient_clip,
            reference=self.reference,
            sequence=self.sequence,
        )

    def _make_players(self) -> None:
        """What only the first process has: the engine, the episodes, the groups."""
        config, environment = self.config, self.config.environment
        self.engine = self._engine or make_engine(config, self._plain(), self.tokenizer)
        self.runner = make_runner(config, self.engine, self.tokenizer)
        self.runner.transcripts = lambda job: job.key.update == TRIALS and job.key.slot == 0
        self.collector = GroupCollector(
            self.runner,
            self.source,
            config.grpo.groups,
            config.grpo.group_size,
            config.seed,
            environment.retries,
            environment.drops,
            config.grpo.refills,
            config.engine.slots,
            environment.pause,
        )

    def _plain(self) -> Any:
        return self.accelerator.unwrap_model(self.wrapped)

    # -- the run

    def train(self) -> list[Row]:
        """All updates that are left; their rows.

        Raises:
            OutageError: an update could not be collected; what came before it is saved.
            PeerError: another process of the run is gone, or is not where this one is.
        """
        self._begin()
        gc.freeze()  # or a full collection, one in few updates, walks the libraries' 700,000 objects: about a second
        try:
            with ending_in_words(self.accelerator.num_processes):
                self._sync()
                if not self.done:
                    self._evaluate(0)
                while self.done < self.config.grpo.updates:
                    self._one()
        except BaseException as error:
            self._note(event="failed", updates=self.done, error=f"{type(error).__name__}: {error}")
            raise
        finally:
            gc.unfreeze()
            trackers.end(self.accelerator)
            if self.first:
                self.runner.close()
                getattr(self.engine, "close", lambda: None)()
        self._note(event="end", updates=self.done, best=self._best_update, note=self.config.note)
        if self.config.saving.trackers:
            self.accelerator.end_training()
        return self.rows

    def _one(self) -> None:
        update = self.done + 1
        clock = time.perf_counter()
        examples, row = from_first(self.accelerator, lambda: self._collect(update))
        collected = time.perf_counter()
        self._set_rate(update)
        # What dropout drops is keyed as all else is, so that a resume does not change it.
        torch.manual_seed(stable_seed(self.config.seed, "update", update, self.accelerator.process_index))
        with peers():
            step = self.updater.update(examples)
        stepped = time.perf_counter()
        if step["stepped"]:
            with peers():
                self._sync()
        self.done = update
        synced = time.perf_counter()
        row["optimizer"] = {**step, "learning_rate": self.optimizer.param_groups[0]["lr"]}
        row["seconds"] |= {
            "collect": collected - clock,
            "update": stepped - collected,
            "sync": synced - stepped,
            "total": synced - clock,
        }
        sampled = row["tokens"]["action"]
        row["tokens_per_second"] = round(sampled / max(row["seconds"]["generate"], 1e-9), 1)
        row["seconds"] = {name: round(value, 3) for name, value in row["seconds"].items()}
        self.rows.append(row)
        self._note(event="update", **row)
        if self.first and self._on_update is not None:
            self._on_update(row)
        last = update == self.config.grpo.updates
        every = self.config.evaluation.every
        if every and (update % every == 0 or last):
            self._evaluate(update)
        if update % self.config.saving.every == 0 or last or self._best_update == update:
            agree(self.accelerator, self._standing)
            with peers():
                self._save()

    def _collect(self, update: int) -> tuple[list[Example], Row]:
        """The first process: play an update's episodes and say how good each was."""
        self.batch = batch = self.collector.collect(update)
        self.source.seen(update, batch)
        scored = advantages([group.rewards for group in batch.groups], self.config.grpo.scale)
        examples = [
            Example(rollout.tokens, value)
            for group, values in zip(batch.groups, scored, strict=True)
            for rollout, value in zip(group.rollouts, values, strict=True)
        ]
        if self.config.saving.rollouts:
            self._write_rollouts(update, batch)
        return examples, {"update": update, **batch_row(batch), **self.source.row(), "seconds": dict(batch.seconds)}

    def _set_rate(self, update: int) -> None:
        grpo = self.config.grpo
        rate = grpo.learning_rate * min(1.0, update / grpo.warmup if grpo.warmup else 1.0)
        for group in self.optimizer.param_groups:
            group["lr"] = rate

    def _sync(self) -> None:
        """Give the engine the weights, from every process that has a part of them."""
        model = self._plain()
        if not self._plays:
            weights = FullWeights(model)
            try:
                if self.first:
                    self.engine.load(weights)
            finally:
                weights.drain()
        elif self.first:
            self.engine.load(model)

    def _evaluate(self, update: int) -> None:
        """Play the dev suites: of the domains that are trained on, which choose the best checkpoint, and of others."""
        options, config, measured = self.config.evaluation, self.config, self.measured
        if measured is None:
            return

        def play() -> Row:
            clock, first, parts = time.perf_counter(), 0, list[Row]()
            for name, tasks in [("", measured.choosing), *measured.apart.items()]:
                ids = spread(tasks, options.tasks)
                found = evaluate(
                    self.runner,
                    ids,
                    attempts=options.attempts,
                    greedy=options.greedy,
                    seed=config.seed,
                    first=first,
                    retries=config.environment.retries,
                    slots=config.engine.slots,
                    pause=config.environment.pause,
                    trials=self.out / "evaluations" / name / f"update-{update}.jsonl",
                )
                first += len(ids)
                parts.append(found)
            apart = dict(zip(measured.apart, parts[1:], strict=True))
            seconds = round(time.perf_counter() - clock, 3)
            return {**parts[0], **({"apart": apart} if apart else {}), "seconds": seconds}

        found = from_first(self.accelerator, play)
        score = found["pass@1"]  # None if any trial is missing: such an evaluation chooses nothing
        if score is not None and (self.best is None or score > self.best):
            self.best, self._best_update = score, update
        best = None if self.best is None else self._best_update
        self._note(event="evaluation", update=update, split=options.split, best=best, **found)
        if self.first and score is None:
            unplayed, (low, high) = found["unplayed"], found["bounds"]
            print(
                f"evaluation after update {update}: {unplayed} of {unplayed + found['trials']} trials could not be "
                f"played, so it chooses no checkpoint; pass@1 lies between {low:.1%} and {high:.1%}",
                file=sys.stderr,
            )

    def _standing(self) -> dict[str, Any]:
        """Where this process is: the same in all of them, but for parts that are spread."""
        model = self._plain()
        state = {"update": self.done, "best": self.best, "best_update": self._best_update, **self.hashes}
        state["learning rate"] = self.optimizer.param_groups[0]["lr"]
        if not is_sharded(model):
            moments = (value for part in self.optimizer.state.values() for value in part.values())
            state["hash of the weights"] = digest(model.parameters())
            state["hash of the optimizer's state"] = digest(value for value in moments if torch.is_tensor(value))
        return state

    # -- files

    def _begin(self) -> None:
        if not self.first or self.log is None:
            return
        self.out.mkdir(parents=True, exist_ok=True)
        write_whole(self.out / "config.json", json.dumps(self.config.to_json(), indent=2) + "\n")
        if self.config.saving.trackers:
            trackers.begin(self.accelerator, self.config.to_json(), self.out, self.done)
        parameters = [count(p) for p in self._plain().parameters()]
        trained = sum(count(p) for p in self._plain().parameters() if p.requires_grad)
        self._note(
            event="resume" if self.done else "start",
            update=self.done,
            note=self.config.note,
            domains=list(self.config.environment.domains),
            tasks=len(self.task_ids),
            parameters=sum(parameters),
            trained_parameters=trained,
            vocabulary=len(self.tokenizer),
            processes=self.accelerator.num_processes,
            setup_seconds=round(self._setup, 2),
            hashes=self.hashes,
            **({"begun_again": True} if self._again else {}),
            **provenance(),
            **self.flags,
        )

    def _note(self, **row: Any) -> None:
        if self.log is not None:
            self.log.write(**row)
        if self.config.saving.trackers and row.get("event") in ("update", "evaluation"):
            self.accelerator.log(numbers(row), step=int(row["update"]))

    def _write_rollouts(self, update: int, batch: Batch) -> None:
        folder = self.out / "rollouts"
        folder.mkdir(parents=True, exist_ok=True)
        rows = [json.dumps(line(rollout, self.tokenizer.decode), ensure_ascii=False) for rollout in batch.rollouts]
        (folder / f"update-{update}.jsonl").write_text("".join(f"{row}\n" for row in rows), "utf-8")

    def _save(self) -> None:
        """A checkpoint of this update."""
        update, accelerator = self.done, self.accelerator
        folder = from_first(accelerator, lambda: checkpoint.draft(self.out, update))
        save_weights(accelerator, self._plain(), self.optimizer, folder, dtype_of(self.config.model))
        accelerator.wait_for_everyone()
        if self.first:
            self.tokenizer.save_pretrained(folder)
            state = {
                "update": update,
                "best": self.best,
                "best_update": self._best_update,
                "source": self.source.state(),
                "hashes": self.hashes,
                "processes": accelerator.num_processes,
                **self.flags,
            }
            path = checkpoint.finish(self.out, update, state)
            checkpoint.prune(self.out, self.config.saving.keep, {self._best_update, update})
            self._note(event="checkpoint", update=update, path=str(path.relative_to(self.out)))

    def _resume(self) -> None:
        """Take up the last whole checkpoint; before the first one all comes again as it came, from nothing."""
        found = checkpoint.whole(self.out)
        if not found:
            checkpoint.check_unsaved(self.out, self.hashes, lambda tree: hashes_of(check(tree), self.task_ids))
            self._again = True
            return
        folder = checkpoint.folder_of(self.out, found[-1])
        state = checkpoint.read_state(folder)
        checkpoint.check_same(state, self.hashes, folder)
        load_weights(self.accelerator, self._plain(), self.optimizer, folder)
        self.done, self.best, self._best_update = state["update"], state["best"], state["best_update"]
        self.source.restore(state["source"])
