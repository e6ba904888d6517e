"""What a notebook shows and does."""

import html.parser

import numpy
import pytest

import vphi
from vphi.magic import run_cell

CELL = """model free "A <b>free</b> field"
param m = 1
lattice box: 16, length = 10, boundary = periodic
field phi: real
potential V = m^2*phi^2/2
init phi = cos(2*pi*x/10)
init phi' = 0
evolve leapfrog, dt = 0.02
every 10 steps: mean(phi^2), m*t -> "out.csv"
expect mean(phi^2) < 1
"""


class Tags(html.parser.HTMLParser):
    """Opened and closed tags must match."""

    def __init__(self):
        super().__init__()
        self.open, self.seen = [], set()

    def handle_starttag(self, tag, attributes):
        self.seen.add(tag)
        if tag not in ("br", "hr", "meta", "img", "mspace"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag


def tags(text):
    parser = Tags()
    parser.feed(text)
    assert parser.open == []
    return parser.seen


def test_cell_is_run_and_named():
    name, result = run_cell("r --device native --steps 30 --set m=2", CELL)
    assert name == "r" and result.steps == 30
    assert numpy.allclose(result["m*t"], 2 * numpy.asarray(result["m*t"].coords["t"]))
    assert run_cell("--device native --steps 1", CELL)[0] == "result"


@pytest.mark.parametrize("line", ["r --step", "two words", "r --set m", "1r --steps 1"])
def test_words_that_are_not_understood(line):
    with pytest.raises(vphi.UsageError):
        run_cell(line, CELL)


def test_mistake_in_a_cell_is_shown_in_place():
    with pytest.raises(vphi.ModelError) as caught:
        run_cell("r --steps 1", CELL.replace("m^2*phi", "m^2*chi"))
    assert caught.value.line == 5
    assert any("cell:5" in line for line in caught.value._render_traceback_())


def test_extension_binds_the_name():
    pytest.importorskip("IPython")
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "vphi")
    shell.run_cell_magic("vphi", "mine --device native --steps 7", CELL)
    assert shell.user_ns["mine"].steps == 7


def test_html_is_whole_and_escaped():
    model = vphi.load(CELL)
    assert "b" not in tags(model._repr_html_())
    result = model.run("native", steps=30)
    seen = tags(result._repr_html_())
    assert {"table", "svg", "polyline"} <= seen and "b" not in seen


def test_model_shows_equations_stencil_and_costs():
    import json

    model = vphi.load(CELL.replace("</b> field", "</b> field & more"))
    shown = model._repr_html_()
    assert "<math" in shown and "field &amp; more" in shown
    assert "Laplacian" in shown and "leapfrog stable for dt" in shown
    facts = json.loads(model._core.explanation("native"))
    assert facts["kernels"]
    for kernel in facts["kernels"]:
        cells = "".join(f"<td>{kernel[name]}</td>" for name in
                        ("sites", "loads", "stores", "bytes", "flops", "special"))
        assert cells in shown
    assert any(k["bytes"] >= 16 and k["flops"] > 0 for k in facts["kernels"])


def test_model_that_does_not_compile_shows_why():
    shown = vphi.load(CELL.replace("leapfrog", "srk2"))._repr_html_()
    assert "<math" in shown and "srk2" in shown and tags(shown)


def test_result_shows_verdicts_curves_and_speed():
    text = CELL.replace("mean(phi^2) < 1", "mean(phi^2) < 0.01")
    result = vphi.load(text).run("native", steps=30)
    shown = result._repr_html_()
    assert "<td>expect mean(phi^2) &lt; 0.01</td><td>FAILED</td>" in shown
    assert f"<td>{result['m*t'].values[-1]:.8g}</td>" in shown
    assert shown.count("<polyline") == 2 and "site updates/s" in shown
    good = vphi.load(CELL).run("native", steps=30)._repr_html_()
    assert "<td>ok</td>" in good and "FAILED" not in good


def test_speed_is_a_share_of_what_was_measured():
    from vphi.html import speed

    plain = {"site_updates_per_s": 1e9, "bytes_per_site": 20.0, "bandwidth": 40e9}
    assert "50 % of the 40 GB/s" in speed(plain)
    assert "vphi bench" in speed({**plain, "bandwidth": 0})


def test_curve_leaves_out_what_is_no_number():
    from vphi.html import curve

    shown = curve("<x>", [0, 1, 2, 3], [1.0, float("nan"), float("inf"), 3.0])
    assert shown.count(",") == 2 + 1 and "&lt;x&gt;" in shown and tags(shown)
    assert curve("x", [0.0], [1.0]) == "" == curve("x", [0.0, 1.0], [float("nan")]*2)
    long = curve("x", numpy.arange(100_000), numpy.sin(numpy.arange(100_000)))
    assert long.count(",") < 700


def test_frame_has_the_series():
    pandas = pytest.importorskip("pandas")
    result = vphi.load(CELL).run("native", steps=30)
    frame = result.frame()
    assert isinstance(frame, pandas.DataFrame) and list(frame.columns) == list(result.keys())
    assert (frame["m*t"].to_numpy() == numpy.asarray(result["m*t"])).all()
