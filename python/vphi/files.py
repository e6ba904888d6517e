"""Files of results, with the names and axes that the result of a run has."""

from __future__ import annotations

import os
from typing import Any

from . import arguments
from .errors import ResultsError
from .results import Group, Outputs, named


def _h5py():
    try:
        import h5py
    except ImportError:
        raise ResultsError("h5py is not installed", "", "pip install h5py") from None
    return h5py


def _names(attributes, name):
    """An attribute that lists names."""
    text = attributes.get(name, "")
    return text.split(", ") if text else []


def _series(file):
    """The series of a file in the order in which it names them, and the axes of its sweep."""
    found, axes = [], {}
    for data in file.get("series", {}).values():
        if "times" not in data.attrs:
            continue  # the times themselves
        along = [data.dims[place].label for place in range(1, data.ndim)]
        for place, name in enumerate(along, 1):
            axes.setdefault(name, data.dims[place][0][()])
        found.append({"name": data.attrs["name"], "along": along,
                      "t": file[data.attrs["times"]][()], "values": data[()]})
    return found, axes


def _edges(file, data):
    """Bin edges of a histogram of two quantities."""
    return [(path.rsplit("/", 1)[1], file[path][()]) for path in _names(data.attrs, "axes")
            if path.count("/") > 2]


def _tables(file, group):
    found = []
    for output in file.get(group, {}).values():
        for step, data in sorted(output.items()):
            if "step" not in data.attrs:
                continue  # rows and columns
            numbers = {"axis": data.attrs["axis"]} if "axis" in data.attrs else {}
            found.append({"group": group, "name": data.attrs["name"], "t": data.attrs["t"],
                          "columns": _names(data.attrs, "columns"), "inner": [],
                          "leading": _names(data.attrs, "sweep"), "numbers": numbers,
                          "edges": _edges(file, data), "values": data[()].astype(float)})
    return found


def _places(file):
    """Coordinates of the sites, 0 in the middle of the box."""
    import numpy

    if "lattice" not in file.attrs or "dx" not in file.attrs:
        return {}
    return {name: (numpy.arange(extent) - (extent - 1)/2)*file.attrs["dx"]
            for name, extent in zip("xyzw", file.attrs["lattice"])}


class Snapshots:
    """Whole lattices of one output, each read from its file when it is asked for: `len`, `[i]`, and
    iteration. `t` and `steps` are those of all."""

    def __init__(self, path, places):
        self._path, self._places, self._data = path, places, []
        self.name = ""
        self.t: list[float] = []
        self.steps: list[int] = []

    def _add(self, data):
        self.name = data.attrs["name"]
        self._data.append(data.name)
        self.t.append(float(data.attrs["t"]))
        self.steps.append(int(data.attrs["step"]))

    def __len__(self) -> int:
        return len(self._data)

    def __getitem__(self, number: int) -> Any:
        with _h5py().File(self._path, "r") as file:
            data = file[self._data[number]]
            dims, values = [dim.label for dim in data.dims], data[()]
        if dims[-1] == "part":  # real and imaginary
            dims, values = dims[:-1], values[..., 0] + 1j*values[..., 1]
        coords = {name: self._places[name] for name, size in zip(dims, values.shape)
                  if name in self._places and len(self._places[name]) == size}
        return named(self.name, dims, values, {"t": self.t[number], **coords})

    def __repr__(self):
        return f"<{len(self)} snapshots of {self.name} in {self._path}>"


class Stored(Outputs):
    """The HDF5 files of a run, as its result has them; `snapshots` by the name of the output, read
    when asked for. `attributes` and `parameters` are those that the files keep, `files` their
    paths. `changes` says which parameters have had other values from when on (Simulation.set)."""

    def __init__(self, paths: list[str]):
        self.files = paths
        self.attributes: dict[str, Any] = {}
        self.parameters: dict[str, float] = {}
        self.changes: list[str] = []
        self.snapshots = Group("snapshots", {})
        series, tables, plots = [], [], []
        axes, places = {}, {}
        for path in paths:
            with _h5py().File(path, "r") as file:
                self.attributes.update(file.attrs)
                for line in str(self.attributes.pop("changes", "")).splitlines():
                    if line not in self.changes:
                        self.changes.append(line)
                self.parameters.update(file["parameters"].attrs if "parameters" in file else {})
                more, along = _series(file)
                series += more
                axes.update(along)
                places.update(_places(file))
                for group in self._groups:
                    tables += _tables(file, group)
                plots += [(p.attrs["name"], p.attrs["against"], p[:, 0], p[:, 1], None)
                          for p in file.get("plots", {}).values()]
                for output in file.get("snapshots", {}).values():
                    data = [d for _, d in sorted(output.items()) if "step" in d.attrs]
                    for one in data:
                        self.snapshots.setdefault(one.attrs["name"],
                                                  Snapshots(path, places))._add(one)
        order = list(axes)
        for one in series:
            one["axes"] = [order.index(name) for name in one["along"]]
        super().__init__({"axes": [(name, values, False) for name, values in axes.items()],
                          "places": places, "series": series, "tables": tables, "plots": plots})

    def __repr__(self):
        return f"<vphi.Stored {', '.join(self.files)}; {', '.join(self.series)}>"


def open(folder: str | os.PathLike[str]) -> Stored:
    """The results that a run has left in a folder: what `Result` has of the outputs, from the HDF5
    files, or from one of them. Needs h5py."""
    _h5py()
    folder = arguments.place("folder", folder)
    if not os.path.exists(folder):
        raise ResultsError(f"{folder} is not there", "", "the folder that `out=` has named")
    is_folder = os.path.isdir(folder)
    paths = [folder] if not is_folder else [os.path.join(folder, name) for name in sorted(os.listdir(folder))
             if name.endswith(".h5")]
    if not paths:
        raise ResultsError(f"{folder} holds no HDF5 file", "",
                           "outputs of the model with -> \"name.h5\"")
    try:
        return Stored(paths)
    except OSError as error:
        where = f"a file in {folder}" if is_folder else folder
        raise ResultsError(f"{where} cannot be read as HDF5: {error}", "",
                           "a run that writes it must end first") from error
    except (KeyError, AttributeError, TypeError, ValueError) as error:
        raise ResultsError(f"{folder} does not hold what a run of vphi writes: {error}", "",
                           "the folder that `out=` has named") from error
