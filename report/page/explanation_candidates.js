// What the model gives each piece at a step, and what would have followed another choice.

const outputButton = (token, i) => {
  const probability = Math.exp(token.log_probability);
  return element(
    'button',
    {
      type: 'button',
      class: 'token',
      'aria-pressed': String(i === view.output),
      click: () => change({ output: i }),
    },
    element('span', { dir: 'auto' }, token.piece),
    element('small', {}, percent(probability)),
  );
};

const candidateRow = ({ piece, probability }, written) =>
  element(
    'tr',
    { class: piece === written ? 'written' : '' },
    element(
      'th',
      { scope: 'row' },
      element('span', { dir: 'auto' }, piece),
      ...(piece === written ? [element('small', {}, '✓ written')] : []),
    ),
    element(
      'td',
      { class: 'bar-cell' },
      element('i', { style: `width: ${(100 * probability).toFixed(2)}%`, 'aria-hidden': 'true' }),
    ),
    element('td', { class: 'number' }, percent(probability)),
  );

const candidatesTable = token => {
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
      ...listed.map(candidate => candidateRow(candidate, token.piece)),
      candidateRow({ piece: 'all others', probability: Math.max(0, rest) }, undefined),
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
    ` the softmax gives each of ${count(model.config['target-vocabulary'])} pieces a probability (section 3.4). The likeliest:`,
  );
  byId('candidates').replaceChildren(candidatesTable(token));
  byId('alternatives-part').hidden = !(token.alternatives || []).length;
  byId('alternatives').replaceChildren(alternativesList(token));
};
