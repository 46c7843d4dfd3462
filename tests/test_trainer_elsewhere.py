"""Runs whose episodes wait for others: session servers, a customer played by a model; and one that never answers."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from backend_kinds import in_thread
from llm_double import ModelDouble
from test_trainer_loop import LIBRARY_SETS, _untimed, make_run, settings_for, weights
from trainer_parts import TASKS, config, sets

from tb_envs.errors import UsageError
from tb_envs.mcp.hub import Rules
from tb_envs.mcp.serve import Options, Served
from tb_envs.task import get_task
from tb_envs.users.prompt import HANG_UP
from tb_envs.users.scripted import ScriptedUser
from tb_trainer import cli, trials
from tb_trainer.log import read_rows
from tb_trainer.loop import Run
from tb_trainer.runner import Runner
from tb_trainer.tasks import probe

TOKEN = "TBX_TEST_TOKEN"


def opened(server: Served) -> int:
    """Sessions so far."""
    return sum(server.hub.metrics.started.values())


def remote(*urls: str) -> dict[str, Any]:
    return {"kind": "remote", "urls": list(urls), "token_env": TOKEN}


@pytest.fixture
def serving(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[Served], None]], None]:
    """Calls a function, in a thread of its own, beside a live session server."""

    def serving(body: Callable[[Served], None]) -> None:
        async def beside() -> None:
            async with in_thread(Options(rules=Rules(max_sessions=64))) as server:
                monkeypatch.setenv(TOKEN, server.token)
                await asyncio.to_thread(body, server)
                async with asyncio.timeout(30):  # no session is left; goodbyes are said in the background
                    while server.hub.live:
                        await asyncio.sleep(0.01)

        asyncio.run(beside())

    return serving


def test_a_run_over_a_session_server_is_the_run_of_this_process(serving: Any, tmp_path: Path) -> None:
    """The same trajectories, rewards and weights; a resume may go elsewhere: one update here, the next there."""
    make_run(tmp_path / "here").train()
    make_run(tmp_path / "half", settings_for(grpo={"updates": 1})).train()

    def body(server: Served) -> None:
        settings = settings_for(environment={"backend": remote(server.url)})
        run = make_run(tmp_path / "there", settings)
        assert run.runner._loop is not None, "episodes that wait are not driven inline"
        run.train()
        assert opened(server) >= 24
        make_run(tmp_path / "half", settings, resume=True).train()

    serving(body)
    here = _untimed(read_rows(tmp_path / "here/log.jsonl"))
    assert here[0]["tool_calls"] > 12 and here[0]["pass_rate"] > 0
    for name in ("there", "half"):
        assert _untimed(read_rows(tmp_path / name / "log.jsonl")) == here
        for part, tensor in weights(tmp_path / "here", 2).items():
            assert (weights(tmp_path / name, 2)[part] == tensor).all()


def test_train_probe_and_evaluate_play_where_the_settings_say(serving: Any, tmp_path: Path) -> None:
    def body(server: Served) -> None:
        over = [*LIBRARY_SETS, "environment.turns=3", f"environment.backend={json.dumps(remote(server.url))}"]
        for words, play, episodes in (
            (["--out", str(tmp_path / "run"), "--set", "grpo.updates=1"], cli.main, 12),
            (["--attempts", "2", "--out", str(tmp_path / "probe.jsonl")], probe.probe, 16),
            (["--tasks", *TASKS[:2], "--out", str(tmp_path / "trials.jsonl")], trials.main, 2),
        ):
            before = opened(server)
            assert play(["--preset", "smoke", *sets(*over), *words]) == 0
            assert opened(server) - before == episodes

    serving(body)


@contextmanager
def silent() -> Iterator[str]:
    """A server that takes connections and never answers."""
    listener = socket.create_server(("127.0.0.1", 0))
    taken: list[socket.socket] = []

    def take() -> None:
        while True:
            try:
                taken.append(listener.accept()[0])
            except OSError:
                return

    thread = threading.Thread(target=take, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()
        for connection in taken:
            connection.close()


def test_the_deadline_of_an_episode_holds_in_a_real_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(TOKEN, "x")
    with silent() as url:
        hangs = ["environment.deadline=0.3", "environment.retries=1", "environment.drops=0"]
        over = [*LIBRARY_SETS, *hangs, f"environment.backend={json.dumps(remote(url))}"]
        assert cli.main(["--preset", "smoke", *sets(*over), "--out", str(tmp_path / "run")]) == 1
    told = capsys.readouterr().err
    assert "groups could not be played" in told and "deadline" in told
    assert "its environment took longer than 0.3 s" in told
    last = read_rows(tmp_path / "run/log.jsonl")[-1]
    assert (last["event"], last["updates"]) == ("failed", 0)


def customer(messages: list[dict[str, str]]) -> str:
    """What the scripted customer of the task in the briefing would say."""
    briefing = messages[0]["content"]
    task = next(task for task in map(get_task, TASKS) if str(task.scenario.customer.knows["loan"]) in briefing)
    user = ScriptedUser(task.scenario.customer, task.domain.vocabulary, task.user_seed)
    user.opening()
    reply = [user.reply(message["content"]) for message in messages[2:] if message["role"] == "user"][-1]
    return f"{reply.text} {HANG_UP}" if reply.leaves else reply.text


def test_a_model_plays_the_customer_and_its_tokens_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    make_run(tmp_path / "script").train()
    double = ModelDouble(customer).start()
    try:
        user = {"kind": "llm", "model": "m", "base_url": double.url}
        run = make_run(tmp_path / "model", settings_for(environment={"user": user}))
        rows = run.train()
    finally:
        double.stop()
    assert double.asked > 0
    assert all(row["user_tokens"] > 0 for row in rows)
    paid = ("user_cost", "user_tokens")
    played, scripted = (
        [{name: value for name, value in row.items() if name not in paid} for row in _untimed(read_rows(log))]
        for log in (tmp_path / "model/log.jsonl", tmp_path / "script/log.jsonl")
    )
    assert played == scripted
    with pytest.raises(UsageError, match="another configuration"):  # another customer is another run
        make_run(tmp_path / "model", resume=True)


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ("backend=remot", "environment: unknown backend 'remot'. Did you mean 'remote'?"),
        ("user={kind: recorded, path: /nowhere}", "environment: the recording '/nowhere' of a user is no file"),
        ("judge=me", "environment: unknown judge 'me'"),
        ("user=7", "environment.user"),
    ],
)
def test_a_wrong_place_is_told_before_anything_is_loaded(
    setting: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tb_trainer.loop.load_policy", lambda config: pytest.fail("the model was loaded"))
    for more in ([], ["--dry-run"]):
        assert (
            cli.main(["--preset", "smoke", *sets(f"environment.{setting}"), "--out", str(tmp_path / "r"), *more]) == 2
        )
        told = capsys.readouterr().err.strip()
        assert says in told and "\n" not in told


def test_a_run_in_this_process_has_no_event_loop(tmp_path: Path) -> None:
    run = Run(config(), tmp_path)
    assert isinstance(run.runner, Runner) and run.runner._loop is None
