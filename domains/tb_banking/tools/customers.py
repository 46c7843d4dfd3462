"""Customers: their profiles, and what passed between them and the bank."""

from sqlalchemy import ColumnElement, bindparam, func, select

from tb_banking.models import Account, ContactNote, Customer, Mandate, SecureMessage
from tb_envs.authoring import Db, Email, Identifier, Json, Text, Toolset, Words, require
from tb_envs.parts.compare import digits, spellings
from tb_envs.parts.views import Search, core_table, equal, table_viewer, viewer

from ._days import WEEKDAYS, age_in_years
from ._kinds import Direction, NoteKind, PageNumber, SentTemplate
from ._links import has_account

customers = Toolset("customers", "Customer profiles, secure messages and contact notes.")

CUSTOMERS, MESSAGES, NOTES = core_table(Customer), core_table(SecureMessage), core_table(ContactNote)
ACCOUNTS, MANDATES = core_table(Account), core_table(Mandate)
BANK = "service@marram.example"


def _without(column: ColumnElement[str], signs: str) -> ColumnElement[str]:
    for sign in signs:
        column = func.replace(column, sign, "")
    return column


_FOUND = ["id", "first_name", "surname", "city"]
_CUSTOMERS = Search(
    source=[CUSTOMERS.c[name] for name in _FOUND],
    view=viewer("customer", _FOUND),
    order=[CUSTOMERS.c.id],
    filters={
        "surname": func.lower(CUSTOMERS.c.surname).in_(bindparam("surname", expanding=True)),
        "email": func.lower(CUSTOMERS.c.email) == bindparam("email"),
        "phone": _without(CUSTOMERS.c.phone, "+ -.()/") == bindparam("phone"),
        "postcode": func.lower(_without(CUSTOMERS.c.postcode, " ")) == bindparam("postcode"),
    },
)
_MESSAGES = Search(
    source=MESSAGES,
    view=table_viewer("message", SecureMessage),
    order=[MESSAGES.c.sent_at.desc(), MESSAGES.c.id.desc()],
    filters=equal(MESSAGES, "customer_id", "direction"),
    owners={"customer_id": Customer},
)
_NOTES = Search(
    source=NOTES,
    view=table_viewer("note", ContactNote),
    order=[NOTES.c.written_at.desc(), NOTES.c.id.desc()],
    filters=equal(NOTES, "customer_id", "kind"),
    owners={"customer_id": Customer},
)
_OWN = select(ACCOUNTS.c.id).where(ACCOUNTS.c.customer_id == bindparam("customer")).order_by(ACCOUNTS.c.id)
_ENTRUSTED = (
    select(MANDATES.c.account_id)
    .distinct()
    .where(MANDATES.c.holder_id == bindparam("customer"))
    .order_by(MANDATES.c.account_id)
)
_profile_view = table_viewer("customer", Customer)


@customers.read
def get_clock(db: Db) -> Json:
    """The moment of the request, in UTC, and its day of the week."""
    return {"now": db.now_text, "weekday": WEEKDAYS[db.now.weekday()]}


@customers.read
def find_customers(
    db: Db,
    surname: Words | None = None,
    email: Email | None = None,
    phone: Words | None = None,
    postcode: Words | None = None,
    page: PageNumber = 1,
) -> Json:
    """Look for profiles by what is on them; all given values must be there, whole. At least one is needed.

    Args:
        surname: a surname, in any capitals.
        email: an e-mail address, in any capitals.
        phone: a phone number; only its digits are compared.
        postcode: a postcode; blanks and capitals do not matter.
        page: which page of 5 profiles, from 1.
    """
    named = {
        "surname": spellings(surname) if surname else None,
        "email": email or None,
        "phone": digits(phone) if phone else None,
        "postcode": "".join(postcode.split()).lower() if postcode else None,
    }
    require(any(value is not None for value in named.values()), f"Give at least one of {', '.join(named)}.")
    return _CUSTOMERS.page(db, page, **named)


@customers.read
def get_customer(db: Db, customer_id: Identifier) -> Json:
    """A profile: contact data, birth date and `age` in full years, segment, state of the papers, accounts.

    `account_ids` are the accounts the customer holds; `mandate_account_ids` those of others for which the customer has
    or had a mandate.

    Args:
        customer_id: the customer, e.g. `CU-10231`.
    """
    customer = db.one(Customer, customer_id)
    return {
        **_profile_view(customer),
        "age": age_in_years(db, customer.birth_date),
        "account_ids": [row.id for row in db.query(_OWN, {"customer": customer_id})],
        "mandate_account_ids": [row.account_id for row in db.query(_ENTRUSTED, {"customer": customer_id})],
    }


@customers.read
def list_messages(db: Db, customer_id: Identifier, direction: Direction | None = None, page: PageNumber = 1) -> Json:
    """What is in a customer's inbox with us, newest first: who sent it, when, and the words.

    `inbound` came to us, from the customer or from somebody else who wrote about a payment of theirs: `sender` is the
    address it came from. `outbound` came from us.

    Args:
        customer_id: the customer, e.g. `CU-10231`.
        direction: only messages to us, or only messages from us.
        page: which page of 5 messages, from 1.
    """
    return _MESSAGES.page(db, page, customer_id=customer_id, direction=direction)


@customers.read
def list_notes(db: Db, customer_id: Identifier, kind: NoteKind | None = None, page: PageNumber = 1) -> Json:
    """The contact notes on a customer's profile, newest first.

    Args:
        customer_id: the customer, e.g. `CU-10231`.
        kind: only notes of this kind.
        page: which page of 5 notes, from 1.
    """
    return _NOTES.page(db, page, customer_id=customer_id, kind=kind)


@customers.write
def send_secure_message(
    db: Db, customer_id: Identifier, template: SentTemplate, body: Text = "", account_id: Identifier | None = None
) -> Json:
    """Put a message from us into a customer's inbox. Refuses an account with which the customer has nothing to do.

    Args:
        customer_id: the customer who gets it, e.g. `CU-10231`.
        template: what kind of message it is.
        body: words of your own below the template.
        account_id: the account it names, if it names one.
    """
    db.one(Customer, customer_id)
    known = account_id is None or has_account(db, customer_id, account_id)
    require(known, f"`account_id`: {account_id} is no account that {customer_id} holds or has a mandate for.")
    message = db.insert(
        SecureMessage,
        customer_id=customer_id,
        account_id=account_id,
        direction="outbound",
        template=template,
        sender=BANK,
        body=body,
        sent_at=db.now_text,
    )
    return _MESSAGES.view(message)


@customers.write
def add_contact_note(db: Db, customer_id: Identifier, kind: NoteKind, body: Text) -> Json:
    """Write a note on a customer's profile, for colleagues.

    Args:
        customer_id: the customer, e.g. `CU-10231`.
        kind: what sort of note it is.
        body: the words of the note.
    """
    db.one(Customer, customer_id)
    return _NOTES.view(db.insert(ContactNote, customer_id=customer_id, kind=kind, body=body, written_at=db.now_text))
