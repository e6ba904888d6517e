// Curves: values against time, wave number or a swept parameter.

/** Lowest and highest of what is in view; positive values alone for a logarithmic axis. */
function rangeOf(curves, pick, log, within) {
  let low = Infinity, high = -Infinity;
  for (const c of curves) {
    const values = c[pick];
    for (let i = 0; i < values.length; ++i) {
      const v = values[i];
      if (!Number.isFinite(v) || (log && v <= 0)) continue;
      if (within && (c.x[i] < within[0] || c.x[i] > within[1])) continue;
      const e = pick === 'y' && c.e ? c.e[i] || 0 : 0;
      if (v - e < low && !(log && v - e <= 0)) low = v - e;
      if (v < low) low = v;
      if (v + e > high) high = v + e;
    }
  }
  if (low > high) return log ? [0.1, 1] : [0, 1];
  return [low, high];
}

function padded([low, high], log) {
  if (log) { const room = Math.pow(high / low, 0.04); return [low / room, high * room]; }
  const room = (high - low) * 0.05;
  return [low - room, high + room];
}

/** The path of a curve; where many points share a pixel column, its lowest and highest. */
function pathOf(chart, c) {
  const {x, y} = chart;
  let text = '', pen = false, column = NaN, low = 0, high = 0, last = 0;
  const close = () => { if (pen && high !== low) text += `V${low.toFixed(1)}V${high.toFixed(1)}V${last.toFixed(1)}`; };
  for (let i = 0; i < c.x.length; ++i) {
    const px = x.at(c.x[i]);
    let py = y.at(c.y[i]);
    if (!Number.isFinite(px) || !Number.isFinite(py)) { close(); pen = false; column = NaN; low = high = 0; continue; }
    if (px < x.from - 4000 || px > x.to + 4000) { close(); pen = false; column = NaN; low = high = 0; continue; }
    py = Math.min(Math.max(py, -1e5), 1e5);
    const at = Math.round(2 * px);
    if (pen && at === column) {
      low = Math.min(low, py); high = Math.max(high, py); last = py;
      continue;
    }
    close();
    text += `${pen ? 'L' : 'M'}${px.toFixed(1)} ${py.toFixed(1)}`;
    pen = true; column = at; low = high = last = py;
  }
  close();
  return text;
}

/** Index of the x nearest to a value; xs ascending. */
function nearest(xs, value) {
  let a = 0, b = xs.length - 1;
  while (b - a > 1) {
    const middle = (a + b) >> 1;
    if (xs[middle] < value) a = middle; else b = middle;
  }
  return Math.abs(xs[b] - value) < Math.abs(xs[a] - value) ? b : a;
}

/** A chart of curves {name, x, y, e, colour, faint, hidden}. */
function curveChart(host, options) {
  const shown = () => chart.curves.filter(c => !c.hidden);
  const chart = new Chart(host, {
    ...options,
    extent: view => {
      const all = shown();
      let x = rangeOf(all, 'x', chart.logX);
      if (all.some(c => c.x.length <= 60 && !c.faint)) x = padded(x, chart.logX);  // dots at the ends
      let y = padded(rangeOf(all, 'y', chart.logY, view), chart.logY);
      for (const bound of chart.bounds ?? [])
        if (bound > 0 || !chart.logY) y = [Math.min(y[0], bound), Math.max(y[1], bound * (bound > 0 ? 1.05 : 0.95))];
      return {x, y};
    },
    paint: () => {
      for (const bound of chart.bounds ?? []) {
        const at = chart.y.at(bound);
        chart.inside.append(svg('line', {class: 'bound', x1: chart.x.from, x2: chart.x.to, y1: at, y2: at}));
      }
      let points = 0;
      for (const c of shown()) {
        const path = pathOf(chart, c);
        points += c.x.length;
        chart.inside.append(svg('path', {class: c.faint ? 'curve faint' : 'curve', d: path, stroke: c.colour}));
        const sparse = c.x.length <= 60 && !c.faint;
        if (c.e || sparse) {
          let bars = '';
          for (let i = 0; i < c.x.length; ++i) {
            const px = chart.x.at(c.x[i]), py = chart.y.at(c.y[i]);
            if (!Number.isFinite(px) || !Number.isFinite(py)) continue;
            if (sparse) chart.inside.append(svg('circle', {cx: px.toFixed(1), cy: py.toFixed(1), r: 2.2, fill: c.colour}));
            if (!c.e || !(c.e[i] > 0)) continue;
            let [a, b] = [chart.y.at(c.y[i] - c.e[i]), chart.y.at(c.y[i] + c.e[i])];
            if (!Number.isFinite(a)) a = chart.y.from;
            bars += `M${(px - 3).toFixed(1)} ${a.toFixed(1)}h6m-3 0V${b.toFixed(1)}m-3 0h6`;
          }
          if (bars) chart.inside.append(svg('path', {class: 'bars', d: bars, stroke: c.colour}));
        }
      }
      chart.box.dataset.points = points;
    },
    tip: (x, y, self) => {
      const all = shown().filter(c => !c.faint && c.x.length);
      if (!all.length) return null;
      const near = all.map(c => nearest(c.x, x));
      // the nearest x of all curves decides
      let best = 0;
      all.forEach((c, i) => { if (Math.abs(self.x.at(c.x[near[i]]) - self.x.at(x)) < Math.abs(self.x.at(all[best].x[near[best]]) - self.x.at(x))) best = i; });
      const at = all[best].x[near[best]];
      const rows = [make('div', {}, `${self.xName ?? self.xLabel} = ${pretty(at, 7)}`)];
      const dots = [];
      all.slice(0, 12).forEach((c, i) => {
        const v = c.y[near[i]];
        const error = c.e && c.e[near[i]] > 0 ? ' ± ' + pretty(c.e[near[i]], 2) : '';
        rows.push(row(c.colour, `${all.length > 1 ? c.name + ' ' : ''}${pretty(v, 8)}${error}`));
        dots.push({x: c.x[near[i]], y: v, colour: c.colour});
      });
      return {x: at, y: all[best].y[near[best]], rows, dots, index: near[best]};
    },
    points: () => shown().find(c => !c.faint)?.x ?? [],
  });
  chart.curves = options.curves;
  return chart;
}

/** Log and reset buttons, and a legend where there are several curves. */
function curveTools(host, chart, {logs = 'xy', legend = true} = {}) {
  const tools = make('div', {class: 'tools', role: 'group', 'aria-label': 'Axes'});
  if (logs.includes('x')) tools.append(toggle('log x', 'Logarithmic horizontal axis', chart.logX, on => { chart.logX = on; chart.view = null; chart.draw(); }));
  if (logs.includes('y')) tools.append(toggle('log y', 'Logarithmic vertical axis', chart.logY, on => { chart.logY = on; chart.view = null; chart.draw(); }));
  tools.append(action('reset', 'Show everything again', () => chart.reset()));
  host.append(tools);
  if (legend && chart.curves.length > 1) host.append(legendOf(chart));
  return tools;
}

function legendOf(chart) {
  const legend = make('div', {class: 'tools legend', role: 'group', 'aria-label': 'Curves'});
  for (const c of chart.curves) {
    const swatch = make('span', {class: 'swatch'});
    swatch.style.background = c.colour;
    const button = toggle('', `Show or hide ${c.name}`, !c.hidden, on => { c.hidden = !on; chart.draw(); });
    button.append(swatch, c.name);
    legend.append(button);
  }
  return legend;
}
