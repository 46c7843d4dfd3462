"""The settings of runs side by side; where they differ, the line is marked."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from tb_envs.evaluation.report.campaigns import Run
from tb_envs.evaluation.report.markup import NOTHING, Html, el
from tb_envs.evaluation.report.words import table

LONGEST = 200
"""Characters of a value that are shown."""


def settings(runs: Sequence[Run]) -> Html:
    """Every setting of every run; names of nested ones are dotted."""
    flat = [dict(_flat(run.campaign.settings)) for run in runs]
    rows: list[Sequence[Any]] = []
    for name in dict.fromkeys(name for one in flat for name in one):
        values = [one.get(name) for one in flat]
        differs = any(value != values[0] for value in values)
        rows.append((el("strong", name, " ≠") if differs else name, *map(_shown, values)))
    return el("div", table(("", *(run.name for run in runs)), rows), class_="left")


def _flat(settings: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, Any]]:
    for name, value in settings.items():
        if isinstance(value, dict) and value:
            yield from _flat(cast("dict[str, Any]", value), f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _shown(value: Any) -> str:
    if value in (None, {}, []):
        return NOTHING
    told = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return told if len(told) <= LONGEST else f"{told[:LONGEST]}…"
