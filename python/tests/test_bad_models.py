"""Every model that must fail raises ModelError with the code, the place and the message that are
kept beside it."""

import pathlib
import re

import pytest

import vphi

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "tests" / "language"
# What is refused for several ranks (`# ranks: 2`) is left to test_ranks.py: `check` has one.
MODELS = [path for folder in ("bad", "bad_physics", "bad_compile")
          for path in sorted((FOLDER / folder).glob("*.vphi"))
          if not path.read_text().startswith("# ranks: ")]


def changes_of(text):
    """A first line `# lattice: 0^2` or `# set: m=2` is the option of the command."""
    found = re.match(r"# (lattice|until|set): (.*)\n", text)
    if not found:
        return {}
    option, value = found.groups()
    if option != "set":
        return {option: value}
    name, _, value = value.partition("=")
    return {"set": {name: value}}


def first_error(golden):
    """Code, message, line and column of the first error of a rendered text."""
    code, message = re.search(r"^error\[(\w+)\]: (.*)$", golden, re.MULTILINE).groups()
    after = golden[golden.index(f"error[{code}]"):].split("\n\n")[0]
    place = re.search(r"^ *--> [^\n]*:(\d+):(\d+)$", after, re.MULTILINE)
    return code, message, *(map(int, place.groups()) if place else (0, 0))


@pytest.mark.parametrize("path", MODELS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_bad_model(path, monkeypatch):
    monkeypatch.chdir(path.parent)  # of the tables that a model reads
    text, golden = path.read_text(), path.with_suffix(".txt").read_text()
    with pytest.raises(vphi.ModelError) as caught:
        vphi.load(text, name=path.name, **changes_of(text)).check()
    error = caught.value
    message = error.message.split("\n")[0]
    assert (error.code, message, error.line, error.column) == first_error(golden)
    assert golden.rstrip("\n") in str(error)  # which may add warnings of later stages
