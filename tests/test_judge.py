"""Criteria that only a judge can tell: off, on, cached, unreadable answers, and verdicts that are made again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
from llm_double import ModelDouble

import tb_envs
from tb_envs import UsageError
from tb_envs.agents import make_agent
from tb_envs.costs import Cost
from tb_envs.driving import complete
from tb_envs.endpoints import model_options
from tb_envs.episode import Episode, Settings
from tb_envs.grading.expectations import criteria_of, either, judged
from tb_envs.grading.grade import Evidence, grade
from tb_envs.grading.judge import FORM, Judgement, _caches, _formless, read_answers
from tb_envs.lines import read_lines
from tb_envs.play import play
from tb_envs.registration import load_domain
from tb_envs.task import Task, get_task
from tb_envs.trace import episode_record

TASK = "hotel/late_cancellation/0"
TOLD = judged("told why", "The agent told the customer what is returned and why.")
KEPT = judged("rule kept secret", "The agent told the customer from which amount on a manager decides.", holds=False)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tb_envs.patience.FIRST_WAIT", 0.01)
    _caches.clear()
    _formless.clear()


def with_criteria(*criteria: Any) -> Task:
    task = get_task(TASK)
    return replace(task, scenario=replace(task.scenario, expects=[*task.scenario.expects, *criteria]))


def answer(*true: bool) -> str:
    return json.dumps({"verdicts": [{"statement": n, "true": t, "because": "so."} for n, t in enumerate(true, 1)]})


@pytest.fixture
def server() -> Iterator[ModelDouble]:
    double = ModelDouble([answer(True, False)]).start()
    yield double
    double.stop()


def settings(double: ModelDouble, **more: Any) -> Settings:
    return Settings(judge={"model": "j", "base_url": double.url, "retries": 1, **more})


def played(made_with: Settings, task: Task) -> Episode:
    return play(task, make_agent("reference"), episode=Episode(made_with))


def test_without_a_judge_such_tasks_are_refused() -> None:
    task = with_criteria(TOLD)
    assert task.needs_judge and not get_task(TASK).needs_judge and task.hash != get_task(TASK).hash
    with pytest.raises(UsageError, match=r"told why.*no judge is set"):
        played(Settings(), task)
    both = with_criteria(either("one way", (TOLD,), (KEPT, TOLD)))
    assert criteria_of(both.scenario.expects) == (TOLD, KEPT)


@pytest.mark.parametrize(
    ("said", "outcome", "failed"),
    [
        (answer(True, False), "success", set()),
        (answer(False, False), "failure", {"told why"}),
        (answer(True, True), "failure", {"rule kept secret"}),
    ],
)
def test_the_judges_answers_are_evidence_for_the_grader(
    server: ModelDouble, said: str, outcome: str, failed: set[str]
) -> None:
    server.writes = [said]
    task = with_criteria(TOLD, KEPT)
    episode = played(settings(server), task)
    assert (episode.outcome, episode.ended_by, server.asked) == (outcome, "agent", 1)
    assert episode.verdict is not None and episode.verdict.failed == failed
    kinds = {check.name: check.kind for check in episode.verdict.checks}
    assert (kinds["told why"], kinds["rule kept secret"]) == ("earned", "guard")
    cost = episode.costs["judge"]
    assert cost.requests == 1 and cost.kinds.input > 0 and set(episode.costs) == {"judge"}
    body = server.bodies[0]
    asked = body["messages"][1]["content"]
    assert body["temperature"] == 0 and TOLD.criterion in asked and KEPT.criterion in asked
    assert "get_booking" not in asked and "cancel_booking" not in asked  # the talk, and nothing else
    form = body["response_format"]
    assert form == FORM and form["type"] == "json_schema" and form["json_schema"]["strict"] is True
    entry = form["json_schema"]["schema"]["properties"]["verdicts"]["items"]
    assert set(entry["required"]) == set(entry["properties"]) == set(json.loads(said)["verdicts"][0])
    # what stands in the log suffices to judge again, without the judge
    record = json.loads(json.dumps(episode_record(episode)))
    assert [event["data"]["true"] for event in record["log"] if event["kind"] == "judged"] == [
        entry["true"] for entry in json.loads(said)["verdicts"]
    ]
    evidence = Evidence(task.domain.specs, episode.changes, episode.log, task.scenario.about)
    assert grade(task.scenario.expects, evidence).failed == failed


def test_who_says_nothing_told_nothing_and_nobody_is_asked(server: ModelDouble) -> None:
    episode = play(with_criteria(TOLD, KEPT), make_agent("idle"), episode=Episode(settings(server)))
    assert episode.verdict is not None and server.asked == 0 and episode.outcome == "failure"
    assert "told why" in episode.verdict.failed and "rule kept secret" not in episode.verdict.failed


def test_tasks_without_criteria_do_not_ask(server: ModelDouble) -> None:
    assert played(settings(server), get_task(TASK)).outcome == "success" and server.asked == 0


@pytest.mark.parametrize(
    "text",
    [
        answer(True, False),
        f"```json\n{answer(True, False)}\n```",
        f"Here is what I found: {{so far}}.\n{answer(True, False)}\nI hope {{this}} helps!",
        f'{{"note": "first"}} {answer(True, False)}',
        '{"verdicts": [{"statement": 2, "true": false}, {"statement": 1, "true": true, "because": null}]}',
    ],
)
def test_answers_are_read_through_fences_and_prose(text: str) -> None:
    assert [one.true for one in read_answers(text, 2)] == [True, False]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "no JSON object"),
        ("yes, yes", "no JSON object"),
        ('{"verdicts": true}', "no JSON object"),
        (answer(True), "1 verdicts for 2 statements"),
        (answer(True, True, True), "3 verdicts for 2 statements"),
        ('{"verdicts": []}', "0 verdicts"),
        ('{"verdicts": [{"statement": 1, "true": true}, {"statement": 1, "true": true}]}', r"statements \[1\]"),
        ('{"verdicts": [{"statement": 1, "true": "yes"}, {"statement": 2, "true": true}]}', "no `.*true"),
        ('{"verdicts": [{"true": true}, {"true": true}]}', "no `.*statement"),
        ('{"verdicts": ["yes", "no"]}', "no `.*statement"),
    ],
)
def test_anything_else_is_no_answer(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        read_answers(text, 2)


@pytest.mark.parametrize("first", ["Yes.", answer(True), ""])
def test_one_more_try_then_a_system_error(server: ModelDouble, first: str) -> None:
    server.writes = [first, answer(True, False)]
    task = with_criteria(TOLD, KEPT)
    episode = played(settings(server), task)
    assert (episode.outcome, server.asked, episode.costs["judge"].requests) == ("success", 2, 2)
    assert "cannot be read" in server.bodies[1]["messages"][-1]["content"]
    _caches.clear()
    server.writes = [first]
    episode = played(settings(server), task)
    assert (episode.outcome, episode.verdict, episode.reward) == ("error:checker", None, 0.0)
    assert "answered 2 times what cannot be read" in episode.error
    assert [event.kind for event in episode.log[-1:]] == ["ended"]


def test_an_endpoint_that_does_not_know_the_form_is_asked_in_words(server: ModelDouble) -> None:
    server.refused = "response_format"
    for requests in (2, 3):  # that it does not know it is found out once
        episode = played(settings(server), with_criteria(TOLD, KEPT))
        assert (episode.outcome, server.asked) == ("success", requests), episode.error
        assert episode.costs["judge"].requests == 1 and "response_format" not in server.bodies[-1]
    server.refused = "messages"
    _formless.clear()
    for requests in (5, 7):  # something else is wrong: that is told, and nothing is learned from it
        episode = played(settings(server), with_criteria(TOLD, KEPT))
        assert (episode.outcome, server.asked) == ("error:checker", requests) and "answered 400" in episode.error
    server.refused = ""
    own = {"type": "json_object"}
    assert played(settings(server, extra={"response_format": own}), with_criteria(TOLD, KEPT)).outcome == "success"
    assert server.bodies[-1]["response_format"] == own


@pytest.mark.parametrize("trouble", [["401"], ["500"] * 2, ["refuse"]])
def test_a_judge_that_cannot_be_reached_is_a_system_error(server: ModelDouble, trouble: list[str]) -> None:
    server.next_trouble = trouble
    episode = played(settings(server), with_criteria(TOLD, KEPT))
    assert episode.outcome == "error:checker" and episode.error.startswith("the judge: ")


def test_answers_are_kept_by_content(server: ModelDouble, tmp_path: Path) -> None:
    cache = tmp_path / "judge.jsonl"
    made_with, task = settings(server, cache=str(cache)), with_criteria(TOLD, KEPT)
    first = played(made_with, task)
    again = played(made_with, task)
    assert server.asked == 1 and first.costs and not again.costs
    _caches.clear()  # another process
    with cache.open("ab") as file:
        file.write(b'{"v": 1, "key": "torn')
    assert played(made_with, task).outcome == "success" and server.asked == 1
    assert len(list(read_lines(cache))) == 1
    assert played(settings(server, cache=str(cache), extra={"seed": 1}), task).verdict == first.verdict
    assert server.asked == 2 and len(list(read_lines(cache))) == 2
    play(task, make_agent("obedient"), episode=Episode(made_with))  # another talk
    assert server.asked == 3


@pytest.mark.parametrize(
    "line", ['{"v": 1}', '{"v": 1, "key": "k", "answers": [{}]}', '{"v": 1, "key": "k", "answers": 3}']
)
def test_an_edited_line_of_the_cache_is_passed_over(server: ModelDouble, tmp_path: Path, line: str) -> None:
    cache = tmp_path / "judge.jsonl"
    cache.write_text(f"{line}\n", "utf-8")
    assert played(settings(server, cache=str(cache)), with_criteria(TOLD, KEPT)).outcome == "success"
    assert server.asked == 1


def test_the_end_by_a_limit_or_by_finish_is_judged_too(server: ModelDouble) -> None:
    task = with_criteria(TOLD, KEPT)
    for limits in ({"turns": 1}, {}):
        made_with = replace(settings(server), limits=tb_envs.Limits.of(limits))
        episode = Episode(made_with)
        complete(episode.reset(task), True)
        complete(episode.say("Hello."), True)
        assert episode.over == bool(limits)
        verdict = complete(episode.finish(), True)
        assert verdict is not None and "told why" not in verdict.failed
        assert complete(episode.say("Hello again."), True).startswith("The conversation is over")
        episode.close()


def test_the_gymnasium_face_with_a_judge(server: ModelDouble, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tb_envs.task.get_task", lambda task_id, knobs=None: with_criteria(TOLD, KEPT))
    env = gym.make("ThinkingBox/Hotel-v0", judge={"model": "j", "base_url": server.url})
    env.reset(options={"task_id": TASK})
    env.step("Hello.")
    *_, info = env.step(tb_envs.call("end_conversation", summary="Done."))
    assert info["checks"]["told why"] and info["costs"]["judge"].requests == 1 and info["costs"]["user"] == Cost()


@pytest.mark.parametrize(
    ("judge", "words"),
    [
        ("gpt", "unknown judge"),
        ({"model": "j"}, "TBX_JUDGE_BASE_URL"),
        ({"model": "j", "base_url": "http://h/v1", "temperature": 0.7}, "temperature 0"),
        ({"model": "j", "base_url": "http://h/v1", "record": "x"}, "unknown option 'record' of judge"),
        ({"model": "j", "base_url": "http://h/v1", "cache": 7}, "`cache` is a file's path"),
    ],
)
def test_wrong_settings_are_told_at_once(judge: Any, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TBX_JUDGE_MODEL", "TBX_JUDGE_BASE_URL", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(UsageError, match=words):
        Settings(judge=judge)


def test_frozen_tasks_keep_their_hashes() -> None:
    for domain in ("hotel", "banking"):
        for suite in load_domain(domain).suites.values():
            for task_id, entry in list(suite.items())[::40]:
                assert get_task(task_id).hash == entry["hash"], task_id


def test_a_judgement_is_plain_data() -> None:
    assert Judgement(True, "so")._asdict() == {"true": True, "because": "so"}
    endpoint, cache = model_options("judge", {"model": "j", "base_url": "http://h/v1", "cache": "c"})
    assert (endpoint.temperature, cache) == (0.0, "c")
