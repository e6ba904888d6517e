#!/usr/bin/env python3
"""Draws curves of noisy ensembles with their error bars: docs/figures/josephson_drift.svg, the drift
velocity of models/noise/josephson.vphi against its drive, and kuramoto_order.svg, the order parameter
of noisy oscillators against their coupling beside the exact curve.

    docs/figures/ensembles.py BUILD/vphi docs/figures [--paths 512] [--periods 600] [--points 85]
                              [--device native] [--data FOLDER] [--from FOLDER] [NAME...]

Needs nothing but Python and vphi: curves come from `vphi run --json`. With --data they are also
written to FOLDER/NAME.csv; with --from they are read from there and only drawn.
"""
import argparse
import json
import math
import pathlib
import subprocess
import tempfile

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 620, 330, 66, 16, 14, 42
COLOURS = ["#1f5fa8", "#c23b22", "#2e7d32"]
MODELS = pathlib.Path(__file__).resolve().parents[2] / "models"


def run(vphi, text, device):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "figure.vphi"
        path.write_text(text)
        words = [vphi, "run", str(path), "--device", device, "--json", "--no-report", "--quiet",
                 "--checkpoint-every", "never", "--out", folder]
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(words)}\n{done.stderr}")
        return json.loads(done.stdout)


def replaced(text, *pairs):
    for old, new in pairs:
        if old not in text:
            raise SystemExit(f"the model has no `{old}`")
        text = text.replace(old, new)
    return text


def josephson(vphi, options):
    """Drift against the drive: means over paths and every step after 100 periods."""
    model = (MODELS / "noise/josephson.vphi").read_text()
    curves = []
    for name, integrator in (("BAOAB", "baoab"), ("Euler and Maruyama, the same step",
                                                   "euler_maruyama")):
        text = replaced(model, ("1..5243", f"1..{options.paths}"),
                        ("linspace(0, 4.2, 100)", f"linspace(0, 4.2, {options.points})"),
                        ("2000*period", f"{100 + options.periods}*period"),
                        ("every 100 steps", "every 1000000000 steps"),
                        ("evolve srk2", f"evolve {integrator}"))
        series = run(vphi, text, options.device)["series"]["mean(x', over = [path, time])"]
        drives = [4.2 * i / (options.points - 1) for i in range(options.points)]
        points = list(zip(drives, series["values"][-1], series["errors"][-1]))
        curves.append((name, points, True))
    return curves, "amplitude of the drive a", "mean velocity"


def bessel(n, z):
    return sum((z / 2) ** (2 * k + n) / (math.factorial(k) * math.factorial(k + n))
               for k in range(80))


def exact_order(K):
    """r = I1(K r)/I0(K r) at T = 1: the greatest solution, by bisection; 0 up to K = 2."""
    low, high = 1e-9, 1.0
    if K <= 2:
        return 0.0
    for _ in range(80):
        r = (low + high) / 2
        low, high = (r, high) if bessel(1, K * r) / bessel(0, K * r) > r else (low, r)
    return low


def kuramoto(vphi, options):
    N, K = 4000, [0.5, 1, 1.5, 1.75, 2, 2.1, 2.25, 2.5, 2.75, 3, 3.5, 4, 5, 6, 8]
    text = f"""model kuramoto "Order parameter of noisy oscillators"
param T = 1, N = {N}
sweep K = [{', '.join(map(str, K))}]
sweep path = 1..8
particles osc: N
var x[i]: angle
x[i]' = K/N*sum(sin(x[j] - x[i]), j) + sqrt(2*T)*noise[i]
init x ~ uniform(0, 1.5)
evolve srk2, dt = 0.025, until = t > 60
every 10000 steps, after = t > 20: r = mean(abs(mean(exp(1i*x))), over = [path, time]) -> "k.h5"
"""
    series = run(vphi, text, options.device)["series"]["r"]
    found = list(zip(K, series["values"][-1], series["errors"][-1]))
    line = [(k / 50, exact_order(k / 50), 0) for k in range(25, 401)]
    return [(f"N = {N}, eight paths", found, False), ("exact, N infinite", line, True)], \
        "coupling K (T = 1)", "order parameter r"


def known(name, folder):
    """Curves that --data has written."""
    head, *rows = (folder / f"{name}.csv").read_text().splitlines()
    below, beside = head.split(";")
    curves = {}
    for row in rows:
        title, line, *numbers = row.split(";")
        curves.setdefault((title, line == "line"), []).append(tuple(map(float, numbers)))
    return [(title, points, line) for (title, line), points in curves.items()], below, beside


def ticks(low, high, most=8):
    span = high - low
    step = 10.0 ** math.floor(math.log10(span / most))
    step *= next(f for f in (1, 2, 5, 10) if span / (step * f) <= most)
    first = math.ceil(low / step - 1e-9) * step
    return [first + i * step for i in range(int((high - first) / step + 1e-9) + 1)]


def draw(curves, below, beside):
    xs = [x for _, points, _ in curves for x, _, _ in points]
    ys = [y + s * e for _, points, _ in curves for _, y, e in points for s in (-1, 1)]
    x0, x1, y0, y1 = min(xs), max(xs), min(ys + [0]), max(ys)
    y0, y1 = y0 - 0.03 * (y1 - y0), y1 + 0.05 * (y1 - y0)
    X = lambda x: LEFT + (x - x0) / (x1 - x0) * (WIDTH - LEFT - RIGHT)
    Y = lambda y: HEIGHT - BOTTOM - (y - y0) / (y1 - y0) * (HEIGHT - TOP - BOTTOM)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
           'font-family="sans-serif" font-size="11">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>']
    for x in ticks(x0, x1):
        out.append(f'<line x1="{X(x):.1f}" y1="{TOP}" x2="{X(x):.1f}" y2="{HEIGHT - BOTTOM}" '
                   'stroke="#e4e4e4"/>')
        out.append(f'<text x="{X(x):.1f}" y="{HEIGHT - BOTTOM + 15}" text-anchor="middle">'
                   f'{x:g}</text>')
    for y in ticks(y0, y1):
        shade = "#999" if abs(y) < 1e-12 else "#e4e4e4"
        out.append(f'<line x1="{LEFT}" y1="{Y(y):.1f}" x2="{WIDTH - RIGHT}" y2="{Y(y):.1f}" '
                   f'stroke="{shade}"/>')
        out.append(f'<text x="{LEFT - 6}" y="{Y(y) + 4:.1f}" text-anchor="end">{y:.4g}</text>')
    for colour, (name, points, line) in zip(COLOURS, curves):
        if line:
            path = " ".join(f"{X(x):.1f},{Y(y):.1f}" for x, y, _ in points)
            out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" '
                       'stroke-width="1"/>')
        for x, y, e in points:
            if e > 0:
                out.append(f'<line x1="{X(x):.1f}" y1="{Y(y - e):.1f}" x2="{X(x):.1f}" '
                           f'y2="{Y(y + e):.1f}" stroke="{colour}" stroke-width="1.4"/>')
                out.append(f'<circle cx="{X(x):.1f}" cy="{Y(y):.1f}" r="1.8" fill="{colour}"/>')
    for i, (colour, (name, _, _)) in enumerate(zip(COLOURS, curves)):
        at = TOP + 16 + 15 * i
        out.append(f'<rect x="{LEFT + 12}" y="{at - 8}" width="10" height="10" fill="{colour}"/>')
        out.append(f'<text x="{LEFT + 28}" y="{at + 1}">{name}</text>')
    out.append(f'<text x="{(WIDTH + LEFT) / 2:.0f}" y="{HEIGHT - 8}" text-anchor="middle">'
               f'{below}</text>')
    out.append(f'<text x="14" y="{HEIGHT / 2:.0f}" text-anchor="middle" '
               f'transform="rotate(-90 14 {HEIGHT / 2:.0f})">{beside}</text>')
    return "\n".join(out + ["</svg>", ""])


FIGURES = {"josephson_drift": josephson, "kuramoto_order": kuramoto}


def main():
    line = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    line.add_argument("vphi")
    line.add_argument("folder", type=pathlib.Path)
    line.add_argument("names", nargs="*", default=list(FIGURES))
    for name, value in (("paths", 512), ("periods", 600), ("points", 85)):
        line.add_argument(f"--{name}", type=int, default=value)
    line.add_argument("--device", default="native")
    line.add_argument("--data", type=pathlib.Path)
    line.add_argument("--from", dest="source", type=pathlib.Path)
    options = line.parse_args()
    for name in options.names:
        curves, below, beside = (known(name, options.source) if options.source
                                 else FIGURES[name](options.vphi, options))
        (options.folder / f"{name}.svg").write_text(draw(curves, below, beside))
        if options.data:
            rows = [f"{below};{beside}"]
            rows += [f"{title};{'line' if line else 'dots'};{x:.6g};{y:.6g};{e:.3g}"
                     for title, points, line in curves for x, y, e in points]
            (options.data / f"{name}.csv").write_text("\n".join(rows) + "\n")
        print(options.folder / f"{name}.svg")


if __name__ == "__main__":
    main()
