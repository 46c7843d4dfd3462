"""Who the guests are, whether a caller is one of them, and what passed between them and us."""

from sqlalchemy import bindparam, func, select

from tb_envs.authoring import Date, Db, Email, Identifier, Json, Text, Toolset, Words, require
from tb_envs.parts.compare import digits, fold, spellings
from tb_envs.parts.views import Search, core_table, equal, table_viewer, viewer
from tb_envs.store.db import Found
from tb_hotel.models import Booking, Guest, GuestMessage, GuestNote, IdentityCheck, LoyaltyAccount

from ._kinds import CallerRole, Direction, NoteKind, PageNumber, SentTemplate

guests = Toolset("guests", "Guest profiles, identity checks, notes and messages.")

GUESTS, ACCOUNTS = core_table(Guest), core_table(LoyaltyAccount)
NOTES, MESSAGES, CHECKS = core_table(GuestNote), core_table(GuestMessage), core_table(IdentityCheck)

_PROFILE = (
    select(
        GUESTS,
        ACCOUNTS.c.id.label("loyalty_account_id"),
        func.coalesce(ACCOUNTS.c.tier, "standard").label("tier"),
    )
    .select_from(GUESTS.outerjoin(ACCOUNTS, ACCOUNTS.c.guest_id == GUESTS.c.id))
    .where(GUESTS.c.id == bindparam("guest_id"))
)
_profile_view = viewer("guest", _PROFILE.selected_columns.keys())
_note_view = table_viewer("note", GuestNote)
_message_view = table_viewer("message", GuestMessage)
_check_view = table_viewer("check", IdentityCheck)

_phone_digits = GUESTS.c.phone
for _mark in " +-./()":
    _phone_digits = func.replace(_phone_digits, _mark, "")

_GUESTS = Search(
    source=[GUESTS.c.id, GUESTS.c.first_name, GUESTS.c.surname, GUESTS.c.city],
    view=viewer("guest", ["id", "first_name", "surname", "city"]),
    order=[GUESTS.c.id],
    filters={
        "surname": func.lower(GUESTS.c.surname).in_(bindparam("surname", expanding=True)),
        "email": func.lower(GUESTS.c.email) == bindparam("email"),
        "phone": _phone_digits == bindparam("phone"),
        "postcode": func.lower(func.replace(GUESTS.c.postcode, " ", "")) == bindparam("postcode"),
    },
)
_NOTES = Search(
    source=NOTES,
    view=_note_view,
    order=[NOTES.c.id],
    filters=equal(NOTES, "guest_id", "kind"),
    owners={"guest_id": Guest},
)
_MESSAGES = Search(
    source=MESSAGES,
    view=_message_view,
    order=[MESSAGES.c.sent_at.desc(), MESSAGES.c.id.desc()],
    filters=equal(MESSAGES, "guest_id", "booking_id", "direction"),
    owners={"guest_id": Guest, "booking_id": Booking},
)
_CHECKS = Search(
    source=CHECKS,
    view=_check_view,
    order=[CHECKS.c.id],
    filters=equal(CHECKS, "guest_id"),
    owners={"guest_id": Guest},
)


def _profile(db: Db, guest_id: str) -> Json:
    rows = db.query(_PROFILE, {"guest_id": guest_id})
    return _profile_view(rows[0] if rows else db.one(Guest, guest_id))


@guests.read
def get_time(db: Db) -> Json:
    """The present moment, in UTC, the time zone of all properties, stamps and hours."""
    return {"now": db.now_text}


@guests.read
def search_guests(
    db: Db,
    surname: Words | None = None,
    email: Email | None = None,
    phone: Words | None = None,
    postcode: Words | None = None,
    page: PageNumber = 1,
) -> Json:
    """Find guest profiles that match all the given values. Give at least one; whole values, capitals do not matter.

    Args:
        surname: the whole surname.
        email: the whole e-mail address.
        phone: the whole phone number; only its digits are compared.
        postcode: the whole postcode.
        page: which page of 5 guests, from 1.
    """
    require(surname or email or phone or postcode, "Give at least one of surname, email, phone, postcode.")
    return _GUESTS.page(
        db,
        page,
        surname=spellings(surname) if surname else None,
        email=email or None,
        phone=digits(phone) if phone else None,
        postcode="".join(postcode.lower().split()) if postcode else None,
    )


@guests.read
def get_guest(db: Db, guest_id: Identifier) -> Json:
    """A guest's profile: contact data, authorised contact, last goodwill, loyalty account and tier.

    The tier is `standard` for a guest without a loyalty account.

    Args:
        guest_id: the guest, e.g. `GS-10231`.
    """
    return _profile(db, guest_id)


@guests.read
def list_guest_notes(db: Db, guest_id: Identifier, kind: NoteKind | None = None, page: PageNumber = 1) -> Json:
    """The internal notes on a guest's profile.

    Args:
        guest_id: the guest, e.g. `GS-10231`.
        kind: only notes of this kind.
        page: which page of 5 notes, from 1.
    """
    return _NOTES.page(db, page, guest_id=guest_id, kind=kind)


@guests.read
def list_messages(
    db: Db,
    guest_id: Identifier,
    booking_id: Identifier | None = None,
    direction: Direction | None = None,
    page: PageNumber = 1,
) -> Json:
    """E-mails from a guest (`inbound`) and to the guest (`outbound`), newest first.

    Args:
        guest_id: the guest, e.g. `GS-10231`.
        booking_id: only messages about this booking.
        direction: only messages from the guest, or only to the guest.
        page: which page of 5 messages, from 1.
    """
    return _MESSAGES.page(db, page, guest_id=guest_id, booking_id=booking_id, direction=direction)


@guests.read
def list_identity_checks(db: Db, guest_id: Identifier, page: PageNumber = 1) -> Json:
    """The identity checks made on a guest's profile so far.

    Args:
        guest_id: the guest, e.g. `GS-10231`.
        page: which page of 5 checks, from 1.
    """
    return _CHECKS.page(db, page, guest_id=guest_id)


def _matching_facts(
    db: Db,
    guest: Found,
    booking_id: str | None,
    email: str | None,
    phone: str | None,
    postcode: str | None,
    birth_date: str | None,
) -> list[bool]:
    """For each fact the caller named, whether it is what the records hold; a blank is no fact."""
    matches: list[bool] = []
    if booking_id:
        booking = db.get(Booking, booking_id)
        matches.append(booking is not None and booking.guest_id == guest.id)
    if email and email.strip():
        matches.append(fold(email) == fold(guest.email))
    if phone and phone.strip():
        matches.append(digits(phone) == digits(guest.phone))
    if postcode and postcode.strip():
        matches.append(fold(postcode) == fold(guest.postcode))
    if birth_date:
        matches.append(birth_date == guest.birth_date)
    return matches


@guests.write
def check_identity(
    db: Db,
    guest_id: Identifier,
    caller: CallerRole,
    surname: Words,
    booking_id: Identifier | None = None,
    email: Email | None = None,
    phone: Words | None = None,
    postcode: Words | None = None,
    birth_date: Date | None = None,
) -> Json:
    """Compare what a caller named with a guest's profile, and record the check.

    Give only what the caller said. The surname is needed but is counted neither as given nor as matched; with a wrong
    one nothing matches. The check passes if at least one fact was given and all given facts match. Which one is
    wrong is never told.

    Args:
        guest_id: the guest whose profile is compared, e.g. `GS-10231`.
        caller: `guest` if the caller says to be the guest, `third_party` if not.
        surname: the guest's surname, as the caller named it.
        booking_id: the number of a booking of the guest, as named.
        email: the guest's e-mail address, as named.
        phone: the guest's phone number, as named.
        postcode: the guest's postcode, as named.
        birth_date: the guest's date of birth, as named.
    """
    guest = db.one(Guest, guest_id)
    matches = _matching_facts(db, guest, booking_id, email, phone, postcode, birth_date)
    matched = sum(matches) if fold(surname) == fold(guest.surname) else 0
    passed = matched == len(matches) > 0
    check = db.insert(
        IdentityCheck,
        guest_id=guest_id,
        caller=caller,
        facts_given=len(matches),
        facts_matched=matched,
        result="passed" if passed else "failed",
        checked_at=db.now_text,
    )
    return _check_view(check)


@guests.write
def add_guest_note(db: Db, guest_id: Identifier, kind: NoteKind, body: Text) -> Json:
    """Write an internal note on a guest's profile.

    Args:
        guest_id: the guest, e.g. `GS-10231`.
        kind: what the note is about.
        body: the text of the note.
    """
    db.one(Guest, guest_id)
    return _note_view(db.insert(GuestNote, guest_id=guest_id, kind=kind, body=body, created_at=db.now_text))


@guests.write
def record_goodwill(db: Db, guest_id: Identifier) -> Json:
    """Record on a guest's profile that a goodwill was granted today.

    Args:
        guest_id: the guest, e.g. `GS-10231`.
    """
    db.update(Guest, db.one(Guest, guest_id).id, last_goodwill_on=db.today)
    return _profile(db, guest_id)


@guests.write
def send_message(
    db: Db, guest_id: Identifier, template: SentTemplate, booking_id: Identifier | None = None, body: Text = ""
) -> Json:
    """Send an e-mail to a guest. Refuses a booking of another guest.

    Args:
        guest_id: the guest who receives it, e.g. `GS-10231`.
        template: the kind of message.
        booking_id: the booking it is about, if any.
        body: words to add to the template.
    """
    db.one(Guest, guest_id)
    owner = db.one(Booking, booking_id).guest_id if booking_id else guest_id
    require(owner == guest_id, f"`booking_id`: {booking_id} is not a booking of guest {guest_id}.")
    message = db.insert(
        GuestMessage,
        guest_id=guest_id,
        booking_id=booking_id,
        direction="outbound",
        template=template,
        body=body,
        sent_at=db.now_text,
    )
    return _message_view(message)
