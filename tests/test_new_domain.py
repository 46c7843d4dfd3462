"""docs/new-domain.md is true: its files make a package that installs, registers, certifies and plays."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "new-domain.md"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which the page's package was installed as anybody's would be."""
    source, target = tmp_path_factory.mktemp("workshop"), tmp_path_factory.mktemp("site")
    files = re.findall(r"^```\w+ file=(\S+)\n(.*?)^```$", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    assert len(files) == 9
    for name, text in files:
        path = source / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    offline = ["--no-deps", "--no-index", "--no-build-isolation"]
    command = [sys.executable, "-m", "pip", "install", "-q", *offline, "--target", str(target), str(source)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return target


def run(installed: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    """A new process that has the package on its path."""
    paths = [str(installed), *filter(None, [os.environ.get("PYTHONPATH", "")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    return subprocess.run([sys.executable, *argv], env=environment, capture_output=True, text=True, cwd=ROOT)


def tbx(installed: Path, *argv: str) -> dict[str, object]:
    """What a command reports."""
    done = run(installed, "-c", "import sys; from tbx import main; sys.exit(main())", *argv, "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def test_it_certifies(installed: Path) -> None:
    report = tbx(installed, "certify", "--domain", "workshop", "--fresh", "12", "--jobs", "1")
    assert report["tasks"] == report["proved"] == 12 and not report["failures"]


def test_agents_play_it(installed: Path) -> None:
    tasks = [f"workshop/late_repair/{index}" for index in range(4)]
    scores = {
        agent: tbx(installed, "run", "--agent", agent, "--tasks", *tasks)["pass_at_1"]
        for agent in ("reference", "obedient", "idle")
    }
    assert scores == {"reference": 1.0, "obedient": 0.0, "idle": 0.0}


def test_it_is_an_environment(installed: Path) -> None:
    code = (
        "import gymnasium as gym, tb_envs\n"
        "env = gym.make('ThinkingBox/Workshop-v0')\n"
        "words, info = env.reset(options={'task_id': 'workshop/late_repair/0'})\n"
        "print(words, len(info['tools']), 'Spoke and Chain' in info['instructions'])\n"
    )
    done = run(installed, "-c", code)
    assert done.stdout.startswith("My bicycle was not ready") and done.stdout.endswith("7 True\n"), done.stderr


def test_what_it_holds_can_be_counted(installed: Path) -> None:
    counted = tbx(installed, "domain", "workshop")
    assert (counted["tables"], counted["read_tools"], counted["write_tools"]) == (3, 3, 2)
    assert counted["families_train"] == 1 and counted["tasks_train"] == 0
