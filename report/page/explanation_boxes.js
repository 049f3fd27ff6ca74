// The boxes of the paper's figure 1 with the sizes of this model: { name, detail, told (what it does, with section
// and equation), jump (the part of the page that shows it), part (of the parameters), kind (its
// colour), frame (whether it is repeated in each layer), attention (the kind it opens) }.

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

const boxesOf = () => {
  const { config } = model;
  const counts = parameterCounts();
  const heads = config.heads,
    width = config['d-model'],
    inner = config['d-ff'];
  const before = config.norm !== 'after';
  const perLayer = (part, stack) => counts[part] / config[`${stack}-layers`] || 0;

  const embedding = (side, name) => {
    const part = counts.embedding ? 'embedding' : `${side} embedding`;
    return {
      name,
      detail: `${count(config[`${side}-vocabulary`])} × ${width} · ${inShort(counts[part])}`,
      told:
        `Section 3.4: each token is a row of a matrix, ${width} numbers, times √d_{model} = ${+Math.sqrt(width).toFixed(2)}.` +
        (config.tying === 'three-way'
          ? ' Source, target and output projection share one matrix.'
          : config.tying === 'two-way'
            ? ' Target and output projection share one matrix.'
            : ' The three matrices are separate.'),
      jump: 'input',
      kind: 'embedding',
    };
  };
  const positions = side => ({
    name: 'positional encoding',
    detail: `+ ${kPositionNames[config.positions]}`,
    told: `Section 3.5: a vector for the position is added, as attention itself knows no order. In this model: ${kPositionNames[config.positions]}.`,
    jump: 'positions',
    kind: 'positions',
    side,
  });
  const attention = (stack, name, part, kind, told) => ({
    name,
    detail: `${heads} heads × ${width / heads} · ${inShort(perLayer(part, stack))}`,
    told:
      `Section 3.2.2: MultiHead(Q, K, V) = Concat(head_{1}, …, head_{${heads}})W^{O}; each head is equation 1, softmax(QK^{T}/√${width / heads})V. ${told} ` +
      `W^{Q}, W^{K}, W^{V} and W^{O} have ${count(perLayer(part, stack))} parameters in each layer.`,
    jump: 'attention',
    kind: 'attention',
    frame: true,
    sublayer: true,
    attention: kind,
  });
  const norm = frame => ({
    name: before ? 'layer norm' : 'add & norm',
    detail: '',
    told: (before
      ? 'In this model the norm stands before each sub-layer, x + Sublayer(LayerNorm(x)), with one more at the end of the stack, as in the authors’ later code. The paper has it after the sum, LayerNorm(x + Sublayer(x)) (section 3.1).' +
        (config.norm === 'before-queries'
          ? ' Keys and values of self-attention are of x itself, as in Marian 1.10.'
          : '')
      : 'Section 3.1: LayerNorm(x + Sublayer(x)): the input of the sub-layer is added to its result, then normalised.') +
      ' “dragoman explain --figure residual” draws what each sub-layer adds to the vector of a token.',
    jump: 'model',
    kind: 'norm',
    frame,
  });
  const feedForward = stack => ({
    name: 'feed forward',
    detail: `${count(inner)} wide · ${inShort(perLayer(`${stack} feed-forward`, stack))}`,
    told: `Section 3.3, equation 2: FFN(x) = max(0, xW_{1} + b_{1})W_{2} + b_{2}, from ${width} numbers to ${count(inner)} and back, for each position by itself. In this model the function is ${kActivations[config.activation]}. “dragoman explain --figure feed-forward” draws its vectors for a token.`,
    jump: 'model',
    sublayer: true,
    kind: 'feed-forward',
    frame: true,
  });
  const sublayer = box => (before ? [norm(true), box] : [box, norm(true)]);
  const last = before ? [norm(false)] : [];
  return {
    encoder: [
      embedding('source', 'input embedding'),
      positions('source'),
      ...sublayer(
        attention(
          'encoder',
          'multi-head attention',
          'encoder self-attention',
          'encoder',
          'Queries, keys and values are the source words.',
        ),
      ),
      ...sublayer(feedForward('encoder')),
      ...last,
    ],
    decoder: [
      embedding('target', 'output embedding'),
      positions('read'),
      ...sublayer(
        attention(
          'decoder',
          'masked attention',
          'decoder self-attention',
          'decoder',
          'Words that are not yet written are masked.',
        ),
      ),
      ...sublayer(
        attention(
          'decoder',
          'attention to source',
          'decoder attention to the source',
          'cross',
          'Keys and values come from the encoder.',
        ),
      ),
      ...sublayer(feedForward('decoder')),
      ...last,
      {
        name: 'linear',
        detail: `${width} → ${count(config['target-vocabulary'])}${counts.output ? ` · ${inShort(counts.output)}` : ', shared'}`,
        told: `Section 3.4: a number (logit) for each of the ${count(config['target-vocabulary'])} pieces.`,
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
    ],
  };
};
