"""``tbx prune``: what dead processes left of ``backend="docker"``. It is shown first, and removed when that is wanted.

Containers of living processes are never in the list, nor anything that does not carry this project's label.
"""

from __future__ import annotations

import sys

from tb_envs.cli.parser import Parser
from tb_envs.cli.screen import print_json, screen, table
from tb_envs.containers.images import old_images
from tb_envs.containers.prune import Leftover, clear, leftovers


def main(argv: list[str]) -> int:
    """Show, ask, remove."""
    parser = Parser(
        "prune",
        "Show what dead processes left of backend docker (containers, folders of sockets) and remove it after asking. "
        "Such containers end by themselves when their lease is over; this is for those that never began to run.",
    )
    parser.add_argument("--images", action="store_true", help="also images of sources that are no longer installed")
    parser.add_argument("--yes", action="store_true", help="remove without asking")
    parser.json_option()
    args = parser.read(argv)
    found = leftovers() + (old_images() if args.images else [])
    if args.json:
        if args.yes:
            clear(found)
        print_json({"found": [item._asdict() for item in found], "removed": bool(args.yes)})
        return 0
    out = screen()
    if not found:
        out.print("Nothing is left over.")
        return 0
    out.print(table(("kind", "name", "state", "left by"), [_row(item) for item in found]))
    if not (args.yes or _agreed(len(found))):
        out.print("Nothing was removed. `tbx prune --yes` removes it without asking.")
        return 0
    clear(found)
    out.print(f"Removed {len(found)}.")
    return 0


def _row(item: Leftover) -> tuple[str, str, str, str]:
    process = item.owner.split("/")[2] if item.owner.count("/") > 1 else ""
    name = item.name[:12] if item.kind == "container" else item.name
    return item.kind, name, item.state, f"process {process}" if process else ""


def _agreed(count: int) -> bool:
    """Whether somebody at a terminal says yes."""
    if not sys.stdin.isatty():
        return False
    return input(f"Remove {'it' if count == 1 else f'these {count}'}? [y/N] ").strip().lower() in ("y", "yes")
