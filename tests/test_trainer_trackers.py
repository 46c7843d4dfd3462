"""Trackers see every update and evaluation at its step, after a resume too; one that cannot is refused, not dropped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from accelerate import tracking
from accelerate.utils import LoggerType
from test_trainer_loop import dev_suite, make_run, settings_for
from trainer_parts import sets

from tb_envs.errors import UsageError
from tb_trainer import trackers
from tb_trainer.built import check_built
from tb_trainer.config import check, load
from tb_trainer.log import numbers, read_rows
from tb_trainer.ranks import PeerError, make_accelerator
from tb_trainer.schema import TrainConfig


def tracked(*names: str, updates: int = 4) -> TrainConfig:
    return settings_for(
        grpo={"updates": updates},
        saving={"every": 1, "trackers": list(names)},
        evaluation={"every": 1, "attempts": 2},
    )


def scalars(folder: Path) -> dict[str, dict[int, float]]:
    """Tag → step → value, as TensorBoard itself reads them; a step that is shown twice is an error."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    found = EventAccumulator(str(folder), size_guidance={"scalars": 0})
    found.Reload()
    shown = {tag: [(event.step, event.value) for event in found.Scalars(tag)] for tag in found.Tags()["scalars"]}
    for tag, events in shown.items():
        steps = [step for step, _ in events]
        assert steps == sorted(set(steps)), tag
    return {tag: dict(events) for tag, events in shown.items()}


def test_tensorboard_shows_the_log_also_where_a_run_failed_and_went_on(tmp_path: Path) -> None:
    """Update 3 is logged, its checkpoint never made: after the resume it comes again, and stands there once."""

    class Broken(Exception):
        pass

    def breaks() -> None:
        raise Broken

    with dev_suite():
        run = make_run(tmp_path, tracked("tensorboard"))
        save = run._save
        run._save = lambda: breaks() if run.done == 3 else save()
        with pytest.raises(Broken):
            run.train()
        folder = tmp_path / "trackers/library"
        assert set(scalars(folder)["pass_rate"]) == {1, 2, 3}
        (again := make_run(tmp_path, tracked("tensorboard"), resume=True)).train()
    assert [row["update"] for row in again.rows] == [3, 4]
    rows = [row for row in read_rows(tmp_path / "log.jsonl") if row["event"] in ("update", "evaluation")]
    shown = scalars(folder)
    logged: dict[str, dict[int, float]] = {}
    for row in rows:
        for tag, value in numbers(row).items():
            logged.setdefault(tag, {})[row["update"]] = value
    assert shown.keys() == logged.keys()
    for tag, events in logged.items():
        assert shown[tag] == pytest.approx(events), tag
    # Written out, so that this does not hang on `numbers` alone; training and evaluation stand apart.
    assert list(shown["pass_rate"].values()) == pytest.approx([r["pass_rate"] for r in rows if r["event"] == "update"])
    assert shown["evaluation/pass_at_1"] == {0: 0.0, 1: 0.0, 2: 0.5, 3: 1.0, 4: 0.5}
    assert set(shown["families/library/halve_fee"]) == {1, 2, 3, 4}
    assert set(shown["evaluation/families/library/halve_fee"]) == {0, 1, 2, 3, 4}
    assert shown["families/library/halve_fee"] == pytest.approx(shown["pass_rate"], abs=1e-4)
    for file in folder.rglob("hparams.yml"):
        told = yaml.safe_load(file.read_text("utf-8"))
        assert (told["grpo.learning_rate"], told["seed"], told["evaluation.attempts"]) == (1e-3, 42, 2)
        assert told["saving.trackers"] == '["tensorboard"]'
        assert set(told) == set(trackers.flat(tracked("tensorboard").to_json()))
    assert len(list(folder.rglob("hparams.yml"))) == 2, "one a start"


class Service(ModuleType):
    """The package `wandb`, as accelerate's own tracker uses it: what it is told, in order."""

    def __init__(self) -> None:
        super().__init__("wandb")
        self.__spec__ = ModuleSpec("wandb", None)
        self.started: list[dict[str, Any]] = []
        self.told: dict[str, Any] = {}
        self.rows: list[tuple[int, dict[str, float]]] = []
        self.finished = 0
        self.config, self.login = self, True

    def init(self, **arguments: Any) -> Service:
        if not self.login:
            raise ValueError("no API key")
        self.started.append(arguments)
        return self

    def update(self, values: dict[str, Any], **_: Any) -> None:
        self.told = values

    def log(self, values: dict[str, float], step: int) -> None:
        assert not self.finished
        self.rows.append((step, values))

    def finish(self) -> None:
        self.finished += 1


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Service:
    found = Service()
    monkeypatch.setitem(sys.modules, "wandb", found)
    monkeypatch.setattr(tracking, "_available_trackers", [*tracking.get_available_trackers(), LoggerType.WANDB])
    return found


@pytest.mark.parametrize("end", ["end", "failure", "SIGTERM", "Ctrl-C"])
def test_any_other_tracker_goes_the_same_way_and_is_ended_however_the_run_ends(
    tmp_path: Path, service: Service, end: str
) -> None:
    def ends(row: dict[str, Any]) -> None:
        if row["update"] == 2 and end == "failure":
            raise ValueError("some fault")
        if row["update"] == 2 and end == "SIGTERM":
            os.kill(os.getpid(), signal.SIGTERM)
        if row["update"] == 2 and end == "Ctrl-C":
            raise KeyboardInterrupt

    with dev_suite():
        run = make_run(tmp_path, tracked("wandb", updates=3), on_update=ends)
        if end == "end":
            run.train()
        else:
            with pytest.raises((ValueError, PeerError, KeyboardInterrupt)):
                run.train()
    assert service.finished == 1
    assert service.started == [{"project": "library", "dir": str(tmp_path), "name": tmp_path.name}]
    assert service.told["grpo.updates"] == 3
    logged = [row for row in read_rows(tmp_path / "log.jsonl") if row["event"] in ("update", "evaluation")]
    assert service.rows == [(row["update"], numbers(row)) for row in logged]
    assert len(logged) == (7 if end == "end" else 4)


def test_a_tracker_that_does_not_start_is_told_and_leaves_no_run_behind(tmp_path: Path, service: Service) -> None:
    service.login = False
    with pytest.raises(UsageError, match=r"saving\.trackers: wandb could not be started: no API key; .*trackers=\[\]"):
        make_run(tmp_path, settings_for(saving={"trackers": ["wandb"]})).train()
    service.login = True
    make_run(tmp_path, settings_for(saving={"trackers": ["wandb"]})).train()
    assert service.finished == 1


def test_names_that_some_service_refuses_are_rewritten() -> None:
    row = {"event": "evaluation", "update": 3, "pass@1": 0.5, "pass^8": 0.25, "interval": [0.2, 0.8], "best": None}
    row |= {"apart": {"banking": {"pass@1": 1.0}}, "cells": {"hotel/cancel: denied (late)": [0.75, 4]}, "split": "dev"}
    assert numbers(row) == {
        "evaluation/pass_at_1": 0.5,
        "evaluation/pass_hat_8": 0.25,
        "evaluation/interval/low": 0.2,
        "evaluation/interval/high": 0.8,
        "evaluation/apart/banking/pass_at_1": 1.0,
        "evaluation/cells/hotel/cancel/denied _late_": 0.75,
    }


# -- what is refused


def test_tensorboard_is_the_default_and_every_name_of_accelerates_is_known() -> None:
    assert check({}).saving.trackers == load("one-gpu").saving.trackers == ("tensorboard",)
    assert set(trackers.MODULES) == {str(kind) for kind in LoggerType} - {"all"}
    for name in trackers.MODULES:
        assert check({"saving": {"trackers": [name]}}).saving.trackers == (name,)
    with pytest.raises(UsageError, match=r"saving\.trackers\.0: input should be .*'tensorboard'.*, got 'tensorbord'"):
        check({"saving": {"trackers": ["tensorbord"]}})


@pytest.mark.parametrize("name", trackers.MODULES)
def test_a_tracker_without_its_package_is_refused_with_the_line_that_installs_it(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trackers, "find_spec", lambda module: None)
    package = name.replace("_", "-")
    with pytest.raises(UsageError, match=rf"saving\.trackers {name} is not installed: pip install {package}\b"):
        check_built(settings_for(saving={"trackers": [name]}))
    check_built(settings_for(saving={"trackers": []}))


def test_that_is_refused_before_anything_is_loaded(tmp_path: Path) -> None:
    absent = next(name for name, modules in trackers.MODULES.items() if not any(map(find_spec, modules)))
    code = (
        "import sys; from tb_trainer import cli; code = cli.main(sys.argv[1:]); "
        "print(code, [m for m in ('torch', 'transformers', 'accelerate') if m in sys.modules])"
    )
    arguments = ["--preset", "smoke", *sets(f"saving.trackers=[{absent}]"), "--out", str(tmp_path / "run")]
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    assert done.stdout == "2 []\n"
    assert f"saving.trackers {absent} is not installed: pip install" in done.stderr and done.stderr.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_what_accelerate_would_leave_out_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of the package's name is there, the package is not."""
    monkeypatch.setattr(tracking, "_available_trackers", [])
    with pytest.raises(UsageError, match="accelerate finds no usable package of tensorboard"):
        make_accelerator(str(tmp_path), cpu=True, timeout=60.0, trackers=("tensorboard",))
