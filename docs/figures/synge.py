#!/usr/bin/env python3
"""Writes models/hydro/synge.txt, the equation of state of a gas of particles with mass, and prints
the exact solution of the shock tube in models/hydro/synge.vphi.

    docs/figures/synge.py models/hydro/synge.txt

A gas of free classical particles (Synge, The Relativistic Gas, 1957) in units of their mass:
p = n*T, (e + p)/n = K3(1/T)/K2(1/T), K the modified Bessel functions. So e/n - 1 is a function of T
alone, and T of e/n - 1 has no closed form. The table has T/(e/n - 1), which falls from 2/3 where the
gas is cold to 1/3 where it is hot, against log(e/n - 1). Nothing but Python is needed.
"""
import math
import sys


def bessel(order, z):
    """exp(z) K_order(z), the integral of exp(-z (cosh t - 1)) cosh(order t) over t > 0."""
    top = math.acosh(1 + 745 / z)
    steps = 400  # the trapezoid converges exponentially here
    h = top / steps
    total = 0.5
    for i in range(1, steps):
        t = i * h
        total += math.exp(-z * (math.cosh(t) - 1)) * math.cosh(order * t)
    return total * h


def enthalpy(t):
    return bessel(3, 1 / t) / bessel(2, 1 / t)


def inner(t):
    """e/n - 1"""
    return enthalpy(t) - t - 1


def temperature(y):
    """Where e/n - 1 is y, by bisection."""
    low, high = y / 3, y * 2 / 3
    for _ in range(60):
        t = (low + high) / 2
        low, high = (t, high) if inner(t) < y else (low, t)
    return (low + high) / 2


def table(path):
    with open(path, "w") as out:
        out.write("# Gas of free particles of mass 1 (Synge): log(e/n - 1), p/(e - n).\n")
        out.write("# Made by docs/figures/synge.py.\n")
        rows, first, last = 128, math.log(1e-3), math.log(1e3)
        for i in range(rows + 1):
            x = first + (last - first) * i / rows
            y = math.exp(x)
            out.write(f"{x:.15g} {temperature(y) / y:.12g}\n")


class Gas:
    def __init__(self, n, t, v=0.0):
        self.n, self.t, self.v = n, t, v
        self.p, self.h = n * t, enthalpy(t)
        self.e = n * self.h - self.p


def isentrope(t):
    """n at a temperature, up to a factor: T K2(1/T) exp(K3/(T K2))."""
    return t * bessel(2, 1 / t) * math.exp((enthalpy(t) - 1) / t)


def expanded(left, t):
    n = left.n * isentrope(t) / isentrope(left.t)
    return Gas(n, t)


def sound(left, t):
    d = 1e-4 * t
    a, b = expanded(left, t - d), expanded(left, t + d)
    return math.sqrt((b.p - a.p) / (b.e - a.e))


def fan(left, t, steps=200):
    """The left state expanded to temperature t: d(atanh v) = -c dn/n (Simpson)."""
    total = 0.0
    # in the logarithm of T
    a, b = math.log(t), math.log(left.t)
    h = (b - a) / steps

    def slope(x):
        d = 1e-4
        up, down = isentrope(math.exp(x + d)), isentrope(math.exp(x - d))
        return sound(left, math.exp(x)) * (math.log(up) - math.log(down)) / (2 * d)

    for i in range(steps + 1):
        w = 1 if i in (0, steps) else 4 if i % 2 else 2
        total += w * slope(a + i * h)
    gas = expanded(left, t)
    gas.v = math.tanh(total * h / 3)
    return gas


def behind_shock(right, p):
    low, high = right.t, 1e3
    for _ in range(60):
        t = math.sqrt(low * high)
        h, n = enthalpy(t), p / t
        taub = h * h - right.h ** 2 - (right.h / right.n + h / n) * (p - right.p)
        low, high = (t, high) if taub < 0 else (low, t)
    t = math.sqrt(low * high)
    gas = Gas(p / t, t)
    j = math.sqrt((p - right.p) / (right.h / right.n - gas.h / gas.n))
    speed = j / math.hypot(right.n, j)
    w = 1 / math.sqrt(1 - speed ** 2)
    gas.v = w * (p - right.p) / j / (right.h + (p - right.p) / right.n)
    return gas, speed


def tube(left, right):
    low, high = right.t, left.t
    for _ in range(40):
        t = (low + high) / 2
        gas = fan(left, t, 40)
        if gas.p <= right.p or gas.v > behind_shock(right, gas.p)[0].v:
            low = t
        else:
            high = t
    gas = fan(left, (low + high) / 2, 400)
    behind, speed = behind_shock(right, gas.p)
    print(f"p* = {gas.p:.8f}  v* = {gas.v:.8f} (shock: {behind.v:.8f})  shock = {speed:.8f}")
    print(f"n* = {gas.n:.8f} left, {behind.n:.8f} right; e* = {gas.e:.8f}, {behind.e:.8f}")
    print(f"e_left = {left.e:.12g}, e_right = {right.e:.12g}")


if __name__ == "__main__":
    table(sys.argv[1])
    tube(Gas(1, 1), Gas(0.1, 0.1))
