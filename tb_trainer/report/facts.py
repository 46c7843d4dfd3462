"""The head and the foot of a report: what it can and cannot show, what went wrong, and how to make the runs again."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Sequence
from typing import Any

from tb_envs.evaluation.report.markup import NOTHING, Html, el, fold, number, pairs, percent, table
from tb_trainer.report.pairs import Pair
from tb_trainer.report.read import RunRecord, part
from tb_trainer.report.read import number as read

SMALL = 50_000_000
"""Parameters below which a model is a toy."""
APART = ("seed", "name", "note", "threads")
"""Settings in which the seeds of one experiment may differ."""


def names_of(runs: Sequence[RunRecord]) -> list[str]:
    """What each run is called: its seed, with the folder where that does not tell them apart."""
    seeds = [f"seed {run.seed}" for run in runs]
    folders = [run.path.resolve().name for run in runs]
    if len(set(seeds)) == len(runs):
        return seeds
    return [
        f"{folder}, {seed}" if len(set(folders)) == len(runs) else f"{run.path}, {seed}"
        for folder, seed, run in zip(folders, seeds, runs, strict=True)
    ]


def banners(runs: Sequence[RunRecord], names: Sequence[str], marked: Sequence[Pair]) -> list[Html]:
    """The benchmark first, in red; then what is not finished, resumed or broken."""
    parts: list[Html] = []
    for run, name in zip(runs, names, strict=True):
        if run.mark is not None:
            kinds = run.mark.get("overlaps") or run.mark.get("began_from")
            parts.append(
                el("p", f"TRAINED ON THE BENCHMARK ({name}): no number of this run says how good a policy is on it. "
                   f"{json.dumps(kinds, ensure_ascii=False) if kinds else ''}", class_="red")
            )  # fmt: skip
    for pair in marked:
        parts.append(el("p", f"TRAINED ON THE BENCHMARK: {pair.before.path} or {pair.after.path}.", class_="red"))
    for run, name in zip(runs, names, strict=True):
        planned = f" of {run.planned}" if run.planned else ""
        if run.status == "unfinished":
            say = f"the log ends after update {run.done}{planned}: the run is still going, or was killed."
            parts.append(_warn(name, f"UNFINISHED: {say}"))
        elif run.status != "finished":
            parts.append(_warn(name, f"UNFINISHED: {run.status}{planned and f' ({run.done}{planned})'}."))
        if run.resumed:
            parts.append(_warn(name, f"RESUMED after update {', '.join(map(str, run.resumed))}."))
        if run.broken:
            parts.append(_warn(name, f"{run.broken} lines of log.jsonl could not be read and were left out."))
        known = [row["update"] for row in run.updates]
        if run.done > len(known):
            first = next(place for place, update in enumerate(known, 1) if update != place)
            say = f"{run.done - len(known)} updates are missing from the log, the first of them {first}."
            parts.append(_warn(name, say))
        parts += [_warn(name, problem) for problem in run.problems]
    return parts


def _warn(name: str, say: str) -> Html:
    return el("p", el("b", name), ": ", say, class_="warn")


def claims(runs: Sequence[RunRecord], found: Sequence[Pair]) -> list[Html]:
    """The preset's own words first, then what can be read off the runs themselves."""
    notes = list(dict.fromkeys(run.note for run in runs if run.note))
    said = [el("p", note, class_="note") for note in notes]
    return [el("h2", "What this can and cannot show"), *said, el("ul", (el("li", one) for one in limits(runs, found)))]


def limits(runs: Sequence[RunRecord], found: Sequence[Pair]) -> list[str]:
    """Sentences about what must not be read into the numbers."""
    out: list[str] = []
    if len(runs) == 1:
        out.append("One run, one seed: how much another seed would differ is not known.")
    differing = differences(runs)
    if differing:
        out.append(f"These runs are not seeds of one experiment; they differ in {'; '.join(differing)}.")
    elif len(runs) > 1:
        out.append(f"{len(runs)} runs that differ only in their seed: {', '.join(str(run.seed) for run in runs)}.")
    hashes = {str(part(run.start, "hashes").get("tasks", "")) for run in runs}
    if len(hashes - {""}) > 1 and not differing:
        out.append("The content of the training tasks is not the same in all runs: the domain was changed in between.")
    if any(part(run.config, "curriculum").get("kind") == "posterior" for run in runs):
        out.append(
            "Training tasks are drawn for being half solved, so training reward is not comparable over time; "
            "evaluations are."
        )
    if not any(run.evaluations for run in runs):
        out.append("No evaluation on held-out tasks while training: the curve is of tasks that were trained on.")
    else:
        out.append("The dev suite chose the best checkpoint: its best score is too good by as much as it was lucky.")
    if not found:
        out.append("No policy was evaluated before and after: nothing here says what training gained.")
    trained = sorted({name for run in runs for name in _list(run, "domains")})
    held = sorted({str(name) for run in runs if (name := part(run.config, "environment").get("holdout_domain"))})
    if held:
        out.append(f"{', '.join(held)} was held out of training and evaluated on.")
    elif trained:
        out.append(f"Trained on {', '.join(trained)}: nothing is said about transfer to other domains.")
    if any(part(run.config, "environment").get("prompt") == "compact" for run in runs):
        out.append(
            "Compact prompts leave out the policy and the tools' descriptions: what is learned is learned by heart."
        )
    sizes = [size for run in runs if (size := read(run.start, "parameters")) is not None]
    if sizes and max(sizes) < SMALL:
        out.append(f"A model of {max(sizes):,.0f} parameters: its gains say nothing about models of another size.")
    return out


def differences(runs: Sequence[RunRecord]) -> list[str]:
    """Settings that are not the same in all runs, besides seeds, names and where files lie."""
    flat = [flatten(run.config) for run in runs]
    names = sorted({name for one in flat for name in one if name not in APART and not name.startswith("saving.")})
    values = {name: [json.dumps(one.get(name), default=str) for one in flat] for name in names}
    return [f"{name} ({', '.join(dict.fromkeys(v))})" for name, v in values.items() if len(set(v)) > 1]


def flatten(tree: Any, prefix: str = "") -> dict[str, Any]:
    """``{"grpo": {"kl": 0}}`` → ``{"grpo.kl": 0}``."""
    if not isinstance(tree, dict) or not tree:
        return {prefix: tree} if prefix else {}
    return {
        k: v for name, value in tree.items() for k, v in flatten(value, f"{prefix}.{name}" if prefix else name).items()
    }


def _list(run: RunRecord, name: str) -> list[str]:
    found = run.start.get(name)
    return [str(item) for item in found] if isinstance(found, list) else []


def overview(runs: Sequence[RunRecord], names: Sequence[str]) -> Html:
    """One line a run."""
    rows: list[list[str]] = []
    for run, name in zip(runs, names, strict=True):
        evaluated = [row for row in run.evaluations if read(row, "pass@1") is not None]
        best = next((row for row in evaluated if row["update"] == run.best), None)
        seconds = [read(row, "seconds", "total") for row in run.updates]
        rows.append(
            [
                name,
                run.status,
                f"{run.done} of {run.planned if run.planned else '?'}",
                percent(read(run.updates[0], "pass_rate")) if run.updates else NOTHING,
                percent(read(run.updates[-1], "pass_rate")) if run.updates else NOTHING,
                percent(read(evaluated[0], "pass@1")) if evaluated else NOTHING,
                percent(read(evaluated[-1], "pass@1")) if evaluated else NOTHING,
                f"{percent(read(best, 'pass@1'))} ({run.best})" if best else NOTHING,
                number(sum(value for value in seconds if value is not None)),
            ]
        )
    heads = ("run", "state", "updates", "training pass rate, first", "last", "dev pass@1, first", "last",
             "best (update)", "seconds of updates")  # fmt: skip
    return table(heads, rows)


def system(runs: Sequence[RunRecord], names: Sequence[str]) -> list[Html]:
    """System errors by cause, retries, dropped groups; how episodes ended; which checks failed."""
    parts: list[Html] = [el("h2", "System errors, ends and failed checks")]
    rows: list[list[str]] = []
    for run, name in zip(runs, names, strict=True):
        causes = _counts(run, "system_errors")
        sums = [
            sum(read(row, field) or 0 for row in run.updates) for field in ("episodes", "retries", "dropped_groups")
        ]
        rows.append([name, number(sums[0]), _counted(causes), number(sums[1]), number(sums[2])])
    parts.append(table(("run", "episodes", "system errors by cause", "played again", "groups dropped"), rows))
    for run, name in zip(runs, names, strict=True):
        ended, checks = _counts(run, "ended_by"), _counts(run, "failed_checks")
        parts.append(el("p", el("b", f"{name}: "), f"ended by {_counted(ended)}. Checks that failed most in the "
                        f"updates' lists of eight: {_counted(checks)}."))  # fmt: skip
    return parts


def _counts(run: RunRecord, name: str) -> Counter[str]:
    found: Counter[str] = Counter()
    for row in run.updates:
        for label in part(row, name):
            found[label] += int(read(row, name, label) or 0)
    return found


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.most_common(12)) or "none"


def making(runs: Sequence[RunRecord], names: Sequence[str]) -> list[Html]:
    """Commands, versions, hashes, seeds, settings of every run."""
    parts: list[Html] = [el("h2", "How to make it again")]
    for run, name in zip(runs, names, strict=True):
        start = run.start
        versions = part(start, "versions")
        rows: list[tuple[str, Any]] = [
            ("folder", run.path),
            ("command", el("code", command_of(run))),
            ("seed", run.seed),
            ("versions", ", ".join(f"{k} {v}" for k, v in versions.items()) or "not in the log"),
            *((f"hash of the {k}", v) for k, v in part(start, "hashes").items()),
            *((k.replace("_", " "), start[k]) for k in ("parameters", "trained_parameters", "vocabulary", "tasks",
                                                       "processes", "setup_seconds") if k in start),
            *((f"guard: {k}", v) for k, v in part(start, "guard").items()),
        ]  # fmt: skip
        config = el("pre", json.dumps(run.config, indent=1, ensure_ascii=False))
        parts += [el("h3", name), pairs(rows), fold("config.json", config)]
    return parts


def command_of(run: RunRecord) -> str:
    """The command as the log holds it; without one, a command of the same settings, made from ``config.json``."""
    if isinstance(run.start.get("command"), str):
        return run.start["command"]
    if not run.config:
        return "not known"
    try:
        from tb_trainer.config import load, presets

        known = presets()
        preset = run.config["name"] if run.config.get("name") in known else "smoke"
        base = flatten(json.loads(json.dumps(load(preset).to_json())))
    except ImportError:  # presets are YAML, of the extra `train`
        return "not in the log; see config.json"
    words = ["tbx", "train", "--preset", preset]
    for name, value in flatten(run.config).items():
        if name != "note" and base.get(name) != value:
            words += ["--set", f"{name}={json.dumps(value, ensure_ascii=False)}"]
    return f"{shlex.join([*words, '--out', str(run.path)])}   (made from config.json)"
