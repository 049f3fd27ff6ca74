// One word's attention, step by step (section 3.2 of the paper), on the numbers of the model.

const kSteps = [
  {
    name: 'all',
    text: () =>
      'All six steps at once. Choose a step to read it alone; choose another word, layer or head above, and the picture follows.',
  },
  {
    name: 'q, k, v',
    text: ({ query, size, sizes }) =>
      `The vector of ${quoted(query)} times W^{Q} gives its query q; each word’s vector times W^{K} and W^{V} gives its key k and its value v. ` +
      `This head has ${size} of the ${count(sizes)} numbers of each (section 3.2.2). Blue is above 0, orange below. ` +
      'In the next steps a value counts as much as its weight.',
  },
  {
    name: 'q · k',
    text: ({ best, score, size }) =>
      `The query times each key is a score: the more alike, the larger. ${quoted(best)} has the largest, ${decimal(score * Math.sqrt(size))} (equation 1, QK^{T}).`,
  },
  {
    name: '÷ √d_{k}',
    text: ({ best, score, size }) =>
      `Each score is divided by √d_{k} = √${size} = ${+Math.sqrt(size).toFixed(2)}, as long vectors would have large products (section 3.2.1, footnote 4). ` +
      `${quoted(best)}: ${decimal(score)}.`,
  },
  {
    name: 'softmax',
    text: ({ best, weight, masked }) =>
      (masked
        ? `Words that are not yet written are masked: a score of −∞, a weight of exactly 0. `
        : '') +
      `Softmax makes the scores positive weights whose sum is 1: e to the score, divided by the sum of all. ${quoted(best)} gets ${percent(weight)}.`,
  },
  {
    name: 'sum of values',
    text: () =>
      'Each value times its weight, added up, is what this head has found (equation 1, softmax(…)V). A value is drawn as strongly as it counts.',
  },
  {
    name: 'heads × W^{O}',
    text: ({ heads, sizes }) =>
      `The results of all ${heads} heads, side by side, are ${count(sizes)} numbers again. Times W^{O} they are the output of the layer’s attention (section 3.2.2, MultiHead).`,
  },
];

const partOf = (vector, head, heads) => {
  const size = vector.length / heads;
  return vector.subarray(head * size, (head + 1) * size);
};

// Of all heads, side by side: the sums of the values, weighted.
const contextOf = (values, block, position) => {
  const { count: keys, size, vector } = vectorBlock(values);
  const context = new Float32Array(size);
  for (let k = 0; k < keys; ++k)
    vector(k).forEach((value, i) => {
      const head = Math.floor((i * block.heads) / size);
      context[i] += block.at(head, position, k) * value;
    });
  return context;
};

// What the steps compute for the chosen word and head.
const stepsOf = () => {
  const sides = kSides[view.kind];
  const position = view[sides.queries];
  const vectors = sentence().vectors[view.kind][view.layer];
  const block = blockOf(view.kind, view.layer);
  const { heads, keys } = block,
    head = Math.min(view.head, heads - 1);
  const part = (name, i) => partOf(vectorBlock(vectors[name]).vector(i), head, heads);
  const q = part('q', position),
    size = q.length;
  const tokens = tokensOf(sides.keys);
  const rows = tokens.slice(0, keys).map((token, k) => {
    const score = block.scoreAt(head, position, k);
    return {
      token,
      // Whether the query is made of this token. The decoder makes it of the token that it has read.
      isOwn: view.kind !== 'cross' && k === position,
      key: part('k', k),
      value: part('v', k),
      score, // divided by √d_k
      weight: block.at(head, position, k),
      masked: score === -Infinity,
    };
  });
  const best = rows.reduce((most, row) => (row.weight > most.weight ? row : most));
  const context = contextOf(vectors.v, block, position);
  return {
    ...{ head, heads, size, q, rows, context, sizes: context.length },
    output: vectorBlock(vectors.output).vector(position),
    sum: partOf(context, head, heads),
    query: tokensOf(sides.queries)[position].piece,
    best: best.token.piece,
    score: best.score,
    weight: best.weight,
    masked: rows.some(row => row.masked),
  };
};

const stepCell = (step, properties, ...children) =>
  element('td', { ...properties, 'data-step': step }, ...children);

// Step 1 shows the values themselves, the others what their weights leave of them.
const valueStrip = ({ token, value, weight }, most) => {
  const canvas = strip(value, most, `Value of ${token.piece}`);
  if (view.step !== 1) canvas.style.opacity = opacityOf(weight).toFixed(3);
  return canvas;
};

const rowClass = (row, bestScore) =>
  [
    row.masked ? 'masked-row' : row.score === bestScore ? 'best-row' : '',
    row.isOwn ? 'own-row' : '',
  ].join(' ');

const stepRow = ({ size }, row, { most, bestScore }) =>
  element(
    'tr',
    { class: rowClass(row, bestScore) },
    element(
      'th',
      { scope: 'row', title: row.token.piece },
      element('span', { dir: 'auto' }, row.token.piece),
      ...(row.isOwn ? [element('small', {}, 'gives q')] : []),
    ),
    stepCell(1, {}, strip(row.key, most.key, `Key of ${row.token.piece}`)),
    stepCell(2, { class: 'number' }, row.masked ? '−∞' : decimal(row.score * Math.sqrt(size))),
    stepCell(3, { class: 'number' }, row.masked ? '−∞' : decimal(row.score)),
    stepCell(
      4,
      { class: 'number weight' },
      element('i', { style: `width: ${(100 * row.weight).toFixed(2)}%`, 'aria-hidden': 'true' }),
      element('span', {}, row.masked ? '0' : row.weight.toFixed(3)),
    ),
    stepCell('1 5', {}, valueStrip(row, most.value)),
  );

const stepHead = (step, text) =>
  element(
    'th',
    { scope: 'col', 'data-step': step, class: [2, 3, 4].includes(step) ? 'number' : '' },
    text,
  );

// The rows that are shown: of many words those of the largest weights, in the order of the text.
const kRowsShown = 12;
// The row of the chosen word is always there.
const shownRows = rows => {
  if (view.rows === 'all' || rows.length <= kRowsShown + 2) return rows;
  const least = [...rows].sort((a, b) => b.weight - a.weight)[kRowsShown - 1].weight;
  const likely = rows.filter(row => !row.masked && row.weight >= least).slice(0, kRowsShown);
  return rows.filter(row => row.isOwn || likely.includes(row));
};

// The rows that are not shown, in one.
const otherRows = (rows, shown) => {
  const others = rows.filter(row => !shown.includes(row));
  if (!others.length) return [];
  const weight = others.reduce((sum, row) => sum + row.weight, 0);
  return [
    element(
      'tr',
      { class: 'masked-row' },
      element('th', { scope: 'row' }, `${others.length} others`),
      stepCell(1, {}),
      stepCell(2, { class: 'number' }, '…'),
      stepCell(3, { class: 'number' }, '…'),
      stepCell(4, { class: 'number weight' }, element('span', {}, weight.toFixed(3))),
      stepCell('1 5', {}),
    ),
  ];
};

const stepsTable = steps => {
  const most = {
    key: largest(steps.rows.map(row => largest(row.key))),
    value: largest(steps.rows.map(row => largest(row.value))),
  };
  const shown = shownRows(steps.rows);
  return element(
    'table',
    { class: 'steps-table' },
    element(
      'thead',
      {},
      element(
        'tr',
        {},
        element('th', { scope: 'col' }, 'word'),
        stepHead(1, 'key k'),
        stepHead(2, 'q · k'),
        stepHead(3, `÷ ${+Math.sqrt(steps.size).toFixed(2)}`),
        stepHead(4, 'softmax'),
        stepHead('1 5', view.step === 1 ? 'value v' : 'value v × weight'),
      ),
    ),
    element(
      'tbody',
      {},
      ...shown.map(row => stepRow(steps, row, { most, bestScore: steps.score })),
      ...otherRows(steps.rows, shown),
    ),
  );
};

// A strip with its name in front.
const namedStrip = (step, name, vector, told) =>
  element(
    'div',
    { class: 'named-strip', 'data-step': step },
    element('span', {}, ...formula(name)),
    strip(vector, largest(vector), told),
  );

const headBars = ({ heads, head }) =>
  element(
    'div',
    { class: 'head-bars', 'data-step': 6, style: `--heads: ${heads}` },
    ...Array.from({ length: heads }, (_, h) =>
      choiceButton(`${h + 1}`, h === head, () => change({ head: h }), {
        class: 'head-button',
        'aria-label': `Head ${h + 1}`,
        style: headStyle(h),
      }),
    ),
  );

const showSteps = () => {
  const steps = stepsOf();
  byId('step-buttons').replaceChildren(
    ...kSteps.map(({ name }, step) =>
      choiceButton(formula(step ? `${step}  ${name}` : name), step === view.step, () =>
        change({ step }),
      ),
    ),
  );
  byId('step-note').replaceChildren(...formula(kSteps[view.step].text(steps)));
  byId('step-title').textContent =
    `${quoted(steps.query)} in ${kKinds[view.kind]}, layer ${view.layer + 1}, head ${steps.head + 1}`;
  byId('rows').value = view.rows;
  byId('steps').dataset.at = view.step;
  byId('steps').replaceChildren(
    namedStrip(1, 'query q', steps.q, `Query of ${steps.query}`),
    stepsTable(steps),
    namedStrip(5, 'sum', steps.sum, 'Sum of the values times their weights'),
    headBars(steps),
    namedStrip(6, 'all heads', steps.context, 'Results of all heads'),
    namedStrip(6, '× W^{O}', steps.output, 'Output of the attention'),
  );
};

const fillTokenChoice = (select, side) => {
  fillSelect(
    select,
    tokensOf(side).map((token, i) => [i, `${i + 1}  ${token.piece}`]),
  );
  select.value = view[side];
};

const showStepWord = () => fillTokenChoice(byId('step-word'), kSides[view.kind].queries);
