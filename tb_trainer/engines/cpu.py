"""The CPU engine: every rollout keeps its row of the KV cache from its first token to its last.

Rows that write go on together, one token each a step; rows that wait (a first prompt, a tool's result, the customer's
words) are fed as one padded chunk when half of the live rows wait, so nothing is ever read twice. Writing rows are kept
in front of the cache and waiting ones behind them: both are views, and a row that changes its state is moved, with
whatever order rows begin and end in. Refuses architectures that `tb_trainer.engines.decoder` does not know.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from tb_envs.errors import UsageError
from tb_trainer.engines import Key, Request, Sampling, Turn
from tb_trainer.engines.decoder import Decoder
from tb_trainer.engines.draws import draw, uniforms


class _State(IntEnum):
    """What a row does; also its place in the cache: writing rows first, unused ones last."""

    WRITING = 0
    WAITING = 1
    IDLE = 2


@dataclass(slots=True)
class _Row:
    """One rollout. `fed` are the ids whose keys and values are in the cache, `due` those that follow, unread."""

    key: Key
    state: _State = _State.IDLE
    fed: list[int] = field(default_factory=list[int])
    due: list[int] = field(default_factory=list[int])
    ids: list[int] = field(default_factory=list[int])
    logprobs: list[float] = field(default_factory=list[float])
    limit: int = 0


class CpuEngine:
    """Writes turns with a Qwen3-, Qwen2-, Llama- or Mistral-like model.

    Args:
        model: of transformers; its weights are read anew at `load`.
        sampling: how tokens are drawn.
        chunk: tokens fed at once at most, padding included; bounds the memory of a step.
    """

    def __init__(self, model: Any, sampling: Sampling, *, chunk: int = 32768) -> None:
        self.sampling, self.version = sampling, 0
        self._chunk = chunk
        self._decoder = Decoder(model)
        self._rows: list[_Row] = []
        self._by_key: dict[Key, _Row] = {}
        self._done: list[Turn] = []

    def load(self, model: Any) -> None:
        """Take the weights of `model`; all cached rows are forgotten.

        Raises:
            UsageError: turns are in flight.
        """
        if self._done or any(row.state != _State.IDLE for row in self._rows):
            raise UsageError("load new weights only when no turn is in flight")
        self._decoder.load(model)
        self._rows.clear()
        self._by_key.clear()
        self.version += 1

    def submit(self, request: Request) -> None:
        """Take a turn into work.

        Raises:
            UsageError: the key has a turn in flight, or the request has no tokens, no room, or ids out of range.
        """
        row = self._by_key.get(request.key)
        if row is not None and row.state != _State.IDLE:
            raise UsageError(f"{request.key} has a turn in flight already")
        ids = list(request.ids)
        if not ids or request.limit < 1:
            raise UsageError("a request needs at least one token to read and one to write")
        if len(ids) + request.limit > self._decoder.positions:
            raise UsageError(
                f"{len(ids)} tokens and {request.limit} new ones do not fit the model's {self._decoder.positions}"
            )
        kept = _common(row.fed, ids[:-1]) if row is not None else 0
        due = ids[kept:]
        if not 0 <= min(due) <= max(due) < self._decoder.vocabulary:
            raise UsageError(f"a token id is outside of the model's vocabulary of {self._decoder.vocabulary}")
        if row is None:
            row = self._by_key[request.key] = _Row(request.key)
            self._rows.append(row)
        row.fed, row.due = ids[:kept], due
        row.ids, row.logprobs, row.limit = [], [], request.limit
        row.state = _State.WAITING

    def poll(self, wait: float | None = None) -> list[Turn]:
        """Work until a turn is finished or `wait` is over, a step at least; see `tb_trainer.engines.Engine`."""
        until = None if wait is None else time.monotonic() + wait
        while not self._done:
            writing = sum(row.state == _State.WRITING for row in self._rows)
            waiting = sum(row.state == _State.WAITING for row in self._rows)
            if not writing and not waiting:
                return []
            self._arrange()
            if waiting >= max(writing, 1):
                self._read(writing, waiting)
            else:
                self._write(writing)
            if until is not None and time.monotonic() >= until:
                break
        done, self._done = self._done, []
        return done

    def release(self, key: Key) -> None:
        """Forget the key and its row."""
        row = self._by_key.pop(key, None)
        if row is not None:
            at, last = self._index(row), self._rows.pop()
            if last is not row:
                self._decoder.move(len(self._rows), at, len(last.fed))
                self._rows[at] = last
            self._done = [turn for turn in self._done if turn.key != key]

    # -- the two kinds of steps

    def _read(self, lo: int, count: int) -> None:
        """Feed the rows that wait, as many as a chunk holds, and draw the first token of each turn."""
        rows = self._rows[lo : lo + count]
        longest = taken = 0
        for row in rows:
            longest = max(longest, len(row.due))
            if taken and longest * (taken + 1) > self._chunk:
                break
            taken += 1
        rows = rows[:taken]
        self._feed(lo, rows, [row.due for row in rows])

    def _write(self, count: int) -> None:
        """One token further for each row that writes."""
        self._feed(0, self._rows[:count], [row.due for row in self._rows[:count]])

    def _feed(self, lo: int, rows: Sequence[_Row], due: Sequence[list[int]]) -> None:
        logits = self._decoder.feed(lo, due, [len(row.fed) for row in rows])
        places = [len(row.fed) + len(ids) for row, ids in zip(rows, due, strict=True)]
        numbers = uniforms([row.key for row in rows], places)
        chosen, logprobs = draw(logits, self.sampling, numbers)
        stop = self.sampling.stop
        for row, token, logprob in zip(rows, chosen, logprobs, strict=True):
            row.fed += row.due
            row.due = [token]
            row.ids.append(token)
            row.logprobs.append(logprob)
            row.state = _State.WRITING
            stopped = token in stop
            if stopped or len(row.ids) == row.limit:
                row.state = _State.IDLE
                self._done.append(Turn(row.key, row.ids, row.logprobs, "stop" if stopped else "length"))

    # -- the order of the rows

    def _arrange(self) -> None:
        """Put writing rows first and waiting ones after them."""
        order = sorted(self._rows, key=lambda row: row.state)
        for at, state in enumerate([row.state for row in order]):
            if self._rows[at].state != state:
                other = next(i for i in range(len(self._rows) - 1, at, -1) if self._rows[i].state == state)
                self._swap(at, other)

    def _swap(self, one: int, other: int) -> None:
        if one != other:
            rows = self._rows
            self._decoder.swap(one, other, (len(rows[one].fed), len(rows[other].fed)))
            rows[one], rows[other] = rows[other], rows[one]

    def _index(self, row: _Row) -> int:
        return next(at for at, other in enumerate(self._rows) if other is row)


def _common(one: Sequence[int], other: Sequence[int]) -> int:
    """How many first ids both share."""
    if one == other[: len(one)]:
        return len(one)
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
