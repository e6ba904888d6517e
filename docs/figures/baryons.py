#!/usr/bin/env python3
"""Writes models/hydro/baryons.h5, the pressure of matter with baryons, and prints the exact tube.

    docs/figures/baryons.py models/hydro/baryons.h5

Massless quarks of three flavours and gluons with a vector field that adds K n^2/2 to energy density
and pressure, K = 5 fm^2: p = eps/3 + K n^2/3. Of the two nested sets `fine` holds small densities.
Units are powers of fm. The tube is that of models/hydro/baryons.vphi, solved without the table: on the
left an isentropic fan, d(eps)/(eps + p) = d(n)/n and dv/(1 - v^2) = -dp/((eps + p) c), integrated in the
pressure; on the right Taub's adiabat. T and mu are those of P = T^4 f(mu/T), n = T^3 f', by halving.
Needs h5py (pip install h5py).
"""
import math
import sys

import h5py
import numpy

K = 5.0


def pressure(eps, n):
    return eps / 3 + K * n**2 / 3


def write(name):
    with h5py.File(name, "w") as out:
        for part, e_most, n_most, e_count, n_count in (("fine", 2, 0.5, 21, 51), ("wide", 20, 2.5, 41, 101)):
            eps, n = numpy.linspace(0, e_most, e_count), numpy.linspace(0, n_most, n_count)
            out[part + "_eps"], out[part + "_n"] = eps, n
            out[part] = pressure(eps[:, None], n[None, :])
            out[part].attrs["axes"] = f"{part}_eps, {part}_n"


def fan(left, p_end, steps=4000):
    """Matter at rest expanded to the pressure p_end, by Runge and Kutta in p."""

    def slopes(state):
        eps, n, _ = state
        h = eps + pressure(eps, n)
        c2 = 1 / 3 + 2 * K * n**2 / (3 * h)
        return numpy.array([1 / c2, n / (h * c2), -1 / (h * math.sqrt(c2))])  # the last of artanh v

    state, dp = numpy.array([*left, 0.0]), (p_end - pressure(*left)) / steps
    for _ in range(steps):
        a = slopes(state)
        b = slopes(state + dp / 2 * a)
        c = slopes(state + dp / 2 * b)
        state = state + dp / 6 * (a + 2 * b + 2 * c + slopes(state + dp * c))
    return state[0], state[1], math.tanh(state[2])


def shocked(right, p):
    """Matter at rest behind a shock of pressure p: eps, n, v and the speed of the shock."""
    e1, n1 = right
    p1 = pressure(e1, n1)
    low, high = e1, 3 * p
    for _ in range(200):
        e = (low + high) / 2
        n = math.sqrt(max(3 * p - e, 0) / K)
        left = ((e + p) * n1) ** 2 - ((e1 + p1) * n) ** 2
        taub = left - (p - p1) * ((e1 + p1) * n**2 + (e + p) * n1**2)
        low, high = (e, high) if taub < 0 else (low, e)
    v = math.sqrt((p - p1) * (e - e1) / ((e1 + p) * (e + p1)))
    front = math.sqrt((p - p1) * (e + p1) / ((e - e1) * (e1 + p)))
    return e, n, v, front


def temperature(eps, n):
    """T and mu of quarks and gluons with what is left of the energy."""
    f = lambda z: 19 * math.pi**2 / 36 + z**2 / 6 + z**4 / (108 * math.pi**2)
    slope = lambda z: z / 3 + z**3 / (27 * math.pi**2)
    rest = eps - K / 2 * n**2
    low, high = 0.0, 50.0
    for _ in range(200):
        z = (low + high) / 2
        low, high = (z, high) if slope(z) / (3 * f(z)) ** 0.75 < n / rest**0.75 else (low, z)
    T = (rest / (3 * f(z))) ** 0.25
    return T, z * T


if __name__ == "__main__":
    write(sys.argv[1])
    left, right = (10.0, 1.0), (1.0, 0.15)
    low, high = pressure(*right), pressure(*left)
    for _ in range(60):
        p = (low + high) / 2
        low, high = (p, high) if fan(left, p)[2] > shocked(right, p)[2] else (low, p)
    e_3, n_3, v = fan(left, p)
    e_4, n_4, _, front = shocked(right, p)
    print(f"p = {p:.8f}, v = {v:.8f}, the shock runs with {front:.8f}")
    for side, eps, n in (("left", e_3, n_3), ("right", e_4, n_4)):
        T, mu = temperature(eps, n)
        print(f"{side} of the contact: eps = {eps:.8f}, n = {n:.8f}, T = {T:.8f}, mu = {mu:.8f}")
