"""Other values of parameters in the middle of a run, and steps until a condition holds."""

import numpy
import pytest

import vphi

OSCILLATOR = """model oscillator "A mass that is changed by hand"
param m = 1, k = 0.5
var x: real, v: real
init x = 1, v = 0
x' = v
v' = -m^2*x - k*x^3
evolve rk4, dt = 0.01, until = t > 4
every 10 steps: x, energy = v^2/2 + m^2*x^2/2 + k*x^4/4 -> "out.csv"
"""
FIELD = """model quench "A field in a bath"
param m2 = 1, g = 0.1
lattice box: 16^2, spacing = 1, boundary = periodic
field phi: real
phi' = lap(phi) - m2*phi - g*phi^3 + 0.1*noise
init phi = sin(2*pi*x/16)
evolve srk2, dt = 0.02, until = t > 2
precision real = f64
every 5 steps: mean(phi^2), t -> "out.h5"
"""
WAVE = """model wave "Staggered in time"
param m2 = 1
lattice box: 32, length = 10, boundary = periodic
field phi: real
potential V = m2*phi^2/2
init phi = cos(2*pi*x/10), phi' = 0
evolve leapfrog, dt = 0.01
precision real = f64
every 10 steps: mean(phi^2) -> "out.csv"
"""


def same(one, other):
    for array in one.state:
        assert one.read(array).tobytes() == other.read(array).tobytes(), array


@pytest.mark.parametrize("free", [[], ["m"], ["m", "k"]])
def test_state_goes_on_under_the_new_value(free):
    sim = vphi.load(OSCILLATOR, free=free).start("native")
    sim.step(150)
    x, v, t = sim["x"], sim["v"], sim.t
    sim.set("m", 3)
    assert (sim.steps, sim.t) == (150, t) and (sim["x"], sim["v"]) == (x, v)
    assert sim["m*x"] == pytest.approx(3*x, rel=1e-14)
    other = vphi.load(OSCILLATOR, set={"m": 3}).start("native", init={"x": x, "v": v})
    sim.step(70), other.step(70)
    assert sim["x"] == pytest.approx(other["x"], rel=1e-12)
    assert sim["v"] == pytest.approx(other["v"], rel=1e-12)
    result = sim.result()
    assert list(result["x"].t.values) == pytest.approx(numpy.arange(23)*0.1)
    energy = result["energy"].values  # conserved on both sides of the change, and not across it
    assert numpy.ptp(energy[:15]) < 1e-6 and numpy.ptp(energy[16:]) < 1e-5
    assert abs(energy[16] - energy[14]) > 0.1
    assert "m = 3 from step 150, t = 1.5 on" in result.notes
    assert "m" not in result["x"].coords and sim.model.changed(steps=1).text == OSCILLATOR


def test_free_and_folded_parameters_agree():
    folded, free = vphi.load(WAVE).start("native"), vphi.load(WAVE, free=["m2"]).start("native")
    for sim in (folded, free):
        sim.step(33)
        sim.set("m2", "2 + 1/2")
        sim.step(33)
        sim.set("m2", 0.25)
        sim.step(33)
    numpy.testing.assert_allclose(free["phi"].values, folded["phi"].values, rtol=1e-11, atol=1e-13)
    numpy.testing.assert_allclose(free["phi'"].values, folded["phi'"].values, rtol=1e-11, atol=1e-13)


def test_quench_of_a_mode_is_the_exact_solution():
    sim = vphi.load(WAVE).start("native")
    k2 = (2 - 2*numpy.cos(2*numpy.pi/32))/(10/32)**2
    before, after = numpy.sqrt(k2 + 1), numpy.sqrt(k2 + 9)
    sim.step(100)
    first = sim.t
    sim.set("m2", 9)
    sim.step(100)
    x, v = numpy.cos(before*first), -before*numpy.sin(before*first)
    later = after*(sim.t - first)
    exact = x*numpy.cos(later) + v/after*numpy.sin(later)
    shape = numpy.cos(2*numpy.pi*(numpy.arange(32) - 15.5)/32)
    assert numpy.abs(sim["phi"].values - exact*shape).max() < 0.05  # the half step is m2 = 1's
    assert numpy.abs(sim["phi"].values - numpy.cos(before*sim.t)*shape).max() > 0.3


def test_random_streams_go_on():
    changed, left_alone = vphi.load(FIELD).start("native"), vphi.load(FIELD).start("native")
    changed.step(31), left_alone.step(31)
    changed.set("m2", 1)  # the same value: the same bits
    changed.step(31), left_alone.step(31)
    same(changed, left_alone)
    one, other = changed.result(), left_alone.result()
    assert one["mean(phi^2)"].values.tobytes() == other["mean(phi^2)"].values.tobytes()


def test_other_end_by_a_parameter():
    text = OSCILLATOR.replace("t > 4", "t > 4/m")
    sim = vphi.load(text).start("native")
    sim.run()
    assert sim.over
    sim.set("m", 0.5)
    assert not sim.over and sim.run() == 400 and sim.t > 8


def test_sweep_keeps_its_instances():
    text = OSCILLATOR.replace("param m = 1, k = 0.5", "param m = 1\nsweep k = [0, 0.5, 1]")
    sim = vphi.load(text).start("native")
    sim.step(50)
    x, v = sim["x"].values, sim["v"].values
    sim.set("m", 2)
    assert (sim["x"].values == x).all()
    sim.step(50)
    for i, k in enumerate((0, 0.5, 1)):
        alone = vphi.load(text, set={"k": k, "m": 2}).start("native", init={"x": x[i], "v": v[i]})
        alone.step(50)
        assert sim["x"].values[i] == pytest.approx(alone["x"], rel=1e-12)
    with pytest.raises(vphi.UsageError, match="swept"):
        sim.set("k", 2)
    sim.step(10)


@pytest.mark.parametrize(["change", "name", "message"], [
    ((), "q", "no parameter"),
    (("dt = 0.01", "dt = 0.01/m2"), "m2", "dt depends"),
    (("init phi = cos", "param s = 1\ninit phi = s*cos"), "s", "enters the start alone"),
    (("potential", "param u = 1\nrescale A = u, B = 1\npotential"), "u", "units"),
    (("32, length = 10", "n, length = 10"), "n", "lattice"),
])
def test_what_cannot_change_is_refused(change, name, message):
    text = WAVE.replace(*change) if change else WAVE
    text = text.replace("param m2 = 1", "param m2 = 1, n = 32") if name == "n" else text
    sim, alone = vphi.load(text).start("native"), vphi.load(text).start("native")
    sim.step(5), alone.step(5)
    with pytest.raises(vphi.Error, match=message) as caught:
        sim.set(name, 64 if name == "n" else 2)
    assert caught.value.fix or isinstance(caught.value, vphi.ModelError)
    sim.step(5), alone.step(5)  # it goes on as it was
    same(sim, alone)


def test_free_parameter_of_the_start_alone():
    text = WAVE.replace("init phi = cos", "param s = 1\ninit phi = s*cos")
    sim = vphi.load(text, free=["s", "m2"]).start("native")
    with pytest.raises(vphi.UsageError, match="enters the start alone"):
        sim.set("s", 2)
    sim.set("m2", 2)


def test_no_number_and_views_and_files(tmp_path):
    sim = vphi.load(WAVE).start("native")
    with pytest.raises(vphi.UsageError):
        sim.set("m2", [1, 2])
    with sim.view(sim.state[0]):
        with pytest.raises(vphi.InUse):
            sim.set("m2", 2)
    sim.set("m2", 2)
    with pytest.raises(vphi.UsageError, match="files of results"):
        vphi.load(FIELD).start("native", out=tmp_path / "out", ranks=2).set("m2", 2)


@pytest.mark.parametrize("text", [WAVE, FIELD])
def test_condition_stops_where_it_first_holds(text):
    condition = "mean(phi^2) < 0.3"
    sim, alone = vphi.load(text).start("native"), vphi.load(text).start("native")
    made = sim.run(until=condition)
    assert 5 < made < 100 and sim.steps == made
    assert sim["mean(phi^2)"] < 0.3
    alone.step(made - 1)
    assert alone["mean(phi^2)"] >= 0.3
    alone.step(1)
    same(sim, alone)
    assert sim.run(until=condition) == 0  # it holds
    sim.step(37), alone.step(37)
    same(sim, alone)
    one, other = sim.result(), alone.result()
    assert one["mean(phi^2)"].values.tobytes() == other["mean(phi^2)"].values.tobytes()


def test_times_and_the_end_of_the_model(tmp_path):
    sim = vphi.load(OSCILLATOR).start("native", out=tmp_path / "out")
    assert sim.run(until="t > 1") == 101 and sim.t == pytest.approx(1.01)
    assert sim.run(until="t > 1") == 0
    assert sim.run(until="t > 100") == 300 and sim.over  # the model's end comes first


def test_end_of_the_model_by_a_condition():
    sim = vphi.load(OSCILLATOR.replace("t > 4", "x < 0.5")).start("native")
    sim.run(until="x < 0.8")
    first = sim.steps
    assert 0.7 < sim["x"] < 0.8 and not sim.over
    sim.run(until="x < 0.1")
    assert sim["x"] > 0.45 and sim.steps > first and sim.over and sim.step(5) == 0


def test_each_instance_stops_by_itself():
    text = OSCILLATOR.replace("param m = 1, k = 0.5", "param m = 1\nsweep k = [0, 1, 4]")
    sim = vphi.load(text).start("native")
    sim.run(until="x < 0.5")
    x = sim["x"].values
    assert ((0.45 < x) & (x < 0.5)).all()
    assert sim.run(until="x < 0.6") == 0
    before = sim["t"].values
    assert before[0] > before[1] > before[2]
    sim.run(until="x < 0.4")
    assert ((0.35 < sim["x"].values) & (sim["x"].values < 0.4)).all()


@pytest.mark.parametrize("condition", ["x <", "y > 2", "", "1 +"])
def test_no_condition(condition):
    sim = vphi.load(OSCILLATOR).start("native")
    with pytest.raises(vphi.Error):
        sim.run(until=condition)
    assert sim.step(3) == 3


def test_files_go_on_and_state_the_change(tmp_path):
    """The rows on both sides of the change are in one file, once each, as the result has them."""
    h5py = pytest.importorskip("h5py")
    text = FIELD.replace('-> "out.h5"', '-> "out.h5"\nevery 20 steps: snapshot(phi) -> "fields.h5"')
    sim = vphi.load(text).start("native", out=tmp_path / "out")
    sim.step(30)
    sim.set("m2", 4)
    assert sim.run(until="mean(phi^2) < 0.05") > 0  # another program of its own
    assert not sim.over
    sim.step(10)
    sim.set("g", "2*m2")
    sim.run()
    result = sim.result()
    stored = vphi.open(tmp_path / "out")
    assert stored["mean(phi^2)"].values.tobytes() == result["mean(phi^2)"].values.tobytes()
    times = [0.1*row for row in range(21)] + [2.02]  # and the end
    assert len(result["t"]) == 22 and numpy.allclose(result["t"], times)
    assert list(stored.snapshots["phi"].steps) == [0, 20, 40, 60, 80, 100]
    assert stored.changes == result.notes and len(stored.changes) == 2
    assert stored.changes[0].startswith("m2 = 4 from step 30, t = 0.6")
    assert stored.parameters["m2"] == 1  # of the start
    with h5py.File(tmp_path / "out" / "fields.h5") as file:  # each file says it
        assert file.attrs["changes"].splitlines() == result.notes
    alone = vphi.load(text).start("native")
    alone.step(30), alone.set("m2", 4)
    alone.run(until="mean(phi^2) < 0.05"), alone.step(10), alone.set("g", "2*m2"), alone.run()
    same(sim, alone)


def test_files_of_a_sweep_and_of_text_go_on(tmp_path):
    swept = OSCILLATOR.replace("var x", "sweep a = [1, 2]\nvar x").replace("init x = 1", "init x = a")
    for text, columns in ((OSCILLATOR, 4), (swept, 5)):
        folder = tmp_path / str(columns)
        sim = vphi.load(text).start("native", out=folder)
        sim.step(155)
        sim.set("m", 3)
        sim.run()
        result = sim.result()
        lines = next(folder.glob("*.csv")).read_text().splitlines()
        assert len(lines) == 1 + result["x"].values.size and lines[0].count(",") + 1 == columns
        assert float(lines[-1].split(",")[-2]) == result["x"].values.ravel()[-1]


def test_refused_value_leaves_the_files_as_they_were(tmp_path):
    pytest.importorskip("h5py")
    sim = vphi.load(FIELD).start("native", out=tmp_path / "out")
    sim.step(10)
    with pytest.raises(vphi.Error):
        sim.set("spacing", 2)
    sim.run()
    result = sim.result()
    stored = vphi.open(tmp_path / "out")
    assert not stored.changes and not result.notes
    assert stored["t"].values.tobytes() == result["t"].values.tobytes()


def test_report_of_files_says_what_has_changed(tmp_path, command):
    import os
    import shutil
    import subprocess

    sim = vphi.load(FIELD).start("native", out=tmp_path / "out")
    sim.step(30)
    sim.set("m2", 4)
    sim.run(), sim.result()
    program = os.environ.get("VPHI_COMMAND") or shutil.which("vphi")
    done = subprocess.run([program, "report", "out"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    pages = [path.read_text() for path in tmp_path.rglob("*.html")]
    assert any("m2 = 4 from step 30" in page for page in pages)


def test_a_parameter_is_named_in_either_way():
    one, other = vphi.load(OSCILLATOR).start("native"), vphi.load(OSCILLATOR).start("native")
    one.set("m", 3), other.set(m=3)
    one.step(5), other.step(5)
    same(one, other)
    for wrong in (lambda: one.set(m=1, k=2), lambda: one.set("m"), lambda: one.set("m", 1, k=2),
                  lambda: one.set()):
        with pytest.raises(vphi.UsageError, match="one parameter and its value"):
            wrong()
    assert one["m*x"] == pytest.approx(3*one["x"], rel=1e-14)
