// What the reader chooses: the sentence, the kind of attention, the layer and the heads.

const kKinds = {
  encoder: 'the encoder’s self-attention',
  decoder: 'the decoder’s masked self-attention',
  cross: 'the decoder’s attention to the source',
};

const kKindNotes = {
  encoder:
    'Each source word looks at all source words (section 3.2.3, second use). A row tells where the word on the left looks: its weights sum to 1.',
  decoder:
    'To write a word, the decoder looks at the words that it has written so far (section 3.2.3, third use). Later words are masked: their weight is exactly 0.',
  cross:
    'To write a word, the decoder looks at the source words (section 3.2.3, first use). A row tells where it looks when it writes the word on the left.',
};

const tokenWithLeast = (tokens, valueOf) =>
  tokens.reduce(
    (least, token, i) =>
      !isMark(token) && (least < 0 || valueOf(token, i) < valueOf(tokens[least], least))
        ? i
        : least,
    -1,
  );

// At first the longest source word is chosen, and the output token that is the least sure.
const defaultsOf = number => {
  const { source_tokens: source, target_tokens: output, attention } = explanation.sentences[number];
  return {
    sentence: number,
    kind: 'cross',
    layer: attention.cross.length - 1,
    heads: 'all',
    head: 0,
    unit: 'words',
    lines: 'word',
    source: Math.max(
      0,
      tokenWithLeast(source, token => -token.piece.length),
    ),
    output: Math.max(
      0,
      tokenWithLeast(output, token => token.log_probability),
    ),
    side: 'source',
    step: 0,
    rows: 'most',
    marked: 'output',
  };
};

const kChosenByName = {
  kind: Object.keys(kKinds),
  unit: ['words', 'pieces'],
  lines: ['word', 'all'],
  side: ['source', 'read'],
  rows: ['most', 'all'],
  marked: ['source', 'output'],
};

// What the address asks for, if this page has it.
const readAddress = () => {
  const asked = new URLSearchParams(location.hash.slice(1));
  const number = Number(asked.get('sentence'));
  Object.assign(view, defaultsOf(explanation.sentences[number] ? number : 0));
  const { source_tokens: source, target_tokens: output } = sentence();
  for (const [name, values] of Object.entries(kChosenByName))
    if (values.includes(asked.get(name))) view[name] = asked.get(name);
  const layers = layersOf(view.kind);
  const { heads } = blockOf(view.kind, 0);
  const bounds = {
    layer: layers,
    head: heads,
    source: source.length,
    output: output.length,
    step: kSteps.length,
  };
  for (const [name, bound] of Object.entries(bounds)) {
    const value = Number(asked.get(name));
    if (asked.has(name) && Number.isInteger(value) && value >= 0 && value < bound)
      view[name] = value;
  }
  view.layer = Math.min(view.layer, layers - 1);
  const wanted = asked.get('heads') || '';
  const isList = /^\d+(,\d+)*$/.test(wanted);
  if (wanted === 'mean' || (isList && wanted.split(',').every(head => Number(head) < heads)))
    view.heads = wanted;
};

const chooseKind = kind => change({ kind, layer: Math.min(view.layer, layersOf(kind) - 1) });

// A head's button shows or hides it; of all heads it shows that one alone.
const toggleHead = head => {
  const { heads } = blockOf(view.kind, view.layer);
  const shown = ['all', 'mean'].includes(view.heads) ? [] : view.heads.split(',').map(Number);
  const next = shown.includes(head)
    ? shown.filter(one => one !== head)
    : [...shown, head].sort((a, b) => a - b);
  const heads_ = next.length === 0 || next.length === heads ? 'all' : next.join(',');
  change({ heads: heads_, ...(next.includes(head) ? { head } : {}) });
};

const choiceButton = (text, pressed, click, properties) =>
  element(
    'button',
    { type: 'button', 'aria-pressed': String(pressed), click, ...properties },
    ...[text].flat(),
  );

const showKinds = () => {
  byId('kinds').replaceChildren(
    ...[
      ['encoder', 'encoder'],
      ['decoder', 'decoder'],
      ['cross', 'decoder → source'],
    ].map(([kind, name]) =>
      choiceButton(name, kind === view.kind, () => chooseKind(kind), { 'data-kind': kind }),
    ),
  );
  byId('layers').replaceChildren(
    ...Array.from({ length: layersOf(view.kind) }, (_, layer) =>
      choiceButton(`${layer + 1}`, layer === view.layer, () => change({ layer }), {
        'aria-label': `Layer ${layer + 1}`,
        'data-layer': layer,
      }),
    ),
  );
};

const showHeadButtons = () => {
  const { heads } = blockOf(view.kind, view.layer);
  const shown = headsOf();
  byId('heads').replaceChildren(
    choiceButton('all', view.heads === 'all', () => change({ heads: 'all' })),
    choiceButton('mean', view.heads === 'mean', () => change({ heads: 'mean' })),
    ...Array.from({ length: heads }, (_, head) =>
      choiceButton(
        `${head + 1}`,
        !['all', 'mean'].includes(view.heads) && shown.includes(head),
        () => toggleHead(head),
        {
          class: 'head-button',
          'aria-label': `Head ${head + 1}`,
          'data-head': head,
          style: headStyle(head),
        },
      ),
    ),
  );
};

// Keeps the focus on a button that is drawn again.
const keepingFocus = draw => () => {
  const focused = document.activeElement;
  const parent = focused && focused.parentElement;
  const at = parent ? [...parent.children].indexOf(focused) : -1;
  draw();
  if (parent && parent.id && !document.contains(focused) && parent.children[at])
    parent.children[at].focus({ preventScroll: true });
};

const showSentenceChoice = () => {
  byId('sentence').value = view.sentence;
  byId('sentence-number').textContent = `of ${count(explanation.sentences.length)}`;
};
