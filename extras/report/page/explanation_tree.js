// The search as a tree: a column for each step, the hypotheses of the beam in it, best first.

const kTree = { column: 92, row: 34, box: 78, height: 24, top: 26, left: 8 };

const kStates = {
  alive: 'went on',
  dropped: 'dropped: others were more probable',
  finished: 'ended here',
  best: 'ended here, and is the translation',
};

// The nodes of the search with their places, and the ids on the way to the translation.
const treeOf = search => {
  const nodes = search.nodes.map(node => ({ ...node }));
  const byNumber = new Map(nodes.map(node => [node.id, node]));
  const columns = [];
  for (const node of nodes) (columns[node.step] ||= []).push(node);
  for (const column of columns) {
    column.sort((a, b) => b.log_probability - a.log_probability);
    column.forEach((node, rank) => (node.rank = rank));
  }
  const best = new Set();
  for (let node = byNumber.get(search.best); node; node = byNumber.get(node.parent))
    best.add(node.id);
  return { nodes, byNumber, columns, best };
};

const hypothesisOf = ({ byNumber }, node) => {
  const pieces = [];
  for (let at = node; at && at.parent !== null; at = byNumber.get(at.parent))
    pieces.unshift(at.piece);
  return pieces;
};

const placeOfNode = ({ step, rank }) => ({
  x: kTree.left + step * kTree.column,
  y: kTree.top + rank * kTree.row,
});

const pieceProbability = ({ byNumber }, node) =>
  node.parent === null
    ? 1
    : Math.exp(node.log_probability - byNumber.get(node.parent).log_probability);

const nodeClass = ({ best }, node) =>
  ['node', node.state, best.has(node.id) ? 'on-way' : ''].join(' ');

const nodeText = (tree, node) =>
  `${hypothesisOf(tree, node).join(' ') || node.piece}: log-probability ${decimal(node.log_probability)}, ` +
  `score ${decimal(node.score, 3)}; ${kStates[node.state]}`;

const nodeDrawing = (tree, node, chosen) => {
  const { x, y } = placeOfNode(node);
  const sign = { dropped: '✕', finished: '■', best: '★' }[node.state] || '';
  return drawn(
    'g',
    {
      class: nodeClass(tree, node),
      'data-node': node.id,
      role: 'button',
      tabindex: node.id === chosen ? 0 : -1,
    },
    drawn('rect', { x, y, width: kTree.box, height: kTree.height, rx: 5 }),
    drawn('rect', {
      class: 'chance',
      x: x + 1,
      y: y + kTree.height - 4,
      width: ((kTree.box - 2) * Math.min(1, pieceProbability(tree, node))).toFixed(1),
      height: 3,
    }),
    drawn(
      'text',
      { x: x + 6, y: y + 11, dy: '.35em' },
      shortened(node.piece, kTree.box - (sign ? 24 : 10)),
    ),
    drawn('text', { x: x + kTree.box - 6, y: y + 11, dy: '.35em', 'text-anchor': 'end' }, sign),
  );
};

const linkDrawing = (tree, node) => {
  const from = placeOfNode(tree.byNumber.get(node.parent)),
    to = placeOfNode(node);
  const [x, y, endX, endY] = [from.x + kTree.box, from.y + 12, to.x, to.y + 12];
  const middle = (x + endX) / 2;
  return drawn('path', {
    class: `link ${node.state} ${tree.best.has(node.id) ? 'on-way' : ''}`,
    d: `M${x} ${y}C${middle} ${y} ${middle} ${endY} ${endX} ${endY}`,
  });
};

const chooseNode = (tree, node) => {
  const svg = byId('tree').querySelector('svg');
  for (const drawnNode of svg.querySelectorAll('.node')) {
    const chosen = Number(drawnNode.dataset.node) === node.id;
    drawnNode.classList.toggle('chosen', chosen);
    drawnNode.setAttribute('tabindex', chosen ? 0 : -1);
  }
  byId('node-note').textContent = nodeText(tree, node);
};

// The node that an arrow key leads to.
const nextNode = (tree, node, key) => {
  if (key === 'ArrowLeft') return tree.byNumber.get(node.parent);
  if (key === 'ArrowRight')
    return (tree.columns[node.step + 1] || []).find(next => next.parent === node.id);
  const up = { ArrowUp: -1, ArrowDown: 1 }[key];
  return up && tree.columns[node.step][node.rank + up];
};

const listenInTree = (svg, tree) => {
  const nodeOf = event => {
    const found = event.target.closest('.node');
    return found && tree.byNumber.get(Number(found.dataset.node));
  };
  const show = event => {
    const node = nodeOf(event);
    if (node) chooseNode(tree, node);
  };
  svg.addEventListener('pointerover', show);
  svg.addEventListener('click', show);
  svg.addEventListener('focusin', show);
  svg.addEventListener('keydown', event => {
    const node = nodeOf(event),
      next = node && nextNode(tree, node, event.key);
    if (!next) return;
    event.preventDefault();
    const drawing = svg.querySelector(`[data-node="${next.id}"]`);
    drawing.focus();
    drawing.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  });
};

const treeDrawing = tree => {
  const rows = Math.max(...tree.columns.map(column => column.length));
  const width = kTree.left + tree.columns.length * kTree.column,
    height = kTree.top + rows * kTree.row + 4;
  const links = tree.nodes
    .filter(node => node.parent !== null)
    .sort((a, b) => tree.best.has(a.id) - tree.best.has(b.id));
  const svg = drawn(
    'svg',
    {
      viewBox: `0 0 ${width} ${height}`,
      width,
      height,
      role: 'group',
      'aria-label': `Tree of the search: ${tree.columns.length} steps, up to ${rows} hypotheses`,
    },
    drawn('rect', { class: 'place chosen', y: 0, width: kTree.column - 4, height, rx: 6 }),
    ...tree.columns.map((_, step) =>
      drawn(
        'text',
        { x: kTree.left + step * kTree.column, y: 14, class: 'head' },
        step ? `step ${step}` : 'begin',
      ),
    ),
    ...links.map(node => linkDrawing(tree, node)),
    ...tree.nodes.map(node => nodeDrawing(tree, node, tree.nodes[0].id)),
  );
  listenInTree(svg, tree);
  return svg;
};

const endedTable = tree =>
  fillTable(element('table', {}), {
    heads: ['hypothesis', 'log-probability', 'score', 'chosen'],
    rows: tree.nodes
      .filter(({ state }) => state === 'finished' || state === 'best')
      .sort((a, b) => b.score - a.score)
      .map(node => ({
        head: element('span', { dir: 'auto' }, hypothesisOf(tree, node).join(' ')),
        cells: [
          decimal(node.log_probability),
          decimal(node.score, 3),
          node.state === 'best' ? '★' : '',
        ],
      })),
  });

// The column of the step that is chosen above.
const showTreeStep = () => {
  const place = byId('tree').querySelector('.place');
  if (!place) return;
  const x = kTree.left + (view.output + 1) * kTree.column - 5;
  place.setAttribute('x', x);
  byId('tree').scrollLeft = x - byId('tree').clientWidth / 2;
};

const showTree = () => {
  const { search } = sentence();
  byId('tree-part').hidden = !search;
  if (!search) return;
  const tree = treeOf(search);
  byId('tree-facts').textContent =
    `A beam of ${search.beam_size}: at each step the ${search.beam_size} most probable hypotheses stay (section 6.1). ` +
    'The thick path is the translation; ✕ was dropped, ■ ended. The bar in a box is the probability of its piece. ' +
    'Of the hypotheses that ended, the one with the highest score is the translation. ' +
    (search.length_penalty
      ? `The score is the log-probability divided by a power of the length, so that a short one has no advantage (the length penalty α is ${search.length_penalty}).`
      : 'The score is the log-probability here, as the length penalty α is 0.');
  byId('tree').replaceChildren(treeDrawing(tree));
  byId('node-note').textContent = 'Point at a box to read its hypothesis.';
  byId('ended').replaceChildren(endedTable(tree));
  const { greedy } = search;
  byId('greedy-part').hidden = !greedy;
  if (greedy)
    byId('greedy').replaceChildren(
      ...[
        [`beam of ${search.beam_size}`, sentence().target, tree.byNumber.get(search.best)],
        ['greedy', greedy.text, greedy],
      ].flatMap(([name, text, { log_probability: logProbability, score }]) => [
        element('dt', {}, name),
        element(
          'dd',
          {},
          markedChanges(sentence().target, text),
          element(
            'small',
            {},
            `log-probability ${decimal(logProbability)}, score ${decimal(score, 3)}`,
          ),
        ),
      ]),
    );
};
