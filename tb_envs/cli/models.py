"""Options of the commands for who plays the customer and who judges: a name, or a JSON object with its options."""

from __future__ import annotations

import argparse
import json
from typing import Any, cast

from tb_envs.cli.parser import Parser


def part_options(parser: Parser) -> None:
    """``--user`` and ``--judge``, as of `tb_envs.settings.Settings`."""
    parser.add_argument(
        "--user",
        type=read_part,
        default="scripted",
        metavar="NAME|JSON",
        help="the customer: scripted, llm, or an object such as "
        '\'{"kind": "llm", "model": "NAME", "base_url": "URL", "record": "user.jsonl"}\' (default: scripted)',
    )
    parser.add_argument(
        "--judge", type=read_part, metavar="NAME|JSON", help="a model for criteria that only words show (default: none)"
    )


def read_part(text: str) -> str | dict[str, Any]:
    """A name, or a JSON object with the name under ``kind``."""
    if not text.lstrip().startswith("{"):
        return text
    try:
        value: Any = json.loads(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"this begins like JSON and is none ({error})") from None
    return cast("dict[str, Any]", value)
