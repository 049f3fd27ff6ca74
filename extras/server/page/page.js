// Translates while the reader types. Without this script the form does the same.
import { Files } from './files.js';
import * as server from './server.js';
import { Words, element } from './words.js';

const PAUSE = 250; // ms without a key before a request
const ALTERNATIVES = 2;
const LONGEST_WITH_ALTERNATIVES = 400; // characters
const SHORT_WAIT = 3; // seconds

const byId = id => document.getElementById(id);
const [text, result, source, target, terms, key] = [
  'text', 'result', 'source', 'target', 'terms', 'key',
].map(byId);

document.documentElement.classList.add('scripting');

const words = new Words(text, byId('mirror'), result);
let settings = { charLimit: -1, supportedFilesFormat: [] };
let known = []; // the languages and their targets
let translation = '';
let running = null;

// If the browser keeps nothing, nothing is remembered.
const remembered = (storage, name) => {
  try {
    return window[storage].getItem(`dragoman.${name}`);
  } catch {
    return null;
  }
};
const remember = (storage, name, value) => {
  try {
    window[storage].setItem(`dragoman.${name}`, value);
  } catch {
    // as said above
  }
};

const showError = message => {
  byId('error').textContent = message;
};
const showStatus = message => {
  byId('status').textContent = message;
};
const showWait = (seconds, message) => (seconds > SHORT_WAIT ? showError : showStatus)(message);
const nameOf = code => known.find(language => language.code === code)?.name || code;
const wayOf = pivot => (pivot ? `by way of ${nameOf(pivot)}` : '');

const formParameters = () => ({
  source: source.value,
  target: target.value,
  ...(terms.value.trim() && { terms: terms.value }),
  ...(key.value && { api_key: key.value }),
});

const showCount = () => {
  const length = [...text.value].length;
  const limit = settings.charLimit;
  byId('count').textContent =
    limit > 0 && length * 2 > limit
      ? `${length.toLocaleString('en')} of ${limit.toLocaleString('en')} characters`
      : length === 1 ? '1 character' : length > 0 ? `${length.toLocaleString('en')} characters` : '';
  byId('clear').hidden = length === 0;
};

const showAlternatives = alternatives => {
  byId('alternatives').hidden = alternatives.length === 0;
  byId('alternatives-list').replaceChildren(
    ...alternatives.map(other => {
      const take = element('button', { type: 'button', class: 'plain' }, 'Take');
      take.ariaLabel = `Take: ${other}`;
      take.addEventListener('click', () => {
        const shown = translation;
        show({ translatedText: other, alternatives: alternatives.map(o => (o === other ? shown : o)) });
        result.focus();
      });
      return element('li', {}, element('span', { dir: 'auto', lang: target.value }, other), take);
    }),
  );
};

const show = answer => {
  translation = answer.translatedText;
  const unsure = words.show(translation, answer.wordScores || [], answer.alignment || []);
  byId('legend').hidden = !answer.wordScores?.length;
  byId('unsure-legend').hidden = !unsure;
  byId('copy').disabled = translation === '';
  showExplain();
  showAlternatives(answer.alternatives || []);
};

const showLanguage = answer => {
  const detected = answer.detectedLanguage;
  result.lang = target.value;
  text.lang = detected ? detected.language : source.value;
  if (detected?.language === target.value)
    return showStatus(`The text is ${nameOf(detected.language)} already.`);
  const from = detected ? `Detected: ${nameOf(detected.language)} (${Math.round(detected.confidence)} %)` : '';
  showStatus([from, wayOf(answer.pivotLanguage)].filter(Boolean).join(', '));
};

const clear = () => {
  document.body.classList.remove('old');
  showError('');
  showStatus('');
  show({ translatedText: '' });
};

// What is under way is for a text, a language or a term that has changed.
const giveUp = () => {
  running?.abort();
  running = null;
};

const translate = async () => {
  giveUp();
  const mine = (running = new AbortController());
  if (!text.value.trim()) return clear();
  const { signal } = mine;
  const asks = !text.value.includes('\n') && text.value.length <= LONGEST_WITH_ALTERNATIVES;
  const parameters = { ...formParameters(), q: text.value, alignment: true, word_scores: true };
  if (asks) parameters.alternatives = ALTERNATIVES;
  document.body.classList.add('old');
  try {
    const answer = await server.patiently(() => server.translate(parameters, signal), {
      signal, tries: 5, onWait: showWait,
    });
    if (mine !== running) return;
    showError('');
    show(answer);
    showLanguage(answer);
  } catch (error) {
    if (mine !== running) return;
    clear();
    showError(error.message);
  }
  document.body.classList.remove('old');
};

let timer = 0;
const translateSoon = () => {
  giveUp();
  document.body.classList.add('old');
  clearTimeout(timer);
  timer = setTimeout(translate, PAUSE);
};
const translateNow = () => {
  clearTimeout(timer);
  return translate();
};

// Only targets that the source can be translated into.
const fitTargets = () => {
  const from = known.find(language => language.code === source.value);
  for (const option of target.options)
    option.disabled = !!from && (!from.targets.includes(option.value) || option.value === source.value);
  if (target.selectedOptions[0]?.disabled)
    target.value = [...target.options].find(option => !option.disabled)?.value || target.value;
  const back = known.find(language => language.code === target.value);
  byId('swap').disabled = source.value !== 'auto' && !!back && !back.targets.includes(source.value);
};

const swap = () => {
  const from = source.value === 'auto' ? text.lang : source.value;
  if (!from || ![...target.options].some(option => option.value === from)) return;
  const [oldTarget, oldTranslation] = [target.value, translation];
  if (![...source.options].some(option => option.value === oldTarget)) return;
  source.value = oldTarget;
  target.value = from;
  if (oldTranslation) text.value = oldTranslation;
  changeLanguages();
};

const changeLanguages = () => {
  fitTargets();
  remember('localStorage', 'source', source.value);
  remember('localStorage', 'target', target.value);
  changeText();
  translateNow();
};

const changeText = () => {
  words.copyField();
  showCount();
};

// The page about a translation opens beside this one.
const showExplain = () => {
  const button = byId('explain');
  const most = Number(button.dataset.most);
  const reason = terms.value.trim()
    ? 'A translation with a glossary cannot be explained'
    : [...text.value].length > most ? `A text of ${most} characters at most can be explained` : '';
  button.title = reason || 'What the model does with this text, on a page of its own';
  button.disabled = translation === '' || reason !== '';
};

const copy = async () => {
  try {
    await navigator.clipboard.writeText(translation);
  } catch {
    // Without a secure connection the browser has no clipboard; an old way is left.
    const field = element('textarea', {});
    field.value = translation;
    document.body.append(field);
    field.select();
    document.execCommand('copy');
    field.remove();
    byId('copy').focus();
  }
  byId('copy').textContent = 'Copied';
  setTimeout(() => (byId('copy').textContent = 'Copy'), 1500);
};

const takeFiles = files => {
  const [file] = files;
  if (!file) return;
  const ending = (file.name.match(/\.[^.]*$/) || [''])[0].toLowerCase();
  const taken = settings.supportedFilesFormat;
  if (!taken.includes(ending))
    return showError(`${file.name} cannot be translated; files that can: ${taken.join(', ')}.`);
  showError(files.length === 1 ? '' : `One file at a time: only ${file.name} is translated.`);
  return fileTranslations.translate(file);
};

const fileTranslations = new Files(formParameters, () => settings.charLimit, showError, wayOf);

const listen = () => {
  text.addEventListener('input', () => {
    changeText();
    translateSoon();
  });
  terms.addEventListener('input', translateSoon);
  key.addEventListener('input', () => {
    remember('sessionStorage', 'key', key.value);
    translateSoon();
  });
  for (const select of [source, target]) select.addEventListener('change', changeLanguages);
  byId('swap').addEventListener('click', swap);
  byId('copy').addEventListener('click', copy);
  byId('explain').addEventListener('click', () => byId('form').requestSubmit(byId('explain-page')));
  byId('clear').addEventListener('click', () => {
    text.value = '';
    changeText();
    translateNow();
    text.focus();
  });
  byId('choose-file').addEventListener('click', () => byId('file').click());
  byId('file').addEventListener('change', event => {
    takeFiles(event.target.files);
    event.target.value = '';
  });
  byId('form').addEventListener('submit', event => {
    if (event.submitter === byId('explain-page')) return;
    event.preventDefault();
    translateNow();
  });
  document.addEventListener('keydown', event => {
    if ((event.ctrlKey || event.metaKey) && event.key === 'Enter') translateNow();
  });
  const pane = byId('written').parentElement;
  const hasFiles = event => event.dataTransfer?.types.includes('Files');
  document.addEventListener('dragover', event => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    pane.classList.add('dropping');
  });
  document.addEventListener('dragleave', event => {
    if (!event.relatedTarget) pane.classList.remove('dropping');
  });
  document.addEventListener('drop', event => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    pane.classList.remove('dropping');
    takeFiles(event.dataTransfer.files);
  });
};

const recallLanguages = () => {
  for (const select of [source, target]) {
    const value = remembered('localStorage', select.id);
    if ([...select.options].some(option => option.value === value)) select.value = value;
  }
};

const begin = async () => {
  listen();
  if (!text.value) recallLanguages(); // the browser or the server has filled the form
  if (!key.value) key.value = remembered('sessionStorage', 'key') || '';
  changeText();
  byId('copy').disabled = byId('explain').disabled = true;
  try {
    [known, settings] = await Promise.all([server.languages(), server.settings()]);
  } catch (error) {
    showError(error.message);
  }
  byId('file').accept = settings.supportedFilesFormat.join(',');
  byId('choose-file').hidden = settings.supportedFilesFormat.length === 0;
  fitTargets();
  changeText();
  if (text.value && !byId('error').textContent) translate();
  if (matchMedia('(hover: hover)').matches) text.focus();
};

begin();
