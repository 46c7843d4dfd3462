"""A real checkpoint, SmolLM2-135M-Instruct, from its file through probe and warm start to two updates, on the CPU."""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
import torch

from tb_envs.cli import main
from tb_envs.registration import load_domain
from tb_envs.task import get_task
from tb_trainer.config import load
from tb_trainer.demonstrations import demonstrations
from tb_trainer.grpo import Example, pad, score
from tb_trainer.log import read_rows
from tb_trainer.loop import Run
from tb_trainer.policy import load_policy
from tb_trainer.render import make_renderer
from tb_trainer.runner import HARNESS
from tb_trainer.tasks.posterior import jeffreys
from tb_trainer.tasks.records import read
from tb_trainer.tokens import Trajectory
from tb_trainer.warmstart import warm_start

pytestmark = pytest.mark.slow
ENGLISH = (
    "The sun rises in the east and sets in the west. In winter the days are short and the nights are long, and people "
    "stay at home by the fire. When spring comes, the snow melts, the rivers rise, and the farmers go out to plough "
    "their fields."
)
ONE, OTHER = "hotel/unverified_caller/2026", "hotel/unverified_caller/2041"
SMALLER = [
    f"environment.tasks=[{ONE}, {OTHER}]",
    "sampling.episode_tokens=2816",
    "grpo.group_size=2",
    "grpo.refills=0",
]
"""Settings over the preset's, for time: two real tasks of the hotel, whose demonstrations have 2,400 tokens."""
SHOWN = [
    f"environment.tasks=[{ONE}, {ONE}, {OTHER}, {OTHER}]",
    "warmstart.trainer=plain",
    "warmstart.noise=0.3",
    "warmstart.habits=[hands over what is done]",
]
"""Of each task its right end and a wrong one, so that attempts will differ: else there is nothing to step on."""
UNSEEN = "hotel/unverified_caller/2002"
"""Never trained on."""


@pytest.fixture(scope="module", autouse=True)
def cores() -> Iterator[None]:
    """As many threads as the machine lends, while other tests of the session take one."""
    before = torch.get_num_threads()
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS") or os.cpu_count() or 1))
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def base() -> Any:
    return load_policy(load("smollm2"))


# -- the file


def test_the_model_speaks_english(base: Any) -> None:
    model, tokenizer = base
    assert sum(p.numel() for p in model.parameters()) == 134_515_008

    def goes_on(text: str) -> str:
        ids = torch.tensor([tokenizer.encode(text, add_special_tokens=False)])
        out = model.generate(ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=12)
        return tokenizer.decode(out[0, ids.shape[1] :])

    assert goes_on("The capital of France is").startswith(" Paris")
    question = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "What is the capital of France?"},
    ]
    asked = tokenizer.apply_chat_template(question, tokenize=False, add_generation_prompt=True)
    assert "Paris" in goes_on(asked)

    def perplexity(text: str) -> float:
        ids = torch.tensor([tokenizer.encode(text, add_special_tokens=False)])
        with torch.no_grad():
            return math.exp(float(model(ids, labels=ids).loss))

    assert perplexity(ENGLISH) < 16 < 200 < perplexity(" ".join(sorted(ENGLISH.split(), key=lambda word: word[::-1])))


def test_the_tokenizer_gives_back_what_it_was_given(base: Any) -> None:
    _, tokenizer = base
    policy = load_domain("hotel").policy_text
    for text in (policy, "BK-20418,  2031-05-14:  570.25\n\n 7", "żółć 日本 🙂 ½", "<|im_start|>user\nhi<|im_end|>"):
        assert tokenizer.decode(tokenizer.encode(text, add_special_tokens=False)) == text
    assert len(policy) / len(tokenizer.encode(policy, add_special_tokens=False)) > 3.5, "it cuts English into pieces"
    assert [tokenizer.decode(i) for i in tokenizer.encode("at  20", add_special_tokens=False)] == ["at", "  ", "2", "0"]


def test_first_prompts_are_short_and_name_every_tool(base: Any) -> None:
    config, hotel = load("smollm2"), load_domain("hotel")
    renderer = make_renderer(config, base[1])
    for name, family in hotel.families.items():
        if family.split == "train":
            task = get_task(f"hotel/{name}/2000")
            ids = renderer.first(task, [{"role": "user", "content": ENGLISH}])
            assert len(ids) <= 1500
            assert all(f'{{"{tool}": "' in base[1].decode(ids) for tool in hotel.tools)


# -- the way


@dataclass
class Way:
    """What it left behind."""

    out: Path
    pool: dict[str, Any] = field(default_factory=dict)
    report: dict[str, Any] = field(default_factory=dict)
    first: bytes = b""
    run: Any = None
    batches: list[Any] = field(default_factory=list)
    seconds: dict[str, tuple[float, ...]] = field(default_factory=dict)

    @property
    def rollouts(self) -> list[Any]:
        return [rollout for batch in self.batches for rollout in batch.rollouts]

    def config(self, *more: str) -> Any:
        return load("smollm2", [*SMALLER, *more])

    def words(self, command: str, *more: str) -> list[str]:
        return [command, "--preset", "smollm2", *(word for name in SMALLER for word in ("--set", name)), *more]


@pytest.fixture(scope="module")
def way(tmp_path_factory: pytest.TempPathFactory) -> Way:
    """Probe the model as it came, in two parts; select; teach it; train it for two updates."""
    way = Way(tmp_path_factory.mktemp("way"))
    two = list(way.config().environment.tasks)[:2]
    rows = way.out / "probe.jsonl"
    probe = way.words("probe", "--attempts", "1", "--out", str(rows), "--json", "--tasks")
    clock = time.perf_counter(), time.process_time()

    def lap(name: str) -> None:
        nonlocal clock
        now = time.perf_counter(), time.process_time()
        way.seconds[name] = tuple(round(after - before, 1) for before, after in zip(clock, now, strict=True))
        clock = now

    assert main([*probe, two[0]]) == 0
    way.first = rows.read_bytes()
    assert main([*probe, *two]) == 0
    lap("probe")
    main(["select", str(rows), "--out", str(way.out / "pool.json"), "--attempts", "1"])
    way.pool = json.loads((way.out / "pool.json").read_text("utf-8"))
    shown = [word for name in SHOWN for word in ("--set", name)]
    assert main(way.words("warmstart", *shown, "--out", str(way.out / "start"))) == 0
    way.report = json.loads((way.out / "start" / "state.json").read_text("utf-8"))["warmstart"]
    lap("warm start")
    way.run = Run(
        way.config(f"model.checkpoint={way.out / 'start'}"),
        way.out / "run",
        on_update=lambda row: way.batches.append(way.run.batch),
    )
    way.run.train()
    lap("two updates")
    print(f"\nseconds (wall, processor) {way.seconds} with {torch.get_num_threads()} threads; {way.report}")
    for row in way.run.rows:
        print({name: row[name] for name in ("reward_mean", "pass_rate", "tokens", "malformed", "seconds", "optimizer")})
    return way


def test_a_probe_goes_on_and_its_posteriors_carry_hashes(way: Way) -> None:
    header, rows = read(way.out / "probe.jsonl")
    assert (way.out / "probe.jsonl").read_bytes().startswith(way.first)
    assert [row["task"] for row in rows] == list(way.config().environment.tasks)[:2]
    assert all(row["status"] != "system_error" and row["tokens"] <= 2816 for row in rows)
    assert all(row["hash"] == get_task(row["task"]).hash for row in rows)
    assert len(header["weights"]) == len(header["tokenizer"]) == 16
    entries = [*way.pool["tasks"], *way.pool["excluded"]]
    assert len(entries) == 2
    for entry in entries:
        belief = jeffreys(entry["solved"], entry["runs"] - entry["solved"])
        assert (entry["posterior"]["a"], entry["posterior"]["b"]) == (belief.a, belief.b)
        assert entry["runs"] == 1
        assert entry["hash"] == get_task(entry["id"]).hash


def test_a_warm_start_makes_an_unseen_demonstration_likely(way: Way, base: Any) -> None:
    (shown,) = demonstrations(way.config(), base[1], [UNSEEN])
    assert UNSEEN not in way.config().environment.tasks
    assert shown.tokens.prompt <= 1500
    cold, warm = (loss(model, shown.tokens) for model in (base[0], started(way)))
    print(f"loss of {UNSEEN}: {cold:.3f} before, {warm:.3f} after")
    assert (way.report["demonstrations"], way.report["wrong"]) == (4, 2)
    assert warm < 0.4 * cold
    assert way.report["loss"] < 0.4 * cold


def test_trls_trainer_lowers_the_loss_of_what_it_is_shown(base: Any, tmp_path: Path) -> None:
    """The way of larger models: TRL's `SFTTrainer`, on the real checkpoint."""
    words = [*SMALLER, f"environment.tasks=[{ONE}]", "grpo.groups=1", "warmstart.trainer=trl", "warmstart.steps=2"]
    words += ["warmstart.batch=1", "warmstart.warmup=0", "warmstart.learning_rate=1e-4"]
    settings = load("smollm2", words)
    (shown,) = demonstrations(settings, base[1], [ONE])
    report = warm_start(settings, tmp_path / "start")
    model, _ = load_policy(load("smollm2", [*words, f"model.checkpoint={tmp_path / 'start'}"]))
    assert (report["demonstrations"], report["steps"]) == (1, 2)
    assert loss(model, shown.tokens) < 0.95 * loss(base[0], shown.tokens)


def test_after_it_episodes_call_tools(way: Way) -> None:
    _, cold = read(way.out / "probe.jsonl")
    called = [rollout.tool_calls > 0 for rollout in way.rollouts]
    assert fmean(called) > max(0.5, fmean(row["tool_calls"] > 0 for row in cold))


def test_two_updates_of_whole_groups_are_logged(way: Way) -> None:
    log = read_rows(way.out / "run/log.jsonl")
    assert [row["event"] for row in log] == ["start", "update", "update", "checkpoint", "end"]
    for row, batch in zip(log[1:3], way.batches, strict=True):
        assert [len(group.rollouts) for group in batch.groups] == [2, 2]
        assert all(rollout.status != "system_error" and rollout.reward is not None for rollout in batch.rollouts)
        assert (row["episodes"], row["system_errors"], row["retries"], row["dropped_groups"]) == (4, {}, 0, 0)
        assert row["tokens"]["longest"] <= way.config().sampling.episode_tokens
        assert row["tokens"]["prompt"] <= 4 * 1500
        step, varies = row["optimizer"], sum(group.informative for group in batch.groups)
        assert row["informative_groups"] == varies
        assert (step["stepped"], step["why"]) == ((True, "") if varies else (False, "no group has variance"))
        assert step["tokens"] == row["tokens"]["action"]
        if varies:
            assert 0 < step["grad_norm"] < math.inf
            assert step["mismatch_max"] < 5e-4, "sampler and trainer disagree"
    assert any(row["optimizer"]["stepped"] for row in log[1:3]), "no attempt differed: nothing was learned from reward"
    assert (way.out / "run/checkpoints/update-2/model.safetensors").exists()


def test_malformed_answers_became_observations(way: Way, base: Any) -> None:
    """Each is answered in the stream by words that the model did not sample; the talk goes on or meets its limit."""
    _, tokenizer = base
    for rollout in way.rollouts:
        heard = [token for token, own in zip(rollout.tokens.ids, rollout.tokens.sampled, strict=True) if not own]
        told = tokenizer.decode(heard).count(HARNESS)
        assert rollout.malformed - (rollout.ended_by == "limit:turns") <= told <= rollout.malformed
    assert sum(rollout.malformed for rollout in way.rollouts) == sum(row["malformed"] for row in way.run.rows)


def test_the_engines_log_probs_are_the_models_and_the_policy_moves_with_a_step(way: Way) -> None:
    rollout = max(way.batches[0].rollouts, key=lambda rollout: rollout.tool_calls)
    own = torch.tensor([p for p, ours in zip(rollout.tokens.logprobs, rollout.tokens.sampled, strict=True) if ours])
    before, after = (logprobs(model, rollout.tokens) for model in (started(way), way.run.model))
    assert rollout.tool_calls > 0, "log-probs behind a tool's answer are meant"
    assert float((own - before).abs().max()) < 5e-4
    moved = float((after - before).abs().max())
    assert moved > 1e-3


def started(way: Way) -> Any:
    return load_policy(way.config(f"model.checkpoint={way.out / 'start'}"))[0]


def logprobs(model: Any, tokens: Trajectory) -> torch.Tensor:
    """By the forward pass of transformers, of what the policy wrote."""
    ids = torch.tensor([tokens.ids])
    places = torch.tensor(tokens.sampled, dtype=torch.bool).nonzero()[:, 0]
    with torch.no_grad():
        logits = model.eval()(ids, logits_to_keep=places - 1).logits[0].float()
    return logits.log_softmax(-1).gather(-1, ids[0, places][:, None])[:, 0]


def loss(model: Any, tokens: Trajectory) -> float:
    """As `tbx warmstart` counts it."""
    with torch.no_grad():
        return -float(score(model, pad([Example(tokens, 0.0)]), 1.0).logprobs.mean())
