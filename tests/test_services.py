"""The scripts that bring a server while a command runs: nothing outlives them, and nothing is installed unasked."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

from postgres_server import missing
from services import skip_or_fail

ROOT = Path(__file__).parents[1] / ".ci"
STUBBORN = r"""
trap '' TERM
(trap '' TERM; while :; do sleep 1; done) &
echo "pids $$ $! ${TB_POSTGRES_URL##*host=}"
while :; do sleep 1; done
"""


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_when_the_script_is_ended_a_stubborn_command_and_a_stuck_server_end() -> None:
    surroundings = {name: value for name, value in os.environ.items() if name not in ("TB_POSTGRES_URL", "CI")}
    skip_or_fail("" if Path("/usr/lib/postgresql").is_dir() else missing() or "only a server of its own can be ended")
    command = [ROOT / "postgres.sh", "bash", "-c", STUBBORN]
    script = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=surroundings)
    assert script.stdout is not None
    line = next(line for line in script.stdout if line.startswith("pids "))
    one, other, folder = line.split()[1:]
    server = int((Path(folder) / "data/postmaster.pid").read_text().split()[0])
    pids = [int(one), int(other), server]
    assert all(map(alive, pids))
    os.kill(server, signal.SIGSTOP)
    script.send_signal(signal.SIGTERM)
    assert script.wait(60) == 143
    deadline = time.monotonic() + 10
    while any(map(alive, pids)):
        assert time.monotonic() < deadline, "a process outlives the script that started it"
        time.sleep(0.05)
    assert not Path(folder).exists()


def test_nothing_is_installed_unasked(tmp_path: Path) -> None:
    for name in ("bash", "dirname", "id"):  # and neither docker nor apt-get
        (tmp_path / name).symlink_to(shutil.which(name) or name)
    done = subprocess.run(
        [ROOT / "engine.sh", "true"], capture_output=True, text=True, check=False, env={"PATH": str(tmp_path)}
    )
    assert done.returncode == 1 and "install Debian's docker.io" in done.stderr
    assert "--install" in done.stderr and "apt" not in done.stderr
