"""The vLLM engine against a double of the server: what goes wrong on the way never reaches a trajectory."""

from __future__ import annotations

import importlib
import inspect
import sys
import time
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from trainer_parts import TASKS, reference, runner, sampling, sharp_model, written
from vllm_double import Trouble, VllmDouble

from tb_envs.errors import BackendError, UsageError
from tb_trainer.engines import Engine, EngineError, Key, Request, Sampling, Turn
from tb_trainer.engines.cpu import CpuEngine
from tb_trainer.engines.sync import FileSync, NcclSync
from tb_trainer.engines.vllm import VllmEngine
from tb_trainer.engines.wire import seed_of
from tb_trainer.groups import Batch, GroupCollector
from tb_trainer.runner import Job

PROMPT = [40, 41, 42, 43, 44]
USUAL = sampling()


class Fixed:
    """The same tasks in every update."""

    def draw(self, update: int, group: int, redraw: int) -> str:
        return TASKS[group]


@pytest.fixture(scope="module")
def models() -> tuple[Any, Any]:
    """What servers start with, and what is trained."""
    return sharp_model(seed=1), sharp_model(seed=2)


@pytest.fixture(scope="module")
def table() -> dict[tuple[int, ...], list[int]]:
    """The reference solution's first two turns, so that sampled turns stand behind calls and their results."""
    replies: dict[tuple[int, ...], list[int]] = {}
    engine = written(lambda key: reference(TASKS[key.group]), "compact")
    submit = engine.submit

    def note(request: Request) -> None:
        submit(request)
        if engine._played[request.key] <= 2:
            replies[tuple(request.ids)] = list(engine._done[-1].ids)

    engine.submit = note
    player = runner(engine, prompt="compact")
    for group in range(2):
        player.start(Job(Key(0, 0, group, 0), TASKS[group]))
    while player.poll():
        pass
    return replies


@pytest.fixture
def doubles(models: tuple[Any, Any]) -> Iterator[Any]:
    """Makes doubles, and stops them in the end."""
    made: list[VllmDouble] = []

    def make(**options: Any) -> VllmDouble:
        made.append(VllmDouble(models[0], **options))
        return made[-1]

    yield make
    for double in made:
        double.stop()


@pytest.fixture
def engines(tmp_path: Path, models: tuple[Any, Any]) -> Iterator[Any]:
    """Makes engines with short patience, and closes them in the end."""
    made: list[VllmEngine] = []

    def make(*doubles: VllmDouble, sampling: Sampling = USUAL, sync: Any = None, **options: Any) -> VllmEngine:
        sync = sync or FileSync(tmp_path / "weights")
        options = {"patience": 20.0, "turn_seconds": 20.0, "pause": 0.02, **options}
        made.append(VllmEngine([double.url for double in doubles], models[1], sampling, sync, **options))
        return made[-1]

    yield make
    for engine in made:
        engine.close()


def collected(engine: Engine) -> Batch:
    player = runner(engine, turn=40, turns=4, prompt="compact")
    collector = GroupCollector(player, Fixed(), groups=2, size=3, seed=7, retries=0, drops=0)
    batch = collector.collect(1)
    player.close()
    return batch


def stream(batch: Batch) -> list[tuple[Any, ...]]:
    """All that is trained on."""
    return [
        (r.tokens.ids, r.tokens.sampled, r.tokens.logprobs, r.tokens.turns, r.reward, r.outcome) for r in batch.rollouts
    ]


@pytest.fixture(scope="module")
def calm(models: tuple[Any, Any], table: Any, tmp_path_factory: pytest.TempPathFactory) -> Batch:
    """An untroubled update."""
    double = VllmDouble(models[0], table=table)
    engine = VllmEngine(
        [double.url], models[1], sampling(), FileSync(tmp_path_factory.mktemp("weights")), patience=20.0
    )
    batch = collected(engine)
    engine.close()
    double.stop()
    return batch


def everything(engine: Engine) -> list[Turn]:
    turns: list[Turn] = []
    while got := engine.poll():
        turns += got
    return turns


# -- conversations


def test_log_probs_of_whole_conversations_are_the_models(calm: Batch, models: tuple[Any, Any]) -> None:
    assert all(rollout.status != "system_error" for rollout in calm.rollouts)
    assert all(rollout.tool_calls >= 1 for rollout in calm.rollouts)
    assert len({tuple(rollout.tokens.ids) for rollout in calm.rollouts}) == 6
    for rollout in calm.rollouts:
        ids = torch.tensor([rollout.tokens.ids])
        with torch.no_grad():
            every = models[1](input_ids=ids).logits[0, :-1].log_softmax(-1)
        right = every.gather(-1, ids[0, 1:, None])[:, 0]
        own = torch.tensor(rollout.tokens.sampled[1:], dtype=torch.bool)
        assert own.sum() > 40
        assert (right - torch.tensor(rollout.tokens.logprobs[1:]))[own].abs().max() < 1e-3
        assert not torch.tensor(rollout.tokens.logprobs[1:])[~own].any()


def test_several_servers_share_the_turns_and_each_gets_the_weights_once(
    calm: Batch, models: tuple[Any, Any], table: Any, doubles: Any, engines: Any
) -> None:
    servers = [doubles(table=table) for _ in range(3)]
    engine = engines(*servers)
    assert stream(collected(engine)) == stream(calm)
    assert all(server.asked > 5 for server in servers)
    engine.load(models[1])
    assert engine.version == 1
    assert [server.seen["/collective_rpc"] for server in servers] == [2, 2, 2]
    assert len({server.version for server in servers}) == 1


# -- trouble


def at(kinds: dict[int, str]) -> Trouble:
    return lambda turn: kinds.get(turn)


def failing(first: int, last: int) -> Trouble:
    """Every turn between two, and every probe in that time, gets a 500."""
    reached = [0]

    def trouble(turn: int) -> str | None:
        reached[0] = max(reached[0], turn)
        if turn < 0:  # a probe: the server is well again after some of them
            reached[0] += first <= reached[0] <= last
        return "500" if first <= reached[0] <= last else None

    return trouble


@pytest.mark.parametrize(
    ("trouble", "knows", "expected"),
    [
        (failing(9, 14), ("version",), {"retries"}),
        (at({5: "hang", 17: "hang"}), ("version",), {"retries"}),
        (at({11: "restart"}), ("version",), {"retries", "restarts"}),
        (at({11: "restart"}), ("start",), {"retries", "restarts"}),
        (at({11: "restart"}), (), {"retries", "restarts"}),
        (at({3: "restart", 15: "restart", 21: "restart unseen"}), ("version",), {"retries", "restarts"}),
        (at({13: "restart unseen"}), ("version",), {"retries", "restarts"}),
        (at({13: "restart unseen"}), ("start",), {"retries", "restarts"}),
        (at({13: "restart unseen"}), (), {"retries", "restarts"}),
        (at({2: "abort", 3: "abort"}), ("version",), {"retries"}),
        # Two at a time: a turn that happens to meet all of more than that would rightly be given up.
        (at({2: "nan", 9: "short"}), ("version",), {"retries", "nonsense"}),
        (at({14: "shifted", 20: "cut prompt"}), ("version",), {"retries", "nonsense"}),
    ],
    ids=[
        "500s", "hangs", "restart", "restart-start-time", "restart-answer", "restarts", "unseen", "unseen-start-time",
        "unseen-answer", "abort", "nonsense", "nonsense of the right length",
    ],
)  # fmt: skip
def test_a_troubled_update_is_the_calm_one(
    calm: Batch, table: Any, doubles: Any, engines: Any, trouble: Trouble, knows: tuple[str, ...], expected: set[str]
) -> None:
    double = doubles(table=table, trouble=trouble, knows=knows)
    engine = engines(double, turn_seconds=1.0)
    assert stream(collected(engine)) == stream(calm)
    assert {name for name, count in engine.counts.items() if count} == expected


def test_one_of_two_servers_restarts_and_the_other_goes_on(calm: Batch, table: Any, doubles: Any, engines: Any) -> None:
    troubled, well = doubles(table=table, trouble=at({4: "restart"})), doubles(table=table)
    assert stream(collected(engines(troubled, well))) == stream(calm)
    assert troubled.starts == 2
    assert (troubled.seen["/collective_rpc"], well.seen["/collective_rpc"]) == (2, 1)


def test_a_turn_that_weights_overtook_is_asked_for_again(doubles: Any, engines: Any) -> None:
    """It was begun in a restarted server, and is answered when the server has the right weights again."""
    keys = [Key(0, 0, 0, slot) for slot in range(2)]
    found: list[dict[Key, Turn]] = []
    for trouble in (at({}), at({1: "restart unseen", 2: "held"})):
        engine = engines(double := doubles(trouble=trouble))
        engine.submit(Request(keys[0], PROMPT, 16))
        while not double.asked:
            time.sleep(0.005)
        engine.submit(Request(keys[1], PROMPT, 16))
        found.append({turn.key: turn for turn in everything(engine)})
    assert found[0] == found[1]
    assert len(found[0]) == 2


def test_a_restart_that_answers_alike_is_taken_for_one(doubles: Any, engines: Any, models: tuple[Any, Any]) -> None:
    double = doubles(knows=(), trouble=at({1: "restart"}))
    engine = engines(double)
    engine.load(models[0])  # what the server begins with
    engine.submit(Request(Key(0, 0, 0, 0), PROMPT, 4))
    assert len(everything(engine)) == 1
    assert engine.counts["restarts"] == 1
    assert double.seen["/collective_rpc"] == 2


@pytest.mark.parametrize("kind", ["nan", "short", "shifted", "cut prompt"])
def test_lasting_nonsense_is_the_servers_fault_and_the_engine_can_go_on_after_it(
    doubles: Any, engines: Any, kind: str
) -> None:
    engine = engines(double := doubles(trouble=lambda turn: kind))
    with pytest.raises(EngineError, match="nonsense 3 times"):
        collected(engine)
    double.trouble = lambda turn: None
    assert len(collected(engine).rollouts) == 6


def test_a_server_that_stays_away_ends_the_update_with_a_message(doubles: Any, engines: Any) -> None:
    double = doubles()
    engine = engines(double, patience=0.5)
    engine.submit(Request(Key(0, 0, 0, 0), PROMPT, 4))
    assert len(everything(engine)) == 1
    double.stop()
    began = time.monotonic()
    engine.submit(Request(Key(0, 0, 0, 1), PROMPT, 4))
    with pytest.raises(BackendError, match=r"away for 0\.5 s .*start it again, or raise engine\.patience"):
        engine.poll()
    assert time.monotonic() - began < 5
    assert engine.poll() == []
    double.restart()
    engine.submit(Request(Key(0, 0, 0, 1), PROMPT, 4))
    assert len(everything(engine)) == 1
    assert double.version != "default"


def test_a_hopeless_request_is_not_repeated(doubles: Any, engines: Any) -> None:
    engine = engines(double := doubles(trouble=at({1: "400"})))
    engine.submit(Request(Key(0, 0, 0, 0), PROMPT, 4))
    with pytest.raises(EngineError, match=r"refused a turn: status 400 .*no such thing"):
        engine.poll()
    assert double.asked == 1


def test_what_is_released_is_given_up_and_a_slow_turn_delays_no_other(doubles: Any, engines: Any) -> None:
    double = doubles(trouble=at({1: "hang"}))
    engine = engines(double)
    keys = [Key(0, 0, 0, slot) for slot in range(40)]
    engine.submit(Request(keys[0], PROMPT, 8))
    while not double.asked:
        time.sleep(0.01)
    for key in keys[1:]:
        engine.submit(Request(key, PROMPT, 8))
    with pytest.raises(UsageError, match="in flight"):
        engine.submit(Request(keys[0], PROMPT, 8))
    with pytest.raises(UsageError, match="in flight"):
        engine.load(None)
    done: set[Key] = set()
    while len(done) < 39:
        done |= {turn.key for turn in engine.poll()}
    assert done == set(keys[1:])
    assert engine.poll(0.01) == []
    with pytest.raises(UsageError, match="in flight"):  # who would not wait for it has not given it up
        engine.submit(Request(keys[0], PROMPT, 8))
    engine.release(keys[0])
    assert engine.poll() == []
    deadline = time.monotonic() + 5
    while not double.given_up and time.monotonic() < deadline:
        time.sleep(0.01)
    assert double.given_up == 1
    assert len({body["seed"] for body in double.bodies}) == 40


# -- distributions


def test_raw_log_probs_are_refused_where_they_differ(doubles: Any, engines: Any) -> None:
    raw = doubles(raw=True)
    plain = engines(raw)
    plain.submit(Request(Key(0, 0, 0, 0), PROMPT, 4))
    assert len(everything(plain)) == 1
    for cut in (Sampling(temperature=0.7), Sampling(top_p=0.9), Sampling(top_k=20)):
        with pytest.raises(UsageError, match="--logprobs-mode processed_logprobs"):
            engines(raw, sampling=cut).submit(Request(Key(0, 0, 0, 0), PROMPT, 4))


@pytest.mark.parametrize(
    "how", [Sampling(temperature=0.7, top_p=0.9, top_k=20), Sampling(temperature=0.0, top_p=0.5)], ids=["cut", "greedy"]
)
def test_log_probs_are_of_the_distribution_that_was_drawn_from(
    doubles: Any, engines: Any, models: tuple[Any, Any], how: Sampling
) -> None:
    engine, request = engines(doubles(), sampling=how), Request(Key(5, 0, 0, 0), PROMPT, 32)
    engine.submit(request)
    (turn,) = everything(engine)
    local = CpuEngine(models[1], how)
    local.submit(Request(Key(seed_of(request.key, len(PROMPT)), 0, 0, 0), PROMPT, 32))
    (right,) = local.poll()
    assert turn.ids == right.ids
    assert turn.finish == right.finish == "length"
    if how.temperature:
        assert turn.logprobs == pytest.approx(right.logprobs, abs=1e-3)
    else:  # greedy: of the whole distribution
        whole = CpuEngine(models[1], Sampling(temperature=0.0))
        whole.submit(Request(request.key, PROMPT, 32))
        assert turn.logprobs == pytest.approx(whole.poll()[0].logprobs, abs=1e-3)


# -- weights


class Client:
    """TRL's, without NCCL: each call is held against the real one's signature."""

    real: Any
    joined: list[tuple[str, int]] = []
    doubles: dict[str, VllmDouble] = {}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        bound = inspect.signature(self.real).bind(*args, **kwargs).arguments
        self.double, self.starts = self.doubles[bound["base_url"]], self.doubles[bound["base_url"]].starts
        self.joined.append((bound["base_url"], bound["group_port"]))

    def init_communicator(self, *args: Any, **kwargs: Any) -> None:
        inspect.signature(self.real.init_communicator).bind(self, *args, **kwargs)

    def update_named_params(self, *args: Any, **kwargs: Any) -> None:
        bound = inspect.signature(self.real.update_named_params).bind(self, *args, **kwargs).arguments
        if self.starts != self.double.starts:
            raise RuntimeError("the group is gone")
        tensors = dict(bound["named_params"])
        assert bound["metadata"] == [(name, "float32", list(tensor.shape)) for name, tensor in tensors.items()]
        with self.double.lock:
            self.double.take(tensors)

    def close_communicator(self) -> None:
        inspect.signature(self.real.close_communicator).bind(self)


def test_trls_client_is_joined_anew_after_a_restart(
    calm: Batch, table: Any, doubles: Any, engines: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = importlib.import_module("trl.generation.vllm_client").VLLMClient
    servers = [doubles(table=table, trouble=at({6: "restart"})), doubles(table=table)]
    joined: list[tuple[str, int]] = []
    stand_in = type("Client", (Client,), {"real": real, "joined": joined, "doubles": {s.url: s for s in servers}})
    module = types.ModuleType("trl.generation.vllm_client")
    monkeypatch.setattr(module, "VLLMClient", stand_in, raising=False)
    monkeypatch.setitem(sys.modules, "trl.generation.vllm_client", module)
    engine = engines(*servers, sync=NcclSync(51216, device="cpu"))
    assert stream(collected(engine)) == stream(calm)
    first, second = (server.url for server in servers)
    assert joined == [(first, 51216), (second, 51217), (first, 51216)]


def test_without_vllm_beside_the_trainer_trls_client_is_refused_in_one_line(doubles: Any, engines: Any) -> None:
    with pytest.raises(EngineError, match=r"engine\.sync nccl: .*; or set engine\.sync files"):
        engines(doubles(), sync=NcclSync(51216, device="cpu")).load(sharp_model())


def test_a_turn_that_the_server_has_no_room_for_is_refused(doubles: Any, engines: Any) -> None:
    engine = engines(doubles(positions=8))
    with pytest.raises(UsageError, match="do not fit the 8"):
        engine.submit(Request(Key(0, 0, 0, 0), PROMPT, 4))
