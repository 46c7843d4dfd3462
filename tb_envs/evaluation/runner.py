"""A campaign: every task so often, many attempts at a time in one event loop, each finished one a row at once.

Attempts are taken round by round, so that a campaign that is stopped has tried all tasks alike. A system error sends
the attempt back to be tried again later, on a fresh backend, while others go on; after `retries` it is recorded as what
it is. Nothing that was finished is played again, and nothing is kept in memory of a finished attempt but its counts.
Refuses to read the command line and to show anything: who wants to see hears of each row.
"""

from __future__ import annotations

import asyncio
import heapq
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from tb_envs.actions import parse_action
from tb_envs.authoring.rng import stable_seed
from tb_envs.costs import PARTS, Part
from tb_envs.episode import Episode
from tb_envs.errors import UsageError
from tb_envs.evaluation.context import ContextRule
from tb_envs.evaluation.manifest import content_hash
from tb_envs.evaluation.meter import Meter
from tb_envs.evaluation.pacing import LONGEST, Breaker, CampaignStopped, Gate, OneTask
from tb_envs.evaluation.players import AgentBroke, Answer, Player
from tb_envs.evaluation.rows import FILE, Appender, Key, build_row, read_rows
from tb_envs.evaluation.running import Running
from tb_envs.evaluation.tally import played_of
from tb_envs.openai_client import close_clients
from tb_envs.settings import Settings
from tb_envs.task import Task, get_task

Price = Callable[[str, Mapping[str, int] | None], float | None]
"""Dollars of ``agent``, ``user`` or ``judge`` for these tokens; None where that is unknown."""


class Attempted(Episode):
    """An episode that its player's end can end."""

    async def end(self, by: str) -> None:
        """End the talk for this reason and judge what the records say."""
        self._end(by)
        await self.finish()  # where a judge has to be asked

    def break_off(self, error: Exception) -> None:
        """End it without a verdict, because the agent's endpoint or model broke."""
        self._fail("agent", error)


@dataclass
class Campaign:
    """What is played, and how.

    Attributes:
        folder: where it is kept.
        tasks: ids, in the order of play.
        attempts: at each task.
        player: the agent.
        settings: of the episodes.
        seed: of the campaign.
        context: the rule for long talks, for the record; the player applies it.
        concurrency: attempts at a time.
        retries: new tries after a system error.
        first_wait: seconds before the first new try, doubled each time.
        breaker: stops the campaign after too many failures in a row.
        price: of tokens.
        agent: what the manifest says of the agent; each row keeps its name, kind and sampling.
        retry_errors: play attempts again that are recorded as system errors.
    """

    folder: Path
    tasks: Sequence[str]
    attempts: int
    player: Player
    settings: Settings
    breaker: Breaker
    price: Price
    agent: Mapping[str, Any]
    seed: int = 0
    context: ContextRule = field(default_factory=ContextRule)
    concurrency: int = 8
    retries: int = 3
    first_wait: float = 1.0
    retry_errors: bool = False
    gates: Mapping[Part, Gate] = field(init=False)
    """What requests to the models of customer and judge pass, in all attempts together."""

    def __post_init__(self) -> None:
        self.gates = {part: Gate(self.concurrency, self.first_wait / 2) for part in PARTS}


class Job:
    """One attempt on its way: how often it was tried, and what that took."""

    __slots__ = ("attempt", "meter", "spent", "task_id", "tries")

    def __init__(self, key: Key, calls_model: bool | None) -> None:
        self.task_id, self.attempt = key
        self.tries = 0
        self.meter = Meter(self.task_id, calls_model)
        self.spent = 0.0
        """Seconds of all tries."""


class _Work:
    """What is still to be played: fresh attempts in their order, and those that are to be tried again at a time."""

    def __init__(self, fresh: Iterator[Job]) -> None:
        self._fresh = fresh
        self._later: list[tuple[float, int, Job]] = []
        self._number = count()
        self._out = 0
        self._changed = asyncio.Condition()

    async def take(self) -> Job | None:
        """The next attempt; None when all are done."""
        async with self._changed:
            while True:
                now = time.monotonic()
                job = heapq.heappop(self._later)[2] if self._later and self._later[0][0] <= now else None
                job = job or next(self._fresh, None)
                if job is not None:
                    self._out += 1
                    return job
                if not self._later and not self._out:
                    return None
                with suppress(TimeoutError):
                    wait = self._later[0][0] - now if self._later else None
                    await asyncio.wait_for(self._changed.wait(), wait)

    async def done(self, again: tuple[Job, float] | None = None) -> None:
        """One attempt is finished, or to be tried again after so many seconds."""
        async with self._changed:
            self._out -= 1
            if again is not None:
                job, wait = again
                heapq.heappush(self._later, (time.monotonic() + wait, next(self._number), job))
            self._changed.notify_all()


async def run_campaign(campaign: Campaign, running: Running) -> None:
    """Play what is not finished yet, and write a row for each attempt.

    Args:
        campaign: what to play; its folder already holds the manifest.
        running: hears of each row, those of earlier runs first.

    Raises:
        CampaignStopped: too many failures in a row.
        RowNotKept: the disk is full, or the folder was removed.
        UsageError: another process writes this campaign, a row there is none of it, or the agent's own function is at
            fault.
    """
    appender = Appender(campaign.folder / FILE)
    _tell_waits(campaign, running)
    try:
        done = _finished(campaign, running)
        calls_model = campaign.player.calls_model
        fresh = (Job(key, calls_model) for key in _planned(campaign) if key not in done)
        await _play_all(campaign, _Work(fresh), appender, running)
        appender.sync()
    finally:
        appender.close()
        await campaign.player.close()
        await close_clients()


def _tell_waits(campaign: Campaign, running: Running) -> None:
    """Have the progress say so where a model beside the agent's makes all wait."""
    agents = running.notice
    names: Mapping[Part, str] = {"user": "the customer's model", "judge": "the judge"}

    def notice() -> str:
        others = ((names[part], gate.notice()) for part, gate in campaign.gates.items())
        return agents() or next((f"{name}: {words}" for name, words in others if words), "")

    running.notice = notice


def _planned(campaign: Campaign) -> Iterator[Key]:
    """All attempts, round by round."""
    return ((task_id, attempt) for attempt in range(campaign.attempts) for task_id in campaign.tasks)


def _finished(campaign: Campaign, running: Running) -> set[Key]:
    """The attempts that need not be played.

    Raises:
        UsageError: a row is none of this campaign; told before anything is played.
    """
    done: set[Key] = set()
    rows, planned = read_rows(campaign.folder), set(campaign.tasks)
    for row in rows:
        if strange := _strange(campaign, planned, row):
            place = rows.places[row["task_id"], row["attempt"]]
            where = f"{rows.path}:{place.number}"
            raise UsageError(f"{where} is no row of this campaign: {strange}. Remove the line, or name another --out")
        if campaign.retry_errors and row["outcome"].startswith("error:"):
            continue
        done.add((row["task_id"], row["attempt"]))
        running.add(row)
    running.begin()
    running.playing = True
    return done


def _strange(campaign: Campaign, planned: set[str], row: Mapping[str, Any]) -> str:
    """Why a row does not belong to a campaign; empty where it does."""
    task_id, attempt = row["task_id"], row["attempt"]
    if task_id not in planned:
        return f"it is of {task_id}, which is not among its tasks"
    if attempt >= campaign.attempts:
        return f"it is attempt {attempt} at {task_id}, and there are {campaign.attempts}, counted from 0"
    today = get_task(task_id, campaign.settings.knobs).hash
    if row["task_hash"] != today:
        return f"it was played at another content of {task_id} ({row['task_hash'][:12]}, now {today[:12]})"
    try:
        played_of(row)
    except UsageError as error:
        return str(error)
    return ""


async def _play_all(campaign: Campaign, work: _Work, appender: Appender, running: Running) -> None:
    """Let the workers play until all is done, one of them fails, or the breaker trips."""
    workers = [asyncio.create_task(_worker(campaign, work, appender, running)) for _ in range(campaign.concurrency)]
    tripped = asyncio.create_task(campaign.breaker.tripped.wait())
    try:
        pending: set[asyncio.Task[Any]] = set(workers)
        while pending and not tripped.done():
            ended, _ = await asyncio.wait({*pending, tripped}, return_when=asyncio.FIRST_COMPLETED)
            pending -= ended
            for worker in ended:
                worker.result()
        if tripped.done():
            raise CampaignStopped(campaign.breaker.words)
    finally:
        for task in (*workers, tripped):
            task.cancel()
        await asyncio.wait([*workers, tripped])
        for task in workers:  # one failure is told; that of others at the same moment is the same one
            if not task.cancelled():
                task.exception()


async def _worker(campaign: Campaign, work: _Work, appender: Appender, running: Running) -> None:
    while (job := await work.take()) is not None:
        again: tuple[Job, float] | None = None
        row = await _try(campaign, job)
        if row is None:
            again = job, min(LONGEST, campaign.first_wait * 2 ** (job.tries - 1))
        else:
            appender.append(row)
            running.add(row)
        await work.done(again)
        await asyncio.sleep(0)  # agents that never wait would keep the loop to themselves


async def _try(campaign: Campaign, job: Job) -> dict[str, Any] | None:
    """Play an attempt once; its row, or None if it is to be tried again."""
    task = get_task(job.task_id, campaign.settings.knobs)
    seed = stable_seed(campaign.seed, job.task_id, job.attempt)
    began = time.perf_counter()
    job.meter.next_try()
    episode = Attempted(campaign.settings)
    episode.paces = {part: OneTask(gate, job.task_id) for part, gate in campaign.gates.items()}
    try:
        dropped = await _play(campaign, job, task, episode, seed)
    finally:
        episode.close()
        job.meter.book(episode.costs)
        job.spent += time.perf_counter() - began
    part = episode.outcome.partition("error:")[2]
    if part:
        campaign.breaker.failed(episode.outcome, job.task_id, episode.error)
        job.tries += 1
        if job.tries <= campaign.retries:
            return None
    else:
        campaign.breaker.fine()
    meter = job.meter
    tokens = meter.tokens()
    return build_row(
        episode,
        attempt=job.attempt,
        seed=seed,
        agent=campaign.agent,
        meter=meter,
        context={**campaign.context.to_json(), "dropped": dropped},
        tools_hash=_tools_hash(task),
        cost=_cost(campaign, meter, tokens),
        retries=job.tries - bool(part),
        seconds=meter.seconds(job.spent),
    )


async def _play(campaign: Campaign, job: Job, task: Task, episode: Attempted, seed: int) -> int:
    """Play an episode to its end; how many tool results the rule for long talks left out."""
    meter = job.meter
    observation = await _timed(meter, episode, episode.reset(task, attempt=job.attempt + job.tries * campaign.attempts))
    if episode.over:
        return 0
    seat = campaign.player.sit(episode, observation, seed, meter)
    while not episode.over:
        try:
            answer = await seat.act(observation)
        except AgentBroke as error:
            episode.break_off(error)
            break
        if answer.finish:
            meter.finished(len(episode.messages), answer.finish)
        if answer.ends:
            if answer.written:
                meter.ended_by(len(episode.messages), answer.written, answer.thought)
            await _timed(meter, episode, episode.end(answer.ends))
            break
        observation = await _take(meter, episode, answer)
    return seat.dropped


async def _take(meter: Meter, episode: Attempted, answer: Answer) -> str:
    """Give the episode a turn; returns what the agent reads next."""
    turn = parse_action(answer.action)
    if turn.problem or any(call.problem for call in turn.calls):
        meter.could_not_read(len(episode.messages), answer.written, answer.thought)
    return await _timed(meter, episode, episode.act(turn))


async def _timed(meter: Meter, episode: Episode, step: Any) -> Any:
    """Await a step of the episode and book its time, without that of models and of the verdict."""
    began, models, grading = time.perf_counter(), _model_seconds(episode), episode.grading_seconds
    try:
        return await step
    finally:
        graded = max(0.0, episode.grading_seconds - grading)
        meter.grading += graded
        spent = time.perf_counter() - began - graded - (_model_seconds(episode) - models)
        meter.environment += max(0.0, spent)


def _model_seconds(episode: Episode) -> float:
    return sum(cost.seconds for cost in episode.costs.values())


def _cost(campaign: Campaign, meter: Meter, tokens: Mapping[str, Mapping[str, int] | None]) -> dict[str, float | None]:
    """Dollars by who was paid; 0.0 where no model was asked, None where it is not known what was."""
    agent = 0.0 if meter.calls_model is False else None
    if meter.calls_model:
        agent = campaign.price("agent", tokens["agent"])
    out: dict[str, float | None] = {"agent": agent, "user": 0.0, "judge": 0.0}
    for part, cost in meter.others.items():
        out[part] = cost.dollars if cost.dollars is not None else campaign.price(part, tokens[part])
    return out


def _tools_hash(task: Task) -> str:
    found = _hashes.get(id(task.tool_definitions))
    if found is None:
        found = _hashes[id(task.tool_definitions)] = content_hash(task.tool_definitions)
    return found


_hashes: dict[int, str] = {}
"""By the identity of definitions that live as long as their domain."""
