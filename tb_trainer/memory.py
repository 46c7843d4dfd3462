"""How much memory a run needs on each GPU, by part; parameters are counted on the meta device, nothing is allocated.

Bytes of one training GPU, with P parameters of which p are trained, N training GPUs, b bytes a number (4 or 2):

=============  ====================  ===============================  ====================================
part           ddp                   fsdp2                            deepspeed (ZeRO 3)
=============  ====================  ===============================  ====================================
weights        b P                   (b (P-p) + 4 p) / N              b P / N
gradients      b p (x2 if N > 1)     4 p / N                          4 p / N
optimizer      2 b p                 8 p / N                          12 p / N (8 p / N with b = 4)
gathered       0                     6 b x block + b x head          the same + b x (10^9, or P)
=============  ====================  ===============================  ====================================

AdamW holds two numbers for each trained one (Loshchilov & Hutter 2019, arXiv 1711.05101), in the type of the weights:
4 bytes where accelerate's FSDP2 raises trained weights to fp32 (its `fsdp2_prepare_model`) and where ZeRO keeps an
fp32 copy (Rajbhandari et al. 2020, arXiv 1910.02054, section 3.1: 2 + 2 + 12; here 2 + 4 + 12, because micro-batches
are summed in fp32, `tb_trainer.zero`). ZeRO also keeps up to 10^9 gathered weights for their next use (its
`stage3_max_live_parameters`). DDP holds gradients a second time in its
buckets (torch, `gradient_as_bucket_view`). Gathered are two blocks, with their weights, their gradients and those on
their way, and the head's weights; the head's gradients are among the activations. A reference model (``grpo.kl``) is
whole on every GPU: b P.

Activations follow Korthikanti et al. 2022 (arXiv 2205.05198, section 4), counted anew for the block of Qwen3 as
transformers computes it. One token of one block keeps, with q = heads x size, k = key-value heads x size, i the inner
width of the MLP, h the hidden width, n = 4 + 2b (a norm's input in fp32, what it scaled, its result):

    2 h n + (q + k) n + (q + k) b + 4 i b + 4 (2 + 2 heads + key-value heads)

(n falls to 4 + b where weights are frozen; without norms of queries and keys the second term goes.) With gradient
checkpointing a block keeps h b, and one block at a time all of it. In the backward pass 3 i b + 2 h b more stand by,
or one chunk of `tb_trainer.grpo.score`: chunk x vocabulary x (b + 16) and two gradients of the head. Episodes of
different lengths side by side also hold a mask, tokens x longest x (1 + b), with ``sdpa``; ``eager`` always holds a
score for each head; ``flash_attention_2`` neither. Sequence parallel (`tb_trainer.sequence`) divides the tokens of all
of this: with heads exchanged for tokens a mixer keeps as many numbers as without. It needs no mask (``eager`` one,
longest x longest x b), and where it does not divide key-value heads, each is kept as often as it is repeated.

Of a block of linear attention (Qwen3.5) only the widths are counted; that part was never measured. Refuses mixtures of
experts. What a CUDA context, NCCL and fragmentation take is not counted: `RESERVE` is kept free for them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tb_envs.errors import UsageError
from tb_trainer.schema import LoraConfig, ModelConfig

GIB = 2**30
CHUNK = 1024
"""Sampled tokens whose logits are held at once: the default of `tb_trainer.grpo.score`."""
LIVE = 10**9
"""Weights that DeepSpeed's ZeRO 3 keeps gathered beyond their use, at most."""
RESERVE = 0.08
"""Share of a GPU kept free for the CUDA context, NCCL's buffers and fragmentation; a margin, not a measurement."""
NEEDED = ("hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "vocab_size")


@dataclass(frozen=True)
class Shape:
    """Sizes of a model.

    Attributes:
        source: where they were read.
        parameters: all; shared embeddings once.
        trained: those that are trained; with adapters, theirs only.
        block: parameters of the largest block.
        ends: parameters outside of the blocks: embeddings, head, last norm.
        hidden, inner, heads, kv_heads, head_size, vocabulary: widths.
        attention: blocks with softmax attention.
        linear: blocks with linear attention.
        linear_token: numbers that a block of linear attention keeps for a token in training.
        linear_state: numbers that it keeps for a rollout in serving.
        linear_heads: its heads of values.
        positions: tokens of a rollout at most; 0: not said.
        norms: whether queries and keys are normalised.
        adapters: whether all but adapters is frozen.
        frozen: mixers that get no adapter though others may, in words.
    """

    source: str
    parameters: int
    trained: int
    block: int
    ends: int
    hidden: int
    inner: int
    heads: int
    kv_heads: int
    head_size: int
    vocabulary: int
    attention: int
    linear: int = 0
    linear_token: int = 0
    linear_state: int = 0
    linear_heads: int = 0
    positions: int = 0
    norms: bool = True
    adapters: bool = False
    frozen: str = ""

    @property
    def blocks(self) -> int:
        """How many blocks."""
        return self.attention + self.linear


@dataclass(frozen=True)
class Load:
    """What one training GPU carries.

    Attributes:
        bytes: of a number in weights and activations, 4 or 2.
        strategy: ``ddp``, ``fsdp2`` or ``deepspeed``.
        ranks: GPUs that train.
        tokens: of the largest micro-batch, padding included, on this GPU.
        sampled: of these at most.
        longest: tokens of the longest episode in it.
        mixed: whether its episodes differ in length, so that a mask is needed.
        attention: as `ModelConfig.attention`.
        checkpointing: as `ModelConfig.gradient_checkpointing`.
        reference: whether a second, frozen model is there.
        sequence: GPUs that share each episode; `tokens` and `sampled` are of one of them, `longest` of all.
    """

    bytes: int
    strategy: str
    ranks: int
    tokens: int
    sampled: int
    longest: int
    mixed: bool = False
    attention: str = "sdpa"
    checkpointing: bool = False
    reference: bool = False
    sequence: int = 1


def training_bytes(shape: Shape, load: Load) -> dict[str, int]:
    """Bytes of each part at the peak of an update; the module's docstring has the formula."""
    b, n = load.bytes, load.ranks
    frozen, trained = (shape.parameters if shape.adapters else 0), shape.trained
    if load.strategy == "ddp":
        parts = {
            "weights": b * (frozen + trained),
            "gradients": b * trained * (2 if n > 1 else 1),
            "optimizer": 2 * b * trained,
        }
    else:
        zero3 = load.strategy == "deepspeed"
        kept = (b, 4, 12) if zero3 and b < 4 else (4, 4, 8)
        parts = {
            "weights": -(-(b * frozen + kept[0] * trained) // n),
            "gradients": -(-kept[1] * trained // n),
            "optimizer": -(-kept[2] * trained // n),
            "gathered": b * ((2 if shape.adapters else 6) * shape.block + shape.vocabulary * shape.hidden),
        }
        if zero3:
            parts["gathered"] += b * min(LIVE, shape.parameters)
    if load.reference:
        parts["reference model"] = b * shape.parameters
    parts["activations"] = activation_bytes(shape, load)
    return parts


def activation_bytes(shape: Shape, load: Load) -> int:
    """Bytes that stand between forward and backward at their peak."""
    b, tokens = load.bytes, load.tokens
    norm = 4 + (b if shape.adapters else 2 * b)
    q, k = shape.heads * shape.head_size, shape.kv_heads * shape.head_size
    common = 2 * shape.hidden * norm + 4 * shape.inner * b + 8
    mixer = (q + k) * (norm if shape.norms else 0) + (q + k) * b + 4 * (2 * shape.heads + shape.kv_heads)
    mask = 0
    if load.sequence > 1:
        mixer += 2 * k * (repeats(shape.kv_heads, shape.heads, load.sequence) - 1) * b
        mask = load.longest**2 * b if load.attention == "eager" else 0
    elif load.mixed and load.attention != "flash_attention_2":
        mask = tokens * load.longest * (1 + b)
        mixer += 2 * (q - k) * b  # keys and values are repeated where a mask is given
    attention = tokens * (common + mixer)
    if load.attention == "eager":
        attention += shape.heads * tokens * load.longest * (4 + (b if b == 2 else 0))
    linear = tokens * (common + shape.linear_token * b) if shape.linear else 0
    standing = tokens * (3 * shape.inner + 2 * shape.hidden) * b
    top = tokens * shape.hidden * norm + 2 * load.sampled * shape.hidden * b
    head = min(load.sampled, CHUNK) * shape.vocabulary * (b + 16)
    head += 0 if shape.adapters else 2 * shape.vocabulary * shape.hidden * b
    if load.checkpointing:
        kept = shape.blocks * tokens * shape.hidden * b
        return mask + kept + top + max(head, max(attention, linear) + standing)
    kept = shape.attention * attention + shape.linear * linear
    return mask + kept + top + max(head, standing)


def repeats(few: int, many: int, size: int) -> int:
    """How often each of `few` heads, which serve `many`, has to be there, so that `size` processes get as many.

    A head serves consecutive ones, and goes on doing so when it is repeated in place. `size` divides `many`.
    """
    each = many // few
    return next(times for times in range(1, each + 1) if each % times == 0 and few * times % size == 0)


def cache_bytes(shape: Shape, bytes_: int, tokens: int, rollouts: int = 1) -> int:
    """Bytes of keys and values of `tokens` tokens of `rollouts` rollouts, over all GPUs of a copy of the server."""
    keys = 2 * shape.attention * shape.kv_heads * shape.head_size * bytes_
    return tokens * keys + rollouts * shape.linear * shape.linear_state * 4


def shape_of(model: ModelConfig) -> Shape:
    """The sizes of the configured model.

    Raises:
        UsageError: its configuration is not on this machine and not in `model.shape`, or is no dense decoder.
    """
    import torch
    from transformers import AutoModelForCausalLM

    from tb_trainer.adapters import frozen_mixers

    source, config, positions = _config(model)
    text = config.get_text_config()
    if any(getattr(text, name, None) for name in ("num_experts", "num_local_experts", "n_routed_experts")):
        raise UsageError(f"{source}: a mixture of experts is not planned for; set model.path to a dense model")
    with torch.device("meta"):
        made: Any = AutoModelForCausalLM.from_config(text)
    blocks = made.get_decoder().layers
    parameters = sum(parameter.numel() for parameter in made.parameters())
    inside = [sum(parameter.numel() for parameter in block.parameters()) for block in blocks]
    adapters = _adapters(made, model.lora) if model.lora.rank else 0
    heads = int(text.num_attention_heads)
    kinds = list(getattr(text, "layer_types", None) or ["full_attention"] * len(blocks))
    linear = sum("linear" in kind for kind in kinds)
    token, state = _linear(text) if linear else (0, 0)
    return Shape(
        source=source,
        parameters=parameters,
        trained=adapters or parameters,
        block=max(inside),
        ends=parameters - sum(inside),
        hidden=int(text.hidden_size),
        inner=int(text.intermediate_size),
        heads=heads,
        kv_heads=int(getattr(text, "num_key_value_heads", None) or heads),
        head_size=int(getattr(text, "head_dim", None) or text.hidden_size // heads),
        vocabulary=int(text.vocab_size),
        attention=len(blocks) - linear,
        linear=linear,
        linear_token=token,
        linear_state=state,
        linear_heads=int(text.linear_num_value_heads) if linear else 0,
        positions=positions,
        norms=any("q_norm" in name for name, _ in made.named_parameters()),
        adapters=bool(adapters),
        frozen=frozen_mixers(made, model.lora.targets) if adapters else "",
    )


def _config(model: ModelConfig) -> tuple[str, Any, int]:
    """Where the sizes come from, the configuration of transformers that holds them, and the positions it names."""
    from transformers import AutoConfig, Qwen3Config

    folder = model.checkpoint or model.path
    if folder and (Path(folder) / "config.json").is_file():
        found = AutoConfig.from_pretrained(folder)
        return f"{folder}/config.json", found, int(getattr(found.get_text_config(), "max_position_embeddings", 0) or 0)
    if model.shape:
        sizes: dict[str, Any] = {**model.shape}
        kind = str(sizes.pop("model_type", "qwen3"))
        missing = [name for name in NEEDED if name not in sizes]
        if missing:
            raise UsageError(f"model.shape lacks {', '.join(missing)}; take them from the model's config.json")
        try:
            return "model.shape", AutoConfig.for_model(kind, **sizes), int(sizes.get("max_position_embeddings", 0))
        except Exception as error:  # each architecture refuses wrong sizes in its own way
            raise UsageError(f"model.shape: {str(error).splitlines()[0]}") from None
    if folder:
        raise UsageError(
            f"{folder!r} is no folder with a config.json on this machine; for a plan give its sizes: "
            "--set 'model.shape={model_type: qwen3, hidden_size: …}' (as in the presets)"
        )
    tiny = Qwen3Config(
        vocab_size=model.vocabulary,
        hidden_size=model.hidden,
        intermediate_size=3 * model.hidden,
        num_hidden_layers=model.layers,
        num_attention_heads=model.heads,
        num_key_value_heads=max(1, model.heads // 2),
        head_dim=model.hidden // model.heads,
        tie_word_embeddings=model.tied,
    )
    return "the tiny model", tiny, 0


def _adapters(made: Any, lora: LoraConfig) -> int:
    """Parameters of the adapters: rank x (in + out) of each layer (Hu et al. 2021, arXiv 2106.09685)."""
    from torch import nn

    from tb_trainer.adapters import check_targets, is_target

    check_targets(made, lora.targets)
    head, total = made.get_output_embeddings(), 0
    for name, module in made.named_modules():
        if isinstance(module, nn.Linear) and module is not head and is_target(name, lora.targets):
            total += lora.rank * (module.in_features + module.out_features)
    if not total:
        raise UsageError(f"model.lora.targets: no linear layer is called {' or '.join(lora.targets)}; try all-linear")
    return total


def _linear(text: Any) -> tuple[int, int]:
    """Numbers that a gated delta rule block keeps: for a token in training (widths only), for a rollout in serving."""
    keys = text.linear_num_key_heads * text.linear_key_head_dim
    values = text.linear_num_value_heads * text.linear_value_head_dim
    spread = text.linear_num_value_heads * text.linear_key_head_dim
    state = spread * text.linear_value_head_dim
    # projected, convolved and activated; queries and keys of each head; gate, output, its norm; states of each 64
    return 3 * (2 * keys + values) + 2 * spread + 6 * values + state // 64, state
