"""Who is calling and what proves it: checks of facts, passcodes, devices, and who may act for whom."""

from sqlalchemy import bindparam, case, func, select

from tb_banking.models import Account, Customer, Device, Mandate, Passcode, PasscodeRule, Verification
from tb_envs.authoring import Date, Db, Email, Identifier, Json, Toolset, Words, require
from tb_envs.parts.compare import digits, fold
from tb_envs.parts.views import core_table, listed, table_viewer, viewer
from tb_envs.store.db import Found

from ._kinds import Role
from ._links import has_account_number, has_card_ending, under

callers = Toolset("callers", "Checks of callers, passcodes, devices and mandates.")

ACCOUNTS, CUSTOMERS, DEVICES = core_table(Account), core_table(Customer), core_table(Device)
MANDATES, PASSCODES = core_table(Mandate), core_table(Passcode)

_DEVICES = (
    select(
        DEVICES,
        select(func.max(PASSCODES.c.sent_at))
        .where(PASSCODES.c.device_id == DEVICES.c.id, PASSCODES.c.status == "confirmed")
        .scalar_subquery()
        .label("last_confirmed_at"),
    )
    .where(DEVICES.c.customer_id == bindparam("key"))
    .order_by(DEVICES.c.id)
)
_MANDATES = (
    select(MANDATES, CUSTOMERS.c.first_name, CUSTOMERS.c.surname)
    .join(CUSTOMERS, CUSTOMERS.c.id == MANDATES.c.holder_id)
    .where(MANDATES.c.account_id == bindparam("key"))
    .order_by(MANDATES.c.id)
)
_ACCOUNT_HOLDER = (
    select(
        ACCOUNTS.c.id,
        ACCOUNTS.c.kind,
        ACCOUNTS.c.customer_id,
        CUSTOMERS.c.first_name,
        CUSTOMERS.c.surname,
        case((ACCOUNTS.c.kind == "youth", CUSTOMERS.c.birth_date)).label("birth_date"),
    )
    .join(CUSTOMERS, CUSTOMERS.c.id == ACCOUNTS.c.customer_id)
    .where(ACCOUNTS.c.id == bindparam("key"))
)

_check_view = table_viewer("verification", Verification)
_device_view = viewer("device", _DEVICES.selected_columns.keys())
_bare_device_view = table_viewer("device", Device)
_passcode_view = table_viewer("passcode", Passcode)
_mandate_view = viewer("mandate", [*MANDATES.columns.keys(), "holder_first_name", "holder_surname"])
_bare_mandate_view = table_viewer("mandate", Mandate)
_holder_view = viewer(
    "account", ["id", "account_kind", "customer_id", "first_name", "surname", "youth_holder_birth_date"]
)


@callers.write
def verify_caller(
    db: Db,
    customer_id: Identifier,
    role: Role,
    surname: Words,
    email: Email | None = None,
    phone: Words | None = None,
    postcode: Words | None = None,
    birth_date: Date | None = None,
    account_number: Words | None = None,
    card_ending: Words | None = None,
) -> Json:
    """Compare what a caller named with the caller's own profile, and record the check.

    Give only what the caller said. `result` is `passed` if at least one fact was given and all given facts match, else
    `failed`; the surname must match too, but is counted neither in `facts_given` nor in `facts_matched`, and with a
    wrong one nothing matches. Which fact did not match is never told.

    Args:
        customer_id: the profile of the person who calls, e.g. `CU-10231`.
        role: as whom the person calls about an account.
        surname: the caller's surname, as named.
        email: the caller's e-mail address, as named.
        phone: the caller's phone number, as named; only its digits are compared.
        postcode: the caller's postcode, as named.
        birth_date: the caller's date of birth, as named.
        account_number: the number of an account that the caller holds or has a mandate for, as named.
        card_ending: the last four digits of a card in use on such an account, as named.
    """
    customer = db.one(Customer, customer_id)
    found = _compared(db, customer, email, phone, postcode, birth_date, account_number, card_ending)
    matched = sum(found) if fold(surname) == fold(customer.surname) else 0
    check = db.insert(
        Verification,
        customer_id=customer_id,
        role=role,
        facts_given=len(found),
        facts_matched=matched,
        result="passed" if found and matched == len(found) else "failed",
        checked_at=db.now_text,
    )
    return _check_view(check)


def _compared(
    db: Db,
    customer: Found,
    email: str | None,
    phone: str | None,
    postcode: str | None,
    birth_date: str | None,
    account_number: str | None,
    card_ending: str | None,
) -> list[bool]:
    """Whether each fact that was given is right; a blank is no fact."""
    facts: list[bool] = [birth_date == customer.birth_date] if birth_date else []
    for named, kept, spell in (
        (email, customer.email, fold),
        (phone, customer.phone, digits),
        (postcode, customer.postcode, fold),
    ):
        if named and named.strip():
            facts.append(spell(named) == spell(kept))
    if account_number and account_number.strip():
        facts.append(has_account_number(db, customer.id, digits(account_number)))
    if card_ending and card_ending.strip():
        facts.append(has_card_ending(db, customer.id, digits(card_ending)))
    return facts


@callers.read
def list_devices(db: Db, customer_id: Identifier) -> Json:
    """The devices of a customer on which the bank's app runs, with their status and the moment they were registered.

    `last_confirmed_at` is when the newest passcode that was confirmed on the device had been sent; null if none was.

    Args:
        customer_id: the customer, e.g. `CU-10231`.
    """
    return under(db, Customer, customer_id, _DEVICES, _device_view)


@callers.write
def send_passcode(db: Db, device_id: Identifier) -> Json:
    """Send a one-time passcode to a device; its owner can read it there, you cannot. Refuses a revoked device.

    Args:
        device_id: the device, e.g. `DV-20418`.
    """
    device = db.one(Device, device_id)
    require(device.status != "revoked", f"Device {device_id} is revoked; no passcode reaches it.")
    passcode = db.insert(
        Passcode, customer_id=device.customer_id, device_id=device_id, status="sent", sent_at=db.now_text
    )
    return _passcode_view(passcode)


@callers.write
def confirm_passcode(db: Db, passcode_id: Identifier, code: Words) -> Json:
    """Compare the code that a caller reads out with the one sent: the status becomes `confirmed` or `failed`, for good.

    Args:
        passcode_id: the passcode that was sent, e.g. `PC-90001`.
        code: the code as the caller read it; only its digits are compared.
    """
    passcode = db.one(Passcode, passcode_id)
    require(passcode.status == "sent", f"Passcode {passcode_id} is {passcode.status} already; send a new one.")
    rule = db.first(PasscodeRule, device_id=passcode.device_id)
    right = rule is not None and digits(code) == digits(rule.code)
    return _passcode_view(db.update(Passcode, passcode_id, status="confirmed" if right else "failed"))


@callers.write
def revoke_device(db: Db, device_id: Identifier) -> Json:
    """Revoke a device: nothing can be confirmed on it any more. Freezes no card.

    Args:
        device_id: the device, e.g. `DV-20418`.
    """
    device = db.one(Device, device_id)
    require(device.status != "revoked", f"Device {device_id} is revoked already.")
    return _bare_device_view(db.update(Device, device_id, status="revoked"))


@callers.read
def list_mandates(db: Db, account_id: Identifier) -> Json:
    """Who may act on an account besides its holder: roles, scopes, first and last day, status, and whose they are.

    `holder_id` and the names in an item are those of the person who has the mandate. `account` tells whose account it
    is; `youth_holder_birth_date` is the birth date of the holder of a youth account, null for other accounts.

    Args:
        account_id: the account, e.g. `AC-10231`.
    """
    holders = db.query(_ACCOUNT_HOLDER, {"key": account_id}) or [db.one(Account, account_id)]
    mandates = db.query(_MANDATES, {"key": account_id})
    return {"account": _holder_view(holders[0]), **listed(mandates, _mandate_view)}


@callers.write
def end_mandate(db: Db, mandate_id: Identifier) -> Json:
    """End an active mandate; it cannot be brought back.

    Args:
        mandate_id: the mandate, e.g. `MA-20418`.
    """
    mandate = db.one(Mandate, mandate_id)
    require(mandate.status == "active", f"Mandate {mandate_id} is {mandate.status} already.")
    return _bare_mandate_view(db.update(Mandate, mandate_id, status="ended"))
