const first = one('figure[data-type=update][data-name=loss]');
expect(
  'drawings',
  all('figure').map(found => `${found.dataset.type} ${found.dataset.name}`),
  [
    'validation bleu',
    'validation chrf',
    'validation loss',
    'update loss',
    'update negative_log_likelihood',
  ],
);
const svg = first.querySelector('.by-updates');
const box = svg.getBoundingClientRect();
svg.dispatchEvent(
  new PointerEvent('pointermove', { clientX: box.right - 5, clientY: box.top + 50, bubbles: true }),
);
expect('the value under the pointer', textsOfAll('.tip b'), ['0.18']);
expect('by updates', getComputedStyle(first.querySelector('.by-time')).display, 'none');
const press = key => svg.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
svg.focus();
press('Home');
expect('the first value by the keyboard', textsOfAll('.tip b'), ['0.9']);
press('ArrowRight');
expect('and the next', textsOfAll('.tip b'), ['0.45']);
press('Escape');
expect('and none', all('.tip').length, 0);
expect(
  'numbers lie within their drawing',
  all('svg.by-updates text').filter(text => {
    const [own, whole] = [text, text.closest('svg')].map(found => found.getBoundingClientRect());
    return own.left < whole.left || own.right > whole.right || own.bottom > whole.bottom;
  }).length,
  0,
);
one('#by-time').click();
expect(
  'by time',
  [svg, first.querySelector('.by-time')].map(found => getComputedStyle(found).display),
  ['none', 'block'],
);
const slider = one('.alignment input');
expect('the attention of the last validation', all('.alignment rect title')[0].textContent, 'b to a 0.5000');
slider.value = 0;
slider.dispatchEvent(new Event('input'));
expect('a screen reader says the update', slider.ariaValueText, '10');
expect('and of the first', textsOfAll('.alignment :is(output, rect title)'), ['10', 'b to a 0.100', 'b to </s> 0.900']);
one('#show-0').click();
expect('a run that is switched off', getComputedStyle(one('g.run-0')).display, 'none');
expect(
  'tables can be scrolled by the keyboard',
  all('.scroll').map(found => found.tabIndex),
  all('.scroll').map(() => 0),
);
finish();
