"""How fast an episode is, over a domain's whole suite in shuffled order: medians, first visits apart, memory, scale.

    python benchmarks/episodes.py --domain hotel [--json]

Reference episodes are played through the async core with the embedded backend and the scripted customer; calls are
timed one by one where they happen. Prints the budget beside each figure and exits 1 if one is missed (``--no-check``).
Timings need a quiet machine.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import resource
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tb_envs.agents import make_agent
from tb_envs.authoring.rng import Rng
from tb_envs.episode import Episode, drive
from tb_envs.play import play
from tb_envs.registration import load_domain
from tb_envs.users.customer import Customer

BUDGETS: dict[str, tuple[str, float]] = {
    "reset_us": ("<=", 150),
    "first_visit_us": ("<=", 2000),
    "read_call_us": ("<=", 100),
    "write_call_us": ("<=", 200),
    "user_reply_us": ("<=", 200),
    "verdict_us": ("<=", 200),
    "episodes_per_second": (">=", 500),
    "kib_per_live_episode": ("<=", 1.2 * 1024),
    "burst_1000_resets_s": ("<=", 1.0),
    "burst_failures": ("<=", 0),
    "import_s": ("<=", 0.3),
    "leaked_fds": ("<=", 0),
    "leaked_threads": ("<=", 0),
    "growth_kib_per_1000_episodes": ("<=", 64),
}


def rss_kib() -> int:
    """Resident memory of this process, in KiB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() // 1024


class Timed:
    """Wraps parts of an episode with clocks."""

    def __init__(self) -> None:
        self.samples: dict[str, list[float]] = {}

    def add(self, name: str, seconds: float) -> None:
        """Keep one sample, in microseconds."""
        self.samples.setdefault(name, []).append(seconds * 1e6)

    def around(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """`function`, timed."""

        def timed(*args: Any, **kwargs: Any) -> Any:
            start = time.perf_counter()
            out = function(*args, **kwargs)
            self.add(name, time.perf_counter() - start)
            return out

        return timed

    def median(self, name: str) -> float:
        """Median of a figure."""
        return statistics.median(self.samples[name])


class TimedCustomer:
    """A customer's answers, timed; it stands before the customer, because a compiled one takes no new attributes."""

    def __init__(self, user: Customer, timed: Timed) -> None:
        self.opening, self.reply = user.opening, timed.around("user_reply", user.reply)


def measure_parts(ids: list[str], passes: int) -> dict[str, float]:
    """Medians of resets, calls, replies and verdicts over shuffled passes through the suite."""
    timed, rng = Timed(), Rng("benchmark")
    for task_id in rng.shuffled(ids):
        episode = Episode()
        start = time.perf_counter()
        drive(episode.reset(task_id))
        timed.add("first_visit", time.perf_counter() - start)
        episode.close()
    domain = load_domain(ids[0].split("/")[0])
    effects = {name: tool.effect for name, tool in domain.tools.items()}
    agent = make_agent("reference")
    for _ in range(passes):
        for task_id in rng.shuffled(ids):
            _one_timed_episode(task_id, agent, effects, timed)
    return {f"{name}_us": round(timed.median(name), 1) for name in sorted(timed.samples)}


def _one_timed_episode(task_id: str, agent: Any, effects: dict[str, str], timed: Timed) -> None:
    episode = Episode()
    start = time.perf_counter()
    observation = drive(episode.reset(task_id))
    timed.add("reset", time.perf_counter() - start)
    assert episode.backend is not None
    call, end = episode.backend.call, episode._end
    episode.user = TimedCustomer(episode.user, timed)
    episode._end = timed.around("verdict", end)

    async def timed_call(tool: str, arguments: Any) -> Any:
        start = time.perf_counter()
        out = await call(tool, arguments)
        timed.add(f"{effects.get(tool, 'session')}_call", time.perf_counter() - start)
        return out

    episode.backend.call = timed_call  # type: ignore[method-assign]
    agent.start(episode, observation)
    while not episode.over:
        observation = drive(episode.act(agent.act(observation)))
    assert episode.outcome == "success", (task_id, episode.outcome)
    episode.close()


def measure_rate(ids: list[str], passes: int) -> float:
    """Whole reference episodes per second on one core, best of the passes."""
    agent, episode, rates = make_agent("reference"), Episode(), list[float]()
    rng = Rng("rate")
    for _ in range(passes):
        order = rng.shuffled(ids)
        start = time.perf_counter()
        for task_id in order:
            play(task_id, agent, episode=episode)
        rates.append(len(ids) / (time.perf_counter() - start))
    return max(rates)


def measure_live(ids: list[str], count: int = 1000) -> dict[str, float]:
    """Memory per live episode and the time of a burst of resets, all kept open."""
    gc.collect()
    before, failures, live = rss_kib(), 0, list[Episode]()
    start = time.perf_counter()
    for number in range(count):
        episode = Episode()
        try:
            drive(episode.reset(ids[number % len(ids)]))
        except Exception:
            failures += 1
        live.append(episode)
    seconds = time.perf_counter() - start
    used = (rss_kib() - before) / count
    for episode in live:
        episode.close()
    return {
        "burst_1000_resets_s": round(seconds, 3),
        "burst_failures": failures,
        "kib_per_live_episode": round(used, 1),
    }


def measure_leaks(ids: list[str], count: int) -> dict[str, float]:
    """File descriptors, threads and memory over many episodes, after the first thousand."""
    agent, rng = make_agent("reference"), Rng("leaks")

    def some(number: int) -> None:
        for _ in range(number):
            play(rng.pick(*ids), agent)

    some(1000)
    gc.collect()
    fds, threads, memory = len(os.listdir("/proc/self/fd")), threading.active_count(), rss_kib()
    some(count - 1000)
    gc.collect()
    return {
        "leaked_fds": len(os.listdir("/proc/self/fd")) - fds,
        "leaked_threads": threading.active_count() - threads,
        "growth_kib_per_1000_episodes": round((rss_kib() - memory) / (count - 1000) * 1000, 1),
    }


def measure_import() -> float:
    """Seconds that `import tb_envs` costs beyond gymnasium, in a new process; best of three."""
    code = "import time, gymnasium; t = time.perf_counter(); import tb_envs; print(time.perf_counter() - t)"
    return round(min(float(subprocess.check_output([sys.executable, "-P", "-c", code])) for _ in range(3)), 3)


def main() -> int:
    """Measure, print, compare with the budgets."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--domain", default="hotel")
    parser.add_argument("--passes", type=int, default=5, help="passes over the suite")
    parser.add_argument("--episodes", type=int, default=10_000, help="episodes of the leak measurement")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--no-check", action="store_true", help="exit 0 whatever the figures")
    options = parser.parse_args()
    domain = load_domain(options.domain)
    ids = [task_id for split in domain.suite_ids.values() for task_id in split]
    start = time.perf_counter()
    _ = domain.image, domain.tool_definitions
    figures: dict[str, float] = {"seed_image_s": round(time.perf_counter() - start, 3)}
    figures |= {"image_kib": len(domain.image) // 1024, "tasks": len(ids)}
    figures |= measure_parts(ids, options.passes)
    figures["episodes_per_second"] = round(measure_rate(ids, options.passes), 1)
    figures |= measure_live(ids)
    figures |= measure_leaks(ids, options.episodes)
    figures["import_s"] = measure_import()
    missed = [
        name
        for name, (sign, bound) in BUDGETS.items()
        if not (figures[name] <= bound if sign == "<=" else figures[name] >= bound)
    ]
    if options.json:
        print(json.dumps({**figures, "missed": missed}))
    else:
        for name, value in figures.items():
            sign, bound = BUDGETS.get(name, ("", 0))
            budget = f"{sign} {bound:g}{'  MISSED' if name in missed else ''}" if sign else ""
            print(f"{name:32} {value:>12,.1f}  {budget}" if value > 5 else f"{name:32} {value:>12,.3f}  {budget}")
    return 1 if missed and not options.no_check else 0


if __name__ == "__main__":
    raise SystemExit(main())
