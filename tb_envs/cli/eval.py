"""``tbx eval``: a campaign. A model or an agent plays every task so often; a row per attempt, kept as it ends.

The same command resumes a campaign that was stopped, however it was stopped. System errors are tried again and counted
apart; a campaign whose endpoint is broken stops and says so in the server's own words.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tb_envs.agents import BUILT_IN
from tb_envs.cli.campaign_bar import campaign_bar
from tb_envs.cli.eval_options import RUNS, eval_parser, folder_name, task_ids
from tb_envs.cli.parser import Namespace
from tb_envs.cli.screen import Screen, between, count_of, percent, print_json, screen
from tb_envs.errors import UsageError
from tb_envs.evaluation.manifest import open_folder
from tb_envs.evaluation.pacing import Breaker, CampaignStopped
from tb_envs.evaluation.planning import Plan, make_plan
from tb_envs.evaluation.players import ModelPlayer
from tb_envs.evaluation.prices import read_prices
from tb_envs.evaluation.rows import FILE, RowNotKept, read_rows
from tb_envs.evaluation.runner import Campaign, run_campaign
from tb_envs.evaluation.running import Running
from tb_envs.evaluation.seating import Asked, describe, on_this_machine, open_player
from tb_envs.limits import Limits
from tb_envs.settings import Settings
from tb_envs.task import get_task


def main(argv: list[str]) -> int:
    """Run a campaign, or go on with it, and print its headline."""
    args = eval_parser().read(argv)
    if args.agent and args.agent not in BUILT_IN and os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    asked = _asked(args)
    command = shlex.join(["tbx", "eval", *argv])
    folder = args.out or RUNS / folder_name(args, asked.name)
    running = Running(0)
    try:
        plan = _plan(args, asked, folder)
        resumed = open_folder(folder, plan.manifest)
        running = Running(len(plan.tasks) * args.attempts)
        asyncio.run(_run(args, asked, plan, running))
        report = _report(args, asked, plan, running, resumed)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"{_kept(running, folder)}; to go on: {command}") from None
    except CampaignStopped as stopped:
        limit = "--max-errors sets how many are too many"
        raise CampaignStopped(f"{stopped}. {limit}. {_kept(running, folder)}; to go on: {command}") from None
    except RowNotKept as error:
        raise RowNotKept(f"{error}. {_kept(running, folder)}; when that is mended, to go on: {command}") from error
    except UsageError as error:
        raise UsageError(f"{error}. {_kept(running, folder)}" if running.playing else str(error)) from error
    except OSError as error:
        where = f" {error.filename}" if error.filename else ""
        raise RowNotKept(
            f"the system refused{where}: {error.strerror or error}. {_kept(running, folder)}; to go on: {command}"
        ) from error
    if args.json:
        print_json(report)
    else:
        _print_report(screen(), report, asked.kind)
    return 0


def _asked(args: Namespace) -> Asked:
    base_url = args.base_url
    if args.model and not base_url and not on_this_machine(args.model):
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


def _plan(args: Namespace, asked: Asked, folder: Path) -> Plan:
    settings = Settings(
        backend=args.backend,
        user=args.user,
        judge=args.judge,
        limits=Limits.of(args.limits),
        faults=args.faults or None,
        knobs=args.knobs,
    )
    return make_plan(
        folder,
        describe(asked),
        [get_task(task_id, settings.knobs) for task_id in task_ids(args)],
        attempts=args.attempts,
        seed=args.seed,
        settings=settings,
        context=args.context,
        prices=read_prices(args.prices) if args.prices else None,
    )


# -- running


async def _run(args: Namespace, asked: Asked, plan: Plan, running: Running) -> None:
    breaker = Breaker(args.max_errors, len(plan.tasks))
    player = open_player(asked, concurrency=args.concurrency, breaker=breaker)
    if isinstance(player, ModelPlayer):
        running.notice = player.notice
    campaign = Campaign(
        folder=plan.folder,
        tasks=plan.tasks,
        attempts=args.attempts,
        player=player,
        settings=plan.settings,
        breaker=breaker,
        price=lambda part, tokens: plan.price(part, asked.model, tokens),
        agent=plan.manifest["agent"],
        seed=args.seed,
        context=args.context,
        concurrency=args.concurrency,
        retries=args.retries,
        first_wait=2 * args.backoff,
        retry_errors=args.retry_errors,
    )
    with campaign_bar(running, asked.name, quiet=args.json):
        await run_campaign(campaign, running)


def _kept(running: Running, folder: Path) -> str:
    """What there is of the campaign now; the rows that are there were not counted before it plays."""
    if not (folder / FILE).is_file():
        return f"nothing is kept in {folder}"
    if not running.playing:
        return f"{folder} is as it was, and its rows are kept"
    return f"{running.done} of {running.total} attempts are kept in {folder}"


# -- telling


def _report(args: Namespace, asked: Asked, plan: Plan, running: Running, resumed: bool) -> dict[str, Any]:
    from tb_envs.evaluation.summary import summarize

    reasons = Counter(plan.excluded.values())
    rows = read_rows(plan.folder)
    summary = summarize(rows.every(), knobs=args.knobs, planned=running.total, excluded=dict(reasons))
    return {"out": str(plan.folder), "agent": asked.name, "resumed": resumed, "summary": summary}


def _print_report(out: Screen, report: Mapping[str, Any], kind: str) -> None:
    summary = report["summary"]
    headline = summary["headline"]
    k = summary["k"]
    over = f"{summary['counted']} attempts at {summary['tasks']} tasks"
    lost = summary["outcomes"].get("error:user", 0)
    every = sum(summary["outcomes"].values())
    beside = (
        f"; the customer's model broke {percent(lost / every)} of all {every} attempts (error:user)" if lost else ""
    )
    out.print(f"{report['agent']}: pass@1 {_interval(headline['pass_at_1'])} over {over}{beside}")
    if k > 1:
        out.print(
            f"pass@{k} {_interval(headline['pass_at_k'])}, pass^{k} {_interval(headline['pass_hat_k'])}, "
            f"{k} of {k} at {headline['observed_k_of_k']['passed']} tasks"
        )
    out.print(f"at these tasks {between(summary)}")
    cannot, rest = summary["impossible"]["with"], summary["impossible"]["without"]
    if cannot["tasks"]:
        out.print(
            f"requests that cannot be met: pass@1 {_interval(cannot['pass_at_1'])} at {cannot['tasks']} tasks; "
            f"all others {_interval(rest['pass_at_1'])}"
        )
    if summary["system_errors"]:
        named = ", ".join(f"{count} {name}" for name, count in summary["outcomes"].items() if name.startswith("error:"))
        out.print(
            f"{summary['system_errors']} attempts ended in system errors and do not count ({named}); "
            f"counted as failures pass@1 is {_interval(headline['pass_at_1_all'])}. --retry-errors plays them again"
        )
    unread = summary["tool_errors"]
    if unread["malformed"]:
        turns, attempts = count_of(unread["malformed"], "turn"), count_of(unread["attempts_malformed"], "attempt")
        out.print(f"{turns} in {attempts} could not be read")
    for reason, count in summary["excluded"].items():
        out.print(f"{count} tasks were left out: {reason}")
    cost = summary["cost"]
    if cost["total"] is not None and cost["total"] > 0:
        out.print(f"cost ${cost['total']:,.2f}")
    elif cost["total"] is None:
        paid = "what a Python function pays is told nowhere" if kind == "callable" else "--prices FILE names prices"
        out.print(f"cost unknown: {paid}")
    out.print(f"rows: {report['out']}   to read them: tbx report {report['out']}")


def _interval(found: Mapping[str, Any] | None) -> str:
    if found is None:
        return percent(None)
    return f"{percent(found['estimate'])} [{100 * found['low']:.1f}–{100 * found['high']:.1f}]"
