"""What the hotel's customers can know, and how agents ask for it; the generic facts of every company come on top."""

from tb_envs.authoring import Fact, Vocabulary

FACTS = (
    Fact("booking", ("booking number", "reservation number", "booking id", "booking reference", "confirmation number")),
    Fact(
        "reservation_code",
        ("reservation code", "group of rooms code", "code of the reservation", "code of the booking", "shared code"),
        ("The reservation code is {value}.", "The code for all our rooms is {value}."),
        "id",
    ),
    Fact("surname", ("surname", "last name", "family name", "surname on the booking")),
    Fact("email", ("e-mail address", "email address", "e-mail on file", "mail address")),
    Fact("phone", ("phone number", "telephone number", "mobile number", "phone number on file")),
    Fact("postcode", ("postcode", "postal code", "zip code")),
    Fact("birth_date", ("date of birth", "birth date", "birthday")),
    Fact("card", ("card ending", "last four digits of the card", "ending of the card")),
    Fact(
        "traveller",
        (
            "name of the traveller",
            "traveller's name",
            "which traveller",
            "which room",
            "who is not coming",
            "whose room",
        ),
        ("The traveller is {value}.", "It is the room of {value}.", "I mean the room for {value}."),
        "name",
    ),
    Fact(
        "new_name",
        ("new name", "correct name", "right name", "name that should be on the booking", "other person's name"),
        ("The name should be {value}.", "Please write {value}.", "The right name is {value}."),
        "name",
    ),
    Fact(
        "new_arrival",
        ("new arrival date", "new check-in date", "new arrival", "new first night", "arrival you would like"),
        ("We would arrive on {value}.", "The new arrival would be {value}."),
        "date",
    ),
    Fact(
        "new_departure",
        ("new departure date", "new check-out date", "new departure", "date you want to leave", "day you leave"),
        ("We would leave on {value}.", "The new departure would be {value}."),
        "date",
    ),
    Fact(
        "room_type",
        ("room category", "room type", "category you would like", "kind of room", "which category"),
        ("I would like {value}.", "{value}, please."),
        "text",
    ),
    Fact(
        "hour",
        ("check-out hour", "hour of departure", "until what time", "which hour", "late check-out time", "how late"),
        ("Until {value}, please.", "{value} would be good.", "I would leave at {value}."),
        "time",
    ),
    Fact(
        "charge",
        ("disputed charge", "charge in question", "which charge", "which item", "items on the bill"),
        ("It is about {value}.", "I mean {value}."),
        "text",
    ),
    Fact(
        "company",
        ("company", "name of the company", "employer", "corporate account"),
        ("I travel for {value}.", "The company is {value}."),
        "name",
    ),
    Fact(
        "discount",
        ("discount of the company", "agreed discount", "negotiated discount", "company rate", "percent"),
        ("We have {value} percent.", "The discount is {value} percent."),
        "number",
    ),
    Fact(
        "group",
        (
            "name of the group",
            "group name",
            "block name",
            "name of the block",
            "under which name is the block",
            "under what name is the block",
            "which group",
            "which (choir|club|team|party)",
            "name of the (choir|club|team|party)",
        ),
        ("The group is called {value}.", "It is booked as {value}."),
        "name",
    ),
    Fact(
        "rooms",
        ("number of rooms", "how many rooms", "rooms to give back", "rooms to release"),
        ("{value} rooms.", "It is about {value} rooms.", "I would give back {value} rooms."),
        "number",
    ),
    Fact(
        "nights",
        ("number of nights", "how many nights", "nights missing", "missing nights"),
        ("{value} nights.", "It was {value} nights."),
        "number",
    ),
    Fact(
        "email_date",
        (
            "when you wrote",
            "when did you write",
            "date of the e-mail",
            "when you sent the e-mail",
            "when did you send the e-mail",
            "day of your e-mail",
        ),
        ("I wrote on {value}.", "The e-mail was sent on {value}."),
        "date",
    ),
    Fact(
        "fault",
        ("fault in the room", "what was wrong with the room", "problem with the room", "what did not work"),
        ("{value}.", "The trouble was: {value}."),
        "text",
    ),
    Fact(
        "caller",
        ("relation to the guest", "who you are", "your own name", "on whose behalf", "are you the guest"),
        ("I am {value}.", "This is {value}."),
        "text",
    ),
    Fact(
        "legal_change",
        ("reason for the new name", "why the name changes", "marriage", "change by law"),
        ("{value}.", "The reason is: {value}."),
        "text",
    ),
    Fact("reason", ("reason", "why", "what happened"), ("The reason is {value}.", "It is because of {value}.")),
    Fact("plate", ("number plate", "licence plate", "registration of the car")),
    Fact(
        "member",
        ("loyalty number", "member number", "Halden Circle number", "number of your loyalty account"),
        ("My Halden Circle number is {value}.", "The number is {value}."),
        "id",
    ),
)

vocabulary = Vocabulary(FACTS)
