"""From nothing to a report in one `tbx train`: what a preset with ``from_nothing`` does.

Warm start, a gate that only tells, probe, select, training, evaluation of the start and of the last checkpoint, report:
the commands that one would type, each in a process of its own, all in the run's folder. The start is evaluated beside
the training, on the second core. No evaluation of held-out tasks chooses anything: what is reported is the last
checkpoint. What is done is not done again (``--resume``). Refuses a model that is there already: it needs no start.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tb_envs.errors import ThinkingBoxError, UsageError
from tb_trainer import checkpoint
from tb_trainer.gate import gate
from tb_trainer.report.read import read_trials
from tb_trainer.schema import TrainConfig

ENTRY = "import sys; from tb_envs.cli import main; sys.exit(main())"


class Chain:
    """The stages of one run.

    Args:
        config: the settings, read.
        preset, overrides: the settings as they were given; each stage is told them again.
        out: the run's folder.
        say: told what begins.
    """

    def __init__(
        self, config: TrainConfig, preset: str, overrides: Sequence[str], out: Path, say: Callable[[str], None]
    ) -> None:
        if config.model.path or config.model.checkpoint:
            raise UsageError("from_nothing makes its own model: leave model.path and model.checkpoint, or set it false")
        self.config, self.out, self._say = config, out, say
        self._given = ["--preset", preset, *_set(overrides)]
        self._writing = threading.Lock()

    def run(self) -> None:
        """All stages that are left.

        Raises:
            ThinkingBoxError: a stage failed; the message ends with what it said.
        """
        out, sizes = self.out, self.config.held_out
        attempts = ["--attempts", str(sizes.probe)]
        begin, probe, pool = out / "start", out / "probe.jsonl", out / "pool.json"
        (out / "logs").mkdir(parents=True, exist_ok=True)
        start = [*self._given, *_set([f"model.checkpoint={begin}"])]
        if not (begin / "config.json").exists():
            self._do("warm start", ["warmstart", *self._given, "--out", str(begin)])
        if sizes.gate:
            self._gate(begin / "clean" if (begin / "clean").is_dir() else begin)
        if sizes.candidates and not pool.exists():
            self._do("probe", ["probe", *start, "--fresh", str(sizes.candidates), *attempts, "--out", str(probe)])
            self._do("select", ["select", str(probe), *attempts, "--out", str(pool)])
        chosen = ["environment.tasks=[]", f"environment.pool={pool}"] if sizes.candidates else []
        training = _set([*chosen, "from_nothing=false"])
        evaluations = self.evaluations()
        with ThreadPoolExecutor(2) as two:
            beside = two.submit(self._evaluate, "start", start, list(evaluations))
            done = checkpoint.whole(out)
            if not done or done[-1] < self.config.grpo.updates:
                resume = ["--resume"] if done else []
                self._do("train", ["train", *start, *training, "--out", str(out), *resume])
            beside.result()
            last = checkpoint.folder_of(out, checkpoint.whole(out)[-1])
            trained = [*self._given, *_set([f"model.checkpoint={last}"])]
            names = list(evaluations)
            for half in [two.submit(self._evaluate, "trained", trained, names[at::2]) for at in (0, 1)]:
                half.result()
        self._do("report", ["report", str(out)])

    def _gate(self, start: Path) -> None:
        """Say whether the start, as it was before its habits, is good enough."""
        verdict, file = self.out / "gate.json", self.out / "gate.jsonl"
        if verdict.exists():
            return
        split = ["--split", f"fresh:{self.config.held_out.gate}", "--greedy"]
        settings = [*self._given, *_set([f"model.checkpoint={start}"])]
        self._do("gate", ["evaluate", *settings, *split, "--out", str(file)])
        passed, told = gate(read_trials(file).rows)
        verdict.write_text(json.dumps({"passed": passed, "told": told}, indent=1) + "\n", "utf-8")
        self._say(told)

    def evaluations(self) -> dict[str, list[str]]:
        """Name → what of `tbx evaluate`, of those that are wanted."""
        sizes = self.config.held_out
        wanted = {
            "fresh": (sizes.fresh, ["--split", f"fresh:{sizes.fresh}"]),
            "repeated": (sizes.repeated, ["--split", f"fresh:{sizes.repeated}", "--attempts", "8"]),
            "greedy": (sizes.fresh, ["--split", f"fresh:{sizes.fresh}", "--greedy"]),
            "bench": (sizes.bench, ["--split", "bench", "--limit", str(sizes.bench)]),
        }
        return {name: words for name, (count, words) in wanted.items() if count}

    def _evaluate(self, who: str, settings: Sequence[str], names: Sequence[str]) -> None:
        for name in names:
            file = self.out / "evaluations" / f"{who}-{name}.jsonl"
            file.parent.mkdir(exist_ok=True)
            self._do(f"{who} {name}", ["evaluate", *settings, *self.evaluations()[name], "--out", str(file)])

    def _do(self, name: str, argv: Sequence[str]) -> None:
        self._say(name)
        log = self.out / "logs" / f"{name.replace(' ', '-')}.log"
        began = time.perf_counter()
        with log.open("w", encoding="utf-8") as file:
            process = subprocess.Popen([sys.executable, "-c", ENTRY, *argv], stdout=file, stderr=subprocess.STDOUT)
            try:
                _, status, used = os.wait4(process.pid, 0)
            except BaseException:
                process.terminate()
                raise
        code = process.returncode = os.waitstatus_to_exitcode(status)
        if code:
            tail = "\n".join(log.read_text("utf-8", "replace").splitlines()[-8:])
            raise ThinkingBoxError(f"{name} ended with {code} ({log}):\n{tail}")
        self._spent(name, time.perf_counter() - began, used.ru_utime + used.ru_stime)

    @property
    def seconds(self) -> dict[str, dict[str, float]]:
        """Stage → seconds on the clock and of the processors, those before a resume included."""
        file = self.out / "stages.json"
        return json.loads(file.read_text("utf-8")) if file.exists() else {}

    def _spent(self, name: str, clock: float, processors: float) -> None:
        """Keep a stage's seconds at once, together with those that it took before the run was resumed."""
        with self._writing:
            seconds = self.seconds
            before = seconds.get(name, {"clock": 0.0, "processors": 0.0})
            more = {"clock": clock, "processors": processors}
            seconds[name] = {part: round(before[part] + more[part], 1) for part in more}
            (self.out / "stages.json").write_text(json.dumps(seconds, indent=1) + "\n", "utf-8")


def _set(overrides: Sequence[str]) -> list[str]:
    return [word for text in overrides for word in ("--set", text)]
