"""What share of an update is the trainer's own work, neither model nor environment. Budget: 5 %. Needs a quiet machine.

    python benchmarks/overhead.py [--preset cpu-demo] [--updates 2] [--cpu-time] [--set NAME=VALUE …] [--out FILE.json]

Runs `tb_trainer.loop.Run` as `tbx train` does, with its log and a checkpoint each update. The model computes every
token, but plays the tasks' scripts (`benchmarks/forced.py`): with random weights no talk would come about. The first
update warms things up and is not counted, nor is what the benchmark does itself. What the CPU engine does beside the
model (rows and their order, the bookkeeping of turns) counts as the trainer's, though a server would do it elsewhere.
Exits 1 if the budget is missed (``--no-check``).

``--cpu-time`` counts seconds of the processor in place of those on the wall, for a machine that others use too; what
waits for the disk is then not seen (`log and checkpoint`).
"""

from __future__ import annotations

import argparse
import json
import platform
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import forced
import torch
from forced import ForcedEngine, scripts

from tb_envs.episode import Episode
from tb_trainer import update as updating
from tb_trainer.config import load
from tb_trainer.engines import Key
from tb_trainer.engines.make import make_engine
from tb_trainer.loop import Run
from tb_trainer.provenance import provenance
from tb_trainer.render import make_renderer
from tb_trainer.schema import TrainConfig
from tb_trainer.tasks.source import make_source

BUDGET = 0.05


class Clock:
    """Seconds spent in functions, by a name given to them."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def around(self, owner: Any, function: str, name: str) -> None:
        """Count the time of a function of a module or an object."""
        inner: Callable[..., Any] = getattr(owner, function)

        def timed(*args: Any, **kwargs: Any) -> Any:
            began = time.perf_counter()
            try:
                return inner(*args, **kwargs)
            finally:
                self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - began

        setattr(owner, function, timed)


def measure(config: TrainConfig, folder: Path) -> dict[str, Any]:
    """Seconds of an update by part, the mean of all updates but the first."""
    if config.threads:
        torch.set_num_threads(config.threads)
    clock, marks = Clock(), list[dict[str, float]]()

    def mark(row: Any) -> None:
        marks.append({**clock.seconds, **run.runner.seconds, "wall": time.perf_counter()})

    run = Run(config, folder, on_update=mark)
    renderer = make_renderer(config, run.tokenizer)
    source = make_source(config, run.task_ids)
    turns = scripts(lambda key: source.draw(key.update, key.group, 0), renderer)
    for update in range(1, config.grpo.updates + 1):
        for group in range(config.grpo.groups):
            for slot in range(config.grpo.group_size):
                turns(Key(config.seed, update, group, slot))
    inner: Any = make_engine(config, run.model, run.tokenizer)
    run.engine = run.runner.engine = ForcedEngine(inner, turns)
    clock.around(inner._decoder, "feed", "feed")
    clock.around(run.runner, "_episodes", "open")
    clock.around(Episode, "close", "open")
    clock.around(forced, "draw", "draw")
    clock.around(run.engine, "replace", "replace")
    for name in ("submit", "release"):  # called from where no engine is looked for
        clock.around(inner, name, "rows")
    clock.around(run.updater, "update", "update")
    clock.around(run, "_sync", "sync")
    for name in ("_save", "_note"):
        clock.around(run, name, "files")
    for name in ("first", "added", "read"):
        clock.around(run.runner.renderer, name, "render")
    for name in ("share", "pack", "pad"):
        clock.around(updating, name, "pad")
    rows = run.train()[1:]
    spent = {name: (marks[-1][name] - marks[0][name]) / len(rows) for name in marks[-1]}
    spent["wall"] -= spent["replace"]
    engine = spent["generate"] - spent["replace"] + spent["rows"]
    model = {
        "generate: forward": spent["feed"],
        "generate: draw": spent["draw"],
        "update: forward, backward, step": spent["update"] - spent["pad"],
    }
    own = {
        "generate: rows and turns": engine - spent["feed"] - spent["draw"],
        "render and parse": spent["render"],
        "update: share and pad": spent["pad"],
        "weights to the engine": spent["sync"],
        "log and checkpoint": spent["files"],
    }
    environment = {"episodes": spent["environment"], "grading": spent["grade"], "opening and closing": spent["open"]}
    rest = spent["wall"] - sum(model.values()) - sum(own.values()) - sum(environment.values())
    parts = {
        "model": model,
        "environment": environment,
        "own": {**own, "groups, advantages, the rest": rest},
    }
    tokens = {name: sum(row["tokens"][name] for row in rows) for name in ("prompt", "observation", "action")}
    return {
        "device": f"{platform.processor() or platform.machine()}, {torch.get_num_threads()} thread(s)",
        "torch": torch.__version__,
        "clock": "processor" if time.perf_counter is time.process_time else "wall",
        "preset": config.name,
        "parameters": sum(parameter.numel() for parameter in run.model.parameters()),
        "prompt": config.environment.prompt,
        "updates": len(rows),
        "episodes": config.episodes,
        "tokens_per_episode": round(sum(tokens.values()) / config.episodes / len(rows), 1),
        "messages_rendered_anew": round(_anew(run.runner.renderer), 3),
        "pass_rate": round(sum(row["pass_rate"] for row in rows) / len(rows), 3),
        "seconds": round(spent["wall"], 3),
        "shares": {
            kind: {name: round(value / spent["wall"], 4) for name, value in values.items()}
            for kind, values in parts.items()
        },
        "totals": {kind: round(sum(values.values()) / spent["wall"], 4) for kind, values in parts.items()},
    }


def _anew(renderer: Any) -> float:
    """Share of the environment's messages that no attempt had met before."""
    found = renderer._added.cache_info()
    return found.misses / (found.hits + found.misses)


def main() -> int:
    """Measure, print, compare with the budget."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--preset", default="cpu-demo")
    parser.add_argument("--updates", type=int, default=2, help="that are counted")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--cpu-time", action="store_true", help="of one thread, in place of the clock on the wall")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--no-check", action="store_true", help="exit 0 whatever the figures")
    options = parser.parse_args()
    if options.cpu_time:
        time.perf_counter = time.process_time  # the trainer's and the environment's clocks too
    fixed = [
        *(f"grpo.updates={options.updates + 1}", "evaluation.every=0", "saving.every=1", "saving.keep=1"),
        *("curriculum.kind=shuffled", "engine.kind=cpu"),
    ]
    with tempfile.TemporaryDirectory() as folder:
        found = measure(load(options.preset, [*options.set, *fixed]), Path(folder) / "run")
    for kind, values in found["shares"].items():
        print(f"{kind:44} {found['totals'][kind]:7.1%}")
        for name, value in values.items():
            print(f"  {name:42} {value:7.1%}")
    kept = found["totals"]["own"] <= BUDGET
    print(
        f"{found['seconds']} s an update of {found['episodes']} episodes, {found['tokens_per_episode']} tokens each, "
        f"{found['parameters']:,} parameters; own share <= {BUDGET:.0%}: {'kept' if kept else 'MISSED'}"
    )
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps({**provenance(), **found}, indent=1) + "\n", "utf-8")
    return int(not kept and not options.no_check)


if __name__ == "__main__":
    raise SystemExit(main())
