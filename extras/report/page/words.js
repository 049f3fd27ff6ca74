'use strict';
// Words of texts: those in which two texts differ, and the matches of a search.

// A letter of a script that is written without spaces; the programs' own rule is is_unspaced in
// base/utf8.h.
const kUnspaced =
  '[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Myanmar}\\p{Script=Khmer}]';

// A word, a number, or one character of punctuation or of a script that is written without spaces.
const kWord = new RegExp(
  `${kUnspaced}\\p{M}*|(?:(?!${kUnspaced})[\\p{L}\\p{M}\\p{N}])+(?:['’][\\p{L}\\p{M}]+)*|[^\\s]`,
  'gu',
);

// [{ text, begin, end }]
const wordsOf = text =>
  [...text.matchAll(kWord)].map(found => ({
    text: found[0],
    begin: found.index,
    end: found.index + found[0].length,
  }));

// [i * (b.length + 1) + j]: the longest common subsequence of a's words from i and b's from j.
const commonLengths = (a, b) => {
  const width = b.length + 1,
    lengths = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; --i)
    for (let j = b.length - 1; j >= 0; --j)
      lengths[i * width + j] =
        a[i].text === b[j].text
          ? lengths[(i + 1) * width + j + 1] + 1
          : Math.max(lengths[(i + 1) * width + j], lengths[i * width + j + 1]);
  return lengths;
};

// The ranges [begin, end] of `now` with words that `before` lacks there; neighbours are joined.
const changedPlaces = (before, now) => {
  const a = wordsOf(before),
    b = wordsOf(now),
    lengths = commonLengths(a, b),
    width = b.length + 1;
  const places = [];
  let i = 0,
    joined = false;
  for (let j = 0; j < b.length; ++j) {
    while (
      i < a.length &&
      a[i].text !== b[j].text &&
      lengths[(i + 1) * width + j] === lengths[i * width + j]
    )
      ++i;
    if (i < a.length && a[i].text === b[j].text) {
      ++i;
      joined = false;
    } else if (joined) {
      places[places.length - 1][1] = b[j].end;
    } else {
      places.push([b[j].begin, b[j].end]);
      joined = true;
    }
  }
  return places;
};

const changedLength = (before, now) =>
  changedPlaces(before, now).reduce((sum, [begin, end]) => sum + end - begin, 0);

// The reference that a translation is nearest to.
const nearestOf = (references, text) =>
  references.length === 1
    ? references[0]
    : references.reduce((best, candidate) =>
        changedLength(candidate, text) < changedLength(best, text) ? candidate : best,
      );

const literally = text => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');

// The text of a search field as a global pattern: words in any case, or /a pattern/. Throws
// SyntaxError if the pattern is invalid.
const searchPattern = query => {
  const pattern = /^\/(.+)\/$/.exec(query);
  return new RegExp(pattern ? pattern[1] : literally(query.trim()), 'giu');
};

// Finds the tokens of an n-gram in text that has not been cut into tokens: with or without space
// between them, and not within a longer word.
const ngramPattern = (ngram, anyCase) => {
  const tokens = ngram
    .split(' ')
    .map(token => literally(token.replaceAll('▁', '')))
    .join('\\s*');
  const word = '[\\p{L}\\p{N}]',
    spaceless = new RegExp(`^${kUnspaced}`, 'u').test(ngram);
  const before = !spaceless && /^[\p{L}\p{N}]/u.test(ngram) ? `(?<!${word})` : '';
  const after = !spaceless && /[\p{L}\p{N}]$/u.test(ngram) ? `(?!${word})` : '';
  return new RegExp(before + tokens + after, anyCase ? 'giu' : 'gu');
};

const placesOf = (pattern, text) =>
  [...text.matchAll(pattern)]
    .filter(found => found[0])
    .map(found => [found.index, found.index + found[0].length]);

const contains = (pattern, text) => {
  pattern.lastIndex = 0;
  return pattern.test(text);
};

// The text, cut at the ends of ranges like { mark: [[0, 3]], hit: [[2, 5]] }. Each section has the
// classes of the ranges that it lies in.
const piecesOf = (text, places) => {
  const cuts = new Set([0, text.length]);
  for (const list of Object.values(places))
    for (const place of list) place.forEach(at => cuts.add(at));
  const ends = [...cuts].sort((x, y) => x - y);
  return ends.slice(1).map((end, i) => ({
    text: text.slice(ends[i], end),
    classes: Object.keys(places).filter(name =>
      places[name].some(place => place[0] <= ends[i] && end <= place[1]),
    ),
  }));
};
