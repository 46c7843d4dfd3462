"""How the certificate may vary the bank's tasks: a harmless note, a stray change, a case written in two steps."""

from __future__ import annotations

from collections.abc import Sequence

from tb_banking.models import Card
from tb_envs.authoring import DomainError, Step, World, call
from tb_envs.authoring.domain import Proofs, Revision


def note(customer_id: str) -> Sequence[Step]:
    """A remark that hurts nobody."""
    return [call("add_contact_note", customer_id=customer_id, kind="remark", body="Was friendly on the phone.")]


def stray(w: World) -> Sequence[Step]:
    """Contactless payments switched off on the card of somebody who has nothing to do with the task."""
    return [call("set_control", card_id=_bystander(w), control="contactless", state="off")]


def stray_undone(w: World) -> Sequence[Step]:
    """The same, and on again."""
    return [*stray(w), call("set_control", card_id=_bystander(w), control="contactless", state="on")]


def _bystander(w: World) -> str:
    touched = {row["account_id"] for layer in (w.placed, w.edited) for row in layer.get("cards", {}).values()}
    for card in w.all(Card, status="active", contactless="on"):
        if card.account_id not in touched:
            return card.id
    raise DomainError("the seed has no active card with contactless payments on")


proofs = Proofs(
    note=note,
    stray=stray,
    stray_undone=stray_undone,
    revisions=(
        Revision(
            create="open_case",
            update="update_case",
            id_argument="case_id",
            id_result="case_id",
            draft={"stage": "open", "disposition": None, "queue": "service"},
        ),
    ),
)
