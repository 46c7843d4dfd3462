"""``tbx evaluate``: a policy on a suite, on fresh tasks or on named ones, a row a trial, for `tbx report`.

Resumes what it began: the same command plays what is missing, with the same random numbers (keyed by seed, task and
attempt), also with more attempts or tasks. Of each task's first trial the talk is kept as text. Refuses to add to a
file of another policy or of other settings. The benchmark is allowed here: an evaluation chooses nothing. Fresh tasks
are counted from `FRESH`, far from those of `tbx probe --fresh` and of warm starts, so no policy has trained on them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tb_envs.authoring.domain import SPLITS
from tb_envs.cli.parser import Parser, whole
from tb_envs.cli.screen import percent, print_json, screen, table
from tb_envs.cli.selection import select, suite
from tb_envs.errors import UsageError
from tb_envs.registration import load_domain
from tb_trainer.episodes import make_runner
from tb_trainer.evaluate import TRIALS, spread
from tb_trainer.provenance import provenance
from tb_trainer.report.stats import Scores
from tb_trainer.schema import ModelConfig, TrainConfig
from tb_trainer.tasks.guard import MARK
from tb_trainer.tasks.probe import NEEDS, fresh_ids, play, settings_of
from tb_trainer.tasks.records import EVALUATION, open_probe
from tb_trainer.tasks.scope import evaluation_domains, within

FRESH = 100_000
"""Index from which fresh tasks of an evaluation count."""


def main(argv: Sequence[str]) -> int:
    """Run ``tbx evaluate``; 1 if some trials could not be played."""
    args = _parser().read(list(argv))
    if args.greedy and args.attempts > 1:
        raise UsageError("--greedy takes the likeliest token each time: a second attempt would be the first again")
    missing = [name for name in NEEDS if find_spec(name) is None]
    if missing:
        raise UsageError(f"an evaluation needs {', '.join(missing)}: pip install 'thinkingbox-gym[train]'")
    from tb_trainer.config import load

    config = load(args.preset, args.set)
    name, ids = tasks_of(config, args)

    import torch

    from tb_trainer.engines.make import make_engine
    from tb_trainer.policy import load_policy

    if config.threads:
        torch.set_num_threads(config.threads)
    model, tokenizer = load_policy(config)
    engine = make_engine(config, model, tokenizer, training=False)
    engine.load(model)
    if args.greedy:
        engine.sampling = replace(engine.sampling, temperature=0.0)
    runner = make_runner(config, engine, tokenizer)
    runner.transcripts = lambda job: job.key.slot == 0
    settings = {**settings_of(config, model, tokenizer), "greedy": args.greedy}
    about = {"set": name, "tasks": len(ids), "attempts": args.attempts, **policy_of(config.model), **provenance()}
    try:
        with open_probe(args.out, settings, EVALUATION, about) as file:
            unplayed = play(file, runner, config, ids, args.attempts, update=TRIALS, quiet=args.json)
            rows = [row for row in file.rows if row["task"] in set(ids)]
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"what was played is kept in {args.out}; the same command goes on") from None
    finally:
        runner.close()
    _show(args, name, Scores.of(rows), dict(unplayed), len(ids) * args.attempts)
    return int(bool(unplayed))


def _parser() -> Parser:
    parser = Parser("evaluate", "Let a policy play tasks that it never trained on; a row per trial, for `tbx report`.")
    add = parser.add_argument
    add("--preset", default="smoke", metavar="NAME", help="of the training (default: smoke)")
    add("--set", action="append", default=[], metavar="NAME=VALUE", help="override: model.checkpoint=DIR, say")
    add("--split", metavar="SPLIT", help="dev (default), bench, train, or fresh:N for N tasks that no suite holds")
    add("--tasks", nargs="+", metavar="TASK", help="task ids or globs over the suites, in place of --split")
    add("--domain", action="append", metavar="NAME", help="only this domain (may be repeated)")
    add("--limit", type=whole(1), metavar="N", help="at most N of them, spread over the families")
    add("--attempts", type=whole(1), default=1, metavar="K", help="at each task (default: 1)")
    add("--greedy", action="store_true", help="take the likeliest token, in place of sampling")
    add("--out", type=Path, required=True, metavar="FILE.jsonl", help="new, or one to go on with")
    parser.json_option()
    return parser


def tasks_of(config: TrainConfig, args: Any) -> tuple[str, list[str]]:
    """What is to be played, and what to call it.

    Raises:
        UsageError: a split or a task that there is not.
    """
    environment = config.environment
    domains = args.domain or evaluation_domains(environment)
    if args.tasks:
        if args.split:
            raise UsageError("--tasks and --split exclude each other")
        args.limit, limit, args.seed = None, args.limit, None
        ids = spread(select(args), limit or 0)
        return f"tasks {hashlib.sha256(' '.join(ids).encode()).hexdigest()[:8]}", ids
    split, mark, count = (args.split or "dev").partition(":")
    if split == "fresh":
        if not count.isdigit() or not int(count):
            raise UsageError(f"--split {args.split}: write how many, e.g. fresh:500")
        return f"fresh:{count}", spread(fresh_ids(domains, int(count), FRESH, environment=environment), args.limit or 0)
    if split not in SPLITS or mark:
        raise UsageError(f"--split {args.split!r}: valid: {', '.join(SPLITS)}, fresh:N")
    ids = [task_id for name in domains for task_id in suite(load_domain(name), split)]
    if split != "bench":  # whose families are others
        ids = within(environment, ids)
    if not ids:
        raise UsageError(f"the suite {split!r} of {', '.join(domains)} holds no task; say --split fresh:N or --tasks")
    return split, spread(ids, args.limit or 0)


def policy_of(model: ModelConfig) -> dict[str, Any]:
    """Which policy is evaluated: ``policy`` (a path or ``untrained``), ``update`` of its checkpoint, the guard's mark.

    ``update`` is 0 for a policy that no run has trained, which is the one that others are compared with.
    """
    from tb_trainer.checkpoint import read_state

    path = model.checkpoint or model.path
    state = read_state(Path(path)) if path and (Path(path) / "state.json").is_file() else {}
    mark = {MARK: state[MARK]} if state.get(MARK) else {}
    return {"policy": path or "untrained", "update": int(state.get("update", 0)), **mark}


def _show(args: Any, name: str, scores: Scores, unplayed: dict[str, int], planned: int) -> None:
    bounds = scores.bounds(planned) if unplayed else None
    report = {
        "out": str(args.out),
        "set": name,
        "greedy": args.greedy,
        "tasks": len(scores.passed),
        "trials": scores.trials,
        "unplayed": unplayed,
        **({"bounds": list(bounds)} if bounds else {}),
        "metrics": {metric: list(interval) for metric, interval in scores.metrics().items()},
    }
    if args.json:
        print_json(report)
        return
    out = screen()
    lines = [
        (metric, percent(found.estimate), f"{percent(found.low)} to {percent(found.high)}")
        for metric, found in scores.metrics().items()
    ]
    out.print(table(("metric", "value", "95 % interval"), lines, numbers=("value",)))
    out.print(f"\n{scores.trials} trials at {len(scores.passed)} tasks of {name}; intervals: bootstrap over tasks")
    if unplayed:
        causes = ", ".join(f"{count} {cause}" for cause, count in unplayed.items())
        out.print(f"{sum(unplayed.values())} trials ended in system errors ({causes}); the same command plays them")
        if bounds:
            low, high = map(percent, bounds)
            out.print(f"the table is of what was played; over all {planned} trials pass@1 is between {low} and {high}")
    out.print(f"rows: {args.out}")
