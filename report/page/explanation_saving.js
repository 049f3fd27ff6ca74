// A figure as a file: drawings as SVG, pictures of cells as PNG.

const kKeptStyles = [
  'fill',
  'fill-opacity',
  'stroke',
  'stroke-width',
  'stroke-opacity',
  'stroke-dasharray',
  'opacity',
  'visibility',
  'font-family',
  'font-size',
  'font-weight',
  'text-anchor',
];

// The drawing by itself, with the styles that the page's style sheet gives it.
const standaloneSvg = svg => {
  const copy = svg.cloneNode(true);
  const originals = [svg, ...svg.querySelectorAll('*')];
  [copy, ...copy.querySelectorAll('*')].forEach((part, i) => {
    const style = getComputedStyle(originals[i]);
    for (const name of kKeptStyles) part.setAttribute(name, style.getPropertyValue(name));
    for (const name of ['class', 'tabindex', 'role', 'aria-pressed']) part.removeAttribute(name);
  });
  const { width, height } = svg.viewBox.baseVal;
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

const saveFigure = figure => {
  const name = `${figure.dataset.figure}-${view.sentence + 1}`;
  const svg = figure.querySelector('svg');
  if (svg) saveAs(standaloneSvg(svg), `${name}.svg`);
  else figure.querySelector('canvas').toBlob(blob => saveAs(blob, `${name}.png`));
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
