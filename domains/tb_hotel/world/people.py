"""Builders of people: guests, their loyalty accounts, and near duplicates of them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any

from tb_envs.authoring import Record, World
from tb_envs.parts.people import Names, address
from tb_hotel.models import Guest, LoyaltyAccount, Tier
from tb_hotel.world.names import FIRST_NAMES, HOMES, MAIL_HOSTS, SIMILAR_NAMES, SURNAMES

_NAMES = Names(FIRST_NAMES, SURNAMES, SIMILAR_NAMES)
_LETTERS = "ABCDEFGHJKLNPRSTUVWXY"


@dataclass(frozen=True)
class Person:
    """A guest and the loyalty account, if there is one. The profile's columns are at hand: ``person.email``."""

    profile: Record
    account: Record | None

    @property
    def tier(self) -> Tier:
        """The tier by the account; without one, ``standard``."""
        return self.account.tier if self.account else "standard"

    @property
    def id(self) -> str:
        """The guest id."""
        return self.profile.id

    @property
    def first_name(self) -> str:
        """The first name."""
        return self.profile.first_name

    @property
    def surname(self) -> str:
        """The surname."""
        return self.profile.surname

    @property
    def name(self) -> str:
        """First name and surname."""
        return f"{self.first_name} {self.surname}"

    @property
    def email(self) -> str:
        """The e-mail address on file."""
        return self.profile.email

    @property
    def phone(self) -> str:
        """The phone number on file."""
        return self.profile.phone

    @property
    def postcode(self) -> str:
        """The postcode on file."""
        return self.profile.postcode

    @property
    def birth_date(self) -> str:
        """The date of birth on file."""
        return self.profile.birth_date

    @property
    def city(self) -> str:
        """The city on file."""
        return self.profile.city


class People(World):
    """Guests and members."""

    def guest(
        self,
        *,
        tier: Tier = "standard",
        first_name: str | None = None,
        surname: str | None = None,
        city: str | None = None,
        mail_host: str | None = None,
        account: bool | None = None,
        joined_on: str | None = None,
        authorised_contact: str | None = None,
        last_goodwill_on: str | None = None,
        **columns: Any,
    ) -> Person:
        """A guest with a profile; with a loyalty account unless the tier is standard (or as `account` says).

        Args:
            tier: of the account.
            first_name: drawn if not given, as are surname (one that others of the seed have too), city and mail host.
            surname: as above.
            city: one of `names.HOMES`.
            mail_host: the part of the address behind the @.
            account: whether there is a loyalty account; needed to give a standard guest one.
            joined_on: when the account was opened; drawn 400 to 2,500 days ago.
            authorised_contact: full name of the person who may act for the guest.
            last_goodwill_on: a date.
            columns: any other column of the profile.
        """
        home = next((h for h in HOMES if h.city == city), None) or self.pick(*HOMES)
        first = first_name or self.pick(*FIRST_NAMES)
        last = surname or self.pick(*SURNAMES)
        values: dict[str, Any] = {
            "first_name": first,
            "surname": last,
            "email": address(self, "guests", f"{first}.{last}", mail_host or self.pick(*MAIL_HOSTS)),
            "phone": self._filled(home.phone),
            "postcode": self._filled(home.postcode),
            "birth_date": date(self.between(1953, 2008), self.between(1, 12), self.between(1, 28)).isoformat(),
            "city": home.city,
            "authorised_contact": authorised_contact,
            "last_goodwill_on": last_goodwill_on,
        }
        profile = self.insert(Guest, **(values | columns))
        member: Record | None = None
        if account if account is not None else tier != "standard":
            member = self.insert(
                LoyaltyAccount,
                guest_id=profile.id,
                tier=tier,
                joined_on=joined_on or self.day(-self.between(400, 2_500)),
                nights=0,
                points=0,
            )
        return Person(profile, member)

    def person(self, guest_id: str) -> Person:
        """A guest who is there already, of the seed or placed."""
        accounts = self.all(LoyaltyAccount, guest_id=guest_id)
        return Person(self.get(Guest, guest_id), accounts[0] if accounts else None)

    def lookalike(self, guest: Person, *, tier: Tier = "standard", same_name: bool = False, **columns: Any) -> Person:
        """Another person who is easily taken for `guest`: same surname, city and mail host, a similar first name."""
        first = guest.first_name if same_name else self.similar_name(guest.first_name)
        host = guest.email.partition("@")[2]
        return self.guest(
            tier=tier, first_name=first, surname=guest.surname, city=guest.city, mail_host=host, **columns
        )

    def similar_name(self, first_name: str) -> str:
        """A first name that is easily taken for this one."""
        return _NAMES.like(self, first_name)

    def other_name(self, guest: Person) -> str:
        """Full name of somebody who is not this guest, e.g. an assistant or a fellow traveller."""
        return _NAMES.other(self, guest.first_name, guest.surname)

    def other_phone(self, guest: Person) -> str:
        """A phone number of the same country that is not the one on file."""
        home = next((h for h in HOMES if h.city == guest.city), HOMES[0])
        while True:
            phone = self._filled(home.phone)
            if phone != guest.phone:
                return phone

    def _filled(self, pattern: str) -> str:
        return "".join(
            str(self.between(0, 9)) if c == "#" else self.pick(*_LETTERS) if c == "@" else c for c in pattern
        )
