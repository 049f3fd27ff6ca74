// Attention as numbers: of pieces or words, of one head or the mean of several, and what a head does.

const blockOf = (kind, layer) => attentionBlock(sentence().attention[kind][layer]);
const layersOf = kind => sentence().attention[kind].length;

const headsOf = () => {
  const all = Array.from({ length: blockOf(view.kind, view.layer).heads }, (_, head) => head);
  if (view.heads === 'all' || view.heads === 'mean') return all;
  const chosen = view.heads.split(',').map(Number);
  return all.filter(head => chosen.includes(head));
};

// Rows of weights [query unit][key unit]. A unit of several pieces gets the sum of their weights as
// a key, and has the mean of their rows as a query, so that a row sums to 1.
const weightsOf = (block, head, queries, keys) =>
  queries.map(query =>
    Float64Array.from(keys, key => {
      let sum = 0;
      for (const q of query.tokens) for (const k of key.tokens) sum += block.at(head, q, k);
      return sum / query.tokens.length;
    }),
  );

const meanOf = matrices =>
  matrices[0].map((row, q) =>
    row.map((_, k) => matrices.reduce((sum, matrix) => sum + matrix[q][k], 0) / matrices.length),
  );

// A cell that the decoder must not see: every piece of the key comes after every piece of the query.
const isMasked = (kind, query, key) =>
  kind === 'decoder' && key.tokens[0] > query.tokens[query.tokens.length - 1];

const perHeadOf = (kind, layer, heads, queries, keys) => {
  const block = blockOf(kind, layer);
  return heads.map(head => weightsOf(block, head, queries, keys));
};

// The attention of the chosen layer and heads, by words or pieces: shown is [{ head (none for the
// mean), rows }], mean the mean of the heads. Kept until another one is chosen.
let lastAttention = {};
const shownAttention = () => {
  const name = ['sentence', 'kind', 'layer', 'heads', 'unit'].map(one => view[one]).join(' ');
  if (lastAttention.name === name) return lastAttention;
  const { queries: querySide, keys: keySide } = kSides[view.kind];
  const queries = unitsOf(querySide),
    keys = unitsOf(keySide),
    heads = headsOf();
  const perHead = perHeadOf(view.kind, view.layer, heads, queries, keys);
  const mean = meanOf(perHead);
  const shown =
    view.heads === 'mean' ? [{ rows: mean }] : heads.map((head, i) => ({ head, rows: perHead[i] }));
  lastAttention = { name, queries, keys, shown, mean };
  return lastAttention;
};

const entropyOf = row => row.reduce((sum, w) => (w > 0 ? sum - w * Math.log2(w) : sum), 0);

// Where a query would look if both sentences ran alike.
const diagonalOf = (kind, query, queries, keys) =>
  kind === 'cross' ? (query * (keys - 1)) / Math.max(1, queries - 1) : query;

// The places that a head may look at, by the key's place seen from the query.
const kPlaces = {
  encoder: [
    ['itself', 0],
    ['the one before', -1],
    ['the next', 1],
    ['two before', -2],
    ['two on', 2],
  ],
  decoder: [
    ['the last written', 0],
    ['the one before that', -1],
    ['two before that', -2],
  ],
  cross: [],
};

// What a head does, in means over all pieces: { entropy in bits, pieces (2^entropy), distance, role,
// fraction (of the weight that goes there) }.
const measuresOf = (kind, layer, head) => {
  const block = blockOf(kind, layer);
  const { queries, keys } = block;
  const places = kPlaces[kind].map(([name, offset]) => ({ name, offset, sum: 0 }));
  // Some models read no end mark after the source.
  const { source_tokens: source } = sentence();
  const hasEndMark = kind !== 'decoder' && isMark(source[source.length - 1]);
  const ends = [
    { name: kind === 'decoder' ? `the beginning` : `the first`, at: 0, sum: 0 },
    ...(hasEndMark ? [{ name: 'the end mark', at: keys - 1, sum: 0 }] : []),
  ];
  let entropy = 0,
    distance = 0;
  for (let q = 0; q < queries; ++q) {
    const row = block.row(head, q);
    const middle = diagonalOf(kind, q, queries, keys);
    entropy += entropyOf(row) / queries;
    for (let k = 0; k < keys; ++k) distance += (row[k] * Math.abs(k - middle)) / queries;
    for (const place of places) place.sum += (row[q + place.offset] || 0) / queries;
    for (const end of ends) end.sum += row[end.at] / queries;
  }
  const most = [...ends, ...places].reduce((best, place) => (place.sum > best.sum ? place : best));
  return { entropy, pieces: 2 ** entropy, distance, role: most.name, fraction: most.sum };
};

// The head's role in two or three words.
const kClearFraction = 0.4;
const roleOf = ({ role, fraction, pieces, distance }, kind) => {
  if (fraction >= kClearFraction) return role;
  if (kind === 'cross' && distance < 1.5 && pieces < 4) return 'along the text';
  return pieces < 3 ? 'a few pieces' : 'spread out';
};

// The attention that `translate --alignment` reads: of the model's layer and head, or of the mean of
// the layer's heads.
const alignmentWeights = (queries, keys) => {
  const { layer, head } = model.alignment;
  const { heads } = blockOf('cross', layer);
  const chosen = head === null ? Array.from({ length: heads }, (_, h) => h) : [head];
  return meanOf(perHeadOf('cross', layer, chosen, queries, keys));
};
