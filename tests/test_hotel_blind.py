"""Hotel tasks as solved by people who saw only what an agent sees: their turns, played again, must still score.

The talks are kept as they were (`talk`: who, what), with what the solver thought and doubted. What the customer says
may differ today; what the solver did is the same. One end differed from the verdict when it was played, because the
customer agreed to a price over its limit; it is listed here and the customer's reading of prices was mended.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tb_envs.episode import Episode, drive

DATA = Path(__file__).parent / "data" / "blind"
SOLVES = [json.loads(line) for path in sorted(DATA.glob("*.jsonl")) for line in path.read_text("utf-8").splitlines()]
DIFFERED = {"hotel/late_checkout/0": {"booking", "late checkout"}}


def replay(solve: dict[str, Any]) -> Episode:
    episode = Episode()
    drive(episode.reset(solve["task"]))
    for who, turn in solve["talk"]:
        if who == "agent" and not episode.over:
            drive(episode.act(turn))
    drive(episode.finish())
    episode.close()
    return episode


def test_enough_of_them_and_half_from_held_out_families() -> None:
    families = [replay(solve).task.family for solve in SOLVES]  # type: ignore[union-attr]
    assert len(SOLVES) >= 38 and sum(family.split == "bench" for family in families) >= 18


@pytest.mark.parametrize("solve", SOLVES, ids=[solve["task"] for solve in SOLVES])
def test_a_careful_person_scores(solve: dict[str, Any]) -> None:
    episode = replay(solve)
    assert not episode.error
    if solve["task"] in DIFFERED and solve["outcome"] == "failure":
        assert episode.verdict and episode.verdict.failed == DIFFERED[solve["task"]]
        return
    assert episode.outcome == "success", episode.verdict.to_json() if episode.verdict else episode.error
