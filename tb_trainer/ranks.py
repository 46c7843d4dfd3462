"""The processes of a run: one of them plays, all of them learn, and none waits for one that is gone.

The first process collects episodes and hands them, or the news that it cannot, to the others; whoever leaves tells them
first. Where they stand is compared before they begin and before a checkpoint is written: replicas that drifted apart
would be trained on in silence. Refuses to let a process return early while the others wait in a collective call.
"""

from __future__ import annotations

import hashlib
import signal
import threading
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

import torch.distributed

from tb_envs.errors import BackendError, ThinkingBoxError, UsageError
from tb_trainer.built import under_deepspeed

T = TypeVar("T")


ON = "nothing since the last checkpoint is kept: start the run again with --resume"


class PeerError(BackendError):
    """Another process of the run is gone or has failed."""


class _Told(BaseException):
    """SIGTERM has come. No `Exception`, or a tool of an episode would be blamed for it."""


def make_accelerator(out: str, *, cpu: bool, timeout: float, trackers: tuple[str, ...] = ()) -> Any:
    """Accelerate's `Accelerator` for this process, whose collective calls wait `timeout` seconds at most.

    Args:
        out: the run's folder; what trackers write is in its ``trackers/``.
        cpu: train on CPUs.
        timeout: seconds.
        trackers: `saving.trackers`.

    Raises:
        UsageError: accelerate would leave out one of the trackers; or DeepSpeed on CPUs beside GPUs that it sees.
    """
    from accelerate import Accelerator, DataLoaderConfiguration, InitProcessGroupKwargs
    from accelerate.utils import ProjectConfiguration

    library: dict[str, Any] = {}
    if cpu and under_deepspeed():
        if torch.cuda.is_available():
            raise UsageError("DeepSpeed trains on the GPUs that it sees: set parallel.gpus, or CUDA_VISIBLE_DEVICES=''")
        cpu, library = False, {"backend": "gloo"}  # accelerate takes its `cpu` for: no DeepSpeed
    accelerator = Accelerator(
        cpu=cpu,
        log_with=list(trackers) or None,
        project_config=ProjectConfiguration(out, str(Path(out) / "trackers")),
        dataloader_config=DataLoaderConfiguration(),
        kwargs_handlers=[InitProcessGroupKwargs(timeout=timedelta(seconds=timeout), **library)],
    )
    lost = sorted(set(trackers) - {str(kept) for kept in accelerator.log_with})
    if lost:
        raise UsageError(f"saving.trackers: accelerate finds no usable package of {', '.join(lost)}: install it anew")
    return accelerator


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
        except _Told:  # the others were told too, and one of them may be gone: nobody would listen
            raise
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
            raise PeerError(f"another process of the run is gone (see its own output); {ON}") from error


class ending_in_words:
    """A block that SIGTERM ends with a `PeerError` in place of silence.

    Launchers end the processes of a run with it when one of them is gone, so that the one that is playing, which would
    notice nothing before its update is collected, can say so. Does nothing beside a handler that is there already, or
    in another thread than the main one, where there can be none.

    Args:
        processes: of the run; one alone was ended by somebody else.
    """

    def __init__(self, processes: int) -> None:
        self._why = (
            "this process was told to end (SIGTERM), as launchers do when another process of the run is gone (see its "
            "own output)"
            if processes > 1
            else "this process was told to end (SIGTERM)"
        )
        self._installed = False

    def __enter__(self) -> None:
        if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, self._tell)
            self._installed = True

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if not self._installed:
            return
        if isinstance(error, _Told):  # told twice, it still has the time to close what is open
            raise PeerError(f"{self._why}; {ON}") from None
        signal.signal(signal.SIGTERM, signal.SIG_DFL)

    def _tell(self, number: int, frame: Any) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise _Told


def agree(accelerator: Any, describe: Callable[[], Mapping[str, Any]], begin: Callable[[], None] | None = None) -> None:
    """Make sure that all processes stand at the same point.

    Args:
        accelerator: knows the processes; with one of them nothing is compared.
        describe: where this process stands, by name, in numbers and words that are short enough to be read.
        begin: done before that, in every process; the failure of one is everybody's.

    Raises:
        PeerError: they do not, and what is different; or another process could not begin.
    """
    if accelerator.num_processes == 1:
        if begin is not None:
            begin()
        return
    failure: BaseException | None = None
    found: dict[str, Any] = {}
    try:
        if begin is not None:
            begin()
        found = dict(describe())
    except BaseException as error:
        failure = error
    everyone: list[Any] = [None] * accelerator.num_processes
    with peers():
        said = None if failure is None else f"{type(failure).__name__}: {failure}"
        torch.distributed.all_gather_object(everyone, (found, said))
    if failure is not None:
        raise failure
    for rank, (_, said) in enumerate(everyone):
        if said is not None:
            raise PeerError(f"process {rank} could not begin: {said}")
    apart = [
        f"{name} is {everyone[0][0].get(name)} in process 0 and {theirs.get(name)} in process {rank}"
        for rank, (theirs, _) in enumerate(everyone)
        for name in sorted({*everyone[0][0], *theirs})
        if theirs.get(name) != everyone[0][0].get(name)
    ]
    if apart:
        raise PeerError(
            f"the processes of this run are not at the same point: {'; '.join(apart)}. All of them must see the same "
            "folder, tasks and versions; start the run again with --resume"
        )


def digest(tensors: Iterable[torch.Tensor]) -> str:
    """A short hash of tensors' bits, shapes and order. Each is summed where it lies, so that only sums are moved."""
    kinds = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    out = hashlib.sha256()
    for tensor in tensors:
        bits = tensor.detach().contiguous().reshape(-1)
        total = int(bits.view(kinds[bits.element_size()]).sum(dtype=torch.int64))
        out.update(f"{tuple(tensor.shape)} {total}\n".encode())
    return out.hexdigest()[:16]


def _is_about_peers(text: str) -> bool:
    lowered = text.lower()
    return any(
        word in lowered
        for word in ("connection closed", "connection reset", "gloo", "nccl", "timed out", "broken pipe")
    )
