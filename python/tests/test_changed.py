"""Kicks between steps, and what a step has carried over to the next."""

import numpy
import pytest

import vphi
from conftest import ROTORS


def kicked(tell):
    sim = vphi.load(ROTORS).start("native", seed=3)
    sim.step(5)
    sim.write("x", 0.5*sim.read("x"))
    if tell:
        sim.changed()
    return sim


def test_a_kick_that_is_told_gives_the_steps_of_a_start_from_there():
    sim = kicked(True)
    assert (sim.steps, sim.t) == (5, pytest.approx(0.25))
    fresh = vphi.load(ROTORS).start("native", init={"x": sim["x"]})
    sim.step(5), fresh.step(5)
    assert numpy.asarray(sim["x"]) == pytest.approx(numpy.asarray(fresh["x"]), abs=1e-12)


def test_without_it_the_first_step_takes_the_averages_of_before():
    sim, told = kicked(False), kicked(True)
    sim.step(1), told.step(1)
    assert abs(sim.read("x") - told.read("x")).max() > 1e-4


def test_a_view_holds_the_state_still():
    sim = kicked(False)
    with sim.view("x"):
        with pytest.raises(vphi.InUse):
            sim.changed()
    sim.changed()
    assert sim.step(1) == 1


def test_kernels_as_text():
    model = vphi.load(ROTORS)
    for device, word in (("native", "extern"), ("opencl", "__kernel"), ("cuda", "__global__")):
        text = model.source(device)
        assert word in text and "line 5: x[i]' = K/N*sum(sin(x[j] - x[i]), j)" in text
    assert len(model.source("cuda", "sweep")) < len(model.source("cuda"))
    with pytest.raises(vphi.UsageError, match="no kind of device"):
        model.source("abacus")
    with pytest.raises(vphi.Error, match="no kernel is called `step`\n.*sweep"):
        model.source("cuda", "step")
