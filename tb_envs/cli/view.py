"""``tbx view RUN``: the report of a campaign that is still going, as a page on this machine. Ctrl-C ends it."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

from tb_envs.cli.parser import Parser, whole
from tb_envs.cli.screen import screen
from tb_envs.errors import UsageError


def main(argv: list[str]) -> int:
    """Serve the page until interrupted."""
    from tb_envs.evaluation.report.campaigns import open_campaigns
    from tb_envs.evaluation.view import LOOPBACK, POLL, Live, make_server

    parser = Parser("view", "Watch a campaign in the browser while it goes on; the page keeps itself up to date.")
    parser.add_argument(
        "runs", nargs="+", type=Path, metavar="RUN", help="folders of `tbx eval`, or files of attempts in them"
    )
    parser.add_argument("--port", type=whole(0), default=0, metavar="N", help="default: any that is free")
    parser.add_argument(
        "--host", default="127.0.0.1", metavar="ADDRESS", help="default: 127.0.0.1, which only this machine reaches"
    )
    parser.json_option()
    args = parser.read(argv)
    campaigns = open_campaigns(args.runs)
    try:
        server = make_server(Live(campaigns, POLL), args.host, args.port)
    except (OSError, OverflowError) as error:
        raise UsageError(f"cannot listen on {args.host} port {args.port}: {error}") from None
    url = f"http://{args.host}:{server.server_address[1]}/"
    if args.json:
        print(json.dumps({"url": url, "runs": [str(campaign.named.path) for campaign in campaigns]}), flush=True)
    else:
        console = screen()
        console.print(f"{url}   (Ctrl-C ends it)", soft_wrap=True)
        if args.host not in LOOPBACK:
            console.print(f"whoever reaches {args.host} can read these campaigns", soft_wrap=True)
    with server, contextlib.suppress(KeyboardInterrupt):
        server.serve_forever(poll_interval=0.2)
    return 0
