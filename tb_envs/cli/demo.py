"""``tbx demo``: the suite at work in a few minutes on two cores, without a model and without a network.

One conversation as text; what five built-in agents reach on sixty tasks, which is known beforehand; a small training.
Everything lands in a new folder, so that a demonstration never overwrites another.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

from tb_envs.agents import BUILT_IN, make_agent
from tb_envs.cli.parser import Parser
from tb_envs.cli.screen import Screen, percent, print_json, progress, screen, table
from tb_envs.cli.selection import suite
from tb_envs.evaluation.play import play_campaign
from tb_envs.play import play
from tb_envs.registration import load_domain
from tb_envs.task import Task, get_task
from tb_envs.transcript import transcript

DOMAIN = "hotel"
FAMILY = "late_cancellation"
TASKS = 60
LONGEST = 280
"""Characters of a transcript's line that are shown; the file has them all."""
PROMISED: dict[str, tuple[str, Callable[[float], bool]]] = {
    "reference": ("100 %", lambda share: share == 1),
    "idle": ("0 %", lambda share: share == 0),
    "talker": ("0 %", lambda share: share == 0),
    "obedient": ("at most 35 %", lambda share: share <= 0.35),
    "random": ("0 %", lambda share: share == 0),
}
"""What pass@1 has to be for each agent, in words and as a test."""


def main(argv: list[str]) -> int:
    """Run the demonstration; 1 if the agents do not reach what is promised or the training fails."""
    parser = Parser("demo", "An episode as text, five agents over sixty tasks, a short training: at most six minutes.")
    parser.add_argument("--no-train", action="store_true", help="leave the training out")
    parser.add_argument("--out", type=Path, default=Path("runs/demo"), metavar="DIR", help="default: runs/demo")
    parser.json_option()
    args = parser.read(argv)
    out = screen()
    out.quiet = args.json
    domain = load_domain(DOMAIN)
    ids = list(suite(domain, "dev")[:TASKS])
    folder = _new_folder(args.out)
    try:
        _show_episode(get_task(next((name for name in ids if f"/{FAMILY}/" in name), ids[0])), folder, out)
        report: dict[str, Any] = {"tasks": len(ids), "agents": _compare_agents(ids, folder, out, quiet=args.json)}
        report["as_promised"] = all(row["as_promised"] for row in report["agents"].values())
        (folder / "agents.json").write_text(json.dumps(report, indent=2) + "\n", "utf-8")
        report["report"] = str(_write_report(folder, out))
        report["training"] = "left out" if args.no_train else _train(folder, out, quiet=args.json)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"what was done so far is in {folder}") from None
    report["folder"] = str(folder)
    if args.json:
        print_json(report)
    _say_where(folder, report, out)
    return int(not report["as_promised"] or report["training"] == "failed")


def _new_folder(base: Path) -> Path:
    """The next numbered folder under `base`."""
    base.mkdir(parents=True, exist_ok=True)
    number = max([0, *(int(path.name) for path in base.iterdir() if path.name.isdigit())]) + 1
    while True:
        try:
            (base / str(number)).mkdir()
            return base / str(number)
        except FileExistsError:
            number += 1


def _show_episode(task: Task, folder: Path, out: Screen) -> None:
    """One task: the right way in full, and what the verdict says of the servile way."""
    texts: dict[str, str] = {}
    for name in BUILT_IN:
        texts[name] = transcript(play(task, make_agent(name)))
        path = folder / "transcripts" / f"{task.id.replace('/', '-')}-{name}.txt"
        path.parent.mkdir(exist_ok=True)
        path.write_text(texts[name] + "\n", "utf-8")
    out.heading(f"1. One episode: {task.id}", f"traps: {', '.join(task.traps)}")
    out.lines([task.family.doc])
    out.print()
    out.pairs(map(_labelled, texts["reference"].splitlines()))
    out.heading("The same task, by an agent that does as it is told")
    verdict = texts["obedient"].splitlines()
    start = next((place for place, line in enumerate(verdict) if line.startswith("verdict:")), len(verdict))
    failed = [line for line in verdict[start + 1 :] if line.lstrip().startswith(("FAIL", "found:"))]
    out.pairs(map(_labelled, [*verdict[start : start + 1], *failed]))


def _labelled(line: str) -> tuple[str, str]:
    """A line of a transcript as label and words; what is very long is in the file."""
    first, _, rest = line.strip().partition(" ")
    indent, words = line[: min(2, len(line) - len(line.lstrip()))], rest.strip()
    return indent + first, words if len(words) <= LONGEST else f"{words[:LONGEST]} …"


def _compare_agents(ids: list[str], folder: Path, out: Screen, *, quiet: bool) -> dict[str, Any]:
    """What each built-in agent reaches on the same tasks, beside what is promised; a campaign each."""
    reached: dict[str, Any] = {}
    start = time.perf_counter()
    with progress(len(ids) * len(BUILT_IN), "five agents", quiet=quiet) as advance:
        for name in BUILT_IN:
            played = play_campaign(folder / "eval" / name, name, ids, on_row=lambda name=name: advance(name))
            share = played.passed / played.counted if played.counted else None
            words, holds = PROMISED[name]
            reached[name] = {
                "attempts": played.done,
                "passed": played.passed,
                "failed": played.counted - played.passed,
                "system_errors": played.errors,
                "pass_at_1": share,
                "promised": words,
                "as_promised": share is not None and holds(share),
            }
    seconds = time.perf_counter() - start
    out.heading(f"2. Five agents, {len(ids)} tasks", f"{len(ids) * len(BUILT_IN)} episodes in {seconds:.1f} s")
    columns = ("agent", "passed", "failed", "errors", "pass@1", "promised", "")
    rows = [
        (name, row["passed"], row["failed"], row["system_errors"], percent(row["pass_at_1"]), row["promised"],
         "ok" if row["as_promised"] else "NOT AS PROMISED")
        for name, row in reached.items()
    ]  # fmt: skip
    out.print(table(columns, rows, numbers=("passed", "failed", "errors", "pass@1")))
    return reached


def _write_report(folder: Path, out: Screen) -> Path:
    """The five campaigns as one page, where every episode can be read."""
    from tb_envs.cli.report import save
    from tb_envs.evaluation.report.campaigns import Campaign
    from tb_envs.evaluation.report.page import write

    path = folder / "report.html"
    save(path, write([Campaign(folder / "eval" / name) for name in BUILT_IN]))
    out.print()
    out.lines([f"every episode of the five, with what it changed and why it failed: {path}"])
    return path


def _train(folder: Path, out: Screen, *, quiet: bool) -> str:
    """The shortened demonstration, its output in ``training.log`` too: ``done``, ``failed`` or ``not installed``."""
    from tb_trainer.cli import INSTALL, NEEDS
    from tb_trainer.cli import main as train

    out.heading(
        "3. A small training", "(warm start, a few updates, a report: the mechanics, not the learning; three minutes)"
    )
    missing = [name for name in NEEDS if importlib.util.find_spec(name) is None]
    if missing:
        out.lines(
            [f"left out: it needs {', '.join(missing)}, which this installation lacks. To have it:", f"  {INSTALL}"]
        )
        return "not installed"
    with (
        (folder / "training.log").open("w", encoding="utf-8") as log,
        contextlib.redirect_stdout(log if quiet else Tee(sys.stdout, log)),
        contextlib.redirect_stderr(Tee(sys.stderr, log)),
    ):
        code = train(["--preset", "cpu-demo-short", "--out", str(folder / "training")])
    if code == 130:
        raise KeyboardInterrupt
    if code:
        out.lines([f"the training failed; {folder / 'training.log'} says why"])
    return "failed" if code else "done"


class Tee(io.TextIOBase):
    """Text that goes to two streams."""

    def __init__(self, first: TextIO, second: TextIO) -> None:
        self._streams = (first, second)

    def write(self, text: str) -> int:
        """Write to both."""
        for stream in self._streams:
            stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush both."""
        for stream in self._streams:
            stream.flush()


def _say_where(folder: Path, report: dict[str, Any], out: Screen) -> None:
    out.heading(f"Everything is in {folder}")
    out.pairs(
        [
            ("transcripts/", "the episode by each of the five agents"),
            ("agents.json", "the table"),
            ("eval/", "the five campaigns, a row per attempt"),
        ]
    )
    if report["training"] in ("done", "failed"):
        out.pairs([("training/", "the run, update by update; report.html"), ("training.log", "what it printed")])
    out.heading("What to try next")
    out.pairs(
        [
            (f"tbx play {DOMAIN}/{FAMILY}/0", "be the agent yourself"),
            (f"tbx show {DOMAIN}/{FAMILY}/0", "read a task with its right end"),
            ("tbx run --agent my_agent:act --split dev", "your own agent"),
            ("tbx eval --model NAME --base-url URL", "a model behind an endpoint"),
            ("tbx train --help", "train a model"),
        ]
    )
    out.heading("The report", "opens from disk in any browser")
    out.lines([str(Path(report["report"]).resolve())])
