"""Runs that are driven by hand."""

import os
import threading

from . import _core
from .errors import InUse, Interrupted, UsageError
from .results import Result, named


class Simulation:
    """One run on one device, used by one thread at a time. `Model.start` makes it."""

    def __init__(self, model, device, out, threads, progress):
        self.model = model
        self._busy = threading.Lock()
        self._process = os.getpid()
        self._result = None
        self._core = _core.Simulation(model._core, device, "" if out is None else os.fspath(out),
                                      threads, progress)

    def _call(self, work, *arguments):
        if os.getpid() != self._process:
            raise InUse("the simulation belongs to the process that this one was forked from", "",
                        "start one of its own here")
        if not self._busy.acquire(blocking=False):
            raise InUse("another thread uses this simulation", "", "one simulation for each thread")
        try:
            return work(*arguments)
        finally:
            self._busy.release()

    def step(self, number=1):
        """Makes so many steps; returns how many were made: fewer where the end is reached."""
        if number < 0:
            raise UsageError(f"{number} is no number of steps", "E0810", "sim.step(100)")
        return self._go(int(number))

    def run(self):
        """To the end that the model or the options name."""
        return self._go(-1)

    def _go(self, number):
        made = self._call(self._core.step, number)
        if self._core.signalled:
            raise Interrupted("the run was interrupted after a step")
        return made

    @property
    def t(self):
        """Physical time."""
        return self._core.time

    @property
    def steps(self):
        """Number of steps made."""
        return self._core.steps

    @property
    def over(self):
        """Whether the end is reached."""
        return self._core.over

    @property
    def device(self):
        return self._core.device

    @property
    def state(self):
        """Names of the arrays of the state, for `read` and `write`."""
        return list(self._core.state)

    def read(self, array):
        """An array of the state as it lies in memory (a copy): in program units, momenta at half
        steps where the integrator has them there."""
        return self._call(self._core.read, array)[1]

    def write(self, array, values):
        """Other numbers for an array of the state, in program units."""
        import numpy

        now = self.read(array)
        values = numpy.ascontiguousarray(values, dtype=numpy.float64)
        if values.shape not in ((), now.shape):
            raise UsageError(f"`{array}` has the shape {now.shape}, not {values.shape}", "E0810",
                             "numpy.broadcast_to makes one of that shape")
        self._call(self._core.write, array,
                   numpy.ascontiguousarray(numpy.broadcast_to(values, now.shape)))

    def __getitem__(self, formula):
        """A formula of the model's language in physical units at the present time: sim["a"],
        sim["phi'^2/2"], sim["mean(phi)"]."""
        axes, values = self._call(self._core.evaluate, formula)
        return values[()].item() if values.ndim == 0 else named(formula, axes, values, {"t": self.t})

    def result(self):
        """Closing values, outputs at the end, files complete; no step follows."""
        if self._result is None:
            self._result = Result(self.model, self._call(self._core.finish))
        return self._result

    def __repr__(self):
        return f"<vphi.Simulation {self.model.name}: step {self.steps}, t = {self.t:.6g}, {self.device}>"

    def __reduce__(self):
        raise TypeError("a simulation cannot be pickled: its state lies on a device")
