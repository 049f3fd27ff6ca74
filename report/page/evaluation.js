// What happens when something is chosen.

const kDefaults = {
  a: 0,
  b: data.systems.length - 1,
  metric: Math.max(
    0,
    data.metrics.findIndex(one => one.name.startsWith('chrF')),
  ),
  kind: 'found',
  'gram-order': '0',
  query: '',
  where: 'any',
  show: 'all',
  order: 'line',
  mark: 'reference',
  whose: 'pair',
  size: '20',
  page: 1,
  group: '',
  gram: '',
  best: '',
};

const showControls = () => {
  for (const id of [
    'a',
    'b',
    'metric',
    'kind',
    'gram-order',
    'where',
    'show',
    'order',
    'mark',
    'whose',
    'size',
  ])
    byId(id).value = view[id];
  if (byId('query').value !== view.query) byId('query').value = view.query;
};

// Sections by what they depend on.
const kEverything = [
  showControls,
  showScores,
  showPair,
  showCharts,
  showNgrams,
  showChips,
  showSentences,
];
const drawAll = () =>
  kEverything.forEach(draw => (draw !== showPair || isPair ? draw() : undefined));

const remember = () => {
  const chosen = new URLSearchParams(
    Object.entries(view).filter(([name, value]) => String(value) !== String(kDefaults[name])),
  );
  try {
    history.replaceState(null, '', `#${chosen}`);
  } catch (problem) {
    // A viewer that keeps pages from their address shows them all the same.
  }
};

const change = changes => {
  Object.assign(view, changes);
  const ofSentences = Object.keys(changes).every(
    name => !['a', 'b', 'metric', 'kind', 'gram-order'].includes(name),
  );
  const ofNgrams = Object.keys(changes).every(name => ['kind', 'gram-order'].includes(name));
  if ('best' in changes) showScores();
  else if (ofNgrams) showNgrams();
  else if (ofSentences) [showControls, showChips, showSentences].forEach(draw => draw());
  else drawAll();
  remember();
};

// Sentences that something else on the page has chosen, where they stand.
const show = changes => {
  change({ ...changes, page: 1 });
  byId('side-by-side').scrollIntoView();
  byId('chips').querySelector('button').focus({ preventScroll: true });
};

const readAddress = () => {
  Object.assign(view, kDefaults);
  for (const [name, value] of new URLSearchParams(location.hash.slice(1)))
    if (name in kDefaults) view[name] = value;
  for (const [name, most] of [
    ['a', data.systems.length],
    ['b', data.systems.length],
    ['metric', data.metrics.length],
  ])
    if (!(Number(view[name]) >= 0 && Number(view[name]) < most)) view[name] = kDefaults[name];
  for (const name of Object.keys(kChoices))
    if (!choicesOf(name).some(([value]) => value === view[name])) view[name] = kDefaults[name];
  for (const name of ['kind', 'gram-order', 'whose', 'size'])
    if (![...byId(name).options].some(option => option.value === view[name]))
      view[name] = kDefaults[name];
};

const chooseSystem = (side, system) => {
  const other = side === 'a' ? 'b' : 'a';
  change({
    [side]: system,
    ...(system === Number(view[other]) ? { [other]: Number(view[side]) } : {}),
    page: 1,
  });
};

const turnPage = where => {
  const last = Number(byId('pager').dataset.pages);
  change({ page: { first: 1, previous: view.page - 1, next: view.page + 1, last }[where] });
  byId('side-by-side').scrollIntoView();
};

const listen = () => {
  for (const side of ['a', 'b'])
    byId(side).addEventListener('change', event => chooseSystem(side, Number(event.target.value)));
  byId('swap').addEventListener('click', () =>
    change({ a: systemOf('b'), b: systemOf('a'), page: 1 }),
  );
  byId('metric').addEventListener('change', event =>
    change({ metric: Number(event.target.value), page: 1 }),
  );
  for (const id of ['kind', 'gram-order'])
    byId(id).addEventListener('change', event => change({ [id]: event.target.value }));
  for (const id of ['where', 'show', 'order', 'mark', 'whose', 'size'])
    byId(id).addEventListener('change', event => change({ [id]: event.target.value, page: 1 }));
  let waiting;
  byId('query').addEventListener('input', event => {
    clearTimeout(waiting);
    waiting = setTimeout(() => change({ query: event.target.value, page: 1 }), 150);
  });
  byId('tools').addEventListener('submit', event => event.preventDefault());
  byId('page').addEventListener('change', event => change({ page: event.target.value }));
  for (const button of byId('pager').querySelectorAll('[data-page]'))
    button.addEventListener('click', () => turnPage(button.dataset.page));
  addEventListener('hashchange', () => {
    readAddress();
    drawAll();
  });
};

const start = () => {
  byId('facts').textContent = [
    `${count(lineCount)} lines`,
    `${data.systems.length} ${isPair ? 'systems' : 'system'}`,
    data.references.length > 1 ? `${data.references.length} references` : '1 reference',
  ].join(', ');
  for (const side of ['a', 'b'])
    fillSelect(
      byId(side),
      data.systems.map(({ name }, s) => [s, name]),
    );
  fillSelect(
    byId('metric'),
    data.metrics.map(({ name }, m) => [m, name]),
  );
  for (const name of Object.keys(kChoices)) fillSelect(byId(name), choicesOf(name));
  for (const part of document.querySelectorAll('.of-pair')) part.hidden = !isPair;
  for (const part of document.querySelectorAll('.of-many')) part.hidden = data.systems.length < 3;
  showParts();
  showSignatures();
  readAddress();
  drawAll();
  listen();
};
start();
