// What the model gives each piece at a step, what greedy search takes there, and what would have
// followed another choice.

// Greedy at a step: { piece: what it takes after the beginning that is written, left: the step at
// which its own translation has gone another way, if it has }.
const greedyAt = step => {
  const { search, target_tokens: written } = sentence();
  const taken = search ? search.greedy.pieces : [];
  const left = written.slice(0, step).findIndex(({ piece }, i) => piece !== taken[i]);
  if (search && left < 0) return { piece: taken[step] };
  return { piece: written[step].top[0].piece, ...(search ? { left } : {}) };
};

const toldGreedy = (step, token) => {
  const { search } = sentence();
  const { piece, left } = greedyAt(step);
  const isSame = piece === token.piece;
  if (!search) return ` Greedy search would take ${isSame ? 'the same piece' : quoted(piece)}.`;
  if (left === undefined)
    return isSame
      ? ' Greedy search takes the same piece.'
      : ` Greedy search takes ${quoted(piece)}, and goes another way from here.`;
  return (
    ` Greedy search left this path at step ${left + 1}, where it took ${quoted(search.greedy.pieces[left])}; ` +
    `after this beginning it would take ${isSame ? 'the same piece' : quoted(piece)}.`
  );
};

const outputButton = (token, i) => {
  const probability = Math.exp(token.log_probability);
  const isGreedys = greedyAt(i).piece === token.piece;
  return element(
    'button',
    {
      type: 'button',
      class: 'token',
      'aria-pressed': String(i === view.output),
      click: () => change({ output: i }),
    },
    element('span', { dir: 'auto' }, token.piece),
    element('small', {}, `${percent(probability)}${isGreedys ? '' : ', not greedy'}`),
  );
};

const candidateRow = ({ piece, probability }, { written, greedy } = {}) =>
  element(
    'tr',
    { class: piece === written ? 'written' : '' },
    element(
      'th',
      { scope: 'row' },
      element('span', { dir: 'auto' }, piece),
      ...(piece === written ? [element('small', {}, '✓ written')] : []),
      ...(piece === greedy ? [element('small', {}, '↑ greedy')] : []),
    ),
    element(
      'td',
      { class: 'bar-cell' },
      element('i', { style: `width: ${(100 * probability).toFixed(2)}%`, 'aria-hidden': 'true' }),
    ),
    element('td', { class: 'number' }, percent(probability)),
  );

const candidatesTable = (token, greedy) => {
  const listed = token.top.some(({ piece }) => piece === token.piece)
    ? token.top
    : [...token.top, { piece: token.piece, probability: Math.exp(token.log_probability) }];
  const rest = 1 - listed.reduce((sum, { probability }) => sum + probability, 0);
  return element(
    'table',
    { class: 'candidates' },
    element(
      'thead',
      {},
      element(
        'tr',
        {},
        element('th', { scope: 'col' }, 'piece'),
        element('td', {}),
        element('th', { scope: 'col', class: 'number' }, 'probability'),
      ),
    ),
    element(
      'tbody',
      {},
      ...listed.map(candidate => candidateRow(candidate, { written: token.piece, greedy })),
      candidateRow({ piece: 'all others', probability: Math.max(0, rest) }),
    ),
  );
};

const alternativesList = token =>
  element(
    'dl',
    { class: 'alternatives' },
    ...(token.alternatives || []).flatMap(({ piece, text, log_probability: logProbability }) => [
      element('dt', { dir: 'auto' }, piece),
      element(
        'dd',
        {},
        markedChanges(sentence().target, text),
        element('small', {}, `log-probability ${decimal(logProbability)}`),
      ),
    ]),
  );

const showCandidates = () => {
  const tokens = sentence().target_tokens;
  const token = tokens[view.output];
  const before = tokensOf('read').slice(0, view.output + 1);
  byId('output-tokens').dir = directionOf(sentence().target);
  byId('output-tokens').replaceChildren(...tokens.map(outputButton));
  byId('candidates-title').textContent = `Step ${view.output + 1}: ${quoted(token.piece)}`;
  byId('candidates-note').replaceChildren(
    'After ',
    element('b', { dir: 'auto' }, before.map(({ piece }) => piece).join(' ')),
    ` the softmax gives each of ${count(model.config['target-vocabulary'])} pieces a probability (section 3.4). The likeliest are below.${toldGreedy(view.output, token)}`,
  );
  byId('candidates').replaceChildren(candidatesTable(token, greedyAt(view.output).piece));
  byId('alternatives-part').hidden = !(token.alternatives || []).length;
  byId('alternatives').replaceChildren(alternativesList(token));
};
