"""The Python of docs/results.md reads the files of a run: h5py, xarray, and XDMF by a parser."""

import pathlib
import re
import xml.etree.ElementTree

import numpy
import pytest

import vphi

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/results.md"
COMPLEX = """model psi "A complex field"
lattice box: 4 * 6 * 8, spacing = 1, boundary = periodic
field psi: complex
potential V = abs(psi)^2
init psi = exp(1i*2*pi*x/4), psi' = 0
evolve leapfrog, dt = 0.1
precision real = f64
every 45 steps: snapshot(psi) -> "psi.h5"
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The runs that the page speaks of."""
    where = tmp_path_factory.mktemp("results_page")
    vphi.load("preheating", lattice="16^3", steps=8192).run("native",
                                                            out=where / "results/preheating")
    vphi.load(COMPLEX, steps=45).run("native", out=where / "psi")
    return where


def blocks():
    text = PAGE.read_text()
    return [(text[:b.start()].count("\n") + 1, b.group(1))
            for b in re.finditer(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)]


def test_blocks_run_and_read_what_the_run_wrote(folder, monkeypatch):
    h5py = pytest.importorskip("h5py")
    pytest.importorskip("h5netcdf", reason="xarray reads the files by its engine h5netcdf")
    monkeypatch.chdir(folder)
    try:
        import matplotlib
        matplotlib.use("Agg")
    except ImportError:
        matplotlib = None
    session = {}
    for line, code in blocks():
        if matplotlib is None:  # a curve is drawn where it is installed
            code = re.sub(r"^.*\.plot\(\).*$", "", code, flags=re.MULTILINE)
        if "snapshot(psi)" in code:
            session["f"] = h5py.File(folder / "psi/psi.h5")
        exec(compile("\n" * line + code, str(PAGE), "exec"), session)
    session["f"].close()

    stored = vphi.open(folder / "results/preheating")
    assert (session["t"] == stored["w"].t.values).all() and (session["w"] == stored["w"].values).all()
    assert len(session["z"]) == len(session["y"]) == len(session["x"]) == 16
    psi = session["psi"]
    assert psi.shape == (8, 6, 4) and psi.dtype == numpy.complex128
    assert numpy.abs(numpy.abs(psi) - numpy.abs(psi).mean()).max() < 1e-9
    table = session["table"]
    assert list(table.columns) == ["a", "H", "w"] and (table["a"].to_numpy() >= 1).all()
    assert session["P"].size > 4 and bool((session["P"].fillna(0) >= 0).all())
    rho = session["rho"]
    assert rho.dims == ("z", "y", "x") and float(rho.mean()) > 0
    assert (rho.x.values == session["x"]).all()


def test_grids_of_xdmf_are_the_arrays_of_the_file(folder):
    h5py = pytest.importorskip("h5py")
    found = list((folder / "results/preheating").glob("*.xdmf"))
    assert len(found) == 1
    grids = [g for g in xml.etree.ElementTree.parse(found[0]).getroot().iter("Grid")
             if g.find("Topology") is not None]
    assert grids
    times = set()
    for grid in grids:
        time, topology = grid.find("Time"), grid.find("Topology")
        times.add(float(time.get("Value")))
        sites = [int(n) for n in topology.get("Dimensions").split()]
        assert grid.find("Geometry") is not None
        for attribute in grid.findall("Attribute"):
            item = next(i for i in attribute.iter("DataItem") if (i.text or "").strip())
            name, path = item.text.strip().split(":", 1)
            with h5py.File(found[0].parent / name) as file:
                array = file[path][()]
                assert file[path].attrs["t"] == float(time.get("Value"))
            assert numpy.isfinite(array).all()
            assert [int(n) for n in item.get("Dimensions").split()] == list(array.shape)
            assert int(numpy.prod(sites)) == array.size
    assert len(times) == 2  # the start and step 8192
