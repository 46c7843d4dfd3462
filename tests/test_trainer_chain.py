"""A run from nothing that is broken off: other settings are not mixed in, and nothing is left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from trainer_parts import sets

from tb_envs.errors import ThinkingBoxError, UsageError
from tb_trainer import cli
from tb_trainer.chain import Chain
from tb_trainer.config import load
from tb_trainer.stages import ENTRY, Spent, Stages

WORDS = ["model.hidden=16", "model.layers=1", "model.heads=2", "warmstart.steps=2"]
WORDS += ["environment.tasks=[hotel/date_change/2000-2003]", "environment.families=[date_change]"]
WORDS += ["warmstart.batch=2", "warmstart.warmup=1", "grpo.updates=1", "grpo.groups=2", "grpo.group_size=2"]
WORDS += ["held_out.gate=0", "held_out.fresh=1"]


def chain(out: Path, *words: str) -> Chain:
    return Chain(load("cpu-demo-short", words), "cpu-demo-short", words, out, lambda _: None)


def command(out: Path, *words: str) -> list[str]:
    return ["train", "--preset", "cpu-demo-short", *sets(*words), "--out", str(out)]


def processes(out: Path) -> dict[int, str]:
    """Those that have this folder in their command: number → command."""
    command = ["ps", "-A", "-ww", "-o", "pid=,stat=,args="]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()]
    return {int(row[0]): row[2] for row in rows if len(row) > 2 and row[1][0] != "Z" and str(out) in row[2]}


def until(done: Callable[[], Any], seconds: float = 120.0) -> Any:
    """Wait for something to be there."""
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        if found := done():
            return found
        time.sleep(0.02)
    raise AssertionError("it never came")


# -- settings


def test_a_folder_that_was_begun_with_other_settings_is_refused_with_their_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(self: Stages, name: str, argv: Sequence[str]) -> Spent:
        raise ThinkingBoxError(f"{name} broke off")

    monkeypatch.setattr(Stages, "do", broken)
    out = tmp_path / "run"
    with pytest.raises(ThinkingBoxError, match="warm start broke off"):
        chain(out, "threads=2").run()
    with pytest.raises(ThinkingBoxError, match="warm start broke off"):
        chain(out, "threads=1", "saving.keep=1").run()  # what changes nothing that is kept
    for words, says in (
        (["seed=7"], "seed was 42 and is 7. Name a new folder, or go on with the settings it was begun with"),
        (["warmstart.steps=9", "held_out.fresh=3"], "held_out.fresh was 24 and is 3; warmstart.steps was 120 and is 9"),
    ):
        for resume in ([], ["--resume"]):
            assert cli.main([*command(out, *words)[1:], *resume]) == 2
            assert f"{out} was begun with other settings: {says}" in capsys.readouterr().err
    assert cli.main(command(out)[1:]) == 2
    assert "already holds a run; name a new folder, or go on with --resume" in capsys.readouterr().err
    assert cli.main([*command(out)[1:], "--resume"]) == 1
    assert "warm start broke off" in capsys.readouterr().err
    assert cli.main([*command(tmp_path / "new")[1:], "--resume"]) == 2
    assert "holds no run that was begun so; start it without --resume" in capsys.readouterr().err
    (tmp_path / "older/start").mkdir(parents=True)
    with pytest.raises(UsageError, match=r"does not say with what settings it was begun \(no chain.json\)"):
        chain(tmp_path / "older").run()


@pytest.mark.long
def test_a_start_whose_weights_were_not_written_is_made_again(tmp_path: Path) -> None:
    """Killed in each of the steps by which a start is saved; whoever goes on has a start that loads."""
    code = (
        "import os, signal, sys\n"
        "from transformers import PreTrainedModel, PreTrainedTokenizerBase\n"
        "kind, name = sys.argv.pop(1), 'save_pretrained'\n"
        "save = PreTrainedModel.save_pretrained\n"
        "def model(self, folder, **k):\n"
        "    if 'clean' in str(folder): return save(self, folder, **k)\n"
        "    (save if kind == 'behind' else type(self.config).save_pretrained)(\n"
        "        self if kind == 'behind' else self.config, folder)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "PreTrainedModel.save_pretrained = model\n"
    )
    words = ["warmstart", "--preset", "cpu-demo-short", *sets(*WORDS)]
    for kind in ("before", "behind"):
        start = tmp_path / kind / "start"
        argv = [sys.executable, "-c", code + ENTRY, kind, *words, "--out", str(start)]
        assert subprocess.run(argv, capture_output=True, check=False).returncode == -signal.SIGKILL
        assert (start / "config.json").exists()
        assert (start / "model.safetensors").exists() == (kind == "behind")
        assert json.loads((start / "state.json").read_text("utf-8"))["warmstart"] is None
    out = tmp_path / "before"
    (out / "chain.json").write_text(json.dumps({"settings": flat_settings()}), "utf-8")
    chain(out, *WORDS).run()
    assert (out / "start/model.safetensors").exists() and (out / "report.html").exists()
    assert json.loads((out / "start/state.json").read_text("utf-8"))["warmstart"]["steps"] == 2


def flat_settings() -> dict[str, Any]:
    from tb_trainer.begun import flat

    return flat(json.loads(json.dumps(load("cpu-demo-short", WORDS).to_json())))


# -- the end of a command is the end of all it has begun


@pytest.mark.long
@pytest.mark.parametrize(
    ("number", "code", "says"),
    [(signal.SIGTERM, 143, "ended by SIGTERM, and all that it had begun; --resume goes on"), (signal.SIGINT, 130, "")],
)
def test_a_signal_ends_the_stages_too_and_the_run_goes_on(
    tmp_path: Path, number: signal.Signals, code: int, says: str
) -> None:
    """The warm start's helper process among them; then the training, and the evaluation beside it."""
    out = tmp_path / "run"
    long = [*WORDS, "warmstart.steps=3", "warmstart.processes=2", "grpo.updates=500", "saving.every=2"]
    long += ["held_out.fresh=2"]
    argv = [sys.executable, "-c", ENTRY, *command(out, *long)]

    def end(begun: Callable[[], bool], argv: list[str]) -> str:
        with subprocess.Popen(argv, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as running:
            until(begun)
            own = {pid for pid in processes(out) if pid != running.pid}
            assert own
            began = time.monotonic()
            running.send_signal(number)
            assert running.wait(60) == code
            assert time.monotonic() - began < 25, "they ended by themselves"
            assert not processes(out)
            assert running.stderr is not None
            return running.stderr.read().strip().splitlines()[-1]

    told = end(lambda: any("tbx-team" in name or " warmstart " in name for name in processes(out).values()), argv)
    assert told.startswith("tbx train: ") and says in told
    assert not (out / "config.json").exists()
    if number == signal.SIGINT:
        return
    trained = out / "checkpoints/update-2/state.json"
    told = end(trained.exists, [*argv, "--resume"])
    assert told.startswith("tbx train: ") and says in told
    last = json.loads((out / "log.jsonl").read_text("utf-8").splitlines()[-1])
    assert last["event"] == "failed" and "SIGTERM" in last["error"]


@pytest.mark.long
def test_a_stage_that_fails_ends_the_one_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The evaluation of the start, beside a training that would take minutes; what is told is why it failed."""
    out = tmp_path / "run"
    made = chain(out, *WORDS, "grpo.updates=500")
    monkeypatch.setattr(made, "evaluations", lambda: {"fresh": ["--split", "nowhere"]})
    began = time.monotonic()
    with pytest.raises(ThinkingBoxError, match=r"(?s)start fresh ended with 2.*nowhere"):
        made.run()
    assert time.monotonic() - began < 100
    assert not processes(out) and "train" not in made.seconds


def test_commands_that_do_not_listen_are_ended_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deaf = "import signal, sys, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); "
    monkeypatch.setattr("tb_trainer.stages.ENTRY", deaf + "time.sleep(100)")
    stages = Stages(tmp_path, grace=0.5)
    log = stages.log("a b")

    def work() -> None:
        stages.do("a b", [str(tmp_path)])

    def told() -> None:
        until(lambda: log.exists() and "deaf" in log.read_text("utf-8"))
        os.kill(os.getpid(), signal.SIGINT)

    from threading import Thread

    thread = Thread(target=told)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        stages.run(work)
    thread.join()
    assert not processes(tmp_path)
    with pytest.raises(ThinkingBoxError, match="more was not begun: the run is ending"):
        stages.do("more", [])
