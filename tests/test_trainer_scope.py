"""Which domains and families a run is about: one knob for training, probe and evaluation; what chooses a checkpoint."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from trainer_parts import IDLE, config, reference, sets

from tb_envs.cli import main as tbx
from tb_envs.errors import UsageError
from tb_envs.registration import load_domain
from tb_trainer import checkpoint, cli
from tb_trainer.config import load
from tb_trainer.engines import Key
from tb_trainer.evaluate import TRIALS, family_of, spread
from tb_trainer.log import read_rows
from tb_trainer.loop import Run
from tb_trainer.reference import WrittenEngine
from tb_trainer.render import Renderer
from tb_trainer.tasks import guard
from tb_trainer.tasks.probe import candidates
from tb_trainer.tasks.select import held_out
from tb_trainer.tasks.training import training_tasks
from tb_trainer.trials import tasks_of

TWO = ["hotel/date_change", "hotel/late_checkout"]


def asked(**changes: Any) -> Namespace:
    plain = {"tasks": None, "domain": None, "split": None, "fresh": None, "limit": None, "seed": None}
    return Namespace(**{**plain, **changes})


def families(task_ids: Sequence[str]) -> list[str]:
    return sorted({family_of(task_id) for task_id in task_ids})


def test_named_families_are_what_is_trained_on_probed_and_evaluated_on() -> None:
    run = load("smoke", ["environment.families=[date_change, hotel/late_checkout]", "evaluation.every=1"])
    assert families(training_tasks(run)) == TWO
    for arguments in (asked(), asked(split="dev"), asked(fresh=5), asked(domain=["hotel"], seed=3, limit=9)):
        found = candidates(run, arguments)
        assert families(found) == TWO
        assert not arguments.fresh or len(found) == arguments.fresh
    assert len(candidates(run, asked(limit=3))) == 3
    assert families(candidates(run, asked(tasks=["hotel/room_upgrade/1", TWO[0] + "/1"]))) == [
        TWO[0],
        "hotel/room_upgrade",
    ]
    measured = guard.measured(run)
    assert families(measured.choosing) == TWO
    assert not measured.apart
    assert guard.check(run, training_tasks(run))["guard"]["evaluated"] == len(measured.choosing)
    for split in ("dev", "train", "fresh:7"):
        assert families(tasks_of(run, asked(split=split))[1]) == TWO
    assert len(tasks_of(run, asked(split="bench"))[1]) == 102  # its families are others
    named = load("smoke", ["environment.families=[date_change]", f"environment.tasks=[{TWO[0]}/40-49, {TWO[1]}/40-49]"])
    assert training_tasks(named) == candidates(named, asked()) == [f"{TWO[0]}/{index}" for index in range(40, 50)]
    whole = load("smoke", ["environment.families=[date_change]", "environment.holdout_domain=library"])
    assert guard.evaluation_domains(whole.environment) == ["hotel", "library"]
    assert families(training_tasks(whole)) == [TWO[0]]  # nothing is said about the held-out domain: it stays whole


@pytest.mark.parametrize(
    ("overrides", "says"),
    [
        (["environment.families=[dat_change]"], "no family 'dat_change'; near matches: hotel/date_change"),
        (["environment.families=[hotel/late_cancelation]"], "near matches: hotel/late_cancellation"),
        (["environment.families=[xyz]"], "there is no family 'xyz'; valid: hotel/"),
        (["environment.families=[relocation]"], "hotel/relocation is kept for the benchmark"),
        (
            ["environment.families=[date_change]", "environment.domains=[hotel, library]"],
            "names no family of 'library', which is trained on",
        ),
        (
            ["environment.families=[date_change]", "environment.tasks=[hotel/late_checkout/40-49]"],
            "there are only 0 tasks of the 10 that environment.families leaves",
        ),
    ],
)
def test_families_that_cannot_be_meant_are_refused_in_one_line(
    overrides: list[str], says: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert cli.main(["--preset", "smoke", *sets(*overrides), "--out", str(tmp_path / "run")]) == 2
    error = capsys.readouterr().err.strip()
    assert says in error
    assert "\n" not in error


# -- what chooses a checkpoint


@pytest.fixture
def library_has_a_dev_suite(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    ids = ["library/halve_fee/20", "library/halve_fee/21"]
    library = load_domain("library")
    monkeypatch.setitem(library.__dict__, "suite_ids", {**library.suite_ids, "dev": tuple(ids)})
    return ids


@pytest.mark.parametrize("way", ["holdout_domain", "eval_domains"])
def test_a_held_out_domain_is_measured_and_does_not_choose_the_checkpoint(
    way: str, tmp_path: Path, library_has_a_dev_suite: list[str]
) -> None:
    """The training domain is best after update 1, the held-out one after update 3, and by more."""
    settings = load(
        "smoke",
        [
            f"environment.{way}={'library' if way == 'holdout_domain' else '[library]'}",
            *("environment.turns=60", "environment.tool_calls=120", "sampling.turn_tokens=512"),
            *("sampling.episode_tokens=8192", "model.hidden=32", "evaluation.every=1", "evaluation.tasks=2"),
            *("grpo.updates=3", "grpo.groups=1", "grpo.group_size=2", "saving.every=1", "saving.keep=1"),
        ],
    )
    run = Run(settings, tmp_path)
    measured = run.measured
    assert measured is not None
    assert measured.apart == {"library": library_has_a_dev_suite}
    assert len(measured.choosing) == 60
    played = [*spread(measured.choosing, 2), *library_has_a_dev_suite]

    def turns(key: Key) -> Sequence[str]:
        if key.update != TRIALS:
            return reference(run.source.draw(key.update, key.group, 0)) if key.slot else IDLE
        solved = {0: (), 1: (0,), 2: (), 3: (2, 3)}[run.done]
        return reference(played[key.group]) if key.group in solved else IDLE

    run.runner.engine = run.engine = WrittenEngine(Renderer(run.tokenizer, "compact"), turns)
    run.train()
    rows = [row for row in read_rows(tmp_path / "log.jsonl") if row["event"] == "evaluation"]
    assert [row["pass@1"] for row in rows] == [0.0, 0.5, 0.0, 0.0]
    assert [row["apart"]["library"]["pass@1"] for row in rows] == [0.0, 0.0, 0.0, 1.0]
    assert [row["best"] for row in rows] == [0, 1, 1, 1]
    assert all(name.startswith("hotel/") for row in rows for name in row["families"])
    assert checkpoint.whole(tmp_path) == [1, 3]
    assert checkpoint.read_state(checkpoint.folder_of(tmp_path, 3))["best_update"] == 1
    own, apart = (read_rows(tmp_path / "evaluations" / name / "update-3.jsonl") for name in ("", "library"))
    assert [row["task"] for row in [*own, *apart]] == played
    assert [row["outcome"] for row in apart] == ["success", "success"]


def test_banking_is_held_out_from_probe_to_report(tmp_path: Path) -> None:
    """One setting, ``environment.holdout_domain``, is obeyed by all of them."""
    words = [
        *("environment.domains=[hotel, banking]", "environment.holdout_domain=banking", "environment.turns=2"),
        *("sampling.turn_tokens=16", "sampling.episode_tokens=8192", "model.hidden=32", "evaluation.every=1"),
        *("evaluation.tasks=2", "grpo.updates=1", "grpo.groups=2", "grpo.group_size=2"),
    ]
    banking = f"banking/{next(iter(load_domain('banking').families))}/1200"
    hotel = [f"hotel/date_change/{index}" for index in (1200, 1201)]
    probed, pool, out = tmp_path / "probe.jsonl", tmp_path / "pool.json", tmp_path / "run"
    tasks = [word for task_id in [*hotel, banking] for word in ("--tasks", task_id)]
    assert tbx(["probe", "--preset", "smoke", *sets(*words), *tasks, "--attempts", "2", "--out", str(probed)]) == 0
    assert tbx(["select", str(probed), "--attempts", "1", "--out", str(pool)]) == 1  # it solves none
    chosen = json.loads(pool.read_text("utf-8"))
    left = {entry["id"]: (entry["reason"], entry["detail"]) for entry in chosen["excluded"]}
    assert chosen["rules"]["holdout"] == "banking"
    assert left[banking] == ("overlap", f"{banking} is of the held-out domain banking")
    assert not any(reason == "overlap" for task_id, (reason, _) in left.items() if task_id != banking)
    with pytest.raises(UsageError, match="one domain is held out, not banking and library"):
        held_out([probed], "library")

    settings = load("smoke", words)
    assert {task_id.partition("/")[0] for task_id in training_tasks(settings)} == {"hotel"}
    run = Run(settings, out)
    measured = run.measured
    assert measured is not None
    played = [*spread(measured.choosing, 2), *spread(measured.apart["banking"], 2)]
    run.train()
    own, apart = (read_rows(out / "evaluations" / name / "update-1.jsonl") for name in ("", "banking"))
    assert [row["task"] for row in [*own, *apart]] == played
    assert [task_id.partition("/")[0] for task_id in played] == ["hotel", "hotel", "banking", "banking"]
    assert tbx(["report", str(out)]) == 0
    page = (out / "report.html").read_text("utf-8")
    assert "banking was held out of training and evaluated on." in page
    assert "nothing is said about transfer" not in page
    assert "Dev pass@1 of banking" in page


def test_what_has_no_dev_suite_cannot_be_evaluated_on(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"'library' has no frozen suite 'dev' .* set evaluation.every=0"):
        Run(config(evaluation={"every": 1}), tmp_path)
    with pytest.raises(UsageError, match="'library' has no frozen suite"):
        guard.check_measured(load("smoke", ["evaluation.every=1", "environment.holdout_domain=library"]))
