"""Which tasks and domains a command means: ids, globs over the suites, suites, domains."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from fnmatch import fnmatchcase

from tb_envs.authoring.domain import SPLITS, Domain
from tb_envs.authoring.rng import Rng
from tb_envs.cli.parser import Namespace, Parser, whole
from tb_envs.errors import UsageError
from tb_envs.registration import domain_names, load_domain
from tb_envs.task import get_task


def scope_options(parser: Parser) -> None:
    """``--domain`` and ``--split``."""
    parser.add_argument("--domain", action="append", metavar="NAME", help="only this domain (may be repeated)")
    parser.add_argument("--split", choices=SPLITS, help="only this suite")


def task_options(parser: Parser) -> None:
    """The options of a command that plays tasks; `select` reads them."""
    parser.add_argument(
        "--tasks",
        nargs="+",
        metavar="TASK",
        help="task ids (any index can be built) or globs over the suites, such as 'hotel/late_cancellation/*'",
    )
    scope_options(parser)
    parser.add_argument("--limit", type=whole(1), metavar="N", help="at most N tasks")
    parser.add_argument(
        "--seed", type=whole(0), metavar="N", help="shuffle the tasks first; the same N, the same order"
    )


def domains(names: Sequence[str] | None) -> list[Domain]:
    """The named domains, all installed ones if none is named."""
    found = [load_domain(name) for name in dict.fromkeys(names or domain_names())]
    if not found:
        raise UsageError("no domain is installed; a domain registers itself in the entry-point group tb_envs.domains")
    return found


def only_domain(name: str | None) -> Domain:
    """The named domain; without a name the only one that is installed."""
    if name is None and len(domain_names()) != 1:
        raise UsageError(f"say which domain: --domain {' or '.join(domain_names()) or 'NAME'}")
    return load_domain(name or domain_names()[0])


def suite(domain: Domain, split: str) -> tuple[str, ...]:
    """The ids of a suite; of one that is not frozen yet, those it is to hold."""
    return domain.suite_ids[split] or tuple(domain.planned_ids(split))


def pool(chosen: Sequence[Domain], split: str | None = None) -> list[str]:
    """All ids of the suites of some domains."""
    splits = (split,) if split else SPLITS
    return [task_id for domain in chosen for one in splits for task_id in suite(domain, one)]


def select(args: Namespace) -> list[str]:
    """The ids meant by `task_options`, in the order of the suites or shuffled."""
    if args.tasks:
        ids = [task_id for word in args.tasks for task_id in _matching(word, args.domain, args.split)]
    else:
        ids = pool(domains(args.domain), args.split)
    ids = list(dict.fromkeys(ids))
    if args.seed is not None:
        ids = Rng("tbx", args.seed).shuffled(ids)
    if not ids:
        raise UsageError("no task matches; `tbx tasks` lists them")
    return ids[: args.limit]


def _matching(word: str, names: Sequence[str] | None, split: str | None) -> list[str]:
    if not any(mark in word for mark in "*?["):
        if word.count("/") == 1:
            raise UsageError(f"{word!r} is a family, not a task; for all its tasks write '{word}/*'")
        return [get_task(word).id]
    first = word.split("/")[0]
    if not any(mark in first for mark in "*?["):
        load_domain(first)
    wanted = [name for name in names or domain_names() if fnmatchcase(name, first)]
    ids = pool(domains(wanted), split) if wanted else []
    found = [task_id for task_id in ids if fnmatchcase(task_id, word)]
    if not found:
        families = list(dict.fromkeys(task_id.rpartition("/")[0] for task_id in ids))
        near = difflib.get_close_matches(word.rpartition("/")[0], families, 3, 0.4)
        hint = f"near matches: {', '.join(f'{name}/*' for name in near)}" if near else "`tbx tasks` lists them"
        raise UsageError(f"no task of the suites matches {word!r}; {hint}")
    return found
