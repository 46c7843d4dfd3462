"""People as a world draws them: somebody else's name, one easily taken for another, an address that nobody has yet.

Refuses to know whose people they are: a domain gives the names.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tb_envs.authoring.world import World


@dataclass(frozen=True)
class Names:
    """The names that a company's people are drawn from.

    Attributes:
        first: first names.
        last: surnames.
        similar: first name → one that is easily taken for it.
    """

    first: Sequence[str]
    last: Sequence[str]
    similar: Mapping[str, str]

    def like(self, w: World, first_name: str) -> str:
        """A first name that is easily taken for this one."""
        back = {alike: name for name, alike in self.similar.items()}
        alike = self.similar.get(first_name) or back.get(first_name)
        return alike or w.pick(*(n for n in self.first if n[0] == first_name[0] and n != first_name), "Robyn")

    def other(self, w: World, first_name: str, surname: str) -> str:
        """Full name of somebody who shares neither name."""
        first = w.pick(*(name for name in self.first if name != first_name))
        return f"{first} {w.pick(*(name for name in self.last if name != surname))}"


def address(w: World, table: str, name: str, host: str) -> str:
    """An e-mail address at `host` made of a name, which no row's `email` in the table is yet."""
    plain = unicodedata.normalize("NFKD", name.lower()).encode("ascii", "ignore").decode()
    taken = w.taken(table, "email")
    while (found := f"{plain}{w.between(10, 99)}@{host}") in taken:
        pass
    return found
