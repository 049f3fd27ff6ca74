// A figure as a file: drawings as SVG, pictures of cells as PNG.

// Properties that a part of a drawing inherits from the part around it.
const kInherited = [
  'fill',
  'fill-opacity',
  'stroke',
  'stroke-width',
  'stroke-opacity',
  'stroke-dasharray',
  'visibility',
  'font-size',
  'font-weight',
  'text-anchor',
];

// Shapes have no text: SVG allows them none of its properties.
const belongsTo = (name, part) =>
  !/^(font|text)-/.test(name) || !/^(path|rect|line|circle)$/.test(part.tagName);

const kLeastWidth = 640; // px of a saved picture of cells
// Of a drawing by itself, as in the figures of the command line: a paper needs fonts with names.
const kFonts = 'Helvetica, Arial, sans-serif';

// What a reader of the drawing alone hears.
const nameDrawing = (copy, name) => {
  copy.setAttribute('role', 'img');
  copy.setAttribute('aria-label', name);
  copy.prepend(drawn('title', {}, name));
};

// The drawing by itself, with the styles that the page's style sheet gives it.
const standaloneSvg = svg => {
  const copy = svg.cloneNode(true);
  const originals = [svg, ...svg.querySelectorAll('*')];
  [copy, ...copy.querySelectorAll('*')].forEach((part, i) => {
    const style = getComputedStyle(originals[i]);
    const around = i ? getComputedStyle(originals[i].parentElement) : undefined;
    for (const name of kInherited) {
      const value = style.getPropertyValue(name);
      if (value !== around?.getPropertyValue(name) && belongsTo(name, part))
        part.setAttribute(name, value);
      else part.removeAttribute(name);
    }
    if (style.opacity !== '1') part.setAttribute('opacity', style.opacity);
    for (const { name } of [...part.attributes])
      if (/^(class|tabindex|role|aria-.*|data-.*)$/.test(name)) part.removeAttribute(name);
  });
  const { x, y, width, height } = svg.viewBox.baseVal;
  const fill = getComputedStyle(svg.closest('figure')).backgroundColor;
  copy.prepend(drawn('rect', { x, y, width, height, fill, stroke: 'none' })); // dark text on a dark page
  nameDrawing(copy, svg.getAttribute('aria-label'));
  copy.setAttribute('font-family', kFonts);
  copy.setAttribute('width', width);
  copy.setAttribute('height', height);
  return new Blob([new XMLSerializer().serializeToString(copy)], { type: 'image/svg+xml' });
};

const saveAs = (blob, name) => {
  const address = URL.createObjectURL(blob);
  const link = element('a', { download: name });
  link.href = address;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
};

// A cell of a canvas is one pixel; in the file it is a square of several.
const enlarged = canvas => {
  const scale = Math.ceil(kLeastWidth / canvas.width);
  const larger = element('canvas', {
    width: canvas.width * scale,
    height: canvas.height * scale,
  });
  const context = larger.getContext('2d');
  context.imageSmoothingEnabled = false;
  context.drawImage(canvas, 0, 0, larger.width, larger.height);
  return larger;
};

const saveFigure = figure => {
  const name = `${figure.dataset.figure}-${view.sentence + 1}`;
  const svg = figure.querySelector('svg');
  if (svg) saveAs(standaloneSvg(svg), `${name}.svg`);
  else enlarged(figure.querySelector('canvas')).toBlob(blob => saveAs(blob, `${name}.png`));
};

const offerFigure = figure =>
  figure.append(
    element(
      'button',
      {
        type: 'button',
        class: 'link save',
        'aria-label': `Save the figure “${figure.dataset.figure}”`,
        click: () => saveFigure(figure),
      },
      'save the figure',
    ),
  );
