// Blocks of numbers: texts in the JSON, arrays here (extras/explanation/explanation_json.h). A block is read when
// it is first drawn.

const readBlocks = new WeakMap();

const readOnce = (block, read) => {
  if (!readBlocks.has(block)) readBlocks.set(block, read(block));
  return readBlocks.get(block);
};

// The values of the digits of base64, by their codes.
const kDigitValues = new Uint8Array(128);
[...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'].forEach(
  (digit, value) => (kDigitValues[digit.charCodeAt(0)] = value),
);

// Whole numbers of `digits` digits each. The middle one of those that the digits can write is 0.
const numbersOf = (text, digits) => {
  const middle = 64 ** digits / 2;
  const numbers = new Int32Array(text.length / digits);
  for (let i = 0, at = 0; i < numbers.length; ++i) {
    let number = 0;
    for (let digit = 0; digit < digits; ++digit)
      number = 64 * number + kDigitValues[text.charCodeAt(at++)];
    numbers[i] = number - middle;
  }
  return numbers;
};

// softmax of the scores: their exponentials divided by the sum of all.
const writeSoftmax = (scores, weights) => {
  const most = scores.reduce((one, other) => Math.max(one, other), -Infinity);
  let sum = 0;
  for (let k = 0; k < scores.length; ++k) sum += weights[k] = Math.exp(scores[k] - most);
  for (let k = 0; k < scores.length; ++k) weights[k] /= sum;
};

// The scores of a layer (-Infinity if a key is masked) and the weights that follow from them
// (equation 1), [heads, queries, keys].
const attentionBlock = block =>
  readOnce(block, ({ shape: [heads, queries, keys], causal, scales, data }) => {
    const numbers = numbersOf(data, 3);
    const scores = new Float64Array(heads * queries * keys).fill(-Infinity);
    const weights = new Float64Array(scores.length);
    let at = 0;
    for (let head = 0, row = 0; head < heads; ++head)
      for (let query = 0; query < queries; ++query, row += keys) {
        const seen = causal ? query + 1 : keys;
        for (let key = 0; key < seen; ++key) scores[row + key] = numbers[at++] * scales[head];
        writeSoftmax(scores.subarray(row, row + seen), weights.subarray(row, row + seen));
      }
    const placeOf = (head, query, key) => (head * queries + query) * keys + key;
    return {
      heads,
      queries,
      keys,
      at: (head, query, key) => weights[placeOf(head, query, key)],
      scoreAt: (head, query, key) => scores[placeOf(head, query, key)],
      row: (head, query) => weights.subarray(placeOf(head, query, 0), placeOf(head, query, keys)),
    };
  });

// Vectors [count, size]: whole numbers with a scale for each vector.
const vectorBlock = block =>
  readOnce(block, ({ shape: [count, size], scales, data }) => {
    const numbers = numbersOf(data, 1);
    return {
      count,
      size,
      vector: i =>
        Float32Array.from(numbers.subarray(i * size, (i + 1) * size), n => n * scales[i]),
    };
  });

const dotProduct = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);
const largest = values => values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
