"""Reading the command line: a parser whose every complaint is one line that says what would be right."""

from __future__ import annotations

import argparse
import difflib
import textwrap
from collections.abc import Callable, Iterable, Sequence
from typing import NoReturn

from tb_envs.errors import UsageError
from tb_envs.knobs import Knobs, read_knobs

Namespace = argparse.Namespace


class Parser(argparse.ArgumentParser):
    """The parser of one command. It raises `UsageError` instead of printing a usage text."""

    def __init__(self, command: str, description: str, *, usage: str | None = None, epilog: str | None = None) -> None:
        super().__init__(
            prog=f"tbx {command}".strip(),
            description=textwrap.fill(description, 78),
            usage=usage,
            epilog=epilog,
            allow_abbrev=False,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )

    def json_option(self) -> None:
        """Every command that reports takes ``--json``."""
        self.add_argument("--json", action="store_true", help="print one JSON object with stable keys, nothing else")

    def read(self, argv: Sequence[str]) -> Namespace:
        """The arguments; what is left over is an error with its nearest match."""
        found, extra = self.parse_known_args(argv)
        if extra:
            first = extra[0].partition("=")[0]
            if not first.startswith("-"):
                raise UsageError(f"unexpected argument {extra[0]!r}; see {self.prog} --help")
            options = [text for action in self._actions for text in action.option_strings if text.startswith("--")]
            near = difflib.get_close_matches(first, options, 1)
            hint = f"did you mean {near[0]}?" if near else f"valid: {', '.join(sorted(options))}"
            raise UsageError(f"unknown option {first}; {hint}")
        return found

    def error(self, message: str) -> NoReturn:
        """Turn the parser's own complaint into a `UsageError`."""
        raise UsageError(f"{message}; see {self.prog} --help")


def whole(least: int) -> Callable[[str], int]:
    """The type of an option that takes a whole number of at least `least`."""

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = least - 1
        if number < least:
            raise argparse.ArgumentTypeError(f"a whole number of at least {least} is meant, got {text!r}")
        return number

    return read


def amounts(example: str, kind: type[int] | type[float]) -> Callable[[str], dict[str, int | float]]:
    """The type of an option that takes ``name=number,name=number``."""

    def read(text: str) -> dict[str, int | float]:
        out: dict[str, int | float] = {}
        for part in text.split(","):
            name, mark, number = part.partition("=")
            try:
                out[name.strip()] = kind(number)
            except ValueError:
                mark = ""
            if not mark:
                raise argparse.ArgumentTypeError(f"write it like {example}, got {text!r}")
        return out

    return read


def limits_option(parser: Parser) -> None:
    """``--limits``, as of `tb_envs.limits.Limits`."""
    parser.add_argument(
        "--limits",
        type=amounts("turns=20,tool_calls=40", int),
        default={},
        metavar="NUMBERS",
        help="how long an episode may last: turns=20,tool_calls=40,tokens=8000",
    )


def faults_option(parser: argparse._ActionsContainer) -> None:  # pyright: ignore[reportPrivateUsage]
    """``--faults``, as of `tb_envs.session.faults`."""
    parser.add_argument(
        "--faults",
        type=amounts("timeout=0.02,crash=0.01", float),
        default={},
        metavar="CHANCES",
        help="injected system errors, chances per call: timeout=0.02,crash=0.01",
    )


def knobs_option(parser: Parser) -> None:
    """``--knobs``, as of `tb_envs.knobs.Knobs`."""
    parser.add_argument(
        "--knobs",
        type=read_knobs,
        default=Knobs(),
        metavar="KNOBS",
        help="harder than written, same right end: distractors=10,lookalikes=2,manner=terse,stale_articles=5",
    )


def choose(name: str, options: Iterable[str], what: str) -> str:
    """`name` if it is one of the options; a `UsageError` with near matches if not."""
    listed = list(options)
    if name in listed:
        return name
    near = difflib.get_close_matches(name, listed, 3)
    hint = f"did you mean {', '.join(near)}?" if near else f"valid: {', '.join(listed) or 'none'}"
    raise UsageError(f"unknown {what} {name!r}; {hint}")
