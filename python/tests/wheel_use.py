"""wheel_use.py SOURCE: the installed package is used, and nothing of the source."""

import pathlib
import sys

import vphi

source = pathlib.Path(sys.argv[1]).resolve()
package = pathlib.Path(vphi.__file__).resolve().parent
assert source not in package.parents, package
assert pathlib.Path(sys.prefix).resolve() in package.parents, package

shipped = {path.stem for path in (source / "models").rglob("*.vphi") if path.parent.name != "std"}
assert set(vphi.models()) == shipped, set(vphi.models()) ^ shipped
result = vphi.load("preheating_quick", lattice="16^3").run("native", steps=16)
assert result.steps == 16 and result["a"][-1] > 1

# Tables are found beside the shipped model that reads them.
assert vphi.load("synge").run("native", steps=1).steps == 1

# What the wheel was built from is not named in it.
for library in (*package.glob("*.so"), package / "vphi"):
    assert str(source / "models").encode() not in library.read_bytes(), library
print("vphi", vphi.__version__, "of", package, "on", result.device)
