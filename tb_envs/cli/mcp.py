"""``tbx mcp``: one task as an MCP server on standard input and output, for a desktop client."""

from __future__ import annotations

import asyncio
import sys

from tb_envs.cli.parser import Parser, faults_option, knobs_option, limits_option
from tb_envs.cli.serve import customer_option, deadline_option, needed
from tb_envs.limits import Limits
from tb_envs.settings import Settings
from tb_envs.task import get_task


def main(argv: list[str]) -> int:
    """Serve one episode; exit code 0 whatever the verdict is."""
    parser = Parser("mcp", "One task as an MCP server on standard input and output. One process is one episode.")
    parser.add_argument("task", metavar="TASK", help="a task id, e.g. hotel/late_cancellation/0")
    customer_option(parser)
    parser.add_argument("--traces", metavar="DIR", help="write the episode as JSON: talk, calls, changed rows, verdict")
    faults_option(parser)
    limits_option(parser)
    knobs_option(parser)
    deadline_option(parser)
    args = parser.read(argv)
    settings = Settings(
        limits=Limits.of(args.limits), trace_dir=args.traces, knobs=args.knobs, faults=args.faults or None
    )
    task = get_task(args.task, args.knobs)
    with needed():
        from tb_envs.mcp.stdio import serve_stdio

        ended = asyncio.run(serve_stdio(task, settings, customer_tool=args.customer_tool, deadline=args.deadline))
    print(f"tbx mcp: {ended['outcome']} (ended by {ended['ended_by']})", file=sys.stderr)
    return 0
