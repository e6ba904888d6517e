"""Reads an XDMF file and the HDF5 file beside it with lxml and h5py, as a viewer would, and stops at
the first thing that does not agree: references, shapes, precision, mesh against the axes' own
coordinates, order of times. Prints one line for each collection."""
import os
import sys

import h5py
import numpy as np
from lxml import etree

path = sys.argv[1]
root = etree.parse(path).getroot()
assert root.tag == "Xdmf" and root.get("Version") == "3.0"


def numbers(item):
    values = np.array(item.text.split(), float)
    assert values.size == int(item.get("Dimensions")), "a DataItem of another length"
    return values


lines = []
for collection in root.find("Domain"):
    assert collection.get("GridType") == "Collection"
    assert collection.get("CollectionType") == "Temporal"
    times, arrays = [], 0
    for grid in collection:
        times.append(float(grid.find("Time").get("Value")))
        topology, geometry = grid.find("Topology"), grid.find("Geometry")
        nodes = [int(n) for n in topology.get("Dimensions").split()]
        assert topology.get("TopologyType") == f"{len(nodes)}DCoRectMesh"
        assert geometry.get("GeometryType") == {2: "ORIGIN_DXDY", 3: "ORIGIN_DXDYDZ"}[len(nodes)]
        origin, spacing = [numbers(item) for item in geometry]
        assert len(origin) == len(spacing) == len(nodes)
        for attribute in grid.findall("Attribute"):
            item = attribute.find("DataItem")
            file, link = item.text.split(":", 1)
            with h5py.File(os.path.join(os.path.dirname(path), file)) as data:
                array = data[link]
                shape = [int(n) for n in item.get("Dimensions").split()]
                assert list(array.shape) == shape, (link, array.shape, shape)
                assert np.prod(shape) == np.prod(nodes)
                assert array.dtype.itemsize == int(item.get("Precision"))
                assert array.attrs["name"] == attribute.get("Name")
                assert abs(array.attrs["t"] - times[-1]) < 1e-12
                assert np.isfinite(array[()]).all()
                for axis, scale in enumerate(array.dims):
                    x = scale[0][()]
                    k = axis + len(nodes) - len(shape)
                    want = origin[k] + spacing[k] * np.arange(nodes[k])
                    assert len(x) == nodes[k] and np.allclose(x, want, atol=1e-12), (link, axis)
                    assert scale[0].attrs["CLASS"] == b"DIMENSION_SCALE"
            arrays += 1
    assert times == sorted(times) and len(set(times)) == len(times)
    lines.append(f"{collection.get('Name')}: times {' '.join(f'{t:g}' for t in times)}, arrays {arrays}")
print("\n".join(sorted(lines)))
