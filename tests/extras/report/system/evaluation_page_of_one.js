// A page of one system has everything but comparisons.
expect(
  'no pair',
  [one('#pair'), one('#swap')].map(found => found.offsetParent),
  [null, null],
);
expect('orders', textsOfAll('#order option'), [
  'as in the file',
  'worst first',
  'best first',
  'longest',
]);
expect(
  'charts',
  all('#charts figure').map(found => found.dataset.chart),
  ['length', 'frequency', 'precision', 'score', 'ratio'],
);
expect('what it lacks most often', textsOfAll('#ngrams tbody tr:first-child :is(th, td)'), [
  'the cat',
  '15',
  '45',
]);
one('#ngrams tbody button').click();
expect('the sentences that lack it', textsOfAll('#status'), [
  '1–20 of 30 (45 in all) sentences, with chrF2 of each.',
]);
finish();
