// The source and the translation: how sure each word is, where it comes from, and the words that
// may have been left out or made up.

// Below these a word is spoken of. Attention and probability are hints, not proofs.
const kUnsure = 0.5;
const kLittleAttention = 0.3; // of what one output word gives
const kNoWord = 0.25; // the most that any source word gets

// The alignment by words: rows of output words, columns of source words.
const alignedWords = () => {
  const output = unitsOf('output', 'words'),
    source = unitsOf('source', 'words');
  const rows = alignmentWeights(output, source);
  const received = source.map((_, k) =>
    rows.reduce((sum, row, q) => sum + (output[q].mark ? 0 : row[k]), 0),
  );
  return { output, source, rows, received };
};

const wordButton = (side, unit, i, { detail, fraction }) =>
  element(
    'button',
    {
      type: 'button',
      class: `word${unit.mark ? ' sign' : ''}${unit.unseen ? ' unseen' : ''}`,
      'data-side': side,
      'data-unit': i,
    },
    element('span', { dir: 'auto' }, unit.text),
    element('i', { 'aria-hidden': 'true', style: `--fraction: ${Math.min(1, fraction).toFixed(3)}` }),
    element('small', {}, detail),
  );

// Marks the words that belong to a word, as strongly as they do.
const markAligned = (words, side, i) => {
  const container = byId('words');
  const strength = (otherSide, k) => (side === 'output' ? words.rows[i][k] : words.rows[k][i]);
  for (const button of container.querySelectorAll('.word')) {
    const unit = Number(button.dataset.unit),
      own = button.dataset.side === side;
    button.classList.toggle('chosen', own && unit === i);
    button.style.setProperty(
      '--mark',
      own ? 0 : opacityOf(strength(button.dataset.side, unit)).toFixed(3),
    );
  }
};

const wordTold = (words, side, i) => {
  if (side === 'source') {
    const column = words.rows.map(row => row[i]);
    return `${quoted(words.source[i].text)} gets ${words.received[i].toFixed(2)} of a word’s attention, most from ${strongest(column, words.output) || 'none'}.${words.source[i].unseen ? ' The training text did not have its characters: the model knows nothing about them.' : ''}`;
  }
  const unit = words.output[i];
  const pieces = unit.tokens.map(at => sentence().target_tokens[at]);
  const each =
    pieces.length > 1
      ? ` (${pieces.map(({ piece, log_probability: p }) => `${isolated(piece)} ${percent(Math.exp(p))}`).join(', ')})`
      : '';
  return `${quoted(unit.text)}: probability ${percent(probabilityOf(unit))}${each}. It looks at ${strongest(words.rows[i], words.source)}.`;
};

// The words to look at, by what may be wrong with them: [{ text, value, jump, changes }].
const doubtsOf = ({ output, source, rows, received }) => {
  const { target_tokens: tokens } = sentence();
  const leastSure = unit =>
    unit.tokens.reduce((least, at) =>
      tokens[at].log_probability < tokens[least].log_probability ? at : least,
    );
  const ofOutput = (unit, value) => ({
    text: unit.text,
    value: percent(value),
    jump: 'output',
    changes: { output: leastSure(unit), marked: 'output' },
  });
  const mostOf = row => Math.max(...source.map((word, k) => (word.mark ? 0 : row[k])));
  const words = output.map((unit, i) => ({ unit, i })).filter(({ unit }) => !unit.mark);
  return {
    unsure: words
      .filter(({ unit }) => probabilityOf(unit) < kUnsure)
      .map(({ unit }) => ofOutput(unit, probabilityOf(unit))),
    out: source.flatMap((unit, k) =>
      unit.mark || received[k] >= kLittleAttention
        ? []
        : {
            text: unit.text,
            value: received[k].toFixed(2),
            jump: 'translation',
            changes: { source: unit.tokens[0], marked: 'source' },
          },
    ),
    made: words
      .filter(({ i }) => mostOf(rows[i]) < kNoWord)
      .map(({ unit, i }) => ofOutput(unit, mostOf(rows[i]))),
  };
};

const doubtButton = ({ text, value, jump, changes }) =>
  element(
    'button',
    {
      type: 'button',
      class: 'doubt',
      click: () => {
        change(changes);
        jumpTo({ jump });
      },
    },
    element('span', { dir: 'auto' }, text),
    element('small', {}, value),
  );

const showDoubts = () => {
  for (const [kind, doubts] of Object.entries(doubtsOf(shownWords)))
    byId(`doubts-${kind}`).replaceChildren(
      ...(doubts.length ? doubts.map(doubtButton) : [element('span', { class: 'note' }, 'none')]),
    );
};

// The words that are shown, which the listeners read.
let shownWords;

const chosenWord = () =>
  view.marked === 'source'
    ? ['source', unitAt(shownWords.source, view.source)]
    : ['output', unitAt(shownWords.output, view.output)];

const showWord = (side, i) => {
  markAligned(shownWords, side, i);
  byId('word-note').textContent = wordTold(shownWords, side, i);
};
const showChosenWord = () => showWord(...chosenWord());

const showTranslation = () => {
  shownWords = alignedWords();
  const { source, output, received } = shownWords;
  const most = Math.max(1, ...received);
  byId('source-words').dir = directionOf(sentence().source);
  byId('output-words').dir = directionOf(sentence().target);
  byId('source-words').replaceChildren(
    ...source.map((unit, i) =>
      wordButton('source', unit, i, {
        detail: received[i].toFixed(1),
        fraction: received[i] / most,
      }),
    ),
  );
  byId('output-words').replaceChildren(
    ...output.map((unit, i) =>
      wordButton('output', unit, i, {
        detail: percent(probabilityOf(unit)),
        fraction: probabilityOf(unit),
      }),
    ),
  );
  byId('given-note').hidden = !sentence().given;
  showDoubts();
  showChosenWord();
};

const listenToWords = () => {
  const words = byId('words');
  const wordOf = event => {
    const button = event.target.closest('.word');
    return button && [button.dataset.side, Number(button.dataset.unit)];
  };
  const preview = event => showWord(...(wordOf(event) || chosenWord()));
  words.addEventListener('pointerover', preview);
  words.addEventListener('focusin', preview);
  words.addEventListener('pointerleave', showChosenWord);
  words.addEventListener('click', event => {
    const word = wordOf(event);
    if (!word) return;
    const [side, i] = word;
    change({ marked: side, [side]: shownWords[side][i].tokens[0] });
  });
};
