"""Engines write what the model would: log-probs of whole episodes, whatever order rows begin, wait and end in."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from trainer_parts import TASKS, reference, runner, sampling, sharp_model, tokenizer
from transformers import LlamaConfig, LlamaForCausalLM

from tb_envs.errors import UsageError
from tb_trainer.engines import Engine, Key, Request, Sampling, Turn
from tb_trainer.engines.cpu import CpuEngine
from tb_trainer.engines.draws import draw, truncated, uniforms
from tb_trainer.engines.hf import HfEngine
from tb_trainer.play import play_all
from tb_trainer.runner import Job, Rollout


def llama() -> Any:
    torch.manual_seed(5)
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer()),
            hidden_size=64,
            intermediate_size=128,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=1,
            max_position_embeddings=4096,
            attention_bias=True,
        )
    )
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(3.0)
    return model.eval()


def forward(model: Any, ids: list[int], temperature: float) -> torch.Tensor:
    with torch.no_grad():
        logits = model(input_ids=torch.tensor([ids])).logits[0, :-1].float() / temperature
    return logits.log_softmax(-1).gather(-1, torch.tensor(ids[1:])[:, None])[:, 0]


class Led:
    """Every other turn is the next call of the reference solution, as an engine of another server might write it."""

    def __init__(self, engine: Engine) -> None:
        self._engine, self.sampling, self.version = engine, engine.sampling, 0
        self._asked: Counter[Key] = Counter()
        self._led: list[Turn] = []

    def load(self, model: Any) -> None:
        self._engine.load(model)

    def submit(self, request: Request) -> None:
        turn = self._asked[request.key]
        self._asked[request.key] += 1
        calls = [text for text in reference(TASKS[request.key.group]) if "<tool_call>" in text]
        if turn % 2 == 0 or turn // 2 >= len(calls):
            return self._engine.submit(request)
        ids = tokenizer().encode(calls[turn // 2] + tokenizer().eos_token, add_special_tokens=False)
        self._led.append(Turn(request.key, ids, [0.0] * len(ids), "stop"))

    def poll(self, wait: float | None = None) -> list[Turn]:
        led, self._led = self._led, []
        return led or self._engine.poll(wait)

    def release(self, key: Key) -> None:
        self._led = [turn for turn in self._led if turn.key != key]
        self._engine.release(key)


def furthest(model: Any, rollouts: list[Rollout], temperature: float) -> tuple[float, int, int]:
    """The largest difference to a forward pass, how many tokens were compared, and how many behind a tool's answer."""
    worst, compared, behind = 0.0, 0, 0
    for rollout in rollouts:
        tokens = rollout.tokens
        own = torch.tensor([turn >= 0 and turn % 2 == 0 for turn in tokens.turns[1:]])
        apart = (forward(model, tokens.ids, temperature) - torch.tensor(tokens.logprobs[1:]))[own].abs()
        worst, compared = max(worst, float(apart.max())), compared + int(own.sum())
        behind += sum(turn >= 2 and turn % 2 == 0 for turn in tokens.turns)
        assert not torch.tensor(tokens.logprobs)[~torch.tensor(tokens.sampled, dtype=torch.bool)].any()
    return worst, compared, behind


@pytest.mark.parametrize(("kind", "make"), [("cpu", sharp_model), ("cpu", llama), ("hf", sharp_model)])
@pytest.mark.parametrize("temperature", [1.0, 0.7])
def test_log_probs_equal_a_forward_pass_over_whole_episodes(kind: str, make: Any, temperature: float) -> None:
    model = make()
    engine: Engine = (
        CpuEngine(model, sampling(temperature)) if kind == "cpu" else HfEngine(model, sampling(temperature))
    )
    jobs = [Job(Key(0, 0, group, slot), TASKS[group]) for group in range(3) for slot in range(4)]
    player = runner(Led(engine), turn=16, prompt="compact")
    rollouts = play_all(player, jobs, slots=5)  # rows are taken over by later episodes
    worst, compared, behind = furthest(model, rollouts, temperature)
    assert worst < 1e-4
    assert compared > 500
    assert behind > 200
    calls = [rollout.tool_calls for rollout in rollouts]
    assert min(calls) >= 1 and sum(calls) >= 24, calls
    assert len({len(rollout.tokens) for rollout in rollouts}) > 6


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10_000), rows=st.integers(1, 9), chunk=st.sampled_from([1, 64, 4096]))
def test_rows_in_any_order_read_their_own_cache_only(seed: int, rows: int, chunk: int) -> None:
    """Talks of random lengths that begin, wait, end and are given up in random order; every log-prob is right."""
    rng, model = random.Random(seed), _shared_model()
    stops = tuple(range(40, 120))
    engine = CpuEngine(model, Sampling(stop=stops), chunk=chunk)
    talks: dict[Key, tuple[list[int], list[float | None]]] = {}
    left: dict[Key, int] = {}
    waiting = list(range(rows))

    def ask(key: Key) -> None:
        engine.submit(Request(key, list(talks[key][0]), rng.randint(1, 12)))

    def begin() -> None:
        key = Key(seed, 0, 0, waiting.pop())
        ids = [rng.randrange(120, 500) for _ in range(rng.randint(1, 20))]
        talks[key], left[key] = (ids, [None] * len(ids)), rng.randint(1, 5)
        ask(key)

    for _ in range(rng.randint(1, rows)):
        begin()
    while turns := engine.poll():
        for turn in turns:
            ids, logprobs = talks[turn.key]
            assert len(turn.ids) == len(turn.logprobs)
            assert (turn.finish == "stop") == (turn.ids[-1] in stops)
            ids += turn.ids
            logprobs += turn.logprobs
            left[turn.key] -= 1
            if not left[turn.key]:
                engine.release(turn.key)
                if waiting:
                    begin()
                continue
            said = [rng.randrange(120, 500) for _ in range(rng.randint(0, 15))]
            ids += said
            logprobs += [None] * len(said)
            ask(turn.key)
        live = [key for key in left if left[key] > 0]
        if live and rng.random() < 0.1:
            gone = rng.choice(live)
            left[gone] = 0
            engine.release(gone)
    for ids, logprobs in talks.values():
        if len(ids) > 1:
            right = forward(model, ids, 1.0)
            for at, given_ in enumerate(logprobs):
                assert given_ is None or abs(float(right[at - 1]) - given_) < 1e-4


_MODELS: list[Any] = []


def _shared_model() -> Any:
    if not _MODELS:
        _MODELS.append(sharp_model(positions=512))
    return _MODELS[0]


def test_what_one_episode_samples_does_not_depend_on_the_others() -> None:
    model = sharp_model()
    # Here no number lies closer than 2e-6 to the border between two tokens. Nearer than 1e-7 rounding decides, which
    # differs with the batch and the processor (in update 4 one does).
    jobs = [Job(Key(1, 7, group, 0), TASKS[group]) for group in range(6)]
    together = play_all(runner(CpuEngine(model, sampling()), turn=16, prompt="compact"), jobs)
    backwards = play_all(runner(CpuEngine(model, sampling()), turn=16, prompt="compact"), jobs[::-1], slots=2)[::-1]
    other = play_all(runner(HfEngine(model, sampling(), batch=3), turn=16, prompt="compact"), jobs)
    for again in (backwards, other):
        assert [rollout.tokens.ids for rollout in again] == [rollout.tokens.ids for rollout in together]
    elsewhere = play_all(
        runner(CpuEngine(model, sampling()), turn=16, prompt="compact"),
        [job._replace(key=Key(2, 7, 0, 0)) for job in jobs[:1]],
    )
    assert elsewhere[0].tokens.ids != together[0].tokens.ids


def test_a_long_turn_may_be_left_and_others_come_in_beside_it() -> None:
    """Who polls for a bounded time hands in new turns meanwhile; each is what it would have been alone."""
    model, endless = sharp_model(), Sampling()
    long, short = (
        Request(Key(0, 0, 0, 0), list(range(40, 60)), 200),
        Request(Key(0, 0, 1, 0), list(range(60, 70)), 5),
    )
    alone: list[Turn] = []
    for request in (short, long):
        engine = CpuEngine(model, endless)
        engine.submit(request)
        alone += engine.poll()
    engine = CpuEngine(model, endless)
    engine.submit(long)
    assert engine.poll(0.0) == []
    engine.submit(short)
    turns: list[Turn] = []
    while not turns:
        turns += engine.poll(0.0)
    assert [turn.key for turn in turns] == [short.key]
    turns += engine.poll()
    assert [(turn.key, turn.ids) for turn in turns] == [(turn.key, turn.ids) for turn in alone]
    for turn, other in zip(turns, alone, strict=True):
        assert turn.logprobs == pytest.approx(other.logprobs, abs=1e-4)


def test_the_hf_engine_asks_for_the_last_places_logits_only() -> None:
    """Of a prompt of 300 tokens one row of logits is made; a model that cannot be asked writes the same turns."""
    model, shapes = sharp_model(), list[tuple[int, ...]]()
    model.lm_head.register_forward_hook(lambda module, given, out: shapes.append(tuple(out.shape)))
    requests = [Request(Key(0, 0, group, 0), list(range(40, 40 + length)), 8) for group, length in enumerate((300, 7))]

    def written(engine: HfEngine) -> list[Turn]:
        for request in requests:
            engine.submit(request)
        return engine.poll()

    turns = written(HfEngine(model, sampling()))
    assert {shape[:2] for shape in shapes} == {(2, 1)}
    shapes.clear()

    class Bare(torch.nn.Module):
        """Takes no word about logits."""

        def __init__(self, model: Any) -> None:
            super().__init__()
            self.model, self.device = model, model.device

        def forward(self, input_ids: Any, attention_mask: Any, position_ids: Any, use_cache: Any, **cache: Any) -> Any:
            return self.model(input_ids, attention_mask, position_ids, use_cache=use_cache, **cache)

    bare = HfEngine(Bare(model), sampling())
    bare._cache = HfEngine(model, sampling())._cache
    for turn, again in zip(turns, written(bare), strict=True):
        assert again.ids == turn.ids
        assert again.logprobs == pytest.approx(turn.logprobs, abs=1e-5)
    assert shapes[0][:2] == (2, 300)


def test_new_weights_are_taken_only_between_turns() -> None:
    one, two = sharp_model(3), sharp_model(4)
    engine = CpuEngine(one, sampling())
    engine.submit(Request(Key(0, 0, 0, 0), [1, 2, 3], 4))
    with pytest.raises(UsageError, match="in flight"):
        engine.load(two)
    (turn,) = engine.poll()
    with torch.no_grad():
        next(iter(one.parameters())).mul_(0.0)  # a step in place changes nothing before `load`
    engine.submit(Request(Key(0, 0, 0, 0), [1, 2, 3, *turn.ids, 5], 4))
    (further,) = engine.poll()
    whole = [1, 2, 3, *turn.ids, 5, *further.ids]
    right = forward(sharp_model(3), whole, 1.0)[-len(further.ids) :]
    assert (right - torch.tensor(further.logprobs)).abs().max() < 1e-4
    engine.load(two)
    engine.submit(Request(Key(0, 0, 0, 0), [1, 2, 3], 4))
    (turn,) = engine.poll()
    right = forward(two, [1, 2, 3, *turn.ids], 1.0)[-len(turn.ids) :]
    assert (right - torch.tensor(turn.logprobs)).abs().max() < 1e-4
    assert engine.version == 1


def test_requests_that_cannot_be_are_refused() -> None:
    engine, key = CpuEngine(sharp_model(positions=64), sampling()), Key(0, 0, 0, 0)
    for ids, limit, says in (
        ([], 4, "at least one"),
        ([1], 0, "at least one"),
        ([1] * 61, 4, "do not fit"),
        ([512], 4, "vocabulary"),
    ):
        with pytest.raises(UsageError, match=says):
            engine.submit(Request(key, ids, limit))
    engine.submit(Request(key, [1] * 60, 4))
    with pytest.raises(UsageError, match="in flight already"):
        engine.submit(Request(key, [1], 4))
    assert len(engine.poll()[0].ids) <= 4
    assert engine.poll() == []
    config = sharp_model(positions=64).config
    config.model_type = "gemma"
    with pytest.raises(UsageError, match="use engine `hf`"):
        CpuEngine(type("M", (), {"config": config})(), sampling())


@settings(max_examples=50, deadline=None)
@given(
    st.integers(0, 2**31),
    st.floats(0.2, 2.0),
    st.integers(0, 12),
    st.floats(0.05, 1.0),
)
def test_draws_invert_the_distribution(seed: int, temperature: float, top_k: int, top_p: float) -> None:
    """Evenly spaced numbers hit each token as often as its probability says, and never one that was cut off."""
    torch.manual_seed(seed)
    logits = torch.randn(1, 10) * 2
    how = Sampling(temperature, top_p, top_k)
    count = 2000
    numbers = (np.arange(count) + 0.5) / count
    chosen, logprobs = draw(logits.expand(count, -1), how, numbers)
    probabilities = truncated(logits, how)[0].softmax(-1)
    seen = np.bincount(chosen, minlength=10) / count
    assert np.abs(seen - probabilities.numpy()).max() <= 1.01 / count + 1e-6
    assert np.allclose(np.exp(logprobs), probabilities[chosen].numpy(), atol=1e-6)
    kept = int((probabilities > 0).sum())
    assert kept >= 1
    if top_k:
        assert kept <= top_k
    greedy, _ = draw(logits, Sampling(0.0, top_p, top_k), np.zeros(1))
    assert greedy[0] == int(logits.argmax())


def test_random_numbers_are_named_and_even() -> None:
    keys = [
        Key(seed, update, group, slot)
        for seed in range(2)
        for update in range(5)
        for group in range(10)
        for slot in range(8)
    ]
    numbers = np.concatenate([uniforms(keys, [place] * len(keys)) for place in range(50)])
    assert len(np.unique(numbers)) == len(numbers)
    assert 0 <= numbers.min() < numbers.max() < 1
    counts = np.histogram(numbers, bins=20, range=(0, 1))[0]
    expected = len(numbers) / 20
    assert float(((counts - expected) ** 2 / expected).sum()) < 50  # chi square, 19 degrees of freedom: p about 1e-4
    assert uniforms(keys[:3], [7, 8, 9]).tolist() == [
        float(uniforms([k], [p])[0]) for k, p in zip(keys[:3], [7, 8, 9], strict=True)
    ]
    assert uniforms([Key(1, 2, 3, 4)], [5])[0] == pytest.approx(KNOWN, abs=0)


KNOWN = 0.12691346113035507
