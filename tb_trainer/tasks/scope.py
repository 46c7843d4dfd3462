"""Which domains and families a run is about, the same for training, probe and dev evaluation.

``environment.families`` restricts the domains that are trained on; one that is only evaluated on stays whole unless
families of it are named too. Refuses names that no domain of the run has, families that are kept for the benchmark, and
a training domain of which none is named.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from functools import lru_cache

from tb_envs.errors import UsageError
from tb_envs.registration import load_domain
from tb_trainer.schema import EnvironmentConfig


def training_domains(environment: EnvironmentConfig) -> list[str]:
    """The domains that are trained on: all but the held-out one."""
    return [name for name in environment.domains if name != environment.holdout_domain]


def evaluation_domains(environment: EnvironmentConfig) -> list[str]:
    """The domains that are evaluated on: the named ones or else those that are trained on; and the held-out one."""
    holdout = [environment.holdout_domain] if environment.holdout_domain else []
    return list(dict.fromkeys([*(environment.eval_domains or training_domains(environment)), *holdout]))


def within(environment: EnvironmentConfig, task_ids: Iterable[str]) -> list[str]:
    """Those of the tasks that ``environment.families`` leaves; all of them if it is empty.

    Raises:
        UsageError: a name in it is wrong; the message names what is near.
    """
    if not environment.families:
        return list(task_ids)
    trained = training_domains(environment)
    measured = [name for name in evaluation_domains(environment) if name not in trained]
    chosen = _chosen(environment.families, tuple(trained), tuple(measured))
    restricted = {*trained, *(name.partition("/")[0] for name in chosen)}
    return [
        task_id
        for task_id in task_ids
        if task_id.rpartition("/")[0] in chosen or task_id.partition("/")[0] not in restricted
    ]


@lru_cache(maxsize=64)
def _chosen(names: tuple[str, ...], trained: tuple[str, ...], measured: tuple[str, ...]) -> frozenset[str]:
    """Full names, ``hotel/date_change``, of families written so or as ``date_change``."""
    known = {
        f"{domain}/{family.name}": family.split
        for domain in dict.fromkeys((*trained, *measured))
        for family in load_domain(domain).families.values()
    }
    chosen: set[str] = set()
    for name in names:
        found = [full for full in known if full == name or full.partition("/")[2] == name]
        if not found:
            raise UsageError(f"environment.families: there is no family {name!r}; {_near(name, list(known))}")
        if len(found) > 1:
            raise UsageError(f"environment.families: {name!r} could be {' or '.join(found)}; write which")
        if known[found[0]] == "bench":
            able = [full for full, split in known.items() if split != "bench"]
            raise UsageError(
                f"environment.families: {found[0]} is kept for the benchmark, no training or dev suite has tasks of "
                f"it; {_near(name, able)}"
            )
        chosen.add(found[0])
    for domain in trained:
        if not any(full.startswith(f"{domain}/") for full in chosen):
            raise UsageError(
                f"environment.families names no family of {domain!r}, which is trained on: name one, or take it out "
                "of environment.domains"
            )
    return frozenset(chosen)


def _near(name: str, known: list[str]) -> str:
    short = {full.partition("/")[2]: full for full in known}
    close = [
        *difflib.get_close_matches(name, known, 3, 0.5),
        *(short[part] for part in difflib.get_close_matches(name.partition("/")[2] or name, short, 3, 0.5)),
    ]
    if close:
        return f"near matches: {', '.join(list(dict.fromkeys(close))[:3])}"
    return f"valid: {', '.join(known)}"
