"""The demonstration's parts: attention in blocks, the plain loop, habits, the spare list, the order of the stages."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import torch
from trainer_parts import TASKS, config

from tb_envs.agents import make_agent
from tb_envs.authoring.rng import Rng
from tb_envs.errors import ThinkingBoxError, UsageError
from tb_envs.play import play
from tb_envs.task import get_task
from tb_trainer.chain import Chain
from tb_trainer.compact import compact_result, shown_fields
from tb_trainer.config import load
from tb_trainer.demonstrations import demonstrations
from tb_trainer.gate import gate
from tb_trainer.log import read_rows
from tb_trainer.policy import load_policy
from tb_trainer.report.read import read_trials
from tb_trainer.sharing import Team, together
from tb_trainer.stages import Spent, Stages
from tb_trainer.supervised import batches, beginning, fit, loss_of
from tb_trainer.warmstart import IGNORED, labels, make_optimizer, warm_start

FAMILIES = ("late_cancellation", "date_change", "no_show_fee", "double_payment")


def test_attention_in_blocks_is_sdpa() -> None:
    """Also across the borders of blocks, and for rows of different lengths, in value and in gradient."""
    losses, gradients = list[float](), list[torch.Tensor]()
    for settings in (config(model={"tied": False}), config(model={"tied": False, "attention": "blocks"})):
        model, tokenizer = load_policy(settings)
        rows = [rollout.tokens for rollout in demonstrations(settings, tokenizer, TASKS[:2])]
        loss = loss_of(model, rows)
        loss.backward()
        losses.append(float(loss.detach()))
        gradients.append(torch.cat([p.grad.flatten() for p in model.parameters()]))
        assert max(map(len, rows)) > 200 and len(rows[0]) != len(rows[1])
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)
    assert float((gradients[0] - gradients[1]).norm() / gradients[0].norm()) < 1e-4


def test_the_plain_loop_has_the_loss_of_transformers_and_lowers_it() -> None:
    settings = config(warmstart={"steps": 12, "batch": 2, "learning_rate": 0.02, "warmup": 1, "optimizer": "muon"})
    model, tokenizer = load_policy(settings)
    rows = [rollout.tokens for rollout in demonstrations(settings, tokenizer, TASKS[:4])]
    theirs = model(input_ids=torch.tensor([rows[0].ids]), labels=torch.tensor([labels(rows[0])])).loss
    assert IGNORED in labels(rows[0])
    mean = float(loss_of(model, rows[:1]).detach()) / sum(rows[0].sampled[1:])
    assert mean == pytest.approx(float(theirs.detach()), abs=1e-5)
    losses = fit(settings, model, make_optimizer, rows, [])
    assert len(losses) == 12 and losses[-1] < losses[0]
    dealt = list(islice(batches(rows, 2, Rng("test")), 4))
    for half in (dealt[:2], dealt[2:]):
        assert sorted(id(row) for batch in half for row in batch) == sorted(map(id, rows))


def test_the_first_steps_may_see_beginnings_only(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = list[tuple[int, int]]()

    def watched(model: Any, rows: Any) -> torch.Tensor:
        seen.append((len(rows), max(map(len, rows))))
        return loss_of(model, rows)

    monkeypatch.setattr("tb_trainer.supervised.loss_of", watched)
    model, tokenizer = load_policy(config())
    rows = [rollout.tokens for rollout in demonstrations(config(), tokenizer, TASKS[:2])]
    short = min(map(len, rows)) - 20
    start = {"steps": 4, "batch": 1, "trainer": "plain", "short_steps": 2, "short_tokens": short, "short_batch": 2}
    fit(config(warmstart=start), model, make_optimizer, rows, [])
    assert seen[:2] == [(2, short)] * 2
    assert sorted(length for _, length in seen[2:]) == sorted(map(len, rows))
    assert beginning(rows[0], short).ids == rows[0].ids[:short]
    with pytest.raises(UsageError, match=r"warmstart\.short_tokens 3: nothing is learned so early"):
        fit(config(warmstart={**start, "short_tokens": 3}), model, make_optimizer, rows, [])
    with pytest.raises(UsageError, match="cannot be more than these"):
        config(warmstart={**start, "short_steps": 5})


@pytest.mark.long
def test_two_processes_learn_what_one_learns() -> None:
    """Also from batches that do not divide; and two runs of two processes give the same bytes."""
    found = list[tuple[list[float], torch.Tensor]]()
    for processes in (1, 2, 2):
        start = {"steps": 4, "batch": 3, "learning_rate": 0.01, "trainer": "plain", "processes": processes}
        settings = config(warmstart=start)
        model, tokenizer = load_policy(settings)
        rows = [rollout.tokens for rollout in demonstrations(settings, tokenizer, TASKS[:4])]
        losses = fit(settings, model, make_optimizer, rows, [])
        found.append((losses, torch.cat([p.detach().flatten() for p in model.parameters()])))
    (alone, weights), (shared, these), (again, those) = found
    assert shared == pytest.approx(alone, rel=1e-4)
    assert float((weights - these).norm() / weights.norm()) < 1e-3
    assert again == shared and torch.equal(these, those)


def _breaks(model: object, *, team: Team) -> None:
    if team.rank:
        raise ValueError("this helper does not feel well")
    torch.distributed.all_reduce(torch.zeros(1))


def _fails_first(model: object, *, team: Team) -> None:
    if team.rank:
        print("a warning of no importance", flush=True)
        torch.distributed.all_reduce(torch.zeros(1))
    raise RuntimeError("no memory is left here")


@pytest.mark.long
def test_a_helper_that_is_lost_ends_the_work_with_what_it_said(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ThinkingBoxError, match="this helper does not feel well"):
        together(2, _breaks, None)
    assert not torch.distributed.is_initialized()
    with pytest.raises(ThinkingBoxError, match="no memory is left here"):
        together(2, _fails_first, None)
    monkeypatch.setattr("sys.executable", "/bin/false")
    with pytest.raises(ThinkingBoxError, match="a helper ended with 1"):
        together(2, _breaks, None)


def test_habits_are_the_only_mistakes() -> None:
    settings = config(environment={"prompt": "compact"}, sampling={"turn_tokens": 400, "episode_tokens": 8000})
    _, tokenizer = load_policy(settings)
    tasks = [f"hotel/double_payment/{index}" for index in (2000, 2001, 2002, 2003)]
    right = demonstrations(settings, tokenizer, tasks, 1.0, ["a name that no task has"])
    assert [rollout.reward for rollout in right] == [1.0] * 4
    wrong = demonstrations(settings, tokenizer, tasks, 1.0, ["refunds the earlier payment"])
    able = ["refunds the earlier payment" in get_task(task_id).scenario.mistakes for task_id in tasks]
    assert [rollout.reward == 0 for rollout in wrong] == able and any(able)


def test_the_spare_list_shows_less_and_adds_nothing() -> None:
    assert set(shown_fields("hotel", "spare")) >= set(shown_fields("hotel"))
    for family in FAMILIES:
        for index in range(14):
            episode = play(get_task(f"hotel/{family}/{index}"), make_agent("reference"))
            for message in episode.messages:
                if message["role"] == "tool":
                    name, whole = message["name"], message["content"]
                    tiny, spare = (compact_result("hotel", name, whole, prompt) for prompt in ("tiny", "spare"))
                    assert len(spare) <= len(tiny)
                    assert within(json.loads(spare), json.loads(whole))


def within(part: object, whole: object) -> bool:
    """Whether nothing in `part` is missing from `whole`."""
    if isinstance(part, dict) and isinstance(whole, dict):
        return all(name in whole and within(value, whole[name]) for name, value in part.items())
    if isinstance(part, list) and isinstance(whole, list):
        return len(part) == len(whole) and all(map(within, part, whole))
    return part == whole


TRIAL = {"attempt": 0, "status": "ok", "outcome": "success"}


def test_the_stages_come_in_order_and_are_not_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[tuple[str, list[str]]] = []

    def do(self: Stages, name: str, argv: Sequence[str]) -> Spent:
        done.append((name, list(argv)))
        if name == "warm start":
            (tmp_path / "start").mkdir()
            (tmp_path / "start/state.json").write_text('{"warmstart": {"steps": 1}}')
        if name == "gate":
            rows = [{**TRIAL, "task": f"hotel/date_change/{n}", "cell": f"c{n % 2}"} for n in range(4)]
            rows[1]["outcome"] = rows[3]["outcome"] = "failure"
            rows.append({**rows[0], "cell": "c2", "status": "system_error"})
            Path(argv[-1]).write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        if name == "train" and "--resume" not in argv:
            (tmp_path / "config.json").write_text("{}")
            raise ThinkingBoxError("train ended with 1")
        return Spent(1.0, 1.0)

    said: list[str] = []
    monkeypatch.setattr(Stages, "do", do)
    monkeypatch.setattr("tb_trainer.checkpoint.whole", lambda out: [7])
    words = ["grpo.updates=9"]
    with pytest.raises(ThinkingBoxError, match="train ended"):
        Chain(load("cpu-demo", words), "cpu-demo", words, tmp_path, said.append).run()
    names = [name for name, _ in done]
    assert any("50.0% of 4 tasks (85% wanted); cells below 50%: hotel/date_change: c1 (0 of 2)" in one for one in said)
    assert gate([{**TRIAL, "task": "hotel/date_change/0", "cell": "x"}])[0]
    assert names[:4] == ["warm start", "gate", "probe", "select"]
    train = dict(done)["train"]
    assert "--resume" not in train and f"environment.pool={tmp_path / 'pool.json'}" in train
    done.clear()
    Chain(load("cpu-demo", words), "cpu-demo", [*words, "threads=2"], tmp_path, print).run()
    names = [name for name, _ in done]
    assert not {"warm start", "gate", "probe", "select"} & {*names} and names[-1] == "report"
    assert {name for name in names if name.startswith("trained")} == {
        "trained fresh", "trained greedy", "trained repeated", "trained bench"
    }  # fmt: skip
    assert "--resume" in dict(done)["train"]
    assert all("grpo.updates=9" in argv for name, argv in done if name not in ("select", "report"))
    done.clear()
    Chain(load("cpu-demo", words), "cpu-demo", words, tmp_path, print).run()
    assert "train" not in dict(done)


@pytest.mark.long
def test_a_chain_from_nothing_goes_all_the_way(tmp_path: Path) -> None:
    """What `make demo` does, at the smallest size: every stage a process of its own, to a report of real rows."""
    words = ["model.hidden=16", "model.layers=1", "model.heads=2", "warmstart.steps=2"]
    words += ["environment.tasks=[hotel/date_change/2000-2003]", "environment.families=[date_change]"]
    words += ["warmstart.batch=2", "warmstart.warmup=1", "grpo.updates=1", "grpo.groups=2", "grpo.group_size=2"]
    words += ["held_out.gate=1", "held_out.fresh=1"]
    out, said = tmp_path / "run", list[str]()
    settings = load("cpu-demo-short", words)
    chain = Chain(settings, "cpu-demo-short", words, out, said.append)
    chain.run()
    assert said[0] == "warm start" and said[-1] == "report"
    assert set(chain.seconds) == {
        "warm start", "gate", "train", "start fresh", "start greedy", "trained fresh", "trained greedy", "report"
    }  # fmt: skip
    log = read_rows(out / "log.jsonl")
    assert [row["event"] for row in log] == ["start", "update", "checkpoint", "end"]
    for who in ("start", "trained"):
        for what in ("fresh", "greedy"):
            (row,) = read_trials(out / "evaluations" / f"{who}-{what}.jsonl").rows
            assert row["task"].startswith("hotel/date_change/")
    page = (out / "report.html").read_text("utf-8")
    assert "</html>" in page and "date_change" in page
    assert "report.html" in (out / "logs/report.log").read_text("utf-8")


def test_a_failed_stage_ends_the_run_with_what_it_said(tmp_path: Path) -> None:
    chain = Chain(load("cpu-demo"), "no-such-preset", [], tmp_path, print)
    with pytest.raises(ThinkingBoxError, match=r"(?s)warm start ended with 2.*no-such-preset"):
        chain.run()
    with pytest.raises(UsageError, match="from_nothing makes its own model"):
        Chain(load("cpu-demo", ["model.checkpoint=x"]), "cpu-demo", [], tmp_path, print)


def test_the_seconds_of_a_stage_outlive_a_resume(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    seconds = list[float]()
    for _ in range(2):
        chain = Chain(load("cpu-demo"), "cpu-demo", [], tmp_path, print)  # as a command that goes on
        chain._do("help", ["tasks", "--help"])
        seconds.append(chain.seconds["help"]["clock"])
    assert seconds[1] > seconds[0] > 0


def test_a_habit_that_no_task_has_is_refused(tmp_path: Path) -> None:
    settings = load("cpu-demo-short", ["warmstart.habits=[moves the stay all the sane]"])
    with pytest.raises(UsageError, match=r"the mistake 'moves the stay all the sane'.*moves the stay all the same"):
        warm_start(settings, tmp_path / "start")
