// Colour maps by their published control points, interpolated in RGB.
// viridis: S. van der Walt and N. Smith (matplotlib); RdBu: C. Brewer.
const mapPoints = {
  viridis: '440154 482878 3e4a89 31688e 26828e 1f9e89 35b779 6dcd59 b4de2c fde725',
  'blue–red': '053061 2166ac 4393c3 92c5de d1e5f0 f7f7f7 fddbc7 f4a582 d6604d b2182b 67001f',
  grey: '101010 f4f4f4',
};

function colourMap(name) {
  const points = mapPoints[name].split(' ').map(hex => [0, 2, 4].map(i => parseInt(hex.substr(i, 2), 16)));
  const table = new Uint8ClampedArray(256 * 3);
  for (let i = 0; i < 256; ++i) {
    const at = i / 255 * (points.length - 1), below = Math.min(Math.floor(at), points.length - 2);
    for (let c = 0; c < 3; ++c)
      table[3 * i + c] = points[below][c] + (points[below + 1][c] - points[below][c]) * (at - below);
  }
  return table;
}
const maps = Object.fromEntries(Object.keys(mapPoints).map(name => [name, colourMap(name)]));

function colourOf(table, share) {
  const i = 3 * Math.round(255 * Math.min(1, Math.max(0, share)));
  return `rgb(${table[i]} ${table[i + 1]} ${table[i + 2]})`;
}
const curveColour = index => `var(--c${index % 8})`;
