#!/usr/bin/env python3
"""Draws docs/figures/bands.svg: growth of occupation numbers beside Floquet exponents.

    for q in 1 2; do vphi run bands --set q=$q --out bands$q; done
    docs/figures/bands.py bands1 bands2 docs/figures

The exponents are computed here: solutions of the mode equation over one period of phi, and the larger
root of their matrix. Prints the largest difference. Needs numpy, h5py and matplotlib.
"""
import sys

import h5py
import matplotlib

matplotlib.use("svg")
matplotlib.rcParams.update({"svg.fonttype": "none", "font.size": 9, "svg.hashsalt": "vphi"})
import matplotlib.pyplot as plt
import numpy as np

OMEGA = 1e-6                 # sqrt(lambda) phi0
PERIOD = 7.4162987092054877  # of phi in units of 1/OMEGA
FIRST = 3                    # outputs before this one still hold the decaying solution


def exponents(q, kappa2, steps=4000):
    """chi'' + (kappa^2 + q phi^2) chi = 0 beside phi'' + phi^3 = 0, by Runge-Kutta over one period."""
    def rate(y):
        phi, force = y[0], -(kappa2 + q * y[0] ** 2)
        return np.array([y[1], -phi ** 3, y[3], force * y[2], y[5], force * y[4]])
    y = np.zeros((6, len(kappa2)))
    y[0], y[2], y[5] = 1, 1, 1
    h = PERIOD / steps
    for _ in range(steps):
        k1 = rate(y)
        k2 = rate(y + h / 2 * k1)
        k3 = rate(y + h / 2 * k2)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + rate(y + h * k3))
    return np.arccosh(np.maximum(1, np.abs(y[2] + y[5]) / 2)) / PERIOD


def growth(run):
    numbers = h5py.File(f"{run}/bands.h5")["occupations"]
    outputs = numbers[list(numbers)[0]]
    steps = sorted(filter(str.isdigit, outputs))
    early, late = outputs[steps[FIRST]][:], outputs[steps[-1]][:]
    span = PERIOD * (len(steps) - 1 - FIRST)
    return (early[:, 0] / OMEGA) ** 2, np.log(late[:, 1] / early[:, 1]) / (2 * span)


def main():
    *runs, folder = sys.argv[1:]
    figure, axis = plt.subplots(figsize=(6.2, 3.4), layout="constrained")
    for q, (run, colour) in enumerate(zip(runs, ("#1b6ca8", "#c1440e")), start=1):
        kappa2, rate = growth(run)
        shown = kappa2 < 2.2
        fine = np.linspace(0, 2.2, 221)
        axis.plot(fine, exponents(q, fine), color=colour, lw=1, label=f"q = {q}")
        axis.plot(kappa2[shown], rate[shown], "o", ms=3, color=colour)
        expected = exponents(q, kappa2[shown])
        strong = expected > 0.3 * expected.max()
        print(f"q = {q}: {strong.sum()} shells in the band, mu up to {rate.max():.4f}; largest "
              f"difference {np.abs(rate[shown] - expected)[strong].max():.4f}")
    axis.set_xlabel("k^2 / (lambda phi0^2)")
    axis.set_ylabel("growth of ln(n)/2 per 1/(sqrt(lambda) phi0)")
    axis.legend(frameon=False)
    figure.savefig(f"{folder}/bands.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
