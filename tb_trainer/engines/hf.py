"""The engine for any causal language model of transformers, on any device: a padded batch and its own sampling loop.

All turns that wait are written together; each reads its rollout again from the first token (the cache lives for one
batch), so it suits short talks, odd architectures and checks of the other engines. Prompts are padded on the left. A
row whose turn has ended is carried on, unread, until the longest ends: one long turn costs as much as a batch of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from inspect import signature
from typing import Any

import torch

from tb_envs.errors import UsageError
from tb_trainer.engines import Key, Request, Sampling, Turn
from tb_trainer.engines.draws import draw, uniforms


class HfEngine:
    """Writes turns with ``model.forward`` and transformers' key-value cache.

    Args:
        model: any causal language model.
        sampling: how tokens are drawn.
        batch: turns written together at most.
    """

    def __init__(self, model: Any, sampling: Sampling, *, batch: int = 64) -> None:
        self.model, self.sampling, self.version = model, sampling, 0
        self._batch = batch
        takes = signature(getattr(model, "get_base_model", lambda: model)().forward).parameters  # below adapters
        self._cache = "cache" if "cache" in takes else "past_key_values"  # transformers 5.20 renamed it
        # Of a prompt only the last place is drawn from; logits of all of them would be prompt x vocabulary numbers.
        keeps = [name for name in ("logits_to_keep", "num_logits_to_keep") if name in takes]
        self._keep = dict.fromkeys(keeps[:1], 1)
        self._waiting: list[Request] = []

    def load(self, model: Any) -> None:
        """Take `model` for all further turns."""
        if self._waiting:
            raise UsageError("load new weights only when no turn is in flight")
        self.model = model
        self.version += 1

    def submit(self, request: Request) -> None:
        """Take a turn into work."""
        if any(waiting.key == request.key for waiting in self._waiting):
            raise UsageError(f"{request.key} has a turn in flight already")
        if not request.ids or request.limit < 1:
            raise UsageError("a request needs at least one token to read and one to write")
        self._waiting.append(request)

    def release(self, key: Key) -> None:
        """Forget the key."""
        self._waiting = [request for request in self._waiting if request.key != key]

    def poll(self, wait: float | None = None) -> list[Turn]:
        """Write the turns that wait, at most a batch of them, to the end of the longest, whatever `wait` is."""
        requests, self._waiting = self._waiting[: self._batch], self._waiting[self._batch :]
        if not requests:
            return []
        training = self.model.training
        self.model.eval()
        try:
            return self._write(requests)
        finally:
            self.model.train(training)

    @torch.no_grad()
    def _write(self, requests: Sequence[Request]) -> list[Turn]:
        device, pad = self.model.device, 0
        width = max(len(request.ids) for request in requests)
        ids = torch.tensor([[pad] * (width - len(r.ids)) + list(r.ids) for r in requests], device=device)
        seen = torch.tensor([[0] * (width - len(r.ids)) + [1] * len(r.ids) for r in requests], device=device)
        places = (seen.cumsum(-1) - 1).clamp_(min=0)
        written: list[tuple[list[int], list[float]]] = [([], []) for _ in requests]
        open_ = set(range(len(requests)))
        cache: Any = None
        while True:
            out = self.model(
                input_ids=ids,
                attention_mask=seen,
                position_ids=places,
                use_cache=True,
                **{self._cache: cache},
                **self._keep,
            )
            cache = out[self._cache]
            numbers = uniforms(
                [r.key for r in requests], [len(r.ids) + len(w[0]) for r, w in zip(requests, written, strict=True)]
            )
            chosen, logprobs = draw(out.logits[:, -1], self.sampling, numbers)
            for row in sorted(open_):
                written[row][0].append(chosen[row])
                written[row][1].append(logprobs[row])
                if chosen[row] in self.sampling.stop or len(written[row][0]) == requests[row].limit:
                    open_.discard(row)
            if not open_:
                break
            ids = torch.tensor([[token] for token in chosen], device=device)
            seen = torch.cat((seen, seen.new_ones(len(requests), 1)), dim=-1)
            places = places[:, -1:] + 1
        return [
            Turn(request.key, ids, logprobs, "stop" if ids[-1] in self.sampling.stop else "length")
            for request, (ids, logprobs) in zip(requests, written, strict=True)
        ]
