#!/usr/bin/env python3
"""Writes gold.txt: radii of nucleons in a nucleus of gold against their share.

    docs/figures/nucleons.py gold.txt

A share u of the nucleons lies within the radius r, for the density 1/(1 + exp((r - R)/skin)) of Woods
and Saxon. A number u that is drawn between 0 and 1 gives the radius of a nucleon
(docs/viscous.md). For another nucleus
change R and skin.
"""
import math
import sys

R, skin = 6.38, 0.535  # fm, gold
STEP, ROWS, PARTS = 0.025, 560, 20


def shell(r):
    return r * r / (1 + math.exp((r - R) / skin))


within = [0.0]
for i in range(ROWS):
    h = STEP / PARTS  # Simpson's rule
    at = [i * STEP + j * h for j in range(PARTS + 1)]
    odd, even = sum(map(shell, at[1:-1:2])), sum(map(shell, at[2:-1:2]))
    within.append(within[-1] + h / 3 * (shell(at[0]) + 4 * odd + 2 * even + shell(at[-1])))
with open(sys.argv[1], "w") as out:
    out.write("# share of the nucleons of gold within r, and r in fm\n")
    for i, share in enumerate(within):
        out.write(f"{share / within[-1]:.13g} {i * STEP:.6g}\n")
