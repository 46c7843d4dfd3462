"""Turns of a model, read and written in each format; what is thought is never spoken, what is wrong is explained."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tb_envs.actions import Turn, looks_like_call, parse_action
from tb_envs.errors import UsageError
from tb_envs.parse import FAMILIES, Parser, action_of
from tb_envs.parse.cast import cast_value

NAMES = sorted(FAMILIES)
ANY: dict[str, Any] = {
    "anyOf": [{"type": kind} for kind in ("null", "boolean", "integer", "number", "array", "object")]
}
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": f"tool_{at}",
            "parameters": {
                "type": "object",
                "properties": {
                    **{f"text_{i}": {"type": "string"} for i in range(3)},
                    **{f"any_{i}": ANY for i in range(3)},
                },
            },
        },
    }
    for at in range(3)
]
SPECIAL = ("<|im_end|>", "<|endoftext|>", "</s>")


def family_parser(name: str, **changes: Any) -> Parser:
    return Parser(name, special=SPECIAL, **changes)


# -- both ways

WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), max_size=20)
HARD = st.sampled_from(
    ["</tool_call>", "</parameter>", "a\nb", '{"name": "x"}', "<think>", "[TOOL_CALLS]", "null", "5", ""]
)
NUMBERS = st.integers(-(10**12), 10**12) | st.floats(-1e9, 1e9, allow_nan=False).filter(lambda x: x != int(x))
VALUES = st.none() | st.booleans() | NUMBERS | st.lists(WORDS | NUMBERS, max_size=3) | st.dictionaries(WORDS, WORDS)
ARGUMENTS = st.dictionaries(st.sampled_from(["text_0", "text_1", "text_2"]), WORDS | HARD).flatmap(
    lambda texts: st.dictionaries(st.sampled_from(["any_0", "any_1", "any_2"]), VALUES).map(
        lambda own: {**texts, **own}
    )
)
SPEECH = st.text("abc é,.?!'0123456789\n", max_size=30).map(str.strip)


@settings(deadline=None, max_examples=60)
@given(st.lists(ARGUMENTS, max_size=3), SPEECH, SPEECH)
@pytest.mark.parametrize("inside", ["", "</think>"])
@pytest.mark.parametrize("name", NAMES)
def test_an_action_survives_the_round_trip(
    name: str, inside: str, arguments: list[dict[str, Any]], said: str, thought: str
) -> None:
    calls = [{"name": f"tool_{at}", "arguments": given_} for at, given_ in enumerate(arguments)]
    if not calls and not said:
        return
    action = {"content": said, "tool_calls": calls}
    parser = family_parser(name, inside=inside)
    turn = parser.read(parser.write(action, TOOLS, thinking=thought), TOOLS)
    wanted = parse_action(action)
    assert (turn.thinking, turn.problem, turn.cut_off) == (thought, "", False)
    assert turn.action.content == wanted.content
    assert [(c.name, c.written) for c in turn.action.calls] == [(c.name, c.written) for c in wanted.calls]
    assert turn.state == ("calls" if calls else "content")


def test_what_a_format_cannot_say_is_refused_when_it_is_written() -> None:
    with pytest.raises(UsageError, match="cannot write this turn"):
        family_parser("hermes").write('{"content": "[1]", "tool_calls": []}')
    with pytest.raises(UsageError, match="is no action"):
        family_parser("hermes").write("")
    ambiguous = {
        "content": None,
        "tool_calls": [{"name": "tool_0", "arguments": {"text_0": "</parameter>\n</function>"}}],
    }
    with pytest.raises(UsageError, match="qwen3_xml cannot write"):
        family_parser("qwen3_xml").write(ambiguous, TOOLS)
    assert family_parser("hermes").write(ambiguous)


# -- anything at all

FRAGMENTS = st.sampled_from(
    """<think>SECRET|SECRET</think>|[THINK]SECRET|SECRET[/THINK]|<-im_end->|<-endoftext->|Hello.|\n|<tool_call>|</tool_call>|
    [TOOL_CALLS]|[ARGS]|<-python_tag->|tool_0|<function=tool_0>|;|</function>|<parameter=text_0>|</parameter>|[|{|</th|ink>|
    {"name": "tool_0", "arguments": {}}|{"name": "tool_0", "parameters": {"text_0": "x"}}|<tool_|call>|
    [{"name": "tool_0", "arguments": {}}]""".replace("|\n    ", "|").split("|")
).map(lambda text: text.replace("<-", "<|").replace("->", "|>"))
HIDDEN = ("SECRET", "think>", "THINK]", "tool_call", "<function", "<parameter", "[TOOL_CALLS]", "<|", '{"name"')


@settings(deadline=None, max_examples=400)
@given(
    st.sampled_from(NAMES),
    st.sampled_from(["", "</think>"]),
    st.booleans(),
    st.lists(FRAGMENTS, max_size=8).map("".join),
)
@example("hermes", "", True, "<tool_<|im_end|>call>")
@example("hermes", "", True, "Hello <think>SECRET<tool_call>")
@example(
    "llama", "", True, '<think>SECRET</think>{"name": "tool_0", "parameters": {}}{"name": "tool_0", "parameters": {}}'
)
def test_whatever_is_written_no_thought_and_no_call_is_spoken(name: str, inside: str, ended: bool, text: str) -> None:
    turn = family_parser(name, inside=inside).read(f"SECRET{text}" if inside else text, TOOLS, ended=ended)
    action = turn.action
    assert bool(action.problem) == (turn.state in ("thinking", "malformed"))
    if action.problem:
        assert (action.content, action.calls) == ("", ())
    assert not [mark for mark in HIDDEN if mark in action.content]
    assert not looks_like_call(action.content) or action.calls
    assert all(call.name == "tool_0" or call.problem for call in action.calls) or name.startswith("mistral")
    assert parse_action(action) is action


@settings(deadline=None, max_examples=200)
@given(st.sampled_from(NAMES), st.text(max_size=60))
def test_reading_never_raises_and_plain_words_are_said(name: str, text: str) -> None:
    action = family_parser(name).read(text).action
    assert (
        action.problem
        or action.calls
        or action.content == parse_action({"content": text.strip("\ufeff \t\r\n")}).content
    )


# -- what is wrong is explained, and nothing of it is done or said

CALL = '{"name": "tool_0", "arguments": {}}'
BLOCK = "<tool_call>\n<function=tool_0>\n"


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("hermes", '<tool_call>\n{"name": "tool_0", "arguments": {"id": "1"\n</tool_call>', "not valid"),
        ("hermes", f"Let me look. <tool_call>{CALL}", "not closed"),
        ("hermes", '<tool_call>{"content": "I am spoken"}</tool_call>', "no `name`"),
        ("hermes", '<tool_call>{"content": "I am spoken", "tool_calls": []}</tool_call>', "no `name`"),
        ("hermes", '<tool_call>{"name": "a", "parameters": {}}</tool_call>', "'parameters' that is not known"),
        ("hermes", '<tool_call>{"name": "a", "arguments": {"x": NaN}}</tool_call>', "NaN is no JSON value"),
        ("hermes", '<tool_call>{"name": "a", "arguments": {"x": 1e999}}</tool_call>', "JSON cannot say"),
        ("hermes", '<tool_call>["get_order"]</tool_call>', "not a list"),
        ("hermes", "<tool_call></tool_call>", "not valid"),
        ("hermes", "<tool_call>get_order()</tool_call>", "not valid"),
        ("hermes", '<tool_call>\ufeff{"content": "I am spoken"}</tool_call>', "no `name`"),
        ("hermes", f"<tool_call>{CALL}<tool_call>{CALL}</tool_call>", "not closed"),
        ("hermes", f'<tool_call>{CALL}</tool_call><tool_call>{{"name": "b", "arg', "not valid"),
        ("hermes", "<tool_call>" + "[" * 100_000 + "</tool_call>", "nested too deeply"),
        ("hermes", "```\n<tool_call>```</tool_call>", "not valid"),
        ("hermes", f"{CALL}", "a part of a tool call"),
        ("hermes", f"<tool_call>{CALL}</tool_call></tool_call>", "a part of a tool call"),
        ("hermes", f"<tool_call>{CALL}</tool_call></think>", "A thought ends after"),
        ("hermes", f"[TOOL_CALLS] [{CALL}]", "a part of a tool call"),
        ("hermes", "```json", "begins like a call"),
        ("hermes", "".join(f"<tool_call>{CALL}</tool_call>" for _ in range(33)), "at most 32"),
        ("hermes", " \n", "empty"),
        ("hermes", "<|im_end|>", "empty"),
        ("hermes", "<think>hm</think>\n", "neither spoke"),
        ("hermes", "<think>hm", "inside a thought"),
        ("qwen3_xml", f"<tool_call>{CALL}</tool_call>", "a function should begin"),
        ("qwen3_xml", f"{BLOCK}</function>", "not closed"),
        ("qwen3_xml", f"{BLOCK}<parameter=x>\n1\n</function>\n</tool_call>", "'x' is not closed"),
        ("qwen3_xml", f"{BLOCK}1</function>\n</tool_call>", "goes on with"),
        ("qwen3_xml", "<tool_call><function=></function></tool_call>", "no name"),
        ("qwen3_xml", "<function=tool_0></function>", "a part of a tool call"),
        (
            "qwen3_xml",
            f"{BLOCK}<parameter=x>\n1\n</parameter>\n<parameter=x>\n2\n</parameter>\n</function>\n</tool_call>",
            "twice",
        ),
        ("llama", '<|python_tag|>brave_search.call(query="x")', "goes on with something else"),
        ("llama", '{"name": "a", "parameters": {}, "arguments": {}}', "both"),
        ("llama", '{"name": "a", "parameters": {}', "not valid"),
        ("llama", 'I call {"name": "a", "parameters": {}}', "a part of a tool call"),
        ("mistral", "[TOOL_CALLS] []", "empty"),
        ("mistral", "[TOOL_CALLS]get order", "neither a JSON list nor"),
        ("mistral", '[TOOL_CALLS]get_order[ARGS]{"a": ', "not valid"),
    ],
)
def test_a_malformed_turn_is_explained(name: str, text: str, says: str) -> None:
    action = family_parser(name).read(text, TOOLS).action
    assert says in action.problem
    assert "your format for tool calls" in action.problem
    assert (action.content, action.calls) == ("", ())


@pytest.mark.parametrize(
    ("name", "text", "calls"),
    [
        ("llama", '<|python_tag|>{"name": "a", "arguments": {"x": 1}}', [("a", {"x": 1})]),
        ("llama", '{"type": "function", "name": "a", "parameters": {}};\n{"name": "b"}; ', [("a", {}), ("b", {})]),
        ("mistral", '[TOOL_CALLS] [{"name": "a", "arguments": {"x": 1}, "id": "abcdefghi"}]', [("a", {"x": 1})]),
        ("mistral", '[TOOL_CALLS]a[CALL_ID]abcdefghi[ARGS]{"x": 1}[TOOL_CALLS]b{}', [("a", {"x": 1}), ("b", {})]),
        ("mistral", '[THINK]secret[/THINK][TOOL_CALLS]a[ARGS]{"x": 1}', [("a", {"x": 1})]),
        (
            "hermes",
            '<think>\n<tool_call>no\n</think>\n\nI look.\n<tool_call>\n{"name": "a"}\n</tool_call>',
            [("a", {})],
        ),
        ("qwen3_xml", f"{BLOCK}<parameter=any_0>7</parameter></function></tool_call>", [("tool_0", {"any_0": 7})]),
    ],
)
def test_the_ways_in_which_models_write_calls(name: str, text: str, calls: list[tuple[str, Any]]) -> None:
    turn = family_parser(name).read(text, TOOLS).action
    assert [(call.name, call.arguments) for call in turn.calls] == calls
    assert {call.id for call in turn.calls} <= {"", "abcdefghi"}


def test_wrong_arguments_are_told_by_the_call_itself() -> None:
    assert action_of("Hello, what is your e-mail?") == Turn("Hello, what is your e-mail?")
    assert action_of('<tool_call>{"name": "a", "arguments": "x"}</tool_call>').calls[0].problem
    assert Parser("hermes", special=["</tool_call>"]).read("Hello.</tool_call>").state == "malformed"
    late = Parser("hermes").read("Who is it?</think>Hello.")
    assert (late.thinking, late.content) == ("Who is it?", "Hello.")
    cut = Parser("hermes").read('<tool_call>{"name": "a", "argu', ended=False)
    assert cut.cut_off
    assert "cut off by the limit" in cut.problem


# -- casts

NULLABLE = {"anyOf": [{"type": "string"}, {"type": "null"}]}
REFERS = {"$ref": "#/$defs/Count"}


@pytest.mark.parametrize(
    ("text", "schema", "value"),
    [
        ("true", {"type": "boolean"}, True),
        ("False", {"type": "boolean"}, False),
        ("yes", {"type": "boolean"}, "yes"),
        (" 12 ", {"type": "integer"}, 12),
        ("1_000", {"type": "integer"}, "1_000"),
        ("12.5", {"type": "integer"}, "12.5"),
        ("9" * 5000, {"type": "integer"}, "9" * 5000),
        ("12.5", {"type": "number"}, 12.5),
        ("12", {"type": "number"}, 12),
        ("1e3", {"type": "number"}, 1000.0),
        ("1e999", {"type": "number"}, "1e999"),
        ("nan", {"type": "number"}, "nan"),
        ("null", {"type": "null"}, None),
        ("null", {"type": "integer"}, "null"),
        ("None", {"type": ["integer", "null"]}, None),
        ("3", {"type": ["null", "integer"]}, 3),
        ("null", NULLABLE, None),
        ("12", NULLABLE, "12"),
        ("12", {"type": "string"}, "12"),
        ("null", {"type": "string"}, "null"),
        ("null", {"type": "integer", "nullable": True}, None),
        ("[1, 2]", {"type": "array"}, [1, 2]),
        ("[1, 2", {"type": "array"}, "[1, 2"),
        ("[1] 2", {"type": "array"}, "[1] 2"),
        ('{"a": null}', {"type": "object"}, {"a": None}),
        ("[]", {"type": "object"}, "[]"),
        ("2", {"enum": [1, 2]}, 2),
        ("3", {"enum": [1, 2]}, "3"),
        ("a", {"enum": ["a"]}, "a"),
        ("4", REFERS, 4),
        ("4", {"$ref": "#/nowhere"}, "4"),
        ("4", {}, "4"),
        ("4", None, "4"),
    ],
)
def test_casts(text: str, schema: Any, value: Any) -> None:
    found = cast_value(text, schema, {"$defs": {"Count": {"type": "integer"}}})
    assert (found, type(found)) == (value, type(value))


@settings(deadline=None)
@given(st.text(), st.sampled_from(["boolean", "integer", "number", "array", "object", "null", "string"]))
def test_a_cast_never_raises_and_gives_its_kind_or_the_text(text: str, kind: str) -> None:
    kinds = {"boolean": bool, "integer": int, "number": (int, float), "array": list, "object": dict, "null": type(None)}
    found = cast_value(text, {"type": kind})
    assert found == text if kind == "string" else found == text or isinstance(found, kinds[kind])
