"""What the bank's families share: pieces of a script, each with the checks it brings.

A `Part` is a few steps and what must hold because of them. A family makes what is carried out first, then who must be
known before it, and joins them::

    done = common.set_limit(acct, "daily_cash", cents, use("limit", "segment"))
    who = common.identify(person, acct, level=policy.level_needed("raise_limit"), then=done)
    end = common.tail(person, acct, "limit", "done")
    solution = [*who.steps, call("review_limit", …, save="limit"), say("… Shall I?"), *done.steps, *end.steps, …]
    expects = [*who.expects, *done.expects, *end.expects]

`_who` has chapter 2 (checks and passcodes), `_work` what is carried out, `_records` chapter 15, `_mistakes` the wrong
ways that follow from a right one; all is at hand here. Refuses to know any rule besides chapters 2 and 15: what is due
comes from `tb_banking.policy`.
"""

from __future__ import annotations

from typing import Any

from tb_banking.families._mistakes import RECORDS as RECORDS
from tb_banking.families._mistakes import after as after
from tb_banking.families._mistakes import common_mistakes as common_mistakes
from tb_banking.families._mistakes import fee_mistakes as fee_mistakes
from tb_banking.families._mistakes import on_device as on_device
from tb_banking.families._mistakes import plus as plus
from tb_banking.families._mistakes import tempted as tempted
from tb_banking.families._records import ANSWERED as ANSWERED
from tb_banking.families._records import CARRIED_OUT as CARRIED_OUT
from tb_banking.families._records import FINAL as FINAL
from tb_banking.families._records import hand_over as hand_over
from tb_banking.families._records import last_words as last_words
from tb_banking.families._records import served as served
from tb_banking.families._records import tail as tail
from tb_banking.families._who import AGAIN_PLEASE as AGAIN_PLEASE
from tb_banking.families._who import CODE_PLEASE as CODE_PLEASE
from tb_banking.families._who import Then
from tb_banking.families._who import check as check
from tb_banking.families._who import identify as identify
from tb_banking.families._who import no_device as no_device
from tb_banking.families._who import step_up as step_up
from tb_banking.families._who import touched as touched
from tb_banking.families._who import verified as verified
from tb_banking.families._who import wrong_codes as wrong_codes
from tb_banking.families._work import amount as amount
from tb_banking.families._work import break_deposit as break_deposit
from tb_banking.families._work import change_order as change_order
from tb_banking.families._work import charge as charge
from tb_banking.families._work import close as close
from tb_banking.families._work import compensate as compensate
from tb_banking.families._work import credit as credit
from tb_banking.families._work import credit_filed as credit_filed
from tb_banking.families._work import end_mandate as end_mandate
from tb_banking.families._work import escalate as escalate
from tb_banking.families._work import file as file
from tb_banking.families._work import filed_first as filed_first
from tb_banking.families._work import freeze as freeze
from tb_banking.families._work import no_credit as no_credit
from tb_banking.families._work import not_switched_back as not_switched_back
from tb_banking.families._work import recall as recall
from tb_banking.families._work import release as release
from tb_banking.families._work import reopen as reopen
from tb_banking.families._work import replace as replace
from tb_banking.families._work import resolve as resolve
from tb_banking.families._work import reverse as reverse
from tb_banking.families._work import revoke as revoke
from tb_banking.families._work import send_back as send_back
from tb_banking.families._work import set_limit as set_limit
from tb_banking.families._work import set_order as set_order
from tb_banking.families._work import settle as settle
from tb_banking.families._work import switch as switch
from tb_banking.families._work import unfreeze as unfreeze
from tb_banking.families._work import withdraw as withdraw
from tb_banking.models import Card, Compensation, Dispute, Fee, SignOff
from tb_banking.models.kinds import Decision, SignOffKind
from tb_banking.world import Acct, Person
from tb_envs.authoring import (
    Record,
    call,
    calls,
    created,
    happened,
    kept,
    matches,
    never_created,
    order,
    show_money,
    use,
    writes,
)
from tb_envs.authoring.world import FIRST_NEW_NUMBER
from tb_envs.grading.expectations import Expectation
from tb_envs.grading.verdict import NOTHING_ELSE as NOTHING_ELSE
from tb_envs.parts.scripts import Part as Part
from tb_envs.parts.scripts import forgotten as forgotten
from tb_envs.parts.scripts import with_arguments as with_arguments
from tb_envs.parts.scripts import without as without

# -- what the customer knows and says


def persona_facts(person: Person, acct: Acct | None = None, card: Record | None = None, **more: Any) -> dict[str, Any]:
    """What a customer knows of the own profile, account, card and device, for `Persona.knows`; `more` adds or replaces.

    The passcode is among them if there is a trusted device: the customer reads it out when asked for it.
    """
    facts: dict[str, Any] = {"account": acct.number} if acct else {}
    facts |= {
        "surname": person.surname,
        "email": person.email,
        "phone": person.phone,
        "postcode": person.postcode,
        "birth_date": person.birth_date,
        "name": person.name,
    }
    if card is not None:
        facts["card"] = card.ending
    if person.trusted is not None:
        facts["code"] = person.device.code
    return facts | more


def dollars(cents: int) -> str:
    """An amount as it is spoken: ``USD 570.00``."""
    return f"USD {show_money(cents)}"


# -- the controls desk


NEW_SIGN_OFF = rf"^SG-{FIRST_NEW_NUMBER // 10_000}\d{{4}}$"
"""The answer to an older question says nothing about this one."""


def sign_off(acct: Acct, kind: SignOffKind, cents: int, answer: Decision, *needs: Any, then: Then = ()) -> Part:
    """Ask the controls desk for exactly this amount and read the answer.

    Checks: `sign-off`, and `answer read first` (with `then`) or `answer read`.

    Args:
        acct: the account.
        kind: what is to be signed off.
        cents: the amount.
        answer: as fixed by ``w.desk_answers``.
        needs: what the amount is computed from (see `amount`).
        then: what may be done only after a granted request, as `then` of `identify`.
    """
    asked: dict[str, Any] = {"account_id": acct.id, "kind": kind}
    grounds = "This is more than we may decide ourselves."
    steps = (
        call(
            "request_sign_off",
            **asked,
            amount=amount(cents, *needs),
            grounds=grounds,
            save="sign-off",
            earns="sign-off",
        ),
        call("get_sign_off", sign_off_id=use("sign-off", "sign_off_id")),
    )
    row = created("sign-off", SignOff, **asked, amount_cents=cents, decision=answer)
    read, touches = calls("get_sign_off", sign_off_id=matches(NEW_SIGN_OFF)), touched(then)
    return Part(steps, (row, order("answer read first", read, *touches) if touches else happened("answer read", read)))


# -- guards: what must not happen


def untouched(name: str, model: Any, key: str) -> Expectation:
    """A guard: this row stays as it is, also for a moment, e.g. ``untouched("limit kept", Limit, …)``."""
    return kept(name, model, key)


def not_filed(entry: Record, *, name: str = "no dispute") -> Expectation:
    """A guard: this payment is not disputed."""
    return never_created(name, Dispute, entry_id=entry.id)


def not_charged(acct: Acct, *, name: str = "no fee") -> Expectation:
    """A guard: no fee is charged."""
    return never_created(name, Fee, account_id=acct.id)


def replacement_fee(acct: Acct, card: Record, cents: int, *needs: Any) -> Part:
    """The fee for a new card, charged after the card was replaced; or the guard `no fee` where it is free.

    Checks: `fee` and `charged after`, or `no fee`.
    """
    if not cents:
        return Part((), (not_charged(acct),))
    after = order("charged after", writes(Card, id=card.id, status="replaced"), writes(Fee, account_id=acct.id))
    return charge(acct, "replacement", cents, *needs) + Part((), (after,))


def not_paid(acct: Acct, *, name: str = "no compensation") -> Expectation:
    """A guard: no compensation is paid."""
    return never_created(name, Compensation, account_id=acct.id)
