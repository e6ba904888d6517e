// A frame with two axes: ticks, grid, zoom and tooltip. `paint` draws the inside.
//
// Zoom: drag a box (a flat one zooms x alone), pinch, wheel once the chart has the focus (or with
// Ctrl), keys + - 0; arrows move the tooltip, with Shift the view. Double click resets.
class Chart {
  /** options: xLabel, yLabel, logX, logY, extent() -> {x: [low, high], y: [low, high]} of the data
      in view, paint(chart), tip(x, y) -> {html rows, x, y} or null, points: xs for the arrow keys,
      aspect: height over width of the inside. */
  constructor(host, options) {
    Object.assign(this, {logX: false, logY: false}, options);
    this.x = new Scale();
    this.y = new Scale();
    this.view = null;
    this.box = make('div', {class: 'chart', tabindex: '0', role: 'img', 'aria-label': options.title});
    this.canvas = options.canvas ? make('canvas', {'aria-hidden': 'true'}) : null;
    if (this.canvas) this.box.append(this.canvas);
    this.svg = svg('svg', {'aria-hidden': 'true'});
    this.tipBox = make('div', {class: 'tip', role: 'status', hidden: ''});
    this.box.append(this.svg, this.tipBox);
    host.append(this.box);
    this.listen();
    this.width = 0;
    new ResizeObserver(() => this.resize()).observe(this.box);
    (Chart.all ??= []).push(this);
  }

  resize() {
    const width = this.box.clientWidth;
    if (width === 0 || (width === this.width && !this.aspect && this.box.clientHeight === this.height)) return;
    this.width = width;
    this.draw();
  }

  margins() { return {left: 58, right: 14, top: 22, bottom: 40}; }

  draw() {
    const width = this.box.clientWidth;
    if (width === 0) return;
    const m = this.margins();
    if (this.aspect) this.box.style.height = Math.round((width - m.left - m.right) * this.aspect + m.top + m.bottom) + 'px';
    const height = this.box.clientHeight;
    this.height = height;
    this.x.log = this.logX;
    this.y.log = this.logY;
    const extent = this.extent(this.view?.x);
    this.x.set(...(this.view?.x ?? extent.x));
    this.y.set(...(this.view?.y ?? extent.y));
    this.x.from = m.left; this.x.to = width - m.right;
    this.y.from = height - m.bottom; this.y.to = m.top;
    this.svg.replaceChildren();
    this.svg.setAttribute('viewBox', `0 0 ${width} ${height}`);
    this.id ??= 'clip' + (Chart.count = (Chart.count ?? 0) + 1);
    const clip = svg('clipPath', {id: this.id});
    clip.append(svg('rect', {x: this.x.from, y: this.y.to, width: this.x.to - this.x.from,
                             height: this.y.from - this.y.to}));
    this.svg.append(clip);
    this.axes();
    this.inside = svg('g', {'clip-path': `url(#${this.id})`});
    this.svg.append(this.inside);
    this.paint(this);
    this.over = svg('g');
    this.svg.append(this.over);
  }

  axes() {
    const {x, y} = this, g = svg('g');
    const horizontal = x.ticks(Math.floor((x.to - x.from) / 75));
    const vertical = y.ticks(Math.floor((y.from - y.to) / 42));
    for (const t of horizontal.list) {
      const at = Math.round(x.at(t.value)) + 0.5;
      if (t.main && !this.canvas) g.append(svg('line', {class: 'grid', x1: at, x2: at, y1: y.from, y2: y.to}));
      g.append(svg('line', {class: 'tick', x1: at, x2: at, y1: y.from, y2: y.from + (t.main ? 5 : 3)}));
      if (t.text) g.append(svg('text', {x: at, y: y.from + 18, 'text-anchor': 'middle'}, t.text));
    }
    for (const t of vertical.list) {
      const at = Math.round(y.at(t.value)) + 0.5;
      if (t.main && !this.canvas) g.append(svg('line', {class: 'grid', x1: x.from, x2: x.to, y1: at, y2: at}));
      g.append(svg('line', {class: 'tick', x1: x.from - (t.main ? 5 : 3), x2: x.from, y1: at, y2: at}));
      if (t.text) g.append(svg('text', {x: x.from - 8, y: at + 4, 'text-anchor': 'end'}, t.text));
    }
    g.append(svg('rect', {class: 'frame', x: x.from + 0.5, y: y.to + 0.5, width: Math.max(0, x.to - x.from - 1),
                          height: Math.max(0, y.from - y.to)}));
    const unit = horizontal.common ? `${this.xLabel}  ${horizontal.common}` : this.xLabel;
    g.append(svg('text', {class: 'label', x: (x.from + x.to) / 2, y: y.from + 34, 'text-anchor': 'middle'}, unit));
    const above = [this.yLabel, vertical.common].filter(Boolean).join('  ');
    if (above) g.append(svg('text', {class: 'label', x: x.from - 50, y: y.to - 9}, above));
    this.svg.append(g);
  }

  zoom(x, y) { this.view = {x, y}; this.draw(); }
  reset() { this.view = null; this.draw(); }

  /** Enlarges around a point by a factor; x alone unless both. */
  scaleAt(px, py, factor, both) {
    const range = (scale, pixel) => {
      const ends = [scale.from, scale.to].map(end => scale.value(pixel + (end - pixel) / factor));
      return ends[0] < ends[1] ? ends : ends.reverse();
    };
    this.zoom(range(this.x, px), both || this.view?.y ? range(this.y, py) : undefined);
  }

  pan(dx, dy) {
    const move = (scale, by) => [scale.value(scale.from + by), scale.value(scale.to + by)];
    const y = this.view?.y ? move(this.y, dy) : undefined;
    this.zoom(move(this.x, dx), y);
  }

  listen() {
    const place = event => {
      const r = this.box.getBoundingClientRect();
      return [event.clientX - r.left, event.clientY - r.top];
    };
    const fingers = new Map();
    let start = null, pinch = null;
    this.box.addEventListener('pointerdown', event => {
      if (event.button > 0) return;
      fingers.set(event.pointerId, place(event));
      if (fingers.size === 1) start = {at: place(event), moved: false, shift: event.shiftKey, last: place(event)};
      if (fingers.size === 2) { pinch = this.spanOf(fingers); start = null; this.mark(null); }
      if (event.pointerType === 'mouse') this.box.setPointerCapture(event.pointerId);
    });
    this.box.addEventListener('pointermove', event => {
      const at = place(event);
      if (fingers.has(event.pointerId)) fingers.set(event.pointerId, at);
      if (fingers.size === 2 && pinch) {
        const now = this.spanOf(fingers);
        if (now.size > 10 && pinch.size > 10) this.scaleAt(now.x, now.y, now.size / pinch.size, !!this.canvas);
        pinch = now;
        return;
      }
      if (start && Math.hypot(at[0] - start.at[0], at[1] - start.at[1]) > 5) start.moved = true;
      if (start?.moved && (start.shift || event.pointerType === 'touch')) {
        if (this.view) this.pan(start.last[0] - at[0], start.last[1] - at[1]);
        start.last = at;
      } else if (start?.moved) {
        this.mark(start.at, at);
        return;
      }
      this.point(...at);
    });
    const end = event => {
      const at = place(event);
      if (event.type === 'pointerup' && start?.moved && !start.shift && event.pointerType !== 'touch') this.take(start.at, at);
      if (event.type === 'pointerup' && start && !start.moved) this.point(...at);
      fingers.delete(event.pointerId);
      if (fingers.size < 2) pinch = null;
      start = null;
      this.mark(null);
    };
    this.box.addEventListener('pointerup', end);
    this.box.addEventListener('pointercancel', end);
    this.box.addEventListener('pointerleave', event => { if (event.pointerType === 'mouse') this.hide(); });
    this.box.addEventListener('blur', () => this.hide());
    this.box.addEventListener('dblclick', () => this.reset());
    this.box.addEventListener('wheel', event => {
      if (!event.ctrlKey && document.activeElement !== this.box) return;
      event.preventDefault();
      this.scaleAt(...place(event), Math.exp(-event.deltaY / 400), !!this.canvas);
    }, {passive: false});
    this.box.addEventListener('keydown', event => this.key(event));
  }

  spanOf(fingers) {
    const [a, b] = [...fingers.values()];
    return {x: (a[0] + b[0]) / 2, y: (a[1] + b[1]) / 2, size: Math.hypot(a[0] - b[0], a[1] - b[1])};
  }

  /** The box that is being dragged. */
  corners(a, b) {
    const flat = Math.abs(a[1] - b[1]) < 24;
    const clamp = (v, p, q) => Math.min(Math.max(v, Math.min(p, q)), Math.max(p, q));
    const x = [a[0], b[0]].map(v => clamp(v, this.x.from, this.x.to)).sort((p, q) => p - q);
    const y = flat ? [this.y.to, this.y.from]
                   : [a[1], b[1]].map(v => clamp(v, this.y.from, this.y.to)).sort((p, q) => p - q);
    return {x, y, flat};
  }
  mark(a, b) {
    this.over?.replaceChildren();
    this.tipBox.hidden = true;
    if (!a || !this.over) return;
    const c = this.corners(a, b);
    this.over.append(svg('rect', {class: 'box', x: c.x[0], y: c.y[0], width: c.x[1] - c.x[0], height: c.y[1] - c.y[0]}));
  }
  take(a, b) {
    const c = this.corners(a, b);
    if (c.x[1] - c.x[0] < 5) return;
    this.zoom(c.x.map(v => this.x.value(v)), c.flat ? undefined : [this.y.value(c.y[1]), this.y.value(c.y[0])]);
  }

  point(px, py) {
    const {x, y} = this;
    if (!this.tip || px < x.from || px > x.to || py < y.to || py > y.from) return this.hide();
    const found = this.tip(x.value(px), y.value(py), this);
    if (!found) return this.hide();
    this.cursor = found.index;
    this.showTip(found);
  }
  hide() { this.tipBox.hidden = true; this.over?.replaceChildren(); }

  showTip(found) {
    const px = this.x.at(found.x), py = found.y === undefined ? this.y.to + 20 : this.y.at(found.y);
    this.over.replaceChildren();
    if (!this.canvas) {
      this.over.append(svg('line', {class: 'cursor', x1: px, x2: px, y1: this.y.from, y2: this.y.to}));
      for (const dot of found.dots ?? [])
        if (Number.isFinite(this.y.at(dot.y)) && this.y.at(dot.y) <= this.y.from && this.y.at(dot.y) >= this.y.to)
          this.over.append(svg('circle', {cx: this.x.at(dot.x), cy: this.y.at(dot.y), r: 3.5, fill: dot.colour}));
    }
    this.tipBox.replaceChildren(...found.rows);
    this.tipBox.hidden = false;
    const w = this.tipBox.offsetWidth, h = this.tipBox.offsetHeight;
    const left = px + 14 + w > this.width ? px - 14 - w : px + 14;
    this.tipBox.style.left = Math.max(0, Math.min(left, this.width - w)) + 'px';
    this.tipBox.style.top = Math.max(0, Math.min(py - h - 10, this.height - h)) + 'px';
  }

  key(event) {
    const middle = [(this.x.from + this.x.to) / 2, (this.y.from + this.y.to) / 2];
    const sideways = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (event.key === '+' || event.key === '=') this.scaleAt(...middle, 1.4, !!this.canvas);
    else if (event.key === '-') this.scaleAt(...middle, 1 / 1.4, !!this.canvas);
    else if (event.key === '0' || event.key === 'Escape') { this.hide(); this.reset(); }
    else if (sideways && event.shiftKey) this.pan(sideways * (this.x.to - this.x.from) / 8, 0);
    else if (sideways && this.points) {
      const xs = this.points();
      if (!xs.length) return;
      let to = (this.cursor ?? (sideways > 0 ? -1 : xs.length)) + sideways;
      if (to >= 0 && to < xs.length && xs[to] < this.x.low) to = xs.findIndex(v => v >= this.x.low);
      if (to >= 0 && to < xs.length && xs[to] > this.x.high) to = xs.findLastIndex(v => v <= this.x.high);
      this.cursor = Math.min(Math.max(to, 0), xs.length - 1);
      const found = this.tip(xs[this.cursor], undefined, this);
      if (found) this.showTip(found);
    } else return;
    event.preventDefault();
  }
}

/** Buttons beside a chart. */
function toggle(text, label, on, change) {
  const button = make('button', {type: 'button', 'aria-pressed': String(on), title: label}, text);
  button.addEventListener('click', () => {
    const now = button.getAttribute('aria-pressed') !== 'true';
    button.setAttribute('aria-pressed', String(now));
    change(now);
  });
  return button;
}
function action(text, label, act) {
  const button = make('button', {type: 'button', title: label}, text);
  button.addEventListener('click', act);
  return button;
}
function row(colour, text) {
  const line = make('div');
  if (colour) {
    const swatch = make('span', {class: 'swatch'});
    swatch.style.background = colour;
    line.append(swatch);
  }
  line.append(text);
  return line;
}
