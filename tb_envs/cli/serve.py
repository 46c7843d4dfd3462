"""``tbx serve``: episodes for MCP clients over HTTP, with a control plane of its own."""

from __future__ import annotations

import json
import os
import secrets
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from tb_envs.cli.parser import Namespace, Parser, limits_option, whole
from tb_envs.cli.screen import print_json
from tb_envs.errors import UsageError
from tb_envs.limits import Limits
from tb_envs.settings import BACKENDS, Settings, kind_of, options_of

EPILOG = """\
The agents' plane is /episodes/<id>/mcp. The control plane is /control and needs the token:
  POST   /control/sessions             {"task_id": ..., "mode": "episode"}
  GET    /control/sessions
  POST   /control/sessions/<id>/say    {"text": ...}
  POST   /control/sessions/<id>/finish
  GET    /control/sessions/<id>/journal?after=0
  DELETE /control/sessions/<id>
/healthz, /readyz and /metrics are open. SIGTERM drains; a second one ends at once."""


def main(argv: list[str]) -> int:
    """Serve until a signal ends it."""
    parser = Parser("serve", "Serve episodes to MCP clients over streamable HTTP.", epilog=EPILOG)
    parser.add_argument(
        "--http", metavar="HOST:PORT", default="127.0.0.1:8765", help="where to listen; port 0 is any free one"
    )
    parser.add_argument("--unix", metavar="PATH", default="", help="listen on a unix socket instead")
    parser.add_argument("--token-env", metavar="NAME", help="the environment variable that holds the control token")
    parser.add_argument(
        "--token-file", type=Path, metavar="FILE", help="write a new control token there, readable by you alone"
    )
    parser.add_argument(
        "--backend",
        metavar="KIND|JSON",
        default="embedded",
        help='where databases are: embedded, docker, or with options, such as \'{"kind": "docker", "pool": 16}\'',
    )
    parser.add_argument("--store", metavar="URL", help="a PostgreSQL server for them: postgresql://…")
    parser.add_argument("--max-sessions", type=whole(1), default=256, metavar="N", help="open at once (default: 256)")
    parser.add_argument(
        "--idle", type=whole(1), default=1800, metavar="SECONDS", help="a silent session ends then (default: 1800)"
    )
    parser.add_argument(
        "--lease",
        type=whole(30),
        default=120,
        metavar="SECONDS",
        help="a trainer's session (mode backend) that nobody renews ends then (default: 120)",
    )
    for part in ("user", "judge"):
        parser.add_argument(
            f"--{part}",
            action="append",
            default=[],
            metavar="NAME=JSON",
            help=f"a {part} that a session may choose by this name, with the options of its model; may be repeated",
        )
    deadline_option(parser)
    parser.add_argument(
        "--grace", type=whole(0), default=30, metavar="SECONDS", help="for conversations after SIGTERM (default: 30)"
    )
    customer_option(parser)
    limits_option(parser)
    parser.json_option()
    args = parser.read(argv)
    host, port = _address(args.http)
    token = _token(args)
    backend = _backend(args)
    with needed():
        from tb_envs.mcp.databases import leased, timed, try_it
        from tb_envs.mcp.hub import Rules
        from tb_envs.mcp.serve import Options, Served, listen, serve

        try_it(timed(leased(backend, args.deadline), args.deadline))
        rules = Rules(
            max_sessions=args.max_sessions,
            idle=args.idle,
            lease=args.lease,
            deadline=args.deadline,
            settings=Settings(backend=backend, limits=Limits.of(args.limits)),
            customer_tool=args.customer_tool,
            users=_named("user", args.user),
            judges=_named("judge", args.judge),
        )
        options = Options(host=host, port=port, unix=args.unix, token=token, rules=rules, grace=args.grace)
        served = Served(options, listen(options))
    _announce(args, served.url, token)
    serve(served)
    return 0


def customer_option(parser: Parser) -> None:
    """``--customer-tool``."""
    parser.add_argument(
        "--customer-tool",
        action="store_true",
        help="give the agent a tool that speaks to the customer, for clients that cannot hold the talk",
    )


def deadline_option(parser: Parser) -> None:
    """``--deadline``."""
    parser.add_argument(
        "--deadline", type=whole(1), default=60, metavar="SECONDS", help="for one tool call (default: 60)"
    )


@contextmanager
def needed() -> Generator[None]:
    """What is missing is said with the command that installs it."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types", "starlette", "uvicorn"):
            raise
        raise UsageError(f"this needs {error.name}: pip install 'thinkingbox-gym[mcp]'") from None


def _address(text: str) -> tuple[str, int]:
    host, mark, port = text.rpartition(":")
    if not mark or not port.isdigit() or int(port) > 65535:
        raise UsageError(f"--http is HOST:PORT, such as 127.0.0.1:8765, got {text!r}")
    return host.strip("[]") or "127.0.0.1", int(port)


def _named(part: str, words: list[str]) -> dict[str, Mapping[str, Any]]:
    """The customers or judges that a session may choose, checked as an episode's own."""
    found: dict[str, Mapping[str, Any]] = {}
    for word in words:
        name, mark, options = word.partition("=")
        try:
            given: Any = json.loads(options)
        except (ValueError, RecursionError):
            given = None
        if not mark or not name or name == "scripted" or not isinstance(given, dict):
            example = f'--{part} \'strict={{"kind": "llm", "model": "m", "base_url": "http://…/v1"}}\''
            raise UsageError(f"--{part} is NAME=JSON, such as {example}, got {word[:200]!r}")
        chosen = cast("dict[str, Any]", given)
        _ = Settings(user=chosen) if part == "user" else Settings(judge=chosen)
        found[name] = chosen
    return found


def _backend(args: Namespace) -> str | dict[str, Any]:
    """The backend of all sessions, as `Settings` takes it. Their deadline is the server's, not an option of it."""
    given: Any = args.backend
    if given.lstrip().startswith("{"):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            raise UsageError(f"--backend is no JSON: {given[:200]!r}") from None
    kind, options = kind_of("backend", given, BACKENDS[:2]), options_of(given)
    if "deadline" in options:
        raise UsageError("--backend: a call's deadline is the session's own; write --deadline SECONDS")
    if args.store is not None and kind != "embedded":
        raise UsageError(
            f"--store is for --backend embedded: databases of backend {kind!r} are in containers without a network"
        )
    if args.store is not None:
        options["store"] = args.store
    return {"kind": kind, **options} if options else kind


def _token(args: Namespace) -> str:
    """The control token: the one that is named, or a new one."""
    if args.token_env is None:
        return secrets.token_urlsafe(32)
    token = os.environ.get(args.token_env, "")
    if len(token) < 16:
        raise UsageError(f"--token-env {args.token_env}: the variable must hold a token of at least 16 characters")
    return token


def _announce(args: Namespace, url: str, token: str) -> None:
    """Say where it is, and a new token once."""
    if args.token_file is not None:
        args.token_file.unlink(missing_ok=True)
        with open(os.open(args.token_file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="utf-8") as file:
            file.write(token)
        where = f"the control token is in {args.token_file}"
    elif args.token_env is not None:
        where = f"the control token is that of {args.token_env}"
    else:
        where = f"control token, shown once: {token}"
    if args.json:
        print_json({"url": url, "pid": os.getpid()})
        sys.stdout.flush()
    print(f"tbx serve: {url}; {where}", file=sys.stderr, flush=True)
