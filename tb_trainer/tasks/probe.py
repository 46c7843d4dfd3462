"""``tbx probe``: how often the model, before training, solves each candidate task. For `tbx select`.

Attempts are played round by round, the first of every task before the second of any, so that a probe that is stopped
has about the same number everywhere; started again, it goes on, also with more attempts or tasks. Random numbers are
keyed by (seed, task, attempt): the same probe gives the same rows in whatever order. System errors are played again
and never written: a task that could not be played has fewer attempts. Refuses to add to a file of other settings.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from statistics import fmean
from typing import Any

from tb_envs import __version__
from tb_envs.authoring.rng import stable_seed
from tb_envs.cli.parser import Parser, whole
from tb_envs.cli.screen import percent, print_json, progress, screen, table
from tb_envs.cli.selection import select, task_options
from tb_envs.errors import UsageError
from tb_envs.grading.verdict import GRADER
from tb_envs.registration import load_domain
from tb_envs.task import get_task
from tb_trainer.engines import Key
from tb_trainer.episodes import make_runner, unusual
from tb_trainer.evaluate import family_of, trial
from tb_trainer.play import play_all
from tb_trainer.runner import Job, Rollout, Runner
from tb_trainer.schema import EnvironmentConfig, TrainConfig
from tb_trainer.tasks.records import ProbeFile, Row, open_probe
from tb_trainer.tasks.scope import training_domains, within

PROBE = -2
"""In place of an update's number in the keys: a probe shares its random numbers with no update and no evaluation."""
FRESH = 1000
"""Index from which `--fresh` counts; the suites end before it."""
NEEDS = ("torch", "transformers", "tokenizers", "yaml")
SAMPLE = 256
"""Numbers of each tensor that go into the weights' hash."""


def probe(argv: Sequence[str]) -> int:
    """Run ``tbx probe``; 1 if some attempts could not be played."""
    args = _parser().read(list(argv))
    missing = [name for name in NEEDS if find_spec(name) is None]
    if missing:
        raise UsageError(f"probing needs {', '.join(missing)}: pip install 'thinkingbox-gym[train]'")
    from tb_trainer.config import load

    config = load(args.preset, args.set)
    ids = candidates(config, args)

    import torch

    from tb_trainer.engines.make import make_engine
    from tb_trainer.policy import load_policy

    if config.threads:
        torch.set_num_threads(config.threads)
    model, tokenizer = load_policy(config)
    engine = make_engine(config, model, tokenizer, training=False)
    engine.load(model)
    runner = make_runner(config, engine, tokenizer)
    settings = settings_of(config, model, tokenizer)
    try:
        holdout = config.environment.holdout_domain  # for `tbx select`, which sees no settings
        with open_probe(args.out, settings, about={"holdout_domain": holdout} if holdout else None) as file:
            unplayed = play(file, runner, config, ids, args.attempts, quiet=args.json)
            rows = [row for row in file.rows if row["task"] in set(ids)]
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"what was played is kept in {args.out}; the same command goes on") from None
    finally:
        runner.close()
    _report(args, ids, rows, unplayed)
    return int(bool(unplayed))


def _parser() -> Parser:
    parser = Parser("probe", "Let the model try tasks before it is trained; a row per attempt, for `tbx select`.")
    parser.add_argument("--preset", default="smoke", metavar="NAME", help="of the training to come (default: smoke)")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="override a setting")
    parser.add_argument("--attempts", type=whole(1), default=8, metavar="N", help="at each task (default: 8)")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.jsonl", help="new, or one to go on with")
    parser.add_argument("--fresh", type=whole(1), metavar="N", help="N tasks of training families that no suite holds")
    task_options(parser)
    parser.json_option()
    return parser


def candidates(config: TrainConfig, args: Any) -> list[str]:
    """The tasks that are meant; without a word about them, those that the preset would train on.

    ``environment.families`` restricts them all, except tasks that are named with ``--tasks``.
    """
    environment = config.environment
    domains = args.domain or training_domains(environment)
    if args.fresh:
        if args.tasks or args.split:
            raise UsageError("--fresh takes tasks of no suite: leave out --tasks and --split")
        return fresh_ids(domains, args.fresh, environment=environment)
    if args.tasks:
        return select(args)
    if not (args.domain or args.split) and environment.tasks:
        return within(environment, environment.tasks)
    args.domain, args.split = domains, args.split or environment.split
    limit, args.limit = args.limit, None
    found = within(environment, select(args))
    if not found:
        raise UsageError(f"environment.families leaves no task of the suite {args.split!r}; name others, or --tasks")
    return found[:limit]


def fresh_ids(
    domains: Sequence[str], count: int, first: int = FRESH, *, environment: EnvironmentConfig | None = None
) -> list[str]:
    """Ids of tasks that are in no suite, from index `first` on, spread over the training families of some domains.

    With an `environment`, of those families only that it names.
    """
    families = [
        f"{name}/{family.name}"
        for name in domains
        for family in load_domain(name).families.values()
        if family.split == "train"
    ]
    if environment is not None:
        families = [task_id.rpartition("/")[0] for task_id in within(environment, [f"{name}/0" for name in families])]
    if not families:
        raise UsageError(f"no training family of {', '.join(domains)} is left to take fresh tasks of")
    return [f"{families[place % len(families)]}/{first + place // len(families)}" for place in range(count)]


def settings_of(config: TrainConfig, model: Any, tokenizer: Any) -> dict[str, Any]:
    """All that decides how an attempt ends, besides the task: rows with other settings are not to be mixed."""
    environment = config.environment
    return {
        "weights": weights_hash(model),
        "tokenizer": tokenizer_hash(tokenizer),
        "dtype": config.model.dtype,
        "thinking": config.model.thinking,
        "parser": config.model.parser,
        "engine": config.engine.kind,
        "sampling": asdict(config.sampling),
        "episode": {name: getattr(environment, name) for name in ("turns", "tool_calls", "reward", "prompt")},
        **unusual(environment),
        "seed": config.seed,
        "tb_envs": __version__,
        "grader": GRADER,
    }


def weights_hash(model: Any) -> str:
    """Hash of a model's weights, of names, shapes and `SAMPLE` numbers of each: enough to tell a trained one apart."""
    found = hashlib.sha256()
    for name, weight in sorted(model.named_parameters()):
        flat = weight.detach().reshape(-1)
        numbers = flat[:: max(1, flat.numel() // SAMPLE)].float().cpu().numpy()
        found.update(f"{name} {tuple(weight.shape)}".encode() + numbers.tobytes())
    return found.hexdigest()[:16]


def tokenizer_hash(tokenizer: Any) -> str:
    """Hash of the vocabulary and the chat template."""
    parts = [*map(str, sorted(tokenizer.get_vocab().items())), str(tokenizer.chat_template)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def play(
    file: ProbeFile,
    runner: Runner,
    config: TrainConfig,
    ids: Sequence[str],
    attempts: int,
    *,
    update: int = PROBE,
    quiet: bool = True,
) -> Counter[str]:
    """Play what the file lacks, and write it there.

    Args:
        file: open; its `rows` grow.
        runner: plays.
        config: seed, retries and slots.
        ids: the candidates.
        attempts: at each.
        update: what stands for an update's number in the keys.
        quiet: show no progress.

    Returns:
        Attempts that system errors kept from being played, by cause.

    Raises:
        UsageError: the file has rows of these tasks as they were before they were changed.
    """
    versions = {name: _versions(name) for name in {task_id.split("/")[0] for task_id in ids}}
    _check_rows(file, ids, versions)
    done = {(row["task"], row["attempt"]) for row in file.rows}
    jobs = [
        Job(Key(config.seed, update, stable_seed(task_id), attempt), task_id)
        for attempt in range(attempts)
        for task_id in ids
        if (task_id, attempt) not in done
    ]
    unplayed: Counter[str] = Counter()
    with progress(len(jobs), "attempts", quiet=quiet) as advance:

        def note(rollout: Rollout) -> None:
            if rollout.status == "system_error":
                unplayed[rollout.outcome.removeprefix("error:")] += 1
            else:
                task = get_task(rollout.job.task_id)
                row: Row = {**trial(rollout), "versions": versions[task.domain.name]}
                file.write(row)
                file.rows.append(row)
            advance(f"pass@1 {percent(fmean(map(_solved, file.rows)) if file.rows else None)}")

        environment = config.environment
        slots, pause = config.engine.slots, environment.pause
        play_all(runner, jobs, environment.retries, slots=slots, pause=pause, on_rollout=note)
    return unplayed


def _versions(domain: str) -> dict[str, str]:
    from importlib.metadata import PackageNotFoundError, version

    found = {"tb_envs": __version__, "grader": GRADER, "domain": load_domain(domain).digest}
    for name in ("torch", "transformers"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _check_rows(file: ProbeFile, ids: Sequence[str], versions: dict[str, dict[str, str]]) -> None:
    wanted = set(ids)
    for row in file.rows:
        task_id = row["task"]
        if task_id not in wanted:
            continue
        if row["versions"]["domain"] != versions[task_id.split("/")[0]]["domain"]:
            raise UsageError(f"the domain of {task_id} has changed since (tools, policy, seed rows); name another file")
        if row["hash"] != get_task(task_id).hash:
            raise UsageError(f"{task_id} has changed since it was probed; name another file")


def _solved(row: Row) -> bool:
    return row["outcome"] == "success"


def _report(args: Any, ids: Sequence[str], rows: Sequence[Row], unplayed: Counter[str]) -> None:
    by_task: dict[str, list[bool]] = {task_id: [] for task_id in ids}
    families: defaultdict[str, list[bool]] = defaultdict(list)
    for row in rows:
        by_task[row["task"]].append(_solved(row))
        families[family_of(row["task"])].append(_solved(row))
    tried = [passed for passed in by_task.values() if passed]
    report = {
        "out": str(args.out),
        "tasks": len(ids),
        "attempts": len(rows),
        "unplayed": dict(unplayed),
        "pass_at_1": fmean(map(_solved, rows)) if rows else None,
        "always": sum(map(all, tried)),
        "never": sum(not any(passed) for passed in tried),
        "families": {name: {"attempts": len(p), "pass_at_1": fmean(p)} for name, p in sorted(families.items())},
    }
    if args.json:
        print_json(report)
        return
    out = screen()
    lines = [(name, part["attempts"], percent(part["pass_at_1"])) for name, part in report["families"].items()]
    out.print(table(("family", "attempts", "pass@1"), lines, numbers=("attempts", "pass@1")))
    out.print(f"\n{len(rows)} attempts at {len(ids)} tasks, {percent(report['pass_at_1'])} solved")
    out.print(f"always solved: {report['always']} tasks; never: {report['never']}; the others can teach")
    if unplayed:
        causes = ", ".join(f"{count} {name}" for name, count in unplayed.items())
        out.print(f"{unplayed.total()} attempts ended in system errors ({causes}); the same command plays them again")
    out.print(f"rows: {args.out}")
