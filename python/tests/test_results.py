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


def test_files_have_the_same_numbers(xarray, tmp_path):
    pytest.importorskip("h5py")
    result = vphi.load(TEXT).run("native", steps=3, out=tmp_path)
    (name, file), = vphi.open(tmp_path).items()
    assert name == "out.h5" and result.files
    assert (file["series/mean(phi)"][:] == result["mean(phi)"].values).all()
    rows = file["spectra/spectrum(phi)/00000003"][:]
    last = result.spectra["spectrum(phi)"].isel(t=3)
    for place, column in enumerate(("k", "P", "Delta", "modes")):
        assert (rows[:, place] == last[column].values).all()
    assert (file["slices/sx/00000003"][:] == result.slices["sx"].isel(t=3).values).all()
    file.close()


def test_folder_without_results(tmp_path):
    pytest.importorskip("h5py")
    with pytest.raises(vphi.ResultsError):
        vphi.open(tmp_path)
    with pytest.raises(vphi.ResultsError):
        vphi.open(tmp_path / "none")


def test_names_without_xarray(monkeypatch):
    from vphi import results

    monkeypatch.setattr(results, "_xarray", lambda: None)
    result = vphi.load(TEXT).run("native", steps=2)
    mean = result["mean(phi)"]
    assert mean.dims == ("t",) and len(mean["t"]) == len(numpy.asarray(mean)) == 3
    assert result.slices["sx"].dims == ("t", "z", "y")
    assert result.spectra["spectrum(phi)"]["P"].dims == ("t", "bin")


def test_state_of_four_dimensions(xarray):
    text = TEXT[:TEXT.index("every")].replace("6 * 4 * 8", "6 * 4 * 8 * 3")
    simulation = vphi.load(text).start("native")
    assert simulation["phi"].dims == ("w", "z", "y", "x")
