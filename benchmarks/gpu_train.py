"""How fast one GPU trains: generation and update of 18 x 8 episodes, a Qwen3 architecture of random weights in bf16.

    python benchmarks/gpu_train.py [--size 1.7B] [--toy] [--out FILE.json] [--seconds 300]

The trainer's own parts do the work: engine `hf`, runner, groups, the GRPO update, weights handed to the engine. Talks
are those of the hotel's scripts (`benchmarks/forced.py`), so their lengths are real, though in tokens of a small
vocabulary. ``--toy`` does the same on the CPU in seconds, with the shortest rendering. The file is written after each
phase, so that a run that is cut off leaves what it measured (``"complete": false``); after ``--seconds`` no further
episode is waited for.

Model FLOPs of the update, forward and backward, 3 x the forward pass, nothing that is computed twice (Chowdhery et al.
2022, "PaLM", arXiv 2204.02311, appendix B), counted for what this update needs: causal attention is half a square, the
head reads only sampled tokens, the table of embeddings is only looked up. With P numbers in the matrices of all blocks,
L blocks, H heads of size Q, vocabulary V, width h, an episode of T tokens of which S were sampled takes

    6 P T + 6 L H Q T^2 + 6 V h S

Utilisation is that over seconds and the peak of dense bf16 (`PEAKS`: NVIDIA's data sheets, without sparsity).
"""

from __future__ import annotations

import argparse
import json
import re
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from forced import ForcedEngine, scripts
from transformers import Qwen3Config, Qwen3ForCausalLM

from tb_envs.limits import Limits as EpisodeLimits
from tb_envs.registration import load_domain
from tb_envs.settings import Settings
from tb_envs.task import get_task
from tb_trainer.compact.tokenizer import compact_texts, make_compact_tokenizer
from tb_trainer.config import check
from tb_trainer.engines import Key
from tb_trainer.engines.make import make_engine
from tb_trainer.groups import GroupCollector
from tb_trainer.grpo import Example, Objective, advantages
from tb_trainer.provenance import provenance
from tb_trainer.ranks import make_accelerator
from tb_trainer.render import make_renderer
from tb_trainer.runner import Limits, Runner
from tb_trainer.schema import TrainConfig
from tb_trainer.tasks.scope import within
from tb_trainer.tasks.source import make_source
from tb_trainer.tiny import make_tokenizer, texts_of
from tb_trainer.update import Updater, pack

PEAKS = {"H200": 989e12, "H100 PCIe": 756e12, "H100": 989e12, "A100": 312e12, "L40S": 362e12}
SIZES: dict[str, tuple[int, int, int, int, int, int]] = {  # hidden, inner, blocks, heads, heads for keys, vocabulary
    "toy": (64, 192, 2, 4, 2, 3072),
    "0.6B": (1024, 3072, 28, 16, 8, 151936),
    "1.7B": (2048, 6144, 28, 16, 8, 151936),
    "4B": (2560, 9728, 36, 32, 8, 151936),
}


def make_model(size: str, device: torch.device, tokenizer: Any) -> Any:
    """A Qwen3 with the sizes of its published config.json and random weights."""
    hidden, inner, blocks, heads, keys, vocabulary = SIZES[size]
    config = Qwen3Config(
        vocab_size=max(vocabulary, len(tokenizer)),
        hidden_size=hidden,
        intermediate_size=inner,
        num_hidden_layers=blocks,
        num_attention_heads=heads,
        num_key_value_heads=keys,
        head_dim=16 if size == "toy" else 128,
        max_position_embeddings=40960,
        tie_word_embeddings=True,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    flash = device.type == "cuda" and find_spec("flash_attn") is not None
    torch.manual_seed(0)
    with device:
        model: Any = Qwen3ForCausalLM._from_config(
            config,
            dtype=torch.float32 if size == "toy" else torch.bfloat16,
            attn_implementation="flash_attention_2" if flash else "sdpa",
        )
    model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    return model


def model_flops(model: Any, examples: list[Example]) -> float:
    """Of an update on these episodes; the module's docstring has the formula."""
    config = model.config
    matrices = sum(p.numel() for block in model.model.layers for p in block.parameters() if p.dim() == 2)
    attention = config.num_hidden_layers * config.num_attention_heads * config.head_dim
    head = config.vocab_size * config.hidden_size
    return sum(
        6.0 * (matrices * len(e.tokens) + attention * len(e.tokens) ** 2 + head * e.tokens.actions) for e in examples
    )


def peak_of(name: str) -> float | None:
    """FLOP/s of dense bf16 of a device by its name; None: not known."""
    return next((peak for part, peak in PEAKS.items() if all(word in name for word in part.split())), None)


class Bench:
    """One model, its engine and its update.

    Args:
        size: of `SIZES`.
        config: groups, limits and micro-batches.
        device: of the model.
    """

    def __init__(self, size: str, config: TrainConfig, device: torch.device) -> None:
        self.config, self.device = config, device
        ids = within(config.environment, load_domain("hotel").suite_ids["train"])
        tasks = [get_task(task_id) for task_id in ids[:: -(-len(ids) // 16)]]
        if config.environment.prompt == "tiny":
            self.tokenizer = make_compact_tokenizer(compact_texts(tasks), 3072)
        else:
            self.tokenizer = make_tokenizer(texts_of(tasks), 3072)
        self.model = make_model(size, device, self.tokenizer)
        accelerator = make_accelerator("unused", cpu=device.type == "cpu", timeout=600.0)
        optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-6)
        self.wrapped, optimizer = accelerator.prepare(self.model, optimizer)
        self.updater = Updater(accelerator, self.wrapped, optimizer, Objective(), micro_tokens=config.grpo.micro_tokens)
        self.source = make_source(config, ids)
        self.renderer = make_renderer(config, self.tokenizer)
        self.turns = scripts(lambda key: self.source.draw(key.update, key.group, 0), self.renderer)
        self.engine = ForcedEngine(make_engine(config, self.model, self.tokenizer), self.turns, exact=True)
        environment, sampling = config.environment, config.sampling
        self.runner = Runner(
            self.engine,
            self.renderer,
            Settings(limits=EpisodeLimits(turns=environment.turns, tool_calls=environment.tool_calls)),
            Limits(sampling.turn_tokens, sampling.episode_tokens),
        )

    def wait(self) -> float:
        """Seconds, when the device has done what it was given."""
        if self.device.type == "cuda":
            torch.cuda.synchronize()
        return time.perf_counter()

    def update(self, number: int, groups: int, size: int, until: float, report: Any) -> None:
        """Collect and train on groups x size episodes; `report` is told of each phase."""
        for group in range(groups):
            for slot in range(size):
                self.turns(Key(self.config.seed, number, group, slot))
        collector = GroupCollector(self.runner, self.source, groups, size, self.config.seed, slots=groups * size)
        done, before = list[int](), self.runner.seconds["generate"]

        def note(rollout: Any) -> None:
            done.append(rollout.tokens.actions)
            if time.perf_counter() > until:
                rate = sum(done) / (self.runner.seconds["generate"] - before)
                raise TimeoutError(
                    f"{len(done)} of {groups * size} episodes were over when time was, at {rate:.0f} sampled tokens a "
                    "second; take a smaller --size or more --seconds"
                )

        began = self.wait()
        batch = collector.collect(number, on_rollout=note)
        scored = advantages([group.rewards for group in batch.groups])
        examples = [
            Example(rollout.tokens, value)
            for group, values in zip(batch.groups, scored, strict=True)
            for rollout, value in zip(group.rollouts, values, strict=True)
        ]
        collected = self.wait()
        report("collect", batch=batch, examples=examples, seconds=collected - began, parts=batch.seconds)
        step = self.updater.update(examples)
        stepped = self.wait()
        self.engine.load(self.model)
        report("update", examples=examples, seconds=stepped - collected, step=step, sync=self.wait() - stepped)


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """All figures; written to ``options.out`` as they come."""
    toy = options.toy
    size = "toy" if toy else options.size
    device = torch.device("cpu" if toy or not torch.cuda.is_available() else "cuda")
    prompt = "tiny" if toy else options.prompt
    groups, members = (2, 2) if toy else (18, 8)
    config = check(
        {
            "name": "gpu-train",
            "environment": {
                "prompt": prompt,
                "turns": 60,
                "tool_calls": 120,
                "families": ["late_cancellation", "date_change", "unverified_caller", "late_checkout"] if toy else [],
            },
            "model": {"dtype": "float32" if toy else "bfloat16"},
            "engine": {"kind": "hf"},
            "sampling": {"turn_tokens": 512, "episode_tokens": 32768},
            "grpo": {"groups": groups, "group_size": members, "micro_tokens": options.micro_tokens},
            "curriculum": {"kind": "shuffled"},
        }
    )
    name = torch.cuda.get_device_name() if device.type == "cuda" else "cpu"
    peak = options.peak or peak_of(name)
    until = time.perf_counter() + options.seconds
    bench = Bench(size, config, device)
    found: dict[str, Any] = {
        "complete": False,
        "device": name,
        "size": size,
        "parameters": sum(p.numel() for p in bench.model.parameters()),
        "dtype": str(bench.model.dtype).removeprefix("torch."),
        "attention": bench.model.config._attn_implementation,
        "gradient_checkpointing": True,
        "micro_tokens": options.micro_tokens,
        "prompt": prompt,
        "flops_formula": "6 P T + 6 L H Q T^2 + 6 V h S an episode (PaLM, arXiv 2204.02311, appendix B; causal)",
        "peak_flops": peak,
        **provenance(),
    }

    def report(phase: str, examples: list[Example], seconds: float, **more: Any) -> None:
        if phase == "collect":
            parts = more["parts"]
            sampled = sum(e.tokens.actions for e in examples)
            tokens = [len(e.tokens) for e in examples]
            found["episodes"] = {
                "count": len(examples),
                "turns": sum(rollout.turns for rollout in more["batch"].rollouts) / len(examples),
                "tokens": sum(tokens) / len(tokens),
                "longest": max(tokens),
                "sampled": sampled / len(tokens),
                "pass_rate": sum(rollout.outcome == "success" for rollout in more["batch"].rollouts) / len(tokens),
            }
            found["generation"] = {"sampled_tokens_per_second": sampled / parts["generate"]}
            found["seconds"] = {**parts, "trainer": seconds - sum(parts.values())}
        else:
            trained = [e for e in examples if e.advantage]
            tokens = [len(e.tokens) for e in trained]
            padded = sum(len(part) * len(part[0].tokens) for part in pack(trained, options.micro_tokens))
            flops = model_flops(bench.model, trained)
            found["update"] = {
                "episodes_with_advantage": len(trained),
                "tokens_per_second": sum(tokens) / seconds,
                "padding": 1 - sum(tokens) / padded,
                "model_flops": flops,
                "flops_per_second": flops / seconds,
                "utilisation": flops / seconds / peak if peak else None,
                "grad_norm": more["step"].get("grad_norm"),
                "mismatch_kl": more["step"].get("mismatch_kl"),
            }
            found["seconds"] |= {"update": seconds, "sync": more["sync"]}
        total = sum(found["seconds"].values())
        found["shares"] = {part: value / total for part, value in found["seconds"].items()}
        if device.type == "cuda":
            found["peak_gib"] = torch.cuda.max_memory_allocated() / 2**30
        write(options.out, found)

    try:
        bench.update(1, 1, 2, until, lambda *_, **__: None)  # warms up
        bench.update(2, groups, members, until, report)
        found["complete"] = True
    except TimeoutError as over:
        found["stopped"] = str(over)
    write(options.out, found)
    return found


def write(path: Path, found: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found, indent=1) + "\n", "utf-8")


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--size", default="1.7B", choices=[name for name in SIZES if name != "toy"])
    parser.add_argument("--toy", action="store_true", help="a tiny model on the CPU: whether this script works")
    parser.add_argument("--prompt", default="compact", choices=["compact", "full"])
    parser.add_argument("--micro-tokens", type=int, default=32768)
    parser.add_argument("--seconds", type=float, default=300.0, help="after these no further episode is played")
    parser.add_argument("--peak", type=float, help="FLOP/s of dense bf16, for a device that is not in the table")
    parser.add_argument("--out", type=Path, help="default: benchmarks/results/gpu_train-<device>.json")
    options = parser.parse_args()
    if not options.toy and not torch.cuda.is_available():
        parser.error("there is no GPU here; --toy tries the script on the CPU")
    if options.out is None:
        name = "cpu-toy" if options.toy else torch.cuda.get_device_name()
        slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
        options.out = Path(__file__).parent / "results" / f"gpu_train-{slug}.json"
    found = measure(options)
    print(json.dumps(found, indent=1))
    return int(not found["complete"])


if __name__ == "__main__":
    raise SystemExit(main())
