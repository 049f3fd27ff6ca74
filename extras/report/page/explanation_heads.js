// All heads of one kind of attention: thumbnails to choose from, and what each does in numbers.

const thumbnailOf = (layer, head, queries, keys) => {
  const measures = measuresOf(view.kind, layer, head);
  const role = roleOf(measures, view.kind);
  const canvas = element('canvas', { class: 'cells', 'aria-hidden': 'true' });
  paintWeights(canvas, perHeadOf(view.kind, layer, [head], queries, keys)[0], '--text');
  return element(
    'button',
    {
      type: 'button',
      class: 'thumbnail',
      'data-layer': layer,
      'data-head': head,
      'aria-label': `Layer ${layer + 1}, head ${head + 1}: ${role}`,
      title: `layer ${layer + 1}, head ${head + 1}: ${role}\n${told(measures)}`,
      click: () => change({ layer, heads: String(head), head }),
    },
    canvas,
    element('span', { 'aria-hidden': 'true' }, role),
  );
};

const distanceName = () => (view.kind === 'cross' ? 'distance from the diagonal' : 'mean distance');

const told = ({ entropy, pieces, distance, role, fraction }) =>
  [
    `entropy ${entropy.toFixed(2)} bits, as many as ${pieces.toFixed(1)} pieces`,
    `${distanceName()} ${distance.toFixed(1)} pieces`,
    `${percent(fraction)} at ${role}`,
  ].join('\n');

const showThumbnails = () => {
  const queries = unitsOf(kSides[view.kind].queries),
    keys = unitsOf(kSides[view.kind].keys);
  const { heads } = blockOf(view.kind, 0);
  const grid = byId('thumbnails');
  grid.style.setProperty('--heads', heads);
  grid.replaceChildren(
    element('span', {}),
    ...Array.from({ length: heads }, (_, head) =>
      element('span', { class: 'head-name', style: headStyle(head) }, `${head + 1}`),
    ),
    ...Array.from({ length: layersOf(view.kind) }, (_, layer) => [
      element('span', { class: 'layer-name' }, `${layer + 1}`),
      ...Array.from({ length: heads }, (__, head) => thumbnailOf(layer, head, queries, keys)),
    ]).flat(),
  );
  byId('heads-table').replaceChildren();
  if (byId('heads-fold').open) showHeadsTable();
};

const showChosenHeads = () => {
  const heads = headsOf();
  for (const button of byId('thumbnails').querySelectorAll('button')) {
    const chosen =
      Number(button.dataset.layer) === view.layer && heads.includes(Number(button.dataset.head));
    button.setAttribute('aria-pressed', chosen);
  }
};

const showHeadsTable = () => {
  const { heads } = blockOf(view.kind, 0);
  const rows = [];
  for (let layer = 0; layer < layersOf(view.kind); ++layer)
    for (let head = 0; head < heads; ++head) {
      const measures = measuresOf(view.kind, layer, head);
      rows.push({
        head: `layer ${layer + 1}, head ${head + 1}`,
        cells: [
          measures.entropy.toFixed(2),
          measures.pieces.toFixed(1),
          measures.distance.toFixed(1),
          percent(measures.fraction),
          measures.role,
        ],
      });
    }
  fillTable(byId('heads-table'), {
    heads: [
      'head',
      'entropy (bits)',
      'as many as … pieces',
      `${distanceName()} (pieces)`,
      'most of its weight',
      'at',
    ],
    rows,
  });
};
