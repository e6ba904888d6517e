#!/usr/bin/env python3
"""Draws docs/figures/model_NAME.svg: one curve or two of a real run of each shipped model.

    docs/figures/models.py BUILD/vphi docs/figures [NAME...]

Needs nothing but Python and vphi: series come from `vphi run --json`.
"""
import json
import math
import subprocess
import sys
import tempfile

# name: (options, series to draw, label of the vertical axis, logarithmic)
FIGURES = {
    "wave": ([], ["mean(u^2)", "mean(u'^2)"], "averages", False),
    "drum": ([], ["mean(u^2)", "mean(u'^2)"], "averages", False),
    "kink": ([], ["max(abs(u - exact))"], "distance from the exact solution", True),
    "sine_gordon": ([], ["max(u)"], "height of the breather", False),
    "fput": ([], ["Em[1]", "Em[2]", "Em[3]", "Em[4]"], "energy of a mode", False),
    "axion": (["--lattice", "16^3"], ["a^3*mean(rho)/limit_density"],
              "a^3 rho over its limit", False),
    "walls": (["--lattice", "512^2"], ["area*t/(a*volume)"], "area parameter", False),
    "qball": (["--lattice", "32^3", "--until", "t > 20/m"], ["max(norm2(phi))"],
              "largest |phi|^2", False),
    "lphi4": (["--lattice", "32^3"], ["var(phi)", "var(chi)"], "variance", True),
    "preheating": (["--lattice", "32^3", "--until", "t > 160/m"], ["var(phi)", "var(chi)"],
                   "variance", True),
    "curvaton": (["--lattice", "16^3"], ["var(sigma)", "var(chi)"], "variance", True),
    "hybrid": (["--lattice", "32^3"], ["mean(sigma^2)/v^2"],
               "mean(sigma^2)/v^2", False),
}
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 560, 260, 70, 14, 14, 40
COLOURS = ["#1f5fa8", "#c23b22", "#2e7d32", "#7b4ea3"]
MOST_POINTS = 400


def series_of(vphi, name, options):
    with tempfile.TemporaryDirectory() as folder:
        words = [vphi, "run", name, "--device", "native", "--json", "--out", folder, *options]
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode not in (0, 2):
            raise SystemExit(f"{' '.join(words)}\n{done.stderr}")
        return json.loads(done.stdout)["series"]


def curve(series, name):
    """Points (t, value) of one series; a series is a table with names in its first row, or lists."""
    table = series[name] if name in series else None
    if table is None:
        raise SystemExit(f"no series `{name}`; there are {', '.join(series)}")
    return [(p[0], p[1]) for p in table if p[1] is not None]


def ticks(low, high, most=6):
    span = high - low
    step = 10.0 ** math.floor(math.log10(span / most))
    step *= next(f for f in (1, 2, 5, 10) if span / (step * f) <= most)
    first = math.ceil(low / step) * step
    return [first + i * step for i in range(int((high - first) / step + 1e-9) + 1)]


def draw(curves, label, logarithmic):
    shown = []
    for name, points in curves:
        if logarithmic:
            points = [(t, math.log10(v)) for t, v in points if v > 0]
        stride = max(1, len(points) // MOST_POINTS)
        shown.append((name, points[::stride]))
    ts = [t for _, points in shown for t, _ in points]
    vs = [v for _, points in shown for _, v in points]
    t0, t1, v0, v1 = min(ts), max(ts), min(vs), max(vs)
    if v1 - v0 < 1e-12 * max(1.0, abs(v1)):
        v0, v1 = v0 - 0.5, v1 + 0.5
    x = lambda t: LEFT + (t - t0) / (t1 - t0) * (WIDTH - LEFT - RIGHT)
    y = lambda v: HEIGHT - BOTTOM - (v - v0) / (v1 - v0) * (HEIGHT - TOP - BOTTOM)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
           'font-family="sans-serif" font-size="11">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>']
    for t in ticks(t0, t1):
        out.append(f'<path d="M{x(t):.1f} {HEIGHT - BOTTOM}v4" stroke="#444"/>'
                   f'<text x="{x(t):.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{t:.4g}</text>')
    for v in ticks(v0, v1):
        shown_value = f"1e{v:.3g}" if logarithmic else f"{v:.4g}"
        out.append(f'<path d="M{LEFT} {y(v):.1f}h{WIDTH - LEFT - RIGHT}" stroke="#ddd"/>'
                   f'<text x="{LEFT - 6}" y="{y(v) + 4:.1f}" text-anchor="end">{shown_value}</text>')
    out.append(f'<path d="M{LEFT} {TOP}V{HEIGHT - BOTTOM}H{WIDTH - RIGHT}" fill="none" stroke="#444"/>')
    for i, (name, points) in enumerate(shown):
        path = "L".join(f"{x(t):.1f} {y(v):.1f}" for t, v in points)
        out.append(f'<path d="M{path}" fill="none" stroke="{COLOURS[i]}" stroke-width="1.3"/>')
        if len(shown) > 1:
            out.append(f'<text x="{WIDTH - RIGHT - 4}" y="{TOP + 12 + 14 * i}" text-anchor="end" '
                       f'fill="{COLOURS[i]}">{name}</text>')
    out.append(f'<text x="{(LEFT + WIDTH) / 2}" y="{HEIGHT - 6}" text-anchor="middle">t</text>')
    middle = (TOP + HEIGHT - BOTTOM) / 2
    out.append(f'<text x="14" y="{middle}" text-anchor="middle" '
               f'transform="rotate(-90 14 {middle})">{label}</text></svg>')
    return "\n".join(out) + "\n"


def main():
    vphi, folder = sys.argv[1:3]
    for name in sys.argv[3:] or FIGURES:
        options, names, label, logarithmic = FIGURES[name]
        series = series_of(vphi, name, options)
        curves = [(n, curve(series, n)) for n in names]
        with open(f"{folder}/model_{name}.svg", "w") as file:
            file.write(draw(curves, label, logarithmic))
        print(f"{name}: " + ", ".join(f"{n} = {c[-1][1]:.6g}" for n, c in curves))


if __name__ == "__main__":
    main()
