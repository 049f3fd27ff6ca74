// The numbers behind the charts. A chart that groups sentences knows the group of each:
// groupOf(line, side).

const data = JSON.parse(byId('data').textContent);
const lineCount = data.translations[0].length;
const lines = Array.from({ length: lineCount }, (_, line) => line);
const isPair = data.systems.length > 1;

// The reader's choices; the page's address keeps them.
const view = {};

const systemOf = side => Number(view[side]);
const sides = () => (isPair ? ['a', 'b'] : ['a']);
const nameOf = side => data.systems[systemOf(side)].name;
const metric = () => data.metrics[view.metric];
const sentenceScore = (line, side) => metric().sentences[systemOf(side)][line];
// Above 0 if B is better, also for metrics whose lower scores are better.
const gainOf = line => {
  const gain = Math.round(10 * (sentenceScore(line, 'b') - sentenceScore(line, 'a'))) / 10;
  return metric().lower ? -gain : gain;
};
const translation = (line, side) => data.translations[systemOf(side)][line];
const referencesOf = line => {
  const all = data.references.map(reference => reference[line]);
  return all.filter(text => text).length ? all.filter(text => text) : [''];
};

const keyOfPair = () => sides().map(side => ({ side, name: nameOf(side) }));
const groupAt = (starts, value) =>
  starts.reduce((found, start, i) => (value >= start ? i : found), 0);
const wordCount = text => (text.match(/\S+/g) || []).length;

const lengthChart = () => ({
  id: 'length',
  title: `${metric().name} by length`,
  axis: `words of the ${data.lengths.of}`,
  groups: data.lengths.groups.map(({ name, lines: found }) => ({
    name,
    detail: amount(found, 'line'),
  })),
  tableHead: [`words of the ${data.lengths.of}`, 'lines'],
  tableCounts: data.lengths.groups.map(group => group.lines),
  perSystem: data.systems.map((_, s) => metric().lengths.map(scores => scores[s])),
  textOf: value => fixed(value, data.width),
  groupOf: line =>
    groupAt(
      data.lengths.groups.map(group => group.words),
      wordCount(data.lengths.of === 'source' ? data.source[line] : data.references[0][line]),
    ),
});

const frequencyChart = () => ({
  id: 'frequency',
  title: 'Words found, by frequency (F1, %)',
  axis: 'times that the word stands in the reference',
  groups: data.frequencies.map(({ name, words }) => ({ name, detail: amount(words, 'word') })),
  tableHead: ['times', 'words'],
  tableCounts: data.frequencies.map(group => group.words),
  perSystem: data.systems.map((_, s) => data.frequencies.map(group => group.f1[s])),
  textOf: value => fixed(value, data.width),
});

const precisionChart = () => {
  const made = [metric(), ...data.metrics].find(({ parts }) =>
    parts.some(part => part.kind === 'precision'),
  );
  if (!made) return undefined;
  const parts = made.parts.filter(part => part.kind === 'precision');
  return {
    id: 'precision',
    title: `${made.name}: n-grams that the reference has (%)`,
    axis: 'words of the n-gram',
    groups: parts.map((_, i) => ({ name: String(i + 1) })),
    tableHead: ['n'],
    perSystem: data.systems.map((_, s) => parts.map(part => part.values[s])),
    textOf: value => fixed(value, data.width),
  };
};

// Groups of differences, the same number below 0 and above it; the outermost have no end.
const differenceChart = () => {
  const gains = lines.map(gainOf),
    each = 10;
  const sizes = gains.map(Math.abs).sort((x, y) => x - y),
    usual = sizes[Math.floor(sizes.length * 0.98)];
  const step = [0.5, 1, 2, 5, 10].find(size => usual / size <= each) || Math.ceil(usual / each);
  const groupOf = line =>
    each + Math.sign(gains[line]) * Math.min(each, Math.ceil(Math.abs(gains[line]) / step - 1e-9));
  const nameOfGroup = group => {
    const far = Math.abs(group - each),
      near = (far - 1) * step;
    if (far === 0) return '0';
    if (group < each) return far === each ? `under −${near}` : `−${far * step} to −${near}`;
    return far === each ? `over ${near}` : `${near} to ${far * step}`;
  };
  const values = new Array(2 * each + 1).fill(0);
  lines.forEach(line => ++values[groupOf(line)]);
  return {
    id: 'difference',
    title: `Sentences by difference in ${metric().name}`,
    axis: `how much better: A on the left, B on the right`,
    groups: values.map((_, i) => ({
      name: nameOfGroup(i),
      short: i === each ? '0' : `${i < each ? '−' : '+'}${(Math.abs(i - each) - 1) * step}`,
    })),
    series: [
      {
        name: 'sentences',
        values,
        sides: values.map((_, i) => (i < each ? 'a' : i > each ? 'b' : 'same')),
      },
    ],
    key: [
      { side: 'a', name: 'A better' },
      { side: 'same', name: 'equal' },
      { side: 'b', name: 'B better' },
    ],
    tableHead: ['difference'],
    textOf: count,
    groupOf,
  };
};

// Counts of each side's sentences in groups; the drawing names a group by its lower end.
const counted = (chart, groups, groupOf) => ({
  ...chart,
  groups: groups.map(name => ({ name, short: name.replace(/–.*/, '') })),
  groupOf,
  perSide: true,
  textOf: count,
  series: sides().map(side => {
    const values = new Array(groups.length).fill(0);
    lines.forEach(line => ++values[groupOf(line, side)]);
    return { side, name: nameOf(side), values };
  }),
});

const scoreChart = () =>
  counted(
    {
      id: 'score',
      title: `Sentences by ${metric().name}`,
      axis: `${metric().name} (40: from 40 to 49)`,
      tableHead: [metric().name],
    },
    [0, 10, 20, 30, 40, 50, 60, 70, 80, 90].map(low => (low === 90 ? '90+' : `${low}–${low + 9}`)),
    (line, side) => Math.min(9, Math.max(0, Math.floor(sentenceScore(line, side) / 10))),
  );

const kRatios = [0, 0.5, 0.7, 0.9, 1.1, 1.3, 1.5];
const ratioChart = () =>
  counted(
    {
      id: 'ratio',
      title: 'Sentences by length of the translation',
      axis: "% of the reference's characters (90: from 90 to 109)",
      tableHead: ['% of the reference'],
    },
    kRatios.map((low, i) =>
      i + 1 === kRatios.length
        ? '150+'
        : `${Math.round(low * 100)}–${Math.round(kRatios[i + 1] * 100) - 1}`,
    ),
    (line, side) =>
      groupAt(
        kRatios,
        (translation(line, side).length || 1e-9) /
          (nearestLength(line, translation(line, side).length) || 1e-9) +
          1e-9,
      ),
  );

const nearestLength = (line, length) =>
  referencesOf(line)
    .map(text => text.length)
    .reduce((best, candidate) =>
      Math.abs(candidate - length) < Math.abs(best - length) ? candidate : best,
    );

const charts = () =>
  [
    lengthChart(),
    frequencyChart(),
    precisionChart(),
    isPair ? differenceChart() : undefined,
    scoreChart(),
    ratioChart(),
  ]
    .filter(chart => chart && chart.groups.length)
    .map(chart => ({
      key: keyOfPair(),
      series: sides().map(side => ({
        side,
        name: nameOf(side),
        values: chart.perSystem && chart.perSystem[systemOf(side)],
      })),
      ...chart,
    }));
