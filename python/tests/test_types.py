"""The package tells type checkers what it takes and returns."""

import ast
import pathlib
import subprocess
import sys

import pytest

import vphi

FOLDER = pathlib.Path(vphi.__file__).parent
PROGRAM = """import numpy
import vphi

model: vphi.Model = vphi.load("preheating_quick", lattice="8^3", set={"q": 50, "phi0": "2.3"})
result: vphi.Result = model.run("native", steps=4, progress=False, seed=3)
steps: int = result.steps
ok: bool = result.check().ok
names: list[str] = vphi.models()
sim = model.start("native", init={"phi": numpy.zeros((8, 8, 8))})
made: int = sim.step(2)
sim.write(sim.state[0], 1.01*sim.read(sim.state[0]))
with sim.view(sim.state[0]) as phi:
    phi[0] = 1.0
try:
    vphi.open("results/first").snapshots["snapshot(rho)"][0]
except vphi.ModelError as error:
    line: int = error.diagnostics[0].line
"""
WRONG = [
    ('steps=4', 'steps="four"'),
    ('lattice="8^3"', 'latice="8^3"'),
    ('made: int', 'made: str'),
    ('ok: bool = result.check().ok', 'ok: bool = result.good'),
    ('error.diagnostics[0].line', 'error.diagnostics[0].place'),
]


def mypy(text, folder):
    pytest.importorskip("mypy")
    (folder / "program.py").write_text(text)
    return subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir",
                           str(folder.parent / "mypy"), "program.py"], cwd=folder,
                          capture_output=True, text=True)


def test_types_are_there():
    assert (FOLDER / "py.typed").is_file() and (FOLDER / "_core.pyi").is_file()


def test_small_program_passes(tmp_path):
    done = mypy(PROGRAM, tmp_path)
    assert done.returncode == 0, done.stdout


def test_mistakes_are_found(tmp_path):
    text = PROGRAM
    for right, wrong in WRONG:
        assert right in text
        text = text.replace(right, wrong, 1)
    done = mypy(text, tmp_path)
    lines = {int(line.split(":")[1]) for line in done.stdout.splitlines() if ": error:" in line}
    expected = {number for number, (old, new)
                in enumerate(zip(PROGRAM.splitlines(), text.splitlines()), 1) if old != new}
    assert lines == expected, done.stdout


def members(text):
    """Functions and members of classes, with the number of their arguments."""
    found = set()
    for node in ast.parse(text).body:
        inside = node.body if isinstance(node, ast.ClassDef) else [node]
        for one in inside:
            if isinstance(one, ast.FunctionDef):
                arguments = len(one.args.posonlyargs) + len(one.args.args)
                found.add((getattr(node, "name", ""), one.name, arguments))
    return found


def test_stub_is_that_of_the_module(tmp_path):
    pytest.importorskip("nanobind")
    subprocess.run([sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "vphi._core", "-o",
                    str(tmp_path / "made.pyi")], check=True)
    made = members((tmp_path / "made.pyi").read_text())
    assert made and made == members((FOLDER / "_core.pyi").read_text())
