"""Runs that are driven by hand."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any

from . import _core, arguments
from .errors import InUse, Interrupted, UsageError
from .results import Result, named

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import ArrayLike, NDArray

    from ._typing import Value


class View:
    """An array of the state where it lies, without a copy. It counts as used as long as it, or an
    array that was made of it, is there; `with` lets go of it at the end.

    On device native numpy.asarray, torch.from_dlpack and the like take it, on device cuda
    cupy.asarray, torch.from_dlpack and jax.dlpack.from_dlpack, on device opencl `cl_mem` is for
    pyopencl. On device cuda steps may still be queued when a view begins: DLPack orders the stream
    that the library names after them, and __cuda_array_interface__ waits for them. The next call
    of the simulation follows what any stream of this process has queued."""

    def __init__(self, keeper, array, address, shape, kind, gpu, context=0, queue=0):
        self._keeper, self._array, self._gpu, self._context, self._queue = (
            keeper, array, gpu, context, queue)
        self._interface = {"data": (address, False), "shape": shape, "typestr": kind,
                           "strides": None, "stream": None, "version": 3}
        self._inside = self._handed = False

    def _there(self):
        if self._array is None:
            raise InUse("this view has ended", "E0810", "sim.view begins another one")
        return self._array

    def _here(self):
        """The array of numpy."""
        array = self._there()
        if self._queue:
            raise UsageError("this view lies in the memory of an OpenCL device", "E0810",
                             "pyopencl.MemoryObject.from_int_ptr(view.cl_mem), with the queue "
                             "view.cl_queue; sim.read makes a copy for numpy")
        if self._gpu >= 0:
            raise UsageError(f"this view lies in the memory of cuda:{self._gpu}", "E0810",
                             "cupy.asarray, torch.from_dlpack or jax.dlpack.from_dlpack take it; "
                             "sim.read makes a copy for numpy")
        return array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        import numpy

        array = self._here()
        if copy or (dtype is not None and numpy.dtype(dtype) != array.dtype):
            if copy is False:
                raise ValueError("a view of another type is a copy")
            return numpy.array(array, dtype=dtype)
        return array

    def __dlpack__(self, *, stream: int | None = None, **how: Any):
        array = self._exchanged()
        if self._gpu >= 0 and stream != -1:  # -1: the caller orders his work himself
            self._keeper.order(1 if stream is None else stream)
        return array.__dlpack__(**how)

    def __dlpack_device__(self):
        return self._exchanged().__dlpack_device__()

    def _exchanged(self):
        return self._here() if self._queue else self._there()

    def _of_opencl(self, handle):
        self._there()
        if not self._queue:
            raise AttributeError("this view lies in no memory of an OpenCL device")
        return handle

    @property
    def cl_mem(self) -> int:
        """On device opencl: the cl_mem, for pyopencl.MemoryObject.from_int_ptr. It is valid while
        this view exists."""
        return self._of_opencl(self._interface["data"][0])

    @property
    def cl_context(self) -> int:
        """On device opencl: the cl_context, for pyopencl.Context.from_int_ptr."""
        return self._of_opencl(self._context)

    @property
    def cl_queue(self) -> int:
        """On device opencl: the cl_command_queue of the simulation, for
        pyopencl.CommandQueue.from_int_ptr. What is queued there runs in order with the steps; wait
        for any other queue before the simulation is called again."""
        return self._of_opencl(self._queue)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """Version 3. What takes it keeps this object and not the array in it, so the view then
        exists until the object is gone. Inside of `with`, which is to end it, there is none."""
        self._there()
        if self._gpu < 0:
            raise AttributeError("this view lies in no memory of CUDA")
        if self._inside:
            raise AttributeError("a view in `with` has DLPack alone: torch.from_dlpack, "
                                 "cupy.asarray; or a view without `with`")
        self._handed = True
        self._keeper.wait()
        return self._interface

    def __cupy_get_ndarray__(self):
        import cupy

        return cupy.from_dlpack(self)

    def __getitem__(self, place: Any) -> Any:
        return self._here()[place]

    def __setitem__(self, place: Any, values: Any) -> None:
        self._here()[place] = values

    def __len__(self) -> int:
        return self.shape[0]

    def __reduce__(self):
        raise TypeError("a view cannot be pickled: numpy.array(view) is a copy")

    def __repr__(self):
        if self._array is None:
            return "<vphi.View that has ended>"
        return f"<vphi.View {self.shape}, {self.dtype}>"

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of its axes, as numpy has them."""
        self._there()
        return self._interface["shape"]

    @property
    def dtype(self):
        """The type of its numbers, of numpy."""
        import numpy

        self._there()
        return numpy.dtype(self._interface["typestr"])

    def __enter__(self) -> View:
        self._there()
        self._inside = True
        return self

    def __exit__(self, *_: object) -> None:
        self._inside = False
        if not self._handed:
            self._array = self._keeper = None


class Simulation:
    """One run on one device or on those of several ranks, used by one thread at a time.
    `Model.start` makes it."""

    def __init__(self, model, core, device, ranks, cut, out, threads, progress, resume=None):
        self.model = model
        self._busy = threading.Lock()
        self._process = os.getpid()
        self._result = None
        self._set: set[str] = set()
        self._core = _core.Simulation(core, device, ranks, cut,
                                      "" if out is None else arguments.place("out", out), threads,
                                      progress,
                                      "" if resume is None else arguments.place("resume", resume))

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

    def step(self, number: int = 1) -> int:
        """Makes so many steps; returns how many were made: fewer where the end is reached."""
        return self._go(self._core.step, arguments.whole("number", number, 0))

    def run(self, until: str | None = None) -> int:
        """To the end that the model or the options name, or until a condition of the model's
        language holds if that comes first: sim.run(until="t > 20/m"). Returns the number of steps
        made: 0 where it holds already. In a sweep it has to hold in every instance."""
        if until is None:
            return self._go(self._core.step, -1)
        return self._go(self._core.step_until, arguments.text("until", until, "t > 10"))

    def set(self, name: str = "", value: Value | None = None, /, **named_one: Value) -> None:
        """Gives a parameter another value from here on: sim.set("g", 2), sim.set(g="3*m"). The
        state, t and the random streams stay as they are. What would give the state another meaning
        is refused, and the simulation goes on as it was."""
        if len(named_one) + (name != "") != 1 or (name != "") != (value is not None):
            raise UsageError("sim.set takes one parameter and its value", "E0810",
                             'sim.set("g", 2) or sim.set(g=2), a call for each parameter')
        if named_one:
            ((name, value),) = named_one.items()
        name, text = arguments.text("name", name, "g"), arguments.number(value)
        self._call(self._core.set, name, text)
        self.model = self.model.changed(set={name: text})
        self._set.add(name)

    def _go(self, step, argument):
        made = self._call(step, argument)
        if self._core.signalled:
            raise Interrupted("the run was interrupted after a step")
        return made

    @property
    def t(self) -> float:
        """Physical time."""
        return self._core.time

    @property
    def steps(self) -> int:
        """Number of steps made."""
        return self._core.steps

    @property
    def over(self) -> bool:
        """Whether the end is reached."""
        return self._core.over

    @property
    def device(self) -> str:
        """The name of the device it runs on."""
        return self._core.device

    @property
    def state(self) -> list[str]:
        """Names of the arrays of the state, for `read` and `write`."""
        return list(self._core.state)

    def read(self, array: str) -> NDArray[float64]:
        """An array of the state as it lies in memory (a copy): in program units, momenta at half
        steps where the integrator has them there."""
        return self._call(self._core.read, arguments.text("array", array, self.state[0]))[1]

    def write(self, array: str, values: ArrayLike) -> None:
        """Other numbers for an array of the state, in program units."""
        import numpy

        now = self.read(array)
        values = arguments.real_numbers(f"the values for `{array}`", values, now.shape)
        if values.shape not in ((), now.shape):
            raise UsageError(f"`{array}` has the shape {now.shape}, not {values.shape}", "E0810",
                             "numpy.broadcast_to makes one of that shape")
        self._call(self._core.write, array,
                   numpy.ascontiguousarray(numpy.broadcast_to(values, now.shape)))

    def changed(self) -> None:
        """Computes anew from the present state what is carried from step to step, such as averages
        that the next step starts from; after a kick by `write` or a view. The background goes on as
        it was, and so do t and the random streams."""
        self._call(self._core.changed)

    def restart_background(self) -> None:
        """Gives a box that expands with its own energy the rate of expansion at which
        3 M^2 H^2 = <rho> holds for the present fields; after a kick that changed their energy."""
        self._call(self._core.restart_background)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a checkpoint: model.start(device, resume=path) and `vphi run MODEL --resume=PATH`
        go on from here with the same bits. A file of that name is replaced when the new one is
        complete."""
        self._call(self._core.save, arguments.place("path", path))

    def view(self, array: str) -> View:
        """An array of the state where it lies: numpy.asarray (native), cupy.asarray (cuda),
        torch.from_dlpack and the like make an array of it without a copy, to be read and written;
        on device opencl pyopencl takes its `cl_mem`. Until it is gone the state is held still: what
        would change it raises InUse."""
        return View(*self._call(self._core.view, arguments.text("array", array, self.state[0])))

    def __getitem__(self, formula: str) -> Any:
        """A formula of the model's language in physical units at the present time: sim["a"],
        sim["phi'^2/2"], sim["mean(phi)"]. The name of a gauge field: its complex matrices, with the
        axes direction, row and column behind those of the lattice."""
        axes, values = self._call(self._core.evaluate, arguments.text("formula", formula, "mean(phi)"))
        if axes and axes[-1] == "part":
            axes, values = axes[:-1], values.view(complex)[..., 0]
        if values.ndim == 0:
            return values[()].item()
        places = {name: self._core.places[name] for name in axes if name in self._core.places}
        return named(formula, axes, values, {"t": self.t, **places})

    def result(self) -> Result:
        """Closing values, outputs at the end, files complete; no step follows."""
        if self._result is None:
            self._result = Result(self.model, self._call(self._core.finish), self._set)
        return self._result

    def __repr__(self):
        return f"<vphi.Simulation {self.model.name}: step {self.steps}, t = {self.t:.6g}, {self.device}>"

    def __reduce__(self):
        raise TypeError("a simulation cannot be pickled: its state lies on a device")
