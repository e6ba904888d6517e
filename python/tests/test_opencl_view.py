"""Views on device opencl, taken by pyopencl."""

import numpy
import pytest

import vphi

TEXT = """model wave "A wave"
lattice box: 8*4, length = 10, boundary = periodic
field phi: real
potential V = phi^2/2
init phi = cos(2*pi*x/10)
evolve leapfrog, dt = 0.02
every 10 steps: mean(phi^2) -> "out.h5"
"""


@pytest.fixture
def sim():
    try:
        return vphi.load(TEXT, precision="f32").start("opencl")
    except vphi.DeviceError as error:
        pytest.skip(f"no OpenCL device: {error.message}")


def test_pyopencl_reads_and_writes_the_state(sim):
    pyopencl = pytest.importorskip("pyopencl")
    for steps in (1, 2):  # the present copy is another one each time
        sim.step(steps)
        with sim.view("phi") as view:
            queue = pyopencl.CommandQueue.from_int_ptr(view.cl_queue)
            assert queue.context == pyopencl.Context.from_int_ptr(view.cl_context)
            memory = pyopencl.MemoryObject.from_int_ptr(view.cl_mem)
            found = numpy.empty(view.shape, view.dtype)
            pyopencl.enqueue_copy(queue, found, memory)
            assert (found == sim.read("phi")).all()
            pyopencl.enqueue_copy(queue, memory, 2*found)
            with pytest.raises(vphi.InUse):
                sim.step(1)
        assert (sim.read("phi") == 2*found).all()


def test_other_libraries_hear_of_pyopencl(sim):
    view = sim.view("phi")
    for use in (lambda: numpy.asarray(view), lambda: view[0], lambda: numpy.from_dlpack(view)):
        with pytest.raises(vphi.UsageError) as caught:
            use()
        assert "OpenCL" in caught.value.message and "cl_mem" in caught.value.fix
    assert not hasattr(view, "__cuda_array_interface__")
    del use, caught
    with view:
        pass
    del view
    assert sim.step(1) == 1


def test_a_view_of_the_host_is_none_of_opencl():
    sim = vphi.load(TEXT).start("native")
    view = sim.view("phi")
    assert not any(hasattr(view, name) for name in ("cl_mem", "cl_context", "cl_queue"))
    with view:
        pass
    with pytest.raises(vphi.InUse):
        view.cl_mem
