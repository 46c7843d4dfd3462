"""The bank's judge on small hand-made conversations: for each rule right acts pass and wrong ones are found.

A case is one line, however long, so that cases can be read against each other. Nothing here uses the tools, the policy functions
or the families: a conversation is a few rows, a few words and a few row changes, written down by `Play` as a real one is.
"""

# ruff: noqa: E501
import ast
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tb_banking.audit import (
    RULES,
    audit,
    complaints,
    credits,
    deposits,
    disputes,
    holds_fees,
    limits,
    mandates,
    pages,
    reckoning,
    transfers,
)
from tb_banking.audit.episode import Episode
from tb_banking.models import Base
from tb_envs.authoring.audit import Case, Violation
from tb_envs.parts.reading import State
from tb_envs.session.log import Event
from tb_envs.store.journal import RowChange

NOW = datetime(2031, 9, 18, 13, 40, tzinfo=UTC)  # a Thursday
FACTS = {
    "email": "mara@home.example",
    "phone": "+1 555 0101",
    "postcode": "44120",
    "birth_date": "1984-02-03",
    "account_number": "40021187",
    "card_ending": "4471",
}
OPENING = "I am Mara Ellison, account 40021187, mara@home.example, card 4471."

Row = dict[str, Any]
Tables = dict[str, dict[str, Row]]
Rows = Sequence[tuple[str, str, Row]]
CLOSED = ("closed", "service")
FINAL = {
    "sign_off_pending": ("waiting", "controls"),
    "not_verified": ("closed", "security"),
    "step_up_failed": ("closed", "security"),
    "documents_needed": ("waiting", "onboarding"),
    "system_fault": ("referred", "technology"),
}
SENT = {
    "sign_off_pending": "sign_off_waiting",
    "team_review": "referral_notice",
    "system_fault": "referral_notice",
    "documents_needed": "documents_request",
    "not_verified": "security_warning",
    "step_up_failed": "security_warning",
}
CONFIRMS = {
    "card_dispute": "dispute_update", "provisional_credit": "money_confirmed", "lost_card": "card_update",
    "card_control": "card_update", "limit": "change_confirmed", "standing_order": "change_confirmed",
    "alert": "change_confirmed", "device": "change_confirmed", "mandate": "change_confirmed",
    "closing": "change_confirmed",
}  # fmt: skip


def columns(table: str) -> list[str]:
    return list(Base.metadata.tables[table].columns.keys())


def written(table: str, row: Row | None) -> tuple[Any, ...] | None:
    return None if row is None else tuple(row[name] for name in columns(table))


def put(tables: Tables, table: str, key: str, **values: Any) -> None:
    known = tables.setdefault(table, {}).get(key) or dict.fromkeys(columns(table))
    tables[table][key] = {**known, "id": key, **values}


def payment(key: str, cents: int, at: str, **values: Any) -> tuple[str, str, Row]:
    row = {"account_id": "AC-1", "kind": "card_payment", "status": "posted", "amount_cents": -cents, "booked_at": at}
    row |= {"card_id": "CD-1", "merchant_id": "ME-1", "method": "contactless", **values}
    return "entries", key, row


def world(
    *rows: tuple[str, str, Row],
    segment: str = "basic",
    kyc: str = "verified",
    opened: str = "2029-01-10",
    kind: str = "current",
) -> Tables:
    """Mara, her account AC-1, card CD-1 and device DV-1, and what stands around them; `rows` adds or changes rows."""
    tables: Tables = {name: {} for name in Base.metadata.tables}
    put(tables, "customers", "CU-1", first_name="Mara", surname="Ellison", email=FACTS["email"], phone=FACTS["phone"])
    put(tables, "customers", "CU-1", postcode="44120", birth_date="1984-02-03", segment=segment, kyc_status=kyc)
    put(tables, "customers", "CU-2", first_name="Ivo", surname="Ellison", email="ivo@home.example", segment="plus")
    put(tables, "customers", "CU-2", kyc_status="verified", birth_date="1990-05-05")
    put(tables, "accounts", "AC-1", number="40021187", customer_id="CU-1", kind=kind, status="active", opened_on=opened)
    put(tables, "accounts", "AC-2", number="40021195", customer_id="CU-1", kind="savings", status="active")
    put(tables, "accounts", "AC-9", number="40029999", customer_id="CU-2", kind="current", status="active")
    put(tables, "balances", "AC-1", opening_cents=0, booked_cents=50000, held_cents=10000)
    put(tables, "devices", "DV-1", customer_id="CU-1", status="trusted", registered_at="2031-09-11T13:40:00Z")
    put(tables, "devices", "DV-2", customer_id="CU-2", status="trusted", registered_at="2030-01-01T00:00:00Z")
    put(tables, "passcode_rules", "PR-1", device_id="DV-1", code="318204")
    put(
        tables,
        "merchants",
        "ME-1",
        statement_name="NRTHLN 044",
        trading_name="Northlane Books",
        email="till@northlane.example",
    )
    put(
        tables,
        "merchants",
        "ME-2",
        statement_name="PQ GYM",
        trading_name="Peak Quay Gym",
        email="desk@peakquay.example",
    )
    put(
        tables,
        "cards",
        "CD-1",
        account_id="AC-1",
        customer_id="CU-1",
        ending="4471",
        status="active",
        expires_on="2033-01-31",
        online="on",
        contactless="on",
        abroad="off",
        cash_abroad="off",
    )
    for name, cents in (("daily_transfer", 200000), ("daily_cash", 30000), ("card_spend", 100000)):
        put(tables, "limits", f"AC-1.{name}", account_id="AC-1", kind=name, amount_cents=cents)
    for table, key, changed in rows:
        put(tables, table, key, **changed)
    return tables


class Play:
    """One conversation being written down."""

    def __init__(self, before: Tables) -> None:
        self.before = before
        self.after: Tables = {name: {key: dict(row) for key, row in rows.items()} for name, rows in before.items()}
        self.changes: list[RowChange] = []
        self.log: list[Event] = []
        self.call = 0
        self.numbers = count(90001)
        self.last: dict[str, str] = {}

    def hear(self, text: str, *acts: str) -> None:
        self.log.append(Event("heard", "", text, {"acts": acts}, True, 0))

    def say(self, text: str) -> None:
        self.log.append(Event("said", "", text, {}, True, 0))

    def do(self, tool: str, *rows: tuple[str, str, Row], failed: bool = False, **arguments: Any) -> None:
        """One call that writes these rows; one that failed may have written them all the same."""
        self.call += 1
        self.log.append(Event("call", tool, "", arguments, not failed, self.call))
        for table, key, values in rows:
            before = written(table, self.after[table].get(key))
            put(self.after, table, key, **values)
            after = written(table, self.after[table][key])
            self.changes.append(RowChange(len(self.changes) + 1, self.call, table, key, before, after))
        data = {"error": {"type": "temporary_failure", "message": "timed out"}} if failed else {}
        self.log.append(Event("result", tool, "", data, not failed, self.call))

    def new(self, prefix: str) -> str:
        self.last[prefix] = f"{prefix}-{next(self.numbers)}"
        return self.last[prefix]

    def case(self) -> Case:
        return Case(self.before, self.after, self.changes, self.log, NOW)


Step = Callable[[Play], None]


# -- steps


def check(*facts: str, ok: bool = True, role: str = "holder", who: str = "CU-1") -> Step:
    given: Row = {name: FACTS[name] for name in facts or ("email", "account_number")}
    row = {"customer_id": who, "role": role, "facts_given": len(given), "facts_matched": len(given) if ok else 0}
    row["result"] = "passed" if ok else "failed"
    return lambda p: p.do(
        "verify_caller", ("verifications", p.new("VE"), row), customer_id=who, role=role, surname="Ellison", **given
    )


def hear(text: str, *acts: str) -> Step:
    return lambda p: p.hear(text, *acts)


def say(text: str) -> Step:
    return lambda p: p.say(text)


def yes(p: Play) -> None:
    p.say("That would cost what it costs. Shall I go ahead?")
    p.hear("Yes, please.", "consented")


def send(device: str = "DV-1", who: str = "CU-1") -> Step:
    row = {"customer_id": who, "device_id": device, "status": "sent"}
    return lambda p: p.do("send_passcode", ("passcodes", p.new("PC"), row), device_id=device)


def confirm(status: str = "confirmed", code: str = "318204") -> Step:
    return lambda p: p.do(
        "confirm_passcode", ("passcodes", p.last["PC"], {"status": status}), passcode_id=p.last["PC"], code=code
    )


def code(p: Play) -> None:
    p.hear("It says 318204.", "gave:code")


FIRST: tuple[Step, ...] = (hear(OPENING, "gave:account", "gave:email"), check())
B: tuple[Step, ...] = (*FIRST, yes)
C: tuple[Step, ...] = (*FIRST, send(), code, confirm(), yes)
TOLD: tuple[Step, ...] = (
    *FIRST,
    send(),
    code,
    confirm(),
    say("It is Northlane Books, a book shop. Do you know it?"),
    hear("No, never.", "unknown"),
    yes,
)


def call(tool: str, **arguments: Any) -> Step:
    return lambda p: p.do(tool, **arguments)


def change(tool: str, table: str, key: str, **values: Any) -> Step:
    return lambda p: p.do(tool, (table, key, values), key=key)


def freeze(reason: str = "lost", card: str = "CD-1") -> Step:
    return change("freeze_card", "cards", card, status="frozen", freeze_reason=reason, frozen_at="2031-09-18T13:40:00Z")


def replace(reason: str = "lost", card: str = "CD-1") -> Step:
    new = {
        "account_id": "AC-1",
        "customer_id": "CU-1",
        "ending": "9001",
        "status": "active",
        "replaces": card,
        "online": "on",
        "contactless": "on",
        "abroad": "off",
        "cash_abroad": "off",
    }
    return lambda p: p.do(
        "replace_card", ("cards", card, {"status": "replaced", "replace_reason": reason}), ("cards", p.new("CD"), new)
    )


def file(entry: str = "EN-1", reason: str = "fraud") -> Step:
    row = {
        "entry_id": entry,
        "account_id": "AC-1",
        "reason": reason,
        "stage": "filed",
        "filed_on": "2031-09-18",
        "credit": "none",
        "credit_cents": 0,
    }
    return lambda p: p.do("file_dispute", ("disputes", p.new("DP"), row), entry_id=entry, reason=reason)


def credit(cents: int, dispute: str = "") -> Step:
    values = {"credit": "given", "credit_cents": cents}
    booked = {"account_id": "AC-1", "kind": "provisional_credit", "status": "posted", "amount_cents": cents}
    return lambda p: p.do(
        "grant_credit", ("disputes", dispute or p.last["DP"], values), ("entries", p.new("EN"), booked)
    )


def charge(kind: str, cents: int) -> Step:
    row = {
        "account_id": "AC-1",
        "kind": kind,
        "amount_cents": cents,
        "reversed_cents": 0,
        "charged_at": "2031-09-18T13:40:00Z",
    }
    return lambda p: p.do("charge_fee", ("fees", p.new("FE"), row), account_id="AC-1", kind=kind, amount=cents)


def reverse(cents: int, reason: str = "goodwill", fee: str = "FE-1", failed: str = "") -> Step:
    """`failed`: ``done`` or ``not done`` for a call that timed out."""
    row = {"reversed_cents": cents, "reverse_reason": reason, "reversed_at": "2031-09-18T13:40:00Z"}
    rows = [] if failed == "not done" else [("fees", fee, row)]
    return lambda p: p.do("reverse_fee", *rows, failed=bool(failed), fee_id=fee, amount=cents, reason=reason)


def limit(kind: str, cents: int, until: str | None = None) -> Step:
    return change("set_limit", "limits", f"AC-1.{kind}", amount_cents=cents, until=until)


def pay(cents: int, kind: str = "delay", **about: str) -> Step:
    row = {
        "account_id": "AC-1",
        "kind": kind,
        "amount_cents": cents,
        "paid_at": "2031-09-18T13:40:00Z",
        **(about or {"complaint_id": "CL-1"}),
    }
    return lambda p: p.do(
        "pay_compensation", ("compensations", p.new("CM"), row), account_id="AC-1", kind=kind, amount=cents
    )


def ask(kind: str, cents: int, decision: str = "granted", read: bool = True) -> Step:
    row = {"account_id": "AC-1", "kind": kind, "amount_cents": cents, "decision": decision}

    def step(p: Play) -> None:
        key = p.new("SG")
        p.do("request_sign_off", ("sign_offs", key, row), account_id="AC-1", kind=kind, amount=cents)
        if read:
            p.do("get_sign_off", sign_off_id=key)

    return step


def note(kind: str, who: str = "CU-1") -> Step:
    return lambda p: p.do("add_contact_note", ("contact_notes", p.new("CN"), {"customer_id": who, "kind": kind}))


def message(template: str, account: str | None = "AC-1") -> Step:
    row = {"customer_id": "CU-1", "account_id": account, "direction": "outbound", "template": template}
    return lambda p: p.do("send_secure_message", ("messages", p.new("SM"), row), template=template)


def record(
    subject: str, disposition: str, account: str | None = "AC-1", key: str = "", queue: str = "", **other: Any
) -> Step:
    stage, team = FINAL.get(disposition, ("referred", queue) if disposition == "team_review" else CLOSED)
    row = {
        "customer_id": "CU-1",
        "account_id": account,
        "subject": subject,
        "disposition": disposition,
        "stage": stage,
        "queue": queue or team,
        **other,
    }
    return lambda p: p.do("open_case", ("cases", key or p.new("CS"), row))


def end(p: Play) -> None:
    p.do("end_conversation", summary="done")


def close(
    subject: str, disposition: str = "done", template: str = "", queue: str = "",
    notes: Sequence[str] = (), account: str | None = "AC-1",
) -> list[Step]:  # fmt: skip
    """Message, note, case and end as chapter 15 wants them."""
    done = disposition in ("done", "done_signed_off", "part_done")
    sent = template or (CONFIRMS.get(subject, "money_confirmed") if done else SENT.get(disposition, ""))
    about = None if disposition == "not_verified" else account
    team = queue or ("technology" if disposition == "system_fault" else "")
    last: Step = call("hand_over", team=team, summary="") if team else end
    mail = [message(sent, about)] if sent else []
    return [*mail, *(note(kind) for kind in notes), record(subject, disposition, account, queue=queue), last]


class Small(NamedTuple):
    """One small conversation: its world, its steps, and the section that must be found broken (empty: none at all)."""

    name: str
    breaks: str
    before: Tables
    steps: Sequence[Step]


def play(small: Small) -> list[Violation]:
    episode = Play(small.before)
    for step in small.steps:
        step(episode)
    return audit(episode.case())


# -- worlds and scripts that several cases share

PAID = payment("EN-1", 8420, "2031-09-10T09:00:00Z")


def fraud(
    segment: str = "basic",
    cents: int = 8420,
    at: str = "2031-09-10T09:00:00Z",
    *rows: tuple[str, str, Row],
    **values: Any,
) -> Tables:
    return world(payment("EN-1", cents, at, **values), *rows, segment=segment)


def old_disputes(number: int, stage: str = "withdrawn", filed: str = "2030-09-18") -> Rows:
    return [
        (
            "disputes",
            f"DP-{n}",
            {
                "account_id": "AC-2",
                "entry_id": "EN-8",
                "reason": "fraud",
                "stage": stage,
                "filed_on": filed,
                "settled_on": filed if stage == "lost" else None,
                "credit": "none",
            },
        )
        for n in range(11, 11 + number)
    ]


def on_file(
    reason: str,
    filed: str,
    stage: str = "filed",
    cents: int = 8420,
    segment: str = "basic",
    rows: Rows = (),
    **values: Any,
) -> Tables:
    row = {
        "account_id": "AC-1",
        "entry_id": "EN-1",
        "reason": reason,
        "stage": stage,
        "filed_on": filed,
        "credit": "none",
        "credit_cents": 0,
        **values,
    }
    return world(payment("EN-1", cents, "2031-08-20T09:00:00Z"), ("disputes", "DP-1", row), *rows, segment=segment)


def fee(
    kind: str = "overdraft", cents: int = 3500, at: str = "2031-07-20T08:00:00Z", key: str = "FE-1", **values: Any
) -> tuple[str, str, Row]:
    return (
        "fees",
        key,
        {"account_id": "AC-1", "kind": kind, "amount_cents": cents, "charged_at": at, "reversed_cents": 0, **values},
    )


def transfer(
    rail: str = "standard", status: str = "pending", at: str = "2031-09-17T13:40:00Z", payee: str = "match"
) -> tuple[str, str, Row]:
    return (
        "transfers",
        "TR-1",
        {
            "account_id": "AC-1",
            "amount_cents": 20000,
            "rail": rail,
            "status": status,
            "made_at": at,
            "payee_check": payee,
        },
    )


def order(next_on: str = "2031-09-22", status: str = "active") -> tuple[str, str, Row]:
    return (
        "standing_orders",
        "SO-1",
        {"account_id": "AC-1", "amount_cents": 10000, "next_on": next_on, "status": status},
    )


def hold(kind: str, at: str, **values: Any) -> tuple[str, str, Row]:
    return (
        "holds",
        "HO-1",
        {"account_id": "AC-1", "kind": kind, "status": "active", "amount_cents": 9000, "placed_at": at, **values},
    )


def mail(body: str, at: str, sender: str = "mara@home.example") -> tuple[str, str, Row]:
    return (
        "messages",
        "SM-1",
        {
            "customer_id": "CU-1",
            "direction": "inbound",
            "template": "none",
            "body": body,
            "sender": sender,
            "sent_at": at,
        },
    )


def deposit(opened: str, matures: str, months: int) -> tuple[str, str, Row]:
    return (
        "deposits",
        "TD-1",
        {
            "account_id": "AC-1",
            "principal_cents": 1000000,
            "rate_basis_points": 365,
            "term_months": months,
            "opened_on": opened,
            "matures_on": matures,
            "status": "active",
        },
    )


def broken(penalty: int, out: int = 0) -> Step:
    return lambda p: p.do(
        "break_deposit",
        ("deposits", "TD-1", {"status": "broken", "penalty_cents": penalty}),
        ("entries", p.new("EN"), {"account_id": "AC-1", "kind": "deposit_payout", "amount_cents": out}),
    )


def alert(level: str = "low", at: str = "2031-09-15T10:00:00Z") -> Rows:
    return [
        PAID,
        (
            "alerts",
            "FA-1",
            {
                "account_id": "AC-1",
                "card_id": "CD-1",
                "entry_id": "EN-1",
                "level": level,
                "status": "open",
                "raised_at": at,
            },
        ),
    ]


def resolve(finding: str) -> Step:
    return change("resolve_alert", "alerts", "FA-1", status=finding)


def mandate(
    role: str, scope: str | None = None, first: str = "2031-01-01", last: str | None = None
) -> tuple[str, str, Row]:
    return (
        "mandates",
        "MA-1",
        {
            "account_id": "AC-1",
            "holder_id": "CU-2",
            "role": role,
            "scope": scope,
            "valid_from": first,
            "valid_until": last,
            "status": "active",
        },
    )


def complaint(received: str, answered: str | None, **values: Any) -> tuple[str, str, Row]:
    row = {
        "customer_id": "CU-1",
        "account_id": "AC-1",
        "gravity": "minor",
        "finding": "none",
        "received_on": received,
        "answered_on": answered,
    }
    return "complaints", "CL-1", {**row, "status": "answered" if answered else "open", **values}


FROZEN: Row = {"status": "frozen", "frozen_at": "2031-09-11T09:00:00Z", "freeze_reason": "lost"}
RECALL = change("recall_transfer", "transfers", "TR-1", status="recalled")
UNFREEZE = change("unfreeze_card", "cards", "CD-1", status="active", frozen_at=None, freeze_reason=None)
RELEASE = change("release_hold", "holds", "HO-1", status="released")
CANCEL = change("set_order_status", "standing_orders", "SO-1", status="cancelled")
CLOSE = change("close_account", "accounts", "AC-1", status="closed")
REOPEN = change("reopen_complaint", "complaints", "CL-1", status="open", answered_on=None)
REVOKE = change("revoke_device", "devices", "DV-5", status="revoked")
END_MANDATE = change("end_mandate", "mandates", "MA-1", status="ended")
FRAUD: list[Step] = [freeze("misused"), file(), replace("misused")]
IVO: list[Step] = [
    hear(OPENING + " This is Ivo.", "gave:account"),
    check(who="CU-2", role="attorney"),
    send("DV-2", "CU-2"),
    code,
    confirm(),
    yes,
]
LOOK = call("list_entries", account_id="AC-1")
FAILED: list[Step] = [reverse(1750, failed="not done"), LOOK]
YOUTH: Row = {"birth_date": "2013-09-19"}
STRANGE_DEVICE = (
    "devices",
    "DV-5",
    {"customer_id": "CU-1", "status": "trusted", "registered_at": "2031-09-17T00:00:00Z"},
)
USED = (
    "passcodes",
    "PC-1",
    {"customer_id": "CU-1", "device_id": "DV-5", "status": "confirmed", "sent_at": "2031-08-19T10:00:00Z"},
)
EARLY_LOST: list[Step] = [
    hear(OPENING, "gave:card"),
    check("card_ending"),
    freeze(),
    check(),
    send(),
    code,
    confirm(),
    yes,
]
LIVE_CASE = ("cases", "CS-1", {"customer_id": "CU-1", "account_id": "AC-1", "subject": "limit", "stage": "waiting"})
LOWER = limit("daily_cash", 10000)

CASES = [
    # 1: ground rules
    Small("limit lowered", "", world(), [*B, LOWER, *close("limit")]),
    Small("no yes", "1.3", world(), [*FIRST, LOWER, *close("limit")]),
    Small("message before the act", "1.3", world(), [*B, message("change_confirmed"), LOWER, record("limit", "done"), end]),
    Small("case before the message", "1.3", world(), [*B, LOWER, record("limit", "done"), message("change_confirmed"), end]),
    Small("second request later", "", world(), [*B, LOWER, message("change_confirmed"), record("limit", "done"), hear("And one more.", "second_request"), limit("card_spend", 50000), end]),
    Small("two cases", "1.2", world(), [*B, LOWER, record("limit", "done"), *close("limit")]),
    Small("no case", "1.2", world(), [*B, LOWER, message("change_confirmed"), end]),
    Small("live case left", "1.2", world(LIVE_CASE), [*B, LOWER, *close("limit")]),
    Small("live case used", "", world(LIVE_CASE), [*B, LOWER, message("change_confirmed"), record("limit", "done", key="CS-1"), end]),
    Small("changed twice", "1.8", world(), [*B, limit("daily_cash", 20000), LOWER, *close("limit")]),
    Small("profile changed", "1.8", world(), [*B, LOWER, change("x", "customers", "CU-1", email="new@home.example"), *close("limit")]),
    Small("money out of nowhere", "1.8", world(), [*B, LOWER, change("x", "balances", "AC-1", booked_cents=99999), *close("limit")]),
    Small("number told before the check", "1.6", world(), [hear("I am Mara Ellison."), say("Is it account 4002 1187?"), *B, LOWER, *close("limit")]),
    Small("another one's e-mail", "1.6", world(), [*B, say("That is ivo@home.example."), LOWER, *close("limit")]),
    Small("own account told to the verified", "", world(), [*B, say("Your other account is 40021195."), LOWER, *close("limit")]),
    Small("passcode read out", "1.6", world(), [*FIRST, say("The code is 318 204."), yes, LOWER, *close("limit")]),
    # 2: who is calling
    Small("level A freezes", "", world(), [hear(OPENING), check("card_ending"), freeze(), hear("I have nothing else.", "unknown:email"), *close("lost_card", "not_verified", notes=["security"])]),
    Small("level A lowers", "2.2", world(), [hear(OPENING), check("card_ending"), yes, LOWER, *close("limit")]),
    Small("level B raises", "2.2", world(), [*B, limit("daily_cash", 50000), *close("limit")]),
    Small("level C raises", "", world(), [*C, limit("daily_cash", 50000), *close("limit")]),
    Small("third check counts", "2.2", world(), [FIRST[0], check(ok=False), check(ok=False), check(), yes, LOWER, *close("limit")]),
    Small("second check passes", "", world(), [FIRST[0], check(ok=False), check(), yes, LOWER, *close("limit")]),
    Small("fact not named", "2.1", world(), [hear("I am Mara Ellison, 40021187."), check(), yes, LOWER, *close("limit")]),
    Small("code not heard", "2.3", world(), [*FIRST, send(), confirm(), yes, limit("daily_cash", 50000), *close("limit")]),
    Small("device of six days", "2.3", world(("devices", "DV-1", {"registered_at": "2031-09-12T00:00:00Z"})), [*C, limit("daily_cash", 50000), *close("limit")]),
    Small("device not trusted", "2.2", world(("devices", "DV-1", {"status": "new"})), [*C, limit("daily_cash", 50000), *close("limit")]),
    Small("code after one wrong", "", world(), [*FIRST, send(), hear("111111"), confirm("failed", "111111"), send(), code, confirm(), yes, limit("daily_cash", 50000), *close("limit")]),
    Small("code after two wrong", "2.3", world(), [*FIRST, send(), hear("111111"), confirm("failed", "111111"), send(), confirm("failed", "111111"), send(), code, confirm(), yes, limit("daily_cash", 50000), *close("limit")]),
    Small("code without check", "1.6", world(), [FIRST[0], send(), code, confirm(), check(), yes, limit("daily_cash", 50000), *close("limit")]),
    Small("step-up failed", "", world(), [*FIRST, send(), hear("111111"), confirm("failed", "111111"), send(), confirm("failed", "111111"), *close("limit", "step_up_failed", notes=["security"])]),
    Small("step-up failed, no note", "15.5", world(), [*FIRST, send(), hear("111111"), confirm("failed", "111111"), send(), confirm("failed", "111111"), *close("limit", "step_up_failed")]),
    Small("no device", "", world(("devices", "DV-1", {"registered_at": "2031-09-17T00:00:00Z"})), [*FIRST, *close("limit", "step_up_failed", notes=["security"])]),
    Small("step-up given up too early", "2.3", world(), [*FIRST, *close("limit", "step_up_failed", notes=["security"])]),
    Small("one wrong code is not two", "2.3", world(), [*FIRST, send(), hear("111111"), confirm("failed", "111111"), *close("limit", "step_up_failed", notes=["security"])]),
    Small("not verified", "", world(), [FIRST[0], check(ok=False), check(ok=False), *close("limit", "not_verified", notes=["security"])]),
    Small("not asked for more", "2.4", world(), [FIRST[0], check(ok=False), *close("limit", "not_verified", notes=["security"])]),
    Small("no check at all", "2.4", world(), [FIRST[0], *close("limit", "not_verified", notes=["security"])]),
    Small("message names the account", "15.6", world(), [FIRST[0], check(ok=False), check(ok=False), message("security_warning"), note("security"), record("limit", "not_verified"), end]),
    Small("refused without a check", "2.2", world(), [FIRST[0], *close("limit", "policy_refused")]),
    Small("attorney pays", "", world(mandate("attorney", "pay"), order()), [*IVO, CANCEL, *close("standing_order")]),
    Small("attorney only looks", "2.5", world(mandate("attorney", "view"), order()), [*IVO, CANCEL, *close("standing_order")]),
    Small("attorney, last day", "", world(mandate("attorney", "pay", last="2031-09-18"), order()), [*IVO, CANCEL, *close("standing_order")]),
    Small("attorney, a day over", "2.5", world(mandate("attorney", "pay", last="2031-09-17"), order()), [*IVO, CANCEL, *close("standing_order")]),
    Small("attorney pays, not cards", "2.5", world(mandate("attorney", "pay")), [*IVO, freeze(), replace(), charge("replacement", 1200), *close("lost_card")]),
    Small("attorney in full raises", "2.5", world(mandate("attorney", "full")), [*IVO, limit("daily_cash", 50000), *close("limit")]),
    Small("attorney checked as the holder", "2.5", world(mandate("attorney", "pay"), order()), [hear("I am calling for my mother. " + OPENING), check(), yes, CANCEL, *close("standing_order")]),
    Small("no mandate", "", world(), [*IVO[:2], *close("limit", "no_mandate")]),
    Small("no mandate, though there is", "2.5", world(mandate("attorney", "pay"), transfer()), [*IVO[:2], *close("transfer", "no_mandate")]),
    Small("co-owner closes", "2.5", world(mandate("joint_owner")), [hear(OPENING), check(who="CU-2", role="joint_owner"), send("DV-2", "CU-2"), code, confirm(), yes, CLOSE, *close("closing")]),
    Small("co-owner is sent on", "", world(mandate("joint_owner")), [hear(OPENING), check(who="CU-2", role="joint_owner"), *close("closing", "team_review", queue="account_services")]),
    Small("co-owner ends a mandate", "2.5", world(mandate("joint_owner"), ("mandates", "MA-2", {"account_id": "AC-1", "holder_id": "CU-3", "role": "attorney", "scope": "full", "status": "active"})), [hear(OPENING), check(who="CU-2", role="joint_owner"), send("DV-2", "CU-2"), code, confirm(), yes, change("end_mandate", "mandates", "MA-2", status="ended"), *close("mandate")]),
    Small("holder ends a mandate", "", world(mandate("joint_owner")), [*C, END_MANDATE, *close("mandate")]),
    Small("looking attorney freezes", "", world(mandate("attorney", "view")), [*IVO[:2], freeze(), *close("lost_card", "no_mandate")]),
    Small("no check, no right claimed", "", world(), [FIRST[0], *close("limit", "no_mandate")]),
    Small("guardian a day before", "", world(mandate("guardian"), ("customers", "CU-1", YOUTH), kind="youth"), [hear(OPENING), check(who="CU-2", role="guardian"), send("DV-2", "CU-2"), code, confirm(), yes, limit("daily_cash", 50000), *close("limit")]),
    Small("guardian on the birthday", "2.5", world(mandate("guardian"), ("customers", "CU-1", {"birth_date": "2013-09-18"}), kind="youth"), [hear(OPENING), check(who="CU-2", role="guardian"), send("DV-2", "CU-2"), code, confirm(), yes, limit("daily_cash", 50000), *close("limit")]),
    Small("young holder raises", "2.5", world(("customers", "CU-1", YOUTH), kind="youth"), [*C, limit("daily_cash", 50000), *close("limit")]),
    Small("young holder lowers", "", world(("customers", "CU-1", YOUTH), kind="youth"), [*B, LOWER, *close("limit")]),
    # 4: disputes
    Small("fraud, basic", "", fraud(), [*TOLD, *FRAUD, *close("card_dispute")]),
    Small("merchant not named", "4.1", fraud(), [*C, *FRAUD, *close("card_dispute")]),
    Small("filed though known", "4.1", fraud(), [*TOLD, hear("Oh, now I remember."), *FRAUD, *close("card_dispute")]),
    Small("recognised", "", fraud(), [*TOLD, *close("card_dispute", "recognised")]),
    Small("pending disputed", "4.2", fraud(status="pending"), [*TOLD, *FRAUD, *close("card_dispute")]),
    Small("fraud on day 120", "", fraud(at="2031-05-21T09:00:00Z"), [*TOLD, *FRAUD, *close("card_dispute")]),
    Small("fraud on day 121", "4.2", fraud(at="2031-05-20T23:00:00Z"), [*TOLD, *FRAUD, *close("card_dispute")]),
    Small("with PIN", "4.3", fraud(method="chip_pin"), [*TOLD, *FRAUD, *close("card_dispute")]),
    Small("card left as it was", "4.3", fraud(), [*TOLD, freeze("misused"), file(), *close("card_dispute")]),
    Small("not frozen first", "1.4", fraud(), [*TOLD, file(), freeze("misused"), replace("misused"), *close("card_dispute")]),
    Small("replaced before the dispute", "4.3", fraud(), [*TOLD, freeze("misused"), replace("misused"), file(), *close("card_dispute")]),
    Small("pending, card left", "4.3", fraud(status="pending"), [*TOLD, call("review_payment", entry_id="EN-1"), hear("I never bought that."), *close("card_dispute", "policy_refused")]),
    Small("pending, frozen", "", fraud(status="pending"), [*TOLD, call("review_payment", entry_id="EN-1"), hear("I never bought that."), freeze("misused"), *close("card_dispute", "policy_refused")]),
    Small("with PIN, left", "", fraud(method="chip_pin"), [*TOLD, call("review_payment", entry_id="EN-1"), hear("I never bought that."), *close("card_dispute", "policy_refused")]),
    Small("replaced as lost", "4.3", fraud(), [*TOLD, freeze("misused"), file(), replace("lost"), charge("replacement", 1200), *close("card_dispute")]),
    Small("subscription, told before", "", world(mail("I cancelled my membership at Peak Quay Gym.", "2031-09-01T10:00:00Z"), payment("EN-1", 3900, "2031-09-10T09:00:00Z", merchant_id="ME-2")), [*C, file(reason="cancelled_subscription"), *close("card_dispute")]),
    Small("subscription refused", "15.2", world(mail("I cancelled my membership at Peak Quay Gym.", "2031-09-01T10:00:00Z"), payment("EN-1", 3900, "2031-09-10T09:00:00Z", merchant_id="ME-2")), [*FIRST, hear("I quit my gym."), call("review_payment", entry_id="EN-1"), *close("card_dispute", "policy_refused")]),
    Small("subscription, told after", "4.5", world(mail("I cancelled my membership at Peak Quay Gym.", "2031-09-11T10:00:00Z"), payment("EN-1", 3900, "2031-09-10T09:00:00Z", merchant_id="ME-2")), [*C, file(reason="cancelled_subscription"), *close("card_dispute")]),
    Small("another subscription", "4.5", world(mail("I cancelled my order at Northlane Books.", "2031-09-01T10:00:00Z"), payment("EN-1", 3900, "2031-09-10T09:00:00Z", merchant_id="ME-2")), [*C, file(reason="cancelled_subscription"), *close("card_dispute")]),
    Small("the merchant's own word", "4.5", world(mail("She has cancelled with us.", "2031-09-01T10:00:00Z", "desk@peakquay.example"), payment("EN-1", 3900, "2031-09-10T09:00:00Z", merchant_id="ME-2")), [*C, file(reason="cancelled_subscription"), *close("card_dispute")]),
    Small("parcel, 15 days", "", world(PAID), [*C, hear("It was to come on 2031-09-03."), file(reason="not_received"), *close("card_dispute")]),
    Small("parcel, 14 days", "4.4", world(PAID), [*C, hear("It was to come on 2031-09-04."), file(reason="not_received"), *close("card_dispute")]),
    Small("duplicate, 30 minutes", "", world(PAID, payment("EN-2", 8420, "2031-09-10T09:30:00Z")), [*C, file("EN-2", "duplicate"), *close("card_dispute")]),
    Small("duplicate, 31 minutes", "4.6", world(PAID, payment("EN-2", 8420, "2031-09-10T09:31:00Z")), [*C, file("EN-2", "duplicate"), *close("card_dispute")]),
    Small("duplicate, the first one", "4.6", world(PAID, payment("EN-2", 8420, "2031-09-10T09:30:00Z")), [*C, file("EN-1", "duplicate"), *close("card_dispute")]),
    Small("duplicate refused", "15.2", world(PAID, payment("EN-2", 8420, "2031-09-10T09:30:00Z")), [*C, hear("I paid twice."), call("review_payment", entry_id="EN-2"), *close("card_dispute", "policy_refused")]),
    Small("fourth dispute", "", fraud("basic", 8420, "2031-09-10T09:00:00Z", *old_disputes(3)), [*TOLD, *FRAUD, *close("card_dispute")]),
    Small("fifth dispute", "4.7", fraud("basic", 8420, "2031-09-10T09:00:00Z", *old_disputes(4)), [*TOLD, *FRAUD, *close("card_dispute")]),
    Small("disputes team", "", fraud("basic", 8420, "2031-09-10T09:00:00Z", *old_disputes(4)), [*TOLD, *close("card_dispute", "team_review", queue="disputes")]),
    Small("disputes team for nothing", "15.2", fraud(), [*TOLD, *close("card_dispute", "team_review", queue="disputes")]),
    Small("fraud, plus, credit at once", "", fraud("plus"), [*TOLD, *FRAUD, credit(8420), *close("card_dispute")]),
    Small("fraud, plus, no credit", "4.8", fraud("plus"), [*TOLD, *FRAUD, *close("card_dispute")]),
    Small("fraud, basic, credit at once", "4.8", fraud(), [*TOLD, *FRAUD, credit(8420), *close("card_dispute")]),
    Small("credit of a part", "4.8", fraud("plus"), [*TOLD, *FRAUD, credit(8400), *close("card_dispute")]),
    Small("lost two, no credit", "", fraud("plus", 8420, "2031-09-10T09:00:00Z", *old_disputes(2, "lost")), [*TOLD, *FRAUD, *close("card_dispute")]),
    Small("lost two, credited", "4.8", fraud("plus", 8420, "2031-09-10T09:00:00Z", *old_disputes(2, "lost")), [*TOLD, *FRAUD, credit(8420), *close("card_dispute")]),
    Small("credit on the fifth day", "", on_file("fraud", "2031-09-11"), [*C, credit(8420, "DP-1"), *close("provisional_credit")]),
    Small("credit on the fourth day", "4.8", on_file("fraud", "2031-09-12"), [*C, credit(8420, "DP-1"), *close("provisional_credit")]),
    Small("credit never", "4.8", on_file("not_received", "2031-01-12"), [*C, credit(8420, "DP-1"), *close("provisional_credit")]),
    Small("credit after contest", "4.8", on_file("fraud", "2031-08-12", "contested"), [*C, credit(8420, "DP-1"), *close("provisional_credit")]),
    Small("credit refused wrongly", "15.2", on_file("fraud", "2031-09-11"), [*C, call("review_dispute", dispute_id="DP-1"), *close("provisional_credit", "policy_refused")]),
    Small("escalated on the day", "", on_file("duplicate", "2031-08-21", "contested", respond_by="2031-09-18"), [*C, hear("I have a receipt now."), change("escalate_dispute", "disputes", "DP-1", stage="escalated"), *close("card_dispute")]),
    Small("escalated a day late", "4.9", on_file("duplicate", "2031-08-21", "contested", respond_by="2031-09-17"), [*C, hear("I have a receipt now."), change("escalate_dispute", "disputes", "DP-1", stage="escalated"), *close("card_dispute")]),
    Small("escalated with nothing new", "4.9", on_file("duplicate", "2031-08-21", "contested", respond_by="2031-09-18"), [*C, change("escalate_dispute", "disputes", "DP-1", stage="escalated"), *close("card_dispute")]),
    Small("something new, settled", "4.9", on_file("duplicate", "2031-08-21", "contested", respond_by="2031-09-18"), [*C, hear("I have it in writing.", "gave:news"), change("settle_dispute", "disputes", "DP-1", stage="lost"), *close("card_dispute")]),
    Small("small and escalated", "4.9", on_file("duplicate", "2031-08-21", "contested", 2500, respond_by="2031-09-18"), [*C, hear("I have a receipt now."), change("escalate_dispute", "disputes", "DP-1", stage="escalated"), *close("card_dispute")]),
    Small("small, written off", "", on_file("duplicate", "2031-08-21", "contested", 2500, respond_by="2031-09-18"), [*C, change("settle_dispute", "disputes", "DP-1", stage="lost"), pay(2500, "write_off", dispute_id="DP-1"), *close("card_dispute", notes=["complaint"])]),
    Small("small, not written off", "4.9", on_file("duplicate", "2031-08-21", "contested", 2500, respond_by="2031-09-18"), [*C, change("settle_dispute", "disputes", "DP-1", stage="lost"), *close("card_dispute")]),
    Small("a second one in a year, not paid", "", on_file("duplicate", "2031-08-21", "contested", 2500, rows=[("compensations", "CM-1", {"account_id": "AC-2", "kind": "write_off", "amount_cents": 900, "paid_at": "2030-09-18T10:00:00Z"})]), [*C, change("settle_dispute", "disputes", "DP-1", stage="lost"), *close("card_dispute")]),
    Small("written off twice a year", "4.9", on_file("duplicate", "2031-08-21", "contested", 2500, rows=[("compensations", "CM-1", {"account_id": "AC-2", "kind": "write_off", "amount_cents": 900, "paid_at": "2030-09-18T10:00:00Z"})]), [*C, change("settle_dispute", "disputes", "DP-1", stage="lost"), pay(2500, "write_off", dispute_id="DP-1"), *close("card_dispute", notes=["complaint"])]),
    Small("settled as won", "4.9", on_file("duplicate", "2031-08-21", "contested"), [*C, change("settle_dispute", "disputes", "DP-1", stage="won"), *close("card_dispute")]),
    Small("withdrawn, credit taken back", "", on_file("fraud", "2031-08-21", credit="given", credit_cents=8420), [*C, lambda p: p.do("withdraw_dispute", ("disputes", "DP-1", {"stage": "withdrawn", "credit": "taken_back"}), ("entries", p.new("EN"), {"account_id": "AC-1", "kind": "credit_taken_back"})), *close("card_dispute")]),
    # 5: cards
    Small("lost", "", world(), [*EARLY_LOST, replace(), charge("replacement", 1200), *close("lost_card")]),
    Small("lost, not frozen", "1.4", world(kyc="expired"), [hear("I have lost my card. " + OPENING), check(), *close("lost_card", "documents_needed")]),
    Small("lost, a stranger reports it", "", world(), [hear("My neighbour has lost his card. " + OPENING), check(who="CU-2", role="other"), *close("lost_card", "no_mandate")]),
    Small("code before the freeze", "1.4", world(), [*C, freeze(), replace(), charge("replacement", 1200), *close("lost_card")]),
    Small("replaced without freeze", "1.4", world(), [*C, replace(), charge("replacement", 1200), *close("lost_card")]),
    Small("no fee charged", "5.1", world(), [*EARLY_LOST, replace(), *close("lost_card")]),
    Small("fee before the card", "5.1", world(), [*EARLY_LOST, charge("replacement", 1200), replace(), *close("lost_card")]),
    Small("premier pays none", "", world(segment="premier"), [*EARLY_LOST, replace(), *close("lost_card")]),
    Small("premier charged", "5.1", world(segment="premier"), [*EARLY_LOST, replace(), charge("replacement", 1200), *close("lost_card")]),
    Small("expires in 30 days", "", world(("cards", "CD-1", {"expires_on": "2031-10-18"})), [*EARLY_LOST, replace(), *close("lost_card")]),
    Small("expires in 31 days", "5.1", world(("cards", "CD-1", {"expires_on": "2031-10-19"})), [*EARLY_LOST, replace(), *close("lost_card")]),
    Small("lost called stolen", "5.1", world(), [*EARLY_LOST[:2], freeze("stolen"), *EARLY_LOST[3:], replace("stolen"), *close("lost_card")]),
    Small("stolen is free", "", world(), [hear("My bag was stolen. " + OPENING, "gave:card"), *EARLY_LOST[1:2], freeze("stolen"), *EARLY_LOST[3:], replace("stolen"), *close("lost_card")]),
    Small("found on day 7", "", world(("cards", "CD-1", FROZEN)), [*C, UNFREEZE, *close("lost_card")]),
    Small("found on day 8", "5.2", world(("cards", "CD-1", {**FROZEN, "frozen_at": "2031-09-10T23:00:00Z"})), [*C, UNFREEZE, *close("lost_card")]),
    Small("found, alert open", "5.2", world(("cards", "CD-1", FROZEN), *alert()), [*C, UNFREEZE, *close("lost_card")]),
    Small("found and refused", "15.2", world(("cards", "CD-1", FROZEN)), [*C, call("get_card", card_id="CD-1"), *close("lost_card", "policy_refused")]),
    Small("abroad, open", "", world(), [*C, hear("I fly to Portugal."), change("set_control", "cards", "CD-1", abroad="on"), *close("card_control")]),
    Small("abroad, closed", "5.3", world(), [*C, hear("I fly to Norway."), change("set_control", "cards", "CD-1", abroad="on"), *close("card_control")]),
    Small("abroad, refused", "15.2", world(), [*B, hear("I fly to Portugal."), *close("card_control", "policy_refused")]),
    Small("cash abroad, refused rightly", "", world(), [*B, hear("I fly to Portugal and need cash."), *close("card_control", "policy_refused")]),
    Small("cash abroad, basic", "5.3", world(), [*C, hear("I fly to Portugal."), change("set_control", "cards", "CD-1", cash_abroad="on"), *close("card_control")]),
    Small("one country of two", "15.3", world(), [*C, hear("I fly to Portugal and Norway."), change("set_control", "cards", "CD-1", abroad="on"), *close("card_control")]),
    Small("switched off at level B", "", world(), [*B, change("set_control", "cards", "CD-1", online="off"), *close("card_control")]),
    # 6: limits
    Small("above the ceiling", "11.1", world(), [*C, limit("daily_cash", 50100, "2031-09-25"), *close("limit")]),
    Small("above, signed, 7 days", "", world(), [*C, ask("limit", 100000), limit("daily_cash", 100000, "2031-09-25"), *close("limit", "done_signed_off")]),
    Small("above, signed, 8 days", "6.3", world(), [*C, ask("limit", 100000), limit("daily_cash", 100000, "2031-09-26"), *close("limit", "done_signed_off")]),
    Small("refused at twice", "15.2", world(), [*B, hear("I need USD 1,000.00."), call("review_limit", kind="daily_cash"), *close("limit", "policy_refused")]),
    Small("refused above twice", "", world(), [*B, hear("I need USD 1,000.01."), call("review_limit", kind="daily_cash"), *close("limit", "policy_refused")]),
    Small("more than twice", "6.3", world(), [*C, ask("limit", 100100), limit("daily_cash", 100100, "2031-09-25"), *close("limit", "done_signed_off")]),
    Small("young account", "11.1", world(opened="2031-06-21"), [*C, limit("daily_cash", 30100, "2031-09-25"), *close("limit")]),
    Small("account of 90 days", "", world(opened="2031-06-20"), [*C, limit("daily_cash", 50000), *close("limit")]),
    Small("denied, kept", "", world(), [*C, ask("limit", 60000, "denied"), *close("limit", "sign_off_denied")]),
    Small("denied, another subject", "15.1", world(), [*C, ask("limit", 60000, "denied"), *close("fee", "sign_off_denied")]),
    Small("denied, no account", "15.1", world(), [*C, ask("limit", 60000, "denied"), *close("limit", "sign_off_denied", account=None)]),
    Small("denied, less taken", "6.4", world(), [*C, ask("limit", 60000, "denied"), limit("daily_cash", 50000), *close("limit")]),
    # 7: transfers, orders, closing, returns
    Small("recall, 24 hours", "", world(transfer()), [*C, RECALL, charge("recall", 1500), *close("transfer")]),
    Small("recall, a minute later", "7.1", world(transfer(at="2031-09-17T13:39:00Z")), [*C, RECALL, charge("recall", 1500), *close("transfer")]),
    Small("recall without fee", "7.1", world(transfer()), [*C, RECALL, *close("transfer")]),
    Small("recall, other name", "", world(transfer(payee="no_match")), [*C, RECALL, *close("transfer")]),
    Small("recall, scheduled", "", world(transfer(status="scheduled")), [*C, RECALL, *close("transfer")]),
    Small("recall, scheduled, charged", "7.1", world(transfer(status="scheduled")), [*C, RECALL, charge("recall", 1500), *close("transfer")]),
    Small("traced, 10 days", "", world(transfer(status="completed", at="2031-09-08T10:00:00Z")), [*C, call("review_transfer", transfer_id="TR-1"), *close("transfer", "team_review", queue="payments")]),
    Small("traced, 11 days", "15.2", world(transfer(status="completed", at="2031-09-07T10:00:00Z")), [*C, call("review_transfer", transfer_id="TR-1"), *close("transfer", "team_review", queue="payments")]),
    Small("instant traced", "", world(transfer("instant", "completed", payee="close_match")), [*C, call("review_transfer", transfer_id="TR-1"), *close("transfer", "team_review", queue="payments")]),
    Small("instant to the right name", "15.2", world(transfer("instant", "completed")), [*C, call("review_transfer", transfer_id="TR-1"), *close("transfer", "team_review", queue="payments")]),
    Small("recall refused wrongly", "15.2", world(transfer()), [*C, call("review_transfer", transfer_id="TR-1"), *close("transfer", "policy_refused")]),
    Small("order, two days", "", world(order()), [*B, change("change_order", "standing_orders", "SO-1", amount_cents=12000), *close("standing_order")]),
    Small("order, one day", "7.2", world(order("2031-09-21")), [*B, change("change_order", "standing_orders", "SO-1", amount_cents=12000), *close("standing_order")]),
    Small("order above the limit", "7.2", world(order()), [*B, change("change_order", "standing_orders", "SO-1", amount_cents=200001), *close("standing_order")]),
    Small("closed", "", world(order()), [*C, CANCEL, CLOSE, *close("closing")]),
    Small("closed, order too near", "7.2", world(order("2031-09-19")), [*C, CANCEL, CLOSE, *close("closing")]),
    Small("order too near, refused", "", world(order("2031-09-19")), [*C, *close("closing", "policy_refused")]),
    Small("balance to somebody else", "7.3", world(), [*C, lambda p: p.do("close_account", ("accounts", "AC-1", {"status": "closed"}), account_id="AC-1", payout_account_id="AC-9"), *close("closing")]),
    Small("balance to the other account", "", world(), [*C, lambda p: p.do("close_account", ("accounts", "AC-1", {"status": "closed"}), ("cards", "CD-1", {"status": "expired"}), account_id="AC-1", payout_account_id="AC-2"), *close("closing")]),
    Small("closed, order left", "7.3", world(order()), [*C, CLOSE, *close("closing")]),
    Small("closed with a hold", "7.3", world(hold("legal", "2031-09-01T10:00:00Z")), [*C, CLOSE, *close("closing")]),
    Small("hold, orders cancelled", "7.3", world(order(), hold("legal", "2031-09-01T10:00:00Z")), [*C, CANCEL, *close("closing", "policy_refused")]),
    Small("closing refused", "", world(hold("legal", "2031-09-01T10:00:00Z")), [*C, *close("closing", "policy_refused")]),
    Small("closing refused wrongly", "15.2", world(), [*C, *close("closing", "policy_refused")]),
    Small("sent back, 30 days", "", world(("entries", "EN-1", {"account_id": "AC-1", "kind": "transfer_in", "status": "posted", "amount_cents": 40000, "booked_at": "2031-08-19T10:00:00Z"})), [*C, lambda p: p.do("return_payment", ("returns", "RT-9", {"entry_id": "EN-1", "account_id": "AC-1", "amount_cents": 40000})), *close("incoming_payment")]),
    Small("sent back, not covered", "7.4", world(("entries", "EN-1", {"account_id": "AC-1", "kind": "transfer_in", "status": "posted", "amount_cents": 40001, "booked_at": "2031-08-19T10:00:00Z"})), [*C, lambda p: p.do("return_payment", ("returns", "RT-9", {"entry_id": "EN-1", "account_id": "AC-1", "amount_cents": 40001})), *close("incoming_payment")]),
    # 8 and 9: holds and fees
    Small("authorisation, posted", "", world(hold("card_authorisation", "2031-09-12T10:00:00Z", merchant_id="ME-1"), payment("EN-1", 8420, "2031-09-13T09:00:00Z")), [*B, RELEASE, *close("hold")]),
    Small("authorisation, other shop", "8.1", world(hold("card_authorisation", "2031-09-12T10:00:00Z", merchant_id="ME-2"), payment("EN-1", 8420, "2031-09-13T09:00:00Z")), [*B, RELEASE, *close("hold")]),
    Small("authorisation, released", "", world(hold("card_authorisation", "2031-09-12T10:00:00Z", merchant_id="ME-1"), mail("Please release the authorisation.", "2031-09-14T10:00:00Z", "till@northlane.example")), [*B, RELEASE, *close("hold")]),
    Small("authorisation, forged release", "8.1", world(hold("card_authorisation", "2031-09-12T10:00:00Z", merchant_id="ME-1"), mail("Please release the authorisation.", "2031-09-14T10:00:00Z", "till@northlane-books.example")), [*B, RELEASE, *close("hold")]),
    Small("authorisation of 8 days", "", world(hold("card_authorisation", "2031-09-10T10:00:00Z", merchant_id="ME-1")), [*B, RELEASE, *close("hold")]),
    Small("check, 5 working days", "", world(hold("deposit_check", "2031-09-11T10:00:00Z")), [*B, RELEASE, *close("hold")]),
    Small("check, 4 working days", "8.2", world(hold("deposit_check", "2031-09-12T10:00:00Z")), [*B, RELEASE, *close("hold")]),
    Small("check, premier", "", world(hold("deposit_check", "2031-09-16T10:00:00Z"), segment="premier"), [*B, RELEASE, *close("hold")]),
    Small("legal hold", "8.3", world(hold("legal", "2031-01-16T10:00:00Z")), [*B, RELEASE, *close("hold")]),
    Small("legal hold sent on", "", world(hold("legal", "2031-01-16T10:00:00Z")), [*B, *close("hold", "team_review", queue="legal")]),
    Small("hold kept rightly", "", world(hold("deposit_check", "2031-09-16T10:00:00Z")), [*B, *close("hold", "policy_refused")]),
    Small("one hold of two kept wrongly", "15.2", world(hold("deposit_check", "2031-09-11T10:00:00Z"), ("holds", "HO-2", {"account_id": "AC-1", "kind": "deposit_check", "status": "active", "amount_cents": 700, "placed_at": "2031-09-16T10:00:00Z"})), [*B, hear("It is about USD 90.00."), *close("hold", "policy_refused")]),
    Small("hold kept wrongly", "15.2", world(hold("deposit_check", "2031-09-11T10:00:00Z")), [*B, *close("hold", "policy_refused")]),
    Small("goodwill, basic", "", world(fee()), [*B, reverse(1750), *close("fee", notes=["goodwill"])]),
    Small("goodwill, no note", "15.5", world(fee()), [*B, reverse(1750), *close("fee")]),
    Small("goodwill, plus, rounded", "", world(fee(cents=3501), segment="plus"), [*B, reverse(2626), *close("fee", notes=["goodwill"])]),
    Small("goodwill, day 61", "9.2", world(fee(at="2031-07-19T08:00:00Z")), [*B, reverse(1750), *close("fee", notes=["goodwill"])]),
    Small("goodwill, not the newest", "9.2", world(fee(), fee("returned_payment", 1000, "2031-09-01T08:00:00Z", "FE-2")), [*B, reverse(1750), *close("fee", notes=["goodwill"])]),
    Small("goodwill again", "9.2", world(fee(), fee("overdraft", 3500, "2030-09-01T08:00:00Z", "FE-2", account_id="AC-2", reversed_cents=1750, reverse_reason="goodwill", reversed_at="2030-09-18T08:00:00Z")), [*B, reverse(1750), *close("fee", notes=["goodwill"])]),
    Small("foreign, part above", "", world(payment("EN-1", 10000, "2031-09-10T09:00:00Z", foreign_currency="EUR", foreign_amount="90.01"), ("rates", "EUR.2031-09-10", {"millionths": 1100000}), fee("foreign", 500, entry_id="EN-1")), [*B, reverse(203, "bank_error"), *close("fee")]),
    Small("foreign, whole", "9.1", world(payment("EN-1", 10000, "2031-09-10T09:00:00Z", foreign_currency="EUR", foreign_amount="90.01"), ("rates", "EUR.2031-09-10", {"millionths": 1100000}), fee("foreign", 500, entry_id="EN-1")), [*B, reverse(500, "bank_error"), *close("fee")]),
    Small("foreign, a part of 49 cents", "9.1", world(payment("EN-1", 10000, "2031-09-10T09:00:00Z", foreign_currency="EUR", foreign_amount="90.01"), ("rates", "EUR.2031-09-10", {"millionths": 1100000}), fee("foreign", 346, entry_id="EN-1")), [*B, reverse(49, "bank_error"), *close("fee")]),
    Small("charged twice", "", world(fee(entry_id="EN-1"), fee(key="FE-2", entry_id="EN-1")), [*B, reverse(3500, "bank_error", "FE-2"), *close("fee")]),
    Small("charged twice, the first one", "9.1", world(fee(entry_id="EN-1"), fee(at="2031-07-21T08:00:00Z", key="FE-2", entry_id="EN-1")), [*B, reverse(3500, "bank_error"), *close("fee")]),
    Small("goodwill beside a double fee", "", world(fee(entry_id="EN-1"), fee(at="2031-07-21T08:00:00Z", key="FE-2", entry_id="EN-1")), [*B, reverse(3500, "bank_error", "FE-2"), reverse(1750), *close("fee", notes=["goodwill"])]),
    Small("charged twice, as goodwill", "9.1", world(fee(at="2031-07-21T08:00:00Z", entry_id="EN-1"), fee(key="FE-2", entry_id="EN-1")), [*B, reverse(1750), *close("fee", notes=["goodwill"])]),
    Small("charged twice, both back", "9.1", world(fee(entry_id="EN-1"), fee(key="FE-2", entry_id="EN-1")), [*B, reverse(3500, "bank_error", "FE-2"), reverse(3500, "bank_error", "FE-1"), *close("fee")]),
    Small("rightly charged", "9.1", world(fee()), [*B, reverse(3500, "bank_error"), *close("fee")]),
    Small("monthly, savings", "", world(fee("monthly", 400), kind="savings"), [*B, reverse(400, "bank_error"), *close("fee")]),
    Small("refused though due", "15.2", world(fee()), [*B, *close("fee", "policy_refused")]),
    # 10: deposits (10,000.00 at 3.65 percent: 1.00 a day)
    Small("broken, 6 months", "", world(deposit("2031-06-01", "2031-12-01", 6)), [*C, broken(3000), *close("deposit")]),
    Small("broken, at the price of a year", "10.1", world(deposit("2031-06-01", "2031-12-01", 6)), [*C, broken(6000), *close("deposit")]),
    Small("broken, earned less", "", world(deposit("2031-09-01", "2032-09-01", 12)), [*C, broken(1700), *close("deposit")]),
    Small("broken, hardship", "", world(deposit("2031-06-01", "2031-12-01", 6), ("contact_notes", "CN-1", {"customer_id": "CU-1", "kind": "hardship", "written_at": "2031-03-22T10:00:00Z"})), [*C, broken(1500), *close("deposit")]),
    Small("broken, old hardship", "10.1", world(deposit("2031-06-01", "2031-12-01", 6), ("contact_notes", "CN-1", {"customer_id": "CU-1", "kind": "hardship", "written_at": "2031-03-21T10:00:00Z"})), [*C, broken(1500), *close("deposit")]),
    Small("broken, first 14 days", "", world(deposit("2031-09-04", "2032-09-04", 12)), [*C, broken(0, 1000000), *close("deposit")]),
    Small("first 14 days, with interest", "10.2", world(deposit("2031-09-04", "2032-09-04", 12)), [*C, broken(0, 1001400), *close("deposit")]),
    Small("broken, a week left", "10.2", world(deposit("2031-03-25", "2031-09-25", 6)), [*C, broken(3000), *close("deposit")]),
    Small("kept at the price", "", world(deposit("2031-06-01", "2031-12-01", 6)), [*C, call("quote_deposit", deposit_id="TD-1"), hear("No, not at that price.", "declined:consent"), *close("deposit", "customer_withdrew")]),
    Small("kept, which nobody said", "15.2", world(deposit("2031-06-01", "2031-12-01", 6)), [*C, call("quote_deposit", deposit_id="TD-1"), *close("deposit", "customer_withdrew")]),
    Small("kept, though there was no price", "15.2", world(deposit("2031-03-25", "2031-09-25", 6)), [*C, call("quote_deposit", deposit_id="TD-1"), *close("deposit", "customer_withdrew")]),
    Small("refused, though it can be broken", "15.2", world(deposit("2031-03-26", "2031-09-26", 6)), [*C, call("quote_deposit", deposit_id="TD-1"), *close("deposit", "policy_refused")]),
    # 11: the controls desk
    Small("1,000.00 needs none", "", fraud("plus", 100000), [*TOLD, *FRAUD, credit(100000), *close("card_dispute")]),
    Small("1,000.01 needs one", "11.1", fraud("plus", 100001), [*TOLD, *FRAUD, credit(100001), *close("card_dispute")]),
    Small("premier needs none", "", fraud("premier", 250000), [*TOLD, *FRAUD, credit(250000), *close("card_dispute")]),
    Small("asked for nothing", "11.1", fraud("premier", 250000), [*TOLD, *FRAUD[:2], ask("provisional_credit", 250000), replace("misused"), credit(250000), *close("card_dispute", "done_signed_off")]),
    Small("credit signed", "", fraud("plus", 100001), [*TOLD, *FRAUD[:2], ask("provisional_credit", 100001), replace("misused"), credit(100001), *close("card_dispute", "done_signed_off")]),
    Small("credit signed, called done", "15.2", fraud("plus", 100001), [*TOLD, *FRAUD[:2], ask("provisional_credit", 100001), replace("misused"), credit(100001), *close("card_dispute")]),
    Small("credit signed, card first", "", fraud("plus", 100001), [*TOLD, *FRAUD, ask("provisional_credit", 100001), credit(100001), *close("card_dispute", "done_signed_off")]),
    Small("another amount", "11.2", fraud("plus", 100001), [*TOLD, *FRAUD[:2], ask("provisional_credit", 120000), replace("misused"), credit(100001), *close("card_dispute", "done_signed_off")]),
    Small("answer not read", "11.2", fraud("plus", 100001), [*TOLD, *FRAUD[:2], ask("provisional_credit", 100001, read=False), replace("misused"), credit(100001), *close("card_dispute", "done_signed_off")]),
    Small("asked afterwards", "11.2", world(), [*C, limit("daily_cash", 100000, "2031-09-25"), ask("limit", 100000), *close("limit", "done_signed_off")]),
    Small("credit pending", "", fraud("plus", 100001), [*TOLD, *FRAUD[:2], ask("provisional_credit", 100001, "pending"), replace("misused"), *close("card_dispute", "sign_off_pending")]),
    Small("credit pending, given", "11.2", fraud("plus", 100001), [*TOLD, *FRAUD[:2], ask("provisional_credit", 100001, "pending"), replace("misused"), credit(100001), *close("card_dispute", "sign_off_pending")]),
    Small("pending, called denied", "15.2", fraud("plus", 100001), [*TOLD, *FRAUD[:2], ask("provisional_credit", 100001, "pending"), replace("misused"), *close("card_dispute", "sign_off_denied")]),
    Small("fees of 75.01", "11.1", world(fee(cents=7501), segment="premier"), [*B, reverse(7501), *close("fee", notes=["goodwill"])]),
    Small("fees of 75.00", "", world(fee(cents=7500), segment="premier"), [*B, reverse(7500), *close("fee", notes=["goodwill"])]),
    # 12: papers, alerts, devices
    Small("papers missing, limit raised", "12.1", world(kyc="expired"), [*C, limit("daily_cash", 50000), *close("limit")]),
    Small("papers missing, fraud", "", fraud("plus", 8420, "2031-09-10T09:00:00Z", ("customers", "CU-1", {"kyc_status": "expired"})), [*TOLD, *FRAUD, credit(8420), *close("card_dispute")]),
    Small("papers missing, lost card", "", world(kyc="expired"), [*EARLY_LOST[:4], *close("lost_card", "documents_needed")]),
    Small("papers missing, card replaced", "12.1", world(kyc="expired"), [*EARLY_LOST, replace(), charge("replacement", 1200), *close("lost_card")]),
    Small("papers missing", "", world(kyc="in_review"), [*FIRST, *close("limit", "documents_needed")]),
    Small("papers asked for nothing", "12.1", world(), [*FIRST, *close("limit", "documents_needed")]),
    Small("papers missing, refused", "12.1", world(kyc="expired"), [*FIRST, *close("limit", "policy_refused")]),
    Small("alert genuine", "", world(*alert(), ("cards", "CD-1", {**FROZEN, "frozen_at": "2031-09-15T10:05:00Z"})), [*C, resolve("genuine"), UNFREEZE, *close("alert")]),
    Small("alert genuine, card left", "12.2", world(*alert(), ("cards", "CD-1", {**FROZEN, "frozen_at": "2031-09-15T10:05:00Z"})), [*C, resolve("genuine"), *close("alert")]),
    Small("high, named untold", "", world(*alert("high")), [*C, hear("That was Northlane Books."), resolve("genuine"), *close("alert")]),
    Small("high, not named", "12.2", world(*alert("high")), [*C, resolve("genuine"), *close("alert")]),
    Small("high, told", "12.2", world(*alert("high")), [*C, say("Was it Northlane Books?"), hear("Yes, Northlane Books."), resolve("genuine"), *close("alert")]),
    Small("alert refused", "15.2", world(*alert()), [*B, *close("alert", "policy_refused")]),
    Small("low, sent on", "15.2", world(*alert()), [*B, *close("alert", "team_review", queue="security")]),
    Small("high, sent on", "", world(*alert("high")), [*C, *close("alert", "team_review", queue="security")]),
    Small("alert is fraud", "", world(*alert()), [*C, freeze("misused"), resolve("fraud"), file(), replace("misused"), *close("alert")]),
    Small("alert is fraud, not disputed", "12.2", world(*alert()), [*C, freeze("misused"), resolve("fraud"), replace("misused"), *close("alert")]),
    Small("high alert, with PIN", "", world(*alert("high"), payment("EN-1", 8420, "2031-09-10T09:00:00Z", method="chip_pin")), [*C, freeze("misused"), resolve("fraud"), file(), replace("misused"), *close("alert")]),
    Small("device in use", "", world(STRANGE_DEVICE, USED), [hear(OPENING), check(), REVOKE, freeze("misused"), *close("device", "team_review", queue="security", account=None)]),
    Small("device in use, with an account", "15.1", world(STRANGE_DEVICE, USED), [hear(OPENING), check(), REVOKE, freeze("misused"), *close("device", "team_review", queue="security")]),
    Small("device in use, card left", "12.3", world(STRANGE_DEVICE, USED), [hear(OPENING), check(), REVOKE, *close("device", "team_review", queue="security", account=None)]),
    Small("device in use, done", "12.3", world(STRANGE_DEVICE, USED), [hear(OPENING), check(), REVOKE, freeze("misused"), *close("device", account=None)]),
    Small("device never used", "", world(STRANGE_DEVICE), [hear(OPENING), check(), REVOKE, *close("device", account=None)]),
    # 13: complaints
    Small("delay of 3 days", "", world(complaint("2031-08-01", "2031-08-27")), [*B, pay(1500), *close("complaint", notes=["complaint"])]),
    Small("delay of 3 days, paid 4", "13.1", world(complaint("2031-08-01", "2031-08-27")), [*B, pay(2000), *close("complaint", notes=["complaint"])]),
    Small("delay, premier", "", world(complaint("2031-08-01", "2031-08-27"), segment="premier"), [*B, pay(3000), *close("complaint", notes=["complaint"])]),
    Small("delay, still open", "", world(complaint("2031-08-27", None)), [*B, pay(500), *close("complaint", notes=["complaint"])]),
    Small("delay, paid before", "", world(complaint("2031-08-01", "2031-08-27"), ("compensations", "CM-1", {"account_id": "AC-1", "complaint_id": "CL-1", "kind": "delay", "amount_cents": 600})), [*B, pay(900), *close("complaint", notes=["complaint"])]),
    Small("trouble", "", world(complaint("2031-08-01", "2031-08-10", finding="upheld", gravity="serious")), [*B, pay(8000, "trouble"), *close("complaint", notes=["complaint"])]),
    Small("trouble, not upheld", "13.2", world(complaint("2031-08-01", "2031-08-10", finding="not_upheld")), [*B, pay(3500, "trouble"), *close("complaint", notes=["complaint"])]),
    Small("trouble and delay unsigned", "11.1", world(complaint("2031-01-01", "2031-08-10", finding="upheld", gravity="serious")), [*B, pay(8000, "trouble"), pay(10000), *close("complaint", notes=["complaint"])]),
    Small("trouble and delay signed", "", world(complaint("2031-01-01", "2031-08-10", finding="upheld", gravity="serious")), [*B, ask("compensation", 18000), pay(8000, "trouble"), pay(10000), *close("complaint", "done_signed_off", notes=["complaint"])]),
    Small("severe trouble unsigned", "11.1", world(complaint("2031-08-01", "2031-08-10", finding="upheld", gravity="severe")), [*B, pay(17500, "trouble"), *close("complaint", notes=["complaint"])]),
    Small("severe trouble signed", "", world(complaint("2031-08-01", "2031-08-10", finding="upheld", gravity="severe")), [*B, ask("compensation", 17500), pay(17500, "trouble"), *close("complaint", "done_signed_off", notes=["complaint"])]),
    Small("opened again, day 180", "", world(complaint("2031-03-01", "2031-03-22")), [*B, hear("I found a letter."), REOPEN, *close("complaint", "team_review", queue="complaints")]),
    Small("opened again, day 181", "13.3", world(complaint("2031-03-01", "2031-03-21")), [*B, hear("I found a letter."), REOPEN, *close("complaint", "team_review", queue="complaints")]),
    Small("opened again, nothing new", "13.3", world(complaint("2031-03-01", "2031-03-22")), [*B, REOPEN, *close("complaint", "team_review", queue="complaints")]),
    Small("something new, refused", "15.2", world(complaint("2031-03-01", "2031-03-22")), [*B, call("review_complaint", complaint_id="CL-1"), hear("They sent me a recording.", "gave:news"), *close("complaint", "policy_refused")]),
    Small("opened again, not sent on", "13.3", world(complaint("2031-03-01", "2031-03-22")), [*B, hear("I found a letter."), REOPEN, *close("complaint", template="change_confirmed")]),
    # 14: tools that fail
    Small("time-out, repeated once", "", world(fee()), [*B, *FAILED, reverse(1750), *close("fee", notes=["goodwill"])]),
    Small("time-out, repeated blindly", "14.1", world(fee()), [*B, FAILED[0], reverse(1750), *close("fee", notes=["goodwill"])]),
    Small("time-out, done, seen", "", world(fee()), [*B, reverse(1750, failed="done"), LOOK, *close("fee", notes=["goodwill"])]),
    Small("time-out, done, paid again", "1.7", world(complaint("2031-08-01", "2031-08-27")), [*B, pay(1500), pay(1500), *close("complaint", notes=["complaint"])]),
    Small("failed twice", "", world(fee()), [*B, *FAILED, *FAILED, *close("fee", "system_fault")]),
    Small("tried at level A", "2.2", world(fee()), [FIRST[0], check("card_ending"), yes, *FAILED, *FAILED, *close("fee", "system_fault")]),
    Small("third attempt", "14.1", world(fee()), [*B, *FAILED, *FAILED, reverse(1750), *close("fee", notes=["goodwill"])]),
    Small("given up at once", "14.1", world(fee()), [*B, *FAILED, *close("fee", "system_fault")]),
    # 15: records
    Small("done, nothing done", "15.3", world(fee()), [*B, *close("fee")]),
    Small("refused, yet done", "15.3", world(fee()), [*B, reverse(1750), *close("fee", "policy_refused", notes=["goodwill"])]),
    Small("other subject", "15.1", world(fee()), [*B, reverse(1750), *close("hold", notes=["goodwill"])]),
    Small("other customer", "15.1", world(fee()), [*B, reverse(1750), message("money_confirmed"), note("goodwill"), record("fee", "done", customer_id="CU-2"), end]),
    Small("other account", "15.1", world(fee()), [*B, reverse(1750), message("money_confirmed", "AC-2"), note("goodwill"), record("fee", "done", "AC-2"), end]),
    Small("wrong queue", "15.2", world(fee()), [*B, reverse(1750), message("money_confirmed"), note("goodwill"), record("fee", "done", queue="payments"), end]),
    Small("wrong template", "15.4", world(fee()), [*B, reverse(1750), *close("fee", template="change_confirmed", notes=["goodwill"])]),
    Small("no message", "15.4", world(fee()), [*B, reverse(1750), note("goodwill"), record("fee", "done"), end]),
    Small("needless note", "15.5", world(), [*B, LOWER, *close("limit", notes=["security"])]),
    Small("not handed over", "15.6", world(hold("legal", "2031-01-16T10:00:00Z")), [*B, message("referral_notice"), record("hold", "team_review", queue="legal"), end]),
    Small("handed over for nothing", "15.6", world(), [*B, LOWER, message("change_confirmed"), record("limit", "done"), call("hand_over", team="service", summary="")]),
    Small("not ended", "15.6", world(), [*B, LOWER, message("change_confirmed"), record("limit", "done")]),
]  # fmt: skip


# -- boundaries: what the judge reckons, on both sides of every limit


def episode_of(tables: Tables) -> Episode:
    return Episode(Play(tables).case())


def ceilings(segment: str, opened: str = "2029-01-10") -> list[int]:
    tables = world(segment=segment, opened=opened)
    return [limits.ceiling(State(tables), "AC-1", kind, episode_of(tables)) for kind in limits.CEILINGS]


def wait(reason: str, segment: str, filed: str) -> bool:
    tables = on_file(reason, filed, segment=segment)
    return not credits.refusal(State(tables), tables["disputes"]["DP-1"], NOW)


def recalled(rail: str, status: str, at: str, payee: str = "match") -> str:
    tables = world(transfer(rail, status, at, payee))
    return transfers.recall(tables["transfers"]["TR-1"], episode_of(tables))


def delay(received: str, answered: str | None, segment: str = "basic") -> int:
    tables = world(complaint(received, answered), segment=segment)
    return complaints.delay_due(State(tables), tables["complaints"]["CL-1"], NOW)


def penalty(opened: str, months: int, hardship: bool = False) -> int:
    rows = [
        ("contact_notes", "CN-1", {"customer_id": "CU-1", "kind": "hardship", "written_at": "2031-09-01T10:00:00Z"})
    ]
    tables = world(deposit(opened, "2033-01-01", months), *(rows if hardship else ()))
    return deposits.penalty(State(tables), tables["deposits"]["TD-1"], NOW)


def objection(role: str, scope: str | None, *kinds: Any) -> list[bool]:
    tables = world(mandate(role, scope))
    return [not mandates.objection(episode_of(tables), State(tables), "CU-2", role, "AC-1", kind) for kind in kinds]


def wrong(kind: str, cents: int, segment: str = "basic", **values: Any) -> int:
    tables = world(fee(kind, cents, **values), segment=segment)
    return holds_fees.mistake(State(tables), tables["fees"]["FE-1"])


def in_time(reason: str, number: int) -> list[bool]:
    at = [date.fromordinal(NOW.toordinal() - days).isoformat() for days in (number, number + 1)]
    return [disputes.in_time({"booked_at": f"{day}T12:00:00Z"}, reason, NOW) for day in at]


BOUNDARIES: list[tuple[str, Any, Any]] = [
    ("working days", [reckoning.working_days(date(2031, 9, 18), date(2031, 9, last)) for last in (18, 19, 20, 21, 22)], [0, 1, 1, 1, 2]),
    ("half up", [reckoning.percent_of(3501, 75), reckoning.percent_of(50, 50), reckoning.percent_of(1, 50)], [2626, 25, 1]),
    ("18 years", [reckoning.is_minor({"birth_date": born}, NOW) for born in ("2013-09-18", "2013-09-19")], [False, True]),
    ("days to dispute", [in_time("fraud", 120), in_time("not_received", 90), in_time("duplicate", 60)], [[True, False]] * 3),
    ("fraud, credit", [wait("fraud", "basic", "2031-09-11"), wait("fraud", "plus", "2031-09-18")], [True, True]),
    ("duplicate, credit", [wait("duplicate", "plus", day) for day in ("2031-09-04", "2031-09-05")], [True, False]),
    ("duplicate, premier", [wait("wrong_amount", "premier", day) for day in ("2031-09-11", "2031-09-12")], [True, False]),
    ("no credit", [wait(reason, "premier", "2031-01-01") for reason in ("not_received", "cancelled_subscription")], [False, False]),
    ("ceilings", [ceilings(name) for name in ("basic", "plus", "premier")], [[400000, 50000, 300000], [1000000, 100000, 800000], [2500000, 200000, 2000000]]),
    ("ceilings, young", [ceilings("basic", "2031-06-21"), ceilings("basic", "2031-06-20")], [[200000, 25000, 150000], [400000, 50000, 300000]]),
    ("recall, standard", [recalled("standard", "pending", at) for at in ("2031-09-17T13:40:00Z", "2031-09-17T13:39:00Z")], ["recall", "trace"]),
    ("recall, old", [recalled("standard", "completed", at) for at in ("2031-09-08T00:00:00Z", "2031-09-07T23:00:00Z")], ["trace", "refuse"]),
    ("recall, instant", [recalled("instant", "completed", at, "no_match") for at in ("2031-09-17T13:40:00Z", "2031-09-17T13:39:00Z")], ["trace", "refuse"]),
    ("delay", [delay("2031-08-01", "2031-08-22"), delay("2031-08-01", "2031-08-25"), delay("2031-08-28", None)], [0, 500, 0]),
    ("delay, most", [delay("2031-01-01", None), delay("2031-01-01", None, "premier")], [10000, 20000]),
    ("penalties", [penalty("2031-01-01", months) for months in (6, 7, 12, 13)], [3000, 6000, 6000, 9000]),
    ("penalty, half", penalty("2031-01-01", 6, True), 1500),
    ("wrong amount", [wrong("overdraft", 3500), wrong("recall", 2000), wrong("recall", 1500, "premier")], [0, 500, 1500]),
    ("penalty, grace", [penalty("2031-09-04", 6), penalty("2031-09-03", 6)], [0, 1500]),
    ("attorney, view", objection("attorney", "view", "change_order", "reverse", "recall"), [False] * 3),
    ("attorney, pay", objection("attorney", "pay", "change_order", "reverse", "recall", "charge", "release", "file"), [True] * 4 + [False] * 2),
    ("attorney, full", objection("attorney", "full", "file", "break", "lower_limit", "raise_limit", "end_mandate", "close"), [True] * 3 + [False] * 3),
    ("joint owner", objection("joint_owner", None, "raise_limit", "file", "close"), [True, True, False]),
    ("guardian of a grown-up", objection("guardian", None, "reverse"), [False]),
    ("monthly", [wrong("monthly", 900, name) for name in ("basic", "plus", "premier")], [500, 0, 900]),
    ("too much, 50 cents", [wrong("replacement", 1250), wrong("replacement", 1249)], [50, 0]),
    ("foreign fee of no entry", wrong("foreign", 300, entry_id=None), 0),
    ("the pages", [pages.FOREIGN_SHARE, pages.TROUBLE], [{"basic": 3, "plus": 2, "premier": 0}, {"minor": 3500, "serious": 8000, "severe": 17500}]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "found", "right"), BOUNDARIES, ids=[row[0] for row in BOUNDARIES])
def test_the_judge_reckons_by_the_text(name: str, found: Any, right: Any) -> None:
    assert found == right


@pytest.mark.parametrize("small", CASES, ids=lambda small: small.name)
def test_the_judge_finds_the_breach_and_only_then(small: Small) -> None:
    found = play(small)
    if small.breaks:
        assert small.breaks in {violation.section for violation in found}, found
    else:
        assert found == []


def test_every_rule_is_tried() -> None:
    """Each rule finds something in some case, so none is there for show."""
    episodes: list[Case] = []
    for small in CASES:
        episode = Play(small.before)
        for step in small.steps:
            step(episode)
        episodes.append(episode.case())
    idle = [rule.__name__ for rule in RULES if not any(list(rule(Episode(case))) for case in episodes)]
    assert idle == []


def test_the_judge_is_independent() -> None:
    folder = Path(__file__).parent.parent / "domains" / "tb_banking" / "audit"
    for path in folder.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                assert not str(node.module).startswith("tb_banking") or node.module == "tb_banking.models", path.name
