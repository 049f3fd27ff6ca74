// The parameters of the model, counted for each box of the paper's figure 1.

const kParts = [
  ['embedding', /^embedding\.weight$/],
  ['source embedding', /^embedding\.source\./],
  ['target embedding', /^embedding\.target\./],
  ['source positions', /^positions\.source\./],
  ['target positions', /^positions\.target\./],
  ['output', /^output\./],
  ['encoder self-attention', /^encoder\..*self_attention\./],
  ['encoder feed-forward', /^encoder\..*feed_forward\./],
  ['encoder norm', /^encoder\..*norm\./],
  ['decoder self-attention', /^decoder\..*self_attention\./],
  ['decoder attention to the source', /^decoder\..*cross_attention\./],
  ['decoder feed-forward', /^decoder\..*feed_forward\./],
  ['decoder norm', /^decoder\..*norm\./],
];

const sizeOf = ({ shape }) => shape.reduce((product, length) => product * length, 1);

// { part: how many parameters }
const parameterCounts = () => {
  const counts = {};
  for (const parameter of model.parameters) {
    const [part] = kParts.find(([, pattern]) => pattern.test(parameter.name)) || ['other'];
    counts[part] = (counts[part] || 0) + sizeOf(parameter);
  }
  return counts;
};

const allParameters = () => model.parameters.reduce((sum, parameter) => sum + sizeOf(parameter), 0);

// 1,234,567 as "1.23 M"
const inShort = number => {
  for (const [unit, size] of [
    ['G', 1e9],
    ['M', 1e6],
    ['K', 1e3],
  ])
    if (number >= 0.9995 * size) return `${(number / size).toPrecision(3)} ${unit}`;
  return String(number);
};

const parametersTable = () => {
  const counts = parameterCounts();
  const layers = {
    encoder: model.config['encoder-layers'],
    decoder: model.config['decoder-layers'],
  };
  const rows = Object.entries(counts).map(([part, number]) => {
    const perLayer = layers[part.split(' ')[0]];
    const even = perLayer && number % perLayer === 0;
    return {
      head: part,
      cells: [
        even ? `${perLayer} × ${count(number / perLayer)}` : '',
        count(number),
        percent(number / allParameters()),
      ],
    };
  });
  return fillTable(element('table', {}), {
    heads: ['part', 'layers', 'parameters', 'of all'],
    rows: [
      ...rows,
      { head: element('b', {}, 'all'), cells: ['', count(allParameters()), percent(1)] },
    ],
  });
};
