"""Builders of people: customers, their devices and passcodes, and near duplicates of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from tb_banking.models import Customer, Device, Passcode, PasscodeRule
from tb_banking.models.kinds import DeviceStatus, KycStatus, PasscodeStatus, Segment
from tb_banking.world.clock import Clock
from tb_banking.world.names import FIRST_NAMES, HOMES, MAIL_HOSTS, SIMILAR_NAMES, SURNAMES
from tb_envs.authoring import DomainError, Record
from tb_envs.parts.people import Names, address

_NAMES = Names(FIRST_NAMES, SURNAMES, SIMILAR_NAMES)

_DEVICES = (
    "Phone, blue case", "Phone, work", "Phone", "Old phone", "Tablet", "Tablet in the kitchen", "Second phone",
    "Phone with cracked glass", "Family tablet", "Travel phone",
)  # fmt: skip


@dataclass(frozen=True)
class Phone:
    """A device of a customer, and the code that it shows when one is sent to it."""

    record: Record
    code: str

    @property
    def id(self) -> str:
        """The device id."""
        return self.record.id

    @property
    def name(self) -> str:
        """What its owner calls it."""
        return self.record.name


@dataclass(frozen=True)
class Person:
    """A customer, and the trusted device if there is one. The profile's columns are at hand: ``person.email``."""

    profile: Record
    trusted: Phone | None = None

    @property
    def device(self) -> Phone:
        """The device that has been trusted for long."""
        if self.trusted is None:
            raise DomainError(f"{self.name} has no trusted device")
        return self.trusted

    @property
    def id(self) -> str:
        """The customer id."""
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

    @property
    def segment(self) -> Segment:
        """The segment on file."""
        return self.profile.segment


class People(Clock):
    """Customers and devices."""

    def customer(
        self,
        *,
        segment: Segment = "basic",
        kyc: KycStatus = "verified",
        first_name: str | None = None,
        surname: str | None = None,
        city: str | None = None,
        mail_host: str | None = None,
        age: int | None = None,
        birth_date: str | None = None,
        device: Literal["trusted"] | None = "trusted",
        **columns: Any,
    ) -> Person:
        """A customer with a profile and, unless `device` is None, a device that has been trusted for months.

        Args:
            segment: of the profile.
            kyc: the state of the papers.
            first_name: drawn if not given, as are surname (one that others of the seed have too), city and mail host.
            surname: as above.
            city: one of `names.HOMES`.
            mail_host: the part of the address behind the @.
            age: full years today; drawn 23 to 78.
            birth_date: instead of `age`.
            device: ``"trusted"`` or None.
            columns: any other column of the profile.
        """
        home = next((h for h in HOMES if h.city == city), None) or self.pick(*HOMES)
        first = first_name or self.pick(*FIRST_NAMES)
        last = surname or self.pick(*SURNAMES)
        years = age if age is not None else self.between(23, 78)
        values: dict[str, Any] = {
            "first_name": first,
            "surname": last,
            "email": address(self, "customers", f"{first[0]}.{last}", mail_host or self.pick(*MAIL_HOSTS)),
            "phone": self._unused(home.phone, "phone"),
            "postcode": self._digits(home.postcode),
            "city": home.city,
            "birth_date": birth_date or self.birthday(years, -self.between(20, 340)),
            "segment": segment,
            "kyc_status": kyc,
            "since": self.day(-self.between(500, 2_600)),
        }
        person = Person(self.insert(Customer, **(values | columns)))
        return Person(person.profile, self.device(person)) if device else person

    def person(self, customer_id: str) -> Person:
        """A customer who is there already, of the seed or placed, with the longest trusted device."""
        trusted = sorted(self.all(Device, customer_id=customer_id, status="trusted"), key=lambda d: d.registered_at)
        phone = Phone(trusted[0], self.all(PasscodeRule, device_id=trusted[0].id)[0].code) if trusted else None
        return Person(self.get(Customer, customer_id), phone)

    def device(
        self,
        person: Person,
        *,
        status: DeviceStatus = "trusted",
        days: int | None = None,
        minutes: int | None = None,
        code: str | None = None,
        name: str | None = None,
    ) -> Phone:
        """A phone or tablet with the bank's app, registered 90 to 1,400 days ago if not said.

        Args:
            person: whose it is.
            status: new, trusted or revoked.
            days: how long ago it was registered.
            minutes: further minutes; the moment is then exact.
            code: the six digits that it shows when a passcode is sent to it; drawn if not given.
            name: what its owner calls it; one that the person has not used yet if not given.
        """
        used = {device.name for device in self.all(Device, customer_id=person.id)}
        if days is None and minutes is None:
            days = self.between(90, 1_400)
        record = self.insert(
            Device,
            customer_id=person.id,
            name=name or self.pick(*(n for n in _DEVICES if n not in used)),
            status=status,
            registered_at=self.ago(days or 0, minutes=minutes),
        )
        self.known_since(person, record.registered_at[:10])
        shown = code or self._digits("######")
        self.insert(PasscodeRule, device_id=record.id, code=shown)
        return Phone(record, shown)

    def known_since(self, person: Person, day: str) -> None:
        """The person is a customer since this day or longer: nothing of theirs is older than the profile."""
        if day < self.get(Customer, person.id).since:
            self.update(Customer, person.id, since=day)

    def passcode(
        self,
        person: Person,
        device: Phone | None = None,
        *,
        status: PasscodeStatus = "confirmed",
        days: int | None = None,
        minutes: int | None = None,
    ) -> Record:
        """A code of an earlier conversation, sent to one of the person's devices; 2 to 200 days ago if not said."""
        phone = device or person.device
        if phone.record.customer_id != person.id:
            raise DomainError(f"device {phone.id} is not one of {person.name}")
        if days is None and minutes is None:
            days = self.between(2, 200)
        at = max(self.ago(days or 0, minutes=minutes), phone.record.registered_at)
        return self.insert(Passcode, customer_id=person.id, device_id=phone.id, status=status, sent_at=at)

    def lookalike(
        self, person: Person, *, segment: Segment | None = None, same_name: bool = False, **columns: Any
    ) -> Person:
        """Another customer who is easily taken for `person`: same surname, city and mail host, a similar first name."""
        first = person.first_name if same_name else _NAMES.like(self, person.first_name)
        host = person.email.partition("@")[2]
        return self.customer(
            segment=segment or person.segment,
            first_name=first,
            surname=person.surname,
            city=person.city,
            mail_host=host,
            **columns,
        )

    def other_name(self, person: Person) -> str:
        """Full name of somebody who is not this customer."""
        return _NAMES.other(self, person.first_name, person.surname)

    def other_phone(self, person: Person) -> str:
        """A phone number of the same city that nobody has on file."""
        home = next((h for h in HOMES if h.city == person.city), HOMES[0])
        return self._unused(home.phone, "phone")

    # -- inside

    def _unused(self, pattern: str, column: str) -> str:
        used = self.taken(Customer, column)
        for _ in range(1_000):
            if (found := self._digits(pattern)) not in used:
                return found
        raise DomainError(f"every {column} like {pattern} is taken")
