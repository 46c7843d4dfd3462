"""A language model as the customer, over real HTTP: what it is told and may not say, trouble, replays, many at once."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
from llm_double import ModelDouble, scripted_brain

import tb_envs
from tb_envs import UsageError
from tb_envs.agents import make_agent
from tb_envs.authoring import Persona, Request, Secret
from tb_envs.background import wait_for
from tb_envs.cli import main
from tb_envs.costs import Cost
from tb_envs.endpoints import Endpoint
from tb_envs.episode import Episode, Settings, drive
from tb_envs.grading.expectations import happened, hears
from tb_envs.lines import append_line, read_lines
from tb_envs.openai_client import RequestFailed
from tb_envs.patience import Asked, ask_again
from tb_envs.play import play
from tb_envs.registration import load_domain
from tb_envs.task import get_task
from tb_envs.trace import episode_record
from tb_envs.users.guards import NAMES, fault_in
from tb_envs.users.labels import FOUND, acts_in
from tb_envs.users.ledger import Ledger
from tb_envs.users.prompt import HANG_UP, briefing
from tb_envs.users.spotting import in_own_spelling, spotted

TASK = "hotel/late_cancellation/0"
KEY = "sk-very-secret-key-0123456789"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tb_envs.patience.FIRST_WAIT", 0.01)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@pytest.fixture
def server() -> Iterator[ModelDouble]:
    double = ModelDouble(scripted_brain(TASK)).start()
    yield double
    double.stop()


def settings(double: ModelDouble, **more: Any) -> Settings:
    return Settings(user={"kind": "llm", "model": "m", "base_url": double.url, **more})


def played(made_with: Settings, task_id: str = TASK, attempt: int = 0) -> Episode:
    return play(task_id, make_agent("reference"), episode=Episode(made_with), attempt=attempt)


def bytes_of(episode: Episode) -> bytes:
    return json.dumps(episode_record(episode)).encode()


# -- the customer


def test_a_model_plays_the_customer_and_the_records_judge(server: ModelDouble) -> None:
    episode, by_script = played(settings(server)), played(Settings())
    assert (episode.outcome, episode.user_faults) == ("success", 0)
    assert [m["content"] for m in episode.messages] == [m["content"] for m in by_script.messages]
    cost = episode.costs["user"]
    assert cost.requests == server.asked == episode.user_turns - 1 and cost.unreported == 0
    assert cost.kinds.input > cost.kinds.cached_input > 0 < cost.kinds.output and cost.seconds > 0
    assert cost.dollars is None and cost.known_tokens() == cost.kinds.to_json()
    told = json.dumps(server.bodies)
    assert "get_booking" not in told and "tool_calls" not in told and KEY not in told
    assert server.keys == {f"Bearer {KEY}"}


def test_prices_and_tokens_that_are_not_known_are_not_zero(server: ModelDouble) -> None:
    price = {"input": 2.0, "cached_input": 0.5, "output": 10.0}
    cost = played(settings(server, price=price)).costs["user"]
    kinds = cost.kinds
    fresh = kinds.input - kinds.cached_input
    assert cost.dollars == pytest.approx((fresh * 2 + kinds.cached_input * 0.5 + kinds.output * 10) / 1e6)
    server.usage = False
    cost = played(settings(server, price=price)).costs["user"]
    assert (cost.dollars, cost.known_tokens(), cost.unreported) == (None, None, cost.requests)
    assert (Cost() + cost).dollars is None and Cost().known_tokens() is None


def test_the_briefing_holds_the_persona_and_its_limits() -> None:
    persona = Persona(
        opens="I want {booking} cancelled.",
        knows={"booking": "BK-1", "email": "a@b.example", "phone": "+1 555 0100"},
        wont_say={"phone": "No."},
        secrets=[Secret(("are you the guest",), "It is my sister's.", after="pressed")],
        presses=["But why?"],
        then=Request("And the invoice, please.", topic=("invoice",)),
        settles_for="a voucher",
    )
    text = briefing(persona, "I want BK-1 cancelled.")
    for part in ("I want BK-1 cancelled.", "email: a@b.example", "“are you the guest”", "insisted once", "a voucher"):
        assert part in text
    assert "And the invoice, please." in text and "{" not in text.replace(HANG_UP, "")
    assert "+1 555 0100" not in text  # what it will not say it is not told


@pytest.mark.parametrize("agent", ["reference", "obedient", "talker"])
def test_what_the_script_says_is_no_fault_and_is_labelled_as_it_labels_itself(agent: str) -> None:
    turns = wrong = 0
    for domain in ("hotel", "banking"):
        for task_id in [*load_domain(domain).suite_ids["train"][::16], *load_domain(domain).suite_ids["bench"][::12]]:
            task = get_task(task_id)
            log = play(task_id, make_agent(agent)).log
            opening = next(event for event in log if event.kind == "heard")
            ledger = Ledger(task.scenario.customer, task.domain.vocabulary, opening.text, opening.data["acts"])
            for event in [event for event in log if event.kind in ("said", "heard")][1:]:
                if event.kind == "said":
                    ledger.hear(event.text)
                    continue
                leaves = "left" in event.data["acts"]
                assert fault_in(event.text, leaves, ledger, task.tools) is None, (task_id, event.text)
                assert ledger.spelled(event.text) == event.text
                found, turns = acts_in(event.text, leaves, ledger), turns + 1
                assert all(act.startswith(FOUND) for act in found)
                gave = {act for act in event.data["acts"] if act.startswith("gave:")}
                wrong += not gave <= {*found}
                ledger.take(event.text, found)
    assert turns > 20 and wrong <= turns / 50


ASK, ASK_ALL = "Could you give me your booking number?", "Please give me your booking number and e-mail address."
DONE = "I have cancelled your booking. Is there anything else?"
SECRETIVE = Persona(
    opens="Hello, I have to cancel my stay and would like my money back.",
    knows={
        "booking": "BK-20418",
        "email": "ida.falk@postbox.example",
        "birth_date": "1984-03-09",
        "reason": "a flood",
        "postcode": "69002",
    },
    wont_say=["postcode"],
    secrets=[Secret(("are you the guest",), "Well, it is my sister's booking, to be honest.")],
    then=Request("One more thing: could you also send me the invoice by e-mail?", topic=("invoice",)),
)
FAULTS = [
    ("empty", [ASK], "  ", False),
    ("role_break", [ASK], "As an AI language model I have no booking.", False),
    ("role_break", [ASK], "How can I help you today?", False),
    ("role_break", [ASK], "It's BK-20418.\nAgent: Thank you, one moment.", False),
    ("role_break", [ASK], 'I call {"name": "get_booking"} now.', False),
    ("role_break", [ASK], "Please use get_booking for that.", False),
    ("leaked_secret", [ASK], "It is BK-20418, my sister's booking, to be honest.", False),
    ("leaked_secret", ["What is the postcode?"], "It's 69002.", False),
    ("leaked_fact", ["Hello, what can I do for you?"], "My mail is ida.falk@postbox.example.", False),
    ("leaked_fact", ["Hello there."], "I was born on 9 March 1984.", False),
    ("invented_fact", [ASK], "It is BK-99999.", False),
    ("invented_fact", [ASK], "It's BK-20418, for 12 June 2031.", False),
    ("invented_fact", [ASK_ALL], "BK-20418, and ida.falk@elsewhere.example.", False),
    ("invented_fact", [ASK], "BK-20418. I paid USD 431.20 for it.", False),
    ("invented_fact", [ASK], "BK-20418, and call me on +1 617 555 0199.", False),
    ("early_goodbye", [ASK], "BK-20418. Goodbye.", True),
    ("early_goodbye", ["It costs USD 60. Shall I go ahead and cancel it?"], "Yes, please. Goodbye.", True),
    ("early_goodbye", [DONE], "That's all, goodbye.", True),  # the invoice has not been asked for
    ("cut_off", [ASK], "word " * 400, False),
]
FINE = [
    ([ASK], "It's bk 20418.", False),
    ([ASK_ALL, "And your date of birth?"], "BK-20418 and Ida.Falk@postbox.example, born March 9th, 1984.", False),
    (["Are you the guest yourself?"], "Well, it is my sister's booking.", False),
    (["It costs USD 60. Shall I go ahead?"], "Yes, USD 60 is fine, please go ahead.", False),
    (["Is it for the 12th of June 2031?"], "No, not 12 June 2031.", False),
    (["That would be USD 309.52."], "More than 310 dollars? No.", False),
    (["The fee is $12.50, and it has been waived by us."], "Not even 12.50 USD? Great.", False),
    ([DONE], "Also, could you send me the invoice by e-mail?", False),
    ([DONE, "I have sent the invoice. Goodbye!"], "Could you send the invoice too, by e-mail? One more thing.", False),
]


def ledger_after(heard: list[str]) -> Ledger:
    ledger = Ledger(SECRETIVE, load_domain("hotel").vocabulary, str(SECRETIVE.opens), ())
    for text in heard:
        ledger.hear(text)
    return ledger


@pytest.mark.parametrize(("name", "heard", "text", "leaves"), FAULTS)
def test_every_guard(name: str, heard: list[str], text: str, leaves: bool) -> None:
    fault = fault_in(text, leaves, ledger_after(heard), {"get_booking"})
    assert fault is not None and fault.name == name and fault.hint.endswith(".")


@pytest.mark.parametrize(("heard", "text", "leaves"), FINE)
def test_what_a_customer_may_say(heard: list[str], text: str, leaves: bool) -> None:
    assert fault_in(text, leaves, ledger_after(heard), {"get_booking"}) is None


def test_all_guards_are_tried() -> None:
    assert {name for name, *_ in FAULTS} == set(NAMES)


def test_it_may_leave_when_all_is_told_or_the_agent_gets_nowhere() -> None:
    ledger = ledger_after([DONE])
    invoice = "One more thing: could you also send me the invoice by e-mail?"
    assert acts_in(invoice, False, ledger)[-1] == "second_request"
    ledger.take(invoice, acts_in(invoice, False, ledger))
    ledger.hear("The invoice has been sent to you.")
    assert fault_in("Thank you, goodbye.", True, ledger, ()) is None
    assert fault_in("This gets us nowhere. Goodbye.", True, ledger_after([ASK] * 8), ()) is None


def test_values_are_put_into_the_spelling_of_the_records() -> None:
    values = ["BK-20418", "ida.falk@postbox.example", "1984-03-09", "+351 21 555 0142", "T12 R2P8", "16:00"]
    text = "It's bk20418, Ida.Falk@postbox.example, March 9th 1984, (+351) 21-555-0142, t12r2p8, at 4 pm."
    right = "It's BK-20418, ida.falk@postbox.example, 1984-03-09, +351 21 555 0142, T12 R2P8, at 4 pm."
    assert in_own_spelling(text, values) == right and in_own_spelling(right, values) == right
    forms = [value.form for value in spotted(right)]
    assert forms == ["id", "email", "date", "phone", "id", "time"] or forms[:4] == ["id", "email", "date", "phone"]


@pytest.mark.parametrize("bad", ["", "I am an AI.", "My number is BK-99999."])
def test_a_fault_is_named_and_asked_for_anew_once(server: ModelDouble, bad: str) -> None:
    good = scripted_brain(TASK)

    def once(messages: list[dict[str, str]]) -> str:
        again = messages[-1]["content"].startswith("(Nobody heard that.")
        return good(messages[:-2]) if again else bad if len(messages) == 4 else good(messages)

    server.writes = once
    episode = played(settings(server))
    assert (episode.outcome, episode.user_faults) == ("success", 1)
    heard = [event for event in episode.log if event.kind == "heard"]
    assert len(heard[1].data["faults"]) == 1 and "faults" not in heard[2].data
    assert bad == "" or bad not in json.dumps(episode.messages)
    server.writes = [bad]
    episode = played(settings(server))
    assert (episode.outcome, episode.reward, episode.user_faults) == ("error:user", 0.0, 2)
    assert "said twice what no customer says" in episode.error and episode.verdict is None
    assert episode.costs["user"].requests == 2


def test_the_mark_for_hanging_up_and_what_models_wrap_words_in(server: ModelDouble) -> None:
    async def talk(episode: Episode) -> str:
        await episode.reset(TASK)
        await episode.say("I am sorry, I cannot cancel it, and nothing can be refunded. Goodbye.")
        return episode.messages[-1]["content"]

    for written in (
        f"Fine. Bye. {HANG_UP}",
        "<think>I should go [hang up].</think>\nCustomer: Fine. Bye. [hangs up]",
        f'"Fine. Bye." {HANG_UP}',
    ):
        server.writes = [written]
        episode = Episode(settings(server))
        assert wait_for(talk(episode)) == "Fine. Bye."
        assert episode.ended_by == "customer"
        assert episode.log[-2].data["acts"][-1] == "left"


# -- the endpoint


def test_an_endpoint_that_fails_for_a_while_is_asked_again(server: ModelDouble) -> None:
    server.next_trouble = ["500", "429:0.01", "drop", "empty", "garbage"]
    episode = played(settings(server, retries=4))
    assert episode.outcome == "success" and episode.costs["user"].retried == 4


@pytest.mark.parametrize(
    ("trouble", "words"),
    [
        (["500"] * 3, "answered 500: CUDA out of memory"),
        (["401"], r"answered 401: no such key: \[key\]"),
        (["empty"] * 3, "without choices"),
        (["garbage"] * 3, "no JSON"),
        (["drop"] * 3, "broke off"),
        (["429:9"], "answered 429: slow down"),
        (["slow:5"] * 3, r"did not answer within 0\.2 s"),
        (["filter"], "content filter"),
        (["refuse"], "answered 400: held back"),
    ],
)
def test_an_endpoint_that_stays_broken_is_a_system_error(server: ModelDouble, trouble: list[str], words: str) -> None:
    server.next_trouble = trouble
    deadline = 0.2 if trouble[0].startswith("slow") else 30.0
    episode = played(settings(server, retries=2, deadline=deadline, patience=1))
    assert episode.outcome == "error:user" and episode.ended_by == "error" and episode.verdict is None
    assert KEY not in episode.error and "sk-" not in episode.error
    assert re.search(words, episode.error)


def test_retry_after_is_waited_for(server: ModelDouble) -> None:
    server.next_trouble = ["429:0.3"]
    asked = Asked()
    endpoint = Endpoint("m", server.url)
    began = time.monotonic()
    server.writes = ["Hello."]
    answer = wait_for(ask_again(endpoint, {"messages": [{"role": "user", "content": "Hi"}]}, asked))
    assert answer.text == "Hello." and time.monotonic() - began >= 0.3 and asked.waited >= 0.3
    assert (asked.slowed, asked.retried) == (1, 0)
    server.next_trouble = ["429:9"]
    with pytest.raises(RequestFailed) as caught:
        wait_for(ask_again(replace(endpoint, patience=1.0), {"messages": []}))
    assert (caught.value.kind, caught.value.retry_after) == ("busy", 9.0)


@pytest.mark.parametrize(
    ("user", "words"),
    [
        ("lmm", "Did you mean 'llm'"),
        ("llm", "TBX_USER_MODEL"),
        ({"kind": "llm", "model": "m"}, "TBX_USER_BASE_URL"),
        ({"kind": "llm", "model": "m", "base_url": "localhost"}, "reads like http"),
        ({"kind": "llm", "model": "m", "base_url": "http://me:pw@host/v1"}, "carries credentials"),
        ({"kind": "llm", "model": "m", "base_url": "http://h/v1?key=pw"}, "carries credentials"),
        ({"kind": "llm", "model": "m", "base_url": "http://h/v1", "temprature": 1}, "unknown option 'temprature'"),
        ({"kind": "llm", "model": "m", "base_url": "http://h/v1", "deadline": 0}, "deadline must be"),
        ({"kind": "llm", "model": "m", "base_url": "http://h/v1", "price": {"input": 1}}, "price gives dollars"),
        ({"kind": "recorded"}, "a recorded user reads"),
        ({"kind": "recorded", "path": "/nowhere/user.jsonl"}, "is no file"),
        ({"kind": "scripted", "model": "m"}, "takes no options"),
    ],
)
def test_wrong_settings_are_told_at_once(user: Any, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TBX_USER_MODEL", "TBX_USER_BASE_URL", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(UsageError, match=words) as caught:
        Settings(user=user)
    assert "pw" not in str(caught.value)


def test_model_and_url_may_come_from_the_environment(server: ModelDouble, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TBX_USER_MODEL", "small")
    monkeypatch.setenv("TBX_USER_BASE_URL", server.url)
    assert played(Settings(user="llm")).outcome == "success"
    assert {body["model"] for body in server.bodies} == {"small"}
    with pytest.raises(UsageError, match="MY_KEY is not set"):
        played(Settings(user={"kind": "llm", "api_key_env": "MY_KEY"}))


def test_a_task_that_reads_acts_only_a_script_reports_is_refused(server: ModelDouble) -> None:
    task = get_task(TASK)
    for act, refused in (("gave:booking", False), ("consented", False), ("waited", True)):
        expects = [*task.scenario.expects, happened("act", hears(act))]
        other = replace(task, scenario=replace(task.scenario, expects=expects))
        episode = Episode(settings(server))
        if refused:
            with pytest.raises(UsageError, match="waited"):
                wait_for(episode.reset(other))
        else:
            assert wait_for(episode.reset(other))
        episode.close()


def test_no_suite_reads_acts_or_needs_a_judge() -> None:
    for domain in ("hotel", "banking"):
        for suite in load_domain(domain).suite_ids.values():
            for task_id in suite[::5]:
                task = get_task(task_id)
                assert not task.acts_read and not task.needs_judge, task_id


# -- record and replay


def test_a_recorded_talk_is_played_again_without_the_model(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "user.jsonl"
    good, said = scripted_brain(TASK), list[str]()

    def writes(messages: list[dict[str, str]]) -> str:
        said.append("")
        return (
            "I am a language model." if len(said) == 2 else good([m for m in messages if "(Nobody" not in m["content"]])
        )

    double = ModelDouble(writes).start()
    first = [played(settings(double, record=str(path)), attempt=attempt) for attempt in (0, 1)]
    double.stop()
    assert sum(episode.user_faults for episode in first) == 1
    recorded = Settings(user={"kind": "recorded", "path": str(path)})
    assert not recorded.suspends
    again = [played(recorded, attempt=attempt) for attempt in (0, 1)]
    assert [bytes_of(episode) for episode in again] == [bytes_of(episode) for episode in first]
    assert [episode.user_faults for episode in again] == [episode.user_faults for episode in first]
    assert again[0].costs == {}


def test_an_agent_that_speaks_otherwise_is_told_where(server: ModelDouble, tmp_path: Path) -> None:
    path = tmp_path / "user.jsonl"
    played(settings(server, record=str(path)))
    recorded = Settings(user={"kind": "recorded", "path": str(path)})
    first = next(read_lines(path))["agent"]

    def say(*texts: str, attempt: int = 0) -> Episode:
        episode = Episode(recorded)
        drive(episode.reset(TASK, attempt=attempt))
        for text in texts:
            drive(episode.say(text))
        return episode

    assert say(first).outcome == ""
    other = say(first, "Something else entirely.")
    assert other.outcome == "error:user" and "speaks differently there" in other.error
    assert f"turn 2 of {TASK}, attempt 0" in other.error and "Something else" in other.error
    assert "it ends before" in say(first, attempt=7).error


def test_a_torn_line_is_closed_and_passed_over(server: ModelDouble, tmp_path: Path) -> None:
    path = tmp_path / "user.jsonl"
    played(settings(server, record=str(path)))
    whole = path.read_bytes()
    path.write_bytes(whole[:-40])
    played(settings(server, record=str(path)))
    assert len(list(read_lines(path))) == 2 * whole.count(b"\n") - 1
    assert played(Settings(user={"kind": "recorded", "path": str(path)})).outcome == "success"
    with path.open("ab") as file:
        file.write(b'[1]\n{"v": 99}\n')
    append_line(path, {"last": True})
    assert list(read_lines(path))[-1] == {"last": True}


# -- many at once, and the synchronous faces


def test_a_vector_environment_waits_for_all_customers_at_once(tmp_path: Path) -> None:
    double = ModelDouble(["Please tell me more."], think=0.2).start()
    user = {"kind": "llm", "model": "m", "base_url": double.url, "record": str(tmp_path / "user.jsonl")}
    envs = gym.make_vec("ThinkingBox/Hotel-v0", num_envs=64, user=user)
    try:
        envs.reset(seed=0)
        began = time.monotonic()
        envs.step(["What can I do for you?"] * 64)
        took = time.monotonic() - began
        assert double.asked == 64 and double.most_out > 16
        assert took < 64 * 0.2 / 2
        end = tb_envs.call("end_conversation", summary="Done.")
        *_, infos = envs.step([end] * 64)
        assert [cost.requests for cost in infos["costs"]["user"]] == [1] * 64
        assert [cost.requests for cost in infos["costs"]["judge"]] == [0] * 64
        assert len(list(read_lines(tmp_path / "user.jsonl"))) == 64
    finally:
        envs.close()
        double.stop()


def test_stragglers_are_waited_for_one_by_one() -> None:
    double = ModelDouble(["Please tell me more."]).start()
    envs = tb_envs.ThinkingBoxVectorEnv(
        3, domain="hotel", user={"kind": "llm", "model": "m", "base_url": double.url, "deadline": 30}
    )
    try:
        envs.reset(seed=0)
        double.next_trouble = ["slow:1"]
        envs.send([0], ["Hello."])
        while double.asked == 0:
            time.sleep(0.01)
        envs.send([1, 2], ["Hello.", tb_envs.call("get_time")])
        with pytest.raises(UsageError, match=r"\[0\] are still under way"):
            envs.send([0], ["Hello again."])
        got = [index for index, _ in envs.recv()]
        assert 0 not in got and got
        while len(got) < 3:
            got += [index for index, _ in envs.recv()]
        assert got[-1] == 0 and sorted(got) == [0, 1, 2] and envs.recv() == []
        double.next_trouble = ["slow:20"]
        envs.send([1], ["Hello."])
        envs.reset(seed=1)  # lets go of what is under way
        observations, *_ = envs.step([tb_envs.call("get_time")] * 3)
        assert all("now" in observation for observation in observations)
    finally:
        envs.close()
        double.stop()


def test_one_broken_customer_does_not_touch_the_others(server: ModelDouble) -> None:
    envs = gym.make_vec("ThinkingBox/Hotel-v0", num_envs=4, user={"kind": "llm", "model": "m", "base_url": server.url})
    server.writes = ["Please tell me more."]
    envs.reset(seed=0)
    server.next_trouble = ["401"]
    _, rewards, _, truncated, infos = envs.step(["Hello."] * 4)
    assert sorted(infos["outcome"]) == ["", "", "", "error:user"] and truncated.sum() == 1 and not rewards.any()
    envs.close()


def test_the_gymnasium_face_costs_and_a_user_by_reset(server: ModelDouble) -> None:
    env = gym.make("ThinkingBox/Hotel-v0")
    user = {"kind": "llm", "model": "m", "base_url": server.url}
    env.reset(options={"task_id": TASK, "user": user})
    env.step("Could you tell me your booking number?")
    *_, info = env.step(tb_envs.call("end_conversation", summary="Done."))
    assert info["costs"]["user"].requests == 1 and info["costs"]["judge"] == Cost()
    env.reset(options={"task_id": TASK})
    *_, info = env.step(tb_envs.call("end_conversation", summary="Done."))
    assert info["costs"] == {"user": Cost(), "judge": Cost()}


def test_interrupts_end_a_wait(server: ModelDouble) -> None:
    env = gym.make("ThinkingBox/Hotel-v0", user={"kind": "llm", "model": "m", "base_url": server.url})
    env.reset(options={"task_id": TASK})
    server.next_trouble = ["slow:60"]

    def interrupt() -> None:
        while server.asked == 0:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    began = time.monotonic()
    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        env.step("Hello.")
    assert time.monotonic() - began < 20
    env.reset(options={"task_id": TASK})
    observation, *_ = env.step("Could you tell me your booking number?")
    assert "BK-" in observation


def test_a_forked_child_has_its_own_loop(server: ModelDouble) -> None:
    env = gym.make("ThinkingBox/Hotel-v0", user={"kind": "llm", "model": "m", "base_url": server.url})
    env.reset(options={"task_id": TASK})
    env.step("Could you tell me your booking number?")
    child = os.fork()
    if child == 0:
        try:
            env.reset(options={"task_id": TASK})
            observation, *_ = env.step("Could you tell me your booking number?")
            os._exit(0 if "BK-" in observation else 3)
        except BaseException:
            os._exit(4)
    until = time.monotonic() + 60
    status = 0
    while time.monotonic() < until:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        time.sleep(0.05)
    else:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        pytest.fail("the child hangs")
    assert os.waitstatus_to_exitcode(status) == 0


def test_in_an_event_loop_episodes_are_awaited(server: ModelDouble) -> None:
    async def talk() -> list[str]:
        episodes = [Episode(settings(server)) for _ in range(8)]
        await asyncio.gather(*(episode.reset(TASK) for episode in episodes))
        return await asyncio.gather(*(episode.say("Could you tell me your booking number?") for episode in episodes))

    assert len(set(asyncio.run(talk()))) == 1


def test_the_command_line_takes_a_model_as_the_customer(
    server: ModelDouble, capsys: pytest.CaptureFixture[str]
) -> None:
    user = json.dumps({"kind": "llm", "model": "m", "base_url": server.url})
    assert main(["run", "--agent", "reference", "--tasks", TASK, "--user", user, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["passed"] == 1 and server.asked > 0
    assert main(["run", "--agent", "reference", "--tasks", TASK, "--user", '{"kind": "llm", "modell": "m"}']) == 2
    assert "unknown option 'modell' of user" in capsys.readouterr().err
