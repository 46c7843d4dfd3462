"""Batches shared among processes of one machine: each takes every n-th row, and all take the same step.

Two cores halve a warm start so, where torch's threads do not help (a matrix of 128 columns is too small to be cut).
Gradients are summed by gloo, so that all processes go on from the same weights, and the sum is that of the whole batch.
Refuses to run inside a launcher's process group: what was launched as several processes shares already.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import torch
import torch.distributed

import tb_trainer.attention  # noqa: F401  (a model that a helper is given may attend by `blocks`)
from tb_envs.errors import ThinkingBoxError, UsageError

Item = TypeVar("Item")
LOOPBACK = {"linux": "lo", "darwin": "lo0"}
END = 5.0
"""Seconds that a helper has to end by itself."""
LOST = 30.0
"""Seconds to wait for the last words of a helper that closed its connection, on a machine that is busy."""


class Team:
    """One process's place among those that share a batch.

    Attributes:
        rank, size: which one, of how many.
    """

    def __init__(self, rank: int = 0, size: int = 1) -> None:
        self.rank, self.size = rank, size

    def share(self, rows: Sequence[Item]) -> Sequence[Item]:
        """This process's rows; none, where there are fewer rows than processes."""
        return rows[self.rank :: self.size]

    def sum(self, model: Any, loss: float) -> float:
        """Sum the gradients of all processes in place; the sum of their losses."""
        if self.size == 1:
            return loss
        trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
        grads = [torch.zeros_like(p) if p.grad is None else p.grad for p in trained]
        flat = torch.cat([*(grad.flatten().float() for grad in grads), torch.tensor([loss])])
        torch.distributed.all_reduce(flat)
        for parameter, whole in zip(trained, flat[:-1].split([p.numel() for p in trained]), strict=True):
            parameter.grad = whole.view_as(parameter).to(parameter.dtype)
        return float(flat[-1])


Work = Callable[..., Any]


def together(processes: int, work: Work, *arguments: Any) -> Any:
    """``work(*arguments, team=…)`` in this process and, on copies of the arguments, in helpers.

    Args:
        processes: this one included; 1 starts none.
        work: a function of a module, so that a helper can find it. What it returns here is returned.
        arguments: are pickled for the helpers.

    Raises:
        ThinkingBoxError: a helper ended early; with the last of what it said.
    """
    if processes == 1:
        return work(*arguments, team=Team())
    if torch.distributed.is_initialized():
        raise UsageError("warmstart.processes is for a command that was started as one process: set it to 1")
    with tempfile.TemporaryDirectory(prefix="tb-team-") as name:
        folder = Path(name)
        (folder / "work.pickle").write_bytes(pickle.dumps((work, arguments)))
        helpers = [_start(folder, rank, processes) for rank in range(1, processes)]
        try:
            _await(folder, helpers)
            _join(folder, 0, processes)
            found = work(*arguments, team=Team(0, processes))
        except RuntimeError as error:
            patience = LOST if "gloo" in str(error) else 1.0  # a lost connection says that some process is ending
            said = _last(folder) if any(_failed(helper, patience) for helper in helpers) else ""
            raise ThinkingBoxError(f"a warm start in {processes} processes broke: {said or error}") from error
        finally:
            with suppress(ValueError, AssertionError):  # it was never made
                torch.distributed.destroy_process_group()
            for helper in helpers:
                _end(helper)
        return found


def _start(folder: Path, rank: int, size: int) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-m", "tb_trainer.sharing", str(folder), str(rank), str(size)]
    with (folder / f"helper-{rank}.txt").open("wb") as said:
        return subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT, env=environment)


def _await(folder: Path, helpers: Sequence[subprocess.Popen[bytes]]) -> None:
    """Wait until all helpers have come as far as the meeting, or one never will."""
    for rank, helper in enumerate(helpers, 1):
        while not (folder / f"ready-{rank}").exists():
            if helper.poll() is not None:
                raise RuntimeError(f"a helper ended with {helper.returncode}")
            time.sleep(0.02)


def _join(folder: Path, rank: int, size: int) -> None:
    # By name the machine may be known under an address that it does not listen on. Read when the group is made only.
    own = "GLOO_SOCKET_IFNAME" not in os.environ and sys.platform in LOOPBACK
    if own:
        os.environ["GLOO_SOCKET_IFNAME"] = LOOPBACK[sys.platform]
    try:
        torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=size)
    finally:
        if own:
            del os.environ["GLOO_SOCKET_IFNAME"]


def _end(helper: subprocess.Popen[bytes]) -> None:
    try:
        helper.wait(END)
    except subprocess.TimeoutExpired:
        helper.kill()
        helper.wait()


def _failed(helper: subprocess.Popen[bytes], seconds: float) -> bool:
    """Whether it is the helper that broke, within so many seconds; one that waits for this process has not."""
    with suppress(subprocess.TimeoutExpired):
        return helper.wait(seconds) != 0
    return False


def _last(folder: Path) -> str:
    """The last line that a helper wrote."""
    lines = [
        line for path in sorted(folder.glob("helper-*.txt")) for line in path.read_text("utf-8", "replace").splitlines()
    ]
    return lines[-1] if lines else ""


def _help(folder: Path, rank: int, size: int) -> None:
    work, arguments = pickle.loads((folder / "work.pickle").read_bytes())
    torch.set_num_threads(1)
    (folder / f"ready-{rank}").touch()
    _join(folder, rank, size)
    work(*arguments, team=Team(rank, size))
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    _help(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
