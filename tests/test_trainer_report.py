"""A report says what the files say: its numbers, its warnings; and broken files do not stop it."""

from __future__ import annotations

import json
import math
import random
import re
import shutil
from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from page_parts import Tags
from test_trainer_loop import make_run, settings_for
from trainer_parts import IDLE, TASKS, reference, sets

from tb_envs.authoring.rng import stable_seed
from tb_envs.cli import main as tbx
from tb_envs.cli.report import save
from tb_envs.errors import UsageError
from tb_envs.evaluation.metrics import bootstrap_over_tasks, pass_at_k, pass_hat_k
from tb_envs.evaluation.report.charts import ticks
from tb_envs.registration import load_domain
from tb_envs.task import get_task
from tb_trainer.config import load
from tb_trainer.engines import Key
from tb_trainer.evaluate import TRIALS, cell_of, spread
from tb_trainer.log import read_rows
from tb_trainer.loop import Run
from tb_trainer.reference import WrittenEngine
from tb_trainer.render import Renderer
from tb_trainer.report import paired, stats
from tb_trainer.report.facts import names_of
from tb_trainer.report.page import write
from tb_trainer.report.pairs import find_pairs, pair_by_hand
from tb_trainer.report.read import read_lines, read_run, read_trials
from tb_trainer.report.stats import Scores
from tb_trainer.tasks.guard import MARK
from tb_trainer.tasks.source import make_source

Table = list[list[str]]


class Reader(Tags):
    """Tables and text of a page, beside its tags."""

    def __init__(self, page: str) -> None:
        self.tables: list[Table] = []
        self.text = ""
        super().__init__(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        super().handle_starttag(tag, attrs)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_data(self, data: str) -> None:
        super().handle_data(data)
        self.text += data
        if self._open and self._open[-1][0] in ("td", "th"):
            self.tables[-1][-1][-1] += data

    def table(self, *heads: str) -> Table:
        """The first table that has these among its columns."""
        return next(table for table in self.tables if set(heads) <= set(table[0]))


def page_of(*folders: Path) -> str:
    runs = [read_run(folder) for folder in folders]
    return write(runs, find_pairs(runs, names_of(runs)))


@pytest.fixture(scope="module")
def hotel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two updates with an evaluation of four dev tasks, twice each, after every one.

    After update 0 tasks 0 and 2 are solved both times, after update 2 tasks 0 and 1 are: one is gained, one lost.
    """
    changes = [
        *("environment.turns=60", "environment.tool_calls=120"),
        *("sampling.episode_tokens=8192", "sampling.turn_tokens=512"),
        *("grpo.updates=2", "grpo.groups=2", "grpo.group_size=2"),
        *("evaluation.every=1", "evaluation.tasks=4", "evaluation.attempts=2"),
    ]
    settings = load("smoke", changes)
    out = tmp_path_factory.mktemp("runs") / "hotel"
    run = Run(settings, out)
    source = make_source(settings, run.task_ids)
    dev = spread(load_domain("hotel").suite_ids["dev"], 4)

    def turns(key: Key) -> Sequence[str]:
        if key.update == TRIALS:
            return reference(dev[key.group]) if key.group in ((0, 2), (0, 1, 2), (0, 1))[run.done] else IDLE
        return reference(source.draw(key.update, key.group, 0)) if key.slot else IDLE

    run.runner.engine = run.engine = WrittenEngine(Renderer(run.tokenizer, "compact"), turns)
    run.runner.transcripts = lambda job: job.key.slot == 0
    run.train()
    return out


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two short runs on the library that differ in their seed."""
    out = tmp_path_factory.mktemp("seeds")
    for seed in (1, 2):
        settings = settings_for()
        settings = type(settings)(**{**vars(settings), "seed": seed})
        make_run(out / f"s{seed}", settings).train()
    return [out / "s1", out / "s2"]


# -- the numbers


def test_every_number_of_every_update_is_the_logs(hotel: Path) -> None:
    page = Reader(page_of(hotel))
    table = page.table("mismatch KL", "s total", "dropped groups")
    logged = [row for row in read_rows(hotel / "log.jsonl") if row["event"] == "update"]
    assert len(table) == 3
    paths = {
        "update": "update",
        "reward": "reward_mean",
        "pass rate": "pass_rate",
        "informative": "informative_groups",
        "entropy": "optimizer entropy",
        "mismatch KL": "optimizer mismatch_kl",
        "clip share": "optimizer clip_share",
        "gradient norm": "optimizer grad_norm",
        "sampled tokens": "tokens action",
        "prompt tokens": "tokens prompt",
        "retries": "retries",
        "s generate": "seconds generate",
        "s update": "seconds update",
        "s total": "seconds total",
    }
    for shown, row in zip(table[1:], logged, strict=True):
        cells = dict(zip(table[0], shown, strict=True))
        for name, path in paths.items():
            value: Any = row
            for part in path.split():
                value = value[part]
            assert float(cells[name]) == pytest.approx(value, rel=6e-4, abs=1e-12), name
    cells = page.table("outcome cell", "episodes", "1", "2")
    for label, episodes, *rates in cells[1:]:
        counts = [row["cells"].get(label) for row in logged]
        assert int(episodes) == sum(count[1] for count in counts if count)
        assert rates == [f"{100 * count[0]:.1f} %" if count else "–" for count in counts]


def test_before_and_after_are_what_the_trials_say(hotel: Path) -> None:
    page = Reader(page_of(hotel))
    dev = spread(load_domain("hotel").suite_ids["dev"], 4)
    sides: list[dict[str, list[bool]]] = [{}, {}]
    for passed, update in zip(sides, (0, 2), strict=True):
        for row in read_rows(hotel / f"evaluations/update-{update}.jsonl"):
            passed.setdefault(row["task"], []).append(row["outcome"] == "success")
    assert [sides[0][task] for task in dev] == [[True] * 2, [False] * 2, [True] * 2, [False] * 2]
    shown = {row[0].split(" (")[0]: row[1:] for row in page.table("before [95 %]", "change [95 %]")[1:]}
    for name, measure in (
        ("pass@1", lambda passed: sum(passed) / 2),
        ("pass@2", lambda passed: pass_at_k(2, sum(passed), 2)),
        ("pass^2", lambda passed: pass_hat_k(2, sum(passed), 2)),
    ):
        before, after = ({task: float(measure(passed)) for task, passed in side.items()} for side in sides)
        for cell, values in zip(shown[name], (before, after), strict=False):
            low, value, high = bootstrap_over_tasks(values, draws=2000)
            assert cell == f"{100 * value:.1f} % [{100 * low:.1f}, {100 * high:.1f}]"
        low, value, high = bootstrap_over_tasks({task: after[task] - before[task] for task in before}, draws=2000)
        assert shown[name][2] == f"{100 * value:+.1f} [{100 * low:+.1f}, {100 * high:+.1f}]"
        assert shown[name][3:] == ["yes", "4"]
    assert f"Lost: 1 tasks. {dev[2]} 2/2 → 0/2" in page.text
    assert f"Gained: 1 tasks. {dev[1]} 0/2 → 2/2" in page.text
    lost = cell_of(dev[2])
    assert re.search(rf"Lost: 1 of \d outcome cells \(tasks\)\. {re.escape(lost)} 100\.0 % → 0\.0 % \(1\)\.", page.text)
    assert page.table("outcome cell", "before", "after")[1][0] == lost, "what was lost comes first"
    assert [tag for tag, attributes in page.tags if attributes.get("class") == "lost"], "and in red"
    assert "The run chose its best checkpoint by this suite" in page.text
    for task, why in ((dev[1], "gained"), (dev[2], "lost"), (dev[3], "failed both times")):
        assert f"{task}: {why}" in page.text
    check = next(
        row["failed_checks"] for row in read_rows(hotel / "evaluations/update-2.jsonl") if row["task"] == dev[2]
    )
    assert f"failed checks: {', '.join(check)}" in page.text
    assert f"FAIL {check[0]}" in page.text


def test_the_curve_of_dev_has_the_logs_intervals_and_the_rest_is_in_place(hotel: Path) -> None:
    text = page_of(hotel)
    page = Reader(text)
    for row in read_rows(hotel / "log.jsonl"):
        if row["event"] == "evaluation":
            low, high = row["interval"]
            point = f"update {row['update']}: {100 * row['pass@1']:.1f} % [{100 * low:.1f} %, {100 * high:.1f} %]"
            assert point in page.text
    start = read_rows(hotel / "log.jsonl")[0]
    for said in (start["note"], *start["hashes"].values(), "One run, one seed", "seed 42"):
        assert said in page.text
    assert page.text.index(start["note"]) < page.text.index("One run, one seed"), "the preset's words come first"
    config = json.loads((hotel / "config.json").read_text("utf-8"))
    command = re.search(r"tbx train --preset smoke .*--out \S+", page.text)
    if "command" not in start:
        assert command is not None
        words = command[0].replace("'", "").split(" --set ")[1:]
        again = load("smoke", [word.split(" --out ")[0] for word in words])
        assert json.loads(json.dumps(again.to_json())) == config, "the command makes the same settings"
    assert not {
        tag for tag, attributes in page.tags if tag in ("script", "link", "img") or {"src", "href"} & attributes.keys()
    }
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL)
    assert style is not None
    assert not re.search(r"@import|url\(", style[1]), "it needs no network"
    assert page.tables[0][1][:3] == ["seed 42", "finished", "2 of 2"]
    assert "UNFINISHED" not in page.text
    assert "RESUMED" not in page.text


def test_scores_of_rows_are_the_evaluations_own_summary(hotel: Path) -> None:
    for row in read_rows(hotel / "log.jsonl"):
        if row["event"] == "evaluation":
            scores = Scores.of(read_rows(hotel / f"evaluations/update-{row['update']}.jsonl"))
            found = scores.metrics()
            for name in ("pass@1", "pass@2", "pass^2", "reward"):
                assert found[name].estimate == pytest.approx(row[name])
            assert found["pass@2"].estimate == row["breadth"]
            assert {name: round(rate, 4) for name, (rate, _) in scores.rates("families").items()} == row["families"]
            assert scores.trials == row["trials"]


def test_system_errors_are_no_trials_and_other_content_is_not_compared(hotel: Path, tmp_path: Path) -> None:
    before, after = (read_rows(hotel / f"evaluations/update-{update}.jsonl") for update in (0, 2))
    after[0] |= {"outcome": "error:backend", "status": "system_error", "reward": None}
    after[2]["hash"] = after[3]["hash"] = "of another task"
    files: list[Path] = []
    for name, rows in (("before", before), ("after", after)):
        files.append(tmp_path / f"{name}.jsonl")
        files[-1].write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    pair = pair_by_hand(*map(read_trials, files))
    assert pair.scores.changed == [before[2]["task"]]
    assert len(pair.scores.tasks) == 3
    assert "1 tasks were changed between the two and are left out." in pair.cautions
    assert "1 trials after ended in system errors and do not count." in pair.cautions
    solved = sum(row["outcome"] == "success" for row in after)
    low, high = 100 * solved / len(after), 100 * (solved + 1) / len(after)
    assert f"Over all trials that were meant, pass@1 after lies between {low:.1f} % and {high:.1f} %." in pair.cautions
    assert not [caution for caution in pair.cautions if "pass@1 before" in caution]
    assert pair.scores.metrics["pass@2"].tasks == 2, "one task has only one attempt left"


def test_seeds_share_charts_and_what_is_no_seed_is_said(seeds: list[Path], tmp_path: Path) -> None:
    page = Reader(page_of(*seeds))
    assert "2 runs that differ only in their seed: 1, 2" in page.text
    figures = page_of(*seeds).split("<figure>")
    figure = next(part for part in figures if "<figcaption>Informative groups" in part)
    assert figure.count("<path") == 2
    assert {"seed 1, update 2", "seed 2, update 2"} <= set(re.findall(r"seed \d, update 2", figure))
    other = shutil.copytree(seeds[1], tmp_path / "other")
    config = json.loads((other / "config.json").read_text("utf-8"))
    config["grpo"]["learning_rate"] = 0.5
    (other / "config.json").write_text(json.dumps(config), "utf-8")
    text = Reader(page_of(seeds[0], other)).text
    assert "These runs are not seeds of one experiment; they differ in grpo.learning_rate (0.001, 0.5)." in text


# -- warnings


def test_the_benchmark_is_red_and_first(hotel: Path, tmp_path: Path) -> None:
    assert "TRAINED ON THE BENCHMARK" not in page_of(hotel)
    mark = {MARK: {"overlaps": {"bench task": 3}, "tasks": []}}
    in_log, in_state = (shutil.copytree(hotel, tmp_path / name) for name in ("log", "state"))
    rows = read_rows(in_log / "log.jsonl")
    (in_log / "log.jsonl").write_text("".join(json.dumps(row | mark) + "\n" for row in rows), "utf-8")
    state = next((in_state / "checkpoints").glob("*/state.json"))
    state.write_text(json.dumps(json.loads(state.read_text("utf-8")) | mark), "utf-8")
    for run in (in_log, in_state):
        body = page_of(run).partition("<body>")[2]
        assert body.startswith('<p class="red">TRAINED ON THE BENCHMARK (seed 42)')
        assert "bench task" in body[:400]


def test_unfinished_resumed_and_failed_runs_say_so(tmp_path: Path) -> None:
    make_run(tmp_path / "run", settings_for(grpo={"updates": 1})).train()
    make_run(tmp_path / "run", settings_for(grpo={"updates": 2}), resume=True).train()
    text = Reader(page_of(tmp_path / "run")).text
    assert "RESUMED after update 1." in text
    assert "UNFINISHED" not in text
    log = tmp_path / "run/log.jsonl"
    kept = log.read_text("utf-8").splitlines(keepends=True)
    log.write_text("".join(kept[:-1]), "utf-8")
    assert "UNFINISHED: the log ends after update 2 of 2" in Reader(page_of(tmp_path / "run")).text
    log.write_text("".join(kept[:-1]) + json.dumps({"event": "failed", "updates": 2, "error": "E: <b>x</b>"}), "utf-8")
    text = page_of(tmp_path / "run")
    assert "UNFINISHED: failed after update 2: E: &lt;b&gt;x&lt;/b&gt;" in text


# -- broken files


def test_a_log_cut_anywhere_gives_a_report_or_one_line(hotel: Path, tmp_path: Path) -> None:
    run = shutil.copytree(hotel, tmp_path / "run")
    whole = (run / "log.jsonl").read_bytes()
    draw = random.Random(0)
    # a row's last byte, its line's end and the byte behind it: where a cut row is still a whole one
    first, last = whole.index(b"\n"), whole.rindex(b"\n", 0, -1)
    edges = [end + step for end in (first, last) for step in (-1, 0, 1)]
    for end in sorted({*draw.sample(range(len(whole)), 20), *edges, len(whole) - 1}):
        (run / "log.jsonl").write_bytes(whole[:end])
        if end < first:
            with pytest.raises(UsageError, match="no row that can be read"):
                read_run(run)
            continue
        page = Reader(page_of(run))
        assert ("UNFINISHED" in page.text) == (end < len(whole) - 1)
        torn = bool(whole[:end].rpartition(b"\n")[2]) and whole[end : end + 1] != b"\n"
        assert ("1 lines of log.jsonl could not be read" in page.text) == torn
        assert len(page.tables[0]) == 2


JUNK = (None, "x", [], {}, [1], {"a": None}, True, -1, math.nan, math.inf, 10**400)


def test_no_value_in_a_log_a_config_or_a_trial_stops_it(
    hotel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (stats, paired):
        monkeypatch.setattr(module, "DRAWS", 20)
    run = shutil.copytree(hotel, tmp_path / "run")
    log, config, trials = run / "log.jsonl", run / "config.json", run / "evaluations/update-2.jsonl"
    wholes = {path: [json.loads(line) for line in path.read_text("utf-8").splitlines()] for path in (log, trials)}
    wholes[config] = [json.loads(config.read_text("utf-8"))]
    draw = random.Random(1)
    for _ in range(60):
        for path, rows in wholes.items():
            changed = json.loads(json.dumps(rows))
            for row in changed:
                for _ in range(draw.randrange(3)):
                    name = draw.choice(sorted(row))
                    inner = row[name] if isinstance(row[name], dict) and row[name] and draw.random() < 0.7 else row
                    inner[name if inner is row else draw.choice(sorted(inner))] = deepcopy(draw.choice(JUNK))
            path.write_text("".join(json.dumps(row) + "\n" for row in changed), "utf-8")
        Reader(page_of(run))


def test_garbage_is_counted_and_what_is_missing_is_said(hotel: Path, tmp_path: Path) -> None:
    run = shutil.copytree(hotel, tmp_path / "run")
    with (run / "log.jsonl").open("ab") as log:
        log.write(b'\xff\xfe\n[1, 2]\n"text"\n{"no": "event"}\n{"event": 3}\n\n' + b"[" * 100_000 + b"\n")
    with (run / "evaluations/update-2.jsonl").open("ab") as file:
        file.write(b'{"task": "hotel/date_change/1", "attem')
    (run / "evaluations/update-9.jsonl").write_text("{}\n", "utf-8")
    (run / "evaluations/update-1.jsonl").unlink()
    (run / "config.json").write_text("{", "utf-8")
    text = Reader(page_of(run)).text
    for said in (
        "6 lines of log.jsonl could not be read",
        "update-2.jsonl: 1 lines could not be read",
        "update-9.jsonl belongs to no evaluation in the log",
        "The trials of its own evaluations after update 1 are missing",
        "config.json is missing or cannot be read",
    ):
        assert said in text
    assert read_lines(run / "evaluations/update-2.jsonl")[1] == 1


def test_words_of_a_policy_are_never_markup(hotel: Path, tmp_path: Path) -> None:
    run = shutil.copytree(hotel, tmp_path / "run")
    evil = '</pre><script>alert("1")</script>\x00\ud800'
    for path in (run / "evaluations").glob("*.jsonl"):
        rows = [row | {"transcript": evil, "cell": evil, "ended_by": evil} for row in read_rows(path)]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    save(tmp_path / "report.html", page_of(run))
    text = (tmp_path / "report.html").read_text("utf-8")
    assert "<script" not in text
    assert "&lt;script&gt;" in text
    assert "\x00" not in text
    Reader(text)


# -- the commands


LIBRARY = sets(
    "environment.domains=[library]", f"environment.tasks=[{', '.join(TASKS)}]", "model.hidden=32",
    "model.vocabulary=512", "sampling.turn_tokens=16", "sampling.episode_tokens=2048",
)  # fmt: skip


def test_an_evaluation_that_broke_says_between_what_its_score_would_be(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """First attempts are solved, second ones idle; some backends crash and nothing is played again."""
    out, tasks = tmp_path / "broken.jsonl", [f"library/halve_fee/{100_000 + index}" for index in range(6)]
    seeds = {stable_seed(task): task for task in tasks}

    def engine(config: Any, model: Any, tokenizer: Any, **_: Any) -> WrittenEngine:
        renderer = Renderer(tokenizer, config.environment.prompt)
        return WrittenEngine(renderer, lambda key: IDLE if key.slot else reference(seeds[key.group]))

    monkeypatch.setattr("tb_trainer.engines.make.make_engine", engine)
    broken = sets("environment.retries=0", "environment.faults.crash=0.1", "sampling.turn_tokens=64")
    words = ["evaluate", *LIBRARY, *broken, "--split", "fresh:6", "--attempts", "2", "--out", str(out)]
    assert tbx([*words, "--json"]) == 1
    shown = json.loads(capsys.readouterr().out)
    unplayed = sum(shown["unplayed"].values())
    rows = read_trials(out).rows
    assert 0 < unplayed == 12 - len(rows) < 12
    solved = sum(row["outcome"] == "success" for row in rows)
    assert 0 < solved < 6
    assert shown["bounds"] == pytest.approx([solved / 12, (solved + unplayed) / 12])
    before = pair_by_hand(read_trials(out), read_trials(out))
    low, high = (f"{100 * bound:.1f} %" for bound in shown["bounds"])
    assert f"Over all trials that were meant, pass@1 before lies between {low} and {high}." in before.cautions
    assert tbx(words) == 1  # the same attempts crash again
    assert f"over all 12 trials pass@1 is between {low} and {high}" in capsys.readouterr().out.replace("\n", " ")


def test_evaluate_goes_on_where_it_was_killed_and_the_report_pairs_it(
    seeds: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = shutil.copytree(seeds[0], tmp_path / "run")
    base, after = run / "evaluations/base.jsonl", run / "evaluations/after.jsonl"
    trained = ["--set", f"model.checkpoint={run / 'checkpoints/update-2'}"]
    words = ["evaluate", *LIBRARY, "--split", "fresh:3", "--json"]
    assert tbx([*words, "--attempts", "2", "--out", str(base)]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["set"], shown["tasks"], shown["trials"], shown["unplayed"]) == ("fresh:3", 3, 6, {})
    rows = read_trials(base).rows
    fresh = {f"library/halve_fee/{100_000 + index}" for index in range(3)}
    assert {row["task"] for row in rows} == fresh
    assert [bool(row.get("transcript")) for row in rows] == [row["attempt"] == 0 for row in rows]
    assert all(row["cell"] == get_task(row["task"]).scenario.cell for row in rows)
    kept = base.read_bytes()
    base.write_bytes(kept[: kept.rindex(b'"attempt"')])
    assert tbx([*words, "--attempts", "2", "--out", str(base)]) == 0
    in_order = sorted(rows, key=lambda row: (row["task"], row["attempt"]))
    assert sorted(read_trials(base).rows, key=lambda row: (row["task"], row["attempt"])) == in_order
    kept = base.read_bytes()
    assert tbx([*words, *trained, "--out", str(base)]) == 2
    assert "was begun with other settings" in capsys.readouterr().err
    assert base.read_bytes() == kept
    assert tbx([*words, *trained, "--attempts", "2", "--out", str(after)]) == 0
    assert tbx([*words, *trained, "--greedy", "--out", str(tmp_path / "greedy.jsonl")]) == 0
    assert read_trials(after).about["update"] == 2
    capsys.readouterr()

    assert tbx(["report", str(run), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    (pair,) = report["comparisons"]
    assert (pair["what"], pair["before"], pair["after"]) == ("fresh:3, T = 1", str(base), str(after))
    assert report["out"] == str(run / "report.html")
    page = Reader((run / "report.html").read_text("utf-8"))
    assert "base (update 0) against after (update 2), 3 tasks, 6 and 6 trials." in page.text
    assert read_trials(after).settings["weights"] in page.text
    assert f"{shown['metrics']['reward'][1]:g} [" in page.table("before [95 %]")[-1][1]
    first = next(row for row in in_order if row["attempt"] == 0)
    assert first["transcript"].split("\n")[0] in page.text
    assert tbx(["report", str(run), "--compare", str(base), str(tmp_path / "greedy.jsonl")]) == 0
    assert "greedy was False, then True" in (run / "report.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["report", "nothing"], "nothing does not exist; name the folder of a campaign"),
        (["report", "run", "a.jsonl"], "a.jsonl does not exist"),
        (["report", "notes.txt"], "notes.txt has no campaign.json beside it"),
        (["report"], "required: RUN"),
        (["report", "run", "--out", "notes.txt"], "notes.txt is no report; name another file"),
        (["report", "run", "--out", "run"], "is a folder"),
        (["report", "run", "--compare", "a.jsonl", "b.jsonl"], "cannot read a.jsonl"),
        (["report", "run", "--compare", "notes.txt", "notes.txt"], "share no task"),
        (["evaluate", *LIBRARY], "required: --out"),
        (["evaluate", *LIBRARY, "--out", "x", "--split", "bech"], "valid: train, dev, bench, fresh:N"),
        (["evaluate", *LIBRARY, "--out", "x", "--split", "fresh"], "write how many, e.g. fresh:500"),
        (["evaluate", *LIBRARY, "--out", "x", "--greedy", "--attempts", "2"], "would be the first again"),
        (["evaluate", *LIBRARY, "--out", "x", "--split", "dev", "--tasks", TASKS[0]], "exclude each other"),
        (["evaluate", *LIBRARY, "--out", "x", "--split", "bench"], "the suite 'bench' of library holds no task"),
    ],
)
def test_wrong_usage_is_one_line(
    words: list[str],
    says: str,
    seeds: list[Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(seeds[0], tmp_path / "run")
    (tmp_path / "notes.txt").write_text("mine", "utf-8")
    assert tbx(words) == 2
    error = capsys.readouterr().err.strip()
    assert says in error
    assert "\n" not in error
    assert (tmp_path / "notes.txt").read_text("utf-8") == "mine"
    assert not (tmp_path / "x").exists()


# -- laws


@given(st.floats(-1e9, 1e9), st.floats(1e-6, 1e9))
def test_ticks_lie_in_the_range_and_are_few(low: float, width: float) -> None:
    high = low + width
    if high - low < 1e-6 * max(1.0, abs(low)):
        return
    found = ticks(low, high)
    assert 2 <= len(found) <= 12
    assert all(low - 1e-6 * width <= tick <= high + 1e-6 * width for tick in found)
    assert found == sorted(found)


@given(
    st.dictionaries(
        st.sampled_from([f"library/halve_fee/{n}" for n in range(8)]),
        st.lists(st.booleans(), min_size=1, max_size=4),
        min_size=1,
    )
)
def test_an_attempt_that_is_there_twice_counts_once(passed: dict[str, list[bool]]) -> None:
    rows = [
        {"task": task, "attempt": at, "outcome": "success" if ok else "failure", "reward": float(ok)}
        for task, tries in passed.items()
        for at, ok in enumerate(tries)
    ]
    scores = Scores.of([*rows, *random.Random(0).sample(rows, len(rows))])
    assert scores.passed == passed
    assert scores.attempts <= max(map(len, passed.values()))
    assert sum(len(tries) >= scores.attempts for tries in passed.values()) >= 0.9 * len(passed) - 1


def test_a_domain_that_is_only_played_has_a_chart_of_its_own(hotel: Path, tmp_path: Path) -> None:
    out = Path(shutil.copytree(hotel, tmp_path / "apart"))
    rows = read_rows(out / "log.jsonl")
    played = [row for row in rows if row["event"] == "evaluation"]
    for row, rate in zip(played, (0.25, 0.5, 0.75), strict=True):
        row["apart"] = {"library": {"pass@1": rate, "interval": [0.1, 0.9]}}
    (out / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    assert "Dev pass@1 of library" in Reader(page_of(out)).text
    assert "Dev pass@1 of" not in Reader(page_of(hotel)).text
    played[0]["apart"] = 3  # a log that somebody has edited
    played[1]["apart"] = {"library": None}
    (out / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    assert "Dev pass@1 of library" in Reader(page_of(out)).text
