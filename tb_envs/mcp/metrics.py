"""What a server counts, as Prometheus text. Refuses to count outcomes: an agent may read it, and must learn nothing."""

from __future__ import annotations

import resource
from collections import Counter
from collections.abc import Iterator

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 30.0)
"""Upper bounds of the histogram of tool calls, in seconds."""
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """Counters of one server.

    Attributes:
        started: sessions by mode.
        ended: sessions by how they ended: ``deleted``, ``idle``, ``drained``, ``unclaimed`` (who asked was gone).
        refused: openings by reason: ``full``, ``draining``, ``invalid``, ``broken``.
        calls: tool calls by result: ``ok``, ``error`` (what the agent reads), ``system``.
        replayed: answers that were asked for again by their key.
        reaped: silent connections that were closed.
        lag: seconds that the event loop was late, when last measured.
    """

    def __init__(self) -> None:
        self.started: Counter[str] = Counter()
        self.ended: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.calls: Counter[str] = Counter()
        self.replayed = 0
        self.reaped = 0
        self.lag = 0.0
        self._seconds = 0.0
        self._buckets = [0] * (len(BUCKETS) + 1)

    def called(self, result: str, seconds: float) -> None:
        """Count a tool call."""
        self.calls[result] += 1
        self._seconds += seconds
        self._buckets[next((place for place, bound in enumerate(BUCKETS) if seconds <= bound), len(BUCKETS))] += 1

    def text(self, live: int, most: int, connections: int) -> str:
        """Everything, in the text format.

        Args:
            live: sessions.
            most: sessions that may be live.
            connections: open ones.
        """
        usage = resource.getrusage(resource.RUSAGE_SELF)
        lines = [
            *_one("tbx_sessions_live", "gauge", "sessions that are open", live),
            *_one("tbx_sessions_max", "gauge", "sessions that may be open", most),
            *_one("tbx_connections", "gauge", "open HTTP connections", connections),
            *_one("tbx_event_loop_lag_seconds", "gauge", "how late the event loop was", round(self.lag, 6)),
            *_one("tbx_cpu_seconds_total", "counter", "CPU time", round(usage.ru_utime + usage.ru_stime, 3)),
            *_one("tbx_memory_peak_bytes", "gauge", "largest resident memory so far", usage.ru_maxrss * 1024),
            *_one("tbx_answers_replayed_total", "counter", "answers asked for again", self.replayed),
            *_one("tbx_connections_reaped_total", "counter", "silent connections closed", self.reaped),
            *_many("tbx_sessions_started_total", "mode", "sessions opened", self.started),
            *_many("tbx_sessions_ended_total", "how", "sessions that ended", self.ended),
            *_many("tbx_sessions_refused_total", "why", "sessions not opened", self.refused),
            *_many("tbx_tool_calls_total", "result", "tool calls", self.calls),
            *self._histogram(),
        ]
        return "\n".join(lines) + "\n"

    def _histogram(self) -> Iterator[str]:
        name = "tbx_tool_call_seconds"
        yield f"# HELP {name} seconds of a tool call in the server"
        yield f"# TYPE {name} histogram"
        below = 0
        for bound, count in zip((*map(str, BUCKETS), "+Inf"), self._buckets, strict=True):
            below += count
            yield f'{name}_bucket{{le="{bound}"}} {below}'
        yield f"{name}_sum {self._seconds:.6f}"
        yield f"{name}_count {below}"


def _one(name: str, kind: str, about: str, value: float) -> Iterator[str]:
    yield f"# HELP {name} {about}"
    yield f"# TYPE {name} {kind}"
    yield f"{name} {value}"


def _many(name: str, label: str, about: str, counts: Counter[str]) -> Iterator[str]:
    yield f"# HELP {name} {about}"
    yield f"# TYPE {name} counter"
    for value, count in sorted(counts.items()):
        yield f'{name}{{{label}="{value}"}} {count}'
