#!/usr/bin/env python3
"""Runs the notebooks of examples/ and keeps the last figure of each as docs/figures/notebook_NAME.png.

    docs/figures/notebooks.py [NAME...]

Needs the Python package of vphi, nbclient, ipykernel and matplotlib.
"""

import base64
import pathlib
import sys
import tempfile

import nbclient
import nbformat

ROOT = pathlib.Path(__file__).resolve().parents[2]


def figure(path):
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3",
                                resources={"metadata": {"path": folder}}).execute()
    pictures = [output["data"]["image/png"] for cell in notebook.cells
                for output in cell.get("outputs", ()) if "image/png" in output.get("data", {})]
    return base64.b64decode(pictures[-1])


names = sys.argv[1:] or sorted(path.stem for path in (ROOT / "examples").glob("*.ipynb"))
for name in names:
    png = figure(ROOT / "examples" / f"{name}.ipynb")
    (ROOT / "docs/figures" / f"notebook_{name}.png").write_bytes(png)
    print(name, len(png), "bytes")
