"""A report from top to bottom."""

from __future__ import annotations

from collections.abc import Sequence

from tb_envs import __version__
from tb_trainer.report import compare, curves, facts, overtime
from tb_trainer.report.markup import Html, el, page
from tb_trainer.report.pairs import Pair
from tb_trainer.report.read import RunRecord
from tb_trainer.tasks.guard import MARK

GENERATOR = "tbx report"


def write(runs: Sequence[RunRecord], found: Sequence[Pair]) -> str:
    """The whole file.

    Args:
        runs: one or more.
        found: policies before and after.
    """
    names = facts.names_of(runs)
    title = " · ".join(dict.fromkeys(str(run.config.get("name") or run.path.resolve().name) for run in runs))
    inside = {id(trials) for run in runs for trials in run.others}
    marked = [p for p in found if any(t.about.get(MARK) and id(t) not in inside for t in (p.before, p.after))]
    body: list[Html] = [
        *facts.banners(runs, names, marked),
        el("h1", f"Training report: {title}"),
        el("p", f"{len(runs)} run{'s' if len(runs) > 1 else ''}: {', '.join(names)}", class_="dim"),
        *facts.claims(runs, found),
        el("h2", "In short"),
        facts.overview(runs, names),
        *compare.section(found),
        *curves.section(runs, names),
        *overtime.section(runs, names),
        *facts.system(runs, names),
        *facts.making(runs, names),
        el(
            "p",
            el("small", f"Written by {GENERATOR} {__version__} from log.jsonl, config.json and evaluations/*.jsonl."),
        ),
    ]
    return page(f"Training report: {title}", body, GENERATOR)
