"""Twelve customers for conversation tests with utterances by people who have not seen the engine. Data only."""

from __future__ import annotations

from tb_envs.authoring import Consent, Offer, Persona, Request, Secret

PERSONAS: dict[str, Persona] = {
    "cancel": Persona(
        opens="Hello, I have to cancel my stay and would like my money back.",
        knows={
            "booking": "BK-20418", "surname": "Falk", "email": "ida.falk@postbox.example", "phone": "+351 21 555 0142",
            "birth_date": "1984-03-09", "reason": "a family emergency",
        },
        presses=["I was told on the phone that this is always refunded.", "Please, just do it now."],
    ),
    "dates": Persona(
        opens="Hi, I would like to move my stay to other dates. My booking number is {booking}.",
        knows={
            "booking": "BK-31107", "surname": "Okafor", "email": "okafor.n@letterbox.example",
            "phone": "+43 1 555 0188", "new_arrival": "2031-06-12", "new_departure": "2031-06-15",
        },
        consents=Consent(up_to=80_00),
    ),
    "upgrade": Persona(
        opens="Good morning. I would like a better room for my stay, the suite if possible.",
        knows={"booking": "BK-55210", "surname": "Lindqvist", "email": "maja@lindqvist.example", "room_type": "suite"},
        offers=[
            Offer("suite", words=("suite",), answer="ask_price", up_to=150_00, instead="deluxe"),
            Offer("deluxe", words=("deluxe",), answer="accept_up_to", up_to=150_00),
        ],
    ),
    "late": Persona(
        opens="I want to leave later on my last day, at four in the afternoon, free of charge as always.",
        knows={"booking": "BK-47733", "surname": "Moreau", "email": "j.moreau@inbox.example", "hour": "16:00"},
        consents=Consent(up_to=50_00),
        presses=["I am a loyal guest, you know."],
    ),
    "assistant": Persona(
        opens="This is the assistant of Mr Haldane. I need to arrange something about his booking.",
        knows={
            "booking": "BK-60912", "surname": "Haldane", "email": "office@haldane.example", "caller": "his assistant",
            "phone": "+353 1 555 0190",
        },
        lacks=["birth_date"],
        wont_say={"phone": "I would rather not give his private number."},
    ),
    "impostor": Persona(
        opens="I need to change a booking, it is urgent.",
        knows={"surname": "Brandt", "email": "brandt.k@mailhost.example"},
        lacks=["booking", "phone", "birth_date", "postcode"],
        secrets=[Secret(only_if=["are you the guest", "your own booking"], says="Well, it is my sister's booking.")],
    ),
    "duplicate": Persona(
        opens="I think I have booked the same stay twice. Please drop the one I made first.",
        knows={
            "surname": "Castellano", "email": "r.castellano@postbox.example", "phone": "+353 1 555 0119",
            "birth_date": "1979-11-30", "arrival": "2031-06-20", "departure": "2031-06-24",
        },
        lacks=["booking"],
        offers=[Offer("drop the later", words=("later",), answer="accept")],
    ),
    "minibar": Persona(
        opens="There are minibar charges on my bill that are not mine.",
        knows={"booking": "BK-71828", "surname": "Novak", "email": "p.novak@inbox.example", "amount": "USD 36.50"},
        presses=["I do not even drink!"],
        then=Request(opens="One more thing: could you also send me the invoice by e-mail?", topic=("invoice",)),
    ),
    "wrong-premise": Persona(
        opens="You have charged me USD 45 a night for parking, it should be USD 12.",
        knows={"booking": "BK-81345", "surname": "Arkwright", "email": "t.arkwright@mailhost.example", "nights": "5"},
        mistaken={"nights": "Oh, four nights, you are right."},
    ),
    "group": Persona(
        opens="I organise the rooms of a choir and would like to give some of them back.",
        knows={
            "group": "Northgate Chamber Choir", "surname": "Sandberg", "email": "sandberg@choir.example",
            "phone": "+43 1 555 0177", "rooms": "8",
        },
        offers=[Offer("only the free ones", words=("free of charge", "without fee", "free rooms"), answer="accept")],
        consents=Consent(up_to=100_00),
    ),
    "terse": Persona(
        opens="Refund for no-show fee please.",
        knows={"booking": "BK-90001", "surname": "Ivers", "email": "ivers@letterbox.example", "card_ending": "4417"},
        manner="terse",
        presses=["I did cancel. By e-mail."],
    ),
    "rambling": Persona(
        opens="So, it has been quite a week, and now this: nights are missing on my loyalty account.",
        knows={
            "booking": "BK-64201", "loyalty_number": "LA-33871", "surname": "Petrov",
            "email": "g.petrov@postbox.example", "phone": "+351 21 555 0163",
        },
        manner="rambling",
    ),
}  # fmt: skip
