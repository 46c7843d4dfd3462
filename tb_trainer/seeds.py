"""``tbx train --seeds 1,2,3``: the same run for each seed, one after the other, then one report and a small table.

Each is ``tbx train`` in a process of its own, in ``OUT/seed-N``. With ``--resume`` those that have ended are left, one
that broke off goes on, the rest are begun. A seed that fails is told at the end, and the others are run all the same.
Refuses seeds that are no whole numbers or come twice, and a folder that was begun with other settings (``seeds.json``).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

from tb_envs.errors import ThinkingBoxError, UsageError
from tb_trainer import checkpoint
from tb_trainer.begun import alone, same_settings
from tb_trainer.chain import FILE as CHAIN
from tb_trainer.report.read import RunRecord, number, read_run
from tb_trainer.schema import TrainConfig
from tb_trainer.stages import GRACE, Stages

FILE = "seeds.json"
ENDED = ".ended"
"""A file in a seed's folder: its command has ended with 0."""
Row = dict[str, Any]


def read_seeds(text: str, overrides: Sequence[str]) -> list[int]:
    """``1,2,3`` as numbers.

    Raises:
        UsageError: they are none, or a seed is set besides.
    """
    words = [word.strip() for word in text.split(",")]
    if not all(word.removeprefix("-").isdecimal() for word in words):
        raise UsageError(f"--seeds {text!r}: write whole numbers, e.g. --seeds 1,2,3")
    seeds = [int(word) for word in words]
    if len(set(seeds)) < len(seeds):
        raise UsageError(f"--seeds {text!r}: a seed comes twice, and would give the same run")
    if any(override.partition("=")[0].strip() == "seed" for override in overrides):
        raise UsageError("--seeds and --set seed=… exclude each other")
    return seeds


class Seeds:
    """The runs of several seeds.

    Args:
        config: of all of them.
        args: of the command.
        seeds: in their order.
        out: the folder of them all.
    """

    def __init__(self, config: TrainConfig, args: argparse.Namespace, seeds: Sequence[int], out: Path) -> None:
        self.config, self.seeds, self.out, self._args = config, seeds, out, args
        # A run from nothing has commands of its own to end.
        self._stages = Stages(out / "logs", grace=2 * GRACE)
        self._failed: dict[int, str] = {}

    def run(self) -> int:
        """All runs that are left, the report and the table.

        Returns:
            The exit code, 0.

        Raises:
            ThinkingBoxError: some seeds failed; what each of them said.
        """
        with alone(self.out, "seeds"):
            same_settings(self.out / FILE, replace(self.config, seed=0))
            self._stages.run(self._all)
            self._show()
        if self._failed:
            told = "\n".join(f"seed {seed}: {said}" for seed, said in self._failed.items())
            raise ThinkingBoxError(
                f"{len(self._failed)} of {len(self.seeds)} seeds failed; --resume tries them again\n{told}"
            )
        return 0

    def _folder(self, seed: int) -> Path:
        return self.out / f"seed-{seed}"

    def _all(self) -> None:
        for place, seed in enumerate(self.seeds, 1):
            folder, name = self._folder(seed), f"seed {seed}"
            if (folder / ENDED).exists():
                print(f"{name} has ended already", file=sys.stderr, flush=True)
                continue
            print(f"{name}, {place} of {len(self.seeds)} ({self._stages.log(name)})", file=sys.stderr, flush=True)
            words = ["train", "--preset", self._args.preset]
            for override in (*self._args.set, f"seed={seed}"):
                words += ["--set", override]
            if self._args.on_benchmark:
                words.append("--i-am-training-on-the-benchmark")
            if checkpoint.begun(folder) or (folder / CHAIN).exists():
                words.append("--resume")
            try:
                self._stages.do(name, [*words, "--out", str(folder)])
            except ThinkingBoxError as error:
                self._failed[seed] = str(error)
            else:
                (folder / ENDED).touch()

    def _show(self) -> None:
        """Write the report, and print the table or its JSON."""
        from tb_envs.cli.report import save
        from tb_envs.cli.screen import percent, print_json, screen, table
        from tb_trainer.report import facts
        from tb_trainer.report.page import write
        from tb_trainer.report.pairs import find_pairs

        runs: list[RunRecord] = []
        for seed in self.seeds:
            try:
                runs.append(read_run(self._folder(seed)))
            except UsageError as error:  # it failed before its first row
                self._failed.setdefault(seed, str(error))
        names, page = facts.names_of(runs), self.out / "report.html"
        pairs = find_pairs(runs, names)
        if runs:
            save(page, [write(runs, pairs)])
        rows: list[Row] = []
        for run, name in zip(runs, names, strict=True):
            mine = [pair for pair in pairs if pair.run == name]
            ends = [
                (pair.what, *(getattr(pair.scores.metrics["pass@1"], side).estimate for side in ("before", "after")))
                for pair in mine
            ]
            if not mine and run.updates:
                ends = [("the training tasks", *(number(run.updates[at], "pass_rate") for at in (0, -1)))]
            rows += [
                {"seed": run.seed, "state": run.status, "tasks": what, "start": before, "trained": after}
                for what, before, after in ends
            ]
        if self._args.json:
            failed = {str(seed): said for seed, said in self._failed.items()}
            report = str(page) if runs else None
            print_json(
                {"out": str(self.out), "note": self.config.note, "report": report, "seeds": rows, "failed": failed}
            )
            return
        lines = [
            (str(row["seed"]), row["tasks"], percent(row["start"]), percent(row["trained"]), row["state"].split(":")[0])
            for row in rows
        ]
        for what in dict.fromkeys(row["tasks"] for row in rows):
            found = [row for row in rows if row["tasks"] == what and None not in (row["start"], row["trained"])]
            if len(found) > 1:
                before, after = (percent(fmean(row[side] for row in found)) for side in ("start", "trained"))
                lines.append(("mean", what, before, after, f"{len(found)} seeds"))
        console = screen()
        console.print(table(("seed", "pass@1 at", "start", "trained", "state"), lines, numbers=("start", "trained")))
        if runs:
            console.print(f"report: {page}", soft_wrap=True)
        if self.config.note:
            console.print(self.config.note, highlight=False, markup=False)
