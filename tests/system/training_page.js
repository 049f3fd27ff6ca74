const first = one('figure');
expect(
  'drawings',
  all('figure').map(found => `${found.dataset.type} ${found.dataset.name}`),
  [
    'update loss',
    'update negative_log_likelihood',
    'validation loss',
    'validation bleu',
    'validation chrf',
  ],
);
const svg = first.querySelector('.by-updates');
const box = svg.getBoundingClientRect();
svg.dispatchEvent(
  new PointerEvent('pointermove', { clientX: box.right - 5, clientY: box.top + 50, bubbles: true }),
);
expect('the value under the pointer', textsOfAll('.tip b'), ['0.18']);
expect('by updates', getComputedStyle(first.querySelector('.by-time')).display, 'none');
one('#by-time').click();
expect(
  'by time',
  [svg, first.querySelector('.by-time')].map(found => getComputedStyle(found).display),
  ['none', 'block'],
);
one('#show-0').click();
expect('a run that is switched off', getComputedStyle(one('g.run-0')).display, 'none');
finish();
