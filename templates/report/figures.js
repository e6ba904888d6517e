// The figures of the page: each <figure data-...> is filled from the page's data.

const figures = {series: new Map(), tables: new Map(), pictures: new Map(), checks: new Map()};

function curvesOf(series) {
  return series.curves.map((c, i) => ({
    name: [page.runs.length > 1 ? page.runs[c.run] : '', c.name ?? ''].filter(Boolean).join(', ') || series.name, x: array(c.x), y: array(c.y), e: c.e === undefined ? null : array(c.e),
    colour: curveColour(i),
  }));
}

/** "t" of "t [1/GeV]"; "sweep". */
const timeWord = () => page.time.split(' ')[0];

/** All values positive and over more than three decades: a logarithmic axis serves better. */
function wantsLog(curves, pick = 'y') {
  let low = Infinity, high = 0;
  for (const c of curves)
    for (const v of c[pick]) {
      if (v < 0) return false;
      if (v > 0) { low = Math.min(low, v); high = Math.max(high, v); }
    }
  return high > 1e3 * low;
}

function drawSeries(host, series) {
  const curves = curvesOf(series);
  const chart = curveChart(host, {
    title: `${series.name} against ${series.along}`, xLabel: series.along, xName: series.along.split(' ')[0],
    yLabel: '', curves, logY: wantsLog(curves), logX: series.along !== page.time && wantsLog(curves, 'x'),
  });
  curveTools(host, chart, {legend: curves.length > 1});
  return {grow(x, y) {
    const c = chart.curves[0];
    const join = (a, b) => { const all = new Float64Array(a.length + b.length); all.set(a); all.set(b, a.length); return all; };
    c.x = join(c.x, x);
    c.y = join(c.y, y);
    if (!chart.view) chart.draw();
  }};
}

/** Any series over any other, chosen by the reader. */
function drawOverlay(host) {
  const all = page.series.filter(s => s.along === page.time && (page.live || !s.single));
  const curves = all.flatMap(s => curvesOf(s).map(c => ({
    ...c, name: c.name === s.name ? s.name : `${s.name} (${c.name})`, hidden: true})));
  curves.forEach((c, i) => { c.colour = curveColour(i); });
  const first = curves.filter((c, i) => i < 8 && alike(c, curves[0]));
  (first.length ? first : curves.slice(0, 1)).forEach(c => { c.hidden = false; });
  const chart = curveChart(host, {title: 'Several series in one plot', xLabel: page.time, xName: timeWord(), yLabel: '', curves,
                                  logY: wantsLog(curves.filter(c => !c.hidden))});
  curveTools(host, chart);
  return chart;
}
function alike(a, b) {
  const size = c => c.y.reduce((m, v) => Math.max(m, Math.abs(v) || 0), 0);
  return size(a) < 30 * size(b) && size(b) < 30 * size(a);
}

/** Spectra, histograms and profiles: curves with a time slider, and a map against time. */
function drawTable(host, table) {
  const spectrum = table.kind === 'spectrum';
  const frames = table.frames.map(f => ({t: f.t, step: f.step, x: array(f.x), y: array(f.y), other: f.o === undefined ? null : array(f.o)}));
  if (!frames.length) return;
  let now = frames.length - 1, delta = false;
  const values = f => delta && f.other ? f.other : f.y;
  const curves = () => {
    const few = frames.length > 60 ? frames.filter((f, i) => i % Math.ceil(frames.length / 60) === 0) : frames;
    const list = few.length > 1 ? few.map(f => ({
      name: '', x: f.x, y: values(f), faint: true,
      colour: colourOf(maps.viridis, 0.9 * frames.indexOf(f) / Math.max(1, frames.length - 1))})) : [];
    list.push({name: table.name, x: frames[now].x, y: values(frames[now]), colour: 'var(--c1)'});
    return list;
  };
  const holders = {curves: make('div'), map: make('div', {hidden: ''})};
  const chart = curveChart(holders.curves, {
    title: `${table.name} at a chosen time`, xLabel: table.xn, xName: table.xn.split(' ')[0], yLabel: table.yn,
    curves: [], logX: spectrum, logY: spectrum,
  });
  const redraw = () => { chart.curves = curves(); chart.draw(); };
  const time = timeline(frames, index => { now = index; redraw(); });
  time.go(now);
  const tools = curveTools(holders.curves, chart, {legend: false});
  holders.curves.append(time.group);
  time.group.hidden = frames.length < 2;

  let map = null;
  const buildMap = () => {
    const grid = f => f.x;
    map = colourChart(holders.map, {
      title: `${table.name} against time`, xLabel: page.time, yLabel: table.xn, logY: spectrum,
      extent: () => {
        const last = frames[frames.length - 1];
        const xs = grid(last), first = spectrum ? xs.find(k => k > 0) ?? xs[0] : xs[0];
        return {x: [frames[0].t, last.t], y: [first, xs[xs.length - 1]]};
      },
    });
    Object.assign(map, {
      map: 'viridis', logValue: spectrum,
      range() {
        const [low, high] = rangeOf(frames.map(f => ({x: f.x, y: values(f)})), 'y', map.logValue);
        return [low, high > low ? high : low + (Math.abs(low) * 1e-6 || 1)];
      },
      column(t) { return nearest(frames.map(f => f.t), t); },
      line(k) { return nearest(grid(frames[frames.length - 1]), k); },
      value(i, j) { return values(frames[i])[j]; },
      describe(i, j) {
        return [pretty(values(frames[i])[j], 5), `${timeWord()} = ${pretty(frames[i].t, 5)}, ${table.xn.split(' ')[0]} = ${pretty(frames[i].x[j], 4)}`];
      },
    });
    const times = () => frames.map(f => f.t);
    let cached = null;
    map.column = t => nearest(cached ??= times(), t);
    map.forget = () => { cached = null; };
    const bar = make('div', {class: 'tools', role: 'group', 'aria-label': 'Colours'});
    bar.append(mapChoice(map), toggle('log', 'Logarithmic colours', map.logValue, on => { map.logValue = on; map.draw(); }),
      toggle(`log ${table.xn.split(' ')[0]}`, 'Logarithmic vertical axis', map.logY, on => { map.logY = on; map.draw(); }),
      action('reset', 'Show everything again', () => map.reset()));
    holders.map.append(bar);
  };
  const choice = make('div', {class: 'tools', role: 'group', 'aria-label': 'View'});
  if (frames.length > 1)
    choice.append(toggle('map against time', 'Colours over time instead of curves', false, on => {
      holders.curves.hidden = on;
      holders.map.hidden = !on;
      if (on && !map) buildMap();
      (on ? map : chart).draw();
    }));
  if (frames.some(f => f.other)) {
    choice.append(toggle('Δ² = weight × P', 'Contribution to the variance for each logarithmic interval of k', false, on => {
      delta = on;
      chart.yLabel = on ? 'Δ²' : table.yn;
      chart.view = null;
      redraw();
      map?.draw();
    }));
  }
  if (choice.children.length) host.append(choice);
  host.append(holders.curves, holders.map);
  return {grow(added) {
    frames.push(...added);
    while (frames.length > 400) frames.splice(1, 1);
    map?.forget();
    time.grown();
    redraw();
    if (map && !holders.map.hidden) map.draw();
  }, tools};
}

function drawCheck(host, check) {
  const curves = [{name: check.text, x: array(check.x), y: array(check.y), colour: 'var(--c0)'}];
  const chart = curveChart(host, {title: `History of ${check.text}`, xLabel: page.time, xName: timeWord(), yLabel: '', curves,
                                  logY: wantsLog(curves), bounds: check.bound ? [check.bound] : []});
  curveTools(host, chart, {logs: 'y'});
}

function fillFigures() {
  const draw = {
    series: (host, i) => drawSeries(host, page.series[i]),
    tables: (host, i) => drawTable(host, page.tables[i]),
    pictures: (host, i) => drawPicture(host, page.pictures[i]),
    checks: (host, i) => drawCheck(host, page.checks[i]),
  };
  // Far below the fold a figure waits until it comes near: the page opens at once.
  const eager = page.eager === true || location.hash === '#all';
  const fill = figure => {
    if (figure.dataset.done) return;
    figure.dataset.done = 'yes';
    for (const kind of Object.keys(draw))
      if (figure.dataset[kind] !== undefined) {
        const index = Number(figure.dataset[kind]);
        figures[kind].set(index, draw[kind](figure, index));
      }
    if (figure.dataset.overlay !== undefined) drawOverlay(figure);
  };
  const all = document.querySelectorAll('figure[data-series], figure[data-tables], figure[data-pictures], figure[data-checks], figure[data-overlay]');
  const watcher = new IntersectionObserver(entries => {
    for (const e of entries) if (e.isIntersecting) { watcher.unobserve(e.target); fill(e.target); }
  }, {rootMargin: '600px'});
  // A chart that has a size is drawn now, without waiting for a frame.
  const fillAll = () => {
    document.querySelectorAll('details.more').forEach(d => { d.open = true; });
    all.forEach(fill);
    for (const chart of Chart.all ?? []) chart.resize();
  };
  if (eager) fillAll(); else for (const figure of all) watcher.observe(figure);
  window.addEventListener('beforeprint', fillAll);
}
