// Attention as a matrix: a row for each query, a column for each key, numbers where there is room
// and for the cell that is pointed at.

// Cells of about the same opacity are one path: thousands of cells are drawn at once.
const kShades = 40;
const kMatrix = { least: 13, most: 38, numbers: 30, label: 160 };

// [down, right], in cells.
const kArrows = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] };

const matrixFrame = (container, queries, keys) => {
  const longest = units => Math.max(...units.map(({ text }) => widthOfText(text)));
  const most = Math.min(kMatrix.label, 0.3 * container.clientWidth);
  const labels = units => 14 + Math.min(most, longest(units));
  const left = labels(queries),
    top = labels(keys);
  const room = (Math.max(kLines.narrowest, container.clientWidth - 24) - left - 4) / keys.length;
  const cell = Math.min(kMatrix.most, Math.max(kMatrix.least, Math.floor(room)));
  return {
    left,
    top,
    cell,
    width: left + cell * keys.length + 4,
    height: top + cell * queries.length + 4,
  };
};

const cellText = weight =>
  weight >= 0.995 ? '1' : `.${String(Math.round(100 * weight)).padStart(2, '0')}`;

const cellNumber = (weight, x, y, cell) =>
  drawn(
    'text',
    {
      x: x + cell / 2,
      y: y + cell / 2,
      dy: '.35em',
      'text-anchor': 'middle',
      class: weight > 0.35 ? 'on-dark' : 'on-light',
    },
    cellText(weight),
  );

const matrixCells = (rows, queries, keys, { left, top, cell }, color) => {
  const shades = new Array(kShades + 1).fill('');
  const numbers = [];
  let masked = '';
  queries.forEach((query, q) =>
    keys.forEach((key, k) => {
      const [x, y, weight] = [left + k * cell, top + q * cell, rows[q][k]];
      const square = `M${x} ${y}h${cell - 1}v${cell - 1}h${1 - cell}z`;
      if (isMasked(view.kind, query, key)) masked += square;
      else shades[Math.round(kShades * opacityOf(weight))] += square;
      if (cell >= kMatrix.numbers && weight >= 0.005) numbers.push(cellNumber(weight, x, y, cell));
    }),
  );
  return [
    ...(masked ? [drawn('path', { d: masked, class: 'masked' })] : []),
    ...shades.flatMap((d, shade) =>
      d && shade
        ? [drawn('path', { d, fill: color, 'fill-opacity': (shade / kShades).toFixed(3) })]
        : [],
    ),
    ...numbers,
  ];
};

const matrixLabels = (queries, keys, { left, top, cell }) => [
  ...queries.map((unit, q) =>
    drawn(
      'text',
      {
        x: left - 6,
        y: top + (q + 0.5) * cell,
        dy: '.35em',
        'text-anchor': 'end',
        class: unit.mark ? 'sign' : '',
      },
      shortened(unit.text, left - 12),
    ),
  ),
  ...keys.map((unit, k) =>
    drawn(
      'text',
      {
        transform: `translate(${left + (k + 0.5) * cell} ${top - 6}) rotate(-90)`,
        dy: '.35em',
        class: unit.mark ? 'sign' : '',
      },
      shortened(unit.text, top - 12),
    ),
  ),
];

const toldCell = (rows, queries, keys, { q, k }) => {
  const masked = isMasked(view.kind, queries[q], keys[k]);
  return `${queries[q].text} → ${keys[k].text}: ${masked ? '0, masked' : rows[q][k].toFixed(4)}`;
};

// Moves the frame of the cell that is pointed at, and says its number.
const pointAt = (svg, frame, cell, told) => {
  const pointer = svg.querySelector('.pointer');
  pointer.setAttribute('x', frame.left + cell.k * frame.cell - 1);
  pointer.setAttribute('y', frame.top + cell.q * frame.cell - 1);
  pointer.setAttribute('visibility', 'visible');
  byId('matrix-cell').textContent = told(cell);
};

const listenInMatrix = (svg, frame, { queries, keys }, told) => {
  let cell = { q: 0, k: 0 };
  const within = (value, length) => Math.min(length - 1, Math.max(0, value));
  const move = (q, k) => {
    cell = { q: within(q, queries.length), k: within(k, keys.length) };
    pointAt(svg, frame, cell, told);
  };
  svg.addEventListener('pointermove', event => {
    const box = svg.getBoundingClientRect(),
      scale = frame.width / box.width;
    const q = Math.floor(((event.clientY - box.top) * scale - frame.top) / frame.cell);
    const k = Math.floor(((event.clientX - box.left) * scale - frame.left) / frame.cell);
    if (q >= 0 && k >= 0) move(q, k);
  });
  svg.addEventListener('focus', () => move(cell.q, cell.k));
  svg.addEventListener('keydown', event => {
    const [down, right] = kArrows[event.key] || [];
    if (down === undefined) return;
    event.preventDefault();
    move(cell.q + down, cell.k + right);
  });
};

const matrixDrawing = (frame, attention, color) => {
  const { queries, keys, mean } = attention;
  const svg = drawn(
    'svg',
    {
      viewBox: `0 0 ${frame.width} ${frame.height}`,
      width: frame.width,
      height: frame.height,
      role: 'img',
      tabindex: 0,
      'aria-label': `Matrix of ${queries.length} rows and ${keys.length} columns; the arrow keys move in it`,
    },
    drawn('rect', {
      x: 0,
      width: frame.width,
      height: frame.cell,
      class: 'place chosen',
    }),
    ...matrixLabels(queries, keys, frame),
    ...matrixCells(mean, queries, keys, frame, color),
    drawn('rect', {
      class: 'pointer',
      visibility: 'hidden',
      width: frame.cell + 1,
      height: frame.cell + 1,
    }),
  );
  listenInMatrix(svg, frame, attention, cell => toldCell(mean, queries, keys, cell));
  return svg;
};

const matrixTable = ({ queries, keys, mean }) =>
  fillTable(element('table', {}), {
    heads: ['from', ...keys.map(key => key.text)],
    rows: queries.map((query, q) => ({
      head: query.text,
      cells: Array.from(mean[q], (weight, k) =>
        isMasked(view.kind, query, keys[k]) ? '0' : weight.toFixed(3),
      ),
    })),
  });

const shownHeadsText = () => {
  if (view.heads === 'mean' || view.heads === 'all') return 'mean of all heads';
  const heads = headsOf();
  return heads.length === 1
    ? `head ${heads[0] + 1}`
    : `mean of heads ${heads.map(head => head + 1).join(', ')}`;
};

// The matrix that is shown, with its places: { svg, frame, attention }.
let shownMatrix;

const showChosenRow = () => {
  const { svg, frame, attention } = shownMatrix;
  const chosen = unitAt(attention.queries, view[kSides[view.kind].queries]);
  svg.querySelector('.place').setAttribute('y', frame.top + chosen * frame.cell - 0.5);
};

const showMatrix = () => {
  const attention = shownAttention();
  const heads = headsOf();
  const color = heads.length === 1 ? headColor(heads[0]) : 'var(--a)';
  byId('matrix-title').textContent = capitalised(
    `${kKinds[view.kind]}, layer ${view.layer + 1}, ${shownHeadsText()}`,
  );
  const frame = matrixFrame(byId('matrix-figure'), attention.queries, attention.keys);
  shownMatrix = { svg: matrixDrawing(frame, attention, color), frame, attention };
  byId('matrix').replaceChildren(shownMatrix.svg);
  byId('masked-note').hidden = view.kind !== 'decoder';
  byId('matrix-cell').textContent = 'Point at a cell to read its number.';
  byId('matrix-table').replaceChildren();
  if (byId('matrix-fold').open) byId('matrix-table').replaceChildren(matrixTable(attention));
};
