"""The decision tables' rules, as calls of `policy.py`: inputs as a person writes them, values as JSON.

Money is cents, days and instants are text, amounts of foreign currencies are text. The module is read anew at each
call, so that a mutant of `policy` put in its place is what gets asked.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from decimal import Decimal
from typing import Any

from tb_banking import policy
from tb_envs.authoring import parse_time

Inputs = dict[str, Any]

_day = date.fromisoformat


def _day_or_none(value: str | None) -> date | None:
    return None if value is None else _day(value)


def _passcode_device_ok(i: Inputs) -> bool:
    return policy.passcode_device_ok(i["status"], parse_time(i["registered_at"]), parse_time(i["now"]))


def _verification_verdict(i: Inputs) -> str:
    return policy.verification_verdict([policy.FactCheck(*check) for check in i["checks"]], i["action"])


def _mandate_counts(i: Inputs) -> bool:
    first, last, today = _day(i["valid_from"]), _day_or_none(i["valid_until"]), _day(i["today"])
    return policy.mandate_counts(i["role"], i["status"], first, last, today, _day_or_none(i["holder_born"]))


def _payment_dispute(i: Inputs) -> str:
    return policy.payment_dispute(
        i["reason"],
        i["status"],
        i["days"],
        i["filed"],
        method=i["method"],
        high_alert=i["high_alert"],
        delivery_days=i["delivery_days"],
        cancelled_first=i["cancelled_first"],
        minutes_apart=i["minutes_apart"],
    )


def _cancelled_before(i: Inputs) -> bool:
    told = None if i["told_at"] is None else parse_time(i["told_at"])
    return policy.cancelled_before(told, parse_time(i["paid_at"]))


def _provisional_credit(i: Inputs) -> str:
    return policy.provisional_credit(i["reason"], i["segment"], i["working_days"], i["lost"], i["stage"])


def _contested_ruling(i: Inputs) -> str:
    days = (_day(i["respond_by"]), _day(i["today"]))
    return policy.contested_ruling(i["amount"], *days, i["news"], i["written_off"])


def _recall_ruling(i: Inputs) -> str:
    times = (parse_time(i["made_at"]), parse_time(i["now"]))
    return policy.recall_ruling(i["rail"], i["status"], i["check"], *times)


def _closing_ruling(i: Inputs) -> str:
    blocks = {name: i[name] for name in ("hold", "live_dispute", "open_transfer", "orders")}
    return policy.closing_ruling(i["balance"], **blocks)


def _hold_ruling(i: Inputs) -> str:
    signs = {name: i[name] for name in ("payment_posted", "merchant_released")}
    return policy.hold_ruling(i["kind"], i["segment"], _day(i["placed"]), _day(i["today"]), **signs)


def _goodwill_return(i: Inputs) -> int:
    return policy.goodwill_return(i["kind"], i["segment"], i["amount"], i["days"], i["newest"], i["goodwill_days"])


def _deposit_penalty(i: Inputs) -> int | None:
    deposit = (i["principal"], i["basis_points"], i["term_months"])
    return policy.deposit_penalty(*deposit, i["days_held"], i["days_to_maturity"], i["hardship_days"])


def _limit_ruling(i: Inputs) -> str:
    return policy.limit_ruling(i["kind"], i["segment"], i["account_days"], i["wanted"], i["days"])


RULES: dict[str, Callable[[Inputs], Any]] = {
    "level_needed": lambda i: policy.level_needed(i["action"]),
    "passcode_device_ok": _passcode_device_ok,
    "step_up_verdict": lambda i: policy.step_up_verdict(i["has_device"], i["readings"]),
    "verification_verdict": _verification_verdict,
    "is_minor": lambda i: policy.is_minor(_day(i["born"]), _day(i["today"])),
    "mandate_counts": _mandate_counts,
    "mandate_allows": lambda i: policy.mandate_allows(i["role"], i["scope"], i["action"]),
    "minor_may": lambda i: policy.minor_may(i["action"]),
    "days_between": lambda i: policy.days_between(_day(i["event"]), _day(i["day"])),
    "working_days_between": lambda i: policy.working_days_between(_day(i["event"]), _day(i["day"])),
    "percent": lambda i: policy.percent(i["amount"], i["share"]),
    "interest": lambda i: policy.interest(i["principal"], i["basis_points"], i["days"]),
    "convert": lambda i: policy.convert(Decimal(i["amount"]), i["millionths"]),
    "freezes_card": lambda i: policy.freezes_card(i["reason"], i["method"], i["high_alert"]),
    "payment_dispute": _payment_dispute,
    "cancelled_before": _cancelled_before,
    "provisional_credit": _provisional_credit,
    "contested_ruling": _contested_ruling,
    "card_replacement_fee": lambda i: policy.card_replacement_fee(i["segment"], i["reason"], i["days_to_expiry"]),
    "unfreeze_ruling": lambda i: policy.unfreeze_ruling(i["days_frozen"], i["alert_open"]),
    "control_ruling": lambda i: policy.control_ruling(i["control"], i["country"], i["segment"]),
    "limit_ceiling": lambda i: policy.limit_ceiling(i["kind"], i["segment"], i["account_days"]),
    "limit_ruling": _limit_ruling,
    "recall_ruling": _recall_ruling,
    "recall_fee": lambda i: policy.recall_fee(i["status"], i["check"], i["segment"]),
    "order_ruling": lambda i: policy.order_ruling(i["working_days"], i["new_amount"], i["daily_transfer"]),
    "closing_ruling": _closing_ruling,
    "return_ruling": lambda i: policy.return_ruling(i["days"], i["amount"], i["balance"], i["held"]),
    "hold_ruling": _hold_ruling,
    "mistake_return": lambda i: policy.mistake_return(i["charged"], i["right"]),
    "goodwill_return": _goodwill_return,
    "foreign_fee": lambda i: policy.foreign_fee(Decimal(i["amount"]), i["millionths"], i["segment"]),
    "monthly_fee": lambda i: policy.monthly_fee(i["kind"], i["segment"]),
    "deposit_interest": lambda i: policy.deposit_interest(i["principal"], i["basis_points"], i["days_held"]),
    "deposit_penalty": _deposit_penalty,
    "sign_off_needed": lambda i: policy.sign_off_needed(i["kind"], i["amount"], i["segment"]),
    "papers_allow": lambda i: policy.papers_allow(i["kyc_status"], i["action"]),
    "alert_ruling": lambda i: policy.alert_ruling(i["level"], i["theirs"], i["names_merchant"]),
    "alert_unfreezes": lambda i: policy.alert_unfreezes(_day_or_none(i["frozen_on"]), _day(i["raised_on"])),
    "device_ruling": lambda i: policy.device_ruling(i["days_since_confirmed"]),
    "delay_compensation": lambda i: policy.delay_compensation(i["working_days"], i["segment"], i["paid"]),
    "trouble_compensation": lambda i: policy.trouble_compensation(i["gravity"], i["finding"], i["paid"]),
    "complaint_reopening": lambda i: policy.complaint_reopening(i["days_since_answer"], i["news"]),
    "after_tool_failure": lambda i: policy.after_tool_failure(i["done"], i["repeats"]),
}
