'use strict';
const runs = JSON.parse(document.getElementById('data').textContent);
const names = runs.map((_, run) => document.querySelector(`label[for=show-${run}]`).textContent);
const shown = run => document.getElementById(`show-${run}`).checked;
const numbers = text => text.split(' ').map(Number);

const place = (axis, x) => {
  if (axis !== 'by-time')
    return `${x.toLocaleString('en')} ${axis === 'by-pieces' ? 'target pieces' : 'updates'}`;
  const seconds = Math.round(x),
    two = n => String(n).padStart(2, '0');
  return `${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
};
const value = y => y.toLocaleString('en', { maximumSignificantDigits: 5 });

// The point of a run that is nearest to x; -1 if it has none.
const nearest = (points, axis, name, x) => {
  let best = -1;
  points[axis].forEach((at, i) => {
    if (at === null || points[name][i] === null) return;
    if (best < 0 || Math.abs(at - x) < Math.abs(points[axis][best] - x)) best = i;
  });
  return best;
};

const draw = (tag, attributes, parent) => {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, text] of Object.entries(attributes)) element.setAttribute(name, text);
  return parent.appendChild(element);
};

const clear = figure =>
  figure.querySelectorAll('.tip, .pointer').forEach(element => element.remove());

// The place on the x axis under the pointer.
const placeOf = (svg, event) => {
  const [left, right] = numbers(svg.dataset.area),
    [low, high] = numbers(svg.dataset.x);
  const box = svg.getBoundingClientRect();
  const at = ((event.clientX - box.left) / box.width) * svg.viewBox.baseVal.width;
  return low + ((Math.min(Math.max(at, left), right) - left) / (right - left)) * (high - low);
};

// Shows the values at x.
const tell = (figure, svg, x) => {
  clear(figure);
  const axis = svg.classList[0],
    { type, name } = figure.dataset;
  const [left, right, top, bottom] = numbers(svg.dataset.area);
  const [low, high] = numbers(svg.dataset.x),
    [least, most] = numbers(svg.dataset.y);
  const found = runs
    .map((lines, run) => ({ run, points: lines[type], i: nearest(lines[type], axis, name, x) }))
    .filter(({ run, i }) => i >= 0 && shown(run));
  if (!found.length) return;
  const pointer = draw('g', { class: 'pointer' }, svg);
  const tip = document.createElement('div');
  tip.className = 'tip';
  tip.setAttribute('role', 'status');
  const first = found[0].points[axis][found[0].i];
  svg.dataset.told = first;
  tip.append(place(axis, first));
  for (const { run, points, i } of found) {
    const column = left + ((points[axis][i] - low) / (high - low)) * (right - left);
    const row = bottom - ((points[name][i] - least) / (most - least)) * (bottom - top);
    draw('path', { class: 'cursor', d: `M${column} ${top}V${bottom}` }, pointer);
    draw('circle', { class: `marks run-${run}`, cx: column, cy: row, r: 4 }, pointer);
    const line = tip.appendChild(document.createElement('div'));
    const key = line.appendChild(document.createElement('b'));
    key.className = `run-color-${run}`;
    key.textContent = value(points[name][i]);
    line.append(` ${names[run]}`);
    if (points[axis][i] !== first) line.append(`, ${place(axis, points[axis][i])}`);
  }
  figure.append(tip);
  const room = figure.clientWidth - tip.offsetWidth - 8;
  const told = left + ((first - low) / (high - low)) * (right - left);
  const width = svg.getBoundingClientRect().width;
  const beside = (figure.clientWidth - width) / 2 + (told / svg.viewBox.baseVal.width) * width;
  const wanted = beside < figure.clientWidth / 2 ? beside + 14 : beside - tip.offsetWidth - 14;
  tip.style.left = `${Math.max(8, Math.min(room, wanted))}px`;
  tip.style.top = '40px';
};

// The arrow keys go from point to point of the runs that are shown.
const step = (figure, svg, event) => {
  const axis = svg.classList[0],
    { type, name } = figure.dataset;
  const places = runs
    .filter((_, run) => shown(run))
    .flatMap(lines =>
      lines[type][axis].filter((at, i) => at !== null && lines[type][name][i] !== null),
    )
    .sort((x, y) => x - y);
  const told = figure.querySelector('.tip') ? Number(svg.dataset.told) : undefined;
  const next = {
    ArrowRight: () => places.find(at => told === undefined || at > told),
    ArrowLeft: () => places.findLast(at => told === undefined || at < told),
    Home: () => places[0],
    End: () => places[places.length - 1],
  }[event.key];
  if (event.key === 'Escape') clear(figure);
  if (!next) return;
  event.preventDefault();
  const x = next();
  if (x !== undefined) tell(figure, svg, x);
};

for (const figure of document.querySelectorAll('figure')) {
  for (const svg of figure.querySelectorAll('svg')) {
    for (const kind of ['pointermove', 'pointerdown'])
      svg.addEventListener(kind, event => tell(figure, svg, placeOf(svg, event)));
    svg.tabIndex = 0;
    svg.addEventListener('keydown', event => step(figure, svg, event));
    svg.addEventListener('blur', () => clear(figure));
  }
  figure.addEventListener('pointerleave', () => clear(figure));
}
