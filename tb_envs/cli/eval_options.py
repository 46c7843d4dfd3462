"""What ``tbx eval`` takes, and how it is read: options, fields of a request, parts by name or JSON, files of tasks.

Refuses to play and to open anything but a file of tasks.
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import Any, cast

from tb_envs.agents import BUILT_IN
from tb_envs.cli.parser import Namespace, Parser, faults_option, knobs_option, limits_option, whole
from tb_envs.cli.selection import select
from tb_envs.endpoints import DEFAULT_KEY
from tb_envs.errors import UsageError
from tb_envs.evaluation.context import ContextRule
from tb_envs.settings import SPLITS

RUNS = Path("runs/eval")


def eval_parser() -> Parser:
    """The parser of ``tbx eval``."""
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
        "--judge", type=_part, metavar="NAME|JSON", help="model that judges what only a reader can (default: none)"
    )
    faults_option(what)
    what.add_argument("--prices", type=Path, metavar="FILE.toml", help="price table; without one costs are unknown")
    how = parser.add_argument_group("how it is run (may differ when a campaign is resumed)")
    how.add_argument("--out", type=Path, metavar="DIR", help=f"the campaign's folder (default: {RUNS}/AGENT-SUITE)")
    how.add_argument("--concurrency", type=whole(1), default=16, metavar="N", help="attempts at a time (default: 16)")
    how.add_argument(
        "--retries", type=whole(0), default=3, metavar="N", help="of an attempt, after a system error (default: 3)"
    )
    how.add_argument("--retry-errors", action="store_true", help="play attempts again that ended as system errors")
    how.add_argument("--request-retries", type=whole(0), default=5, metavar="N", help="of a request (default: 5)")
    how.add_argument(
        "--max-errors", type=whole(1), default=10, metavar="N", help="failures in a row that stop (default: 10)"
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


def task_ids(args: Namespace) -> list[str]:
    """The tasks that ``--suite``, ``--domains`` and ``--tasks`` mean."""
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
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is no text in UTF-8 ({error}); a suite is a file with a task id a line") from None
    if "\0" in text:
        raise UsageError(f"{path} is no text; a suite is a file with a task id a line, or JSON")
    if text.lstrip()[:1] not in ("[", "{"):
        words = [line.partition("#")[0].strip() for line in text.splitlines()]
    else:
        try:
            value: Any = json.loads(text)
            entries = cast("list[Any]", value["tasks"] if isinstance(value, dict) else value)
            words = [entry if isinstance(entry, str) else str(entry["id"]) for entry in entries]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise UsageError(f"{path} holds no list of task ids ({type(error).__name__}: {error})") from None
    found = [word for word in words if word]
    if not found:
        raise UsageError(f"{path} names no task")
    return found


def folder_name(args: Namespace, agent: str) -> str:
    """A name for the campaign's folder that the same command gives again."""
    suite = Path(args.suite).stem if args.suite else "tasks" if args.tasks else "bench"
    return re.sub(r"[^A-Za-z0-9._-]+", "-", f"{agent}-{suite}").strip("-.")
