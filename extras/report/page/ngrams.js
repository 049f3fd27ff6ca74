// The n-grams by which systems differ.

const kShownNgrams = 15;

// The n-grams that one side has more often than the other; for a single system those that it lacks
// or adds.
const occurrencesOf = (ngram, system) =>
  (view.kind === 'found' ? ngram.found : ngram.superfluous)[system];
const comparedOf = (ngram, side) =>
  isPair
    ? [
        occurrencesOf(ngram, systemOf(side)),
        occurrencesOf(ngram, systemOf(side === 'a' ? 'b' : 'a')),
      ]
    : view.kind === 'found'
      ? [ngram.reference, ngram.found[0]]
      : [ngram.superfluous[0], 0];

// The difference in its standard deviations, as if the n-gram were equally frequent on both sides.
// So n-grams that are frequent everywhere do not come first.
const leads = {
  number: ([more, less]) => more - less,
  relative: ([more, less]) => (more - less) / Math.sqrt(more + less || 1),
};

const hasPunctuation = ngram =>
  ngram.text.split(' ').some(token => !/[\p{L}\p{M}\p{N}]/u.test(token));

const isListed = (ngram, side) => {
  const [more, less] = comparedOf(ngram, side);
  return (
    more > less &&
    (view['gram-order'] === '0' || ngram.order === Number(view['gram-order'])) &&
    (view['gram-tokens'] === 'all' || !hasPunctuation(ngram))
  );
};

const listedNgrams = side => {
  const leadOf = ngram => leads[view['gram-rank']](comparedOf(ngram, side));
  return data.ngrams
    .filter(ngram => isListed(ngram, side))
    .sort((x, y) => leadOf(y) - leadOf(x) || y.order - x.order)
    .slice(0, kShownNgrams);
};

const ngramTable = side => {
  const caption = isPair
    ? [sideMark(side), ` ${nameOf(side)} has more often`]
    : [view.kind === 'found' ? 'Lacks most often' : 'Has, and the reference lacks'];
  const table = fillTable(element('table'), {
    caption,
    heads: ['n-gram', ...sides().map(one => (isPair ? [sideMark(one)] : nameOf(one))), 'reference'],
    rows: listedNgrams(side).map(ngram => ({
      head: element(
        'button',
        {
          type: 'button',
          class: 'link',
          title: 'Show the sentences',
          dir: 'auto',
          click: () => show({ gram: `${view.kind}:${side}:${ngram.text}` }),
        },
        ngram.text,
      ),
      cells: [
        ...sides().map(one => count(occurrencesOf(ngram, systemOf(one)))),
        count(ngram.reference),
      ],
    })),
  });
  return scrolled(table, `N-grams: ${nameOf(side)}`);
};

const showNgrams = () => byId('ngrams').replaceChildren(...sides().map(ngramTable));
