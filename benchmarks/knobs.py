"""How the built-in agents' scores move when a knob is turned: a Markdown table over one suite of each domain.

    python benchmarks/knobs.py [--domain hotel] [--split bench]

The reference must stay at 100 %: a knob makes a task harder and leaves its right end. Exits 1 if it does not.
"""

from __future__ import annotations

import argparse

from tb_envs.agents import BUILT_IN
from tb_envs.knobs import Knobs
from tb_envs.play import run
from tb_envs.registration import domain_names, load_domain
from tb_envs.settings import Settings

SETTINGS = (
    Knobs(),
    Knobs(distractors=5),
    Knobs(distractors=15),
    Knobs(lookalikes=4),
    Knobs(stale_articles=12),
    *(Knobs(manner=manner) for manner in ("terse", "rambling", "digressing", "pushy", "slow")),
    Knobs(15, 4, "slow", 12),
)


def main() -> int:
    """Play, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--domain", action="append", help="only this domain (may be repeated)")
    parser.add_argument("--split", default="bench")
    options = parser.parse_args()
    moved = False
    for name in options.domain or domain_names():
        ids = load_domain(name).suite_ids[options.split]
        print(f"\n{name}, {options.split}, {len(ids)} tasks\n\n| knobs | {' | '.join(BUILT_IN)} |")
        print(f"|---|{'---:|' * len(BUILT_IN)}")
        for knobs in SETTINGS:
            scores = [run(ids, agent, settings=Settings(knobs=knobs)).to_json()["pass_at_1"] for agent in BUILT_IN]
            moved |= scores[0] != 1
            print(f"| {knobs} | {' | '.join(f'{score:.1%}' for score in scores)} |", flush=True)
    return int(moved)


if __name__ == "__main__":
    raise SystemExit(main())
