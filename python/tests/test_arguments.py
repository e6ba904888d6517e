"""What cannot be obeyed is refused with a code, a message and a fix, and nothing is left aside."""

import math
import os
import pathlib

import numpy
import pytest

import vphi

FREE = """model free "A free field"
param m = 1
lattice box: 4^2, length = 10, boundary = periodic
field phi: real, psi: complex
potential V = m^2*phi^2/2 + norm2(psi)/2
init phi = 1, psi = 2
evolve leapfrog, dt = 0.02, until = t > 0.1
every 2 steps: mean(phi) -> "o.h5"
every 2 steps: spectrum(phi) -> "o.h5"
"""


@pytest.fixture(scope="module")
def model():
    return vphi.load(FREE)


@pytest.fixture
def sim(model):
    return model.start("native")


@pytest.mark.parametrize("given", [None, 5, [], b"", "a\0b", "\ud800", "\ud800\n", numpy.array([1])])
def test_what_is_no_model(given):
    with pytest.raises(vphi.UsageError):
        vphi.load(given)


@pytest.mark.parametrize("change", [
    {"set": {"m": math.nan}}, {"set": {"m": -math.inf}}, {"set": {"m": numpy.True_}},
    {"set": {"m": b"1"}}, {"set": {1: 2}}, {"set": {"m": "\ud800"}}, {"lattice": True},
    {"lattice": {}}, {"lattice": 4.5}, {"lattice": [4, "x"]}, {"steps": 2**70}, {"free": 5},
    {"free": [1]}, {"precision": "f16"}, {"name": 5}])
def test_change_that_cannot_be_obeyed(change):
    with pytest.raises(vphi.UsageError) as caught:
        vphi.load(FREE, **change)
    assert caught.value.code == "E0810"


def test_numbers_of_numpy_are_taken():
    model = vphi.load(FREE, set={"m": numpy.array(2.0)}, lattice=numpy.array([8, 4]))
    sim = model.start("native")
    assert sim["m"] == 2 and sim["phi"].shape == (4, 8)


@pytest.mark.parametrize("ends", [(0, 1, 0), (0, 1, 2.5), (0, math.nan, 3), (None, 1, 3)])
def test_what_is_no_spacing(ends):
    with pytest.raises(vphi.UsageError):
        vphi.linspace(*ends)


@pytest.mark.parametrize("how", [
    {"out": 5}, {"out": "a\0b"}, {"out": ""}, {"resume": 5}, {"init": 5}, {"threads": 10**10},
    {"init": {"phi": numpy.ones((4, 4))*1j}}, {"init": {"phi": [[1], [2, 3]]}},
    {"init": {"phi": numpy.ma.masked_equal(numpy.eye(4), 0)}}])
def test_start_that_cannot_be_obeyed(model, how):
    with pytest.raises(vphi.UsageError):
        model.start("native", **how)


@pytest.mark.parametrize("formula", [5, None, "", "phi #", "\ud800", "x = mean(phi)",
                                     "mean(phi), var(phi)", "spectrum(phi)", "slice(phi, y = 0)",
                                     "histogram(phi)", "energies"])
def test_what_is_no_formula(sim, formula):
    with pytest.raises(vphi.UsageError):
        sim[formula]


def test_formula_of_several_numbers(sim):
    assert sim["mean((1 + 2i)*psi)"] == 2 + 4j
    assert sim["[mean(phi), 3]"].values.tolist() == [1, 3]
    assert sim["[mean(phi), 1i]"].values.tolist() == [1, 1j]


def test_site_formula_says_what_is_wrong_with_it(sim):
    with pytest.raises(vphi.ModelError) as caught:
        sim["phi/0"]
    assert caught.value.code == "E0736"


@pytest.mark.parametrize("number", [-1, 1.5, "2", None, True, math.nan, 2**70])
def test_what_is_no_number_of_steps(sim, number):
    with pytest.raises(vphi.UsageError):
        sim.step(number)
    assert sim.steps == 0


@pytest.mark.parametrize("values", [None, "x", 1j, [[1], [2, 3]], numpy.ones((4, 4))*1j,
                                    numpy.ma.masked_equal(numpy.eye(4), 0), numpy.nan])
def test_what_is_no_state(sim, values):
    with pytest.raises(vphi.UsageError):
        sim.write("phi", values)
    assert (sim["phi"] == 1).all()


def test_checkpoint_never_takes_the_place_of_what_is_no_file(sim, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path / "pipe", tmp_path):
        with pytest.raises(vphi.ResultsError):
            sim.save(place)
    assert (tmp_path / "pipe").is_fifo() and os.listdir(tmp_path) == ["pipe"]


def test_named_axes_of_initial_values_are_put_in_order(model):
    xarray = pytest.importorskip("xarray")
    values = numpy.arange(16.0).reshape(4, 4)
    for dims in (("y", "x"), ("x", "y")):
        given = xarray.DataArray(values if dims[0] == "y" else values.T, dims=dims)
        assert (model.start("native", init={"phi": given})["phi"].values == values).all()


def test_folder_of_another_process_is_refused(model, tmp_path):
    import subprocess
    import sys

    program = ("import sys, vphi; sim = vphi.load(open('m.vphi').read()).start('native', out='o');"
               "print('there', flush=True); sys.stdin.read()")
    (tmp_path / "m.vphi").write_text(FREE)
    folder = pathlib.Path(vphi.__file__).parents[1]
    with subprocess.Popen([sys.executable, "-c", program], cwd=tmp_path, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(folder)}) as other:
        assert other.stdout.readline() == b"there\n"
        with pytest.raises(vphi.RunError) as caught:
            model.start("native", out=tmp_path / "o")
        assert caught.value.code == "E0855"
        other.stdin.close()
    assert model.run("native", out=tmp_path / "o").ok
    assert not (tmp_path / "o" / ".vphi-lock").exists()


def test_result_as_a_mapping(model):
    result = model.run("native")
    assert list(result) == ["mean(phi)"] and len(result) == 1 and "mean(phi)" in result
    assert dict(result.items())["mean(phi)"].shape == result["mean(phi)"].shape
    assert "phi" in result.spectra and result.spectra.get("chi") is None
    with pytest.raises(KeyError, match="spectra"):
        result["phi"]


def test_one_file_of_results_opens(model, tmp_path):
    pytest.importorskip("h5py")
    model.run("native", out=tmp_path)
    assert list(vphi.open(tmp_path / "o.h5")) == ["mean(phi)"]
    (tmp_path / "o.h5").write_text("no HDF5")
    with pytest.raises(vphi.ResultsError):
        vphi.open(tmp_path / "o.h5")
    with pytest.raises(vphi.UsageError):
        vphi.open(5)
