"""What a customer answers, whoever plays it. Refuses to say why: the acts name what happened, no more."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reply:
    """One turn of the customer.

    Attributes:
        text: the words.
        leaves: it hangs up after these words.
        acts: what it did, in order, for the order rules of a grader, e.g. `("gave:email", "pressed")`.
            The list of all acts stands in `scripted.py`.
        faults: what a language model said first and was not let say (`guards.NAMES`); none of a script.
    """

    text: str
    leaves: bool = False
    acts: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
