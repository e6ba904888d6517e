"""Spectra of surfaces whose integrals are known, and files that are read again by other means."""

import struct

import numpy
import pytest

from vphi.freeze_out import HBARC, Elements

PION, PROTON = (0.13957, 1, 1), (0.93827, -1, 2)  # mass, statistics, degeneracy


def slab(stress=None):
    """A disk of 10 fm at rest, at the proper time 10 fm: one element."""
    return Elements([[10, 0, 0]], [[100*numpy.pi, 0, 0]], [[0, 0]], [0.15], [1.0], [0.25], stress)


# sums of modified Bessel functions, computed elsewhere
@pytest.mark.parametrize("particle, expected", [
    (PION, [255.80473, 12.707297, 0.022934522]), (PROTON, [18.186813, 2.6220794, 0.012304481])])
def test_a_slab_at_rest(particle, expected):
    mass, statistics, degeneracy = particle
    found = slab().spectrum(mass, [0.5, 1, 2], 0, statistics=statistics, degeneracy=degeneracy)
    numpy.testing.assert_allclose(2*numpy.pi*found[:, 0], expected, rtol=1e-7)


@pytest.mark.parametrize("mass, expected", [(0.13957, 1.6971101), (0.93827, 1.5771709)])
def test_shear_stress_changes_the_distribution(mass, expected):
    half = 0.1*1.25/2  # pi^xx = pi^yy, together a tenth of e + p
    with_stress = slab([[half, 0, half]])
    ratio = (with_stress.spectrum(mass, 1, 0, statistics=0)
             / with_stress.spectrum(mass, 1, 0, statistics=0, shear=False))
    numpy.testing.assert_allclose(ratio, expected, rtol=1e-7)


@pytest.mark.parametrize("particle, expected, v_2", [
    (PION, [23.032943, 3.3327821, 0.10609062], [0.01467182, 0.03788403, 0.10089783]),
    (PROTON, [0.57657615, 0.29832717, 0.032408656], [-0.00296273, 0.01172559, 0.07795147])])
def test_a_blast_wave_and_its_elliptic_flow(particle, expected, v_2):
    x, weight = numpy.polynomial.legendre.leggauss(24)
    r, phi = (a.ravel() for a in numpy.meshgrid(4*(x + 1), 2*numpy.pi*numpy.arange(24)/24,
                                                indexing="ij"))
    area = numpy.repeat(4*weight, 24)*r*2*numpy.pi/24
    v = numpy.tanh((0.9 + 0.05*numpy.cos(2*phi))*r/8)
    direction = numpy.column_stack([numpy.cos(phi), numpy.sin(phi)])
    wave = Elements(numpy.column_stack([0*r + 9, r[:, None]*direction]),
                    numpy.column_stack([area, 0*area, 0*area]), v[:, None]*direction, 0.14, 1, 0.25)
    mass, statistics, degeneracy = particle
    angles = 2*numpy.pi*numpy.arange(12)/12
    found = wave.spectrum(mass, [0.5, 1, 2], angles, statistics=statistics, degeneracy=degeneracy,
                          terms=8)
    numpy.testing.assert_allclose(found.mean(axis=1), expected, rtol=1e-6)
    flow = wave.flow(2, mass, [0.5, 1, 2], statistics=statistics, angles=12, terms=8)
    numpy.testing.assert_allclose(flow.real, v_2, atol=1e-6)
    numpy.testing.assert_allclose(flow.imag, 0, atol=1e-12)


def moving():
    return Elements([[2, 1, -3], [4, 0, 1]], [[1, 0.5, -0.25], [2, 0, 0.125]],
                    [[0.6, 0], [0.1, -0.3]], [0.15, 0.14], [0.3, 0.2], [0.05, 0.04],
                    [[0.01, 0.002, -0.004], [0.003, 0, 0.001]])


def test_what_flows_through_is_that_of_u():
    # t (u^t n_t + u^x n_x + u^y n_y) of each
    gamma = 1/numpy.sqrt(1 - 0.1)
    assert moving().flux() == pytest.approx(2*1.25*(1 + 0.3) + 4*gamma*(2 - 0.0375), rel=1e-14)


def test_the_stress_is_orthogonal_to_the_flow_and_has_no_trace():
    pi, u = moving().pi, moving().u
    lower = numpy.column_stack([u[:, 0], -u[:, 1:], [0, 0]])
    numpy.testing.assert_allclose(numpy.einsum("nij,nj->ni", pi, lower), 0, atol=1e-15)
    trace = pi[:, 0, 0] - pi[:, 1, 1] - pi[:, 2, 2] - pi[:, 3, 3]
    numpy.testing.assert_allclose(trace, 0, atol=1e-15)


# of the first element: pi^tx = v pi^xx, pi^ty = v pi^xy, pi^tt = v pi^tx, pi^zz from the trace
PI = {"tt": 0.0036, "tx": 0.006, "ty": 0.0012, "xx": 0.01, "xy": 0.002, "yy": -0.004, "zz": -0.0024}


def test_file_of_music(tmp_path):
    moving().write_music(tmp_path / "surface.dat")
    row = [float(word) for word in (tmp_path / "surface.dat").read_text().splitlines()[0].split()]
    expected = [2, 1, -3, 0, 1, 0.5, -0.25, 0, 1.25, 0.75, 0, 0, 0.3/HBARC, 0.15/HBARC, 0, 0, 0,
                0.35/0.15]
    expected += [PI[c]/HBARC if c else 0
                 for c in ("tt", "tx", "ty", "", "xx", "xy", "", "yy", "", "zz")]
    assert row == pytest.approx(expected, rel=1e-9, abs=1e-15)


def test_file_of_vhlle(tmp_path):
    moving().write_vhlle(tmp_path / "surface.dat")
    row = [float(word) for word in (tmp_path / "surface.dat").read_text().splitlines()[0].split()]
    expected = [2, 1, -3, 0, 2, 1, -0.5, 0, 1.25, 0.75, 0, 0, 0.15, 0, 0, 0]
    expected += [PI[c] if c else 0
                 for c in ("tt", "tx", "xx", "ty", "xy", "yy", "", "", "", "zz")] + [0]
    assert row == pytest.approx(expected, rel=1e-9, abs=1e-15)


def test_file_of_osu_hydro(tmp_path):
    moving().write_osu(tmp_path / "surface.dat")
    content = (tmp_path / "surface.dat").read_bytes()
    assert len(content) == 2*16*8
    row = struct.unpack("<16d", content[:128])
    expected = [2, 1, -3, 1, 0.5, -0.25, 0.6, 0]
    expected += [PI[c] for c in ("tt", "tx", "ty", "xx", "xy", "yy", "zz")] + [0]
    assert row == pytest.approx(expected, rel=1e-12, abs=1e-17)


@pytest.mark.parametrize("change, message", [
    ({"v": [[1, 0], [0, 0]]}, "speed of light"), ({"normal": [[1, 0]]}, "`normal`"),
    ({"stress": [[0, 0, 0]]}, "`stress`")])
def test_wrong_elements_are_refused(change, message):
    right = moving()
    values = {name: getattr(right, name)
              for name in ("place", "normal", "v", "T", "eps", "p", "stress")}
    with pytest.raises(ValueError, match=message):
        Elements(**{**values, **change})


def test_unknown_statistics_are_refused():
    with pytest.raises(ValueError, match="statistics"):
        slab().spectrum(0.14, 1, 0, statistics=2)
