"""The report on campaigns: it says what the rows say, all of it can be read in a browser, and nothing in it acts.

The browser is Debian's Chromium, driven by Playwright. Where there is none its tests are skipped, and in CI
they fail. Pictures go to $CI_ARTEFACTS, or to build/artefacts.
"""

from __future__ import annotations

import json
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from campaign_parts import UnevenPlayer, dev_tasks, make_campaign, rows_of
from page_parts import ARTEFACTS, Reader, Tags, open_chromium, picture

from tb_envs.cli import main as tbx
from tb_envs.cli.compare import compare_folders
from tb_envs.evaluation.report.campaigns import Campaign
from tb_envs.evaluation.report.charts import Point, Series, line_chart
from tb_envs.evaluation.report.episodes import changes, steps, wrong_rows
from tb_envs.evaluation.report.markup import percent
from tb_envs.evaluation.view import Live, make_server
from tb_envs.registration import load_domain

HOSTILE = (
    "</script></textarea><script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>"
    "<svg/onload=window.hacked=1> &lt;b&gt; {{7*7}} ${7*7} \u2028\u202e ]]> <!-- "
)


class Reports(NamedTuple):
    """Campaigns and the pages about them."""

    before: Path
    after: Path
    hostile: Path
    one: Path
    both: Path
    compared: Path
    bad: Path
    foreign: Path


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Reports:
    """Two campaigns at the same tasks, and one whose agent, tools and errors speak HTML. Made once, before any browser
    starts: its driver takes the thread's event loop."""
    root = tmp_path_factory.mktemp("campaigns")
    tasks = dev_tasks(10)
    before = make_campaign(root / "before", UnevenPlayer(0.3), tasks, 3, seed=1, priced=False)
    after = make_campaign(root / "after", UnevenPlayer(0.6, errors=0.06, slips=0.2), tasks, 4, seed=2)
    hostile = make_campaign(root / "hostile", UnevenPlayer(0.5, words=HOSTILE), tasks[:2], 2)
    _poison(hostile)
    foreign = _foreign(after, root / "foreign")
    for folder in (before, after, hostile, foreign):
        assert tbx(["report", str(folder), "--json"]) == 0
    both = root / "both.html"
    assert tbx(["report", str(before), str(after), "--out", str(both)]) == 0
    compared = root / "compared.html"
    assert tbx(["compare", str(before), str(after), "--html", str(compared)]) == 0
    return Reports(before, after, hostile, after / "report.html", both, compared, hostile / "report.html", foreign)


def _foreign(source: Path, target: Path) -> Path:
    """The same campaign, had it been of a company that is not installed here."""
    target.mkdir()
    for name in ("campaign.json", "attempts.jsonl"):
        text = (source / name).read_text("utf-8")
        (target / name).write_text(text.replace('"hotel"', '"inn"').replace('"hotel/', '"inn/'), "utf-8")
    return target


def _poison(folder: Path) -> None:
    """Words of the agent in every place where they can come to a row."""
    rows = rows_of(folder)
    for row in rows:
        for message in row["messages"]:
            for call in message.get("tool_calls") or ():
                call["function"]["name"] = HOSTILE
                call["function"]["arguments"] = HOSTILE
        for event in row["log"]:
            event["name"] = HOSTILE if event["kind"] in ("call", "result") else event["name"]
            if event["kind"] == "row":
                event["data"]["key"] = HOSTILE
        for check in row["verdict"]["checks"]:
            check.update(name=HOSTILE, found=HOSTILE)
    rows[0] |= {"outcome": "error:agent", "ended_by": "error", "error": HOSTILE, "verdict": None, "reward": 0.0}
    (folder / "attempts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    manifest = json.loads((folder / "campaign.json").read_text("utf-8"))
    manifest["agent"]["name"] = HOSTILE
    (folder / "campaign.json").write_text(json.dumps(manifest), "utf-8")


# -- what is in the file


def test_every_attempt_is_in_the_file_whole(reports: Reports) -> None:
    text = reports.one.read_text("utf-8")
    page = Tags(text)
    listed = page.blocks["entries"]
    columns = page.blocks["about"]["columns"]
    entries = [dict(zip(columns, line, strict=True)) for line in listed["entries"]]
    rows = {(row["task_id"], row["attempt"]): row for row in rows_of(reports.after)}
    assert sorted((one["task"], one["attempt"]) for one in entries) == sorted(rows)
    assert any(row["malformed"] for row in rows.values()) and any(
        row["outcome"] == "error:agent" for row in rows.values()
    )
    for one in entries:
        row = rows[one["task"], one["attempt"]]
        episode = page.blocks[f"chunk-{one['chunk']}"][one["place"]]
        assert episode["facts"]["task_hash"] == row["task_hash"] and one["outcome"] == row["outcome"]
        assert episode["changes"] == changes(row["log"])
        assert episode["checks"] == (row["verdict"]["checks"] if row["verdict"] else [])
        _same_talk(episode["steps"], row)
        named = {f"{change['table']} {change['key']}" for change in episode["changes"]}
        assert set(episode["wrong"]) <= named
        assert bool(episode["wrong"]) == (one["reason"] == "wrong write")
        assert bool(one["reason"]) == (row["outcome"] == "failure")
    assert page.blocks["about"]["tables"]["hotel"]["bookings"] == list(load_domain("hotel").specs["bookings"].columns)


def _same_talk(shown: list[dict[str, Any]], row: dict[str, Any]) -> None:
    """Every message, call, result and unreadable turn is shown once, in order."""
    said: list[str] = []
    for place, message in enumerate(row["messages"]):
        unread = [note["text"] for note in row["wrote"] if note["message"] == place and not message.get("tool_calls")]
        words = unread or ([message["content"]] if message["content"] and message["role"] != "tool" else [])
        said += words + [call["function"]["name"] for call in message.get("tool_calls") or ()]
    assert [step["name"] if step["k"] == "call" else step["t"] for step in shown] == said
    results = [message["content"] for message in row["messages"] if message["role"] == "tool"]
    assert [step["r"] for step in shown if "r" in step] == results
    heard = [event["text"] for event in row["log"] if event["kind"] == "heard"]
    assert [step["t"] for step in shown if step["k"] == "customer"] == heard
    numbers = [event["call"] for event in row["log"] if event["kind"] == "call"]
    assert [step["n"] for step in shown if "n" in step] == numbers


def test_calls_after_the_end_and_a_judge_s_answers_are_shown() -> None:
    call = {"id": "a", "function": {"name": "end_conversation", "arguments": "{}"}}
    late = {"id": "b", "function": {"name": "refund", "arguments": "{}"}}
    row = {
        "messages": [
            {"role": "user", "content": "Hello"},
            {"role": "assistant", "content": "thinking", "tool_calls": [call, late]},
            {"role": "tool", "tool_call_id": "a", "content": "{}"},
            {"role": "tool", "tool_call_id": "b", "content": "refused"},
        ],
        "wrote": [{"message": 1, "text": "calls of which one cannot be read"}],
        "log": [
            {"kind": "heard", "text": "Hello", "data": {"acts": [], "faults": ["early_goodbye"]}},
            {"kind": "call", "call": 1, "name": "end_conversation"},
            {"kind": "result", "call": 1, "ok": True},
            {"kind": "ended", "name": "agent"},
            {"kind": "judged", "text": "It did.", "data": {"criterion": "It said goodbye.", "true": True}},
        ],
    }
    assert steps(row) == [
        {"k": "customer", "t": "Hello", "faults": ["early_goodbye"]},
        {"k": "aside", "t": "thinking"},
        {"k": "call", "name": "end_conversation", "args": "{}", "r": "{}", "ok": True, "n": 1},
        {"k": "call", "name": "refund", "args": "{}", "r": "refused", "ok": False},
        {"k": "judged", "t": "It said goodbye. Yes: It did."},
    ]


def test_what_a_failed_check_names_is_marked() -> None:
    def row(*failed: tuple[str, str]) -> dict[str, Any]:
        checks = [{"name": "x", "kind": "guard", "passed": False, "expected": a, "found": b} for a, b in failed]
        rows = [{"kind": "row", "data": {"table": "stays", "key": key}} for key in ("BK-1", "BK-12", "BK-2")]
        return {"verdict": {"checks": checks}, "log": [*rows, {"kind": "ended"}]}

    columns = {"stays": ("id", "status", "total", "due")}
    changed = row(("stays BK-12 ends with total = 5", "total is 6; due became 'x' (was 'y')"))
    assert wrong_rows(changed, columns) == {("stays", "BK-12"): ["total", "due"]}
    stray = row(("nothing else changes", "stays BK-1: status 'a' → 'b', due 1 → 2; stays BK-2: total 1 → 2"))
    assert wrong_rows(stray, columns) == {("stays", "BK-1"): ["status", "due"], ("stays", "BK-2"): ["total"]}
    created = row(("a new row in stays with status = 'open'", "stays BK-1, but status is 'closed'"))
    assert wrong_rows(created, columns) == {("stays", "BK-1"): ["status"]}
    assert wrong_rows(created, {}) == {("stays", "BK-1"): []}
    assert wrong_rows(row(("hand_over happens", "it did not")), columns) == {}


def test_the_file_loads_nothing_and_its_numbers_are_the_summary_s(reports: Reports) -> None:
    text = reports.one.read_text("utf-8")
    page = Tags(text)
    for tag, attributes in page.tags:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base", "form"), tag
        assert not attributes.keys() & {"src", "style", "onclick", "onload", "onerror"}, attributes
        assert (attributes.get("href") or "#").startswith("#"), attributes
    policy = next(a["content"] for _, a in page.tags if a.get("http-equiv") == "Content-Security-Policy") or ""
    assert "default-src 'none'" in policy and "connect-src 'none'" in policy and "unsafe" not in policy
    campaign = Campaign(reports.after)
    assert sum(1 for _ in campaign.read()) == len(rows_of(reports.after))
    found = campaign.summary()
    first = found["headline"]["pass_at_1"]
    assert f"{100 * first['estimate']:.1f} %" in text
    assert f"{100 * first['low']:.1f} – {100 * first['high']:.1f}" in text
    cannot = found["impossible"]["with"]
    assert f"pass@1 of the {cannot['tasks']} tasks whose right end is not doing what is asked" in text
    assert cannot["tasks"] and f">{percent(cannot['pass_at_1']['estimate'])}<" in text
    assert text.count('<th scope="col">cannot be met</th>') >= 4, "one in each table of parts"
    assert "pass@1, pooled" in text and "one attempt at every task" in text
    assert f"{found['system_errors']} attempts ended in system errors" in text
    assert not any(one.row["outcome"] == "failure" and not one.reason.kind for one in campaign.attempts.values())
    unpriced = (reports.before / "report.html").read_text("utf-8")
    assert "<dt>cost</dt><dd>unknown</dd>" in unpriced


def test_a_campaign_that_has_not_begun_is_a_page_too(reports: Reports, tmp_path: Path) -> None:
    shutil.copy(reports.after / "campaign.json", tmp_path)
    assert tbx(["report", str(tmp_path)]) == 0
    text = (tmp_path / "report.html").read_text("utf-8")
    assert "nothing counted yet" in text and "80 attempts of 80 still to be played" in text
    assert Tags(text).blocks["entries"] == {"tasks": {}, "entries": []}


def test_what_is_no_campaign_and_what_is_no_report_is_refused(reports: Reports, tmp_path: Path, capsys: Any) -> None:
    other = tmp_path / "other.html"
    other.write_text("<p>mine</p>", "utf-8")
    assert tbx(["report", str(reports.after), "--out", str(other)]) == 2
    assert "is no report; name another file" in capsys.readouterr().err
    assert other.read_text("utf-8") == "<p>mine</p>"
    assert tbx(["report", str(reports.after), str(tmp_path)]) == 2
    assert f"{tmp_path} is no campaign of `tbx eval`" in capsys.readouterr().err
    assert tbx(["view", str(tmp_path)]) == 2
    assert "is no campaign" in capsys.readouterr().err


def test_a_band_ends_where_a_number_is_missing() -> None:
    points = [Point(1, 0.5, 0.4, 0.6), Point(2, 0.5, 0.4, 0.6), Point(3, None), Point(4, 0.5, 0.4, 0.6)]
    drawn = line_chart("pass@k", [Series("a", points)], rate=True, across="k", band=True)
    assert drawn.count("<polygon") == 1 and drawn.count("<circle") == 3


# -- in a browser


@pytest.fixture(scope="module")
def chromium(reports: Reports) -> Iterator[Any]:
    """A browser, after the campaigns were made: its driver takes the thread's event loop."""
    with open_chromium() as browser:
        yield browser


def test_filter_open_read_and_go_on_by_keyboard(chromium: Any, reports: Reports) -> None:
    rows = rows_of(reports.after)
    reader = Reader(chromium, reports.one)
    page = reader.page
    picture(page, "report")
    assert page.locator("#found").inner_text() == f"1–50 of {len(rows)} attempts"
    page.get_by_role("button", name="Next →").first.click()
    assert page.locator("#list tbody tr").count() == len(rows) - 50
    page.locator("select[name=outcome]").select_option("failure")
    page.locator("select[name=domain]").select_option("banking")
    chosen = [row for row in rows if row["outcome"] == "failure" and row["domain"] == "banking"]
    assert reader.names() == sorted(row["task_id"] for row in chosen)
    wrong = Counter(check["name"] for row in chosen for check in row["verdict"]["checks"] if not check["passed"])
    check = wrong.most_common(1)[0][0]
    page.locator("select[name=check]").select_option(check)
    assert page.locator("#list tbody tr").count() == wrong[check]
    assert "#find?" in page.url and "domain=banking" in page.url
    page.get_by_role("button", name="Clear filters").click()
    page.get_by_role("searchbox").fill(chosen[0]["task_id"].upper())
    assert set(reader.names()) == {chosen[0]["task_id"]}

    changed = next(row for row in rows if any(_update(event) for event in row["log"]) and row["outcome"] == "failure")
    page.get_by_role("searchbox").fill(f"{changed['task_id']}/{changed['attempt']}")
    page.locator("#list tbody tr").click()
    dialog = page.get_by_role("dialog")
    dialog.locator(".talk").wait_for()
    assert page.url.endswith(f"#{changed['task_id']}/{changed['attempt']}")
    picture(page, "episode")
    talk = dialog.locator(".talk").inner_text()
    for message in changed["messages"]:
        if message["role"] == "user" or (message["role"] == "assistant" and not message.get("tool_calls")):
            assert message["content"] in talk
    assert dialog.locator(".call").count() == changed["tool_calls"]
    failed = [one for one in changed["verdict"]["checks"] if not one["passed"]]
    verdict = dialog.get_by_label("Verdict").inner_text()
    assert f"{len(failed)} of {len(changed['verdict']['checks'])} checks failed" in verdict
    assert all(one["expected"] in verdict and one["found"] in verdict for one in failed)
    _sees_the_change(dialog, changed)

    page.keyboard.press("Escape")
    assert (
        not dialog.is_visible()
        and page.evaluate("() => document.activeElement.hash") == f"#{changed['task_id']}/{changed['attempt']}"
    )
    page.get_by_role("searchbox").fill("")
    page.keyboard.press("Tab")
    page.locator("#list td.name a").first.press("Enter")
    first = dialog.get_by_role("heading", level=2).inner_text()
    page.keyboard.press("j")
    assert dialog.get_by_role("heading", level=2).inner_text() != first
    page.keyboard.press("k")
    assert dialog.get_by_role("heading", level=2).inner_text() == first
    reader.done()


def _update(event: dict[str, Any]) -> bool:
    return event["kind"] == "row" and bool(event["data"]["before"]) and bool(event["data"]["after"])


def _sees_the_change(dialog: Any, row: dict[str, Any]) -> None:
    """The first row that was updated once: each column that differs is marked, with both values."""
    updates = [event["data"] for event in row["log"] if event["kind"] == "row"]
    times = Counter((data["table"], data["key"]) for data in updates)
    data = next(d for d in updates if d["before"] and d["after"] and times[d["table"], d["key"]] == 1)
    columns = load_domain(row["domain"]).specs[data["table"]].columns
    card = dialog.locator(".row", has=dialog.page.get_by_role("heading", name=f"{data['table']} {data['key']}"))
    differs = [at for at, (old, new) in enumerate(zip(data["before"], data["after"], strict=True)) if old != new]
    marked = card.locator("tr.changed")
    assert marked.locator("th").all_inner_texts() == [columns[at] for at in differs]
    for place, at in enumerate(differs):
        old, new = (data[side][at] for side in ("before", "after"))
        shown = [("null" if value is None else str(value)) for value in (old, new)]
        assert marked.nth(place).locator("td").all_inner_texts() == shown


def test_links_lead_to_episodes_and_to_choices_of_them(chromium: Any, reports: Reports) -> None:
    row = next(row for row in rows_of(reports.after) if row["outcome"].startswith("error:"))
    reader = Reader(chromium, f"{reports.one.as_uri()}#{row['task_id']}/{row['attempt']}")
    dialog = reader.page.get_by_role("dialog")
    dialog.locator(".talk").wait_for()
    assert row["error"] in dialog.get_by_label("Verdict").inner_text()
    others = dialog.get_by_role("navigation").get_by_role("link")
    assert others.count() == 4
    others.nth((row["attempt"] + 1) % 4).click()
    dialog.get_by_role("heading", name=f"attempt {(row['attempt'] + 1) % 4}").wait_for()
    reader.page.go_back()
    dialog.get_by_role("heading", name=f"attempt {row['attempt']}").wait_for()
    dialog.get_by_role("button", name="Close").click()
    reader.page.locator(".heat a").first.click()
    assert reader.page.locator("select[name=trap]").input_value()
    shown = reader.page.locator("#found").inner_text()
    domain, trap = (reader.page.locator(f"select[name={name}]").input_value() for name in ("domain", "trap"))
    rows = [one for one in rows_of(reports.after) if one["domain"] == domain and trap in one["traps"]]
    assert f"{len(rows)} attempt" in shown
    reader.done()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_in_light_and_dark(chromium: Any, reports: Reports, scheme: str) -> None:
    reader = Reader(chromium, reports.both, width=390, height=844, color_scheme=scheme, has_touch=True)
    page = reader.page
    width = "() => document.documentElement.scrollWidth"
    assert page.evaluate(width) <= 390
    assert (_brightness(page) > 0.8) == (scheme == "light")
    page.get_by_role("button", name="Theme").click()
    page.get_by_role("button", name="Theme: light").wait_for()
    assert _brightness(page) > 0.8
    page.get_by_role("button", name="Theme").click()
    assert _brightness(page) < 0.2
    picture(page, f"phone-{scheme}")
    page.locator("#list td.name a").first.tap()
    page.get_by_role("dialog").locator(".talk").wait_for()
    assert page.evaluate(width) <= 390
    assert page.evaluate("() => document.getElementById('body').scrollWidth") <= 390
    reader.done()


def _brightness(page: Any) -> float:
    """Of the paper, 0 to 1."""
    colour = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    return sum(map(int, re.findall(r"\d+", colour)[:3])) / 3 / 255


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_can_be_told_from_their_ground(chromium: Any, reports: Reports, scheme: str) -> None:
    """WCAG 2.2, 1.4.3: 4.5 to 1, of every text there is on the page and in an episode."""
    reader = Reader(chromium, reports.one, color_scheme=scheme)
    page = reader.page
    page.evaluate("() => document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert not page.evaluate(CONTRAST, "main")
    page.locator("#list td.name a").first.click()
    page.get_by_role("dialog").locator(".talk").wait_for()
    page.evaluate("() => document.querySelectorAll('dialog details').forEach((one) => { one.open = true; })")
    assert not page.evaluate(CONTRAST, "dialog")
    reader.done()


CONTRAST = """(place) => {
  const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const known = new Map();
  const rgb = (text) => {
    if (!known.has(text)) {
      pen.clearRect(0, 0, 1, 1);
      pen.fillStyle = text;
      pen.fillRect(0, 0, 1, 1);
      known.set(text, [...pen.getImageData(0, 0, 1, 1).data]);
    }
    return known.get(text);
  };
  const linear = (v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const light = (c) => [0.2126, 0.7152, 0.0722].reduce((sum, weight, at) => sum + weight * linear(c[at] / 255), 0);
  const ground = (one) => {
    for (; one; one = one.parentElement) {
      const found = rgb(getComputedStyle(one).backgroundColor);
      if (found[3] === 255) return found;
    }
    return [255, 255, 255, 255];
  };
  const bad = new Set();
  for (const one of document.querySelectorAll(place + " *")) {
    const own = [...one.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim());
    if (!own || one.closest("svg, select, button:disabled, noscript") || !one.getClientRects().length) continue;
    const [a, b] = [light(rgb(getComputedStyle(one).color)), light(ground(one))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) bad.add(`${ratio.toFixed(2)} ${one.tagName}.${one.className} ${one.textContent.slice(0, 40)}`);
  }
  return [...bad];
}"""


def test_hostile_words_stay_words(chromium: Any, reports: Reports) -> None:
    text = reports.bad.read_text("utf-8")
    assert "<img" not in text and text.count("<script") == text.count("</script>")
    reader = Reader(chromium, reports.bad)
    page = reader.page
    for at in range(page.locator("#list tbody tr").count()):
        page.locator("#list td.name a").nth(at).click()
        dialog = page.get_by_role("dialog")
        dialog.locator(".talk").wait_for()
        page.evaluate("() => document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        assert HOSTILE.split("\u2028")[0].strip() in dialog.locator(".talk").inner_text()
        page.keyboard.press("Escape")
    assert page.evaluate("() => window.hacked") is None
    assert page.evaluate("() => document.images.length") == 0
    assert page.evaluate("() => document.querySelectorAll('script:not([type])').length") == 0
    reader.done()


def test_a_comparison_leads_to_the_episodes_on_both_sides(chromium: Any, reports: Reports) -> None:
    found = compare_folders(reports.before, reports.after)
    task = next(one for one in found["per_task"] if one["difference"] > 0)
    reader = Reader(chromium, reports.compared)
    page = reader.page
    picture(page, "comparison")
    assert "Comparison: before → after" in page.get_by_role("heading", level=1).inner_text()
    first = found["headline"]["pass_at_1"]["difference"]
    row = page.locator("#comparison ~ .wide").first.locator("tr", has_text="pass@1").first.inner_text()
    assert (
        f"{100 * first['estimate']:+.1f}" in row and f"{100 * first['low']:+.1f} to {100 * first['high']:+.1f}" in row
    )
    line = page.locator("tr", has=page.get_by_role("rowheader", name=task["task_id"], exact=True)).first
    for place, (run, folder, outcome) in enumerate(
        (("before", reports.before, "failure"), ("after", reports.after, "success"))
    ):
        line.get_by_role("link").nth(place).click()
        title = page.get_by_role("dialog").get_by_role("heading", level=2)
        title.filter(has_text=run).wait_for()
        attempt = int(re.search(r"attempt (\d+)", title.inner_text())[1])  # pyright: ignore[reportOptionalSubscript]
        assert {(one["task_id"], one["attempt"]): one["outcome"] for one in rows_of(folder)}[
            task["task_id"], attempt
        ] == outcome
        page.keyboard.press("Escape")
    reader.done()


def test_a_campaign_that_goes_on_is_followed(chromium: Any, reports: Reports, tmp_path: Path) -> None:
    lines = (reports.after / "attempts.jsonl").read_bytes().splitlines(keepends=True)
    shutil.copy(reports.after / "campaign.json", tmp_path)
    rows = tmp_path / "attempts.jsonl"
    with make_server(Live([Campaign(tmp_path)], every=0.05)) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            reader = Reader(chromium, f"http://127.0.0.1:{server.server_address[1]}/")
            page = reader.page
            assert page.locator("#found").inner_text() == "No attempts yet."
            _append(rows, *lines[:9], lines[9][:300])
            page.locator("#found", has_text="1–9 of 9 attempts").wait_for()
            page.locator("#list td.name a").first.click()
            page.get_by_role("dialog").locator(".talk").wait_for()
            page.evaluate("() => { document.querySelector('dialog .talk').dataset.mine = 1; }")
            _append(rows, lines[9][300:], *lines[10:-1])
            page.locator("#live", has_text=f"live: {len(lines) - 1} of {len(lines)} attempts").wait_for()
            page.locator("#found", has_text=f"of {len(lines) - 1} attempts").wait_for()
            assert page.locator("dialog .talk[data-mine]").count() == 1
            page.keyboard.press("Escape")
            _append(rows, lines[-1])
            page.locator("#live", has_text="finished").wait_for()
            campaign = Campaign(tmp_path)
            assert sum(1 for _ in campaign.read()) == len(lines)
            shown = f"{100 * campaign.summary()['headline']['pass_at_1']['estimate']:.1f} %"
            page.locator(".big", has_text=shown).wait_for()
            reader.done()
        finally:
            server.shutdown()
            thread.join()


def _append(path: Path, *pieces: bytes) -> None:
    """As a campaign writes: at the end, so that no reader ever finds the file shorter than it was."""
    with path.open("ab") as file:
        file.write(b"".join(pieces))


def test_ten_thousand_attempts_stay_usable(chromium: Any, reports: Reports, tmp_path: Path) -> None:
    """What the browser spends on opening, choosing and reading; the machine's other work is not counted."""
    size = _many(reports.after, tmp_path, 10_000)
    assert tbx(["report", str(tmp_path), "--json"]) == 0
    report = tmp_path / "report.html"
    reader = Reader(chromium, report, height=1000)
    page = reader.page
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")
    opened = _metrics(session)
    page.locator("select[name=outcome]").select_option("failure")
    page.get_by_role("searchbox").fill("banking/")
    filtered = _metrics(session)
    page.locator("#list td.name a").first.click()
    page.get_by_role("dialog").locator(".talk").wait_for()
    page.keyboard.press("Escape")
    ended = _metrics(session)
    measured = {
        "attempts": page.evaluate("() => Number(document.documentElement.dataset.ready)"),
        "rows_mb": round(size / 1e6, 1),
        "file_mb": round(report.stat().st_size / 1e6, 1),
        "open_cpu_s": round(opened["TaskDuration"], 2),
        "two_filters_cpu_s": round(filtered["TaskDuration"] - opened["TaskDuration"], 2),
        "episode_cpu_s": round(ended["TaskDuration"] - filtered["TaskDuration"], 2),
        "nodes": int(ended["Nodes"]),
        "script_heap_mb": round(ended["JSHeapUsedSize"] / 1e6, 1),
    }
    ARTEFACTS.mkdir(parents=True, exist_ok=True)
    (ARTEFACTS / "report-10000.json").write_text(json.dumps(measured, indent=2) + "\n", "utf-8")
    assert measured["attempts"] >= 10_000
    assert measured["file_mb"] < 25 and measured["nodes"] < 40_000 and measured["script_heap_mb"] < 80, measured
    assert measured["open_cpu_s"] < 5 and measured["two_filters_cpu_s"] < 3 and measured["episode_cpu_s"] < 3, measured
    reader.done()


def _metrics(session: Any) -> dict[str, float]:
    """The browser's own counts: processor seconds of the page, nodes, bytes of script; rubbish left out."""
    session.send("HeapProfiler.collectGarbage")
    return {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}


def _many(source: Path, target: Path, count: int) -> int:
    """A campaign of `count` attempts or a few more, made of those of another, each agent's words its own; the bytes."""
    rows = [row for row in rows_of(source) if row["tool_calls"] < 7 and not row["outcome"].startswith("error:")]
    kinds: dict[str, list[str]] = {}
    for row in rows:
        kinds.setdefault(row["task_id"], []).append(json.dumps(row | {"attempt": -1}, separators=(",", ":")))
    each = -(-count // len(kinds))
    manifest = json.loads((source / "campaign.json").read_text("utf-8"))
    manifest |= {"attempts": each, "tasks": {task: manifest["tasks"][task] for task in kinds}}
    (target / "campaign.json").write_text(json.dumps(manifest), "utf-8")
    draw = random.Random(0)
    words = sorted({word for row in rows for message in row["messages"] for word in _words(message)})
    with (target / "attempts.jsonl").open("w", encoding="utf-8") as file:
        for attempt in range(each):
            for lines in kinds.values():
                line = lines[attempt % len(lines)].replace('"attempt":-1', f'"attempt":{attempt}', 1)
                parts = line.split("Could you please tell me")
                said = [f"{' '.join(draw.choices(words, k=40))}, tell me{part}" for part in parts[1:]]
                file.write("".join([parts[0], *said]) + "\n")
        return file.tell()


def _words(message: dict[str, Any]) -> list[str]:
    return re.findall(r"[a-z]{3,}", message["content"] or "") if message["role"] in ("user", "assistant") else []


def test_a_company_that_is_not_installed_has_numbers_for_columns(chromium: Any, reports: Reports) -> None:
    row = next(row for row in rows_of(reports.foreign) if row["domain"] == "inn" and any(map(_update, row["log"])))
    reader = Reader(chromium, f"{reports.foreign.as_uri()}/report.html#{row['task_id']}/{row['attempt']}")
    records = reader.page.get_by_label("Records changed")
    records.get_by_text("the domain is not installed here").wait_for()
    assert records.locator("tr.changed th").first.inner_text().startswith("column ")
    assert "The floor is not known for" in reader.page.locator("#numbers").inner_text()
    reader.done()


# -- the server


def test_the_server_shows_the_page_and_nothing_else(reports: Reports) -> None:
    with make_server(Live([Campaign(reports.after)])) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        port = server.server_address[1]
        try:
            assert server.server_address[0] == "127.0.0.1"
            for path in (
                "/../campaign.json",
                "/campaign.json",
                "/%2e%2e/%2e%2e/etc/passwd",
                "//etc/passwd",
                "/assets/page.css",
            ):
                assert _ask(port, path)[0] == 404, path
            for method in ("POST", "PUT", "DELETE", "OPTIONS"):
                assert _ask(port, "/", method)[0] == 501
            assert _ask(port, "/", host="evil.example")[0] == 403
            assert _ask(port, "/state", host="evil.example:80")[0] == 403
            for query in ("", "?run=0&task=hotel/none/0&attempt=x", "?run=zero&task=a&attempt=0"):
                assert _ask(port, f"/episode{query}")[0] == 400
            for query in ("?run=9&task=a&attempt=0", "?run=-1&task=a&attempt=0", "?run=0&task=../../x&attempt=0"):
                assert _ask(port, f"/episode{query}")[0] == 404
            status, headers, body = _ask(port, "/", host=f"localhost:{port}")
            assert status == 200 and b"<!doctype html>" in body
            assert "Access-Control-Allow-Origin" not in headers and headers["X-Content-Type-Options"] == "nosniff"
            state = json.loads(_ask(port, "/state?after=0&version=")[2])
            assert len(state["entries"]) == len(rows_of(reports.after)) and state["done"]
            later = json.loads(_ask(port, f"/state?after={state['next']}&version={state['version']}")[2])
            assert later["entries"] == [] and later["numbers"] is None
        finally:
            server.shutdown()
            thread.join()


def test_a_view_is_ended_by_an_interrupt(reports: Reports) -> None:
    command = [sys.executable, "-m", "tbx", "view", str(reports.after), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        told = json.loads(process.stdout.readline())
        assert told["url"].startswith("http://127.0.0.1:") and told["runs"] == [str(reports.after)]
        with urllib.request.urlopen(told["url"], timeout=20) as answer:
            assert b"Evaluation: after" in answer.read()
        process.send_signal(signal.SIGINT)
        try:
            assert process.wait(20) == 0
        finally:
            process.kill()


def _ask(port: int, path: str, method: str = "GET", host: str = "") -> tuple[int, Any, bytes]:
    headers = {"Host": host} if host else {}
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", method=method, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers, error.read()
