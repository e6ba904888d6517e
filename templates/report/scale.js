// One axis: values to pixels, linear or logarithmic, and where its ticks are.
class Scale {
  constructor() { this.low = 0; this.high = 1; this.from = 0; this.to = 1; this.log = false; }

  set(low, high) {
    if (this.log) {
      if (!(high > 0)) { low = 0.1; high = 1; }
      if (!(low > 0)) low = high * 1e-6;
    }
    if (!(high > low)) {
      const room = this.log ? 0 : Math.abs(low) * 1e-3 || 1;
      if (this.log) { low /= 2; high *= 2; } else { low -= room; high += room; }
    }
    this.low = low;
    this.high = high;
  }

  at(value) {
    const share = this.log ? Math.log(value / this.low) / Math.log(this.high / this.low)
                           : (value - this.low) / (this.high - this.low);
    return this.from + (this.to - this.from) * share;
  }

  value(pixel) {
    const share = (pixel - this.from) / (this.to - this.from);
    return this.log ? this.low * Math.pow(this.high / this.low, share)
                    : this.low + (this.high - this.low) * share;
  }

  /** [{value, text}] and the common factor or offset of the texts. */
  ticks(most) {
    return this.log && this.high / this.low > 8 ? this.decades(most) : this.steps(most);
  }

  steps(most) {
    const span = this.high - this.low;
    const raw = span / Math.max(2, most);
    const power = Math.pow(10, Math.floor(Math.log10(raw)));
    const step = power * [1, 2, 5, 10].find(m => m * power >= raw * 0.999);
    const largest = Math.max(Math.abs(this.low), Math.abs(this.high));
    // far from zero and close together: what they share is written once
    const offset = largest / span > 2e4 ? Math.round(this.low / (100 * step)) * 100 * step : 0;
    const size = Math.max(Math.abs(this.low - offset), Math.abs(this.high - offset));
    const exponent = size >= 1e4 || size < 1e-2 ? Math.floor(Math.log10(size)) : 0;
    const unit = Math.pow(10, exponent);
    const digits = Math.min(12, Math.max(0, -Math.floor(Math.log10(step / unit) + 1e-9)));
    const list = [];
    for (let i = Math.ceil(this.low / step - 1e-9); i * step <= this.high + 1e-9 * span; ++i) {
      const value = i * step;
      const text = ((value - offset) / unit).toFixed(digits).replace(/^-0(\.0*)?$/, '0$1');
      list.push({value, text: text.replace('-', '−'), main: true});
    }
    let common = exponent ? '×10' + superscript(String(exponent)) : '';
    if (offset) common += (offset > 0 ? ' + ' : ' − ') + pretty(Math.abs(offset), 12);
    return {list, common};
  }

  decades(most) {
    const first = Math.floor(Math.log10(this.low)), last = Math.ceil(Math.log10(this.high));
    const every = Math.max(1, Math.ceil((last - first) / most));
    const list = [];
    for (let d = first; d <= last; ++d) {
      const main = (d - first) % every === 0 || every === 1;
      const decade = Math.pow(10, d);
      const text = d >= -2 && d <= 3 ? String(Number(decade.toPrecision(1))) : '10' + superscript(String(d));
      if (this.inside(decade)) list.push({value: decade, text: main ? text : '', main});
      if (every > 1) continue;
      for (let m = 2; m < 10; ++m) {
        const value = m * decade;
        const shown = last - first <= 2 && (m === 2 || m === 5);
        if (this.inside(value))
          list.push({value, text: shown ? pretty(value, 2) : '', main: false});
      }
    }
    return {list, common: ''};
  }

  inside(value) { return value >= this.low * (1 - 1e-9) && value <= this.high * (1 + 1e-9); }
}
