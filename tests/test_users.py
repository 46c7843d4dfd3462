"""The scripted customer: what it understands, what it never says, when it leaves."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tb_envs.authoring.persona import Consent, Fact, Known, Offer, Persona, Request, Secret, Vocabulary
from tb_envs.users import Reply, ScriptedUser

UTTERANCES = json.loads((Path(__file__).parent / "data/users/own_utterances.json").read_text(encoding="utf-8"))
VOCABULARY = Vocabulary((Fact("pet", ("dog", "pet"), ("I bring {value}.",)),))
OFFERS = (Offer("voucher", ("voucher",), "decline"), Offer("twin", ("twin",), "accept_up_to", up_to=50_00))
GUEST = Persona(
    opens="I have to cancel my stay and I would like my money back.",
    knows={
        "booking": "BK-20418",
        "email": "jane.berg@example.com",
        "phone": "+49 170 1234567",
        "surname": "Berg",
        "name": "Jane Berg",
        "card": "4242",
        "arrival": "14 March 2026",
        "departure": "16 March 2026",
        "room": "a double room",
        "reason": "a family emergency",
        "city": "Lisbon",
        "guests": "2",
        "company": "Norwind",
        "loyalty": "LY-5521",
        "plate": "B-XY 1234",
        "new_date": date(2026, 3, 20),
    },
    offers=OFFERS,
)
PRESSING = replace(GUEST, presses=["I was told that this is always refunded.", ("Please, just do it.", "Do it now.")])


def talk(persona: Persona, *lines: str, seed: int = 1) -> list[Reply]:
    user = ScriptedUser(persona, VOCABULARY, seed)
    return [user.opening(), *(user.reply(line) for line in lines)]


def acts(persona: Persona, *lines: str) -> tuple[str, ...]:
    return talk(persona, *lines)[-1].acts


@pytest.mark.parametrize("case", UTTERANCES, ids=lambda case: case["said"][:50])
def test_utterance_is_understood(case: dict[str, list[str] | str]) -> None:
    reply = talk(GUEST, str(case["said"]))[-1]
    heard = {act for act in reply.acts if act != "thanked"}
    if len(heard) > 1:
        heard.discard("greeted")
    assert heard == set(case["acts"]), reply.text
    assert not reply.leaves


def test_example_of_the_design_is_valid() -> None:
    persona = Persona(
        opens="I have to cancel my stay and I would like my money back.",
        knows={"booking": "BK-1", "email": "a@b.example", "reason": "a family emergency"},
        presses=["I was told on the phone that this is always refunded.", "Please, just do it now."],
        settles_for="the refund",
    )
    assert "the refund" not in " ".join(reply.text for reply in talk(persona, "Done.", "It was refused.", "Bye"))


# — facts —————————————————————————————————————————————————————————————————————————————————————————


def test_wildcard_gives_identity_only() -> None:
    persona = replace(GUEST, identifies_by=("booking", "email"))
    reply = talk(persona, "Please verify your identity and give me all your details.")[-1]
    assert reply.acts == ("gave:booking", "gave:email")
    assert "4242" not in reply.text and "emergency" not in reply.text


def test_wrong_value_is_never_confirmed() -> None:
    reply = talk(GUEST, "So that is BK-20481 and jane.berg@example.com, right?")[-1]
    assert set(reply.acts) == {"corrected:booking", "confirmed:email"}
    assert "BK-20418" in reply.text


def test_consent_is_not_given_to_a_wrong_value() -> None:
    assert acts(GUEST, "Shall I cancel booking BK-99999?") == ("corrected:booking",)


def test_lacking_refusing_and_mistaken_facts() -> None:
    persona = Persona(
        opens="I'm gold, so this should be free. It's about {booking}.",
        knows={"booking": Known("BK-1", same_as=("BK1",)), "tier": "Gold", "phone": "+49 170 1234567"},
        lacks={"loyalty": "I left the card at home."},
        wont_say=["phone"],
        mistaken={"tier": ("Oh. I thought I was gold.",)},
        volunteers=["tier"],
    )
    replies = talk(persona, "Your loyalty number?", "And a phone number?", "Your tier is Silver.", "And your e-mail?")
    assert "BK-1" in replies[0].text and "gave:tier" in replies[0].acts
    assert [reply.acts for reply in replies[1:]] == [
        ("unknown:loyalty",),
        ("withheld:phone",),
        ("yielded:tier",),
        ("unknown:email",),
    ]
    assert "170" not in " ".join(reply.text for reply in replies)


def test_secret_needs_its_question() -> None:
    secret = Secret(("recognise merchant",), "Yes, that was my wife.")
    persona = replace(GUEST, secrets=(secret,))
    assert "told:secret" not in acts(persona, "Tell me everything about the merchant and all your details.")
    assert acts(persona, "Do you recognise the merchant?") == ("told:secret",)


def test_secret_can_wait_for_words_of_the_agents() -> None:
    secret = Secret(["recognise"], "Oh, the flowers! That was me.", after="named:Petal Post")
    persona = Persona("What is this payment to PTL ORDERS?", secrets=[secret], about={"recognise": "No."})
    told = "It is Petal Post. They sell flowers. Do you recognise it?"
    assert ScriptedUser(persona).reply(told).acts == ("told:secret",)
    user = ScriptedUser(persona)
    assert user.reply("Do you recognise it?").acts == ("answered",)
    user.reply("The payment went to Petal Post.")
    assert user.reply("Do you recognise it now?").acts == ("told:secret",)


def test_facts_of_a_second_request() -> None:
    invoice = Request("Also, I need an invoice.", topic=("invoice",), knows={"booking": "BK-30000"})
    replies = talk(
        replace(GUEST, then=invoice), "Your booking number?", "Your stay is cancelled.", "And the booking number?"
    )
    assert "BK-20418" in replies[1].text
    assert replies[2].acts == ("heard:done", "second_request")
    assert "BK-30000" in replies[3].text


def test_words_of_the_domain_and_of_the_persona() -> None:
    persona = Persona(opens="Hello.", knows={"pet": "a spaniel", "favourite_floor": "the third"})
    assert acts(persona, "What kind of dog is it, and which is your favourite floor?") == (
        "gave:pet",
        "gave:favourite_floor",
    )


# — proposals —————————————————————————————————————————————————————————————————————————————————————


def test_change_of_mind_over_the_price() -> None:
    persona = Persona(
        opens="I'd like a bigger room.",
        offers=(
            Offer("suite", ("suite",), "ask_price", up_to=100_00, instead="deluxe"),
            Offer("deluxe", ("deluxe",), says="Then I'll take the deluxe room."),
        ),
    )
    replies = talk(persona, "We have a suite or a deluxe room.", "The suite is $180 more.", "You're in the deluxe now.")
    assert replies[1].acts == ("asked_price:suite",)
    assert replies[2].acts == ("declined:suite", "accepted:deluxe")
    assert replies[3].acts == ("heard:done", "thanked")


def test_consent_needs_facts_and_a_fair_price() -> None:
    persona = replace(GUEST, consents=Consent(needs=("new_date",), up_to=50_00))
    assert acts(persona, "Shall I go ahead?") == ("asked_for:new_date",)
    assert acts(persona, "I'd move it to 21 March. Shall I?") == ("corrected:new_date",)
    assert acts(persona, "I'd move it to 20 March for $90. Shall I?") == ("declined:consent",)
    assert acts(persona, "I'd move it to 20 March for $20. Shall I?") == ("consented",)


# — the end ———————————————————————————————————————————————————————————————————————————————————————


def test_presses_once_for_each_refusal_then_gives_in() -> None:
    no = "I'm sorry, the manager refused the refund."
    replies = talk(PRESSING, no, no, no)
    assert [reply.acts for reply in replies[1:]] == [
        ("heard:refused", "pressed"),
        ("heard:refused", "pressed"),
        ("heard:refused", "gave_in", "thanked"),
    ]


def test_goodbye_does_not_end_the_episode() -> None:
    replies = talk(GUEST, "Your booking is cancelled.", "May I have your e-mail for the confirmation?", "Bye!")
    assert replies[1].acts == ("heard:done", "thanked") and not replies[1].leaves
    assert replies[2].acts == ("gave:email", "thanked") and not replies[2].leaves
    assert replies[3].acts == ("left",) and replies[3].leaves


def test_answers_after_goodbye_are_bounded() -> None:
    replies = talk(GUEST, "Your booking is cancelled.", *["Your e-mail?"] * 4)
    assert [reply.leaves for reply in replies[1:]] == [False, False, False, False, True]


def test_each_request_is_owed_an_outcome() -> None:
    invoice = Request("And I need an invoice for May.", after="opening", topic=("invoice",))
    persona = replace(GUEST, topic=("cancel",), then=invoice)
    replies = talk(persona, "I've cancelled the booking. Anything else?", "The invoice has been sent to you.")
    assert replies[1].acts == ("heard:done", "reminded")
    assert replies[2].acts == ("heard:done", "thanked")


def test_second_request_half_way_and_change_of_mind() -> None:
    moved = Request("Actually, move it to Friday instead.", after="gave:booking", replaces=True)
    replies = talk(replace(GUEST, then=moved), "Your booking number?", "It has been moved.")
    assert replies[1].acts == ("gave:booking", "changed_mind")
    assert replies[2].acts == ("heard:done", "thanked")


def test_patience() -> None:
    replies = talk(GUEST, *["zzz qqq"] * 6)
    assert [reply.acts for reply in replies[1:]] == [
        ("asked_back",),
        ("asked_back",),
        ("asked_back", "repeated_request"),
        ("asked_back",),
        ("asked_back",),
        ("left",),
    ]
    assert replies[-1].leaves
    steadied = talk(GUEST, *["zzz qqq"] * 5, "Your e-mail?", *["zzz qqq"] * 5)
    assert not any(reply.leaves for reply in steadied)


def test_an_idle_talk_ends() -> None:
    assert any(reply.leaves for reply in talk(GUEST, *["One moment please."] * 30))


# — never —————————————————————————————————————————————————————————————————————————————————————————

HEARD = (
    "your booking number e-mail please could you tell me what is the reason refund cancel cancelled not no yes if done"
    " BK-20418 BK-1 jane@x.example $50 14 March , . ? ! voucher twin shall I go ahead one moment sorry denied bye"
)
WORDS = st.sampled_from([*HEARD.split(), "\n"])
TEXTS = st.one_of(st.text(max_size=200), st.lists(WORDS, max_size=30).map(" ".join))
SECRETS = ("a family emergency", "jane.berg@example.com", "1234567", "4242", "LY-5521", "Norwind", "Lisbon")


@settings(max_examples=300, deadline=None)
@given(st.lists(TEXTS, max_size=5), st.integers(), st.sampled_from(["plain", "terse", "rambling", "pushy", "slow"]))
def test_any_text_is_answered_and_the_same_every_time(lines: list[str], seed: int, manner: str) -> None:
    persona = replace(PRESSING, manner=manner)  # type: ignore[arg-type]
    first = talk(persona, *lines, seed=seed)
    assert first == talk(persona, *lines, seed=seed)
    assert all(reply.text for reply in first)


@settings(max_examples=300, deadline=None)
@given(st.lists(TEXTS, max_size=4))
def test_says_only_what_an_act_accounts_for(lines: list[str]) -> None:
    for reply in talk(GUEST, *lines):
        told = {act.partition(":")[2] for act in reply.acts if act.startswith(("gave:", "corrected:"))}
        for fact, value in GUEST.knows.items():
            if str(value) in SECRETS and str(value) in reply.text:
                assert fact in told, (reply, lines)


@pytest.mark.parametrize(
    "text", ["a" * 1_000_000, "\0" * 1_000_000, "\ud800" * 100_000, "1 " * 500_000, "not " * 200_000, "", "\n\n?!…"]
)
def test_odd_input_is_bounded(text: str) -> None:
    assert talk(GUEST, text)[-1].text


@pytest.mark.parametrize("first", ["so", "so then", "just so"])
def test_a_message_may_end_with_its_reason(first: str) -> None:
    for said in ("hold on a moment?", "could you hold the line?", "it is done?", "I can close it?", "it is cancelled."):
        for line in (f"{first} {said}", f"What is the surname, {first} {said}"):
            assert talk(GUEST, line)[-1].text


def test_the_day_of_something_else_is_no_wrong_birthday() -> None:
    persona = Persona(opens="My card is frozen, please unfreeze it.", knows={"birth_date": date(1987, 7, 5)})
    other = talk(persona, "It is about a payment of USD 84.10 on 2031-09-16. Did you make it yourself?")[-1]
    assert "corrected:birth_date" not in other.acts
    near = talk(persona, "So you were born on 5 July 1978, is that right?")[-1]
    assert "corrected:birth_date" in near.acts
    assert "heard:done" in talk(persona, "Your card has been unfrozen.")[-1].acts
