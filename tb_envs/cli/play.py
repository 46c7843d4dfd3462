"""``tbx play``: a person plays the agent in the terminal, and is judged like one."""

from __future__ import annotations

import contextlib
import importlib
import sys

from rich.text import Text

from tb_envs.cli.models import part_options
from tb_envs.cli.parser import Parser, choose, limits_option
from tb_envs.cli.readable import print_result, print_verdict
from tb_envs.cli.screen import Screen, print_json, screen
from tb_envs.cli.show import show_policy, show_tools
from tb_envs.cli.typed import read_typed
from tb_envs.driving import complete
from tb_envs.episode import Episode, Settings
from tb_envs.errors import UsageError
from tb_envs.limits import Limits
from tb_envs.task import get_task
from tb_envs.trace import episode_record

HELP = """\
Plain text is said to the customer. A tool is called by its name:
  get_booking booking_id=BK-20418
  add_note guest_id=GU-10231 text="prefers a quiet room"
or as JSON: {"name": "get_booking", "arguments": {"booking_id": "BK-20418"}}
end_conversation and hand_over are tools too: they end the talk.
So does the end of the input (Ctrl-D).
  /tools         all tools        /tools NAME    one tool with its arguments
  /policy        the policy       /help          this text"""
COMMANDS = ("/tools", "/policy", "/help")


def main(argv: list[str]) -> int:
    """Play one task with a person as the agent."""
    parser = Parser("play", "Play the agent yourself. What counts is what the records say at the end.", epilog=HELP)
    parser.add_argument("task", metavar="TASK", help="a task id, e.g. hotel/late_cancellation/0")
    limits_option(parser)
    part_options(parser)
    parser.json_option()
    args = parser.read(argv)
    task = get_task(args.task)
    episode = Episode(Settings(limits=Limits.of(args.limits), user=args.user, judge=args.judge))
    out = screen()
    out.quiet = args.json
    try:
        complete(episode.reset(task), episode.settings.suspends)
        _talk(episode, out)
        complete(episode.finish(), episode.settings.suspends)
    finally:
        episode.close()
    if args.json:
        print_json(episode_record(episode))
    else:
        print_verdict(out, episode)
    return 0


def _talk(episode: Episode, out: Screen) -> None:
    """Turns until the conversation or the input ends."""
    assert episode.task is not None
    task = episode.task
    out.print(f"You are the agent. {task.domain.role} It is {task.now}.")
    out.print("Speak, or call tools; /help says how, /policy what is allowed, /tools what you have.\n")
    shown = _print_news(episode, 0, out)
    while not episode.over:
        line = _read_line(out)
        if line is None:
            return
        try:
            if line.startswith("/"):
                _command(line, episode, out)
            elif line:
                action = read_typed(line, task.tools)
                observation = complete(episode.act(action), episode.settings.suspends)
                if observation.startswith("[system]"):
                    out.print(observation)
                shown = _print_news(episode, shown, out)
        except UsageError as error:
            out.print(str(error))


def _read_line(out: Screen) -> str | None:
    """The next line; None at the end of the input. Piped lines are echoed, so that the talk can be read."""
    if sys.stdin.isatty() and not out.quiet:
        with contextlib.suppress(ImportError):
            importlib.import_module("readline")  # gives `input` a history and line editing
        try:
            return input("agent> ").strip()
        except EOFError:
            return None
    line = sys.stdin.readline()
    if not line:
        return None
    out.print(Text(f"agent> {line.strip()}"))
    return line.strip()


def _command(line: str, episode: Episode, out: Screen) -> None:
    assert episode.task is not None
    domain, tools = episode.task.domain, episode.task.tools
    name, _, rest = line.partition(" ")
    choose(name, COMMANDS, "command")
    if out.quiet:
        return
    if name == "/help":
        out.print(HELP)
    elif name == "/policy":
        show_policy(domain)
    elif rest.strip():
        show_tools(domain, only=choose(rest.strip(), domain.tools, "tool"))
    else:
        out.pairs((tool.name, tool.description) for tool in tools.values())


def _print_news(episode: Episode, start: int, out: Screen) -> int:
    """Print what came in since `start`: the customer's words and the tools' answers. Changed rows stay for the end."""
    for event in episode.log[start:]:
        if event.kind == "heard":
            out.print(Text.assemble(("customer: ", "bold cyan"), event.text))
        elif event.kind == "result":
            print_result(out, event)
    return len(episode.log)
