"""What a run leaves: series, spectra, slices and the rest, as arrays with named axes."""

from __future__ import annotations

import os
from collections.abc import Collection, ItemsView, Iterator, KeysView, Sequence, ValuesView
from typing import Any

from .errors import RunError, UsageError


def _xarray():
    try:
        import xarray
    except ImportError:
        return None
    return xarray


def _with_operators(made):
    """Arithmetic and comparisons of numpy, which give arrays of numpy."""

    def of(name):
        def work(self, *others):
            import numpy

            return getattr(numpy.asarray(self.values), name)(*map(numpy.asarray, others))

        return work

    for word in ("add", "sub", "mul", "truediv", "pow"):
        setattr(made, f"__{word}__", of(f"__{word}__"))
        setattr(made, f"__r{word}__", of(f"__r{word}__"))
    for word in ("neg", "abs", "lt", "le", "gt", "ge", "float"):
        setattr(made, f"__{word}__", of(f"__{word}__"))
    return made


@_with_operators
class Named:
    """Numbers on named axes, where xarray is not installed."""

    def __init__(self, name, dims, values, coords):
        self.name, self.dims, self.values, self.coords = name, tuple(dims), values, dict(coords)

    def __array__(self, dtype=None, copy=None):
        import numpy

        return numpy.asarray(self.values, dtype=dtype)

    def __getitem__(self, key):
        """A coordinate by its name, or values by their place."""
        return self.coords[key] if isinstance(key, str) else self.values[key]

    def __len__(self):
        return len(self.values)

    @property
    def shape(self):
        return self.values.shape

    @property
    def ndim(self):
        return self.values.ndim

    @property
    def dtype(self):
        return self.values.dtype

    def __repr__(self):
        return f"<{self.name} {dict(zip(self.dims, self.shape))}>\n{self.values!r}"


def named(name, dims, values, coords=None):
    """A DataArray of xarray, or Named where it is not installed."""
    coords = coords or {}
    xarray = _xarray()
    if xarray is None:
        return Named(name, dims, values, coords)
    return xarray.DataArray(values, dims=dims, coords=coords, name=name)


def _dataset(variables, coords, attributes):
    """{name: (dims, values)} as a Dataset, or as a dict of Named."""
    xarray = _xarray()
    if xarray is None:
        return {name: Named(name, dims, values, coords)
                for name, (dims, values) in variables.items()}
    return xarray.Dataset({name: (dims, values) for name, (dims, values) in variables.items()},
                          coords=coords, attrs=attributes)


def _of_series(series, axes):
    if not series["axes"]:
        return named(series["name"], ("t",), series["values"], {"t": series["t"]})
    along = [axes[i] for i in series["axes"]]
    shape = (len(series["t"]),) + tuple(len(values) for _, values, _ in along)
    coords = {"t": series["t"], **{name: values for name, values, _ in along}}
    dims = ("t",) + tuple(name for name, _, _ in along)
    return named(series["name"], dims, series["values"].reshape(shape), coords)


def _of_tables(rows, axes, places):
    """The tables of one output, one for each time. `axes`: those of a sweep; `places`: coordinates
    of the sites along x, y, z, w."""
    import numpy

    first = rows[0]
    leading, columns = list(first["leading"]), list(first["columns"])
    coords = {"t": numpy.array([row["t"] for row in rows])}
    coords.update((name, values) for name, values, _ in axes if name in leading)
    if not columns:
        values = numpy.stack([row["values"] for row in rows])
        inner = list(first["inner"])
        between = values.ndim - 1 - len(inner) - len(leading)
        edges = [name for name, _ in first["edges"]]
        cut = int(first["numbers"].get("axis", -1))  # of a slice; the others are named as in files
        space = ["xyzw"[axis] for axis in reversed(range(between + (cut >= 0))) if axis != cut]
        dims = ["t"] + leading + (edges if len(edges) == between else space) + inner
        coords.update((name, places[name]) for name, size in zip(dims, values.shape)
                      if name in places and len(places[name]) == size and name not in edges)
        return named(first["name"], dims, values, coords)
    length = max(row["values"].shape[len(leading)] for row in rows)
    variables = {}
    for place, column in enumerate(columns):
        stacked = []
        for row in rows:  # the number of bins may change; what is missing is NaN
            values = row["values"][..., place]
            filled = numpy.full(values.shape[:-1] + (length,), numpy.nan)
            filled[..., :values.shape[-1]] = values
            stacked.append(filled)
        variables[column] = (["t"] + leading + ["bin"], numpy.stack(stacked))
    return _dataset(variables, coords, {"name": first["name"]})


def _without(axes, array, several=()):
    """The array without axes that have one value each; xarray keeps the value as a coordinate,
    unless the axis had `several` values in turn."""
    if isinstance(array, dict):
        return {name: _without(axes, one, several) for name, one in array.items()}
    gone = [name for name in axes if name in array.dims]
    if not gone:
        return array
    if not isinstance(array, Named):
        return array.squeeze(gone).drop_vars([name for name in gone if name in several],
                                             errors="ignore")
    place = tuple(0 if name in gone else slice(None) for name in array.dims)
    return Named(array.name, [name for name in array.dims if name not in gone],
                 array.values[place],
                 {name: at for name, at in array.coords.items()
                  if name not in gone or name not in several})


class Group(dict[str, Any]):
    """Outputs of one kind by name: "spectrum(phi)", or "phi" where that means one of them."""

    def __init__(self, kind, outputs):
        super().__init__(outputs)
        self._kind = kind

    def _meant(self, name):
        return [full for full in self if full.partition("(")[2].startswith((f"{name},", f"{name})"))]

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or len(self._meant(name)) == 1

    def get(self, name: str, default: Any = None) -> Any:
        """As of a dictionary; short names too."""
        return self[name] if name in self else default

    def __missing__(self, name):
        meant = self._meant(name)
        if len(meant) == 1:
            return self[meant[0]]
        there = ", ".join(meant or self) or "none"
        if meant:
            raise KeyError(f"several outputs of `{name}` are in {self._kind}: {there}")
        raise KeyError(f"no output `{name}` in {self._kind}; there are {there}")


class Outputs:
    """What the outputs of a model have made. `outputs["a"]` is a series; `spectra`, `slices`,
    `profiles`, `correlators`, `histograms`, `occupations`, `surfaces` are dictionaries by the name of
    the output."""

    series: dict[str, Any]
    plots: dict[str, Any]
    spectra: Group
    occupations: Group
    slices: Group
    histograms: Group
    profiles: Group
    correlators: Group
    surfaces: Group
    links: Group
    _groups = ("spectra", "occupations", "slices", "histograms", "profiles", "correlators", "surfaces",
               "links")

    def __init__(self, plain: dict[str, Any], free: Sequence[str] = (),
                 several: Collection[str] = ()):
        axes, places = plain["axes"], plain["places"]
        self.series = {s["name"]: _without(free, _of_series(s, axes), several)
                       for s in plain["series"]}
        self.plots = {name: named(name, (against,), y, {against: x})
                      for name, against, x, y, _ in plain["plots"]}
        found = {}
        for table in plain["tables"]:
            found.setdefault((table["group"], table["name"]), []).append(table)
        for group in self._groups:
            tables = {name: _without(free, _of_tables(rows, axes, places), several)
                      for (of, name), rows in found.items() if of == group}
            setattr(self, group, Group(group, tables))

    def __getitem__(self, name: str) -> Any:
        try:
            return self.series[name]
        except KeyError:
            for group in (*self._groups, "plots", "snapshots"):
                if isinstance(name, str) and name in getattr(self, group, ()):
                    raise KeyError(f"`{name}` is no series: .{group}[{name!r}]") from None
            raise KeyError(f"no output `{name}`; there are {', '.join(self.series)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.series)

    def __len__(self) -> int:
        return len(self.series)

    def __contains__(self, name: object) -> bool:
        return name in self.series

    def keys(self) -> KeysView[str]:
        """Names of the series."""
        return self.series.keys()

    def values(self) -> ValuesView[Any]:
        """The series."""
        return self.series.values()

    def items(self) -> ItemsView[str, Any]:
        """Names and series."""
        return self.series.items()

    def __bool__(self) -> bool:
        return True

    def frame(self) -> Any:
        """The series without axes of a sweep as a DataFrame of pandas, a row for each time."""
        import pandas

        plain = {name: s for name, s in self.series.items() if tuple(s.dims) == ("t",)}
        columns = [pandas.Series(s.values, index=pandas.Index(s.coords["t"], name="t"), name=name)
                   for name, s in plain.items()]
        return pandas.concat(columns, axis=1) if columns else pandas.DataFrame()


class Page:
    """The report of a run as a page of HTML, which loads nothing from outside."""

    def __init__(self, html: str):
        self.html = html

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes it to a file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.html)

    def _repr_html_(self):
        from html import escape

        return (f'<iframe srcdoc="{escape(self.html)}" width="100%" height="800" '
                'style="border: 0"></iframe>')

    def __repr__(self):
        return f"<vphi.Page: {len(self.html)} characters of HTML>"


class Result(Outputs):
    """A run at its end: what its outputs have made, its facts and the verdicts of the model."""

    def __init__(self, model: Any, plain: dict[str, Any], several: Collection[str] = ()):
        super().__init__(plain, model.free, several)
        self.model, self._plain = model, plain
        self.steps: int = plain["steps"]
        self.t: float = plain["time"]
        self.device: str = plain["device"]
        self.interrupted: bool = plain["interrupted"]
        self.expectations: list[dict[str, Any]] = plain["expectations"]
        self.chain: dict[str, Any] = {one["name"]: one for one in plain["chain"]}
        self.failures = [{"instance": i, "at": at, "message": m} for i, at, m in plain["failures"]]
        self.files: list[str] = list(plain["files"])
        self.notes: list[str] = list(plain["notes"]) + list(plain["told"])

    @property
    def ok(self) -> bool:
        """Whether every `expect` of the model holds and no instance failed."""
        return all(e["ok"] for e in self.expectations) and not self.failures

    def check(self) -> Result:
        """Raises RunError where an `expect` failed; returns the result."""
        broken = [e for e in self.expectations if not e["ok"]]
        if broken:
            first = broken[0]
            raise RunError(f"expect {first['text']}: failed ({first['value']:.3g} at t = "
                           f"{first['time']:.5g})")
        if self.failures:
            raise RunError(f"an instance failed at {self.failures[0]['at']}: "
                           f"{self.failures[0]['message']}")
        return self

    def report(self) -> Page:
        """The page that `vphi run` writes beside its files: formulas, verdicts, curves, speed. A
        notebook shows it in a frame; `.html` is its text and `.save(path)` writes it. Pictures of
        fields are on it where `out=` has kept their files."""
        finished = self._plain.get("finished")
        if finished is None:
            raise UsageError("a result that was pickled has its numbers, and no page", "E0810",
                             "keep result.report().html beside it")
        return Page(finished.page())

    def __getstate__(self):
        state = dict(self.__dict__)
        state["_plain"] = {name: one for name, one in self._plain.items() if name != "finished"}
        return state

    def _repr_html_(self):
        from .html import of_result

        return of_result(self, self._plain)

    def __repr__(self):
        verdict = "" if self.ok else ", an expectation failed"
        return (f"<vphi.Result {self._plain['model']}: {self.steps} steps, t = {self.t:.6g}, "
                f"{self.device}{verdict}; {', '.join(self.series)}>")
