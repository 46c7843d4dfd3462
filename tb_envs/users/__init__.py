"""Customers: `scripted` by default. Refuses to know the database; a customer knows what its persona says."""

from .reply import Reply
from .scripted import ScriptedUser

__all__ = ["Reply", "ScriptedUser"]
