"""A run from Python and one of the command give the same bits, and so do steps one by one."""

import numpy
import pytest

import vphi

# model, what makes it small
CASES = [
    ("preheating_quick", {"lattice": "8^3", "steps": 24}),  # scalars that expand the box
    ("curvaton", {"set": {"sigma0": "1e-4"}, "steps": 12}),
    ("gw", {"lattice": "8^3", "steps": 8}),
    ("kink", {"steps": 40}),  # a chain of sites
    ("wave", {"steps": 40}),
    ("su2", {"lattice": "4^4", "steps": 4}),  # links
    ("u1_2d", {"lattice": "8^2", "steps": 4}),
    ("su2_hmc", {"lattice": "4^4", "steps": 2}),
    ("ising", {"steps": 4}),  # spins
    ("o3", {"steps": 4}),
    ("sod", {"steps": 20}),  # conservation laws
    ("burgers", {"steps": 20}),
    ("smooth_wave", {"steps": 10}),
    ("doublewell", {"steps": 10}),  # noise
    ("geometric", {"steps": 10}),
    ("langevin", {"steps": 10}),
    ("kuramoto", {"steps": 10}),  # particles
    ("hmf", {"steps": 10}),
    ("kepler", {"steps": 10}),
]


def words_of(changes):
    words = []
    for name, value in changes.items():
        if name == "set":
            words += [w for key, text in value.items() for w in ("--set", f"{key}={text}")]
        else:
            words += [f"--{name}", str(value)]
    return words


def shipped(name):
    if name not in vphi.models():
        pytest.fail(f"{name} is no shipped model; there are {', '.join(vphi.models())}")


@pytest.mark.parametrize("name, changes", CASES)
def test_run_is_that_of_the_command(name, changes, command):
    shipped(name)
    expected = command(name, "--device", "native", *words_of(changes))
    result = vphi.load(name, **changes).run("native")
    assert result.steps == expected["steps"]
    assert list(result.keys()) == list(expected["series"].keys())
    for series, rows in expected["series"].items():
        if isinstance(rows, dict):
            ours, theirs = numpy.asarray(result[series]).ravel(), numpy.ravel(rows["values"])
        else:
            ours, theirs = numpy.asarray(result[series]), [row[1] for row in rows]
        theirs = numpy.array([numpy.nan if v is None else v for v in theirs], dtype=float)
        finite = numpy.isfinite(ours)
        assert (finite == numpy.isfinite(theirs)).all(), series
        assert (ours[finite] == theirs[finite]).all(), series


@pytest.mark.parametrize("name, changes", CASES)
def test_steps_one_by_one_are_a_run(name, changes):
    shipped(name)
    model = vphi.load(name, **changes)
    whole, single = model.start("native"), model.start("native")
    whole.run()
    count = 0
    while single.step():
        count += 1
    assert count == whole.steps == single.steps
    assert whole.over and single.over
    for array in whole.state:
        a, b = whole.read(array), single.read(array)
        assert a.tobytes() == b.tobytes(), array
    one, other = whole.result(), single.result()
    for series in one.keys():
        assert numpy.asarray(one[series]).tobytes() == numpy.asarray(other[series]).tobytes()
