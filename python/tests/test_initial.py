"""Initial values from arrays: those of the same field in a file, and of a formula in the text."""

import os
import subprocess
import sys

import numpy
import pytest

import vphi

FREE = """model box "A free field"
lattice box: 6 * 4 * 8, spacing = 1/2, boundary = periodic
field phi: real
potential V = phi^2/2
init phi = sin(x), phi' = 0.5*cos(y)      # values of the text
evolve leapfrog, dt = 0.1
precision real = f64
every 2 steps: mean(phi), var(phi), energies -> "out.h5"
"""
EXPANDING = """model box "Two fields that expand their box"
units reduced_planck
param m = 1e-5
lattice box: 8^3, length = 4/m, boundary = periodic
metric frw(a)
field phi, chi: real
potential V = m^2*phi^2/2 + 1e-9*phi^2*chi^2
init phi ~ 1 + vacuum, phi' ~ -0.7*m + vacuum
init chi ~ vacuum
evolve leapfrog, dt = 2^-6/m
every 4 steps: a, H, mean(rho), mean(phi), var(chi) -> "out.h5"
"""


@pytest.fixture
def arrays():
    random = numpy.random.default_rng(5)
    return {"phi": random.normal(size=(8, 4, 6)), "phi'": random.normal(size=(8, 4, 6))}


def same(one, other):
    assert one.state == other.state
    for array in one.state:
        assert one.read(array).tobytes() == other.read(array).tobytes(), array
    first, second = one.result(), other.result()
    assert list(first.keys()) == list(second.keys())
    for name in first.keys():
        assert numpy.asarray(first[name]).tobytes() == numpy.asarray(second[name]).tobytes(), name


def file_of(folder, values):
    h5py = pytest.importorskip("h5py")
    with h5py.File(folder / "start.h5", "w") as file:
        for name, numbers in values.items():
            file[name.replace("'", "_rate")] = numbers


def test_bits_of_a_file(arrays, tmp_path):
    file_of(tmp_path, arrays)
    text = FREE.replace("sin(x)", 'file("start.h5:phi")').replace("0.5*cos(y)",
                                                                  'file("start.h5:phi_rate")')
    read = vphi.load(text, name=str(tmp_path / "model")).start("native")
    given = vphi.load(FREE).start("native", init=arrays)
    assert given["phi"].shape == (8, 4, 6)
    assert (numpy.asarray(given["phi"]) == arrays["phi"]).all()
    for simulation in (read, given):
        simulation.step(11)
    same(read, given)


def test_scalars_of_an_expanding_box(tmp_path):
    m, random = 1e-5, numpy.random.default_rng(6)
    values = {"phi": 1.2 + 1e-3*random.normal(size=(8, 8, 8)),
              "phi'": m*(-0.5 + 1e-3*random.normal(size=(8, 8, 8))),
              "chi": 1e-3*random.normal(size=(8, 8, 8)),
              "chi'": m*1e-3*random.normal(size=(8, 8, 8))}
    file_of(tmp_path, values)
    text = EXPANDING.replace("phi ~ 1 + vacuum", 'phi = file("start.h5:phi")')
    text = text.replace("phi' ~ -0.7*m + vacuum", "phi' = file(\"start.h5:phi_rate\")")
    text = text.replace("init chi ~ vacuum", 'init chi = file("start.h5:chi"), '
                                             "chi' = file(\"start.h5:chi_rate\")")
    read = vphi.load(text, name=str(tmp_path / "model")).start("native")
    given = vphi.load(EXPANDING).start("native", init=values)
    # rho of the arrays themselves, H by Friedmann's equation; gradients are below 1e-5 of it
    rho = (values["phi'"]**2/2 + values["chi'"]**2/2 + m**2*values["phi"]**2/2
           + 1e-9*values["phi"]**2*values["chi"]**2).mean()
    assert given["H"] == pytest.approx(numpy.sqrt(rho/3), rel=1e-4)
    for simulation in (read, given):
        simulation.step(9)
    same(read, given)


def test_only_what_is_given_changes(arrays):
    simulation = vphi.load(FREE).start("native", init={"phi": arrays["phi"]})
    y = 0.5*(numpy.arange(4) - 1.5)
    rate = numpy.broadcast_to(0.5*numpy.cos(y)[:, None], (8, 4, 6))
    assert numpy.allclose(simulation["phi'"], rate)
    assert (numpy.asarray(simulation["phi"]) == arrays["phi"]).all()


@pytest.mark.parametrize("number", [0.25, -3e-7, 1.25e22, numpy.float32(0.1), 2])
def test_one_number_is_everywhere(number):
    simulation = vphi.load(FREE).start("native", init={"phi": number})
    assert (numpy.asarray(simulation["phi"]) == float(number)).all()


def test_fluctuations_need_a_homogeneous_field():
    model = vphi.load(EXPANDING)
    assert model.start("native", init={"phi": 1.5})["mean(phi)"] == pytest.approx(1.5, rel=1e-3)
    with pytest.raises(vphi.ModelError) as caught:  # phi' ~ -0.7*m + vacuum is still in the text
        model.start("native", init={"phi": numpy.full((8, 8, 8), 1.5)})
    assert caught.value.code == "E0727"


def test_exact_solution_of_one_mode():
    n, dx = 256, 1/32
    text = FREE.replace("6 * 4 * 8, spacing = 1/2", f"{n}, spacing = {dx}").replace("cos(y)", "0")
    text = text.replace("dt = 0.1", "dt = 0.01")
    k = 2*numpy.pi/(n*dx)
    mode = numpy.cos(k*dx*numpy.arange(n))
    simulation = vphi.load(text).start("native", init={"phi": mode, "phi'": 0})
    simulation.step(500)
    exact = mode*numpy.cos(numpy.sqrt(1 + k**2)*simulation.t)
    assert numpy.allclose(simulation["phi"], exact, atol=1e-3)


def test_run_takes_them_and_nothing_is_left(arrays, tmp_path, monkeypatch):
    import tempfile

    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    result = vphi.load(FREE).run("native", init=arrays, steps=4)
    assert result["mean(phi)"].values[0] == pytest.approx(arrays["phi"].mean(), rel=1e-12)
    assert list(tmp_path.iterdir()) == []
    assert "A free field" in result.report().html  # the page needs none of the files


SCRIPT = """import os, sys, numpy, vphi
sim = vphi.load(sys.argv[1]).start("native", init={"phi": numpy.ones((8, 4, 6))})
if os.fork() == 0:
    del sim        # of the fork: the values are still the other process's
    os._exit(0)
os.wait()
assert len(os.listdir(os.environ["TMPDIR"])) == 1
assert sim["mean(phi)"] == 1
"""


def test_values_outlive_a_fork_and_nothing_is_left_at_the_end(tmp_path):
    done = subprocess.run([sys.executable, "-c", SCRIPT, FREE], capture_output=True, text=True,
                          env={**os.environ, "TMPDIR": str(tmp_path)})
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.iterdir()) == []


def test_two_components_and_complex_numbers():
    text = """model pair "A complex field"
lattice box: 4 * 8, spacing = 1, boundary = periodic
field psi: complex
potential V = abs(psi)^2
init psi = 0, psi' = 0
evolve leapfrog, dt = 0.1
precision real = f64
"""
    random = numpy.random.default_rng(7)
    psi = random.normal(size=(8, 4)) + 1j*random.normal(size=(8, 4))
    simulation = vphi.load(text).start("native", init={"psi": psi})
    assert (numpy.asarray(simulation["re(psi)"]) == psi.real).all()
    assert (numpy.asarray(simulation["im(psi)"]) == psi.imag).all()


def test_bodies():
    angles = numpy.linspace(0.1, 3, 1000)
    given = vphi.load("hmf", set={"N": 1000}).start("native", init={"theta": angles})
    assert numpy.allclose(given["theta"], angles, rtol=0, atol=1e-14)
    assert given["M2"] == pytest.approx(abs(numpy.exp(1j*angles).mean())**2, rel=1e-12)


def test_links():
    turned = numpy.zeros((4, 4, 4, 4, 4, 2, 2), complex)
    turned[...] = numpy.eye(2)
    turned[0, 0, 0, 0, 0] = numpy.diag([1j, -1j])  # six of all plaquettes have the trace 0
    given = vphi.load("su2", lattice="4^4").start("native", init={"U": turned})
    plaquettes = 6*4**4
    mean = given["mean(re(tr(loop(mu, nu, -mu, -nu)))/2, mu < nu)"]
    assert mean == pytest.approx(1 - 6/plaquettes, abs=1e-6)
    links = given["U"]
    assert links.dims[-3:] == ("direction", "row", "column")
    assert numpy.allclose(links, turned, rtol=0, atol=1e-6)


def test_links_go_round():
    """The links of a run as arrays are those that another one starts from."""
    model = vphi.load("su3", lattice="4^4", precision="f64")
    sim = model.start("native")
    sim.step(1)
    links = numpy.asarray(sim["U"])
    unit = links @ numpy.conj(numpy.swapaxes(links, -1, -2))
    assert numpy.abs(unit - numpy.eye(3)).max() < 1e-13
    assert numpy.abs(numpy.linalg.det(links) - 1).max() < 1e-13
    forward = {mu: numpy.roll(links, -1, axis=3 - mu) for mu in range(4)}  # axes: t, z, y, x
    sum_of_traces = 0
    for mu in range(4):
        for nu in range(mu):
            loop = (links[..., mu, :, :] @ forward[mu][..., nu, :, :]
                    @ numpy.conj(numpy.swapaxes(forward[nu][..., mu, :, :], -1, -2))
                    @ numpy.conj(numpy.swapaxes(links[..., nu, :, :], -1, -2)))
            sum_of_traces += numpy.trace(loop, axis1=-2, axis2=-1).real.mean()/3
    mean = sim["mean(re(tr(loop(mu, nu, -mu, -nu)))/3, mu < nu)"]
    assert mean == pytest.approx(sum_of_traces/6, rel=1e-12)
    again = model.start("native", init={"U": links})
    assert numpy.allclose(again["U"], links, rtol=0, atol=1e-13)


def test_variables_without_a_lattice():
    text = """model decay "One variable"
var x: real
init x = 1
x' = -x
evolve rk4, dt = 0.01
"""
    assert vphi.load(text).start("native", init={"x": 2.5})["x"] == 2.5


@pytest.mark.parametrize("shape", [(6, 4, 8), (8, 4), (8, 4, 6, 2), (4, 4, 4)])
def test_wrong_shape(shape):
    with pytest.raises((vphi.UsageError, vphi.ModelError)) as caught:
        vphi.load(FREE).start("native", init={"phi": numpy.zeros(shape)})
    assert "8, 4, 6" in str(caught.value) or caught.value.code == "E0782"


def test_number_that_is_not_finite(arrays):
    arrays["phi"][2, 1, 5] = numpy.nan
    with pytest.raises(vphi.UsageError) as caught:
        vphi.load(FREE).start("native", init=arrays)
    assert "(2, 1, 5)" in caught.value.message and "nan" in caught.value.message


def test_unknown_name():
    with pytest.raises(vphi.UsageError) as caught:
        vphi.load(FREE).start("native", init={"phj": 1})
    assert "phi" in caught.value.fix


@pytest.mark.parametrize("values", ["text", [None], 1j])
def test_no_numbers(values):
    with pytest.raises(vphi.UsageError):
        vphi.load(FREE).start("native", init={"phi": values})


SWEPT = """model swept "Fields of a sweep"
sweep m2 = [0.5, 1, 2], draw = 1..2
lattice box: 4 * 3, spacing = 1, boundary = periodic
field phi: real
potential V = m2*phi^2/2
init phi = 0*draw, phi' = 0
evolve leapfrog, dt = 0.1
precision real = f64
"""


def test_each_instance_has_its_own_array():
    phi = numpy.random.default_rng(8).normal(size=(3, 2, 3, 4))
    sim = vphi.load(SWEPT).start("native", init={"phi": phi, "phi'": phi[0, 0]})
    assert (sim["phi"].values == phi.reshape(6, 3, 4)).all()
    assert (sim["phi'"].values == phi[0, 0]).all()  # that of the lattice's shape is everywhere
    sim.step(5)
    for i, m2 in enumerate((0.5, 1, 2)):
        alone = vphi.load(SWEPT, set={"m2": m2, "draw": 2}).start(
            "native", init={"phi": phi[i, 1], "phi'": phi[0, 0]})
        alone.step(5)
        numpy.testing.assert_allclose(sim["phi"].values[2*i + 1], alone["phi"].values, rtol=1e-13)


def test_axes_of_a_sweep_with_units_and_formulas():
    text = EXPANDING.replace("param m = 1e-5", "sweep m = logspace(1e-6, 1e-5, 5)")
    text = text.replace("length = 4/m", "length = 4e5").replace("2^-6/m", "2000")
    text = text.replace("phi ~ 1 + vacuum, phi' ~ -0.7*m + vacuum", "phi = 1, phi' = -0.7*m")
    text = text.replace("chi ~ vacuum", "chi = 0")
    phi = 1 + 0.01*numpy.random.default_rng(9).normal(size=(5, 8, 8, 8))
    sim = vphi.load(text).start("native", init={"phi": phi})
    numpy.testing.assert_allclose(sim["phi"].values, phi, rtol=1e-6)


def test_complex_numbers_of_each_instance():
    text = """model pair "A complex field"
sweep g = [1, 2]
lattice box: 2 * 2, spacing = 1, boundary = periodic
field psi: complex
potential V = g*abs(psi)^2
init psi = 0, psi' = 0
evolve leapfrog, dt = 0.1
precision real = f64
"""
    random = numpy.random.default_rng(7)
    psi = random.normal(size=(2, 2, 2)) + 1j*random.normal(size=(2, 2, 2))
    sim = vphi.load(text).start("native", init={"psi": psi})  # (2, 2, 2, 2) of real numbers
    assert (sim["re(psi)"].values == psi.real).all()
    assert (sim["im(psi)"].values == psi.imag).all()


def test_two_meanings_of_a_shape_are_refused():
    text = """model pair "A vector on a lattice of its own extents"
sweep g = [1, 2, 3]
lattice box: 3, spacing = 1, boundary = periodic
field v: vec(3)
v' = -g*v
init v = [0, 0, 0]
evolve rk4, dt = 0.1
precision real = f64
"""
    model = vphi.load(text)
    with pytest.raises(vphi.UsageError, match="two meanings") as caught:
        model.start("native", init={"v": numpy.zeros((3, 3))})
    assert "g" in caught.value.fix
    full = numpy.arange(27.).reshape(3, 3, 3)
    assert (model.start("native", init={"v": full})["v[1]"].values == full[..., 1]).all()


@pytest.mark.parametrize("shape", [(3, 3, 4), (6, 3, 4), (2, 3, 3, 4)])
def test_wrong_number_of_instances(shape):
    with pytest.raises(vphi.UsageError, match="shape") as caught:
        vphi.load(SWEPT).start("native", init={"phi": numpy.zeros(shape)})
    assert "m2, draw" in caught.value.fix and "(3, 2, 3, 4)" in caught.value.fix


def test_values_that_do_not_tell_instances_apart():
    with pytest.raises(vphi.Error, match="more than once"):
        vphi.load(SWEPT, set={"m2": [1, 1]}).start("native", init={"phi": numpy.zeros((2, 2, 3, 4))})
