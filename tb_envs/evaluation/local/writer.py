"""Writes the turns of many attempts with one model, in a thread of its own: what waits is read, what writes goes on.

A prompt is read in blocks of `BLOCK` tokens, near its end of `SMALL` ones, a block between two steps of those that
write. Blocks are kept by the tokens up to their end, so what several attempts or turns begin with is read once. A step
writes one token for each open turn, in a sequence that always has `width` places. So every computation has a shape and
an order that only the turn's own tokens decide: the same prompt and seed give the same turn, alone or among others.
(In a mixture of experts the tokens of others share an expert's product, which may differ in its last bits.)
Refuses to know text, tasks and campaigns.
"""

from __future__ import annotations

import hashlib
import queue
import threading
import time
from array import array
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from typing import Any

from tb_envs.evaluation.local.draws import draw
from tb_envs.evaluation.local.options import Options
from tb_envs.evaluation.local.ragged import Part, Ragged, Row, Stored

BLOCK = 512
"""Tokens read at once."""
SMALL = 64
"""Tokens read at once where fewer than `BLOCK` are left: the next turn's prompt begins with most of these."""
KEPT = 0.25
"""Of the memory that is free at the beginning, the part that kept blocks may take."""


@dataclass(frozen=True)
class Turn:
    """A written turn.

    Attributes:
        ids: its tokens; the one that ended it is the last.
        ended: whether the model ended it itself.
        waited: seconds until it was begun.
        kept: tokens of its prompt that were not read anew; what this is depends on who came before.
    """

    ids: list[int]
    ended: bool
    waited: float
    kept: int


@dataclass
class Job:
    """A turn that is being written."""

    ids: Sequence[int]
    most: int
    seed: int
    future: Future[Turn] = field(default_factory=Future[Turn])
    asked: float = field(default_factory=time.perf_counter)
    waited: float = 0.0
    row: Row = field(default_factory=Row)
    kept: int = 0
    chain: bytes = b""
    out: list[int] = field(default_factory=list[int])
    rng: Random = field(default_factory=Random)

    def __post_init__(self) -> None:
        self.rng.seed(self.seed)


class Blocks:
    """Kept keys and values, by the tokens up to their end; the longest unused go first.

    Args:
        room: bytes that they may take.
    """

    def __init__(self, room: int) -> None:
        self._room, self._taken = room, 0
        self._kept: OrderedDict[bytes, Stored] = OrderedDict()

    def find(self, name: bytes) -> Stored | None:
        """A block, if it is kept."""
        found = self._kept.get(name)
        if found is not None:
            self._kept.move_to_end(name)
        return found

    def keep(self, name: bytes, row: Row, start: int, end: int) -> None:
        """Keep some places of a row."""
        block = row.copy(start, end)
        if block.bytes > self._room:
            return
        self._kept[name] = block
        self._taken += block.bytes
        while self._taken > self._room:
            self._taken -= self._kept.popitem(last=False)[1].bytes

    def clear(self) -> None:
        """Forget all."""
        self._kept.clear()
        self._taken = 0


class Writer:
    """A model at work.

    Args:
        model: how it computes.
        options: how tokens are drawn, and how many turns are written at a time.
        stops: ids that end a turn.
        room: bytes for blocks that are kept; None for a part of what is free.
    """

    def __init__(self, model: Ragged, options: Options, stops: Sequence[int], room: int | None = None) -> None:
        self._model, self._options, self._stops = model, options, frozenset(stops)
        self._blocks = Blocks(int(KEPT * _free(model.model.device)) if room is None else room)
        self._queue: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._slots: list[Job | None] = [None] * options.width
        self._thread = threading.Thread(target=self._run, name="local-model", daemon=True)
        self._thread.start()

    def submit(self, ids: Sequence[int], most: int, seed: int) -> Future[Turn]:
        """Have a turn written, of so many tokens at most; cancelling the future gives it up."""
        job = Job(ids, most, seed)
        self._queue.put(job)
        return job.future

    def close(self) -> None:
        """Give up what is being written, and end the thread."""
        self._queue.put(None)
        self._thread.join()

    # -- in the thread

    def _run(self) -> None:
        while self._admit():
            try:
                for job in filter(None, self._slots):
                    if job.row.length < len(job.ids):
                        self._read(job)
                        break  # one at a time: those behind it often begin with the same blocks
                if any(job is not None and job.out for job in self._slots):
                    self._write()
            except Exception as error:  # out of memory, a broken model: whatever it is, these turns are lost
                self._blocks.clear()
                self._fail(error)
        self._fail(RuntimeError("the model was closed"))

    def _admit(self) -> bool:
        """Drop what was given up and fill free slots, waiting if there is nothing to do; false at the end."""
        self._slots = [None if job is None or job.future.done() else job for job in self._slots]
        while None in self._slots:
            idle = not any(self._slots)
            try:
                job = self._queue.get(block=idle)
            except queue.Empty:
                return True
            if job is None:
                return False
            if not job.future.done():
                job.waited = time.perf_counter() - job.asked
                self._slots[self._slots.index(None)] = job
        return True

    def _read(self, job: Job) -> None:
        """Read the next block of a prompt; with the last one, the turn's first token is drawn."""
        while True:
            start = job.row.length
            left = len(job.ids) - start
            size = BLOCK if left > BLOCK else SMALL
            end, whole = min(start + size, len(job.ids)), left > size  # the last token is always read, for its logits
            name = hashlib.sha256(job.chain + array("q", job.ids[start:end]).tobytes()).digest()
            found = self._blocks.find(name) if whole else None
            if found is None:
                break
            job.row.append(found)
            job.chain, job.kept = name, end
        logits = self._model.feed(job.ids[start:end], [Part(job.row, 0, end - start)], last=True)
        if whole:
            self._blocks.keep(name, job.row, start, end)
            job.chain = name
        if end == len(job.ids):
            self._take(job, logits[-1])

    def _write(self) -> None:
        """One token further for each open turn."""
        open_ = [(place, job) for place, job in enumerate(self._slots) if job is not None and job.out]
        ids = [0] * len(self._slots)
        for place, job in open_:
            ids[place] = job.out[-1]
        logits = self._model.feed(ids, [Part(job.row, place, 1) for place, job in open_], last=False)
        for place, job in open_:
            self._take(job, logits[place])

    def _take(self, job: Job, logits: Any) -> None:
        """Draw a token, and end the turn with it where it ends."""
        try:
            token = draw(logits, self._options, job.rng)
        except ValueError as error:
            _set(job.future, error=error)
            return self._free_slot(job)
        job.out.append(token)
        if token in self._stops or len(job.out) == job.most:
            _set(job.future, Turn(job.out, token in self._stops, job.waited, job.kept))
            self._free_slot(job)

    def _free_slot(self, job: Job) -> None:
        self._slots[next(place for place, other in enumerate(self._slots) if other is job)] = None

    def _fail(self, error: Exception) -> None:
        """All turns that are open are lost."""
        for job in filter(None, self._slots):
            _set(job.future, error=error)
        self._slots = [None] * len(self._slots)


def _set(future: Future[Turn], turn: Turn | None = None, error: Exception | None = None) -> None:
    with suppress(InvalidStateError):  # it was given up in this moment
        if error is not None or turn is None:
            future.set_exception(error or RuntimeError("no turn"))
        else:
            future.set_result(turn)


def _free(device: Any) -> int:
    """Free memory of a device, in bytes."""
    import os

    import torch

    if device.type == "cuda":
        return int(torch.cuda.mem_get_info(device)[0])
    return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
