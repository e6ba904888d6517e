"""The bar that a run shows in a terminal or a notebook."""

import importlib.util
import sys
import warnings

from .errors import UsageError


def _is_watched():
    """Whether somebody sees a bar: a terminal, or the kernel of a notebook."""
    if "ipykernel" in sys.modules:
        return True
    return sys.stderr is not None and sys.stderr.isatty()


class Bar:
    """A bar of tqdm, made when the run first reports."""

    def __init__(self, title):
        self._title, self._bar = title, None

    def __call__(self, step, steps, t, seconds_left, updates_per_s):
        if self._bar is None:
            with warnings.catch_warnings():  # without ipywidgets it draws with letters, and says so
                warnings.simplefilter("ignore")
                from tqdm.auto import tqdm

            self._bar = tqdm(total=steps if steps >= 0 else None, desc=self._title, unit="step",
                             initial=step)
        self._bar.update(step - self._bar.n)
        self._bar.set_postfix_str(f"t = {t:.5g}", refresh=False)

    def close(self, step):
        """At the end of the run, after so many steps."""
        if self._bar is not None:
            self._bar.update(step - self._bar.n)
            self._bar.close()
            self._bar = None


def bar_for(progress, title):
    """What `progress` asks for: a function is itself, True a bar, False nothing, None a bar where
    somebody sees it and tqdm is installed."""
    if callable(progress):
        return progress
    if progress not in (None, True, False):
        raise UsageError(f"{progress!r} reports no progress", "E0810",
                         "progress=True for a bar, or a function of five arguments")
    if progress is False or (progress is None and not _is_watched()):
        return None
    if importlib.util.find_spec("tqdm") is None:
        if progress is None:
            return None
        raise UsageError("tqdm, which draws the bar, is not installed", "E0810", "pip install tqdm")
    return Bar(title)
