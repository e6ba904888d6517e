"""wheel_content.py WHEEL: the name of a wheel and what lies in it."""

import pathlib
import sys
import zipfile

wheel = pathlib.Path(sys.argv[1])
root = pathlib.Path(__file__).resolve().parents[2]
python, abi, platform = wheel.stem.split("-")[2:]
own = f"cp{sys.version_info[0]}{sys.version_info[1]}"
# From 3.12 on one wheel serves every later Python; before, each has its own.
wanted = ("cp312", "abi3") if sys.version_info >= (3, 12) else (own, own)
assert (python, abi) == wanted, wheel.name
assert platform.startswith(("linux", "manylinux")), wheel.name

with zipfile.ZipFile(wheel) as archive:
    names = set(archive.namelist())
    metadata = next(name for name in names if name.endswith(".dist-info/METADATA"))
    text = archive.read(metadata).decode()
for model in (root / "models").rglob("*"):
    if model.is_file():
        assert f"vphi/models/{model.relative_to(root / 'models')}" in names, model
for file in (root / "python/vphi").glob("*.py*"):
    assert f"vphi/{file.name}" in names, file
assert "vphi/vphi.tmLanguage.json" in names
assert "vphi/py.typed" in names and "vphi/vphi" in names
cores = [name for name in names if name.startswith("vphi/_core.") and name.endswith(".so")]
assert len(cores) == 1 and (abi != "abi3" or cores == ["vphi/_core.abi3.so"]), cores
plugins = sorted(name for name in names if name.startswith("vphi/libvphi_"))
assert not any(name.startswith(("include/", "lib/", "share/", "bin/")) for name in names), names
assert any("license" in name.lower() for name in names)
for extra in ("notebook", "cuda13"):
    assert f"Provides-Extra: {extra}" in text, text
print(wheel.name, f"{wheel.stat().st_size/2**20:.1f} MiB,", len(names), "files,", *plugins)
