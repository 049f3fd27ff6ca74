// The boxes of the paper's figure 1 with the sizes of this model. A box has
//   name, detail: the two lines in it
//   told: its description, with section and equation
//   jump: the part of the page that it opens
//   kind: its colour
//   attention: the kind of attention that it opens
//   frame: whether each layer repeats it
//   sublayer: whether it is a sub-layer, which the vectors also pass by

const kActivations = {
  relu: 'max(0, x)',
  gelu: 'GELU',
  swish: 'Swish',
  'gated-gelu': 'gated GELU',
  'gated-swish': 'gated Swish',
};

const kPositionNames = {
  sinusoidal: 'sines and cosines',
  learned: 'learned',
  marian: 'sines and cosines (Marian’s)',
};

const kTyingTold = {
  'three-way': 'Source, target and output projection share one matrix.',
  'two-way': 'Target and output projection share one matrix.',
};

// The parameters of a part in one layer of its stack.
const perLayer = (part, stack) => parameterCounts()[part] / model.config[`${stack}-layers`] || 0;

const isNormBefore = () => model.config.norm !== 'after';

const embeddingBox = (side, name) => {
  const { config } = model;
  const width = config['d-model'];
  const counts = parameterCounts();
  const parameters = counts[counts.embedding ? 'embedding' : `${side} embedding`];
  const tying = kTyingTold[config.tying] || 'The three matrices are separate.';
  return {
    name,
    detail: `${count(config[`${side}-vocabulary`])} × ${count(width)} · ${inShort(parameters)}`,
    told: `Section 3.4: each token is a row of a matrix, ${count(width)} numbers, times √d_{model} = ${+Math.sqrt(width).toFixed(2)}. ${tying}`,
    jump: 'input',
    kind: 'embedding',
  };
};

const positionBox = () => {
  const positions = kPositionNames[model.config.positions];
  return {
    name: 'positional encoding',
    detail: `+ ${positions}`,
    told: `Section 3.5: a vector for the position is added, as attention itself knows no order. In this model: ${positions}.`,
    jump: 'positions',
    kind: 'positions',
  };
};

const attentionBox = (stack, name, { part, attention, told }) => {
  const { heads, 'd-model': width } = model.config;
  const parameters = perLayer(part, stack);
  return {
    name,
    detail: `${heads} heads × ${width / heads} · ${inShort(parameters)}`,
    told:
      `Section 3.2.2: MultiHead(Q, K, V) = Concat(head_{1}, …, head_{${heads}})W^{O}; each head is equation 1, softmax(QK^{T}/√${width / heads})V. ${told} ` +
      `W^{Q}, W^{K}, W^{V} and W^{O} have ${count(parameters)} parameters in each layer.`,
    jump: 'attention',
    kind: 'attention',
    frame: true,
    sublayer: true,
    attention,
  };
};

const normTold = () => {
  if (!isNormBefore())
    return 'Section 3.1: LayerNorm(x + Sublayer(x)): the input of the sub-layer is added to its result, then normalised.';
  const before =
    'In this model the norm stands before each sub-layer, x + Sublayer(LayerNorm(x)), with one more at the end of the stack, as in the authors’ later code. The paper has it after the sum, LayerNorm(x + Sublayer(x)) (section 3.1).';
  return model.config.norm === 'before-queries'
    ? `${before} Keys and values of self-attention are of x itself, as in Marian 1.10.`
    : before;
};

const normBox = frame => ({
  name: isNormBefore() ? 'layer norm' : 'add & norm',
  detail: '',
  told: `${normTold()} “dragoman explain --figure residual” draws what each sub-layer adds to the vector of a token.`,
  jump: 'model',
  kind: 'norm',
  frame,
});

const feedForwardBox = stack => {
  const { 'd-model': width, 'd-ff': inner, activation } = model.config;
  return {
    name: 'feed forward',
    detail: `${count(inner)} wide · ${inShort(perLayer(`${stack} feed-forward`, stack))}`,
    told: `Section 3.3, equation 2: FFN(x) = max(0, xW_{1} + b_{1})W_{2} + b_{2}, from ${count(width)} numbers to ${count(inner)} and back, for each position by itself. In this model the function is ${kActivations[activation]}. “dragoman explain --figure feed-forward” draws its vectors for a token.`,
    jump: 'model',
    sublayer: true,
    kind: 'feed-forward',
    frame: true,
  };
};

// A sub-layer with its norm, and the norm at the end of a stack.
const withNorm = box => (isNormBefore() ? [normBox(true), box] : [box, normBox(true)]);
const lastNorm = () => (isNormBefore() ? [normBox(false)] : []);

const encoderBoxes = () => [
  embeddingBox('source', 'input embedding'),
  positionBox(),
  ...withNorm(
    attentionBox('encoder', 'multi-head attention', {
      part: 'encoder self-attention',
      attention: 'encoder',
      told: 'Queries, keys and values are the source words.',
    }),
  ),
  ...withNorm(feedForwardBox('encoder')),
  ...lastNorm(),
];

const outputBoxes = () => {
  const { output } = parameterCounts();
  const pieces = count(model.config['target-vocabulary']);
  return [
    {
      name: 'linear',
      detail: `${count(model.config['d-model'])} → ${pieces}${output ? ` · ${inShort(output)}` : ', shared'}`,
      told: `Section 3.4: a number (logit) for each of the ${pieces} pieces.`,
      jump: 'output',
      kind: 'output',
    },
    {
      name: 'softmax',
      detail: 'probabilities',
      told: 'Section 3.4: the numbers become probabilities of the next token.',
      jump: 'output',
      kind: 'output',
    },
  ];
};

const decoderBoxes = () => [
  embeddingBox('target', 'output embedding'),
  positionBox(),
  ...withNorm(
    attentionBox('decoder', 'masked attention', {
      part: 'decoder self-attention',
      attention: 'decoder',
      told: 'Words that are not yet written are masked.',
    }),
  ),
  ...withNorm(
    attentionBox('decoder', 'attention to source', {
      part: 'decoder attention to the source',
      attention: 'cross',
      told: 'Keys and values come from the encoder.',
    }),
  ),
  ...withNorm(feedForwardBox('decoder')),
  ...lastNorm(),
  ...outputBoxes(),
];

const boxesOf = () => ({ encoder: encoderBoxes(), decoder: decoderBoxes() });
