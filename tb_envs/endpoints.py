"""Where a language model is asked: an OpenAI-compatible endpoint, its model and how patiently it is asked.

Only data, checked at once; `tb_envs.openai_client` does the asking. Refuses to hold a secret: a key is named by the
environment variable that holds it, and is read when a request is made.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any
from urllib.parse import urlsplit

from tb_envs.costs import Tokens
from tb_envs.errors import UsageError

DEFAULT_KEY = "OPENAI_API_KEY"
"""Variable with the key where none is named; may be unset, since local servers want none."""
PRICES = ("input", "cached_input", "output")


@dataclass(frozen=True)
class Endpoint:
    """One model behind one endpoint.

    Attributes:
        model: its name there.
        base_url: e.g. ``http://127.0.0.1:8000/v1``.
        temperature: of sampling; None sends none, for models that take none.
        max_tokens: written in one answer, at most; None sends none.
        deadline: seconds that one request may take, from its start to its last byte.
        retries: how often a request is sent again after a dropped connection, a time-out or a server's error.
        patience: seconds in all that are waited where the server says it is busy (429).
        api_key_env: name of the environment variable with the key.
        extra: more fields of the request, e.g. ``{"reasoning_effort": "low"}``.
        price: dollars per million tokens, ``{"input", "cached_input", "output"}``; None: unknown.
    """

    model: str
    base_url: str
    temperature: float | None = None
    max_tokens: int | None = None
    deadline: float = 120.0
    retries: int = 4
    patience: float = 600.0
    api_key_env: str = DEFAULT_KEY
    extra: Mapping[str, Any] = field(default_factory=dict[str, Any])
    price: Mapping[str, float] | None = None

    def __post_init__(self) -> None:
        _check_url(self.base_url)
        if not self.model:
            raise UsageError("a model's name is empty")
        _check_number("temperature", self.temperature, 0, optional=True)
        _check_number("max_tokens", self.max_tokens, 1, whole=True, optional=True)
        _check_number("deadline", self.deadline, 0.001)
        _check_number("retries", self.retries, 0, whole=True)
        _check_number("patience", self.patience, 0)
        if not self.api_key_env:
            raise UsageError(f"api_key_env names an environment variable, e.g. {DEFAULT_KEY}")
        if self.price is not None and set(self.price) != set(PRICES):
            raise UsageError(f"price gives dollars per million tokens for {', '.join(PRICES)}, got {dict(self.price)}")
        for kind, amount in (self.price or {}).items():
            _check_number(f"price: {kind}", amount, 0)
            if not math.isfinite(amount):
                raise UsageError(f"price: {kind} is US dollars per million tokens, got {amount!r}")

    @classmethod
    def of(cls, part: str, options: Mapping[str, Any], **defaults: Any) -> Endpoint:
        """An endpoint from the options of a part (``user``, ``judge``), the rest from the environment or `defaults`.

        ``TBX_USER_MODEL`` and ``TBX_USER_BASE_URL`` (``TBX_JUDGE_…`` for the judge) stand in for ``model`` and
        ``base_url``, and ``OPENAI_BASE_URL`` for a ``base_url`` that is not said otherwise.

        Raises:
            UsageError: an option is unknown or wrong, or the model or the URL is not said.
        """
        names = [item.name for item in fields(cls)]
        for name in options:
            if name not in names:
                listed = [*names, FILES[part]] if part in FILES else names
                raise UsageError(f"unknown option {name!r} of {part}; valid: {', '.join(listed)}")
        prefix = f"TBX_{part.upper()}_"
        said = {**defaults, **{name: value for name, value in options.items() if value is not None}}
        said.update({name: None for name in ("temperature", "max_tokens") if name in options and options[name] is None})
        said.setdefault("model", os.environ.get(f"{prefix}MODEL", ""))
        said.setdefault("base_url", os.environ.get(f"{prefix}BASE_URL") or os.environ.get("OPENAI_BASE_URL", ""))
        for name in ("model", "base_url"):
            if not said[name]:
                raise UsageError(
                    f"{part}: `{name}` is not said; give it as an option or in the environment variable "
                    f"{prefix}{name.upper()}"
                )
        for name in ("model", "base_url", "api_key_env"):
            if not isinstance(said.get(name, ""), str):
                raise UsageError(f"{part}: `{name}` is text, got {said[name]!r}")
        for name in ("extra", "price"):
            if not isinstance(said.get(name) or {}, Mapping):
                raise UsageError(f"{part}: `{name}` is a mapping, got {said[name]!r}")
        return cls(**said)

    def key(self) -> str:
        """The secret, from the environment; a word that no server takes for one where the default is unset."""
        key = os.environ.get(self.api_key_env, "")
        if not key and self.api_key_env != DEFAULT_KEY:
            raise UsageError(f"the environment variable {self.api_key_env} is not set; it should hold the key")
        return key or "none"

    def dollars(self, tokens: Tokens | None) -> float | None:
        """What these tokens cost; None where the price or the tokens are unknown."""
        if self.price is None or tokens is None:
            return None
        price = self.price
        fresh = tokens.input - tokens.cached_input
        paid = fresh * price["input"] + tokens.cached_input * price["cached_input"] + tokens.output * price["output"]
        return paid / 1e6

    def to_json(self) -> dict[str, Any]:
        """Everything that is said here; nothing of it is secret."""
        return {item.name: getattr(self, item.name) for item in fields(self)}


DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "user": {"temperature": 0.0, "max_tokens": 400, "deadline": 60.0},
    "judge": {"temperature": 0.0, "max_tokens": 1000},
}
FILES = {"user": "record", "judge": "cache"}
"""The option of a part that names a file."""


def model_options(part: str, value: str | Mapping[str, Any]) -> tuple[Endpoint, str | None]:
    """The endpoint of a part (``user``, ``judge``), and the file its answers are kept in, from its setting.

    Raises:
        UsageError: an option is unknown or wrong, or the model or the URL is not said.
    """
    options = {} if isinstance(value, str) else {name: item for name, item in value.items() if name != "kind"}
    path = options.pop(FILES[part], None)
    if path is not None and (not isinstance(path, str) or not path):
        raise UsageError(f"{part}: `{FILES[part]}` is a file's path, got {path!r}")
    if part == "judge" and options.get("temperature", 0) != 0:
        raise UsageError("judge: a judge is asked at temperature 0; leave `temperature` out")
    return Endpoint.of(part, options, **DEFAULTS[part]), path


def _check_url(url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(f"base_url reads like http://127.0.0.1:8000/v1, got {_plain(url)!r}")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise UsageError(
            f"base_url {_plain(url)!r} carries credentials or a query; put the key into an environment variable "
            f"and name that by api_key_env"
        )


def _plain(url: str) -> str:
    """A URL without what may be secret."""
    body = url.split("?", 1)[0].split("#", 1)[0]
    scheme, mark, rest = body.rpartition("://")
    return scheme + mark + rest.rpartition("@")[2]


def _check_number(name: str, value: Any, least: float, *, whole: bool = False, optional: bool = False) -> None:
    if value is None and optional:
        return
    if isinstance(value, bool | None) or not isinstance(value, int if whole else int | float) or not value >= least:
        kind = "a whole number" if whole else "a number"
        raise UsageError(f"{name} must be {kind} of at least {least:g}, got {value!r}")
