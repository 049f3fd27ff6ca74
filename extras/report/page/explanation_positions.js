// What goes into the model: the embedding of a token plus the vector of its position (sections 3.4
// and 3.5), and the vectors of all positions as a picture.

const kPositionsShown = 64;

// The frequency of a pair of a sine and a cosine, as in model/file/model_config.h.
const frequencyOf = dimension => {
  const width = model.config['d-model'],
    pair = Math.floor(dimension / 2);
  const pairs = model.config.positions === 'marian' ? Math.max(width / 2 - 1, 1) : width / 2;
  return 10000 ** (-pair / pairs);
};

const sinusoid = (position, dimension) => {
  const angle = position * frequencyOf(dimension);
  return dimension % 2 ? Math.cos(angle) : Math.sin(angle);
};

const isLearned = () => model.config.positions === 'learned';

const sinusoids = position =>
  Float32Array.from({ length: model.config['d-model'] }, (_, dimension) =>
    sinusoid(position, dimension),
  );

const positionVectors = () => {
  if (!isLearned()) return Array.from({ length: kPositionsShown }, (_, i) => sinusoids(i));
  const table = vectorBlock(model.positions[view.side === 'source' ? 'source' : 'target']);
  return Array.from({ length: Math.min(kPositionsShown, table.count) }, (_, i) => table.vector(i));
};

// Says the number of the cell of a canvas that is pointed at, or that the arrow keys lead to.
const tellCells = (canvas, rows, columns, told) => {
  let [row, column] = [0, 0];
  const move = (toRow, toColumn) => {
    row = Math.min(rows - 1, Math.max(0, toRow));
    column = Math.min(columns - 1, Math.max(0, toColumn));
    byId(`${canvas.id}-cell`).textContent = told(row, column);
  };
  canvas.onpointermove = event => {
    const box = canvas.getBoundingClientRect();
    move(
      Math.floor(((event.clientY - box.top) * rows) / box.height),
      Math.floor(((event.clientX - box.left) * columns) / box.width),
    );
  };
  canvas.onkeydown = event => {
    const [down, right] = kArrows[event.key] || [];
    if (down === undefined) return;
    event.preventDefault();
    move(row + down, column + right);
  };
};

const toldPosition = vectors => (position, dimension) => {
  const number = vectors[position][dimension];
  // Learned numbers are no more exact on this page.
  if (isLearned()) return `Position ${position}, dimension ${dimension}: ${number.toPrecision(2)}`;
  const value = number.toFixed(3);
  const wavelength = (2 * Math.PI) / frequencyOf(dimension);
  return (
    `Position ${position}, dimension ${dimension} (${dimension % 2 ? 'cosine' : 'sine'}): ${value}. ` +
    `The wave of this dimension is ${wavelength < 100 ? wavelength.toFixed(1) : count(Math.round(wavelength))} positions long.`
  );
};

const showPositions = () => {
  const vectors = positionVectors();
  const most = Math.max(...vectors.map(largest));
  const waves = byId('waves');
  paintSigned(waves, vectors, most);
  tellCells(waves, vectors.length, vectors[0].length, toldPosition(vectors));
  const products = vectors.map(one => Float64Array.from(vectors, other => dotProduct(one, other)));
  const near = byId('near');
  paintSigned(near, products, Math.max(...products.map(largest)));
  tellCells(
    near,
    vectors.length,
    vectors.length,
    (one, other) => `Positions ${one} and ${other}: ${products[one][other].toFixed(2)}`,
  );
  const width = vectors[0].length;
  const exponent = model.config.positions === 'marian' ? 'i/(d/2-1)' : '2i/d';
  const longest = count(Math.round((2 * Math.PI) / frequencyOf(width - 1)));
  const note = isLearned()
    ? `In this model the vectors of the positions are learned (section 3.5, last paragraph). A row is a position, a column one of the ${count(width)} dimensions.`
    : `A row is a position, a column one of the ${count(width)} dimensions: PE(pos, 2i) = sin(pos / 10000^{${exponent}}), PE(pos, 2i+1) = cos(…). ` +
      `On the left the waves are short, on the right ${longest} positions long.`;
  byId('positions-note').replaceChildren(...formula(note));
  byId('near-note').textContent =
    'How alike two positions are: the product of their vectors. It depends on their distance alone if positions are sines and cosines, ' +
    'so that a head can learn to look “one to the left” (section 3.5).';
};

const showInput = () => {
  const vectors = sentence().embedding[view.side === 'source' ? 'source' : 'target'];
  const position = view.side === 'source' ? view.source : view.output;
  const token = tokensOf(view.side)[position];
  const embedded = vectorBlock(vectors.token).vector(position);
  const added = isLearned() ? vectorBlock(vectors.position).vector(position) : sinusoids(position);
  const rows = [
    [`√d_{model} × embedding of ${quoted(token.piece)}`, embedded],
    [`+ position ${position}`, added],
    ['= what the first layer gets', embedded.map((value, i) => value + added[i])],
  ];
  const most = Math.max(...rows.map(([, vector]) => largest(vector)));
  byId('input-strips').replaceChildren(
    ...rows.map(([name, vector]) =>
      element(
        'div',
        { class: 'named-strip' },
        element('span', {}, ...formula(name)),
        strip(vector, most, name.replace(/[{}]/g, '')),
      ),
    ),
    signedKey(most),
  );
  byId('input-side').value = view.side;
  fillSelect(
    byId('input-word'),
    tokensOf(view.side).map((one, i) => [i, `${i}  ${one.piece}`]),
  );
  byId('input-word').value = position;
};
