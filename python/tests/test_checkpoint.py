"""Checkpoints of a simulation that is driven by hand, and backgrounds after a kick."""

import os
import shutil
import subprocess

import numpy
import pytest

import vphi
from conftest import ROTORS

WAVE = """model wave "A wave"
param m = 1
lattice box: 8*6*4, spacing = 1/2, boundary = periodic
field phi: real
potential V = m^2*phi^2/2 + phi^4/4
init phi ~ 0.3 + vacuum
evolve leapfrog, dt = 0.05, until = t > 2
every 4 steps: mean(phi^2), total(phi'^2) -> "wave.h5"
every 8 steps: spectrum(phi) -> "wave.h5"
expect abs(mean(phi)) < 10
"""
SWEEP = """model rates
sweep r = [0.5, 1, 2]
sweep draw = 1..2
var x: real
init x ~ normal(1, 0.1)
x' = -r*x + 0.1*noise
evolve euler_maruyama, dt = 0.01, until = t > 1
every 10 steps: x -> "rates.csv"
"""
CHAIN = """model plane "U(1) in a plane"
lattice grid: 4^2
gauge U: U(1)
plaquette = mean(re(loop(mu, nu, -mu, -nu)), mu < nu)
action S = 2*sum(1 - re(loop(mu, nu, -mu, -nu)), mu < nu)
sample heatbath, sweeps = 40
init U ~ hot
every 1 sweeps: plaquette -> "plane.csv"
"""
MANY_ROTORS = ROTORS.replace("N = 64", "N = 16384")  # a row that ranks share


def arrays_of(sim):
    return {name: sim.read(name) for name in sim.state}


def same(one, two):
    return set(one) == set(two) and all((one[name] == two[name]).all() for name in one)


@pytest.mark.parametrize("text", (WAVE, SWEEP, CHAIN), ids=("field", "sweep", "chain"))
def test_a_run_goes_on_with_the_same_bits(tmp_path, text):
    model = vphi.load(text)
    whole = model.start("native", seed=5)
    whole.run()
    sim = model.start("native", seed=5)
    sim.step(13)
    sim.save(tmp_path / "at13")
    sim.step(9)  # what comes after does not enter
    again = model.start("native", resume=tmp_path / "at13")
    assert again.steps == 13 and again.model.changed()._core.overrides[4] == "5"  # its seed
    again.run()
    assert same(arrays_of(again), arrays_of(whole)) and again.t == whole.t
    result, expected = again.result(), whole.result()
    assert any("goes on from step 13" in note for note in result.notes)
    for name, series in expected.series.items():
        assert numpy.array_equal(result[name], series), name


@pytest.mark.parametrize("text", (WAVE, MANY_ROTORS), ids=("lattice", "bodies"))
@pytest.mark.parametrize("before, after", ((2, None), (None, 2), (2, 4)))
def test_another_number_of_ranks_goes_on(tmp_path, text, before, after):
    model = vphi.load(text)
    sim = model.start("native", ranks=before)
    sim.step(10)
    sim.save(tmp_path / "kept")
    sim.step(10)
    again = model.start("native", resume=tmp_path / "kept", ranks=after)
    again.step(10)
    assert same(arrays_of(again), arrays_of(sim))


def test_the_changes_of_the_run_are_in_it(tmp_path):
    sim = vphi.load(WAVE, until="t > 3").start("native", set={"m": 2})
    sim.step(4)
    sim.set(m=3)
    sim.step(4)
    sim.save(tmp_path / "kept")
    again = vphi.load(WAVE).start("native", resume=tmp_path / "kept")
    sim.run(), again.run()
    assert again["m"] == 3 and again.t == sim.t > 2.9
    assert same(arrays_of(again), arrays_of(sim))
    with pytest.raises(vphi.RunError) as caught:
        vphi.load(WAVE, set={"m": 2}).start("native", resume=tmp_path / "kept")
    assert caught.value.code == "E0851" and "`m` was 3 and is now 2" in caught.value.message


def test_initial_values_of_arrays_need_not_be_there(tmp_path):
    text = WAVE.replace("~ 0.3 + vacuum", "= 0")
    phi = numpy.random.default_rng(3).normal(size=(4, 6, 8))
    sim = vphi.load(text).start("native", init={"phi": phi, "phi'": 0})
    sim.step(6)
    sim.save(tmp_path / "kept")
    sim.step(6)
    again = vphi.load(text).start("native", resume=tmp_path / "kept")
    again.step(6)
    assert same(arrays_of(again), arrays_of(sim))
    with pytest.raises(vphi.UsageError, match="no initial values"):
        vphi.load(text).start("native", resume=tmp_path / "kept", init={"phi": phi})


def test_the_command_goes_on_from_it_and_the_other_way(tmp_path):
    program = os.environ.get("VPHI_COMMAND") or shutil.which("vphi")
    if not program:
        pytest.skip("the command is not there: VPHI_COMMAND names it")
    model = vphi.load(WAVE)
    sim = model.start("native")
    sim.step(16)
    sim.save(tmp_path / "kept")
    sim.run()
    (tmp_path / "wave.vphi").write_text(WAVE)
    command = [program, "run", str(tmp_path / "wave.vphi"), "--device", "native", "--no-report"]
    subprocess.run([*command, f"--resume={tmp_path / 'kept'}", "--out", str(tmp_path / "out")],
                   check=True, capture_output=True)
    stored = vphi.open(tmp_path / "out")
    assert numpy.array_equal(stored["mean(phi^2)"], sim.result()["mean(phi^2)"])
    subprocess.run([*command, "--steps", "20", "--checkpoint-every", "20 steps", "--out",
                    str(tmp_path / "first")], check=True, capture_output=True)
    again = vphi.load(WAVE).start("native", resume=tmp_path / "first", until="t > 2")
    assert again.steps == 20
    again.run()
    assert same(arrays_of(again), arrays_of(sim))


def test_files_of_a_run_that_goes_on_have_the_series_from_the_start(tmp_path):
    model = vphi.load(WAVE)
    whole = model.run("native", out=tmp_path / "whole")
    sim = model.start("native", out=tmp_path / "first")
    sim.step(12)
    sim.save(tmp_path / "kept")
    rest = model.run("native", resume=tmp_path / "kept", out=tmp_path / "rest")
    stored, expected = vphi.open(tmp_path / "rest"), vphi.open(tmp_path / "whole")
    for name in whole.series:
        assert numpy.array_equal(rest[name], whole[name])
        assert numpy.array_equal(stored[name], expected[name])


def test_what_cannot_be_saved_or_continued_says_so(tmp_path):
    model = vphi.load(WAVE)
    with pytest.raises(vphi.RunError) as caught:
        model.start("native", resume=tmp_path)
    assert caught.value.code == "E0850"
    (tmp_path / "cut").write_bytes(b"vphi checkpoint\n" + bytes(40))
    with pytest.raises(vphi.RunError, match="damaged"):
        model.start("native", resume=tmp_path / "cut")
    sim = model.start("native")
    sim.save(tmp_path / "kept")
    before = (tmp_path / "kept").read_bytes()
    with pytest.raises(vphi.ResultsError) as caught:
        sim.save(tmp_path / "cut" / "kept")  # a file stands in the way
    assert caught.value.code == "E0830" and "cut" in caught.value.message
    with sim.view("phi") as phi:
        phi[1, 2, 3] = numpy.nan
    with pytest.raises(vphi.BrokenState):
        sim.save(tmp_path / "kept")
    assert (tmp_path / "kept").read_bytes() == before
    assert sorted(os.listdir(tmp_path)) == ["cut", "kept"]


BOX = """model box "A box that expands with its own energy"
lattice box: 8^3, length = 2, boundary = periodic
metric frw(a)
field phi: real
potential V = phi^2/2
init phi ~ 0.2 + vacuum, phi' ~ -0.05 + vacuum
evolve {evolve}, dt = 0.02, until = t > 4
every 5 steps: a, H -> "box.csv"
"""
EQUATION = "mean(rho)/(3*H^2) - 1"


@pytest.mark.parametrize("evolve", ("leapfrog", "velocity_verlet", "rk4"))
def test_the_rate_of_expansion_follows_a_kick(evolve):
    sim = vphi.load(BOX.format(evolve=evolve), precision="f64").start("native")
    sim.step(7)
    a = sim["a"]
    sim.write("phi", 1.5*sim.read("phi"))
    sim.changed()
    assert sim[EQUATION] > 0.5
    sim.restart_background()
    assert abs(sim[EQUATION]) < 1e-12
    assert sim["a"] == pytest.approx(a, rel=0 if evolve == "rk4" else 2e-2)
    assert sim["H"] == pytest.approx(numpy.sqrt(sim["mean(rho)"]/3), rel=1e-12)
    before = sim["mean(phi)"]
    sim.step(20)
    assert abs(sim[EQUATION]) < 1e-3 and sim["mean(phi)"] != before


def test_a_rate_that_is_right_stays():
    sim = vphi.load(BOX.format(evolve="rk4"), precision="f64").start("native")
    H = sim["H"]
    sim.restart_background()
    assert sim["H"] == pytest.approx(H, rel=1e-14)


def test_no_rate_for_a_negative_energy():
    text = BOX.format(evolve="rk4").replace("phi^2/2\n", "phi^2/2 - phi^4\n")
    sim = vphi.load(text, precision="f64").start("native")
    H, phi = sim["H"], sim.read("phi")
    sim.write("phi", 10*phi)
    with pytest.raises(vphi.RunError) as caught:
        sim.restart_background()
    assert caught.value.code == "E0815" and "<rho> is not positive" in caught.value.message
    sim.write("phi", phi)
    assert sim["H"] == H


def test_no_background_to_restart():
    with pytest.raises(vphi.UsageError) as caught:
        vphi.load(WAVE).start("native").restart_background()
    assert "metric frw(a)" in caught.value.fix
