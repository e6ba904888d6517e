#!/usr/bin/python3
"""Opens every group of a result file with xarray, h5py and pandas, and looks at what they see.

    check_netcdf.py PLAIN.h5 SWEPT.h5

Status 77: a package is missing.
"""
import sys

try:
    import h5py
    import numpy as np
    import pandas
    import xarray
    import h5netcdf  # noqa: F401  the engine
except ImportError as missing:
    print(missing)
    sys.exit(77)

plain, swept, united, counted = sys.argv[1:5]


def opened(path, group):
    return xarray.open_dataset(path, engine="h5netcdf", group=group)


series = opened(plain, "series")
assert dict(series["mean(u^2)"].sizes) == {"time": 9}, series
np.testing.assert_allclose(series.time, np.arange(9) * series.time[1].item())
np.testing.assert_array_equal(series.step, np.arange(9) * 4)
late = series["max(u)"]  # of a clause with times of its own
assert late.dims != ("time",) and late.shape == (5,), series
np.testing.assert_array_equal(series[late.dims[0].replace("time", "step")], np.arange(5) * 8)
both = series["min(u)"]  # in both clauses
assert both.sizes[both.dims[0]] == 9, series
frame = series[["mean(u^2)", "var(u)"]].to_dataframe()
assert isinstance(frame, pandas.DataFrame) and list(frame.columns) == ["mean(u^2)", "var(u)"]
assert frame.index.name == "time"

box = opened(plain, "snapshots/snapshot(u)")
assert box["00000000"].dims == ("y", "x") and box["00000000"].shape == (8, 16), box
np.testing.assert_allclose(box.x, (np.arange(16) - 7.5) / 16)
cut = opened(plain, "slices/slice(u, y = 0)")
assert cut["00000032"].dims == ("x",), cut
whole = opened(plain, "slices/slice(u)")  # of two dimensions: everything
np.testing.assert_array_equal(whole["00000000"], box["00000000"])
for group in ("spectra/spectrum(u)", "profiles/profile(u)", "histograms/histogram(u)"):
    table = opened(plain, group)
    last = table["00000032"]
    assert last.dims == ("row", "column"), table
    with h5py.File(plain) as file:
        columns = file[group]["00000032"].attrs["columns"].split(", ")
    assert list(table.column.values) == columns, table
assert (opened(plain, "spectra/spectrum(u)")["00000032"].sel(column="k") > 0).all()
counts = opened(plain, "histograms/histogram(u, u^2)")["00000032"]
assert len(set(counts.dims)) == 2 and counts.sum() == 128, counts

with h5py.File(plain) as file:
    energy = file["series/mean(u^2)"]
    assert energy.dims[0][0] == file["series/time"]
    assert [d.label for d in file["snapshots/snapshot(u)/00000000"].dims] == ["y", "x"]

series = opened(swept, "series")
assert series["m"].dims == ("time", "g", "path") and series["m"].shape == (3, 2, 4), series
np.testing.assert_allclose(series.g, [1, 2])
averaged = series["averaged"]
assert averaged.dims == ("time", "g"), series
np.testing.assert_allclose(averaged, series["m"].mean("path"))
assert opened(swept, "errors")["averaged"].dims == ("time", "g")
counts = opened(swept, "histograms/histogram(u)")["00000020"]
assert counts.dims == ("g", "path", "row", "column"), counts
# units: powers of the base where the text fixes them
with h5py.File(united) as file:
    assert file.attrs["base_unit"] in ("GeV", b"GeV")
    units = {name: file["series"][name].attrs["units"] for name in file["series"]}
    units = {k: v.decode() if isinstance(v, bytes) else v for k, v in units.items()}
    assert units["mean(u)"] == "GeV" and units["rho"] == "GeV^4" and units["largest"] == "1", units
    assert units["mean(abs(x))"] == "GeV^-1" and units["mean(u*dx)"] == "1", units
    assert units["time"] == "GeV^-1", units
    profile = file["profiles/profile(u)/00000002"]
    assert profile.attrs["columns"] == "x, mean, count", dict(profile.attrs)
    assert profile.attrs["units"] == "GeV^-1, GeV, 1", dict(profile.attrs)
    assert file["snapshots/snapshot(u)/00000002"].attrs["units"] == "GeV"
    assert file["axes/x"].attrs["units"] == "GeV^-1"
    assert file["spectra/spectrum(u)/00000002"].attrs["units"] == "GeV, program, program, 1"
    assert file["histograms/histogram(u)/00000002"].attrs["units"] == "GeV, GeV, 1, GeV^-1"
assert opened(united, "series")["rho"].attrs["units"] == "GeV^4"
with h5py.File(plain) as file:
    assert file["series/mean(u^2)"].attrs["units"] == "1" and "base_unit" not in file.attrs
    assert file["profiles/profile(u)"]["00000032"].attrs["columns"].startswith("x, ")

# a lattice that is a count of sites: places are their numbers
with h5py.File(counted) as file:
    (profile,) = (d for d in file["profiles/profile(phi)"].values() if "columns" in d.attrs)
    assert profile.attrs["columns"] == "index(t), mean, count", dict(profile.attrs)
    assert profile.attrs["units"] == "1, 1, 1", dict(profile.attrs)
    np.testing.assert_array_equal(profile[:, 0], np.arange(6))
    np.testing.assert_allclose(profile[:, 1], 0.5 * (np.arange(6) == 1), atol=1e-6)
print("ok")
