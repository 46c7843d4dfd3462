"""Ten customers of a bank for conversation tests with utterances by people who have not seen the engine. Data only."""

from __future__ import annotations

from tb_envs.authoring import Consent, Offer, Persona, Request, Secret

PERSONAS: dict[str, Persona] = {
    "raise": Persona(
        opens="I am buying a van today and your app will not let me send the money. Please raise my limit.",
        knows={
            "account": "41730962",
            "surname": "Okonjo",
            "email": "d.okonjo@postbox.example",
            "phone": "+44 7700 900318",
            "code": "482913",
            "limit": "daily transfer limit",
            "new_amount": "USD 9500.00",
        },
        presses=["It is my own money!", "I have been with you for years, and this is what I get?"],
    ),
    "stranger": Persona(
        opens="There is a payment on my card that I have never made. The statement says {merchant}.",
        knows={
            "account": "50218847",
            "surname": "Vasquez",
            "email": "l.vasquez@inbox.example",
            "postcode": "SW4 7TL",
            "card": "4471",
            "code": "090715",
            "merchant": "QRT*HOLDINGS 22",
            "amount": "USD 64.20",
        },
        secrets=[
            Secret(
                only_if=("garden centre",),
                says="Oh! The garden centre. Yes, that was me, the tulips.",
                after="named:garden centre",
            )
        ],
    ),
    "fee": Persona(
        opens="You charged me for going overdrawn. I want that fee back, all of it.",
        knows={
            "account": "38844120",
            "surname": "Brandl",
            "email": "k.brandl@letterbox.example",
            "birth_date": "1969-07-21",
            "amount": "USD 35.00",
        },
        consents=Consent(needs=()),
        presses=["I was only over by a few dollars, for one day."],
        gives_in="All right, better than nothing.",
    ),
    "lost": Persona(
        opens="My card is gone! I think I left it on the train. Please do something.",
        knows={
            "account": "60451173",
            "surname": "Haruna",
            "email": "haruna.b@mailhost.example",
            "phone": "+353 20 913 8045",
            "code": "771204",
            "card": "0938",
        },
        consents=Consent(up_to=12_00),
        then=Request(
            opens="One more thing: there is a payment of today that I want to dispute.", topic=("dispute", "payment")
        ),
    ),
    "transfer": Persona(
        opens="I sent USD 412.50 to the wrong person an hour ago. Get it back, please, please.",
        knows={
            "account": "27719035",
            "surname": "Lindgren",
            "email": "a.lindgren@inbox.example",
            "phone": "+1 617 555 0189",
            "code": "365210",
            "payee": "Otto Varga",
            "amount": "USD 412.50",
        },
        offers=[
            Offer("trace", words=("trace",), answer="accept"),
            Offer("recall", words=("recall", "call back"), answer="ask_price", up_to=15_00),
        ],
        presses=["But it was just a wrong click!"],
    ),
    "order": Persona(
        opens="My standing order to the landlord must go up, he has raised the rent.",
        knows={
            "account": "90177254",
            "surname": "Achebe",
            "email": "t.achebe@postbox.example",
            "birth_date": "1991-02-14",
            "payee": "Marlow Lettings",
            "old_amount": "USD 880.00",
            "new_amount": "USD 925.00",
        },
        mistaken={"old_amount": "Oh, is it? Then I remembered it wrong."},
    ),
    "attorney": Persona(
        opens="I look after the money of my aunt, Mrs Pelletier, and need one of her transfers stopped.",
        knows={
            "account": "11820467",
            "surname": "Roche",
            "email": "m.roche@letterbox.example",
            "phone": "+33 6 39 98 25 11",
            "caller": "her nephew, with a power of attorney",
            "code": "550982",
            "amount": "USD 1200.00",
        },
        lacks={"birth_date": "Hers I would have to look up."},
        wont_say={"phone": "I would rather not give my number in a chat."},
    ),
    "deposit": Persona(
        opens="I need the money of my term deposit now, the roof is leaking.",
        knows={
            "account": "77340921",
            "surname": "Fontaine",
            "email": "e.fontaine@mailhost.example",
            "postcode": "1010",
            "code": "204466",
            "amount": "USD 8000.00",
        },
        consents=Consent(up_to=60_00, says_no="That much? Then I leave it where it is."),
    ),
    "young": Persona(
        opens="hi, can u put my card limit down, my mum says i spend too much lol",
        knows={
            "account": "83051166",
            "surname": "Tanaka",
            "email": "yuki.t@inbox.example",
            "birth_date": "2015-05-30",
            "card": "2290",
            "new_amount": "USD 50.00",
        },
        lacks=["code"],
        manner="terse",
    ),
    "complaint": Persona(
        opens="I complained to you weeks ago and nobody answered. What do I get for that?",
        knows={
            "account": "66290813",
            "surname": "Whitlock",
            "email": "g.whitlock@postbox.example",
            "phone": "+61 491 570 680",
            "received": "2031-08-12",
        },
        presses=["Weeks! I want at least a hundred dollars."],
        manner="rambling",
    ),
}
