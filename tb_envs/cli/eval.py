"""``tbx eval``: a campaign. A model or an agent plays every task so often; a row per attempt, kept as it ends.

The same command resumes a campaign that was stopped, however it was stopped. System errors are tried again and counted
apart; a campaign whose endpoint is broken stops and says so in the server's own words.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import shlex
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from tb_envs.agents import BUILT_IN
from tb_envs.cli.campaign_bar import campaign_bar
from tb_envs.cli.parser import Namespace, Parser, amounts, knobs_option, limits_option, whole
from tb_envs.cli.screen import Screen, percent, print_json, screen
from tb_envs.cli.selection import select
from tb_envs.endpoints import DEFAULT_KEY
from tb_envs.errors import UsageError
from tb_envs.evaluation.context import ContextRule
from tb_envs.evaluation.manifest import build_manifest, open_folder
from tb_envs.evaluation.pacing import Breaker, CampaignStopped
from tb_envs.evaluation.prices import Prices, read_prices
from tb_envs.evaluation.rows import read_rows
from tb_envs.evaluation.runner import Campaign, run_campaign
from tb_envs.evaluation.running import Running
from tb_envs.evaluation.seating import Asked, describe, open_player
from tb_envs.limits import Limits
from tb_envs.settings import SPLITS, Settings, options_of
from tb_envs.task import get_task

RUNS = Path("runs/eval")


def main(argv: list[str]) -> int:
    """Run a campaign, or go on with it, and print its headline."""
    args = _parser().read(argv)
    if args.agent and args.agent not in BUILT_IN and os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    asked = _asked(args)
    settings = Settings(
        backend=args.backend,
        user=args.user,
        judge=args.judge,
        limits=Limits.of(args.limits),
        faults=args.faults or None,
        knobs=args.knobs,
    )
    plan = _plan(args, asked, settings)
    resumed = open_folder(plan.folder, plan.manifest)
    running = Running(len(plan.tasks) * args.attempts)
    command = shlex.join(["tbx", "eval", *argv])
    try:
        asyncio.run(_run(args, asked, settings, plan, running))
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"{_kept(running, plan)}; to go on: {command}") from None
    except CampaignStopped as stopped:
        raise CampaignStopped(f"{stopped}. {_kept(running, plan)}; to go on: {command}") from None
    except UsageError as error:
        raise UsageError(f"{error}. {_kept(running, plan)}" if running.done else str(error)) from error
    report = _report(args, asked, plan, running, resumed)
    if args.json:
        print_json(report)
    else:
        _print_report(screen(), report)
    return 0


@dataclass
class Plan:
    """What a command line comes to."""

    folder: Path
    tasks: list[str]
    excluded: dict[str, str]
    prices: Prices | None
    manifest: dict[str, Any] = field(default_factory=dict[str, Any])


def _parser() -> Parser:
    parser = Parser(
        "eval",
        "A campaign: a model or an agent plays every task so often, and each attempt is kept as a row. "
        "The same command goes on with a campaign that was stopped.",
        epilog="The key of an endpoint is read from the environment and written nowhere.",
    )
    who = parser.add_argument_group("who plays")
    who.add_argument("--model", default="", metavar="NAME|PATH", help="a model at --base-url, or on this machine")
    who.add_argument("--base-url", default="", metavar="URL", help="an OpenAI-compatible endpoint, http://HOST:PORT/v1")
    who.add_argument(
        "--agent",
        default="",
        metavar="AGENT",
        help=f"{', '.join(BUILT_IN)}, or module:callable (observation, info) → action, sync or async",
    )
    who.add_argument(
        "--sampling",
        type=_fields,
        default={},
        metavar="FIELDS",
        help="fields of each request, sent as they are: temperature=0.7,top_p=0.95,max_tokens=2048",
    )
    who.add_argument(
        "--send-seed", action="store_true", help="send a seed with each request, the same in each campaign"
    )
    who.add_argument(
        "--context",
        type=_checked(ContextRule.of),
        default=ContextRule(),
        metavar="RULE",
        help="talks longer than the model reads: none, drop-tool-results:TOKENS, stop:TOKENS (default: none)",
    )
    who.add_argument(
        "--api-key-env", default=DEFAULT_KEY, metavar="NAME", help=f"variable with the key (default: {DEFAULT_KEY})"
    )
    what = parser.add_argument_group("what is played")
    what.add_argument(
        "--suite", metavar="SUITE", help=f"{', '.join(SPLITS)}, or a file with task ids (default: bench, or --tasks)"
    )
    what.add_argument("--domains", nargs="+", metavar="NAME", help="only these domains")
    what.add_argument(
        "--tasks", nargs="+", metavar="TASK", help="task ids, or globs such as 'hotel/late_cancellation/*'"
    )
    what.add_argument("--attempts", type=whole(1), default=20, metavar="K", help="at each task (default: 20)")
    what.add_argument("--seed", type=whole(0), default=0, metavar="N", help="of the campaign (default: 0)")
    limits_option(parser)
    knobs_option(parser)
    for name, example in (("backend", "embedded"), ("user", "scripted")):
        what.add_argument(
            f"--{name}", type=_part, default=example, metavar="NAME|JSON", help=f"of each episode (default: {example})"
        )
    what.add_argument(
        "--judge", type=_judge, metavar="JSON", help="model that judges what only a reader can (default: none)"
    )
    what.add_argument(
        "--faults",
        type=amounts("timeout=0.02,crash=0.01", float),
        default={},
        metavar="CHANCES",
        help="injected system errors, chances per call: timeout=0.02,crash=0.01",
    )
    how = parser.add_argument_group("how it is run (may differ when a campaign is resumed)")
    how.add_argument("--out", type=Path, metavar="DIR", help=f"the campaign's folder (default: {RUNS}/AGENT-SUITE)")
    how.add_argument("--prices", type=Path, metavar="FILE.toml", help="price table; without one costs are unknown")
    how.add_argument("--concurrency", type=whole(1), default=16, metavar="N", help="attempts at a time (default: 16)")
    how.add_argument(
        "--retries", type=whole(0), default=3, metavar="N", help="of an attempt, after a system error (default: 3)"
    )
    how.add_argument("--retry-errors", action="store_true", help="play attempts again that ended as system errors")
    how.add_argument("--request-retries", type=whole(0), default=5, metavar="N", help="of a request (default: 5)")
    how.add_argument(
        "--max-errors", type=whole(1), default=20, metavar="N", help="failures in a row that stop (default: 20)"
    )
    how.add_argument(
        "--timeout", type=_seconds, default=600.0, metavar="SECONDS", help="for one request (default: 600)"
    )
    how.add_argument(
        "--backoff", type=_seconds, default=0.5, metavar="SECONDS", help="before the first new try (default: 0.5)"
    )
    parser.json_option()
    return parser


# -- reading


def _fields(text: str) -> dict[str, Any]:
    """``temperature=0.7,stop=["x"]`` or a JSON object; values are JSON, or else text."""
    if text.lstrip().startswith("{"):
        return _object(text)
    out: dict[str, Any] = {}
    for part in filter(None, re.split(r",(?=\s*\w+=)", text)):
        name, mark, value = part.partition("=")
        if not mark:
            raise argparse.ArgumentTypeError(f"write it like temperature=0.7,top_p=0.95, got {text!r}")
        try:
            out[name.strip()] = json.loads(value)
        except ValueError:
            out[name.strip()] = value.strip()
    return out


def _object(text: str) -> dict[str, Any]:
    try:
        value: Any = json.loads(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not valid JSON: {error}") from None
    if not isinstance(value, dict):
        raise argparse.ArgumentTypeError(f"a JSON object is meant, got {text!r}")
    return cast("dict[str, Any]", value)


def _part(text: str) -> str | dict[str, Any]:
    """A name, or a JSON object with the name under ``kind``."""
    return _object(text) if text.lstrip().startswith("{") else text


def _judge(text: str) -> dict[str, Any]:
    return _object(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 < seconds < 1e6:
        raise argparse.ArgumentTypeError(f"seconds are meant, got {text!r}")
    return seconds


def _checked(read: Any) -> Any:
    """A reader whose `UsageError` is told as it is."""

    def type_(text: str) -> Any:
        try:
            return read(text)
        except UsageError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return type_


def _asked(args: Namespace) -> Asked:
    base_url = args.base_url
    if args.model and not base_url and not os.path.exists(args.model):
        base_url = os.environ.get("OPENAI_BASE_URL", "")
    return Asked(
        agent=args.agent,
        model=args.model,
        base_url=base_url,
        sampling=args.sampling,
        context=args.context,
        api_key_env=args.api_key_env,
        send_seed=args.send_seed,
        timeout=args.timeout,
        retries=args.request_retries,
        first_wait=args.backoff,
    )


def _plan(args: Namespace, asked: Asked, settings: Settings) -> Plan:
    agent = describe(asked)
    prices = read_prices(args.prices) if args.prices else None
    ids = _ids(args)
    tasks = [get_task(task_id, settings.knobs) for task_id in ids]
    excluded: dict[str, str] = {}
    plan = Plan(args.out or RUNS / _folder_name(args, asked), ids, excluded, prices)
    plan.manifest = build_manifest(
        agent=agent,
        tasks=tasks,
        attempts=args.attempts,
        seed=args.seed,
        settings=settings,
        context=args.context.to_json(),
        prices=prices.to_json() if prices else None,
        excluded=excluded,
    )
    return plan


def _ids(args: Namespace) -> list[str]:
    split = args.suite if args.suite in SPLITS else None
    words = list(args.tasks or ())
    if args.suite and split is None:
        if words:
            raise UsageError("--tasks choose from a suite; with a file of tasks give only the file")
        words = _read_ids(Path(args.suite))
    if not words and split is None:
        split = "bench"
    return select(Namespace(tasks=words or None, domain=args.domains, split=split, seed=None, limit=None))


def _read_ids(path: Path) -> list[str]:
    """A file's tasks: one id or glob a line (``#`` begins a comment), or JSON: a list of ids, or of ``{"id": …}``."""
    if not path.is_file():
        raise UsageError(f"unknown suite {str(path)!r}; valid: {', '.join(SPLITS)}, or a file with task ids")
    text = path.read_text("utf-8")
    if text.lstrip()[:1] not in ("[", "{"):
        words = [line.partition("#")[0].strip() for line in text.splitlines()]
    else:
        try:
            value: Any = json.loads(text)
            entries = cast("list[Any]", value["tasks"] if isinstance(value, dict) else value)
            words = [entry if isinstance(entry, str) else str(entry["id"]) for entry in entries]
        except (ValueError, KeyError, TypeError) as error:
            raise UsageError(f"{path} holds no list of task ids ({type(error).__name__}: {error})") from None
    found = [word for word in words if word]
    if not found:
        raise UsageError(f"{path} names no task")
    return found


def _folder_name(args: Namespace, asked: Asked) -> str:
    suite = Path(args.suite).stem if args.suite else "tasks" if args.tasks else "bench"
    return re.sub(r"[^A-Za-z0-9._-]+", "-", f"{asked.name}-{suite}").strip("-.")


# -- running


async def _run(args: Namespace, asked: Asked, settings: Settings, plan: Plan, running: Running) -> None:
    breaker = Breaker(args.max_errors, len(plan.tasks))
    models = {"agent": asked.model, "user": _model_of(settings.user), "judge": _model_of(settings.judge or {})}

    def price(part: str, tokens: Mapping[str, int] | None) -> float | None:
        return plan.prices.cost(models[part], tokens) if plan.prices else None

    campaign = Campaign(
        folder=plan.folder,
        tasks=plan.tasks,
        attempts=args.attempts,
        player=open_player(asked, concurrency=args.concurrency, breaker=breaker),
        settings=settings,
        breaker=breaker,
        price=price,
        seed=args.seed,
        context=args.context,
        concurrency=args.concurrency,
        retries=args.retries,
        first_wait=2 * args.backoff,
        retry_errors=args.retry_errors,
    )
    with campaign_bar(running, asked.name, quiet=args.json):
        await run_campaign(campaign, running)


def _model_of(part: str | Mapping[str, Any]) -> str:
    return str(options_of(part).get("model", ""))


def _kept(running: Running, plan: Plan) -> str:
    return f"{running.done} of {running.total} attempts are kept in {plan.folder}"


# -- telling


def _report(args: Namespace, asked: Asked, plan: Plan, running: Running, resumed: bool) -> dict[str, Any]:
    from tb_envs.evaluation.summary import summarize

    reasons = Counter(plan.excluded.values())
    rows = read_rows(plan.folder)
    summary = summarize(rows.every(), seed=args.seed, knobs=args.knobs, planned=running.total, excluded=dict(reasons))
    return {"out": str(plan.folder), "agent": asked.name, "resumed": resumed, "summary": summary}


def _print_report(out: Screen, report: Mapping[str, Any]) -> None:
    summary = report["summary"]
    headline = summary["headline"]
    k = summary["k"]
    over = f"{summary['counted']} attempts at {summary['tasks']} tasks"
    out.print(f"{report['agent']}: pass@1 {_interval(headline['pass_at_1'])} over {over}")
    if k > 1:
        out.print(
            f"pass@{k} {_interval(headline['pass_at_k'])}, pass^{k} {_interval(headline['pass_hat_k'])}, "
            f"{k} of {k} at {headline['observed_k_of_k']['passed']} tasks"
        )
    if summary["system_errors"]:
        named = ", ".join(f"{count} {name}" for name, count in summary["outcomes"].items() if name.startswith("error:"))
        out.print(
            f"{summary['system_errors']} attempts ended in system errors and do not count ({named}); "
            f"counted as failures pass@1 is {_interval(headline['pass_at_1_all'])}. --retry-errors plays them again"
        )
    for reason, count in summary["excluded"].items():
        out.print(f"{count} tasks were left out: {reason}")
    cost = summary["cost"]
    if cost["total"] is not None and cost["total"] > 0:
        out.print(f"cost ${cost['total']:,.2f}")
    elif cost["total"] is None:
        out.print("cost unknown: --prices FILE names prices")
    out.print(f"rows: {report['out']}   to read them: tbx report {report['out']}")


def _interval(found: Mapping[str, Any] | None) -> str:
    if found is None:
        return percent(None)
    return f"{percent(found['estimate'])} [{100 * found['low']:.1f}–{100 * found['high']:.1f}]"
