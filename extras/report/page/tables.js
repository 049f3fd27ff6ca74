// The tables, and the charts with theirs.

const scoreCell = (one, width, isBest) => {
  const parts = [isBest ? element('b', {}, fixed(one.score, width)) : fixed(one.score, width)];
  if (one.interval !== undefined)
    parts.push(element('small', {}, `± ${fixed(one.interval, width)}`));
  if (one.p !== undefined)
    parts.push(element('small', {}, `p = ${fixed(one.p, 4)}${one.p > 0.05 ? '' : '*'}`));
  if (one.same) parts.push(element('small', {}, 'the same output'));
  return { text: parts };
};

const systemHead = system => {
  const side = !isPair ? '' : system === systemOf('a') ? 'a' : system === systemOf('b') ? 'b' : '';
  return [
    element('span', { title: data.systems[system].path }, data.systems[system].name),
    ...(side ? [' ', sideMark(side)] : []),
    ...(data.paired && system === 0 ? [element('span', { class: 'tag' }, 'baseline')] : []),
  ];
};

// The systems in the given order, or the best by a metric first.
const systemsInOrder = () => {
  const systems = data.systems.map((_, s) => s),
    by = data.metrics[view.best];
  return by
    ? systems.sort((x, y) => (by.lower ? 1 : -1) * (by.scores[x].score - by.scores[y].score))
    : systems;
};

const sortingHead = ({ name, lower }, m) => {
  const text = lower ? `${name} ↓` : name;
  return data.systems.length < 3
    ? text
    : element(
        'button',
        {
          type: 'button',
          class: 'link',
          id: `best-${m}`,
          title: 'The best first, or as given',
          click: () => {
            change({ best: view.best === String(m) ? '' : String(m) });
            byId(`best-${m}`).focus();
          },
        },
        text,
      );
};

const showScores = () => {
  const best = data.metrics.map(({ scores, lower }) =>
    (lower ? Math.min : Math.max)(...scores.map(one => one.score)),
  );
  fillTable(byId('scores'), {
    heads: ['System', ...data.metrics.map(sortingHead)],
    rows: systemsInOrder().map(s => ({
      head: systemHead(s),
      cells: data.metrics.map(({ scores }, m) =>
        scoreCell(scores[s], data.width, isPair && scores[s].score === best[m]),
      ),
    })),
  });
  byId('scores')
    .querySelectorAll('thead th')
    .forEach((head, i) => {
      if (i && view.best === String(i - 1))
        head.setAttribute('aria-sort', data.metrics[i - 1].lower ? 'ascending' : 'descending');
    });
  const notes = [];
  if (data.metrics.some(({ scores }) => scores[0].interval !== undefined))
    notes.push('±: half of the 95 % interval over resampled corpora.');
  if (data.paired)
    notes.push(
      'p: how often chance alone would make such a difference from the baseline; * at 0.05 or below.',
    );
  if (data.metrics.some(({ lower }) => lower)) notes.push('↓ lower is better.');
  byId('scores-note').textContent = notes.join(' ');
};

const showParts = () => {
  const made = data.metrics.filter(({ parts }) => parts.length);
  byId('parts-fold').hidden = !made.length;
  const placesOfKind = { precision: data.width, count: 0, factor: 3 };
  byId('parts').replaceChildren(
    ...made.map(({ name, parts }) =>
      scrolled(
        fillTable(element('table'), {
          caption: name,
          heads: ['System', ...parts.map(part => part.name)],
          rows: data.systems.map((system, s) => ({
            head: system.name,
            cells: parts.map(({ kind, values }) =>
              kind === 'count' ? count(values[s]) : fixed(values[s], placesOfKind[kind]),
            ),
          })),
        }),
        `Parts of ${name}`,
      ),
    ),
  );
};

const showSignatures = () =>
  byId('signatures').replaceChildren(
    ...data.metrics.flatMap(({ name, signature }) => [
      element('dt', {}, name),
      element('dd', {}, signature),
    ]),
    ...data.systems.flatMap(({ name, path }) => [element('dt', {}, name), element('dd', {}, path)]),
  );

const showPair = () => {
  const [a, b] = [systemOf('a'), systemOf('b')],
    alike = lines.filter(isShown.alike).length;
  fillTable(byId('pair'), {
    heads: [
      'Metric',
      ...['a', 'b'].map(side => [
        sideMark(side),
        element('span', { class: 'beside' }, nameOf(side)),
      ]),
      'B − A (95 % interval)',
      'p',
    ],
    rows: data.metrics.map(({ name, scores, pairs }) => {
      const sign = a < b ? 1 : -1;
      const pair = pairs.find(one => one.first === Math.min(a, b) && one.second === Math.max(a, b));
      const [low, high] = sign > 0 ? [pair.low, pair.high] : [-pair.high, -pair.low];
      return {
        head: name,
        cells: [
          fixed(scores[a].score, data.width),
          fixed(scores[b].score, data.width),
          {
            text: [
              element('b', {}, signed(scores[b].score - scores[a].score, data.width)),
              element('small', {}, `${signed(low, data.width)} to ${signed(high, data.width)}`),
            ],
          },
          alike === lines.length
            ? 'the same output'
            : low === 0 && high === 0
              ? '–'
              : fixed(pair.p, 4) + (pair.p > 0.05 ? '' : '*'),
        ],
      };
    }),
  });
  const counts = { a: 0, b: 0, equal: 0 };
  lines.forEach(line => ++counts[gainOf(line) > 0 ? 'b' : gainOf(line) < 0 ? 'a' : 'equal']);
  byId('pair-note').textContent =
    `Interval and p by paired bootstrap resampling (${count(data.samples)} corpora); * at 0.05 or below. ` +
    `By ${metric().name} B is better in ${count(counts.b)} of ${count(lines.length)} sentences, A in ${count(counts.a)}; ` +
    `equal: ${count(counts.equal)}, ${count(alike)} of them word for word.`;
};

const sentencesButton = (text, group) =>
  element(
    'button',
    { type: 'button', class: 'link', title: 'Show these sentences', click: () => show({ group }) },
    text,
  );

const numbersOf = chart => {
  const perSide = chart.perSide || !chart.perSystem;
  const columns = perSide
    ? chart.series
    : data.systems.map((system, s) => ({ name: system.name, values: chart.perSystem[s] }));
  return fillTable(element('table'), {
    heads: [...chart.tableHead, ...columns.map(column => breakable(column.name))],
    rows: chart.groups.map((group, i) => ({
      head:
        chart.groupOf && !chart.perSide
          ? sentencesButton(group.name, `${chart.id}:${i}`)
          : group.name,
      cells: [
        ...(chart.tableCounts ? [count(chart.tableCounts[i])] : []),
        ...columns.map(({ side, values }) =>
          chart.perSide && values[i]
            ? sentencesButton(count(values[i]), `${chart.id}:${i}:${side}`)
            : chart.textOf(values[i]),
        ),
      ],
    })),
  });
};

const showCharts = () => {
  const open = [...byId('charts').querySelectorAll('figure')]
    .filter(figure => figure.querySelector('details').open)
    .map(figure => figure.dataset.chart);
  byId('charts').replaceChildren(
    ...charts().map(chart => {
      const choose =
        chart.groupOf &&
        ((group, s) =>
          show({
            group: `${chart.id}:${group}${chart.perSide ? ':' + chart.series[s].side : ''}`,
          }));
      const figure = chartFigure({ ...chart, choose }, numbersOf(chart));
      figure.querySelector('details').open = open.includes(chart.id);
      return figure;
    }),
  );
};
