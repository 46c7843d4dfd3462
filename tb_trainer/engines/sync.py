"""How a vLLM server gets the policy's weights: from GPU to GPU, through files, or not at all.

``nccl`` uses TRL's client (trl.generation.vllm_client.VLLMClient of TRL 1.16, for vLLM 0.22 to 0.31: it joins the
server's workers as rank 0 and broadcasts packed tensors). That client imports vllm, so vllm must be installed beside
the trainer, though the server runs from an environment of its own. ``files`` needs nothing here: it writes safetensors
to a folder that trainer and servers see under one path and has vLLM read them (``POST /collective_rpc``, method
``reload_weights`` with ``weights_path``). Both need a server started with ``VLLM_SERVER_DEV_MODE=1``; ``nccl`` also
``--weight-transfer-config '{"backend": "nccl"}'``.

There is one engine in a run, in its first process, and so exactly one writer for each server. Adapters are added to the
weights below them on the way, so that a server always has one plain model; the trained model is not touched. Refuses
adapters other than LoRA on linear layers.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Protocol

import httpx2
import torch

from tb_envs.errors import UsageError
from tb_trainer.engines.wire import Away, Refused, credentials
from tb_trainer.spread import is_part

Named = Iterable[tuple[str, torch.Tensor]]
FILE_BYTES = 4 << 30
PUSH_SECONDS = 1800.0
"""Seconds that a server may take to read weights."""


class WeightSync(Protocol):
    """Gives weights to servers, each at a time."""

    def keep(self, model: Any, version: int) -> None:
        """Take new weights. `push` may be called for them any number of times, until the next `keep`."""
        ...

    def push(self, url: str) -> None:
        """Give them to a server that writes no turns meanwhile.

        Raises:
            Away: the server could not take them now.
            Refused: it never will; the message says what to change.
        """
        ...

    def close(self) -> None:
        """Let go of connections and files. Idempotent."""
        ...


class NoSync:
    """Leaves servers as they are: for playing with a model that is served elsewhere."""

    def keep(self, model: Any, version: int) -> None:
        """Nothing."""

    def push(self, url: str) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""


class FileSync:
    """Through a folder.

    Args:
        folder: seen under this path by trainer and servers; each version gets a folder of its own in it, because vLLM
            may remember what it read from a path.
        scale: of adapters.
    """

    def __init__(self, folder: Path, *, scale: float = 1.0) -> None:
        self._folder, self._scale = folder.resolve(), scale
        self._current: Path | None = None

    def keep(self, model: Any, version: int) -> None:
        """Write the weights, whole or not at all, and drop the version before."""
        from safetensors.torch import save_file

        target = self._folder / f"weights-{version}"
        staged = target.with_suffix(".partial")
        for left in (target, staged):
            shutil.rmtree(left, ignore_errors=True)
        staged.mkdir(parents=True)
        for at, part in enumerate(_parts(merged(named(model), self._scale)), 1):
            save_file(part, staged / f"model-{at:05}.safetensors", metadata={"format": "pt"})
        staged.rename(target)
        before, self._current = self._current, target
        if before is not None and before != target:
            shutil.rmtree(before, ignore_errors=True)

    def push(self, url: str) -> None:
        """Have the server read them."""
        body = {"method": "reload_weights", "kwargs": {"weights_path": str(self._current)}}
        _post(url, "/collective_rpc", body)

    def close(self) -> None:
        """Remove the last version."""
        if self._current is not None:
            shutil.rmtree(self._current, ignore_errors=True)
            self._current = None


class NcclSync:
    """From GPU to GPU.

    Args:
        port: of the first server's group; each further server takes the next one.
        scale: of adapters.
        device: that the group is joined from.
    """

    def __init__(self, port: int, *, scale: float = 1.0, device: str = "cuda") -> None:
        self._port, self._scale, self._device = port, scale, device
        self._ports: dict[str, int] = {}
        self._clients: dict[str, Any] = {}
        self._model: Any = None

    def keep(self, model: Any, version: int) -> None:
        """Remember the model, which must not change before the next call; of a spread model, a copy on the CPU."""
        self._model = model if isinstance(model, torch.nn.Module) else _Copied(model)

    def push(self, url: str) -> None:
        """Broadcast them. A server that was restarted is joined anew."""
        metadata = [(name, str(t.dtype).removeprefix("torch."), list(t.shape)) for name, t in self._tensors()]
        try:
            client = self._clients.get(url) or self._join(url)
            client.update_named_params(metadata, ((name, tensor.to(self._device)) for name, tensor in self._tensors()))
        except Refused:
            raise
        except NotImplementedError as error:
            raise Refused(str(error)) from error
        except Exception as error:  # TRL raises bare ones
            self._leave(url)
            raise Away(f"it did not take the weights: {error}") from error

    def close(self) -> None:
        """Leave all groups."""
        for url in list(self._clients):
            self._leave(url)

    def _tensors(self) -> Named:
        return merged(named(self._model), self._scale)

    def _join(self, url: str) -> Any:
        try:
            from trl.generation.vllm_client import VLLMClient

            client = VLLMClient(base_url=url, group_port=self._ports.setdefault(url, self._port + len(self._ports)))
        except ImportError as error:
            raise Refused(f"engine.sync nccl: {error}; or set engine.sync files") from error
        try:
            client.init_communicator(device=self._device)
        except RuntimeError as error:
            if "Restart it with" in str(error):  # TRL's words for a server that was started without what this needs
                raise Refused(str(error)) from error
            raise
        self._clients[url] = client
        return client

    def _leave(self, url: str) -> None:
        client = self._clients.pop(url, None)
        if client is not None:
            client.close_communicator()


class _Copied:
    """A model's tensors on the CPU, gathered once."""

    def __init__(self, model: Any) -> None:
        self._tensors = [(name, tensor.detach().cpu()) for name, tensor in model.named_parameters()]

    def named_parameters(self) -> Named:
        """(name, tensor) of each."""
        return self._tensors


def named(model: Any) -> Iterator[tuple[str, torch.Tensor]]:
    """(name, tensor) of every parameter, each of a tied pair once, without wrappers' prefixes.

    Raises:
        UsageError: no process has the whole model.
    """
    for name, tensor in model.named_parameters():
        if is_part(tensor):
            raise UsageError(f"{name} is spread over processes; gather the model before an engine is given it")
        for prefix in ("module.", "_orig_mod.", "base_model.model."):
            name = name.removeprefix(prefix)
        yield name, tensor.detach()


def merged(tensors: Named, scale: float) -> Iterator[tuple[str, torch.Tensor]]:
    """Tensors with LoRA added to the weights below: ``W + scale · B A`` (Hu et al. 2021, arXiv:2106.09685, eq. 3).

    Args:
        tensors: as peft names them: ``….base_layer.weight``, then its ``….lora_A.NAME.weight`` and ``….lora_B…``.
        scale: alpha over rank.

    Raises:
        UsageError: another kind of adapter.
    """
    held: dict[str, tuple[str, torch.Tensor]] = {}
    halves: dict[str, torch.Tensor] = {}
    for name, tensor in tensors:
        if name.endswith(".base_layer.weight"):
            layer = name.removesuffix(".base_layer.weight")
            held[layer] = (f"{layer}.weight", tensor)
        elif ".lora_A." in name and name.endswith(".weight"):
            halves[name.partition(".lora_A.")[0]] = tensor
        elif ".lora_B." in name and name.endswith(".weight"):
            layer = name.partition(".lora_B.")[0]
            plain, weight = held.pop(layer)
            sum_ = weight.float() + scale * tensor.float() @ halves.pop(layer).float()
            yield plain, sum_.to(weight.dtype)
        elif ".lora_" in name or ".modules_to_save." in name:
            raise UsageError(f"{name}: a vLLM server is given LoRA on linear layers only (model.lora.targets)")
        else:
            yield name.replace(".base_layer.", "."), tensor
    yield from held.values()


def _parts(tensors: Named) -> Iterator[dict[str, torch.Tensor]]:
    """Tensors in groups that fit a file."""
    part: dict[str, torch.Tensor] = {}
    size = 0
    for name, tensor in tensors:
        if part and size + tensor.nbytes > FILE_BYTES:
            yield part
            part, size = {}, 0
        part[name] = tensor.cpu().contiguous()
        size += tensor.nbytes
    if part:
        yield part


def _post(url: str, path: str, body: Any) -> None:
    try:
        with httpx2.Client(trust_env=False, headers=credentials()) as http:
            response = http.post(f"{url}{path}", json=body, timeout=httpx2.Timeout(PUSH_SECONDS, connect=30.0))
    except httpx2.TransportError as error:
        raise Away(f"{type(error).__name__}: {error}".rstrip(": ")) from None
    if response.status_code == 404:
        raise Refused(f"it has no {path}; serve with VLLM_SERVER_DEV_MODE=1 in its environment")
    if response.status_code >= 400:
        raise Away(f"status {response.status_code} from {path}: {response.text[:200]}")
