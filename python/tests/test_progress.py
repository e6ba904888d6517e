"""The bar of a run: where it is shown, and that it ends with the run."""

import io
import sys

import pytest

import vphi
from vphi import progress

MODEL = """model wave "A wave"
lattice box: 64^2, length = 10, boundary = periodic
field phi: real
potential V = phi^2/2
init phi = cos(2*pi*x/10)
init phi' = 0
evolve leapfrog, dt = 0.02
"""


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def run(monkeypatch):
    """Runs with a terminal, or none, in place of stderr; returns what was written there."""
    pytest.importorskip("tqdm")

    def call(steps, terminal=True, **options):
        shown = Terminal() if terminal else io.StringIO()
        with monkeypatch.context() as patched:  # in the call: pytest exchanges stderr after set-up
            patched.setattr(sys, "stderr", shown)
            assert vphi.load(MODEL).run("native", steps=steps, **options).steps == steps
        return shown.getvalue()

    return call


@pytest.mark.parametrize("options", [{}, {"progress": True}])
def test_bar_in_a_terminal(run, options):
    last = run(20000, **options).split("\r")[-1]
    assert "wave" in last and "20000/20000" in last


def test_bar_that_is_asked_for_needs_no_terminal(run):
    assert "20000/20000" in run(20000, terminal=False, progress=True)


def test_no_bar_where_nobody_sees_it(run, monkeypatch):
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    assert run(2000, terminal=False) == ""


def test_no_bar_where_none_is_wanted(run):
    assert run(2000, progress=False) == ""


def test_without_tqdm(run, monkeypatch):
    monkeypatch.setattr(progress.importlib.util, "find_spec", lambda name: None)
    assert run(2000) == ""
    with pytest.raises(vphi.UsageError) as caught:
        run(2, progress=True)
    assert "pip install tqdm" in caught.value.fix


def test_what_is_no_progress():
    with pytest.raises(vphi.UsageError):
        vphi.load(MODEL).run("native", steps=2, progress=3)
