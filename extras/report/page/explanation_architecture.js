// The paper's figure 1 with the sizes of this model. Each box leads to its part of the page.

const kFigure = {
  width: 424,
  box: 168,
  height: 38,
  gap: 14,
  left: 32,
  right: 226,
  bottom: 30,
  top: 24,
};

const stackBottom = height => height - kFigure.bottom;
const boxTop = (height, i) => stackBottom(height) - (i + 1) * (kFigure.height + kFigure.gap);

const jumpTo = box => {
  if (box.attention) chooseKind(box.attention);
  const title = byId(`${box.jump}-title`);
  title.scrollIntoView();
  title.focus({ preventScroll: true });
};

const showBox = box => {
  byId('box-name').textContent = box.name;
  byId('box-told').replaceChildren(...formula(box.told));
};

const boxDrawing = (box, x, y) => {
  const made = drawn(
    'g',
    {
      class: `box ${box.kind}`,
      role: 'button',
      tabindex: 0,
    },
    drawn('rect', { x, y, width: kFigure.box, height: kFigure.height, rx: 7 }),
    drawn(
      'text',
      { x: x + kFigure.box / 2, y: y + (box.detail ? 13 : 19), dy: '.35em', class: 'name' },
      box.name,
    ),
    drawn('text', { x: x + kFigure.box / 2, y: y + 28, dy: '.3em' }, box.detail),
  );
  made.addEventListener('pointerenter', () => showBox(box));
  made.addEventListener('focus', () => showBox(box));
  made.addEventListener('click', () => jumpTo(box));
  made.addEventListener('keydown', event => {
    if (event.key !== 'Enter' && event.key !== ' ') return;
    event.preventDefault();
    jumpTo(box);
  });
  return made;
};

// The frame around the boxes of a layer, with the number of layers beside it.
const frameDrawing = (boxes, layers, x, height, side) => {
  const inside = boxes.flatMap((box, i) => (box.frame ? [i] : []));
  const top = boxTop(height, inside[inside.length - 1]) - 7,
    bottom = boxTop(height, inside[0]) + kFigure.height + 7;
  return [
    drawn('rect', {
      class: 'frame',
      x: x - 8,
      y: top,
      width: kFigure.box + 16,
      height: bottom - top,
      rx: 10,
    }),
    drawn(
      'text',
      {
        class: 'times',
        x: side === 'encoder' ? 12 : kFigure.width - 12,
        y: (top + bottom) / 2,
      },
      `${layers}×`,
    ),
  ];
};

const arrows = (boxes, x, height) =>
  boxes.map((_, i) => {
    const from = boxTop(height, i) + kFigure.height + kFigure.gap,
      middle = x + kFigure.box / 2;
    return drawn('path', {
      class: 'arrow',
      d: `M${middle} ${from}v${2 - kFigure.gap}m-3 4l3 -4l3 4`,
    });
  });

// The way around a sub-layer: from below it (and below its norm, if that comes first) to the sum.
const residuals = (boxes, x, height, side) =>
  boxes.flatMap((box, i) => {
    if (!box.sublayer) return [];
    const before = model.config.norm !== 'after';
    const from = boxTop(height, before ? i - 1 : i) + kFigure.height + kFigure.gap / 2 + 1;
    const to = before
      ? boxTop(height, i) - kFigure.gap / 2 - 1
      : boxTop(height, i + 1) + kFigure.height / 2;
    const edge = side === 'encoder' ? x : x + kFigure.box,
      out = side === 'encoder' ? -5 : 5;
    const middle = x + kFigure.box / 2;
    return [
      drawn('path', {
        class: 'arrow residual',
        d: `M${middle} ${from}H${edge + out}V${to}H${before ? middle : edge}`,
      }),
    ];
  });

// From the top of the encoder to the attention to the source in the decoder.
const bridge = ({ encoder, decoder }, height) => {
  const to = decoder.findIndex(box => box.attention === 'cross');
  const from = boxTop(height, encoder.length - 1),
    end = boxTop(height, to) + kFigure.height / 2;
  const middle = (kFigure.left + kFigure.box + kFigure.right) / 2;
  const x = kFigure.left + kFigure.box / 2;
  return drawn('path', {
    class: 'arrow bridge',
    d: `M${x} ${from}V${from - 16}H${middle}V${end}H${kFigure.right - 1}`,
  });
};

const architectureDrawing = boxes => {
  const height =
    kFigure.top + kFigure.bottom + boxes.decoder.length * (kFigure.height + kFigure.gap);
  const { config } = model;
  const columns = [
    ['encoder', kFigure.left, config['encoder-layers'], 'source tokens'],
    ['decoder', kFigure.right, config['decoder-layers'], 'tokens written so far'],
  ];
  return drawn(
    'svg',
    {
      viewBox: `0 0 ${kFigure.width} ${height}`,
      role: 'group',
      'aria-label': 'The encoder and decoder, as in figure 1 of the paper',
    },
    ...columns.flatMap(([stack, x, layers, below]) => [
      ...frameDrawing(boxes[stack], layers, x, height, stack),
      ...arrows(boxes[stack], x, height),
      ...residuals(boxes[stack], x, height, stack),
      drawn('text', { x: x + kFigure.box / 2, y: height - 12, class: 'end' }, below),
    ]),
    bridge(boxes, height),
    drawn('text', { x: kFigure.right + kFigure.box / 2, y: 14, class: 'end' }, 'the next token'),
    ...columns.flatMap(([stack, x]) =>
      boxes[stack].map((box, i) => boxDrawing(box, x, boxTop(height, i))),
    ),
  );
};

const showArchitecture = () => {
  const boxes = boxesOf();
  byId('architecture').replaceChildren(architectureDrawing(boxes));
  byId('parameters').replaceChildren(parametersTable());
  showBox(boxes.encoder.find(box => box.attention));
};
