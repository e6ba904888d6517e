"""What goes wrong comes as an exception that says where, by which rule, and what to do."""

import signal
import threading

import pytest

import vphi

WAVE = """model wave "A wave"
param m = 1
lattice box: 32, length = 10, boundary = periodic
field phi: real
potential V = m^2*phi^2/2
init phi = cos(2*pi*x/10)
init phi' = 0
evolve leapfrog, dt = 0.02, until = t > 100
every 10 steps: mean(phi^2), t -> "out.csv"
"""


def test_mistake_in_a_model_has_its_place():
    with pytest.raises(vphi.ModelError) as caught:
        vphi.load(WAVE.replace("m^2*phi^2/2", "m^2*chi^2/2"), name="cell")
    error = caught.value
    assert error.line == 5 and error.source == "cell"
    assert error.column == 19
    assert error.code.startswith("E01")
    assert "chi" in error.message
    assert "cell:5:19" in str(error)
    assert [d.code for d in error.diagnostics if d.severity == "error"] == [error.code]


def test_change_of_what_is_no_parameter():
    with pytest.raises(vphi.ModelError) as caught:
        vphi.load(WAVE, set={"n": 2})
    assert "n" in caught.value.message


def test_no_such_model_names_a_near_one():
    with pytest.raises(vphi.UsageError) as caught:
        vphi.load("preheatin")
    assert caught.value.code == "E0810"
    assert "preheating" in caught.value.fix


def test_state_that_breaks():
    text = WAVE.replace("m^2*phi^2/2", "-phi^4").replace("cos(2*pi*x/10)", "30*cos(2*pi*x/10)")
    with pytest.raises(vphi.RunError) as caught:
        vphi.load(text).run("native")
    assert caught.value.code in ("E0801", "E0806", "E0816")
    assert caught.value.fix


def test_broken_state_knows_its_step():
    text = WAVE.replace("m^2*phi^2/2", "-phi^4").replace("cos(2*pi*x/10)", "30*cos(2*pi*x/10)")
    text = text.replace("every 10 steps: mean(phi^2), t -> \"out.csv\"\n", "")
    with pytest.raises(vphi.BrokenState) as caught:
        vphi.load(text).run("native")
    assert caught.value.code == "E0801"
    assert "phi" in caught.value.message
    site, line = caught.value.site, caught.value.line
    assert len(site) == 1 and f"at site ({site[0]}" in caught.value.message
    assert "phi" in text.splitlines()[line - 1]


def test_unknown_device():
    with pytest.raises(vphi.DeviceError):
        vphi.load(WAVE).run("cuda:99")


def test_no_end():
    with pytest.raises(vphi.RunError) as caught:
        vphi.load(WAVE.replace(", until = t > 100", "")).run("native")
    assert caught.value.code == "E0804"


def test_unknown_array_names_a_near_one():
    simulation = vphi.load(WAVE).start("native")
    with pytest.raises(vphi.UsageError) as caught:
        simulation.read("phj")
    assert "phi" in caught.value.fix


def test_wrong_shape_and_values_are_refused():
    simulation = vphi.load(WAVE).start("native")
    array = simulation.state[0]
    with pytest.raises(vphi.UsageError):
        simulation.write(array, [1.0, 2.0])
    with pytest.raises(vphi.UsageError):
        simulation.write(array, float("nan"))


@pytest.mark.parametrize("given, says, fix", [
    ({"stepz": 3}, "no argument stepz=", "steps="),
    ({"m": 2}, "no argument m=", "set={'m': 2}"),
    ({"steps": 1.5}, "steps=1.5 is no whole number", "steps=1"),
    ({"steps": True}, "steps=True", "steps=1"),
    ({"steps": -1}, "steps=-1", "steps=1"),
    ({"batch": 0}, "batch=0", "batch=1"),
    ({"threads": -3}, "threads=-3", "threads=1"),
    ({"until": 5}, "until=5 is no text", 'until="t > 10"'),
    ({"precision": 32}, "precision=32", 'precision="f64"'),
    ({"device": 0}, "device=0", 'device="cuda:0"'),
    ({"set": "m=3"}, "set='m=3' is no dictionary", "set={'g': 5e-4}"),
])
def test_argument_that_cannot_be_obeyed(given, says, fix):
    with pytest.raises(vphi.UsageError) as caught:
        vphi.load(WAVE).run(**{"device": "native", "progress": False, **given})
    assert says in str(caught.value) and fix in caught.value.fix


def test_argument_of_a_run_is_none_of_load():
    with pytest.raises(vphi.UsageError, match="`run` and `start` take device="):
        vphi.load(WAVE, device="native")


def test_whole_numbers_of_numpy_are_taken():
    numpy = pytest.importorskip("numpy")
    assert vphi.load(WAVE).run("native", steps=numpy.int64(2)).steps == 2


@pytest.fixture
def interrupts():
    """SIGINT interrupts, also where the shell that started the tests ignores it for them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_interrupt_leaves_a_complete_result(interrupts):
    model = vphi.load(WAVE, until="t > 1e7")
    seen = []

    def progress(step, steps, t, left, rate):
        seen.append(step)
        if len(seen) == 2:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt) as caught:
        model.run("native", progress=progress)
    result = caught.value.result
    assert result.interrupted and result.steps >= seen[-1] > 0
    assert len(result["t"]) > 1


def test_exception_of_a_callback_ends_the_run():
    def progress(*_):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        vphi.load(WAVE).run("native", progress=progress)


def test_second_thread_is_refused():
    inside, go = threading.Event(), threading.Event()

    def progress(*_):
        inside.set()
        go.wait(30)

    simulation = vphi.load(WAVE).start("native", progress=progress)
    worker = threading.Thread(target=simulation.step, args=(5,))
    worker.start()
    assert inside.wait(30)
    with pytest.raises(vphi.InUse):
        simulation.step()
    go.set()
    worker.join()
    assert simulation.step() == 1


def test_finished_run_takes_no_step():
    simulation = vphi.load(WAVE).start("native")
    simulation.step(10)
    simulation.result()
    with pytest.raises(vphi.UsageError):
        simulation.step()
