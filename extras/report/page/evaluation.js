// Reactions to the reader's choices.

// The first model's worst sentences are those that are explained: they come first.
const explainedSystem = data.explanations.length ? data.explanations[0].system : undefined;
const isExplainedB = isPair && explainedSystem === data.systems.length - 1;

const kDefaults = {
  a: isExplainedB ? 0 : explainedSystem || 0,
  b: data.systems.length - 1,
  metric: Math.max(
    0,
    data.metrics.findIndex(one => one.name.startsWith('chrF')),
  ),
  kind: 'found',
  'gram-order': '0',
  'gram-tokens': 'words',
  'gram-rank': 'relative',
  query: '',
  where: 'any',
  show: 'all',
  order: explainedSystem === undefined ? 'line' : isExplainedB ? 'worst-b' : 'worst',
  mark: 'reference',
  whose: data.systems.length === 3 ? 'all' : 'pair',
  size: '20',
  page: 1,
  group: '',
  gram: '',
  best: '',
};

const kOfNgrams = ['kind', 'gram-order', 'gram-tokens', 'gram-rank'];
const kFilters = ['where', 'show', 'order', 'mark', 'whose'];

const showControls = () => {
  for (const id of ['a', 'b', 'metric', 'size', ...kOfNgrams, ...kFilters])
    byId(id).value = view[id];
  if (byId('query').value !== view.query) byId('query').value = view.query;
  const chosen = kFilters.filter(name => view[name] !== kDefaults[name]).length;
  byId('filters-summary').textContent = `Filters and order${chosen ? ` (${chosen} chosen)` : ''}`;
};

// The sections of the page, by the choices that they depend on.
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

const change = changes => {
  Object.assign(view, changes);
  const ofSentences = Object.keys(changes).every(
    name => !['a', 'b', 'metric', ...kOfNgrams].includes(name),
  );
  const ofNgrams = Object.keys(changes).every(name => kOfNgrams.includes(name));
  if ('best' in changes) showScores();
  else if (ofNgrams) showNgrams();
  else if (ofSentences) [showControls, showChips, showSentences].forEach(draw => draw());
  else drawAll();
  keepInAddress(view, kDefaults);
};

// Shows the sentences that another section of the page has chosen, and scrolls to them.
const show = changes => {
  change({ ...changes, page: 1 });
  byId('side-by-side').scrollIntoView();
  byId('chips').querySelector('button').focus({ preventScroll: true });
};

// Choices of the address that are neither the option of a field nor a text that is searched.
const kForms = {
  group: /^[\w-]+:\d+(:[ab])?$/,
  gram: /^(found|superfluous):[ab]:./s,
  best: /^\d+$/,
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
    if (!(Number.isInteger(Number(view[name])) && Number(view[name]) >= 0 && Number(view[name]) < most))
      view[name] = kDefaults[name];
  for (const [name, form] of Object.entries(kForms))
    if (!form.test(view[name])) view[name] = kDefaults[name];
  if (Number(view.a) === Number(view.b)) Object.assign(view, { a: kDefaults.a, b: kDefaults.b });
  for (const name of Object.keys(kChoices))
    if (!choicesOf(name).some(([value]) => value === view[name])) view[name] = kDefaults[name];
  for (const name of [...kOfNgrams, 'whose', 'size'])
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

// Jumps to a section of the page without the address, which keeps the reader's choices.
const jump = id => {
  byId(id).closest('section').scrollIntoView();
  byId(id).focus({ preventScroll: true });
};

// On a phone the filters are folded, so that the sentences come soon.
const foldFilters = () => {
  const phone = matchMedia('(max-width: 600px)');
  const fold = () => (byId('filters').open = !phone.matches);
  fold();
  phone.addEventListener('change', fold);
};

const listen = () => {
  for (const button of document.querySelectorAll('[data-jump]'))
    button.addEventListener('click', () => jump(button.dataset.jump));
  for (const side of ['a', 'b'])
    byId(side).addEventListener('change', event => chooseSystem(side, Number(event.target.value)));
  byId('swap').addEventListener('click', () =>
    change({ a: systemOf('b'), b: systemOf('a'), page: 1 }),
  );
  byId('metric').addEventListener('change', event =>
    change({ metric: Number(event.target.value), page: 1 }),
  );
  for (const id of kOfNgrams)
    byId(id).addEventListener('change', event => change({ [id]: event.target.value }));
  for (const id of [...kFilters, 'size'])
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

// A note about the systems and the metric that are chosen at first.
const firstChoice = () => {
  const { name } = data.metrics[kDefaults.metric];
  const first = kDefaults.a ? 'the first model' : 'the first system';
  const pair = `At first A is ${first} of the command line and B the last`;
  const why = name.startsWith('chrF')
    ? `${name}, as it tells single sentences apart better than BLEU`
    : `${name}, the first metric`;
  if (data.metrics.length > 1)
    return `${isPair ? `${pair}; sentences` : 'At first sentences'} are compared by ${why}.`;
  return isPair ? `${pair}.` : '';
};

const start = () => {
  byId('facts').textContent = [
    amount(lineCount, 'line'),
    amount(data.systems.length, 'system'),
    amount(data.references.length, 'reference'),
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
  byId('choice-note').textContent = firstChoice();
  for (const part of document.querySelectorAll('.of-pair')) part.hidden = !isPair;
  for (const part of document.querySelectorAll('.of-many')) part.hidden = data.systems.length < 3;
  showParts();
  showSignatures();
  readAddress();
  drawAll();
  listen();
  foldFilters();
};
start();
