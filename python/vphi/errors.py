"""What goes wrong, as exceptions.

Each has `code` (with a page: `vphi explain E0301`), `message`, `fix` (what to do, in one sentence;
empty where nobody knows). `str()` of it is what the command prints.
"""

from __future__ import annotations

from typing import Any


class Error(Exception):
    """Base class of all exceptions of vphi."""

    def __init__(self, message: str = "", code: str = "", fix: str = "", text: str = ""):
        super().__init__(message)
        self.message, self.code, self.fix, self._text = message, code, fix, text

    def __str__(self):
        if self._text:
            return self._text.rstrip("\n")
        shown = f"error[{self.code}]: {self.message}" if self.code else self.message
        return f"{shown}\n   = {self.fix}" if self.fix else shown

    def _render_traceback_(self):  # notebooks show the message without frames of the package
        return str(self).splitlines()


class UsageError(Error, ValueError):
    """An option, a name or a call that cannot be obeyed."""


class ModelError(Error):
    """The text has mistakes. `diagnostics` has all of them; `line`, `column`, `rule` and the rest are
    those of the first error."""

    diagnostics: tuple[Diagnostic, ...] = ()
    line = column = end_line = end_column = 0
    rule = source = ""


class RunError(Error):
    """The run cannot start or go on."""


class BrokenState(RunError):
    """The state holds NaN, or has no primitive variables. `step`: in which it broke, -1 where that is
    not known; `site`: the first that has no number, (x, y, z) as in the message, empty where that is
    not known; `line`: that of the equation in the model, 0 where that is not known; `cause`: the term
    and its numbers."""

    step = -1
    site: tuple[int, ...] = ()
    line = 0
    cause = ""


class DeviceError(Error):
    """The device or its compiler failed; `log` is what the compiler said."""

    log = ""


class ResultsError(Error):
    """A file cannot be read or written."""


class InUse(Error):
    """A view holds the state still, another thread uses the simulation, or it belongs to the process
    that this one was forked from."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C in a run: the step was finished; `result` is complete up to here."""

    result: Any = None


class Diagnostic:
    """One mistake or warning, where it stands."""

    code: str
    severity: str
    message: str
    rule: str
    fix: str
    source: str
    line: int
    column: int
    end_line: int
    end_column: int
    __slots__ = ("code", "severity", "message", "rule", "fix", "source", "line", "column",
                 "end_line", "end_column")

    def __init__(self, **parts):
        for name in self.__slots__:
            setattr(self, name, parts[name])

    def __repr__(self):
        return f"{self.source}:{self.line}:{self.column}: {self.severity}[{self.code}]: {self.message}"


_KINDS = {"Usage": UsageError, "Model": ModelError, "Run": RunError, "Broken": BrokenState,
          "Device": DeviceError, "Results": ResultsError, "InUse": InUse}


def _made(kind, code, message, fix, text, problems, log, cause, step,
          site, line):
    error = _KINDS[kind](message, code, fix, text)
    if kind == "Model":
        error.diagnostics = tuple(Diagnostic(**p) for p in problems)
        first = next((d for d in error.diagnostics if d.severity == "error"), None)
        if first is not None:
            for name in ("line", "column", "end_line", "end_column", "rule", "source"):
                setattr(error, name, getattr(first, name))
    elif kind == "Broken":
        error.step, error.cause, error.site, error.line = step, cause, site, line
        if cause:
            error._text = f"error[{code}]: {message}\n   = {fix}\n{cause}"
    elif kind == "Device":
        error.log = log
    return error
