"""Invented people, places and companies that worlds are drawn from.

Phone numbers lie in ranges that national regulators keep for fiction; e-mail addresses end in ``.example``.
"""

from typing import NamedTuple


class Home(NamedTuple):
    """A city that guests come from; ``#`` stands for a digit and ``@`` for a letter."""

    city: str
    postcode: str
    phone: str


HOMES: tuple[Home, ...] = (
    Home("Leeds", "LS# #@@", "+44 7700 900###"),
    Home("Bristol", "BS# #@@", "+44 7700 900###"),
    Home("Boston", "021##", "+1 617 555 01##"),
    Home("Denver", "802##", "+1 303 555 01##"),
    Home("Lyon", "6900#", "+33 6 39 98 ## ##"),
    Home("Nantes", "44#00", "+33 6 39 98 ## ##"),
    Home("Perth", "60##", "+61 491 570 ###"),
    Home("Melbourne", "30##", "+61 491 575 ###"),
    Home("Cork", "T12 @#@#", "+353 20 91# ####"),
    Home("Galway", "H91 @#@#", "+353 20 91# ####"),
)

MAIL_HOSTS: tuple[str, ...] = ("inbox.example", "postbox.example", "webmail.example", "letterbird.example")

FIRST_NAMES: tuple[str, ...] = (
    "Adela", "Aksel", "Alma", "Amina", "Andre", "Anna", "Arno", "Beatrix", "Bruno", "Camille", "Carla", "Cedric",
    "Clara", "Corin", "Dagmar", "Daniel", "Delia", "Edgar", "Elena", "Elias", "Emil", "Esther", "Fabian", "Farah",
    "Felix", "Fiona", "Gideon", "Greta", "Hanna", "Hugo", "Ines", "Ivan", "Jana", "Joel", "Jonas", "Julia",
    "Karim", "Katrin", "Lara", "Leon", "Lucas", "Lydia", "Marek", "Maria", "Marta", "Milan", "Nadia", "Nils",
    "Nora", "Olga", "Oscar", "Paula", "Petra", "Rafael", "Renata", "Robin", "Sara", "Silas", "Sofia", "Stefan",
    "Tamara", "Tilda", "Tobias", "Ursula", "Viktor", "Vera", "Wanda", "Yusuf",
)  # fmt: skip

SIMILAR_NAMES: dict[str, str] = {
    "Anna": "Anne", "Hanna": "Hannah", "Sara": "Sarah", "Maria": "Marie", "Marta": "Martha", "Lucas": "Lukas",
    "Katrin": "Katrina", "Elena": "Helena", "Julia": "Julie", "Sofia": "Sofie", "Stefan": "Stephan", "Viktor": "Victor",
    "Rafael": "Raphael", "Jonas": "Jona", "Nora": "Norah", "Elias": "Elisa", "Daniel": "Daniela", "Andre": "Andrea",
    "Fabian": "Fabienne", "Felix": "Felicia", "Oscar": "Oskar", "Emil": "Emilia", "Clara": "Klara", "Carla": "Karla",
    "Ivan": "Ivana", "Nadia": "Nadja", "Tobias": "Tobia", "Lydia": "Lidia", "Paula": "Paola", "Petra": "Peter",
}  # fmt: skip

SURNAMES: tuple[str, ...] = (
    "Abernale", "Aldous", "Amsel", "Barrow", "Bellamy", "Brandt", "Calloway", "Castane", "Corvin", "Dervish",
    "Dunmore", "Ekholm", "Falkner", "Ferrand", "Garrick", "Gellert", "Halvorsen", "Harrow", "Iversen", "Janssen",
    "Keswick", "Kollwitz", "Lambrecht", "Lindqvist", "Marchetti", "Merrow", "Nakano", "Norwood", "Okafor", "Ostrander",
    "Pelletier", "Quarrie", "Rahmani", "Rosenthal", "Sandoval", "Thackery", "Ullmann", "Vasari", "Whitlock", "Zielin",
)  # fmt: skip

COMPANY_NAMES: tuple[str, ...] = tuple(
    f"{first} {second}"
    for second in ("Instruments", "Shipping", "Consulting", "Foods", "Pharma")
    for first in ("Brackwell", "Tolmin", "Ardley", "Norhaven", "Quillon", "Sebring", "Varenne", "Oakmere")
)

GROUP_NAMES: tuple[str, ...] = tuple(
    f"{first} {second}"
    for second in ("Choir Tour", "Sales Days", "Wedding Party", "Alumni Meeting", "Study Trip")
    for first in ("Larkfield", "Montrose", "Hollin", "Averley", "Sternau", "Kilbrack", "Palmera", "Westerby")
)
