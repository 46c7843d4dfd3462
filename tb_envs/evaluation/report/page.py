"""A report from top to bottom, as pieces of one HTML document.

Nothing is loaded from anywhere and no script but the page's own can run: a content security policy names the hashes of
its script and its style. Episodes are packed while the campaigns are read, so that none stays in memory.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from tb_envs import __version__
from tb_envs.evaluation.report import comparison, failures, groups, headline, money
from tb_envs.evaluation.report.campaigns import Campaign, Run, columns_of, families_of, names_of
from tb_envs.evaluation.report.episodes import episode_of
from tb_envs.evaluation.report.listing import COLUMNS, entry, task
from tb_envs.evaluation.report.markup import Html, document, el, fold, text
from tb_envs.evaluation.report.packing import Packer, block
from tb_envs.evaluation.report.settings import settings
from tb_envs.evaluation.report.words import plural

GENERATOR = "tbx report"
SCRIPTS = ("data.js", "words.js", "list.js", "talk.js", "records.js", "episode.js", "address.js", "start.js")
"""In this order, one script."""
SECTIONS = {
    "headline": "Results",
    "curves": "Curves",
    "heat": "Traps",
    "failures": "Failures",
    "cost": "Cost",
    "episodes": "Episodes",
}
"""Their places on the page, and what they are called in its bar."""
SELF, NOBODY = "'self'", "'none'"


def write(campaigns: Sequence[Campaign], *, compared: Mapping[str, Any] | None = None) -> Iterator[str]:
    """The whole file in pieces.

    Args:
        campaigns: one or more; they are read here.
        compared: the first two side by side, as of `tb_envs.evaluation.compare`.
    """
    packer, entries, tasks = Packer(), list[list[Any]](), dict[str, Any]()
    for number, campaign in enumerate(campaigns):
        for attempt, row in campaign.read():
            where = packer.add(episode_of(row, columns_of(row["domain"])))
            entries.append(entry(number, attempt, where))
            tasks.setdefault(attempt.key[0], task(attempt))
    packer.flush()
    runs = [
        Run(name, campaign, campaign.summary()) for name, campaign in zip(names_of(campaigns), campaigns, strict=True)
    ]
    domains = sorted({about["domain"] for about in tasks.values()})
    blocks = [
        block("about", about(runs, domains, live=0)),
        block("entries", {"tasks": tasks, "entries": entries}),
        *packer.chunks,
    ]
    yield from frame(runs, numbers(runs, compared), blocks, compared=compared is not None)


def about(runs: Sequence[Run], domains: Iterable[str], *, live: float) -> dict[str, Any]:
    """What the page's script knows from the start.

    Args:
        runs: in the report.
        domains: whose tables and families are named.
        live: seconds between two questions for news; 0 for a page without a server.
    """
    listed = list(domains)
    return {
        "live": live,
        "columns": COLUMNS,
        "runs": [{"name": run.name, "settings": run.campaign.settings} for run in runs],
        "tables": {name: columns_of(name) for name in listed},
        "families": {name: families_of(name) for name in listed},
    }


def numbers(runs: Sequence[Run], compared: Mapping[str, Any] | None = None) -> list[Html]:
    """All that is not the list of episodes."""
    many = len(runs) > 1
    return [
        *headline.notes(runs),
        *(comparison.section(compared, runs) if compared else ()),
        el("h2", "How good, how reliable", id="headline"),
        headline.cards(runs),
        el("h2", "With more attempts", id="curves"),
        headline.curves(runs),
        el("h2", "Domains and traps", id="heat"),
        el(
            "p",
            "pass@1 over the tasks that carry a trap, and how many these are. Cells lead to episodes.",
            class_="dim",
        ),
        *groups.heat(runs),
        *groups.tables(runs),
        el("h2", "Where failures come from", id="failures"),
        *(part for run in runs for part in failures.section(run, runs)),
        el("h2", "What it took", id="cost"),
        money.section(runs),
        fold(f"Settings of the run{'s' if many else ''}", settings(runs)),
    ]


def frame(
    runs: Sequence[Run], body: Iterable[Html], blocks: Iterable[Html], *, live: bool = False, compared: bool = False
) -> Iterator[str]:
    """The document round the numbers.

    Args:
        runs: in the report.
        body: the numbers.
        blocks: packed data.
        live: whether a server is behind it.
        compared: whether the first two runs are compared.
    """
    names = [run.name for run in runs]
    title = f"Comparison: {' → '.join(names)}" if compared else f"Evaluation: {' · '.join(names)}"
    content = [
        el("a", "Skip to the episodes", href="#episodes", class_="skip"),
        _top(live, compared),
        el("main", el("h1", title), _who(runs), el("div", body, id="numbers"), _episodes()),
        el("footer", f"Written by {GENERATOR} {__version__}. This page loads nothing from any network."),
        _dialog(),
    ]
    policy = (
        f"default-src 'none'; script-src '{_hash(script())}'; style-src '{_hash(style())}'; img-src data:; "
        f"connect-src {SELF if live else NOBODY}; base-uri 'none'; form-action 'none'"
    )
    head = [el("meta", http_equiv="Content-Security-Policy", content=policy)]
    page = document(title, content, generator=GENERATOR, style=style(), head=head)
    before, end, after = page.rpartition("</body>")
    yield before
    yield from blocks
    yield el("script", Html(script()), type="module")
    yield end + after


def _top(live: bool, compared: bool) -> Html:
    sections = ({"comparison": "Comparison"} if compared else {}) | SECTIONS
    nav = el("nav", (el("a", name, href=f"#{place}") for place, name in sections.items()), aria_label="Sections")
    state = el("span", "live" if live else "", id="live", class_="dim", role="status")
    return el("header", el("div", nav, state, el("button", "Theme", id="theme", type="button")), class_="top")


def _who(runs: Sequence[Run]) -> Html:
    """Who played what, a line for each run."""
    lines: list[Html] = []
    for run in runs:
        found = run.campaign.manifest
        told = [
            f"agent {found['agent'].get('name', '')} ({found['agent'].get('kind', '')})",
            f"{plural(len(found['tasks']), 'task')} × {plural(found['attempts'], 'attempt')}",
            f"{_player(found['user'])} customer",
            *([f"judge {_player(found['judge'])}"] if found["judge"] else []),
            ", ".join(found["domains"]),
        ]
        lines.append(el("span", f"{run.name}: " if len(runs) > 1 else "", " · ".join(told), el("br")))
    return el("p", lines, class_="dim full")


def _player(part: str | Mapping[str, Any]) -> str:
    """Who plays a part beside the agent: a kind, and the model if it is one."""
    return part if isinstance(part, str) else " ".join(str(part[name]) for name in ("kind", "model") if part.get(name))


def _episodes() -> Html:
    buttons = (
        el("button", "Clear filters", id="clear", type="button"),
        el("button", "← Previous", id="previous", type="button"),
        el("button", "Next →", id="next", type="button"),
    )
    return el(
        "section",
        el("h2", "Episodes", id="episodes-title"),
        el("div", id="filters", class_="filters", role="search", aria_label="Choose episodes"),
        el("div", el("p", "Unpacking …", id="found", role="status"), buttons, class_="found"),
        el("div", el("table", id="list"), class_="wide"),
        el("noscript", el("p", "The episodes are packed in this file; the page's own script unpacks them.")),
        id="episodes",
        aria_labelledby="episodes-title",
    )


def _dialog() -> Html:
    buttons = (
        el("button", "← Previous", id="before", type="button", title="k"),
        el("button", "Next →", id="after", type="button", title="j"),
        el("button", "Close", id="close", type="button", title="Esc"),
    )
    bar = el("div", el("h2", id="title"), el("span", id="outcome"), buttons, class_="ebar")
    return el(
        "dialog",
        bar,
        el("div", id="body", class_="ebody", tabindex=0),
        id="episode",
        aria_labelledby="title",
    )


@cache
def script() -> str:
    """The page's own script."""
    return "\n".join(asset(name) for name in SCRIPTS)


@cache
def style() -> str:
    """The page's own style."""
    return asset("page.css")


def asset(name: str) -> str:
    """A file of the page, from the package."""
    return (files("tb_envs.evaluation.report") / "assets" / name).read_text("utf-8")


def _hash(content: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}"


def fragment(parts: Iterable[Html]) -> str:
    """Parts as one piece of markup."""
    return str(text(parts))
