"""Which agent a campaign has: from what was asked for, checked at once, to a player, and to what the manifest says.

An agent is exactly one of: a built-in one, a Python function, a model behind an endpoint, weights on this machine.
Refuses to play, and to keep a secret: keys stay in the environment.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tb_envs.agents import BUILT_IN, load_callable
from tb_envs.endpoints import DEFAULT_KEY, Endpoint
from tb_envs.errors import UsageError
from tb_envs.evaluation.context import ContextRule
from tb_envs.evaluation.pacing import Breaker, Gate
from tb_envs.evaluation.players import AgentPlayer, Model, ModelPlayer, Player

LOCAL = "tb_envs.evaluation.local"
"""Module of the models on this machine: ``open_local(path, sampling, concurrency) -> Model``, and
``describe(path, sampling)``, what the manifest says of the weights. It is loaded only where one is asked for."""
RESERVED = ("model", "messages", "tools", "seed", "stream", "n")
"""Fields of a request that are the campaign's own."""


@dataclass(frozen=True)
class Asked:
    """The agent as it was asked for.

    Attributes:
        agent: a built-in agent or ``module:callable``; empty for a model.
        model: its name at the endpoint, or a path on this machine.
        base_url: the endpoint; empty for weights on this machine.
        sampling: fields of each request, as they are sent: ``temperature``, ``top_p``, ``max_tokens``, …
        context: the rule for long talks.
        api_key_env: the environment variable with the key.
        send_seed: send each turn's seed.
        timeout: seconds for one request.
        retries: new requests after a failed one.
        first_wait: seconds before the first of them.
    """

    agent: str = ""
    model: str = ""
    base_url: str = ""
    sampling: Mapping[str, Any] = field(default_factory=dict[str, Any])
    context: ContextRule = field(default_factory=ContextRule)
    api_key_env: str = DEFAULT_KEY
    send_seed: bool = False
    timeout: float = 600.0
    retries: int = 5
    first_wait: float = 0.5

    def __post_init__(self) -> None:
        if bool(self.agent) == bool(self.model):
            raise UsageError("say who plays: --agent NAME, --model NAME --base-url URL, or --model PATH")
        for name in RESERVED:
            if name in self.sampling:
                hint = "; --send-seed sends each turn's own" if name == "seed" else ""
                raise UsageError(f"--sampling cannot set {name!r}, which the campaign sets itself{hint}")
        if self.agent and (self.sampling or self.base_url or self.send_seed or self.context.rule != "none"):
            raise UsageError("--sampling, --base-url, --send-seed and --context are for models; --agent takes none")
        if self.kind == "local" and not on_this_machine(self.model):
            raise UsageError(
                f"--model {self.model!r} is no path on this machine; for a model behind an endpoint give --base-url URL"
            )

    @property
    def kind(self) -> str:
        """``built-in``, ``callable``, ``chat`` or ``local``."""
        if self.agent:
            return "built-in" if self.agent in BUILT_IN else "callable"
        return "chat" if self.base_url else "local"

    @property
    def name(self) -> str:
        """A short name."""
        return self.agent or (Path(self.model).name if self.kind == "local" else self.model)

    def endpoint(self) -> Endpoint:
        """Where the model is asked."""
        return Endpoint(
            self.model,
            self.base_url,
            deadline=self.timeout,
            retries=self.retries,
            api_key_env=self.api_key_env,
            extra=self.sampling,
        )


def on_this_machine(model: str) -> bool:
    """Whether a model's name is a path here, or ``gguf:PACKAGE``."""
    return model.startswith("gguf:") or os.path.exists(model)


def describe(asked: Asked) -> dict[str, Any]:
    """What the manifest says of the agent.

    Raises:
        UsageError: there is no such agent.
    """
    said: dict[str, Any] = {"kind": asked.kind, "name": asked.agent or asked.model}
    if asked.kind == "callable":
        said["code"] = _code(asked.agent, load_callable(asked.agent))
    if asked.kind == "chat":
        endpoint = asked.endpoint()
        endpoint.key()  # a variable that was named and is not set is told now
        said["base_url"] = endpoint.base_url
    if asked.kind == "local":
        said["weights"] = importlib.import_module(LOCAL).describe(asked.model, asked.sampling)
    if asked.model:
        said |= {"sampling": dict(asked.sampling), "seeded": asked.send_seed or asked.kind == "local"}
    return said


def _code(name: str, function: Callable[..., Any]) -> dict[str, str]:
    """SHA-256 by module: of the named one's source, and of that where the function is written if it is another."""
    inner: Any = inspect.unwrap(function)
    written = inner.__module__ if inspect.isfunction(inner) else type(inner).__module__
    out: dict[str, str] = {}
    for module in dict.fromkeys((name.partition(":")[0], written)):
        file = getattr(sys.modules.get(module), "__file__", None)
        if file and os.path.isfile(file) and module not in sys.stdlib_module_names:
            with open(file, "rb") as source:
                out[module] = hashlib.file_digest(source, "sha256").hexdigest()
    return out


def open_player(asked: Asked, *, concurrency: int, breaker: Breaker) -> Player:
    """The agent, ready to play.

    Raises:
        UsageError: there is no such agent, or what it needs is not installed.
    """
    if asked.agent:
        return AgentPlayer(asked.agent, concurrency)
    return ModelPlayer(_model(asked, concurrency, breaker), asked.context)


def _model(asked: Asked, concurrency: int, breaker: Breaker) -> Model:
    if asked.kind == "local":
        return importlib.import_module(LOCAL).open_local(asked.model, asked.sampling, concurrency)
    from tb_envs.evaluation.chat import ChatModel

    endpoint = asked.endpoint()
    gate = Gate(concurrency, asked.first_wait)
    return ChatModel(endpoint, gate, breaker, first_wait=asked.first_wait, send_seed=asked.send_seed)
