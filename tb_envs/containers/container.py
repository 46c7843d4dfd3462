"""One hardened container with its socket and its lifeline: the connection whose end is the container's end.

No network, no capabilities, no root, a root file system that cannot be written, few processes, little memory, and the
engine removes it when it ends. The trainer may die in any way: the kernel closes its lifeline, and the server in the
container ends.
"""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import tempfile
import time
from pathlib import Path
from typing import Any

from tb_envs.containers.engine import LABEL, OWNED, engine, gone_is_fine, in_words
from tb_envs.containers.options import ContainerOptions
from tb_envs.containers.owner import owner
from tb_envs.containers.server import FAILURE, LEASE, SOCKET, TOKEN
from tb_envs.errors import BackendError, UsageError
from tb_envs.session.wire import Endpoint

INSIDE = "/run/ep"
POLL = 0.004
"""Seconds between two looks whether a new container answers."""
FOLDERS = "tbx-containers-"
"""Beginning of the names of folders that hold sockets; a file `OWNER` in each says whose it is."""
OWNER = "owner"
PLACE = "place"
"""File in a folder of that name in the system's temporary one: where the folder is, if it was asked for elsewhere."""


def hardened(options: ContainerOptions, folder: str) -> dict[str, Any]:
    """How every container is run: what it may not do, what it may use."""
    from docker.types import LogConfig, Ulimit

    memory = f"{options.memory}m"
    return {
        "network_mode": "none",
        "read_only": True,
        "cap_drop": ["ALL"],
        "security_opt": ["no-new-privileges:true"],
        "user": "10001:10001",
        "pids_limit": options.processes,
        "mem_limit": memory,
        "memswap_limit": memory,
        "nano_cpus": int(options.cpus * 1e9),
        "init": True,
        "ipc_mode": "private",
        "tmpfs": {"/tmp": "size=16m,mode=1777,noexec,nosuid,nodev"},
        "ulimits": [Ulimit(name="nofile", soft=1024, hard=1024), Ulimit(name="core", soft=0, hard=0)],
        "log_config": LogConfig(type="none"),
        "restart_policy": {"Name": "no"},
        "stop_signal": "SIGKILL",
        "auto_remove": True,
        "volumes": {folder: {"bind": INSIDE, "mode": "rw"}},
    }


def socket_folder(place: str) -> Path:
    """A new folder that only this user can enter, with the owner's name in it, for the sockets of one pool.

    One elsewhere than in the system's temporary folder is noted there, so that it is found when its owner is dead.
    """
    folder = Path(tempfile.mkdtemp(prefix=FOLDERS, dir=place or None)).resolve()
    if (note := _note(folder)) != folder:
        note.mkdir(mode=0o700)
        (note / PLACE).write_text(str(folder))
        (note / OWNER).write_text(owner())
    (folder / OWNER).write_text(owner())
    if len(str(folder)) > 80:
        remove_folder(folder)
        raise UsageError(f"{folder} is too long for a socket's path; name a shorter one: option 'folder'")
    return folder


def remove_folder(folder: Path) -> None:
    """Remove it, and what was noted of it."""
    for path in (folder, _note(folder)):
        shutil.rmtree(path, ignore_errors=True)


def _note(folder: Path) -> Path:
    return Path(tempfile.gettempdir()).resolve() / folder.name


class Container:
    """A running container, owned by this process.

    Attributes:
        endpoint: of its server.
        episodes: that it has begun.
    """

    def __init__(self, image: str, options: ContainerOptions, folder: Path) -> None:
        """Start it and wait until it answers.

        Raises:
            BackendError: it could not be started, or did not answer in time.
        """
        self.episodes = 0
        self._lifeline: socket.socket | None = None
        self._process = os.getpid()
        self.folder = folder / secrets.token_hex(4)
        self.folder.mkdir()
        self.folder.chmod(0o777)  # the folder above lets nobody else in
        token = secrets.token_urlsafe(24)
        self.endpoint = Endpoint(f"unix:{self.folder}/s", token)
        environment = {SOCKET: f"{INSIDE}/s", TOKEN: token, LEASE: f"{options.lease:g}"}
        labels = {OWNED: owner(), f"{LABEL}.folder": str(self.folder)}
        until = time.monotonic() + options.starting
        self.id = ""
        try:
            with in_words("a container could not be started"):
                made: Any = engine().containers.create(
                    image, environment=environment, labels=labels, **hardened(options, str(self.folder))
                )
                self.id = str(made.id)
                made.start()
            self._lifeline = self._take(token, until)
            self.folder.chmod(0o755)  # nobody in there can put another socket in place of this one, or fill the disk
        except BaseException:
            self.kill()
            raise

    def _take(self, token: str, until: float) -> socket.socket:
        """Connect to the server as its owner, as soon as it listens."""
        looked = time.monotonic()
        while True:
            line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                line.settimeout(max(0.1, until - time.monotonic()))
                line.connect(f"{self.folder}/s")
                request = f"GET /control/lifeline HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n\r\n"
                line.sendall(request.encode())
                if not line.recv(4096).startswith(b"HTTP/1.1 200 "):
                    raise BackendError("the server in a new container does not take its owner")
                return line
            except (FileNotFoundError, ConnectionError):
                line.close()
            except OSError as error:
                line.close()
                raise BackendError(f"the server in a new container does not answer: {error}") from None
            except BaseException:
                line.close()
                raise
            now = time.monotonic()
            if now - looked > 0.25:
                looked = now
                self._must_run()
            if now > until:
                raise BackendError("a new container did not answer in time")
            time.sleep(POLL)

    def _must_run(self) -> None:
        """Say why, if the container has ended."""
        failure = self.folder / FAILURE
        try:
            with in_words("looking at a new container"):
                status = str(engine().containers.get(self.id).status)
        except BackendError:
            status = "gone"
        if status in ("exited", "dead", "gone", "removing"):
            words = failure.read_text(errors="replace").strip().splitlines()[-1:] if failure.exists() else []
            raise BackendError(f"a new container ended at once: {''.join(words) or 'it left no word'}")

    def alive(self) -> bool:
        """Whether its server still holds the lifeline; costs no request."""
        if self._lifeline is None:
            return False
        try:
            self._lifeline.setblocking(False)
            return self._lifeline.recv(1) != b""
        except BlockingIOError:
            return True
        except OSError:
            return False

    def let_go(self) -> None:
        """End it: the server sees its owner leave, and the engine removes what is left. Returns at once; idempotent."""
        if self._lifeline is not None:
            self._lifeline.close()
            self._lifeline = None
        if self._process == os.getpid():
            self.endpoint.forget()
            shutil.rmtree(self.folder, ignore_errors=True)

    def kill(self) -> None:
        """End it whatever it does: asks the engine, and waits for its answer."""
        self.let_go()
        if self.id:
            with gone_is_fine("a container could not be removed"):
                engine().api.remove_container(self.id, force=True, v=True)

    def disown(self) -> None:
        """In a forked child: it is the parent's alone. The child's copy of the lifeline must not outlive the parent."""
        if self._lifeline is not None:
            self._lifeline.close()
            self._lifeline = None
