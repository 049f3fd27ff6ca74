// Attention as lines between the words: queries on the left, keys on the right, as thick as the
// weight, a colour for each head.

const kLines = { row: 21, top: 26, narrowest: 300, narrow: 400, widest: 560, most: 1500 };
// Of the labels of figures, in pixels; the label of the chosen word is bold.
const widthOfLetter = (() => {
  const canvas = document.createElement('canvas').getContext('2d');
  const widths = new Map();
  return letter => {
    if (!widths.has(letter)) {
      canvas.font = `bold 13px ${getComputedStyle(document.body).fontFamily}`;
      widths.set(letter, canvas.measureText(letter).width);
    }
    return widths.get(letter);
  };
})();

const widthOfText = text => [...text].reduce((sum, letter) => sum + widthOfLetter(letter), 0);

// As much of a text as has room.
const shortened = (text, room) => {
  if (widthOfText(text) <= room) return text;
  const letters = [...text];
  let left = room - widthOfLetter('…');
  const end = letters.findIndex(letter => (left -= widthOfLetter(letter)) < 0);
  return `${letters.slice(0, Math.max(1, end)).join('')}…`;
};

const rowOfUnit = i => kLines.top + (i + 0.5) * kLines.row;

const linesOf = ({ shown, queries, keys }, wanted) => {
  const lines = [];
  for (const { head, rows } of shown)
    for (let q = 0; q < queries.length; ++q)
      for (let k = 0; k < keys.length; ++k)
        if (wanted(q, k) && rows[q][k] >= 0.01) lines.push({ head, q, k, weight: rows[q][k] });
  return lines.sort((a, b) => b.weight - a.weight).slice(0, kLines.most);
};

const lineDrawing = ({ head, q, k, weight }, { left, right }) =>
  drawn('path', {
    d: `M${left} ${rowOfUnit(q)}L${right} ${rowOfUnit(k)}`,
    stroke: head === undefined ? 'var(--a)' : headColor(head),
    'stroke-dasharray': head === undefined ? 'none' : headDashes(head),
    'stroke-width': (1 + 3 * weight).toFixed(2),
    'stroke-opacity': opacityOf(weight).toFixed(3),
  });

// How much each head looks from the query at each key, as squares beside the keys.
const squaresOf = ({ shown, keys }, query, { right, square }) =>
  keys.flatMap((_, k) =>
    shown.map(({ head, rows }, i) =>
      drawn('rect', {
        x: right + 4 + i * square,
        y: rowOfUnit(k) - 7,
        width: square - 1,
        height: 14,
        fill: head === undefined ? 'var(--a)' : headColor(head),
        'fill-opacity': opacityOf(rows[query][k]).toFixed(3),
      }),
    ),
  );

// "teacher 62 %, old 12 %": where a row of weights goes.
const strongest = (row, keys, most = 3) =>
  Array.from(row, (weight, k) => ({ weight, text: keys[k].text }))
    .sort((a, b) => b.weight - a.weight)
    .slice(0, most)
    .filter(({ weight }) => weight >= 0.01)
    .map(({ weight, text }) => `${isolated(text)} ${percent(weight)}`)
    .join(', ');

const labelDrawing = (unit, i, x, anchor, room) =>
  drawn(
    'text',
    { x, y: rowOfUnit(i), dy: '.35em', 'text-anchor': anchor, class: unit.mark ? 'sign' : '' },
    shortened(unit.text, room),
    drawn('title', {}, unit.text),
  );

const kQueryHeads = { encoder: 'from', decoder: 'to write', cross: 'to write' };
const kKeyHeads = { encoder: 'to', decoder: 'written so far', cross: 'source' };

const frameOf = (container, attention) => {
  const width = Math.min(kLines.widest, Math.max(kLines.narrowest, container.clientWidth - 24));
  const square = attention.shown.length > 8 || width < kLines.narrow ? 4 : 6;
  const squares = attention.shown.length * square;
  const longest = units => Math.max(...units.map(({ text }) => widthOfText(text)));
  const most = (width - 84 - squares) / 2;
  const left = Math.min(most, Math.max(60, longest(attention.queries))) + 12,
    end = Math.min(most, longest(attention.keys));
  const right = width - end - squares - 12;
  return { width, square, room: { queries: left - 12, keys: end }, left, right };
};

// The drawing that is shown, with its numbers and places: { svg, attention, frame }.
let shownLines;

const chosenQuery = () => unitAt(shownLines.attention.queries, view[kSides[view.kind].queries]);

// Draws the lines of one query, of one key, or of all words.
const drawLines = ({ query, key }) => {
  const { svg, attention, frame } = shownLines;
  const wanted =
    key !== undefined ? (_, k) => k === key : query !== undefined ? q => q === query : () => true;
  svg
    .querySelector('.lines')
    .replaceChildren(
      ...linesOf(attention, wanted).map(line => lineDrawing(line, frame)),
      ...(query === undefined ? [] : squaresOf(attention, query, frame)),
    );
  for (const label of svg.querySelectorAll('.query, .key'))
    label.classList.toggle(
      'chosen',
      Number(label.dataset.unit) === (label.classList.contains('query') ? query : key),
    );
};

const drawChosenLines = () => drawLines(view.lines === 'all' ? {} : { query: chosenQuery() });

const chooseQuery = unit => {
  const { queries } = shownLines.attention;
  const within = Math.min(queries.length - 1, Math.max(0, unit));
  change({ [kSides[view.kind].queries]: queries[within].tokens[0] });
  shownLines.svg.querySelector(`.query[data-unit="${within}"]`).focus();
};

const labelOf = event => {
  const label = event.target.closest('.query, .key');
  if (!label) return undefined;
  return { [label.classList.contains('query') ? 'query' : 'key']: Number(label.dataset.unit) };
};

const listenInLines = svg => {
  const preview = event => {
    const label = labelOf(event);
    if (label) drawLines(label);
    else drawChosenLines();
  };
  svg.addEventListener('pointerover', preview);
  svg.addEventListener('focusin', preview);
  svg.addEventListener('pointerleave', drawChosenLines);
  svg.addEventListener('click', event => {
    const { query } = labelOf(event) || {};
    if (query !== undefined) chooseQuery(query);
  });
  svg.addEventListener('keydown', event => {
    const step = { ArrowDown: 1, ArrowUp: -1, Enter: 0, ' ': 0 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    chooseQuery(Number(event.target.closest('.query').dataset.unit) + step);
  });
};

const queryDrawing = (unit, q, { mean, keys }, frame) =>
  drawn(
    'g',
    {
      class: 'query',
      'data-unit': q,
      role: 'button',
      'aria-label': `${unit.text}: ${strongest(mean[q], keys)}`,
    },
    drawn('rect', {
      x: 0,
      y: rowOfUnit(q) - kLines.row / 2,
      width: frame.left,
      height: kLines.row,
      class: 'place',
    }),
    labelDrawing(unit, q, frame.left - 6, 'end', frame.room.queries),
  );

const linesDrawing = (attention, frame) => {
  const { queries, keys, shown } = attention;
  const height = kLines.top + kLines.row * Math.max(queries.length, keys.length) + 4;
  const keyLeft = frame.right + 8 + shown.length * frame.square;
  return drawn(
    'svg',
    {
      viewBox: `0 0 ${frame.width} ${height}`,
      width: frame.width,
      role: 'group',
      'aria-label': `Lines of attention from ${queries.length} words to ${keys.length}`,
    },
    drawn(
      'text',
      { x: frame.left - 6, y: 14, 'text-anchor': 'end', class: 'head' },
      kQueryHeads[view.kind],
    ),
    drawn('text', { x: frame.right + 4, y: 14, class: 'head' }, kKeyHeads[view.kind]),
    drawn('g', { class: 'lines' }),
    ...keys.map((unit, k) =>
      drawn(
        'g',
        { class: 'key', 'data-unit': k },
        labelDrawing(unit, k, keyLeft, 'start', frame.room.keys),
      ),
    ),
    ...queries.map((unit, q) => queryDrawing(unit, q, attention, frame)),
  );
};

const showLines = () => {
  const attention = shownAttention();
  const frame = frameOf(byId('lines-figure'), attention);
  const svg = linesDrawing(attention, frame);
  shownLines = { svg, attention, frame };
  listenInLines(svg);
  byId('lines').replaceChildren(svg);
  byId('kind-note').textContent = kKindNotes[view.kind];
  byId('unit').value = view.unit;
};

const showChosenQuery = () => {
  const chosen = chosenQuery();
  byId('lines-choice').value = view.lines;
  shownLines.svg.querySelectorAll('.query').forEach((label, q) => {
    label.setAttribute('tabindex', q === chosen ? 0 : -1);
    label.setAttribute('aria-pressed', q === chosen);
  });
  drawChosenLines();
};
