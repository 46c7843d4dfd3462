"""Every error of the suite, in one vocabulary, and how each is classified.

Three kinds exist and they are never mixed:

* the agent's mistake (`ToolError`): becomes an error *result* that it reads; the episode goes on;
* a system error (`BackendError`, `UserError`, `CheckerError`): ends the episode as ``error:<part>``, no failure;
* a mistake of who uses or extends the library (`UsageError`, `DomainError`): raised at once, with what is right.

Each class takes exactly one argument, a message to a person, because worker processes rebuild exceptions that way.
"""

from __future__ import annotations


class ToolError(Exception):
    """What the agent asked for cannot be done; the message names the field and the accepted form."""


class ThinkingBoxError(Exception):
    """Base of everything that is not the agent's fault."""


class BackendError(ThinkingBoxError):
    """The backend timed out, crashed or answered nonsense: ``error:backend``."""


class UserError(ThinkingBoxError):
    """The simulated customer could not answer: ``error:user``."""


class CheckerError(ThinkingBoxError):
    """The checker itself broke: ``error:checker``."""


class EpisodeError(ThinkingBoxError):
    """Raised by a strict environment in place of an ``error:*`` outcome."""


class DomainError(ThinkingBoxError):
    """A domain, family or task is written wrongly; raised while it is loaded or certified."""


class UsageError(ThinkingBoxError, ValueError):
    """A wrong argument, option, task id or name; the message says which ones are valid."""
