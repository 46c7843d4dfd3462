"""The benchmarks run, at toy size, and count what they say they count. Nobody's speed is asserted."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from page_parts import ARTEFACTS, NO_BROWSER, chromium_path
from services import skip_or_fail
from torch.utils.flop_counter import FlopCounterMode

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    paths = [str(BENCHMARKS.parent), str(BENCHMARKS.parent / "domains")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(BENCHMARKS / arguments[0]), *arguments[1:]]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=environment)


def test_the_gpu_benchmark_runs_whole_on_the_cpu(tmp_path: Path) -> None:
    out = tmp_path / "results/toy.json"
    done = run("gpu_train.py", "--toy", "--peak", "1e12", "--out", str(out))
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(out.read_text("utf-8"))
    assert found["complete"] and found["episodes"]["count"] == 4
    assert found["episodes"]["pass_rate"] == 0.5  # every other talk solves its task: real talks, graded for real
    assert found["episodes"]["turns"] > 5
    assert set(found["seconds"]) == {"generate", "environment", "grade", "trainer", "update", "sync"}
    assert sum(found["shares"].values()) == pytest.approx(1)
    update = found["update"]
    assert update["episodes_with_advantage"] == 4 and update["grad_norm"] > 0
    assert abs(update["mismatch_kl"]) < 1e-6  # what was written was scored as it was drawn
    assert update["utilisation"] == pytest.approx(update["model_flops"] / found["seconds"]["update"] / 1e12)
    assert update["tokens_per_second"] == pytest.approx(4 * found["episodes"]["tokens"] / found["seconds"]["update"])
    late = run("gpu_train.py", "--toy", "--seconds", "0", "--out", str(out))
    assert late.returncode == 1
    cut = json.loads(out.read_text("utf-8"))
    assert not cut["complete"] and "were over when time was" in cut["stopped"]


def test_flops_are_those_that_torch_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a forward and backward pass; torch counts attention as a whole square, the formula half of it."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import gpu_train  # pyright: ignore[reportMissingImports]
    from trainer_parts import sharp_model

    from tb_trainer.grpo import Example
    from tb_trainer.tokens import Trajectory

    model, tokens = sharp_model(), Trajectory()
    tokens.read(list(range(40, 140)))
    tokens.wrote(list(range(60, 90)), [-1.0] * 30)
    with FlopCounterMode(display=False) as counter, torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        model(input_ids=torch.tensor([tokens.ids]), logits_to_keep=30).logits.sum().backward()
    config: Any = model.config
    square = 6 * config.num_hidden_layers * config.num_attention_heads * config.head_dim * len(tokens) ** 2
    assert gpu_train.model_flops(model, [Example(tokens, 1.0)]) + square == pytest.approx(
        counter.get_total_flops(), rel=0.02
    )
    assert gpu_train.peak_of("NVIDIA H100 PCIe") == 756e12
    assert gpu_train.peak_of("NVIDIA H200") == gpu_train.peak_of("NVIDIA H100 80GB HBM3") == 989e12
    assert gpu_train.peak_of("NVIDIA GeForce RTX 4090") is None


def test_the_overhead_benchmark_accounts_for_the_whole_update(tmp_path: Path) -> None:
    small = ("environment.tasks=[hotel/date_change/2000-2009]", "grpo.groups=2", "grpo.group_size=2")
    arguments = [part for knob in (*small, "model.hidden=64", "model.layers=2") for part in ("--set", knob)]
    out = tmp_path / "overhead.json"
    done = run("overhead.py", "--updates", "1", *arguments, "--no-check", "--out", str(out))
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(out.read_text("utf-8"))
    assert sum(found["totals"].values()) == pytest.approx(1, abs=1e-3)
    assert all(share > -1e-3 for shares in found["shares"].values() for share in shares.values())
    assert (found["episodes"], found["updates"], found["pass_rate"]) == (4, 1, 0.5)
    assert found["totals"]["model"] > found["totals"]["own"] > 0
    assert "own share" in done.stdout


def test_the_benchmark_of_backends_runs_and_says_what_is_missing() -> None:
    """144 sessions over HTTP among them: every call is answered, and has a figure that a budget can be held to."""
    done = run(
        "backends.py", "--repeat", "2", "--only", "embedded,memory,http,http-144,postgres", "--json", "--no-check"
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout)
    kinds: dict[str, Any] = found["kinds"]
    assert found["over_budget"] == []  # nothing is held to a budget on a machine that may be busy
    assert kinds.pop("postgres") == {"missing": "name a server: --store postgresql://…"}
    figures = {f"{what}_{unit}" for what in ("reset", "first", "read", "write") for unit in ("ms", "cpu_ms")}
    assert set(kinds) == {"embedded", "memory", "http", "http-144"}
    assert all(set(row) == figures and min(row.values()) > 0 for row in kinds.values()), kinds


def test_the_benchmark_of_backends_holds_each_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import backends  # pyright: ignore[reportMissingImports]

    row = {f"{what}_{unit}": 2.9 for what in ("reset", "first", "read", "write") for unit in ("ms", "cpu_ms")}
    slow = {**row, "write_cpu_ms": 3.1}
    fine = {name: row for name in backends.KINDS} | {"docker-new": {**row, "reset_ms": 990.0}}
    assert backends.over_budget({"kinds": fine}) == []
    assert (
        backends.over_budget({"kinds": {"docker": slow, "remote": slow, "docker-new": {"missing": "no engine"}}}) == []
    )
    for name in ("memory", "http", "http-144"):
        [missed] = backends.over_budget({"kinds": {**fine, name: slow}})
        assert missed == f"{name}: a write takes 3.1 ms of CPU; the budget is 3"
    [missed] = backends.over_budget({"kinds": {**fine, "docker-new": {**row, "reset_ms": 600.0, "first_ms": 401.0}}})
    assert missed == "docker-new: reset and first call take 1001 ms; the budget is 1000"


@pytest.mark.parametrize("missed", ["", "overhead_ms_median", "growth_kib_per_1000_attempts", "lost_attempts"])
def test_the_benchmark_of_campaigns_holds_each_budget(
    missed: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import campaign  # pyright: ignore[reportMissingImports]

    figures = {"overhead_ms_median": 4.9, "growth_kib_per_1000_attempts": 63.0, "lost_attempts": 0, "turns": 9}
    monkeypatch.setattr(campaign, "measure", lambda *_, **__: figures | ({missed: 64.1} if missed else {}))
    monkeypatch.setattr(campaign, "tasks_of", lambda *_: ["hotel/late_cancellation/0"])
    monkeypatch.setattr(sys, "argv", ["campaign.py", "--json"])
    assert campaign.main() == bool(missed)
    assert json.loads(capsys.readouterr().out)["missed"] == ([missed] if missed else [])


def test_memory_is_counted_without_what_the_allocator_keeps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import campaign  # pyright: ignore[reportMissingImports]

    assert campaign.slope([(1000, 500), (2000, 540), (3000, 580)]) == 40.0
    before, free = campaign.rss_kib() - campaign.free_kib(), campaign.free_kib()
    held: list[bytes] = [os.urandom(2048) for _ in range(20_000)]  # too large for Python's own pools
    assert 30_000 < campaign.rss_kib() - campaign.free_kib() - before < 60_000
    del held[::2]  # every other one: what is between cannot be given back
    assert campaign.free_kib() > free + 15_000
    assert campaign.rss_kib() - campaign.free_kib() - before < 30_000


def test_the_pictures_of_the_readme_are_taken_anew_and_kept() -> None:
    """Of smaller campaigns: what the pages look like today lies beside what the README shows."""
    skip_or_fail("" if chromium_path() else NO_BROWSER)
    out = ARTEFACTS / "readme"
    done = run("pictures.py", "--tasks", "6", "--attempts", "2", "--out", str(out))
    assert done.returncode == 0, done.stderr[-2000:]
    kept = BENCHMARKS.parent / "docs" / "pictures"
    names = sorted(path.name for path in kept.iterdir())
    assert done.stdout.split() == [
        str(out / name) for name in ("report.png", "episode.png", "compare.png", "phone-dark.png")
    ]
    assert sorted(Path(line).name for line in done.stdout.split()) == names
    assert [_size(out / name) for name in names] == [_size(kept / name) for name in names]
    readme = (BENCHMARKS.parent / "README.md").read_text("utf-8")
    assert all(f"docs/pictures/{name}" in readme for name in ("report.png", "episode.png"))


def _size(picture: Path) -> tuple[int, int]:
    """Width and height of a PNG, as its header says."""
    head = picture.read_bytes()[:24]
    assert head.startswith(b"\x89PNG\r\n\x1a\n"), f"{picture} is no PNG"
    return int.from_bytes(head[16:20]), int.from_bytes(head[20:24])
