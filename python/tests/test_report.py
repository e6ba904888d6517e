"""The page of a run."""

import copy
import re

import pytest

import vphi

MODEL = """## A field that <b>relaxes</b>.
model relaxing "Diffusion on a ring"
param D = 0.5
lattice ring: 32, length = 2*pi, boundary = periodic
field u: real
u' = D*lap(u)
init u = 1 + cos(x)
evolve rk4, dt = 0.01, until = t > 1
every 10 steps: mean(u), max(u) -> "out.h5"
expect abs(mean(u) - 1) < 1e-9
"""


def test_page_has_the_facts_of_the_run(tmp_path):
    result = vphi.load(MODEL, set={"D": 0.25}).run("native")
    page = result.report()
    assert page.html.startswith("<!") and "Diffusion on a ring" in page.html
    assert "<b>relaxes</b>" not in page.html            # text of a model never is HTML
    assert "abs(mean(u) - 1)" in page.html and "0.25" in page.html
    assert not re.search(r"(src|href)=.https?://(?!doi)", page.html)  # nothing is loaded
    page.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page.html
    frame = page._repr_html_()
    assert frame.startswith("<iframe srcdoc=") and frame.count("<") == 2


def test_page_of_a_changed_run_says_so():
    sim = vphi.load(MODEL).start("native")
    sim.step(20)
    sim.set(D=2)
    sim.step(20)
    assert "D = 2 from step 20" in sim.result().report().html


def test_copies_have_numbers_and_no_page():
    result = vphi.load(MODEL, steps=5).run("native")
    again = copy.deepcopy(result)
    assert (again["max(u)"].values == result["max(u)"].values).all()
    with pytest.raises(vphi.UsageError, match="no page"):
        again.report()
