"""A run from end to end: rewards move weights, a killed run goes on as if nothing had been, many processes are one."""

from __future__ import annotations

import gc
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import torch
from trainer_parts import CHATTER, IDLE, TASKS, config, reference, sets, written

from tb_envs.episode import Episode
from tb_envs.errors import BackendError, UsageError
from tb_envs.registration import load_domain
from tb_trainer import checkpoint, cli
from tb_trainer.config import load
from tb_trainer.engines import Key
from tb_trainer.evaluate import TRIALS, family_of, spread
from tb_trainer.groups import Group, OutageError
from tb_trainer.grpo import Example, advantages
from tb_trainer.log import read_rows
from tb_trainer.loop import Run
from tb_trainer.reference import WrittenEngine
from tb_trainer.render import Renderer
from tb_trainer.report.page import write
from tb_trainer.report.pairs import find_pairs
from tb_trainer.report.read import read_run
from tb_trainer.schema import TrainConfig
from tb_trainer.tasks import guard
from tb_trainer.tasks.source import make_source

HERE = Path(__file__).parent
DEV = ("library/halve_fee/20", "library/halve_fee/21")


def table(settings: TrainConfig, done: Callable[[], int] = lambda: 0) -> WrittenEngine:
    """Of each group, as many slots as its task's index says (of four) play the reference solution, the others idle.

    In evaluations the policy is best after three updates (`done`).
    """
    source = make_source(settings, list(settings.environment.tasks))

    def turns(key: Key) -> Sequence[str]:
        if key.update == TRIALS:
            return reference(DEV[key.group]) if key.slot < (0, 0, 1, 2, 1)[done()] else IDLE
        task_id = source.draw(key.update, key.group % 1_000_000, key.group // 1_000_000)
        return reference(task_id) if key.slot < int(task_id[-1]) % 5 else IDLE

    return written(turns, "compact")


def settings_for(**changes: dict[str, Any]) -> TrainConfig:
    return config(**{**changes, "environment": {"prompt": "compact", **changes.get("environment", {})}})


def make_run(out: Path, settings: TrainConfig | None = None, **arguments: Any) -> Run:
    settings = settings or settings_for()
    run: Run = Run(settings, out, engine=table(settings, lambda: run.done), **arguments)
    return run


def flat(run: Run) -> torch.Tensor:
    return torch.cat([parameter.detach().clone().flatten() for parameter in run.model.parameters()])


def weights(out: Path, update: int) -> dict[str, torch.Tensor]:
    from safetensors.torch import load_file

    return load_file(checkpoint.folder_of(out, update) / "model.safetensors")


# -- one process


def test_rewards_of_the_database_move_the_weights(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    before = flat(run)
    first, second = run.train()
    assert (flat(run) - before).abs().max() > 1e-4
    assert run.batch is not None
    for row in (first, second):
        assert row["episodes"] == 12
        assert row["tokens"]["action"] == row["optimizer"]["tokens"]
        assert row["optimizer"]["ratio"] == 1.0
        assert row["optimizer"]["importance"] <= 2.0
        assert {"generate", "environment", "grade", "collect", "update", "sync", "total"} <= set(row["seconds"])
        assert row["families"] == {"library/halve_fee": [round(row["pass_rate"], 4), 12]}
    assert 0 < run.runner.seconds["grade"] < run.runner.seconds["generate"] + run.runner.seconds["environment"]
    for group in run.batch.groups:
        solved = min(4, int(group.task_id[-1]) % 5)
        assert group.rewards == [1.0] * solved + [0.0] * (4 - solved)
        (scored,) = advantages([group.rewards])
        assert any(scored) == (0 < solved < 4)
    log = read_rows(tmp_path / "log.jsonl")
    assert [row["event"] for row in log] == ["start", "update", "update", "checkpoint", "end"]
    assert log[0]["hashes"] == run.hashes
    assert json.loads((tmp_path / "config.json").read_text("utf-8"))["environment"]["domains"] == ["library"]


def test_the_documents_list_what_is_logged_of_an_update(tmp_path: Path) -> None:
    everything: dict[str, Any] = {
        "grpo": {"updates": 1, "kl": 0.1},
        "curriculum": {"kind": "posterior", "watch": 8},
    }
    (row,) = make_run(tmp_path, settings_for(**everything)).train()
    page = (HERE.parent / "docs/trainer.md").read_text("utf-8")
    section = page.partition("## What is logged of an update")[2].partition("\n## ")[0]
    lines = [line.split("|")[1:3] for line in section.splitlines() if line.startswith("| `")]
    names = {name: meaning for keys, meaning in lines for name in re.findall(r"`(\w+)`", keys)}
    assert {"update", *names} == set(row)
    for part in ("tokens", "seconds", "optimizer"):
        assert set(re.findall(r"`(\w+)`", names[part])) == set(row[part])
    assert [row[name] for name in ("user_cost", "judge_cost", "user_tokens", "judge_tokens")] == [0, 0, 0, 0]


def test_without_variance_nothing_moves_and_the_update_counts(tmp_path: Path) -> None:
    settings = settings_for(
        environment={"tasks": ["library/halve_fee/0", "library/halve_fee/5", "library/halve_fee/4"]}
    )
    run = make_run(tmp_path, settings)
    before = flat(run)
    rows = run.train()
    assert [row["informative_groups"] for row in rows] == [0, 0]
    assert [row["optimizer"]["why"] for row in rows] == ["no group has variance"] * 2
    assert not (flat(run) - before).any()


def test_the_curve_is_of_all_that_was_played_whatever_a_filter_left(tmp_path: Path) -> None:
    """Tasks 0 and 5 are never solved, task 4 always: their groups are replaced, and count in the rates all the same."""
    run = make_run(tmp_path, settings_for(grpo={"updates": 1, "refills": 3}))
    (row,) = run.train()
    batch = run.batch
    assert batch is not None

    def solved(groups: list[Group]) -> int:
        return sum(min(4, int(group.task_id[-1]) % 5) for group in groups)

    kept, gone = batch.groups, batch.uniform
    assert gone and {int(group.task_id[-1]) % 5 for group in gone} <= {0, 4}
    assert {int(group.task_id[-1]) % 5 for group in kept} <= {1, 2, 3}
    every, trained = solved(kept + gone) / 4 / len(kept + gone), solved(kept) / 4 / len(kept)
    assert every != trained
    assert (row["uniform_replaced"], row["episodes"], row["played_episodes"]) == (
        len(gone), 12, 12 + 4 * len(gone)
    )  # fmt: skip
    assert row["pass_rate"] == row["reward_mean"] == pytest.approx(every)
    assert row["trained_pass_rate"] == row["trained_reward_mean"] == pytest.approx(trained)
    rate = [round(every, 4), row["played_episodes"]]
    assert row["traps"] == {"arithmetic": rate, "completion": rate}
    assert row["families"] == {"library/halve_fee": rate}
    assert row["cells"] == {"library/halve_fee: halved": rate}
    # Who does not play the reference solution ends the talk in the first turn; these are sums over what was trained on.
    assert row["early_exits"] == row["episodes"] - solved(kept)
    assert (row["informative_groups"], row["solved_groups"], row["failed_groups"]) == (3, 0, 0)


def test_what_a_limit_ended_trains_like_any_other_and_is_counted(tmp_path: Path) -> None:
    """Half of the attempts chatter until their turns run out: all their tokens are trained on, none is left out."""
    settings = settings_for(grpo={"updates": 1})
    source = make_source(settings, list(settings.environment.tasks))
    run = Run(
        settings,
        tmp_path,
        engine=written(
            lambda key: reference(source.draw(key.update, key.group, 0)) if key.slot % 2 else CHATTER, "compact"
        ),
    )
    seen: list[Example] = []
    update = run.updater.update
    run.updater.update = lambda examples: (seen.extend(examples), update(examples))[1]
    (row,) = run.train()
    assert run.batch is not None
    assert [rollout.ended_by for rollout in run.batch.rollouts] == ["limit:turns", "agent"] * 6
    assert [rollout.status for rollout in run.batch.rollouts] == ["policy_error", "ok"] * 6
    assert row["limits_hit"] / row["episodes"] == 0.5
    (bad, good, *_) = advantages([[0.0, 1.0] * 2])[0]
    assert [example.advantage for example in seen] == [bad, good] * 6
    assert row["optimizer"]["trained"] == sum(rollout.tokens.actions for rollout in run.batch.rollouts)
    assert row["optimizer"]["tokens"] == row["optimizer"]["trained"]


def test_what_was_loaded_is_not_walked_by_the_collector_while_a_run_trains(tmp_path: Path) -> None:
    seen: list[int] = []
    run = make_run(tmp_path, settings_for(grpo={"updates": 1}), on_update=lambda _: seen.append(gc.get_freeze_count()))
    run.train()
    assert seen[0] > 10_000
    assert gc.get_freeze_count() == 0


def test_warmup_raises_the_rate(tmp_path: Path) -> None:
    run = make_run(tmp_path, settings_for(grpo={"updates": 3, "warmup": 2}))
    assert [row["optimizer"]["learning_rate"] for row in run.train()] == pytest.approx([5e-4, 1e-3, 1e-3])


def test_an_outage_ends_the_run_does_not_count_and_can_be_resumed(tmp_path: Path) -> None:
    calm = make_run(tmp_path / "calm", settings_for(grpo={"updates": 3}))
    calm.train()
    make_run(tmp_path / "run", settings_for(grpo={"updates": 1})).train()
    stormy = settings_for(grpo={"updates": 3})
    run = make_run(tmp_path / "run", stormy, resume=True)
    run.runner.settings = type(run.runner.settings)(limits=run.runner.settings.limits, faults={"crash": 1.0})
    with pytest.raises(OutageError, match=r"update 2: .* does not count"):
        run.train()
    failed = read_rows(tmp_path / "run/log.jsonl")[-1]
    assert (failed["event"], failed["updates"]) == ("failed", 1)
    again = make_run(tmp_path / "run", stormy, resume=True)
    again.train()
    assert torch.equal(flat(again), flat(calm))
    updates = [row["update"] for row in read_rows(tmp_path / "run/log.jsonl") if row["event"] == "update"]
    assert updates == [1, 2, 3]


# -- resume

KILLED = """
import os, signal, sys
sys.path.insert(0, {tests!r})
import conftest
from pathlib import Path
from tb_trainer import checkpoint
from test_trainer_loop import dev_suite, make_run, with_evaluation
(suite := dev_suite()).__enter__()
run = make_run(Path({out!r}), with_evaluation(), resume={resume})
"""


def script(tmp_path: Path, out: Path, *, resume: bool, body: str) -> Path:
    path = tmp_path / f"script{time.time_ns()}.py"
    path.write_text(KILLED.format(tests=str(HERE), out=str(out), resume=resume) + body, "utf-8")
    return path


DIES = {
    "while it plays": (
        "poll = run.runner.poll\n"
        "run.runner.poll = lambda **k: die() if checkpoint.whole(run.out)[-1:] == [2] else poll(**k)\n"
    ),
    "in the step": (
        "step = run.optimizer.step\nrun.optimizer.step = lambda *a, **k: (step(*a, **k), run.done == 2 and die())\n"
    ),
    "in the middle of a checkpoint": (
        "import torch\nsave = torch.save\ntorch.save = lambda *a, **k: (run.done == 3 and die(), save(*a, **k))\n"
    ),
    "between the row of an update and its checkpoint": (
        "save = run._save\nrun._save = lambda: (run.done == 3 and die(), save())\n"
    ),
    "when a checkpoint is whole, and its row is not written": (
        "note = run._note\n"
        "run._note = lambda **row: (row['event'] == 'checkpoint' and run.done == 2 and die(), note(**row))\n"
    ),
    "in the evaluation": (
        "poll = run.runner.poll\n"
        "def last(**k):\n"
        "    done = poll(**k)\n"
        "    if run.done == 3 and done and done[0].job.key.update == -1: die()\n"
        "    return done\n"
        "run.runner.poll = last\n"
    ),
}


@contextmanager
def dev_suite() -> Iterator[None]:
    """The toy has a suite to be evaluated on, for as long as the block lasts."""
    library = load_domain("library")
    before, near = library.suite_ids, guard.NEAR
    library.__dict__["suite_ids"], guard.NEAR = {**before, "dev": DEV}, 2.0  # all tasks of the toy are alike
    try:
        yield
    finally:
        library.__dict__["suite_ids"], guard.NEAR = before, near


def with_evaluation() -> TrainConfig:
    """Four updates, each evaluated on two tasks and saved."""
    return settings_for(
        grpo={"updates": 4},
        saving={"every": 1, "keep": 2},
        curriculum={"kind": "posterior"},
        evaluation={"every": 1, "attempts": 2},
    )


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that nobody disturbed."""
    out = tmp_path_factory.mktemp("whole")
    with dev_suite():
        make_run(out, with_evaluation()).train()
    return out


@pytest.mark.parametrize("moment", DIES)
def test_a_killed_run_goes_on_with_the_update_that_would_have_come(tmp_path: Path, whole: Path, moment: str) -> None:
    killed, settings = tmp_path / "killed", with_evaluation()
    die = "def die():\n    os.kill(os.getpid(), signal.SIGKILL)\n"
    path = script(tmp_path, killed, resume=False, body=f"{die}{DIES[moment]}run.train()\n")
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr[-2000:]
    assert checkpoint.whole(killed)[-1] == 2
    with dev_suite():
        run = make_run(killed, settings, resume=True)
        assert run.done == 2
        run.train()
    for name, tensor in weights(whole, 4).items():
        assert torch.equal(weights(killed, 4)[name], tensor)
    ours, theirs = (_untimed(read_rows(out / "log.jsonl")) for out in (killed, whole))
    assert ours == theirs
    assert [row["event"] for row in ours] == ["evaluation", *["update", "evaluation"] * 4]
    assert [row["pass@1"] for row in ours if row["event"] == "evaluation"] == [0.0, 0.0, 0.5, 1.0, 0.5]
    assert checkpoint.whole(killed) == checkpoint.whole(whole) == [3, 4]
    assert not list((killed / "checkpoints").glob(".*"))


class Refused(Episode):
    """While `tasks` holds a task, its backend is away."""

    tasks: set[str] = set()

    async def reset(self, task: Any, **changes: Any) -> str:
        if task.id in self.tasks:
            raise BackendError("the backend of this task is away")
        return await super().reset(task, **changes)


def test_an_evaluation_with_unplayed_tasks_has_bounds_and_chooses_no_checkpoint(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """After update 2 one of two tasks cannot be played and the other is solved: half of the truth, and no best run."""
    solving = {0: (), 1: (0,), 2: (0,), 3: ()}
    settings = settings_for(
        grpo={"updates": 3},
        environment={"retries": 1, "drops": 99},
        saving={"every": 1, "keep": 1},
        evaluation={"every": 1, "attempts": 2},
    )
    source = make_source(settings, list(settings.environment.tasks))

    def turns(key: Key) -> Sequence[str]:
        if key.update == TRIALS:
            return reference(DEV[key.group]) if key.group in solving[run.done] else IDLE
        return reference(source.draw(key.update, key.group, 0)) if key.slot else IDLE

    with dev_suite():
        run: Run = Run(settings, tmp_path, engine=written(turns, "compact"))
        run.runner._episodes = Refused
        evaluate_ = run._evaluate

        def broken(update: int) -> None:
            Refused.tasks = {0: set(DEV), 2: {DEV[1]}}.get(update, set())
            evaluate_(update)
            Refused.tasks = set()

        run._evaluate = broken
        run.train()
    none, first, half, last = (row for row in read_rows(tmp_path / "log.jsonl") if row["event"] == "evaluation")
    assert [row["unplayed"] for row in (none, first, half, last)] == [4, 0, 2, 0]
    assert (none["pass@1"], none["bounds"], none["best"]) == (None, [0.0, 1.0], None)
    assert (first["pass@1"], first["best"]) == (0.5, 1) and "bounds" not in first
    assert (half["pass@1"], half["reward"], half["breadth"]) == (None, None, None)
    assert (half["bounds"], half["families"], half["trials"], half["best"]) == ([0.5, 1.0], {}, 2, 1)
    assert not {"pass@2", "pass^2", "interval"} & half.keys()
    assert (last["pass@1"], last["best"]) == (0.0, 1)
    state = checkpoint.read_state(checkpoint.folder_of(tmp_path, 3))
    assert (state["best"], state["best_update"], checkpoint.whole(tmp_path)) == (0.5, 1, [1, 3])
    said = capsys.readouterr().err.splitlines()
    assert [line for line in said if line.startswith("evaluation")] == [
        f"evaluation after update {update}: {unplayed} of 4 trials could not be played, so it chooses no checkpoint; "
        f"pass@1 lies between {low} and 100.0%"
        for update, unplayed, low in ((0, 4, "0.0%"), (2, 2, "50.0%"))
    ]
    page = write([read_run(tmp_path)], find_pairs([read_run(tmp_path)], ["run"]))
    assert (
        "Evaluations of which trials could not be played, which choose no checkpoint: update 0 (4 of 4; pass@1 between "
        "0.0 % and 100.0 %); update 2 (2 of 4; pass@1 between 50.0 % and 100.0 %)." in page
    )
    assert "2 (2 unplayed)" in page


def _untimed(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {name: value for name, value in row.items() if name not in ("seconds", "tokens_per_second")}
        for row in rows
        if row["event"] in ("update", "evaluation")
    ]


def test_a_checkpoint_is_not_another_runs(tmp_path: Path) -> None:
    make_run(tmp_path).train()
    with pytest.raises(UsageError, match="another configuration; resume with the settings"):
        make_run(tmp_path, settings_for(grpo={"learning_rate": 2e-3}), resume=True)
    with pytest.raises(UsageError, match="another configuration"):
        make_run(tmp_path, settings_for(environment={"tasks": TASKS[:4]}), resume=True)
    state = checkpoint.read_state(checkpoint.folder_of(tmp_path, 2))
    with pytest.raises(UsageError, match="another tasks"):  # an id whose task has changed
        checkpoint.check_same(state, {**state["hashes"], "tasks": "x"}, tmp_path)
    with pytest.raises(UsageError, match="already holds a run"):
        make_run(tmp_path)
    with pytest.raises(UsageError, match="holds no run; start it without --resume"):
        make_run(tmp_path / "nothing", resume=True)
    more = make_run(tmp_path, settings_for(grpo={"updates": 3}), resume=True)  # a longer run is the same run
    assert [row["update"] for row in more.train()] == [3]


# -- the hotel, and the command


def test_the_hotel_is_played_through_the_same_path(tmp_path: Path) -> None:
    longer = [
        "environment.turns=60",
        "environment.tool_calls=120",
        "sampling.episode_tokens=8192",
        "sampling.turn_tokens=512",
    ]
    small = ["grpo.updates=1", "grpo.groups=2", "grpo.group_size=2"]
    held_out = ["evaluation.every=1", "evaluation.tasks=3", "evaluation.attempts=2"]
    settings = load("smoke", [*longer, *small, *held_out])
    run = Run(settings, tmp_path)
    source = make_source(settings, run.task_ids)
    dev = spread(load_domain("hotel").suite_ids["dev"], 3)

    def turns(key: Key) -> Sequence[str]:
        if key.update == TRIALS:
            return reference(dev[key.group]) if key.slot or not key.group else IDLE
        return reference(source.draw(key.update, key.group, 0)) if key.slot % 2 else IDLE

    run.runner.engine = run.engine = WrittenEngine(Renderer(run.tokenizer, "compact"), turns)
    before = flat(run)
    (row,) = run.train()
    assert run.batch is not None
    assert [rollout.reward for rollout in run.batch.rollouts] == [0.0, 1.0, 0.0, 1.0]
    assert row["informative_groups"] == 2
    assert row["tokens"]["prompt"] < 4 * 1500
    assert (flat(run) - before).abs().max() > 0
    found = [row for row in read_rows(tmp_path / "log.jsonl") if row["event"] == "evaluation"]
    assert [row["update"] for row in found] == [0, 1]
    for row in found:
        assert row["pass@1"] == pytest.approx(2 / 3)
        assert (row["pass@2"], row["pass^2"], row["breadth"]) == (1.0, pytest.approx(1 / 3), 1.0)
        assert row["interval"][0] < 2 / 3 < row["interval"][1]
        assert (row["trials"], row["tasks"], row["unplayed"]) == (6, 3, 0)
    trials = read_rows(tmp_path / "evaluations/update-1.jsonl")
    assert [(row["task"], row["attempt"]) for row in trials] == [(task, slot) for task in dev for slot in range(2)]
    assert len({family_of(task) for task in dev}) == 3


NO_DEEPSPEED = (
    "parallel.strategy is deepspeed, and this process was launched with ddp: accelerate launch --config_file "
    "tb_trainer/launch/deepspeed_zero3.yaml"
    if find_spec("deepspeed")
    else "parallel.strategy deepspeed needs DeepSpeed: pip install 'thinkingbox-gym[train,deepspeed]'"
)
LIBRARY_SETS = [
    "environment.domains=[library]",
    f"environment.tasks=[{', '.join(TASKS)}]",
    "model.hidden=32",
    "model.vocabulary=512",
    "sampling.turn_tokens=8",
]


def test_the_smoke_preset_runs_two_updates_of_the_model_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["--preset", "smoke", *sets(*LIBRARY_SETS), "--out", str(tmp_path / "run"), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    log = read_rows(tmp_path / "run/log.jsonl")
    assert [row["event"] for row in log] == ["start", "update", "update", "checkpoint", "end"]
    assert "mechanics only" in log[0]["note"] == shown["note"]
    for row in log[1:3]:
        assert row["episodes"] == 12
        assert 12 <= row["turns"] <= 72
        assert 0 < row["tokens"]["action"] <= 8 * row["turns"]
        assert row["optimizer"]["learning_rate"] == 2e-4
    assert [row | {"event": "update"} for row in shown["updates"]] == log[1:3]
    assert cli.main(["--preset", "smoke", *sets(*LIBRARY_SETS), "--out", str(tmp_path / "run")]) == 2
    assert "already holds a run" in capsys.readouterr().err
    assert cli.main(["--preset", "smoke", *sets(*LIBRARY_SETS), "--out", str(tmp_path / "again")]) == 0
    assert _untimed(read_rows(tmp_path / "again/log.jsonl")) == _untimed(log)
    assert "mechanics only" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--preset", "smok"], "unknown preset 'smok'; valid: "),
        (sets("grpo.update=3"), "unknown setting 'grpo.update'; did you mean grpo.updates?"),
        (sets("updates=3"), "did you mean grpo.updates?"),
        (sets("grpo.updates=many"), "grpo.updates: input should be a valid integer"),
        (sets("grpo.updates=0"), "grpo.updates: input should be greater than or equal to 1, got 0"),
        (sets("grpo.updates"), "write name=value"),
        (sets("seed.x=1"), "'seed' has no parts"),
        (sets("environment.domains=[libary]"), "unknown domain 'libary'"),
        (sets("environment.domains=[library]", "environment.split=dev"), "no frozen suite 'dev'"),
        (sets(*LIBRARY_SETS, "grpo.groups=9"), "there are only 8 tasks"),
        (sets(*LIBRARY_SETS, "environment.faults.tmeout=0.1"), "unknown fault 'tmeout'"),
        (sets(*LIBRARY_SETS, "sampling.episode_tokens=50"), "episode_tokens must be at least"),
        (sets("sampling.turn_tokens=9999"), "sampling.turn_tokens must be less"),
        (sets("environment.holdout_domain=hotel"), "leaves no domain to train on"),
        (["--present", "smoke"], "--preset NAME"),
        (["--resume"], "--resume needs --out"),
        (sets("parallel.sequence=4"), "parallel.sequence 4 does not divide the 1 process of this launch: start a"),
        (
            sets("parallel.strategy=deepspeed"),
            NO_DEEPSPEED,
        ),
    ],
)
def test_wrong_usage_is_one_line_that_says_what_is_right(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(arguments) == 2
    error = capsys.readouterr().err.strip()
    assert says in error
    assert "\n" not in error


def test_what_cannot_be_trained_is_refused_from_the_settings_alone(tmp_path: Path) -> None:
    """Nothing is loaded for it: neither in a plain start nor in one that accelerate launched with something else."""
    code = (
        "import sys; from tb_trainer import cli; code = cli.main(sys.argv[1:]); "
        "print(code, [m for m in ('torch', 'transformers', 'accelerate') if m in sys.modules])"
    )
    for arguments, environment, says in (
        (["--preset", "smoke", *sets("parallel.strategy=deepspeed")], {}, NO_DEEPSPEED),
        (
            ["--preset", "smoke"],
            {"ACCELERATE_USE_DEEPSPEED": "true"},
            "tb_trainer/launch/ddp.yaml --no_python tbx train …, or set parallel.strategy=deepspeed\n",
        ),
        (["--preset", "smoke"], {"ACCELERATE_USE_FSDP": "true"}, "or set parallel.strategy=fsdp2\n"),
        (
            ["--preset", "node-8xh100"],
            {},
            "--config_file tb_trainer/launch/fsdp2.yaml --no_python tbx train …, or set parallel.strategy=ddp and "
            "model.dtype=float32\n",
        ),
    ):
        command = [sys.executable, "-c", code, *arguments, "--out", str(tmp_path / "run")]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, **environment})
        assert done.stdout == "2 []\n"
        assert says in done.stderr and done.stderr.count("\n") == 1
    with pytest.raises(UsageError, match=re.escape(NO_DEEPSPEED)):
        Run(settings_for(parallel={"strategy": "deepspeed"}), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_without_torch_the_message_names_the_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cli, "find_spec", lambda name: None if name in ("torch", "accelerate") else True)
    assert cli.main([]) == 2
    assert "training needs torch, accelerate: pip install 'thinkingbox-gym[train]'" in capsys.readouterr().err


def test_an_interrupt_is_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: Any, **__: Any) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "_train", interrupt)
    assert cli.main([]) == 130


def test_scientific_numbers_in_an_override_are_numbers() -> None:
    assert load("smoke", ["grpo.learning_rate=1e-5"]).grpo.learning_rate == 1e-5


def test_importing_the_suite_and_the_command_loads_no_torch() -> None:
    code = (
        "import sys, tb_envs, tb_envs.adapters.trl, tb_trainer.cli, tb_trainer.config; "
        "print([m for m in ('torch', 'transformers', 'trl', 'datasets', 'sqlalchemy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
