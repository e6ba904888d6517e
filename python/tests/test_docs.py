"""The Python that the pages show runs, block after block of a page in one session."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("page", ["docs/python.md", "README.md"])
def test_page(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / page).read_text()
    blocks = list(re.finditer(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    assert blocks
    session = {}
    for block in blocks:
        line = text[:block.start()].count("\n") + 1
        exec(compile("\n" * line + block.group(1), str(ROOT / page), "exec"), session)
