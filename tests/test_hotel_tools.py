"""The hotel's tools, called as an agent calls them: figures, cascades that keep the laws, refusals without a trace."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast, get_args

import pytest

from tb_envs.authoring.toolset import Tool
from tb_envs.episode import drive
from tb_envs.registration import load_domain
from tb_envs.session.local import LocalBackend
from tb_envs.store.image import build_pages
from tb_envs.store.journal import RowChange, net_diff
from tb_envs.task import Task
from tb_hotel import models
from tb_hotel.tools import TOOLSETS, _kinds

DOMAIN = load_domain("hotel")
TOOLS: dict[str, Tool] = {tool.name: tool for toolset in TOOLSETS for tool in toolset.tools.values()}
NOW = "2031-05-14T15:00:00Z"


class Desk:
    """A company with one guest's stays in it, and the tools to work on them."""

    def __init__(self) -> None:
        w: Any = DOMAIN.world(DOMAIN.specs, stream=("hotel", "tools", 0), now=NOW, base=DOMAIN.seed_rows)
        self.w = w
        self.guest = w.guest(
            tier="gold", surname="Öster", first_name="Ida", phone="+44 7700 900 123", postcode="LS1 4AB"
        )
        self.other = w.guest()
        self.firm = w.corporate_account(discount=12, covers="full_board")
        vienna = {"property": "VIE", "room_type": "STD", "arrival": w.day(2), "nights": 2, "room": True}
        lisbon = {"property": "LIS", "room_type": "SUP", "arrival": w.day(6), "nights": 3}
        self.ahead = w.booking(self.guest, "SEMI", **lisbon)
        self.twin = w.booking(self.guest, "FLEX", **lisbon)
        self.business = w.booking(self.guest, "CORP", corporate=self.firm, **vienna)
        self.now_here = w.booking(self.guest, "FLEX", status="in_house", arrival=w.day(-1), nights=4)
        self.gone = w.booking(self.guest, "FLEX", status="checked_out", arrival=w.day(-6), nights=2)
        self.minibar = w.charge(self.now_here.folio, "minibar", 30_00)
        self.group = w.group_block(self.guest, contracted=12, name="50% Percent Club")
        self.ticket = w.ticket(self.guest, "cancellation", stay=self.ahead)
        self.closed = w.ticket(self.guest, "loyalty", status="closed", outcome="no_action", reason="already_done")
        w.make_free("LIS", "SUP", w.day(6), 6)
        w.make_free("LIS", "DLX", w.day(6), 3)
        w.make_free("LIB", "SUP", w.day(6), 3)
        w.sell_out("VIN", "STD", w.day(2), 1)
        w.make_free("VIN", "SUP", w.day(2), 2)
        w.room_block(self.business.booking.room_id, "unusable", w.day(3), w.day(5))
        w.manager_answers(self.ahead, "denied")
        scenario = SimpleNamespace(tool_faults=())
        task = SimpleNamespace(
            domain=DOMAIN,
            tools=DOMAIN.tools,
            articles=DOMAIN.articles,
            pages=build_pages(DOMAIN.image, w),
            now=NOW,
            scenario=scenario,
        )
        self.backend = LocalBackend(cast(Task, task))
        self.changes: list[RowChange] = []

    def call(self, tool: str, **arguments: Any) -> Any:
        result = drive(self.backend.call(tool, arguments))
        assert result.ok, result.text
        return result.data

    def refused(self, tool: str, **arguments: Any) -> str:
        self.changes += self.backend.take_changes()
        before = self.backend.dump()
        result = drive(self.backend.call(tool, arguments))
        assert not result.ok, result.text
        assert self.backend.dump() == before and not self.backend.take_changes()
        return result.data["error"]["message"]

    def touched(self) -> dict[str, int]:
        """Table → rows changed since the last look; every law of the company holds."""
        for name, law in DOMAIN.laws.items():
            assert self.backend.store.raw.execute(law).fetchall() == [], name
        counts: dict[str, int] = {}
        changes, self.changes = self.changes + self.backend.take_changes(), []
        for change in net_diff(changes):
            counts[change.table] = counts.get(change.table, 0) + 1
        return counts

    def free(self, property_id: str, room_type_id: str, first: int, last: int) -> list[int]:
        nights = {"first_night": self.w.day(first), "last_night": self.w.day(last)}
        prices = self.call("get_public_prices", property_id=property_id, room_type_id=room_type_id, **nights)
        return [night["free"] for night in prices["items"]]


@pytest.fixture
def desk() -> Iterator[Desk]:
    made = Desk()
    yield made
    made.backend.close()


def keys_of(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from keys_of(item)
    elif isinstance(value, list):
        for item in value:
            yield from keys_of(item)


def test_every_tool_is_flat_and_documented() -> None:
    assert [tool.effect for tool in TOOLS.values()].count("read") == 34
    assert [tool.effect for tool in TOOLS.values()].count("write") == 23
    for tool in TOOLS.values():
        assert tool.description.endswith("."), tool.name
        for name, schema in tool.schema["properties"].items():
            assert schema.get("type") in ("string", "integer", "number"), (tool.name, name)
            assert len(schema["description"]) > 10, (tool.name, name)


def test_enumerations_are_those_of_the_models() -> None:
    assert {*get_args(get_args(_kinds.SentTemplate)[0])} == {*get_args(models.Template)} - {"none"}
    assert {*get_args(get_args(_kinds.AddedEntryKind)[0])} == {*get_args(models.LoyaltyKind)} - {"stay"}


def test_reads_write_nothing_and_cover_every_read_tool(desk: Desk) -> None:
    w, guest, stay = desk.w, desk.guest.id, desk.ahead.id
    account, mail = desk.guest.account.id, desk.guest.email.upper()
    lisbon, month = {"property_id": "LIS"}, {"first_night": w.day(0), "last_night": w.day(30)}
    reads: dict[str, dict[str, Any]] = {
        "get_time": {},
        "search_guests": {"surname": "ÖSTER", "phone": "447700900123", "postcode": "ls14ab", "email": mail},
        "get_guest": {"guest_id": guest.lower()},
        "list_guest_notes": {"guest_id": guest, "kind": "Goodwill"},
        "list_messages": {"guest_id": guest, "booking_id": stay, "direction": "inbound"},
        "list_identity_checks": {"guest_id": guest, "page": 2},
        "get_property": lisbon,
        "list_properties": {"city": "lisbon"},
        "list_room_types": {},
        "get_rate_plan": {"rate_plan_id": "semi"},
        "search_bookings": {**lisbon, "status": "confirmed", "arrival_from": w.day(1), "arrival_to": w.day(30)},
        "get_booking": {"booking_id": stay},
        "quote_cancellation": {"booking_id": stay},
        "quote_date_change": {"booking_id": stay, "arrival": w.day(7), "departure": w.day(10)},
        "quote_room_change": {"booking_id": stay, "room_type_id": "DLX"},
        "quote_early_departure": {"booking_id": desk.now_here.id, "departure": w.day(1)},
        "quote_late_checkout": {"booking_id": desk.now_here.id},
        "quote_relocation": {"booking_id": desk.business.id},
        "list_room_blocks": {"room_id": desk.business.booking.room_id, "from_night": w.day(2)},
        "compare_names": {"booking_id": stay, "new_name": "Ida Oster"},
        "get_public_prices": {**lisbon, "room_type_id": "STD", **month},
        "get_partner": {"partner_id": w.partner("hotel").id},
        "get_folio": {"folio_id": desk.now_here.folio.id},
        "list_refunds": {"payment_id": desk.ahead.payment.id},
        "get_loyalty_account": {"loyalty_account_id": account},
        "list_loyalty_entries": {"loyalty_account_id": account, "booking_id": desk.gone.id},
        "get_corporate_account": {"corporate_account_id": desk.firm.id},
        "search_group_blocks": {"name": "50% per", "organiser_id": guest},
        "get_group_block": {"group_block_id": desk.group.id},
        "search_tickets": {"guest_id": guest, "status": "open"},
        "get_ticket": {"ticket_id": desk.ticket.id},
        "get_approval": {"approval_id": next(iter(DOMAIN.seed_rows["approvals"]))},
        "search_articles": {"query": "late check-out price"},
        "get_article": {"article_id": "kb-03"},
    }
    assert {*reads} == {name for name, tool in TOOLS.items() if tool.effect == "read"}
    before = desk.backend.dump()
    results = {name: desk.call(name, **arguments) for name, arguments in reads.items()}
    assert desk.backend.dump() == before and not desk.touched()
    assert not [key for key in keys_of(results) if key == "id" or key.endswith("_cents")]
    assert [row["guest_id"] for row in results["search_guests"]["items"]] == [guest]
    assert results["search_group_blocks"]["total"] == results["search_tickets"]["total"] == 1
    assert results["list_identity_checks"] == {"items": [], "page": 2, "pages": 1, "total": 0}
    assert results["get_booking"]["folio_ids"] == [desk.ahead.folio.id]
    assert len(results["get_public_prices"]["items"]) == 31
    assert results["search_articles"]["items"][0]["article_id"] == "KB-03"


def test_quotes_show_the_figures_the_rules_use(desk: Desk) -> None:
    w = desk.w
    quote = desk.call("quote_cancellation", booking_id=desk.business.id)
    assert quote["notice_minutes"] == 48 * 60
    assert quote["age_minutes"] == desk.business.age(w.now).total_seconds() // 60
    assert float(quote["paid"]) * 100 == pytest.approx(desk.business.paid)
    moved = desk.call("quote_date_change", booking_id=desk.business.id, arrival=w.day(3), departure=w.day(5))
    public = [w.price("VIE", "STD", w.day(n)) for n in (3, 4)]
    assert [night["price"] for night in moved["nights"]] == [f"{(p * 88 + 50) // 100 / 100:.2f}" for p in public]
    better = desk.call("quote_room_change", booking_id=desk.ahead.id, room_type_id="DLX")
    nights = [w.day(n) for n in (6, 7, 8)]
    difference = sum(w.price("LIS", "DLX", night) - w.price("LIS", "SUP", night) for night in nights)
    assert (better["difference"], better["nights"], better["available"]) == (f"{difference / 100:.2f}", 3, True)
    sister = desk.call("quote_relocation", booking_id=desk.business.id)
    assert sister["room_unusable"] and (sister["sister_property_id"], sister["sister_room_type_id"]) == ("VIN", "SUP")
    assert not desk.call("quote_late_checkout", booking_id=desk.now_here.id)["room_needed"]


def test_giving_up_a_stay_releases_it_and_moves_no_money(desk: Desk) -> None:
    before = desk.free("LIS", "SUP", 6, 8)
    cancelled = desk.call("cancel_booking", booking_id=desk.ahead.id, reason="guest request")
    assert {night["status"] for night in cancelled["nights"]} == {"released"}
    assert desk.touched() == {"bookings": 1, "booking_nights": 3, "inventory_nights": 3, "loyalty_entries": 1}
    desk.refused("void_duplicate_booking", booking_id=desk.twin.id, keep_booking_id=desk.ahead.id)
    assert desk.free("LIS", "SUP", 6, 8) == [free + 1 for free in before]


def test_a_duplicate_is_voided(desk: Desk) -> None:
    voided = desk.call("void_duplicate_booking", booking_id=desk.twin.id, keep_booking_id=desk.ahead.id)
    assert (voided["status"], voided["duplicate_of"]) == ("voided", desk.ahead.id)
    assert desk.touched() == {"bookings": 1, "booking_nights": 3, "inventory_nights": 3, "loyalty_entries": 1}


def test_dates_move_as_quoted_and_back_again(desk: Desk) -> None:
    w, before = desk.w, desk.free("LIS", "SUP", 6, 10)
    for days in ((8, 11), (6, 9), (7, 8)):
        dates = {"arrival": w.day(days[0]), "departure": w.day(days[1])}
        quote = desk.call("quote_date_change", booking_id=desk.ahead.id, **dates)
        moved = desk.call("change_dates", booking_id=desk.ahead.id, **dates)
        assert moved["total"] == quote["new_total"]
        booked = [{k: n[k] for k in ("night", "price")} for n in moved["nights"] if n["status"] == "booked"]
        assert booked == quote["nights"]
        assert desk.touched()["bookings"] == 1
    assert moved["change_count"] == 3
    assert desk.free("LIS", "SUP", 6, 10) == [before[0] + 1, before[1], before[2] + 1, *before[3:]]


def test_a_better_room_keeps_the_prices_sold(desk: Desk) -> None:
    old, new = desk.free("LIS", "SUP", 6, 8), desk.free("LIS", "DLX", 6, 8)
    changed = desk.call("change_room_type", booking_id=desk.ahead.id, room_type_id="DLX")
    assert (changed["room_type_id"], changed["room_id"]) == ("DLX", None)
    assert float(changed["total"]) * 100 == pytest.approx(desk.ahead.total)
    assert desk.touched() == {"bookings": 1, "inventory_nights": 6}
    assert desk.free("LIS", "SUP", 6, 8) == [n + 1 for n in old] and desk.free("LIS", "DLX", 6, 8) == [
        n - 1 for n in new
    ]


def test_a_stay_is_shortened(desk: Desk) -> None:
    shorter = desk.call("shorten_stay", booking_id=desk.now_here.id, departure=desk.w.day(1))
    assert float(shorter["total"]) * 100 == pytest.approx(sum(desk.now_here.prices[:2]))
    assert desk.touched() == {"bookings": 1, "booking_nights": 2, "inventory_nights": 2, "loyalty_entries": 1}
    account = desk.guest.account.id
    entries = desk.call("list_loyalty_entries", loyalty_account_id=account, booking_id=desk.now_here.id)["items"]
    assert [(entry["status"], entry["nights"]) for entry in entries] == [("pending", 2)]


def test_a_guest_is_relocated(desk: Desk) -> None:
    arguments = {"booking_id": desk.business.id, "property_id": "VIN"}
    assert "No room is free" in desk.refused("relocate_booking", **arguments, room_type_id="STD")
    moved = desk.call("relocate_booking", **arguments, room_type_id="SUP")
    assert (moved["status"], moved["relocated_to"]) == ("relocated", "VIN")
    assert desk.touched() == {"bookings": 1, "booking_nights": 2, "inventory_nights": 4}


def test_group_rooms_return_to_sale(desk: Desk) -> None:
    block = desk.call("release_group_rooms", group_block_id=desk.group.id, rooms="3")
    assert (block["held"], block["released"], block["folio_id"]) == (9, 3, desk.group.folio.id)
    assert desk.touched() == {"group_blocks": 1, "inventory_nights": desk.group.nights}
    assert "holds 9" in desk.refused("release_group_rooms", group_block_id=desk.group.id, rooms=10)


def test_money_and_points_up_to_what_is_there(desk: Desk) -> None:
    folio, payment, account = desk.now_here.folio.id, desk.now_here.payment, desk.guest.account.id
    assert desk.call("post_charge", folio_id=folio, kind="late_checkout", amount="$40")["amount"] == "40.00"
    desk.call("waive_charge", charge_id=desk.minibar.id, amount=10, reason="dispute")
    assert desk.call("waive_charge", charge_id=desk.minibar.id, amount="20.00", reason="dispute")["waived"] == "30.00"
    assert "only 0.00" in desk.refused("waive_charge", charge_id=desk.minibar.id, amount=0.01, reason="dispute")
    desk.call("refund_payment", payment_id=payment.id, amount=1, reason="dispute")
    whole = f"{payment.amount_cents / 100:.2f}"
    assert "left to refund" in desk.refused("refund_payment", payment_id=payment.id, amount=whole, reason="dispute")
    company = desk.call("open_company_folio", booking_id=desk.business.id, corporate_account_id=desk.firm.id)[
        "folio_id"
    ]
    assert "same booking" in desk.refused("move_charge", charge_id=desk.minibar.id, to_folio_id=company)
    balance = desk.call("get_loyalty_account", loyalty_account_id=account)
    correction = {"booking_id": desk.gone.id, "kind": "correction", "nights": 1, "points": 250}
    desk.call("add_loyalty_entry", loyalty_account_id=account, **correction)
    after = desk.call("get_loyalty_account", loyalty_account_id=account)
    assert (after["nights"], after["points"]) == (balance["nights"] + 1, balance["points"] + 250)
    shown = desk.call("get_folio", folio_id=folio)
    assert sum(float(charge["amount"]) - float(charge["waived"]) for charge in shown["charges"]) == pytest.approx(
        float(shown["charges_total"])
    )
    assert desk.touched() == {"charges": 2, "refunds": 1, "folios": 1, "loyalty_entries": 1, "loyalty_accounts": 1}


@pytest.mark.parametrize(
    ("facts", "counts"),
    [
        ({"booking_id": "ahead", "email": "email", "phone": "44 7700-900123"}, (3, 3, "passed")),
        ({"postcode": "ls1 4ab", "birth_date": "birth_date"}, (2, 2, "passed")),
        ({"email": "email", "phone": "+44 7700 900 124"}, (2, 1, "failed")),
        ({"email": "email", "booking_id": "BK-1"}, (2, 1, "failed")),
        ({"email": "email", "surname": "Ostermann"}, (1, 0, "failed")),
        ({"phone": " "}, (0, 0, "failed")),
    ],
)
def test_identity(desk: Desk, facts: dict[str, str], counts: tuple[int, int, str]) -> None:
    known = {"ahead": desk.ahead.id, "email": desk.guest.email.title(), "birth_date": desk.guest.birth_date}
    named = {"surname": "öster", **{name: known.get(value, value) for name, value in facts.items()}}
    check = desk.call("check_identity", guest_id=desk.guest.id, caller="guest", **named)
    assert (check["facts_given"], check["facts_matched"], check["result"]) == counts
    assert desk.touched() == {"identity_checks": 1}


def test_the_managers_answer_is_read_not_told(desk: Desk) -> None:
    asked = desk.call("request_approval", booking_id=desk.ahead.id, kind="refund", amount="612.50")
    assert asked == {"approval_id": "AP-90001", "state": "submitted"}
    assert desk.call("get_approval", approval_id="AP-90001")["decision"] == "denied"
    assert "AP-90001" in desk.refused("request_approval", booking_id=desk.ahead.id, kind="refund", amount=1)
    asked = desk.call("request_approval", booking_id=desk.ahead.id, kind="waiver", amount=20)
    assert desk.call("get_approval", **{"approval_id": asked["approval_id"]})["decision"] == "pending"


def test_tickets_close_for_good(desk: Desk) -> None:
    opened = desk.call("open_ticket", guest_id=desk.guest.id, topic="Late-checkout", summary="Until 14:00.")
    assert (opened["ticket_id"], opened["team"], opened["status"]) == ("TK-90001", "front_desk", "open")
    desk.call("update_ticket", ticket_id="TK-90001", status="closed", outcome="completed", reason="within_policy")
    assert "is closed" in desk.refused("update_ticket", ticket_id="TK-90001", status="open")
    desk.call("add_ticket_comment", ticket_id="TK-90001", body="Done.")
    assert [row["body"] for row in desk.call("get_ticket", ticket_id="TK-90001")["comments"]] == ["Done."]


def test_refusals_say_why_and_leave_no_trace(desk: Desk) -> None:
    w, stay, here = desk.w, desk.ahead.id, desk.now_here.id
    far = {"arrival": "2033-01-01", "departure": "2033-01-03"}
    lisbon, many = {"property_id": "LIS", "room_type_id": "STD"}, {"first_night": w.day(0), "last_night": w.day(31)}
    mine = {"loyalty_account_id": desk.guest.account.id, "booking_id": stay, "kind": "correction"}
    wrong = {"guest_id": desk.other.id, "template": "change_confirmed", "booking_id": stay}
    for tool, arguments, words in [
        ("get_booking", {"booking_id": "BK-1"}, "no booking 'BK-1'"),
        ("list_guest_notes", {"guest_id": "GS-1"}, "no guest 'GS-1'"),
        ("search_bookings", {"property_id": "XXX"}, "no property 'XXX'"),
        ("search_guests", {}, "at least one"),
        ("get_public_prices", {**lisbon, **many}, "31 nights"),
        ("cancel_booking", {"booking_id": here, "reason": "guest_request"}, "is in_house"),
        ("quote_cancellation", {"booking_id": here}, "is in_house"),
        ("change_dates", {"booking_id": stay, "arrival": w.day(9), "departure": w.day(9)}, "not after"),
        ("change_dates", {"booking_id": stay, **far}, "not on sale"),
        ("change_dates", {"booking_id": stay, "arrival": "14 May", "departure": w.day(9)}, "YYYY-MM-DD"),
        ("change_room_type", {"booking_id": stay, "room_type_id": "SUP"}, "already"),
        ("shorten_stay", {"booking_id": here, "departure": w.day(3)}, "not between"),
        ("set_late_checkout", {"booking_id": here, "hour": 11}, "`hour`"),
        ("void_duplicate_booking", {"booking_id": stay, "keep_booking_id": desk.business.id}, "`property_id`"),
        ("relocate_booking", {"booking_id": stay, "property_id": "VIE", "room_type_id": "STD"}, "Lisbon"),
        ("open_company_folio", {"booking_id": stay, "corporate_account_id": desk.firm.id}, "no corporate account"),
        ("post_charge", {"folio_id": desk.gone.folio.id, "kind": "pet", "amount": 5}, "is settled"),
        ("post_charge", {"folio_id": desk.ahead.folio.id, "kind": "pet", "amount": 0}, "more than 0.00"),
        ("post_charge", {"folio_id": desk.ahead.folio.id, "kind": "pet", "amount": "5 EUR"}, "`amount`"),
        ("send_message", wrong, "not a booking of"),
        ("send_message", {**wrong, "template": "none"}, "one of cancellation_confirmed"),
        ("update_ticket", {"ticket_id": desk.closed.id, "team": "finance"}, "is closed"),
        ("update_ticket", {"ticket_id": desk.ticket.id}, "at least one"),
        ("add_loyalty_entry", {**mine, "nights": 0, "points": 0}, "both 0"),
    ]:
        assert words in desk.refused(tool, **arguments), tool


@pytest.mark.parametrize("sign", ["%", "_", "%%", "*", "' OR 1=1 --", "50_ Percent", "\\%"])
def test_signs_in_a_search_are_plain_signs(desk: Desk, sign: str) -> None:
    for field in ("surname", "phone", "postcode", "email"):
        assert desk.call("search_guests", **{field: sign})["total"] == 0
    assert desk.call("list_properties", city=sign)["total"] == 0
    if any(letter.isalnum() for letter in sign):
        assert desk.call("search_group_blocks", name=sign)["total"] == 0
    else:
        assert "part of the name" in desk.refused("search_group_blocks", name=sign)
