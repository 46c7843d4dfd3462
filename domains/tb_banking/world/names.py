"""Invented people, places, banks and employers that worlds are drawn from.

Phone numbers lie in ranges that are kept for fiction; e-mail addresses end in ``.example``.
"""

from typing import NamedTuple


class Home(NamedTuple):
    """A city that customers live in; ``#`` stands for a digit."""

    city: str
    postcode: str
    phone: str


HOMES: tuple[Home, ...] = (
    Home("Portland", "041##", "+1 207 555 01##"),
    Home("Albany", "122##", "+1 518 555 01##"),
    Home("Savannah", "314##", "+1 912 555 01##"),
    Home("Duluth", "558##", "+1 218 555 01##"),
    Home("Tucson", "857##", "+1 520 555 01##"),
    Home("Boise", "837##", "+1 208 555 01##"),
    Home("Toledo", "436##", "+1 419 555 01##"),
    Home("Tacoma", "984##", "+1 253 555 01##"),
)

MAIL_HOSTS: tuple[str, ...] = ("quickpost.example", "mailwell.example", "bluedoor.example", "openletter.example")

FIRST_NAMES: tuple[str, ...] = (
    "Abel", "Adrian", "Agnes", "Alan", "Alice", "Amos", "Anita", "April", "Arthur", "Barbara", "Benedict", "Bianca",
    "Boris", "Bridget", "Caleb", "Carmen", "Cecil", "Celia", "Conrad", "Cora", "Damian", "Dana", "Deborah", "Dennis",
    "Dora", "Edith", "Edwin", "Elaine", "Eric", "Eunice", "Ezra", "Flora", "Frances", "Gerald", "Gloria", "Graham",
    "Harriet", "Hector", "Helen", "Ida", "Irene", "Isaac", "Ivor", "Jasper", "Jean", "Josephine", "Judith", "Kenneth",
    "Laila", "Leonard", "Linda", "Louis", "Malcolm", "Margaret", "Mina", "Miriam", "Nathan", "Neil", "Nina", "Omar",
    "Otis", "Patrick", "Pauline", "Philip", "Priya", "Quentin", "Ramona", "Roland", "Rosa", "Samir", "Selma", "Simon",
    "Stella", "Sylvia", "Terence", "Theo", "Una", "Vincent", "Violet", "Walter", "Winifred", "Yara", "Zoe",
)  # fmt: skip

SIMILAR_NAMES: dict[str, str] = {
    "Adrian": "Adriana", "Alan": "Allan", "Alice": "Alicia", "Anita": "Anika", "Bianca": "Blanca", "Carmen": "Carmel",
    "Celia": "Cecilia", "Cora": "Corey", "Conrad": "Konrad", "Dana": "Dena", "Dennis": "Denise", "Dora": "Doris",
    "Edwin": "Edwina", "Elaine": "Eleanor", "Eric": "Erica", "Frances": "Francis", "Gerald": "Geraldine",
    "Helen": "Helene", "Irene": "Irena", "Isaac": "Isaak", "Jean": "Jeanne", "Josephine": "Joseph", "Judith": "Judy",
    "Laila": "Layla", "Leonard": "Leo", "Linda": "Lynda", "Louis": "Louise", "Margaret": "Margot", "Mina": "Mira",
    "Miriam": "Mirjam", "Nathan": "Nathaniel", "Neil": "Niall", "Nina": "Nino", "Patrick": "Patricia",
    "Pauline": "Paul", "Philip": "Philippa", "Priya": "Prisha", "Roland": "Rowland", "Rosa": "Rose", "Samir": "Samira",
    "Simon": "Simone", "Sylvia": "Silvia", "Theo": "Thea", "Vincent": "Vincenz", "Violet": "Viola", "Yara": "Yana",
}  # fmt: skip

SURNAMES: tuple[str, ...] = (
    "Achterberg", "Ashdown", "Baptiste", "Birkland", "Braddock", "Carmody", "Chaudry", "Colvin", "Delacroix", "Dray",
    "Eastman", "Egerton", "Fairbanks", "Fonseca", "Gallagher", "Grimaldi", "Haddad", "Hathaway", "Ilves", "Jessop",
    "Kamara", "Kettering", "Lattimer", "Lovelace", "Maddox", "Mendoza", "Nyberg", "Oakley", "Osei", "Paxton",
    "Pemberton", "Radcliffe", "Renard", "Salcedo", "Stroud", "Tanaka", "Thornbury", "Underhill", "Vantongeren",
    "Wexford",
)  # fmt: skip

BANKS: tuple[str, ...] = (
    "Harbour Lane Bank", "Tessaly Savings", "Brightwater Credit Union", "First Copperfield", "Lowmoor Trust",
    "Sandpiper Bank", "Union of Elmira",
)  # fmt: skip
"""Where the payees of our customers keep their accounts."""

EMPLOYERS: tuple[str, ...] = (
    "Kestrel Freight", "Orchard Clinic", "Town of Hazelbrook", "Pinnock Joinery", "Veldt Software", "Marlow Schools",
    "Ridgeway Bakeries", "Sable Insurance Services", "Calder Waterworks", "Finch Laboratories",
)  # fmt: skip

PAYEES: tuple[str, ...] = (
    "Elm Court Lettings", "Hollis Property Rentals", "Northgate Utilities", "Calder Waterworks", "Brass Lantern Music",
    "Little Acorn Nursery", "Greenfold Energy", "Pinecrest Tennis Club", "Dalton Removals", "Ivory Dental Practice",
    "Sunder Broadband", "Marlow Schools", "Quill Street Garage", "Haven Pet Care",
)  # fmt: skip
"""Companies that customers pay by transfer or standing order."""
