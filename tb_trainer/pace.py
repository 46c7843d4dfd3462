"""Tokens and seconds of an update, from what was measured: an earlier run's log, given rates, or ``rates.yaml``.

Nothing is guessed: a number without a measurement behind it is None and is shown as `not measured`. The limits of the
configuration give the most tokens that an update can have, which is a bound and no expectation.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from tb_envs.errors import UsageError
from tb_trainer.layout import Layout
from tb_trainer.schema import TrainConfig

RATES = Path(__file__).parent / "rates.yaml"
NEAR = 1.5
"""How far a model's size may be from a measured one, as a factor."""


@dataclass(frozen=True)
class Pace:
    """What one update is expected to take; None: not measured.

    Attributes:
        most: tokens of an update at most, by the limits.
        most_sampled: of these, written by the policy at most.
        read, sampled: tokens expected in an update.
        generate, update: seconds expected.
        sources: where each number comes from.
    """

    most: int
    most_sampled: int
    read: float | None
    sampled: float | None
    generate: float | None
    update: float | None
    sources: dict[str, str]

    @property
    def seconds(self) -> float | None:
        """Both phases, without environment and synchronisation."""
        return None if self.generate is None or self.update is None else self.generate + self.update


def episode_bound(config: TrainConfig) -> tuple[int, int]:
    """(tokens, sampled tokens) of one episode at most."""
    sampling = config.sampling
    return sampling.episode_tokens, min(config.environment.turns * sampling.turn_tokens, sampling.episode_tokens)


def pace_of(config: TrainConfig, layout: Layout, parameters: int) -> Pace:
    """What an update of this run takes.

    Raises:
        UsageError: a rate without a source, or a log that holds none.
    """
    expect = config.parallel.expect
    if expect.log:
        found = _from_log(Path(expect.log))
        known, sources = found, dict.fromkeys(found, f"{expect.log} (mean of its updates after the first)")
        scale = {"generate": 1.0, "update": 1.0}  # the log's speeds are those of the whole run
    else:
        given = {name: getattr(expect, name) for name in ("read", "sampled", "generate", "update")}
        known = {name: value for name, value in given.items() if value}
        if known and not expect.source:
            raise UsageError(f"parallel.expect.source must say where parallel.expect.{next(iter(known))} comes from")
        sources = dict.fromkeys(known, expect.source)
        table = _from_table(config, parameters)
        for name in ("generate", "update"):
            if name not in known and table is not None and name in table:
                known[name], sources[name] = float(table[name]), f"rates.yaml: {' '.join(str(table['source']).split())}"
        servers = layout.copies * config.engine.tensor_parallel or 1
        scale = {"generate": float(servers), "update": float(layout.ranks)}
    read, sampled = (known[name] * config.episodes if name in known else None for name in ("read", "sampled"))
    generate = update = None
    if sampled is not None and "generate" in known:
        generate = sampled / (known["generate"] * scale["generate"])
    if sampled is not None and read is not None and "update" in known:
        update = (read + sampled) * config.grpo.steps / (known["update"] * scale["update"])
    most, written = episode_bound(config)
    return Pace(most * config.episodes, written * config.episodes, read, sampled, generate, update, sources)


def _from_log(path: Path) -> dict[str, float]:
    """Tokens of an episode and speeds of a run; the first update, which warms things up, is left out."""
    try:
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    except (OSError, ValueError) as error:
        raise UsageError(f"parallel.expect.log: cannot read {path}: {error}") from None
    updates = [row for row in rows if row.get("event") == "update"][1:]
    if not updates:
        raise UsageError(f"parallel.expect.log: {path} holds fewer than two updates; let that run go on")

    def per_episode(*names: str) -> float:
        return fmean(sum(row["tokens"][name] for name in names) / row["episodes"] for row in updates)

    def total(name: str) -> float:
        return sum(row["seconds"][name] for row in updates)

    found = {"read": per_episode("prompt", "observation"), "sampled": per_episode("action")}
    everything = sum(sum(row["tokens"][name] for name in ("prompt", "observation", "action")) for row in updates)
    if total("generate"):
        found["generate"] = sum(row["tokens"]["action"] for row in updates) / total("generate")
    if total("update"):
        found["update"] = everything / total("update")
    return found


def _from_table(config: TrainConfig, parameters: int) -> dict[str, Any] | None:
    """The entry of ``rates.yaml`` that is nearest in size, if one is near enough."""
    import yaml

    device = "gpu" if config.parallel.gpus else "cpu"
    rows: list[dict[str, Any]] = yaml.safe_load(RATES.read_text("utf-8"))
    rows = [row for row in rows if row["device"] == device and row["engine"] == config.engine.kind]

    def apart(row: dict[str, Any]) -> float:
        return max(row["parameters"] / parameters, parameters / row["parameters"])

    nearest = min(rows, key=apart, default=None)
    return nearest if nearest is not None and apart(nearest) <= NEAR else None
