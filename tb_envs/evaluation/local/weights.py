"""Weights on this machine: what a manifest says of them, and the model and tokenizer they are read as.

A folder as transformers saves it, a ``.gguf`` file, or ``gguf:PACKAGE``, an installed package that carries one. The
fingerprint is SHA-256 over every byte of every file that makes the model: samples of large files would be quicker and
would miss a change between them, and all of it is read for loading anyway. Refuses code that comes with weights.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

from tb_envs.errors import UsageError
from tb_envs.evaluation.local.options import Options
from tb_envs.gguf_file import PREFIX, file_of, quantised_as, read_gguf

WEIGHTS = (".safetensors", ".bin", ".pt", ".pth", ".gguf")
TEXTS = (".json", ".txt", ".jinja", ".model", ".tiktoken", ".py")
_SNAPSHOT = re.compile(r"/snapshots/([0-9a-f]{40})(?:/|$)")
_BLOCK = 1 << 22
_IGNORED = ("optimizer", "scheduler", "rng_state", "trainer_state", "training_args")
"""Beginnings of the names of files that a checkpoint holds for training only."""


def describe(path: str, sampling: Mapping[str, Any]) -> dict[str, Any]:
    """What a manifest says of weights: equal exactly where the model is.

    Args:
        path: of the model.
        sampling: fields of `Options`; those that are wrong are refused here already, before a campaign begins.

    Returns:
        ``sha256`` of the contents of all files by their names, ``files`` and ``bytes``, ``architecture``, ``dtype``
        (as saved), ``revision`` (of a snapshot of a hub; null elsewhere), ``device`` (that is used), ``torch`` and
        ``transformers`` (versions).

    Raises:
        UsageError: there is no model, or what reads one is not installed, or a field is wrong.
    """
    options = Options.of(sampling)
    need_transformers()
    files = dict(_files(path))
    with ThreadPoolExecutor(4) as pool:
        hashes = dict(zip(files, pool.map(_hash, files.values()), strict=True))
    whole = "".join(f"{name}\0{digest}\n" for name, digest in sorted(hashes.items()))
    return {
        "sha256": hashlib.sha256(whole.encode()).hexdigest(),
        "files": len(files),
        "bytes": sum(file.stat().st_size for file in files.values()),
        **_kind(path),
        "revision": found[1] if (found := _SNAPSHOT.search(str(Path(path).absolute()))) else None,
        "device": device_of(options),
        "torch": version("torch"),
        "transformers": version("transformers"),
    }


def load(path: str, options: Options) -> tuple[Any, Any]:
    """The model, ready to compute, and its tokenizer.

    Raises:
        UsageError: they cannot be read.
    """
    need_transformers()
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()
    dtype: Any = "auto" if options.dtype == "auto" else getattr(torch, options.dtype)
    model: Any
    tokenizer: Any
    auto: Any = AutoModelForCausalLM
    words: Any = AutoTokenizer
    try:
        if (source := gguf_of(path)) is not None:
            model, tokenizer = read_gguf(source, dtype=None if dtype == "auto" else dtype)
        else:
            dict(_files(path))
            tokenizer = words.from_pretrained(path, local_files_only=True)
            model = auto.from_pretrained(path, local_files_only=True, dtype=dtype)
        model.to(device_of(options))
    except (OSError, ValueError, RuntimeError, ImportError, KeyError) as error:
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise UsageError(f"--model {path}: it cannot be read as a causal language model: {first}") from None
    if len(tokenizer) > model.config.get_text_config().vocab_size:
        raise UsageError(f"--model {path}: its tokenizer has {len(tokenizer)} entries, more than the model")
    return model.eval(), tokenizer


def device_of(options: Options) -> str:
    """Where the model computes.

    Raises:
        UsageError: there is no such device.
    """
    import torch

    if options.device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.empty(1, device=options.device)
    except (RuntimeError, AssertionError, ValueError):
        raise UsageError(f"--sampling device: there is no device {options.device!r}; valid: auto, cpu, cuda") from None
    return options.device


def need_transformers() -> None:
    """Refuse at once, with what is right, where the packages are missing.

    Raises:
        UsageError: one is not installed.
    """
    missing = [name for name in ("torch", "transformers", "jinja2") if find_spec(name) is None]
    if missing:
        raise UsageError(
            f"a model on this machine needs {', '.join(missing)}: pip install 'thinkingbox-gym[train]', "
            "or give --base-url for a model behind an endpoint"
        )


def gguf_of(path: str) -> str | None:
    """What `tb_envs.gguf_file` is to read, if the path is one of its own."""
    if path.startswith(PREFIX):
        return path.removeprefix(PREFIX)
    return path if path.endswith(".gguf") else None


def _files(path: str) -> Iterator[tuple[str, Path]]:
    """The files that make the model, by name."""
    if (source := gguf_of(path)) is not None:
        file = file_of(source)
        yield file.name, file
        return
    folder = Path(path)
    if (folder / "adapter_config.json").is_file():
        raise UsageError(f"--model {path}: it holds adapters alone; merge them into their model first, and save that")
    if not (folder / "config.json").is_file():
        raise UsageError(f"--model {path}: it holds no model (no config.json)")
    found = [file for file in sorted(folder.iterdir()) if file.is_file() and file.suffix in (*WEIGHTS, *TEXTS)]
    if not any(file.suffix in WEIGHTS for file in found):
        raise UsageError(f"--model {path}: it holds no weights ({', '.join(WEIGHTS)})")
    yield from ((file.name, file) for file in found if not file.name.startswith(_IGNORED))


def _hash(file: Path) -> str:
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        while block := stream.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def _kind(path: str) -> dict[str, Any]:
    """Architecture and number format, from the files alone."""
    if (source := gguf_of(path)) is not None:
        return {"architecture": "LlamaForCausalLM", "dtype": quantised_as(source)}
    file = Path(path) / "config.json"
    try:
        said = cast("dict[str, Any]", json.loads(file.read_text("utf-8")))
        inner = cast("dict[str, Any]", said.get("text_config") or {})
        names: list[str] = said.get("architectures") or [str(said.get("model_type"))]
    except (ValueError, AttributeError, TypeError) as error:
        raise UsageError(f"{file} cannot be read: {error}") from None
    dtype = said.get("dtype") or said.get("torch_dtype") or inner.get("dtype") or "float32"
    return {"architecture": ", ".join(names), "dtype": str(dtype)}
