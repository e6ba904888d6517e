"""vphi: a declarative language and compiler for lattice and particle physics.

    import vphi
    model = vphi.load("preheating", lattice="64^3", set={"g": 5e-4})
    result = model.run(device="native", steps=1000)
    result["w"]

`load` takes the text of a model, a path, or the name of a shipped one. docs/python.md says the rest.
"""

import os as _os
import sysconfig as _sysconfig

if _sysconfig.get_config_var("Py_GIL_DISABLED"):
    raise ImportError("vphi does not run in a free-threaded interpreter: its module relies on the "
                      "interpreter's lock. Use a python3 without the `t` in its name")

from . import _core
from .errors import (BrokenState, DeviceError, Diagnostic, Error, InUse, Interrupted, ModelError,
                     ResultsError, RunError, UsageError)
from .files import Snapshots, Stored, open
from .model import Model, linspace, load, logspace
from .results import Page, Result
from .simulation import Simulation, View

__version__ = _core.version
_folder = _os.path.join(_os.path.dirname(_os.path.abspath(__file__)), "models")
if _os.path.isdir(_folder):
    _core.set_models_folder(_folder)


def models() -> list[str]:
    """Names of the shipped models."""
    return [name for name, _ in _core.shipped_models()]


def compilations() -> int:
    """Number of kernels that were compiled in this process; those from the cache are not counted."""
    return _core.compilations()


def load_ipython_extension(shell):
    """%load_ext vphi: models as cells of a notebook (vphi.magic)."""
    from .magic import register

    register(shell)


__all__ = ["BrokenState", "DeviceError", "Diagnostic", "Error", "InUse", "Interrupted", "Model",
           "ModelError", "Page", "Result", "ResultsError", "RunError", "Simulation", "Snapshots",
           "Stored", "UsageError", "View", "compilations", "linspace", "load", "logspace", "models",
           "open"]
