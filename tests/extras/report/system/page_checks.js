// Run at the end of a page by pages.py, before the checks of that page.
const checks = [];
const expect = (name, found, expected) => checks.push({ name, found, expected });
const one = selector => document.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const textsOfAll = (selector, within) => all(selector, within).map(found => found.textContent);
const choose = (selector, value) => {
  one(selector).value = value;
  one(selector).dispatchEvent(new Event('change'));
};
const pause = milliseconds => new Promise(done => setTimeout(done, milliseconds));

const finish = () => {
  expect(
    'ids are used once',
    all('[id]')
      .map(found => found.id)
      .filter((id, i, ids) => ids.indexOf(id) !== i),
    [],
  );
  expect('drawings say what they are', all('svg[role=img]:not([aria-label])').length, 0);
  expect(
    'fields have labels',
    all('main :is(select, input)')
      .filter(field => !field.labels.length && !field.ariaLabel)
      .map(field => field.id),
    [],
  );
  expect(
    'buttons have names',
    all('button').filter(button => !button.textContent.trim() && !button.ariaLabel).length,
    0,
  );
  expect(
    'texts of drawings can be read: 11 px or more',
    all('svg text')
      .filter(text => text.getBoundingClientRect().height)
      .filter(text => {
        const svg = text.closest('svg');
        const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
        return parseFloat(getComputedStyle(text).fontSize) * scale < 11;
      }).length,
    0,
  );
  expect(
    'nothing is wider than the page',
    document.documentElement.scrollWidth <= innerWidth,
    true,
  );
  document.documentElement.dataset.results = JSON.stringify(checks);
};
