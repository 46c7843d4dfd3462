"""The real commands of a launch: accelerate with two processes, and the script that starts each machine of a run."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from accelerate.commands.launch import _validate_launch_command, launch_command_parser
from trainer_parts import sets

from tb_trainer import cli
from tb_trainer.config import load
from tb_trainer.layout import layout_of
from tb_trainer.log import read_rows

ROOT = Path(cli.__file__).parent.parent
LAUNCH = Path(cli.__file__).parent / "launch"
SMALL = [
    "parallel.nodes=2",
    "grpo.updates=2",
    "grpo.groups=2",
    "grpo.group_size=2",
    "environment.turns=2",
    "sampling.turn_tokens=8",
]
NEEDS = {"accelerate": "from accelerate.commands.accelerate_cli import main", "tbx": "from tbx import main"}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def train(tmp_path: Path) -> Path:
    """A bin folder with accelerate, tbx and python, of this environment and this source."""
    folder = tmp_path / "train"
    folder.mkdir()
    for name, line in NEEDS.items():
        executable(folder / name, f"#!{sys.executable}\nimport sys\n{line}\nsys.exit(main())\n")
    executable(folder / "python", f'#!/bin/bash\nexec {sys.executable} "$@"\n')
    return folder


def executable(path: Path, text: str) -> None:
    path.write_text(text, "utf-8")
    path.chmod(0o755)


def surroundings(**more: str) -> dict[str, str]:
    path = os.pathsep.join([str(ROOT), str(ROOT / "domains")])
    return {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", **more}


def updates(out: Path) -> list[dict[str, Any]]:
    rows = read_rows(out / "log.jsonl")
    assert [row["event"] for row in rows] == ["start", "update", "update", "checkpoint", "end"]
    assert rows[0]["processes"] == 2
    return [
        {name: value for name, value in row.items() if name not in ("seconds", "tokens_per_second")}
        for row in rows[1:3]
    ]


@pytest.mark.long
def test_accelerate_launches_two_processes_and_the_script_two_machines(train: Path, tmp_path: Path) -> None:
    """`accelerate launch … --no_python tbx train`, as the page writes it; and the same run by two machines' scripts."""
    command = [
        str(train / "accelerate"), "launch", "--config_file", str(LAUNCH / "ddp.yaml"), "--num_processes", "2",
        "--main_process_port", str(free_port()), "--no_python", str(train / "tbx"), "train", "--preset", "smoke",
        *sets(*SMALL), "--out", str(tmp_path / "one"),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, env=surroundings())
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.count("mechanics only") == 1, "the first process alone prints"
    environment = surroundings(TRAIN=str(train), LAUNCH=str(LAUNCH / "ddp.yaml"), PORT=str(free_port()))
    words = ["127.0.0.1,127.0.0.1", "--preset", "smoke", *sets(*SMALL), "--out", str(tmp_path / "two")]
    machines = [
        subprocess.Popen(
            [str(LAUNCH / "run-node.sh"), str(node), *words], stderr=subprocess.PIPE, text=True, env=environment
        )
        for node in (0, 1)
    ]
    for machine in machines:
        _, told = machine.communicate(timeout=600)
        assert machine.returncode == 0, told[-3000:]
    assert updates(tmp_path / "one") == updates(tmp_path / "two")


NOTED = """#!{python}
import json, os, sys, time
with open({file!r}, "a") as file:
    file.write(json.dumps([os.environ.get("CUDA_VISIBLE_DEVICES"), *sys.argv[1:]]) + "\\n")
{then}
"""


@pytest.mark.long
def test_the_script_gives_each_machine_its_servers_and_its_trainers(train: Path, tmp_path: Path) -> None:
    """Three machines of the reference's plan: what would be started on the last, and on the second."""
    serve, noted = tmp_path / "serve", tmp_path / "noted"
    serve.mkdir()
    # A server that lasts, and one that dies once both have begun: then the machine is given up, with its code.
    dies = f"while sum(1 for _ in open({str(noted)!r})) < 2: time.sleep(0.05)\n"
    dies += "sys.exit(7) if '8001' in sys.argv else time.sleep(600)"
    executable(serve / "vllm", NOTED.format(python=sys.executable, file=str(noted), then=dies))
    executable(train / "accelerate", NOTED.format(python=sys.executable, file=str(noted), then="sys.exit(5)"))
    environment = surroundings(TRAIN=str(train), SERVE=str(serve), ACCELERATE="--fsdp_transformer_layer_cls_to_wrap X")

    def machine(node: str, hosts: str = "a,b,c") -> tuple[int, str, list[list[str]]]:
        noted.write_text("", "utf-8")
        command = [str(LAUNCH / "run-node.sh"), node, hosts, "--preset", "reference-24xh100", "--out", "runs/x"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, env=environment)
        return done.returncode, done.stderr, sorted(map(json.loads, noted.read_text("utf-8").splitlines()))

    config = load("reference-24xh100")
    code, told, servers = machine("2")
    assert (code, [server[0] for server in servers]) == (7, ["0,1,2,3", "4,5,6,7"]), told
    assert "a server ended with 7" in told
    for server, port in zip(servers, ("8000", "8001"), strict=True):
        given = dict(zip(server[3::2], server[4::2], strict=True))
        assert server[1:3] == ["serve", config.model.path]
        assert given["--port"] == port
        assert given["--tensor-parallel-size"] == str(config.engine.tensor_parallel)
        assert given["--max-model-len"] == str(config.sampling.episode_tokens)
        assert given["--gpu-memory-utilization"] == str(config.engine.memory_share)
        assert given["--logprobs-mode"] == "processed_logprobs"
        assert json.loads(given["--weight-transfer-config"]) == {"backend": "nccl"}
    code, told, [trainer] = machine("1")
    assert code == 5, told
    arguments, *_ = _validate_launch_command(launch_command_parser().parse_args(trainer[2:]))
    assert (trainer[0], arguments.num_machines, arguments.num_processes) == ("0,1,2,3,4,5,6,7", 2, 16)
    assert (arguments.machine_rank, arguments.main_process_ip, arguments.use_fsdp) == (1, "a", True)
    words = arguments.training_script_args
    assert words[:5] == ["train", "--preset", "reference-24xh100", "--out", "runs/x"]
    (override,) = [words[place + 1] for place, word in enumerate(words) if word == "--set"]
    assert override == "engine.url=http://c:8000,http://c:8001"
    assert layout_of(load("reference-24xh100", [override])).copies == 2
    code, told, started = machine("0", "a")
    assert (code, started) == (2, []) and "the plan has 3 machines; named are 1" in told
