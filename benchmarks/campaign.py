"""What a campaign costs beside its model: time per turn that is not the server's, CPU per turn, memory over attempts.

    python benchmarks/campaign.py [--concurrency 144] [--turns 5000] [--think 1.0]     overhead per turn
    python benchmarks/campaign.py --attempts 10000                                     and memory over so many attempts

A scripted server in a process of its own (`tests/chat_double.py`) plays reference solutions; each of its answers takes
half to one and a half of `--think` seconds and says how long it took. A turn is counted from the moment the agent is
asked to the next. What memory holds is what is resident without the pieces that the C allocator keeps free for the next
request: those grow by less and less for as long as talks of all lengths come and go, and are shown apart. Prints the
budget beside each figure and exits 1 if one is missed (``--no-check``). Timings need a quiet machine.
"""

from __future__ import annotations

import argparse
import asyncio
import contextvars
import ctypes
import gc
import importlib
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tb_envs.authoring.steps import Call
from tb_envs.endpoints import Endpoint
from tb_envs.episode import Episode, drive
from tb_envs.evaluation import chat
from tb_envs.evaluation.context import ContextRule
from tb_envs.evaluation.meter import Meter
from tb_envs.evaluation.pacing import Breaker, Gate
from tb_envs.evaluation.players import Answer, ModelPlayer, Seat
from tb_envs.evaluation.runner import Campaign, run_campaign
from tb_envs.evaluation.running import Running
from tb_envs.registration import load_domain
from tb_envs.settings import Settings
from tb_envs.task import get_task

BUDGETS: dict[str, tuple[str, float]] = {
    "overhead_ms_median": ("<=", 5.0),
    "growth_kib_per_1000_attempts": ("<=", 64.0),
    "lost_attempts": ("<=", 0),
}
DOUBLE = Path(__file__).parent.parent / "tests" / "chat_double.py"
_took: contextvars.ContextVar[float] = contextvars.ContextVar("took", default=0.0)


def rss_kib() -> int:
    """Resident memory of this process, in KiB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() // 1024


class _Mallinfo(ctypes.Structure):
    """`mallinfo2` of the GNU C library: see mallinfo(3)."""

    _names = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"
    _fields_ = [(name, ctypes.c_size_t) for name in _names.split()]


def free_kib() -> int:
    """What the C allocator keeps free, in KiB; 0 where it does not say."""
    try:
        ask = ctypes.CDLL(None).mallinfo2
    except AttributeError:
        return 0
    ask.restype = _Mallinfo
    return ask().fordblks // 1024


def slope(points: list[tuple[int, int]]) -> float:
    """Growth per 1,000 attempts: the straight line of least squares through (attempts, KiB)."""
    return round(1000 * statistics.linear_regression(*zip(*points, strict=True)).slope, 1)


def tasks_of(domain: str, count: int) -> list[str]:
    """The bench tasks with the shortest solutions whose customers begin in words of their own."""
    ids = load_domain(domain).suite_ids["bench"]
    ids = sorted(ids, key=lambda key: sum(isinstance(step, Call) for step in get_task(key).scenario.solution))
    found: dict[tuple[str, str], str] = {}
    for task_id in ids:
        episode = Episode()
        found.setdefault((drive(episode.reset(task_id)), episode.instructions), task_id)
        episode.close()
    return list(found.values())[:count]


@contextmanager
def double(ids: list[str], think: float) -> Iterator[str]:
    """The address of a scripted server in its own process."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, str(DOUBLE), "--think", str(think), "--tasks", *ids]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as server:
        try:
            assert server.stdout is not None
            yield server.stdout.readline().strip()
        finally:
            server.kill()


class TimedPlayer(ModelPlayer):
    """A player whose seats tell how long a turn took beside the server."""

    def __init__(self, model: chat.ChatModel, timed: bool) -> None:
        super().__init__(model, ContextRule())
        self.timed = timed  # without it nothing here grows
        self.turns = 0
        self.overheads: list[float] = []

    def sit(self, episode: Episode, observation: str, seed: int, meter: Meter) -> Seat:
        """A timed seat."""
        return TimedSeat(self, super().sit(episode, observation, seed, meter))


class TimedSeat:
    """One attempt, timed from turn to turn."""

    dropped = 0

    def __init__(self, player: TimedPlayer, seat: Seat) -> None:
        self._player, self._seat = player, seat
        self._asked = 0.0

    async def act(self, observation: str) -> Answer:
        """The seat's turn."""
        now = time.perf_counter()
        if self._asked and self._player.timed:
            self._player.overheads.append(now - self._asked - _took.get())
        self._asked = now
        self._player.turns += 1
        return await self._seat.act(observation)


async def _ask(endpoint: Endpoint, body: Mapping[str, Any]) -> Any:
    answer = await _plain_ask(endpoint, body)
    _took.set(answer.message.get("took", 0.0))
    return answer


_plain_ask = chat.ask


def measure(ids: list[str], attempts: int, *, think: float, concurrency: int, folder: Path) -> dict[str, float]:
    """One campaign against the double."""
    memory: list[tuple[int, int, int]] = []

    class Watched(Running):
        def add(self, row: Mapping[str, Any]) -> None:
            super().add(row)
            if not think and self.done % 100 == 0:
                gc.collect()
                memory.append((self.done, rss_kib(), free_kib()))

    running = Watched(len(ids) * attempts)
    chat.ask = _ask
    with double(ids, think) as url:
        breaker = Breaker(20, len(ids))
        endpoint = Endpoint("double", url, deadline=60.0)
        player = TimedPlayer(chat.ChatModel(endpoint, Gate(concurrency), breaker), timed=think > 0)
        campaign = Campaign(
            *(folder, ids, attempts, player, Settings(), breaker, lambda part, tokens: 0.0),
            agent={"name": "double", "kind": "chat", "sampling": {}},
            concurrency=concurrency,
        )
        importlib.import_module("openai")  # a second that is paid once and is no turn's
        gc.collect()
        cpu, began = time.process_time(), time.perf_counter()
        asyncio.run(run_campaign(campaign, running))
        cpu, wall = time.process_time() - cpu, time.perf_counter() - began
    figures = {
        "attempts": running.done,
        "lost_attempts": running.total - running.passed,
        "turns": player.turns,
        "wall_s": round(wall, 1),
        "cpu_ms_per_turn": round(1000 * cpu / player.turns, 3),
        "turns_per_second": round(player.turns / wall, 1),
    }
    if think:
        quantiles = statistics.quantiles(player.overheads, n=20)
        figures |= {
            "overhead_ms_median": round(1000 * statistics.median(player.overheads), 3),
            "overhead_ms_p95": round(1000 * quantiles[-1], 3),
        }
    full = [point for point in memory if running.total // 4 <= point[0] <= running.total - 2 * concurrency]
    if len(full) >= 8:  # neither while the first attempts are begun nor while the last ones end
        figures |= {"rss_mib": round(full[-1][1] / 1024, 1), "free_mib": round(full[-1][2] / 1024, 1)}
        figures |= {"rss_growth_kib_per_1000_attempts": slope([(done, rss) for done, rss, _ in full])}
        figures |= {"growth_kib_per_1000_attempts": slope([(done, rss - free) for done, rss, free in full])}
    return figures


def main() -> int:
    """Measure, print, compare with the budgets."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--domain", default="hotel")
    parser.add_argument("--concurrency", type=int, default=144)
    parser.add_argument("--turns", type=int, default=5000, help="turns of the overhead measurement, about")
    parser.add_argument("--think", type=float, default=1.0, help="seconds that an answer takes there")
    parser.add_argument("--attempts", type=int, default=0, help="attempts of the memory measurement (default: none)")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--no-check", action="store_true", help="exit 0 whatever the figures")
    options = parser.parse_args()
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        ids = tasks_of(options.domain, 24)
        if options.turns:
            rounds = max(1, round(options.turns / 10 / len(ids)))
            figures |= measure(
                ids, rounds, think=options.think, concurrency=options.concurrency, folder=Path(folder, "overhead")
            )
        if options.attempts:
            rounds = max(1, round(options.attempts / len(ids)))
            found = measure(ids, rounds, think=0.0, concurrency=options.concurrency, folder=Path(folder, "memory"))
            figures |= {name if name in BUDGETS else f"memory_{name}": value for name, value in found.items()}
    missed = [name for name, (_, most) in BUDGETS.items() if figures.get(name, most) > most]
    if options.json:
        print(json.dumps({**figures, "missed": missed}, indent=2))
    else:
        for name, value in figures.items():
            budget = f"   budget {' '.join(map(str, BUDGETS[name]))}" if name in BUDGETS else ""
            print(f"{name:34} {value:>12}{budget}{'   MISSED' if name in missed else ''}")
    return 1 if missed and not options.no_check else 0


if __name__ == "__main__":
    sys.exit(main())
