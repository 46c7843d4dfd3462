"""``tbx report``: what runs show, as one HTML file that needs no network.

Folders of ``tbx eval`` get the report on campaigns, where every episode can be read; all others are runs of the
trainer, which writes its own. Refuses to mix the two, and to overwrite what is no report.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tb_envs.cli.parser import Parser
from tb_envs.cli.screen import percent, print_json, screen, table
from tb_envs.errors import UsageError

MANIFEST, LOG = "campaign.json", "log.jsonl"
"""What tells a campaign's folder, and one of a training run."""
GENERATOR = 'content="tbx report"'
VALUES = {"--out": 1, "--compare": 2}
"""How many words after these are no runs."""


def main(argv: list[str]) -> int:
    """Write a report."""
    from tb_envs.evaluation.named import named

    runs = list(_runs(argv))
    if {"-h", "--help"} & set(argv):
        return report_campaigns(argv)
    for path in runs:
        if not path.exists():
            raise UsageError(
                f"{path} does not exist; name the folder of a campaign (`tbx eval`) or of a training run (`tbx train`)"
            )
    if any(named(path).is_campaign for path in runs):
        return report_campaigns(argv)
    for path in runs:
        if path.is_file():
            raise UsageError(f"{path} has no {MANIFEST} beside it, which a report on a campaign needs")
        if not (path / LOG).is_file():
            raise UsageError(
                f"{path} holds nothing to report: no {MANIFEST} of a campaign (`tbx eval`), and no {LOG} of a training "
                "run (`tbx train`)"
            )
    from tb_trainer.report.command import main as report

    return report(argv)


def _runs(argv: Iterable[str]) -> Iterator[Path]:
    """What is to be reported, of the words of a command line."""
    skip = 0
    for word in argv:
        if skip:
            skip -= 1
        elif word.startswith("-"):
            skip = VALUES.get(word, 0)
        else:
            yield Path(word)


def report_campaigns(argv: Sequence[str]) -> int:
    """Read campaigns and write what they show."""
    from tb_envs.evaluation.named import named
    from tb_envs.evaluation.report.campaigns import names_of, open_campaigns
    from tb_envs.evaluation.report.page import write

    parser = Parser(
        "report",
        "Show what campaigns (`tbx eval`) or training runs (`tbx train`) did, as one HTML file that needs no network.",
        epilog=f"A campaign's folder holds {MANIFEST}, a training run's {LOG}; the two are reported apart. A file of "
        "attempts in a campaign's folder, as `tbx regrade` writes, is reported with its own verdicts. Of training "
        "runs, --compare BEFORE.jsonl AFTER.jsonl pairs two files of `tbx evaluate`.",
    )
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="folders of either; several: side by side")
    where = "default: report.html in the only RUN, or here; of a file of attempts, beside it"
    parser.add_argument("--out", type=Path, metavar="FILE.html", help=where)
    parser.json_option()
    args = parser.read(list(argv))
    strange = [str(path) for path in args.runs if not named(path).is_campaign]
    if strange:
        raise UsageError(f"{', '.join(strange)} is no campaign of `tbx eval`, the others are; report them apart")
    campaigns = open_campaigns(args.runs)
    out: Path = args.out or (campaigns[0].page if len(campaigns) == 1 else Path("report.html"))
    save(out, write(campaigns))
    _say(args, out, dict(zip(names_of(campaigns), campaigns, strict=True)))
    return 0


def save(out: Path, pieces: Iterable[str]) -> None:
    """Put a report in place, over an older report if there is one.

    Raises:
        UsageError: the file is something else, or cannot be written; then nothing of it is left behind.
    """
    if out.is_dir():
        raise UsageError(f"--out {out} is a folder; name a file in it")
    if out.exists():
        with out.open("rb") as file:
            if GENERATOR not in file.read(2000).decode("utf-8", "replace"):
                raise UsageError(f"{out} is no report; name another file")
    draft = out.with_name(f".{out.name}.draft")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with draft.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(pieces)
        os.replace(draft, out)
    except OSError as error:
        raise UsageError(
            f"{error.filename or out}: {error.strerror or error}; the report is not written. Make room, or name "
            "another --out"
        ) from error
    finally:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)


def _say(args: Any, out: Path, campaigns: Mapping[str, Any]) -> None:
    found = {name: campaign.summary() for name, campaign in campaigns.items()}
    if args.json:
        print_json({"out": str(out), "runs": [{"run": str(campaigns[name].named.path), "name": name, "summary": summary}
                                              for name, summary in found.items()]})  # fmt: skip
        return
    console = screen()
    rows = [
        (name, one["counted"], one["system_errors"], _interval(one["headline"]["pass_at_1"]),
         *(percent(one[anchor]["pass_at_1"]) for anchor in ("floor", "ceiling")))
        for name, one in found.items()
    ]  # fmt: skip
    titles = ("run", "attempts", "system errors", "pass@1 [95 %]", "floor", "ceiling")
    console.print(table(titles, rows, numbers=("attempts", "system errors", "floor", "ceiling"), close=True))
    console.print(f"report: {out}", soft_wrap=True)


def _interval(found: Mapping[str, float] | None) -> str:
    if found is None:
        return percent(None)
    return f"{percent(found['estimate'])} [{100 * found['low']:.1f}, {100 * found['high']:.1f}]"
