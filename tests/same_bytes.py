"""The compiled build answers with the same bytes as the sources: no test of pytest's, but `make test-compiled`.

    python tests/same_bytes.py PYTHON        PYTHON: the interpreter of the environment that holds the compiled build

Both play every task of every frozen suite as `reference` and `obedient`, and say to the customers what strangers wrote,
and the same cut and shuffled. Compared are the messages, the log with the customer's acts, the verdicts, the hashes.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data" / "users"
DOMAINS = ("hotel", "banking")
AGENTS = ("reference", "obedient")


def episodes() -> Iterator[tuple[str, Any]]:
    """Each task's hash, and what was said, done, found and judged in an episode of each agent."""
    from tb_envs.agents import make_agent
    from tb_envs.episode import Episode
    from tb_envs.play import play
    from tb_envs.registration import load_domain
    from tb_envs.task import get_task

    for name in DOMAINS:
        domain, episode = load_domain(name), Episode()
        yield f"{name}: digest", domain.digest
        for task_id in (task_id for split in domain.suite_ids.values() for task_id in split):
            yield f"{task_id}: hash", get_task(task_id).hash
            for agent in AGENTS:
                play(task_id, make_agent(agent), episode=episode)
                verdict = episode.verdict.to_json() if episode.verdict else episode.error
                yield f"{task_id} as {agent}", [episode.messages, episode.log, verdict, episode.ended_by]


def talks() -> Iterator[tuple[str, Any]]:
    """The answers to what strangers wrote, each message whole and garbled."""
    from user_personas import PERSONAS
    from user_personas_bank import PERSONAS as CLIENTS

    from tb_envs.authoring.rng import Rng
    from tb_envs.registration import load_domain
    from tb_envs.users.scripted import ScriptedUser

    for path in sorted(DATA.glob("*.json")):
        people, domain = (CLIENTS, "banking") if path.stem.startswith("bank_") else (PERSONAS, "hotel")
        rows = json.loads(path.read_text("utf-8"))
        for at, row in enumerate(row for row in rows if isinstance(row, dict) and "say" in row):
            rng = Rng("garbled", path.stem, at)
            words = row["say"].split()
            cut = words[: rng.between(1, len(words))]
            for kind, said in (("whole", row["say"]), ("cut", " ".join(cut)), ("mixed", " ".join(rng.shuffled(words)))):
                user = ScriptedUser(people[row["persona"]], load_domain(domain).vocabulary, seed=at)
                heard = [user.opening(), *(user.reply(text) for text in (*row.get("before", ()), said, row["say"]))]
                yield f"{path.stem} {at} {kind}", [[reply.text, reply.leaves, reply.acts] for reply in heard]


def compiled() -> list[str]:
    """The compiled modules of the package that is installed here."""
    package = importlib.import_module("tb_envs")
    found = (info.name for info in pkgutil.walk_packages(package.__path__, "tb_envs."))
    names = (name for name in found if name.startswith(("tb_envs.users", "tb_envs.grading", "tb_envs.actions")))
    return [name for name in names if str(importlib.import_module(name).__file__).endswith(".so")]


def digests() -> dict[str, Any]:
    """What both interpreters print: a hash for each episode and each talk."""
    parts = {
        name: hashlib.sha256(json.dumps(item, sort_keys=True).encode()).hexdigest()[:16]
        for part in (episodes, talks)
        for name, item in part()
    }
    return {"compiled": compiled(), "parts": parts}


def main(other: str) -> int:
    """Compare; 1 if anything differs, or if the other build is not compiled."""
    child = subprocess.Popen([other, __file__], stdout=subprocess.PIPE)
    mine, theirs = digests(), json.loads(child.communicate()[0] or "{}")
    if child.returncode or mine["compiled"] or not theirs["compiled"]:
        print("wanted: plain sources here, a compiled build there", mine["compiled"], theirs.get("compiled"))
        return 1
    names = {*mine["parts"], *theirs["parts"]}
    unlike = sorted(name for name in names if mine["parts"].get(name) != theirs["parts"].get(name))
    print(f"{len(theirs['compiled'])} compiled modules, {len(names)} episodes, talks and hashes, {len(unlike)} differ")
    print("\n".join(unlike[:20]))
    return 1 if unlike or not names else 0


if __name__ == "__main__":
    if len(sys.argv) > 1:
        raise SystemExit(main(sys.argv[1]))
    print(json.dumps(digests()))
