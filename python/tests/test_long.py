"""What repeated calls leave behind: nothing. VPHI_LONG=1 makes ten thousand, otherwise a thousand."""

import os
import resource

import pytest

import vphi

TEXT = """model pendulum "Any amplitude"
param g = 1
var q: real, p: real
H = p^2/2 - g*cos(q)
init q = 0, p = 1
evolve leapfrog, dt = 0.01, until = t > 0.1
every 5 steps: q -> "pendulum.h5"
"""
CALLS = 10_000 if os.environ.get("VPHI_LONG") else 1_000


def resident():
    """Of this process now, in kB."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS:"))


def grown(work, calls):
    for _ in range(calls // 10):  # what is made once
        work()
    before = resident()
    for _ in range(calls):
        work()
    return resident() - before


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="no /proc")
class TestMemory:
    def test_steps(self):
        sim = vphi.load(TEXT.replace(", until = t > 0.1", "")).start("native")
        assert grown(lambda: sim.step(1), CALLS) < 4_000

    def test_formulas_and_state(self):
        sim = vphi.load(TEXT).start("native")

        def work():
            sim["q + p"]
            sim.write("q", sim.read("q"))

        assert grown(work, CALLS) < 4_000

    def test_mistakes(self):
        def work():
            with pytest.raises(vphi.ModelError):
                vphi.load(TEXT.replace("cos(q)", "cos(r)"))

        assert grown(work, CALLS) < 4_000 + CALLS  # 1 kB each

    def test_runs(self):
        model, at = vphi.load(TEXT, free=["g"]), [0.0]

        def work():
            at[0] += 0.01
            model.run("native", set={"g": at[0]}, progress=False)

        assert grown(work, CALLS // 10) < 8_000

    def test_open_files(self):
        model = vphi.load(TEXT)
        model.run("native", progress=False)
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(20):
            model.run("native", progress=False)
        assert len(os.listdir("/proc/self/fd")) <= before + 2
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] > before
