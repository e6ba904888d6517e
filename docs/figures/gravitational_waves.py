#!/usr/bin/env python3
"""Draws docs/figures/gw_lphi4.svg from one run of models/cosmology/gw_lphi4.vphi:

    vphi run gw_lphi4 --lattice 128^3 --precision f32 --out gw
    docs/figures/gravitational_waves.py gw docs/figures

and prints the peak at emission and today. Needs numpy, h5py and matplotlib.
"""
import sys

import h5py
import matplotlib

matplotlib.use("svg")
matplotlib.rcParams.update({"svg.fonttype": "none", "font.size": 9, "svg.hashsalt": "vphi"})
import matplotlib.pyplot as plt
import numpy as np

OMEGA = np.sqrt(9e-14) * 2.339383796213256  # sqrt(lambda) phi0, reduced Planck units
Q = 120
RADIATION = 9.3e-6  # h^2 Omega_r today times (g_0/g_*)^(1/3) with g_* about 100
HERTZ = 4e10        # f today in Hz is this times k/(a rho^(1/4)) (Dufaux et al. 2007, eq. 57)


def main():
    run, folder = sys.argv[1:3]
    file = h5py.File(f"{run}/gw_lphi4.h5")
    steps = sorted(filter(str.isdigit, file["spectra/Omega_gw"]))
    series = file["series"]
    figure, axis = plt.subplots(figsize=(6.2, 3.6), layout="constrained")
    colours = plt.cm.viridis(np.linspace(0, 0.9, len(steps)))
    for step, colour in zip(steps, colours):
        table = file["spectra/Omega_gw"][step][:]
        k, density = table[:, 0] / OMEGA, table[:, 2]
        if density.max() < 1e-14:
            continue
        axis.loglog(k, density, color=colour, lw=1.0)
    end = file["spectra/Omega_gw"][steps[-1]]
    table = end[:]
    k, density = table[:, 0] / OMEGA, table[:, 2]
    axis.axvline((Q / (2 * np.pi**2)) ** 0.25, color="0.6", lw=0.8, label=r"$(q/2\pi^2)^{1/4}$")
    axis.set(xlabel=r"$k/(\sqrt{\lambda}\phi_0)$", ylabel=r"$\Omega_{gw}$ at emission",
             ylim=(1e-13, 1e-4))
    axis.legend(frameon=False)
    figure.savefig(f"{folder}/gw_lphi4.svg", metadata={"Date": None})

    a, rho = series["a"][-1], 3 * series["H"][-1] ** 2
    peak = np.argmax(density)
    f = HERTZ * k[peak] * OMEGA / (a * rho**0.25)
    print(f"a = {a:.4g}: peak at k = {k[peak]:.3g} omega, Omega_gw = {density[peak]:.3g}; today "
          f"f = {f:.3g} Hz, h^2 Omega_gw = {RADIATION * density[peak]:.3g}")


if __name__ == "__main__":
    main()
