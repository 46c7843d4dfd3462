"""`tbx`: the suite on the command line. One command a file; a command's file is loaded only when it is named.

Exit codes: 0 done, 1 a check failed, 2 wrong usage (one line says what would be right), 130 interrupted (one line says
what was kept). Ctrl-C is how `serve`, `view` and `mcp` are meant to end: it ends them in order, with 0. A reader that
closes the pipe early is no error to talk about: it ends the command quietly, with 141.
"""

from __future__ import annotations

import contextlib
import difflib
import importlib
import os
import sys

from tb_envs import __version__
from tb_envs.cli.parser import Parser
from tb_envs.errors import DomainError, ThinkingBoxError, UsageError

COMMANDS = {
    "demo": "see it work: an episode as text, five agents, a small training",
    "tasks": "list tasks",
    "show": "read a task, a policy, the tools or a table",
    "domain": "what a domain contains",
    "play": "play the agent yourself, in the terminal",
    "run": "let an agent play tasks",
    "eval": "let a model or an agent play tasks many times: a campaign (a trained policy: evaluate)",
    "serve": "serve episodes to MCP clients over HTTP",
    "mcp": "serve one task to an MCP client on standard input and output",
    "images": "build the images that episodes in containers run from",
    "prune": "remove what dead processes left of containers",
    "probe": "let a model try tasks before it is trained",
    "select": "choose the tasks that are worth training on",
    "warmstart": "teach a model from demonstrations",
    "train": "train a model by GRPO",
    "evaluate": "let a policy play tasks that it never trained on (for the trainer; all else: eval)",
    "report": "what campaigns or training runs show, as one HTML file",
    "view": "watch a campaign in the browser while it goes on",
    "compare": "what changed from one campaign to another",
    "regrade": "judge a campaign's rows again with today's grader",
    "certify": "prove tasks and domains right",
    "lint": "check how domains are written",
}
"""Every command, in the order of the help, with what it is for."""
NOTHING_KEPT = {"eval": "nothing was begun, and rows that were there are kept"}
"""What an interrupt says that comes before the command itself is loaded, where there may be something of earlier."""


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    words = sys.argv[1:] if argv is None else list(argv)
    name = words[0] if words and words[0] in COMMANDS else ""
    caller = f"tbx {name}".strip()
    _print_anything()
    try:
        code = importlib.import_module(f"tb_envs.cli.{name}").main(words[1:]) if name else _without_command(words)
        sys.stdout.flush()
        return code
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except KeyboardInterrupt as stop:
        return _complain(f"{caller}: interrupted; {str(stop) or NOTHING_KEPT.get(name, 'nothing was kept')}", 130)
    except BrokenPipeError:
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except (UsageError, DomainError) as error:
        return _complain(f"{caller}: {error}", 2)
    except ThinkingBoxError as error:
        return _complain(f"{caller}: {type(error).__name__}: {error}", 1)
    except OSError as error:
        if error.filename is None:
            raise
        return _complain(f"{caller}: cannot use {error.filename}: {error.strerror}", 2)


def _without_command(words: list[str]) -> int:
    """``--version``, ``--help`` or nothing; anything else is a command that does not exist."""
    if words and not words[0].startswith("-"):
        near = difflib.get_close_matches(words[0], COMMANDS, 1)
        hint = f"; did you mean {near[0]}?" if near else f"; valid: {', '.join(COMMANDS)}"
        raise UsageError(f"unknown command {words[0]!r}{hint}")
    width = max(map(len, COMMANDS))
    listed = "\n".join(f"  {name:<{width}}  {purpose}" for name, purpose in COMMANDS.items())
    parser = Parser(
        "",
        "Business-workflow environments for tool-using language agents.",
        usage="tbx COMMAND ...",
        epilog=f"commands:\n{listed}\n\n`tbx COMMAND --help` says what a command takes.",
    )
    parser.add_argument("--version", action="version", version=f"tbx {__version__}")
    parser.read(words)
    parser.print_help()
    return 0


def _complain(message: str, code: int) -> int:
    """One line on the error stream, whatever the message holds."""
    with contextlib.suppress(BrokenPipeError):
        print(" ".join(message.split()), file=sys.stderr, flush=True)
    return code


def _print_anything() -> None:
    """Characters that the terminal cannot read or show are replaced instead of raising."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")
