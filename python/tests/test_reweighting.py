"""Averages at other couplings against sums over all states of 4 x 4 Ising spins."""

import numpy
import pytest

import vphi
from vphi.reweighting import reweight

ROWS = 4


def states():
    """E = -sum of neighbouring products, and the magnetisation a site, of all 2^16 states."""
    spins = 2*((numpy.arange(2**16)[:, None] >> numpy.arange(16)) & 1) - 1
    grid = spins.reshape(-1, ROWS, ROWS)
    energy = -(grid*numpy.roll(grid, 1, 1) + grid*numpy.roll(grid, 1, 2)).sum(axis=(1, 2))
    return energy.astype(float), grid.mean(axis=(1, 2))


def exact(coupling):
    energy, m = states()
    w = numpy.exp(-coupling*(energy - energy.min()))
    z = w.sum()
    return {"energy": (w*energy).sum()/z, "m2": (w*m**2).sum()/z, "m4": (w*m**4).sum()/z,
            "log_z": numpy.log(z) - coupling*energy.min()}


def drawn(couplings, count, seed=1):
    """Independent samples of the exact distribution: energies and m^2, [run][time]."""
    energy, m = states()
    random = numpy.random.default_rng(seed)
    runs = []
    for k in couplings:
        w = numpy.exp(-k*(energy - energy.min()))
        runs.append(random.choice(len(w), count, p=w/w.sum()))
    return [energy[r] for r in runs], [m[r]**2 for r in runs]


@pytest.mark.parametrize("couplings", [[0.4], [0.25, 0.4, 0.55]])
def test_independent_samples(couplings):
    energy, m2 = drawn(couplings, 20000)
    at = numpy.array([0.36, 0.4, 0.44])
    found = reweight(m2, energy, at, couplings=couplings)
    wanted = numpy.array([exact(k)["m2"] for k in at])
    assert (numpy.abs(found.mean - wanted) < 4*found.error).all()
    assert (found.error < 0.006).all() and (found.error > 0).all()
    assert (found.effective > 5000).all()
    first = exact(couplings[0])["log_z"]
    log_z = numpy.array([exact(k)["log_z"] for k in at]) - first
    numpy.testing.assert_allclose(found.log_z, log_z, atol=0.02)


def test_all_states_are_exact():
    """Every state once is the sample of K = 0: reweighting is then a sum over states."""
    energy, m = states()
    order = numpy.random.default_rng(3).permutation(len(energy))
    energy, m = energy[order], m[order]
    found = reweight(([m**2], [m**4]), [energy], [0.2, 0.44], couplings=[0],
                          function=lambda m2, m4: 1 - m4/(3*m2**2))
    for k, value in zip([0.2, 0.44], found.mean):
        e = exact(k)
        assert value == pytest.approx(1 - e["m4"]/(3*e["m2"]**2), rel=1e-12)


def test_errors_are_as_large_as_the_scatter():
    deviations = []
    for seed in range(24):
        energy, m2 = drawn([0.3, 0.5], 1000, seed)
        found = reweight(m2, energy, [0.4], couplings=[0.3, 0.5])
        deviations.append(float((found.mean[0] - exact(0.4)["m2"])/found.error[0]))
    assert 0.4 < numpy.mean(numpy.square(deviations)) < 2


def test_what_cannot_be_done():
    energy, m2 = drawn([0.3, 0.5], 400)
    with pytest.raises(ValueError, match="too little in common"):
        reweight([[0.0]*50]*2, [[0.0]*50, [3000.0]*50], [1], couplings=[-1, 1])
    with pytest.raises(ValueError, match="couplings"):
        reweight(m2, energy, [0.4])
    with pytest.raises(ValueError, match="no axis `K`"):
        reweight(m2, energy, [0.4], along="K")
    with pytest.raises(ValueError, match="samples of 2 runs"):
        reweight(m2, energy, [0.4], couplings=[0.3])
    with pytest.raises(ValueError, match="shapes differ"):
        reweight([m2[0][1:], m2[1]], energy, [0.4], couplings=[0.3, 0.5])
    with pytest.raises(ValueError, match="not finite"):
        reweight([m2[0]*numpy.nan, m2[1]], energy, [0.4], couplings=[0.3, 0.5])
    with pytest.raises(ValueError, match="too few"):
        reweight([m2[0][:30], m2[1]], [energy[0][:30], energy[1]], [0.4], couplings=[0.3, 0.5])


def test_a_run_with_exchange():
    model = vphi.load("""model tempering "Ising spins on 4^2"
sweep K = [0.25, 0.4, 0.55]
sweep chain = 1..4
lattice torus: 4^2
field s: int, values = [-1, 1]
E = -total(sum(s*s@k, k))
m2 = mean(s)^2
action S = -K*sum(s*s@k, k)
sample heatbath, sweeps = 3000, exchange = K
init s ~ hot
every 1 sweep, after = sweep > 50: E, m2 -> "tempering.h5"
""")
    result = model.run("native")
    found = reweight(result["m2"], result["E"], [0.3, 0.44], along="K")
    wanted = numpy.array([exact(k)["m2"] for k in [0.3, 0.44]])
    assert (numpy.abs(found.mean - wanted) < 4*found.error).all()
    assert (found.error < 0.01).all()
