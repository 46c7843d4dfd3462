"""``tbx train --dry-run``: what a run would be, before a GPU is asked for: settings, layout, memory, tokens and time.

Refuses, in one line, what does not divide or fit (`tb_trainer.layout`, `tb_trainer.fit`). Starts nothing, loads no
weights, asks no server.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from tb_trainer.built import check_patience
from tb_trainer.episodes import episode_settings
from tb_trainer.fit import Memory, check_fit, check_shape, memory_of, share_of
from tb_trainer.layout import Layout, layout_of
from tb_trainer.memory import GIB, Shape, shape_of
from tb_trainer.pace import pace_of
from tb_trainer.room import Room, check_room, room_of
from tb_trainer.schema import TrainConfig

UNKNOWN = "not measured"


def plan(config: TrainConfig) -> dict[str, Any]:
    """The plan as plain data.

    Raises:
        UsageError: it does not divide or does not fit; the message names the knob to turn.
    """
    episode_settings(config.environment)
    layout, shape = layout_of(config), shape_of(config.model)
    check_shape(config, layout, shape)
    check_patience(config, layout.ranks)
    room = room_of(config)
    check_room(config, room)
    memory = memory_of(config, layout, shape)
    check_fit(config, shape, memory, room.prompt)
    pace = pace_of(config, layout, shape.parameters)
    return {
        "name": config.name,
        "note": config.note,
        "config": config.to_json(),
        "model": asdict(shape),
        "layout": {**asdict(layout), "data": layout.data, "processes": _processes(config, layout)},
        "memory_gib": {
            "training": {name: round(size / GIB, 3) for name, size in memory.training.items()},
            "serving": {name: round(size / GIB, 3) for name, size in memory.serving.items()},
            "training_total": round(memory.used / GIB, 3),
            "limit": round(memory.limit / GIB, 3) or None,
        },
        "room": {**asdict(room), "left": config.sampling.episode_tokens - room.prompt},
        "expected": {
            "episodes": config.episodes,
            "tokens_at_most": pace.most,
            "sampled_at_most": pace.most_sampled,
            "read": pace.read,
            "sampled": pace.sampled,
            "seconds": {"generate": pace.generate, "update": pace.update, "both": pace.seconds},
            "sources": pace.sources,
        },
        "remarks": _remarks(config, layout, shape, memory, room, pace.generate),
    }


def describe(config: TrainConfig) -> str:
    """The plan as text for a person.

    Raises:
        UsageError: as `plan`.
    """
    made = plan(config)
    model, layout, memory, expected = (made[name] for name in ("model", "layout", "memory_gib", "expected"))
    lines = [f"plan of {config.name!r}: nothing is started", "", "settings", *_flat(made["config"])]
    lines += ["", "model", f"  sizes from {model['source']}: {_big(model['parameters'])} parameters, "]
    lines[-1] += "all trained" if not model["adapters"] else f"{_big(model['trained'])} in adapters are trained"
    lines += [
        "",
        f"layout: {layout['ranks']} training x {layout['sequence']} a sequence = {layout['data']} data groups, ",
    ]
    lines[-1] += f"{config.episodes // layout['data']} episodes each; engine: {layout['engine']}"
    lines += [f"  {row['where']:<22} {row['does']}" for row in layout["processes"]]
    room, about = made["room"], "about " if made["room"]["about"] else ""
    lines += ["", f"tokens of one episode ({room['source']})"]
    lines += [f"  {'first prompt, longest':<22} {about}{room['prompt']:,}, which leaves {room['left']:,}"]
    lines += [f"  {'right solutions':<22} {about}{room['read']:,.0f} read, {room['sampled']:,.0f} sampled"]
    lines[-1] += f"; the longest has {room['whole']:,} together"
    unit = "GPU" if config.parallel.gpus else "process"
    lines += ["", f"memory of one training {unit} at its peak, GiB"]
    lines += [f"  {name:<22} {size:8.2f}" for name, size in memory["training"].items()]
    may = "that may be used" if config.parallel.gpus else "on this machine"
    limit = f" of {memory['limit']:.1f} {may}" if memory["limit"] else " (nothing says what this machine has)"
    lines += [f"  {'together':<22} {memory['training_total']:8.2f}{limit}"]
    if memory["serving"]:
        lines += ["", "memory of one serving GPU, GiB"]
        lines += [f"  {name:<22} {size:8.2f}" for name, size in memory["serving"].items()]
    lines += ["", "one update", f"  {'episodes':<22} {expected['episodes']}"]
    lines += [f"  {'tokens, at most':<22} {expected['tokens_at_most']:,} ({expected['sampled_at_most']:,} sampled)"]
    lines += [
        f"  {'tokens, expected':<22} {_known(expected['read'], ' read')}, {_known(expected['sampled'], ' sampled')}"
    ]
    for name, label in (
        ("generate", "seconds generating"),
        ("update", "seconds updating"),
        ("both", "seconds together"),
    ):
        lines += [f"  {label:<22} {_known(expected['seconds'][name])}"]
    lines += [f"  {name} from {source}" for name, source in expected["sources"].items()]
    if made["remarks"]:
        lines += ["", "remarks", *(f"  * {remark}" for remark in made["remarks"])]
    return "\n".join([*lines, *(["", config.note.strip()] if config.note else [])])


def _processes(config: TrainConfig, layout: Layout) -> list[dict[str, str]]:
    """What happens where, machine by machine."""
    if not layout.training:
        return [{"where": f"process {rank}", "does": _role(rank)} for rank in range(layout.ranks)]
    rows: list[dict[str, str]] = []
    per, tensor = len(layout.training), config.engine.tensor_parallel
    trainers = layout.nodes - layout.serving_nodes
    for node in range(trainers):
        first = node * per
        does = f"train: ranks {_span(range(first, first + per))}" + ("; rank 0 plays" if not node else "")
        rows.append({"where": f"machine {node}, GPU {_span(layout.training)}", "does": does})
    servers = range(trainers, layout.nodes) if layout.serving_nodes else range(layout.nodes)
    for server in range(layout.copies):
        node, at = divmod(server * tensor, len(layout.serving))
        gpus = layout.serving[at : at + tensor]
        rows.append({"where": f"machine {servers[node]}, GPU {_span(gpus)}", "does": f"serve: server {server}"})
    return rows


def _role(rank: int) -> str:
    return "play and train" if rank == 0 else "train"


def _span(numbers: Any) -> str:
    first, last = numbers[0], numbers[-1]
    return str(first) if first == last else f"{first}-{last}"


def _remarks(
    config: TrainConfig, layout: Layout, shape: Shape, memory: Memory, room: Room, seconds: float | None
) -> list[str]:
    parallel, model, sampling = config.parallel, config.model, config.sampling
    out: dict[str, bool] = {
        "sequence parallel was run on CPU processes only: neither NCCL nor kernels of GPUs were tried": (
            layout.sequence > 1 and parallel.gpus > 0
        ),
        f"right solutions take up to {room.whole:,} tokens with their prompt, and sampling.episode_tokens is "
        f"{sampling.episode_tokens:,}: such tasks cannot be solved; raise it, or set environment.prompt compact": (
            room.whole > sampling.episode_tokens
        ),
        f"model.lora.targets [{', '.join(model.lora.targets)}] leaves frozen: {shape.frozen}": bool(shape.frozen),
        f"a sequence of parallel.sequence {layout.sequence} crosses machines": bool(
            layout.training and len(layout.training) % layout.sequence
        ),
        "deepspeed was run on CPU processes only, never on GPUs; fsdp2 spreads the same numbers and needs no further "
        "library": parallel.strategy == "deepspeed",
        f"model.dtype bfloat16 without fp32 copies: a step of {config.grpo.learning_rate:g} is lost in rounding "
        "for most weights (bfloat16 has 8 bits); set parallel.strategy fsdp2, or model.dtype float32": (
            model.dtype == "bfloat16" and parallel.strategy == "ddp" and config.grpo.learning_rate < 1e-4
        ),
        "what was sampled was cut (top_p or top_k) and grpo.importance_cap is 0: nothing corrects for it": (
            (sampling.top_p < 1 or sampling.top_k > 0) and not config.grpo.importance_cap
        ),
        f"a server's cache holds {memory.held} rollouts of full length, up to {share_of(config, layout)} are in play; "
        "longer ones wait or are read again": bool(memory.serving) and memory.held < share_of(config, layout),
        "the activations of linear attention are counted by their widths and were never measured": shape.linear > 0,
        "this machine has less memory than that; the formula may count up to a fifth too much, so it is not refused": (
            0 < memory.limit < memory.used
        ),
        f"the other processes wait parallel.timeout {parallel.timeout:g} s for the first one to play, expected to "
        f"take {seconds or 0:,.0f} s: set it to twice that": layout.ranks > 1 and 2 * (seconds or 0) > parallel.timeout,
        "the formula was held against CPU peaks; no GPU has confirmed it": parallel.gpus > 0,
    }
    return [text for text, holds in out.items() if holds]


def _flat(tree: Mapping[str, Any], prefix: str = "") -> list[str]:
    lines: list[str] = []
    for name, value in tree.items():
        if isinstance(value, dict) and value:
            lines += _flat(value, f"{prefix}{name}.")
        elif f"{prefix}{name}" != "note":
            lines.append(f"  {prefix}{name} = {value!r}")
    return lines


def _known(number: float | None, unit: str = "") -> str:
    return UNKNOWN + unit if number is None else f"{number:,.0f}{unit}" if number >= 10 else f"{number:.2g}{unit}"


def _big(number: int) -> str:
    for size, unit in ((1e9, "B"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.2f} {unit}"
    return str(number)
