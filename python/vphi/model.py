"""Models: loading, changing, running."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from . import _core, arguments
from .errors import Interrupted, UsageError
from .progress import Bar, bar_for
from .simulation import Simulation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from typing_extensions import Unpack

    from ._typing import Changes, Initial, Report, Value
    from .results import Result


class Values(str):
    """Values of a sweep, as the language writes them."""


def linspace(first: Value, last: Value, number: int) -> Values:
    """`number` values from `first` to `last`, evenly spaced, for a swept name in `set`."""
    return _spaced("linspace", first, last, number)


def logspace(first: Value, last: Value, number: int) -> Values:
    """`number` values from `first` to `last`, each the same multiple of the one before."""
    return _spaced("logspace", first, last, number)


def _spaced(function, first, last, number):
    ends = f"{arguments.number(first)}, {arguments.number(last)}"
    return Values(f"{function}({ends}, {arguments.whole('number', number, 1)})")


def _expression(value):
    several = hasattr(value, "__iter__") and getattr(value, "shape", None) != ()
    if isinstance(value, (str, bytes)) or not several:
        return arguments.number(value)
    return "[" + ", ".join(arguments.number(v) for v in value) + "]"


def _overrides(set=None, lattice=None, until=None, precision=None, seed=None, steps=None,
               batch=None, free=None, **unknown):
    arguments.no_others(unknown)
    return _core.overrides(
        [f"{arguments.text('set', name, 'g')}={_expression(value)}" for name, value in arguments.assignments(set)],
        arguments.lattice(lattice),
        "" if until is None else arguments.text("until", until, "t > 10"),
        "" if precision is None else arguments.text("precision", precision, "f64"),
        "" if seed is None else str(seed),
        -1 if steps is None else arguments.whole("steps", steps, 0),
        0 if batch is None else arguments.whole("batch", batch, 1),
        arguments.names("free", free))


def _in_order(values):
    """An array of xarray with the axes of the lattice as the state has them: the last is x."""
    dims = [name for name in ("w", "z", "y", "x") if name in getattr(values, "dims", ())]
    if not dims or not hasattr(values, "transpose"):
        return values
    return values.transpose(*(dims.pop(0) if name in ("w", "z", "y", "x") else name
                              for name in values.dims))


def _initial(name, values):
    """The name, real numbers in the order of C, and whether they are complex: these get a last axis,
    the real and the imaginary part."""
    import numpy

    if numpy.ma.is_masked(values):
        raise UsageError(f"some initial values of `{name}` are masked", "E0810",
                         "a number at every site: values.filled(0)")
    try:
        values = numpy.asarray(_in_order(values))
    except ValueError as error:  # lists of several lengths
        raise UsageError(f"the initial values of `{name}` are no array: {error}", "E0810",
                         "an array of real or complex numbers") from None
    if values.dtype.kind not in "biufc":
        raise UsageError(f"the initial values of `{name}` are of type {values.dtype}, no numbers",
                         "E0810", "an array of real or complex numbers")
    if values.dtype.kind == "c" and values.ndim == 0:
        raise UsageError(f"one complex number is no initial value of `{name}`", "E0810",
                         "an array of the lattice's shape")
    is_complex = values.dtype.kind == "c"
    if is_complex:
        values = numpy.stack([values.real, values.imag], axis=-1)
    return str(name), numpy.array(values, dtype=numpy.float64, order="C"), is_complex


def _kind(device):
    kinds = ("native", "opencl", "cuda", "hip")
    if device not in kinds:
        raise UsageError(f"{device!r} is no kind of device", "E0810", "one of " + ", ".join(kinds))
    return device


class Model:
    """A model that was read and derived; it never changes. `load` makes one."""

    def __init__(self, core: _core.Model):
        self._core = core

    @property
    def name(self) -> str:
        """The name after `model`."""
        return self._core.name

    @property
    def title(self) -> str:
        return self._core.title

    @property
    def text(self) -> str:
        """The text it was made from."""
        return self._core.text

    @property
    def free(self) -> list[str]:
        """Parameters that kernels read as numbers of the run."""
        return sorted(self._core.overrides[-1])

    @property
    def warnings(self) -> str:
        """What the compiler warns of and notes, as the command prints it."""
        return self._core.remarks

    def latex(self) -> str:
        """The derived equations in LaTeX."""
        return self._core.latex()

    def explain(self) -> str:
        """The derived equations and the stencils, as text."""
        return self._core.explain()

    def check(self, device: str = "native") -> str:
        """Compiles the model for a typical device of a kind ("native", "opencl", "cuda", "hip"), up
        to the text of its kernels. No device is needed. Raises ModelError; returns warnings and
        notes as the command prints them."""
        return self._core.check(_kind(device))

    def source(self, device: str = "native", kernel: str = "") -> str:
        """The kernels for a typical device of a kind ("native", "opencl", "cuda", "hip") as
        `vphi emit` prints them, with the lines of the model as comments. `kernel`: this one alone."""
        return self._core.source(_kind(device), arguments.text("kernel", kernel, "sweep"))

    def changed(self, **changes: Unpack[Changes]) -> Model:
        """The same model with other values: `set`, `lattice`, `until`, `precision`, `seed`,
        `steps`, `batch`, `free`."""
        return Model(self._core.changed(_overrides(**changes)))

    def start(self, device: str = "auto", *, out: str | os.PathLike[str] | None = None,
              threads: int = 0, progress: Report | None = None, init: Initial | None = None,
              ranks: int | None = None, cut: str | Mapping[str, int] | None = None,
              resume: str | os.PathLike[str] | None = None,
              **changes: Unpack[Changes]) -> Simulation:
        """A run that is driven by hand: compiled, at its first state. `device`: auto, native,
        cuda[:k], opencl[:k], or several, "cuda:0,1" or "cuda:all". `ranks`: so many share the
        instances of a sweep, or a lattice, a device each, or the processors of device native.
        `cut`: "z=4" or {"z": 4}, four ranks along z, which must be the slowest axis of the lattice.
        `init`: arrays of initial values in physical units by variable, {"phi": phi, "phi'": rate},
        instead of the text's. `resume`: goes on from a checkpoint, the file of `sim.save` or a
        folder of results of the command that has one; changes that are not given are its own."""
        arguments.text("device", device, "cuda:0")
        arguments.whole("threads", threads, 0, 2**31 - 1)
        ranks, cut = arguments.ranks(ranks), arguments.cut(cut)
        model = self.changed(**changes) if changes else self
        core = model._core
        if init and resume is not None:
            raise UsageError("a run that goes on from a checkpoint has no initial values", "E0810",
                             "sim.write and sim.changed give its state other values")
        if init:
            if not hasattr(init, "items"):
                raise UsageError(f"init={init!r:.60} is no dictionary", "E0810",
                                 "init={'phi': array}")
            core = core.with_initial_values([_initial(name, values)
                                             for name, values in init.items()])
        simulation = Simulation(model, core, device, ranks, cut, out, threads, progress, resume)
        if resume is not None:
            simulation.model = Model(simulation._core.model)
        return simulation

    def run(self, device: str = "auto", *, out: str | os.PathLike[str] | None = None,
            threads: int = 0, progress: Report | bool | None = None, init: Initial | None = None,
            ranks: int | None = None, cut: str | Mapping[str, int] | None = None,
            resume: str | os.PathLike[str] | None = None,
            **changes: Unpack[Changes]) -> Result:
        """From the first step to the end. `out`: a folder for the files of the model; without it
        none are written. `progress`: a function that is called with (step, steps, t, seconds_left,
        updates_per_s) about ten times a second; True: a bar of tqdm; False: nothing; None: a bar in
        a terminal or a notebook where tqdm is installed. `device`, `ranks`, `cut`, `init`, `resume`:
        as for `start`.
        Ctrl-C ends the run after its step and raises Interrupted, whose `result` is
        complete up to there."""
        report = bar_for(progress, self.name)
        simulation = self.start(device, out=out, threads=threads, progress=report, init=init,
                                ranks=ranks, cut=cut, resume=resume, **changes)
        try:
            simulation.run()
        except Interrupted as stop:
            stop.result = simulation.result()
            raise
        finally:
            if isinstance(report, Bar):
                report.close(simulation.steps)
        return simulation.result()

    def __repr__(self):
        return f"<vphi.Model {self.name}: {self.title}>"

    def _repr_html_(self) -> str:
        from .html import of_model

        return of_model(self)

    def __reduce__(self):  # a model is its text and what was changed
        return _again, (self.text, self._core.overrides)


def _again(text, changes):
    return Model(_core.Model.from_text(text, "model", _core.overrides(*changes)))


def load(model: str | os.PathLike[str], *, name: str = "model",
         **changes: Unpack[Changes]) -> Model:
    """A model from its text, a path, or the name of a shipped one.

    What holds more than one line is a text; `name` then stands in messages, and tables and files
    that the text reads lie in the folder that `name` begins with. `changes` are those of the
    command: set={"g": 5e-4}, lattice="64^3", until="t > 16/m", steps=, precision=, seed=, batch=.

    free=["g"]: kernels read the parameter as a number of the run, and `run(set={"g": value})` with
    any value uses the same compiled kernels. Other parameters are folded into them as constants.
    What decides the shape of the program, as the size of the lattice does, cannot be free.
    """
    wanted = _overrides(**changes)
    if isinstance(model, str) and "\n" in model:
        return Model(_core.Model.from_text(arguments.encoded("model", model),
                                           arguments.text("name", name, "cell"), wanted))
    if not isinstance(model, (str, bytes, os.PathLike)):
        raise UsageError(f"{model!r:.60} is no model", "E0810",
                         "its text, a path, or the name of a shipped one: vphi.models()")
    return Model(_core.Model.from_file(arguments.place("model", model), wanted))
