// Colours: slices and two-dimensional histograms, and tables against time.

/** What the colours mean. */
class ColourBar {
  constructor(host) {
    this.box = make('div', {class: 'colour-bar', 'aria-hidden': 'true'});
    this.canvas = make('canvas', {width: '256', height: '1'});
    this.svg = svg('svg');
    this.box.append(this.canvas, this.svg);
    host.append(this.box);
  }
  draw(table, low, high, log, left, right) {
    const width = this.box.clientWidth - left - right;
    if (width <= 0) return;
    const context = this.canvas.getContext('2d'), image = context.createImageData(256, 1);
    for (let i = 0; i < 256; ++i) {
      image.data.set(table.subarray(3 * i, 3 * i + 3), 4 * i);
      image.data[4 * i + 3] = 255;
    }
    context.putImageData(image, 0, 0);
    this.canvas.style.left = left + 'px';
    this.canvas.style.width = width + 'px';
    const scale = new Scale();
    scale.log = log;
    scale.set(low, high);
    scale.from = left;
    scale.to = left + width;
    this.svg.replaceChildren();
    const ticks = scale.ticks(Math.floor(width / 70));
    for (const t of ticks.list) {
      const at = scale.at(t.value);
      this.svg.append(svg('line', {x1: at, x2: at, y1: 12, y2: t.main ? 17 : 15, stroke: 'var(--soft)'}));
      if (t.text) this.svg.append(svg('text', {x: at, y: 29, 'text-anchor': 'middle'}, t.text));
    }
    if (ticks.common) this.svg.append(svg('text', {x: 0, y: 11}, ticks.common));
  }
}

/** A chart whose inside is coloured by value(x, y); colours from low to high. */
function colourChart(host, options) {
  const chart = new Chart(host, {
    ...options, canvas: true,
    paint: () => {
      const ratio = Math.min(window.devicePixelRatio || 1, 2);
      const {canvas, x, y} = chart;
      canvas.width = Math.round(chart.width * ratio);
      canvas.height = Math.round(chart.height * ratio);
      const context = canvas.getContext('2d');
      const left = Math.round(x.from * ratio), top = Math.round(y.to * ratio);
      const w = Math.round((x.to - x.from) * ratio), h = Math.round((y.from - y.to) * ratio);
      if (w <= 0 || h <= 0) return;
      const image = context.createImageData(w, h);
      const [low, high] = chart.range();
      const table = maps[chart.map];
      const from = chart.logValue ? Math.log(low) : low, to = chart.logValue ? Math.log(high) : high;
      const columns = Array.from({length: w}, (_, i) => chart.column(x.value((left + i + 0.5) / ratio)));
      const rows = Array.from({length: h}, (_, j) => chart.line(y.value((top + j + 0.5) / ratio)));
      for (let j = 0, at = 0; j < h; ++j)
        for (let i = 0; i < w; ++i, at += 4) {
          if (columns[i] < 0 || rows[j] < 0) continue;
          let v = chart.value(columns[i], rows[j]);
          if (chart.logValue) v = v > 0 ? Math.log(v) : NaN;
          if (!(v === v)) continue;
          const c = 3 * Math.round(255 * Math.min(1, Math.max(0, (v - from) / (to - from || 1))));
          image.data[at] = table[c]; image.data[at + 1] = table[c + 1]; image.data[at + 2] = table[c + 2];
          image.data[at + 3] = 255;
        }
      context.putImageData(image, left, top);
      chart.bar.draw(table, low, high, chart.logValue, x.from, chart.width - x.to);
      chart.box.dataset.points = w * h;
    },
    tip: (px, py, self) => {
      if (py === undefined) return null;
      const i = self.column(px), j = self.line(py);
      if (i < 0 || j < 0) return null;
      return {x: px, y: py, rows: self.describe(i, j).map(text => make('div', {}, text))};
    },
  });
  chart.bar = new ColourBar(host);
  return chart;
}

function mapChoice(chart) {
  const select = make('select', {'aria-label': 'Colour map'});
  for (const name of Object.keys(maps)) select.append(make('option', {value: name}, name));
  select.value = chart.map;
  select.addEventListener('change', () => { chart.map = select.value; chart.draw(); });
  return select;
}

/** A slider over frames with a button that plays them. */
function timeline(frames, show) {
  const group = make('div', {class: 'tools', role: 'group', 'aria-label': 'Time'});
  const slider = make('input', {type: 'range', min: '0', max: String(frames.length - 1), step: '1', 'aria-label': 'Time'});
  const output = make('output');
  let playing = null;
  const label = () => {
    const f = frames[Number(slider.value)];
    output.textContent = f ? `${page.time} = ${pretty(f.t, 5)}` : '';
    slider.setAttribute('aria-valuetext', output.textContent);
  };
  const go = index => { slider.value = String(index); label(); show(index); };
  const stop = () => { clearInterval(playing); playing = null; play.textContent = '▶'; };
  const play = action('▶', 'Play', () => {
    if (playing) return stop();
    play.textContent = '❚❚';
    playing = setInterval(() => {
      const next = Number(slider.value) + 1;
      if (next < frames.length) return go(next);
      stop();
    }, Math.max(60, Math.min(400, 6000 / frames.length)));
    if (Number(slider.value) >= frames.length - 1) go(0);
  });
  slider.addEventListener('input', () => { stop(); label(); show(Number(slider.value)); });
  group.append(play, slider, output);
  return {
    group, go, index: () => Number(slider.value),
    grown() {  // the newest frame stays in view if it was
      const following = Number(slider.value) >= Number(slider.max);
      slider.max = String(frames.length - 1);
      group.hidden = frames.length < 2;
      if (following) go(frames.length - 1); else label();
    },
  };
}

function drawPicture(host, picture) {
  const frames = picture.frames;
  if (!frames.length) return;
  frames.forEach(plane);
  const aspect = (picture.y[1] - picture.y[0]) / (picture.x[1] - picture.x[0]);
  const signed = frames.some(f => f.low < 0) && frames.some(f => f.high > 0);
  const positive = frames.every(f => f.low > 0);
  // one range for all times unless it would leave the last picture in one colour
  const span = f => positive ? Math.log(f.high / f.low) : f.high - f.low;
  const whole = {low: Math.min(...frames.map(f => f.low)), high: Math.max(...frames.map(f => f.high))};
  let now = frames.length - 1, all = span(whole) < 4 * span(frames[now]);
  const tools = make('div', {class: 'tools', role: 'group', 'aria-label': 'Colours'});
  const chart = colourChart(host, {
    title: `Picture of ${picture.name}`, xLabel: picture.xn, yLabel: picture.yn,
    aspect: Math.min(1.4, Math.max(0.3, aspect)),
    extent: () => ({x: picture.x, y: picture.y}),
  });
  Object.assign(chart, {
    map: signed ? 'blue–red' : 'viridis',
    logValue: positive && Math.max(...frames.map(f => f.high)) > 100 * Math.min(...frames.map(f => f.low)),
    range() {
      const set = all ? frames : [frames[now]];
      let low = Math.min(...set.map(f => f.low)), high = Math.max(...set.map(f => f.high));
      if (chart.map === 'blue–red' && !chart.logValue && low < 0 && high > 0) { high = Math.max(high, -low); low = -high; }
      if (chart.logValue && low <= 0) low = high > 0 ? high * 1e-6 : 1e-6;
      return [low, high > low ? high : low + (Math.abs(low) * 1e-6 || 1)];
    },
    column(x) { const f = frames[now], i = Math.floor((x - picture.x[0]) / (picture.x[1] - picture.x[0]) * f.w); return i >= 0 && i < f.w ? i : -1; },
    line(y) { const f = frames[now], j = Math.floor((y - picture.y[0]) / (picture.y[1] - picture.y[0]) * f.h); return j >= 0 && j < f.h ? j : -1; },
    value(i, j) { const f = frames[now]; return f.values[j * f.w + i]; },
    describe(i, j) {
      const f = frames[now];
      const x = picture.x[0] + (i + 0.5) / f.w * (picture.x[1] - picture.x[0]);
      const y = picture.y[0] + (j + 0.5) / f.h * (picture.y[1] - picture.y[0]);
      return [pretty(f.values[j * f.w + i], 5), `${picture.xn.split(' ')[0]} = ${pretty(x, 4)}, ${picture.yn.split(' ')[0]} = ${pretty(y, 4)}`];
    },
  });
  const time = timeline(frames, index => { now = index; chart.draw(); });
  time.go(now);
  time.group.hidden = frames.length < 2;
  tools.append(mapChoice(chart), toggle('log', 'Logarithmic colours', chart.logValue, on => { chart.logValue = on; chart.draw(); }),
    toggle('same colours for all times', 'One range of colours for all frames, or each its own', all, on => { all = on; chart.draw(); }),
    action('reset', 'Show everything again', () => chart.reset()));
  host.append(time.group, tools);
  return {grow(added) {
    for (const f of added) frames.push(plane(f));
    while (frames.length > 200) frames.splice(1, 1);
    time.grown();
  }};
}
