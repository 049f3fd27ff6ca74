// Bars, drawn as SVG.

const kChart = { width: 400, height: 236, right: 392, top: 10, bottom: 196 };
// The greatest width of a character of the axes, at the largest size of the style sheet.
const kCharacter = 8.2;

// 0, then round numbers up to one that is not below `most`.
const roundTicks = most => {
  const rough = Math.max(most, 1e-9) / 4,
    power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find(digit => digit * power >= rough * (1 - 1e-9)) * power;
  return Array.from({ length: Math.ceil(most / step - 1e-9) + 1 }, (_, i) => i * step);
};

const tickText = value => count(+value.toPrecision(6));

// The left edge of the bars, to the right of the longest number of the axis.
const leftOf = ticks => 8 + kCharacter * Math.max(...ticks.map(value => tickText(value).length));

const gridOf = (ticks, left, rowOf) =>
  drawn(
    'g',
    { class: 'grid' },
    ...ticks.flatMap(value => [
      drawn('path', { d: `M${left} ${rowOf(value)}H${kChart.right}` }),
      drawn(
        'text',
        { x: left - 6, y: rowOf(value), dy: '.35em', 'text-anchor': 'end' },
        tickText(value),
      ),
    ]),
  );

// Names below the groups: every one, or every second, third, ... if there is no room.
const namesBelow = (groups, left, width) => {
  const names = groups.map(group => group.short || group.name);
  const longest = Math.max(...names.map(name => name.length));
  const each = Math.max(1, Math.ceil((longest * kCharacter + 4) / width));
  const from = Math.floor(groups.length / 2) % each;
  return names.flatMap((name, i) =>
    i % each === from
      ? [
          drawn(
            'text',
            {
              x: left + (i + 0.5) * width,
              y: kChart.bottom + 17,
              'text-anchor': 'middle',
            },
            name,
          ),
        ]
      : [],
  );
};

// groups: [{ name, short (below the bars), detail }]; series: [{ side, values: [number or null for
// each group] }], or with sides: [class for each group]. choose(group, series) is called if bars
// can be chosen.
const barDrawing = ({ title, axis, groups, series, textOf, choose }) => {
  const { width, height, right, top, bottom } = kChart;
  const ticks = roundTicks(Math.max(...series.flatMap(one => one.values)) || 1),
    left = leftOf(ticks);
  const rowOf = value => bottom - ((bottom - top) * value) / ticks[ticks.length - 1];
  const room = (right - left) / groups.length,
    bar = Math.min(26, (room * 0.84) / series.length);
  const svg = drawn(
    'svg',
    { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': title },
    gridOf(ticks, left, rowOf),
  );
  groups.forEach((group, i) => {
    const begin = left + i * room + (room - bar * series.length) / 2;
    const bars = series.map((one, s) => {
      const row = rowOf(one.values[i]);
      const drawnBar = drawn('rect', {
        class: `bar ${one.sides ? one.sides[i] : one.side}`,
        x: begin + s * bar,
        y: row,
        width: bar - 1,
        height: bottom - row,
      });
      if (choose)
        drawnBar.addEventListener('click', event => {
          event.stopPropagation();
          choose(i, s);
        });
      return drawnBar;
    });
    const told = [
      group.name + (group.detail ? ` (${group.detail})` : ''),
      ...series.map((one, s) => `${one.name}: ${textOf(one.values[i])}`),
    ].join('\n');
    const column = drawn('rect', {
      class: 'column',
      x: left + i * room,
      y: top,
      width: room,
      height: bottom - top,
    });
    if (choose) column.addEventListener('click', () => choose(i, 0));
    svg.append(
      drawn(
        'g',
        { class: choose ? 'group choosable' : 'group' },
        drawn('title', {}, told),
        column,
        ...bars,
      ),
    );
  });
  svg.append(
    drawn(
      'g',
      { class: 'grid' },
      drawn('path', { class: 'axis', d: `M${left} ${bottom}H${right}` }),
      ...namesBelow(groups, left, room),
      drawn('text', { x: (left + right) / 2, y: height - 5, 'text-anchor': 'middle' }, axis),
    ),
  );
  return svg;
};

// A drawing with its key, and its numbers as a table.
const chartFigure = (chart, table) =>
  element(
    'figure',
    { 'data-chart': chart.id },
    element('figcaption', {}, chart.title),
    element(
      'div',
      { class: 'key' },
      ...chart.key.map(({ side, name }) =>
        element('span', {}, element('i', { class: side }), name),
      ),
    ),
    barDrawing(chart),
    element(
      'details',
      {},
      element('summary', {}, 'numbers'),
      scrolled(table, `Numbers: ${chart.title}`),
    ),
  );
