"""The processes of a run: one of them plays, all of them learn, and none waits for one that is gone.

The first process collects episodes and hands them, or the news that it cannot, to the others; whoever leaves tells them
first. Refuses to let a process return early while the others wait in a collective call.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any, TypeVar

import torch.distributed

from tb_envs.errors import BackendError, ThinkingBoxError

T = TypeVar("T")


class PeerError(BackendError):
    """Another process of the run is gone or has failed."""


def make_accelerator(out: str, *, cpu: bool, timeout: float, trackers: tuple[str, ...] = ()) -> Any:
    """Accelerate's `Accelerator` for this process, whose collective calls wait `timeout` seconds at most."""
    from accelerate import Accelerator, DataLoaderConfiguration, InitProcessGroupKwargs

    return Accelerator(
        cpu=cpu,
        log_with=list(trackers) or None,
        project_dir=out,
        dataloader_config=DataLoaderConfiguration(),
        kwargs_handlers=[InitProcessGroupKwargs(timeout=timedelta(seconds=timeout))],
    )


def from_first(accelerator: Any, make: Callable[[], T]) -> T:
    """What the first process makes, in every process; its failure is everybody's.

    Raises:
        PeerError: in the others, if the first one failed or any is gone. The first one raises its own error.
    """
    if accelerator.num_processes == 1:
        return make()
    box: list[Any] = [None]
    failure: BaseException | None = None
    if accelerator.is_main_process:
        try:
            box = [("made", make())]
        except BaseException as error:
            failure = error
            box = [("failed", f"{type(error).__name__}: {error}")]
    with peers():
        torch.distributed.broadcast_object_list(box, src=0)
    if failure is not None:
        raise failure
    kind, value = box[0]
    if kind == "failed":
        raise PeerError(f"the process that plays has failed: {value}")
    return value


class peers:
    """A block of collective calls: what a lost process does to it is told as such."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, RuntimeError) and not isinstance(error, ThinkingBoxError) and _is_about_peers(str(error)):
            raise PeerError(
                "another process of the run is gone (see its own output); nothing since the last checkpoint is kept: "
                "start the run again with --resume"
            ) from error


def _is_about_peers(text: str) -> bool:
    lowered = text.lower()
    return any(
        word in lowered
        for word in ("connection closed", "connection reset", "gloo", "nccl", "timed out", "broken pipe")
    )
