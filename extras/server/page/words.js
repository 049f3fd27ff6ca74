// The words of both texts: which belong together, and how sure the model is of each.

const UNSURE = 0.5; // probability

export const element = (tag, properties, ...children) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) made.setAttribute(name, value);
  made.append(...children);
  return made;
};

// A text in which the spans [begin, end) of code points are elements, in the order of the text.
const withSpans = (text, spans) => {
  const points = [...text];
  const parts = [];
  let at = 0;
  for (const { begin, end, make } of spans) {
    if (begin < at) continue;
    parts.push(points.slice(at, begin).join(''), make(points.slice(begin, end).join('')));
    at = end;
  }
  parts.push(points.slice(at).join(''));
  return parts;
};

const byBegin = (a, b) => a.begin - b.begin;

export class Words {
  // `mirror` lies behind the text field, `result` holds the translation.
  constructor(field, mirror, result) {
    this.field = field;
    this.mirror = mirror;
    this.result = result;
    this.links = [];
    result.addEventListener('pointerover', event => this.mark(event.target));
    result.addEventListener('pointerleave', event => {
      if (event.pointerType !== 'touch') this.mark(null); // a finger leaves after each tap
    });
    field.addEventListener('pointermove', event => this.mark(this.sourceWordAt(event)));
    field.addEventListener('pointerleave', () => this.mark(null));
    field.addEventListener('keyup', () => this.mark(this.sourceWordAtCaret()));
    result.addEventListener('keydown', event => this.walk(event));
    result.addEventListener('blur', () => this.mark(null));
  }

  // The mirror gives the field its height; a line end at the end needs a character after it.
  copyField() {
    this.mirror.replaceChildren(this.field.value + '\u200b');
    this.links = [];
  }

  // Returns whether a word is unsure.
  show(translation, scores, alignment) {
    this.links = alignment;
    const sources = new Map(alignment.map(([begin, end]) => [begin, end]));
    this.mirror.replaceChildren(
      ...withSpans(
        this.field.value,
        [...sources].map(([begin, end]) => ({ begin, end, make: this.maker(begin) })).sort(byBegin),
      ),
      '\u200b',
    );
    let unsure = false;
    const targets = scores.map(([begin, end, probability]) => ({
      begin,
      end,
      make: text => {
        const word = this.maker(begin)(text);
        if (probability < UNSURE) {
          unsure = true;
          word.classList.add('unsure');
          word.title = `${Math.round(probability * 100)} % sure`;
        }
        return word;
      },
    }));
    this.result.replaceChildren(...withSpans(translation, targets));
    this.result.tabIndex = 0;
    return unsure;
  }

  maker(begin) {
    return text => element('span', { class: 'word', 'data-begin': begin }, text);
  }

  wordsIn(container) {
    return [...container.querySelectorAll('.word')];
  }

  mark(word) {
    for (const old of document.querySelectorAll('.linked')) old.classList.remove('linked');
    if (!word?.classList.contains('word')) return;
    const begin = Number(word.dataset.begin);
    const isTarget = this.result.contains(word);
    const pairs = this.links.filter(link => link[isTarget ? 2 : 0] === begin);
    const other = isTarget ? this.mirror : this.result;
    const partners = new Set(pairs.map(link => link[isTarget ? 0 : 2]));
    word.classList.add('linked');
    for (const partner of this.wordsIn(other))
      if (partners.has(Number(partner.dataset.begin))) partner.classList.add('linked');
  }

  sourceWordAt(event) {
    return document
      .elementsFromPoint(event.clientX, event.clientY)
      .find(found => found.classList.contains('word') && this.mirror.contains(found));
  }

  sourceWordAtCaret() {
    const caret = [...this.field.value.slice(0, this.field.selectionStart)].length;
    return this.wordsIn(this.mirror).find(word => {
      const begin = Number(word.dataset.begin);
      return begin <= caret && caret <= begin + [...word.textContent].length;
    });
  }

  // Arrow keys go from word to word of the translation.
  walk(event) {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const words = this.wordsIn(this.result);
    if (!step || words.length === 0) return;
    event.preventDefault();
    const now = words.findIndex(word => word.classList.contains('linked'));
    const next = now < 0 && step < 0 ? words.length - 1 : now + step;
    this.mark(words[Math.min(Math.max(next, 0), words.length - 1)]);
  }
}
