// A page of three systems on 45 lines: see texts() in pages.py.
const shownLines = () =>
  textsOfAll('#sentences h3').map(text => Number(/line (\d+)/.exec(text)[1]));
const status = () => one('#status').textContent;
const search = async query => {
  one('#query').value = query;
  one('#query').dispatchEvent(new Event('input'));
  await pause(300);
};

const checkPages = () => {
  expect(
    'the first page',
    shownLines(),
    Array.from({ length: 20 }, (_, i) => i + 1),
  );
  expect('its status', status(), '1–20 of 45 sentences, with chrF2 of each.');
  one('[data-page=next]').click();
  expect('the next page', shownLines()[0], 21);
  one('[data-page=last]').click();
  expect('the last page', shownLines(), [41, 42, 43, 44, 45]);
  expect('nothing after the last page', one('[data-page=next]').disabled, true);
  choose('#page', '2');
  expect('a page by its number', shownLines()[0], 21);
  choose('#size', '50');
  expect('all on one page', shownLines().length, 45);
};

const checkText = () => {
  const last = one('#sentences').lastElementChild;
  expect(
    'markup in a text is text',
    [all('b[onclick]').length, textsOfAll('dd', last).pop()],
    [0, '<b onclick=alert(1)>the cat</b> & <\/script> 猫だ'],
  );
  expect('marked is what the reference lacks', textsOfAll('#sentences article:first-child mark'), [
    'dog',
    'lay there',
  ]);
  choose('#mark', 'nothing');
  expect('or nothing', all('#sentences mark').length, 0);
  choose('#mark', 'reference');
};

const checkChoices = () => {
  expect('of three systems all are shown', all('#sentences article:first-child dt b').length, 3);
  choose('#whose', 'pair');
  const multiplesOfThree = shownLines().filter(line => line % 3 === 0 && line < 45);
  choose('#show', 'alike');
  expect('lines that are the same', shownLines(), multiplesOfThree);
  choose('#show', 'all');
  choose('#order', 'worst-b');
  expect('the worst of B first', shownLines()[0], 45);
  choose('#order', 'line');
  choose('#b', '1');
  expect('another pair', textsOfAll('#pair thead .beside'), ['first', 'second']);
  expect(
    'its charts',
    new Set(textsOfAll('[data-chart=length] .key span')),
    new Set(['first', 'second']),
  );
  choose('#a', '1');
  expect('a system is on one side alone', textsOfAll('#pair thead .beside'), ['second', 'first']);
  one('#swap').click();
  expect('the pair alone', all('#sentences article:first-child dt b').length, 2);
  choose('#whose', 'all');
  expect('all systems', all('#sentences article:first-child dt b').length, 3);
  choose('#b', '2');
};

const checkSearch = async () => {
  await search('CAT 7');
  expect('a search', shownLines(), [7]);
  expect('what it finds is marked', textsOfAll('.hit')[0], 'cat 7');
  await search('/cat 1[12]/');
  choose('#where', 'a');
  expect('a pattern, in A', shownLines(), [12]);
  await search('/(/');
  expect('no pattern', status(), '/(/ is not a pattern; all sentences are shown.');
  await search('');
  choose('#where', 'any');
};

const checkNgrams = () => {
  const button = all('#ngrams tbody button').find(found => found.textContent === 'the cat');
  expect('an n-gram that B has more often', textsOfAll('td', button.closest('tr')), [
    '15',
    '45',
    '45',
  ]);
  button.click();
  expect(
    'its sentences',
    shownLines(),
    Array.from({ length: 44 }, (_, i) => i + 1).filter(line => line % 3),
  );
  expect('the filter has the focus', document.activeElement.textContent, 'B alone has “the cat” ✕');
  document.activeElement.click();
  expect('without the filter', shownLines().length, 45);
  choose('#kind', 'superfluous');
  choose('#gram-order', '1');
  expect('what the reference lacks', textsOfAll('#ngrams tbody button')[0], 'dog');
  expect('words alone', textsOfAll('#ngrams tbody button').includes('<'), false);
  choose('#gram-tokens', 'all');
  expect('or punctuation, too', textsOfAll('#ngrams tbody button').includes('<'), true);
};

// What is chosen changes the address; a jump must not.
const checkJumps = () => {
  const before = location.hash;
  one('[data-jump=sentences-title]').click();
  expect(
    'a jump to the sentences',
    [document.activeElement.id, Math.abs(one('#side-by-side').getBoundingClientRect().top) < 100],
    ['sentences-title', true],
  );
  expect('keeps what is chosen', location.hash, before);
};

const checkCharts = () => {
  const figure = one('[data-chart=difference]');
  expect(
    'charts',
    all('#charts figure').map(found => found.dataset.chart),
    ['length', 'frequency', 'precision', 'difference', 'score', 'ratio'],
  );
  expect(
    'every group of scores has its name',
    textsOfAll('[data-chart=score] svg g.grid:last-child text').slice(0, -1),
    ['0', '10', '20', '30', '40', '50', '60', '70', '80', '90+'],
  );
  expect(
    'numbers lie within their drawing',
    all('#charts svg text').filter(text => {
      const [own, whole] = [text, text.closest('svg')].map(found => found.getBoundingClientRect());
      return own.left < whole.left || own.right > whole.right || own.bottom > whole.bottom;
    }).length,
    0,
  );
  const equal = all('.group', figure)[10];
  equal.querySelector('.bar').dispatchEvent(new Event('click'));
  expect(
    'the sentences of a bar',
    shownLines().every(line => line % 3 === 0),
    true,
  );
  expect(
    'as many as it says',
    shownLines().length,
    Number(/sentences: (\d+)/.exec(equal.textContent)[1]),
  );
  one('#chips button').click();
  const rows = all('[data-chart=ratio] tbody tr');
  const counts = rows.map(row => Number(row.lastElementChild.textContent));
  expect(
    'every sentence is in a group',
    counts.reduce((sum, count) => sum + count),
    45,
  );
  rows
    .find(row => row.lastElementChild.textContent === '1')
    .querySelector('td:last-child button')
    .click();
  expect('a number shows its sentences', shownLines(), [45]);
  one('#chips button').click();
};

const checkAddress = async () => {
  choose('#metric', '2');
  expect('the address knows what is chosen', /metric=2/.test(location.hash), true);
  location.hash = '#a=2&b=0&show=a&size=50&metric=9&order=none';
  await pause(100);
  expect(
    'and can be gone to',
    [
      textsOfAll('#pair thead .beside'),
      one('#show').value,
      one('#metric').value,
      one('#order').value,
    ],
    [['third', 'first'], 'a', '1', 'line'],
  );
  for (const wrong of ['gram=x', 'gram=x:a:cat', 'gram=found:z:cat', 'group=length:0:z', 'best=length']) {
    location.hash = `#show=a&size=50&${wrong}`;
    await pause(100);
    expect(`a wrong address is put right: ${wrong}`, one('#show').value, 'a');
    expect(`and chooses nothing: ${wrong}`, textsOfAll('#chips button'), []);
  }
  location.hash = '#a=2&b=0&show=a&size=50';
  await pause(100);
  expect(
    'A is better',
    shownLines(),
    Array.from({ length: 44 }, (_, i) => i + 1).filter(line => line % 3),
  );
};

(async () => {
  expect('short names', textsOfAll('#scores tbody th span[title]'), ['first', 'second', 'third']);
  one('#best-2').click();
  expect('the best by TER first', textsOfAll('#scores tbody th span[title]'), [
    'third',
    'first',
    'second',
  ]);
  expect(
    'said so',
    all('#scores th[aria-sort=ascending]').map(head => head.textContent),
    ['TER ↓'],
  );
  one('#best-2').click();
  expect('as given', textsOfAll('#scores tbody th span[title]')[0], 'first');
  expect('counts have no decimals', textsOfAll('#parts tbody tr:first-child td').slice(4, 6), [
    '315',
    '315',
  ]);
  expect(
    'what is chosen at first',
    one('#choice-note').textContent,
    'At first A is the first system of the command line and B the last; sentences are compared ' +
      'by chrF2, as it tells single sentences apart better than BLEU.',
  );
  checkJumps();
  checkPages();
  checkText();
  checkChoices();
  await checkSearch();
  checkNgrams();
  checkCharts();
  await checkAddress();
  finish();
})();
