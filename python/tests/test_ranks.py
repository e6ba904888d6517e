"""Several ranks of one process share a sweep or a lattice: the bits of one device and of the command."""

import threading

import numpy
import pytest

import vphi

PATHS = """model paths "Paths in a double well"
param gamma = 0.5
sweep T = [0.1, 0.2, 0.4]
sweep path = 1..5
var x: real
V = (x^2 - 1)^2/4
x'' = -d(V, x) - gamma*x' + sqrt(2*gamma*T)*noise
init x = -1, x' ~ sqrt(T)*normal
evolve baoab, dt = 0.02, until = t > 2
every 10 steps: x, mean(x^2, over = path) -> "paths.h5"
at end: histogram(x, bins = 10, over = path) -> "paths.h5"
"""
BOX = """model box "A field in a box"
param m2 = 1.5
lattice box: 8*8*32, length = 10, boundary = periodic
field phi: real
potential V = m2*phi^2/2 + phi^4/4
init phi ~ 0.1*normal, phi' = 0
evolve leapfrog, dt = 0.02, until = t > 1
precision real = f64
every 5 steps: mean(phi^2), spectrum(phi), slice(phi, z = 2) -> "box.h5"
"""


def same(one, other):
    """Whether both results hold the same bits everywhere."""
    assert list(one.series) == list(other.series) and one.steps == other.steps > 0
    for name in one.series:
        assert one[name].values.tobytes() == other[name].values.tobytes(), name
    for kind in ("spectra", "histograms", "slices"):
        tables, others = getattr(one, kind), getattr(other, kind)
        assert list(tables) == list(others)
        for name in tables:
            columns = tables[name].data_vars if hasattr(tables[name], "data_vars") else [None]
            for column in columns:
                a, b = ((t[name] if column is None else t[name][column]).values
                        for t in (tables, others))
                assert a.tobytes() == b.tobytes(), (kind, name, column)


@pytest.mark.parametrize("text", [PATHS, BOX])
@pytest.mark.parametrize("ranks", [2, 3])
def test_ranks_have_the_bits_of_one_device(text, ranks):
    pytest.importorskip("xarray")
    model = vphi.load(text, seed=5)
    shared = model.run("native", ranks=ranks)
    assert shared.device.endswith(f"({ranks} ranks)")
    same(model.run("native"), shared)


def test_the_axis_of_a_cut_is_obeyed_or_refused():
    model = vphi.load(BOX)
    shared = model.run("native", cut={"z": 2})
    assert shared.device.endswith("(2 ranks)")
    same(model.run("native", cut="z=2"), shared)
    with pytest.raises(vphi.Error, match="slowest axis, z, and not along y") as refused:
        model.run("native", cut="y=2")
    assert refused.value.code == "E0862" and "z=2" in str(refused.value)
    for wrong in ("z", 2, {"z": 0}):
        with pytest.raises(vphi.UsageError):
            model.run("native", cut=wrong)


@pytest.mark.parametrize("text", [PATHS, BOX])
def test_ranks_have_the_bits_of_the_command(text, command, tmp_path):
    path = tmp_path / "model.vphi"
    path.write_text(text)
    there = command(str(path), "--device", "native", "--ranks", "2", "--seed", "5")
    here = vphi.load(text, seed=5).run("native", ranks=2)
    assert there["steps"] == here.steps and len(there["ranks"]) == 2
    for name, value in there["scalars"].items():
        if name in here.series and here[name].values.ndim == 1:
            assert here[name].values[-1] == value, name


@pytest.mark.parametrize("text, array", [(PATHS, "x"), (BOX, "phi")])
def test_by_hand(text, array):
    """The state is joined from all ranks and dealt out to them."""
    one = vphi.load(text).start("native", seed=3)
    two = vphi.load(text).start("native", seed=3, ranks=2)
    assert "2 ranks" in two.device and "2 ranks" in repr(two)
    for steps in (1, 2, 7):
        assert one.step(steps) == two.step(steps) == steps
        for name in one.state:
            assert one.read(name).shape == two.read(name).shape
            assert one.read(name).tobytes() == two.read(name).tobytes(), name
        for formula in (array, f"{array}'", f"{array}^2 + 1"):
            assert numpy.asarray(one[formula]).tobytes() == numpy.asarray(two[formula]).tobytes()
        changed = 1.25 * one.read(one.state[0])
        one.write(one.state[0], changed), two.write(two.state[0], changed)
    assert one.run() == two.run() > 0
    same(one.result(), two.result())


def test_parameter_and_condition_between_steps():
    one = vphi.load(BOX).start("native", seed=3)
    two = vphi.load(BOX).start("native", seed=3, ranks=3)
    for sim in (one, two):
        sim.step(5)
        sim.set("m2", 2)
        assert 0 < sim.run(until="mean(phi'^2) > 0.004") < 45
        assert not sim.over
    assert one.steps == two.steps
    for name in one.state:
        assert one.read(name).tobytes() == two.read(name).tobytes()
    assert one.result().notes == two.result().notes


def test_files_are_those_of_one_device(tmp_path):
    pytest.importorskip("h5py")
    model = vphi.load(BOX)
    one = model.run("native", out=tmp_path / "one")
    two = model.run("native", ranks=2, out=tmp_path / "two")
    assert [path.rsplit("/", 1)[1] for path in one.files] == [path.rsplit("/", 1)[1]
                                                             for path in two.files]
    same(one, two)
    assert vphi.open(tmp_path / "one")["mean(phi^2)"].identical(
        vphi.open(tmp_path / "two")["mean(phi^2)"])


def test_initial_values_are_dealt_out():
    phi = numpy.random.default_rng(1).normal(size=(32, 8, 8))
    sim = vphi.load(BOX).start("native", ranks=2, init={"phi": phi})
    assert numpy.allclose(sim["phi"], phi, rtol=1e-15)


def test_view_is_refused_with_the_way_out():
    sim = vphi.load(BOX).start("native", ranks=2)
    with pytest.raises(vphi.UsageError) as caught:
        sim.view(sim.state[0])
    assert "2 ranks" in caught.value.message and "read" in caught.value.fix
    assert sim.step() == 1


class Communicator:
    def Get_size(self):
        return 2


@pytest.mark.parametrize("ranks, message, fix", [
    (0, "no whole number", "ranks=1"), (True, "no whole number", "ranks=1"),
    (1.5, "no whole number", "ranks=1"), (Communicator(), "communicator", "mpirun")])
def test_what_is_no_number_of_ranks(ranks, message, fix):
    with pytest.raises(vphi.UsageError) as caught:
        vphi.load(BOX).run("native", ranks=ranks)
    assert message in caught.value.message and fix in caught.value.fix


@pytest.mark.parametrize("device, ranks, message", [
    ("cuda:0,0", None, "names cuda:0 twice"), ("cuda:1-0", None, "no list of devices"),
    ("cuda:0,1", 3, "a rank has one device")])
def test_lists_of_devices(device, ranks, message):
    with pytest.raises(vphi.UsageError) as caught:
        vphi.load(BOX).run(device, ranks=ranks)
    assert message in caught.value.message and "--" not in str(caught.value)


def test_what_cannot_be_shared_is_a_mistake_of_the_model():
    with pytest.raises(vphi.ModelError) as caught:
        vphi.load(PATHS).run("native", ranks=16)
    assert caught.value.code == "E0860" and "16 ranks share 15 instances" in caught.value.message
    with pytest.raises(vphi.ModelError) as caught:
        vphi.load(BOX, lattice="8*8*8").run("native", ranks=9)
    assert caught.value.code == "E0862"


def test_broken_state_is_found_on_any_rank():
    blowup = BOX.replace("init phi ~ 0.1*normal", "init phi = 100*exp(-(z - 4)^2)")
    with pytest.raises(vphi.BrokenState) as caught:
        vphi.load(blowup.replace("phi^4/4", "phi^4*1e6")).run("native", ranks=2, until="t > 100")
    assert caught.value.code == "E0801"


def test_end_in_another_thread():
    """Where a simulation began does not matter for where it goes on and ends."""
    held = [vphi.load(BOX).start("native", ranks=2)]

    def goes_on():
        held[0].step(3)
        held.clear()

    thread = threading.Thread(target=goes_on)
    thread.start()
    thread.join(60)
    assert not thread.is_alive() and not held


def test_magic():
    pytest.importorskip("IPython")
    from vphi.magic import run_cell

    name, result = run_cell("r --device native --ranks 2 --steps 5", BOX)
    assert name == "r" and result.steps == 5 and "2 ranks" in result.device
