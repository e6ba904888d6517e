#!/usr/bin/env python3
"""Writes models/particles/coupling.h5, the matrix that models/particles/network.vphi reads.

    docs/figures/coupling.py models/particles/coupling.h5

A small world (Watts and Strogatz, Nature 393 (1998) 440): 256 bodies on a ring, each bound to the
eight next ones on either side, and every bond moved with the probability 1/4 to a body that is
picked at random. The set `C` is symmetric, 1/16 for a bond and 0 elsewhere, so that the coupling of
a body is K on average. Python's generator gives the same bonds everywhere. For a network of your own
change `bonds` and keep the rest. Needs h5py (pip install h5py).
"""
import random
import sys

import h5py
import numpy

BODIES, SIDE, MOVED = 256, 8, 0.25


def bonds():
    draw = random.Random(1)
    there = {(i, (i + d) % BODIES) for i in range(BODIES) for d in range(1, SIDE + 1)}
    for i, j in sorted(there):
        if draw.random() < MOVED:
            there.remove((i, j))
            while True:
                k = int(draw.random() * BODIES)
                if k != i and not {(i, k), (k, i)} & there:
                    break
            there.add((i, k))
    return there


C = numpy.zeros((BODIES, BODIES), "f4")
for i, j in bonds():
    C[i, j] = C[j, i] = 1 / (2 * SIDE)
with h5py.File(sys.argv[1], "w") as out:
    out.create_dataset("C", data=C, compression="gzip", shuffle=True)
