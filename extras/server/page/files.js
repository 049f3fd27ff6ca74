// Files that are opened or dropped: a text goes to the server in portions, so that its progress is
// known; a file of another kind goes as a whole.
import { patiently, translate, translateFile } from './server.js';

const CHARACTERS = 2000; // of a portion, at most
const AT_ONCE = 3; // portions under way

const byId = id => document.getElementById(id);

// "2 MiB", "1.5 KiB"
export const sizeText = bytes => {
  const units = ['bytes', 'KiB', 'MiB', 'GiB'];
  const unit = Math.min(Math.floor(Math.log2(Math.max(bytes, 1)) / 10), units.length - 1);
  const amount = bytes / 1024 ** unit;
  return `${amount.toLocaleString('en', { maximumFractionDigits: amount < 10 ? 1 : 0 })} ${units[unit]}`;
};

// Whole lines, but for a line that is longer than a portion: the server divides it.
const portions = (text, most) => {
  const parts = [];
  for (const line of text.split(/(?<=\n)/)) {
    const last = parts.length - 1;
    if (last >= 0 && parts[last].length + line.length <= most) parts[last] += line;
    else parts.push(line);
  }
  return parts;
};

// "letter.txt" becomes "letter.de.txt".
const translatedName = (name, target) => name.replace(/(\.[^.]*)?$/, ending => `.${target}${ending}`);

const decoded = async file => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await file.arrayBuffer());
  } catch {
    throw new Error('It is not text in UTF-8. Save it as UTF-8 and open it again.');
  }
};

// As an answer of the server: with the language between source and target if there is one.
const translateText = async (text, most, parameters, { onProgress, ...patience }) => {
  const { signal } = patience;
  const parts = portions(text, most);
  const translated = Array(parts.length).fill('');
  let next = 0;
  let done = 0;
  let source = parameters.source;
  let pivotLanguage;
  const translateNext = async () => {
    const at = next++;
    const part = parts[at];
    const answer = part.trim()
      ? await patiently(() => translate({ ...parameters, source, q: part }, signal), patience)
      : { translatedText: part };
    translated[at] = answer.translatedText;
    pivotLanguage ||= answer.pivotLanguage;
    done += part.length;
    onProgress(done / text.length);
    return answer;
  };
  // The first portion with text says the language of the others.
  while (source === 'auto' && next < parts.length)
    source = (await translateNext()).detectedLanguage?.language || source;
  const work = async () => {
    while (next < parts.length) await translateNext();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return { translatedText: translated.join(''), pivotLanguage };
};

export class Files {
  // `parameters` gives source, target, key and terms of the form, `charLimit` the characters of a
  // request with its terms (below 0: any number), `wayOf` words for a language between.
  constructor(parameters, charLimit, wayOf) {
    this.parameters = parameters;
    this.charLimit = charLimit;
    this.wayOf = wayOf;
    this.running = null;
    byId('file-cancel').addEventListener('click', () => this.close());
  }

  close() {
    this.running?.abort();
    this.running = null;
    byId('file-panel').hidden = true;
    if (this.address?.startsWith('blob:')) URL.revokeObjectURL(this.address);
    this.address = null;
  }

  show(state, fraction) {
    byId('file-state').textContent = state;
    if (fraction === undefined) byId('file-progress').removeAttribute('value');
    else byId('file-progress').value = fraction;
  }

  // The card of a file takes the place of an earlier one's.
  open(file, note) {
    this.close();
    byId('file-panel').hidden = false;
    byId('file-name').textContent = file.name;
    byId('file-error').textContent = note;
    byId('file-link').hidden = true;
    byId('file-progress').hidden = false;
    byId('file-cancel').textContent = 'Cancel';
  }

  refuse(file, reason) {
    this.open(file, reason);
    this.show('is not translated', 0);
    byId('file-progress').hidden = true;
    byId('file-cancel').textContent = 'Close';
    byId('file-panel').scrollIntoView({ block: 'nearest' });
  }

  // `note` is said beside the file's name.
  async translate(file, note) {
    this.open(file, note);
    byId('file-panel').scrollIntoView({ block: 'nearest' });
    const running = (this.running = new AbortController());
    const parameters = this.parameters();
    try {
      const { address, pivotLanguage } = await this.translated(file, parameters, running.signal);
      if (running !== this.running) return;
      this.finish(address, translatedName(file.name, parameters.target), this.wayOf(pivotLanguage));
    } catch (error) {
      if (running === this.running) this.refuse(file, error.message);
    }
  }

  portionSize({ terms = '' }) {
    const limit = this.charLimit();
    return limit < 0 ? CHARACTERS : Math.max(1, Math.min(CHARACTERS, limit - [...terms].length));
  }

  async translated(file, parameters, signal) {
    const patience = { signal, onWait: (seconds, message) => this.show(message) };
    if (!/\.txt$/i.test(file.name)) {
      const { translatedFileUrl, pivotLanguage } = await patiently(() => {
        this.show('is being translated');
        return translateFile(file, parameters, signal);
      }, patience);
      // Below the path of the page, wherever a proxy has put it.
      return { address: `download_file/${translatedFileUrl.split('/').pop()}`, pivotLanguage };
    }
    this.show('0 %', 0);
    const text = await decoded(file);
    if (!text.trim()) throw new Error('It has no text.');
    const { translatedText, pivotLanguage } = await translateText(
      text, this.portionSize(parameters), parameters,
      { ...patience, onProgress: fraction => this.show(`${Math.floor(fraction * 100)} %`, fraction) },
    );
    const blob = new Blob([translatedText], { type: 'text/plain;charset=utf-8' });
    return { address: URL.createObjectURL(blob), pivotLanguage };
  }

  finish(address, name, way) {
    this.address = address;
    this.show(['is translated', way].filter(Boolean).join(' '), 1);
    byId('file-progress').hidden = true;
    byId('file-cancel').textContent = 'Close';
    const link = byId('file-link');
    link.href = address;
    link.download = name;
    link.hidden = false;
    link.focus();
  }
}
