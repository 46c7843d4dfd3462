"""The library's audit."""

from tb_envs.authoring.audit import Case, Violation


def audit(case: Case) -> list[Violation]:
    found = []
    for key, row in case.after["loans"].items():
        before = case.before["loans"][key]["fee_cents"]
        if row["fee_cents"] not in (before, before // 2):
            found.append(Violation("1", f"{key}: the fee became {row['fee_cents']}"))
    return found
