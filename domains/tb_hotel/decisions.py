"""The decision tables' rules, as calls of `policy.py`: inputs as a person writes them, values as JSON.

Durations are minutes, money is cents, instants are text. The module is read anew at each call, so that a mutant of
`policy` put in its place is what gets asked.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

from tb_envs.authoring import parse_time
from tb_hotel import policy

Inputs = dict[str, Any]


def _minutes(value: int) -> timedelta:
    return timedelta(minutes=value)


def _day(value: str) -> date:
    return date.fromisoformat(value)


def _cancellation_fee(i: Inputs) -> int:
    notice, age = _minutes(i["notice_minutes"]), _minutes(i["age_minutes"])
    return policy.cancellation_fee(i["plan"], i["tier"], i["total"], i["first_night"], notice, age)


def _no_show_refund(i: Inputs) -> int:
    age = None if i["goodwill_age_days"] is None else timedelta(days=i["goodwill_age_days"])
    return policy.no_show_refund(i["paid"], i["fee_at_email"], i["tier"], age)


def _group_release_fee(i: Inputs) -> int:
    rooms = (i["contracted"], i["released_before"], i["releasing"], i["nights"], i["room_price"])
    return policy.group_release_fee(*rooms, parse_time(i["now"]), _day(i["cut_off"]))


def _corporate_correction(i: Inputs) -> int:
    nights = [policy.SoldNight(_day(n["night"]), n["sold"], n["public"]) for n in i["nights"]]
    return policy.corporate_correction(nights, i["discount"], _day(i["valid_from"]), _day(i["valid_until"]))


def _identity_verdict(i: Inputs) -> str:
    return policy.identity_verdict([policy.IdentityCheck(*check) for check in i["checks"]], i["topic"])


def _notice(i: Inputs) -> int:
    return round(policy.notice(_day(i["arrival"]), parse_time(i["at"])).total_seconds() / 60)


def _early_departure(i: Inputs) -> int:
    return policy.early_departure_refund(i["plan"], i["unused"], parse_time(i["told"]), _day(i["leaving"]))


def _date_change_fee(i: Inputs) -> int | None:
    return policy.date_change_fee(i["plan"], i["tier"], _minutes(i["notice_minutes"]), i["changes_made"])


def _loyalty_earned(i: Inputs) -> list[int]:
    return list(policy.loyalty_earned(i["channel"], _day(i["arrival"]), _day(i["joined"]), i["prices"]))


RULES: dict[str, Callable[[Inputs], Any]] = {
    "percent": lambda i: policy.percent(i["base"], i["share"]),
    "notice": _notice,
    "identity_verdict": _identity_verdict,
    "third_party_may_act": lambda i: policy.third_party_may_act(i["is_authorised_contact"], i["topic"]),
    "claim_is_open": lambda i: policy.claim_is_open(i["topic"], _day(i["departure"]), _day(i["today"])),
    "cancellation_fee": _cancellation_fee,
    "refund_after_fee": lambda i: policy.refund_after_fee(i["paid"], i["fee"]),
    "date_change_fee": _date_change_fee,
    "date_change_balance": lambda i: policy.date_change_balance(i["plan"], i["old_total"], i["new_total"]),
    "upgrade_price": lambda i: policy.upgrade_price(i["difference"], i["tier"], _minutes(i["notice_minutes"])),
    "name_change_fee": lambda i: policy.name_change_fee(i["plan"], i["letters"], _minutes(i["notice_minutes"])),
    "early_departure_refund": _early_departure,
    "latest_check_out": lambda i: policy.latest_check_out(i["room_needed"]),
    "late_check_out_fee": lambda i: policy.late_check_out_fee(i["tier"], i["until"]),
    "fault_compensation": lambda i: policy.fault_compensation(i["nights"], i["severity"]),
    "no_show_refund": _no_show_refund,
    "folio_payer": lambda i: policy.folio_payer(i["covers"], i["kind"], i["amount"]),
    "dispute_relief": lambda i: policy.dispute_relief(i["amount"], i["evidence"], i["unsigned_sum"]),
    "parking_price": lambda i: policy.parking_price(i["nights"], i["tier"]),
    "pet_price": lambda i: policy.pet_price(i["pets"], i["nights"]),
    "is_double_payment": lambda i: policy.is_double_payment(_minutes(i["gap_minutes"])),
    "is_duplicate_booking": lambda i: policy.is_duplicate_booking(_minutes(i["gap_minutes"])),
    "loyalty_earned": _loyalty_earned,
    "corporate_correction": _corporate_correction,
    "group_release_fee": _group_release_fee,
    "relocation_points": lambda i: policy.relocation_points(i["tier"], _minutes(i["notice_minutes"])),
    "handled_by": lambda i: policy.handled_by(i["channel"], i["collects"], i["topic"]),
    "after_tool_failure": lambda i: policy.after_tool_failure(i["done"], i["repeats"]),
    "approval_needed": lambda i: policy.approval_needed(i["reason"], i["amount"], i["tier"], i["fee"]),
}
