"""``tbx certify``: proves tasks and domains right, and says in words what is not. Freezes suites on request."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tb_envs.authoring.domain import SPLITS, Domain
from tb_envs.certify.domain_proofs import Proof, certify_domain
from tb_envs.certify.freeze import freeze
from tb_envs.certify.runner import Result, certify_tasks, fresh_ids
from tb_envs.cli.parser import Namespace, Parser, knobs_option, whole
from tb_envs.cli.screen import Screen, print_json, progress, screen, table
from tb_envs.cli.selection import domains, suite
from tb_envs.errors import UsageError
from tb_envs.task import get_task


def main(argv: list[str]) -> int:
    """Certify; 1 if any proof failed."""
    args = _parser().read(argv)
    narrowed = bool(args.task or args.suite or args.fresh)
    if args.freeze and narrowed:
        raise UsageError("--freeze rewrites whole suites: leave out --suite, --task and --fresh")
    if args.knobs and args.freeze:
        raise UsageError("suites are frozen as written: leave --knobs out")
    if args.task and args.domain:
        raise UsageError("--task names its domain itself: leave --domain out")
    chosen = domains(args.domain)
    ids = _scope(args, chosen)
    results: list[Result] = []
    proofs: list[tuple[str, Proof]] = []
    frozen: list[str] = []
    try:
        _prove_tasks(ids, results, args)
        if args.freeze:
            frozen += _freeze(chosen, results)
        if not (narrowed or args.knobs):
            _prove_domains(chosen, proofs, args)
    except KeyboardInterrupt:
        changed = f"suites of {', '.join(frozen)} are frozen" if frozen else "no file was changed"
        raise KeyboardInterrupt(f"{len(results)} of {len(ids)} tasks were checked; {changed}") from None
    report = _report(results, proofs, frozen)
    if args.json:
        print_json(report)
    else:
        _print_report(screen(), report, asked_to_freeze=args.freeze)
    return int(bool(report["failures"]) or not all(proof.passed for _, proof in proofs))


def _parser() -> Parser:
    parser = Parser(
        "certify",
        "Prove tasks right: the reference passes, every other way fails for its own reason. "
        "Without a narrower scope: all suites of all installed domains, and the proofs of the domains themselves.",
    )
    parser.add_argument("--domain", action="append", metavar="NAME", help="only this domain (may be repeated)")
    parser.add_argument("--suite", choices=SPLITS, help="only this suite")
    parser.add_argument("--task", nargs="+", metavar="ID", help="only these tasks")
    parser.add_argument("--fresh", type=whole(1), metavar="N", help="N tasks that are in no suite, over all families")
    parser.add_argument("--jobs", type=whole(1), metavar="N", help="processes (default: one a core)")
    parser.add_argument(
        "--freeze", action="store_true", help="rewrite the suites of every domain whose tasks are proved"
    )
    knobs_option(parser)
    parser.json_option()
    return parser


def _scope(args: Namespace, chosen: Sequence[Domain]) -> list[str]:
    """The ids to certify; what is to be frozen is what the suites are to hold, not what they hold now."""
    ids = [get_task(name).id for name in args.task or ()]
    if args.fresh:
        share, rest = divmod(args.fresh, len(chosen))
        for place, domain in enumerate(chosen):
            ids += fresh_ids(domain.name, share + (place < rest))
    if args.suite or not (args.task or args.fresh):
        for domain in chosen:
            for split in [args.suite] if args.suite else SPLITS:
                ids += domain.planned_ids(split) if args.freeze else suite(domain, split)
    return list(dict.fromkeys(ids))


def _prove_tasks(ids: Sequence[str], results: list[Result], args: Namespace) -> None:
    """Fill `results` as they come."""
    failed = 0
    with progress(len(ids), "tasks", quiet=args.json) as advance:

        def take(result: Result) -> None:
            nonlocal failed
            results.append(result)
            failed += not result.proved
            advance(f"{failed} failed")

        certify_tasks(ids, jobs=args.jobs or os.cpu_count() or 1, knobs=args.knobs, on_result=take)


def _prove_domains(chosen: Sequence[Domain], proofs: list[tuple[str, Proof]], args: Namespace) -> None:
    """Fill `proofs` domain by domain."""
    with progress(None, "proofs", quiet=args.json) as advance:
        for domain in chosen:
            found = certify_domain(domain, jobs=args.jobs or 0, on_progress=advance)
            proofs += [(domain.name, proof) for proof in found]


def _freeze(chosen: Sequence[Domain], results: Sequence[Result]) -> list[str]:
    """Rewrite the suites of the domains whose tasks are all proved; their names."""
    unproved = {result.task_id.partition("/")[0] for result in results if not result.proved}
    ready = [domain for domain in chosen if domain.name not in unproved]
    for domain in ready:
        freeze(domain, [result for result in results if result.task_id.startswith(f"{domain.name}/")])
    return [domain.name for domain in ready]


def _report(results: Sequence[Result], proofs: Sequence[tuple[str, Proof]], frozen: Sequence[str]) -> dict[str, Any]:
    return {
        "tasks": len(results),
        "proved": sum(result.proved for result in results),
        "failures": [{"task": r.task_id, "failures": list(_words(r))} for r in results if not r.proved],
        "proofs": _counts(pair for result in results for pair in result.proofs.items()),
        "domain": [{"domain": name, "proof": p.name, "passed": p.passed, "detail": p.detail} for name, p in proofs],
        "frozen": list(frozen),
    }


def _words(result: Result) -> Iterable[str]:
    return result.failures or [f"{name} does not hold" for name, passed in result.proofs.items() if not passed]


def _counts(passes: Iterable[tuple[str, bool]]) -> dict[str, dict[str, int]]:
    counts: defaultdict[str, dict[str, int]] = defaultdict(lambda: {"passed": 0, "failed": 0})
    for name, passed in passes:
        counts[name]["passed" if passed else "failed"] += 1
    return dict(counts)


def _print_report(out: Screen, report: Mapping[str, Any], *, asked_to_freeze: bool) -> None:
    rows = [(name, count["passed"], count["failed"]) for name, count in report["proofs"].items()]
    out.print(table(("proof of a task", "passed", "failed"), rows, numbers=("passed", "failed")))
    if report["domain"]:
        out.print()
        out.print(table(("proof of a domain", "result"), [(_name(d), _outcome(d)) for d in report["domain"]]))
    for failed in (proof for proof in report["domain"] if not proof["passed"]):
        out.heading(_name(failed))
        out.lines(failed["detail"].split("; "))
    for failure in report["failures"]:
        out.heading(failure["task"])
        out.lines(failure["failures"])
    out.print(f"\n{report['proved']} of {report['tasks']} tasks proved, {len(report['failures'])} failed")
    if asked_to_freeze:
        out.print(f"frozen: {', '.join(report['frozen']) or 'nothing, because of the failures above'}")


def _name(proof: Mapping[str, Any]) -> str:
    return f"{proof['domain']}: {proof['proof']}"


def _outcome(proof: Mapping[str, Any]) -> str:
    return "passed" if proof["passed"] else "FAILED"
