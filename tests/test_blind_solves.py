"""Tasks as solved by people who saw only what an agent sees: their turns, played again, must still score.

The talks are kept as they were (`talk`: who, what), with what the solver thought and doubted. What the customer says
may differ today; what the solver did is the same. Where an end differed from the verdict when it was played it is
listed here with the checks it failed and why: each time the customer was at fault, and was mended.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tb_envs.episode import Episode, drive
from tb_envs.registration import load_domain

DATA = Path(__file__).parent / "data" / "blind"
SOLVES = [json.loads(line) for path in sorted(DATA.glob("*.jsonl")) for line in path.read_text("utf-8").splitlines()]
DIFFERED = {
    "hotel/late_checkout/0": {"booking", "late checkout"},  # it agreed to a price over its limit
    "banking/lost_card/11": {"card", "nothing_else"},  # it could not say which of two cards was gone
}


def replay(solve: dict[str, Any]) -> Episode:
    episode = Episode()
    drive(episode.reset(solve["task"]))
    for who, turn in solve["talk"]:
        if who == "agent" and not episode.over:
            drive(episode.act(turn))
    drive(episode.finish())
    episode.close()
    return episode


def test_enough_of_each_domain_and_of_its_held_out_families() -> None:
    solved, held_out = Counter[str](), Counter[str]()
    for solve in SOLVES:
        domain, family, _ = solve["task"].split("/")
        solved[domain] += 1
        held_out[domain] += load_domain(domain).families[family].split == "bench"
    assert min(solved[name] for name in ("hotel", "banking")) >= 40
    assert min(held_out[name] for name in ("hotel", "banking")) >= 10


@pytest.mark.parametrize("solve", SOLVES, ids=[f"{number}-{solve['task']}" for number, solve in enumerate(SOLVES)])
def test_a_careful_person_scores(solve: dict[str, Any]) -> None:
    episode = replay(solve)
    assert not episode.error
    if solve["task"] in DIFFERED and solve["outcome"] == "failure":
        assert episode.verdict and episode.verdict.failed == DIFFERED[solve["task"]]
        return
    assert episode.outcome == "success", episode.verdict.to_json() if episode.verdict else episode.error
