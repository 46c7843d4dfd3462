"""The tools of the hotel company, in the order agents see them."""

from . import changes, desk, folios, groups, guests, knowledge, loyalty, quotes, stays

TOOLSETS = [
    guests.guests,
    stays.stays,
    quotes.quotes,
    changes.changes,
    folios.folios,
    loyalty.loyalty,
    groups.groups,
    desk.desk,
    knowledge.knowledge,
]
