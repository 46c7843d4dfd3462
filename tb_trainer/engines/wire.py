"""What is asked of a vLLM server for one turn, and what of its answer is believed. Plain data in and out, no I/O.

A turn is asked for through the OpenAI-compatible ``POST /v1/completions`` with token ids as the prompt. Fields as in
vLLM's ``vllm/entrypoints/openai/completion/protocol.py``, documented at docs.vllm.ai for v0.26.0 and compared with the
main branch at commit 002032ee. All that a server or a ``generation_config.json`` could set in our place is sent, so
that nothing but `Sampling` decides how a token is drawn: penalties and ``min_p`` are off, and ``ignore_eos`` leaves
``stop_token_ids`` as the only ids that end a turn (the one that did is part of ``token_ids``).

Which distribution the log-probs are of is a flag of the *server*, ``--logprobs-mode``, that a request cannot change:
``raw_logprobs``, its default, are of the model before temperature and truncation; ``processed_logprobs`` are of the
distribution that the token was drawn from. `tb_trainer.engines.Turn` promises the second, which is what the importance
weights divide by. Both are the same at temperature 1 without truncation. `is_processed` tells them apart by an answer.

Refuses an answer that is not exactly as asked: other prompt ids, a log-prob missing, not finite or of another token, a
turn that ended for no reason of ours. Such an answer is no turn of the policy.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Mapping
from typing import Any

from tb_trainer.engines import Key, Request, Sampling, Turn

PROBE = (1, 2, 3, 4)
"""Token ids that every vocabulary has: what a server is asked to continue to show that it answers, and with what."""

_CLAMPED = -9999.0
"""What vLLM writes for a log-prob of minus infinity."""


class Away(Exception):
    """The server does not answer, or says that it cannot now: ask again later."""


class Refused(Exception):
    """The server will never answer this, however often it is asked."""


class Nonsense(Exception):
    """The server answered, but not with a turn."""


def credentials() -> dict[str, str]:
    """The header for servers that were started with ``--api-key``: from the environment's ``VLLM_API_KEY``."""
    key = os.environ.get("VLLM_API_KEY")
    return {"Authorization": f"Bearer {key}"} if key else {}


def seed_of(key: Key, place: int) -> int:
    """The seed of the turn that begins at `place` of a rollout: 63 bits, the same whenever and wherever it is asked."""
    name = repr((*key, place)).encode()
    return int.from_bytes(hashlib.blake2b(name, digest_size=8).digest(), "little") >> 1


def question(model: str, request: Request, sampling: Sampling) -> dict[str, Any]:
    """The body that asks for a turn."""
    greedy = sampling.temperature == 0
    return {
        "model": model,
        "prompt": list(request.ids),
        "max_tokens": request.limit,
        "n": 1,
        "seed": seed_of(request.key, len(request.ids)),
        "temperature": sampling.temperature,
        # The likeliest token is the same without truncation, and so its log-prob is the model's own.
        "top_p": 1.0 if greedy else sampling.top_p,
        "top_k": 0 if greedy else sampling.top_k,
        "min_p": 0.0,
        "repetition_penalty": 1.0,
        "presence_penalty": 0.0,
        "frequency_penalty": 0.0,
        "stop_token_ids": list(sampling.stop),
        "ignore_eos": True,
        "add_special_tokens": False,
        "skip_special_tokens": False,
        "logprobs": 0,  # of the sampled token alone
        "return_token_ids": True,
        "return_tokens_as_token_ids": True,
    }


def turn_of(answer: Any, request: Request, sampling: Sampling) -> Turn:
    """The turn in a server's answer.

    Raises:
        Away: the server gave the turn up (it was paused, or is shutting down).
        Nonsense: the answer is not what was asked for; the message says in what.
    """
    choice = _choice(answer)
    finish = choice.get("finish_reason")
    if finish not in ("stop", "length"):
        raise Away(f"it gave a turn up ({finish})")
    if choice.get("prompt_token_ids") != list(request.ids):
        raise Nonsense("it did not read the prompt that it was sent")
    ids, logprobs = sampled(choice)
    if finish == "stop" and ids[-1] not in sampling.stop:
        raise Nonsense(f"it ended a turn at token {ids[-1]}; serve with --generation-config vllm")
    if finish == "length" and len(ids) != request.limit:
        raise Nonsense(f"it cut a turn off after {len(ids)} of {request.limit} tokens")
    return Turn(request.key, ids, logprobs, finish)


def sampled(choice: Mapping[str, Any]) -> tuple[list[int], list[float]]:
    """Sampled ids and the log-prob of each.

    Raises:
        Nonsense: they are missing, or not one finite log-prob for each token, in the same order.
    """
    ids = choice.get("token_ids")
    given = choice.get("logprobs") or {}
    logprobs, names = given.get("token_logprobs"), given.get("tokens")
    if not isinstance(ids, list) or not ids or not isinstance(logprobs, list) or not isinstance(names, list):
        raise Nonsense("its answer has no token ids or no log-probs")
    if not len(ids) == len(logprobs) == len(names):
        raise Nonsense(f"it gave {len(logprobs)} log-probs for {len(ids)} tokens")
    for token, logprob, name in zip(ids, logprobs, names, strict=True):
        if name != f"token_id:{token}":
            raise Nonsense(f"it gave the log-prob of {name} for token {token}")
        if logprob is None or not math.isfinite(logprob) or not _CLAMPED < logprob < 1e-3:
            raise Nonsense(f"it gave the log-prob {logprob} for token {token}")
    return ids, [float(logprob) for logprob in logprobs]


def probe(model: str, tokens: int) -> dict[str, Any]:
    """A body that asks for the likeliest tokens after `PROBE`."""
    return question(model, Request(Key(0, 0, 0, 0), PROBE, tokens), Sampling(temperature=0.0))


def mode_probe(model: str) -> dict[str, Any]:
    """A body whose answer tells processed log-probs from raw ones: two tokens, next to equally likely."""
    return question(model, Request(Key(0, 0, 0, 0), PROBE, 1), Sampling(temperature=1000.0, top_k=2))


def is_processed(answer: Any) -> bool:
    """Whether the log-prob in the answer to `mode_probe` is one of two: log ½, or near it."""
    return abs(sampled(_choice(answer))[1][0] + math.log(2)) < 0.2


def probed(answer: Any) -> tuple[list[int], list[float]]:
    """What a server answered to `probe`."""
    return sampled(_choice(answer))


def _choice(answer: Any) -> Mapping[str, Any]:
    choices = answer.get("choices") if isinstance(answer, dict) else None
    if not isinstance(choices, list) or len(choices) != 1 or not isinstance(choices[0], dict):
        raise Nonsense("its answer has not one choice")
    return choices[0]
