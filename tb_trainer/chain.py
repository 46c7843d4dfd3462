"""From nothing to a report in one `tbx train`: what a preset with ``from_nothing`` does.

Warm start, a gate that only tells, probe, select, training, evaluation of the start and of the last checkpoint, report:
the commands that one would type, each in a process of its own, all in the run's folder. The start is evaluated beside
the training, on the second core. No evaluation of held-out tasks chooses anything: what is reported is the last
checkpoint. What has ended is not done again (``--resume``), and what is lost with a failure, SIGTERM or Ctrl-C is the
part that was being done. Refuses a model that is there already, which needs no start, and a folder that was begun with
other settings (``chain.json``).
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tb_envs.errors import UsageError
from tb_envs.whole import write_whole
from tb_trainer import checkpoint
from tb_trainer.begun import alone, same_settings
from tb_trainer.gate import gate
from tb_trainer.report.read import read_trials
from tb_trainer.schema import TrainConfig
from tb_trainer.stages import Stages

FILE = "chain.json"
STAGES = "stages.json"


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
        self._stages = Stages(out / "logs")
        self._writing = threading.Lock()

    def run(self) -> None:
        """All stages that are left.

        Raises:
            ThinkingBoxError: a stage failed, and all are ended; the message ends with what it said.
            UsageError: the folder was begun with other settings, or another process is at it.
        """
        with alone(self.out, "chain"):
            self.check()
            self._stages.run(self._all)

    def check(self) -> None:
        """Make sure that what lies in the folder is of these settings.

        Raises:
            UsageError: it is not, or nobody knows.
        """
        if not (self.out / FILE).exists() and any(
            (self.out / name).exists() for name in (STAGES, "start", "pool.json")
        ):
            raise UsageError(f"{self.out} does not say with what settings it was begun (no {FILE}); name a new folder")
        same_settings(self.out / FILE, self.config)

    def _all(self) -> None:
        out, sizes = self.out, self.config.held_out
        attempts = ["--attempts", str(sizes.probe)]
        begin, probe, pool = out / "start", out / "probe.jsonl", out / "pool.json"
        start = [*self._given, *_set([f"model.checkpoint={begin}"])]
        if not checkpoint.whole_start(begin):
            self._do("warm start", ["warmstart", *self._given, "--out", str(begin)])
        if sizes.gate:
            self._gate(begin / "clean" if (begin / "clean").is_dir() else begin)
        if sizes.candidates and "select" not in self.seconds:
            self._do("probe", ["probe", *start, "--fresh", str(sizes.candidates), *attempts, "--out", str(probe)])
            self._do("select", ["select", str(probe), *attempts, "--out", str(pool)])
        chosen = ["environment.tasks=[]", f"environment.pool={pool}"] if sizes.candidates else []
        training = _set([*chosen, "from_nothing=false"])
        evaluations = list(self.evaluations())
        with ThreadPoolExecutor(2) as two:
            beside = two.submit(self._evaluate, "start", start, evaluations)
            if "train" not in self.seconds:
                resume = ["--resume"] if checkpoint.begun(out) else []
                self._do("train", ["train", *start, *training, "--out", str(out), *resume])
            beside.result()
            done = checkpoint.whole(out)
            if not done:
                raise UsageError(f"{out} holds no checkpoint, though its training has ended; name a new folder")
            trained = [*self._given, *_set([f"model.checkpoint={checkpoint.folder_of(out, done[-1])}"])]
            for half in [two.submit(self._evaluate, "trained", trained, evaluations[at::2]) for at in (0, 1)]:
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
        write_whole(verdict, json.dumps({"passed": passed, "told": told}, indent=1) + "\n")
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
        try:
            spent = self._stages.do(name, argv)
        except BaseException:
            self._stages.stop()  # what goes on beside it
            raise
        self._spent(name, spent.clock, spent.processors)

    @property
    def seconds(self) -> dict[str, dict[str, float]]:
        """Stage that has ended → seconds on the clock and of the processors, those before a resume included."""
        file = self.out / STAGES
        return json.loads(file.read_text("utf-8")) if file.exists() else {}

    def _spent(self, name: str, clock: float, processors: float) -> None:
        """Keep a stage's seconds at once, together with those that it took before the run was resumed."""
        with self._writing:
            seconds = self.seconds
            before = seconds.get(name, {"clock": 0.0, "processors": 0.0})
            more = {"clock": clock, "processors": processors}
            seconds[name] = {part: round(before[part] + more[part], 1) for part in more}
            write_whole(self.out / STAGES, json.dumps(seconds, indent=1) + "\n")


def _set(overrides: Sequence[str]) -> list[str]:
    return [word for text in overrides for word in ("--set", text)]
