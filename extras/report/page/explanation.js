// The page: what is drawn where, and what the reader's choices change.

const modelFacts = () => {
  const { config } = model;
  return [
    model.name,
    `${config['encoder-layers']} + ${config['decoder-layers']} layers`,
    `${config.heads} heads`,
    `d_model ${config['d-model']}`,
    `${inShort(allParameters())} parameters`,
  ]
    .filter(text => text)
    .join(', ');
};

const kChosenAttention = ['sentence', 'kind', 'layer', 'heads', 'unit'];

const addDrawings = () => {
  addDrawing('sentence-choice', ['sentence'], showSentenceChoice);
  addDrawing('translation', ['sentence'], keepingFocus(showTranslation));
  addDrawing('translation', ['source', 'output', 'marked'], showChosenWord);
  addDrawing('model', [], showArchitecture);
  addDrawing('input', ['side'], showPositions);
  addDrawing('input', ['sentence', 'side', 'source', 'output'], showInput);
  addDrawing('attention-choice', ['sentence', 'kind', 'layer'], keepingFocus(showKinds));
  addDrawing(
    'attention-choice',
    ['sentence', 'kind', 'layer', 'heads'],
    keepingFocus(showHeadButtons),
  );
  addDrawing('attention', kChosenAttention, showLines);
  addDrawing('attention', [...kChosenAttention, 'lines', 'source', 'output'], showChosenQuery);
  addDrawing('attention', kChosenAttention, showMatrix);
  addDrawing('attention', [...kChosenAttention, 'source', 'output'], showChosenRow);
  addDrawing('all-heads', ['sentence', 'kind', 'unit'], showThumbnails);
  addDrawing('all-heads', kChosenAttention, showChosenHeads);
  addDrawing('word-steps', ['sentence', 'kind', 'source', 'output'], showStepWord);
  addDrawing(
    'word-steps',
    ['sentence', 'kind', 'layer', 'head', 'source', 'output', 'step', 'rows'],
    keepingFocus(showSteps),
  );
  addDrawing('output', ['sentence', 'output'], keepingFocus(showCandidates));
  addDrawing('output', ['sentence'], showTree);
  addDrawing('output', ['sentence', 'output'], showTreeStep);
  for (const figure of document.querySelectorAll('figure[data-figure]')) offerFigure(figure);
};

const listenToSentences = () => {
  const { length } = explanation.sentences;
  fillSelect(
    byId('sentence'),
    explanation.sentences.map(({ source }, i) => [i, `${i + 1}  ${source}`]),
  );
  byId('sentence').addEventListener('change', event =>
    change({ sentence: Number(event.target.value) }),
  );
  for (const [id, step] of [
    ['previous', -1],
    ['next', 1],
  ])
    byId(id).addEventListener('click', () =>
      change({ sentence: (view.sentence + step + length) % length }),
    );
  byId('sentence-choice').hidden = length < 2;
};

const kSelects = { unit: 'unit', rows: 'rows', 'lines-choice': 'lines', 'input-side': 'side' };

const listen = () => {
  for (const button of document.querySelectorAll('[data-jump]'))
    button.addEventListener('click', () =>
      jumpTo({ jump: button.dataset.jump.replace('-title', '') }),
    );
  for (const [id, name] of Object.entries(kSelects))
    byId(id).addEventListener('change', event => change({ [name]: event.target.value }));
  byId('input-word').addEventListener('change', event =>
    change({ [view.side === 'source' ? 'source' : 'output']: Number(event.target.value) }),
  );
  byId('step-word').addEventListener('change', event =>
    change({ [kSides[view.kind].queries]: Number(event.target.value) }),
  );
  byId('heads-fold').addEventListener('toggle', showHeadsTable);
  byId('matrix-fold').addEventListener('toggle', showMatrix);
  listenToWords();
  listenToSentences();
  addEventListener('hashchange', () => {
    readAddress();
    redrawAll();
  });
  // Paper is light: the cells of pictures are painted in its colours.
  for (const [event, isPaper] of [
    ['beforeprint', true],
    ['afterprint', false],
  ])
    addEventListener(event, () => {
      document.documentElement.classList.toggle('paper', isPaper);
      drawings.forEach(redraw);
    });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redrawAll);
  let waiting;
  let width = innerWidth;
  addEventListener('resize', () => {
    if (width === innerWidth) return;
    width = innerWidth;
    clearTimeout(waiting);
    waiting = setTimeout(redrawAll, 150);
  });
};

const start = () => {
  byId('facts').textContent = modelFacts();
  readAddress();
  addDrawings();
  listen();
  watchSections();
};
start();
