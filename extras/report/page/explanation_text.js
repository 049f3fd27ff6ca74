// Texts of the page: numbers, quotations, formulas, and the words in which two texts differ.

const percent = value => {
  if (value > 0 && value < 0.001) return '<0.1 %';
  return `${(100 * value).toFixed(value > 0 && value < 0.0995 ? 1 : 0)} %`;
};

const capitalised = text => text.charAt(0).toUpperCase() + text.slice(1);

// A text of any direction within a sentence of ours.
const isolated = text => `\u2068${text}\u2069`;
const quoted = text => `“${isolated(text)}”`;

// The direction of a text: that of its first letter.
const kRightToLeft =
  /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;
const directionOf = text => {
  const [letter = ''] = /\p{L}/u.exec(text) || [];
  return kRightToLeft.test(letter) ? 'rtl' : 'ltr';
};

// A number below 0 with a minus sign.
const decimal = (value, places = 2) => value.toFixed(places).replace('-', '−');
const twoDigits = value => String(Number(value.toPrecision(2))).replace('-', '−');

// "W^{O}" and "d_{k}" as elements.
const formula = text =>
  text
    .split(/([_^]\{[^}]*\})/)
    .filter(part => part)
    .map(part => {
      const [, sign, inner] = /^([_^])\{(.*)\}$/.exec(part) || [];
      return sign ? element(sign === '^' ? 'sup' : 'sub', {}, inner) : part;
    });

// The text with marks where it differs from another.
const markedChanges = (before, now) =>
  element(
    'span',
    { dir: 'auto' },
    ...piecesOf(now, { mark: changedPlaces(before, now) }).map(({ text, classes }) =>
      classes.length ? element('mark', {}, text) : text,
    ),
  );
