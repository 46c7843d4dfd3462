"""Asking a model over an OpenAI-compatible endpoint: one request, which is answered or is not.

What went wrong is a `RequestFailed` that says how it is to be taken, with the server's own words and without the key.
Refuses to ask again (`tb_envs.patience`), to decide what a failure means for an episode, and to open connections itself
(`tb_envs.sending`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Literal, cast

from tb_envs.costs import Tokens
from tb_envs.endpoints import Endpoint
from tb_envs.errors import UsageError
from tb_envs.sending import close_clients, post

if TYPE_CHECKING:
    from httpx2 import Response

Failure = Literal["busy", "down", "refused", "wrong"]
"""``busy``: rate limited (429), come again later; ``down``: no or no usable answer, worth another try; ``refused``: the
provider's content filter; ``wrong``: the request cannot be right as it is (key, model, length)."""

WORDS = 600
"""Characters of a server's own words that a message keeps."""
_FILTERED = ("content_filter", "content_policy_violation", "responsibleaipolicyviolation")
_TOO_LONG = re.compile(
    r"context_length_exceeded|maximum context length|context window|exceed_context_size|available context size"
    r"|(?:input|prompt) is too long|longer than the (?:maximum model length|model's context length)"
    r"|input token count .{0,40}exceeds the maximum|too many tokens: |`inputs` (?:tokens|must have less)"
    r"|reduce the length of the (?:messages|prompt|input)"
)
"""In lower case, as OpenAI, Anthropic, Bedrock, Cohere, Gemini, Groq, llama.cpp, SGLang, TGI and vLLM say it."""
_BROKE = ("error", "abort")
"""Reasons for a turn's end that are the server's own failure."""


@dataclass(frozen=True)
class Answer:
    """What a model answered.

    Attributes:
        message: the assistant's message as the server sent it (``content``, ``tool_calls``, …).
            Half characters in it are replaced.
        finish: ``finish_reason``, empty where none is given.
        tokens: by kind; None where the server does not report them.
    """

    message: Mapping[str, Any]
    finish: str
    tokens: Tokens | None

    @property
    def text(self) -> str:
        """The message's words; empty where there are none."""
        content = self.message.get("content")
        if isinstance(content, list):
            parts: list[Any] = cast("list[Any]", content)
            return "".join(str(cast("dict[str, Any]", part).get("text") or "") for part in parts if type(part) is dict)
        return content if isinstance(content, str) else ""

    @property
    def refusal(self) -> str:
        """The words by which the model refuses, where it says nothing else and calls nothing."""
        said = self.message.get("refusal")
        return said if isinstance(said, str) and not self.text and not self.message.get("tool_calls") else ""

    @property
    def reasoning(self) -> str:
        """What the server shows of the model's thoughts, beside its words."""
        said = self.message.get("reasoning_content") or self.message.get("reasoning")
        return said if isinstance(said, str) else ""


class RequestFailed(Exception):
    """A request that brought no answer.

    Attributes:
        kind: how it is to be taken, see `Failure`.
        status: of HTTP; 0 where there was no response.
        retry_after: seconds after which the server wants to be asked again; None where it does not say.
        too_long: the prompt does not fit the model's context.
        tokens: what it cost all the same, where the server says so.
    """

    def __init__(
        self,
        kind: Failure,
        message: str,
        *,
        status: int = 0,
        retry_after: float | None = None,
        too_long: bool = False,
        tokens: Tokens | None = None,
    ) -> None:
        super().__init__(message)
        self.kind, self.status, self.retry_after = kind, status, retry_after
        self.too_long, self.tokens = too_long, tokens


async def ask(endpoint: Endpoint, body: Mapping[str, Any]) -> Answer:
    """Send one chat completion and return what the model answered; no retry.

    Args:
        endpoint: where; its model, temperature, `max_tokens` and `extra` are added to the body.
        body: ``messages``, and what else the request holds.

    Raises:
        RequestFailed: there is no answer.
        UsageError: the package `openai` is not installed, or the key's variable is not set.
    """
    from httpx2 import HTTPError, InvalidURL, TimeoutException

    key = endpoint.key()
    full = {"model": endpoint.model, **_sampling(endpoint), **body, **endpoint.extra}
    try:
        response = await post(endpoint.base_url, key, full, endpoint.deadline)
    except (TimeoutError, TimeoutException):
        raise RequestFailed("down", f"{_where(endpoint)} did not answer within {endpoint.deadline:g} s") from None
    except (HTTPError, OSError) as error:
        why = _scrub(f"{type(error).__name__}: {error}".rstrip(": "), key)
        raise RequestFailed("down", f"{_where(endpoint)} cannot be reached or broke off: {why}") from None
    except InvalidURL as error:
        raise UsageError(f"base_url {endpoint.base_url!r} is no URL: {error}") from None
    except (ValueError, TypeError, RecursionError) as error:
        raise RequestFailed("wrong", f"a request to {_where(endpoint)} cannot be written: {error}") from None
    if not response.is_success:
        raise _failed(endpoint, response, key)
    return _read(endpoint, response, key)


def need_openai() -> None:
    """Refuse at once, with what is right, where the package is missing.

    Raises:
        UsageError: it is not installed.
    """
    import importlib.util

    if importlib.util.find_spec("openai") is None:
        raise UsageError(
            "a language model over an endpoint needs the package openai: pip install 'thinkingbox-gym[llm]'"
        )


# -- reading


def _sampling(endpoint: Endpoint) -> dict[str, Any]:
    given = {"temperature": endpoint.temperature, "max_tokens": endpoint.max_tokens}
    return {name: value for name, value in given.items() if value is not None}


def _read(endpoint: Endpoint, response: Response, key: str) -> Answer:
    """The answer in a response that says it is one."""
    where = _where(endpoint)
    try:
        data: Any = _whole(response.content)
    except (ValueError, RecursionError):
        raise RequestFailed("down", f"{where} answered what is no JSON: {_scrub(response.text, key)!r}") from None
    if not isinstance(data, dict):
        raise RequestFailed("down", f"{where} answered no object: {_scrub(response.text, key)!r}")
    body = cast("dict[str, Any]", data)
    tokens = read_tokens(body.get("usage"))
    if body.get("error"):
        raise RequestFailed("down", f"{where} answered an error: {_scrub(response.text, key)}", tokens=tokens)
    choices: Any = body.get("choices")
    first: Any = cast("list[Any]", choices)[0] if isinstance(choices, list) and choices else None
    if not isinstance(first, dict):
        raise RequestFailed("down", f"{where} answered without choices", tokens=tokens)
    choice = cast("dict[str, Any]", first)
    finish, message = choice.get("finish_reason") or "", choice.get("message")
    why: Any = choice.get("error")
    if isinstance(finish, dict):  # some servers say more of it
        said = cast("dict[str, Any]", finish)
        finish = said.get("type") or ""
        why = why or (said.get("message") if finish in _BROKE else None)
    if why or finish in _BROKE:
        words = _scrub(_own_words(json.dumps({"error": why or finish})), key)
        raise RequestFailed("down", f"{where} broke off its answer: {words}", tokens=tokens)
    if finish == "content_filter":
        raise RequestFailed("refused", f"{where}: the answer was held back by a content filter", tokens=tokens)
    if not isinstance(message, dict):
        raise RequestFailed("down", f"{where} answered a choice without a message", tokens=tokens)
    return Answer(cast("dict[str, Any]", message), str(finish), tokens)


def _whole(content: bytes) -> Any:
    """A JSON value without half characters, which no server would take back and no file could keep."""
    data: Any = json.loads(content)
    if any(sign in content for sign in (b"\\ud", b"\\uD", b"\xed", b"\0")):  # where there may be any
        data = json.loads(_clean(json.dumps(data, ensure_ascii=False)))
    return data


def _clean(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def read_tokens(usage: Any) -> Tokens | None:
    """A server's ``usage`` by kind; None where it does not say what was read and written."""
    if not isinstance(usage, dict):
        return None
    said = cast("dict[str, Any]", usage)
    read, written = _count(said, "prompt_tokens"), _count(said, "completion_tokens")
    if read is None or written is None:
        return None
    cached = _count(said.get("prompt_tokens_details"), "cached_tokens") or 0
    reasoning = _count(said.get("completion_tokens_details"), "reasoning_tokens") or 0
    return Tokens(read, min(cached, read), written, min(reasoning, written))


def _count(said: Any, name: str) -> int | None:
    value: Any = cast("dict[str, Any]", said).get(name) if isinstance(said, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _failed(endpoint: Endpoint, response: Response, key: str) -> RequestFailed:
    """What a response with an error status means."""
    status, text = response.status_code, response.text
    lower = text.lower()
    kind: Failure = "wrong"
    if status == 429:
        kind = "wrong" if "insufficient_quota" in lower else "busy"
    elif status in (408, 409, 425) or status >= 500:
        kind = "down"
    elif status == 400 and any(word in lower for word in _FILTERED):
        kind = "refused"
    return RequestFailed(
        kind,
        f"{_where(endpoint)} answered {status}: {_scrub(_own_words(text), key)}{_hint(endpoint, response, key)}",
        status=status,
        retry_after=_retry_after(response),
        too_long=kind == "wrong" and _is_too_long(status, lower),
    )


def _is_too_long(status: int, lower: str) -> bool:
    """Whether the prompt does not fit; 413 is also said where so many tokens are too many for a minute."""
    return _TOO_LONG.search(lower) is not None or (status == 413 and "per minute" not in lower)


def _hint(endpoint: Endpoint, response: Response, key: str) -> str:
    """What would be right, where a status tells it."""
    if 300 <= response.status_code < 400:
        target = _scrub(response.headers.get("location", "no address"), key)
        return f"; it points to {target}, and a key is sent only where base_url says"
    if response.status_code == 404 and not re.search(r"/v\d", endpoint.base_url):
        return f"; base_url has no /v1: is {endpoint.base_url.rstrip('/')}/v1 meant?"
    return ""


def _own_words(text: str) -> str:
    """The message of an error body, else the body."""
    try:
        error: Any = json.loads(text)
        while isinstance(error, dict):
            inner = cast("dict[str, Any]", error)
            error = inner.get("error") or inner.get("message") or inner.get("detail")
    except (ValueError, RecursionError):
        return text
    return error if isinstance(error, str) and error else text


def _retry_after(response: Response) -> float | None:
    """Seconds; a date is read against the server's own clock."""
    headers = response.headers
    for name, scale in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        said = headers.get(name)
        if said is None:
            continue
        try:
            seconds = float(said) / scale
            return seconds if 0 <= seconds < 1e6 else None
        except ValueError:
            pass
        try:
            waits = parsedate_to_datetime(said) - parsedate_to_datetime(headers.get("date", ""))
            return max(0.0, waits.total_seconds())
        except (TypeError, ValueError):
            continue
    return None


def _where(endpoint: Endpoint) -> str:
    return f"{endpoint.model} at {endpoint.base_url}"


def _scrub(text: str, key: str) -> str:
    """Words to show: no key in them, whole or in parts, and not too long."""
    text = _clean(text)
    text = text.replace(key, "[key]") if len(key) > 4 else text
    text = re.sub(r"\bsk-[A-Za-z0-9_*.\-]{4,}", "[key]", text)
    text = re.sub(r"(?i)(bearer\s+)\S+", r"\1[key]", text)
    return text if len(text) <= WORDS else text[:WORDS] + "…"


__all__ = [
    "Answer",
    "Failure",
    "RequestFailed",
    "ask",
    "close_clients",
    "need_openai",
    "read_tokens",
]
