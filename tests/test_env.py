"""The Gymnasium face: the contract, both vector kinds, forks, any text, and every kind of bad input."""

from __future__ import annotations

import json
import multiprocessing
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv

import tb_envs
from tb_envs.agents import make_agent
from tb_envs.env import ThinkingBoxEnv
from tb_envs.registration import domain_names, env_id, load_domain

HOTEL = "ThinkingBox/Hotel-v0"
WITH_PREFIX = f"tb_envs:{HOTEL}"
TASK = "hotel/late_cancellation/0"
ODD_TEXTS = [
    "👩‍👩‍👧‍👦 🏨 Grüße, naïve café",
    "שלום, אפשר לקבל את מספר ההזמנה? مرحبا، ما هو رقم الحجز؟",
    "x" * 20_000,
    "\u202eright to left override\u202c",
]


def make(**kwargs: Any) -> gym.Env[Any, Any]:
    return gym.make(HOTEL, **kwargs)


def talk(env: Any, action: Any) -> tuple[str, dict[str, Any]]:
    """Step, and check the shape of what comes back."""
    observation, reward, terminated, truncated, info = env.step(action)
    assert isinstance(observation, str) and isinstance(reward, float)
    assert isinstance(terminated, bool) and isinstance(truncated, bool)
    assert isinstance(info["error"], str) and isinstance(info["messages"], tuple)
    return observation, info


SUITES = [name for name in domain_names() if load_domain(name).suite_ids["train"]]


@pytest.mark.parametrize("name", SUITES)
def test_contract_holds_without_warnings(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gym.make(env_id(name))
        check_env(env.unwrapped, skip_render_check=False)
        env.close()


def test_made_with_a_prefix_and_no_import() -> None:
    code = f"import gymnasium as g; e = g.make({WITH_PREFIX!r}); print(ascii(e.reset(seed=7)[0])); e.close(); e.close()"
    first = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    env = make()
    assert first.strip() == ascii(env.reset(seed=7)[0])


def test_import_loads_nothing_heavy() -> None:
    heavy = ["mcp", "docker", "openai", "torch", "transformers", "sqlalchemy", "pydantic"]
    code = f"import sys, tb_envs; print([m for m in {heavy} if m in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_spec_survives_json() -> None:
    env = make(split="bench", limits={"turns": 9})
    assert env.spec is not None
    again = gym.make(EnvSpec.from_json(env.spec.to_json()))
    assert again.reset(seed=3)[0] == env.reset(seed=3)[0]


def test_seed_chooses_the_task_and_the_task_everything_else() -> None:
    one, two = make(), make()
    first = [one.reset(seed=seed)[1]["task_id"] for seed in range(40)]
    assert first == [two.reset(seed=seed)[1]["task_id"] for seed in range(40)]
    assert len(set(first)) > 20
    observation, info = one.reset(seed=1, options={"task_id": TASK})
    other, again = two.reset(seed=2, options={"task_id": TASK})
    assert (observation, info["instructions"]) == (other, again["instructions"])
    assert info["split"] == "train" and json.loads(json.dumps(info["tools"])) == info["tools"]
    with pytest.raises(TypeError, match="shared by all episodes"):
        info["tools"][0]["function"]["name"] = "mine"
    with pytest.raises(TypeError, match="shared by all episodes"):
        next(p for t in info["tools"] if (p := t["function"]["parameters"].get("required"))).clear()
    info["messages"][0]["content"] = "changed by a reader"
    assert one.unwrapped.messages[0]["content"] == observation  # type: ignore[attr-defined]


def reference_transcript(envs: Any, seeds: list[int]) -> list[str]:
    """What a vector of environments answers to a few fixed turns, for given seeds."""
    observations, _ = envs.reset(seed=seeds)
    out = [*observations]
    for action in ("Hello! Could you tell me your booking number, please?", tb_envs.call("get_time"), "One moment."):
        observations, rewards, *_ = envs.step([action] * len(seeds))
        out += [*observations, *map(str, rewards)]
    envs.close()
    return out


def test_every_vector_kind_gives_the_same_transcripts() -> None:
    seeds = [3, 1, 4, 1]
    ours = reference_transcript(gym.make_vec(HOTEL, num_envs=4), seeds)
    make_env = lambda: gym.make(WITH_PREFIX)  # noqa: E731
    assert isinstance(gym.make_vec(HOTEL, num_envs=2), tb_envs.ThinkingBoxVectorEnv)
    assert reference_transcript(SyncVectorEnv([make_env] * 4), seeds) == ours
    # The parent has used the database by now, so the forked children inherit a used engine.
    assert reference_transcript(AsyncVectorEnv([make_env] * 4, shared_memory=False, context="fork"), seeds) == ours
    assert reference_transcript(AsyncVectorEnv([make_env] * 4, shared_memory=False, context="spawn"), seeds) == ours


def _play_in_child(queue: Any) -> None:
    env = make()
    env.reset(seed=5)
    queue.put(env.step(tb_envs.call("get_time"))[0])


def test_fork_after_first_use_does_not_hang() -> None:
    env = make()
    env.reset(seed=5)
    here = env.step(tb_envs.call("get_time"))[0]
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_play_in_child, args=(queue,))
    child.start()
    assert queue.get(timeout=30) == here
    child.join(timeout=30)
    assert child.exitcode == 0
    assert env.step(tb_envs.call("get_time"))[0] == here


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_autoreset_modes(mode: AutoresetMode) -> None:
    envs = gym.make_vec(HOTEL, num_envs=3, vector_kwargs=None, autoreset_mode=mode)
    envs.reset(seed=0)
    end = tb_envs.call("end_conversation", summary="done")
    _, rewards, terminated, _, infos = envs.step([end, "Hello.", end])
    assert terminated.tolist() == [True, False, True] and rewards.tolist() == [0, 0, 0]
    if mode == AutoresetMode.SAME_STEP:
        assert infos["final_info"]["outcome"][0] == "failure" and infos["outcome"][0] == ""
    elif mode == AutoresetMode.NEXT_STEP:
        _, _, terminated, _, infos = envs.step(["Hi.", "Hi.", "Hi."])
        assert not terminated.any() and "task_id" in infos
    else:
        with pytest.raises(tb_envs.UsageError, match="reset_mask"):
            envs.step(["Hi.", "Hi.", "Hi."])
        envs.reset(options={"reset_mask": np.array([True, False, True])})
        assert not envs.step(["Hi.", "Hi.", "Hi."])[2].any()
    envs.close()


def test_vector_takes_options_per_environment_and_serves_stragglers() -> None:
    envs = tb_envs.ThinkingBoxVectorEnv(2, domain="hotel")
    tasks = [TASK, "hotel/date_change/1"]
    _, infos = envs.reset(options=[{"task_id": task} for task in tasks])
    assert infos["task_id"].tolist() == tasks
    envs.send([1], ["Hello."])
    ready = envs.recv()
    assert [index for index, _ in ready] == [1] and envs.recv() == []
    for wrong, words in (
        (lambda: envs.reset(seed=[1, 2, 3]), "3 entries of seed for 2"),
        (lambda: envs.reset(options={"reset_mask": [0, 2]}), "2 booleans"),
        (lambda: envs.step("ab"), "sequence of actions"),
    ):
        with pytest.raises(tb_envs.UsageError, match=words):
            wrong()
    assert envs.reset(seed=np.int64(3))[0] == envs.reset(seed=np.array([3, 4]))[0]  # type: ignore[arg-type]


def test_a_broken_episode_touches_no_other() -> None:
    envs = gym.make_vec(HOTEL, num_envs=8, faults={"crash": 0.5})
    envs.reset(seed=0)
    broken = np.zeros(8, dtype=bool)
    for _ in range(3):
        _, rewards, _, truncated, infos = envs.step([tb_envs.call("get_time")] * 8)
        broken |= truncated
        assert not rewards.any()
    assert broken.any() and set(infos["outcome"]) <= {"", "error:backend"}


def test_strict_raises_and_the_next_reset_works() -> None:
    env = make(faults={"timeout": 1.0}, strict=True)
    env.reset(seed=0)
    with pytest.raises(tb_envs.EpisodeError, match="timed out"):
        env.step(tb_envs.call("get_time"))
    env.reset(seed=0)
    env.close()


def test_a_system_error_is_no_failure() -> None:
    env = make(faults={"timeout": 1.0})
    env.reset(seed=0)
    _, reward, terminated, truncated, info = env.step(tb_envs.call("get_time"))
    assert (reward, terminated, truncated, info["outcome"]) == (0.0, False, True, "error:backend")
    assert "timed out" in info["error"] and "verdict" not in info


@pytest.mark.parametrize("text", ODD_TEXTS)
def test_any_text_passes_everywhere(text: str) -> None:
    env = make(render_mode="ansi")
    assert env.observation_space.contains(text) and env.action_space.contains(text)
    env.reset(options={"task_id": TASK})
    talk(env, text)
    talk(env, tb_envs.call("add_guest_note", guest_id="GS-10000", kind="preference", body=text[:3000]))
    assert text[:50] in env.render() or "\u202e" in text  # type: ignore[operator]


CALL = {"content": None, "tool_calls": [{"name": "get_time", "arguments": {}}]}
BAD_TURNS: list[tuple[Any, str]] = [
    ("", "turn was empty"),
    ("   \n", "turn was empty"),
    ("\x00", "turn was empty"),
    ("[1, 2]", "JSON array"),
    ('{"name": "get_time", "arguments": {}}', "bare call"),
    ("```json\n" + json.dumps(CALL) + "\n```", "code fence"),
    ("<tool_call>" + json.dumps(CALL["tool_calls"]) + "</tool_call>", "tag"),  # type: ignore[index]
    ('{"content": null, "tool_calls": [{"name": "get_', "not valid JSON"),
    ("{" * 100_000, "JSON"),
    ("[" * 100_000, "nested too deeply"),
    ('{"tool_calls": "get_time"}', "must be a list"),
    ('{"tool_calls": [7]}', "not an object"),
    ('{"tool_calls": [{"arguments": {}}]}', "no `name`"),
    ('{"content": 5}', "`content` must be text"),
    ("{}", "neither"),
    ({"content": "<tool_call>{}</tool_call>"}, "looks like a call"),
    ({"tool_calls": [{"name": "x", "arguments": {}}] * 40}, "at most"),
    (7, "not int"),
    (None, "not NoneType"),
]


class Hostile(dict):  # type: ignore[type-arg]
    def keys(self) -> Any:
        raise RuntimeError("boo")

    def __iter__(self) -> Any:
        raise RuntimeError("boo")


CIRCLE: dict[str, Any] = {}
CIRCLE["self"] = CIRCLE
DEEP: Any = "x"
for _ in range(5000):
    DEEP = [DEEP]


@pytest.mark.parametrize("depth", [64, 65, *range(970, 1000, 3)])
def test_deep_arguments_are_answered_and_kept_out_of_the_log(depth: int, tmp_path: Path) -> None:
    """What reads a log walks into it: arguments that a parser can just read are deeper than the next reader can."""
    env = ThinkingBoxEnv("hotel", trace_dir=str(tmp_path))
    env.reset(options={"task_id": TASK})
    nested = "[" * (depth - 1) + "]" * (depth - 1)  # and the object around them
    observation, _ = talk(env, f'{{"tool_calls": [{{"name": "get_time", "arguments": {{"a": {nested}}}}}]}}')
    assert ("nested too deeply" in observation) == (depth > 64)
    assert talk(env, tb_envs.call("end_conversation", summary="Done."))[1]["outcome"] == "failure"
    [trace] = tmp_path.iterdir()
    assert json.loads(trace.read_text("utf-8"))["outcome"] == "failure"


@pytest.mark.parametrize("odd", [b"x", object(), {1}, 10**6000, CIRCLE, DEEP, float("nan")], ids=range(7))
def test_objects_that_json_cannot_say_are_explained(odd: Any) -> None:
    env = ThinkingBoxEnv("hotel")
    env.reset(options={"task_id": TASK})
    for turn in ({"tool_calls": [{"name": "get_time", "arguments": {"a": odd}}]}, {"content": odd, "tool_calls": []}):
        observation, info = talk(env, turn)
        assert info["outcome"] == "" and "tool_calls" in observation
    assert talk(env, Hostile(tool_calls=[]))[1]["outcome"] == ""


def test_lone_surrogates_reach_nobody() -> None:
    env = ThinkingBoxEnv("hotel")
    env.reset(options={"task_id": TASK})
    call = {"id": "\ud800", "name": "\ud800", "arguments": {"\udfff": "\ud800"}}
    observation, info = talk(env, {"content": "\ud800", "tool_calls": [call]})
    talk(env, "half an emoji \ud83d")
    json.dumps([observation, info["messages"], env.messages], ensure_ascii=False).encode("utf-8")


def test_a_closed_environment_says_so_and_a_full_talk_is_graded_in_time() -> None:
    env = ThinkingBoxEnv("hotel", limits={"tool_calls": 700, "turns": 100})
    env.reset(options={"task_id": "hotel/unverified_caller/12"})
    guest = env.episode.task.scenario.about[0]  # type: ignore[union-attr]
    check = {"guest_id": guest, "caller": "guest", "surname": "x", "email": "a@b.example"}
    note = {"guest_id": guest, "kind": "security", "body": "x"}
    calls = [{"name": "check_identity", "arguments": check}, {"name": "add_guest_note", "arguments": note}] * 16
    for _ in range(10):
        talk(env, {"tool_calls": calls})
    _, reward, *_ = env.step(tb_envs.call("end_conversation", summary="x"))
    assert reward == 0.0
    env.reset(options={"task_id": TASK})
    env.close()
    with pytest.raises(tb_envs.UsageError, match="closed"):
        env.step("Hello.")


@pytest.mark.parametrize(("turn", "words"), BAD_TURNS, ids=[str(words) for _, words in BAD_TURNS])
def test_malformed_turns_are_explained_and_never_spoken(turn: Any, words: str) -> None:
    env = ThinkingBoxEnv("hotel")
    env.reset(options={"task_id": TASK})
    observation, info = talk(env, turn)
    assert words in observation and "tool_calls" in observation
    assert info["user_turns"] == 1 and info["turns"] == 1 and info["outcome"] == ""
    assert "now" in talk(env, dict(CALL))[0]


BAD_CALLS: list[tuple[str, Any, str, str]] = [
    ("no_such_tool", {}, "unknown_tool", "no tool"),
    ("get_bokking", {"booking_id": "BK-1"}, "unknown_tool", "get_booking"),
    ("get_booking", {}, "invalid_arguments", "`booking_id` is missing"),
    ("get_booking", {"booking_id": None}, "invalid_arguments", "booking_id"),
    ("get_booking", {"booking_id": ["BK-1"]}, "invalid_arguments", "booking_id"),
    ("get_booking", {"booking_id": "BK-1", "color": "red"}, "invalid_arguments", "`color` is not an argument"),
    ("get_booking", {"booking_id": "BK-00000"}, "refused", "BK-00000"),
    ("get_booking", '{"booking_id": "BK-00000"}', "refused", "BK-00000"),
    ("get_booking", '{"booking_id": ', "invalid_arguments", "not valid JSON"),
    ("get_booking", "[1]", "invalid_arguments", "must be a JSON object"),
    ("get_booking", {"booking_id": "\ud800\x00"}, "refused", "There is no booking"),
    (
        "refund_payment",
        {"payment_id": "PM-1", "amount": "lots", "reason": "cancellation"},
        "invalid_arguments",
        "123.45",
    ),
    ("refund_payment", {"payment_id": "PM-1", "amount": -5, "reason": "cancellation"}, "invalid_arguments", "amount"),
    (
        "refund_payment",
        {"payment_id": "PM-1", "amount": 10**400, "reason": "cancellation"},
        "invalid_arguments",
        "amount",
    ),
    ("refund_payment", {"payment_id": "PM-1", "amount": 5, "reason": "because"}, "invalid_arguments", "double_payment"),
    ("refund_payment", {"payment_id": "PM-1", "amount": True, "reason": "cancellation"}, "invalid_arguments", "amount"),
    ("search_guests", {"surname": "%"}, "", ""),
    ("search_articles", {"query": 'pets" OR NEAR(*'}, "", ""),
    ("search_articles", {"query": "x" * 5000}, "invalid_arguments", "query"),
    ("end_conversation", {}, "invalid_arguments", "`summary` is missing"),
    ("hand_over", {"team": "nobody", "summary": "x"}, "invalid_arguments", "duty_manager"),
]


@pytest.mark.parametrize(("tool", "arguments", "kind", "words"), BAD_CALLS)
def test_wrong_calls_are_error_results_and_leave_no_trace(tool: str, arguments: Any, kind: str, words: str) -> None:
    env = ThinkingBoxEnv("hotel")
    env.reset(options={"task_id": TASK})
    before = env.episode.backend.dump()  # type: ignore[union-attr]
    observation, info = talk(env, {"tool_calls": [{"name": tool, "arguments": arguments}]})
    result = json.loads(observation.split("] ", 1)[1])
    if kind:
        assert result["error"]["type"] == kind and words in result["error"]["message"]
    else:
        assert "error" not in result
    assert info["outcome"] == "" and env.episode.changes == []
    assert env.episode.backend.dump() == before  # type: ignore[union-attr]


def test_a_megabyte_and_odd_characters_are_just_speech() -> None:
    env = ThinkingBoxEnv("hotel")
    env.reset(options={"task_id": TASK})
    for text in ("please " * 150_000, "\ud83d half an emoji \udc00", "nul \x00 inside", "é" * 1000):
        observation, info = talk(env, text)
        assert observation and info["outcome"] == ""


def test_the_second_of_two_calls_runs_when_the_first_fails() -> None:
    env = ThinkingBoxEnv("hotel")
    env.reset(options={"task_id": TASK})
    calls = [{"id": "a", "name": "get_booking", "arguments": {}}, {"id": "b", "name": "get_time", "arguments": {}}]
    observation, info = talk(env, {"content": "let me look", "tool_calls": calls})
    first, second = observation.splitlines()
    assert "error" in first and "now" in second and info["tool_calls"] == 2 and info["user_turns"] == 1
    assert [message["tool_call_id"] for message in info["messages"]] == ["a", "b"]


def test_after_the_end_before_the_start_and_in_the_middle() -> None:
    env = ThinkingBoxEnv("hotel")
    with pytest.raises(tb_envs.UsageError, match="reset"):
        env.step("Hello.")
    env.reset(options={"task_id": TASK})
    env.step("Hello.")
    observation, info = env.reset(options={"task_id": TASK})
    assert info["turns"] == 0 and len(env.messages) == 1
    end = {"tool_calls": [{"name": "end_conversation", "arguments": {"summary": "x"}}, {"name": "get_time"}]}
    observation, reward, terminated, truncated, info = env.step(end)
    assert terminated and not truncated and reward == 0.0 and "not carried out" in observation
    assert info["outcome"] == "failure" and info["ended_by"] == "agent" and isinstance(info["checks"], dict)
    observation, reward, terminated, *_, info = env.step(tb_envs.call("get_time"))
    assert "over" in observation and terminated and reward == 0.0 and info["tool_calls"] == 1


def test_wrong_options_name_the_right_ones() -> None:
    env = ThinkingBoxEnv("hotel")
    for options, words in (
        ({"tusk_id": TASK}, "valid: task_id"),
        ({"task_id": "hotel/late_cancelation/0"}, "late_cancellation"),
        ({"task_id": "hotel/late_cancellation/-1"}, "plain number"),
        ({"task_id": "late_cancellation"}, "domain/family/index"),
        ({"split": "test"}, "valid: train"),
        ({"limits": {"minutes": 3}}, "valid: turns"),
        ({"limits": {"turns": 0}}, "at least 1"),
        ({"user": "grumpy"}, "valid: scripted"),
    ):
        with pytest.raises(ValueError, match=words):
            env.reset(options=options)
    for kwargs, words in (
        ({"backend": "cloud"}, "valid: embedded"),
        ({"reward": "big"}, "valid: sparse, dense"),
        ({"strict": "yes"}, "valid: True, False"),
        ({"split": "all"}, "valid: train"),
        ({"faults": {"fire": 1}}, "valid: timeout, crash"),
        ({"faults": {"crash": 2}}, "from 0 to 1"),
        ({"faults": [1]}, "is a mapping"),
        ({"limits": [1]}, "is a mapping"),
        ({"limits": {"tokens": -1}}, "at least 0"),
        ({"trace_dir": 5}, "a folder's path"),
        ({"trace_dir": "/proc/nowhere"}, "cannot be made"),
    ):
        with pytest.raises(ValueError, match=words):
            ThinkingBoxEnv("hotel", **kwargs)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="task_id is text"):
        env.reset(options={"task_id": [TASK]})
    with pytest.raises(ValueError, match="Did you mean 'hotel'"):
        ThinkingBoxEnv("hotell")
    assert ThinkingBoxEnv("hotel", limits={"turns": np.int64(3)}, faults={"crash": np.float64(0.1)})  # type: ignore[dict-item]


@pytest.mark.parametrize("name", ["turns", "tool_calls", "tokens"])
def test_a_limit_ends_the_talk_and_the_database_is_graded(name: str) -> None:
    env = ThinkingBoxEnv("hotel", limits={name: 2 if name != "tokens" else 40})
    env.reset(options={"task_id": TASK})
    for _ in range(3):
        _, reward, terminated, truncated, info = env.step({"tool_calls": [{"name": "get_time"}]})
        if truncated:
            break
    assert truncated and not terminated and reward == 0.0
    assert info["ended_by"] == f"limit:{name}" and info["outcome"] == "failure" and info["checks"]


def test_the_customer_speaks_so_often_at_most() -> None:
    """Calls after its last words are carried out; whoever speaks to it once more ends the talk without an answer."""
    env = ThinkingBoxEnv("hotel", limits={"user_turns": 3})
    env.reset(options={"task_id": TASK})
    for words in ("Let me see.", "One moment."):
        _, info = talk(env, words)
        assert not info["ended_by"]
    observation, info = talk(env, {"tool_calls": [{"name": "get_time"}]})
    assert not info["ended_by"] and "[get_time]" in observation
    _, _, terminated, truncated, info = env.step("Are you still there?")
    assert (truncated, terminated, info["ended_by"], info["outcome"]) == (True, False, "limit:user_turns", "failure")
    assert info["user_turns"] == 3 and info["checks"]
    assert not [message for message in info["messages"] if message["role"] == "user"]


def test_the_reference_scores_through_the_gym_face_and_traces_are_whole(tmp_path: Any) -> None:
    env = make(trace_dir=str(tmp_path), reward="dense")
    observation, info = env.reset(options={"task_id": TASK})
    agent = make_agent("reference")
    agent.start(env.unwrapped.episode, observation)  # type: ignore[attr-defined]
    terminated = truncated = False
    reward = 0.0
    while not (terminated or truncated):
        observation, reward, terminated, truncated, info = env.step(agent.act(observation))
    assert reward == 1.0 and info["outcome"] == "success" and all(info["checks"].values())
    [trace] = [json.loads(path.read_text()) for path in tmp_path.iterdir()]
    assert trace["outcome"] == "success" and any(event["kind"] == "row" for event in trace["log"])


def test_dense_reward_pays_an_idle_agent_nothing() -> None:
    env = ThinkingBoxEnv("hotel", reward="dense")
    for seed in range(20):
        env.reset(seed=seed)
        _, reward, *_ = env.step(tb_envs.call("end_conversation", summary="x"))
        assert reward == 0.0
