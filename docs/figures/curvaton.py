#!/usr/bin/env python3
"""Draws docs/figures/curvaton_folds.svg from one sweep:

    vphi run curvaton_folds --device cuda --lattice 32^3 --set draw=1..8 --set "Hend=2.2e-3*m" --out folds
    docs/figures/curvaton.py folds docs/figures

The line is the closed form of a curvaton that is dust in radiation: on a slice of fixed H,
dN = 2 f/(4 - f) dln(sigma0), f = f0 a/(1 + f0 (a - 1)), f0 the curvaton's share at the start. Needs
numpy, h5py and matplotlib.
"""
import sys

import h5py
import matplotlib

matplotlib.use("svg")
matplotlib.rcParams.update({"svg.fonttype": "none", "font.size": 9, "svg.hashsalt": "vphi"})
import matplotlib.pyplot as plt
import numpy as np

M, RHO_R = 1e-8, 1e-20 / 4  # of the model, reduced Planck units


def main():
    run, folder = sys.argv[1:3]
    file = h5py.File(f"{run}/curvaton.h5")
    sigma, folds = file["axes/sigma0"][:], file["series/folds"][-1]
    mean, error = folds.mean(axis=1), folds.std(axis=1, ddof=1) / np.sqrt(folds.shape[1])
    middle = len(sigma) // 2
    quiet = np.median(folds, axis=1)  # most draws have not felt the resonance
    share = M**2 * sigma[middle] ** 2 / 2 / RHO_R
    share /= 1 + share
    a = np.exp(quiet[middle])
    late = share * a / (1 + share * (a - 1))
    slope = 2 * late / (4 - late)  # dN/dln(sigma0)
    line = quiet[middle] + slope * np.log(sigma / sigma[middle])
    figure, (above, below) = plt.subplots(2, 1, figsize=(6.2, 4.4), sharex=True, layout="constrained")
    base = quiet[middle]
    above.errorbar(sigma * 1e4, (mean - base) * 1e5, error * 1e5, fmt="o", ms=3, lw=1, color="#1b6ca8",
                   label=f"mean of {folds.shape[1]} draws")
    above.plot(sigma * 1e4, (line - base) * 1e5, color="#c1440e", lw=1, label="dust in radiation")
    above.set_ylabel("(N - N(2e-4)) 1e5")
    above.legend(frameon=False)
    below.plot(sigma * 1e4, (folds - line[:, None]) * 1e6, ".", ms=3, color="#1b6ca8")
    below.axhline(0, color="#c1440e", lw=1)
    below.set_ylabel("single draws, off the line, 1e6")
    below.set_xlabel("sigma0, 1e-4 reduced Planck masses")
    figure.savefig(f"{folder}/curvaton_folds.svg", metadata={"Date": None})
    fitted = np.polyfit(np.log(sigma), quiet, 1)[0]
    print(f"dN/dln(sigma0): {fitted:.4e} measured, {slope:.4e} expected; "
          f"draws more than 1e-6 below the line: {(folds - line[:, None] < -1e-6).sum()} of {folds.size}")


if __name__ == "__main__":
    main()
