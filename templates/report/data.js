// The page's numbers: base64 back to typed arrays, once each.
const page = JSON.parse(document.getElementById('data').textContent);

function bytesOf(text) {
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; ++i) bytes[i] = raw.charCodeAt(i);
  return bytes;
}

/** {"f"} or {"d"} of encode.cpp. */
function numbers(code) {
  const bytes = bytesOf(code.f ?? code.d);
  return Float64Array.from(code.f !== undefined ? new Float32Array(bytes.buffer)
                                                : new Float64Array(bytes.buffer));
}

/** An array of the pool, by its number. */
const unpacked = new Map();
function array(index) {
  if (!unpacked.has(index)) unpacked.set(index, numbers(page.arrays[index]));
  return unpacked.get(index);
}

/** A plane of a picture: 16-bit steps back to values; NaN where there is none. */
function plane(code) {
  if (code.values) return code;
  const steps = new Uint16Array(bytesOf(code.u).buffer);
  const values = new Float32Array(steps.length);
  const from = code.log ? Math.log(code.low) : code.low;
  const to = code.log ? Math.log(code.high) : code.high;
  for (let i = 0; i < steps.length; ++i) {
    const v = from + (to - from) * steps[i] / 65534;
    values[i] = steps[i] === 65535 ? NaN : code.log ? Math.exp(v) : v;
  }
  code.values = values;
  delete code.u;
  return code;
}

const superscript = text => text.replace(/./g, c => '⁰¹²³⁴⁵⁶⁷⁸⁹'['0123456789'.indexOf(c)] ?? '⁻');

/** A number as one would write it: 0.0123, 5.4·10⁻⁸. */
function pretty(value, digits = 6) {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value > 0 ? '∞' : '−∞';
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size >= 1e-3 && size < 1e6) return String(Number(value.toPrecision(digits))).replace('-', '−');
  const [head, exponent] = value.toExponential(digits - 1).split('e');
  const short = String(Number(head));
  const power = '10' + superscript(String(Number(exponent)));
  if (short === '1') return power;
  if (short === '-1') return '−' + power;
  return short.replace('-', '−') + '·' + power;
}

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name in element && typeof value === 'function') element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

function svg(tag, attributes = {}, text) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  return element;
}
