"""Other libraries in the same process, forked processes, other interpreters."""

import os
import shutil
import subprocess
import sys

import pytest

import vphi

TEXT = """model wave "A wave"
lattice box: 16, length = 10, boundary = periodic
field phi: real
potential V = phi^2/2
init phi = cos(2*pi*x/10)
evolve leapfrog, dt = 0.02
every 10 steps: mean(phi^2) -> "out.h5"
"""

USES = {  # something of each library that loads its own LLVM, HDF5 or OpenMP
    "h5py": "h5py.File(path, 'w')['x'] = numpy.arange(4.)\nassert h5py.File(path)['x'][3] == 3",
    "numba": "assert numba.njit(lambda x: x + 1)(2) == 3",
    "torch": "assert torch.arange(4.).sum().item() == 6",
}
BESIDE = """import sys, numpy
path, out, text = sys.argv[1:4]
def other():
    import {name}
    {use}
def ours():
    import vphi
    result = vphi.load(text).run("native", steps=20, out=out)
    assert len(result["mean(phi^2)"]) == 3
    {view}
for part in ({order}):
    part()
other(), print("both")
"""
VIEW = {"torch": """import torch
    sim = vphi.load(text).start("native")
    with sim.view(sim.state[0]) as phi:
        tensor = torch.from_dlpack(phi)
        tensor *= 2
        del tensor
    assert sim.step(1) == 1""", "numba": """import numba
    sim = vphi.load(text).start("native")
    @numba.njit
    def double(array):
        for i in range(array.size):
            array[i] *= 2
    before = sim.read(sim.state[0])
    with sim.view(sim.state[0]) as phi:
        double(numpy.asarray(phi))
    assert (sim.read(sim.state[0]) == 2*before).all() and sim.step(1) == 1""", "h5py": """import h5py
    sim = vphi.load(text).start("native")
    with sim.view(sim.state[0]) as phi, h5py.File(path + ".view", "w") as file:
        file["phi"] = phi
        assert (file["phi"][...] == sim.read(sim.state[0])).all()
    assert sim.step(1) == 1"""}


def installed(name):
    import importlib.util

    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed")


@pytest.mark.parametrize("order", ["other, ours", "ours, other"])
@pytest.mark.parametrize("name", list(USES))
def test_library_in_the_same_process(name, order, tmp_path):
    installed(name)
    script = BESIDE.format(name=name, use=USES[name].replace("\n", "\n    "), order=order,
                           view=VIEW[name])
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path / "x.h5"),
                           str(tmp_path / "out"), TEXT], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.strip() == "both", done.stderr


FORK = """import os, sys, vphi
sim = vphi.load(sys.argv[1]).start("native")
sim.step(3)
child = os.fork()
if child == 0:
    wrong = []
    for call in (sim.step, sim.result, sim.run, lambda: sim.read(sim.state[0]), lambda: sim["phi"],
                 lambda: sim.view(sim.state[0]), lambda: sim.write(sim.state[0], 0.0)):
        try:
            call()
            wrong.append("done")
        except vphi.InUse as error:
            if "forked" not in error.message or not error.fix: wrong.append(str(error))
    os._exit(len(wrong))
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert sim.step(3) == 3
"""
WORKERS = """import multiprocessing, sys, vphi
def last(m):
    return float(vphi.load(sys.argv[1], set={"m": m}).run("native", steps=20)["mean(phi^2)"][-1])
here = [last(m) for m in (1, 2)]
with multiprocessing.get_context("fork").Pool(2) as pool:
    there = pool.map(last, (1, 2))
assert here == there, (here, there)
"""


def python(script, *words):
    return subprocess.run([sys.executable, "-c", script, *words], capture_output=True, text=True,
                          timeout=300)


def test_simulation_in_a_forked_process_is_refused():
    done = python(FORK, TEXT)
    assert done.returncode == 0, done.stderr


def test_forked_workers_run_models_of_their_own():
    """Threads of the parent do not exist in a fork: each process needs its own."""
    done = python(WORKERS, TEXT.replace("phi^2/2", "m^2*phi^2/2").replace("lattice",
                                                                         "param m = 1\nlattice"))
    assert done.returncode == 0, done.stderr


def test_free_threaded_interpreter_is_told_so():
    """Where one is installed; what it says is also tested below without one."""
    other = next((found for name in ("python3.13t", "python3.14t")
                  if (found := shutil.which(name))), None)
    if other is None:
        pytest.skip("no free-threaded interpreter is installed (python3.13t, python3.14t)")
    folder = os.path.dirname(os.path.dirname(os.path.abspath(vphi.__file__)))
    done = subprocess.run([other, "-c", "import vphi"], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": folder})
    assert done.returncode == 1
    assert "ImportError" in done.stderr and "free-threaded" in done.stderr


def test_import_without_the_lock_is_refused():
    """An interpreter that was built without its lock is known by this number."""
    script = """import sysconfig
there = sysconfig.get_config_var
sysconfig.get_config_var = lambda name: 1 if name == "Py_GIL_DISABLED" else there(name)
import vphi"""
    done = python(script)
    assert done.returncode == 1
    assert "ImportError" in done.stderr and "free-threaded" in done.stderr, done.stderr
