#!/usr/bin/env python3
"""Draws docs/figures/hydro_NAME.svg: runs of fluids beside their exact solutions.

    docs/figures/hydro.py BUILD/vphi docs/figures

Shipped models and the schemes of their library, 100 cells; the exact curves are closed forms. Needs
nothing but Python and vphi.
"""
import csv
import math
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import models  # noqa: E402  (the axes of the other figures)

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
C, K = 1 / math.sqrt(3), math.sqrt(3) / 4


def profile(vphi, name, changes, options):
    """Points (x, value) at the end of a shipped model, its text changed, and the time there."""
    with open(os.path.join(ROOT, "models", "hydro", name + ".vphi")) as file:
        text = file.read().replace(".h5", ".csv")
    for old, new in changes:
        if old not in text:
            raise SystemExit(f"{name}: no `{old}`")
        text = text.replace(old, new)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, name + ".vphi")
        with open(path, "w") as file:
            file.write(text)
        subprocess.run([vphi, "run", path, "--device", "native", "--quiet", "--no-report", "--out",
                        folder, *options], check=False, capture_output=True)
        with open(os.path.join(folder, name + ".profiles.csv")) as file:
            rows = [r for r in csv.DictReader(file) if r["name"] == "profile(eps)"]
    last = rows[-1]["step"]
    rows = [r for r in rows if r["step"] == last]
    return [(float(r["x"]), float(r["mean"])) for r in rows], float(rows[0]["t"])


def tube(left, right):
    """e(x/t) between matter at rest, p = e/3: fan, plateau, shock."""
    def fan(e):
        return math.tanh(K * math.log(left / e))

    def shock(e):
        r = e / right
        return (r - 1) * math.sqrt(3) / math.sqrt((3 + r) * (3 * r + 1))

    low, high = right, left
    for _ in range(100):
        e = (low + high) / 2
        low, high = (e, high) if fan(e) > shock(e) else (low, e)
    star, r = e, e / right
    v, speed = fan(star), math.sqrt((3 * r + 1) / (3 * (3 + r)))
    tail = (v - C) / (1 - v * C)

    def at(xi):
        if xi <= -C:
            return left
        if xi >= speed:
            return right
        if xi < tail:
            return left * math.exp(-(math.atanh(xi) + math.atanh(C)) / K)
        return star
    return at


def into_vacuum(xi):
    if xi <= -C:
        return 1.0
    if xi >= 1:
        return 0.0
    return ((1 - xi) * (1 - C) / ((1 + xi) * (1 + C))) ** (2 / math.sqrt(3))


def exact(solution, t, low, high, points=800):
    xs = [low + (high - low) * i / points for i in range(points + 1)]
    return [(x, solution(x / t)) for x in xs]


def write(folder, name, curves, label):
    svg = models.draw(curves, label, False).replace(">t</text>", ">x</text>")
    with open(os.path.join(folder, f"hydro_{name}.svg"), "w") as file:
        file.write(svg)


def main():
    vphi, folder = sys.argv[1:3]
    cells = ["--lattice", "100"]
    shasta, t = profile(vphi, "sod", [], cells)
    kt, _ = profile(vphi, "sod", [
        ("scheme shasta", "speed[k] = (abs(v[k]) + 1/sqrt(3))/(1 + abs(v[k])/sqrt(3))\n"
                          "scheme kt, speed = speed, theta = 1.1"),
        ("evolve scheme", "evolve heun")], cells)
    write(folder, "tube", [("shasta", shasta), ("kt, theta = 1.1", kt),
                           ("exact", exact(tube(16, 1), t, -1, 1))], "energy density e")
    limits = ("scheme shasta", "limit E = E if E > 1e-12 else 0\n"
              "limit M = M*min(1, E*(1 - 1e-12)/norm(M)) if norm(M) > 0 else M\nscheme shasta")
    start = ("eps = (16 if x < 0 else 1), rho = (8 if x < 0 else 1)",
             "eps = (1 if x < 0 else 0), rho = eps")
    guards = [("norm(M)/(E + p)\n", "norm(M)/(E + p) if E > 0 else 0\n"),
              ("v   = M/(E + p)\n", "v   = M/(E + p) if E > 0 else 0\n")]
    vacuum, t = profile(vphi, "sod", [limits, start, *guards], cells)
    write(folder, "vacuum", [("shasta", vacuum), ("exact", exact(into_vacuum, t, -1, 1))],
          "energy density e")


if __name__ == "__main__":
    main()
