"""Turns sampled from a transformers model, many at once: one ``model.generate`` a turn, padded on the left.

Log-probs are of the distribution that was sampled from: the whole vocabulary at the given temperature. Not here:
keeping the KV cache between turns (each turn reads its context again), random numbers keyed by episode (one stream for
the batch, so what an episode samples depends on its neighbours), an engine in another process.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch

from tb_trainer.rollout import Place, Sample

if TYPE_CHECKING:
    from tb_trainer.config import SamplingConfig


class ModelTurns:
    """A model as a generator.

    Args:
        model: any causal language model.
        config: temperature and the limit of new tokens.
        tokenizer: for the tokens that end a turn and fill up shorter contexts.
    """

    def __init__(self, model: Any, config: SamplingConfig, tokenizer: Any) -> None:
        self.model, self.config = model, config
        self.eos, self.pad = int(tokenizer.eos_token_id), int(tokenizer.pad_token_id)

    @torch.no_grad()
    def __call__(self, contexts: Sequence[Sequence[int]], places: Sequence[Place]) -> list[Sample]:
        """Sample the next turn of each context."""
        width = max(map(len, contexts))
        device = self.model.device
        ids = torch.tensor([[self.pad] * (width - len(c)) + list(c) for c in contexts], device=device)
        seen = torch.tensor([[0] * (width - len(c)) + [1] * len(c) for c in contexts], device=device)
        training = self.model.training
        self.model.eval()
        out = self.model.generate(
            input_ids=ids,
            attention_mask=seen,
            max_new_tokens=self.config.turn_tokens,
            do_sample=True,
            temperature=self.config.temperature,
            top_k=0,
            top_p=1.0,
            eos_token_id=self.eos,
            pad_token_id=self.pad,
            return_dict_in_generate=True,
            output_logits=True,
        )
        self.model.train(training)
        new = out.sequences[:, width:]
        logits = torch.stack(out.logits, dim=1).float() / self.config.temperature
        logprobs = logits.log_softmax(-1).gather(-1, new.unsqueeze(-1)).squeeze(-1)
        return [self._sample(*row) for row in zip(new.tolist(), logprobs.tolist(), strict=True)]

    def _sample(self, ids: list[int], logprobs: list[float]) -> Sample:
        end = ids.index(self.eos) + 1 if self.eos in ids else len(ids)
        return Sample(ids[:end], logprobs[:end])
