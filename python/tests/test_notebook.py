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
    assert "table" in seen and "b" not in seen
    assert "ok (" in result._repr_html_()


def test_frame_has_the_series():
    pandas = pytest.importorskip("pandas")
    result = vphi.load(CELL).run("native", steps=30)
    frame = result.frame()
    assert isinstance(frame, pandas.DataFrame) and list(frame.columns) == list(result.keys())
    assert (frame["m*t"].to_numpy() == numpy.asarray(result["m*t"])).all()
