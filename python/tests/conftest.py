import os
import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]

ROTORS = """model rotors "Oscillators that pull each other"
param N = 64, K = 2
particles rotor: N
var x[i]: angle
x[i]' = K/N*sum(sin(x[j] - x[i]), j)
init x ~ uniform(0, 2)
evolve euler, dt = 0.05, until = t > 4
every 10 steps: mean(cos(x)) -> "rotors.csv"
"""


@pytest.fixture
def command(tmp_path):
    """Runs the command and gives back its JSON; skipped where it is not there."""
    import json

    program = os.environ.get("VPHI_COMMAND") or shutil.which("vphi")
    if not program:
        pytest.skip("the command is not there: VPHI_COMMAND names it")

    def call(*words):
        done = subprocess.run([program, "run", *words, "--json", "--no-report", "--quiet",
                               "--out", str(tmp_path / "out")], capture_output=True, text=True)
        assert done.returncode in (0, 2), done.stderr
        return json.loads(done.stdout)

    return call
