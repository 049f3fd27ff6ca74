// Blocks of numbers: base64 in the JSON, arrays here. A block is decoded when it is first drawn.

const decodedBlocks = new WeakMap();

const decoded = (block, decode) => {
  if (!decodedBlocks.has(block)) decodedBlocks.set(block, decode(block));
  return decodedBlocks.get(block);
};

const bytesOf = text => {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; ++i) bytes[i] = binary.charCodeAt(i);
  return bytes;
};

// The weights of a layer: whole numbers [heads, queries, keys] whose rows sum to 65535.
const kWhole = 65535;
const attentionBlock = block =>
  decoded(block, ({ shape: [heads, queries, keys], data }) => {
    const numbers = new Uint16Array(bytesOf(data).buffer);
    return {
      heads,
      queries,
      keys,
      numbers,
      at: (head, query, key) => numbers[(head * queries + query) * keys + key] / kWhole,
    };
  });

// Two numbers of 12 bits stand in three bytes.
const twelveBits = bytes => {
  const numbers = new Int16Array((bytes.length / 3) * 2);
  for (let i = 0, at = 0; i < bytes.length; i += 3, at += 2) {
    const [low, middle, high] = bytes.subarray(i, i + 3);
    numbers[at] = ((low | (middle << 8)) << 20) >> 20; // with the sign of bit 11
    numbers[at + 1] = (((middle >> 4) | (high << 4)) << 20) >> 20;
  }
  return numbers;
};

// Vectors [count, size]: whole numbers with a scale for each vector.
const vectorBlock = block =>
  decoded(block, ({ shape: [count, size], bits, scales, data }) => {
    const numbers = bits === 8 ? new Int8Array(bytesOf(data).buffer) : twelveBits(bytesOf(data));
    return {
      count,
      size,
      vector: i =>
        Float32Array.from(numbers.subarray(i * size, (i + 1) * size), n => n * scales[i]),
    };
  });

const dotProduct = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);
const largest = values => values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
