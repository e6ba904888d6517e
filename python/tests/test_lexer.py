"""Pygments colours models by the rules of the editors' grammar."""

import pathlib

import pytest

pytest.importorskip("pygments")
from pygments.lexers import get_lexer_by_name, get_lexer_for_filename  # noqa: E402
from pygments.token import Comment, Error, Keyword, Name, Number, Operator, String  # noqa: E402

from vphi.lexer import VphiLexer, token  # noqa: E402

MODELS = sorted((pathlib.Path(__file__).resolve().parents[2] / "models").rglob("*.vphi"))


def tokens(text):
    return [(kind, word) for kind, word in VphiLexer().get_tokens(text) if word.strip()]


def test_lines_of_a_model():
    found = tokens('lattice box: 64^3, length = 2.5 ## its size\n'
                   "phi'' = lap(phi) if t > 1 else 0\n"
                   'every 2 steps: mean(phi) -> "a.h5"\n')
    for pair in ((Keyword, "lattice"), (Number, "64"), (Comment.Special, "## its size"),
                 (Name.Function, "phi"), (Operator, "''"), (Name.Builtin, "lap"),
                 (Operator.Word, "if"), (Keyword, "every"), (Name.Builtin, "mean"),
                 (Operator, "->"), (String.Double, '"a.h5"')):
        assert pair in found, (pair, found)
    # A name of a clause that is given a value is a name.
    assert (Keyword, "field") not in tokens("field = 2\n")
    assert (Keyword, "field") in tokens("  field u: real\n")


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_shipped_models_are_covered(path):
    text = path.read_text()
    found = list(VphiLexer(stripnl=False, ensurenl=False).get_tokens(text))
    assert "".join(word for _, word in found) == text
    assert not any(kind is Error for kind, _ in found)
    first = next((word for kind, word in found if kind is Keyword), None)
    if first is None:  # functions of the library
        assert path.parent.name == "std"
        assert (Operator, "=") in found
    else:
        assert first in ("model", "stencil", "integrator", "scheme", "solver")


def test_a_scope_without_a_colour_is_refused():
    with pytest.raises(KeyError):
        token("nothing.known")


def test_pygments_finds_it():
    try:
        assert get_lexer_by_name("vphi").name == "vphi"
    except Exception:
        from importlib.metadata import PackageNotFoundError, distribution

        try:
            distribution("vphi")
        except PackageNotFoundError:
            pytest.skip("the package is not installed: PYTHONPATH names its folder")
        raise
    assert get_lexer_for_filename("wave.vphi").name == "vphi"
