"""Spectra of surfaces whose integrals are known, and files that are read again by other means."""

import dataclasses
import math
import struct

import numpy
import pytest

from vphi.freeze_out import HBARC, Elements, Events

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


def over_momenta(spectrum, largest, points):
    """Particles for each unit of rapidity and the mean of their transverse momentum."""
    x, weight = numpy.polynomial.legendre.leggauss(points)
    momentum = largest*(x + 1)/2
    density = largest/2*weight*momentum*2*numpy.pi*spectrum(momentum).mean(axis=1)
    return density.sum(), (density*momentum).sum()/density.sum()


@pytest.mark.parametrize("particle, number", [(PION, 128.194244), (PROTON, 6.943899)])
def test_particles_of_a_slab(particle, number):
    mass, statistics, degeneracy = particle
    found, _ = over_momenta(lambda momentum: slab().spectrum(
        mass, momentum, 0, statistics=statistics, degeneracy=degeneracy, terms=20), 5, 60)
    assert found == pytest.approx(number, rel=1e-7)


@pytest.mark.parametrize("mass, expected", [(0.13957, 1.6971101), (0.93827, 1.5771709)])
def test_shear_stress_changes_the_distribution(mass, expected):
    half = 0.1*1.25/2  # pi^xx = pi^yy, together a tenth of e + p
    with_stress = slab([[half, 0, half]])
    ratio = (with_stress.spectrum(mass, 1, 0, statistics=0)
             / with_stress.spectrum(mass, 1, 0, statistics=0, shear=False))
    numpy.testing.assert_allclose(ratio, expected, rtol=1e-7)


def bessel_k(z):
    """K_0, K_1, K_2 by their series and the Wronskian."""
    powers = [(z*z/4)**k/math.factorial(k)**2 for k in range(80)]
    harmonic = [sum(1/j for j in range(1, k + 1)) for k in range(80)]
    i_0 = sum(powers)
    i_1 = z/2*sum(power/(k + 1) for k, power in enumerate(powers))
    k_0 = sum(power*h for power, h in zip(powers, harmonic)) - i_0*(
        math.log(z/2) + numpy.euler_gamma)
    k_1 = (1/z - i_1*k_0)/i_0
    return k_0, k_1, k_0 + 2/z*k_1


# at rest the integral over the rapidity is closed:
# (m_T^2 (1/3 - c2) (K_0 + K_2) - 2/3 m^2 K_0)/(2 m_T K_1)
@pytest.mark.parametrize("mass, pT", [(0.13957, 0.5), (0.93827, 0.5), (0, 1)])
def test_bulk_stress_changes_the_distribution(mass, pT):
    T, c2, bulk = 0.15, 0.16, -0.02
    element = Elements([[10, 0, 0]], [[100, 0, 0]], [[0, 0]], [T], [1.0], [0.25], bulk=bulk, c2=c2)
    ratio = (element.spectrum(mass, pT, 0, statistics=0)
             / element.spectrum(mass, pT, 0, statistics=0, bulk=False))[0, 0]
    transverse = math.hypot(mass, pT)
    k_0, k_1, k_2 = bessel_k(transverse/T)
    size = bulk/(14.55*(1/3 - c2)**2*1.25)/T
    expected = 1 + size*((1/3 - c2)*transverse**2*(k_0 + k_2) - 2/3*mass**2*k_0)/(2*transverse*k_1)
    assert ratio == pytest.approx(expected, rel=1e-8)
    assert abs(ratio - 1) > 0.01
    with pytest.raises(ValueError, match="c2"):
        dataclasses.replace(element, c2=None).spectrum(mass, pT, 0, statistics=0)


def test_files_hold_the_bulk_stress(tmp_path):
    elements = dataclasses.replace(moving(), bulk=[0.003, -0.002])
    elements.write_music(tmp_path/"music.dat")
    music = numpy.loadtxt(tmp_path/"music.dat")
    assert music.shape == (2, 29)  # 28 without
    numpy.testing.assert_allclose(music[:, 28]*HBARC, [0.003, -0.002], rtol=1e-9)
    elements.write_vhlle(tmp_path/"vhlle.dat")
    numpy.testing.assert_allclose(numpy.loadtxt(tmp_path/"vhlle.dat")[:, -1], [0.003, -0.002])
    elements.write_osu(tmp_path/"osu.dat")
    osu = numpy.fromfile(tmp_path/"osu.dat").reshape(2, 16)
    numpy.testing.assert_allclose(osu[:, -1], [0.003, -0.002])


def blast_wave():
    """The transverse rapidity (0.9 + 0.05 cos 2 phi) r/8 within 8 fm, at the proper time 9 fm."""
    x, weight = numpy.polynomial.legendre.leggauss(24)
    r, phi = (a.ravel() for a in numpy.meshgrid(4*(x + 1), 2*numpy.pi*numpy.arange(24)/24,
                                                indexing="ij"))
    area = numpy.repeat(4*weight, 24)*r*2*numpy.pi/24
    v = numpy.tanh((0.9 + 0.05*numpy.cos(2*phi))*r/8)
    direction = numpy.column_stack([numpy.cos(phi), numpy.sin(phi)])
    return Elements(numpy.column_stack([0*r + 9, r[:, None]*direction]),
                    numpy.column_stack([area, 0*area, 0*area]), v[:, None]*direction, 0.14, 1, 0.25)


@pytest.mark.parametrize("particle, number, mean", [
    (PION, 70.661155, 0.51693627), (PROTON, 2.749421, 1.02859748)])
def test_particles_of_a_blast_wave(particle, number, mean):
    mass, statistics, degeneracy = particle
    angles = numpy.pi*numpy.arange(4)/4  # the wave is the same turned by pi
    found, momentum = over_momenta(lambda momentum: blast_wave().spectrum(
        mass, momentum, angles, statistics=statistics, degeneracy=degeneracy, terms=8), 8, 28)
    assert found == pytest.approx(number, rel=1e-5)
    assert momentum == pytest.approx(mean, rel=1e-5)


@pytest.mark.parametrize("particle, expected, v_2", [
    (PION, [23.032943, 3.3327821, 0.10609062], [0.01467182, 0.03788403, 0.10089783]),
    (PROTON, [0.57657615, 0.29832717, 0.032408656], [-0.00296273, 0.01172559, 0.07795147])])
def test_a_blast_wave_and_its_elliptic_flow(particle, expected, v_2):
    wave = blast_wave()
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


# particles for each unit of rapidity over the integral of u.dSigma, T = 0.13 GeV: Gubser's flow
# has 7000.68906756 fm^3, and densities of equilibrium that were computed elsewhere; at 0.15 GeV these
# densities in 1/fm^3
@pytest.mark.parametrize("T, mass, statistics, degeneracy, density", [
    (0.13, 0.13957, 1, 1, 174.345744/7000.68906756), (0.13, 0.49368, 1, 1, 32.825699/7000.68906756),
    (0.13, 0.93827, -1, 2, 4.608830/7000.68906756), (0.15, 0.13957, 1, 1, 0.040805495),
    (0.15, 0.49368, 1, 1, 0.010261794), (0.15, 0.93827, -1, 2, 0.002210312)])
def test_all_momenta_add_up_to_the_density(T, mass, statistics, degeneracy, density):
    fluid = dataclasses.replace(moving(), T=T, stress=None)
    x, weight = numpy.polynomial.legendre.leggauss(64)
    pT = 3*(x + 1)
    angles = 2*numpy.pi*numpy.arange(32)/32
    found = fluid.spectrum(mass, pT, angles, statistics=statistics, degeneracy=degeneracy, terms=14)
    total = 2*numpy.pi*numpy.sum(3*weight*pT*found.mean(axis=1))
    assert total/fluid.flux() == pytest.approx(density, rel=2e-6)


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
    ({"stress": [[0, 0, 0]]}, "`stress`"), ({"T": [0.15, 0]}, "`T` of element 1 is not positive"),
    ({"T": [0.15, numpy.nan]}, "`T` of element 1 is not finite"), ({"T": [0.1, 0.1, 0.1]}, "`T`"),
    ({"place": [[2, 1, numpy.inf], [4, 0, 1]]}, "`place` of element 0 is not finite"),
    ({"stress": [[0, 0, 0], [0, numpy.nan, 0]]}, "`stress` of element 1 is not finite")])
def test_wrong_elements_are_refused(change, message):
    right = moving()
    values = {name: getattr(right, name)
              for name in ("place", "normal", "v", "T", "eps", "p", "stress")}
    with pytest.raises(ValueError, match=message):
        Elements(**{**values, **change})


def test_a_spectrum_without_a_value_is_refused():
    with pytest.raises(ValueError, match="`mass`"):
        slab().spectrum(-0.14, 1, 0, statistics=1)
    with pytest.raises(ValueError, match="`terms`"):
        slab().spectrum(0.14, 1, 0, statistics=1, terms=0)
    with pytest.raises(ValueError, match="c2 = 1/3"):
        dataclasses.replace(slab(), bulk=0.01, c2=1/3).spectrum(0.14, 1, 0, statistics=1)


def test_unknown_statistics_are_refused():
    with pytest.raises(ValueError, match="statistics"):
        slab().spectrum(0.14, 1, 0, statistics=2)


def turned(v, angle):
    """The slab moves with v along a direction."""
    return Elements([[10, 0, 0]], [[100, 0, 0]],
                    [[v*math.cos(angle), v*math.sin(angle)]], [0.15], [1.0], [0.25])


def test_averages_over_events_have_errors():
    hot, cold = slab(), dataclasses.replace(slab(), T=0.12)
    events = Events([hot, cold, cold])
    one, two = (e.spectrum(0.14, 1, 0, statistics=0)[0, 0] for e in (hot, cold))
    mean, error = events.spectrum(0.14, 1, 0, statistics=0)
    assert mean[0, 0] == pytest.approx((one + 2*two)/3, rel=1e-14)
    # the variance of (a, b, b) is (a - b)^2/3
    assert error[0, 0] == pytest.approx(abs(one - two)/3, rel=1e-12)
    gamma = 1/math.sqrt(1 - 0.3**2)
    mean, error = Events([turned(0.3, 0), turned(0, 0)]).flux()
    assert mean == pytest.approx(10*100*(gamma + 1)/2, rel=1e-14)
    assert error == pytest.approx(10*100*(gamma - 1)/2, rel=1e-12)


def test_flow_of_events_does_not_know_their_directions():
    """Boltzmann's factor exp(pT u cos(phi)/T) has v_n = I_n/I_0 at rest in the beam's direction."""
    angles = [0, 1.1, 2.3, 4.0]
    events = Events([turned(0.3, angle) for angle in angles])
    z = 1.0*0.3/math.sqrt(1 - 0.3**2)/0.15
    bessel = [sum((z/2)**(2*k + n)/math.factorial(k)/math.factorial(k + n) for k in range(60))
              for n in range(3)]
    for n in (1, 2):
        flow, error = events.flow(n, 0.14, 1, statistics=0)
        assert flow[0] == pytest.approx(bessel[n]/bessel[0], rel=1e-9)
        assert error[0] < 1e-12
    slow = abs(turned(0.2, 0).flow(2, 0.14, 1, statistics=0)[0])
    fast = bessel[2]/bessel[0]
    flow, error = Events([turned(0.3, 0.4), turned(0.2, 1.9)]).flow(2, 0.14, 1, statistics=0)
    assert flow[0] == pytest.approx(math.sqrt((slow**2 + fast**2)/2), rel=1e-9)
    assert error[0] == pytest.approx((fast**2 - slow**2)/2/(2*flow[0]), rel=1e-8)
    with pytest.raises(ValueError, match="two events"):
        Events([slab()])


COLUMNS = "t, x, y, n_t, n_x, n_y, v[0], v[1], q[0], q[1], q[2], h, p"


def write_surface(path, change=lambda number, rows, at: (rows, at)):
    """The two elements of `moving` in three tables, as a run writes them."""
    h5py = pytest.importorskip("h5py")
    one = moving()
    rows = numpy.column_stack([one.place, one.normal, one.v, one.stress/HBARC,
                               (one.eps + one.p)/HBARC, one.p/HBARC])
    with h5py.File(path, "w") as file:
        for number, part in enumerate((rows[:1], rows[1:], rows[:0])):
            at = {"columns": COLUMNS, "t": 3.0 + number, "t_before": 2.0 + number, "edge": 0,
                  "above": 2 - number}
            changed = change(number, part.copy(), at)
            if changed is None:
                continue
            table = file.create_dataset(f"surfaces/surface(T)/{5*number + 5:08d}", data=changed[0])
            table.attrs.update(changed[1])
    return path


def test_elements_of_a_run_are_read(tmp_path):
    read = Elements.read(write_surface(tmp_path/"run.h5"), T=[0.15, 0.14])
    one = moving()
    for name in ("place", "normal", "v", "T", "eps", "p", "stress"):
        numpy.testing.assert_allclose(getattr(read, name), getattr(one, name), atol=1e-15)


def hole(number, rows, at):
    return None if number == 1 else (rows, at)


def not_finite(number, rows, at):
    if number == 1:
        rows[0, 3] = numpy.nan
    return rows, at


@pytest.mark.parametrize("change, message", [
    (hole, "no table between t = 3 and 4"),
    (not_finite, "row 0 of table 00000010"),
    (lambda number, rows, at: (rows[:, :12], at), r"shape \(1, 12\), and 13"),
    (lambda number, rows, at: (rows, {**at, "edge": number}), "t = 4 1 elements.*end of the box"),
    (lambda number, rows, at: (rows, {**at, "above": 7}), "7 sites were above the level.*t = 5"),
    (lambda number, rows, at: (rows, {**at, "columns": COLUMNS.replace("h", "w")}),
     "no column `h`, it has t, x"),
    (lambda number, rows, at: (rows, {k: at[k] for k in at if k != "t_before"}), "time = on"),
    (lambda number, rows, at: (rows, {k: at[k] for k in at if k != "t"}), "no time `t`"),
    (lambda number, rows, at: (rows, {**at, "t_before": numpy.nan}), "no time `t_before`"),
    (lambda number, rows, at: (rows, {**at, "t": "late"}), "no time `t`"),
    (lambda number, rows, at: (rows, {**at, "columns": ""}), "0 columns are named"),
    (lambda number, rows, at: (rows, {**at, "columns": COLUMNS.replace("t, x", "x, t")
                                      if number == 1 else COLUMNS}),
     "table 00000010 of .* has the columns x, t.*, and those before it t, x"),
    (lambda number, rows, at: (rows.astype("S8"), at), "holds no real numbers"),
    (lambda number, rows, at: (rows.astype(complex), at), "holds no real numbers"),
    (lambda number, rows, at: (rows[0] if len(rows) else numpy.zeros(13), at), "has the shape")])
def test_a_damaged_surface_says_what_is_wrong(tmp_path, change, message):
    with pytest.raises(ValueError, match=message):
        Elements.read(write_surface(tmp_path/"run.h5", change), T=0.15)


def test_a_file_that_is_cut_off_is_refused(tmp_path):
    path = write_surface(tmp_path/"run.h5")
    content = path.read_bytes()
    path.write_bytes(content[:len(content)//2])
    with pytest.raises(ValueError, match="cannot be read"):
        Elements.read(path, T=0.15)
    with pytest.raises(ValueError, match="cannot be read"):
        Elements.read(tmp_path/"missing.h5", T=0.15)
    h5py = pytest.importorskip("h5py")
    for place, message in (("surfaces", "it has none"), ("surfaces/surface(T)", "no group of tables"),
                           ("surfaces/surface(T)/00000005/rows", "holds no real numbers"),
                           ("surfaces/surface(T)/later", "has no tables")):
        with h5py.File(path, "w") as file:
            file[place] = [1.0, 2.0]
        with pytest.raises(ValueError, match=message):
            Elements.read(path, T=0.15)
    write_surface(path)
    with pytest.raises(ValueError, match="no surface `surface.eps.`, it has surface"):
        Elements.read(path, "surface(eps)", T=0.15)
    # what is not closed is taken where that is asked for
    write_surface(path, lambda number, rows, at: (rows, {**at, "above": 7, "edge": 1}))
    assert len(Elements.read(path, T=0.15, whole=False).place) == 2
