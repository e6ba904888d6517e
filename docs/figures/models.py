#!/usr/bin/env python3
"""Draws docs/figures/model_NAME.svg: one curve or two of a real run of each shipped model.

    docs/figures/models.py BUILD/vphi docs/figures [NAME...]

Series come from `vphi run --json`, profiles from the result file (Python's h5py).
"""
import json
import math
import pathlib
import subprocess
import sys
import tempfile

# name: (options, series to draw, label of the vertical axis, logarithmic). A series of a sweep is
# drawn against the axis of the sweep; profiles come from the result file and need h5py. Where an
# option "OLD=>NEW" stands, a copy of the model is run in which the one text stands for the other.
FIGURES = {
    "wave": ([], ["mean(u^2)", "mean(u'^2)"], "averages", False),
    "oblique": ([], ["mean(u^2)"], "mean of u^2", False),
    "drum": ([], ["mean(u^2)", "mean(u'^2)"], "averages", False),
    "kink": ([], ["max(abs(u - exact))"], "distance from the exact solution", True),
    "sine_gordon": ([], ["max(u)"], "height of the breather", False),
    "pendulum": ([], ["period", "exact"], "period", False),
    "resonance": ([], ["mean(x^2, over = time)", "curve"], "mean of x^2", False),
    "yukawa": ([], ["profile(phi)"], "phi along the axis", True),
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
    "oscillon": (["--lattice", "32^3"], ["var(phi)"], "variance", True),
    "higgs_u1": (["--lattice", "16^3", "--until", "a > 1.5"], ["mean(norm2(phi))"],
                 "mean of |phi|^2", False),
    "lphi4_u1": (["--lattice", "16^3"], ["mean(norm2(phi))"], "mean of |phi|^2", True),
    "axion_u1": (["--lattice", "16^3"], ["mean(photons)"], "photons", True),
    "gw": (["--lattice", "16^3", "--until", "t > 160/m"], ["mean(rho_gw)/mean(rho)"],
           "share of the waves", True),
    "sod": ([], ["profile(eps)", "profile(rho)"], "eps, rho at t = 0.8", False),
    "shock": ([], ["profile(eps)", "profile(rho)"], "eps, rho at t = 0.8", False),
    "synge": ([], ["profile(eps)", "profile(rho)"], "eps, rho at t = 0.8", False),
    "slab": ([], ["e_star"], "e between the shocks", False),
    "smooth_wave": ([], ["profile(eps)"], "eps at t = 1", False),
    "ball": ([], ["centre"], "eps at the centre", False),
    "fireball": (["--lattice", "48^3", "--until", "t > 4"], ["max(eps)"], "largest eps", False),
    "bag_model": ([], ["profile(eps)"], "eps at t = 1", False),
    "bjorken": ([], ["mean(eps)", "exact"], "eps", False),
    "viscous_bjorken": ([], ["T_GeV"], "T in GeV", False),
    "viscous_gubser": ([], ["apart"], "mean error of eps", False),
    "bubble": ([], ["profile(phi)", "profile(v[0])"], "phi and v at t = 90", False),
    "sound": ([], ["re(crest)", "im(crest)"], "amplitude", False),
    "gubser": ([], ["profile(eps)"], "eps at t = 2", False),
    "freeze_out": ([], ["centre"], "largest T in 1/fm", False),
    "event2d": ([], ["eps_p"], "anisotropy of momentum", False),
    "event2d_bulk": ([], ["entropy"], "entropy for each unit of rapidity", False),
    "event3d": ([], ["entropy"], "entropy for each unit of rapidity", False),
    "fluctuating_gas": (["every 1500=>every 300"], ["of_v", "of_rho"],
                        "variances over those of equilibrium", False),
    "mhd_orszag_tang": ([], ["mean(e_kin)", "mean(e_mag)"], "mean energy", False),
    "sedov": ([], ["profile(rho)", "profile(p)"], "rho, p at t = 1", False),
    "lake": ([], ["profile(surface)"], "surface at t = 1.5", False),
    "riemann2d": ([], ["max(rho)"], "largest rho", False),
    "rti": ([], ["amplitude"], "amplitude of v_y", True),
    "khi": ([], ["amplitude"], "amplitude of v_y", True),
    "euler": ([], ["profile(rho)", "profile(p)"], "rho, p at t = 0.2", False),
    "shallow_water": ([], ["profile(depth)"], "depth at t = 1", False),
    "burgers": ([], ["profile(u)"], "u at t = 2", False),
    "doublewell": (["1..100000=>1..1000"], ["mean(escape, over = path)"], "time to escape", True),
    "thermal": (["--lattice", "16^3", "--until", "t > 400"], ["mean(abs(m1), over = time)"],
                "magnetisation", False),
    "geometric": ([], ["mean(x, over = path)", "mean(log(x), over = path)"], "means", False),
    "langevin": ([], ["var(x, over = path)"], "variance of x", False),
    "ornstein_uhlenbeck": ([], ["var(x, over = path)"], "variance of x", False),
    "cluster": ([], ["mean(norm2(x))"], "mean square radius", False),
    "disk": (["--set", "N=512"], ["mean(norm2(x))"], "mean square radius", False),
    "hmf": (["--set", "N=16384", "--until", "t > 200"], ["M2"], "M^2", False),
    "kepler": ([], ["x1", "x2"], "coordinates", False),
    "network": ([], ["mean(order, over = time)"], "order parameter", False),
    "plasma": (["--set", "N=256"], ["mean(norm2(x))"], "mean square radius", False),
    "ring": (["--set", "N=512", "--until", "t > 100"], ["mean(cos(theta))", "mean(sin(theta))"],
             "means", False),
    "ising": ([], ["magnetisation"], "|m| of the first chain", False),
    "xy": ([], ["bond"], "cos of neighbours, first chain", False),
    "o3": ([], ["bond"], "n(x).n(x+1) of the first chain", False),
    "su2": ([], ["plaquette"], "plaquette", False),
    "su2_2d": ([], ["plaquette"], "plaquette of the first chain", False),
    "z2": ([], ["plaquette"], "plaquette of the first chain", False),
    "u1_2d": ([], ["plaquette"], "plaquette of the first chain", False),
    "su2_hmc": ([], ["plaquette"], "plaquette", False),
    "su2_higgs": (["--lattice", "4^4", "--steps", "400"], ["mean(norm2(phi))"], "norm2(phi)", False),
    "su3": ([], ["plaquette"], "plaquette", False),
    "su3_hmc": ([], ["plaquette"], "plaquette", False),
    "su3_symanzik": ([], ["plaquette", "rectangle"], "loops", False),
    "su3_iwasaki": ([], ["plaquette"], "plaquette", False),
    "wilson_flow": ([], ["t^2*E"], "t^2 E", False),
    "wilson_quark": ([], ["profile(pion)"], "correlator", True),
    "twisted_quark": ([], ["profile(pion)"], "correlator", True),
}
here = pathlib.Path(__file__).resolve().parent.parent.parent
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 560, 260, 70, 14, 14, 40
COLOURS = ["#1f5fa8", "#c23b22", "#2e7d32", "#7b4ea3"]
MOST_POINTS = 240


def curves_of(vphi, name, options, wanted):
    """The horizontal axis, and (name, points (t, value)) of each series that is asked for."""
    with tempfile.TemporaryDirectory() as folder:
        changes = [option.split("=>") for option in options if "=>" in option]
        model = pathlib.Path(folder, f"{name}.vphi")
        text = next(here.glob(f"models/*/{name}.vphi")).read_text()
        for old, new in changes:
            text = text.replace(old, new)
        model.write_text(text)
        words = [vphi, "run", str(model) if changes else name, "--device", "native", "--json",
                 "--out", folder, *[o for o in options if "=>" not in o]]
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode not in (0, 2):
            raise SystemExit(f"{' '.join(words)}\n{done.stderr}")
        result = json.loads(done.stdout)
        if wanted[0].startswith("profile("):
            return "x", [(w, profile(folder, w)) for w in wanted]
    series, axes = result["series"], result.get("axes", [])
    first = series[wanted[0]] if wanted[0] in series else None
    if isinstance(first, dict) and len(first["steps"]) == 1:  # made once, at the end
        axis = next(a for a in axes if not a["ensemble"])
        return axis["name"], [(w, list(zip(axis["values"], series[w]["values"][0]))) for w in wanted]
    return "t", [(w, curve(series, w)) for w in wanted]


def profile(folder, name):
    """The last profile of a result file."""
    import h5py
    for path in pathlib.Path(folder).glob("*.h5"):
        with h5py.File(path) as file:
            for key, moments in file.get("profiles", {}).items():
                if key.split(",")[0].rstrip(")") == name.rstrip(")"):
                    rows = moments[max(filter(str.isdigit, moments))][:]
                    return [(row[0], row[1]) for row in rows]
    raise SystemExit(f"no {name} in the result files")


def curve(series, name):
    """Points (t, value) of one series: a table, or of a sweep the values of its first instance."""
    table = series[name] if name in series else None
    if table is None:
        raise SystemExit(f"no series `{name}`; there are {', '.join(series)}")
    if isinstance(table, dict):
        return [(t, v[0]) for t, v in zip(table["t"], table["values"])]
    return [(p[0], p[1]) for p in table if p[1] is not None]


def ticks(low, high, most=6):
    span = high - low
    step = 10.0 ** math.floor(math.log10(span / most))
    step *= next(f for f in (1, 2, 5, 10) if span / (step * f) <= most)
    first = math.ceil(low / step) * step
    return [first + i * step for i in range(int((high - first) / step + 1e-9) + 1)]


def draw(curves, label, logarithmic, across="t"):
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
    out.append(f'<text x="{(LEFT + WIDTH) / 2}" y="{HEIGHT - 6}" text-anchor="middle">{across}</text>')
    middle = (TOP + HEIGHT - BOTTOM) / 2
    out.append(f'<text x="14" y="{middle}" text-anchor="middle" '
               f'transform="rotate(-90 14 {middle})">{label}</text></svg>')
    return "\n".join(out) + "\n"


def main():
    vphi, folder = sys.argv[1:3]
    for name in sys.argv[3:] or FIGURES:
        options, names, label, logarithmic = FIGURES[name]
        across, curves = curves_of(vphi, name, options, names)
        with open(f"{folder}/model_{name}.svg", "w") as file:
            file.write(draw(curves, label, logarithmic, across))
        print(f"{name}: " + ", ".join(f"{n} = {c[-1][1]:.6g}" for n, c in curves))


if __name__ == "__main__":
    main()
