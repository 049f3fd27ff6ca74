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

// Vectors [count, size]: whole numbers with a scale for each vector.
const vectorBlock = block =>
  decoded(block, ({ shape: [count, size], bytes, scales, data }) => {
    const { buffer } = bytesOf(data);
    const numbers = bytes === 1 ? new Int8Array(buffer) : new Int16Array(buffer);
    return {
      count,
      size,
      vector: i =>
        Float32Array.from(numbers.subarray(i * size, (i + 1) * size), n => n * scales[i]),
    };
  });

const dotProduct = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);
const largest = values => values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
