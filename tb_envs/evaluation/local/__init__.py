"""A model on this machine as the agent, through transformers: ``tbx eval --model PATH``.

Its turns are written by one thread for all attempts (`writer`), rendered and read as a server would (`dialogue`).
A turn depends on its own prompt and seed only, so rows are the same whatever the concurrency. A talk longer than the
model's positions ends the attempt (``limit:context``); a model that breaks is `AgentBroke`, a system error. What a turn
found already read is no part of rows, since it depends on who came before: ``cached_input`` is 0.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tb_envs.costs import Cost, Tokens
from tb_envs.errors import UsageError
from tb_envs.evaluation.context import Message
from tb_envs.evaluation.local.dialogue import Dialogue
from tb_envs.evaluation.local.options import Options
from tb_envs.evaluation.local.weights import describe, load
from tb_envs.evaluation.local.writer import Writer
from tb_envs.evaluation.meter import Meter
from tb_envs.evaluation.players import AgentBroke, Answer

__all__ = ["LocalModel", "describe", "open_local"]


def open_local(path: str, sampling: Mapping[str, Any], concurrency: int) -> LocalModel:
    """Load a model.

    Args:
        path: a folder, a ``.gguf`` file, or ``gguf:PACKAGE``.
        sampling: fields of `Options`.
        concurrency: attempts played at a time; how many turns are written at a time is `Options.width`.

    Raises:
        UsageError: it cannot be loaded, or not be used as asked.
    """
    from tb_envs.evaluation.local.ragged import Ragged

    options = Options.of(sampling)
    model, tokenizer = load(path, options)
    stops = stop_ids(model, tokenizer)
    dialogue = Dialogue(tokenizer, options, stops)
    ragged = Ragged(model)
    return LocalModel(Path(path).name, dialogue, Writer(ragged, options, stops), options.max_tokens, ragged.positions)


class LocalModel:
    """A model on this machine.

    Args:
        name: for messages.
        dialogue: renders and reads.
        writer: writes.
        most: tokens of a turn.
        positions: tokens that prompt and turn may have together.
    """

    def __init__(self, name: str, dialogue: Dialogue, writer: Writer, most: int, positions: int) -> None:
        self._name, self._dialogue, self._writer = name, dialogue, writer
        self._most, self._positions = most, positions
        self._reader = ThreadPoolExecutor(1, "prompts")

    async def act(
        self,
        messages: Sequence[Message],
        tools: Sequence[Mapping[str, Any]],
        instructions: str,
        *,
        seed: int,
        meter: Meter,
    ) -> Answer:
        """The model's next turn; `AgentBroke` when there is none to be had."""
        began = time.perf_counter()
        loop = asyncio.get_running_loop()
        waited = 0.0
        try:
            prompt = await loop.run_in_executor(self._reader, self._dialogue.prompt, instructions, tools, messages)
            room = self._positions - len(prompt.ids)
            if room < 1:
                return Answer(
                    ends="limit:context", written=f"{len(prompt.ids)} tokens; the model reads {self._positions}"
                )
            turn = await asyncio.wrap_future(self._writer.submit(prompt.ids, min(self._most, room), seed))
            waited = turn.waited
        except (UsageError, AgentBroke):
            raise
        except Exception as error:
            raise AgentBroke(f"{self._name} broke: {type(error).__name__}: {str(error)[:400]}") from error
        finally:
            meter.waiting += waited
            meter.agent += Cost(seconds=time.perf_counter() - began - waited)
        text = self._dialogue.written(turn.ids)
        read = self._dialogue.read(text, tools, inside=prompt.inside, ended=turn.ended)
        thought = min(len(turn.ids), self._dialogue.count(read.thinking))
        meter.answered(Tokens(len(prompt.ids), 0, len(turn.ids), thought))
        return Answer(read.action, written=text, finish="" if turn.ended else "length")

    async def close(self) -> None:
        """End the threads."""
        self._reader.shutdown(wait=False, cancel_futures=True)
        await asyncio.get_running_loop().run_in_executor(None, self._writer.close)


def stop_ids(model: Any, tokenizer: Any) -> tuple[int, ...]:
    """Ids that end a turn: of the tokenizer, of the model's own settings, and Llama's end of a call."""
    said: Any = getattr(getattr(model, "generation_config", None), "eos_token_id", None)
    found: list[Any] = [tokenizer.eos_token_id, *(said if isinstance(said, list) else [said])]
    found.append(tokenizer.get_added_vocab().get("<|eom_id|>"))
    stops = tuple(dict.fromkeys(int(token) for token in found if token is not None))
    if not stops:
        raise UsageError("the model's tokenizer says no token that ends a turn (eos_token)")
    return stops
