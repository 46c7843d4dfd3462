"""The pictures of the README: pages about two campaigns that scripts of uneven skill play, seen by Debian's Chromium.

    python benchmarks/pictures.py            writes docs/pictures/*.png

No model plays; the scripts and the browser are those of the tests (`tests/campaign_parts.py`, `page_parts.py`), so the
same pages come out each time, but for the seconds in them. The tests take the same pictures of smaller campaigns, and
leave them in `$CI_ARTEFACTS/readme`.
"""

from __future__ import annotations

import argparse
import importlib
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from tb_envs.cli.compare import compare_folders
from tb_envs.cli.report import save
from tb_envs.evaluation.report.campaigns import Campaign
from tb_envs.evaluation.report.episodes import wrong_rows
from tb_envs.evaluation.report.page import write

ROOT = Path(__file__).parent.parent


def main() -> int:
    """Play, write the pages, take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "pictures", help="folder (default: docs/pictures)")
    parser.add_argument("--tasks", type=int, default=60, help="of each domain (default: 60)")
    parser.add_argument("--attempts", type=int, default=8, help="at each task (default: 8)")
    options = parser.parse_args()
    if not (shutil.which("chromium") or shutil.which("chromium-browser")):
        raise SystemExit("Chromium is missing: apt-get install --no-install-recommends chromium")
    sys.path.insert(0, str(ROOT / "tests"))
    parts: Any = importlib.import_module("campaign_parts")
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        tasks, attempts = parts.dev_tasks(options.tasks), options.attempts
        before = parts.make_campaign(root / "before", parts.UnevenPlayer(0.35, errors=0.01), tasks, attempts, seed=1)
        after = parts.make_campaign(root / "after", parts.UnevenPlayer(0.6, errors=0.01), tasks, attempts, seed=2)
        save(root / "report.html", write([Campaign(after)]))
        compared = compare_folders(before, after)
        save(root / "compare.html", write([Campaign(before), Campaign(after)], compared=compared))
        _take(root, _an_episode(parts.rows_of(after)), options.out)
    return 0


def _an_episode(rows: list[dict[str, Any]]) -> str:
    """A failure in which a record was changed that should have stayed; at best of a hotel, with some talk before."""
    fitting = [row for row in rows if _changed_wrongly(row)]
    if not fitting:
        raise SystemExit("no attempt changed a record that should have stayed: play more, --tasks 60")

    def fit(row: dict[str, Any]) -> tuple[Any, ...]:
        return row["domain"] != "hotel", row["user_turns"] <= 2, row["turns"], row["task_id"], row["attempt"]

    chosen = min(fitting, key=fit)
    return f"{chosen['task_id']}/{chosen['attempt']}"


def _changed_wrongly(row: dict[str, Any]) -> bool:
    wrong = wrong_rows(row, {})
    changes = [event["data"] for event in row["log"] if event["kind"] == "row"]
    return any(data["before"] and data["after"] and (data["table"], data["key"]) in wrong for data in changes)


def _take(root: Path, opened: str, out: Path) -> None:
    pages: Any = importlib.import_module("page_parts")
    shots = (
        ("report", "report.html", 1280, 1120, "light"),
        ("episode", f"report.html#{opened}", 1280, 900, "light"),
        ("compare", "compare.html", 1280, 1120, "light"),
        ("phone-dark", f"report.html#{opened}", 390, 844, "dark"),
    )
    with pages.open_chromium() as browser:
        for name, address, width, height, scheme in shots:
            url = f"{root.as_uri()}/{address}"
            reader = pages.Reader(browser, url, width=width, height=height, color_scheme=scheme)
            if opened in address:
                reader.page.locator("dialog .talk").wait_for()
            pages.picture(reader.page, name, out)
            print(out / f"{name}.png")
            reader.done()


if __name__ == "__main__":
    sys.exit(main())
