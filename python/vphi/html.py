"""What notebooks show of models and results. All text is escaped."""

from __future__ import annotations

import json
from html import escape

from .errors import Error

WIDTH, HEIGHT = 320, 120  # of a curve
CURVES = 6  # at most


def _row(cells, tag="td"):
    return "<tr>" + "".join(f"<{tag}>{cell}</{tag}>" for cell in cells) + "</tr>"


def _table(head, rows):
    return f"<table>{_row(head, 'th')}{''.join(_row(row) for row in rows)}</table>" if rows else ""


def _kernels(kernels):
    """Costs of the kernels, by site, as the compiler counts them."""
    head = ("kernel", "what it does", "sites", "numbers read", "written", "bytes a site",
            "operations a site", "special functions")
    rows = [(escape(k["name"]), escape(k["comment"]), k["sites"], k["loads"], k["stores"],
             k["bytes"], k["flops"], k["special"]) for k in kernels]
    return _table(head, rows)


def _stencil(one):
    error = "isotropic" if one["isotropic"] else "depends on the direction"
    limit = one["leapfrog_limit"]
    return (f"<p>Laplacian {escape(one['name'])}: {one['points']} points, error of order "
            f"{one['order']}, {error}; largest value {escape(one['largest'])}/dx<sup>2</sup>"
            + (f", leapfrog stable for dt &lt; {limit:.4g} dx" if limit else "") + "</p>")


def of_model(model):
    """Derived equations, stencils and kernels of a model for a processor."""
    title = f"<p><strong>{escape(model.name)}</strong> {escape(model.title)}</p>"
    shown = title + model._core.mathml()
    try:
        facts = json.loads(model._core.explanation("native"))
    except Error as error:  # what keeps the kernels from being made is shown in their place
        return f"{shown}<pre>{escape(str(error))}</pre>"
    remarks = "".join(f"<li>{escape(one)}</li>" for one in facts["remarks"])
    return (shown + "".join(_stencil(one) for one in facts["stencils"])
            + f"<details><summary>{len(facts['kernels'])} kernels and their cost, for a "
              f"processor</summary>{_kernels(facts['kernels'])}"
            + (f"<ul>{remarks}</ul>" if remarks else "") + "</details>")


def curve(name, t, values):
    """A series against t as SVG; empty where it has fewer than two finite numbers."""
    points = [(float(x), float(y)) for x, y in zip(t, values) if abs(float(y)) < float("inf")]
    if len(points) < 2 or points[-1][0] <= points[0][0]:
        return ""
    every = -(-len(points) // WIDTH)  # more points than pixels are not seen
    points = points[::every] + ([points[-1]] if (len(points) - 1) % every else [])
    first, last = points[0][0], points[-1][0]
    low, high = min(y for _, y in points), max(y for _, y in points)
    scale = (high - low) or 1.0
    place = " ".join(f"{WIDTH*(x - first)/(last - first):.1f},"
                     f"{HEIGHT - 4 - (HEIGHT - 8)*(y - low)/scale:.1f}" for x, y in points)
    return (f'<figure style="display:inline-block;margin:4px"><svg width="{WIDTH}" '
            f'height="{HEIGHT}"><polyline points="{place}" fill="none" stroke="currentColor">'
            f"</polyline></svg><figcaption>{escape(name)}: {low:.4g} to {high:.4g}, t = "
            f"{first:.4g} to {last:.4g}</figcaption></figure>")


def speed(plain):
    """Site updates per second, and the memory traffic as a share of the device's copies."""
    rate, bandwidth = plain["site_updates_per_s"], plain["bandwidth"]
    shown = f"{rate:.3g} site updates/s"
    traffic = rate*plain["bytes_per_site"]
    if not traffic:
        return shown
    if not bandwidth:
        return (f"{shown}, {traffic/1e9:.3g} GB/s; the device's limit was not measured: "
                "`vphi bench` does")
    return (f"{shown}, {traffic/1e9:.3g} GB/s, {100*traffic/bandwidth:.0f} % of the "
            f"{bandwidth/1e9:.3g} GB/s of copies in memory")


def of_result(result, plain):
    """Facts and verdicts of a run, last values and curves of its series."""
    lines = {name: s for name, s in result.series.items() if tuple(s.dims) == ("t",)}
    head = (f"{plain['model']}: {result.steps} steps, t = {result.t:.6g}, {result.device}; "
            f"{speed(plain)}" + ("; interrupted" if result.interrupted else ""))
    verdicts = [(f"expect {escape(e['text'])}", "ok" if e["ok"] else "FAILED",
                 f"{e['value']:.3g}", f"{e['time']:.4g}") for e in result.expectations]
    values = [(escape(name), f"{s.values[-1]:.8g}") for name, s in lines.items() if s.values.size]
    curves = [shown for name, s in lines.items()
              if (shown := curve(name, s.coords["t"], s.values))][:CURVES]
    failed = [(escape(f["at"]), escape(f["message"])) for f in result.failures]
    notes = "".join(f"<li>{escape(note)}</li>" for note in result.notes)
    return (f"<p>{escape(head)}</p>" + _table(("promise", "verdict", "value", "at t"), verdicts)
            + _table(("output", "last value"), values) + "".join(curves)
            + _table(("instance that failed", "why"), failed)
            + (f"<ul>{notes}</ul>" if notes else ""))
