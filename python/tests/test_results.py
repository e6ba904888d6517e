"""What outputs made, with the names of their axes, and the same from files."""

import numpy
import pytest

import vphi

TEXT = """model planes "Slices along each axis of a box with three different lengths"
lattice box: 6 * 4 * 8, spacing = 1, boundary = periodic
field phi: real
potential V = phi^2/2
init phi = sin(x) + 2*cos(y) + exp(z/10)
init phi' = 0
evolve leapfrog, dt = 0.1
precision real = f64
every 1 step: mean(phi), spectrum(phi), sx = slice(phi, x = 0), sy = slice(phi, y = 0), sz = slice(phi, z = 0) -> "out.h5"
"""


@pytest.fixture
def xarray():
    return pytest.importorskip("xarray")


def test_slices_are_planes_of_the_field(xarray):
    simulation = vphi.load(TEXT).start("native")
    phi = simulation["phi"]
    assert phi.dims == ("z", "y", "x") and phi.shape == (8, 4, 6)
    slices = simulation.result().slices
    for axis, others in (("x", ("z", "y")), ("y", ("z", "x")), ("z", ("y", "x"))):
        plane = slices["s" + axis].isel(t=0)
        assert plane.dims == others
        places = [k for k in range(phi.sizes[axis])
                  if numpy.array_equal(phi.isel({axis: k}).values, plane.values)]
        assert places, axis


def test_spectra_have_columns(xarray):
    result = vphi.load(TEXT).run("native", steps=3)
    spectrum = result.spectra["spectrum(phi)"]
    assert set(spectrum.data_vars) == {"k", "P", "Delta", "modes"}
    assert spectrum.sizes["t"] == 4 and list(spectrum.t) == list(result["mean(phi)"].t)
    assert (numpy.diff(spectrum.k.isel(t=0)) > 0).all()
    assert 0 < float(spectrum.modes.isel(t=0).sum()) <= 6 * 4 * 8


SWEPT = """model growth "A sweep with outputs of every kind"
sweep rate = [0.5, 1, 2]
lattice box: 6 * 4, spacing = 1/2, boundary = periodic
field phi: real
potential V = rate*phi^2/2
init phi = 1 + rate*x/10
init phi' = 0
evolve leapfrog, dt = 0.01, until = t > 1
every 20 steps: mean(phi), spectrum(phi), slice(phi), t*rate -> "end.h5"
every 50 steps: var(phi), h = histogram(phi, bins = 4, low = -3, high = 3), profile(phi, along = x) -> "other.h5"
at end: q = mean(phi^2) -> "end.h5"
plot q against rate -> "end.h5"
"""
MAPS = """model maps "A map of two quantities, and a complex field"
lattice box: 8 * 6, spacing = 1/4, boundary = periodic
field psi: complex
potential V = abs(psi)^2
init psi = exp(1i*x), psi' = y
evolve leapfrog, dt = 0.01
every 2 steps: histogram(re(psi), im(psi), bins = 3), slice(re(psi), y = 0), snapshot(psi) -> "maps.h5"
"""


def equal(one, other):
    """The same names, numbers, axes and coordinates."""
    assert set(one.series) == set(other.series) and set(one.plots) == set(other.plots)
    for name in one.series:
        assert one[name].identical(other[name]), name
    for name in one.plots:
        assert one.plots[name].identical(other.plots[name]), name
    for group in one._groups:
        first, second = getattr(one, group), getattr(other, group)
        assert set(first) == set(second)
        for name in first:
            assert first[name].identical(second[name]), name


@pytest.mark.parametrize("text", [TEXT, MAPS])
def test_files_have_what_the_result_has(xarray, tmp_path, text):
    pytest.importorskip("h5py")
    result = vphi.load(text).run("native", steps=4, out=tmp_path)
    stored = vphi.open(tmp_path)
    equal(result, stored)
    assert sorted(stored.files) == sorted(str(f) for f in tmp_path.glob("*.h5"))
    assert stored.attributes["model"] == result.model.name


def test_files_of_a_sweep_have_what_its_single_runs_have(xarray, tmp_path):
    pytest.importorskip("h5py")
    result = vphi.load(SWEPT).run("native", out=tmp_path)
    stored = vphi.open(tmp_path)
    assert set(result.series) == set(stored.series) == {"mean(phi)", "t*rate", "var(phi)", "q"}
    for name in result.series:
        assert result[name].identical(stored[name]), name
    equal(result, stored)
    assert result.spectra["spectrum(phi)"].sizes["rate"] == 3
    with pytest.raises(KeyError, match="no output `power`"):
        result.spectra["power"]
    equal(vphi.load(SWEPT).run("native"), stored)            # nothing is written
    equal(vphi.load(SWEPT, batch=2).run("native"), stored)   # in two parts, tables come at the end
    for value in (0.5, 1, 2):
        single = vphi.load(SWEPT.replace("sweep rate = [0.5, 1, 2]", f"param rate = {value}")
                           .replace('plot q against rate -> "end.h5"', "")).run("native")
        for group, name in (("spectra", "spectrum(phi)"), ("slices", "slice(phi)"),
                            ("histograms", "h"), ("profiles", "profile(phi)")):
            one, all_values = getattr(single, group)[name], getattr(stored, group)[name]
            xarray.testing.assert_allclose(one, all_values.sel(rate=value, drop=True), rtol=1e-12)


def test_files_of_the_command_have_what_the_result_has(xarray, tmp_path, command):
    pytest.importorskip("h5py")
    command("preheating_quick", "--device", "native", "--lattice", "8^3", "--steps", "640")
    stored = vphi.open(tmp_path / "out")
    equal(vphi.load("preheating_quick", lattice="8^3").run("native", steps=640), stored)
    assert stored.slices["lumps"].sizes["t"] == 2 and stored.spectra["spectrum(phi)"].sizes["t"] == 2


def test_slices_have_coordinates(xarray):
    text = TEXT.replace("spacing = 1,", "spacing = 1/2,")
    result = vphi.load(text).run("native", steps=1)
    plane = result.slices["sz"].isel(t=0)
    x, y = 0.5*(numpy.arange(6) - 2.5), 0.5*(numpy.arange(4) - 1.5)
    assert (plane.x == x).all() and (plane.y == y).all()
    expected = numpy.sin(x) + 2*numpy.cos(y)[:, None]
    shift = plane.values - expected
    assert numpy.allclose(shift, shift[0, 0], atol=1e-12)  # exp(z/10) of the plane
    phi = vphi.load(text).start("native")["phi"]
    assert numpy.allclose(phi, numpy.exp(phi.z/10) + 2*numpy.cos(phi.y) + numpy.sin(phi.x))


def test_snapshots_are_read_when_asked_for(xarray, tmp_path):
    pytest.importorskip("h5py")
    vphi.load(MAPS).run("native", steps=4, out=tmp_path)
    simulation = vphi.load(MAPS).start("native")
    snapshots = vphi.open(tmp_path).snapshots["snapshot(psi)"]
    assert snapshots.steps == [0, 2, 4]
    for number, step in enumerate(snapshots.steps):
        simulation.step(step - simulation.steps)
        assert (snapshots[number].values.real == simulation["re(psi)"].values).all()
        assert (snapshots[number].values.imag == simulation["im(psi)"].values).all()
        assert (snapshots[number].x == simulation["re(psi)"].x).all()


def test_folder_without_results(tmp_path):
    pytest.importorskip("h5py")
    with pytest.raises(vphi.ResultsError):
        vphi.open(tmp_path)
    with pytest.raises(vphi.ResultsError):
        vphi.open(tmp_path / "none")


def test_names_without_xarray(monkeypatch, tmp_path):
    from vphi import results

    monkeypatch.setattr(results, "_xarray", lambda: None)
    result = vphi.load(TEXT).run("native", steps=2, out=tmp_path)
    mean = result["mean(phi)"]
    assert mean.dims == ("t",) and len(mean["t"]) == len(numpy.asarray(mean)) == 3
    assert result.slices["sx"].dims == ("t", "z", "y")
    assert result.spectra["spectrum(phi)"]["P"].dims == ("t", "bin")
    assert (result.slices["sx"]["z"] == numpy.arange(8) - 3.5).all()
    pytest.importorskip("h5py")
    stored = vphi.open(tmp_path)
    assert stored.slices["sx"].dims == ("t", "z", "y")
    assert (stored["mean(phi)"].values == mean.values).all()


def test_state_of_four_dimensions(xarray):
    text = TEXT[:TEXT.index("every")].replace("6 * 4 * 8", "6 * 4 * 8 * 3")
    simulation = vphi.load(text).start("native")
    assert simulation["phi"].dims == ("w", "z", "y", "x")


def test_named_arrays_without_xarray():
    from vphi.results import Named

    one = Named("x", ("t",), numpy.array([1.0, 2.0, 4.0]), {"t": numpy.array([0.0, 1.0, 2.0])})
    assert len(one) == 3 and one.ndim == 1 and one.dtype == float and list(one) == [1, 2, 4]
    for got, expected in ((one + one, [2, 4, 8]), (1 - one, [0, -1, -3]), (one/2, [0.5, 1, 2]),
                          (2**one, [2, 4, 16]), (-one, [-1, -2, -4]),
                          (numpy.ones(3)*one, [1, 2, 4]), (one > 1.5, [0, 1, 1])):
        assert isinstance(got, numpy.ndarray) and (got == expected).all()
    assert float(Named("x", (), numpy.array(2.5), {})) == 2.5
    assert numpy.sqrt(one)[2] == 2 and one["t"][1] == 1


def test_short_names_of_outputs():
    from vphi.results import Group

    group = Group("slices", {"slice(rho, z = 0)": 1, "slice(phi, z = 0)": 2, "slice(phi, z = 1)": 3})
    assert group["rho"] == 1 and group["slice(phi, z = 1)"] == 3
    with pytest.raises(KeyError, match="several outputs of `phi`"):
        group["phi"]
    with pytest.raises(KeyError, match="no output `ph`"):
        group["ph"]
