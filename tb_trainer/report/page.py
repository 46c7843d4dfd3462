"""A report from top to bottom."""

from __future__ import annotations

from collections.abc import Sequence

from tb_envs import __version__
from tb_envs.evaluation.report.markup import Html, document, el
from tb_trainer.report import compare, curves, facts, overtime
from tb_trainer.report.pairs import Pair
from tb_trainer.report.read import RunRecord
from tb_trainer.tasks.guard import MARK

GENERATOR = "tbx report"
STYLE = """
:root{color-scheme:light;--ink:#1a1c20;--dim:#5b6270;--line:#d9dce2;--bad:#b3261e;--badbg:#fdecea;--warn:#fff4d6}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:#fff;max-width:1180px;margin:0 auto;padding:1.5rem}
h1{font-size:1.6rem;margin:.2rem 0}h2{font-size:1.25rem;margin:2.4rem 0 .6rem;border-bottom:1px solid var(--line)}
h3{font-size:1.05rem;margin:1.6rem 0 .4rem}p,ul{max-width:80ch}small,.dim{color:var(--dim)}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.87rem}.wide{overflow-x:auto;margin:.5rem 0}
th,td{padding:.18rem .6rem;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}
tbody th{text-align:left;font-weight:500}thead th{color:var(--dim);font-weight:600;vertical-align:bottom}
thead th:first-child{text-align:left}tr.lost th,tr.lost td{background:var(--badbg);color:var(--bad)}
.red{background:var(--bad);color:#fff;padding:.8rem 1rem;font-weight:600;border-radius:4px;margin:.5rem 0}
.warn{background:var(--warn);padding:.5rem 1rem;border-left:4px solid #d99a00;margin:.5rem 0}
.note{background:#eef3fb;padding:.7rem 1rem;border-left:4px solid #3b6fb5;margin:.5rem 0}
.charts{display:grid;grid-template-columns:repeat(auto-fill,minmax(340px,1fr));gap:1rem}figure{margin:0}
figcaption{font-weight:600;font-size:.9rem}figcaption small{font-weight:400;display:block}
svg{width:100%;height:auto;font:11px system-ui,sans-serif}.key{display:inline-block;margin-right:1.2rem}
.key svg{width:34px;height:10px;vertical-align:middle;margin-right:.3rem}
.pair{display:grid;grid-template-columns:1fr 1fr;gap:1rem}@media(max-width:800px){.pair{grid-template-columns:1fr}}
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#f6f7f9;padding:.7rem;font-size:.78rem;margin:.3rem 0}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1rem;font-size:.9rem}dt{color:var(--dim)}
dd{margin:0;overflow-wrap:anywhere}code{font-size:.85em}details{margin:.5rem 0}summary{cursor:pointer}
"""


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
    return document(f"Training report: {title}", body, generator=GENERATOR, style=STYLE)
