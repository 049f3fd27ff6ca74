// The tokens of a sentence: source (what the encoder reads), output (what the decoder writes) and
// read (what the decoder reads when it writes: the token before).

const sentence = () => explanation.sentences[view.sentence];

const tokensOf = side => {
  const { source_tokens: source, target_tokens: output } = sentence();
  if (side === 'source') return source;
  if (side === 'output') return output;
  return [{ ...model.begin, word: null }, ...output.slice(0, -1)];
};

// The sides of queries and keys in each kind of attention.
const kSides = {
  encoder: { queries: 'source', keys: 'source' },
  decoder: { queries: 'output', keys: 'read' },
  cross: { queries: 'output', keys: 'source' },
};

const kWordStart = /^▁/;
const isMark = token => token.word === null;

// Characters whose bytes are pieces, "<0xE5><0x85><0x88>", as they are read.
const withCharacters = text =>
  text.replace(/(?:<0x[0-9A-F]{2}>)+/g, bytes => {
    const numbers = bytes.match(/[0-9A-F]{2}(?=>)/g).map(byte => parseInt(byte, 16));
    return new TextDecoder().decode(new Uint8Array(numbers));
  });

// The text of pieces without the signs of spaces, unless there is nothing else.
const wordText = pieces =>
  withCharacters(pieces.map(piece => piece.replace(kWordStart, '')).join('')) || pieces.join('');

const groupedByWord = tokens => {
  const groups = [];
  tokens.forEach((token, i) => {
    const last = groups[groups.length - 1];
    if (last && !isMark(token) && last.word === token.word) last.tokens.push(i);
    else groups.push({ word: token.word, tokens: [i] });
  });
  return groups;
};

// Words or pieces: [{ text, tokens: [positions], mark (no word of the text), unseen (of characters
// that the training text did not have) }].
const unitsOf = (side, unit = view.unit) => {
  const tokens = tokensOf(side);
  if (unit === 'pieces')
    return tokens.map((token, i) => ({
      text: token.piece,
      tokens: [i],
      mark: isMark(token),
      unseen: token.unseen === true,
    }));
  return groupedByWord(tokens).map(group => ({
    text: wordText(group.tokens.map(i => tokens[i].piece)),
    tokens: group.tokens,
    mark: isMark(tokens[group.tokens[0]]),
    unseen: group.tokens.some(i => tokens[i].unseen === true),
  }));
};

const unitAt = (units, token) =>
  Math.max(
    0,
    units.findIndex(unit => unit.tokens.includes(token)),
  );

const probabilityOf = unit =>
  Math.exp(unit.tokens.reduce((sum, i) => sum + sentence().target_tokens[i].log_probability, 0));
