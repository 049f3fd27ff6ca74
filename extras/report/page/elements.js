// Elements of the page.

// element('td', { class: 'number' }, 'text', child, ...); a property whose value is a function is a
// listener.
const element = (tag, properties, ...children) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties || {})) {
    if (typeof value === 'function') made.addEventListener(name, value);
    else if (value !== undefined && value !== false)
      made.setAttribute(name, value === true ? '' : value);
  }
  made.append(...children);
  return made;
};

// A name that may be broken after its full stops and the like.
const breakable = name =>
  name.split(/(?<=[._/])/).flatMap((part, i) => (i ? [element('wbr'), part] : [part]));

const byId = id => document.getElementById(id);

// Notes the choices that are not the defaults in the page's address.
const keepInAddress = (choices, defaults) => {
  const chosen = new URLSearchParams(
    Object.entries(choices).filter(([name, value]) => String(value) !== String(defaults[name])),
  );
  try {
    history.replaceState(null, '', `#${chosen}`);
  } catch (problem) {
    // Some viewers do not let a page change its address; the page works all the same.
  }
};

const fixed = (value, places) => value.toFixed(places);
const count = value => value.toLocaleString('en');
// "1 line", "1,000 lines"
const amount = (value, unit) => `${count(value)} ${unit}${value === 1 ? '' : 's'}`;
const signed = (value, places) =>
  (value > 0 ? '+' : value < 0 ? '−' : '±') + fixed(Math.abs(value), places);

// Rows of { head, cells }; a cell is text, a child, or { text, class }. Numbers stand on the right.
const fillTable = (table, { caption, heads, rows }) => {
  const cellOf = cell =>
    cell instanceof Node
      ? element('td', { class: 'number' }, cell)
      : typeof cell === 'object'
        ? element('td', { class: 'number ' + (cell.class || '') }, ...[cell.text].flat())
        : element('td', { class: 'number' }, cell);
  table.replaceChildren(
    ...(caption ? [element('caption', {}, ...[caption].flat())] : []),
    element(
      'thead',
      {},
      element(
        'tr',
        {},
        ...heads.map((head, i) =>
          element('th', { scope: 'col', class: i ? 'number' : '' }, ...[head].flat()),
        ),
      ),
    ),
    element(
      'tbody',
      {},
      ...rows.map(({ head, cells }) =>
        element('tr', {}, element('th', { scope: 'row' }, ...[head].flat()), ...cells.map(cellOf)),
      ),
    ),
  );
  return table;
};

const scrolled = (table, label) =>
  element('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': label }, table);

const fillSelect = (select, options) =>
  select.replaceChildren(...options.map(([value, text]) => element('option', { value }, text)));

const sideMark = side => element('span', { class: `side ${side}` }, side.toUpperCase());
