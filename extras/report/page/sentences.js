// The sentences: the choice, the order and the pages of those that are shown.

const kChoices = {
  where: { any: 'any text', source: 'source', reference: 'reference', a: 'A', b: 'B' },
  show: {
    all: 'all',
    unlike: 'A and B differ',
    alike: 'A and B are the same',
    b: 'B better',
    a: 'A better',
    equal: 'equal scores',
    explained: 'explained',
  },
  order: {
    line: 'as in the file',
    gain: 'B gains most',
    loss: 'B loses most',
    worst: 'worst of A',
    'worst-b': 'worst of B',
    best: 'best of A',
    long: 'longest',
  },
  mark: {
    reference: 'words that the reference lacks',
    pair: 'words that A and B do not share',
    nothing: 'nothing',
  },
};
const kOfPair = ['b', 'unlike', 'alike', 'a', 'equal', 'gain', 'loss', 'worst-b', 'pair'];

const choicesOf = name =>
  Object.entries(kChoices[name])
    .filter(([value]) => isPair || (value === 'a' && name === 'where') || !kOfPair.includes(value))
    .filter(([value]) => value !== 'source' || data.source.length)
    .filter(([value]) => value !== 'explained' || data.explanations.length)
    .map(([value, text]) => [value, isPair ? text : text.replace(/ of A$/, ' first')]);

const explainedLines = new Set(data.explanations.map(({ line }) => line));

const isShown = {
  all: () => true,
  unlike: line => translation(line, 'a') !== translation(line, 'b'),
  alike: line => translation(line, 'a') === translation(line, 'b'),
  a: line => gainOf(line) < 0,
  b: line => gainOf(line) > 0,
  equal: line => gainOf(line) === 0,
  explained: line => explainedLines.has(line),
};

const worse = (side, x, y) =>
  (metric().lower ? -1 : 1) * (sentenceScore(x, side) - sentenceScore(y, side));
const orders = {
  line: (x, y) => x - y,
  gain: (x, y) => gainOf(y) - gainOf(x),
  loss: (x, y) => gainOf(x) - gainOf(y),
  worst: (x, y) => worse('a', x, y),
  'worst-b': (x, y) => worse('b', x, y),
  best: (x, y) => worse('a', y, x),
  long: (x, y) => data.references[0][y].length - data.references[0][x].length,
};

// The texts of a line that a search looks into.
const textsOf = (line, where) =>
  ({
    any: () => [
      data.source[line] || '',
      ...referencesOf(line),
      ...data.translations.map(texts => texts[line]),
    ],
    source: () => [data.source[line] || ''],
    reference: () => referencesOf(line),
    a: () => [translation(line, 'a')],
    b: () => [translation(line, 'b')],
  })[where]();

const queryPattern = () => {
  if (!view.query.trim()) return undefined;
  try {
    return searchPattern(view.query);
  } catch (problem) {
    return undefined;
  }
};

// The lines that a chart's group, an n-gram and the search leave.
const isInGroup = () => {
  if (!view.group) return () => true;
  const [id, group, side] = view.group.split(':');
  const chart = charts().find(one => one.id === id && one.groupOf);
  return chart ? line => chart.groupOf(line, side || 'a') === Number(group) : () => true;
};

const gramPattern = () =>
  view.gram ? ngramPattern(view.gram.split(':').slice(2).join(':'), data.lowercase) : undefined;

const hasGram = () => {
  const pattern = gramPattern();
  if (!pattern) return () => true;
  const [kind, side] = view.gram.split(':'),
    other = side === 'a' ? 'b' : 'a';
  return line => {
    const expected = referencesOf(line).some(text => contains(pattern, text));
    if (expected !== (kind === 'found')) return false;
    if (!isPair) return contains(pattern, translation(line, 'a')) !== expected;
    return (
      contains(pattern, translation(line, side)) && !contains(pattern, translation(line, other))
    );
  };
};

const chosenLines = () => {
  const pattern = queryPattern();
  return lines
    .filter(isShown[view.show])
    .filter(isInGroup())
    .filter(hasGram())
    .filter(line => !pattern || textsOf(line, view.where).some(text => contains(pattern, text)))
    .sort((x, y) => orders[view.order](x, y) || x - y);
};

const textElement = (text, changed) => {
  if (!text) return element('dd', {}, element('i', {}, 'nothing'));
  const patterns = [queryPattern(), gramPattern()].filter(Boolean);
  const places = { changed, hit: patterns.flatMap(pattern => placesOf(pattern, text)) };
  return element(
    'dd',
    { dir: 'auto' },
    ...piecesOf(text, places).map(piece =>
      piece.classes.length
        ? element('mark', { class: piece.classes.join(' ') }, piece.text)
        : piece.text,
    ),
  );
};

const changedIn = (line, system) => {
  const text = data.translations[system][line];
  if (view.mark === 'reference') return changedPlaces(nearestOf(referencesOf(line), text), text);
  const other = system === systemOf('a') ? 'b' : system === systemOf('b') ? 'a' : undefined;
  return view.mark === 'pair' && other ? changedPlaces(translation(line, other), text) : [];
};

const pagesOfLines = new Map(
  data.explanations.map(({ system, line, page }) => [`${system}-${line}`, page]),
);
const shellQuoted = text => `'${text.replaceAll("'", "'\\''")}'`;

// The page about a model's translation of a line, or the command that writes one.
const explanationOf = (system, line) => {
  const { model, path } = data.systems[system];
  const page = pagesOfLines.get(`${system}-${line}`);
  if (page) {
    const address = page.split('/').map(encodeURIComponent).join('/');
    return [' ', element('a', { class: 'explained', href: `./${address}` }, 'explained')];
  }
  if (!model || !data.source[line]) return [];
  const words = ['dragoman explain -m', shellQuoted(path), shellQuoted(data.source[line])];
  // A search draws the same samples never again: then the translation itself is given.
  if (data.search === null) words.push('--target', shellQuoted(data.translations[system][line]));
  else if (data.search) words.push(data.search);
  const command = element('code', {}, `${words.join(' ')} -o line-${line + 1}.html`);
  return [
    ' ',
    element('details', { class: 'explained' }, element('summary', {}, 'explain'), command),
  ];
};

const sentenceElement = line => {
  const gain = isPair ? gainOf(line) : 0;
  const rows = [];
  if (data.source.length)
    rows.push(element('dt', {}, 'source'), textElement(data.source[line], []));
  for (const text of referencesOf(line))
    rows.push(element('dt', {}, 'reference'), textElement(text, []));
  const pair = sides().map(systemOf);
  const shown = view.whose === 'all' ? data.systems.map((_, s) => s) : pair;
  for (const system of shown) {
    const side = ['a', 'b'][pair.indexOf(system)] || '';
    const text = textElement(data.translations[system][line], changedIn(line, system));
    text.append(...explanationOf(system, line));
    rows.push(
      element(
        'dt',
        {},
        isPair ? element('span', { class: `side ${side}` }, side.toUpperCase() || '·') : '',
        ` ${data.systems[system].name}`,
        element('b', {}, fixed(metric().sentences[system][line], 1)),
      ),
      text,
    );
  }
  return element(
    'article',
    { class: 'sample', 'aria-labelledby': `line-${line + 1}` },
    element(
      'h3',
      { id: `line-${line + 1}` },
      `line ${line + 1}`,
      ...(gain
        ? [
            element(
              'span',
              { class: `gain ${gain > 0 ? 'b' : 'a'}` },
              `${gain > 0 ? 'B' : 'A'} better by ${fixed(Math.abs(gain), 1)}`,
            ),
          ]
        : []),
    ),
    element('dl', {}, ...rows),
  );
};

const statusText = (found, first, shown) => {
  if (view.query.trim() && !queryPattern())
    return `${view.query} is not a pattern; all sentences are shown.`;
  if (!found) return 'No sentence is like that.';
  const of = found === lineCount ? count(found) : `${count(found)} (${count(lineCount)} in all)`;
  return `${count(first + 1)}–${count(first + shown)} of ${of} sentences, with ${metric().name} of each.`;
};

const showSentences = () => {
  const found = chosenLines(),
    size = Number(view.size);
  const pages = Math.max(1, Math.ceil(found.length / size));
  view.page = Math.min(Math.max(1, Math.floor(Number(view.page)) || 1), pages);
  const first = (view.page - 1) * size,
    shown = found.slice(first, first + size);
  byId('sentences').replaceChildren(...shown.map(sentenceElement));
  byId('status').textContent = statusText(found.length, first, shown.length);
  byId('pages').textContent = `of ${count(pages)}`;
  byId('page').max = pages;
  byId('page').value = view.page;
  for (const button of byId('pager').querySelectorAll('[data-page]'))
    button.disabled = /first|previous/.test(button.dataset.page)
      ? view.page === 1
      : view.page === pages;
  byId('pager').dataset.pages = pages;
};

const chip = (text, clear) =>
  element(
    'button',
    {
      type: 'button',
      'aria-label': `Remove the filter: ${text}`,
      click: () => change({ [clear]: '', page: 1 }),
    },
    `${text} ✕`,
  );

const showChips = () => {
  const chips = [];
  if (view.group) {
    const [id, group, side] = view.group.split(':');
    const chart = charts().find(one => one.id === id && one.groupOf);
    if (chart && chart.groups[group])
      chips.push(
        chip(
          `${side ? side.toUpperCase() + ': ' : ''}${chart.title}: ${chart.groups[group].name}`,
          'group',
        ),
      );
  }
  if (view.gram) {
    const [kind, side, ...text] = view.gram.split(':');
    const told = isPair ? `${side.toUpperCase()} alone has` : kind === 'found' ? 'lacks' : 'has';
    chips.push(
      chip(
        `${told} “${text.join(':')}”${kind === 'found' ? '' : ', which the reference lacks'}`,
        'gram',
      ),
    );
  }
  byId('chips').replaceChildren(...chips);
};
