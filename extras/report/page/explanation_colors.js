// Colours of heads, weights and vectors, and pictures made of small cells.

// Four heads whose lines have the same dashes are told apart by colour alone, by every kind of sight.
const kHeadColors = 8;
const kHeadsAlike = 4;
const kDashes = ['none', '6 3', '2 3', '8 3 2 3', '12 4', '12 3 2 3 2 3'];
const kStrokes = ['solid', 'dashed', 'dotted', 'double'];
const headColor = head => `var(--head-${head % kHeadColors})`;
const headDashes = head => kDashes[Math.floor(head / kHeadsAlike) % kDashes.length];
// The colour and the stroke of a head, for the border below its number.
const headStyle = head =>
  `--head: ${headColor(head)}; --stroke: ${kStrokes[Math.floor(head / kHeadsAlike) % kStrokes.length]}`;

// The opacity of a weight: small ones can be seen.
const opacityOf = weight => Math.sqrt(weight);

// [red, green, blue] of a colour of the style sheet, "--head-3".
const rgbOf = name => {
  const hex = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  return [1, 3, 5].map(at => parseInt(hex.slice(at, at + 2), 16));
};

// Fills a canvas with rows x columns cells; colorAt(row, column) is [rgb, opacity].
const paint = (canvas, rows, columns, colorAt) => {
  canvas.width = columns;
  canvas.height = rows;
  const image = new ImageData(columns, rows);
  for (let row = 0, at = 0; row < rows; ++row)
    for (let column = 0; column < columns; ++column, at += 4) {
      const [rgb, opacity] = colorAt(row, column);
      image.data[at] = rgb[0];
      image.data[at + 1] = rgb[1];
      image.data[at + 2] = rgb[2];
      image.data[at + 3] = Math.round(255 * opacity);
    }
  canvas.getContext('2d').putImageData(image, 0, 0);
};

const paintWeights = (canvas, matrix, color) => {
  const rgb = rgbOf(color);
  paint(canvas, matrix.length, matrix[0].length, (q, k) => [rgb, opacityOf(matrix[q][k])]);
};

// Numbers above 0 in blue, below in orange, the largest darkest.
const paintSigned = (canvas, vectors, most) => {
  const [above, below] = [rgbOf('--above'), rgbOf('--below')];
  paint(canvas, vectors.length, vectors[0].length, (row, column) => {
    const value = vectors[row][column];
    return [value < 0 ? below : above, Math.min(1, Math.abs(value) / (most || 1))];
  });
};

const picture = (label, properties) =>
  element('canvas', { role: 'img', 'aria-label': label, class: 'cells', ...properties });

// "32 numbers from −1.2 to 0.85": a strip in words, as exact as its block.
const toldVector = vector => {
  const [least, most] = vector.reduce(
    ([low, high], value) => [Math.min(low, value), Math.max(high, value)],
    [Infinity, -Infinity],
  );
  return `${vector.length} numbers from ${twoDigits(least)} to ${twoDigits(most)}`;
};

// A vector as a strip of cells.
const strip = (vector, most, name) => {
  const canvas = picture(`${name}: ${toldVector(vector)}`, { class: 'cells strip' });
  paintSigned(canvas, [vector], most);
  return canvas;
};

const signedKey = most =>
  element(
    'span',
    { class: 'signed-key' },
    `−${most.toPrecision(2)}`,
    element('i', { 'aria-hidden': 'true' }),
    `+${most.toPrecision(2)}`,
  );
