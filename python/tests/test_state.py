"""The state by hand: read, write, formulas at one time."""

import subprocess
import sys

import numpy
import pytest

import vphi

OSCILLATOR = """model wave "One mode of a free field"
lattice box: 32, length = 10, boundary = periodic
field phi: real
potential V = phi^2/2
laplacian = iso3
init phi = cos(2*pi*x/10)
init phi' = 0
evolve leapfrog, dt = 0.01, until = t > 2
precision real = f64
every 10 steps: mean(phi^2) -> "out.csv"
"""


def frequency(dx=10 / 32):
    """Of the lattice: k_eff^2 = (2 - 2 cos(k dx))/dx^2."""
    k = 2 * numpy.pi / 10
    return numpy.sqrt(1 + (2 - 2 * numpy.cos(k * dx)) / dx**2)


@pytest.fixture
def text():
    return OSCILLATOR.replace("laplacian = iso3\n", "")


def test_formulas_follow_the_exact_solution(text):
    simulation = vphi.load(text).start("native")
    for steps in (0, 1, 2, 97):  # odd and even: either copy of the state may be the present one
        simulation.step(steps)
        phi, rate = simulation["phi"], simulation["phi'"]
        t, w = simulation.t, frequency()
        start = numpy.cos(2 * numpy.pi * (numpy.arange(32) - 15.5) / 32)
        assert numpy.allclose(phi, start * numpy.cos(w * t), atol=1e-4)
        assert numpy.allclose(rate, -w * start * numpy.sin(w * t), atol=1e-4)
        assert simulation["mean(phi^2)"] == pytest.approx(float((phi**2).mean()), rel=1e-12)


def test_formulas_leave_the_run_as_it_is(text):
    looked_at, left_alone = vphi.load(text).start("native"), vphi.load(text).start("native")
    for _ in range(5):
        looked_at.step(7)
        looked_at["phi'"], looked_at["mean(phi^2)"]
        left_alone.step(7)
    for array in looked_at.state:
        assert looked_at.read(array).tobytes() == left_alone.read(array).tobytes()


def test_what_is_written_is_what_goes_on(text):
    simulation = vphi.load(text).start("native")
    for steps in (1, 2, 3):
        simulation.step(steps)
        array = simulation.state[0]
        doubled = 2 * simulation.read(array)
        simulation.write(array, doubled)
        assert (simulation.read(array) == doubled).all()
        simulation.write(array, 0.25)  # one number for all sites
        assert (simulation.read(array) == 0.25).all()
        simulation.write(array, doubled)
    # The equation is linear: both arrays doubled at once give twice the run.
    one, two = vphi.load(text).start("native"), vphi.load(text).start("native")
    one.step(3), two.step(3)
    for array in two.state:
        two.write(array, 2 * two.read(array))
    one.step(20), two.step(20)
    assert numpy.allclose(two["phi"], 2 * one["phi"], rtol=1e-12, atol=1e-14)


def test_scale_factor_of_an_expanding_box():
    simulation = vphi.load("preheating_quick", lattice="8^3", steps=20).start("native")
    simulation.step(10)
    between = simulation["a"]
    simulation.step(10)
    assert simulation["a"] > between > 1
    assert simulation["mean(rho)/(3*H^2)"] == pytest.approx(1, abs=1e-2)


def test_mistake_in_a_formula(text):
    simulation = vphi.load(text).start("native")
    with pytest.raises(vphi.ModelError):
        simulation["psi + 1"]
    assert simulation.step() == 1


def test_names_of_axes():
    xarray = pytest.importorskip("xarray")
    result = vphi.load("preheating_quick", lattice="8^3", steps=64).run("native")
    assert isinstance(result["a"], xarray.DataArray)
    assert result["a"].dims == ("t",)
    assert result["a"].t[0] == 0


def test_sweep_has_its_axes():
    text = """model growth "Growth at several rates"
sweep r = [0.5, 1, 2]
var x: real
init x = 1
x' = r*x
evolve rk4, dt = 0.01, until = t > 1
at end: x -> "end.csv"
"""
    result = vphi.load(text).run("native")
    assert list(result["x"].r) == [0.5, 1, 2]
    t = float(result.t)
    assert numpy.allclose(numpy.asarray(result["x"])[-1], numpy.exp(numpy.array([0.5, 1, 2]) * t))
    other = vphi.load(text, set={"r": vphi.linspace(0, 1, 5)}).run("native")
    assert len(other["x"].r) == 5


def test_import_is_light():
    heavy = subprocess.run(
        [sys.executable, "-c", "import sys, vphi; print([m for m in ('xarray', 'pandas', "
                               "'matplotlib', 'h5py') if m in sys.modules])"],
        capture_output=True, text=True, check=True)
    assert heavy.stdout.strip() == "[]"


def test_model_in_a_notebook_is_escaped(text):
    shown = vphi.load(text.replace("One mode of a free field", "<script>alert(1)</script>"))
    html = shown._repr_html_()
    assert "<math" in html and "<script" not in html


def test_pickled_model_is_the_same(text):
    import pickle

    model = vphi.load(text, lattice="16")
    again = pickle.loads(pickle.dumps(model))
    assert again.text == model.text
    assert again.run("native", steps=5).t == model.run("native", steps=5).t
    with pytest.raises(TypeError):
        pickle.dumps(model.start("native"))


def address(array):
    return numpy.asarray(array).__array_interface__["data"][0]


def test_view_is_the_state_and_no_copy(text):
    simulation = vphi.load(text).start("native")
    array = simulation.state[0]
    for steps in (1, 2, 3):  # odd numbers leave the other copy as the present one
        simulation.step(steps)
        with simulation.view(array) as view:
            assert address(view) == address(view) == address(numpy.from_dlpack(view))
            assert (numpy.asarray(view) == simulation.read(array)).all()
            view[3] = 0.125
            assert simulation.read(array)[3] == 0.125


def test_view_holds_the_state_still(text):
    simulation = vphi.load(text).start("native")
    array = simulation.state[0]
    view = simulation.view(array)
    kept = numpy.asarray(view)[4:6]
    for change in (simulation.step, simulation.result, lambda: simulation.write(array, 0.0)):
        with pytest.raises(vphi.InUse) as caught:
            change()
        assert array in caught.value.message
    del view
    with pytest.raises(vphi.InUse):  # a part of it is still there
        simulation.step()
    del kept
    assert simulation.step() == 1
    with simulation.view(array) as ended:
        pass
    with pytest.raises(vphi.InUse):
        ended[0]


def test_array_of_a_view_outlives_the_simulation(text):
    simulation = vphi.load(text).start("native")
    kept = numpy.asarray(simulation.view(simulation.state[0]))
    expected = kept.copy()
    del simulation
    assert (kept == expected).all()


def test_views_do_not_pile_up(text):
    import resource

    long = text.replace("length = 10", "length = 62500")
    simulation = vphi.load(long, lattice="200000").start("native")
    array = simulation.state[0]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(1000):
        simulation.view(array)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 20_000  # kB; the array alone has 1600
    assert simulation.step() == 1



class Keeper:
    """What a view asks of its simulation."""

    def __init__(self):
        self.asked = []

    def order(self, stream):
        self.asked.append(stream)

    def wait(self):
        self.asked.append("wait")


def of_a_gpu(keeper=None):
    """A view as a GPU would have it, with memory of the host behind it."""
    array = numpy.arange(6, dtype=numpy.float32).reshape(2, 3)
    return array, vphi.View(keeper or Keeper(), array, array.__array_interface__["data"][0], (2, 3),
                            "<f4", 0)


def test_streams_come_after_the_steps_that_are_queued():
    keeper = Keeper()
    _, view = of_a_gpu(keeper)
    view.__dlpack__()  # without a stream: CUDA's default one, which has the number 1
    view.__dlpack__(stream=None)
    view.__dlpack__(stream=77)
    view.__dlpack__(stream=-1)  # no order is asked for
    assert keeper.asked == [1, 1, 77]
    assert view.__cuda_array_interface__["stream"] is None  # not all that take it obey a stream
    assert keeper.asked == [1, 1, 77, "wait"]


def test_view_of_a_gpu_is_no_array_of_numpy():
    _, view = of_a_gpu()
    for use in (lambda: numpy.asarray(view), lambda: view[0]):
        with pytest.raises(vphi.UsageError) as caught:
            use()
        assert "cuda:0" in caught.value.message and "cupy.asarray" in caught.value.fix
    assert view.shape == (2, 3) and view.dtype == numpy.float32


def test_cuda_array_interface_lives_as_long_as_the_view():
    array, view = of_a_gpu()
    told = view.__cuda_array_interface__
    assert told == {"data": (array.__array_interface__["data"][0], False), "shape": (2, 3),
                    "typestr": "<f4", "strides": None, "stream": None, "version": 3}
    with view:  # what was taken before keeps the object, and knows nothing of this `with`
        assert not hasattr(view, "__cuda_array_interface__")
    assert view._array is array
    with of_a_gpu()[1] as other:
        assert not hasattr(other, "__cuda_array_interface__")
    with pytest.raises(vphi.InUse):
        other.shape


def test_cupy_takes_a_view_by_dlpack(monkeypatch):
    import types

    taken = []
    cupy = types.SimpleNamespace(from_dlpack=lambda view: taken.append(view) or "array")
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    with of_a_gpu()[1] as view:
        assert view.__cupy_get_ndarray__() == "array" and taken == [view]


def test_steps_of_a_device_may_stay_queued(text):
    """On OpenCL `step` comes back early; what is asked for next is of the last step all the same."""
    try:
        queued = vphi.load(text).start("opencl")
    except vphi.DeviceError as why:
        pytest.skip(str(why))
    at_once = vphi.load(text).start("opencl")
    array = queued.state[0]
    at_once.step(40)
    for _ in range(40):
        assert queued.step(1) == 1
    assert (queued.steps, queued.t) == (at_once.steps, at_once.t)
    assert (queued.read(array) == at_once.read(array)).all()
    queued.step(1), at_once.step(1)
    queued.write(array, 2*queued.read(array)), at_once.write(array, 2*at_once.read(array))
    for _ in range(3):
        queued.step(1), at_once.step(1)
    assert (queued["phi"] == at_once["phi"]).all()

    broken = vphi.load("""model breaks "A number that reaches infinity at t = 1"
lattice box: 8, length = 1, boundary = periodic
field x: real
x' = x^2
init x = 1
evolve euler, dt = 0.01
""").start("opencl")
    with pytest.raises(vphi.BrokenState) as caught:
        for _ in range(1000):
            broken.step(1)
        broken.result()
    assert 100 < caught.value.step < 200


def test_view_of_the_host_has_no_cuda_array_interface(text):
    simulation = vphi.load(text).start("native")
    assert not hasattr(simulation.view(simulation.state[0]), "__cuda_array_interface__")


def test_swept_name_of_a_model_that_plots_averages():
    """`plot` is an output as the others: the formula is asked for and not its average."""
    text = """model paths "Paths"
sweep T = [0.1, 0.2]
sweep path = 1..3
var x: real
x' = -x + sqrt(2*T)*noise
init x = 1
evolve euler_maruyama, dt = 0.01, until = t > 1
at end: mean(x^2, over = path) -> "paths.csv"
plot mean(x^2, over = path) against T
"""
    simulation = vphi.load(text).start("native")
    simulation.step(3)
    T = numpy.asarray(simulation["T"])
    assert sorted(set(T)) == [0.1, 0.2] and T.size == 6
    assert numpy.allclose(simulation["x*T"], numpy.asarray(simulation["x"])*T)
    with pytest.raises(vphi.UsageError, match="average"):
        simulation["mean(x, over = path)"]
