"""A preset, overrides by name, one checked tree (`tb_trainer.schema`).

``load("smoke", ["grpo.updates=4"])`` reads ``presets/smoke.yaml``, puts the overrides over it and checks the whole. A
name or a value that is not meant raises `UsageError` with what would be right. Imports nothing heavy.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from tb_envs.errors import UsageError
from tb_trainer.schema import TrainConfig

PRESETS = Path(__file__).parent / "presets"


def presets() -> list[str]:
    """Names of the presets."""
    return sorted(path.stem for path in PRESETS.glob("*.yaml"))


def load(preset: str, overrides: Sequence[str] = ()) -> TrainConfig:
    """A preset with overrides ``a.b=value``; a value is read as YAML.

    Raises:
        UsageError: no such preset or name, or a value that is not meant.
    """
    import yaml

    if preset not in presets():
        raise UsageError(f"unknown preset {preset!r}; valid: {', '.join(presets())}")
    tree: dict[str, Any] = yaml.safe_load((PRESETS / f"{preset}.yaml").read_text("utf-8")) or {}
    for override in overrides:
        path, mark, text = override.partition("=")
        if not mark or not path.strip():
            raise UsageError(f"--set {override!r}: write name=value, e.g. grpo.updates=4")
        try:
            value = yaml.safe_load(text)
        except yaml.YAMLError:
            raise UsageError(f"--set {path}: {text!r} is not a YAML value") from None
        _put(tree, path.strip().split("."), value)
    return check(tree)


def check(tree: Mapping[str, Any]) -> TrainConfig:
    """A tree of plain data as a configuration."""
    try:
        config = TypeAdapter(TrainConfig).validate_python(tree)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        path = ".".join(str(part) for part in first["loc"])
        if first["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
            raise UsageError(_unknown(path)) from None
        raise UsageError(f"{path}: {first['msg'].lower()}, got {first['input']!r}") from None
    config = replace(config, environment=replace(config.environment, tasks=_each(config.environment.tasks)))
    environment, model = config.environment, config.model
    if model.hidden % model.heads or (model.hidden // model.heads) % 2:
        raise UsageError("model.hidden must be an even multiple of model.heads")
    if environment.holdout_domain and environment.domains == (environment.holdout_domain,):
        raise UsageError("environment.holdout_domain leaves no domain to train on")
    if sum(map(bool, (environment.tasks, environment.pool))) > 1:
        raise UsageError("environment.tasks and environment.pool exclude each other")
    if config.sampling.turn_tokens >= config.sampling.episode_tokens:
        raise UsageError("sampling.turn_tokens must be less than sampling.episode_tokens")
    if config.curriculum.watch and config.curriculum.kind != "posterior":
        raise UsageError("curriculum.watch raises shares of draws by curriculum.kind posterior: set that, or watch=0")
    start = config.warmstart
    if start.trainer == "trl" and (start.noisy_steps or start.short_steps or start.autocast or start.processes > 1):
        raise UsageError(
            "warmstart.noisy_steps, short_steps, autocast and processes are for warmstart.trainer plain; set that, or "
            "leave them out"
        )
    if start.short_steps > start.steps:
        raise UsageError("warmstart.short_steps are the first of warmstart.steps and cannot be more than these")
    if model.lora.rank and not model.path:
        raise UsageError("model.lora is for a model from model.path; the tiny one is trained whole")
    return config


def _each(tasks: Sequence[str]) -> tuple[str, ...]:
    """Task ids, with ``hotel/date_change/0-9`` as ten of them."""
    out: list[str] = []
    for name in tasks:
        family, _, index = name.rpartition("/")
        first, dash, last = index.partition("-")
        if not dash:
            out.append(name)
            continue
        if not (first.isdecimal() and last.isdecimal() and int(first) <= int(last)):
            raise UsageError(f"environment.tasks: {name!r} is no range of tasks; write e.g. hotel/date_change/0-9")
        out += [f"{family}/{number}" for number in range(int(first), int(last) + 1)]
    return tuple(out)


def _put(tree: dict[str, Any], path: Sequence[str], value: Any) -> None:
    *branch, leaf = path
    for name in branch:
        inner = tree.setdefault(name, {})
        if not isinstance(inner, dict):
            raise UsageError(f"--set {'.'.join(path)}: {name!r} has no parts")
        tree = inner
    tree[leaf] = value


def _unknown(path: str) -> str:
    valid = _names(TrainConfig())
    near = difflib.get_close_matches(path, valid, 1) or [
        name for name in valid if name.split(".")[-1] == path.split(".")[-1]
    ]
    hint = f"did you mean {near[0]}?" if near else f"valid: {', '.join(valid)}"
    return f"unknown setting {path!r}; {hint}"


def _names(config: Any, prefix: str = "") -> list[str]:
    names: list[str] = []
    for item in fields(config):
        value = getattr(config, item.name)
        inner = is_dataclass(value) and not isinstance(value, type)
        names += _names(value, f"{prefix}{item.name}.") if inner else [f"{prefix}{item.name}"]
    return names
