"""Chat templates of real models: what is trained on is what a server renders, and what rewrites it is refused."""

from __future__ import annotations

import importlib
import json
from copy import deepcopy
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from trainer_parts import TASKS, reference

from tb_envs.actions import Turn
from tb_envs.agents import make_agent
from tb_envs.errors import UsageError
from tb_envs.limits import Limits as EpisodeLimits
from tb_envs.parse import Parser, action_of, family_of
from tb_envs.play import play
from tb_envs.settings import Settings
from tb_envs.task import get_task
from tb_trainer.config import check
from tb_trainer.engines import Key
from tb_trainer.engines.make import make_engine
from tb_trainer.play import play_all
from tb_trainer.policy import load_policy
from tb_trainer.reference import WrittenEngine
from tb_trainer.render import Renderer, stop_ids
from tb_trainer.runner import Job, Limits, Runner
from tb_trainer.schema import ModelConfig
from tb_trainer.template import use_template
from tb_trainer.tiny import make_model, make_tokenizer, texts_of

MISTRAL = """{{ '[SYSTEM_PROMPT]' + messages[0].content + '[/SYSTEM_PROMPT]' }}
{%- if tools %}{{ '[AVAILABLE_TOOLS]' + (tools | tojson) + '[/AVAILABLE_TOOLS]' }}{% endif %}
{%- for m in messages[1:] %}{% if m.role == 'user' %}{{ '[INST]' + m.content + '[/INST]' }}
{%- elif m.role == 'tool' %}{% if m.tool_call_id | length != 9 %}{{ raise_exception('nine!') }}{% endif %}
{{- '[TOOL_RESULTS]' + m.content + '[/TOOL_RESULTS]' }}
{%- else %}{{ m.content or '' }}{% for c in m.tool_calls or [] %}
{{- '[TOOL_CALLS]' + c.function.name + '[ARGS]' + (c.function.arguments | tojson) }}{% endfor %}{{ eos_token }}
{%- endif %}{% endfor %}"""
# Up to v7 the tools stand before the last words of the customer, wherever these are.
MISTRAL_OLD = "{% set last = messages | selectattr('role', 'equalto', 'user') | list | last %}" + MISTRAL.replace(
    "{%- if tools %}", "{%- if false %}"
).replace(
    "{{ '[INST]'",
    "{% if m == last and tools %}{{ '[AVAILABLE_TOOLS]' + (tools | tojson) }}{% endif %}{{ '[INST]'",
)


@lru_cache(maxsize=1)
def _core() -> Any:
    return make_tokenizer(texts_of([get_task(task) for task in TASKS]), 512)


def tokenizer_with(template: str) -> Any:
    """The tiny tokenizer with another model's template, and its end of a turn."""
    own = deepcopy(_core())
    if "[INST]" in template:
        own.add_special_tokens({"eos_token": "</s>"})
    elif "<|eot_id|>" in template:
        own.add_special_tokens({"eos_token": "<|eot_id|>", "extra_special_tokens": ["<|eom_id|>", "<|python_tag|>"]})
    own.chat_template = template
    return own


def template(name: str) -> str:
    if name.startswith("mistral"):
        return {"mistral": MISTRAL, "mistral_old": MISTRAL_OLD}[name]
    if name == "qwen3_8_forgets":
        kept = "preserve_thinking is undefined or preserve_thinking is true or loop.index0 > ns.last_query_index"
        return template("qwen3_8").replace(kept, "false")
    return str(getattr(importlib.import_module("trl.chat_template_utils"), f"{name}_chat_template"))


def served(messages: list[dict[str, Any]], renderer: Renderer, thinking: str) -> str:
    """The prompt that a server renders from a conversation."""
    plain: list[dict[str, Any]] = []
    for message in messages:
        own = {**message, "reasoning_content": thinking} if message["role"] == "assistant" else dict(message)
        for call in own.get("tool_calls", ()):
            call["function"]["arguments"] = json.loads(call["function"]["arguments"])
        if renderer.parser.family.name.startswith("mistral") and "tool_call_id" in own:
            own["tool_call_id"] = own["tool_call_id"].replace("_", "").rjust(9, "0")
        plain.append(own)
    return str(
        renderer.tokenizer.apply_chat_template(
            plain,
            tools=list(get_task(TASKS[0]).domain.tool_definitions),
            tokenize=False,
            add_generation_prompt=True,
            **renderer.switches,
        )
    )


@pytest.mark.parametrize(
    ("name", "choice", "thinking", "family"),
    [
        ("qwen2_5", "native", False, "hermes"),
        ("qwen3_instruct_2507", "native", False, "hermes"),
        ("qwen3", "additive", False, "hermes"),
        ("qwen3", "additive", True, "hermes"),
        ("qwen3_5_think", "additive", False, "qwen3_xml"),
        ("qwen3_5_think", "additive", True, "qwen3_xml"),
        ("qwen3_5_nothink", "additive", True, "qwen3_xml"),
        ("qwen3_6", "native", True, "qwen3_xml"),
        ("qwen3_8", "native", False, "qwen3_xml"),
        ("qwen3_8", "native", True, "qwen3_xml"),
        ("llama3_1", "native", False, "llama"),
        ("llama3_2", "native", False, "llama"),
        ("mistral", "native", False, "mistral_args"),
    ],
)
def test_the_training_stream_is_the_prompt_that_a_server_renders(
    name: str, choice: str, thinking: bool, family: str
) -> None:
    own = tokenizer_with(template(name))
    use_template(own, choice)
    assert family_of(own.chat_template) == family
    renderer = Renderer(own, "full", thinking=thinking)
    task, thought = get_task(TASKS[0]), "I must look this up." if thinking else ""
    turns = [
        renderer.write(action_of(text), task.domain.tool_definitions, thinking=thought) for text in reference(TASKS[0])
    ]
    engine = WrittenEngine(renderer, lambda key: turns)
    playing = Runner(engine, renderer, Settings(limits=EpisodeLimits(turns=8)), Limits(128, 8192))
    (rollout,) = play_all(playing, [Job(Key(0, 0, 0, 0), TASKS[0])])
    assert (rollout.reward, rollout.malformed) == (1.0, 0)
    messages = [{"role": "system", "content": task.instructions}, *play(task, make_agent("reference")).messages]
    last = max(place for place, message in enumerate(messages) if message["role"] == "assistant")
    assert own.decode(rollout.tokens.ids) == served(messages[:last], renderer, thought) + turns[-1] + own.eos_token
    assert ("Today Date: 26 Jul 2024" in own.decode(rollout.tokens.ids)) == (family == "llama")
    sampled = own.decode(
        [token for token, mine in zip(rollout.tokens.ids, rollout.tokens.sampled, strict=True) if mine]
    )
    assert sampled.count("I must look this up.") == (rollout.turns if thinking else 0)


@pytest.mark.parametrize("thinking", [False, True])
@pytest.mark.parametrize("name", ["qwen3", "qwen3_5_think", "qwen3_8_forgets", "mistral_old"])
def test_a_template_that_rewrites_what_was_said_is_refused_with_what_to_do(name: str, thinking: bool) -> None:
    own = tokenizer_with(template(name))
    if thinking and name == "mistral_old":
        with pytest.raises(UsageError, match="knows no thoughts"):
            Renderer(own, thinking=True)
        return
    with pytest.raises(UsageError, match=r"differently.*set model\.template to additive, or to the file"):
        Renderer(own, thinking=thinking)


@pytest.mark.parametrize("name", ["qwen3", "qwen3_5_think", "qwen3_5_nothink", "qwen3_6"])
def test_our_additive_variant_renders_as_trls(name: str) -> None:
    own = tokenizer_with(template(name))
    use_template(own, "additive")
    ours, theirs = own.chat_template, template(f"{name}_training")
    call = {"function": {"name": "t", "arguments": {"x": 1}}}
    talk = [
        {"role": "user", "content": "u"},
        {"role": "assistant", "content": "", "reasoning_content": "hm", "tool_calls": [call]},
        {"role": "tool", "content": "r"},
        {"role": "assistant", "content": "a"},
        {"role": "user", "content": "v"},
        {"role": "assistant", "content": "b", "reasoning_content": "so"},
    ]
    for end in range(1, len(talk) + 1):
        one, other = (
            own.apply_chat_template(talk[:end], chat_template=text, tokenize=False, add_generation_prompt=True)
            for text in (ours, theirs)
        )
        assert one == other


def test_the_choice_of_a_template_goes_into_the_checkpoint(tmp_path: Path) -> None:
    own = tokenizer_with(template("qwen3"))
    make_model(ModelConfig(hidden=32, vocabulary=512), own, positions=256, seed=0).save_pretrained(tmp_path)
    own.save_pretrained(tmp_path)
    tree: dict[str, Any] = {
        "model": {"path": str(tmp_path), "template": "additive", "thinking": True},
        "sampling": {"turn_tokens": 32, "episode_tokens": 256},
    }
    config = check(tree)
    model, chosen = load_policy(config)
    assert Renderer(chosen, thinking=True).parser.family.name == "hermes"
    assert make_engine(config, model, chosen).sampling.stop == stop_ids(chosen)
    assert chosen.eos_token_id in stop_ids(chosen)
    chosen.save_pretrained(tmp_path / "checkpoint")
    assert "ns.last_query_index %" not in (tmp_path / "checkpoint" / "chat_template.jinja").read_text("utf-8")
    with pytest.raises(UsageError, match="neither native nor additive"):
        load_policy(check({"model": {"path": str(tmp_path), "template": "additve"}}))
    (tmp_path / "own.jinja").write_text(template("qwen2_5"), "utf-8")
    _, other = load_policy(check({"model": {"path": str(tmp_path), "template": str(tmp_path / "own.jinja")}}))
    Renderer(other)
    with pytest.raises(UsageError, match="there is no 'hermez'"):
        Parser("hermez")
    with pytest.raises(UsageError, match=r"set model\.parser to one of"):
        family_of("{{ messages }}")


def test_a_thought_that_never_ends_is_trained_on_and_no_answer() -> None:
    own = tokenizer_with(template("qwen3_8"))
    renderer = Renderer(own, "full", thinking=True)
    assert renderer.read(renderer.encode("hm\n</think>\n\nHello.<|im_end|>"), ()).action == Turn("Hello.")
    engine = WrittenEngine(renderer, lambda key: ["The customer must not hear this, however long it is."])
    playing = Runner(engine, renderer, Settings(limits=EpisodeLimits(turns=3)), Limits(6, 8192))
    (rollout,) = play_all(playing, [Job(Key(0, 0, 0, 0), TASKS[0])])
    assert (rollout.turns, rollout.user_turns, rollout.malformed, rollout.cut_off) == (3, 1, 3, 3)
    assert rollout.tokens.actions == 18
    assert own.decode(rollout.tokens.ids).count("ended inside a thought") == 2


def test_llamas_other_end_of_a_turn_ends_it() -> None:
    own = tokenizer_with(template("llama3_1"))
    renderer = Renderer(own)
    assert renderer.stops == stop_ids(own) == tuple(map(own.convert_tokens_to_ids, ("<|eot_id|>", "<|eom_id|>")))
    turn = renderer.read(renderer.encode('<|python_tag|>{"name": "a", "parameters": {}}<|eom_id|>'), ())
    assert (turn.state, turn.cut_off) == ("calls", False)
