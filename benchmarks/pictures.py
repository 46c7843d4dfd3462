"""The pictures of the README: pages about two campaigns that scripts of uneven skill play, seen by Debian's Chromium.

    python benchmarks/pictures.py            writes docs/pictures/*.png

No model plays; the scripts are those of the tests (`tests/campaign_parts.py`), so the same pages come out each time,
but for the seconds in them.
"""

from __future__ import annotations

import importlib
import os
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
PICTURES = ROOT / "docs" / "pictures"


def main() -> int:
    """Play, write the pages, take the pictures."""
    sys.path.insert(0, str(ROOT / "tests"))
    parts: Any = importlib.import_module("campaign_parts")
    PICTURES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        tasks = parts.dev_tasks(60)
        before = parts.make_campaign(root / "before", parts.UnevenPlayer(0.35, errors=0.01), tasks, 8, seed=1)
        after = parts.make_campaign(root / "after", parts.UnevenPlayer(0.6, errors=0.01), tasks, 8, seed=2)
        save(root / "report.html", write([Campaign(after)]))
        compared = compare_folders(before, after)
        save(root / "compare.html", write([Campaign(before), Campaign(after)], compared=compared))
        opened = _an_episode(parts.rows_of(after))
        _take(root, opened)
    return 0


def _an_episode(rows: list[dict[str, Any]]) -> str:
    """A failure in which a record of a hotel was changed that should have stayed, with some talk before."""
    fitting = [row for row in rows if row["domain"] == "hotel" and row["user_turns"] > 2 and _changed_wrongly(row)]
    chosen = min(fitting, key=lambda row: (row["turns"], row["task_id"], row["attempt"]))
    return f"{chosen['task_id']}/{chosen['attempt']}"


def _changed_wrongly(row: dict[str, Any]) -> bool:
    wrong = wrong_rows(row, {})
    changes = [event["data"] for event in row["log"] if event["kind"] == "row"]
    return any(data["before"] and data["after"] and (data["table"], data["key"]) in wrong for data in changes)


def _take(root: Path, opened: str) -> None:
    from playwright.sync_api import sync_playwright

    found = shutil.which("chromium")
    if not found:
        raise SystemExit("Chromium is missing: apt-get install --no-install-recommends chromium")
    shots = (
        ("report", "report.html", 1280, 1120, "light"),
        ("episode", f"report.html#{opened}", 1280, 900, "light"),
        ("compare", "compare.html", 1280, 1120, "light"),
        ("phone-dark", f"report.html#{opened}", 390, 844, "dark"),
    )
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=found, args=["--no-sandbox"] if os.geteuid() == 0 else [])
        for name, address, width, height, scheme in shots:
            page = browser.new_page(
                viewport={"width": width, "height": height},
                color_scheme="dark" if scheme == "dark" else "light",
                reduced_motion="reduce",
            )
            page.goto(f"{root.as_uri()}/{address}")
            page.locator("html[data-ready]").wait_for()
            if opened in address:
                page.locator("dialog .talk").wait_for()
            page.screenshot(path=str(PICTURES / f"{name}.png"))
            print(f"{PICTURES / name}.png")
            page.close()
        browser.close()


if __name__ == "__main__":
    sys.exit(main())
