"""Free parameters: one compilation for every value."""

import os

import numpy
import pytest

import vphi

PENDULUM = """model pendulum "Any amplitude"
param g = 1, n = 2
var q: real, p: real
H = p^2/2 - g*cos(q)*sum(1/k^2, k = 1..n)
init q = 0, p = 1
evolve leapfrog, dt = 0.01, until = t > 2
every 50 steps: q, energy = H -> "pendulum.h5"
"""
SIMPLE = PENDULUM.replace("*sum(1/k^2, k = 1..n)", "").replace(", n = 2", "")


def files_of(folder):
    return sorted(name for _, _, names in os.walk(folder) for name in names)


def test_other_values_compile_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("VPHI_CACHE", str(tmp_path))
    model = vphi.load(SIMPLE, free=["g"])
    assert model.free == ["g"]
    model.run("native", set={"g": 0.5})
    kernels = files_of(tmp_path)
    assert kernels
    for g in numpy.linspace(0.1, 3, 20):
        model.run("native", set={"g": g})
    assert files_of(tmp_path) == kernels
    vphi.load(SIMPLE, set={"g": 2.75}).run("native")  # folded: kernels of its own
    assert files_of(tmp_path) != kernels


def test_compilations_are_counted(tmp_path, monkeypatch):
    monkeypatch.setenv("VPHI_CACHE", str(tmp_path))
    model = vphi.load(SIMPLE, free=["g"])
    before = vphi.compilations()
    model.run("native")
    once = vphi.compilations()
    assert once > before
    for g in numpy.linspace(0.1, 3, 10):
        model.run("native", set={"g": g})
    assert vphi.compilations() == once
    vphi.load(SIMPLE, set={"g": 2.75}).run("native")
    assert vphi.compilations() > once


def test_numbers_are_those_of_folded_parameters():
    model = vphi.load(SIMPLE, free=["g"])
    for g in (0.3, 1.7):
        free, folded = model.run("native", set={"g": g}), vphi.load(SIMPLE, set={"g": g}).run("native")
        assert free["q"].dims == folded["q"].dims == ("t",)
        numpy.testing.assert_allclose(free["q"].values, folded["q"].values, rtol=1e-12)
        numpy.testing.assert_allclose(free["energy"].values, folded["energy"].values, rtol=1e-12)
        assert float(free["q"].coords["g"]) == g


def test_what_cannot_be_free_is_refused():
    with pytest.raises(vphi.ModelError, match="no parameter has this name"):
        vphi.load(SIMPLE, free=["h"])
    with pytest.raises(vphi.UsageError, match="not a list of names"):
        vphi.load(SIMPLE, free="g")
    with pytest.raises(vphi.ModelError):
        vphi.load(PENDULUM, free=["n"])
    swept = SIMPLE.replace("param g = 1", "sweep g = [1, 2]")
    with pytest.raises(vphi.ModelError, match="one value at a time"):
        vphi.load(swept, free=["g"])
