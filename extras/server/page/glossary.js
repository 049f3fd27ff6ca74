// The glossary's field: a term a line, as "source=target" or with a tab between the two.

// Empty where a side is missing. A tab counts before an equals sign, as for the server.
const sidesOf = line => {
  const at = line.indexOf(line.includes('\t') ? '\t' : '=');
  return at < 0 ? [line.trim(), ''] : [line.slice(0, at).trim(), line.slice(at + 1).trim()];
};

const termOf = (source, target) => source + (/=/.test(source + target) ? '\t' : '=') + target;

export class Glossary {
  // `note` says which lines are no terms yet.
  constructor(field, note) {
    this.field = field;
    this.note = note;
  }

  get lines() {
    return this.field.value.split('\n').filter(line => line.trim());
  }

  // The terms that are whole. The reader may still be writing the others.
  get terms() {
    return this.lines.filter(line => sidesOf(line).every(Boolean)).join('\n');
  }

  showUnfinished() {
    const unfinished = this.lines.filter(line => !sidesOf(line).every(Boolean)).map(line => `“${line.trim()}”`);
    this.note.textContent =
      unfinished.length === 0
        ? ''
        : `${unfinished.join(', ')}: not used yet. A term needs both sides, as source=target.`;
  }

  // For the other direction of translation.
  swap() {
    this.field.value = this.field.value
      .split('\n')
      .map(line => (sidesOf(line).every(Boolean) ? termOf(...sidesOf(line).reverse()) : line))
      .join('\n');
  }
}
