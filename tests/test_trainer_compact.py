"""The compact rendering: exact both ways, additive, short, blind to the answer, with every fact a rule needs."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trainer_parts import runner

from tb_envs.actions import call as call_action
from tb_envs.actions import say as say_action
from tb_envs.agents import make_agent, question
from tb_envs.authoring.steps import Ask, Call, Derived, value_of
from tb_envs.episode import Episode, drive
from tb_envs.errors import UsageError
from tb_envs.parse import Parser
from tb_envs.play import play
from tb_envs.registration import load_domain
from tb_envs.task import Task, get_task
from tb_trainer.compact import compact_result, shown_fields, system_line
from tb_trainer.compact.tokenizer import compact_texts, make_compact_tokenizer
from tb_trainer.config import check, load
from tb_trainer.demonstrations import demonstrations, script_turns
from tb_trainer.engines import Key
from tb_trainer.play import play_all
from tb_trainer.policy import load_policy
from tb_trainer.reference import WrittenEngine
from tb_trainer.render import Renderer
from tb_trainer.runner import Job

HOTEL = load_domain("hotel")
FAMILIES = sorted(HOTEL.families)
WRITER = Parser("hermes_compact")


@lru_cache(maxsize=1)
def demo() -> tuple[Any, Any]:
    """The preset of the demonstration and its tokenizer."""
    config = load("cpu-demo")
    return config, load_policy(config)[1]


@lru_cache(maxsize=1)
def any_tokenizer() -> Any:
    """One that has seen a little of every family."""
    return make_compact_tokenizer(compact_texts([get_task(f"hotel/{name}/0") for name in FAMILIES]), 1024)


def trained() -> list[str]:
    return sorted({task_id.split("/")[1] for task_id in demo()[0].environment.tasks})


def shown(messages: Any) -> str:
    """A whole conversation, written out by hand."""
    out = ""
    for message in messages:
        out += f"<|{message['role']}|>"
        if message["role"] == "tool":
            out += compact_result("hotel", message["name"], message["content"])
        else:
            out += message["content"] or ""
        for call in message.get("tool_calls", ()):
            function = call["function"]
            arguments = json.dumps(json.loads(function["arguments"]), ensure_ascii=False, separators=(",", ":"))
            out += f'<tool_call>{{"name":"{function["name"]}","arguments":{arguments}}}</tool_call>'
        out += "<|end|>" * (message["role"] == "assistant")
    return out


# -- both ways


@settings(deadline=None)
@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_every_text_comes_back_from_its_tokens(text: str) -> None:
    own = any_tokenizer()
    assert own.decode(own.encode(text, add_special_tokens=False), clean_up_tokenization_spaces=False) == text


@settings(deadline=None)
@given(
    st.sampled_from(sorted(HOTEL.tools)),
    st.dictionaries(st.text(), st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.text()), max_size=3),
)
def test_every_call_comes_back_from_its_text(tool: str, arguments: dict[str, Any]) -> None:
    text = WRITER.write({"content": None, "tool_calls": [{"name": tool, "arguments": arguments}]})
    assert text == f'<tool_call>{{"name":"{tool}","arguments":' + text.split('"arguments":', 1)[1]
    (call,) = WRITER.read(text).action.calls
    assert (call.name, dict(call.arguments)) == (tool, arguments)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_buffer_is_the_whole_conversation_and_nothing_else(family: str) -> None:
    task, renderer = get_task(f"hotel/{family}/1"), Renderer(any_tokenizer(), "tiny")
    turns = script_turns(task, "", renderer.parser)
    engine = WrittenEngine(renderer, lambda _: turns)
    player = runner(engine, turn=512, episode=4096, turns=40)
    player.renderer = renderer
    (rollout,) = play_all(player, [Job(Key(0, 0, 0, 0), task.id)])
    episode = play(task, make_agent("reference"))
    while episode.messages[-1]["role"] != "assistant":  # what comes after the last turn is never read
        episode.messages.pop()
    text = any_tokenizer().decode(rollout.tokens.ids)
    assert text == f"<|system|>{system_line(task)}" + shown(episode.messages)
    assert (rollout.reward, rollout.status, rollout.malformed) == (1.0, "ok", 0)
    assert renderer.encode(text) == rollout.tokens.ids == rollout.prompt_ids + rollout.completion_ids
    sampled = [i for i, own in zip(rollout.tokens.ids, rollout.tokens.sampled, strict=True) if own]
    assert any_tokenizer().decode(sampled).split("<|end|>")[:-1] == turns


# -- what is shown


def test_the_declared_fields_are_fields_of_tools_and_nothing_is_added() -> None:
    fields = shown_fields("hotel")
    assert set(fields) <= set(HOTEL.tools)
    met: dict[str, set[str]] = {}
    for family in FAMILIES:
        for index in range(4):
            episode = play(get_task(f"hotel/{family}/{index}"), make_agent("reference"))
            for message in episode.messages:
                if message["role"] != "tool":
                    continue
                whole = json.loads(message["content"])
                part = json.loads(compact_result("hotel", message["name"], message["content"]))
                assert _leaves(part) <= _leaves(whole)
                assert part
                met.setdefault(message["name"], set()).update(path for path, _ in _leaves(whole))
                if "error" in whole:
                    assert part == whole
    for tool, seen in met.items():
        for field, inner in fields.get(tool, {}).items():
            for path in [f"{field}.{name}" for name in inner] if inner else [field]:
                assert any(name == path or name.startswith(f"{path}.") for name in seen), f"{tool} has no {path}"


def test_errors_and_other_domains_are_shown_whole() -> None:
    error = '{"error": {"type": "refused", "message": "No."}}'
    assert compact_result("hotel", "get_booking", error) == '{"error":{"type":"refused","message":"No."}}'
    assert compact_result("library", "get_booking", '{"a": null, "b": [1, ""], "c": ""}') == '{"b":[1,""]}'
    assert compact_result("hotel", "get_booking", "no JSON") == "no JSON"


@pytest.mark.parametrize("family", FAMILIES)
def test_whatever_a_solution_uses_is_shown_before_it_is_used(family: str) -> None:
    for index in range(15):
        task = get_task(f"hotel/{family}/{index}")
        assert unseen(task) == []


def unseen(task: Task) -> list[str]:
    """Arguments of the solution, and what they are computed from, that only the whole rendering has shown."""
    episode, saved, out = Episode(), dict[str, Any](), list[str]()
    drive(episode.reset(task))
    for step in task.scenario.solution:
        if episode.over:
            break
        if not isinstance(step, Call):
            drive(episode.act(say_action(question(episode, step.facts) if isinstance(step, Ask) else step.text)))
            continue
        text = shown(episode.messages).lower()
        whole = "".join(message["content"] or "" for message in episode.messages).lower()
        schema = task.domain.tools[step.tool].schema["properties"]
        for name, value in step.arguments.items():
            if "enum" in schema[name] or "const" in schema[name] or schema[name].get("maxLength") == 4000:
                continue
            for source in _sources(value):
                out += [
                    f"{step.tool}.{name} needs {leaf}"
                    for leaf in _values(value_of(source, saved), UNUSED.get(getattr(source, "saved", ""), set()))
                    if leaf in whole and leaf not in text
                ]
        arguments = {name: value_of(value, saved) for name, value in step.arguments.items()}
        drive(episode.act(call_action(step.tool, **arguments)))
        if step.save:
            saved[step.save] = next(event.data for event in reversed(episode.log) if event.kind == "result")
    episode.close()
    return out


def _sources(value: Any) -> list[Any]:
    if isinstance(value, Derived):
        return [source for need in value.needs for source in _sources(need)] or [value.value]
    return [source for item in value for source in _sources(item)] if isinstance(value, list | tuple) else [value]


def _values(value: Any, unused: set[str]) -> list[str]:
    if isinstance(value, dict):
        rest = [item for name, item in value.items() if name not in {*unused, "currency"}]
        return [leaf for item in rest for leaf in _values(item, unused)]
    if isinstance(value, list):
        return [leaf for item in value for leaf in _values(item, unused)]
    return [] if value is None else [json.dumps(value, ensure_ascii=False).strip('"').lower()]


UNUSED = {"blocks": {"room_block_id", "room_id", "kind", "description"}}
"""Of whole objects that a script names as its source: what no rule reads (policy 6.3 asks for nights and severity)."""


def _leaves(value: Any, path: str = "") -> set[tuple[str, str]]:
    if isinstance(value, dict):
        return {leaf for name, item in value.items() for leaf in _leaves(item, f"{path}.{name}" if path else name)}
    if isinstance(value, list):
        return {leaf for item in value for leaf in _leaves(item, path)} or {(path, "[]")}
    return {(path, json.dumps(value))}


# -- how long


def test_a_whole_episode_of_the_demonstration_has_600_tokens_at_most() -> None:
    config, tokenizer = demo()
    assert len(tokenizer) <= 3072
    for family in trained():
        rollouts = demonstrations(config, tokenizer, [f"hotel/{family}/{1000 + index}" for index in range(30)])
        assert max(len(rollout.tokens) for rollout in rollouts) <= 600
        assert max(rollout.turns for rollout in rollouts) <= config.environment.turns


def test_the_demonstration_has_cells_enough_on_both_sides() -> None:
    cells: dict[str, set[str]] = {}
    for task_id in demo()[0].environment.tasks[::5]:
        cells.setdefault(task_id.split("/")[1], set()).add(get_task(task_id).scenario.cell)
    assert len(cells) >= 4
    assert sum(map(len, cells.values())) >= 12
    assert {"granted", "denied", "pending"} <= cells["late_cancellation"]


def test_ids_and_names_are_cut_alike_wherever_they_stand() -> None:
    _, tokenizer = demo()

    def pieces(text: str, word: str) -> str:
        ids = tokenizer.encode(text, add_special_tokens=False)
        return "|".join(tokenizer.decode([token]) for token in ids)

    for word, inner in (("BK-20418", "BK-|2|0|4|1|8"), ("2031-05-14", "2031-05-|1|4"), ("570.25", "5|7|0|.|2|5")):
        for text in (f"It is {word}.", f'{{"booking_id":"{word}","kind":"refund"}}', f"{word}, please"):
            assert f"{inner}|" in pieces(text, word)
    mail = tokenizer.encode("olga.barrow17@inbox.example", add_special_tokens=False)
    for text in ("My e-mail is olga.barrow17@inbox.example.", '"email":"olga.barrow17@inbox.example","phone":"'):
        ids = tokenizer.encode(text, add_special_tokens=False)
        assert any(ids[place : place + len(mail)] == mail for place in range(len(ids)))
    assert "@|i|nbox.example" in pieces("olga.barrow17@inbox.example", "")  # a letter can be copied, a rare word cannot


def test_ranges_of_tasks_are_written_out() -> None:
    tasks = check({"environment": {"tasks": ["hotel/date_change/8-10", "hotel/late_checkout/3"]}}).environment.tasks
    assert tasks == (*(f"hotel/date_change/{index}" for index in (8, 9, 10)), "hotel/late_checkout/3")
    with pytest.raises(UsageError, match="no range of tasks"):
        check({"environment": {"tasks": ["hotel/date_change/9-3"]}})
