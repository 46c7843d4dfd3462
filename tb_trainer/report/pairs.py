"""Which evaluations belong together: a policy before and after, on the same set of tasks, sampled alike.

A run's own evaluations: the first against the last. Others (`tbx evaluate`): the policy that no run has trained against
the one with the most updates; where a run has none of the former, that of another run which began from the same
checkpoint. Refuses to pair what does not say what it is; `tbx report --compare` pairs by hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tb_envs.errors import UsageError
from tb_envs.evaluation.report.markup import percent
from tb_trainer.report.paired import Comparison
from tb_trainer.report.read import RunRecord, Trials, number, part
from tb_trainer.report.stats import Scores


@dataclass(frozen=True)
class Pair:
    """A comparison and what to call it.

    Attributes:
        run: name of the run; empty for a pair by hand.
        what: the set of tasks and how turns were chosen: ``fresh:500, T = 1``.
        before, after: the files.
        scores: the comparison itself.
        chosen: whether the run chose its checkpoint by this very evaluation.
        cautions: what a reader has to know before believing it.
    """

    run: str
    what: str
    before: Trials
    after: Trials
    scores: Comparison
    chosen: bool = False
    cautions: tuple[str, ...] = ()


def find_pairs(runs: Sequence[RunRecord], names: Sequence[str]) -> list[Pair]:
    """All pairs of some runs: those of other evaluations first, then the runs' own."""
    found: list[Pair] = []
    for run, name in zip(runs, names, strict=True):
        for what in dict.fromkeys(map(_what, run.others)):
            mine = [trials for trials in run.others if _what(trials) == what and trials.update is not None]
            start = str(part(run.config, "model").get("checkpoint") or "")
            theirs = [
                trials
                for other in runs
                for trials in other.others
                if start and _what(trials) == what and trials.about.get("policy") == start
            ]
            before = next((trials for trials in (*mine, *theirs) if trials.update == 0), None)
            after = max(mine, key=lambda trials: trials.update or 0, default=None)
            if before and after and after.update:
                found += _pair(name, what, before, after)
    for run, name in zip(runs, names, strict=True):
        updates = [update for update, trials in sorted(run.own.items()) if trials.rows]
        if len(updates) > 1:
            options = part(run.config, "evaluation")
            how = "greedy" if options.get("greedy") else _heat(run.config)
            what = f"{options.get('split', 'dev')} (the run's own), {how}"
            found += _pair(name, what, run.own[updates[0]], run.own[updates[-1]], chosen=True)
    return found


def pair_by_hand(before: Trials, after: Trials) -> Pair:
    """Two files that a person put side by side.

    Raises:
        UsageError: they share no task.
    """
    found = _pair("", _what(after) or after.path.stem, before, after)
    if not found:
        raise UsageError(f"--compare: {before.path} and {after.path} share no task that was played on both sides")
    return found[0]


def _pair(run: str, what: str, before: Trials, after: Trials, *, chosen: bool = False) -> list[Pair]:
    try:
        scores = Comparison(Scores.of(before.rows), Scores.of(after.rows))
    except UsageError:
        return []
    return [Pair(run, what, before, after, scores, chosen, tuple(_cautions(before, after, scores, chosen)))]


def _what(trials: Trials) -> str:
    if not trials.about:
        return ""
    how = "greedy" if trials.settings.get("greedy") else _heat(trials.settings)
    return f"{trials.about.get('set', 'unnamed tasks')}, {how}"


def _heat(tree: dict[str, object]) -> str:
    heat = number(tree, "sampling", "temperature")
    return "sampled" if heat is None else f"T = {heat:g}"


def _cautions(before: Trials, after: Trials, scores: Comparison, chosen: bool) -> list[str]:
    out: list[str] = []
    if chosen:
        out.append("The run chose its best checkpoint by this suite; judge a run by tasks that chose nothing.")
    if scores.missing:
        out.append(f"{len(scores.missing)} tasks were played on one side only and are left out.")
    if scores.changed:
        out.append(f"{len(scores.changed)} tasks were changed between the two and are left out.")
    for name in sorted({*before.settings, *after.settings} - {"weights"}):
        mine, theirs = before.settings.get(name), after.settings.get(name)
        if mine != theirs:
            out.append(f"The two were played with other settings: {name} was {mine}, then {theirs}.")
    mine, theirs = (_versions(trials) for trials in (before, after))
    for name in sorted(mine.keys() & theirs.keys()):
        if mine[name] != theirs[name]:
            out.append(f"The two were played with other versions: {name} {mine[name]}, then {theirs[name]}.")
    for trials, side in ((before, "before"), (after, "after")):
        every = Scores.of(trials.rows)
        unplayed = every.unplayed
        if unplayed:
            out.append(f"{unplayed} trials {side} ended in system errors and do not count.")
        planned = int((number(trials.about, "attempts") or 0) * (number(trials.about, "tasks") or 0))
        if len(trials.rows) < planned:
            out.append(f"The evaluation {side} is not finished: {len(trials.rows)} of {planned} trials.")
        if bounds := every.bounds(planned):
            low, high = map(percent, bounds)
            out.append(f"Over all trials that were meant, pass@1 {side} lies between {low} and {high}.")
    if len(scores.tasks) < 50:
        out.append(f"{len(scores.tasks)} tasks are few: an interval of so few is itself uncertain.")
    return out


def _versions(trials: Trials) -> dict[str, str]:
    rows = (row.get("versions") for row in trials.rows[:1])
    return next((row for row in rows if isinstance(row, dict)), {})
