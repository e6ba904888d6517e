#!/usr/bin/env python3
"""Draws docs/figures/preheating_*.svg from two runs of models/cosmology/preheating_figures.vphi:

    vphi run models/cosmology/preheating_figures.vphi --lattice 128^3 --out fig128
    vphi run models/cosmology/preheating_figures.vphi --lattice 256^3 --out fig256
    docs/figures/preheating.py fig128 fig256 docs/figures

Needs numpy, h5py and matplotlib.
"""
import sys

import h5py
import matplotlib

matplotlib.use("svg")
matplotlib.rcParams.update({"svg.fonttype": "none", "font.size": 9, "svg.hashsalt": "vphi"})
import matplotlib.pyplot as plt
import numpy as np

M = 5e-6  # mass of the inflaton


def series(file, name):
    return file["series"][name][:]


def evolution(files, path):
    figure, axes = plt.subplots(3, 1, figsize=(6.2, 7.2), layout="constrained")
    for n, file, colour in files:
        t, a = series(file, "t") * M, series(file, "a")
        axes[0].plot(a[1::2], series(file, "expansion")[1::2], colour, lw=0.9, label=f"{n}$^3$")
        axes[1].semilogy(a[1::4], np.abs(series(file, "curvature"))[1::4], colour, lw=0.5)
        axes[2].plot(t[1::2], series(file, "w")[1::2], colour, lw=0.6)
    axes[0].set(xlabel="a", ylabel="$m/(a^{3/2}H)$")
    axes[0].legend(frameon=False)
    axes[1].set(xlabel="a", ylabel="$|\\langle\\rho\\rangle/(3H^2) - 1|$")
    axes[2].set(xlabel="m t", ylabel="w")
    figure.savefig(path, metadata={"Date": None})


def density(file, path):
    figure, axes = plt.subplots(1, 4, figsize=(9, 2.6), layout="constrained")
    group = file["slices/log_density"]
    for axis, (step, label) in zip(axes, [(0, 0), (65536, 64), (131072, 128), (262145, 256)]):
        names = sorted(filter(str.isdigit, group), key=int)
        name = min(names, key=lambda s: abs(int(s) - step))
        values = group[name][:] / np.log(10)
        picture = axis.imshow(values[::3, ::3], cmap="viridis", origin="lower")
        axis.set(title=f"m t = {label}", xticks=[], yticks=[])
        figure.colorbar(picture, ax=axis, orientation="horizontal", shrink=0.9)
    figure.savefig(path, metadata={"Date": None})


def main():
    small, large, out = sys.argv[1:4]
    with h5py.File(f"{small}/preheating_figures.h5") as a, h5py.File(
        f"{large}/preheating_figures.h5"
    ) as b:
        evolution([(128, a, "tab:green"), (256, b, "tab:blue")], f"{out}/preheating_evolution.svg")
        density(b, f"{out}/preheating_density.svg")


main()
